/* rounded.c - see rounded.h. */
#include "run/rounded.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
  LOOKS = 1000, /* draws without a rounded one: there are none */
  MOST_DRAWS = 400000,
  MOST_NUMBERS = 40000000, /* in all of them */
  ROWS = 400,              /* of the posterior */
  BORDER_DRAWS = 1000,     /* of the prior, for ... */
  MOST_BORDERS = 1000      /* ... at most so many values */
};
/* Of what is left of the prior, the part that is nearest to the bound: as much
 * as is rounded, between these. */
static const double NEAREST = 0.01, NEAR = 0.8;

void tm_rounded_free(tm_rounded *rounded) {
  tm_arena_free(rounded->arena);
  *rounded = (tm_rounded){0};
}

static bool has_bounds(const tempera_model *model) {
  for (size_t b = 0; b < model->block_count; b++)
    if (model->blocks[b].kind != TEMPERA_INTEGER &&
        model->blocks[b].form != TM_FORM_FREE)
      return true;
  return false;
}

/* The number next to a bound that a draw is at, from inside. */
static double next_to(double value) {
  if (value == 0)
    return DBL_MIN;
  if (!isfinite(value))
    return value > 0 ? DBL_MAX : -DBL_MAX;
  return nextafter(value, value > 0 ? 0 : INFINITY);
}

typedef struct counts {
  size_t draws, rounded;
} counts;

static counts draw(tm_rounded *r, tm_evaluator *evaluator, tm_point *point,
                   tempera_random *random, size_t most) {
  counts c = {0};
  for (size_t i = 0; i < most && evaluator->status == TEMPERA_OK; i++) {
    if (!tm_prior_draw_as_is(evaluator, random, point))
      continue; /* by the model itself, which is another matter */
    size_t k = tm_first_at_bound(&r->model, point->theta);
    c.draws++;
    if (k == r->model.size)
      continue;
    c.rounded++;
    r->lost[k]++;
    r->next[k] = next_to(point->theta[k]);
  }
  return c;
}

/* Between a bound that is not zero and the next number, chains and draws end
 * at places about a factor of two apart: of a law like x^a, that lost a share s
 * of its mass over 37 e-folds, a times that much of s. */
static double unclear(double share, double next) {
  bool exact = next == DBL_MIN || fabs(next) == DBL_MAX || share == 0;
  return exact ? 0 : 0.02 * share * (1 + log(1 / share));
}

/* log P, its error, and shares, from counts. */
static void conclude(tm_rounded *r, counts c) {
  double n = (double)c.draws, kept = fmax(n - (double)c.rounded, 1);
  double variance = (double)c.rounded / (n * kept);
  r->model.log_kept = log(kept / n);
  for (size_t k = 0; k < r->model.size; k++) {
    double extra = unclear(r->lost[k] / n, r->next[k]);
    variance += extra * extra;
    r->lost[k] /= kept;
  }
  r->se = sqrt(variance);
}

