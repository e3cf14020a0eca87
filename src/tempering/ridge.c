/* ridge.c - knots with a certificate (method 4.1), the table that they give,
 * and the life of a ridge.
 *
 * s is convex. Between two knots the chord lies above it and every known line
 * tau*l + log pi below it, so max(chord - highest line) bounds the error of
 * the interpolated table, given global optima at the knots. Knots are put
 * where that bound is largest until it is under TM_RIDGE_GAP. Near tau = 0,
 * where slopes are huge, tangents meet close to 0, so placing knots where
 * they meet resolves that end without a scale of its own. */
#include "tempering/ridge.h"

#include "base/locale.h"

#include "numeric/loglinear.h"

#include <math.h>
#include <string.h>

enum {
  WIDE_KNOTS = 3,
  MOST_SOLVES = 2 * TM_RIDGE_KNOTS,
  MOST_REALS = 500, /* a step of a climb takes some d^3 operations, and a
                       certified gap hundreds of steps at dozens of knots */
  MANY = 40,        /* reals, with which there is a budget: */
  BUDGET = 30000,   /* evaluations, and the gap is what it is then */
  DEAR = 200 /* reals beyond which a step's factors are most of its work */
};

/* Where the density has kinks climbs hardly end, and each may take thousands of
 * evaluations in many dimensions. */
static bool is_spent(const tm_ridge *ridge) {
  return ridge->model->real_dimension >= MANY &&
         tm_store_spent(ridge->store) > ridge->enough;
}

static void begin_spending(tm_ridge *ridge) {
  double d = (double)ridge->model->real_dimension;
  double share = d > DEAR ? DEAR / d * DEAR / d : 1;
  ridge->enough = tm_store_spent(ridge->store) + (uint64_t)(BUDGET * share);
}

double tm_ridge_meet(const tm_optimum *left, const tm_optimum *right, double a,
                     double b) {
  double bend = right->log_likelihood - left->log_likelihood;
  double tau = bend > 0 ? (left->log_prior - right->log_prior) / bend : NAN;
  return tau > a && tau < b ? tau : NAN;
}

/* The largest chord - line over an interval, where the lines of its ends meet:
 * those of other knots lie lower there. */
static double interval_gap(const tm_knot *a, double *where) {
  const tm_knot *b = a + 1;
  double tau = tm_ridge_meet(&a->best, &b->best, a->tau, b->tau);
  double chord = (b->height - a->height) / (b->tau - a->tau);
  double width = b->tau - a->tau, margin = 1e-9 * width;
  *where =
      tau > a->tau + margin && tau < b->tau - margin ? tau : a->tau + width / 2;
  return isnan(tau) ? 0
                    : fmax(0, a->height + chord * (tau - a->tau) -
                                  tm_optimum_height(&a->best, tau));
}

/* ---- what lines disprove */

/* An optimum beaten by a line of its own value was none. */
static void release_beaten(tm_value *value) {
  for (size_t i = 0; i < value->points.count; i++) {
    tm_optimum *own = &value->points.at[i];
    double tau = own->tau;
    if (!isnan(tau) && tm_optimum_height(tm_value_line(value, tau), tau) >
                           tm_optimum_height(own, tau) + TM_RIDGE_NOISE)
      own->tau = NAN;
  }
}

/* Every optimum gives a line valid everywhere; where it beats a knot, that
 * knot's optimum was not global. The ends are climbed to again; another is
 * forgotten, and refinement puts new ones where they are needed. */
static tempera_status settle(tm_ridge *ridge, tempera_error *error) {
  size_t value;
  for (size_t v = 0; v < ridge->value_count; v++)
    release_beaten(&ridge->values[v]);
  for (size_t k = 0; k < ridge->knot_count;) {
    tm_knot *knot = &ridge->knots[k];
    bool end = k == 0 || k + 1 == ridge->knot_count;
    const tm_optimum *line = tm_ridge_highest(ridge, knot->tau, false, &value);
    bool beaten =
        tm_optimum_height(line, knot->tau) > knot->height + TM_RIDGE_NOISE;
    k += end || !beaten;
    if (!beaten)
      continue;
    if (end)
      TM_TRY(tm_ridge_solve(ridge, knot->tau, false, error));
    else
      memmove(knot, knot + 1, (--ridge->knot_count - k) * sizeof(tm_knot));
  }
  return TEMPERA_OK;
}

/* ---- refinement */

/* A climb that ran away above everything found proves it. */
static bool find_absence(tm_ridge *ridge, const tm_knot *knot) {
  tm_ridge_view *view = &ridge->view;
  size_t j = ridge->culprit;
  const double *u = knot->best.u;
  if (!(ridge->runaway >= knot->height))
    return false;
  view->absent = true;
  tm_snprintf(view->reason, sizeof view->reason,
              "the density is unbounded: at tau = %.3g it still grows as "
              "%.60s tends to its %s end (log density %.4g on the way)",
              knot->tau, tm_store_name(ridge->store, j),
              u[j] < 0 ? "lower" : "upper", ridge->runaway);
  return true;
}

