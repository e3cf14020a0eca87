/* hypothesis_test.c - a hypothesis within one model: Savage-Dickey (Dickey
 * 1971) where reals are fixed, odds where it has prior probability.
 *
 * Both need the posterior and the prior at the same place. The posterior is the
 * target draws, for probabilities also the tempered draws weighted to tau = 1;
 * the prior is draws from it, or the tempered draws at tau = 0. */
#include "estimate/answers/hypothesis.h"

#include "estimate/answers/local_density.h"
#include "estimate/answers/point_density.h"
#include "estimate/evidence/evidence.h"
#include "estimate/summary.h"

#include <math.h>
#include <string.h>

enum {
  MOST_EVALUATIONS = 4000, /* of the likelihood */
  PRIOR_CHAINS = 4,
  PRIOR_ROWS = 1000,     /* in each, for densities, ... */
  PRIOR_COUNTED = 10000, /* ... and for probabilities */
  FEWEST = 100
};
static const double WORST_K = 0.4, WORST_SHARE = 0.005;
static const double FEWEST_TERMS = 30; /* as of a bridge: 18 % */

typedef struct work {
  const tempera_model *model;
  const tempera_draws *draws;
  tm_hypothesis h;
  uint64_t seed;
  tm_arena *arena;
  tm_evaluator evaluator;
  tempera_random quantities_random;
  size_t points; /* reals that are fixed: their coordinates and u */
  size_t coordinate[TM_MOST_CONDITIONS];
  double at[TM_MOST_CONDITIONS], log_jacobian;
  double *values; /* room for a draw's, quantities and all */
} work;

/* Draws as rows, and in which of them the conditions hold that are counted. */
typedef struct table {
  size_t chains, rows;
  double *u, *log_density;
  bool *counts;
} table;

typedef struct answer {
  double value, se, pareto_k, largest, effective; /* value: a log */
} answer;

/* ---- what is asked ------------------------------------------------------ */

static const tm_block *block_of(const tempera_model *model, size_t value,
                                size_t *coordinate) {
  for (size_t b = 0; b < model->block_count; b++) {
    const tm_block *block = &model->blocks[b];
    if (value >= block->theta && value < block->theta + block->theta_count) {
      *coordinate = block->u + (value - block->theta);
      return block;
    }
  }
  return NULL;
}

static bool is_integer(const tempera_model *model, size_t value) {
  size_t j;
  const tm_block *block = block_of(model, value, &j);
  return block && block->kind == TEMPERA_INTEGER;
}

/* Is it a real of its own, and inside its bounds? */
static tempera_status take_point(work *w, const tm_condition *c,
                                 tempera_error *error) {
  size_t j = 0;
  const tm_block *block = block_of(w->model, c->value, &j);
  const char *name = w->draws->names[c->value];
  double x = c->lower, theta;
  if (!block || block->form == TM_FORM_SIMPLEX || block->form == TM_FORM_MAPPED)
    return tm_fail(error, TEMPERA_ERROR_ARGUMENT,
                   "%s is no parameter that can be fixed by itself (it is "
                   "computed, or tied to others): test an interval, as "
                   "|%s - X| < 0.1 written A < %s < B",
                   name, name, name);
  if (!(x > block->lower && x < block->upper))
    return tm_fail(error, TEMPERA_ERROR_ARGUMENT,
                   "%s = %g is not inside the prior's support, (%g, %g): there "
                   "is no density to compare; test an interval%s",
                   name, x, block->lower, block->upper,
                   x == block->lower ? ", as NAME < 0.01" : "");
  tm_block single = tm_block_between(block->lower, block->upper);
  tm_unconstrain_block(&single, &x, &w->at[w->points]);
  w->log_jacobian += tm_constrain_block(&single, &w->at[w->points], &theta);
  w->coordinate[w->points++] = j;
  return TEMPERA_OK;
}

