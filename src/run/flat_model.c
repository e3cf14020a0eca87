/* flat_model.c - see flat_model.h. */
#include "run/flat_model.h"

#include <math.h>
#include <stdio.h>

static const double WIDTH = 2.5; /* 5 % beyond +-67, 0.3 % beyond +-900 */
enum { NAME_SIZE = 24, LOOKS = 1000 };
/* Log ratios this far below the best of LOOKS draws of r, and further for each
 * coordinate, count as this far: all of r there has no mass that counts beside
 * the prior's, and without a floor the mean at the flat end (of -x^4 where x
 * is a million) is beyond any estimate. */
static const double DEPTH = 100, DEPTH_EACH = 10;

/* ---- r ------------------------------------------------------------------ */

typedef struct range {
  double lower, upper;
} range;

static range range_of(const tempera_model *model, size_t j) {
  const tm_block *block = &model->blocks[model->block_of_u[j]];
  return (range){block->lower, block->upper};
}

static double real_log_density(double u) {
  double w = asinh(u) / WIDTH;
  return -0.5 * w * w - log(WIDTH) - 0.5 * log(2 * M_PI) - 0.5 * log1p(u * u);
}

static double real_slope(double u) {
  double root = hypot(1, u);
  return -asinh(u) / (WIDTH * WIDTH * root) - u / (root * root);
}

/* The chance that the whole part of a real draw is n. */
static double whole_mass(double n) {
  double from = asinh(n) / WIDTH, to = asinh(n + 1) / WIDTH;
  return 0.5 * (erfc(from * M_SQRT1_2) - erfc(to * M_SQRT1_2));
}

static double whole_log_density(range r, double n) {
  if (n < r.lower || n > r.upper)
    return -INFINITY;
  if (isfinite(r.lower) && isfinite(r.upper))
    return -log(r.upper - r.lower + 1);
  if (isfinite(r.lower))
    return log(2 * whole_mass(n - r.lower));
  if (isfinite(r.upper))
    return log(2 * whole_mass(r.upper - n));
  return log(whole_mass(n));
}

static double draw_whole(range r, tempera_random *random) {
  double u = sinh(WIDTH * tempera_random_normal(random));
  if (isfinite(r.lower) && isfinite(r.upper))
    return r.lower +
           floor((r.upper - r.lower + 1) * tempera_random_uniform(random));
  if (isfinite(r.lower))
    return r.lower + floor(fabs(u));
  return isfinite(r.upper) ? r.upper - floor(fabs(u)) : floor(u);
}

double tm_flat_log_density(const tempera_model *model, const double *u) {
  double sum = 0;
  for (size_t j = 0; j < model->dimension; j++)
    sum += model->integer[j] ? whole_log_density(range_of(model, j), u[j])
                             : real_log_density(u[j]);
  return sum;
}

void tm_flat_draw(const tempera_model *model, tempera_random *random,
                  double *u) {
  for (size_t j = 0; j < model->dimension; j++)
    u[j] = model->integer[j] ? draw_whole(range_of(model, j), random)
                             : sinh(WIDTH * tempera_random_normal(random));
}

/* ---- the model ---------------------------------------------------------- */

/* One chain's. */
typedef struct flat {
  const tempera_model *model;
  tm_arena *arena;
  tm_evaluator evaluator;
  tm_point point;
  double *natural; /* gradient over theta */
  double floor;
} flat;

static void release(void *user) {
  flat *f = user;
  tm_evaluator_release(&f->evaluator);
  tm_arena_free(f->arena);
}

static flat *flat_create(const tempera_model *model, double floor) {
  tm_arena *arena = tm_arena_create();
  flat *f = arena ? TM_NEW(arena, flat, 1) : NULL;
  if (!f) {
    tm_arena_free(arena);
    return NULL;
  }
  *f = (flat){.model = model, .arena = arena, .floor = floor};
  f->natural = TM_NEW(arena, double, model->size);
  if (f->natural &&
      tm_evaluator_create(model, arena, &f->evaluator, NULL) == TEMPERA_OK &&
      tm_point_create(model, arena, &f->point, NULL) == TEMPERA_OK)
    return f;
  release(f);
  return NULL;
}

static int copy(const void *user, void **made) {
  const flat *f = user;
  *made = flat_create(f->model, f->floor);
  return *made ? 0 : -1;
}

/* Far out a prior may overflow to NaN: there it has no mass that counts. */
static bool forgive(flat *f) {
  bool failed = f->evaluator.status != TEMPERA_OK;
  f->evaluator.status = TEMPERA_OK;
  return failed;
}

