/* bridge.c - from draws to an estimate: what is available, the two legs, and
 * what speaks against it; see bridge.h. */
#include "estimate/bridge/bridge.h"

#include "estimate/bridge/bridge_leg.h"
#include "estimate/evidence/evidence.h"
#include "estimate/findings.h"
#include "estimate/modes/relabelled.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <string.h>

enum {
  LEAST_ROWS = 4,   /* per chain */
  LEAST_DRAWS = 40, /* in all */
  MOST_PROPOSALS = 2000,
  PRIOR_ROWS = 8000, /* prior draws: no likelihood call is spent on them */
  PRIOR_PROPOSALS = 4000,
  STREAM_TARGET = 0, /* streams of TM_PURPOSE_BRIDGE; legs use two */
  STREAM_PRIOR = 2,
  STREAM_PRIOR_DRAWS = 4
};

static const double LEAST_OVERLAP = 30, LEAST_AGREEMENT = 1e-4, MOST_HALVES = 4;

/* The target draws by row. */
typedef struct table {
  size_t chains, length;
  double *theta, *log_density;
} table;

typedef struct bridge {
  const tempera_model *model;
  const tempera_draws *draws;
  tm_bridge_settings settings;
  tm_arena *arena;
  tm_evaluator evaluator;
  tm_labels labels;
  tm_label_pivot pivot;
  table target, prior;
} bridge;

/* Why no estimate exists; NULL when one does. */
static const char *unavailable(const tempera_model *model,
                               const tempera_draws *draws) {
  if (!draws->has_role[TEMPERA_TARGET])
    return "not available: this method keeps no draws at tau = 1";
  if (model->spec.no_likelihood)
    return "not available: there is no likelihood";
  if (!draws->evidence)
    return "not available: the prior is improper";
  if (!model->spec.prior_normalised && !model->spec.prior_draw &&
      !model->prior_known)
    return "not available: the prior's integral is not known, and a run on "
           "the prior alone gave none that can be trusted";
  if (draws->count < LEAST_ROWS || draws->count * draws->chains < LEAST_DRAWS)
    return "not available: too few target draws";
  return NULL;
}

static bool table_create(tm_arena *arena, const tempera_model *model,
                         size_t chains, size_t length, table *t) {
  size_t rows = chains * length;
  t->chains = chains;
  t->length = length;
  t->theta = TM_NEW(arena, double, rows * model->size);
  t->log_density = TM_NEW(arena, double, rows);
  return t->theta && t->log_density;
}

static tempera_status load_target(bridge *b, tempera_error *error) {
  const tempera_draws *draws = b->draws;
  table *t = &b->target;
  size_t size = b->model->size;
  if (!table_create(b->arena, b->model, draws->chains, draws->count, t))
    return tm_fail_memory(error);
  for (size_t c = 0; c < t->chains; c++) {
    const double *log_likelihood =
        tempera_draws_log_likelihood(draws, TEMPERA_TARGET, c);
    const double *log_prior = tempera_draws_log_prior(draws, TEMPERA_TARGET, c);
    for (size_t i = 0; i < t->length; i++) {
      size_t row = c * t->length + i;
      t->log_density[row] = log_likelihood[i] + log_prior[i];
      if (!isfinite(t->log_density[row]))
        return tm_fail(error, TEMPERA_ERROR_ARGUMENT,
                       "bridge: target draw %zu of chain %zu has no finite "
                       "density",
                       i + 1, c + 1);
    }
    for (size_t j = 0; j < size; j++) {
      const double *values = tempera_draws_values(draws, TEMPERA_TARGET, c, j);
      for (size_t i = 0; i < t->length; i++)
        t->theta[(c * t->length + i) * size + j] = values[i];
    }
  }
  return TEMPERA_OK;
}

static tempera_status evaluator_status(const bridge *b, tempera_error *error) {
  if (b->evaluator.status != TEMPERA_OK && error)
    *error = b->evaluator.error;
  return b->evaluator.status;
}

