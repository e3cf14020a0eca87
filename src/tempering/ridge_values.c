/* ridge_values.c - the optimum at one tau over all integer values.
 *
 * For each integer value k, s_k(tau) is convex by itself, so the chord of its
 * own optima bounds it from above: at a knot only values whose bound exceeds
 * the best height need optimising. Optimisations run in waves, each task on
 * its own worker, so the outcome cannot depend on the number of threads. */
#include "tempering/ridge_parts.h"

#include <math.h>
#include <string.h>

enum {
  SMALL_SUPPORT = 32, /* so many values are all tried */
  START_VALUES = 12,  /* otherwise those of so many starts, and neighbours */
  WINDOW = 8,         /* .. but so many values at least */
  TRANSPLANTS = 3,    /* rounds */
  HOP_ROUNDS = 8      /* at most */
};

double *tm_ridge_copy_u(tm_ridge *ridge, const double *u) {
  size_t n = ridge->model->dimension;
  double *copy = TM_NEW(ridge->arena, double, n);
  return copy ? memcpy(copy, u, n * sizeof(double)) : NULL;
}

/* ---- values and their optima */

const tm_optimum *tm_value_line(const tm_value *value, double tau) {
  const tm_optimum *best = NULL;
  for (size_t i = 0; i < value->count + value->other_count; i++) {
    const tm_optimum *line =
        i < value->count ? &value->optima[i] : &value->others[i - value->count];
    if (!best || tm_optimum_height(line, tau) > tm_optimum_height(best, tau))
      best = line;
  }
  return best;
}

const tm_optimum *tm_value_at(const tm_value *value, double tau) {
  for (size_t i = 0; i < value->count; i++)
    if (value->optima[i].tau == tau)
      return &value->optima[i];
  return NULL;
}

