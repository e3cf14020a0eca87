/* integer.c - moves of integer coordinates, one at a time.
 *
 * With a small support, every value is evaluated and the next one drawn from
 * the exact conditional. Otherwise a symmetric walk, by +-(1 + floor(s |z|)),
 * z normal, whose s is a function of tau; bounds are points of zero density.
 * Where the model has integer_terms, only the terms that hold the coordinate
 * are evaluated: the same moves at less cost. */
#include "kernels/move.h"

#include "numeric/sums.h"

#include <math.h>
#include <string.h>

enum { SMALL_SUPPORT = 8, MANY = 16 };

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
    tm_evaluate_coordinate(step->evaluator, proposal, j);
    double density = tm_log_density(proposal, step->tau);
    if (!(density > -INFINITY))
      continue;
    total = tm_log_add(total, density);
    if (tm_random_uniform(step->random) < exp(density - total)) {
      tm_point_copy(shared->model, proposal, &shared->spare);
      moved = true;
    }
  }
  if (moved)
    tm_point_copy(shared->model, &shared->spare, step->point);
}

static double walked(tm_step *step, tm_scale *scale, size_t j) {
  double s = tm_scale_at(scale, step->place, step->adapt);
  double z = tm_random_normal(step->random);
  return step->point->u[j] + copysign(1 + floor(s * fabs(z)), z);
}

static void walk(tm_shared *shared, tm_step *step, tm_scale *scale, size_t j) {
  tm_point *proposal = &shared->proposal;
  proposal->u[j] = walked(step, scale, j);
  tm_evaluate_coordinate(step->evaluator, proposal, j);
  double acceptance = tm_metropolis(step, proposal,
                                    tm_log_density(proposal, step->tau) -
                                        tm_log_density(step->point, step->tau));
  if (step->adapt)
    tm_scale_update(scale, step->place, acceptance);
}

/* ---- by the terms that hold the coordinate, without the others ---- */

static double log_share(tm_terms from, tm_terms to, double tau) {
  if (to.log_prior == -INFINITY)
    return -INFINITY;
  double tempered =
      tau > 0 ? tau * (to.log_likelihood - from.log_likelihood) : 0;
  return tempered + to.log_prior - from.log_prior;
}

/* As draw_exactly. */
static void draw_by_terms(tm_shared *shared, tm_step *step, size_t j) {
  const tm_block *block = &shared->model->blocks[shared->model->block_of_u[j]];
  double from = step->point->u[j], chosen = from, total = 0;
  tm_terms here = tm_terms_at(step->evaluator, step->point, j, from);
  tm_terms there = here;
  for (double value = ceil(block->lower); value <= block->upper; value++) {
    if (value == from)
      continue;
    tm_terms next = tm_terms_at(step->evaluator, step->point, j, value);
    double density = log_share(here, next, step->tau);
    if (!(density > -INFINITY))
      continue;
    total = tm_log_add(total, density);
    if (tm_random_uniform(step->random) < exp(density - total)) {
      chosen = value;
      there = next;
    }
  }
  if (chosen != from)
    tm_change_integer(step->evaluator, step->point, j, chosen, here, there);
}

static void walk_by_terms(tm_shared *shared, tm_step *step, tm_scale *scale,
                          size_t j) {
  const tm_block *block = &shared->model->blocks[shared->model->block_of_u[j]];
  double value = walked(step, scale, j), log_ratio = -INFINITY;
  tm_terms here = {0}, there = {0};
  if (value >= block->lower && value <= block->upper) {
    here = tm_terms_at(step->evaluator, step->point, j, step->point->u[j]);
    there = tm_terms_at(step->evaluator, step->point, j, value);
    log_ratio = log_share(here, there, step->tau);
  }
  double acceptance = tm_decide(step, log_ratio);
  if (step->accepted)
    tm_change_integer(step->evaluator, step->point, j, value, here, there);
  if (step->adapt)
    tm_scale_update(scale, step->place, acceptance);
}

/* The same move either way. */
static void move_one(integer *state, tm_step *step, size_t i) {
  tm_shared *shared = state->shared;
  size_t j = state->coordinates[i];
  bool small = support_size(shared->model, j) <= SMALL_SUPPORT;
  bool terms = tm_has_terms(step->evaluator, step->point);
  if (!terms) /* theta too */
    tm_point_copy(shared->model, step->point, &shared->proposal);
  if (small)
    (terms ? draw_by_terms : draw_exactly)(shared, step, j);
  else
    (terms ? walk_by_terms : walk)(shared, step, &state->steps[i], j);
}

/* `count` coordinates in turn, from `first` on and round. */
static void move_some(integer *state, tm_step *step, size_t first,
                      size_t count) {
  for (size_t k = 0; k < count; k++)
    move_one(state, step, (first + k) % state->count);
}

static void step(void *opaque, tm_step *step) {
  integer *state = opaque;
  move_some(state, step, 0, state->count);
}

/* A sweep is to be a short one: between two of them tau moves, at no cost. Up
 * to MANY they all move; which ones of more is drawn whatever the state. */
static void step_part(void *opaque, tm_step *step) {
  integer *state = opaque;
  bool many = state->count > MANY;
  size_t first =
      many ? (size_t)tempera_random_below(step->random, state->count) : 0;
  move_some(state, step, first,
            many ? tm_part_of_sweep(state->count) : state->count);
}

static void freeze(void *opaque) {
  integer *state = opaque;
  tm_scale_freeze(state->steps, state->count);
}

static void archive(void *opaque, tm_archive *archive) {
  integer *state = opaque;
  tm_scale_archive(state->steps, state->count, archive);
}

const tm_move_type tm_move_integer = {
    .name = "integer",
    .applies = applies,
    .create = create,
    .step = step,
    .freeze = freeze,
    .archive = archive,
};

const tm_move_type tm_move_integer_part = {
    .name = "integer",
    .applies = applies,
    .create = create,
    .step = step_part,
    .freeze = freeze,
    .archive = archive,
};
