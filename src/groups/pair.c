/* pair.c - STWNC and PT-STWNC sweeps; see pair.h. */
#include "groups/pair.h"

#include <math.h>
#include <string.h>

static void sweep(tm_group *group);
static void release(tm_group *group);
static void archive(tm_group *group, tm_archive *archive);
static const tm_group_type PAIR = {
    .sweep = sweep, .release = release, .archive = archive};

static tempera_status fill(tm_pair *pair, uint64_t seed, const double *start,
                           tempera_error *error) {
  tm_group *group = &pair->group;
  uint32_t chain = group->chain;
  bool paired = pair->settings.method == TEMPERA_PT_STWNC;
  pair->tempered_stream = tm_random(seed, chain, TM_PURPOSE_TEMPERED);
  pair->target_stream = tm_random(seed, chain, TM_PURPOSE_TARGET);
  pair->tau_stream = tm_random(seed, chain, TM_PURPOSE_TAU);
  pair->exchange_stream = tm_random(seed, chain, TM_PURPOSE_EXCHANGE);
  pair->worst_theta = TM_NEW(group->arena, double, group->model->size);
  if (!pair->worst_theta)
    return tm_fail_memory(error);
  TM_TRY(tm_group_set_width(group, TEMPERA_TEMPERED, 1, error));
  TM_TRY(tm_group_set_width(group, TEMPERA_TARGET, paired, error));
  TM_TRY(tm_group_point(group, start, &pair->tempered, error));
  TM_TRY(tm_point_create(group->model, group->arena, &pair->target, error));
  tm_point_copy(group->model, &pair->tempered, &pair->target);
  return TEMPERA_OK;
}

/* The first theta move happens at start_tau, so the start must have positive
 * density there; the caller found it so. */
tempera_status tm_pair_create(const tempera_model *model,
                              const tm_pair_settings *settings, uint64_t seed,
                              uint32_t chain, const double *start,
                              double start_tau, tm_pair **pair,
                              tempera_error *error) {
  tm_group *group = NULL;
  TM_TRY(tm_group_create(&PAIR, sizeof(tm_pair), model, settings->kernel, chain,
                         &group, error));
  tm_pair *made = (tm_pair *)group;
  made->settings = *settings;
  made->tau = start_tau;
  made->target_walker = 1;
  made->reference_walker = 2;
  tempera_status status = fill(made, seed, start, error);
  if (status != TEMPERA_OK)
    tm_group_free(group);
  else
    *pair = made;
  return status;
}

static void release(tm_group *group) {
  tm_pair *pair = (tm_pair *)group;
  tm_reference_walker_release(pair->reference);
}

void tm_pair_save_reference(tm_pair *pair) {
  tm_reference_walker *w = pair->reference;
  tm_point_copy(pair->group.model, &pair->target, &pair->group.spare);
  if (w && isfinite(w->point.log_likelihood))
    tm_reference_walker_leave(w, &pair->group.spare);
}

tempera_status tm_pair_set_reference(tm_pair *pair,
                                     const tm_reference *reference,
                                     uint64_t seed, tempera_error *error) {
  tm_group *group = &pair->group;
  if (pair->reference) {
    tm_reference_walker_settle(pair->reference, &group->spare);
    return TEMPERA_OK;
  }
  tm_row *rows = TM_NEW(group->arena, tm_row, 2);
  if (!rows)
    return tm_fail_memory(error);
  TM_TRY(tm_reference_walker_create(reference, pair->settings.kernel, seed,
                                    group->chain, &pair->target, group->arena,
                                    &pair->reference, error));
  pair->reference->chain.evaluator.call->chain = group->chain + 1;
  group->leg_rows = rows;
  return TEMPERA_OK;
}

tempera_status tm_pair_set_reference_prior(tm_pair *pair,
                                           const tm_tau_prior *prior,
                                           tempera_error *error) {
  return tm_reference_walker_set_prior(pair->reference, pair->group.arena,
                                       prior, error);
}

tempera_status tm_pair_set_prior(tm_pair *pair, const tm_ridge *ridge,
                                 const tm_tau_prior *prior,
                                 tempera_error *error) {
  bool first = pair->mover.prior == NULL;
  pair->ridge = ridge;
  pair->mover.kind = pair->settings.tau_move;
  pair->mover.scale = pair->settings.tau_scale;
  pair->mover.prior = prior;
  pair->mover.fixed = true; /* until the next one */
  pair->mover.slope = NAN;
  pair->mover.work =
      TM_NEW(pair->group.arena, double, 2 * prior->log_prior.count);
  if (!pair->mover.work)
    return tm_fail_memory(error);
  if (first && pair->settings.memory) {
    TM_TRY(tm_ridge_memory_create(ridge, pair->group.arena,
                                  pair->settings.memory, &pair->mover.memory,
                                  error));
    tm_tau_settle(&pair->mover, &pair->group.evaluator, pair->tau);
  }
  return TEMPERA_OK;
}

void tm_pair_place(tm_pair *pair, const double *theta, bool target) {
  tm_group *group = &pair->group;
  memcpy(pair->tempered.theta, theta, group->model->size * sizeof(double));
  tm_evaluate_natural(&group->evaluator, &pair->tempered);
  pair->tau = 1;
  if (target)
    tm_point_copy(group->model, &pair->tempered, &pair->target);
}

/* A draw whose line rises above the ridge proves a better optimum than a
 * knot's; keep the worst offender for the next warmup round. */