static int order(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double near_share(const tm_rounded *r, size_t k) {
  return fmax(NEAREST, fmin(r->lost[k], NEAR));
}

static bool is_above(const tm_rounded *r, size_t k) {
  return r->next[k] > r->border[k];
}

/* Where that part begins for each value that is rounded, from prior draws. */
static tempera_status find_borders(tm_rounded *r, tm_evaluator *evaluator,
                                   tm_point *point, tempera_random *random,
                                   tempera_error *error) {
  size_t size = r->model.size, count = 0, n = 0;
  for (size_t k = 0; k < size; k++)
    count += r->lost[k] > 0;
  if (count > MOST_BORDERS)
    return TEMPERA_OK;
  double *values = tm_heap_alloc(count * BORDER_DRAWS, sizeof *values);
  if (!values)
    return tm_fail_memory(error);
  for (size_t i = 0; i < LOOKS * BORDER_DRAWS && n < BORDER_DRAWS; i++) {
    if (!tm_prior_draw_as_is(evaluator, random, point) ||
        tm_first_at_bound(&r->model, point->theta) < size)
      continue;
    for (size_t k = 0, at = n++; k < size; k++)
      if (r->lost[k] > 0) {
        values[at] = point->theta[k];
        at += BORDER_DRAWS;
      }
  }
  for (size_t k = 0, at = 0; n == BORDER_DRAWS && k < size; k++)
    if (r->lost[k] > 0) {
      double *own = values + at++ * BORDER_DRAWS;
      qsort(own, n, sizeof *own, order);
      double part = near_share(r, k);
      double place = r->next[k] > own[n / 2] ? 1 - part : part;
      r->border[k] = own[(size_t)(place * (double)n)];
    }
  tm_heap_free(values);
  return TEMPERA_OK;
}

static tempera_status measure(tm_rounded *r, uint64_t seed, bool *any,
                              tempera_error *error) {
  tm_evaluator evaluator;
  tm_point point;
  size_t size = r->model.size;
  r->lost = TM_NEW(r->arena, double, size);
  r->next = TM_NEW(r->arena, double, size);
  r->border = TM_NEW(r->arena, double, size);
  if (!r->lost || !r->next || !r->border)
    return tm_fail_memory(error);
  for (size_t k = 0; k < size; k++)
    r->border[k] = NAN;
  TM_TRY(tm_evaluator_create(&r->model, r->arena, &evaluator, error));
  TM_TRY(tm_point_create(&r->model, r->arena, &point, error));
  tempera_random random = tm_random(seed, 4, TM_PURPOSE_PRIOR);
  counts c = draw(r, &evaluator, &point, &random, LOOKS);
  *any = c.rounded > 0;
  if (*any) {
    size_t most = MOST_NUMBERS / size;
    memset(r->lost, 0, size * sizeof(double));
    c = draw(r, &evaluator, &point, &random,
             most < MOST_DRAWS ? most : MOST_DRAWS);
    conclude(r, c);
  }
  tempera_status status = TEMPERA_OK;
  if (*any)
    status = find_borders(r, &evaluator, &point, &random, error);
  if (status == TEMPERA_OK)
    status = tm_evaluator_check(&evaluator, error);
  tm_evaluator_release(&evaluator);
  return status;
}

tempera_status tm_rounded_measure(const tempera_model *model, uint64_t seed,
                                  tm_rounded *rounded, tempera_error *error) {
  *rounded = (tm_rounded){.model = *model};
  if (!model->spec.prior_draw || model->law || !has_bounds(model))
    return TEMPERA_OK;
  rounded->arena = tm_arena_create();
  if (!rounded->arena)
    return tm_fail_memory(error);
  bool any = false;
  tempera_status status = measure(rounded, seed, &any, error);
  if (status != TEMPERA_OK || !any)
    tm_rounded_free(rounded);
  return status;
}

/* The mean over the posterior of L(next to the bound) / L is the evidence of
 * the rounded part, were it all of the prior, over that of the rest. */
static double share_of(const tm_rounded *r, const tempera_draws *draws,
                       tm_evaluator *evaluator, tm_point *point, size_t k) {
  size_t chains = tempera_draws_chains(draws),
         rows = tempera_draws_count(draws);
  size_t all = chains * rows, step = all / ROWS + 1, count = 0;
  double sum = 0;
  for (size_t i = 0; i < all; i += step, count++) {
    tm_draws_take(draws, TEMPERA_TARGET, i / rows, i % rows, r->model.size,
                  point->theta);
    tm_evaluate_natural(evaluator, point);
    double here = point->log_likelihood;
    point->theta[k] = r->next[k];
    tm_evaluate_natural(evaluator, point);
    if (isfinite(here) && point->log_likelihood > -INFINITY)
      sum += exp(fmin(point->log_likelihood - here, 700));
  }
  return count ? r->lost[k] * sum / (double)count : 0;
}

/* Does the prior of the rest depend on the value? If not, its log density at
 * the bound less that at another value is the same for all of the rest. */
static bool is_apart(const tm_rounded *r, const tempera_draws *draws,
                     tm_evaluator *evaluator, tm_point *point, size_t k) {
  enum { PROBES = 8 };
  size_t rows = tempera_draws_count(draws);
  double first = NAN, other = NAN;
  for (size_t i = 0; i < PROBES; i++) {
    size_t all = tempera_draws_chains(draws) * rows, row = i * all / PROBES;
    tm_draws_take(draws, TEMPERA_TARGET, row / rows, row % rows, r->model.size,
                  point->theta);
    if (i == 0)
      other = point->theta[k];
    double step[2], at[2] = {r->next[k], other};
    for (int j = 0; j < 2; j++) {
      point->theta[k] = at[j];
      tm_evaluate_natural(evaluator, point);
      step[j] = point->log_prior;
    }
    double change = step[0] - step[1];
    if (i == 0)
      first = change;
    else if (!(fabs(change - first) <= 1e-9 * (1 + fabs(first))))
      return false;
  }
  return true;
}

/* Where the prior of the rest depends on the value (groups on their scale),
 * the rest of a draw says nothing of the bound. But beyond it the posterior is
 * as on the way there: what is rounded holds in proportion what the part of the
 * prior nearest to the bound does, as steady laws have it, and less where they
 * still fall. The draws come there if there is mass: at 400 of them a share of
 * 2 % is missed once in 600 times. */
static double share_by_neighbours(const tm_rounded *r,
                                  const tempera_draws *draws, size_t k) {
  size_t chains = tempera_draws_chains(draws),
         rows = tempera_draws_count(draws), near = 0;
  for (size_t c = 0; c < chains; c++) {
    const double *x = tempera_draws_values(draws, TEMPERA_TARGET, c, k);
    for (size_t i = 0; i < rows; i++)
      near += is_above(r, k) ? x[i] >= r->border[k] : x[i] <= r->border[k];
  }
  return r->lost[k] / near_share(r, k) * (double)near / (double)(chains * rows);
}

tempera_status tm_rounded_share(const tm_rounded *rounded,
                                const tempera_draws *draws, double *share,
                                size_t *worst, tempera_error *error) {
  tm_arena *arena = tm_arena_create();
  tm_evaluator evaluator = {0};
  tm_point point;
  double most = -1;
  *share = 0;
  *worst = 0;
  if (!arena)
    return tm_fail_memory(error);
  tempera_status status =
      tm_evaluator_create(&rounded->model, arena, &evaluator, error);
  if (status == TEMPERA_OK)
    status = tm_point_create(&rounded->model, arena, &point, error);
  for (size_t k = 0; status == TEMPERA_OK && k < rounded->model.size; k++) {
    if (rounded->lost[k] == 0)
      continue;
    double part = share_of(rounded, draws, &evaluator, &point, k);
    if (!isnan(rounded->border[k]) &&
        !is_apart(rounded, draws, &evaluator, &point, k))
      part = share_by_neighbours(rounded, draws, k);
    *share += part;
    if (part > most) {
      most = part;
      *worst = k;
    }
  }
  if (status == TEMPERA_OK)
    tm_evaluator_release(&evaluator);
  tm_arena_free(arena);
  return status;
}
