/* level_power.c - what power.h asks of one tau, from draws at every level (pt).
 *
 * The draws of the two levels a <= tau <= b about it are, together, of the law
 * pi (e^{a l} + e^{b l - r}), r = log z(b)/z(a) by Bennett's ratio: so each has
 * the weight c = e^{tau l} / (e^{a l} + e^{b l - r}), whose mean over sweeps is
 * z(tau)/z(a). The error of r is part of the influence. */
#include "estimate/answers/power.h"

#include "estimate/evidence/evidence.h"
#include "estimate/evidence/influence.h"
#include "estimate/evidence/levels.h"

#include <math.h>

enum { MOST_DRAWS = 4000000 };

/* Two levels, and the sums over their draws. */
typedef struct rung {
  size_t low, sweeps;
  double tau, r;
  double shift; /* weights are over e^shift */
  double sum, mean, slope_mean, slope_log; /* slopes: by r */
} rung;

/* log c; *share is that of the upper level in the denominator. */
static double log_weight(const tm_levels *v, const rung *g, double l,
                         double *share) {
  double a = v->tau[g->low] > 0 ? v->tau[g->low] * l : 0;
  double b = v->tau[g->low + 1] * l - g->r;
  double most = fmax(a, b);
  *share = exp(b - most) / (exp(a - most) + exp(b - most));
  return (g->tau > 0 ? g->tau * l : 0) - most -
         log(exp(a - most) + exp(b - most));
}

static double weight(const tm_levels *v, const rung *g, double l,
                     double *share) {
  return exp(log_weight(v, g, l, share) - g->shift);
}

static const double *draws_of(const tm_levels *v, const rung *g, size_t sweep) {
  return v->l + sweep * v->count + g->low;
}

static void add_up(const tm_levels *v, rung *g) {
  double share, l_sum = 0, share_sum = 0, both = 0;
  g->shift = -INFINITY;
  for (size_t i = 0; i < 2 * g->sweeps; i++)
    g->shift = fmax(g->shift, log_weight(v, g, draws_of(v, g, i / 2)[i % 2],
                                         &share));
  for (size_t i = 0; i < 2 * g->sweeps; i++) {
    double l = draws_of(v, g, i / 2)[i % 2], c = weight(v, g, l, &share);
    if (!(c > 0) || !isfinite(l)) {
      g->sum += c;
      continue;
    }
    g->sum += c;
    l_sum += c * l;
    share_sum += c * share;
    both += c * share * l;
  }
  g->mean = l_sum / g->sum;
  g->slope_log = share_sum / g->sum;
  g->slope_mean = (both - share_sum * g->mean) / g->sum;
}

static tempera_path_answer answer(const tm_levels *v, double value,
                                  const double *psi, double tau) {
  double se = tm_influence_error(psi, v->chains, v->rows).se;
  se = fmax(se, tm_least_se(v->chains * v->rows));
  return isfinite(value) && isfinite(se)
             ? (tempera_path_answer){value, se, tau}
             : (tempera_path_answer){NAN, NAN, NAN};
}

/* by_r: the influence of r; room: for another. */
static void fill(const tm_levels *v, rung *g, double *by_r, double *room,
                 tempera_path_answer *mean, tempera_path_answer *rise) {
  size_t n = g->sweeps;
  double share, scale = (double)n / g->sum;
  for (size_t i = 0; i < n; i++) {
    room[i] = g->slope_mean * by_r[i];
    for (size_t k = 0; k < 2; k++) {
      double l = draws_of(v, g, i)[k], c = weight(v, g, l, &share);
      room[i] += c > 0 && isfinite(l) ? scale * c * (l - g->mean) : 0;
    }
  }
  *mean = answer(v, g->mean, room, g->tau);
  for (size_t i = 0; i < n; i++)
    room[i] = 0;
  double above = tm_levels_rise(v, g->low, v->count - 1, room);
  for (size_t i = 0; i < n; i++) {
    room[i] -= g->slope_log * by_r[i];
    for (size_t k = 0; k < 2; k++)
      room[i] -= scale * weight(v, g, draws_of(v, g, i)[k], &share);
  }
  *rise = answer(v, above - g->shift - log(g->sum / (double)n), room, g->tau);
}

tempera_status tm_level_power(const tempera_draws *draws, double tau,
                              tempera_path_answer *mean,
                              tempera_path_answer *rise, tempera_error *error) {
  tm_levels v;
  *mean = *rise = (tempera_path_answer){NAN, NAN, NAN};
  TM_TRY(tm_levels_create(draws, MOST_DRAWS, &v, error));
  rung g = {.tau = tau, .sweeps = v.chains * v.rows};
  double *by_r = TM_NEW(v.arena, double, g.sweeps + 1);
  double *room = TM_NEW(v.arena, double, g.sweeps + 1);
  tempera_status status = by_r && room ? TEMPERA_OK : tm_fail_memory(error);
  if (status == TEMPERA_OK && v.count > 1 && g.sweeps >= TM_FEWEST_DRAWS &&
      tau >= v.tau[0] && tau <= 1) {
    while (g.low + 2 < v.count && v.tau[g.low + 1] <= tau)
      g.low++;
    g.r = tm_levels_rise(&v, g.low, g.low + 1, by_r);
    add_up(&v, &g);
    fill(&v, &g, by_r, room, mean, rise);
  }
  tm_levels_free(&v);
  return status;
}
