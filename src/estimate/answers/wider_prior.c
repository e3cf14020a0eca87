/* wider_prior.c - see wider_prior.h.
 *
 * A prior p of a parameter x, stretched c times about its centre m, is
 * p(m + (x - m)/c) / c for each of its elements; m is its mode, or the bound of
 * a parameter with one. Then log Z_c - log Z = log E[p_c/p] over the posterior,
 * by its draws with Pareto-smoothed weights: where their shape k is above 0.7
 * the wider prior leads to where hardly a draw is, and there is no number.
 *
 * That p is a factor of its own, and not one in which other parameters take
 * part, is tried out: p_c/p must not depend on where the others are. */
#include "estimate/answers/wider_prior.h"

#include "base/random.h"
#include "estimate/evidence/evidence.h"
#include "estimate/evidence/influence.h"
#include "numeric/psis.h"
#include "parallel/threads.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
  MOST_DRAWS = 4000,
  FEWEST_DRAWS = 100,
  MOST_BLOCKS = 40,
  MOST_ELEMENTS = 50,
  PAIRS = 5,
  SWEEPS = 30,
  STEPS = 80,
  SHARES = 64 /* that draws are taken in */
};
static const double FACTORS[TEMPERA_WIDER_FACTORS] = {2, 10};
static const double LARGEST_K = 0.7;

typedef struct work {
  const tempera_model *model;
  const tempera_draws *draws;
  tm_arena *arena;
  tm_evaluator evaluator;
  size_t rows, stride, count; /* of the draws used, by chain and in all */
  double *theta, *at, *pairs; /* 2 SHARES points; one; 2 PAIRS prior draws */
  double *centre, *ratio, *psi;
  tm_ranked *ranked, *room;
} work;

static double log_prior(const work *w, const double *theta) {
  double value = -INFINITY;
  int code = w->model->spec.log_prior(theta, &value, w->evaluator.user);
  return code == 0 && !isnan(value) ? value : -INFINITY;
}

/* log p_c/p at theta, the block alone stretched; `at` is room for a point. */
static double log_ratio(const work *w, const tm_block *b, const double *theta,
                        double factor, double *at) {
  memcpy(at, theta, w->model->size * sizeof *theta);
  for (size_t i = 0; i < b->theta_count; i++) {
    double m = w->centre[i];
    at[b->theta + i] = m + (theta[b->theta + i] - m) / factor;
  }
  return log_prior(w, at) - log_prior(w, theta) -
         (double)b->theta_count * log(factor);
}

/* ---- centre and separation ---------------------------------------------- */

/* The highest point along one element, by the golden section about the range
 * of the prior's draws. */
static double highest_along(work *w, double *theta, size_t v) {
  const double golden = 0.6180339887498949;
  double low = INFINITY, high = -INFINITY;
  for (size_t p = 0; p < 2 * PAIRS; p++) {
    low = fmin(low, w->pairs[p * w->model->size + v]);
    high = fmax(high, w->pairs[p * w->model->size + v]);
  }
  double width = high - low, a = low - width, b = high + width;
  for (int i = 0; i < STEPS; i++) {
    double x = b - golden * (b - a), y = a + golden * (b - a), fx, fy;
    theta[v] = x;
    fx = log_prior(w, theta);
    theta[v] = y;
    fy = log_prior(w, theta);
    *(fx >= fy ? &b : &a) = fx >= fy ? y : x;
  }
  return theta[v] = (a + b) / 2;
}

static void find_centre(work *w, const tm_block *b) {
  double *theta = w->theta;
  if (b->form != TM_FORM_FREE) {
    for (size_t i = 0; i < b->theta_count; i++)
      w->centre[i] = b->form == TM_FORM_ABOVE ? b->lower : b->upper;
    return;
  }
  memcpy(theta, w->pairs, w->model->size * sizeof *theta);
  for (int sweep = 0; sweep < SWEEPS; sweep++) {
    double moved = 0;
    for (size_t i = 0; i < b->theta_count; i++) {
      double before = theta[b->theta + i];
      w->centre[i] = highest_along(w, theta, b->theta + i);
      moved = fmax(moved, fabs(w->centre[i] - before) /
                              (1e-6 + fabs(w->centre[i])));
    }
    if (b->theta_count == 1 || moved < 1e-6)
      return;
  }
}

