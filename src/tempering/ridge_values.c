/* ridge_values.c - the optimum at one tau over all integer values.
 *
 * For each integer value k, s_k(tau) is convex by itself, so the chord of its
 * own optima bounds it from above: at a knot only values whose bound exceeds
 * the best height need climbing. Where to climb from is known beforehand: the
 * store has the basins that the other measure and the chains have found. */
#include "tempering/ridge.h"

#include <math.h>
#include <string.h>

enum {
  BASINS = 6,    /* climbed from, ... */
  FEW_BASINS = 2 /* ... per value if there are several */
};
static const double APART = 1e-3; /* nats: less is no other basin */

tempera_status tm_optima_add(tm_optima *list, const tm_optimum *optimum,
                             tempera_error *error) {
  if (!tm_list_room(&list->at, list->count, &list->capacity, sizeof *optimum))
    return tm_fail_memory(error);
  list->at[list->count++] = *optimum;
  return TEMPERA_OK;
}

bool tm_ridge_look_at(tm_climber *c, tm_optimum *point) {
  double l, p;
  return tm_climber_look(c, &l, &p) && tm_store_point(c, point);
}

/* ---- values and their points */

/* The highest line at tau that is apart from those chosen. */
static const tm_optimum *next_basin(const tm_store *store,
                                    const tm_value *value, double tau,
                                    const tm_optimum **chosen, size_t count) {
  const tm_optimum *best = NULL;
  for (size_t i = 0; i < value->points.count; i++) {
    const tm_optimum *line = &value->points.at[i];
    bool apart = true;
    for (size_t c = 0; c < count && apart; c++)
      apart = tm_store_apart(store, chosen[c]->u, line->u);
    if (apart &&
        (!best || tm_optimum_height(line, tau) > tm_optimum_height(best, tau)))
      best = line;
  }
  return best;
}

const tm_optimum *tm_value_line(const tm_value *value, double tau) {
  return next_basin(NULL, value, tau, NULL, 0);
}

/* The optima next to tau on either side (or at it); NULL where none. */
static void neighbours(const tm_value *value, double tau,
                       const tm_optimum **left, const tm_optimum **right) {
  *left = *right = NULL;
  for (size_t i = 0; i < value->points.count; i++) {
    const tm_optimum *at = &value->points.at[i];
    if (at->tau <= tau && (!*left || at->tau > (*left)->tau))
      *left = at;
    if (at->tau >= tau && (!*right || at->tau < (*right)->tau))
      *right = at;
  }
}

const tm_optimum *tm_value_at(const tm_value *value, double tau) {
  const tm_optimum *left, *right;
  neighbours(value, tau, &left, &right);
  return left == right ? left : NULL;
}

double tm_value_bound(const tm_value *value, double tau) {
  const tm_optimum *left, *right;
  if (value->points.count == 0) /* its density is zero wherever we looked */
    return -INFINITY;
  neighbours(value, tau, &left, &right);
  if (!left || !right)
    return INFINITY;
  double a = tm_optimum_height(left, left->tau);
  double b = tm_optimum_height(right, right->tau);
  if (left != right)
    a += (b - a) * (tau - left->tau) / (right->tau - left->tau);
  return fmax(a, tm_optimum_height(tm_value_line(value, tau), tau));
}

size_t tm_ridge_find_value(const tm_ridge *ridge, const double *u) {
  size_t v = 0;
  while (v < ridge->value_count &&
         !tm_same_value(ridge->model, ridge->values[v].integers, u))
    v++;
  return v;
}

/* The same, added when there is room (TM_RIDGE_VALUES when not). */
static tempera_status need_value(tm_ridge *ridge, const double *u,
                                 size_t *index, tempera_error *error) {
  size_t v = tm_ridge_find_value(ridge, u), n = ridge->model->dimension;
  if (v == ridge->value_count && v < TM_RIDGE_VALUES) {
    double *integers = TM_NEW(ridge->arena, double, n);
    if (!integers || !tm_list_room(&ridge->values, v, &ridge->value_capacity,
                                   sizeof *ridge->values))
      return tm_fail_memory(error);
    memcpy(integers, u, n * sizeof(double));
    ridge->values[v] = (tm_value){.integers = integers};
    ridge->value_count++;
  }
  *index = v;
  return TEMPERA_OK;
}

