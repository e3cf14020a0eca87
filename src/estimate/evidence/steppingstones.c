/* steppingstones.c - the steppingstone estimator in bins of tau (method 4.4,
 * `ss`): for a bin B = [a, b] and its draws i, log z(b) - log z(a) = log sum
 * e^{b l_i}/C_i - log sum e^{a l_i}/C_i, C_i = integral over B of P(u) e^{u
 * l_i} du. Rao-Blackwell inside each bin, but no draw lends weight to another
 * bin. */
#include "estimate/evidence/evidence.h"

#include <math.h>

enum { SS_FEWEST = 200, SS_MOST = 50 };

static double log_mass(const tm_tempered *view, const tm_bins *bins, size_t j,
                       double l) {
  return tm_loglinear_log_mass_between(&view->prior, l, bins->edge[j],
                                       bins->edge[j + 1]);
}

/* Kish's number of draws, not batches, carrying the weight at the upper edge
 * of bin j; a handful of draws in the last bin must not decide alone. */
static double draws_at_edge(const tm_tempered *view, const tm_bins *bins,
                            size_t j) {
  double most = -INFINITY, sum = 0, squares = 0, b = bins->edge[j + 1];
  for (int pass = 0; pass < 2; pass++)
    for (size_t k = bins->first[j]; k < bins->first[j + 1]; k++) {
      double l = view->l[view->order[k]];
      double x = b * l - log_mass(view, bins, j, l);
      if (pass == 0) {
        most = fmax(most, x);
      } else {
        sum += exp(x - most);
        squares += exp(2 * (x - most));
      }
    }
  return sum * sum / squares;
}

/* The last bin takes in its neighbours until enough draws reach its end. */
bool tm_bins_ss(const tm_tempered *view, tm_bins *bins) {
  if (!tm_bins_make(view, view->weight_top, SS_FEWEST, SS_MOST, bins))
    return false;
  while (bins->count > 1 &&
         !(draws_at_edge(view, bins, bins->count - 1) >= SS_FEWEST / 4)) {
    size_t last = bins->count--;
    bins->first[last - 1] = bins->first[last];
    bins->edge[last - 1] = bins->edge[last];
  }
  return true;
}

/* log of the sum over bin j of e^{tau l_i}/C_i, with log C_i in `mass`; the
 * influence sign * N * weight / sum joins psi. */
static double log_sum(const tm_tempered *view, const tm_bins *bins, size_t j,
                      double tau, const double *mass, double sign,
                      double *psi) {
  const size_t *draw = view->order + bins->first[j];
  size_t count = bins->first[j + 1] - bins->first[j];
  double most = -INFINITY, sum = 0;
  for (size_t k = 0; k < count; k++)
    most = fmax(most, tau * view->l[draw[k]] - mass[k]);
  for (size_t k = 0; k < count; k++)
    sum += exp(tau * view->l[draw[k]] - mass[k] - most);
  double scale = sign * (double)view->count / sum;
  for (size_t k = 0; k < count; k++)
    psi[draw[k]] += scale * exp(tau * view->l[draw[k]] - mass[k] - most);
  return most + log(sum);
}

/* E_b[l] at the upper edge of the last bin, by its own weights, with its
 * influence in psi (zeroed, `count` doubles). */
static double edge_mean(const tm_tempered *view, const tm_bins *bins,
                        const double *mass, double *psi) {
  size_t j = bins->count - 1, end = bins->first[j + 1];
  log_sum(view, bins, j, bins->edge[j + 1], mass, 1, psi);
  double mean = 0, n = (double)view->count;
  for (size_t k = bins->first[j]; k < end; k++)
    mean += psi[view->order[k]] / n * view->l[view->order[k]];
  for (size_t k = bins->first[j]; k < end; k++)
    psi[view->order[k]] *= view->l[view->order[k]] - mean;
  return mean;
}

void tm_evidence_ss(const tm_tempered *view, const tm_bins *bins, size_t from,
                    double *scratch, tm_evidence *evidence) {
  evidence->log_z = bins->count ? evidence->log_z : NAN;
  evidence->top = 1;
  for (size_t j = from; j < bins->count; j++) {
    for (size_t k = bins->first[j]; k < bins->first[j + 1]; k++)
      scratch[k - bins->first[j]] =
          log_mass(view, bins, j, view->l[view->order[k]]);
    evidence->log_z +=
        log_sum(view, bins, j, bins->edge[j + 1], scratch, 1, evidence->psi) -
        log_sum(view, bins, j, bins->edge[j], scratch, -1, evidence->psi);
  }
  if (!bins->count || bins->edge[bins->count] >= 1)
    return;
  double *psi = view->weight; /* the shared workspace */
  for (size_t i = 0; i < view->count; i++)
    psi[i] = 0;
  double lower = edge_mean(view, bins, scratch, psi);
  tm_evidence_extend(view, bins->edge[bins->count], lower, psi, evidence);
}
