/* ridge.c - the life of a ridge and the table that every kind of it gives:
 * (tau, height), interpolated linearly, is minus the profile prior's log
 * density (method 4.2). */
#include "tempering/ridge_parts.h"

#include "numeric/loglinear.h"

#include <math.h>
#include <string.h>

/* ---- the table */

tempera_status tm_ridge_table_alloc(tm_ridge *ridge, size_t rows,
                                    tempera_error *error) {
  size_t size = ridge->model->size;
  double *table =
      tm_heap_resize(ridge->table, rows * (3 + size), sizeof(double));
  if (!table)
    return tm_fail_memory(error);
  ridge->table = table;
  ridge->view.knots = rows;
  ridge->view.tau = table;
  ridge->view.height = table + rows;
  ridge->view.slope = table + 2 * rows;
  ridge->view.theta = table + 3 * rows;
  return TEMPERA_OK;
}

void tm_ridge_table_row(tm_ridge *ridge, size_t row, double tau,
                        const tm_optimum *optimum) {
  size_t rows = ridge->view.knots, size = ridge->model->size;
  double jacobian;
  ridge->table[row] = tau;
  ridge->table[rows + row] = tm_optimum_height(optimum, tau);
  ridge->table[2 * rows + row] = optimum->log_likelihood;
  tm_constrain(ridge->model, optimum->u, ridge->table + 3 * rows + row * size,
               &jacobian);
}

static tempera_status fill_from_knots(tm_ridge *ridge, tempera_error *error) {
  TM_TRY(tm_ridge_table_alloc(ridge, ridge->knot_count, error));
  for (size_t k = 0; k < ridge->knot_count; k++)
    tm_ridge_table_row(ridge, k, ridge->knots[k].tau, &ridge->knots[k].best);
  return TEMPERA_OK;
}

static void count_work(tm_ridge *ridge) {
  tm_ridge_view *view = &ridge->view;
  view->optimisations = ridge->optimisations;
  view->optimisations_per_value = 0;
  for (size_t v = 0; v < ridge->value_count; v++)
    if (ridge->values[v].optimisations > view->optimisations_per_value)
      view->optimisations_per_value = ridge->values[v].optimisations;
  view->likelihood_evaluations = view->gradient_evaluations = 0;
  view->seconds_in_model = 0;
  for (size_t w = 0; w < TM_RIDGE_WORKERS; w++) {
    const tm_evaluator *own = &ridge->workers[w].own;
    view->likelihood_evaluations += own->likelihood_evaluations;
    view->gradient_evaluations += own->gradient_evaluations;
    view->seconds_in_model += own->seconds;
  }
}

/* After the knots: the table of this kind of ridge, and the counts. */
static tempera_status publish(tm_ridge *ridge, tempera_error *error) {
  const tm_knot *knots = ridge->knots;
  for (size_t k = 0; k + 1 < ridge->knot_count; k++)
    ridge->steep[k] = (knots[k + 1].height - knots[k].height) /
                      (knots[k + 1].tau - knots[k].tau);
  if (ridge->view.absent)
    ridge->view.gap = NAN;
  else if (ridge->settings.kind == TEMPERA_RIDGE_SPLINE)
    TM_TRY(tm_ridge_spline_build(ridge, error));
  else
    TM_TRY(fill_from_knots(ridge, error));
  if (ridge->settings.kind != TEMPERA_RIDGE_CONVEX)
    ridge->view.gap = NAN; /* the certificate is convex's own */
  count_work(ridge);
  return TEMPERA_OK;
}

/* ---- create and free */

/* Starts on the u scale, those of positive density, best first at tau = 1. */
static tempera_status take_starts(tm_ridge *ridge, const double *starts,
                                  size_t count, tempera_error *error) {
  tm_search *search = &ridge->workers[0];
  ridge->starts = TM_NEW(ridge->arena, tm_optimum, count + TM_RIDGE_DISPERSED);
  if (!ridge->starts)
    return tm_fail_memory(error);
  for (size_t i = 0; i < count; i++) {
    tm_unconstrain(ridge->model, starts + i * ridge->model->size,
                   search->gradient);
    if (!tm_search_look(search, search->gradient))
      continue;
    tm_optimum start = search->best;
    start.u = tm_ridge_copy_u(ridge, search->best.u);
    if (!start.u)
      return tm_fail_memory(error);
    size_t k = ridge->start_count++;
    for (; k > 0 && tm_optimum_height(&ridge->starts[k - 1], 1) <
                        tm_optimum_height(&start, 1);
         k--)
      ridge->starts[k] = ridge->starts[k - 1];
    ridge->starts[k] = start;
  }
  TM_TRY(tm_ridge_check(ridge, error));
  if (ridge->start_count == 0)
    return tm_fail(error, TEMPERA_ERROR_ARGUMENT,
                   "the ridge needs a start of positive density");
  return TEMPERA_OK;
}

