/* support.c - see support.h. */
#include "run/support.h"

#include "base/locale.h"
#include "kernels/kernel.h"
#include "run/fitted_law.h"
#include "run/splitting.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
  ENOUGH_HITS = 1000,   /* to be the law's points as they are */
  FEWEST_HITS = 59,     /* a part with 5 % of the support is among so many with
                           a chance of 95 % */
  SOME_DRAWS = 1 << 18, /* before splitting, where the model knows distances */
  MANY_DRAWS = 1 << 21, /* while there are fewer hits than ENOUGH_HITS, ... */
  MOST_DRAWS = 1 << 23, /* ... and than FEWEST_HITS */
  POINTS = 4000,        /* otherwise made by walks, ... */
  MOST_WALKS = 50,
  STRIDE = 10 /* ... every so many sweeps of them */
};

/* Above this share of the prior, renewal at tau = 0 works by itself. */
static const double USUAL_SHARE = 0.02;
/* Each draw of the law costs one over this many likelihood calls at most, else
 * the kernel moves at tau = 0+. */
static const double LEAST_KEPT = 0.02;
static const double ROUGH = 0.35; /* of log P: eight repeats agree no better */
static const double MOST_APART = 5, LET_PASS = 0.02; /* as in prior_run.c */

bool tm_support_needed(const tempera_model *model,
                       const tempera_options *options,
                       const tm_starts *starts) {
  double n = (double)starts->prior_draws, zero = (double)starts->prior_zero;
  return model->spec.prior_draw && options->tau_min == 0 && !options->paper &&
         !options->init && n > 0 && n - zero < USUAL_SHARE * n;
}

void tm_support_free(tm_support *support) {
  tm_arena_free(support->arena);
  *support = (tm_support){0};
}

typedef struct search {
  tm_support *support;
  tm_evaluator evaluator;
  tm_point point;
  double *hits; /* ENOUGH_HITS x dimension: u */
  uint64_t seed;
} search;

static bool splits(const tm_support *p) {
  return p->model.shortfall && p->hits < FEWEST_HITS && p->draws >= SOME_DRAWS;
}

static bool go_on(const tm_support *p) {
  if (p->hits >= ENOUGH_HITS || p->draws >= MOST_DRAWS || splits(p))
    return false;
  return p->draws < MANY_DRAWS || (p->hits > 0 && p->hits < FEWEST_HITS);
}

static tempera_status refuse(const tm_support *p, const char *reason,
                             tempera_error *error) {
  return tm_fail(
      error, TEMPERA_ERROR_MODEL,
      "model %s: the likelihood was zero at all %zu prior draws "
      "tried as starts%s%s; check the model and the data, or give starts with "
      "--init",
      p->model.spec.name, p->draws, reason[0] ? ", first because of " : "",
      reason);
}

static tempera_status draw_many(search *s, tempera_error *error) {
  tm_support *p = s->support;
  size_t d = p->model.dimension;
  char reason[200] = "";
  tempera_random random = tm_random(s->seed, 2, TM_PURPOSE_PRIOR);
  for (; go_on(p); p->draws++) {
    tm_prior_draw(&s->evaluator, &random, &s->point);
    if (s->evaluator.status != TEMPERA_OK)
      return tm_evaluator_check(&s->evaluator, error);
    if (isfinite(s->point.log_likelihood) && isfinite(s->point.log_jacobian))
      memcpy(s->hits + p->hits++ * d, s->point.u, d * sizeof(double));
    else if (!reason[0])
      snprintf(reason, sizeof reason, "%s", tm_reason(&s->evaluator));
  }
  if (p->hits || splits(p))
    return TEMPERA_OK;
  return refuse(p, reason, error);
}

/* From one hit: at the smallest tau there is, L only has to be positive. */
static tempera_status walk(search *s, size_t hit, size_t points,
                           tm_arena *arena, tempera_error *error) {
  tm_support *p = s->support;
  size_t d = p->model.dimension;
  tm_kernel_settings settings = {.kind = TEMPERA_KERNEL_SLICE};
  tm_kernel *kernel;
  TM_TRY(tm_kernel_create(&p->model, &settings, arena, &kernel, error));
  tempera_random random =
      tm_random_part(s->seed, 3, TM_PURPOSE_PRIOR, (uint32_t)hit);
  memcpy(s->point.u, s->hits + hit * d, d * sizeof(double));
  tm_evaluate(&s->evaluator, &s->point);
  for (size_t i = 0; i < points * STRIDE; i++) {
    tm_kernel_sweep(kernel, &s->evaluator, &s->point, DBL_MIN, &random);
    if (s->evaluator.status != TEMPERA_OK)
      return tm_evaluator_check(&s->evaluator, error);
    if ((i + 1) % STRIDE == 0)
      memcpy(p->points + p->point_count++ * d, s->point.u, d * sizeof(double));
  }
  return TEMPERA_OK;
}

static tempera_status walk_from_hits(search *s, tempera_error *error) {
  tm_support *p = s->support;
  size_t walks = p->hits < MOST_WALKS ? p->hits : MOST_WALKS;
  p->points = TM_NEW(p->arena, double, POINTS * p->model.dimension);
  if (!p->points)
    return tm_fail_memory(error);
  for (size_t w = 0; w < walks; w++) {
    tm_arena *arena = tm_arena_create();
    tempera_status status = arena ? walk(s, w, POINTS / walks, arena, error)
                                  : tm_fail_memory(error);
    tm_arena_free(arena);
    TM_TRY(status);
  }
  return TEMPERA_OK;
}

