/* acceptance.c - acceptance of exchanges and tau moves, and bins of tau: where
 * the tempered chain spent its time, how well it moved there, and how near
 * its draws came to the ridge. */
#include "estimate/evidence/basin_check.h"
#include "estimate/summary.h"

#include "numeric/sort.h"

#include <math.h>

enum { TAU_BINS = 20 };

/* A mean of what is not NaN. */
typedef struct running {
  double sum;
  size_t count;
} running;

static void add(running *r, double value) {
  if (isnan(value))
    return;
  r->sum += value;
  r->count++;
}

static double mean_of(const running *r) {
  return r->count ? r->sum / (double)r->count : NAN;
}

static const double *column(const tempera_draws *draws, size_t chain,
                            tm_column c) {
  return tm_draws_column(draws, TEMPERA_TEMPERED, chain,
                         draws->size + (size_t)c);
}

static void fill_acceptance(const tempera_draws *draws,
                            tempera_summary *summary) {
  running swaps = {0}, taus = {0};
  size_t rows = tm_draws_rows(draws, TEMPERA_TEMPERED);
  for (size_t c = 0; c < draws->chains; c++) {
    const double *exchange = column(draws, c, TM_EXCHANGE);
    const double *accept = column(draws, c, TM_TAU_ACCEPT);
    for (size_t i = 0; i < rows; i++) {
      if (exchange[i] > 0)
        add(&swaps, exchange[i] == 2);
      add(&taus, accept[i]);
    }
  }
  summary->swap_acceptance = mean_of(&swaps);
  summary->tau_acceptance = mean_of(&taus);
}

/* Upper edges at quantiles of tau, equal ones merged; the last is 1. */
static size_t make_edges(double *sorted, size_t count, double *upper) {
  size_t bins = 0;
  tm_sort(sorted, count);
  for (size_t j = 1; j < TAU_BINS; j++) {
    double edge = sorted[j * count / TAU_BINS];
    if (edge < 1 && edge > sorted[0] && (!bins || edge > upper[bins - 1]))
      upper[bins++] = edge;
  }
  upper[bins++] = 1;
  return bins;
}

static size_t bin_of(const double *upper, size_t bins, double tau) {
  size_t j = 0;
  while (j + 1 < bins && tau >= upper[j])
    j++;
  return j;
}

static void fill_bins(const tempera_draws *draws, tempera_summary *summary,
                      const double *upper) {
  running accept[TAU_BINS] = {{0}}, taus[TAU_BINS] = {{0}};
  size_t rows = tm_draws_rows(draws, TEMPERA_TEMPERED);
  for (size_t c = 0; c < draws->chains; c++) {
    const double *tau = column(draws, c, TM_TAU);
    for (size_t i = 0; i < rows; i++) {
      size_t j = bin_of(upper, summary->tau_bin_count, tau[i]);
      tempera_tau_bin *bin = &summary->tau_bins[j];
      bin->draws++;
      add(&accept[j], column(draws, c, TM_ACCEPT)[i]);
      add(&taus[j], column(draws, c, TM_TAU_ACCEPT)[i]);
      double gap =
          tm_below_ridge(draws, tau[i], column(draws, c, TM_LOG_LIKELIHOOD)[i],
                         column(draws, c, TM_LOG_PRIOR)[i]);
      bin->ridge_excess = fmin(bin->ridge_excess, gap); /* skips NaN */
    }
  }
  for (size_t j = 0; j < summary->tau_bin_count; j++) {
    summary->tau_bins[j].acceptance = mean_of(&accept[j]);
    summary->tau_bins[j].tau_acceptance = mean_of(&taus[j]);
  }
}

static tempera_status make_bins(const tempera_draws *draws,
                                tempera_summary *summary,
                                tempera_error *error) {
  size_t rows = tm_draws_rows(draws, TEMPERA_TEMPERED);
  size_t count = draws->chains * rows, n = 0;
  double *sorted = tm_heap_alloc(count, sizeof(double)), upper[TAU_BINS];
  summary->tau_bins = tm_heap_alloc(TAU_BINS, sizeof *summary->tau_bins);
  if (!sorted || !summary->tau_bins) {
    tm_heap_free(sorted);
    return tm_fail_memory(error);
  }
  for (size_t c = 0; c < draws->chains; c++)
    for (size_t i = 0; i < rows; i++)
      sorted[n++] = column(draws, c, TM_TAU)[i];
  size_t bins = summary->tau_bin_count = make_edges(sorted, count, upper);
  tm_heap_free(sorted);
  for (size_t j = 0; j < bins; j++)
    summary->tau_bins[j] =
        (tempera_tau_bin){.lower = j ? upper[j - 1] : draws->tau_min,
                          .upper = upper[j],
                          .ridge_excess = NAN};
  fill_bins(draws, summary, upper);
  return TEMPERA_OK;
}

tempera_status tm_tempering_fill(const tempera_draws *draws,
                                 tempera_summary *summary,
                                 tempera_error *error) {
  summary->swap_acceptance = summary->tau_acceptance = NAN;
  if (!draws->has_role[TEMPERA_TEMPERED] || !draws->count || !draws->chains)
    return TEMPERA_OK;
  fill_acceptance(draws, summary);
  return make_bins(draws, summary, error);
}
