/* ridge.c - the life of a ridge and the table that every kind of it gives:
 * (tau, height), interpolated linearly, is minus the profile prior's log
 * density (method 4.2). */
#include "tempering/ridge_parts.h"

#include "base/locale.h"

#include "numeric/loglinear.h"

#include <math.h>
#include <string.h>

/* ---- the table */

tempera_status tm_ridge_table_alloc(tm_ridge *ridge, size_t rows,
                                    tempera_error *error) {
  size_t size = ridge->model->size;
  double *table =
      tm_heap_resize(ridge->table, rows * (2 + size), sizeof(double));
  if (!table)
    return tm_fail_memory(error);
  ridge->table = table;
  ridge->view.knots = rows;
  ridge->view.tau = table;
  ridge->view.height = table + rows;
  ridge->view.theta = table + 2 * rows;
  return TEMPERA_OK;
}

void tm_ridge_table_row(tm_ridge *ridge, size_t row, double tau,
                        const tm_optimum *optimum) {
  size_t rows = ridge->view.knots, size = ridge->model->size;
  ridge->table[row] = tau;
  ridge->table[rows + row] = tm_optimum_height(optimum, tau);
  tm_constrain(ridge->model, optimum->u, ridge->table + 2 * rows + row * size,
               NULL);
}

static tempera_status fill_from_knots(tm_ridge *ridge, tempera_error *error) {
  TM_TRY(tm_ridge_table_alloc(ridge, ridge->knot_count, error));
  for (size_t k = 0; k < ridge->knot_count; k++)
    tm_ridge_table_row(ridge, k, ridge->knots[k].tau, &ridge->knots[k].best);
  return TEMPERA_OK;
}

/* After the knots: the table of this kind of ridge, and the counts. */
static tempera_status publish(tm_ridge *ridge, tempera_error *error) {
  const tm_knot *knots = ridge->knots;
  for (size_t k = 0; k + 1 < ridge->knot_count; k++)
    ridge->steep[k] = (knots[k + 1].height - knots[k].height) /
                      (knots[k + 1].tau - knots[k].tau);
  if (ridge->view.absent)
    ridge->view.gap = NAN;
  else
    TM_TRY(fill_from_knots(ridge, error));
  return TEMPERA_OK;
}

/* ---- create and free */

/* A step of a climb takes some d^3 operations, and a certified gap hundreds of
 * steps at each of dozens of knots. */
enum { MOST_REALS = 500 };

static bool too_many_reals(const tm_ridge *ridge, char *reason, size_t room) {
  bool many = ridge->model->real_dimension > MOST_REALS;
  if (many)
    tm_snprintf(reason, room, "%zu real parameters are too many for it",
                ridge->model->real_dimension);
  return many;
}

static tempera_status build(tm_ridge *ridge, tempera_error *error) {
  tm_work before = tm_store_work(ridge->store);
  ridge->u = TM_NEW(ridge->arena, double, ridge->model->dimension);
  if (!ridge->u)
    return tm_fail_memory(error);
  char *reason = ridge->view.reason;
  size_t room = sizeof ridge->view.reason;
  ridge->view.absent = tm_too_many_integers(ridge->model, reason, room) ||
                       too_many_reals(ridge, reason, room);
  if (ridge->view.absent) {
    ridge->view.gap = NAN;
    return TEMPERA_OK;
  }
  tempera_status status = tm_ridge_convex_build(ridge, error);
  if (status != TEMPERA_OK && ridge->unstarted) { /* run without one */
    ridge->view.absent = true;
    tm_snprintf(ridge->view.reason, sizeof ridge->view.reason,
                "no start that was tried has a positive density");
  } else if (status != TEMPERA_OK) {
    return status;
  }
  TM_TRY(publish(ridge, error));
  tm_work_add(&ridge->view.work, tm_store_work(ridge->store), &before);
  return TEMPERA_OK;
}

tempera_status tm_ridge_create(tm_store *store,
                               const tm_ridge_settings *settings,
                               tm_ridge **ridge, tempera_error *error) {
  tm_arena *arena;
  tm_ridge *made = TM_BEGIN(&arena, tm_ridge);
  if (!made)
    return tm_fail_memory(error);
  made->arena = arena;
  made->model = store->model;
  made->store = store;
  made->settings = *settings;
  tempera_status status = build(made, error);
  if (status != TEMPERA_OK)
    tm_ridge_free(made);
  else
    *ridge = made;
  return status;
}

