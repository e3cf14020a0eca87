/* ridge_values.c - the optimum at one tau over all integer values.
 *
 * For each integer value k, s_k(tau) is convex by itself, so the chord of its
 * own optima bounds it from above: at a knot only values whose bound exceeds
 * the best height need climbing. Where to climb from is known beforehand: the
 * store has the basins that the other measure and the chains have found. */
#include "tempering/ridge_parts.h"

#include <math.h>
#include <string.h>

enum {
  BASINS = 6,            /* climbed from, ... */
  FEW_BASINS = 2,        /* ... per value if there are several */
  SPREADS = 4,           /* rounds */
  UNCERTAIN = 3,         /* gaps: much is uncertain, ... */
  UNCERTAIN_OF_MANY = 40 /* ... if there are several values */
};

tempera_status tm_optima_insert(tm_optima *list, size_t place,
                                const tm_optimum *optimum,
                                tempera_error *error) {
  if (!tm_list_room(&list->at, list->count, &list->capacity, sizeof *optimum))
    return tm_fail_memory(error);
  memmove(&list->at[place + 1], &list->at[place],
          (list->count - place) * sizeof(tm_optimum));
  list->at[place] = *optimum;
  list->count++;
  return TEMPERA_OK;
}

bool tm_ridge_look_at(tm_climber *c, tm_optimum *point) {
  double l, p;
  return tm_climber_look(c, &l, &p) && tm_store_point(c, point);
}

/* ---- values and their optima */

