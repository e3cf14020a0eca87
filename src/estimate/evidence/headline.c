/* headline.c - which estimate of the evidence is the run's answer.
 *
 * The rule: bridge is usually the sharpest (method 4.4), but it sees only what
 * the target chain has seen. It becomes the headline where the tempered
 * chain's own estimate stands, without reservations, and agrees. Where it does
 * not agree, one of them is wrong, and the headline's error reaches the other.
 */
#include "estimate/evidence/anchor.h"
#include "estimate/bridge/bridge.h"
#include "estimate/estimate.h"
#include "estimate/evidence/evidence.h"
#include "estimate/summary.h"

#include <math.h>
#include <string.h>

/* Differences below this are never called a disagreement. */
static const double FLOOR = 0.02;

static bool stands(const tempera_estimate *e) {
  return e && !e->warning && isfinite(e->log_z) && e->se > 0;
}

/* More than the errors allow; the two share the target chain's exchanges, so
 * that treating them as independent is on the lenient side. */
static bool disagree(const tempera_estimate *a, const tempera_estimate *b) {
  double difference = fabs(a->log_z - b->log_z);
  return difference > FLOOR && difference > 3 * hypot(a->se, b->se);
}

/* The interval reaches `distance` further, or about so. */
static void widen(double log_z, double distance, double *se, double *lower,
                  double *upper) {
  *se = hypot(*se, distance / 1.96);
  *lower = log_z - 1.96 * *se;
  *upper = log_z + 1.96 * *se;
}

/* Draws at tau = 1 alone: there is nothing to check the bridge against. */
static bool untempered(const tempera_summary *summary) {
  return summary->tau_bin_count == 0;
}

static tempera_status choose(tempera_summary *summary, tempera_error *error) {
  tempera_estimate *bridge = tm_estimate_find(summary, "bridge");
  tempera_estimate *rival =
      summary->estimator ? tm_estimate_find(summary, summary->estimator) : NULL;
  if (!stands(bridge))
    return TEMPERA_OK;
  if (untempered(summary))
    return tm_estimate_take(summary, bridge,
                            error); /* the verdict has the reservations */
  if (!rival || !isfinite(rival->log_z))
    return TEMPERA_OK;
  if (disagree(bridge, rival)) {
    double difference = bridge->log_z - rival->log_z;
    widen(summary->log_z, fabs(difference), &summary->se, &summary->lower,
          &summary->upper);
    bridge->warning = tm_heap_format(
        "disagrees with %s by %.3f, more than their errors allow", rival->name,
        difference);
    return bridge->warning ? TEMPERA_OK : tm_fail_memory(error);
  }
  return stands(rival) && bridge->se < rival->se
             ? tm_estimate_take(summary, bridge, error)
             : TEMPERA_OK;
}

/* A model that fails at a point of the bridge's takes nothing else away. */
static tempera_status no_bridge(tempera_estimate *slot, const char *reason) {
  *slot = (tempera_estimate){.name = "bridge"};
  tm_estimate_withdraw(slot);
  slot->warning = tm_heap_format("not available: %s", reason);
  return slot->warning ? TEMPERA_OK : TEMPERA_ERROR_MEMORY;
}

tempera_status tm_estimate_add_bridge(const tempera_model *model,
                                      const tempera_draws *draws, uint64_t seed,
                                      tempera_summary *summary,
                                      uint64_t *likelihood_evaluations,
                                      tempera_error *error) {
  *likelihood_evaluations = 0;
  if (!summary->estimates || !summary->estimate_count)
    return TEMPERA_OK;
  tempera_estimate *slot = &summary->estimates[summary->estimate_count];
  tempera_error problem = {0};
  tempera_status status = tm_bridge_estimate(model, draws, seed, 0, slot,
                                             likelihood_evaluations, &problem);
  if (status == TEMPERA_ERROR_MODEL)
    status = no_bridge(slot, problem.message);
  if (status != TEMPERA_OK)
    return tm_fail(error, status, "%s", problem.message);
  summary->estimate_count++;
  return choose(summary, error);
}

/* The best of many draws lies within about d/2 of the optimum; twice that, and
 * ten nats for what the natural scale does to skewed posteriors, is far. */
static double far_below(size_t values) {
  double d = (double)values;
  return 10 + d + 3 * sqrt(2 * d);
}