/* Prior draws with their prior density; the likelihood is not asked. */
static tempera_status draw_prior(bridge *b, tempera_error *error) {
  table *t = &b->prior;
  tm_point point = {0};
  tempera_random random =
      tm_random(b->settings.seed, STREAM_PRIOR_DRAWS, TM_PURPOSE_BRIDGE);
  if (!table_create(b->arena, b->model, 1, PRIOR_ROWS, t))
    return tm_fail_memory(error);
  TM_TRY(tm_point_create(b->model, b->arena, &point, error));
  size_t rows = 0;
  for (size_t tried = 0; rows < PRIOR_ROWS && tried < 10 * PRIOR_ROWS;
       tried++) {
    tm_prior_draw_only(&b->evaluator, &random, &point);
    TM_TRY(evaluator_status(b, error));
    if (!isfinite(point.log_prior))
      continue;
    memcpy(t->theta + rows * b->model->size, point.theta,
           b->model->size * sizeof(double));
    t->log_density[rows++] = point.log_prior;
  }
  t->length = rows;
  return TEMPERA_OK;
}

/* By a density that owes nothing to the target draws: one direction is all. */
static tempera_status integrate_terms(bridge *b, tm_bridge_integral *integral,
                                      tempera_error *error) {
  const tm_bridge_terms *terms = b->settings.terms;
  double *work = TM_NEW(b->arena, double, terms->chains * terms->length);
  if (!work)
    return tm_fail_memory(error);
  tm_bridge_ratio r = tm_bridge_ratio_solve(terms, work);
  double n = (double)terms->proposals;
  double variance = r.target_variance + r.proposal_variance;
  *integral = (tm_bridge_integral){
      .log_z = r.log_r,
      .variance = variance,
      .df = variance * variance /
            (r.target_variance * r.target_variance / r.df +
             r.proposal_variance * r.proposal_variance / n),
      .between = sqrt(r.between_variance + r.proposal_variance),
      .overlap = r.overlap,
      .disagreement = r.disagreement};
  return TEMPERA_OK;
}

static tempera_status integrate_halves(bridge *b, tm_bridge_integral *integral,
                                       tempera_error *error) {
  table *t = &b->target;
  TM_TRY(load_target(b, error));
  TM_TRY(tm_draw_labels_find(&b->evaluator, b->draws, b->arena, &b->labels,
                             error));
  TM_TRY(
      tm_label_pivot_create(b->model, &b->labels, b->arena, &b->pivot, error));
  TM_TRY(evaluator_status(b, error));
  size_t proposals = b->settings.proposal_draws;
  if (proposals == 0) {
    proposals = t->chains * (t->length / 2);
    proposals = proposals < MOST_PROPOSALS ? proposals : MOST_PROPOSALS;
  }
  tm_bridge_leg leg = {.evaluator = &b->evaluator,
                       .evaluate = tm_evaluate,
                       .chains = t->chains,
                       .length = t->length,
                       .theta = t->theta,
                       .log_density = t->log_density,
                       .pivot = b->labels.count ? &b->pivot : NULL,
                       .proposals = proposals,
                       .seed = b->settings.seed,
                       .threads = b->settings.threads,
                       .stream = STREAM_TARGET};
  return tm_bridge_leg_integrate(&leg, integral, error);
}

/* log z(0): prior draws are independent, so labels need no care. */
static tempera_status integrate_prior(bridge *b, tm_bridge_integral *integral,
                                      tempera_error *error) {
  *integral = (tm_bridge_integral){.df = INFINITY, .overlap = INFINITY};
  integral->disagreement = 1;
  integral->log_z = b->model->spec.prior_log_integral;
  if (b->model->spec.prior_normalised)
    return TEMPERA_OK;
  if (b->model->prior_known) {
    integral->log_z = b->model->prior_log_z;
    integral->variance = b->model->prior_se * b->model->prior_se;
    return TEMPERA_OK;
  }
  TM_TRY(draw_prior(b, error));
  if (b->prior.length < LEAST_DRAWS) {
    integral->log_z = NAN;
    return TEMPERA_OK;
  }
  tm_bridge_leg leg = {.evaluator = &b->evaluator,
                       .evaluate = tm_evaluate_prior,
                       .chains = 1,
                       .length = b->prior.length,
                       .theta = b->prior.theta,
                       .log_density = b->prior.log_density,
                       .proposals = PRIOR_PROPOSALS,
                       .seed = b->settings.seed,
                       .threads = b->settings.threads,
                       .stream = STREAM_PRIOR};
  return tm_bridge_leg_integrate(&leg, integral, error);
}