/* By counting: unbiased whatever the support looks like. A count's log has
 * about this variance even when it is small. */
static void measure_by_count(tm_support *p) {
  double n = (double)p->draws, k = (double)p->hits;
  p->log_p = log(k / n);
  p->se = sqrt((1 - k / n) / k + 0.5 / (k * k));
}

static void note_uncertain(tm_support *p, double other) {
  if (isnan(other))
    tm_snprintf(
        p->uncertain, sizeof p->uncertain,
        "only %zu of %zu prior draws had a positive likelihood, and parts "
        "where it is positive may have been missed",
        p->hits, p->draws);
  else
    tm_snprintf(
        p->uncertain, sizeof p->uncertain,
        "its log mass is %.3f by prior draws and %.3f by a density fitted "
        "to them, further apart than their errors allow",
        p->log_p, other);
}

/* The law's own measure of the mass needs the prior's integral; it is taken
 * where it agrees with the count and is sharper. */
static void compare(tm_support *p, const tm_fitted_law *fitted) {
  const tempera_model *model = &p->model;
  if (p->hits < FEWEST_HITS && !p->split)
    note_uncertain(p, NAN);
  if (!model->spec.prior_normalised && !model->prior_known)
    return;
  bool sure = model->spec.prior_normalised;
  double all = sure ? model->spec.prior_log_integral : model->prior_log_z;
  double log_p = fitted->log_z - all - model->log_kept;
  double se = hypot(fitted->se, sure ? 0 : model->prior_se);
  if (fabs(log_p - p->log_p) > LET_PASS + MOST_APART * hypot(se, p->se)) {
    note_uncertain(p, log_p);
  } else if (se < p->se) {
    p->log_p = log_p;
    p->se = se;
  }
}

/* Of a Poisson count: the chance of k or fewer. */
static double at_most(size_t k, double mean) {
  double term = exp(-mean), sum = term;
  for (size_t i = 1; i <= k; i++)
    sum += term *= mean / (double)i;
  return sum;
}

/* So many hits among the prior draws as the mass says, but for chance: once in
 * a hundred thousand runs not. */
static bool count_agrees(const tm_support *p) {
  double due = exp(p->log_p) * (double)p->draws;
  double above = p->hits ? 1 - at_most(p->hits - 1, due) : 1;
  return fmin(at_most(p->hits, due), above) > 5e-6;
}

/* The repeats agree on the mass to a tenth, and the prior draws do not
 * contradict it. */
static tempera_status split(search *s, tempera_error *error) {
  tm_support *p = s->support;
  tm_splitting made;
  TM_TRY(tm_split(&p->model, s->seed, p->arena, &made, error));
  p->split_evaluations = made.evaluations;
  if (!made.found)
    return p->hits ? TEMPERA_OK
                   : refuse(p, "guards that no way was found to", error);
  p->log_p = made.log_p;
  p->se = made.se;
  p->points = made.points;
  p->point_count = made.point_count;
  p->split = made.se < ROUGH && count_agrees(p);
  return TEMPERA_OK;
}

/* Points where L > 0, and their mass. */
static tempera_status find_points(search *s, tempera_error *error) {
  tm_support *p = s->support;
  p->points = s->hits;
  TM_TRY(draw_many(s, error));
  if (p->hits)
    measure_by_count(p);
  if (splits(p))
    TM_TRY(split(s, error));
  if (p->point_count) /* by splitting */
    return TEMPERA_OK;
  if (p->hits < ENOUGH_HITS)
    return walk_from_hits(s, error);
  p->point_count = p->hits;
  return TEMPERA_OK;
}

static tempera_status explore(search *s, tempera_error *error) {
  tm_support *p = s->support;
  TM_TRY(find_points(s, error));
  tm_fitted_law fitted;
  TM_TRY(tm_fitted_law_make(&p->model, p->points, p->point_count, true, s->seed,
                            p->arena, &fitted, error));
  compare(p, &fitted);
  p->model.from_support = true;
  if (fitted.kept < LEAST_KEPT)
    return TEMPERA_OK;
  p->law = fitted.law;
  p->model.law = &p->law;
  return TEMPERA_OK;
}

static tempera_status begin(search *s, tempera_error *error) {
  tm_support *p = s->support;
  s->hits = TM_NEW(p->arena, double, ENOUGH_HITS * p->model.dimension);
  if (!s->hits)
    return tm_fail_memory(error);
  TM_TRY(tm_point_create(&p->model, p->arena, &s->point, error));
  TM_TRY(tm_evaluator_create(&p->model, p->arena, &s->evaluator, error));
  tempera_status status = explore(s, error);
  p->likelihood_evaluations =
      s->evaluator.likelihood_evaluations + p->split_evaluations;
  tm_evaluator_release(&s->evaluator);
  return status;
}

tempera_status tm_support_find(const tempera_model *model, uint64_t seed,
                               tm_support *support, tempera_error *error) {
  *support = (tm_support){.arena = tm_arena_create(), .model = *model};
  if (!support->arena)
    return tm_fail_memory(error);
  search s = {.support = support, .seed = seed};
  tempera_status status = begin(&s, error);
  if (status != TEMPERA_OK)
    tm_support_free(support);
  return status;
}
