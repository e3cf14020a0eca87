/* integer.c - moves of integer coordinates, one at a time.
 *
 * With a small support, every value is evaluated and the next one drawn from
 * the exact conditional. Otherwise a symmetric walk, by +-(1 + floor(s |z|)),
 * z normal, whose s is a function of tau; bounds are points of zero density. */
#include "kernels/move.h"

#include <math.h>
#include <string.h>

enum { SMALL_SUPPORT = 8 };

static const double TARGET = 0.44;
/* Below this s the steps are +-1, whatever it is. */
static const double LOWEST = 0.1;

typedef struct integer {
  tm_shared *shared;
  size_t count;
  size_t *coordinates;
  tm_scale *steps; /* one per coordinate */
} integer;

static size_t support_size(const tempera_model *model, size_t j) {
  const tm_block *block = &model->blocks[model->block_of_u[j]];
  double values = floor(block->upper) - ceil(block->lower) + 1;
  return values <= SMALL_SUPPORT ? (size_t)fmax(0, values) : SIZE_MAX;
}

static bool movable(const tempera_model *model, size_t j) {
  return model->integer[j] && support_size(model, j) > 1;
}

static size_t movable_count(const tempera_model *model) {
  size_t count = 0;
  for (size_t j = 0; j < model->dimension; j++)
    count += movable(model, j);
  return count;
}

static bool applies(const tempera_model *model) {
  return movable_count(model) > 0;
}

static tempera_status create(tm_shared *shared, tm_arena *arena, void **state,
                             tempera_error *error) {
  size_t count = movable_count(shared->model);
  integer *made = TM_NEW(arena, integer, 1);
  size_t *coordinates = TM_NEW(arena, size_t, count);
  tm_scale *steps = TM_NEW(arena, tm_scale, count);
  if (!made || !coordinates || !steps)
    return tm_fail_memory(error);
  for (size_t i = 0, j = 0; j < shared->model->dimension; j++)
    if (movable(shared->model, j)) {
      tm_scale_start(&steps[i], 1, TARGET);
      steps[i].lowest = log(LOWEST);
      coordinates[i++] = j;
    }
  *made = (integer){shared, count, coordinates, steps};
  *state = made;
  return TEMPERA_OK;
}

/* Values are met one after another; each replaces the choice so far with its
 * share of the total so far, which leaves every value chosen with its share
 * of the whole. */
static void draw_exactly(tm_shared *shared, tm_step *step, size_t j) {
  const tm_block *block = &shared->model->blocks[shared->model->block_of_u[j]];
  tm_point *proposal = &shared->proposal;
  double total = tm_log_density(step->point, step->tau);
  double from = step->point->u[j];
  bool moved = false;
  for (double value = ceil(block->lower); value <= block->upper; value++) {
    if (value == from)
      continue;
    proposal->u[j] = value;
    tm_evaluate(step->evaluator, proposal);
    double density = tm_log_density(proposal, step->tau);
    if (!(density > -INFINITY))
      continue;
    double larger = fmax(total, density);
    total = larger + log1p(exp(-fabs(total - density)));
    if (tm_random_uniform(step->random) < exp(density - total)) {
      tm_point_copy(shared->model, proposal, &shared->spare);
      moved = true;
    }
  }
  if (moved)
    tm_point_copy(shared->model, &shared->spare, step->point);
}

static void walk(tm_shared *shared, tm_step *step, tm_scale *scale, size_t j) {
  tm_point *proposal = &shared->proposal;
  double s = tm_scale_at(scale, step->place, step->adapt);
  double z = tm_random_normal(step->random);
  proposal->u[j] += copysign(1 + floor(s * fabs(z)), z);
  tm_evaluate(step->evaluator, proposal);
  double acceptance = tm_metropolis(step, proposal,
                                    tm_log_density(proposal, step->tau) -
                                        tm_log_density(step->point, step->tau));
  if (step->adapt)
    tm_scale_update(scale, step->place, acceptance);
}

static void step(void *opaque, tm_step *step) {
  integer *state = opaque;
  tm_shared *shared = state->shared;
  memcpy(shared->proposal.u, step->point->u,
         shared->model->dimension * sizeof(double));
  for (size_t i = 0; i < state->count; i++) {
    size_t j = state->coordinates[i];
    if (support_size(shared->model, j) <= SMALL_SUPPORT)
      draw_exactly(shared, step, j);
    else
      walk(shared, step, &state->steps[i], j);
    shared->proposal.u[j] = step->point->u[j];
  }
}

static void freeze(void *opaque) {
  integer *state = opaque;
  for (size_t i = 0; i < state->count; i++)
    tm_scale_freeze(&state->steps[i]);
}

const tm_move_type tm_move_integer = {
    .name = "integer",
    .applies = applies,
    .create = create,
    .step = step,
    .freeze = freeze,
};
