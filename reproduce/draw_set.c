/* draw_set.c - see draw_set.h. */
#include "reproduce/draw_set.h"

#include "base/memory.h"
#include "estimate/evidence/influence.h"

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <string.h>

typedef const double *(*column_fn)(const tempera_draws *draws,
                                   tempera_role role, size_t chain);

static void copy_column(const tempera_draws *draws, tempera_role role,
                        column_fn column, const tm_draw_set *set, double *out) {
  for (size_t c = 0; c < set->chains; c++)
    memcpy(out + c * set->rows, column(draws, role, c),
           set->rows * sizeof(double));
}

tempera_status tm_draw_set_copy(const tempera_sampler *sampler,
                                tempera_role role, size_t values,
                                tm_draw_set *set, tempera_error *error) {
  const tempera_draws *draws = tempera_sampler_draws(sampler);
  tm_draw_set s = {.chains = tempera_draws_chains(draws),
                   .rows = tempera_draws_rows(draws, role),
                   .values = values};
  s.count = s.chains * s.rows;
  double *block = tm_heap_alloc((values + 2) * s.count, sizeof(double));
  if (!block)
    return tm_fail_memory(error);
  s.tau = block;
  s.log_likelihood = block + s.count;
  copy_column(draws, role, tempera_draws_tau, &s, s.tau);
  copy_column(draws, role, tempera_draws_log_likelihood, &s, s.log_likelihood);
  for (size_t i = 0; i < values; i++) {
    s.value[i] = block + (2 + i) * s.count;
    for (size_t c = 0; c < s.chains; c++)
      memcpy(s.value[i] + c * s.rows, tempera_draws_values(draws, role, c, i),
             s.rows * sizeof(double));
  }
  *set = s;
  return TEMPERA_OK;
}

void tm_draw_set_free(tm_draw_set *set) {
  tm_heap_free(set->tau);
  *set = (tm_draw_set){0};
}

/* A ratio of means: its influence function is keep * (value - mean) / share. */
bool tm_draw_set_mean(const tm_draw_set *set, const double *value,
                      const double *keep, tm_part_mean *result) {
  double *psi = tm_heap_alloc(set->count, sizeof(double));
  double sum = 0, kept = 0, n = (double)set->count;
  if (!psi)
    return false;
  for (size_t i = 0; i < set->count; i++) {
    double part = keep ? keep[i] != 0 : 1;
    kept += part;
    sum += part * value[i];
  }
  tm_part_mean r = {.mean = sum / kept, .share = kept / n};
  for (size_t i = 0; i < set->count; i++)
    psi[i] = keep ? (keep[i] != 0) - r.share : 0;
  r.share_mcse = tm_influence_error(psi, set->chains, set->rows).se;
  for (size_t i = 0; i < set->count; i++)
    psi[i] = !keep || keep[i] != 0 ? (value[i] - r.mean) / r.share : 0;
  r.mcse = tm_influence_error(psi, set->chains, set->rows).se;
  tm_heap_free(psi);
  *result = r;
  return true;
}

double tm_draw_set_lag1(const tm_draw_set *set, const double *value) {
  double sum = 0;
  for (size_t c = 0; c < set->chains; c++)
    sum += gsl_stats_lag1_autocorrelation(value + c * set->rows, 1, set->rows);
  return sum / (double)set->chains;
}

double tm_draw_set_quantile(const tm_draw_set *set, const double *value,
                            double p) {
  double *sorted = tm_heap_alloc(set->count, sizeof(double));
  if (!sorted)
    return NAN;
  memcpy(sorted, value, set->count * sizeof(double));
  gsl_sort(sorted, 1, set->count);
  double q = gsl_stats_quantile_from_sorted_data(sorted, 1, set->count, p);
  tm_heap_free(sorted);
  return q;
}
