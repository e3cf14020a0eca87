/* fit_evidence.c - the evidence of a fit made elsewhere: its draws are
 * evaluated under the model, summarised as a chain at tau = 1 is, and bridged
 * to a density fitted to the other half of them. */
#include "estimate/estimate.h"
#include "estimate/findings.h"
#include "folder/fit_path.h"
#include "folder/fit_read.h"
#include "model/fitted.h"
#include "numeric/pareto.h"

#include <math.h>
#include <string.h>

typedef struct work {
  const tempera_model *model;
  tempera_draws *draws;
  tm_arena *arena;
  tm_evaluator evaluator;
  double *u; /* all rows */
} work;

static double *column(const work *w, size_t chain, size_t which) {
  return tm_draws_column(w->draws, TEMPERA_TARGET, chain, which);
}

static tempera_status evaluate_draw(work *w, size_t chain, size_t row,
                                    tm_point *point, tempera_error *error) {
  tm_draws_take(w->draws, TEMPERA_TARGET, chain, row, w->model->size,
                point->theta);
  if (!tm_inside(w->model, point->theta))
    return tm_fail(error, TEMPERA_ERROR_INPUT,
                   "draw %zu of chain %zu lies outside the bounds of the "
                   "model's parameters: is it a fit of this model?",
                   row + 1, chain + 1);
  tm_evaluate_natural(&w->evaluator, point);
  TM_TRY(tm_evaluator_check(&w->evaluator, error));
  if (!isfinite(point->log_likelihood + point->log_prior))
    return tm_fail(error, TEMPERA_ERROR_INPUT,
                   "draw %zu of chain %zu has density zero under this model "
                   "and data: is it a fit of them?",
                   row + 1, chain + 1);
  size_t size = w->draws->size;
  column(w, chain, size + TM_TAU)[row] = 1;
  column(w, chain, size + TM_LOG_LIKELIHOOD)[row] = point->log_likelihood;
  column(w, chain, size + TM_LOG_PRIOR)[row] = point->log_prior;
  column(w, chain, size + TM_LOG_JACOBIAN)[row] = point->log_jacobian;
  return TEMPERA_OK;
}

/* log likelihood, log prior and u at every draw. Where there is lp__, it
 * differs from ours by a constant, or these are draws of something else. */
static tempera_status evaluate(work *w, tempera_error *error) {
  tm_point point = {0};
  size_t rows = w->draws->count, n = w->draws->chains * rows;
  size_t d = w->model->dimension;
  double least = INFINITY, most = -INFINITY;
  w->u = TM_NEW(w->arena, double, n *d + 1);
  if (!w->u)
    return tm_fail_memory(error);
  TM_TRY(tm_point_create(w->model, w->arena, &point, error));
  for (size_t k = 0; k < n; k++) {
    TM_TRY(evaluate_draw(w, k / rows, k % rows, &point, error));
    double lp = column(w, k / rows, w->draws->size + TM_TAU_ACCEPT)[k % rows];
    double off =
        lp - point.log_likelihood - point.log_prior - point.log_jacobian;
    least = fmin(least, off);
    most = fmax(most, off);
    memcpy(w->u + k * d, point.u, d * sizeof(double));
  }
  /* CSV files have six digits by default. */
  if (most - least > 0.1 + 1e-3 * fabs(most))
    return tm_fail(error, TEMPERA_ERROR_INPUT,
                   "lp__ of the draws and this model's log density differ by "
                   "%.3g to %.3g, not by one number: the fit is of another "
                   "model or of other data",
                   least, most);
  return TEMPERA_OK;
}

/* The first halves of all chains. */
static tempera_status first_halves(work *w, tm_points *points,
                                   tempera_error *error) {
  size_t rows = w->draws->count, d = w->model->dimension, half = rows / 2;
  double *fit = TM_NEW(w->arena, double, w->draws->chains *half *d + 1);
  size_t n = 0;
  if (!fit)
    return tm_fail_memory(error);
  for (size_t c = 0; c < w->draws->chains; c++)
    for (size_t i = 0; i < half; i++, n++)
      for (size_t j = 0; j < d; j++)
        fit[n * d + j] = w->u[(c * rows + i) * d + j];
  *points = (tm_points){.count = n, .dimension = d, .values = fit};
  return TEMPERA_OK;
}

