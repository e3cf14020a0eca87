/* headline.c - which estimate of the evidence is the run's answer.
 *
 * The rule: bridge is usually the sharpest (method 4.4), but it sees only what
 * the target chain has seen. It becomes the headline where the tempered
 * chain's own estimate stands, without reservations, and agrees. Where it does
 * not agree, one of them is wrong, and the headline's error reaches the other.
 */
#include "base/locale.h"
#include "estimate/bridge/bridge.h"
#include "estimate/estimate.h"
#include "estimate/evidence/anchor.h"
#include "estimate/evidence/basin_check.h"
#include "estimate/evidence/evidence.h"
#include "estimate/findings.h"
#include "estimate/summary.h"

#include <math.h>
#include <string.h>

static bool stands(const tempera_estimate *e) {
  return e && !e->warning && isfinite(e->log_z) && e->se > 0;
}

/* How far apart the two may lie. They share the target chain's exchanges, so
 * that treating them as independent is on the lenient side. */
static double allowed_apart(const tempera_summary *summary,
                            const tempera_estimate *a,
                            const tempera_estimate *b) {
  return fmax(TM_LEAST_APART,
              tm_apart_limit(summary->round_trips) * hypot(a->se, b->se));
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
  double difference = bridge->log_z - rival->log_z;
  double allowed = allowed_apart(summary, bridge, rival);
  if (fabs(difference) > allowed) {
    widen(summary->log_z, fabs(difference), &summary->se, &summary->lower,
          &summary->upper);
    return tm_find_estimate(summary, bridge, TM_FIND_ESTIMATES_APART,
                            difference, allowed, error, "%s", rival->name);
  }
  return stands(rival) && bridge->se < rival->se
             ? tm_estimate_take(summary, bridge, error)
             : TEMPERA_OK;
}

/* Does an estimate of the reference leg contradict this one? Then the headline
 * reaches it, and a finding says so. */
static tempera_status contradict(tempera_summary *summary, tempera_estimate *e,
                                 const tempera_estimate *rival, size_t trips,
                                 bool *apart, tempera_error *error) {
  if (*apart || !rival || rival == e || !isfinite(rival->log_z))
    return TEMPERA_OK;
  double difference = e->log_z - rival->log_z;
  double allowed =
      fmax(TM_LEAST_APART, tm_apart_limit(trips) * hypot(e->se, rival->se));
  *apart = fabs(difference) > allowed;
  if (!*apart)
    return TEMPERA_OK;
  if (summary->estimator)
    widen(summary->log_z, fabs(difference), &summary->se, &summary->lower,
          &summary->upper);
  return tm_find_estimate(summary, e, TM_FIND_ESTIMATES_APART, difference,
                          allowed, error, "%s", rival->name);
}

/* Round trips vouch for the tempered estimate that is quoted, and the density
 * fitted for the bridge does not cover the posterior (a mixture cannot follow
 * hundreds of modes): the bridge's value and error then rest on a handful of
 * draws, and what it contradicts, itself between halves included, says nothing.
 */
static bool bridge_is_void(const tempera_summary *summary) {
  return summary->estimator && strcmp(summary->estimator, "bridge") &&
         summary->round_trips >= TM_FEWEST_TRIPS &&
         tm_finding_of(summary, TM_FIND_BRIDGE_COVER);
}

static tempera_status weigh(tempera_summary *summary, tempera_estimate *e,
                            tempera_error *error) {
  tempera_estimate *bridge = tm_estimate_find(summary, "bridge"),
                   *best = bridge;
  bool apart = !stands(e);
  if (summary->estimator)
    best = tm_estimate_find(summary, summary->estimator);
  if (!bridge_is_void(summary))
    TM_TRY(contradict(summary, e, bridge, summary->reference->round_trips,
                      &apart, error));
  TM_TRY(contradict(summary, e, best, summary->round_trips, &apart, error));
  if (apart)
    return TEMPERA_OK;
  if (!stands(best) || e->se < best->se)
    return tm_estimate_take(summary, e, error);
  return summary->estimator ? TEMPERA_OK
                            : tm_estimate_take(summary, best, error);
}

