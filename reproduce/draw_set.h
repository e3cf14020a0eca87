/* draw_set.h - copies of a run's draws, pooled over chains, for tables and
 * figures after the run is gone. */
#ifndef TM_REPRODUCE_DRAW_SET_H
#define TM_REPRODUCE_DRAW_SET_H

#include "base/status.h"

enum { TM_DRAW_SET_VALUES = 16 };

/* Of one role: columns of `count` numbers each. Start with {0}. */
typedef struct tm_draw_set {
  size_t chains, rows, count; /* count = chains * rows, chain after chain */
  size_t values;
  double *value[TM_DRAW_SET_VALUES]; /* natural scale; the first of them */
  double *tau, *log_likelihood;
} tm_draw_set;

/* Adds the draws of a role; `values` of the model's values are kept. */
TEMPERA_CHECKED tempera_status tm_draw_set_copy(const tempera_sampler *sampler,
                                                tempera_role role,
                                                size_t values, tm_draw_set *set,
                                                tempera_error *error);
void tm_draw_set_free(tm_draw_set *set);

/* The mean of `value` over the draws with keep != 0 (NULL: all), its Monte
 * Carlo error, and the share kept with its error. False when out of memory. */
typedef struct tm_part_mean {
  double mean, mcse, share, share_mcse;
} tm_part_mean;
bool tm_draw_set_mean(const tm_draw_set *set, const double *value,
                      const double *keep, tm_part_mean *result);
/* Lag-1 autocorrelation, the mean over the chains. */
double tm_draw_set_lag1(const tm_draw_set *set, const double *value);
/* The p-quantile; NaN when out of memory. */
double tm_draw_set_quantile(const tm_draw_set *set, const double *value,
                            double p);

#endif