static void watch_ridge(tm_pair *pair, const tm_point *point) {
  if (pair->mover.memory || pair->ridge->view.absent)
    return;
  double excess =
      tm_ridge_excess(pair->ridge, point->log_likelihood, point->log_prior);
  if (excess > TM_RIDGE_GAP && excess > pair->worst_excess) {
    pair->worst_excess = excess;
    memcpy(pair->worst_theta, point->theta,
           pair->group.model->size * sizeof(double));
  }
}

static void mutate(tm_pair *pair, tempera_random *random, tm_point *point,
                   double tau, tm_row *row) {
  double before = point->log_likelihood;
  tm_group_mutate(&pair->group, random, point, tau, row);
  if (!pair->frozen && point->log_likelihood != before)
    watch_ridge(pair, point);
}

/* Algorithm 1: theta given tau, then tau given theta. */
static void mutate_tempered(tm_pair *pair) {
  tm_row *row = pair->group.rows[TEMPERA_TEMPERED];
  mutate(pair, &pair->tempered_stream, &pair->tempered, pair->tau, row);
  row->extra[TM_TAU_ACCEPT] =
      tm_tau_move(&pair->mover, &pair->group.evaluator,
                  pair->tempered.log_likelihood, &pair->tau, &pair->tau_stream);
}

static void swap_numbers(unsigned *a, unsigned *b) {
  unsigned held = *a;
  *a = *b;
  *b = held;
}

static void exchange(tm_pair *pair) {
  double log_ratio = tm_exchange_log_ratio(
      pair->tau, pair->tempered.log_likelihood, 1, pair->target.log_likelihood);
  double uniform = tm_random_uniform(&pair->exchange_stream);
  bool accepted = log_ratio >= 0 || log(uniform) < log_ratio;
  if (accepted) {
    tm_point_swap(&pair->tempered, &pair->target);
    swap_numbers(&pair->tempered_walker, &pair->target_walker);
  }
  pair->group.rows[TEMPERA_TEMPERED]->extra[TM_EXCHANGE] = accepted ? 2 : 1;
  pair->group.rows[TEMPERA_TARGET]->extra[TM_EXCHANGE] = accepted ? 2 : 1;
}

/* The other leg: the third walker, and its exchange with the target. */
static void sweep_reference(tm_pair *pair) {
  tm_reference_walker *w = pair->reference;
  tm_row *row = &pair->group.leg_rows[TEMPERA_TEMPERED];
  tm_row *target = &pair->group.leg_rows[TEMPERA_TARGET];
  tm_reference_walker_mutate(w, row);
  bool accepted = tm_reference_walker_exchange(w, &pair->target);
  if (accepted)
    swap_numbers(&pair->reference_walker, &pair->target_walker);
  tm_reference_walker_fill(w, &pair->target, row, target);
  row->extra[TM_EXCHANGE] = target->extra[TM_EXCHANGE] = accepted ? 2 : 1;
  row->extra[TM_WALKER] = pair->reference_walker;
  target->extra[TM_WALKER] = pair->target_walker;
  tm_evaluator *evaluator = &pair->group.evaluator;
  if (evaluator->status == TEMPERA_OK) { /* else keep the first failure */
    evaluator->status = w->chain.evaluator.status;
    evaluator->error = w->chain.evaluator.error;
  }
}

static void sweep(tm_group *group) {
  tm_pair *pair = (tm_pair *)group;
  tm_row *target = group->rows[TEMPERA_TARGET];
  bool paired = pair->settings.method == TEMPERA_PT_STWNC;
  bool exchanging = paired && (pair->settings.exchange >= 1 ||
                               tm_random_uniform(&pair->exchange_stream) <
                                   pair->settings.exchange);
  if (!(exchanging && pair->settings.exchange_replaces)) {
    mutate_tempered(pair);
    if (paired)
      mutate(pair, &pair->target_stream, &pair->target, 1, target);
  }
  if (exchanging)
    exchange(pair);
  if (pair->reference)
    sweep_reference(pair);
  tm_row_fill(group->rows[TEMPERA_TEMPERED], &pair->tempered, pair->tau);
  group->rows[TEMPERA_TEMPERED]->extra[TM_WALKER] = pair->tempered_walker;
  if (!paired)
    return;
  tm_row_fill(target, &pair->target, 1);
  target->extra[TM_WALKER] = pair->target_walker;
}

static void archive(tm_group *group, tm_archive *archive) {
  tm_pair *pair = (tm_pair *)group;
  bool third = pair->reference != NULL;
  tm_point_archive(group->model, &pair->tempered, archive);
  tm_point_archive(group->model, &pair->target, archive);
  tm_archive_unit(archive, &pair->tau);
  tm_tau_mover_archive(&pair->mover, archive);
  tm_archive_unsigned(archive, &pair->tempered_walker);
  tm_archive_unsigned(archive, &pair->target_walker);
  tm_archive_unsigned(archive, &pair->reference_walker);
  tm_archive_random(archive, &pair->tempered_stream);
  tm_archive_random(archive, &pair->target_stream);
  tm_archive_random(archive, &pair->tau_stream);
  tm_archive_random(archive, &pair->exchange_stream);
  tm_archive_bool(archive, &pair->frozen);
  tm_archive_double(archive, &pair->worst_excess);
  tm_archive_doubles(archive, pair->worst_theta, group->model->size);
  tm_archive_bool(archive, &third);
  if (third && pair->reference)
    tm_reference_walker_archive(pair->reference, archive);
  else if (third != (pair->reference != NULL))
    tm_archive_fail(archive, "a walker has no reference to start from");
}