static tempera_status take_conditions(work *w, tempera_error *error) {
  for (size_t k = 0; k < w->h.count; k++) {
    const tm_condition *c = &w->h.conditions[k];
    if (c->fixed && !is_integer(w->model, c->value))
      TM_TRY(take_point(w, c, error));
    else if (c->fixed && c->lower != floor(c->lower))
      return tm_fail(error, TEMPERA_ERROR_ARGUMENT,
                     "%s is an integer: it is never %g",
                     w->draws->names[c->value], c->lower);
  }
  return TEMPERA_OK;
}

/* Those that are counted; `values` are theta, then quantities. */
static bool holds(const work *w, const double *values) {
  for (size_t k = 0; k < w->h.count; k++) {
    const tm_condition *c = &w->h.conditions[k];
    double x = values[c->value];
    if (c->fixed && !is_integer(w->model, c->value))
      continue;
    if (c->fixed ? x != c->lower : !(x > c->lower && x < c->upper))
      return false;
  }
  return true;
}

static bool wants_quantities(const work *w) {
  for (size_t k = 0; k < w->h.count; k++)
    if (w->h.conditions[k].value >= w->model->size)
      return true;
  return false;
}

/* ---- the posterior ------------------------------------------------------ */

static tempera_status make_table(work *w, size_t chains, size_t rows, table *t,
                                 tempera_error *error) {
  size_t n = chains * rows;
  t->chains = chains;
  t->rows = rows;
  t->u = TM_NEW(w->arena, double, n * w->model->dimension + 1);
  t->log_density = TM_NEW(w->arena, double, n + 1);
  t->counts = TM_NEW(w->arena, bool, n + 1);
  return t->u && t->log_density && t->counts ? TEMPERA_OK
                                             : tm_fail_memory(error);
}

/* Row i of a chain into row k of the table. */
static void take_row(work *w, tempera_role role, size_t chain, size_t i,
                     double *values, table *t, size_t k) {
  const tempera_draws *draws = w->draws;
  double log_jacobian;
  for (size_t j = 0; j < draws->size; j++) {
    const double *column = tm_draws_column(draws, role, chain, j);
    values[j] = column ? column[i] : NAN;
  }
  double *u = t->u + k * w->model->dimension;
  const double *l = tempera_draws_log_likelihood(draws, role, chain);
  const double *prior = tempera_draws_log_prior(draws, role, chain);
  tm_unconstrain(w->model, values, u);
  t->counts[k] = holds(w, values);
  tm_constrain(w->model, u, values, &log_jacobian);
  t->log_density[k] =
      (role == TEMPERA_TARGET ? l[i] : 0) + prior[i] + log_jacobian;
}

static tempera_status posterior_table(work *w, table *t, tempera_error *error) {
  const tempera_draws *draws = w->draws;
  size_t most = w->points ? MOST_EVALUATIONS : SIZE_MAX / 2;
  size_t total = draws->chains * draws->count;
  size_t stride = total / most + 1, rows = draws->count / stride;
  double *values = TM_NEW(w->arena, double, draws->size);
  if (!values)
    return tm_fail_memory(error);
  if (draws->chains * rows < FEWEST || rows < 4)
    return tm_fail(error, TEMPERA_ERROR_INPUT,
                   "too few draws of the posterior for a test: %zu", total);
  TM_TRY(make_table(w, draws->chains, rows, t, error));
  for (size_t c = 0; c < draws->chains; c++)
    for (size_t i = 0; i < rows; i++)
      take_row(w, TEMPERA_TARGET, c, i * stride, values, t, c * rows + i);
  return TEMPERA_OK;
}

/* ---- the prior ---------------------------------------------------------- */

