/* summary.h - the parts of a summary that the files of estimate/ fill. */
#ifndef TM_ESTIMATE_SUMMARY_H
#define TM_ESTIMATE_SUMMARY_H

#include "estimate/tempered.h"

/* A formatted heap text; NULL when out of memory. */
char *tm_heap_format(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

/* values.c: means, quantiles, pmf and mixing of every parameter. */
TEMPERA_CHECKED tempera_status tm_values_fill(const tempera_draws *draws,
                                              tempera_summary *summary,
                                              tempera_error *error);

/* modes.c: the modes of the target draws, by weight. After the values. */
TEMPERA_CHECKED tempera_status tm_modes_fill(const tempera_draws *draws,
                                             tempera_summary *summary,
                                             tempera_error *error);
/* labels.c: components whose labels are permuted. After the modes. */
TEMPERA_CHECKED tempera_status tm_labels_fill(const tempera_draws *draws,
                                              tempera_summary *summary,
                                              tempera_error *error);

/* The communication barrier Lambda(tau), integral over [tau_min, tau] of
 * half E_u|l - l'|, on a grid (method 4.2); `total` is NaN when unknown. */
typedef struct tm_barrier {
  size_t count;
  double *tau, *value;
  double total;
} tm_barrier;

/* barrier.c: arrays are the view's arena's. */
TEMPERA_CHECKED tempera_status tm_barrier_find(tm_tempered *view,
                                               tm_barrier *barrier,
                                               tempera_error *error);
/* Lambda(tau)/Lambda(1) by interpolation. */
double tm_barrier_share(const tm_barrier *barrier, double tau);

/* trips.c: round trips and restarts over all chains (method 4.8). */
TEMPERA_CHECKED tempera_status tm_trips_count(const tempera_draws *draws,
                                              const tm_barrier *barrier,
                                              size_t *round_trips,
                                              size_t *restarts,
                                              tempera_error *error);

/* tempering.c: acceptances and the tau bins. */
TEMPERA_CHECKED tempera_status tm_tempering_fill(const tempera_draws *draws,
                                                 tempera_summary *summary,
                                                 tempera_error *error);

#endif
