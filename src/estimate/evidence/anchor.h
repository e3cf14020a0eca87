/* anchor.h - does the curve of log z agree with plain prior draws near tau = 0?
 */
#ifndef TM_ESTIMATE_ANCHOR_H
#define TM_ESTIMATE_ANCHOR_H

#include "draws/draws.h"

typedef struct tm_anchor_gap {
  double tau;          /* NaN: no disagreement */
  double curve, prior; /* log z(tau) by the chain and by the prior draws */
  double allowed;      /* how far apart they may lie */
} tm_anchor_gap;

/* log z(tau) from the draws' prior draws, of which there are some. */
typedef struct tm_anchor {
  double log_z, se, effective; /* effective: number of draws */
} tm_anchor;
tm_anchor tm_anchor_at(const tempera_draws *draws, double tau);

/* The first tau at which they differ by more than the errors allow. */
tm_anchor_gap tm_anchor_compare(const tempera_draws *draws,
                                const tempera_summary *summary);

#endif