static tempera_status solve_and_settle(tm_ridge *ridge, double tau, bool wide,
                                       tempera_error *error) {
  TM_TRY(tm_ridge_solve(ridge, tau, wide, error));
  if (ridge->knot_count == 0) {
    ridge->view.absent = true;
    tm_snprintf(ridge->view.reason, sizeof ridge->view.reason,
                "no start that was tried has a positive density");
    return TEMPERA_OK;
  }
  for (size_t k = 0; k < ridge->knot_count; k++)
    if (ridge->knots[k].tau == tau && find_absence(ridge, &ridge->knots[k]))
      return TEMPERA_OK;
  return settle(ridge, error);
}

/* Sets view.gap, and where the next knot belongs: half-way in curvature, or on
 * a kink. */
static double widest_gap(tm_ridge *ridge) {
  double widest = NAN, where;
  ridge->view.gap = -1;
  for (size_t k = 0; k + 1 < ridge->knot_count; k++) {
    double gap = interval_gap(&ridge->knots[k], &where);
    if (gap <= ridge->view.gap)
      continue;
    ridge->view.gap = gap;
    widest = where;
  }
  return widest;
}

static tempera_status refine(tm_ridge *ridge, tempera_error *error) {
  double gap = ridge->settings.gap > 0 ? ridge->settings.gap : TM_RIDGE_GAP;
  for (int i = 0; i < MOST_SOLVES && !ridge->view.absent; i++) {
    double tau = widest_gap(ridge);
    /* The margin leaves room for the optimiser's tolerance. */
    if (ridge->view.gap < gap - 2 * TM_RIDGE_NOISE ||
        ridge->knot_count == TM_RIDGE_KNOTS || is_spent(ridge))
      break;
    TM_TRY(solve_and_settle(ridge, tau, ridge->knot_count < WIDE_KNOTS, error));
  }
  return TEMPERA_OK;
}

/* At first, or again. */
static tempera_status place_knots(tm_ridge *ridge, tempera_error *error) {
  double ends[2] = {ridge->settings.tau_min, 1};
  begin_spending(ridge);
  for (size_t i = 0; i < 2 && !ridge->view.absent; i++)
    TM_TRY(solve_and_settle(ridge, ends[i], true, error));
  return refine(ridge, error);
}

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

static tempera_status build(tm_ridge *ridge, tempera_error *error) {
  tm_knot *knots = ridge->knots;
  TM_TRY(place_knots(ridge, error));
  for (size_t k = 0; k + 1 < ridge->knot_count; k++)
    ridge->steep[k] = (knots[k + 1].height - knots[k].height) /
                      (knots[k + 1].tau - knots[k].tau);
  if (ridge->view.absent) {
    ridge->view.gap = NAN;
    return TEMPERA_OK;
  }
  TM_TRY(tm_ridge_table_alloc(ridge, ridge->knot_count, error));
  for (size_t k = 0; k < ridge->knot_count; k++)
    tm_ridge_table_row(ridge, k, knots[k].tau, &knots[k].best);
  return TEMPERA_OK;
}

/* ---- create and free */

static tempera_status begin(tm_ridge *ridge, tempera_error *error) {
  tm_ridge_view *view = &ridge->view;
  size_t reals = ridge->model->real_dimension;
  ridge->u = TM_NEW(ridge->arena, double, ridge->model->dimension);
  if (!ridge->u)
    return tm_fail_memory(error);
  view->gap = NAN;
  view->absent =
      tm_too_many_integers(ridge->model, view->reason, sizeof view->reason);
  if (reals > MOST_REALS) {
    view->absent = true;
    tm_snprintf(view->reason, sizeof view->reason,
                "%zu real parameters are too many for it", reals);
  }
  if (view->absent)
    return TEMPERA_OK;
  TM_TRY(tm_ridge_take_up(ridge, error));
  return build(ridge, error);
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
  tempera_status status = begin(made, error);
  if (status != TEMPERA_OK)
    tm_ridge_free(made);
  else
    *ridge = made;
  return status;
}

void tm_ridge_free(tm_ridge *ridge) {
  if (!ridge)
    return;
  for (size_t v = 0; v < ridge->value_count; v++)
    tm_heap_free(ridge->values[v].points.at);
  tm_heap_free(ridge->values);
  tm_heap_free(ridge->table);
  tm_arena_free(ridge->arena);
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

tempera_status tm_ridge_improve(tm_ridge *ridge, const double *points,
                                size_t count, tempera_error *error) {
  tm_store *store = ridge->store;
  double most = 0;
  if (ridge->view.absent)
    return TEMPERA_OK;
  for (size_t i = 0; i < count; i++)
    TM_TRY(tm_store_offer(store, points + i * ridge->model->size, TM_BY_DRAW,
                          error));
  for (size_t i = ridge->taken; i < store->count; i++)
    most = fmax(most, tm_ridge_excess(ridge, store->optima[i].log_likelihood,
                                      store->optima[i].log_prior));
  TM_TRY(tm_ridge_take_up(ridge, error));
  return most > TM_RIDGE_GAP ? build(ridge, error) : TEMPERA_OK;
}