/* The tail of f/q over the second halves, q fitted to the first. */
static tempera_status pareto_k(work *w, const tm_points *points, uint64_t seed,
                               double *k, double *highest,
                               tempera_error *error) {
  size_t rows = w->draws->count, d = w->model->dimension, half = rows / 2;
  size_t chains = w->draws->chains, m = 0;
  double *ratio = TM_NEW(w->arena, double, chains *rows + 1);
  tm_fitted q;
  tempera_random random = tm_random(seed, 20, TM_PURPOSE_BRIDGE);
  if (!ratio)
    return tm_fail_memory(error);
  TM_TRY(tm_fitted_fit(w->model, points, NULL, &random, w->arena, &q, error));
  for (size_t c = 0; c < chains; c++)
    for (size_t i = half; i < rows; i++) {
      double log_q = tm_fitted_log_density(&q, w->u + (c * rows + i) * d);
      if (log_q == -INFINITY)
        continue;
      ratio[m] = tm_draws_log_density(w->draws, TEMPERA_TARGET, c, i) - log_q;
      *highest = fmax(*highest, ratio[m++]);
    }
  double shape = tm_pareto_shape(ratio, m);
  *k = shape > 0 ? shape / (1 + shape) : shape; /* of q's draws */
  return TEMPERA_OK;
}

static tempera_status summarise(work *w, uint64_t seed,
                                tempera_summary *summary,
                                tempera_error *error) {
  uint64_t calls = 0;
  summary->reference = tm_heap_alloc(1, sizeof *summary->reference);
  if (!summary->reference)
    return tm_fail_memory(error);
  summary->reference->barrier = summary->reference->swap_acceptance = NAN;
  summary->reference->acceptance = summary->reference->rhat = NAN;
  summary->reference->ess = NAN;
  TM_TRY(tm_evaluator_create(w->model, w->arena, &w->evaluator, error));
  TM_TRY(evaluate(w, error));
  w->draws->evidence = w->draws->likelihood = true;
  TM_TRY(tm_estimate_summary(w->draws, 1, summary, error));
  TM_TRY(tm_estimate_modes(w->draws, summary, error));
  tm_bridge_settings bridge = {.seed = seed};
  TM_TRY(tm_estimate_add_bridge(w->model, w->draws, &bridge, summary, &calls,
                                error));
  tm_points points;
  TM_TRY(first_halves(w, &points, error));
  double highest = -INFINITY;
  TM_TRY(pareto_k(w, &points, seed, &summary->reference->pareto_k, &highest,
                  error));
  TM_TRY(tm_fit_path(w->model, &points, highest, seed, summary, error));
  TM_TRY(tm_findings_end(summary, error));
  summary->likelihood_evaluations +=
      w->evaluator.likelihood_evaluations + calls;
  summary->chains = w->draws->chains;
  summary->iterations = w->draws->count;
  summary->seed = seed;
  summary->model = tm_heap_text(w->model->spec.name);
  return summary->model ? TEMPERA_OK : tm_fail_memory(error);
}

tempera_status tempera_fit_evidence(const tempera_model *model,
                                    const char *const *paths, size_t count,
                                    uint64_t seed, tempera_summary **summary,
                                    tempera_error *error) {
  work w = {.model = model, .arena = tm_arena_create()};
  tempera_summary *made = tm_heap_alloc(1, sizeof *made);
  tempera_status status = w.arena && made ? TEMPERA_OK : tm_fail_memory(error);
  if (status == TEMPERA_OK && model->spec.prior_improper)
    status = tm_fail(error, TEMPERA_ERROR_INPUT,
                     "a prior of the model is improper: it has no evidence");
  if (status == TEMPERA_OK)
    status = tm_fit_read(model, paths, count, &w.draws, error);
  if (status == TEMPERA_OK)
    status = summarise(&w, seed, made, error);
  if (w.evaluator.model)
    tm_evaluator_release(&w.evaluator);
  tm_draws_free(w.draws);
  if (w.arena)
    tm_arena_free(w.arena);
  if (status == TEMPERA_OK)
    *summary = made;
  else
    tempera_summary_free(made);
  return status;
}