static tempera_status drawn_prior(work *w, table *t, tempera_error *error) {
  tm_point point = {0};
  size_t rows = w->points ? PRIOR_ROWS : PRIOR_COUNTED, d = w->model->dimension;
  double *values = TM_NEW(w->arena, double, w->draws->size);
  tempera_random random = tm_random(w->seed, 9, TM_PURPOSE_BRIDGE);
  if (!values)
    return tm_fail_memory(error);
  TM_TRY(tm_point_create(w->model, w->arena, &point, error));
  TM_TRY(make_table(w, PRIOR_CHAINS, rows, t, error));
  for (size_t k = 0, tried = 0; k < t->chains * rows; tried++) {
    tm_prior_draw_only(&w->evaluator, &random, &point);
    if (w->evaluator.status != TEMPERA_OK || tried > 100 * t->chains * rows)
      return w->evaluator.status != TEMPERA_OK
                 ? w->evaluator.status
                 : tm_fail(error, TEMPERA_ERROR_MODEL,
                           "draws from the prior have no finite density");
    if (!isfinite(point.log_prior))
      continue;
    memcpy(values, point.theta, w->model->size * sizeof(double));
    if (wants_quantities(w))
      (void)tm_quantities_at(&w->evaluator, &w->quantities_random, point.theta,
                             values + w->model->size);
    memcpy(t->u + k * d, point.u, d * sizeof(double));
    t->log_density[k] = point.log_prior + point.log_jacobian;
    t->counts[k++] = holds(w, values);
  }
  return TEMPERA_OK;
}

/* Tempered draws at tau = 0 are the prior's. */
static tempera_status atom_prior(work *w, table *t, tempera_error *error) {
  const tempera_draws *draws = w->draws;
  size_t fewest = SIZE_MAX, rows = tm_draws_rows(draws, TEMPERA_TEMPERED);
  double *values = TM_NEW(w->arena, double, draws->size);
  if (!values)
    return tm_fail_memory(error);
  for (size_t c = 0; draws->has_role[TEMPERA_TEMPERED] && c < draws->chains;
       c++) {
    const double *tau = tempera_draws_tau(draws, TEMPERA_TEMPERED, c);
    size_t n = 0;
    for (size_t i = 0; i < rows; i++)
      n += tau[i] == 0;
    fewest = n < fewest ? n : fewest;
  }
  if (fewest == SIZE_MAX || fewest * draws->chains < FEWEST || fewest < 4 ||
      wants_quantities(w))
    return tm_fail(error, TEMPERA_ERROR_INPUT,
                   "nothing is known of the prior there: the model gives no "
                   "draws from it, and the run has too few at tau = 0");
  TM_TRY(make_table(w, draws->chains, fewest, t, error));
  for (size_t c = 0; c < draws->chains; c++) {
    const double *tau = tempera_draws_tau(draws, TEMPERA_TEMPERED, c);
    size_t n = 0;
    for (size_t i = 0; i < rows && n < fewest; i++)
      if (tau[i] == 0)
        take_row(w, TEMPERA_TEMPERED, c, i, values, t, c * fewest + n++);
  }
  return TEMPERA_OK;
}

static tempera_status prior_table(work *w, table *t, tempera_error *error) {
  return w->model->spec.prior_draw ? drawn_prior(w, t, error)
                                   : atom_prior(w, t, error);
}

/* ---- densities and probabilities ---------------------------------------- */

/* At a point to which a draw was moved. */
static bool holds_at(const tm_point *point, void *context) {
  work *w = context;
  memcpy(w->values, point->theta, w->model->size * sizeof *w->values);
  if (wants_quantities(w))
    (void)tm_quantities_at(&w->evaluator, &w->quantities_random, point->theta,
                           w->values + w->model->size);
  return holds(w, w->values);
}

/* Few terms count, or a heavy tail of them does. */
static bool heavy(const answer *a) {
  return a->effective < FEWEST_TERMS ||
         (a->pareto_k > WORST_K && a->largest > WORST_SHARE);
}

/* From the draws of the one parameter, where enough of them are near: its error
 * is larger, and known. */