/* The block of one draw among the rest of another. */
static bool stands_alone(work *w, const tm_block *b) {
  size_t size = w->model->size;
  for (size_t p = 0; p < PAIRS; p++) {
    const double *one = w->pairs + 2 * p * size, *other = one + size;
    double here = log_ratio(w, b, one, FACTORS[0], w->at);
    memcpy(w->theta, other, size * sizeof *other);
    memcpy(w->theta + b->theta, one + b->theta,
           b->theta_count * sizeof *one);
    double there = log_ratio(w, b, w->theta, FACTORS[0], w->at);
    if (!(fabs(here - there) <= 1e-7 * (1 + fabs(here))))
      return false;
  }
  return true;
}

/* ---- the change --------------------------------------------------------- */

typedef struct stretch {
  const work *w;
  const tm_block *block;
  double factor;
} stretch;

/* Every SHARES-th draw. */
static void fill_share(size_t share, void *context) {
  const stretch *s = context;
  const work *w = s->w;
  double *theta = w->theta + 2 * share * w->model->size;
  for (size_t i = share; i < w->count; i += SHARES) {
    for (size_t v = 0; v < w->model->size; v++)
      theta[v] = tm_draws_column(w->draws, TEMPERA_TARGET, i / w->rows,
                                 v)[i % w->rows * w->stride];
    w->ratio[i] =
        log_ratio(w, s->block, theta, s->factor, theta + w->model->size);
    if (isnan(w->ratio[i]))
      w->ratio[i] = -INFINITY;
  }
}

/* A model that takes many points at once gets them so. */
static void fill_ratios(work *w, const tm_block *b, double factor) {
  stretch s = {w, b, factor};
  tm_parallel_for(SHARES, w->model->in_batches ? -SHARES : 1, fill_share, &s);
}

static tempera_wider change(work *w, const tm_block *b, double factor) {
  double most = -INFINITY, sum = 0, squares = 0;
  tempera_wider made = {.factor = factor, .change = NAN, .se = NAN, .k = NAN};
  fill_ratios(w, b, factor);
  for (size_t i = 0; i < w->count; i++)
    most = fmax(most, w->ratio[i]);
  if (!isfinite(most))
    return made;
  for (size_t i = 0; i < w->count; i++) {
    w->psi[i] = exp(w->ratio[i] - most);
    sum += w->psi[i];
    squares += w->psi[i] * w->psi[i];
  }
  double n = (double)w->count, log_mean = most + log(sum / n);
  for (size_t i = 0; i < w->count; i++)
    w->psi[i] = w->psi[i] * n / sum - 1;
  double se = tm_influence_error(w->psi, w->draws->chains, w->rows).se;
  made.k = n * squares - sum * sum <= 1e-12 * sum * sum
               ? -INFINITY /* nearly even */
               : tm_psis(w->ratio, w->count, tm_psis_tail(1, w->count),
                         w->ranked, w->room);
  if (!(made.k <= LARGEST_K))
    return made;
  made.change = log_mean;
  made.se = fmax(se, tm_least_se(w->count));
  return made;
}

/* ---- setting up --------------------------------------------------------- */

static bool can_stretch(const tempera_model *model, const tm_block *b) {
  return b->kind == TEMPERA_REAL && b->theta_count > 0 &&
         b->theta_count <= MOST_ELEMENTS && b->form <= TM_FORM_BELOW &&
         model->block_count <= MOST_BLOCKS;
}

