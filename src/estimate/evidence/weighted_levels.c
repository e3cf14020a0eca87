/* weighted_levels.c - log Z from draws on discrete levels with weights (method
 * st): a draw at level t has density proportional to w_t e^{tau_t l} pi.
 *
 * `st-weights`: levels are visited in proportion to w_t z(tau_t), so that
 *   log z(1) - log z(0) = log n_T/n_0 - log w_T/w_0;
 * with the weights right, it is all in the weights.
 * `ss`: between neighbours a and b, over the draws of both,
 *   log z(b) - log z(a) = log sum e^{tau_b l_i}/C_i - log sum e^{tau_a
 * l_i}/C_i, C_i = w_a e^{tau_a l_i} + w_b e^{tau_b l_i}: stone.c's estimator,
 * with two levels for a bin. */
#include "estimate/evidence/evidence.h"

#include <math.h>

static double scaled(double tau, double l) { return tau > 0 ? tau * l : 0; }

double tm_levels_log_mass(const tm_draws_levels *levels, double l) {
  double most = -INFINITY, sum = 0;
  for (size_t t = 0; t < levels->count; t++)
    most = fmax(most, levels->log_weight[t] + scaled(levels->tau[t], l));
  if (most == -INFINITY)
    return most;
  for (size_t t = 0; t < levels->count; t++)
    sum += exp(levels->log_weight[t] + scaled(levels->tau[t], l) - most);
  return most + log(sum);
}

void tm_evidence_visits(const tm_tempered *view, tm_evidence *evidence) {
  const tm_draws_levels *levels = &view->levels;
  size_t top = levels->count - 1;
  double bottom_count = 0, top_count = 0, n = (double)view->count;
  for (size_t i = 0; i < view->count; i++) {
    bottom_count += view->tau[i] == levels->tau[0];
    top_count += view->tau[i] == levels->tau[top];
  }
  for (size_t i = 0; i < view->count; i++) {
    if (view->tau[i] == levels->tau[top])
      evidence->psi[i] += n / top_count;
    if (view->tau[i] == levels->tau[0])
      evidence->psi[i] -= n / bottom_count;
  }
  evidence->log_z = log(top_count / bottom_count) -
                    (levels->log_weight[top] - levels->log_weight[0]);
  evidence->top = 1;
}

/* One step of the ladder: levels a and a + 1. */
typedef struct rung {
  double tau[2], log_weight[2];
} rung;

/* log of e^{tau l}/C at the rung's end `e`. */
static double log_share(const rung *r, int e, double l) {
  double at[2];
  for (int k = 0; k < 2; k++)
    at[k] = r->log_weight[k] + scaled(r->tau[k], l);
  double most = fmax(at[0], at[1]);
  double mass = most + log(exp(at[0] - most) + exp(at[1] - most));
  return scaled(r->tau[e], l) - mass;
}

/* log of the sum over the rung's draws; sign * N * share/sum joins psi. */
static double log_sum(const tm_tempered *view, const rung *r, int e,
                      double *psi) {
  double most = -INFINITY, sum = 0, sign = e ? 1 : -1;
  for (int pass = 0; pass < 3; pass++)
    for (size_t i = 0; i < view->count; i++) {
      if (view->tau[i] != r->tau[0] && view->tau[i] != r->tau[1])
        continue;
      double x = log_share(r, e, view->l[i]);
      if (pass == 0)
        most = fmax(most, x);
      else if (pass == 1)
        sum += exp(x - most);
      else
        psi[i] += sign * (double)view->count * exp(x - most) / sum;
    }
  return most + log(sum);
}

void tm_evidence_ladder(const tm_tempered *view, tm_evidence *evidence) {
  const tm_draws_levels *levels = &view->levels;
  evidence->log_z = 0;
  evidence->top = 1;
  for (size_t t = 0; t + 1 < levels->count; t++) {
    rung r = {{levels->tau[t], levels->tau[t + 1]},
              {levels->log_weight[t], levels->log_weight[t + 1]}};
    evidence->log_z += log_sum(view, &r, 1, evidence->psi) -
                       log_sum(view, &r, 0, evidence->psi);
  }
}
