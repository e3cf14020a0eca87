/* store.c - see store.h. */
#include "tempering/store.h"

#include "model/batch.h"
#include "numeric/triangular.h"
#include "parallel/ranks.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

bool tm_too_many_integers(const tempera_model *model, char *reason,
                          size_t size) {
  size_t integers = model->dimension - model->real_dimension;
  double settings = 1;
  for (size_t j = 0; j < model->dimension; j++)
    if (model->integer[j]) {
      const tm_block *block = &model->blocks[model->block_of_u[j]];
      settings *= fmin(block->upper - block->lower + 1, TM_VALUES_THAT_MATTER);
    }
  if (settings <= TM_MOST_SETTINGS)
    return false;
  snprintf(reason, size,
           "%zu integer parameters have too many values to go through",
           integers);
  return true;
}

enum { ENOUGH_STARTS = 8 }; /* topped up with draws from the prior */

/* ---- the frame */

/* A quarter of the spread of the starts, where there are enough of them. */
static double first_step(const tm_frame *frame, size_t k, bool bounded,
                         size_t start_count) {
  double low = frame->start_low[k], high = frame->start_high[k];
  double usual = bounded ? 0.5 : 0.1 * fmax(1, fabs(high));
  if (start_count < 4 || !(high > low))
    return usual;
  double spread = (high - low) / 8;
  return bounded ? fmax(0.05, fmin(1, spread)) : spread;
}

static void frame_coordinate(tm_store *store, size_t k) {
  tm_frame *frame = &store->frame;
  size_t j = frame->real[k];
  frame->start_low[k] = INFINITY;
  frame->start_high[k] = -INFINITY;
  for (size_t i = 0; i < store->start_count; i++) {
    frame->start_low[k] = fmin(frame->start_low[k], store->starts[i].u[j]);
    frame->start_high[k] = fmax(frame->start_high[k], store->starts[i].u[j]);
  }
  frame->step[k] =
      first_step(frame, k, tm_is_bounded(store->model, j), store->start_count);
}

static tempera_status create_frame(tm_store *store, tempera_error *error) {
  const tempera_model *model = store->model;
  tm_frame *frame = &store->frame;
  size_t n = model->real_dimension;
  double *room = TM_NEW(store->arena, double, 3 * n + 1);
  frame->real = TM_NEW(store->arena, size_t, n + 1);
  if (!room || !frame->real)
    return tm_fail_memory(error);
  frame->reals = n;
  frame->start_low = room;
  frame->start_high = room + n;
  frame->step = room + 2 * n;
  for (size_t j = 0, k = 0; j < model->dimension; j++)
    if (!model->integer[j])
      frame->real[k++] = j;
  return TEMPERA_OK;
}

bool tm_store_apart(const tm_store *store, const double *a, const double *b) {
  const tm_frame *frame = &store->frame;
  for (size_t k = 0; k < frame->reals; k++) {
    size_t j = frame->real[k];
    double far = tm_is_bounded(store->model, j) ? 1 : 2 * frame->step[k];
    if (fabs(a[j] - b[j]) > far)
      return true;
  }
  return false;
}

/* ---- starts */

bool tm_store_point(const tm_climber *climber, tm_optimum *point) {
  const tm_point *trial = &climber->trial;
  if (!tm_climber_positive(climber))
    return false;
  *point = (tm_optimum){.tau = NAN,
                        .log_likelihood = trial->log_likelihood,
                        .log_prior = trial->log_prior,
                        .log_jacobian = trial->log_jacobian,
                        .u = trial->u};
  return true;
}

static double start_height(const tm_optimum *start) {
  return tm_optimum_height(start, 1) + start->log_jacobian;
}

static tempera_status keep_start(tm_store *store, tempera_error *error) {
  tm_optimum start;
  size_t n = store->model->dimension;
  TM_TRY(tm_store_check(store, error));
  if (!tm_store_point(&store->climbers[0], &start))
    return TEMPERA_OK;
  double *u = TM_NEW(store->arena, double, n);
  if (!u)
    return tm_fail_memory(error);
  start.u = memcpy(u, start.u, n * sizeof(double));
  size_t k = store->start_count++;
  for (; k > 0 && start_height(&store->starts[k - 1]) < start_height(&start);
       k--)
    store->starts[k] = store->starts[k - 1];
  store->starts[k] = start;
  store->tried++;
  return TEMPERA_OK;
}

/* Those of positive density, and a few draws from the prior where there are
 * not enough. */
static tempera_status take_starts(tm_store *store, const double *starts,
                                  size_t count, tempera_error *error) {
  const tempera_model *model = store->model;
  tm_climber *c = &store->climbers[0];
  store->starts = TM_NEW(store->arena, tm_optimum, count + ENOUGH_STARTS);
  if (!store->starts)
    return tm_fail_memory(error);
  for (size_t i = 0; i < count; i++) {
    memcpy(c->trial.theta, starts + i * model->size,
           model->size * sizeof(double));
    tm_evaluate_natural(c->evaluator, &c->trial);
    TM_TRY(keep_start(store, error));
  }
  tempera_random random = tm_random(store->settings.seed, 1, TM_PURPOSE_RIDGE);
  for (size_t i = count; i < ENOUGH_STARTS && model->spec.prior_draw; i++) {
    tm_prior_draw(c->evaluator, &random, &c->trial);
    TM_TRY(keep_start(store, error));
  }
  if (store->start_count == 0)
    return tm_fail(error, TEMPERA_ERROR_ARGUMENT,
                   "the ridge needs a start of positive density");
  return tm_labels_find(c->evaluator, &c->trial, starts, count, store->arena,
                        &store->labels, error);
}