static tempera_status density_alone(work *w, const table *t, answer *a,
                                    tempera_error *error) {
  size_t n = t->chains * t->rows;
  double *x = TM_NEW(w->arena, double, n + 1);
  tm_local_density made;
  for (size_t i = 0; x && i < n; i++)
    x[i] = t->u[i * w->model->dimension + w->coordinate[0]];
  if (!x || !tm_local_density_estimate(w->arena, x, t->chains, t->rows,
                                       w->at[0], &made))
    return tm_fail_memory(error);
  if (made.effective >= FEWEST_TERMS)
    *a = (answer){made.log_density - w->log_jacobian, made.se, NAN, 0,
                  made.effective};
  return TEMPERA_OK;
}

static tempera_status density(work *w, const table *t, bool posterior,
                              answer *a, tempera_error *error) {
  const tm_point_draws draws = {t->chains, t->rows, t->u, t->log_density,
                                t->counts};
  const tm_point_question question = {.evaluator = &w->evaluator,
                                      .evaluate = posterior ? tm_evaluate
                                                            : tm_evaluate_prior,
                                      .likelihood = posterior,
                                      .counts = holds_at,
                                      .context = w,
                                      .count = w->points,
                                      .coordinate = w->coordinate,
                                      .at = w->at,
                                      .seed = w->seed};
  tm_point_density made;
  TM_TRY(tm_point_density_estimate(&question, &draws, &made, error));
  *a = (answer){made.log_density - w->log_jacobian, made.se, made.pareto_k,
                made.largest, made.effective};
  return heavy(a) && w->points == 1 && w->h.count == 1
             ? density_alone(w, t, a, error)
             : TEMPERA_OK;
}

/* The share of draws in it, with its influence. */
static answer share(const table *t, double *psi) {
  size_t n = t->chains * t->rows;
  double p = 0;
  for (size_t i = 0; i < n; i++)
    p += t->counts[i];
  p /= (double)n;
  for (size_t i = 0; i < n; i++)
    psi[i] = t->counts[i] - p;
  return (answer){p, tm_influence_error(psi, t->chains, t->rows).se, NAN, 0, 0};
}

/* Tempered draws weighted to tau = 1, beside the target's `first`; the two are
 * put together by their errors. Needs as many rows of both. */
static tempera_status add_tempered(work *w, double *psi, answer *first,
                                   tempera_error *error) {
  tm_tempered view;
  const tempera_draws *draws = w->draws;
  if (!draws->has_role[TEMPERA_TEMPERED] || wants_quantities(w))
    return TEMPERA_OK;
  TM_TRY(tm_tempered_create(draws, SIZE_MAX / 2, &view, error));
  double *own = TM_NEW(view.arena, double, view.count + 1);
  double *values = TM_NEW(view.arena, double, draws->size);
  bool use = own && values && view.target && view.log_mass &&
             view.rows == draws->count &&
             tm_tempered_support(&view, 1) >= TM_FEWEST_BATCHES;
  if (use) {
    double sum = 0, inside = 0;
    tm_tempered_weights(&view, 1);
    for (size_t i = 0; i < view.count; i++) {
      size_t c = i / view.rows, row = i % view.rows;
      tm_draws_take(draws, TEMPERA_TEMPERED, c, row, w->model->size, values);
      own[i] = holds(w, values);
      sum += view.weight[i];
      inside += view.weight[i] * own[i];
    }
    double p = inside / sum, n = (double)view.count;
    for (size_t i = 0; i < view.count; i++)
      own[i] = n * view.weight[i] / sum * (own[i] - p);
    double se = tm_influence_error(own, view.chains, view.rows).se;
    double total = se * se + first->se * first->se;
    if (total > 0 && se > 0 && first->se > 0) {
      double part = se * se / total;
      for (size_t i = 0; i < view.count; i++)
        psi[i] = part * psi[i] + (1 - part) * own[i];
      first->value = part * first->value + (1 - part) * p;
      first->se = tm_influence_error(psi, view.chains, view.rows).se;
    }
  }
  tm_tempered_free(&view);
  return TEMPERA_OK;
}

