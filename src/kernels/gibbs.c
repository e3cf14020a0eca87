/* gibbs.c - the user's own exact draws of blocks of theta given the rest, at
 * tau: all callbacks in order, then one evaluation. */
#include "kernels/move.h"

#include <math.h>
#include <string.h>

static bool applies(const tempera_model *model) {
  return model->spec.gibbs_count > 0;
}

static tempera_status create(tm_shared *shared, tm_arena *arena, void **state,
                             tempera_error *error) {
  (void)arena;
  (void)error;
  *state = shared;
  return TEMPERA_OK;
}

/* One block; a callback that rejects leaves theta as it was. */
static void redraw(const tm_shared *shared, tm_step *step,
                   tempera_gibbs_fn gibbs, double *theta) {
  double *before = shared->spare.theta;
  size_t bytes = shared->model->size * sizeof(double);
  memcpy(before, theta, bytes);
  int answer = gibbs(step->tau, theta, step->random, step->evaluator->user);
  if (answer == 0)
    return;
  memcpy(theta, before, bytes);
  if (answer < 0)
    tm_note_stop(step->evaluator, "a Gibbs block");
}

static void step(void *state, tm_step *step) {
  tm_shared *shared = state;
  const tempera_model *model = shared->model;
  tm_point *proposal = &shared->proposal;
  memcpy(proposal->theta, step->point->theta, model->size * sizeof(double));
  for (size_t i = 0; i < model->spec.gibbs_count; i++)
    redraw(shared, step, model->spec.gibbs[i], proposal->theta);
  tm_evaluate_natural(step->evaluator, proposal);
  /* Zero density only by rounding to a bound; never enter it. */
  if (tm_log_density(proposal, step->tau) > -INFINITY)
    tm_point_copy(model, proposal, step->point);
}

const tm_move_type tm_move_gibbs = {
    .name = "gibbs",
    .applies = applies,
    .create = create,
    .step = step,
};