static tempera_status add_point(tm_ridge *ridge, const tm_optimum *point,
                                tempera_error *error) {
  size_t v;
  tm_optimum line = *point;
  line.tau = NAN;
  TM_TRY(need_value(ridge, point->u, &v, error));
  return v == TM_RIDGE_VALUES
             ? TEMPERA_OK
             : tm_optima_add(&ridge->values[v].points, &line, error);
}

tempera_status tm_ridge_take_up(tm_ridge *ridge, tempera_error *error) {
  const tm_store *store = ridge->store;
  bool first = ridge->value_count == 0;
  for (size_t i = 0; i < store->start_count && first; i++)
    TM_TRY(add_point(ridge, &store->starts[i], error));
  for (; ridge->taken < store->count; ridge->taken++)
    if (store->optima[ridge->taken].finder != TM_BY_RIDGE)
      TM_TRY(add_point(ridge, &store->optima[ridge->taken], error));
  return TEMPERA_OK;
}

/* ---- climbs */

bool tm_ridge_ask_model(tm_climber *c, double tau, const double *u) {
  const tempera_model *model = c->model;
  double *theta = c->trial.theta;
  if (!model->spec.optimum)
    return false;
  tm_constrain(model, u, theta, NULL);
  if (model->spec.optimum(tau, theta, c->evaluator->user) != 0 ||
      !tm_inside(model, theta))
    return false;
  tm_unconstrain(model, theta, c->trial.u);
  return true;
}

/* Queue a climb at this value and tau, from a point of any value. */
static tempera_status plan(tm_ridge *ridge, size_t value, double tau,
                           const tm_optimum *from, tempera_error *error) {
  const tempera_model *model = ridge->model;
  tm_optimum own;
  double *u = ridge->u;
  for (size_t j = 0; j < model->dimension; j++)
    u[j] = model->integer[j] ? ridge->values[value].integers[j] : from->u[j];
  tm_climb climb = {.tau = tau,
                    .measure = TM_NATURAL,
                    .u = u,
                    .warm = from->spot.u ? &from->spot : NULL,
                    .exact = from->measure == TM_NATURAL &&
                             tm_same_value(model, from->u, u),
                    .tracks = value};
  tm_climber *c = &ridge->store->climbers[0];
  /* The model's own is a better start, if it stays at this value. */
  if (tm_ridge_ask_model(c, tau, u) && tm_same_value(model, u, c->trial.u) &&
      tm_ridge_look_at(c, &own)) {
    climb.u = own.u;
    climb.exact = false;
  }
  return tm_store_plan(ridge->store, &climb, error);
}

/* A basin that nobody has told the store of. */
static tempera_status tell_store(tm_ridge *ridge, const tm_optimum *found,
                                 tempera_error *error) {
  const tm_store *store = ridge->store;
  for (size_t i = 0; i < store->count; i++)
    if (tm_same_value(ridge->model, store->optima[i].u, found->u) &&
        !tm_store_apart(store, store->optima[i].u, found->u))
      return TEMPERA_OK;
  return tm_store_add(ridge->store, found, error);
}

/* Of two at one tau the lower is a line of another basin, which may win
 * elsewhere; or, where they are as high, the same or a copy of it. */
