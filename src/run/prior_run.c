/* prior_run.c - see prior_run.h. */
#include "run/prior_run.h"

#include "base/locale.h"
#include "model/fitted.h"
#include "run/flat_model.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
  MOST_POINTS = 8000, /* of the prior, to fit q to and to start from */
  MEASURED = 20000    /* proposals, behind the bound and a second integral */
};

/* The wide density's share of q: no tail of the prior is out of reach. */
static const double WIDE_SHARE = 0.05;
/* Points beyond the highest of f/q seen have little mass (none among MEASURED
 * proposals and the prior's own points), and less excess than this. */
static const double MARGIN = 0.2;
/* Fewer kept of all proposals cost more than moves of the kernel are worth. */
static const double LEAST_KEPT = 0.005;
/* Two integrals of the prior this many standard errors apart are not chance;
 * a tenth of a percent is let pass: neither error bar is exact. */
static const double MOST_APART = 5, LET_PASS = 0.02;

bool tm_prior_run_needed(const tempera_model *model,
                         const tempera_options *options) {
  return !model->spec.prior_draw && !model->spec.prior_improper &&
         !model->spec.no_likelihood &&
         options->tau_min == 0 && !options->paper && model->dimension > 0;
}

void tm_prior_run_free(tm_prior_run *run) {
  tm_arena_free(run->arena);
  *run = (tm_prior_run){0};
}

/* ---- q ------------------------------------------------------------------ */

typedef struct state {
  const tempera_model *model;
  tm_fitted fitted;
} state;

static void *copy(const void *opaque, tm_arena *arena) {
  const state *from = opaque;
  state *made = TM_NEW(arena, state, 1);
  if (!made ||
      tm_fitted_copy(&from->fitted, arena, &made->fitted, NULL) != TEMPERA_OK)
    return NULL;
  made->model = from->model;
  return made;
}

static double log_q(const state *q, const double *u) {
  double wide = log(WIDE_SHARE) + tm_flat_log_density(q->model, u);
  double fitted = log1p(-WIDE_SHARE) + tm_fitted_log_density(&q->fitted, u);
  double most = fmax(wide, fitted), least = fmin(wide, fitted);
  return most + log1p(exp(least - most));
}

static double propose(void *opaque, tempera_random *random, double *u) {
  state *q = opaque;
  if (tempera_random_uniform(random) < WIDE_SHARE)
    tm_flat_draw(q->model, random, u);
  else
    tm_fitted_draw(&q->fitted, random, u);
  return log_q(q, u);
}

/* ---- measuring ---------------------------------------------------------- */

typedef struct measure {
  tm_evaluator evaluator;
  tm_point point;
  double highest;   /* of log f - log q, wherever it was looked at */
  double log_z, se; /* of the prior, by weights of q's draws */
  const state *q;
} measure;

static double log_weight(measure *m, double log_density) {
  tm_evaluate_prior(&m->evaluator, &m->point);
  bool failed = m->evaluator.status != TEMPERA_OK;
  m->evaluator.status = TEMPERA_OK; /* overflow, far out */
  double w = m->point.log_prior + m->point.log_jacobian - log_density;
  if (failed || !isfinite(w))
    return -INFINITY;
  m->highest = fmax(m->highest, w);
  return w;
}

static void weigh_pool(measure *m, const tm_prior_run *run) {
  size_t d = run->model.dimension;
  for (size_t i = 0; i < run->pool_count; i++) {
    memcpy(m->point.u, run->pool + i * d, d * sizeof(double));
    (void)log_weight(m, log_q(m->q, m->point.u));
  }
}

