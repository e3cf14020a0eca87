/* estimator_entry.c - from an estimator's number and influences to an entry of
 * a summary; and the harmonic mean, which every method with target draws has.
 */
#include "estimate/evidence/evidence.h"
#include "estimate/findings.h"
#include "estimate/summary.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
  MOST_ESTIMATES = 10, /* bridge included */
  MOST_TARGET_DRAWS = 2000000
};

static const char harmonic_warning[] =
    "unstable: the harmonic mean usually has infinite variance; do not use it";

tempera_status tm_estimates_reserve(tempera_summary *summary,
                                    tempera_error *error) {
  if (!summary->estimates)
    summary->estimates =
        tm_heap_alloc(MOST_ESTIMATES, sizeof(tempera_estimate));
  return summary->estimates ? TEMPERA_OK : tm_fail_memory(error);
}

bool tm_evidence_begin(const tm_tempered *view, tm_evidence *evidence) {
  *evidence = (tm_evidence){.chains = view->chains,
                            .rows = view->rows,
                            .psi = TM_NEW(view->arena, double, view->count)};
  return evidence->psi != NULL;
}

double tm_least_se(size_t draws) { return 3 / (1.96 * (double)draws); }

double tm_evidence_se(const tm_evidence *e, tm_monte_carlo *mc) {
  *mc = tm_influence_error(e->psi, e->chains, e->rows);
  double bound = e->half_range / 1.96;
  double se = sqrt(mc->se * mc->se + e->variance + bound * bound);
  return isnan(se) ? se : fmax(se, tm_least_se(e->chains * e->rows));
}

double tm_apart_limit(size_t round_trips) {
  double df = round_trips > 3 ? (double)round_trips - 1 : 2;
  return gsl_cdf_tdist_Qinv(0.0005, fmin(df, 1e4));
}

tempera_estimate *tm_estimate_add(tempera_summary *summary, const char *name,
                                  double log_z, double se) {
  tempera_estimate *e = &summary->estimates[summary->estimate_count++];
  *e = (tempera_estimate){.log_z = log_z,
                          .se = se,
                          .lower = log_z - 1.96 * se,
                          .upper = log_z + 1.96 * se,
                          .se_within = NAN,
                          .se_between = NAN,
                          .reach = 1};
  snprintf(e->name, sizeof e->name, "%s", name);
  return e;
}

tempera_estimate *tm_estimate_find(const tempera_summary *summary,
                                   const char *name) {
  for (size_t i = 0; i < summary->estimate_count; i++)
    if (strcmp(summary->estimates[i].name, name) == 0)
      return &summary->estimates[i];
  return NULL;
}

void tm_estimate_withdraw(tempera_estimate *e) {
  e->log_z = e->se = e->lower = e->upper = NAN;
  e->se_within = e->se_between = NAN;
}

tempera_status tm_estimate_warn(tempera_estimate *e, char *warning,
                                tempera_error *error) {
  if (!warning)
    return tm_fail_memory(error);
  tm_heap_free(e->warning);
  e->warning = warning;
  return TEMPERA_OK;
}

tempera_status tm_evidence_record(tempera_summary *summary, const char *name,
                                  const tm_evidence *e, tempera_estimate **made,
                                  tempera_error *error) {
  tm_monte_carlo mc;
  double se = tm_evidence_se(e, &mc);
  tempera_estimate *est = tm_estimate_add(summary, name, e->log_z, se);
  est->se_within = mc.within;
  est->se_between = mc.between;
  *made = est;
  if (!isfinite(est->log_z) || !isfinite(se)) {
    tm_estimate_withdraw(est);
    return tm_find_estimate(summary, est, TM_FIND_NO_ESTIMATE, NAN, NAN, error,
                            "not enough draws for an estimate");
  }
  double bound = e->half_range / 1.96;
  if (!(e->top < 1 && (bound > 0.1 * se || e->top < 0.9)))
    return TEMPERA_OK;
  est->reach = e->top;
  return tm_estimate_warn(
      est,
      tm_heap_format("tempered chain reached tau=%.2g only; the rest is "
                     "bounded by convexity, giving +-%.2g of the error",
                     e->top, e->half_range),
      error);
}

static void shift(double by, double error, double *log_z, double *se,
                  double *lower, double *upper) {
  *log_z += by;
  *se = hypot(*se, error);
  *lower = *log_z - 1.96 * *se;
  *upper = *log_z + 1.96 * *se;
}

void tm_evidence_from_support(const tempera_draws *draws,
                              tempera_summary *summary) {
  double by = draws->log_support, error = draws->support_se;
  if (!(by < 0))
    return;
  for (size_t i = 0; i < summary->estimate_count; i++) {
    tempera_estimate *e = &summary->estimates[i];
    shift(by, error, &e->log_z, &e->se, &e->lower, &e->upper);
  }
  shift(by, error, &summary->log_z, &summary->se, &summary->lower,
        &summary->upper);
  for (size_t i = 0; i < summary->curve_count; i++)
    if (summary->curve[i].tau > 0)
      summary->curve[i].log_z += by;
  summary->zero_likelihood = -expm1(by - draws->log_kept);
}

tempera_status tm_estimate_take(tempera_summary *summary,
                                const tempera_estimate *e,
                                tempera_error *error) {
  char *name = tm_heap_text(e->name);
  if (!name)
    return tm_fail_memory(error);
  tm_heap_free(summary->estimator);
  summary->estimator = name;
  summary->log_z = e->log_z;
  summary->se = e->se;
  summary->lower = e->lower;
  summary->upper = e->upper;
  return TEMPERA_OK;
}

tempera_status tm_evidence_add_phm(const tempera_draws *draws,
                                   tm_tempered *view, tempera_summary *summary,
                                   tempera_error *error) {
  if (!view->target)
    return TEMPERA_OK;
  tm_evidence e;
  if (!tm_evidence_begin(view, &e))
    return tm_fail_memory(error);
  tm_evidence_phm(view, &e);
  tm_evidence_add_support(draws, view, &e);
  tempera_estimate *made;
  TM_TRY(tm_evidence_record(summary, "phm", &e, &made, error));
  return tm_estimate_warn(made, tm_heap_text(harmonic_warning), error);
}

tempera_status tm_evidence_fill_untempered(const tempera_draws *draws,
                                           tempera_summary *summary,
                                           tempera_error *error) {
  tm_tempered view;
  if (!draws->evidence || !draws->count)
    return TEMPERA_OK;
  TM_TRY(tm_tempered_create_target(draws, MOST_TARGET_DRAWS, &view, error));
  tempera_status status = tm_estimates_reserve(summary, error);
  if (status == TEMPERA_OK)
    status = tm_evidence_add_phm(draws, &view, summary, error);
  tm_tempered_free(&view);
  return status;
}