static tempera_status probability(work *w, const table *t, bool posterior,
                                  answer *a, tempera_error *error) {
  size_t n = t->chains * t->rows;
  double *psi = TM_NEW(w->arena, double, n + 1);
  if (!psi)
    return tm_fail_memory(error);
  *a = share(t, psi);
  if (posterior)
    TM_TRY(add_tempered(w, psi, a, error));
  a->se = fmax(a->se, tm_least_se(n));
  return TEMPERA_OK;
}

/* ---- the answer --------------------------------------------------------- */

static tempera_status warn(tempera_hypothesis *made, char *words,
                           tempera_error *error) {
  made->warning = words;
  return words ? TEMPERA_OK : tm_fail_memory(error);
}

static tempera_status conclude_density(const answer *p, const answer *q,
                                       tempera_hypothesis *made,
                                       tempera_error *error) {
  made->posterior = p->value;
  made->posterior_se = p->se;
  made->prior = q->value;
  made->prior_se = q->se;
  made->pareto_k = fmax(p->pareto_k, q->pareto_k);
  if (!isfinite(q->value))
    return warn(made,
                tm_heap_text("the prior is zero there: no draw of it can be "
                             "moved to this point"),
                error);
  if (!isfinite(p->value))
    return warn(made,
                tm_heap_text("the likelihood is zero there: the data rule this "
                             "point out"),
                error);
  double effective = fmin(p->effective, q->effective);
  if (effective < FEWEST_TERMS)
    return warn(
        made,
        tm_heap_format("hardly any draw of the %s has something to say "
                       "of this point (%.0f do in effect): no factor "
                       "can be given; test an interval about it",
                       p->effective < q->effective ? "posterior" : "prior",
                       effective),
        error);
  made->log_bf = p->value - q->value;
  made->se = hypot(p->se, q->se);
  /* A tail of terms that hardly count may be as heavy as it likes. Both limits
   * are measured: benchmarks/savage_dickey.py, docs/methods.md. */
  if (heavy(p) || heavy(q))
    return warn(
        made,
        tm_heap_format("the terms of the density have a heavy tail "
                       "(Pareto k %.2f): the error may be far too small",
                       made->pareto_k),
        error);
  return TEMPERA_OK;
}

static tempera_status conclude_odds(const answer *p, const answer *q, size_t n,
                                    tempera_hypothesis *made,
                                    tempera_error *error) {
  double a = p->value, b = q->value;
  made->posterior = log(a);
  made->prior = log(b);
  made->posterior_se = a > 0 ? p->se / a : NAN;
  made->prior_se = b > 0 ? q->se / b : NAN;
  if (!(a > 0 && a < 1 && b > 0 && b < 1))
    return warn(made,
                tm_heap_format("%s of %zu draws of the %s: its probability is "
                               "%s, and no factor can be given",
                               a > 0 && b > 0 ? "all" : "none", n,
                               a > 0 && a < 1 ? "prior" : "posterior",
                               a > 0 && b > 0 ? "near one"
                                              : "below 3 over "
                                                "their number"),
                error);
  made->log_bf = log(a / (1 - a)) - log(b / (1 - b));
  made->se = hypot(p->se / (a * (1 - a)), q->se / (b * (1 - b)));
  return TEMPERA_OK;
}

/* Are model and data what they were when the draws were made? */
static tempera_status check_model(work *w, tempera_error *error) {
  tm_point point = {0};
  TM_TRY(tm_point_create(w->model, w->arena, &point, error));
  tm_draws_take(w->draws, TEMPERA_TARGET, 0, 0, w->model->size, point.theta);
  tm_evaluate_natural(&w->evaluator, &point);
  double l = tempera_draws_log_likelihood(w->draws, TEMPERA_TARGET, 0)[0];
  double prior = tempera_draws_log_prior(w->draws, TEMPERA_TARGET, 0)[0];
  double off = fabs(point.log_likelihood - l) + fabs(point.log_prior - prior);
  if (!(off <= 1e-6 * (1 + fabs(l) + fabs(prior))))
    return tm_fail(error, TEMPERA_ERROR_INPUT,
                   "the model or the data have changed since the run: the "
                   "first draw had log likelihood %g and log prior %g, and has "
                   "%g and %g now",
                   l, prior, point.log_likelihood, point.log_prior);
  return TEMPERA_OK;
}