/* The frame must know the starts, and the starts need a worker to be looked
 * at: workers are made on an empty frame of the right size first. */
static tempera_status prepare(tm_ridge *ridge, const double *starts,
                              size_t count, tempera_error *error) {
  const tempera_model *model = ridge->model;
  TM_TRY(tm_search_frame_create(model, NULL, 0, ridge->arena, &ridge->frame,
                                error));
  for (size_t w = 0; w < TM_RIDGE_WORKERS; w++) {
    TM_TRY(tm_search_create(model, &ridge->frame, true, ridge->arena,
                            &ridge->workers[w], error));
    ridge->workers[w].own.stop = ridge->settings.stop;
  }
  TM_TRY(take_starts(ridge, starts, count, error));
  TM_TRY(tm_search_frame_create(model, ridge->starts, ridge->start_count,
                                ridge->arena, &ridge->frame, error));
  return tm_ridge_disperse(ridge, error);
}

tempera_status tm_ridge_create(const tempera_model *model,
                               const tm_ridge_settings *settings,
                               const double *starts, size_t start_count,
                               tm_ridge **ridge, tempera_error *error) {
  tm_arena *arena = tm_arena_create();
  tm_ridge *made = arena ? TM_NEW(arena, tm_ridge, 1) : NULL;
  if (!made) {
    tm_arena_free(arena);
    return tm_fail_memory(error);
  }
  made->arena = arena;
  made->model = model;
  made->settings = *settings;
  tempera_status status = prepare(made, starts, start_count, error);
  if (status == TEMPERA_OK)
    status = tm_ridge_convex_build(made, error);
  if (status == TEMPERA_OK)
    status = publish(made, error);
  if (status != TEMPERA_OK) {
    tm_ridge_free(made);
    return status;
  }
  *ridge = made;
  return TEMPERA_OK;
}

void tm_ridge_free(tm_ridge *ridge) {
  if (!ridge)
    return;
  for (size_t w = 0; w < TM_RIDGE_WORKERS; w++)
    tm_search_release(&ridge->workers[w]);
  for (size_t v = 0; v < ridge->value_count; v++)
    tm_heap_free(ridge->values[v].optima);
  tm_heap_free(ridge->values);
  tm_heap_free(ridge->lines);
  tm_heap_free(ridge->tasks);
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

static tempera_status plan_point(tm_ridge *ridge, const double *theta,
                                 tempera_error *error) {
  tm_search *search = &ridge->workers[0];
  tm_unconstrain(ridge->model, theta, search->gradient);
  if (!tm_search_look(search, search->gradient))
    return tm_ridge_check(ridge, error);
  size_t value;
  TM_TRY(tm_ridge_add_value(ridge, search->best.u, &value, error));
  if (value == TM_RIDGE_VALUES)
    return TEMPERA_OK;
  double tau = nearest_knot(ridge, search->best.log_likelihood)->tau;
  return tm_ridge_plan(ridge, value, tau, search->best.u, NULL, error);
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
tempera_status tm_ridge_improve(tm_ridge *ridge, const double *points,
                                size_t count, tempera_error *error) {
  if (ridge->view.absent)
    return TEMPERA_OK;
  for (size_t i = 0; i < count; i++)
    TM_TRY(plan_point(ridge, points + i * ridge->model->size, error));
  TM_TRY(tm_ridge_run_tasks(ridge, error));
  TM_TRY(raise_knots(ridge, error));
  TM_TRY(tm_ridge_bracket(ridge, error));
  tm_ridge_forget_beaten(ridge);
  TM_TRY(tm_ridge_convex_refine(ridge, error));
  return publish(ridge, error);
}
