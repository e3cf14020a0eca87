/* ridge_exact.c - s(tau) by optimising at every proposal (method 2), from the
 * stored optimum whose tau is nearest.
 *
 * Each chain has its own memory, begun with the convex ridge's knots, so what
 * a chain sees does not depend on threads, and the start never depends on
 * theta (method 3.5). */
#include "paper/paper_ridge.h"

#include <math.h>
#include <string.h>

struct tm_ridge_memory {
  const tm_ridge *ridge;
  tm_climber climber;
  tm_climb climb;
  tm_optimum *stored; /* increasing tau */
  size_t count, capacity;
  tm_optimum best; /* of the tau being optimised */
};

tempera_status tm_ridge_memory_create(const tm_ridge *ridge, tm_arena *arena,
                                      size_t capacity, tm_ridge_memory **memory,
                                      tempera_error *error) {
  size_t n = ridge->model->dimension, first = ridge->knot_count;
  tm_ridge_memory *made = TM_NEW(arena, tm_ridge_memory, 1);
  if (!made)
    return tm_fail_memory(error);
  made->ridge = ridge;
  made->capacity = capacity > first ? capacity : first;
  made->stored = TM_NEW(arena, tm_optimum, made->capacity);
  double *room = TM_NEW(arena, double, (made->capacity + 1) * n);
  if (!made->stored || !room)
    return tm_fail_memory(error);
  for (size_t i = 0; i < made->capacity; i++)
    made->stored[i].u = room + i * n;
  made->best.u = room + made->capacity * n;
  for (size_t k = 0; k < first; k++) {
    tm_optimum_copy(ridge->model, &ridge->knots[k].best, &made->stored[k]);
    made->stored[k].tau = ridge->knots[k].tau;
  }
  made->count = first;
  TM_TRY(tm_climber_create(ridge->model, &ridge->store->frame, false, arena,
                           &made->climber, error));
  TM_TRY(tm_spot_create(ridge->model, arena, &made->climb.spot, error));
  *memory = made;
  return TEMPERA_OK;
}

/* The first stored optimum at or above tau. */
static size_t position(const tm_ridge_memory *memory, double tau) {
  size_t low = 0, high = memory->count;
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (memory->stored[middle].tau < tau)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

static double best_height(const tm_ridge_memory *memory) {
  return tm_optimum_height(&memory->best, memory->best.tau);
}

static void keep(tm_ridge_memory *memory, const tm_optimum *optimum) {
  double tau = memory->best.tau;
  if (tm_optimum_height(optimum, tau) <= best_height(memory))
    return;
  tm_optimum_copy(memory->ridge->model, optimum, &memory->best);
  memory->best.tau = tau;
}

/* The model's own optimum, believed; false when it has none here. */
static bool by_callback(tm_ridge_memory *memory, const double *u) {
  tm_climber *c = &memory->climber;
  tm_optimum own;
  if (!tm_ridge_ask_model(c, memory->best.tau, u) || !tm_ridge_look_at(c, &own))
    return false;
  keep(memory, &own);
  return true;
}

/* A neighbour's derivatives are good enough to begin with. */
static void by_climb(tm_ridge_memory *memory, const double *u) {
  tm_climb *climb = &memory->climb;
  climb->tau = memory->best.tau;
  climb->measure = TM_NATURAL;
  climb->u = u;
  tm_climb_run(&memory->climber, climb);
  tm_optimum found = {.log_likelihood = climb->spot.l,
                      .log_prior = climb->spot.p,
                      .u = climb->spot.u};
  if (climb->outcome != TM_ASCENT_DEAD)
    keep(memory, &found);
}

/* Other integer values, where their bound leaves them a chance. */
static void other_values(tm_ridge_memory *memory) {
  const tm_ridge *ridge = memory->ridge;
  double tau = memory->best.tau;
  for (size_t v = 0; v < ridge->value_count; v++) {
    const tm_value *value = &ridge->values[v];
    const tm_optimum *line = tm_value_line(value, tau);
    if (line && tm_value_bound(value, tau) > best_height(memory) &&
        tm_ridge_find_value(ridge, memory->best.u) != v)
      by_climb(memory, line->u);
  }
}

/* Integer neighbours that the ridge has never seen, while they are better. */
static void unseen_neighbours(tm_ridge_memory *memory) {
  const tempera_model *model = memory->ridge->model;
  double *u = memory->climber.lg; /* room for one u */
  for (size_t j = 0; j < model->dimension; j++) {
    if (!model->integer[j])
      continue;
    for (double step = -1; step <= 1; step += 2) {
      double before;
      do {
        before = best_height(memory);
        memcpy(u, memory->best.u, model->dimension * sizeof(double));
        u[j] += step;
        if (tm_ridge_find_value(memory->ridge, u) == memory->ridge->value_count)
          by_climb(memory, u);
      } while (best_height(memory) > before);
    }
  }
}

static void store(tm_ridge_memory *memory, size_t at) {
  if (memory->count == memory->capacity)
    return;
  double *u = memory->stored[memory->count].u;
  for (size_t i = memory->count++; i > at; i--)
    memory->stored[i] = memory->stored[i - 1];
  memory->stored[at].u = u;
  tm_optimum_copy(memory->ridge->model, &memory->best, &memory->stored[at]);
}

double tm_ridge_exact(tm_ridge_memory *memory, tm_evaluator *evaluator,
                      double tau) {
  size_t at = position(memory, tau);
  const tm_optimum *right =
      &memory->stored[at < memory->count ? at : memory->count - 1];
  if (right->tau == tau)
    return tm_optimum_height(right, tau);
  const tm_optimum *left = at > 0 ? &memory->stored[at - 1] : right;
  bool from_left = fabs(tau - left->tau) < fabs(tau - right->tau);
  const tm_optimum *nearest = from_left ? left : right;
  const tm_optimum *farther = from_left ? right : left;
  memory->climber.evaluator = evaluator;
  memory->best.tau = tau;
  memory->best.log_likelihood = 0;
  memory->best.log_prior = -INFINITY;
  if (!by_callback(memory, nearest->u)) {
    by_climb(memory, nearest->u);
    /* The other neighbour's line is a lower bound: fall short of it and the
     * optimum has jumped; so it may have if the neighbours are far apart. */
    if (tm_optimum_height(farther, tau) > best_height(memory) ||
        tm_store_apart(memory->ridge->store, nearest->u, farther->u))
      by_climb(memory, farther->u);
    other_values(memory);
    unseen_neighbours(memory);
  }
  keep(memory, nearest);
  keep(memory, farther);
  store(memory, at);
  return best_height(memory);
}

void tm_ridge_memory_archive(tm_ridge_memory *memory, tm_archive *archive) {
  size_t n = memory->ridge->model->dimension;
  tm_archive_count(archive, &memory->count, memory->capacity);
  for (size_t i = 0; i < memory->count; i++) {
    tm_optimum *stored = &memory->stored[i];
    tm_archive_unit(archive, &stored->tau);
    tm_archive_double(archive, &stored->log_likelihood);
    tm_archive_double(archive, &stored->log_prior);
    tm_archive_double(archive, &stored->log_jacobian);
    tm_archive_doubles(archive, stored->u, n);
  }
}