static tempera_status test_with(work *w, const char *null,
                                tempera_hypothesis *made,
                                tempera_error *error) {
  table posterior = {0}, prior = {0};
  answer p = {0}, q = {0};
  tm_text words = {0};
  tempera_status status =
      tm_hypothesis_read(w->draws, null, &w->h, &words, error);
  made->words = words.data;
  TM_TRY(status);
  TM_TRY(take_conditions(w, error));
  made->point = w->points > 0;
  TM_TRY(tm_evaluator_create(w->model, w->arena, &w->evaluator, error));
  w->values = TM_NEW(w->arena, double, w->draws->size + 1);
  if (!w->values)
    return tm_fail_memory(error);
  w->quantities_random = tm_random(w->seed, 10, TM_PURPOSE_BRIDGE);
  TM_TRY(check_model(w, error));
  TM_TRY(posterior_table(w, &posterior, error));
  TM_TRY(prior_table(w, &prior, error));
  if (w->points) {
    TM_TRY(density(w, &posterior, true, &p, error));
    TM_TRY(density(w, &prior, false, &q, error));
  } else {
    TM_TRY(probability(w, &posterior, true, &p, error));
    TM_TRY(probability(w, &prior, false, &q, error));
  }
  made->evaluations = w->evaluator.likelihood_evaluations;
  return w->points ? conclude_density(&p, &q, made, error)
                   : conclude_odds(&p, &q, posterior.chains * posterior.rows,
                                   made, error);
}

static tempera_status check_draws(const tempera_model *model,
                                  const tempera_draws *draws,
                                  tempera_error *error) {
  if (model->spec.prior_improper)
    return tm_fail(error, TEMPERA_ERROR_INPUT,
                   "the prior is improper: it has no density to compare the "
                   "posterior's with; give the parameter a proper prior");
  if (!draws->has_role[TEMPERA_TARGET] || !draws->count)
    return tm_fail(error, TEMPERA_ERROR_INPUT,
                   "the run has no draws at tau = 1");
  for (size_t i = 0; i < model->size; i++)
    if (i >= draws->size || strcmp(draws->names[i], model->names[i]))
      return tm_fail(error, TEMPERA_ERROR_INPUT,
                     "the draws are not of this model: it has %s",
                     model->names[i]);
  return TEMPERA_OK;
}

tempera_status tempera_hypothesis_test(const tempera_model *model,
                                       const tempera_draws *draws,
                                       const char *null, uint64_t seed,
                                       tempera_hypothesis **hypothesis,
                                       tempera_error *error) {
  TM_TRY(check_draws(model, draws, error));
  work w = {
      .model = model, .draws = draws, .seed = seed, .arena = tm_arena_create()};
  tempera_hypothesis *made = tm_heap_alloc(1, sizeof *made);
  tempera_status status = w.arena && made ? TEMPERA_OK : tm_fail_memory(error);
  if (status == TEMPERA_OK) {
    made->log_bf = made->se = made->posterior = made->prior = NAN;
    made->posterior_se = made->prior_se = made->pareto_k = NAN;
    status = test_with(&w, null, made, error);
  }
  if (w.evaluator.model)
    tm_evaluator_release(&w.evaluator);
  if (w.arena)
    tm_arena_free(w.arena);
  if (status != TEMPERA_OK)
    tempera_hypothesis_free(made);
  else
    *hypothesis = made;
  return status;
}

void tempera_hypothesis_free(tempera_hypothesis *hypothesis) {
  if (!hypothesis)
    return;
  tm_heap_free(hypothesis->words);
  tm_heap_free(hypothesis->warning);
  tm_heap_free(hypothesis);
}
