/* starts.c - see starts.h. */
#include "run/starts.h"

#include "model/propriety.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
  TRIES = 10000,    /* before a start is declared impossible */
  BEST_STARTS = 8,  /* of the optimiser, by likelihood, ... */
  BEST_LOOKS = 100, /* ... among the first so many: best of more are alike */
  PLAIN_STARTS = 8  /* ... and as they come */
};

typedef struct finder {
  const tempera_model *model;
  tm_arena *arena;
  tm_evaluator evaluator;
  tempera_random random;
  tm_point point, scratch;
  tm_starts *starts;
  tm_pool pool;
  size_t looks;             /* points to look at, at least */
  double best[BEST_STARTS]; /* log likelihoods of the best starts */
  double *plain;            /* the first usable points */
  size_t plain_count;
  char reason[200]; /* why the first useless point was one; or empty */
} finder;

/* Without a prior_draw: unconstrained coordinates uniform on (-2, 2), as in
 * Stan, and integers spread over their support (near zero if unbounded). */
static void draw_blindly(finder *f) {
  const tempera_model *model = f->model;
  for (size_t j = 0; j < model->dimension; j++) {
    const tm_block *block = &model->blocks[model->block_of_u[j]];
    double uniform = tempera_random_uniform(&f->random);
    f->point.u[j] = 4 * uniform - 2;
    if (!model->integer[j])
      continue;
    double low = fmax(block->lower, -10);
    double high = isfinite(block->upper) ? block->upper : fmax(low, 0) + 10;
    if (!isfinite(block->lower))
      low = fmin(low, high - 20);
    f->point.u[j] = floor(low + (high - low + 1) * uniform);
  }
  tm_evaluate(&f->evaluator, &f->point);
}

static void draw_from_pool(finder *f) {
  size_t d = f->model->dimension;
  double uniform = tempera_random_uniform(&f->random);
  size_t row = (size_t)(uniform * (double)f->pool.count);
  memcpy(f->point.u, f->pool.u + row * d, d * sizeof(double));
  tm_evaluate(&f->evaluator, &f->point);
}

static void draw(finder *f) {
  const tempera_model *model = f->model;
  if (model->spec.prior_draw && (!model->from_support || model->law))
    tm_prior_draw(&f->evaluator, &f->random, &f->point);
  else if (f->pool.count)
    draw_from_pool(f);
  else
    draw_blindly(f);
}

static bool usable(const tm_point *point) {
  return isfinite(point->log_likelihood) && isfinite(point->log_prior) &&
         isfinite(point->log_jacobian);
}

/* Keep the best few by likelihood, in no particular order. */
static void offer_to_optimiser(finder *f) {
  size_t size = f->model->size, slot = 0;
  tm_starts *s = f->starts;
  if (s->best_count < BEST_STARTS) {
    slot = s->best_count++;
  } else {
    for (size_t i = 1; i < BEST_STARTS; i++)
      if (f->best[i] < f->best[slot])
        slot = i;
    if (f->best[slot] >= f->point.log_likelihood)
      return;
  }
  f->best[slot] = f->point.log_likelihood;
  memcpy(s->optimiser + slot * size, f->point.theta, size * sizeof(double));
}

static void note_reason(finder *f) {
  if (!f->reason[0])
    snprintf(f->reason, sizeof f->reason, "%s", tm_reason(&f->evaluator));
}

/* The caller may look further: by the million, or for the prior first. */
static void nowhere(const finder *f) {
  bool draws = f->model->spec.prior_draw != NULL;
  tm_starts *s = f->starts;
  s->nowhere = true;
  snprintf(s->refusal, sizeof s->refusal,
           "model %.60s: the likelihood or the prior was zero at all %d %s "
           "tried as starts%s%s; check the model and the data, or give starts "
           "with --init",
           f->model->spec.name, TRIES, draws ? "prior draws" : "random points",
           f->reason[0] ? ", first because of " : "", f->reason);
}

/* The first `wanted` usable points become chain starts; all of the first
 * `looks` are looked at for the optimiser and for P(L > 0). */
static tempera_status look_around(finder *f, size_t wanted,
                                  tempera_error *error) {
  tm_starts *s = f->starts;
  size_t size = f->model->size, found = 0;
  for (size_t i = 0; i < TRIES; i++) {
    if (i >= f->looks && found >= wanted)
      break;
    draw(f);
    TM_TRY(tm_evaluator_check(&f->evaluator, error));
    if (i < f->looks && f->model->spec.prior_draw) {
      s->prior_draws++;
      s->prior_zero += isfinite(f->point.log_likelihood) ? 0 : 1;
    }
    if (i < f->looks)
      s->looks[s->look_count++] = f->point.log_likelihood;
    if (!usable(&f->point)) {
      note_reason(f);
      continue;
    }
    if (i < BEST_LOOKS || s->best_count < BEST_STARTS)
      offer_to_optimiser(f);
    if (f->plain_count < PLAIN_STARTS)
      memcpy(f->plain + f->plain_count++ * size, f->point.theta,
             size * sizeof(double));
    if (found < wanted)
      memcpy(s->chains + found++ * size, f->point.theta, size * sizeof(double));
  }
  if (found < wanted)
    nowhere(f);
  return TEMPERA_OK;
}

