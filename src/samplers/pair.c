/* pair.c - STWNC and PT-STWNC sweeps; see pair.h. */
#include "samplers/pair.h"

#include <math.h>
#include <string.h>

/* The first theta move happens at start_tau, so the start must have positive
 * density there; the caller found it so. */
tempera_status tm_pair_create(const tempera_model *model,
                              const tm_pair_settings *settings, uint64_t seed,
                              uint32_t chain, const double *start,
                              double start_tau, tm_pair *pair,
                              tempera_error *error) {
  *pair = (tm_pair){.model = model,
                    .settings = *settings,
                    .chain = chain,
                    .tau = start_tau,
                    .arena = tm_arena_create()};
  if (!pair->arena)
    return tm_fail_memory(error);
  pair->tempered_stream = tm_random(seed, chain, TM_PURPOSE_TEMPERED);
  pair->target_stream = tm_random(seed, chain, TM_PURPOSE_TARGET);
  pair->tau_stream = tm_random(seed, chain, TM_PURPOSE_TAU);
  pair->exchange_stream = tm_random(seed, chain, TM_PURPOSE_EXCHANGE);
  pair->worst_theta = TM_NEW(pair->arena, double, model->size);
  if (!pair->worst_theta)
    return tm_fail_memory(error);
  tm_kernel_settings kernel = {.kind = settings->kernel};
  TM_TRY(tm_evaluator_create(model, pair->arena, &pair->evaluator, error));
  TM_TRY(tm_kernel_create(model, &kernel, pair->arena, &pair->kernel, error));
  TM_TRY(tm_point_create(model, pair->arena, &pair->tempered, error));
  TM_TRY(tm_point_create(model, pair->arena, &pair->target, error));
  TM_TRY(tm_point_create(model, pair->arena, &pair->spare, error));
  memcpy(pair->tempered.theta, start, model->size * sizeof(double));
  tm_evaluate_natural(&pair->evaluator, &pair->tempered);
  tm_point_copy(model, &pair->tempered, &pair->target);
  return TEMPERA_OK;
}

void tm_pair_free(tm_pair *pair) {
  if (pair->mover.memory)
    tm_ridge_memory_release(pair->mover.memory);
  tm_evaluator_release(&pair->evaluator);
  tm_arena_free(pair->arena);
  *pair = (tm_pair){0};
}

tempera_status tm_pair_set_prior(tm_pair *pair, const tm_ridge *ridge,
                                 const tm_tau_prior *prior,
                                 tempera_error *error) {
  bool first = pair->mover.prior == NULL;
  pair->ridge = ridge;
  pair->mover.kind = pair->settings.tau_move;
  pair->mover.scale = pair->settings.tau_scale;
  pair->mover.prior = prior;
  pair->mover.work = TM_NEW(pair->arena, double, prior->log_prior.count);
  if (!pair->mover.work)
    return tm_fail_memory(error);
  if (first && pair->settings.memory) {
    TM_TRY(tm_ridge_memory_create(ridge, pair->arena, pair->settings.memory,
                                  &pair->mover.memory, error));
    tm_tau_settle(&pair->mover, &pair->evaluator, pair->tau);
  }
  return TEMPERA_OK;
}

/* A draw above the chord proves a better optimum than a knot's; keep the
 * worst offender for the next warmup round. */
static void watch_ridge(tm_pair *pair) {
  if (pair->mover.memory || tm_ridge_look(pair->ridge)->absent)
    return;
  double excess = tm_ridge_excess(pair->ridge, &pair->tempered, pair->tau);
  if (!(excess > TM_RIDGE_GAP))
    return;
  pair->beaten++;
  if (excess > pair->worst_excess) {
    pair->worst_excess = excess;
    memcpy(pair->worst_theta, pair->tempered.theta,
           pair->model->size * sizeof(double));
  }
}

