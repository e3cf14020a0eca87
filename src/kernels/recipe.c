/* recipe.c - the model's own proposals, as its authors sampled it. Each is a
 * Metropolis-Hastings step on the natural scale,
 *   log ratio = tau (l* - l) + log pi* - log pi + log q(theta|theta*)
 *               - log q(theta*|theta),
 * with one scale, tuned in warmup when the recipe gives a target. */
#include "kernels/move.h"

#include <math.h>
#include <string.h>

typedef struct recipe {
  tm_shared *shared;
  const tempera_recipe *given;
  tm_scale *scales; /* one per proposal */
} recipe;

static bool applies(const tempera_model *model) {
  return model->spec.recipe && model->spec.recipe->proposal_count > 0;
}

static tempera_status create(tm_shared *shared, tm_arena *arena, void **state,
                             tempera_error *error) {
  const tempera_recipe *given = shared->model->spec.recipe;
  recipe *made = TM_NEW(arena, recipe, 1);
  tm_scale *scales = TM_NEW(arena, tm_scale, given->proposal_count);
  if (!made || !scales)
    return tm_fail_memory(error);
  for (size_t i = 0; i < given->proposal_count; i++) {
    const tempera_proposal *proposal = &given->proposals[i];
    tm_scale_start(&scales[i], proposal->scale > 0 ? proposal->scale : 1,
                   proposal->target_acceptance);
  }
  *made = (recipe){shared, given, scales};
  *state = made;
  return TEMPERA_OK;
}

/* The proposed point, evaluated, and the log ratio of its acceptance. */
static double propose(const recipe *state, tm_step *step,
                      const tempera_proposal *how, double scale) {
  tm_point *proposal = &state->shared->proposal;
  double hastings = 0;
  memcpy(proposal->theta, step->point->theta,
         state->shared->model->size * sizeof(double));
  int answer =
      how->propose(step->tau, scale, step->point->theta, proposal->theta,
                   &hastings, step->random, step->evaluator->user);
  if (answer < 0)
    tm_note_stop(step->evaluator, how->name ? how->name : "a proposal");
  if (answer != 0)
    return -INFINITY;
  tm_evaluate_natural(step->evaluator, proposal);
  return tm_log_density_natural(proposal, step->tau) -
         tm_log_density_natural(step->point, step->tau) + hastings;
}

static void step(void *opaque, tm_step *step) {
  recipe *state = opaque;
  for (size_t i = 0; i < state->given->proposal_count; i++) {
    const tempera_proposal *how = &state->given->proposals[i];
    tm_scale *scale = &state->scales[i];
    bool tuned = how->target_acceptance > 0;
    double s =
        tuned ? tm_scale_at(scale, step->place, step->adapt) : how->scale;
    double log_ratio = propose(state, step, how, s);
    double acceptance =
        tm_metropolis(step, &state->shared->proposal, log_ratio);
    if (tuned && step->adapt)
      tm_scale_update(scale, step->place, acceptance);
  }
}

static void freeze(void *opaque) {
  recipe *state = opaque;
  tm_scale_freeze(state->scales, state->given->proposal_count);
}

static void archive(void *opaque, tm_archive *archive) {
  recipe *state = opaque;
  tm_scale_archive(state->scales, state->given->proposal_count, archive);
}

const tm_move_type tm_move_recipe = {
    .name = "recipe",
    .applies = applies,
    .create = create,
    .step = step,
    .freeze = freeze,
    .archive = archive,
};
