/* basin_check.h - draws against the ridge: is there a basin they miss? */
#ifndef TM_ESTIMATE_BASIN_CHECK_H
#define TM_ESTIMATE_BASIN_CHECK_H

#include "draws/draws.h"

typedef struct tm_basin_gap {
  double tau;    /* near this tau; NaN: nothing to judge by */
  double height; /* of the best point known that the draws do not explain */
  double limit;  /* above it they miss a basin */
} tm_basin_gap;

/* The height of the ridge minus that of the draw; NaN without a ridge. */
double tm_below_ridge(const tempera_draws *draws, double tau, double l,
                      double log_prior);
/* The worst over the target chains; without any, of the highest tau bin. */
TEMPERA_CHECKED tempera_status tm_basin_check(const tempera_draws *draws,
                                              const tempera_summary *summary,
                                              tm_basin_gap *worst,
                                              tempera_error *error);

#endif