static void weigh_proposals(measure *m, state *q, uint64_t seed, double *w) {
  tempera_random random = tm_random(seed, 0, TM_PURPOSE_PRIOR);
  double most = -INFINITY, sum = 0, squares = 0, n = MEASURED;
  for (size_t i = 0; i < MEASURED; i++) {
    double density = propose(q, &random, m->point.u);
    w[i] = log_weight(m, density);
    most = fmax(most, w[i]);
  }
  for (size_t i = 0; i < MEASURED; i++) {
    double x = exp(w[i] - most);
    sum += x;
    squares += x * x;
  }
  m->log_z = most + log(sum / n);
  m->se = sqrt(fmax(0, squares / (sum * sum) - 1 / n));
}

static tempera_status measure_law(tm_prior_run *run, state *q, uint64_t seed,
                                  measure *m, tempera_error *error) {
  const tempera_model *model = q->model;
  double *w = TM_NEW(run->arena, double, MEASURED);
  *m = (measure){.highest = -INFINITY, .q = q};
  if (!w)
    return tm_fail_memory(error);
  TM_TRY(tm_evaluator_create(model, run->arena, &m->evaluator, error));
  tempera_status status = tm_point_create(model, run->arena, &m->point, error);
  if (status == TEMPERA_OK) {
    weigh_pool(m, run);
    weigh_proposals(m, q, seed, w);
  }
  tm_evaluator_release(&m->evaluator);
  return status;
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
    for (size_t j = 0; j < d; j++)
      run->pool[run->pool_count * d + j] =
          tempera_draws_values(draws, TEMPERA_TARGET, i / rows, j)[i % rows];
  return TEMPERA_OK;
}

static void doubt(tm_prior_run *run, const char *why) {
  if (!run->doubt[0])
    snprintf(run->doubt, sizeof run->doubt, "%.*s",
             (int)(sizeof run->doubt - 1), why);
}

/* The law, and whether its weights agree with the run's evidence. */
static tempera_status fit(tm_prior_run *run, uint64_t seed,
                          tempera_error *error) {
  const tempera_model *model = &run->model;
  state *q = TM_NEW(run->arena, state, 1);
  if (!q)
    return tm_fail_memory(error);
  q->model = model;
  tm_points points = {run->pool_count, model->dimension, run->pool, NULL};
  tempera_random random = tm_random(seed, 1, TM_PURPOSE_PRIOR);
  TM_TRY(
      tm_fitted_fit(model, &points, 0, &random, run->arena, &q->fitted, error));
  measure m;
  TM_TRY(measure_law(run, q, seed, &m, error));
  double allowed = LET_PASS + MOST_APART * hypot(m.se, model->prior_se);
  if (fabs(m.log_z - model->prior_log_z) > allowed) {
    char why[sizeof run->doubt];
    tm_snprintf(why, sizeof why,
                "two estimates of its log integral, %.3f and %.3f, are further "
                "apart than their errors allow (%.2g)",
                model->prior_log_z, m.log_z, allowed);
    doubt(run, why);
    return TEMPERA_OK;
  }
  double bound = m.highest + MARGIN;
  if (exp(m.log_z - bound) < LEAST_KEPT)
    return TEMPERA_OK; /* the kernel moves at tau = 0 then */
  run->law = (tm_prior_law){q, copy, propose, bound};
  run->model.law = &run->law;
  run->model.spec.prior_draw = tm_prior_law_stands_in;
  return TEMPERA_OK;
}

static tempera_status learn(tm_prior_run *run, const tempera_sampler *sampler,
                            const tempera_summary *summary,
                            tempera_error *error) {
  tempera_model *model = &run->model;
  TM_TRY(keep_pool(tempera_sampler_draws(sampler), run, error));
  if (!summary->reliable || !isfinite(summary->log_z))
    doubt(run, summary->verdict);
  model->prior_log_z = summary->log_z;
  model->prior_se = summary->se;
  model->prior_known = !run->doubt[0];
  double far = LET_PASS + MOST_APART * summary->se;
  double known = model->spec.prior_log_integral;
  if (model->spec.prior_normalised && fabs(summary->log_z - known) > far)
    doubt(run, "the model says that its integral is known, but it is another");
  if (run->doubt[0])
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
    doubt(run, why.message);
  if (run->doubt[0])
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