/* ---- create and free */

static tempera_status prepare(tm_store *store, const double *starts,
                              size_t count, tempera_error *error) {
  TM_TRY(create_frame(store, error));
  for (size_t w = 0; w < TM_STORE_WORKERS; w++) {
    TM_TRY(tm_climber_create(store->model, &store->frame, true, store->arena,
                             &store->climbers[w], error));
    store->climbers[w].own.stop = store->settings.stop;
  }
  TM_TRY(take_starts(store, starts, count, error));
  for (size_t k = 0; k < store->frame.reals; k++)
    frame_coordinate(store, k);
  return TEMPERA_OK;
}

tempera_status tm_store_create(const tempera_model *model,
                               const tm_store_settings *settings,
                               const double *starts, size_t count,
                               tm_store **store, tempera_error *error) {
  tm_arena *arena;
  tm_store *made = TM_BEGIN(&arena, tm_store);
  if (!made)
    return tm_fail_memory(error);
  made->arena = arena;
  made->model = model;
  made->settings = *settings;
  made->settings.threads = tm_model_threads(model, settings->threads);
  tempera_status status = prepare(made, starts, count, error);
  if (status != TEMPERA_OK)
    tm_store_free(made);
  else
    *store = made;
  return status;
}

void tm_store_free(tm_store *store) {
  if (!store)
    return;
  for (size_t w = 0; w < TM_STORE_WORKERS; w++)
    tm_evaluator_release(&store->climbers[w].own);
  tm_heap_free(store->spare);
  tm_heap_free(store->climbs);
  tm_heap_free(store->optima);
  tm_arena_free(store->arena);
}

/* ---- optima */

tempera_status tm_store_add(tm_store *store, const tm_optimum *optimum,
                            tempera_error *error) {
  double *u = TM_NEW(store->arena, double, store->model->dimension);
  if (!u || !tm_list_room(&store->optima, store->count, &store->capacity,
                          sizeof *store->optima))
    return tm_fail_memory(error);
  tm_optimum *slot = &store->optima[store->count++];
  slot->u = u;
  tm_optimum_copy(store->model, optimum, slot);
  return TEMPERA_OK;
}

tempera_status tm_store_offer(tm_store *store, const double *theta,
                              tm_finder finder, tempera_error *error) {
  tm_climber *c = &store->climbers[0];
  tm_optimum point;
  memcpy(c->trial.theta, theta, store->model->size * sizeof(double));
  tm_evaluate_natural(c->evaluator, &c->trial);
  TM_TRY(tm_store_check(store, error));
  if (!tm_store_point(c, &point))
    return TEMPERA_OK;
  point.finder = finder;
  return tm_store_add(store, &point, error);
}

/* ---- the queue */

/* Where there is no memory for the list, the arena just keeps it. */
void tm_store_spare(tm_store *store, const tm_spot *spot) {
  if (tm_list_room(&store->spare, store->spare_count, &store->spare_capacity,
                   sizeof *spot))
    store->spare[store->spare_count++] = *spot;
}

static tempera_status need_spot(tm_store *store, tm_spot *spot,
                                tempera_error *error) {
  if (spot->u)
    return TEMPERA_OK;
  if (!store->spare_count)
    return tm_spot_create(store->model, store->arena, spot, error);
  *spot = store->spare[--store->spare_count];
  return TEMPERA_OK;
}

tempera_status tm_store_plan(tm_store *store, const tm_climb *climb,
                             tempera_error *error) {
  size_t n = store->model->dimension;
  if (!tm_list_room(&store->climbs, store->climb_count, &store->climb_capacity,
                    sizeof *climb))
    return tm_fail_memory(error);
  tm_climb *slot = &store->climbs[store->climb_count];
  tm_spot spot = slot->spot, broad = slot->broad;
  double *from = slot->from ? slot->from : TM_NEW(store->arena, double, n);
  if (!from)
    return tm_fail_memory(error);
  TM_TRY(need_spot(store, &spot, error));
  if (climb->measure == TM_UNCONSTRAINED)
    TM_TRY(need_spot(store, &broad, error));
  memcpy(from, climb->u, n * sizeof(double));
  *slot = *climb;
  slot->u = slot->from = from;
  slot->spot = spot;
  slot->broad = broad;
  store->climb_count++;
  store->optimisations++;
  return TEMPERA_OK;
}

typedef struct wave {
  tm_store *store;
  const tm_landmark *known;
  size_t known_count;
} wave;

