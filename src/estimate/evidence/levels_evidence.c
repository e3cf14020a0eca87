/* levels_evidence.c - log Z from draws at T levels of tau (method 2 and 4.4).
 *
 * With d = tau_{t+1} - tau_t, E_t and V_t the mean and variance of l at level
 * t, the rise of log z between two levels is, by
 *
 *   ss-forward:  log E_t[e^{d l}] (Xie et al. 2011);
 *   ss-backward: -log E_{t+1}[e^{-d l}];
 *   ss:          r with E_t[s(d l - r)] = E_{t+1}[s(r - d l)], s the logistic
 *                function, the best use of both (Bennett 1976);
 *   ti-pt-nb:    d (E_t + E_{t+1})/2 (Friel & Pettitt 2008);
 *   ti-pt-2:     that less d^2 (V_{t+1} - V_t)/12 (Friel, Hurn & Wyse 2014);
 *   ti-pt-b:     the trapezoid plus (KL(p_t|p_{t+1}) - KL(p_{t+1}|p_t))/2
 *                (Calderhead & Girolami 2009).
 *
 * The divergences need the rise itself; with the mean of forward and backward
 * for it, ti-pt-b equals that mean by identity. */
#include "estimate/evidence/anchor.h"
#include "estimate/evidence/levels.h"

#include <math.h>

enum { STEPS = 200 };

static const char *const NAMES[TM_LEVELS_KINDS] = {
    [TM_LEVELS_SS] = "ss",
    [TM_LEVELS_FORWARD] = "ss-forward",
    [TM_LEVELS_BACKWARD] = "ss-backward",
    [TM_LEVELS_TI_B] = "ti-pt-b",
    [TM_LEVELS_TI_NB] = "ti-pt-nb",
    [TM_LEVELS_TI_2] = "ti-pt-2"};

const char *tm_levels_name(tm_levels_kind kind) { return NAMES[kind]; }

/* The draws of one level; l of draw i is l[i * step]. */
typedef struct series {
  const double *l;
  size_t count, step;
} series;

static series level(const tm_levels *v, size_t t) {
  return (series){v->l + t, v->chains * v->rows, v->count};
}

/* log of the mean of e^{a l}; its influence joins psi `scale` times. */
static double log_mean_exp(series s, double a, double scale, double *psi) {
  double most = -INFINITY, sum = 0, n = (double)s.count;
  for (size_t i = 0; i < s.count; i++)
    most = fmax(most, a * s.l[i * s.step]);
  for (size_t i = 0; i < s.count; i++)
    sum += exp(a * s.l[i * s.step] - most);
  for (size_t i = 0; i < s.count; i++)
    psi[i] += scale * (exp(a * s.l[i * s.step] - most) * n / sum - 1);
  return most + log(sum / n);
}

/* The influence of the mean over finite l; `share` of the draws are. */
static void add_mean(series s, double mean, double share, double scale,
                     double *psi) {
  for (size_t i = 0; i < s.count; i++)
    if (s.l[i * s.step] > -INFINITY)
      psi[i] += scale * (s.l[i * s.step] - mean) / share;
}

static void add_variance(series s, double mean, double variance, double share,
                         double scale, double *psi) {
  for (size_t i = 0; i < s.count; i++) {
    double d = s.l[i * s.step] - mean;
    if (isfinite(d))
      psi[i] += scale * (d * d - variance) / share;
  }
}

static double logistic(double x) { return 1 / (1 + exp(-x)); }

/* E_t[s(dl - r)] - E_{t+1}[s(r - dl)], which falls with r; and its slope. */
static double imbalance(series low, series high, double d, double r,
                        double *slope) {
  double sum = 0, n = (double)low.count;
  *slope = 0;
  for (size_t i = 0; i < low.count; i++) {
    double a = logistic(d * low.l[i * low.step] - r);
    double b = logistic(r - d * high.l[i * high.step]);
    sum += a - b;
    *slope -= a * (1 - a) + b * (1 - b);
  }
  *slope /= n;
  return sum / n;
}

/* Newton's method inside a shrinking bracket. */
static double bennett(series low, series high, double d, double start,
                      double *psi) {
  double from = -INFINITY, to = INFINITY, r = start, slope = 0;
  for (int k = 0; k < STEPS; k++) {
    double off = imbalance(low, high, d, r, &slope);
    *(off > 0 ? &from : &to) = r;
    double next = slope < 0 ? r - off / slope : r + (off > 0 ? 1 : -1);
    next = fmax(r - 50, fmin(r + 50, next));
    if (!(next > from && next < to) && isfinite(from) && isfinite(to))
      next = (from + to) / 2;
    if (fabs(next - r) < 1e-10 * fmax(1, fabs(r)))
      break;
    r = next;
  }
  for (size_t i = 0; i < low.count; i++)
    psi[i] -= (logistic(d * low.l[i * low.step] - r) -
               logistic(r - d * high.l[i * high.step])) /
              slope;
  return r;
}

