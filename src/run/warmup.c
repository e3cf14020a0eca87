/* warmup.c - the ridge, the tau prior, and what is learned in rounds.
 *
 * Rounds double in length and end at fixed sweeps; what all chains have seen
 * is pooled in chain order (method 4.7). After the last round P(tau) and the
 * kernels are fixed: only then are draws kept. */
#include "run/sampler.h"

#include "parallel/threads.h"

#include <math.h>
#include <string.h>

enum { FIRST_ROUND = 100 }; /* sweeps; later warmup rounds double */

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
  if (s->learner)
    TM_TRY(tm_learner_prior(s->learner, &s->prior, error));
  else
    TM_TRY(tm_tau_prior_profile(s->ridge, o->tau_min, &s->prior, error));
  for (size_t c = 0; c < o->chains; c++)
    TM_TRY(tm_pair_set_prior(&s->pairs[c], s->ridge, &s->prior, error));
  return TEMPERA_OK;
}

static tempera_status record_prior(const tempera_sampler *s,
                                   tempera_draws *draws, tempera_error *error) {
  tm_draws_prior prior = {.knots = s->prior.log_prior.count,
                          .tau = s->prior.log_prior.x,
                          .log_prior = s->prior.log_prior.y,
                          .log_atom = s->prior.log_prior.log_atom};
  return tm_draws_set_prior(draws, &prior, error);
}

/* ------------------------------------------------------------------------
 * The beginning
 */

/* The best optima of the Laplace ridge at both ends, on the natural scale: the
 * other ridge's basins are the same, and need no search of their own. None
 * without a Laplace ridge. */
static tempera_status find_basins(const tempera_sampler *s, double **basins,
                                  size_t *count, tempera_error *error) {
  enum { MOST = 4 }; /* per end */
  if (!s->laplace || tm_laplace_look(s->laplace)->absent)
    return TEMPERA_OK;
  const tm_laplace_view *view = tm_laplace_look(s->laplace);
  const tm_laplace_knot *ends[] = {&view->knots[view->knot_count - 1],
                                   &view->knots[0]};
  *basins = tm_heap_alloc(2 * MOST * s->model->size, sizeof(double));
  if (!*basins)
    return tm_fail_memory(error);
  for (size_t e = 0; e < 2; e++)
    for (size_t i = 0; i < ends[e]->mode_count && i < MOST; i++) {
      double log_jacobian;
      if (isfinite(ends[e]->modes[i].log_likelihood))
        tm_constrain(s->model, ends[e]->modes[i].u,
                     *basins + (*count)++ * s->model->size, &log_jacobian);
    }
  return TEMPERA_OK;
}

/* The natural-scale ridge; without one only the learned prior can go on. */
static tempera_status build_ridge(tempera_sampler *s, tempera_error *error) {
  const tempera_options *o = &s->options;
  tm_ridge_settings settings = {.kind = o->ridge,
                                .tau_min = o->tau_min,
                                .seed = o->seed,
                                .threads = tm_threads(o->threads)};
  double *basins = NULL;
  size_t count = 0;
  TM_TRY(find_basins(s, &basins, &count, error));
  settings.surveyed = count > 0;
  tempera_status status = tm_ridge_create(
      s->model, &settings, count ? basins : s->starts.optimiser,
      count ? count : s->starts.optimiser_count, &s->ridge, error);
  tm_heap_free(basins);
  TM_TRY(status);
  const tm_ridge_view *view = tm_ridge_look(s->ridge);
  if (!view->absent || by_curve(s))
    return TEMPERA_OK;
  return tm_fail(error, TEMPERA_ERROR_MODEL,
                 "model %s has no ridge, which the profile tau prior needs: "
                 "%s; use --tau-prior learned",
                 s->model->spec.name, view->reason);
}

/* The Laplace ridge: where the basins are, for jumps and for log z. */
static tempera_status build_laplace(tempera_sampler *s, tempera_error *error) {
  const tempera_options *o = &s->options;
  tm_laplace_settings settings = {.tau_min = o->tau_min,
                                  .seed = o->seed,
                                  .threads = tm_threads(o->threads)};
  TM_TRY(tm_laplace_create(s->model, &settings, s->starts.optimiser,
                           s->starts.optimiser_count, &s->laplace, error));
  const tm_laplace_view *view = tm_laplace_look(s->laplace);
  if (view->absent && !learning(s))
    return tm_fail(error, TEMPERA_ERROR_MODEL,
                   "model %s has no Laplace ridge, which the laplace tau prior "
                   "needs: %s; use --tau-prior learned",
                   s->model->spec.name, view->reason);
  for (size_t c = 0; c < o->chains && o->jumps; c++)
    tm_kernel_set_laplace(s->pairs[c].kernel, s->laplace);
  return TEMPERA_OK;
}

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
  return tm_learner_create(tau, log_z, POINTS, learning(s), &s->learner, error);
}

