/* rao_blackwell.c - Rao-Blackwell estimates (method 4.4, `rb`) and the harmonic
 * mean.
 *
 * log z(tau) - log z(0) = log mean_i e^{tau l_i}/M_i - log mean_i 1/M_i, with
 * the atom in M_i when there is one: the tau prior has cancelled. */
#include "estimate/evidence/evidence.h"

#include <math.h>

/* log of the mean weight at tau; sign * weight/mean joins the influence. At the
 * bottom the weights may have factors of known mean 1. */
static double log_mean(tm_tempered *view, double tau, double sign,
                       double *psi) {
  double shift = tm_tempered_weights(view, tau), sum = 0;
  for (size_t i = 0; i < view->count; i++) {
    if (view->excess && tau == view->tau_min)
      view->weight[i] *= 1 + view->excess[i];
    sum += view->weight[i];
  }
  double value = shift + log(sum / (double)view->count);
  double scale = sign * (double)view->count / sum;
  for (size_t i = 0; i < view->count; i++)
    psi[i] += scale * view->weight[i];
  return value;
}

/* weight becomes the influence of the weighted mean of l; returns the mean. */
static double mean_with_influence(tm_tempered *view, double tau) {
  tm_tempered_weights(view, tau);
  double mean = tm_tempered_mean(view), sum = 0;
  for (size_t i = 0; i < view->count; i++)
    sum += view->weight[i];
  for (size_t i = 0; i < view->count; i++)
    if (view->weight[i] != 0)
      view->weight[i] *= (view->l[i] - mean) * (double)view->count / sum;
  return mean;
}

void tm_evidence_rb(tm_tempered *view, tm_evidence *evidence) {
  double top = evidence->top = view->weight_top;
  evidence->log_z = log_mean(view, top, 1, evidence->psi) -
                    log_mean(view, view->tau_min, -1, evidence->psi);
  if (top < 1) {
    double lower = mean_with_influence(view, top);
    tm_evidence_extend(view, top, lower, view->weight, evidence);
  }
}

/* E_1[l] is at most the highest l known of: one seen, or the slope of the
 * ridge or curve behind the tau prior. (The target chain's own mean would be
 * sharper, but where the tempered chain did not reach it, nothing vouches for
 * its having found the right basin.) */
static double highest_slope(const tm_tempered *view) {
  size_t n = view->prior.count;
  const double *x = view->prior.x, *y = view->prior.y;
  if (!n || view->prior_steps)
    return view->highest;
  return fmax(view->highest, -(y[n - 1] - y[n - 2]) / (x[n - 1] - x[n - 2]));
}

void tm_evidence_extend(const tm_tempered *view, double tau, double lower,
                        const double *lower_psi, tm_evidence *evidence) {
  double gap = 1 - tau, upper = highest_slope(view);
  for (size_t i = 0; i < view->count; i++)
    evidence->psi[i] += gap / 2 * lower_psi[i];
  evidence->log_z += gap * (lower + upper) / 2;
  evidence->half_range = gap * fabs(upper - lower) / 2;
  evidence->top = tau;
}

void tm_evidence_add_support(const tempera_draws *draws, tm_tempered *view,
                             tm_evidence *evidence) {
  if (!view->has_atom) {
    double n = (double)draws->prior_draws, k = (double)draws->prior_zero;
    if (draws->prior_draws == 0)
      return;
    double p = (k + 0.5) / (n + 1); /* never a variance of zero */
    evidence->log_z += log1p(-k / n);
    evidence->variance += p / ((1 - p) * n);
    return;
  }
  double all = 0, inside = 0, scale = (double)view->count;
  tm_tempered_weights(view, 0);
  for (size_t i = 0; i < view->count; i++) {
    all += view->weight[i];
    inside += view->l[i] > -INFINITY ? view->weight[i] : 0;
  }
  evidence->log_z += log(inside / all);
  for (size_t i = 0; i < view->count; i++) {
    double w = view->weight[i] * scale;
    evidence->psi[i] += (view->l[i] > -INFINITY ? w / inside : 0) - w / all;
  }
}

/* Z = P(L > 0) / E_1[1/L]. */
void tm_evidence_phm(const tm_tempered *view, tm_evidence *evidence) {
  double least = INFINITY, sum = 0, n = (double)view->count;
  for (size_t i = 0; i < view->count; i++)
    least = fmin(least, view->target[i]);
  for (size_t i = 0; i < view->count; i++) {
    evidence->psi[i] = exp(least - view->target[i]);
    sum += evidence->psi[i];
  }
  for (size_t i = 0; i < view->count; i++)
    evidence->psi[i] = 1 - evidence->psi[i] * n / sum;
  evidence->log_z = least - log(sum / n);
  evidence->top = 1;
}
