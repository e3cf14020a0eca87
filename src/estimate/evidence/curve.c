/* curve.c - log z(tau) and E_tau[l] over the whole of tau, for plots. By
 * Rao-Blackwell weights where there are any, else from the bins of `ti`.
 * Where the tempered draws do not reach, the curve is NaN. */
#include "estimate/evidence/evidence.h"

#include <math.h>

static void by_weights(tm_tempered *view, tempera_curve_point *curve,
                       size_t count, double support) {
  double base = tm_tempered_log_mean(view, view->tau_min);
  for (size_t k = 0; k < count; k++) {
    tempera_curve_point *p = &curve[k];
    if (!view->bottom || p->tau > view->weight_top)
      continue;
    p->log_z = tm_tempered_log_mean(view, p->tau) - base;
    if (p->tau > 0)
      p->log_z += support;
    double mean = tm_tempered_mean(view);
    p->mean_log_likelihood = isfinite(mean) ? mean : NAN;
  }
}

/* The mean of l at tau, between the centres of the bins around it. */
static double between_centres(const tm_bins *bins, size_t j, double tau) {
  double here = (bins->edge[j] + bins->edge[j + 1]) / 2;
  size_t other = tau < here ? (j ? j - 1 : j) : j + 1;
  if (other == j || other >= bins->count)
    return bins->mean[j];
  double there = (bins->edge[other] + bins->edge[other + 1]) / 2;
  double share = (tau - here) / (there - here);
  return bins->mean[j] + share * (bins->mean[other] - bins->mean[j]);
}

static void by_bins(const tm_bins *bins, tempera_summary *summary,
                    double support) {
  double below = 0;
  size_t j = 0;
  for (size_t k = 0; k < summary->curve_count && bins->count; k++) {
    tempera_curve_point *p = &summary->curve[k];
    while (j < bins->count && p->tau > bins->edge[j + 1]) {
      below += bins->mean[j] * (bins->edge[j + 1] - bins->edge[j]);
      j++;
    }
    if (j == bins->count)
      return;
    p->log_z = below + bins->mean[j] * (p->tau - bins->edge[j]) +
               (p->tau > 0 ? support : 0);
    p->mean_log_likelihood = between_centres(bins, j, p->tau);
  }
}

/* Taus without values yet. */
static tempera_status make_curve(tm_tempered *view, tempera_curve_point **curve,
                                 size_t *count, tempera_error *error) {
  size_t n;
  double *grid = tm_tau_grid(view->arena, view->tau_min, 5, &n);
  *curve = grid ? tm_heap_alloc(n, sizeof **curve) : NULL;
  if (!*curve)
    return tm_fail_memory(error);
  *count = n;
  for (size_t k = 0; k < n; k++)
    (*curve)[k] = (tempera_curve_point){grid[k], NAN, NAN, NAN};
  return TEMPERA_OK;
}

tempera_status tm_curve_by_weights(tm_tempered *view,
                                   tempera_curve_point **curve, size_t *count,
                                   tempera_error *error) {
  TM_TRY(make_curve(view, curve, count, error));
  by_weights(view, *curve, *count, 0);
  return TEMPERA_OK;
}

tempera_status tm_curve_fill(tm_tempered *view, tempera_summary *summary,
                             tempera_error *error) {
  if (!view->count)
    return TEMPERA_OK;
  TM_TRY(make_curve(view, &summary->curve, &summary->curve_count, error));
  /* Without an atom the draws know z(0+) only: step down to it from z(0). */
  bool step = !view->has_atom && summary->zero_likelihood < 1;
  double support = step ? log1p(-summary->zero_likelihood) : 0;
  if (view->log_mass) {
    by_weights(view, summary->curve, summary->curve_count, support);
    return TEMPERA_OK;
  }
  tm_bins bins;
  tm_evidence unused = {.psi = TM_NEW(view->arena, double, view->count)};
  if (!unused.psi || !tm_bins_ti(view, &bins) ||
      !tm_evidence_ti(view, &bins, 0, view->weight, &unused))
    return tm_fail_memory(error);
  by_bins(&bins, summary, support);
  return TEMPERA_OK;
}
