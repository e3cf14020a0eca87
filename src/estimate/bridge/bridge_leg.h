/* bridge_leg.h - one integral by bridge sampling: of L pi from target draws,
 * or of pi from prior draws; see bridge.h. */
#ifndef TM_ESTIMATE_BRIDGE_LEG_H
#define TM_ESTIMATE_BRIDGE_LEG_H

#include "estimate/bridge/bridge_ratio.h"
#include "model/labels.h"

typedef struct tm_bridge_leg {
  tm_evaluator *evaluator;
  /* What fills a point from u: tm_evaluate, or tm_evaluate_prior. */
  void (*evaluate)(tm_evaluator *evaluator, tm_point *point);
  size_t chains, length;       /* rows per chain; at least 4 */
  const double *theta;         /* chain x length x model->size */
  const double *log_density;   /* natural scale, finite */
  const tm_label_pivot *pivot; /* NULL: no labels */
  size_t proposals;            /* per half */
  int threads;
  uint64_t seed;
  uint32_t stream; /* this one and the next are used */
} tm_bridge_leg;

typedef struct tm_bridge_integral {
  double log_z; /* NaN: no overlap */
  double variance, df;
  double between;      /* standard error from chains alone; NaN for one chain */
  double overlap;      /* the worse half's; see bridge_ratio.h */
  double disagreement; /* p-value: do the chains agree? */
  double halves;       /* difference of the halves, in standard errors */
} tm_bridge_integral;

TEMPERA_CHECKED tempera_status
tm_bridge_leg_integrate(const tm_bridge_leg *leg, tm_bridge_integral *integral,
                        tempera_error *error);

#endif