/* The optima next to tau on either side (or at it); NULL where none. */
static void neighbours(const tm_value *value, double tau,
                       const tm_optimum **left, const tm_optimum **right) {
  *left = *right = NULL;
  for (size_t i = 0; i < value->count; i++) {
    if (value->optima[i].tau <= tau)
      *left = &value->optima[i];
    if (value->optima[i].tau >= tau && !*right)
      *right = &value->optima[i];
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
  const tempera_model *model = ridge->model;
  for (size_t v = 0; v < ridge->value_count; v++) {
    bool same = true;
    for (size_t j = 0; j < model->dimension; j++)
      same = same && (!model->integer[j] || ridge->values[v].whole[j] == u[j]);
    if (same)
      return v;
  }
  return ridge->value_count;
}

static bool grow_values(tm_ridge *ridge) {
  if (ridge->value_count < ridge->value_capacity)
    return true;
  size_t capacity = ridge->value_capacity ? 2 * ridge->value_capacity : 16;
  tm_value *grown = tm_heap_resize(ridge->values, capacity, sizeof(tm_value));
  if (!grown)
    return false;
  ridge->values = grown;
  ridge->value_capacity = capacity;
  return true;
}

tempera_status tm_ridge_add_value(tm_ridge *ridge, const double *u,
                                  size_t *index, tempera_error *error) {
  size_t v = tm_ridge_find_value(ridge, u);
  if (v == ridge->value_count && v < TM_RIDGE_VALUES) {
    double *whole = tm_ridge_copy_u(ridge, u);
    if (!whole || !grow_values(ridge))
      return tm_fail_memory(error);
    ridge->values[v] = (tm_value){.whole = whole};
    ridge->value_count++;
  }
  *index = v;
  return TEMPERA_OK;
}

/* A lower local optimum is another basin: it may win at another tau. */
static tempera_status remember_basin(tm_ridge *ridge, tm_value *value,
                                     const tm_optimum *found, double best,
                                     tempera_error *error) {
  double height = tm_optimum_height(found, found->tau);
  if (best - height < 1e-3 || value->other_count == TM_RIDGE_OTHERS)
    return TEMPERA_OK;
  for (size_t i = 0; i < value->other_count; i++)
    if (fabs(tm_optimum_height(&value->others[i], found->tau) - height) < 1e-3)
      return TEMPERA_OK;
  tm_optimum kept = *found;
  kept.u = tm_ridge_copy_u(ridge, found->u);
  if (!kept.u)
    return tm_fail_memory(error);
  value->others[value->other_count++] = kept;
  return TEMPERA_OK;
}

static tempera_status insert_optimum(tm_ridge *ridge, tm_value *value,
                                     const tm_optimum *found,
                                     tempera_error *error) {
  if (value->count == value->capacity) {
    size_t capacity = value->capacity ? 2 * value->capacity : 16;
    tm_optimum *grown =
        tm_heap_resize(value->optima, capacity, sizeof(tm_optimum));
    if (!grown)
      return tm_fail_memory(error);
    value->optima = grown;
    value->capacity = capacity;
  }
  tm_optimum kept = *found;
  kept.u = tm_ridge_copy_u(ridge, found->u);
  if (!kept.u)
    return tm_fail_memory(error);
  size_t i = value->count++;
  for (; i > 0 && value->optima[i - 1].tau > found->tau; i--)
    value->optima[i] = value->optima[i - 1];
  value->optima[i] = kept;
  return TEMPERA_OK;
}

static tempera_status file_optimum(tm_ridge *ridge, tm_value *value,
                                   const tm_optimum *found,
                                   tempera_error *error) {
  tm_optimum *known = (tm_optimum *)tm_value_at(value, found->tau);
  if (!known)
    return insert_optimum(ridge, value, found, error);
  double old = tm_optimum_height(known, known->tau);
  double new = tm_optimum_height(found, found->tau);
  if (new <= old)
    return remember_basin(ridge, value, found, old, error);
  tm_optimum lower = *known;
  double *u = tm_ridge_copy_u(ridge, found->u);
  if (!u)
    return tm_fail_memory(error);
  *known = *found;
  known->u = u;
  return remember_basin(ridge, value, &lower, new, error);
}

/* ---- tasks */

static bool grow_tasks(tm_ridge *ridge) {
  size_t capacity = ridge->task_capacity ? 2 * ridge->task_capacity : 32;
  tm_task *grown = tm_heap_resize(ridge->tasks, capacity, sizeof(tm_task));
  if (!grown)
    return false;
  ridge->tasks = grown;
  size_t n = ridge->model->dimension, reals = ridge->frame.reals;
  for (size_t i = ridge->task_capacity; i < capacity; i++) {
    double *room = TM_NEW(ridge->arena, double, 2 * n + reals + 1);
    if (!room)
      return false;
    grown[i] =
        (tm_task){.u = room, .step = room + n, .result.u = room + n + reals};
    ridge->task_capacity = i + 1;
  }
  return true;
}

tempera_status tm_ridge_plan(tm_ridge *ridge, size_t value, double tau,
                             const double *u, const double *step,
                             tempera_error *error) {
  const tempera_model *model = ridge->model;
  if (ridge->task_count == ridge->task_capacity && !grow_tasks(ridge))
    return tm_fail_memory(error);
  tm_task *task = &ridge->tasks[ridge->task_count++];
  task->value = value;
  task->tau = tau;
  for (size_t j = 0; j < model->dimension; j++)
    task->u[j] = model->integer[j] ? ridge->values[value].whole[j] : u[j];
  memcpy(task->step, step ? step : ridge->frame.step,
         ridge->frame.reals * sizeof(double));
  return TEMPERA_OK;
}

/* The model's own optimum is a better start, if it is what it says and stays
 * at this value. */
static void ask_model(tm_search *search, tm_task *task) {
  const tempera_model *model = search->model;
  tm_evaluator *evaluator = search->evaluator;
  if (!model->spec.optimum || evaluator->status != TEMPERA_OK ||
      !tm_search_look(search, task->u))
    return;
  double before = tm_optimum_height(&search->best, task->tau);
  double *theta = search->trial.theta;
  if (model->spec.optimum(task->tau, theta, evaluator->user) != 0 ||
      !tm_inside(model, theta))
    return;
  tm_unconstrain(model, theta, task->result.u);
  for (size_t j = 0; j < model->dimension; j++)
    if (model->integer[j] && task->result.u[j] != task->u[j])
      return;
  if (tm_search_look(search, task->result.u) &&
      tm_optimum_height(&search->best, task->tau) > before)
    memcpy(task->u, search->best.u, model->dimension * sizeof(double));
}

typedef struct task_wave {
  tm_ridge *ridge;
  size_t first;
} task_wave;

static void run_task(size_t piece, void *context) {
  task_wave *wave = context;
  tm_search *search = &wave->ridge->workers[piece];
  tm_task *task = &wave->ridge->tasks[wave->first + piece];
  ask_model(search, task);
  task->found = tm_search_run(search, task->tau, task->u, task->step);
  double *u = task->result.u;
  memcpy(u, search->best.u, search->model->dimension * sizeof(double));
  task->result = search->best;
  task->result.u = u;
}

tempera_status tm_ridge_check(const tm_ridge *ridge, tempera_error *error) {
  for (size_t w = 0; w < TM_RIDGE_WORKERS; w++) {
    const tm_evaluator *evaluator = &ridge->workers[w].own;
    if (evaluator->status == TEMPERA_OK)
      continue;
    if (error)
      *error = evaluator->error;
    return evaluator->status;
  }
  return TEMPERA_OK;
}

tempera_status tm_ridge_run_tasks(tm_ridge *ridge, tempera_error *error) {
  size_t count = ridge->task_count;
  ridge->task_count = 0;
  for (size_t first = 0; first < count; first += TM_RIDGE_WORKERS) {
    task_wave wave = {ridge, first};
    size_t pieces = count - first;
    tm_parallel_for(pieces < TM_RIDGE_WORKERS ? pieces : TM_RIDGE_WORKERS,
                    tm_threads(ridge->settings.threads), run_task, &wave);
  }
  TM_TRY(tm_ridge_check(ridge, error));
  for (size_t i = 0; i < count; i++) {
    tm_task *task = &ridge->tasks[i];
    tm_value *value = &ridge->values[task->value];
    value->optimisations++;
    ridge->optimisations++;
    if (task->found)
      TM_TRY(file_optimum(ridge, value, &task->result, error));
  }
  return TEMPERA_OK;
}

/* ---- which values there are */

/* The number of integer settings, or 0 if there are too many. */
static size_t support(const tempera_model *model) {
  double product = 1;
  for (size_t j = 0; j < model->dimension; j++) {
    const tm_block *block = &model->blocks[model->block_of_u[j]];
    if (model->integer[j])
      product *= floor(block->upper) - ceil(block->lower) + 1;
  }
  return product <= SMALL_SUPPORT ? (size_t)product : 0;
}

/* Setting number `index` of a small support, into u. */
static void enumerate(const tempera_model *model, size_t index, double *u) {
  for (size_t j = 0; j < model->dimension; j++) {
    const tm_block *block = &model->blocks[model->block_of_u[j]];
    if (!model->integer[j])
      continue;
    size_t count = (size_t)(floor(block->upper) - ceil(block->lower)) + 1;
    u[j] = ceil(block->lower) + (double)(index % count);
    index /= count;
  }
}

/* A window around the best start, so that pilots have values to go to. */
static tempera_status add_window(tm_ridge *ridge, tempera_error *error) {
  const tempera_model *model = ridge->model;
  double *u = ridge->workers[0].trial.u;
  for (double step = 1; step <= WINDOW; step++)
    for (size_t j = 0; j < 2 * model->dimension; j++) {
      size_t at = j / 2, index;
      const tm_block *block = &model->blocks[model->block_of_u[at]];
      memcpy(u, ridge->starts[0].u, model->dimension * sizeof(double));
      u[at] += j % 2 ? step : -step;
      if (model->integer[at] && u[at] >= block->lower &&
          u[at] <= block->upper && ridge->value_count < WINDOW)
        TM_TRY(tm_ridge_add_value(ridge, u, &index, error));
    }
  return TEMPERA_OK;
}

tempera_status tm_ridge_first_values(tm_ridge *ridge, tempera_error *error) {
  size_t count = support(ridge->model), index;
  double *u = ridge->workers[0].trial.u;
  for (size_t i = 0; i < count; i++) {
    enumerate(ridge->model, i, u);
    TM_TRY(tm_ridge_add_value(ridge, u, &index, error));
  }
  for (size_t i = 0; i < ridge->start_count; i++)
    if (ridge->value_count < START_VALUES)
      TM_TRY(tm_ridge_add_value(ridge, ridge->starts[i].u, &index, error));
  return count > 0 ? TEMPERA_OK : add_window(ridge, error);
}

/* ---- one value at one tau */

/* Between two optima: the better of them or their middle, and steps to fit.
 * When the middle lies below both they are in different basins: try both. */
static tempera_status plan_between(tm_ridge *ridge, size_t v, double tau,
                                   const tm_optimum *left,
                                   const tm_optimum *right,
                                   tempera_error *error) {
  tm_search *search = &ridge->workers[0];
  const tm_search_frame *frame = &ridge->frame;
  double *u = search->gradient, *step = search->step;
  for (size_t j = 0; j < ridge->model->dimension; j++)
    u[j] = (left->u[j] + right->u[j]) / 2;
  for (size_t k = 0; k < frame->reals; k++) {
    size_t j = frame->real[k];
    step[k] = fmax(fabs(left->u[j] - right->u[j]) / 4, 1e-3 * frame->step[k]);
  }
  double a = tm_optimum_height(left, tau), b = tm_optimum_height(right, tau);
  double c = tm_search_look(search, u) ? tm_optimum_height(&search->best, tau)
                                       : -INFINITY;
  if (c < fmin(a, b) - 1e-3) {
    for (size_t k = 0; k < frame->reals; k++)
      step[k] = fmin(step[k], frame->step[k] / 4);
    TM_TRY(tm_ridge_plan(ridge, v, tau, left->u, step, error));
    return tm_ridge_plan(ridge, v, tau, right->u, step, error);
  }
  const double *start = c >= fmax(a, b) ? u : a > b ? left->u : right->u;
  return tm_ridge_plan(ridge, v, tau, start, step, error);
}

/* Continue from what is known of the value; any start if nothing is. */
static tempera_status plan_value(tm_ridge *ridge, size_t v, double tau,
                                 tempera_error *error) {
  tm_value *value = &ridge->values[v];
  const tm_optimum *left, *right, *line = tm_value_line(value, tau);
  if (!line)
    return tm_ridge_plan_starts(ridge, v, tau, error);
  neighbours(value, tau, &left, &right);
  if (!left || !right)
    return tm_ridge_plan(ridge, v, tau, line->u, NULL, error);
  TM_TRY(plan_between(ridge, v, tau, left, right, error));
  /* A third basin that comes within what is not yet certain. */
  double best =
      fmax(tm_optimum_height(left, tau), tm_optimum_height(right, tau));
  double doubt = tm_value_bound(value, tau) - best;
  const tm_optimum *other = NULL;
  for (size_t i = 0; i < value->other_count; i++)
    if (!other || tm_optimum_height(&value->others[i], tau) >
                      tm_optimum_height(other, tau))
      other = &value->others[i];
  if (other && tm_optimum_height(other, tau) > best - doubt &&
      tm_ridge_apart(ridge, other->u, left->u) &&
      tm_ridge_apart(ridge, other->u, right->u))
    TM_TRY(tm_ridge_plan(ridge, v, tau, other->u, NULL, error));
  return TEMPERA_OK;
}

/* ---- all values at one tau */

void tm_ridge_set_knot(tm_ridge *ridge, double tau) {
  size_t k = 0;
  while (k < ridge->knot_count && ridge->knots[k].tau < tau)
    k++;
  if (k == ridge->knot_count || ridge->knots[k].tau != tau) {
    memmove(&ridge->knots[k + 1], &ridge->knots[k],
            (ridge->knot_count - k) * sizeof(tm_knot));
    ridge->knots[k] = (tm_knot){.tau = tau, .height = -INFINITY};
    ridge->knot_count++;
  }
  tm_knot *knot = &ridge->knots[k];
  for (size_t v = 0; v < ridge->value_count; v++) {
    const tm_optimum *at = tm_value_at(&ridge->values[v], tau);
    if (!at || !(tm_optimum_height(at, tau) > knot->height))
      continue;
    knot->height = tm_optimum_height(at, tau);
    knot->value = v;
    knot->best = *at;
  }
}

/* The highest known height at this very tau. */
static double known_height(const tm_ridge *ridge, double tau, size_t *best) {
  double height = -INFINITY;
  for (size_t v = 0; v < ridge->value_count; v++) {
    const tm_optimum *at = tm_value_at(&ridge->values[v], tau);
    if (!at || !(tm_optimum_height(at, tau) > height))
      continue;
    height = tm_optimum_height(at, tau);
    *best = v;
  }
  return height;
}

static size_t leader(const tm_ridge *ridge, double tau) {
  size_t best = 0;
  double height = -INFINITY;
  for (size_t v = 0; v < ridge->value_count; v++) {
    const tm_optimum *line = tm_value_line(&ridge->values[v], tau);
    if (line && tm_optimum_height(line, tau) > height) {
      height = tm_optimum_height(line, tau);
      best = v;
    }
  }
  return best;
}

static void mark_dead(tm_ridge *ridge) {
  for (size_t v = 0; v < ridge->value_count; v++)
    ridge->values[v].dead = ridge->values[v].count == 0;
}

/* The leader first; then, all at once, those that may still exceed it. */
static tempera_status solve_known(tm_ridge *ridge, double tau,
                                  tempera_error *error) {
  size_t first = leader(ridge, tau);
  TM_TRY(plan_value(ridge, first, tau, error));
  TM_TRY(tm_ridge_run_tasks(ridge, error));
  double height = known_height(ridge, tau, &first);
  for (size_t v = 0; v < ridge->value_count; v++)
    if (v != first && tm_value_bound(&ridge->values[v], tau) > height)
      TM_TRY(plan_value(ridge, v, tau, error));
  return tm_ridge_run_tasks(ridge, error);
}

/* Rounds of hops until two running find nothing better; in one dimension the
 * pilots have seen it all. */
static tempera_status hop(tm_ridge *ridge, double tau, tempera_error *error) {
  if (ridge->model->real_dimension < ridge->model->dimension ||
      ridge->frame.reals < 2 || ridge->settings.surveyed)
    return TEMPERA_OK;
  tempera_random random = tm_random(ridge->settings.seed, 1, TM_PURPOSE_RIDGE);
  int idle = 0;
  for (int round = 0; round < HOP_ROUNDS && idle < 2; round++) {
    size_t best = 0;
    double before = known_height(ridge, tau, &best);
    TM_TRY(tm_ridge_plan_hops(ridge, tau, &random, error));
    TM_TRY(tm_ridge_run_tasks(ridge, error));
    bool better = known_height(ridge, tau, &best) > before + 1e-3;
    idle = better ? 0 : idle + 1;
  }
  return TEMPERA_OK;
}

/* Optima of one value are tried at every other. */
static tempera_status transplant(tm_ridge *ridge, double tau,
                                 tempera_error *error) {
  for (int round = 0; round < TRANSPLANTS; round++) {
    TM_TRY(tm_ridge_plan_transplants(ridge, tau, error));
    if (ridge->task_count == 0)
      break;
    TM_TRY(tm_ridge_run_tasks(ridge, error));
    mark_dead(ridge);
  }
  return TEMPERA_OK;
}

/* Pilots from many starts, each at its own value. */
static tempera_status solve_wide(tm_ridge *ridge, double tau,
                                 tempera_error *error) {
  TM_TRY(tm_ridge_plan_pilots(ridge, tau, error));
  TM_TRY(tm_ridge_run_tasks(ridge, error));
  TM_TRY(transplant(ridge, tau, error));
  return tau == 1 ? hop(ridge, tau, error) : TEMPERA_OK;
}

/* From the best value along one integer coordinate by 1, 2, 4, .. while new
 * values are better. */
static tempera_status explore_line(tm_ridge *ridge, double tau, size_t j,
                                   double direction, bool *improved,
                                   tempera_error *error) {
  const tm_block *block = &ridge->model->blocks[ridge->model->block_of_u[j]];
  for (double step = direction;; step *= 2) {
    size_t best = 0, index;
    double height = known_height(ridge, tau, &best);
    const tm_optimum *at = tm_value_at(&ridge->values[best], tau);
    double *u = ridge->workers[0].gradient;
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
    TM_TRY(tm_ridge_plan(ridge, index, tau, at->u, NULL, error));
    TM_TRY(tm_ridge_run_tasks(ridge, error));
    if (!tm_value_at(&ridge->values[index], tau)) {
      TM_TRY(tm_ridge_plan_starts(ridge, index, tau, error));
      TM_TRY(tm_ridge_run_tasks(ridge, error));
    }
    mark_dead(ridge);
    if (!(known_height(ridge, tau, &best) > height))
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
        TM_TRY(plan_value(ridge, v, ends[i], error));
  TM_TRY(tm_ridge_run_tasks(ridge, error));
  tm_ridge_set_knot(ridge, ends[0]);
  tm_ridge_set_knot(ridge, ends[1]);
  return TEMPERA_OK;
}

static tempera_status explore_and_set(tm_ridge *ridge, double tau,
                                      tempera_error *error) {
  size_t before = ridge->value_count, best = 0;
  TM_TRY(explore(ridge, tau, error));
  if (!(known_height(ridge, tau, &best) > -INFINITY))
    return tm_fail(error, TEMPERA_ERROR_MODEL,
                   "the ridge has no start with positive density");
  tm_ridge_set_knot(ridge, tau);
  return ridge->value_count > before ? tm_ridge_bracket(ridge, error)
                                     : TEMPERA_OK;
}

tempera_status tm_ridge_solve(tm_ridge *ridge, double tau, bool wide,
                              tempera_error *error) {
  if (wide)
    TM_TRY(solve_wide(ridge, tau, error));
  else
    TM_TRY(solve_known(ridge, tau, error));
  return explore_and_set(ridge, tau, error);
}

tempera_status tm_ridge_spread(tm_ridge *ridge, double tau,
                               tempera_error *error) {
  TM_TRY(transplant(ridge, tau, error));
  return explore_and_set(ridge, tau, error);
}
