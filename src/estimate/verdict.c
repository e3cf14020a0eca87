/* verdict.c - what the numbers of a summary mean: reliable, or what is wrong
 * and what to try. Every check adds its own findings; the verdict names the
 * gravest. */
#include "estimate/estimate.h"

#include "base/locale.h"
#include "base/text.h"
#include "estimate/evidence/evidence.h"
#include "estimate/findings.h"
#include "estimate/summary.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Good up to the first limit of each; past the second nothing can be trusted.
 * Between the two the run stands, and what it says is rough. */
static const double GOOD_TRIPS = 20, FEWEST_TRIPS = TM_FEWEST_TRIPS;
static const double GOOD_RHAT = 1.01, WORST_RHAT = 1.05;
static const double GOOD_ESS = 400, FEWEST_ESS = 100;
static const double MOST_REJECTED = 0.9;
/* 1.96 of it is a nat: a Bayes factor between e times too small and too large,
 * about what is "worth a bare mention". And the errors of logarithms of means
 * are first-order: at a relative error of a half the next term is a quarter of
 * them. */
static const double WORST_SE = 0.5;
/* What lets the reference leg vouch: its trips, how q covers the posterior's
 * tails, and starts that exclude at 95 % a basin of 5 %. */
static const double LEG_TRIPS = 100, MOST_PARETO = 0.7, FEWEST_STARTS = 59;

static bool has_draws(const tempera_summary *s) {
  for (size_t i = 0; i < s->value_count; i++)
    if (!isnan(s->values[i].mean))
      return true;
  return s->tau_bin_count > 0;
}

static bool is_checked(const tempera_estimate *e) {
  return !strcmp(e->name, "rb") || !strcmp(e->name, "ti") ||
         !strcmp(e->name, "ss") || !strcmp(e->name, "bridge") ||
         !strcmp(e->name, "st-weights");
}

static tempera_status check_evidence(tempera_summary *s, tempera_error *error) {
  if (s->estimate_count > 0 && !s->estimator)
    TM_TRY(tm_find(s, TM_FIND_NO_EVIDENCE, NAN, NAN, error));
  if (s->estimator && s->se > WORST_SE)
    TM_TRY(tm_find(s, TM_FIND_IMPRECISE, s->se, WORST_SE, error));
  for (size_t i = 0; i < s->estimate_count; i++) {
    const tempera_estimate *e = &s->estimates[i];
    if (!is_checked(e) || !isfinite(e->log_z) || !(e->reach < 1))
      continue;
    bool headline = s->estimator && !strcmp(e->name, s->estimator);
    TM_TRY(tm_find_about(s, headline ? TM_FIND_PATH_BOUNDED : TM_FIND_PATH_CUT,
                         e->reach, 1, error, "%s", e->name));
  }
  return TEMPERA_OK;
}

/* The worst R-hat and the smallest effective sample size, and of what. */
typedef struct worst {
  const char *slow, *thin; /* NULL: of nothing */
  double rhat, ess;
} worst;

static void consider(worst *w, const char *name, double rhat, double ess) {
  if (!isnan(rhat) && (!w->slow || rhat > w->rhat)) {
    w->slow = name;
    w->rhat = rhat;
  }
  if (!isnan(ess) && (!w->thin || ess < w->ess)) {
    w->thin = name;
    w->ess = ess;
  }
}

/* Values whose labels are permuted are judged once put in order: their own
 * R-hat only says how often labels changed. */
static worst worst_mixing(const tempera_summary *s) {
  worst w = {0};
  for (size_t i = 0; i < s->value_count; i++) {
    const tempera_value_summary *v = &s->values[i];
    if (!v->permuted)
      consider(&w, v->name, v->rhat, fmin(v->ess_bulk, v->ess_tail));
  }
  if (s->label_count)
    consider(&w, "the components in order", s->relabelled_rhat,
             s->relabelled_ess);
  return w;
}

/* ---- where the reference leg may vouch ----------------------------------
 *
 * With few round trips to the prior, the run may still speak of the modes
 * found (method 5.8), when everything below holds. */

static bool stands(const tempera_summary *s, const char *name) {
  const tempera_estimate *e = tm_estimate_find(s, name);
  return e && isfinite(e->log_z) && e->se > 0 && !e->warning;
}

/* States that did not come down, in basins that may hold so much that they
 * matter: a reliable run's log Z is off by less than its error without this
 * share (run/search.c). */
static const double MATTERS = 0.02;

static bool matters(const tempera_summary *s, double log_mass) {
  return !(log_mass < s->log_z + log(MATTERS));
}

/* A tail that q's is too light for, from which the leg comes down. */
static bool is_tail(const tempera_summary *s) {
  const tempera_reference *r = s->reference;
  return (double)r->far >= FEWEST_STARTS &&
         (r->far_absorbed == r->far || !matters(s, r->far_mass));
}

static bool lost_matter(const tempera_summary *s) {
  const tempera_reference *r = s->reference;
  return r->absorbed < r->starts && matters(s, r->lost_mass);
}