static tempera_status file_climb(tm_ridge *ridge, tm_climb *climb,
                                 tempera_error *error) {
  tm_value *value = &ridge->values[climb->tracks];
  tm_optimum found = {.tau = climb->tau,
                      .measure = TM_NATURAL,
                      .finder = TM_BY_RIDGE,
                      .log_likelihood = climb->spot.l,
                      .log_prior = climb->spot.p,
                      .spot = climb->spot,
                      .u = climb->spot.u};
  value->optimisations++;
  ridge->view.optimisations++;
  if (climb->outcome == TM_ASCENT_DEAD)
    return TEMPERA_OK;
  double height = tm_optimum_height(&found, climb->tau);
  if (climb->outcome == TM_ASCENT_RUNAWAY && height > ridge->runaway) {
    ridge->runaway = height;
    ridge->culprit = climb->culprit;
  }
  climb->spot.u = NULL; /* the optimum has it now */
  tm_constrain(ridge->model, found.u, ridge->store->climbers[0].trial.theta,
               &found.log_jacobian);
  TM_TRY(tell_store(ridge, &found, error));
  tm_optimum *known = (tm_optimum *)tm_value_at(value, found.tau);
  double lead =
      known ? height - tm_optimum_height(known, known->tau) : INFINITY;
  if (lead > 0 && lead < APART)
    *known = found;
  else if (lead > 0 && known)
    known->tau = NAN;
  else if (lead <= 0)
    found.tau = NAN;
  return fabs(lead) < APART ? TEMPERA_OK
                            : tm_optima_add(&value->points, &found, error);
}

/* Run the queue and file the results under their values. */
static tempera_status run(tm_ridge *ridge, tempera_error *error) {
  tm_store *store = ridge->store;
  TM_TRY(tm_store_run(store, NULL, 0, error));
  for (size_t i = 0; i < store->climb_count; i++)
    TM_TRY(file_climb(ridge, &store->climbs[i], error));
  tm_store_pop(store, store->climb_count);
  return TEMPERA_OK;
}

/* ---- one value at one tau */

/* From the best line, and from others apart from it that come within what is
 * not yet certain. Of two neighbours the one at the larger tau: where basins
 * part as tau grows, the other may be on its way to a saddle. */
static tempera_status plan_value(tm_ridge *ridge, size_t v, double tau,
                                 size_t most, tempera_error *error) {
  const tm_value *value = &ridge->values[v];
  const tm_optimum *chosen[BASINS], *left, *right;
  double reach = ridge->value_count == 1 ? 4 : 1; /* each of many is climbed */
  double bound = tm_value_bound(value, tau), best = -INFINITY;
  neighbours(value, tau, &left, &right);
  if (left && left == right &&
      bound <= tm_optimum_height(left, tau) + TM_RIDGE_NOISE)
    return TEMPERA_OK; /* it is known */
  for (size_t i = 0; i < most; i++) {
    chosen[i] = next_basin(ridge->store, value, tau, chosen, i);
    if (i == 0 && chosen[0] == left && right)
      chosen[0] = right;
    double height = chosen[i] ? tm_optimum_height(chosen[i], tau) : -INFINITY;
    best = fmax(best, height);
    if (!chosen[i] || height < best - reach * (bound - best))
      break;
    TM_TRY(plan(ridge, v, tau, chosen[i], error));
  }
  return TEMPERA_OK;
}

/* ---- all values at one tau */

const tm_optimum *tm_ridge_highest(const tm_ridge *ridge, double tau,
                                   bool there, size_t *value) {
  const tm_optimum *best = NULL;
  for (size_t v = 0; v < ridge->value_count; v++) {
    const tm_value *own = &ridge->values[v];
    const tm_optimum *at =
        there ? tm_value_at(own, tau) : tm_value_line(own, tau);
    if (!at ||
        (best && tm_optimum_height(at, tau) <= tm_optimum_height(best, tau)))
      continue;
    best = at;
    *value = v;
  }
  return best;
}

/* Make or raise the knot at tau: the highest of the values' optima there. */
static void set_knot(tm_ridge *ridge, double tau) {
  size_t k = 0, value = 0;
  const tm_optimum *best = tm_ridge_highest(ridge, tau, true, &value);
  while (k < ridge->knot_count && ridge->knots[k].tau < tau)
    k++;
  if (!best)
    return;
  if (k == ridge->knot_count || ridge->knots[k].tau != tau) {
    memmove(&ridge->knots[k + 1], &ridge->knots[k],
            (ridge->knot_count - k) * sizeof(tm_knot));
    ridge->knots[k] = (tm_knot){.tau = tau};
    ridge->knot_count++;
  }
  ridge->knots[k].height = tm_optimum_height(best, tau);
  ridge->knots[k].best = *best;
}

