/* splitting.c - see splitting.h. */
#include "run/splitting.h"

#include "kernels/kernel.h"
#include "numeric/sort.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum {
  N = TM_SPLIT_PARTICLES,
  MOST_LEVELS = 200,
  SLICES = 2,     /* sweeps of slices for each particle and level, */
  DIFFERENCES = 8 /* and moves by differences */
};
static const double KEPT = 0.3;
/* Student's t with seven degrees of freedom, against the normal's 1.96. */
static const double STUDENT = 2.365 / 1.960;

/* All that is not positive: the set itself. */
static const double LAST = DBL_MIN;

/* The prior where S < threshold, as a model: what its callbacks get. */
typedef struct level {
  const tempera_model *model;
  void *user; /* the model's own */
  double threshold;
  uint64_t evaluations;
} level;

static int level_prior(const double *theta, double *value, void *user) {
  const level *l = user;
  return l->model->spec.log_prior(theta, value, l->user);
}

static int level_likelihood(const double *theta, double *value, void *user) {
  level *l = user;
  l->evaluations++;
  *value = 0;
  return !(l->model->shortfall(theta, l->user) < l->threshold);
}

typedef struct splitter {
  const tempera_model *model;
  tempera_model restricted; /* to the level set */
  level level;
  tm_evaluator evaluator, inside;
  tm_kernel *kernel;
  tm_point trial;
  tm_point particle[N];
  double shortfall[N], sorted[N];
  tempera_random random;
} splitter;

static tempera_status prepare(splitter *s, tm_arena *arena,
                              tempera_error *error) {
  s->restricted = *s->model;
  tempera_model_spec *spec = &s->restricted.spec;
  spec->log_prior = level_prior;
  spec->log_likelihood = level_likelihood;
  spec->log_prior_gradient = spec->log_likelihood_gradient = NULL;
  spec->prior_draw = NULL;
  spec->integer_terms = NULL; /* of the likelihood that this one replaces */
  spec->user = &s->level;
  spec->clone = NULL;
  spec->release = NULL;
  spec->reason = NULL;
  TM_TRY(tm_evaluator_create(s->model, arena, &s->evaluator, error));
  s->level = (level){.model = s->model, .user = s->evaluator.user};
  TM_TRY(tm_evaluator_create(&s->restricted, arena, &s->inside, error));
  tm_kernel_settings settings = {.kind = TEMPERA_KERNEL_SLICE};
  TM_TRY(tm_kernel_create(&s->restricted, &settings, arena, &s->kernel, error));
  TM_TRY(tm_point_create(s->model, arena, &s->trial, error));
  for (size_t i = 0; i < N; i++)
    TM_TRY(tm_point_create(s->model, arena, &s->particle[i], error));
  return TEMPERA_OK;
}

/* ---- levels ------------------------------------------------------------- */

static void measure(splitter *s, size_t i) {
  s->shortfall[i] =
      s->model->shortfall(s->particle[i].theta, s->evaluator.user);
  s->level.evaluations++;
}

static tempera_status begin(splitter *s, tempera_error *error) {
  for (size_t i = 0; i < N; i++) {
    tm_prior_draw(&s->evaluator, &s->random, &s->particle[i]);
    TM_TRY(tm_evaluator_check(&s->evaluator, error));
    measure(s, i);
  }
  return TEMPERA_OK;
}

/* The next level; -1 where there is none below the last. Who is at the level
 * itself does not survive: so estimates are unbiased though levels follow the
 * particles (Brehier et al. 2016), where 76 of 250 for 75 would add 1.3 % each
 * time. */
static double next_threshold(splitter *s) {
  size_t kept = (size_t)(KEPT * N);
  memcpy(s->sorted, s->shortfall, sizeof s->sorted);
  tm_sort(s->sorted, N);
  if (s->sorted[kept] < LAST)
    return LAST;
  if (s->sorted[kept] > s->sorted[0])
    return s->sorted[kept];
  for (size_t i = kept; i < N; i++) /* the best are all alike */
    if (s->sorted[i] > s->sorted[0])
      return s->sorted[i];
  return -1;
}

/* Copies of survivors in place of the others; how many survived. */
static size_t resample(splitter *s) {
  size_t alive[N], count = 0;
  for (size_t i = 0; i < N; i++)
    if (s->shortfall[i] < s->level.threshold)
      alive[count++] = i;
  for (size_t i = 0; i < N && count; i++)
    if (!(s->shortfall[i] < s->level.threshold))
      tm_point_copy(
          s->model,
          &s->particle[alive[tempera_random_below(&s->random, count)]],
          &s->particle[i]);
  return count;
}

