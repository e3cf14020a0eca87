/* random_walk.c - the componentwise random walk on the unconstrained scale:
 * each real coordinate in turn moves by a normal step whose sd is a function
 * of tau, tuned to an acceptance of 0.44 (the optimum in one dimension). */
#include "kernels/move.h"

static const double TARGET = 0.44;

static bool applies(const tempera_model *model) {
  return model->real_dimension > 0;
}

static tempera_status create(tm_shared *shared, tm_arena *arena, void **state,
                             tempera_error *error) {
  tm_scale *scales = TM_NEW(arena, tm_scale, shared->real_count);
  if (!scales)
    return tm_fail_memory(error);
  for (size_t i = 0; i < shared->real_count; i++)
    tm_scale_start(&scales[i], 1, TARGET);
  shared->componentwise = scales;
  *state = shared;
  return TEMPERA_OK;
}

/* `count` coordinates in turn, from `first` on and round. */
static void walk(tm_shared *shared, tm_step *step, size_t first, size_t count) {
  tm_point *proposal = &shared->proposal, *point = step->point;
  tm_point_copy(shared->model, point, proposal);
  double density = tm_log_density(point, step->tau);
  for (size_t k = 0, i = first; k < count; k++, i++) {
    i = i < shared->real_count ? i : 0;
    tm_scale *scale = &shared->componentwise[i];
    size_t j = shared->reals[i];
    proposal->u[j] += tm_scale_at(scale, step->place, step->adapt) *
                      tm_random_normal(step->random);
    tm_evaluate_coordinate(step->evaluator, proposal, j);
    double proposed = tm_log_density(proposal, step->tau);
    double acceptance = tm_metropolis(step, proposal, proposed - density);
    if (step->accepted)
      density = proposed;
    else if (k + 1 < count)
      tm_point_copy(shared->model, point, proposal);
    if (step->adapt)
      tm_scale_update(scale, step->place, acceptance);
  }
}

static void step(void *state, tm_step *step) {
  tm_shared *shared = state;
  walk(shared, step, 0, shared->real_count);
}

/* Which ones is drawn whatever the state: the law stays invariant. */
static void step_part(void *state, tm_step *step) {
  tm_shared *shared = state;
  size_t d = shared->real_count, part = tm_part_of_sweep(d);
  size_t first = part < d ? (size_t)tempera_random_below(step->random, d) : 0;
  walk(shared, step, first, part);
}

static void freeze(void *state) {
  tm_shared *shared = state;
  tm_scale_freeze(shared->componentwise, shared->real_count);
}

static void archive(void *state, tm_archive *archive) {
  tm_shared *shared = state;
  tm_scale_archive(shared->componentwise, shared->real_count, archive);
}

const tm_move_type tm_move_random_walk = {
    .name = "random-walk",
    .applies = applies,
    .create = create,
    .step = step,
    .freeze = freeze,
    .archive = archive,
};

const tm_move_type tm_move_walk_part = {
    .name = "random-walk",
    .applies = applies,
    .create = create,
    .step = step_part,
    .freeze = freeze,
    .archive = archive,
};