/* With R tours between the two ends of a path the share of anything that a tour
 * decides (which mode, which end) is known to about 1/sqrt(R) of itself, and
 * what rests on tours is no better, however steady it looks. Where R is too
 * small to be trusted the error says so. */
static double reach_of_trips(size_t trips) {
  return trips < TM_FEWEST_TRIPS ? 1.96 / sqrt(fmax((double)trips, 1)) : 0;
}

/* They see what the target chain has seen, like the bridge; where the prior
 * leg gives nothing, they and the bridge are the answer, if the verdict lets
 * them. */
tempera_status tm_estimate_weigh_reference(tempera_summary *summary,
                                           tempera_error *error) {
  static const char *const names[] = {"reweighted", "rb-reference"};
  double reach = reach_of_trips(summary->reference->round_trips);
  for (size_t i = 0; i < 2; i++) {
    tempera_estimate *e = tm_estimate_find(summary, names[i]);
    if (!e)
      continue;
    widen(e->log_z, reach, &e->se, &e->lower, &e->upper);
    TM_TRY(weigh(summary, e, error));
  }
  return TEMPERA_OK;
}

/* A model that fails at a point of the bridge's takes nothing else away. */
static tempera_status no_bridge(tempera_summary *summary,
                                tempera_estimate *slot, const char *reason,
                                tempera_error *error) {
  *slot = (tempera_estimate){.name = "bridge", .reach = 1};
  tm_estimate_withdraw(slot);
  return tm_find_estimate(summary, slot, TM_FIND_NO_ESTIMATE, NAN, NAN, error,
                          "not available: %s", reason);
}

tempera_status tm_estimate_add_bridge(const tempera_model *model,
                                      const tempera_draws *draws,
                                      const tm_bridge_settings *settings,
                                      tempera_summary *summary,
                                      uint64_t *likelihood_evaluations,
                                      tempera_error *error) {
  *likelihood_evaluations = 0;
  if (!summary->estimates || !summary->estimate_count)
    return TEMPERA_OK;
  tempera_estimate *slot = &summary->estimates[summary->estimate_count];
  tempera_error problem = {0};
  tempera_status status = tm_bridge_estimate(
      model, draws, settings, summary, slot, likelihood_evaluations, &problem);
  if (status == TEMPERA_ERROR_MODEL)
    TM_TRY(no_bridge(summary, slot, problem.message, error));
  else if (status != TEMPERA_OK)
    return tm_fail(error, status, "%s", problem.message);
  summary->estimate_count++;
  return choose(summary, error);
}

/* Take an estimate back, and the headline with it if it is the one. */
static tempera_status withdraw(tempera_summary *summary, tempera_estimate *e,
                               const char *reason, tempera_error *error) {
  bool headline = summary->estimator && !strcmp(e->name, summary->estimator);
  tm_heap_free(e->warning);
  e->warning = tm_heap_text(reason);
  tm_estimate_withdraw(e);
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
  bool any = false;
  for (size_t i = 0; i < summary->estimate_count; i++) {
    tempera_estimate *e = &summary->estimates[i];
    if (!is_tempered(e) || e->reach < 1)
      continue;
    any = true;
    TM_TRY(withdraw(summary, e,
                    "no estimate: no tempered state ever went from the prior "
                    "to the posterior",
                    error));
  }
  return any ? tm_find(summary, TM_FIND_UNCONNECTED, 0, 1, error) : TEMPERA_OK;
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
      TM_TRY(withdraw(summary, e,
                      "no estimate: the tempered chain has not explored the "
                      "prior",
                      error));
  }
  return tm_find_about(summary, TM_FIND_PRIOR_UNEXPLORED, gap.curve - gap.prior,
                       gap.allowed, error,
                       "at tau = %.2g its log z is %.3g, that of prior draws "
                       "%.3g",
                       gap.tau, gap.curve, gap.prior);
}

tempera_status tm_estimates_reach(tempera_summary *summary, double distance,
                                  const char *why, tempera_error *error) {
  widen(summary->log_z, distance, &summary->se, &summary->lower,
        &summary->upper);
  for (size_t i = 0; i < summary->estimate_count; i++) {
    tempera_estimate *e = &summary->estimates[i];
    widen(e->log_z, distance, &e->se, &e->lower, &e->upper);
    if (!e->warning)
      TM_TRY(tm_estimate_warn(e, tm_heap_format("%s", why), error));
  }
  return TEMPERA_OK;
}

