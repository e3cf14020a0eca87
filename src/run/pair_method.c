/* pair_method.c - pt-stwnc and stwnc at run level: the tau prior, from the
 * ridge or from a curve of log z that is refined in warmup rounds (method
 * 4.2). After the last round P(tau) is fixed. */
#include "run/sampler.h"

#include "samplers/pair.h"

#include <math.h>
#include <string.h>

enum { MEMORY = 20000 }; /* optima kept per chain by the exact ridge */

typedef struct own {
  tm_learner *learner; /* of priors by a curve of log z, else NULL */
  tm_tau_prior prior;
  tempera_draws *round_draws; /* of this warmup round, for the learner */
} own;

static own *own_of(const tempera_sampler *s) { return s->own; }

static tm_pair *pair_of(const tempera_sampler *s, size_t chain) {
  return (tm_pair *)s->groups[chain];
}

/* Priors that are not the ridge upside down go by a curve of log z. */
static bool by_curve(const tempera_sampler *s) {
  return s->options.tau_prior != TEMPERA_PRIOR_PROFILE;
}

static bool learning(const tempera_sampler *s) {
  return s->options.tau_prior == TEMPERA_PRIOR_LEARNED;
}

/* Tabulate P(tau) and hand it to every pair. */
static tempera_status update_prior(tempera_sampler *s, tempera_error *error) {
  const tempera_options *o = &s->options;
  own *w = own_of(s);
  if (w->learner)
    TM_TRY(tm_learner_prior(w->learner, &w->prior, error));
  else
    TM_TRY(tm_tau_prior_profile(s->ridge, o->tau_min, &w->prior, error));
  for (size_t c = 0; c < o->chains; c++)
    TM_TRY(tm_pair_set_prior(pair_of(s, c), s->ridge, &w->prior, error));
  return TEMPERA_OK;
}

static tempera_status record_prior(const tempera_sampler *s,
                                   tempera_draws *draws, tempera_error *error) {
  const tm_loglinear *log_prior = &own_of(s)->prior.log_prior;
  tm_draws_prior prior = {.knots = log_prior->count,
                          .tau = log_prior->x,
                          .log_prior = log_prior->y,
                          .log_atom = log_prior->log_atom};
  return tm_draws_set_prior(draws, &prior, error);
}

static tempera_status make_group(tempera_sampler *s, uint32_t chain,
                                 const double *start, double start_tau,
                                 tm_group **group, tempera_error *error) {
  const tempera_options *o = &s->options;
  tm_pair_settings settings = {
      .method = o->method,
      .exchange_replaces = o->paper,
      .exchange = o->exchange,
      .tau_move = o->tau_move,
      .tau_scale = o->tau_scale,
      .kernel = o->kernel,
      .memory = o->ridge == TEMPERA_RIDGE_EXACT ? MEMORY : 0};
  tm_pair *pair = NULL;
  TM_TRY(tm_pair_create(s->model, &settings, o->seed, chain, start, start_tau,
                        &pair, error));
  *group = &pair->group;
  return TEMPERA_OK;
}

/* ------------------------------------------------------------------------
 * The beginning
 */

/* Taus of a curve: tau_min, then even in log tau from 1e-10 to 1. */
enum { POINTS = 400 };
static double curve_tau(size_t k, double low) {
  double share = (double)k / (POINTS - 1);
  return k ? low + (1 - low) * pow(1e-10, 1 - share) : low;
}

/* Without a Laplace ridge: log z(tau) as the points looked at for starts tell
 * it, log mean exp(tau l); crude at large tau, but the rounds refine it. */
static double looks_log_z(const tm_starts *starts, double tau) {
  double most = -INFINITY, sum = 0;
  for (size_t i = 0; i < starts->look_count; i++)
    most = fmax(most, starts->looks[i]);
  for (size_t i = 0; i < starts->look_count; i++)
    sum += tau == 0 ? 1 : exp(tau * (starts->looks[i] - most));
  return tau * most + log(sum / (double)starts->look_count);
}

/* Fewer Laplace knots than this (a large model without gradients: a Hessian
 * is dear) are too far apart to be joined by a cubic. */
enum { ENOUGH_KNOTS = 8 };

/* By how much log z changes over an interval beyond the ridge, at a share of
 * it: for a near-Gaussian posterior -(d/2) log(1 + kappa tau), with the kappa
 * that fits the change over the whole interval. */
static double spread_between(double a, double b, double change, double d,
                             double tau) {
  double low = 1e-12, high = 1e12;
  if (!(change < 0) || !(d > 0))
    return change * (tau - a) / (b - a);
  for (int i = 0; i < 100; i++) {
    double kappa = sqrt(low * high);
    double at = -d / 2 * log((1 + kappa * b) / (1 + kappa * a));
    *(at < change ? &high : &low) = kappa;
  }
  return -d / 2 * log((1 + low * tau) / (1 + low * a));
}

/* log z from few Laplace knots: the ridge, which is known everywhere, plus
 * what Laplace adds to it at the knots. */
static double ridge_log_z(const tempera_sampler *s, double tau) {
  const tm_laplace_view *view = tm_laplace_look(s->laplace);
  const tm_laplace_knot *knot = view->knots;
  size_t k = 0;
  while (k + 2 < view->knot_count && knot[k + 1].tau <= tau)
    k++;
  double from = knot[k].log_z - tm_ridge_height(s->ridge, knot[k].tau);
  double to = knot[k + 1].log_z - tm_ridge_height(s->ridge, knot[k + 1].tau);
  return tm_ridge_height(s->ridge, tau) + from +
         spread_between(knot[k].tau, knot[k + 1].tau, to - from,
                        (double)s->model->real_dimension, tau);
}

