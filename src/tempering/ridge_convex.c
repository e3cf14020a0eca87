/* ridge_convex.c - knots with a certificate (method 4.1).
 *
 * s is convex. Between two knots the chord lies above it and every known line
 * tau*l + log pi below it, so max(chord - highest line) bounds the error of
 * the interpolated table, given global optima at the knots. Knots are put
 * where that bound is largest until it is under TM_RIDGE_GAP. Near tau = 0,
 * where slopes are huge, tangents meet close to 0, so placing knots where
 * they meet resolves that end without a scale of its own. */
#include "tempering/ridge_parts.h"

#include "base/locale.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
  SETTLE_ROUNDS = 10,
  WIDE_KNOTS = 3,
  MEET_ROUNDS = 100,
  MANY = 40,      /* reals, with which there is a budget: */
  BUDGET = 30000, /* evaluations, and the gap is what it is then */
  DEAR = 200      /* reals beyond which a step's factors are most of its work */
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

/* The highest of all lines at tau: of the knots and the extra ones. */
static const tm_optimum *highest_line(const tm_ridge *ridge, double tau) {
  const tm_optimum *best = &ridge->knots[0].best;
  for (size_t i = 1; i < ridge->knot_count + ridge->lines.count; i++) {
    const tm_optimum *line = i < ridge->knot_count
                                 ? &ridge->knots[i].best
                                 : &ridge->lines.at[i - ridge->knot_count];
    if (tm_optimum_height(line, tau) > tm_optimum_height(best, tau))
      best = line;
  }
  return best;
}

double tm_ridge_meet(const tm_optimum *left, const tm_optimum *right, double a,
                     double b) {
  double bend = right->log_likelihood - left->log_likelihood;
  double tau = bend > 0 ? (left->log_prior - right->log_prior) / bend : NAN;
  return tau > a && tau < b ? tau : NAN;
}

/* The largest chord - line over an interval. It is concave and piecewise
 * linear in tau, so cutting planes find its top: take the line on either side
 * of the top, look where they meet, let a higher line replace one of them. */
static double interval_gap(const tm_ridge *ridge, size_t k, double *where) {
  const tm_knot *a = &ridge->knots[k], *b = a + 1;
  double chord = (b->height - a->height) / (b->tau - a->tau);
  const tm_optimum *left = &a->best, *right = &b->best;
  double gap = 0;
  *where = NAN;
  for (int round = 0; round < MEET_ROUNDS; round++) {
    double tau = tm_ridge_meet(left, right, a->tau, b->tau);
    if (isnan(tau))
      return gap;
    const tm_optimum *line = highest_line(ridge, tau);
    double upper = a->height + chord * (tau - a->tau);
    gap = upper - tm_optimum_height(line, tau);
    *where = tau;
    if (tm_optimum_height(line, tau) <= tm_optimum_height(left, tau) + 1e-12)
      break;
    if (line->log_likelihood < chord)
      left = line;
    else
      right = line;
  }
  return fmax(gap, 0);
}

/* ---- knots whose optimum is beaten by a line */

static tempera_status plan_beaten(tm_ridge *ridge, const tm_knot *knot,
                                  size_t v, tempera_error *error) {
  const tm_value *value = &ridge->values[v];
  const tm_optimum *line = tm_value_line(value, knot->tau);
  if (!line)
    return TEMPERA_OK;
  double height = tm_optimum_height(line, knot->tau);
  const tm_optimum *own = tm_value_at(value, knot->tau);
  bool beaten =
      height > knot->height + TM_RIDGE_NOISE ||
      (own && height > tm_optimum_height(own, knot->tau) + TM_RIDGE_NOISE);
  return beaten ? tm_ridge_plan(ridge, v, knot->tau, line, error) : TEMPERA_OK;
}

/* Every optimum gives a line valid everywhere; where it beats another knot,
 * that knot's optimum was not global: optimise again from the line's point. */
static tempera_status settle(tm_ridge *ridge, tempera_error *error) {
  for (int round = 0; round < SETTLE_ROUNDS && !is_spent(ridge); round++) {
    for (size_t k = 0; k < ridge->knot_count; k++)
      for (size_t v = 0; v < ridge->value_count; v++)
        TM_TRY(plan_beaten(ridge, &ridge->knots[k], v, error));
    if (ridge->store->climb_count == 0)
      return TEMPERA_OK;
    TM_TRY(tm_ridge_run(ridge, error));
    for (size_t k = 0; k < ridge->knot_count; k++) {
      tm_ridge_set_knot(ridge, ridge->knots[k].tau);
      ridge->knots[k].probed = false;
    }
  }
  return TEMPERA_OK;
}

static void forget(tm_value *value, double tau, bool always) {
  const tm_optimum *own = tm_value_at(value, tau);
  double line = own ? tm_optimum_height(tm_value_line(value, tau), tau) : 0;
  if (!own || !(always || line > tm_optimum_height(own, tau) + TM_RIDGE_NOISE))
    return;
  tm_optima *list = &value->optima;
  size_t at = (size_t)(own - list->at);
  memmove(&list->at[at], own + 1, (--list->count - at) * sizeof(tm_optimum));
}

