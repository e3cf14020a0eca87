/* fit_path.c - see fit_path.h.
 *
 * The reference leg's path (tempering/reference.h) is a model whose prior is q,
 * whose likelihood is f/q and whose evidence is the integral of f: so it is run
 * like any other. Bridge and path know the posterior by the same q, but the path's
 * draws are its own: where they differ, the draws that were given are not of
 * this posterior, or not of all of q's reach. */
#include "folder/fit_path.h"

#include "base/random.h"
#include "draws/draws.h"
#include "estimate/evidence/evidence.h"
#include "estimate/summary.h"
#include "tempering/reference.h"

#include <math.h>

enum { CHAINS = 4, SWEEPS = 1500 };
/* Two estimates differ by more than this many errors, and TM_LEAST_APART, only
 * where one is wrong. */
static const double APART = 4;

/* f/q in a mode that the fit has not seen is far above what it is at any draw
 * of the fit, where f/q is nearly even: by this much in the log. */
static const double UNSEEN = 6;

static double highest_ratio(const tempera_draws *draws) {
  double most = -INFINITY;
  for (int role = 0; role < 2; role++)
    for (size_t c = 0; draws->has_role[role] && c < draws->chains; c++) {
      const double *ratio =
          tempera_draws_log_likelihood(draws, (tempera_role)role, c);
      for (size_t i = 0; i < tm_draws_rows(draws, (tempera_role)role); i++)
        most = fmax(most, ratio[i]);
    }
  return most;
}

static tempera_status run(const tempera_model *leg, uint64_t seed,
                          tempera_summary **made, double *highest,
                          tempera_error *error) {
  tempera_sampler *sampler = NULL;
  tempera_options o = tempera_options_default();
  o.seed = seed;
  o.chains = CHAINS;
  o.iterations = SWEEPS;
  o.reference = o.bridge = o.jumps = false;
  tempera_status status = tempera_sampler_create(leg, &o, &sampler, error);
  if (status == TEMPERA_OK)
    status = tempera_sampler_run(sampler, NULL, NULL, error);
  if (status == TEMPERA_OK)
    status = tempera_sampler_summarise(sampler, made, error);
  if (status == TEMPERA_OK)
    *highest = highest_ratio(tempera_sampler_draws(sampler));
  tempera_sampler_free(sampler);
  return status;
}

/* `beyond`: by how much f/q was higher on the path than at the fit's draws. */
static tempera_status record(const tempera_summary *path, double beyond,
                             tempera_summary *s, tempera_error *error) {
  TM_TRY(tm_estimates_reserve(s, error));
  double log_z = path->log_z - s->prior_log_z;
  /* What none of so many independent visits to q has shown may be there with
   * a share of 3/visits (a component of q of 0.3 % was, and was missed). */
  double unseen = tm_least_se(path->round_trips ? path->round_trips : 1);
  double se = hypot(hypot(path->se, unseen), s->prior_log_z_se);
  s->likelihood_evaluations += path->likelihood_evaluations;
  tempera_estimate *e = tm_estimate_add(s, "path", log_z, se);
  if (!isfinite(log_z) || !isfinite(se) || beyond > UNSEEN)
    tm_estimate_withdraw(e);
  if (beyond > UNSEEN)
    return tm_estimate_warn(
        e,
        tm_heap_format("the path came upon places that the fit has not seen, "
                       "where f/q is e^%.0f times as high as at its draws: "
                       "look for them (--search)",
                       beyond),
        error);
  if (isnan(e->log_z))
    return TEMPERA_OK;
  if (!isfinite(s->log_z))
    return tm_estimate_take(s, e, error);
  double apart = fabs(log_z - s->log_z);
  if (apart <= fmax(TM_LEAST_APART, APART * hypot(se, s->se)))
    return TEMPERA_OK;
  return tm_estimate_warn(
      e,
      tm_heap_format("%.2g away from the bridge: the draws are not all of this "
                     "posterior, or the fitted density does not reach all of "
                     "it",
                     log_z - s->log_z),
      error);
}

tempera_status tm_fit_path(const tempera_model *model, const tm_points *u,
                           double highest_seen, uint64_t seed,
                           tempera_summary *summary, tempera_error *error) {
  double highest = -INFINITY;
  tm_reference *reference = NULL;
  tempera_summary *path = NULL;
  tempera_random random = tm_random(seed, 21, TM_PURPOSE_BRIDGE);
  TM_TRY(tm_reference_create(model, &reference, error));
  tempera_status status = tm_reference_fit(reference, u, NULL, &random, error);
  if (status == TEMPERA_OK && tm_reference_fitted(reference))
    status = run(tm_reference_model(reference), seed, &path, &highest, error);
  if (status == TEMPERA_OK && path)
    status = record(path, highest - highest_seen, summary, error);
  tempera_summary_free(path);
  tm_reference_free(reference);
  return status;
}
