/* prior_run.c - see prior_run.h. */
#include "run/prior_run.h"

#include "base/locale.h"
#include "draws/draws.h"
#include "run/fitted_law.h"
#include "run/flat_model.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST_POINTS = 8000 }; /* of the prior, to fit q to and start from */

/* Fewer kept of all proposals cost more than moves of the kernel are worth. */
static const double LEAST_KEPT = 0.005;
/* Two integrals of the prior this many standard errors apart are not chance;
 * a fiftieth is let pass: neither error bar is exact. */
static const double MOST_APART = 5, LET_PASS = 0.02;

bool tm_prior_run_needed(const tempera_model *model,
                         const tempera_options *options) {
  return !model->spec.prior_draw && !model->spec.prior_improper &&
         !model->spec.no_likelihood && options->tau_min == 0 &&
         !options->paper && model->dimension > 0;
}

void tm_prior_run_free(tm_prior_run *run) {
  tm_arena_free(run->arena);
  *run = (tm_prior_run){0};
}

/* ---- the prior's own run ------------------------------------------------ */

/* Target draws of all chains, thinned to MOST_POINTS. */
static tempera_status keep_pool(const tempera_draws *draws, tm_prior_run *run,
                                tempera_error *error) {
  size_t d = run->model.dimension, chains = tempera_draws_chains(draws);
  size_t rows = tempera_draws_count(draws), all = chains * rows;
  size_t step = all / MOST_POINTS + 1;
  run->pool = TM_NEW(run->arena, double, (all / step + 1) * d);
  if (!run->pool)
    return tm_fail_memory(error);
  for (size_t i = 0; i < all; i += step, run->pool_count++)
    tm_draws_take(draws, TEMPERA_TARGET, i / rows, i % rows, d,
                  run->pool + run->pool_count * d);
  return TEMPERA_OK;
}

static void note_uncertain(tm_prior_run *run, const char *why) {
  if (!run->uncertain[0])
    snprintf(run->uncertain, sizeof run->uncertain, "%.*s",
             (int)(sizeof run->uncertain - 1), why);
}

/* The law, and whether its weights agree with the run's evidence. */
static tempera_status fit(tm_prior_run *run, uint64_t seed,
                          tempera_error *error) {
  tempera_model *model = &run->model;
  tm_fitted_law fitted;
  TM_TRY(tm_fitted_law_make(model, run->pool, run->pool_count, false, seed,
                            run->arena, &fitted, error));
  double allowed = LET_PASS + MOST_APART * hypot(fitted.se, model->prior_se);
  if (fabs(fitted.log_z - model->prior_log_z) > allowed) {
    char why[sizeof run->uncertain];
    tm_snprintf(why, sizeof why,
                "two estimates of its log integral, %.3f and %.3f, are further "
                "apart than their errors allow (%.2g)",
                model->prior_log_z, fitted.log_z, allowed);
    note_uncertain(run, why);
    return TEMPERA_OK;
  }
  if (fitted.kept < LEAST_KEPT)
    return TEMPERA_OK; /* the kernel moves at tau = 0 then */
  run->law = fitted.law;
  model->law = &run->law;
  model->spec.prior_draw = tm_prior_law_stands_in;
  return TEMPERA_OK;
}

static tempera_status learn(tm_prior_run *run, const tempera_sampler *sampler,
                            const tempera_summary *summary,
                            tempera_error *error) {
  tempera_model *model = &run->model;
  TM_TRY(keep_pool(tempera_sampler_draws(sampler), run, error));
  if (!summary->reliable || !isfinite(summary->log_z))
    note_uncertain(run, summary->verdict);
  model->prior_log_z = summary->log_z;
  model->prior_se = summary->se;
  model->prior_known = !run->uncertain[0];
  double far = LET_PASS + MOST_APART * summary->se;
  double known = model->spec.prior_log_integral;
  if (model->spec.prior_normalised && fabs(summary->log_z - known) > far)
    note_uncertain(
        run, "the model says that its integral is known, but it is another");
  if (run->uncertain[0])
    return TEMPERA_OK;
  return fit(run, tempera_sampler_options(sampler)->seed, error);
}

/* Streams of its own: the same seed would move it and the run in step. */
static tempera_options options_of(const tempera_options *outer) {
  tempera_options o = tempera_options_default();
  o.reference = false; /* its round trips vouch for it */
  o.seed = outer->seed ^ UINT64_C(0x9e3779b97f4a7c15);
  o.threads = outer->threads;
  o.time_limit = outer->time_limit;
  return o;
}

static tempera_status run_flat(tm_prior_run *run, const tempera_model *flat,
                               const tempera_options *options,
                               tempera_error *error) {
  tempera_sampler *sampler = NULL;
  tempera_summary *summary = NULL;
  tempera_error why = {0};
  tempera_status status = tempera_sampler_create(flat, options, &sampler, &why);
  if (status == TEMPERA_OK)
    status = tempera_sampler_run(sampler, NULL, NULL, &why);
  if (status == TEMPERA_OK)
    status = tempera_sampler_summarise(sampler, &summary, &why);
  if (status == TEMPERA_OK)
    status = learn(run, sampler, summary, &why);
  tempera_summary_free(summary);
  tempera_sampler_free(sampler);
  if (status == TEMPERA_ERROR_MEMORY)
    return tm_fail_memory(error);
  if (status != TEMPERA_OK)
    note_uncertain(run, why.message);
  if (run->uncertain[0])
    run->model.prior_known = false;
  return TEMPERA_OK;
}

tempera_status tm_prior_run_explore(const tempera_model *model,
                                    const tempera_options *options,
                                    tm_prior_run *run, tempera_error *error) {
  *run = (tm_prior_run){.arena = tm_arena_create(), .model = *model};
  if (!run->arena)
    return tm_fail_memory(error);
  tempera_model *flat = NULL;
  tempera_options inner = options_of(options);
  tempera_status status = tm_flat_model_create(model, &flat, error);
  if (status == TEMPERA_OK)
    status = run_flat(run, flat, &inner, error);
  tempera_model_free(flat);
  if (status != TEMPERA_OK)
    tm_prior_run_free(run);
  return status;
}
