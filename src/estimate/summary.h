/* summary.h - the parts of a summary that the files of estimate/ fill. */
#ifndef TM_ESTIMATE_SUMMARY_H
#define TM_ESTIMATE_SUMMARY_H

#include "estimate/evidence/tempered.h"

/* A formatted heap text; NULL when out of memory. */
char *tm_heap_format(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

/* values.c: means, quantiles, pmf and mixing of every parameter or of columns
 * (see tm_estimate_values). Between begin and end some workers, numbered from
 * 0, share the work; they may run at the same time. Without draws there are no
 * `values` (NULL) and no workers. */
enum { TM_MOST_WORKERS = 4 }; /* each takes about 100 bytes for each draw */
typedef struct tm_values tm_values;
TEMPERA_CHECKED tempera_status tm_values_begin(
    const tempera_draws *draws, double *const *columns, size_t width,
    tempera_value_summary *summaries, tm_values **values, tempera_error *error);
size_t tm_values_workers(const tm_values *values, int threads);
void tm_values_work(tm_values *values, size_t worker);
/* Frees them; the summary, if any, says how draws were weighted. */
TEMPERA_CHECKED tempera_status tm_values_end(tm_values *values,
                                             tempera_summary *summary,
                                             tempera_error *error);

/* The communication barrier Lambda(tau), integral over [tau_min, tau] of
 * half E_u|l - l'|, on a grid (method 4.2). It is known where draws cover:
 * from tau_min up to `bottom_end` (below tau_min: not even there) and from
 * `top_start` to 1 (above 1: nowhere); what lies between adds nothing to
 * `value`, and `total` is then NaN. */
typedef struct tm_barrier {
  size_t count;
  double *tau, *value;
  double total;
  double bottom_end, top_start;
} tm_barrier;

/* barrier.c: arrays are the view's arena's. */
TEMPERA_CHECKED tempera_status tm_barrier_find(tm_tempered *view,
                                               tm_barrier *barrier,
                                               tempera_error *error);
/* Lambda(tau)/Lambda(1) by interpolation. Where only parts are known: 0 and 1
 * at the very ends, one half between; where nothing is, tau. */
double tm_barrier_share(const tm_barrier *barrier, double tau);
/* Lambda(b) - Lambda(a); NaN where it is not all known. */
double tm_barrier_between(const tm_barrier *barrier, double a, double b);

/* trips.c: round trips and restarts over all chains (method 4.8). */
TEMPERA_CHECKED tempera_status tm_trips_count(const tempera_draws *draws,
                                              const tm_barrier *barrier,
                                              size_t *round_trips,
                                              size_t *restarts,
                                              tempera_error *error);

/* Round trips in the chain that has fewest of them. */
size_t tm_trips_fewest(const tempera_draws *draws, const tm_barrier *barrier);

/* tempering.c: acceptances and the tau bins. */
void tm_values_free(tempera_value_summary *values, size_t count);
TEMPERA_CHECKED tempera_status tm_tempering_fill(const tempera_draws *draws,
                                                 tempera_summary *summary,
                                                 tempera_error *error);

#endif
