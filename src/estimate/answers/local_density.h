/* local_density.h - the density of one number at a point, from draws of it
 * alone: log-quadratic about the point (Hjort & Jones 1996). */
#ifndef TM_ESTIMATE_LOCAL_DENSITY_H
#define TM_ESTIMATE_LOCAL_DENSITY_H

#include "base/memory.h"

typedef struct tm_local_density {
  double log_density, se;
  double effective; /* draws that have a say (Kish) */
} tm_local_density;

/* x: chains x rows. False: memory is short. `effective` is 0 where there is no
 * number. */
bool tm_local_density_estimate(tm_arena *arena, const double *x, size_t chains,
                               size_t rows, double at,
                               tm_local_density *density);

#endif