static bool prepare(work *w) {
  size_t n = w->count + 1, size = w->model->size + 1;
  w->theta = TM_NEW(w->arena, double, 2 * SHARES * size);
  w->at = TM_NEW(w->arena, double, size);
  w->pairs = TM_NEW(w->arena, double, 2 * PAIRS * size);
  w->centre = TM_NEW(w->arena, double, size);
  w->ratio = TM_NEW(w->arena, double, n);
  w->psi = TM_NEW(w->arena, double, n);
  w->ranked = TM_NEW(w->arena, tm_ranked, n);
  w->room = TM_NEW(w->arena, tm_ranked, n);
  return w->theta && w->at && w->pairs && w->centre && w->ratio && w->psi &&
         w->ranked && w->room;
}

/* Where it can be drawn from. */
static bool draw_pairs(work *w, uint64_t seed) {
  tempera_random random = tm_random(seed, 0, TM_PURPOSE_WIDER);
  tm_point point = {0};
  if (tm_point_create(w->model, w->arena, &point, NULL) != TEMPERA_OK)
    return false;
  for (size_t p = 0; p < 2 * PAIRS; p++) {
    tm_prior_draw_only(&w->evaluator, &random, &point);
    if (w->evaluator.status != TEMPERA_OK || !isfinite(point.log_prior))
      return false;
    memcpy(w->pairs + p * w->model->size, point.theta,
           w->model->size * sizeof *point.theta);
  }
  return true;
}

static tempera_status fill_block(work *w, size_t block, tempera_summary *s,
                                 tempera_error *error) {
  const tm_block *b = &w->model->blocks[block];
  tempera_wider_prior *p = &s->wider[s->wider_count];
  *p = (tempera_wider_prior){
      .name = tm_heap_text(w->model->spec.parameters[block].name)};
  if (!p->name)
    return tm_fail_memory(error);
  s->wider_count++;
  for (size_t f = 0; f < TEMPERA_WIDER_FACTORS; f++)
    p->by[f] = (tempera_wider){FACTORS[f], NAN, NAN, NAN};
  find_centre(w, b);
  p->shared = !stands_alone(w, b);
  for (size_t f = 0; f < TEMPERA_WIDER_FACTORS && !p->shared; f++)
    p->by[f] = change(w, b, FACTORS[f]);
  return TEMPERA_OK;
}

static tempera_status fill(work *w, uint64_t seed, tempera_summary *s,
                           tempera_error *error) {
  if (!prepare(w))
    return tm_fail_memory(error);
  TM_TRY(tm_evaluator_create(w->model, w->arena, &w->evaluator, error));
  tempera_status status = TEMPERA_OK;
  size_t count = w->model->block_count;
  if (draw_pairs(w, seed)) {
    s->wider = tm_heap_alloc(count, sizeof *s->wider);
    status = s->wider ? TEMPERA_OK : tm_fail_memory(error);
    for (size_t i = 0; i < count && status == TEMPERA_OK; i++)
      if (can_stretch(w->model, &w->model->blocks[i]))
        status = fill_block(w, i, s, error);
  }
  tm_evaluator_release(&w->evaluator);
  return status;
}

tempera_status tm_estimate_wider(const tempera_model *model,
                                 const tempera_draws *draws, uint64_t seed,
                                 tempera_summary *summary,
                                 tempera_error *error) {
  work w = {.model = model, .draws = draws};
  size_t total = draws->chains * draws->count;
  w.stride = total / MOST_DRAWS + 1;
  w.rows = draws->count / w.stride;
  w.count = draws->chains * w.rows;
  if (!draws->has_role[TEMPERA_TARGET] || !draws->evidence ||
      w.count < FEWEST_DRAWS || !model->spec.prior_draw || summary->wider ||
      !isfinite(summary->log_z))
    return TEMPERA_OK;
  w.arena = tm_arena_create();
  tempera_status status =
      w.arena ? fill(&w, seed, summary, error) : tm_fail_memory(error);
  tm_arena_free(w.arena);
  return status;
}

void tm_wider_free(tempera_wider_prior *each, size_t count) {
  for (size_t i = 0; i < count; i++)
    tm_heap_free(each[i].name);
  tm_heap_free(each);
}