static tempera_status take_init(finder *f, const double *init,
                                tempera_error *error) {
  tm_starts *s = f->starts;
  size_t size = f->model->size;
  memcpy(s->chains, init, s->chain_count * size * sizeof(double));
  for (size_t c = 0; c < s->chain_count; c++) {
    memcpy(f->point.theta, init + c * size, size * sizeof(double));
    tm_evaluate_natural(&f->evaluator, &f->point);
    TM_TRY(tm_evaluator_check(&f->evaluator, error));
    if (!usable(&f->point)) {
      const char *reason = tm_reason(&f->evaluator);
      return tm_fail(error, TEMPERA_ERROR_INPUT,
                     "the start given for chain %zu has zero density or lies "
                     "outside the bounds%s%s",
                     c + 1, reason[0] ? ": " : "", reason);
    }
    offer_to_optimiser(f);
  }
  return TEMPERA_OK;
}

/* The best may all lie in one basin, and a wide one that is poor at the prior's
 * points then goes unseen (SIR): behind them, points as they came. */
static void add_plain(finder *f) {
  tm_starts *s = f->starts;
  size_t size = f->model->size;
  memcpy(s->optimiser + s->best_count * size, f->plain,
         f->plain_count * size * sizeof(double));
  s->optimiser_count = s->best_count + f->plain_count;
}

/* "a", "a, b[1], b[2], b[3] and 4 more". */
static void name_culprits(tm_starts *s, const tempera_model *model,
                          const size_t first[TM_IMPROPER_FIRST]) {
  size_t used = 0, room = sizeof s->culprit;
  for (size_t i = 0; i < s->improper_count && i < TM_IMPROPER_FIRST; i++) {
    const char *name = tm_coordinate_name(model, first[i]);
    int n = snprintf(s->culprit + used, room - used, "%s%.40s", i ? ", " : "",
                     name);
    used += n > 0 ? (size_t)n : 0;
  }
  if (s->improper_count > TM_IMPROPER_FIRST)
    snprintf(s->culprit + used, room - used, " and %zu more",
             s->improper_count - TM_IMPROPER_FIRST);
  if (s->improper_count == 0)
    snprintf(s->culprit, room, "%s",
             model->improper ? model->improper
                             : "a parameter (tempera check names it)");
}

static void check_propriety(finder *f) {
  bool said = f->model->spec.prior_improper; /* by the model itself */
  if (f->starts->nowhere)
    return;
  if (!said && (f->model->spec.prior_draw || f->model->spec.prior_normalised))
    return;
  memcpy(f->point.theta, f->starts->chains, f->model->size * sizeof(double));
  tm_evaluate_natural(&f->evaluator, &f->point);
  size_t j = tm_improper_coordinate(&f->evaluator, &f->point, &f->scratch);
  size_t first[TM_IMPROPER_FIRST];
  f->starts->improper = said || j < f->model->dimension;
  if (!f->starts->improper)
    return;
  f->starts->improper_count =
      tm_improper_count(&f->evaluator, &f->point, &f->scratch, first);
  name_culprits(f->starts, f->model, first);
}

static tempera_status find(finder *f, const double *init,
                           tempera_error *error) {
  tm_starts *s = f->starts;
  size_t size = f->model->size;
  s->chains = tm_heap_alloc(s->chain_count * size, sizeof(double));
  s->optimiser =
      tm_heap_alloc((BEST_STARTS + PLAIN_STARTS) * size, sizeof(double));
  s->looks = tm_heap_alloc(f->looks, sizeof(double));
  f->plain = TM_NEW(f->arena, double, PLAIN_STARTS *size);
  if (!s->chains || !s->optimiser || !s->looks || !f->plain)
    return tm_fail_memory(error);
  TM_TRY(tm_evaluator_create(f->model, f->arena, &f->evaluator, error));
  TM_TRY(tm_point_create(f->model, f->arena, &f->point, error));
  TM_TRY(tm_point_create(f->model, f->arena, &f->scratch, error));
  TM_TRY(look_around(f, init ? 0 : s->chain_count, error));
  if (init)
    TM_TRY(take_init(f, init, error));
  add_plain(f);
  check_propriety(f);
  return tm_evaluator_check(&f->evaluator, error);
}

tempera_status tm_starts_find(const tempera_model *model, uint64_t seed,
                              size_t chain_count, size_t looks,
                              const double *init, tm_pool pool,
                              tm_starts *starts, tempera_error *error) {
  tm_arena *arena = tm_arena_create();
  if (!arena)
    return tm_fail_memory(error);
  *starts = (tm_starts){.chain_count = chain_count};
  finder f = {.model = model,
              .arena = arena,
              .random = tm_random(seed, 0, TM_PURPOSE_START),
              .starts = starts,
              .pool = pool,
              .looks = looks};
  tempera_status status = find(&f, init, error);
  starts->likelihood_evaluations = f.evaluator.likelihood_evaluations;
  starts->seconds_in_model = f.evaluator.seconds;
  tm_evaluator_release(&f.evaluator);
  tm_arena_free(arena);
  if (status != TEMPERA_OK)
    tm_starts_free(starts);
  return status;
}

void tm_starts_free(tm_starts *starts) {
  tm_heap_free(starts->chains);
  tm_heap_free(starts->optimiser);
  tm_heap_free(starts->looks);
  *starts = (tm_starts){0};
}