/* At tau = 1: how far every target chain's best draw stays below at most. */
static double below_at_one(const tempera_draws *draws) {
  double worst = INFINITY;
  if (!draws->ridge.knots || !draws->has_role[TEMPERA_TARGET])
    return NAN;
  for (size_t c = 0; c < draws->chains; c++) {
    const double *l = tempera_draws_log_likelihood(draws, TEMPERA_TARGET, c);
    const double *p = tempera_draws_log_prior(draws, TEMPERA_TARGET, c);
    double best = -INFINITY;
    for (size_t i = 0; i < draws->count; i++)
      best = fmax(best, l[i] + p[i]);
    worst = fmin(worst, best);
  }
  return draws->ridge.height[draws->ridge.knots - 1] - worst;
}

/* The largest distance, and the tau it is at. */
static double farthest(const tempera_draws *draws,
                       const tempera_summary *summary, double *tau) {
  double worst = below_at_one(draws);
  *tau = 1;
  for (size_t i = 0; i < summary->tau_bin_count; i++) {
    const tempera_tau_bin *bin = &summary->tau_bins[i];
    if (!(bin->ridge_excess > worst) && !isnan(worst))
      continue;
    worst = bin->ridge_excess;
    *tau = bin->upper;
  }
  return worst;
}

/* Take an estimate back, and the headline with it if it is the one. */
static tempera_status withdraw(tempera_summary *summary, tempera_estimate *e,
                               char *reason, tempera_error *error) {
  bool headline = summary->estimator && !strcmp(e->name, summary->estimator);
  e->log_z = e->se = e->lower = e->upper = NAN;
  tm_heap_free(e->warning);
  e->warning = reason;
  if (headline) {
    summary->log_z = summary->se = summary->lower = summary->upper = NAN;
    tm_heap_free(summary->estimator);
    summary->estimator = NULL;
  }
  return e->warning ? TEMPERA_OK : tm_fail_memory(error);
}

/* Uses the way from the prior to the posterior, and is meant to be believed. */
static bool is_tempered(const tempera_estimate *e) {
  return strcmp(e->name, "bridge") != 0 && strcmp(e->name, "phm") != 0 &&
         strcmp(e->name, "ti-paper") != 0;
}

/* A tempered chain that never went from one end to the other has not compared
 * them: its estimates of log z(1) - log z(0), where they are not bounds, say
 * nothing, however steady they look. */
static tempera_status withdraw_unconnected(tempera_summary *summary,
                                           tempera_error *error) {
  for (size_t i = 0; i < summary->estimate_count; i++) {
    tempera_estimate *e = &summary->estimates[i];
    if (!is_tempered(e) || e->warning)
      continue;
    TM_TRY(withdraw(
        summary, e,
        tm_heap_format("no estimate: no tempered state ever went from the "
                       "prior to the posterior"),
        error));
  }
  return TEMPERA_OK;
}

/* A chain that disagrees with plain draws from the prior has not explored it.
 */
static tempera_status withdraw_unanchored(const tempera_draws *draws,
                                          tempera_summary *summary,
                                          tempera_error *error) {
  tm_anchor_gap gap = tm_anchor_compare(draws, summary);
  if (isnan(gap.tau))
    return TEMPERA_OK;
  for (size_t i = 0; i < summary->estimate_count; i++) {
    tempera_estimate *e = &summary->estimates[i];
    if (is_tempered(e) && isfinite(e->log_z))
      TM_TRY(withdraw(
          summary, e,
          tm_heap_format("no estimate: the tempered chain has not explored the "
                         "prior; at tau = %.2g its log z is %.3g, that of "
                         "prior draws %.3g",
                         gap.tau, gap.curve, gap.prior),
          error));
  }
  return TEMPERA_OK;
}

tempera_status tm_estimate_doubt(const tempera_draws *draws,
                                 tempera_summary *summary,
                                 tempera_error *error) {
  if (draws->count && draws->evidence && summary->restarts == 0)
    TM_TRY(withdraw_unconnected(summary, error));
  if (draws->count && draws->evidence)
    TM_TRY(withdraw_unanchored(draws, summary, error));
  double tau, distance = farthest(draws, summary, &tau);
  if (!(distance > far_below(summary->value_count)) || !isfinite(distance))
    return TEMPERA_OK;
  widen(summary->log_z, distance, &summary->se, &summary->lower,
        &summary->upper);
  for (size_t i = 0; i < summary->estimate_count; i++) {
    tempera_estimate *e = &summary->estimates[i];
    widen(e->log_z, distance, &e->se, &e->lower, &e->upper);
    if (e->warning)
      continue;
    e->warning = tm_heap_format(
        "near tau = %.2g the draws stay %.3g nats below the best point known: "
        "they miss a basin",
        tau, distance);
    if (!e->warning)
      return tm_fail_memory(error);
  }
  return TEMPERA_OK;
}
