/* verdict.c - what the numbers of a summary mean: reliable, or what is wrong
 * and what to try. Every check adds its own findings; the verdict names the
 * gravest. */
#include "estimate/estimate.h"

#include "base/text.h"
#include "estimate/findings.h"
#include "estimate/summary.h"

#include <math.h>
#include <string.h>

/* Good up to the first limit of each; past the second nothing can be trusted.
 * Between the two the run stands, and what it says is rough. */
static const double GOOD_TRIPS = 20, FEWEST_TRIPS = 10;
static const double GOOD_RHAT = 1.01, WORST_RHAT = 1.05;
static const double GOOD_ESS = 400, FEWEST_ESS = 100;
static const double MOST_REJECTED = 0.9;

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

static tempera_status check_trips(tempera_summary *s, tempera_error *error) {
  double trips = (double)s->round_trips;
  if (s->tau_bin_count == 0 || trips >= GOOD_TRIPS)
    return TEMPERA_OK;
  bool few = trips < FEWEST_TRIPS;
  return tm_find_about(s, few ? TM_FIND_FEW_TRIPS : TM_FIND_TRIPS_ROUGH, trips,
                       few ? FEWEST_TRIPS : GOOD_TRIPS, error, "%zu",
                       s->restarts);
}

/* Levels that hardly exchange share too little for one to check the other: a
 * basin may be missing between them, however steady the estimates look. */
static tempera_status check_levels(tempera_summary *s, tempera_error *error) {
  size_t worst = s->level_count;
  for (size_t t = 0; t + 1 < s->level_count; t++)
    if (s->levels[t].rejection > MOST_REJECTED &&
        (worst == s->level_count ||
         s->levels[t].rejection > s->levels[worst].rejection))
      worst = t;
  if (worst == s->level_count)
    return TEMPERA_OK;
  return tm_find_about(s, TM_FIND_LEVELS_APART,
                       100 * s->levels[worst].rejection, 100 * MOST_REJECTED,
                       error, "%.3g and %.3g", s->levels[worst].tau,
                       s->levels[worst + 1].tau);
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
  int decimals = tm_decimals(s->se);
  if (s->estimator && s->tau_bin_count)
    return tm_heap_format("Reliable: log Z = %.*f +- %.*f, %zu round trips, "
                          "and the checks agree.%s",
                          decimals, s->log_z, decimals, s->se, s->round_trips,
                          rough);
  return tm_heap_format("Reliable: the chains have mixed; no evidence was "
                        "estimated.%s",
                        rough);
}

tempera_status tm_estimate_judge_mixing(tempera_summary *summary,
                                        tempera_error *error) {
  if (!has_draws(summary))
    return tm_find(summary, TM_FIND_NO_DRAWS, NAN, NAN, error);
  TM_TRY(check_trips(summary, error));
  return check_mixing(summary, error);
}

static tempera_status judge(tempera_summary *s, tempera_error *error) {
  TM_TRY(tm_estimate_judge_mixing(s, error));
  if (!has_draws(s))
    return TEMPERA_OK;
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
  return TEMPERA_OK;
}