/* At the atom theta is redrawn from the prior: a regeneration (method 4.2). */
static bool regenerate(tm_pair *pair) {
  bool at_atom =
      pair->tau == 0 && pair->mover.prior->log_prior.log_atom > -INFINITY;
  if (!at_atom || !pair->model->spec.prior_draw)
    return false;
  tm_prior_draw(&pair->evaluator, &pair->tempered_stream, &pair->spare);
  if (pair->spare.log_prior == -INFINITY)
    return false; /* the callback rejected its own draw */
  tm_point held = pair->tempered;
  pair->tempered = pair->spare;
  pair->spare = held;
  pair->row[TEMPERA_TEMPERED][TM_RENEWED] = 1;
  return true;
}

/* Algorithm 1: theta given tau, then tau given theta. */
static void mutate_tempered(tm_pair *pair) {
  tm_sweep sweep = {.acceptance = 1};
  if (!regenerate(pair))
    sweep = tm_kernel_sweep(pair->kernel, &pair->evaluator, &pair->tempered,
                            pair->tau, &pair->tempered_stream);
  pair->row[TEMPERA_TEMPERED][TM_ACCEPT] = sweep.acceptance;
  pair->row[TEMPERA_TEMPERED][TM_TAU_ACCEPT] =
      tm_tau_move(&pair->mover, &pair->evaluator, pair->tempered.log_likelihood,
                  &pair->tau, &pair->tau_stream);
  watch_ridge(pair);
}

static void mutate_target(tm_pair *pair) {
  tm_sweep sweep = tm_kernel_sweep(pair->kernel, &pair->evaluator,
                                   &pair->target, 1, &pair->target_stream);
  pair->row[TEMPERA_TARGET][TM_ACCEPT] = sweep.acceptance;
}

double tm_exchange_log_ratio(double tau, double log_likelihood_tempered,
                             double log_likelihood_target) {
  return (tau - 1) * (log_likelihood_target - log_likelihood_tempered);
}

static void exchange(tm_pair *pair) {
  double log_ratio = tm_exchange_log_ratio(
      pair->tau, pair->tempered.log_likelihood, pair->target.log_likelihood);
  double uniform = tempera_random_uniform(&pair->exchange_stream);
  bool accepted = log(uniform) < log_ratio;
  if (accepted) {
    tm_point held = pair->tempered;
    pair->tempered = pair->target;
    pair->target = held;
  }
  pair->row[TEMPERA_TEMPERED][TM_EXCHANGE] = accepted ? 2 : 1;
  pair->row[TEMPERA_TARGET][TM_EXCHANGE] = accepted ? 2 : 1;
}

static void clear_row(double row[TM_COLUMNS]) {
  row[TM_ACCEPT] = row[TM_TAU_ACCEPT] = NAN;
  row[TM_EXCHANGE] = row[TM_RENEWED] = 0;
}

static void fill_row(double row[TM_COLUMNS], const tm_point *point,
                     double tau) {
  row[TM_TAU] = tau;
  row[TM_LOG_LIKELIHOOD] = point->log_likelihood;
  row[TM_LOG_PRIOR] = point->log_prior;
  row[TM_LOG_JACOBIAN] = point->log_jacobian;
}

void tm_pair_sweep(tm_pair *pair) {
  bool paired = pair->settings.method == TEMPERA_PT_STWNC;
  clear_row(pair->row[TEMPERA_TARGET]);
  clear_row(pair->row[TEMPERA_TEMPERED]);
  bool exchanging = paired && (pair->settings.exchange >= 1 ||
                               tempera_random_uniform(&pair->exchange_stream) <
                                   pair->settings.exchange);
  if (!(exchanging && pair->settings.exchange_replaces)) {
    mutate_tempered(pair);
    if (paired)
      mutate_target(pair);
  }
  if (exchanging)
    exchange(pair);
  fill_row(pair->row[TEMPERA_TEMPERED], &pair->tempered, pair->tau);
  fill_row(pair->row[TEMPERA_TARGET], &pair->target, 1);
  pair->done++;
}
