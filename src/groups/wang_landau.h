/* wang_landau.h - weights by visits: a bin grows heavier each time it is
 * visited, by a gain that falls whenever the histogram of visits is flat (Wang
 * & Landau 2001; the rule of the paper's section 2,
 * phi_t <- phi_t (1 + gain * share of the walkers in bin t)). */
#ifndef TM_SAMPLERS_WANG_LANDAU_H
#define TM_SAMPLERS_WANG_LANDAU_H

#include "base/archive.h"

typedef struct tm_wang_landau {
  size_t bins;    /* may grow up to the capacity */
  size_t *visits; /* since the histogram was last flat */
  size_t total;
  unsigned flats; /* how often it was flat: the gain is 1/(1 + flats) */
} tm_wang_landau;

/* Room for this many bins, of which there are none yet. */
TEMPERA_CHECKED tempera_status tm_wang_landau_create(tm_arena *arena,
                                                     size_t capacity,
                                                     tm_wang_landau *made,
                                                     tempera_error *error);
/* `count` out of `walkers` were seen in a bin: by how much its log phi rises.
 */
double tm_wang_landau_visit(tm_wang_landau *w, size_t bin, size_t count,
                            size_t walkers);
/* Every bin's share of the visits is within half of 1/bins of 1/bins. */
bool tm_wang_landau_is_flat(const tm_wang_landau *w);
/* Once flat: lower the gain and count afresh. Says whether it was. */
bool tm_wang_landau_settle(tm_wang_landau *w);
/* Its state; refused beyond the capacity it was made with. */
void tm_wang_landau_archive(tm_wang_landau *w, size_t capacity,
                            tm_archive *archive);
/* Count afresh at the same gain. */
void tm_wang_landau_forget(tm_wang_landau *w);

#endif