void tm_ridge_free(tm_ridge *ridge) {
  if (!ridge)
    return;
  for (size_t v = 0; v < ridge->value_count; v++) {
    tm_heap_free(ridge->values[v].optima.at);
    tm_heap_free(ridge->values[v].lines.at);
  }
  tm_heap_free(ridge->values);
  tm_heap_free(ridge->lines.at);
  tm_heap_free(ridge->table);
  tm_arena_free(ridge->arena);
}

const tm_ridge_view *tm_ridge_look(const tm_ridge *ridge) {
  return &ridge->view;
}

/* ---- use */

double tm_ridge_height(const tm_ridge *ridge, double tau) {
  tm_loglinear table = {.count = ridge->view.knots,
                        .x = ridge->view.tau,
                        .y = ridge->view.height,
                        .log_atom = -INFINITY};
  return tm_loglinear_at(&table, tau);
}

/* The knot that a line rises above most, or comes closest to. The ridge is
 * convex: left of it the line is the steeper of the two, right of it not. */
static const tm_knot *nearest_knot(const tm_ridge *ridge,
                                   double log_likelihood) {
  size_t low = 0;
  for (size_t left = ridge->knot_count; left > 1;) { /* no branch: random */
    size_t half = left / 2;
    low += log_likelihood > ridge->steep[low + half - 1] ? half : 0;
    left -= half;
  }
  return &ridge->knots[low];
}

double tm_ridge_excess(const tm_ridge *ridge, double log_likelihood,
                       double log_prior) {
  if (!isfinite(log_likelihood))
    return -INFINITY;
  const tm_knot *knot = nearest_knot(ridge, log_likelihood);
  return knot->tau * log_likelihood + log_prior - knot->height;
}

static tempera_status plan_point(tm_ridge *ridge, const tm_optimum *point,
                                 tempera_error *error) {
  size_t value = tm_ridge_find_value(ridge, point->u);
  if (value == ridge->value_count ||
      tm_ridge_excess(ridge, point->log_likelihood, point->log_prior) <=
          TM_RIDGE_GAP)
    return TEMPERA_OK;
  double tau = nearest_knot(ridge, point->log_likelihood)->tau;
  return tm_ridge_plan(ridge, value, tau, point, error);
}

/* A basin that raises a knot is new to the other integers too. */
static tempera_status raise_knots(tm_ridge *ridge, tempera_error *error) {
  for (size_t k = 0; k < ridge->knot_count; k++) {
    double before = ridge->knots[k].height;
    tm_ridge_set_knot(ridge, ridge->knots[k].tau);
    if (ridge->knots[k].height > before)
      TM_TRY(tm_ridge_spread(ridge, ridge->knots[k].tau, error));
  }
  return TEMPERA_OK;
}

/* A line above the chord is above one of its two knots, so optimising each
 * point at the knot it does best at, and letting the lines of what is found
 * challenge the other knots, raises all that can be raised. */
static tempera_status improve(tm_ridge *ridge, tempera_error *error) {
  const tm_store *store = ridge->store;
  size_t from = ridge->taken, end = store->count;
  TM_TRY(tm_ridge_take_up(ridge, error));
  for (size_t i = from; i < end; i++)
    TM_TRY(plan_point(ridge, &store->optima[i], error));
  if (store->climb_count == 0)
    return TEMPERA_OK;
  TM_TRY(tm_ridge_run(ridge, error));
  TM_TRY(raise_knots(ridge, error));
  TM_TRY(tm_ridge_bracket(ridge, error));
  tm_ridge_forget_beaten(ridge);
  TM_TRY(tm_ridge_convex_refine(ridge, error));
  return publish(ridge, error);
}

tempera_status tm_ridge_improve(tm_ridge *ridge, const double *points,
                                size_t count, tempera_error *error) {
  if (ridge->view.absent)
    return TEMPERA_OK;
  tm_work before = tm_store_work(ridge->store);
  for (size_t i = 0; i < count; i++)
    TM_TRY(tm_store_offer(ridge->store, points + i * ridge->model->size,
                          TM_BY_DRAW, error));
  TM_TRY(improve(ridge, error));
  tm_work_add(&ridge->view.work, tm_store_work(ridge->store), &before);
  return TEMPERA_OK;
}
