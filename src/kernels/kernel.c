/* kernel.c - kernels as lists of moves, one after another; each leaves the
 * tempered posterior invariant, so the sweep does (method 4.6). A prior draw
 * or a jump, tried with a probability that depends on tau only, is instead of
 * the moves that follow: a mixture of two kernels. */
#include "kernels/move.h"

#include <math.h>

typedef struct move {
  const tm_move_type *type;
  void *state;
} move;

struct tm_kernel {
  tm_shared shared;
  size_t count;
  move *moves;
  bool frozen;
  bool round_ended; /* what was learned is to be put to use */
};

enum { MOST_MOVES = 6 };

/* The kinds of tempera_kernel; entries past the last move are NULL. */
static const tm_move_type *const KINDS[][MOST_MOVES] = {
    [TEMPERA_KERNEL_AUTO] = {&tm_move_prior, &tm_move_jump, &tm_move_gibbs,
                             &tm_move_mix, &tm_move_rescale,
                             &tm_move_integer_part},
    [TEMPERA_KERNEL_RANDOM_WALK] = {&tm_move_gibbs, &tm_move_random_walk,
                                    &tm_move_joint, &tm_move_integer},
    [TEMPERA_KERNEL_SLICE] = {&tm_move_gibbs, &tm_move_slice, &tm_move_integer},
    [TEMPERA_KERNEL_MODEL] = {&tm_move_recipe},
    [TEMPERA_KERNEL_HMC] = {&tm_move_gibbs, &tm_move_hmc, &tm_move_integer},
};

static tempera_status create_shared(const tempera_model *model, tm_arena *arena,
                                    tm_shared *shared, tempera_error *error) {
  shared->model = model;
  TM_TRY(tm_point_create(model, arena, &shared->proposal, error));
  TM_TRY(tm_point_create(model, arena, &shared->spare, error));
  shared->reals = TM_NEW(arena, size_t, model->real_dimension);
  if (!shared->reals)
    return tm_fail_memory(error);
  for (size_t j = 0; j < model->dimension; j++)
    if (!model->integer[j])
      shared->reals[shared->real_count++] = j;
  return TEMPERA_OK;
}

tempera_status tm_shared_need_spread(tm_shared *shared, tm_arena *arena,
                                     tempera_error *error) {
  return shared->spread ? TEMPERA_OK
                        : tm_spread_create(shared->real_count, shared->reals,
                                           arena, &shared->spread, error);
}

tempera_status tm_kernel_compose(const tempera_model *model,
                                 const tm_move_type *const *types, size_t count,
                                 tm_arena *arena, tm_kernel **kernel,
                                 tempera_error *error) {
  tm_kernel *made = TM_NEW(arena, tm_kernel, 1);
  move *moves = TM_NEW(arena, move, count);
  if (!made || !moves)
    return tm_fail_memory(error);
  made->moves = moves;
  TM_TRY(create_shared(model, arena, &made->shared, error));
  for (size_t i = 0; i < count && types[i]; i++) {
    if (!types[i]->applies(model))
      continue;
    move *next = &moves[made->count++];
    next->type = types[i];
    TM_TRY(types[i]->create(&made->shared, arena, &next->state, error));
  }
  *kernel = made;
  return TEMPERA_OK;
}

tempera_status tm_kernel_create(const tempera_model *model,
                                const tm_kernel_settings *settings,
                                tm_arena *arena, tm_kernel **kernel,
                                tempera_error *error) {
  if (settings->kind == TEMPERA_KERNEL_MODEL && !tm_move_recipe.applies(model))
    return tm_fail(error, TEMPERA_ERROR_ARGUMENT,
                   "model %s has no proposals of its own (recipe); use "
                   "another kernel",
                   model->spec.name);
  if (settings->kind == TEMPERA_KERNEL_HMC && !tm_has_gradients(model))
    return tm_fail(error, TEMPERA_ERROR_ARGUMENT,
                   "model %s has no gradients (log_likelihood_gradient and "
                   "log_prior_gradient), which the kernel hmc needs; use "
                   "another kernel",
                   model->spec.name);
  TM_TRY(tm_kernel_compose(model, KINDS[settings->kind], MOST_MOVES, arena,
                           kernel, error));
  tm_kernel_set_laplace(*kernel, settings->laplace);
  return TEMPERA_OK;
}