void tm_ridge_forget_beaten(tm_ridge *ridge) {
  for (size_t k = 1; k + 1 < ridge->knot_count;) {
    tm_knot *knot = &ridge->knots[k];
    double tau = knot->tau;
    size_t leader;
    bool beaten =
        tm_ridge_highest(ridge, tau, &leader) > knot->height + TM_RIDGE_NOISE;
    for (size_t v = 0; v < ridge->value_count; v++)
      forget(&ridge->values[v], tau, beaten);
    k += !beaten;
    if (!beaten)
      continue;
    knot[-1].probed = false;
    memmove(knot, knot + 1, (--ridge->knot_count - k) * sizeof(tm_knot));
  }
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
  for (size_t k = 0; k < ridge->knot_count; k++)
    if (ridge->knots[k].tau == tau && find_absence(ridge, &ridge->knots[k]))
      return TEMPERA_OK;
  return settle(ridge, error);
}

/* Points on the way from one optimum to the next are nearly optimal for the
 * taus between: three evaluations often raise the lower bound enough to save
 * an optimisation. */
static tempera_status probe(tm_ridge *ridge, size_t k, tempera_error *error) {
  const tm_knot *a = &ridge->knots[k], *b = a + 1;
  tm_climber *c = &ridge->store->climbers[0];
  tm_optimum line;
  ridge->knots[k].probed = true;
  if (a->value != b->value)
    return TEMPERA_OK;
  for (double share = 0.25; share < 1; share += 0.25) {
    for (size_t j = 0; j < ridge->model->dimension; j++)
      c->trial.u[j] =
          ridge->model->integer[j]
              ? a->best.u[j]
              : a->best.u[j] + share * (b->best.u[j] - a->best.u[j]);
    if (tm_ridge_look_at(c, &line))
      TM_TRY(tm_optima_insert(&ridge->lines, ridge->lines.count, &line, error));
  }
  return tm_store_check(ridge->store, error);
}

static double allowed_gap(const tm_ridge *ridge) {
  return ridge->settings.gap > 0 ? ridge->settings.gap : TM_RIDGE_GAP;
}

/* The new knot of an interval: where the end tangents meet, its half-way
 * point in curvature. A gap that calls for three pieces is cut at a third. */
static double new_knot(const tm_ridge *ridge, size_t k, double where) {
  const tm_knot *a = &ridge->knots[k], *b = a + 1;
  double width = b->tau - a->tau, margin = 1e-9 * width;
  double half = tm_ridge_meet(&a->best, &b->best, a->tau, b->tau);
  double ratio = a->gap / allowed_gap(ridge);
  /* At a kink, probing gains nothing and the cut belongs on the kink. */
  bool smooth = a->value == b->value && fabs(where - half) > margin;
  double tau = where;
  if (smooth)
    tau = ratio > 4 && ratio < 9 ? a->tau + (half - a->tau) * 2 / 3 : half;
  return tau > a->tau + margin && tau < b->tau - margin ? tau
                                                        : a->tau + width / 2;
}

static size_t widest_gap(tm_ridge *ridge, double *where) {
  size_t widest = 0;
  ridge->view.gap = -1;
  for (size_t k = 0; k + 1 < ridge->knot_count; k++) {
    double tau;
    tm_knot *knot = &ridge->knots[k];
    knot->gap = interval_gap(ridge, k, &tau);
    if (knot->gap > ridge->view.gap) {
      ridge->view.gap = knot->gap;
      widest = k;
      *where = tau;
    }
  }
  return widest;
}

tempera_status tm_ridge_convex_refine(tm_ridge *ridge, tempera_error *error) {
  begin_spending(ridge);
  TM_TRY(settle(ridge, error));
  for (;;) {
    double where = NAN;
    size_t k = widest_gap(ridge, &where);
    /* The margin leaves room for the optimiser's tolerance. */
    if (ridge->view.gap < allowed_gap(ridge) - 2 * TM_RIDGE_NOISE ||
        ridge->knot_count == TM_RIDGE_KNOTS || is_spent(ridge))
      return TEMPERA_OK;
    if (!ridge->knots[k].probed) {
      TM_TRY(probe(ridge, k, error));
      continue;
    }
    bool wide = ridge->knot_count < WIDE_KNOTS;
    double tau = new_knot(ridge, k, where);
    ridge->knots[k].probed = false;
    TM_TRY(solve_and_settle(ridge, tau, wide, error));
    if (ridge->view.absent)
      return TEMPERA_OK;
  }
}

tempera_status tm_ridge_convex_build(tm_ridge *ridge, tempera_error *error) {
  double ends[2] = {ridge->settings.tau_min, 1};
  begin_spending(ridge);
  TM_TRY(tm_ridge_take_up(ridge, error));
  for (size_t i = 0; i < 2; i++) {
    TM_TRY(solve_and_settle(ridge, ends[i], true, error));
    if (ridge->view.absent)
      return TEMPERA_OK;
  }
  TM_TRY(tm_ridge_bracket(ridge, error));
  return tm_ridge_convex_refine(ridge, error);
}