/* The leader first; then, all at once, those that may still exceed it. */
static tempera_status solve_values(tm_ridge *ridge, double tau, bool wide,
                                   tempera_error *error) {
  size_t first = 0, few = wide ? FEW_BASINS : 1;
  size_t most = ridge->value_count == 1 ? BASINS : FEW_BASINS;
  (void)tm_ridge_highest(ridge, tau, false, &first);
  TM_TRY(plan_value(ridge, first, tau, most, error));
  TM_TRY(run(ridge, error));
  const tm_optimum *best = tm_ridge_highest(ridge, tau, true, &first);
  double height = best ? tm_optimum_height(best, tau) : -INFINITY;
  for (size_t v = 0; v < ridge->value_count; v++)
    if (v != first && tm_value_bound(&ridge->values[v], tau) > height)
      TM_TRY(plan_value(ridge, v, tau, few, error));
  return run(ridge, error);
}

/* ---- integers */

/* A higher optimum may be in a basin that the other values have too. */
static tempera_status spread(tm_ridge *ridge, double tau,
                             tempera_error *error) {
  size_t first = 0;
  const tm_optimum *best = tm_ridge_highest(ridge, tau, true, &first);
  for (size_t v = 0; v < ridge->value_count && best; v++) {
    const tm_optimum *own = tm_value_at(&ridge->values[v], tau);
    if (v != first && (!own || tm_store_apart(ridge->store, best->u, own->u)))
      TM_TRY(plan(ridge, v, tau, best, error));
  }
  return run(ridge, error);
}

/* Values next to the best at tau, in integer coordinate j, that are new: tried
 * there, and at both ends, where there are knots. */
static tempera_status look_beside(tm_ridge *ridge, double tau, size_t j,
                                  const tm_optimum *best,
                                  tempera_error *error) {
  const tm_block *block = &ridge->model->blocks[ridge->model->block_of_u[j]];
  double *u = ridge->store->climbers[0].pg; /* room for one u */
  for (double step = -1; step <= 1; step += 2) {
    size_t v;
    memcpy(u, best->u, ridge->model->dimension * sizeof(double));
    u[j] += step;
    if (u[j] < block->lower || u[j] > block->upper ||
        tm_ridge_find_value(ridge, u) < ridge->value_count)
      continue;
    TM_TRY(need_value(ridge, u, &v, error));
    if (v == TM_RIDGE_VALUES)
      return TEMPERA_OK;
    TM_TRY(plan(ridge, v, tau, best, error));
    TM_TRY(run(ridge, error));
    for (size_t k = 0; k < ridge->knot_count; k++)
      if (k == 0 || k + 1 == ridge->knot_count)
        TM_TRY(plan_value(ridge, v, ridge->knots[k].tau, 1, error));
  }
  return run(ridge, error);
}

/* From the best value to its neighbours, while one of them is better. */
static tempera_status explore(tm_ridge *ridge, double tau,
                              tempera_error *error) {
  size_t value = SIZE_MAX, before = 0;
  bool integers = ridge->model->real_dimension < ridge->model->dimension;
  while (integers && value != before) {
    const tm_optimum *best = tm_ridge_highest(ridge, tau, true, &before);
    for (size_t j = 0; j < ridge->model->dimension && best; j++)
      if (ridge->model->integer[j])
        TM_TRY(look_beside(ridge, tau, j, best, error));
    value = before;
    (void)tm_ridge_highest(ridge, tau, true, &before);
  }
  return TEMPERA_OK;
}

tempera_status tm_ridge_solve(tm_ridge *ridge, double tau, bool wide,
                              tempera_error *error) {
  size_t knots = ridge->knot_count;
  ridge->runaway = -INFINITY;
  TM_TRY(solve_values(ridge, tau, wide, error));
  if (wide && tau == 1)
    TM_TRY(spread(ridge, tau, error));
  TM_TRY(explore(ridge, tau, error));
  for (size_t k = 0; k < knots; k++)
    set_knot(ridge, ridge->knots[k].tau);
  set_knot(ridge, tau);
  return TEMPERA_OK;
}