static void take(flat *f, const double *u) {
  for (size_t j = 0; j < f->model->dimension; j++)
    f->point.u[j] = u[j];
}

static int log_ratio(const double *u, double *value, void *user) {
  flat *f = user;
  take(f, u);
  tm_evaluate_prior(&f->evaluator, &f->point);
  double log_f = f->point.log_prior + f->point.log_jacobian;
  *value = fmax(log_f - tm_flat_log_density(f->model, u), f->floor);
  return forgive(f) || !isfinite(*value);
}

static void find_floor(flat *f) {
  tempera_random random = tm_random(1, 0, TM_PURPOSE_START);
  double best = -INFINITY, value;
  for (size_t i = 0; i < LOOKS; i++) {
    tm_flat_draw(f->model, &random, f->point.u);
    if (log_ratio(f->point.u, &value, f) == 0)
      best = fmax(best, value);
  }
  f->floor = best - DEPTH - DEPTH_EACH * (double)f->model->dimension;
}

static int log_flat(const double *u, double *value, void *user) {
  *value = tm_flat_log_density(((flat *)user)->model, u);
  return 0;
}

static int log_flat_gradient(const double *u, double *value, double *gradient,
                             void *user) {
  const tempera_model *model = ((flat *)user)->model;
  for (size_t j = 0; j < model->dimension; j++)
    gradient[j] = model->integer[j] ? 0 : real_slope(u[j]);
  return log_flat(u, value, user);
}

static int log_ratio_gradient(const double *u, double *value, double *gradient,
                              void *user) {
  flat *f = user;
  const tempera_model *model = f->model;
  double log_prior = NAN;
  take(f, u);
  tm_constrain_point(model, &f->point);
  if (!tm_reached(model, f->point.theta) ||
      model->spec.log_prior_gradient(f->point.theta, &log_prior, f->natural,
                                     f->evaluator.user) != 0)
    return 1;
  tm_pull_back(model, f->point.u, f->point.theta, f->natural, true, gradient);
  *value = log_prior + f->point.log_jacobian - tm_flat_log_density(model, u);
  bool good = isfinite(*value), flat_here = *value < f->floor;
  for (size_t j = 0; j < model->dimension; j++) {
    bool still = flat_here || model->integer[j];
    gradient[j] = still ? 0 : gradient[j] - real_slope(u[j]);
    good = good && isfinite(gradient[j]);
  }
  *value = fmax(*value, f->floor);
  return !good;
}

static int draw(tempera_random *random, double *u, void *user) {
  tm_flat_draw(((flat *)user)->model, random, u);
  return 0;
}

/* One parameter for each coordinate; names in the arena. */
static tempera_parameter *coordinates(const tempera_model *model,
                                      tm_arena *arena) {
  size_t d = model->dimension;
  tempera_parameter *list = TM_NEW(arena, tempera_parameter, d);
  char *names = TM_NEW(arena, char, d *NAME_SIZE);
  if (!list || !names)
    return NULL;
  for (size_t j = 0; j < d; j++) {
    range r = range_of(model, j);
    char *name = names + j * NAME_SIZE;
    snprintf(name, NAME_SIZE, "u%zu", j + 1);
    list[j] = (tempera_parameter){
        .name = name, .size = 1, .lower = -INFINITY, .upper = INFINITY};
    if (!model->integer[j])
      continue;
    list[j].kind = TEMPERA_INTEGER;
    list[j].lower = r.lower;
    list[j].upper = r.upper;
  }
  return list;
}

tempera_status tm_flat_model_create(const tempera_model *model,
                                    tempera_model **made,
                                    tempera_error *error) {
  flat *f = flat_create(model, -INFINITY);
  tempera_parameter *list = f ? coordinates(model, f->arena) : NULL;
  if (!list) {
    if (f)
      release(f);
    return tm_fail_memory(error);
  }
  find_floor(f);
  bool slopes = model->spec.log_prior_gradient != NULL;
  tempera_model_spec spec = {
      .name = "prior",
      .parameters = list,
      .parameter_count = model->dimension,
      .log_likelihood = log_ratio,
      .log_prior = log_flat,
      .log_likelihood_gradient = slopes ? log_ratio_gradient : NULL,
      .log_prior_gradient = slopes ? log_flat_gradient : NULL,
      .prior_draw = draw,
      .prior_normalised = true,
      .user = f,
      .clone = copy,
      .release = release};
  tempera_status status = tempera_model_create(&spec, made, error);
  if (status == TEMPERA_OK) {
    (*made)->composed = true;
    (*made)->in_batches = model->in_batches;
  } else
    release(f);
  return status;
}