static double start_log_z(const tempera_sampler *s, double tau) {
  const tm_laplace_view *view = tm_laplace_look(s->laplace);
  if (view->absent)
    return looks_log_z(&s->starts, tau);
  if (view->knot_count >= ENOUGH_KNOTS || view->knot_count < 2 ||
      tm_ridge_look(s->ridge)->absent)
    return tm_laplace_log_z(s->laplace, tau);
  return ridge_log_z(s, tau);
}

static tempera_status begin_curve(tempera_sampler *s, tempera_error *error) {
  double tau[POINTS], log_z[POINTS];
  for (size_t k = 0; k < POINTS; k++) {
    tau[k] = curve_tau(k, s->options.tau_min);
    log_z[k] = start_log_z(s, tau[k]);
  }
  return tm_learner_create(tau, log_z, POINTS, learning(s), &own_of(s)->learner,
                           error);
}

static tempera_status begin_learning(tempera_sampler *s, tempera_error *error) {
  const tempera_options *o = &s->options;
  own *w = own_of(s);
  TM_TRY(tm_draws_create(o->chains, 0, NULL, NULL,
                         o->method == TEMPERA_PT_STWNC, true, &w->round_draws,
                         error));
  w->round_draws->tau_min = o->tau_min;
  return tm_draws_reserve(w->round_draws, o->warmup, error);
}

static tempera_status begin(tempera_sampler *s, tempera_error *error) {
  s->own = tm_heap_alloc(1, sizeof(own));
  if (!s->own)
    return tm_fail_memory(error);
  if (by_curve(s))
    TM_TRY(tm_landscape_laplace(s, !learning(s), error));
  TM_TRY(tm_landscape_ridge(s, !by_curve(s), error));
  if (by_curve(s))
    TM_TRY(begin_curve(s, error));
  if (learning(s))
    TM_TRY(begin_learning(s, error));
  return update_prior(s, error);
}

/* ------------------------------------------------------------------------
 * Rounds
 */

static void keep(tempera_sampler *s, const tm_group *group) {
  tempera_draws *draws = own_of(s)->round_draws;
  if (!draws)
    return;
  size_t row = group->done - 1 - s->round_start;
  for (size_t role = 0; role < 2; role++)
    if (group->width[role])
      tm_draws_put(draws, (tempera_role)role, group->chain, row, NULL,
                   group->rows[role]->extra);
}

/* Points that rose above the ridge since the last round, in chain order. */
static tempera_status improve_ridge(tempera_sampler *s, bool *improved,
                                    tempera_error *error) {
  size_t size = s->model->size, count = 0;
  double *points = tm_heap_alloc(s->options.chains * size, sizeof(double));
  if (!points)
    return tm_fail_memory(error);
  for (size_t c = 0; c < s->options.chains; c++) {
    tm_pair *pair = pair_of(s, c);
    if (pair->worst_excess > TM_RIDGE_GAP)
      memcpy(points + count++ * size, pair->worst_theta, size * sizeof(double));
    pair->worst_excess = 0;
    pair->beaten = 0;
  }
  tempera_status status = TEMPERA_OK;
  if (count)
    status = tm_ridge_improve(s->ridge, points, count, error);
  *improved = count > 0;
  tm_heap_free(points);
  return status;
}

static tempera_status learn(tempera_sampler *s, bool last,
                            tempera_error *error) {
  own *w = own_of(s);
  if (!last)
    TM_TRY(tm_landscape_improve(s, error));
  w->round_draws->count = s->round_end - s->round_start;
  TM_TRY(record_prior(s, w->round_draws, error));
  return tm_learner_update(w->learner, w->round_draws, error);
}

static tempera_status end_round(tempera_sampler *s, bool last,
                                tempera_error *error) {
  bool improved = false;
  if (s->options.ridge != TEMPERA_RIDGE_EXACT &&
      !tm_ridge_look(s->ridge)->absent)
    TM_TRY(improve_ridge(s, &improved, error));
  if (learning(s))
    TM_TRY(learn(s, last, error));
  return learning(s) || improved ? update_prior(s, error) : TEMPERA_OK;
}

static tempera_status freeze(tempera_sampler *s, tempera_error *error) {
  return record_prior(s, s->draws, error);
}

static tempera_status describe(const tempera_sampler *s,
                               tempera_summary *summary) {
  for (size_t c = 0; c < s->options.chains; c++)
    summary->ridge_beaten += pair_of(s, c)->beaten;
  return TEMPERA_OK;
}

static void release(tempera_sampler *s) {
  own *w = own_of(s);
  tm_tau_prior_free(&w->prior);
  tm_draws_free(w->round_draws);
  tm_learner_free(w->learner);
}

const tm_method tm_method_pt_stwnc = {.target = true,
                                      .tempered = true,
                                      .steady_width = true,
                                      .make_group = make_group,
                                      .begin = begin,
                                      .keep = keep,
                                      .end_round = end_round,
                                      .freeze = freeze,
                                      .describe = describe,
                                      .release = release};

/* The same without a target chain. */
const tm_method tm_method_stwnc = {.tempered = true,
                                   .steady_width = true,
                                   .make_group = make_group,
                                   .begin = begin,
                                   .keep = keep,
                                   .end_round = end_round,
                                   .freeze = freeze,
                                   .describe = describe,
                                   .release = release};