static tempera_status check_leg(const tm_bridge_integral *i, const char *whose,
                                tempera_summary *summary, tempera_estimate *e,
                                tempera_error *error) {
  if (isnan(i->log_z))
    return tm_find_estimate(summary, e, TM_FIND_NO_ESTIMATE, NAN, NAN, error,
                            "not available: draws of the %s and of the density "
                            "fitted to them do not overlap",
                            whose);
  if (i->overlap < LEAST_OVERLAP)
    TM_TRY(tm_find_estimate(summary, e, TM_FIND_BRIDGE_COVER, i->overlap,
                            LEAST_OVERLAP, error, "%s", whose));
  if (i->disagreement < LEAST_AGREEMENT)
    TM_TRY(tm_find_estimate(summary, e, TM_FIND_BRIDGE_CHAINS, i->disagreement,
                            LEAST_AGREEMENT, error, "%s", whose));
  if (i->halves > MOST_HALVES)
    TM_TRY(tm_find_estimate(summary, e, TM_FIND_BRIDGE_HALVES, i->halves,
                            MOST_HALVES, error, "%s", whose));
  return TEMPERA_OK;
}

/* Widen so that log_z +- 1.96 se covers 95 % with these degrees of freedom. */
static double widened(double variance, double df) {
  double normal = gsl_cdf_ugaussian_Pinv(0.975);
  double factor = df < 1e6 ? gsl_cdf_tdist_Pinv(0.975, df) / normal : 1;
  return sqrt(variance) * factor;
}

static tempera_estimate summarise(const tm_bridge_integral *target,
                                  const tm_bridge_integral *prior,
                                  size_t draws) {
  tempera_estimate e = {
      .name = "bridge", .log_z = target->log_z - prior->log_z, .reach = 1};
  double variance = target->variance + prior->variance;
  double df = variance * variance /
              (target->variance * target->variance / target->df +
               prior->variance * prior->variance / prior->df);
  df = isnan(df) ? INFINITY : df; /* no variance at all */
  e.se = isnan(e.log_z)
             ? NAN
             : fmax(widened(variance, fmax(1, df)), tm_least_se(draws));
  e.se_within = isnan(e.log_z) ? NAN : sqrt(variance);
  e.se_between = isnan(e.log_z) ? NAN : target->between;
  e.lower = e.log_z - 1.96 * e.se;
  e.upper = e.log_z + 1.96 * e.se;
  return e;
}

static tempera_status estimate_with(bridge *b, tempera_summary *summary,
                                    tempera_estimate *estimate,
                                    tempera_error *error) {
  tm_bridge_integral target, prior;
  TM_TRY(tm_evaluator_create(b->model, b->arena, &b->evaluator, error));
  TM_TRY(b->settings.terms ? integrate_terms(b, &target, error)
                           : integrate_halves(b, &target, error));
  TM_TRY(integrate_prior(b, &prior, error));
  size_t draws = b->draws->chains * b->draws->count;
  *estimate = summarise(&target, &prior, draws);
  if (summary) {
    summary->prior_log_z = prior.log_z;
    summary->prior_log_z_se = sqrt(prior.variance);
  }
  TM_TRY(check_leg(&target, "posterior", summary, estimate, error));
  if (!b->model->spec.prior_normalised)
    TM_TRY(check_leg(&prior, "prior", summary, estimate, error));
  return TEMPERA_OK;
}

tempera_status
tm_bridge_estimate(const tempera_model *model, const tempera_draws *draws,
                   const tm_bridge_settings *settings, tempera_summary *summary,
                   tempera_estimate *estimate, uint64_t *likelihood_evaluations,
                   tempera_error *error) {
  bridge b = {.model = model, .draws = draws, .settings = *settings};
  tempera_estimate made = {.name = "bridge", .reach = 1};
  tm_estimate_withdraw(&made); /* until there is one */
  tempera_status status = TEMPERA_OK;
  const char *reason = unavailable(model, draws);
  b.arena = tm_arena_create();
  if (!b.arena)
    return tm_fail_memory(error);
  if (reason)
    TM_TRY_DONE(tm_find_estimate(summary, &made, TM_FIND_NO_ESTIMATE, NAN, NAN,
                                 error, "%s", reason));
  else
    TM_TRY_DONE(estimate_with(&b, summary, &made, error));
  *estimate = made;
  *likelihood_evaluations = b.evaluator.likelihood_evaluations;
done:
  if (status != TEMPERA_OK)
    tm_heap_free(made.warning);
  tm_evaluator_release(&b.evaluator);
  tm_arena_free(b.arena);
  return status;
}