void tm_kernel_set_laplace(tm_kernel *kernel, const tm_laplace *laplace) {
  bool present = tm_laplace_present(laplace) != NULL;
  if (!kernel->frozen)
    kernel->shared.laplace = present ? laplace : NULL;
}

double tm_decide(tm_step *step, double log_ratio) {
  double acceptance = 0;
  if (log_ratio >= 0)
    acceptance = 1;
  else if (log_ratio > -INFINITY)
    acceptance = exp(log_ratio);
  step->accepted =
      acceptance >= 1 ||
      (acceptance > 0 && tm_random_uniform(step->random) < acceptance);
  step->acceptance += acceptance;
  step->proposals++;
  return acceptance;
}

double tm_metropolis(tm_step *step, const tm_point *proposal,
                     double log_ratio) {
  double acceptance = tm_decide(step, log_ratio);
  if (step->accepted)
    tm_point_copy(step->evaluator->model, proposal, step->point);
  return acceptance;
}

void tm_note_stop(tm_evaluator *evaluator, const char *function) {
  if (evaluator->status == TEMPERA_OK)
    evaluator->status = tm_fail(&evaluator->error, TEMPERA_ERROR_MODEL,
                                "model %.60s: %.60s asked to stop",
                                evaluator->model->spec.name, function);
}

/* Put to use what the last round learned. Only now, not when the round ended:
 * a freeze may have followed, and then covariances would be in use for which
 * no step had been tuned. */
static void start_round(tm_kernel *kernel) {
  kernel->round_ended = false;
  if (kernel->shared.spread)
    tm_spread_end_round(kernel->shared.spread);
  for (size_t i = 0; i < kernel->count; i++)
    if (kernel->moves[i].type->end_round)
      kernel->moves[i].type->end_round(kernel->moves[i].state);
}

static void learn(tm_kernel *kernel, const tm_step *step) {
  if (kernel->round_ended)
    start_round(kernel);
  if (kernel->shared.spread)
    tm_spread_learn(kernel->shared.spread, step->place, step->point->u);
}

tm_sweep tm_kernel_sweep(tm_kernel *kernel, tm_evaluator *evaluator,
                         tm_point *point, double tau, tempera_random *random) {
  tm_step step = {.evaluator = evaluator,
                  .point = point,
                  .random = random,
                  .tau = tau,
                  .place = tm_tau_locate(tau),
                  .cost = tm_cost_of(evaluator),
                  .adapt = !kernel->frozen};
  if (step.adapt)
    learn(kernel, &step);
  for (size_t i = 0; i < kernel->count && !step.enough; i++)
    kernel->moves[i].type->step(kernel->moves[i].state, &step);
  return (tm_sweep){.acceptance =
                        step.proposals ? step.acceptance / step.proposals : 1,
                    .renewed = step.renewed};
}

void tm_kernel_end_round(tm_kernel *kernel) { kernel->round_ended = true; }

void tm_kernel_freeze(tm_kernel *kernel) {
  if (kernel->frozen)
    return;
  kernel->frozen = true;
  for (size_t i = 0; i < kernel->count; i++)
    if (kernel->moves[i].type->freeze)
      kernel->moves[i].type->freeze(kernel->moves[i].state);
}

void tm_kernel_archive(tm_kernel *kernel, tm_archive *archive) {
  tm_archive_bool(archive, &kernel->frozen);
  tm_archive_bool(archive, &kernel->round_ended);
  if (kernel->shared.spread)
    tm_spread_archive(kernel->shared.spread, archive);
  for (size_t i = 0; i < kernel->count; i++) {
    tm_archive_tag(archive, kernel->moves[i].type->name);
    if (kernel->moves[i].type->archive)
      kernel->moves[i].type->archive(kernel->moves[i].state, archive);
  }
}