/* u + g (a - b) of two other particles, in the reals (ter Braak 2006). */
static void move_by_difference(splitter *s, size_t i) {
  size_t d = s->model->dimension;
  const tm_point *a = &s->particle[tempera_random_below(&s->random, N)];
  const tm_point *b = &s->particle[tempera_random_below(&s->random, N)];
  tm_point *point = &s->particle[i];
  double g =
      2.38 / sqrt(2 * (double)d) * exp(0.5 * tempera_random_normal(&s->random));
  memcpy(s->trial.u, point->u, d * sizeof(double));
  for (size_t j = 0; j < d; j++)
    if (!s->model->integer[j])
      s->trial.u[j] += g * (a->u[j] - b->u[j]);
  tm_evaluate(&s->inside, &s->trial);
  s->inside.status = TEMPERA_OK; /* overflow, far out */
  double ratio = s->trial.log_prior + s->trial.log_jacobian - point->log_prior -
                 point->log_jacobian;
  if (isfinite(s->trial.log_likelihood) && isfinite(ratio) &&
      log(tempera_random_uniform(&s->random)) < ratio)
    tm_point_copy(s->model, &s->trial, point);
}

static tempera_status move_all(splitter *s, tempera_error *error) {
  for (size_t i = 0; i < N; i++)
    tm_evaluate(&s->inside, &s->particle[i]);
  for (size_t i = 0; i < N; i++) {
    for (int k = 0; k < DIFFERENCES; k++)
      move_by_difference(s, i);
    for (int k = 0; k < SLICES; k++)
      tm_kernel_sweep(s->kernel, &s->inside, &s->particle[i], DBL_MIN,
                      &s->random);
    TM_TRY(tm_evaluator_check(&s->inside, error));
    measure(s, i);
  }
  return TEMPERA_OK;
}

/* Guards that hold leave a likelihood that may be zero for other reasons. */
static void collect(splitter *s, tm_splitting *made, double *log_p) {
  size_t d = s->model->dimension, count = 0;
  for (size_t i = 0; i < N; i++) {
    tm_evaluate(&s->evaluator, &s->particle[i]);
    s->evaluator.status = TEMPERA_OK;
    if (!isfinite(s->particle[i].log_likelihood))
      continue;
    memcpy(made->points + made->point_count++ * d, s->particle[i].u,
           d * sizeof(double));
    count++;
  }
  *log_p = count ? *log_p + log((double)count / N) : -INFINITY;
}

/* One repeat; log_p is -infinity where the set was not reached. */
static tempera_status descend(splitter *s, tm_splitting *made, double *log_p,
                              tempera_error *error) {
  *log_p = 0;
  s->level.threshold = INFINITY;
  TM_TRY(begin(s, error));
  for (int k = 0; k < MOST_LEVELS && s->level.threshold > LAST; k++) {
    double next = next_threshold(s);
    s->level.threshold = next;
    size_t alive = next > 0 ? resample(s) : 0;
    if (!alive)
      break;
    *log_p += log((double)alive / N);
    TM_TRY(move_all(s, error));
  }
  if (s->level.threshold == LAST)
    collect(s, made, log_p);
  else
    *log_p = -INFINITY;
  return TEMPERA_OK;
}

/* ---- repeats ------------------------------------------------------------ */

static void average(const double *log_p, tm_splitting *made) {
  double top = -INFINITY, sum = 0, squares = 0, n = TM_SPLIT_REPEATS;
  made->found = true;
  for (size_t r = 0; r < TM_SPLIT_REPEATS; r++) {
    made->found = made->found && isfinite(log_p[r]);
    top = fmax(top, log_p[r]);
  }
  if (!made->found)
    return;
  for (size_t r = 0; r < TM_SPLIT_REPEATS; r++) {
    double p = exp(log_p[r] - top);
    sum += p;
    squares += p * p;
  }
  double mean = sum / n, variance = (squares - n * mean * mean) / (n - 1);
  made->log_p = top + log(mean);
  made->se = STUDENT * sqrt(fmax(variance, 0) / n) / mean;
}

static tempera_status repeat(splitter *s, uint64_t seed, tm_splitting *made,
                             tempera_error *error) {
  double log_p[TM_SPLIT_REPEATS];
  for (size_t r = 0; r < TM_SPLIT_REPEATS; r++) {
    s->random = tm_random_part(seed, 4, TM_PURPOSE_PRIOR, (uint32_t)r);
    TM_TRY(descend(s, made, &log_p[r], error));
  }
  average(log_p, made);
  return TEMPERA_OK;
}

tempera_status tm_split(const tempera_model *model, uint64_t seed,
                        tm_arena *arena, tm_splitting *splitting,
                        tempera_error *error) {
  size_t most = TM_SPLIT_REPEATS * (size_t)N;
  splitter *s = TM_NEW(arena, splitter, 1);
  *splitting =
      (tm_splitting){.points = TM_NEW(arena, double, most * model->dimension)};
  if (!s || !splitting->points)
    return tm_fail_memory(error);
  s->model = model;
  tempera_status status = prepare(s, arena, error);
  if (status == TEMPERA_OK)
    status = repeat(s, seed, splitting, error);
  splitting->evaluations =
      s->evaluator.likelihood_evaluations + s->level.evaluations;
  tm_evaluator_release(&s->inside);
  tm_evaluator_release(&s->evaluator);
  return status;
}