static void run_share(size_t worker, void *context) {
  wave *w = context;
  for (size_t i = worker; i < w->store->climb_count; i += TM_STORE_WORKERS) {
    tm_climb *climb = &w->store->climbs[i];
    climb->known = w->known;
    climb->known_count = w->known_count;
    tm_climb_run(&w->store->climbers[worker], climb);
  }
}

tempera_status tm_store_run(tm_store *store, const tm_landmark *known,
                            size_t known_count, tempera_error *error) {
  wave context = {store, known, known_count};
  tm_shared_for(TM_STORE_WORKERS, store->settings.threads, run_share, &context);
  return tm_store_check(store, error);
}

/* Slots are exchanged, so that each keeps its own memory. */
void tm_store_pop(tm_store *store, size_t count) {
  size_t left = store->climb_count - count;
  for (size_t i = 0; i < left; i++) {
    tm_climb held = store->climbs[i];
    store->climbs[i] = store->climbs[count + i];
    store->climbs[count + i] = held;
  }
  store->climb_count = left;
}

tempera_status tm_store_check(const tm_store *store, tempera_error *error) {
  for (size_t w = 0; w < TM_STORE_WORKERS; w++)
    TM_TRY(tm_evaluator_check(&store->climbers[w].own, error));
  return TEMPERA_OK;
}

/* ---- one basin's mass */

/* log |L|, H = L L', of curvatures that may differ by more than floating point
 * holds, as deep in the neck of a funnel: scaled to a unit diagonal, to which a
 * little is added. Where what is left of it is FLAT, the basin is taken to be
 * as wide as WIDE times the starts: rather too much mass than too little. NaN
 * where H is not positive. `scale` has room for d. */
static const double ADDED = 1e-12, FLAT = 1e-10, WIDE = 1000;

static double half_log_det(const tm_frame *frame, double *h, double *scale) {
  size_t d = frame->reals;
  double sum = 0;
  for (size_t k = 0; k < d; k++)
    scale[k] = sqrt(h[k * d + k]);
  for (size_t i = 0; i < d; i++)
    for (size_t k = 0; k < d; k++)
      h[i * d + k] = i == k ? 1 + ADDED : h[i * d + k] / scale[i] / scale[k];
  if (!tm_cholesky(h, d))
    return NAN;
  for (size_t k = 0; k < d; k++) {
    double left = h[k * d + k], part = log(scale[k]) + log(left);
    if (left * left < FLAT)
      part = fmin(part, -log(WIDE * frame->step[k]));
    sum += part;
  }
  return sum;
}

static double mass_of(const tm_frame *frame, const tm_climb *climb, double *h,
                      double *scale) {
  const double log_2_pi = 1.8378770664093454836;
  size_t d = frame->reals;
  if (climb->outcome != TM_ASCENT_FOUND || climb->edge)
    return NAN;
  tm_spot_curvature(&climb->spot, 1, d, h);
  return tm_spot_height(&climb->spot, 1) + 0.5 * (double)d * log_2_pi -
         half_log_det(frame, h, scale);
}

static tempera_status weigh(const tm_store *store, const double *theta,
                            tm_arena *arena, double *log_mass,
                            tempera_error *error) {
  const tempera_model *model = store->model;
  size_t d = store->frame.reals;
  tm_climb climb = {.tau = 1};
  tm_climber climber;
  double *h = TM_NEW(arena, double, d *d + d + model->dimension);
  if (!h)
    return tm_fail_memory(error);
  double *u = h + d * d + d;
  TM_TRY(tm_spot_create(model, arena, &climb.spot, error));
  TM_TRY(tm_spot_create(model, arena, &climb.broad, error));
  TM_TRY(tm_climber_create(model, &store->frame, true, arena, &climber, error));
  tm_unconstrain(model, theta, u);
  climb.u = u;
  tm_climb_run(&climber, &climb);
  *log_mass = mass_of(&store->frame, &climb, h, h + d * d);
  tm_evaluator_release(&climber.own);
  return TEMPERA_OK;
}

tempera_status tm_store_weigh(const tm_store *store, const double *theta,
                              double *log_mass, tempera_error *error) {
  tm_arena *arena = tm_arena_create();
  tempera_status status = arena ? weigh(store, theta, arena, log_mass, error)
                                : tm_fail_memory(error);
  tm_arena_free(arena);
  return status;
}

/* ---- counts and names */

tm_work tm_store_work(const tm_store *store) {
  tm_work work = {.optimisations = store->optimisations};
  for (size_t w = 0; w < TM_STORE_WORKERS; w++) {
    const tm_evaluator *own = &store->climbers[w].own;
    work.likelihood_evaluations += own->likelihood_evaluations;
    work.gradient_evaluations += own->gradient_evaluations;
    work.seconds_in_model += own->seconds;
  }
  return work;
}

uint64_t tm_store_spent(const tm_store *store) {
  tm_work work = tm_store_work(store);
  return work.likelihood_evaluations + work.gradient_evaluations;
}

const char *tm_store_name(const tm_store *store, size_t j) {
  const tempera_model *model = store->model;
  const tm_block *block = &model->blocks[model->block_of_u[j]];
  return model->names[block->theta + (j - block->u)];
}