static tempera_status check_leg_mixing(tempera_summary *s,
                                       tempera_error *error) {
  const tempera_reference *r = s->reference;
  worst w = worst_mixing(s);
  consider(&w, "log density ratio to the reference", r->rhat, r->ess);
  if ((double)r->round_trips < LEG_TRIPS ||
      (double)r->fewest_trips < FEWEST_TRIPS)
    TM_TRY(tm_find_about(s, TM_FIND_REFERENCE_TRIPS, (double)r->round_trips,
                         LEG_TRIPS, error, "%zu", r->fewest_trips));
  if (!w.slow || !(w.rhat < GOOD_RHAT))
    TM_TRY(tm_find_about(s, TM_FIND_REFERENCE_RHAT, w.rhat, GOOD_RHAT, error,
                         "%s", w.slow ? w.slow : "anything"));
  if (!(r->pareto_k < MOST_PARETO) && !is_tail(s))
    TM_TRY(tm_find(s, TM_FIND_REFERENCE_TAIL, r->pareto_k, MOST_PARETO, error));
  return TEMPERA_OK;
}

static tempera_status check_leg_modes(tempera_summary *s,
                                      tempera_error *error) {
  static const char *const names[] = {"bridge", "reweighted", "rb-reference"};
  const tempera_reference *r = s->reference;
  for (size_t i = 0; i < 3; i++)
    if (!stands(s, names[i]))
      TM_TRY(tm_find_about(s, TM_FIND_REFERENCE_ALONE, NAN, NAN, error, "%s",
                           names[i]));
  if ((double)r->starts < FEWEST_STARTS)
    TM_TRY(tm_find_about(s, TM_FIND_FEW_STARTS, (double)r->starts,
                         FEWEST_STARTS, error, "%s", ""));
  else if (lost_matter(s))
    TM_TRY(tm_find(s, TM_FIND_UNABSORBED, (double)r->absorbed,
                   (double)r->starts, error));
  return TEMPERA_OK;
}

static bool leg_failed(const tempera_summary *s) {
  static const tm_finding_code codes[] = {
      TM_FIND_REFERENCE_TRIPS, TM_FIND_REFERENCE_RHAT, TM_FIND_REFERENCE_TAIL,
      TM_FIND_REFERENCE_ALONE, TM_FIND_FEW_STARTS,     TM_FIND_UNABSORBED};
  for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
    if (tm_finding_of(s, codes[i]))
      return true;
  return false;
}

/* What the prior leg lacks is then no objection. */
static tempera_status vouch(tempera_summary *s, tempera_error *error) {
  tm_findings_pardon(s, TM_FIND_UNCONNECTED);
  tm_findings_pardon(s, TM_FIND_PRIOR_UNEXPLORED);
  tm_findings_pardon(s, TM_FIND_TARGET_APART);
  return tm_find_about(s, TM_FIND_MODES_FOUND, (double)s->round_trips,
                       FEWEST_TRIPS, error, "%zu", s->reference->starts);
}

/* Is it worth to go on to what costs more? */
static bool leg_mixes(const tempera_summary *s) {
  const tempera_reference *r = s->reference;
  return r && (double)r->round_trips >= LEG_TRIPS &&
         (double)r->fewest_trips >= FEWEST_TRIPS && r->rhat < GOOD_RHAT;
}

static tempera_status check_trips(tempera_summary *s, bool mixing_only,
                                  tempera_error *error) {
  double trips = (double)s->round_trips;
  if (s->tau_bin_count == 0 || trips >= GOOD_TRIPS)
    return TEMPERA_OK;
  bool few = trips < FEWEST_TRIPS;
  if (mixing_only && few && leg_mixes(s))
    return TEMPERA_OK;
  if (few && s->reference) {
    TM_TRY(check_leg_mixing(s, error));
    TM_TRY(check_leg_modes(s, error));
    if (!leg_failed(s))
      return vouch(s, error);
  }
  return tm_find_about(s, few ? TM_FIND_FEW_TRIPS : TM_FIND_TRIPS_ROUGH, trips,
                       few ? FEWEST_TRIPS : GOOD_TRIPS, error, "%zu",
                       s->restarts);
}

/* Levels that hardly exchange share too little for one to check the other: a
 * basin may be missing between them, however steady the estimates look. */
static tempera_status check_levels(tempera_summary *s, tempera_error *error) {
  size_t apart = s->level_count;
  for (size_t t = 0; t + 1 < s->level_count; t++)
    if (s->levels[t].rejection > MOST_REJECTED &&
        (apart == s->level_count ||
         s->levels[t].rejection > s->levels[apart].rejection))
      apart = t;
  if (apart == s->level_count)
    return TEMPERA_OK;
  return tm_find_about(s, TM_FIND_LEVELS_APART,
                       100 * s->levels[apart].rejection, 100 * MOST_REJECTED,
                       error, "%.3g and %.3g", s->levels[apart].tau,
                       s->levels[apart + 1].tau);
}