static double trapezoid(const tm_levels *v, size_t t, double *psi) {
  double d = v->tau[t + 1] - v->tau[t];
  add_mean(level(v, t), v->mean[t], t ? 1 : v->inside, d / 2, psi);
  add_mean(level(v, t + 1), v->mean[t + 1], 1, d / 2, psi);
  return d * (v->mean[t] + v->mean[t + 1]) / 2;
}

/* The second-order error of the trapezoid: what is to be taken off. */
static double second_order(const tm_levels *v, size_t t) {
  double d = v->tau[t + 1] - v->tau[t];
  return d * d / 12 * (v->variance[t + 1] - v->variance[t]);
}

static double corrected(const tm_levels *v, size_t t, double *psi) {
  double d = v->tau[t + 1] - v->tau[t], c = d * d / 12;
  add_variance(level(v, t), v->mean[t], v->variance[t], t ? 1 : v->inside, c,
               psi);
  add_variance(level(v, t + 1), v->mean[t + 1], v->variance[t + 1], 1, -c, psi);
  return trapezoid(v, t, psi) - second_order(v, t);
}

/* The rise of log z from level t to the next, given L > 0 unless the estimator
 * sees at level 0 which draws have L = 0. */
static double rise(const tm_levels *v, tm_levels_kind kind, size_t t,
                   double *psi) {
  double d = v->tau[t + 1] - v->tau[t];
  series low = level(v, t), high = level(v, t + 1);
  switch (kind) {
  case TM_LEVELS_SS:
    return bennett(low, high, d, d * (v->mean[t] + v->mean[t + 1]) / 2, psi);
  case TM_LEVELS_FORWARD:
    return log_mean_exp(low, d, 1, psi);
  case TM_LEVELS_BACKWARD:
    return -log_mean_exp(high, -d, -1, psi);
  case TM_LEVELS_TI_B:
    return log_mean_exp(low, d, 0.5, psi) / 2 -
           log_mean_exp(high, -d, -0.5, psi) / 2;
  case TM_LEVELS_TI_2:
    return corrected(v, t, psi);
  default:
    return trapezoid(v, t, psi);
  }
}

double tm_levels_rise(const tm_levels *levels, size_t from, size_t to,
                      double *psi) {
  double sum = 0;
  for (size_t t = from; t < to; t++)
    sum += rise(levels, TM_LEVELS_SS, t, psi);
  return sum;
}

/* How much of log P(L > 0) the rises have missed. */
static const double UNSEEN[TM_LEVELS_KINDS] = {[TM_LEVELS_BACKWARD] = 1,
                                               [TM_LEVELS_TI_B] = 0.5,
                                               [TM_LEVELS_TI_NB] = 1,
                                               [TM_LEVELS_TI_2] = 1};

/* Up to a first level above 0: by the draws from the prior, which also see
 * L = 0; without them backward from that level, and then no further than the
 * upper bound that convexity gives, tau E_tau[l], is it trusted. */
static double gap(const tm_levels *v, tm_evidence *evidence) {
  const tempera_draws *draws = v->draws;
  double tau = v->tau[0];
  if (!draws->prior_log_likelihood) {
    double rise = -log_mean_exp(level(v, 0), -tau, -1, evidence->psi);
    evidence->half_range = fabs(tau * v->mean[0] - rise);
    return rise;
  }
  tm_anchor anchor = tm_anchor_at(draws, tau);
  evidence->variance += anchor.se * anchor.se;
  return anchor.log_z;
}

/* From z(0) up to the first level. */
static double bottom(const tm_levels *v, tm_levels_kind kind,
                     tm_evidence *evidence) {
  series s = level(v, 0);
  double scale = UNSEEN[kind];
  if (v->tau[0] > 0)
    return gap(v, evidence);
  if (v->inside >= 1 || scale == 0)
    return 0;
  for (size_t i = 0; i < s.count; i++)
    evidence->psi[i] += scale * ((s.l[i * s.step] > -INFINITY) / v->inside - 1);
  return scale * log(v->inside);
}

tempera_status tm_levels_evidence(const tm_levels *levels, tm_levels_kind kind,
                                  tm_evidence *evidence, double *log_z,
                                  tempera_error *error) {
  const tm_levels *v = levels;
  *evidence =
      (tm_evidence){.chains = v->chains,
                    .rows = v->rows,
                    .psi = TM_NEW(v->arena, double, v->chains * v->rows),
                    .top = 1};
  if (!evidence->psi)
    return tm_fail_memory(error);
  evidence->log_z += bottom(v, kind, evidence);
  for (size_t t = 0; t < v->count; t++) {
    if (log_z)
      log_z[t] = evidence->log_z;
    if (t + 1 < v->count)
      evidence->log_z += rise(v, kind, t, evidence->psi);
  }
  /* Integrals by few levels have an error that more draws do not cure: the
   * trapezoid is off by about `bias`, so that its interval must reach past. */
  double bias = 0;
  for (size_t t = 0; t + 1 < v->count; t++)
    bias += fabs(second_order(v, t));
  if (kind == TM_LEVELS_TI_NB)
    evidence->half_range += 2 * bias;
  if (kind == TM_LEVELS_TI_2)
    evidence->half_range += bias / 2;
  return TEMPERA_OK;
}