static tempera_status begin_learning(tempera_sampler *s, tempera_error *error) {
  const tempera_options *o = &s->options;
  TM_TRY(tm_draws_create(o->chains, 0, NULL, NULL,
                         o->method == TEMPERA_PT_STWNC, true, &s->round_draws,
                         error));
  s->round_draws->tau_min = o->tau_min;
  return tm_draws_reserve(s->round_draws, o->warmup, error);
}

/* The sweep at which the current round ends: a last round shorter than half
 * of its length joins the one before. */
static void place_round_end(tempera_sampler *s) {
  size_t warmup = s->options.warmup;
  if (s->round_end + s->round_end / 2 > warmup)
    s->round_end = warmup;
}

static tempera_status freeze(tempera_sampler *s, tempera_error *error) {
  for (size_t c = 0; c < s->options.chains; c++)
    tm_kernel_freeze(s->pairs[c].kernel);
  const tm_ridge_view *view = tm_ridge_look(s->ridge);
  tm_draws_ridge ridge = {view->absent ? 0 : view->knots, view->tau,
                          view->height};
  TM_TRY(tm_draws_set_ridge(s->draws, &ridge, error));
  return record_prior(s, s->draws, error);
}

tempera_status tm_warmup_begin(tempera_sampler *sampler, tempera_error *error) {
  tempera_sampler *s = sampler;
  if (s->begun)
    return TEMPERA_OK;
  if (by_curve(s))
    TM_TRY(build_laplace(s, error));
  TM_TRY(build_ridge(s, error));
  if (by_curve(s))
    TM_TRY(begin_curve(s, error));
  if (learning(s))
    TM_TRY(begin_learning(s, error));
  TM_TRY(update_prior(s, error));
  s->begun = true;
  s->round_end = FIRST_ROUND;
  place_round_end(s);
  return s->options.warmup == 0 ? freeze(s, error) : TEMPERA_OK;
}

/* ------------------------------------------------------------------------
 * The end of a round
 */

void tm_warmup_keep(tempera_sampler *sampler, const tm_pair *pair) {
  tempera_draws *draws = sampler->round_draws;
  if (!draws)
    return;
  size_t row = pair->done - 1 - sampler->round_start;
  tm_draws_put(draws, TEMPERA_TEMPERED, pair->chain, row, NULL,
               pair->row[TEMPERA_TEMPERED]);
  if (draws->has_role[TEMPERA_TARGET])
    tm_draws_put(draws, TEMPERA_TARGET, pair->chain, row, NULL,
                 pair->row[TEMPERA_TARGET]);
}

/* Points that rose above the ridge since the last round, in chain order. */
static tempera_status improve_ridge(tempera_sampler *s, bool *improved,
                                    tempera_error *error) {
  size_t size = s->model->size, count = 0;
  double *points = tm_heap_alloc(s->options.chains * size, sizeof(double));
  if (!points)
    return tm_fail_memory(error);
  for (size_t c = 0; c < s->options.chains; c++) {
    tm_pair *pair = &s->pairs[c];
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

/* Where the chains are now may be a basin not known yet. */
static tempera_status improve_laplace(tempera_sampler *s,
                                      tempera_error *error) {
  size_t size = s->model->size, chains = s->options.chains;
  double *points = tm_heap_alloc(2 * chains * size, sizeof(double));
  if (!points)
    return tm_fail_memory(error);
  size_t count = 0;
  for (size_t c = 0; c < chains; c++) {
    const tm_pair *pair = &s->pairs[c];
    if (isfinite(pair->tempered.log_likelihood))
      memcpy(points + count++ * size, pair->tempered.theta,
             size * sizeof(double));
    memcpy(points + count++ * size, pair->target.theta, size * sizeof(double));
  }
  tempera_status status =
      tm_laplace_improve(s->laplace, points, count, NULL, error);
  tm_heap_free(points);
  return status;
}

static tempera_status learn(tempera_sampler *s, tempera_error *error) {
  if (!tm_laplace_look(s->laplace)->absent && s->round_end < s->options.warmup)
    TM_TRY(improve_laplace(s, error));
  s->round_draws->count = s->round_end - s->round_start;
  TM_TRY(record_prior(s, s->round_draws, error));
  return tm_learner_update(s->learner, s->round_draws, error);
}

tempera_status tm_warmup_end_round(tempera_sampler *sampler,
                                   tempera_error *error) {
  tempera_sampler *s = sampler;
  bool last = s->round_end == s->options.warmup, improved = false;
  for (size_t c = 0; c < s->options.chains; c++)
    tm_kernel_end_round(s->pairs[c].kernel);
  if (s->options.ridge != TEMPERA_RIDGE_EXACT &&
      !tm_ridge_look(s->ridge)->absent)
    TM_TRY(improve_ridge(s, &improved, error));
  if (learning(s))
    TM_TRY(learn(s, error));
  if (learning(s) || improved)
    TM_TRY(update_prior(s, error));
  if (last)
    return freeze(s, error);
  s->round_start = s->round_end;
  s->round_end = 2 * s->round_end + FIRST_ROUND;
  place_round_end(s);
  return TEMPERA_OK;
}