/* The highest line at tau that is apart from those chosen. */
static const tm_optimum *next_basin(const tm_store *store,
                                    const tm_value *value, double tau,
                                    const tm_optimum **chosen, size_t count) {
  const tm_optimum *best = NULL;
  size_t optima = value->optima.count;
  for (size_t i = 0; i < optima + value->lines.count; i++) {
    const tm_optimum *line =
        i < optima ? &value->optima.at[i] : &value->lines.at[i - optima];
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

const tm_optimum *tm_value_at(const tm_value *value, double tau) {
  for (size_t i = 0; i < value->optima.count; i++)
    if (value->optima.at[i].tau == tau)
      return &value->optima.at[i];
  return NULL;
}

/* The optima next to tau on either side (or at it); NULL where none. */
static void neighbours(const tm_value *value, double tau,
                       const tm_optimum **left, const tm_optimum **right) {
  *left = *right = NULL;
  for (size_t i = 0; i < value->optima.count; i++) {
    const tm_optimum *at = &value->optima.at[i];
    *left = at->tau <= tau ? at : *left;
    *right = at->tau >= tau && !*right ? at : *right;
  }
}

double tm_value_bound(const tm_value *value, double tau) {
  if (value->dead)
    return -INFINITY;
  const tm_optimum *left, *right;
  neighbours(value, tau, &left, &right);
  if (!left || !right)
    return INFINITY;
  double a = tm_optimum_height(left, left->tau);
  double b = tm_optimum_height(right, right->tau);
  if (left == right)
    return a;
  return a + (b - a) * (tau - left->tau) / (right->tau - left->tau);
}

size_t tm_ridge_find_value(const tm_ridge *ridge, const double *u) {
  size_t v = 0;
  while (v < ridge->value_count &&
         !tm_same_value(ridge->model, ridge->values[v].integers, u))
    v++;
  return v;
}

tempera_status tm_ridge_add_value(tm_ridge *ridge, const double *u,
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

/* A point is a line; a value's first makes the value. */
static tempera_status add_line(tm_ridge *ridge, const tm_optimum *point,
                               tempera_error *error) {
  size_t v;
  TM_TRY(tm_ridge_add_value(ridge, point->u, &v, error));
  if (v == TM_RIDGE_VALUES)
    return TEMPERA_OK;
  tm_value *value = &ridge->values[v];
  value->dead = false;
  return tm_optima_insert(&value->lines, value->lines.count, point, error);
}

tempera_status tm_ridge_take_up(tm_ridge *ridge, tempera_error *error) {
  const tm_store *store = ridge->store;
  bool first = ridge->value_count == 0;
  for (size_t i = 0; i < store->start_count && first; i++)
    TM_TRY(add_line(ridge, &store->starts[i], error));
  for (; ridge->taken < store->count; ridge->taken++)
    if (store->optima[ridge->taken].finder != TM_BY_RIDGE)
      TM_TRY(add_line(ridge, &store->optima[ridge->taken], error));
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

tempera_status tm_ridge_plan(tm_ridge *ridge, size_t value, double tau,
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

/* A lower local optimum is another basin: it may win at another tau. */
static tempera_status remember(tm_ridge *ridge, tm_value *value,
                               const tm_optimum *found, tempera_error *error) {
  double height = tm_optimum_height(found, found->tau);
  const tm_optimum *best = tm_value_at(value, found->tau);
  if (tm_optimum_height(best, found->tau) - height < 1e-3)
    return TEMPERA_OK;
  for (size_t i = 0; i < value->lines.count; i++)
    if (!tm_store_apart(ridge->store, value->lines.at[i].u, found->u) &&
        tm_optimum_height(&value->lines.at[i], found->tau) > height - 1e-3)
      return TEMPERA_OK;
  return tm_optima_insert(&value->lines, value->lines.count, found, error);
}

static tempera_status file_optimum(tm_ridge *ridge, tm_value *value,
                                   const tm_optimum *found,
                                   tempera_error *error) {
  tm_optimum *known = (tm_optimum *)tm_value_at(value, found->tau);
  tm_optimum lower = *found;
  if (!known) {
    size_t i = 0;
    while (i < value->optima.count && value->optima.at[i].tau < found->tau)
      i++;
    return tm_optima_insert(&value->optima, i, found, error);
  }
  if (tm_optimum_height(found, found->tau) >
      tm_optimum_height(known, found->tau)) {
    lower = *known;
    *known = *found;
  }
  return remember(ridge, value, &lower, error);
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
  TM_TRY(file_optimum(ridge, value, &found, error));
  return tell_store(ridge, &found, error);
}

tempera_status tm_ridge_run(tm_ridge *ridge, tempera_error *error) {
  tm_store *store = ridge->store;
  TM_TRY(tm_store_run(store, NULL, 0, error));
  for (size_t i = 0; i < store->climb_count; i++)
    TM_TRY(file_climb(ridge, &store->climbs[i], error));
  tm_store_pop(store, store->climb_count);
  for (size_t v = 0; v < ridge->value_count; v++)
    ridge->values[v].dead =
        ridge->values[v].optima.count == 0 && ridge->values[v].lines.count == 0;
  return TEMPERA_OK;
}

/* ---- one value at one tau */

/* From the best line, and from others apart from it that come within what is
 * not yet certain (`doubt`). Between two optima, the one at the larger tau goes
 * first: where basins part as tau grows, the other may be on its way to a
 * saddle. Both, where much is uncertain: either may be the higher at tau. */
static tempera_status plan_value(tm_ridge *ridge, size_t v, double tau,
                                 size_t most, tempera_error *error) {
  const tm_value *value = &ridge->values[v];
  const tm_optimum *chosen[BASINS], *left, *right;
  size_t count = 0;
  bool one = ridge->value_count == 1; /* else each of many is climbed for */
  double reach = one ? 4 : 1, much = one ? UNCERTAIN : UNCERTAIN_OF_MANY;
  neighbours(value, tau, &left, &right);
  double bound = tm_value_bound(value, tau), best = -INFINITY;
  while (count < most && (chosen[count] = next_basin(ridge->store, value, tau,
                                                     chosen, count))) {
    double height = tm_optimum_height(chosen[count], tau);
    best = fmax(best, height);
    if (height < best - reach * (bound - best))
      break;
    count++;
  }
  bool between = count > 0 && left && right && left != right;
  bool both = between && bound - best > much * TM_RIDGE_GAP;
  const tm_optimum *other = between && chosen[0] == left ? right : left;
  for (size_t i = 0; i < count; i++) {
    bool swap = i == 0 && between && !both && chosen[0] == left;
    TM_TRY(tm_ridge_plan(ridge, v, tau, swap ? right : chosen[i], error));
  }
  return both ? tm_ridge_plan(ridge, v, tau, other, error) : TEMPERA_OK;
}

/* ---- all values at one tau */

/* The highest known optimum at this very tau, or NULL. */
static const tm_optimum *best_at(const tm_ridge *ridge, double tau,
                                 size_t *value) {
  const tm_optimum *best = NULL;
  for (size_t v = 0; v < ridge->value_count; v++) {
    const tm_optimum *at = tm_value_at(&ridge->values[v], tau);
    if (!at ||
        (best && tm_optimum_height(at, tau) <= tm_optimum_height(best, tau)))
      continue;
    best = at;
    *value = v;
  }
  return best;
}

void tm_ridge_set_knot(tm_ridge *ridge, double tau) {
  size_t k = 0, value = 0;
  while (k < ridge->knot_count && ridge->knots[k].tau < tau)
    k++;
  if (k == ridge->knot_count || ridge->knots[k].tau != tau) {
    memmove(&ridge->knots[k + 1], &ridge->knots[k],
            (ridge->knot_count - k) * sizeof(tm_knot));
    ridge->knots[k] = (tm_knot){.tau = tau, .height = -INFINITY};
    ridge->knot_count++;
  }
  tm_knot *knot = &ridge->knots[k];
  const tm_optimum *best = best_at(ridge, tau, &value);
  if (best && tm_optimum_height(best, tau) > knot->height) {
    knot->height = tm_optimum_height(best, tau);
    knot->value = value;
    knot->best = *best;
  }
}

double tm_ridge_highest(const tm_ridge *ridge, double tau, size_t *value) {
  double height = -INFINITY;
  for (size_t v = 0; v < ridge->value_count; v++) {
    const tm_optimum *line = tm_value_line(&ridge->values[v], tau);
    if (line && tm_optimum_height(line, tau) > height) {
      height = tm_optimum_height(line, tau);
      *value = v;
    }
  }
  return height;
}

/* The leader first; then, all at once, those that may still exceed it. */
static tempera_status solve_values(tm_ridge *ridge, double tau, bool wide,
                                   tempera_error *error) {
  size_t first = 0, few = wide ? FEW_BASINS : 1;
  size_t most = ridge->value_count == 1 ? BASINS : FEW_BASINS;
  (void)tm_ridge_highest(ridge, tau, &first);
  TM_TRY(plan_value(ridge, first, tau, most, error));
  TM_TRY(tm_ridge_run(ridge, error));
  const tm_optimum *best = best_at(ridge, tau, &first);
  double height = best ? tm_optimum_height(best, tau) : -INFINITY;
  for (size_t v = 0; v < ridge->value_count; v++)
    if (v != first && tm_value_bound(&ridge->values[v], tau) > height)
      TM_TRY(plan_value(ridge, v, tau, few, error));
  return tm_ridge_run(ridge, error);
}

/* ---- integers */

static double steps_between(const tempera_model *model, const double *a,
                            const double *b) {
  double sum = 0;
  for (size_t j = 0; j < model->dimension; j++)
    sum += model->integer[j] ? fabs(a[j] - b[j]) : 0;
  return sum;
}

/* The value of a higher optimum in another basin, nearest to this one by its
 * integers: basins move with them. */
static const tm_optimum *higher_basin(const tm_ridge *ridge, size_t v,
                                      double tau) {
  const double *integers = ridge->values[v].integers;
  const tm_optimum *own = tm_value_at(&ridge->values[v], tau), *best = NULL;
  for (size_t w = 0; w < ridge->value_count; w++) {
    const tm_optimum *at = tm_value_at(&ridge->values[w], tau);
    if (!at || w == v ||
        (own && (tm_optimum_height(at, tau) <
                     tm_optimum_height(own, tau) + TM_RIDGE_NOISE ||
                 !tm_store_apart(ridge->store, at->u, own->u))))
      continue;
    if (!best || steps_between(ridge->model, integers, at->u) <
                     steps_between(ridge->model, integers, best->u))
      best = at;
  }
  return best;
}

/* Optima of one value are tried at the others, from neighbour to neighbour,
 * while that raises some. */
static tempera_status spread(tm_ridge *ridge, double tau,
                             tempera_error *error) {
  double before = -INFINITY;
  for (int round = 0; round < SPREADS && ridge->value_count > 1; round++) {
    double sum = 0;
    for (size_t v = 0; v < ridge->value_count; v++) {
      const tm_optimum *from = higher_basin(ridge, v, tau);
      if (from)
        TM_TRY(tm_ridge_plan(ridge, v, tau, from, error));
    }
    if (ridge->store->climb_count == 0)
      break;
    TM_TRY(tm_ridge_run(ridge, error));
    for (size_t v = 0; v < ridge->value_count; v++) {
      const tm_optimum *at = tm_value_at(&ridge->values[v], tau);
      sum += at ? tm_optimum_height(at, tau) : 0;
    }
    if (sum <= before + TM_RIDGE_NOISE)
      break;
    before = sum;
  }
  return TEMPERA_OK;
}

/* From the best value along one integer coordinate by 1, 2, 4, .. while new
 * values are better. */
static tempera_status explore_line(tm_ridge *ridge, double tau, size_t j,
                                   double direction, bool *improved,
                                   tempera_error *error) {
  const tm_block *block = &ridge->model->blocks[ridge->model->block_of_u[j]];
  for (double step = direction;; step *= 2) {
    size_t best = 0, index, after = 0;
    const tm_optimum *at = best_at(ridge, tau, &best);
    double *u = ridge->store->climbers[0].pg; /* room for one u */
    if (!at)
      return TEMPERA_OK;
    memcpy(u, at->u, ridge->model->dimension * sizeof(double));
    u[j] += step;
    if (u[j] < block->lower || u[j] > block->upper ||
        tm_ridge_find_value(ridge, u) < ridge->value_count)
      return TEMPERA_OK;
    TM_TRY(tm_ridge_add_value(ridge, u, &index, error));
    if (index == TM_RIDGE_VALUES)
      return TEMPERA_OK;
    TM_TRY(tm_ridge_plan(ridge, index, tau, at, error));
    TM_TRY(tm_ridge_run(ridge, error));
    (void)best_at(ridge, tau, &after);
    if (after == best)
      return TEMPERA_OK;
    *improved = true;
  }
}

static tempera_status explore(tm_ridge *ridge, double tau,
                              tempera_error *error) {
  bool improved = ridge->model->real_dimension < ridge->model->dimension;
  while (improved) {
    improved = false;
    for (size_t j = 0; j < ridge->model->dimension; j++) {
      if (!ridge->model->integer[j])
        continue;
      TM_TRY(explore_line(ridge, tau, j, 1, &improved, error));
      TM_TRY(explore_line(ridge, tau, j, -1, &improved, error));
    }
  }
  return TEMPERA_OK;
}

tempera_status tm_ridge_bracket(tm_ridge *ridge, tempera_error *error) {
  double ends[2] = {ridge->knots[0].tau,
                    ridge->knots[ridge->knot_count - 1].tau};
  for (size_t v = 0; v < ridge->value_count; v++)
    for (size_t i = 0; i < 2; i++)
      if (!ridge->values[v].dead && !tm_value_at(&ridge->values[v], ends[i]))
        TM_TRY(plan_value(ridge, v, ends[i], 1, error));
  TM_TRY(tm_ridge_run(ridge, error));
  tm_ridge_set_knot(ridge, ends[0]);
  tm_ridge_set_knot(ridge, ends[1]);
  return TEMPERA_OK;
}

static tempera_status explore_and_set(tm_ridge *ridge, double tau,
                                      tempera_error *error) {
  size_t before = ridge->value_count, best = 0;
  TM_TRY(explore(ridge, tau, error));
  if (!best_at(ridge, tau, &best)) {
    ridge->unstarted = true;
    return tm_fail(error, TEMPERA_ERROR_MODEL,
                   "the ridge has no start with positive density");
  }
  tm_ridge_set_knot(ridge, tau);
  return ridge->value_count > before ? tm_ridge_bracket(ridge, error)
                                     : TEMPERA_OK;
}

tempera_status tm_ridge_solve(tm_ridge *ridge, double tau, bool wide,
                              tempera_error *error) {
  ridge->runaway = -INFINITY;
  TM_TRY(solve_values(ridge, tau, wide, error));
  if (wide && tau == 1)
    TM_TRY(spread(ridge, tau, error));
  return explore_and_set(ridge, tau, error);
}

tempera_status tm_ridge_spread(tm_ridge *ridge, double tau,
                               tempera_error *error) {
  TM_TRY(spread(ridge, tau, error));
  return explore_and_set(ridge, tau, error);
}