static tempera_status check_mixing(tempera_summary *s, tempera_error *error) {
  worst w = worst_mixing(s);
  if (!w.slow && !w.thin && s->value_count > 0)
    TM_TRY(tm_find(s, TM_FIND_MIXING_UNKNOWN, NAN, NAN, error));
  if (w.slow && w.rhat > GOOD_RHAT)
    TM_TRY(tm_find_about(
        s, w.rhat > WORST_RHAT ? TM_FIND_CHAINS_APART : TM_FIND_RHAT_ROUGH,
        w.rhat, GOOD_RHAT, error, "%s", w.slow));
  if (w.thin && w.ess < GOOD_ESS)
    TM_TRY(tm_find_about(
        s, w.ess < FEWEST_ESS ? TM_FIND_FEW_EFFECTIVE : TM_FIND_ESS_ROUGH,
        w.ess, GOOD_ESS, error, "%s", w.thin));
  return TEMPERA_OK;
}

/* Chains at tau = 1 that agree may all sit in the same mode; equi-energy jumps
 * reach far, but only as far as a finite memory. */
static tempera_status check_tempering(tempera_summary *s,
                                      tempera_error *error) {
  if (s->tau_bin_count > 0)
    return TEMPERA_OK;
  bool memory = s->method && !strcmp(s->method, "ee");
  return tm_find(s, memory ? TM_FIND_MEMORY_ONLY : TM_FIND_UNTEMPERED, NAN, NAN,
                 error);
}

static char *words(const tempera_summary *s) {
  const char *problem, *advice;
  if (tm_findings_problem(s, &problem, &advice))
    return tm_heap_format("Not reliable: %s. Try this: %s.", problem, advice);
  const char *rough = tm_findings_worst(s) == TEMPERA_ROUGH
                          ? " Means and quantiles of the parameters are rough."
                          : "";
  char searched[160] = "";
  if (s->search_starts > 3)
    tm_snprintf(searched, sizeof searched,
                " (Searched from %zu starts: a basin that catches less than "
                "about %.2g %% of them would be missed.)",
                s->search_starts, 300 / (double)s->search_starts);
  int decimals = tm_decimals(s->se);
  if (tm_finding_of(s, TM_FIND_MODES_FOUND) && s->estimator) {
    const tempera_reference *r = s->reference;
    bool all = r->absorbed == r->starts;
    return tm_heap_format(
        "Reliable for the modes found: log Z = %.*f +- %.*f, %zu round trips "
        "on the reference leg, %s%zu states annealed from the prior led there%s"
        ", and the checks agree.%s",
        decimals, s->log_z, decimals, s->se, r->round_trips,
        all ? "all of " : "", r->absorbed,
        all ? "" : ", the others to where hardly any mass is", rough);
  }
  if (s->estimator && s->tau_bin_count)
    return tm_heap_format("Reliable: log Z = %.*f +- %.*f, %zu round trips, "
                          "and the checks agree.%s%s",
                          decimals, s->log_z, decimals, s->se, s->round_trips,
                          rough, searched);
  return tm_heap_format("Reliable: the chains have mixed; no evidence was "
                        "estimated.%s",
                        rough);
}

tempera_status tm_estimate_judge_mixing(tempera_summary *summary,
                                        tempera_error *error) {
  if (!has_draws(summary))
    return tm_find(summary, TM_FIND_NO_DRAWS, NAN, NAN, error);
  TM_TRY(check_trips(summary, true, error));
  return check_mixing(summary, error);
}

static tempera_status judge(tempera_summary *s, tempera_error *error) {
  if (!has_draws(s))
    return tm_find(s, TM_FIND_NO_DRAWS, NAN, NAN, error);
  TM_TRY(check_trips(s, false, error));
  TM_TRY(check_mixing(s, error));
  TM_TRY(check_evidence(s, error));
  TM_TRY(check_levels(s, error));
  if (s->ridge_beaten > 0)
    TM_TRY(tm_find(s, TM_FIND_RIDGE_BEATEN, (double)s->ridge_beaten, 0, error));
  return check_tempering(s, error);
}

tempera_status tm_estimate_verdict(tempera_summary *summary,
                                   tempera_error *error) {
  tm_findings_begin(summary);
  TM_TRY(judge(summary, error));
  TM_TRY(tm_findings_end(summary, error));
  char *verdict = words(summary);
  if (!verdict)
    return tm_fail_memory(error);
  tm_heap_free(summary->verdict);
  summary->verdict = verdict;
  summary->reliable = tm_findings_worst(summary) < TEMPERA_UNRELIABLE;
  bool found = tm_finding_of(summary, TM_FIND_MODES_FOUND);
  tm_heap_free(summary->basis);
  summary->basis = NULL;
  if (!summary->reliable)
    return TEMPERA_OK;
  summary->basis = tm_heap_text(found ? "modes-found" : "round-trips");
  if (!summary->basis)
    return tm_fail_memory(error);
  return TEMPERA_OK;
}