/* The headline and every estimate reach as far as the basin is high. */
static tempera_status widen_for_basin(tempera_summary *summary, double tau,
                                      double distance, tempera_error *error) {
  char why[160];
  tm_snprintf(why, sizeof why,
              "near tau = %.2g the best point known is %.3g nats higher than "
              "the draws explain: they miss a basin",
              tau, distance);
  return tm_estimates_reach(summary, distance, why, error);
}

static void widen_for_trips(tempera_summary *summary) {
  double reach = reach_of_trips(summary->round_trips);
  if (summary->tau_bin_count == 0 || reach == 0)
    return;
  for (size_t i = 0; i < summary->estimate_count; i++) {
    tempera_estimate *e = &summary->estimates[i];
    if (!is_tempered(e))
      continue;
    widen(e->log_z, reach, &e->se, &e->lower, &e->upper);
    if (summary->estimator && !strcmp(e->name, summary->estimator))
      widen(summary->log_z, reach, &summary->se, &summary->lower,
            &summary->upper);
  }
}

/* A value that never changes in the target draws, or where there are none in
 * the tempered ones. A real number always does, unless its type holds it; an
 * integer may have all its mass in one place, and the tempered draws, in which
 * it changes, vouch for that. */
static bool is_frozen(const tempera_draws *draws, size_t value) {
  if (draws->fixed && draws->fixed[value])
    return false;
  bool both = !draws->has_role[TEMPERA_TARGET] ||
              (draws->integer && draws->integer[value]);
  for (int role = TEMPERA_TARGET; role <= TEMPERA_TEMPERED; role++) {
    if (!draws->has_role[role] || (role == TEMPERA_TEMPERED && !both))
      continue;
    double first = tm_draws_column(draws, (tempera_role)role, 0, value)[0];
    for (size_t c = 0; c < draws->chains; c++) {
      const double *x = tm_draws_column(draws, (tempera_role)role, c, value);
      for (size_t i = 0; i < tm_draws_rows(draws, (tempera_role)role); i++)
        if (x[i] != first)
          return false;
    }
  }
  return true;
}

static tempera_status find_frozen(const tempera_draws *draws,
                                  tempera_summary *summary,
                                  tempera_error *error) {
  size_t count = 0, first = 0;
  if (!draws->count)
    return TEMPERA_OK;
  for (size_t i = draws->size; i-- > 0;)
    if (is_frozen(draws, i)) {
      count++;
      first = i;
    }
  return count == 0 ? TEMPERA_OK
                    : tm_find_about(summary, TM_FIND_FROZEN, (double)count, 0,
                                    error, "%s", draws->names[first]);
}

static void excuse_bridge(tempera_summary *summary) {
  if (!bridge_is_void(summary))
    return;
  tm_findings_pardon(summary, TM_FIND_BRIDGE_COVER);
  tm_findings_pardon(summary, TM_FIND_BRIDGE_HALVES);
}

tempera_status tm_estimate_cross_check(const tempera_draws *draws,
                                       tempera_summary *summary,
                                       tempera_error *error) {
  TM_TRY(find_frozen(draws, summary, error));
  excuse_bridge(summary);
  if (draws->count && draws->evidence && summary->tau_bin_count &&
      summary->restarts == 0)
    TM_TRY(withdraw_unconnected(summary, error));
  if (draws->count && draws->evidence)
    TM_TRY(withdraw_unanchored(draws, summary, error));
  widen_for_trips(summary);
  tm_basin_gap gap;
  TM_TRY(tm_basin_check(draws, summary, &gap, error));
  if (!(gap.height > gap.limit))
    return TEMPERA_OK;
  TM_TRY(widen_for_basin(summary, gap.tau, gap.height, error));
  return tm_find_about(summary, TM_FIND_MISSED_BASIN, gap.height, gap.limit,
                       error, "%.2g", gap.tau);
}
