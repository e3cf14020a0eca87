/* summary.c - a summary from draws, part by part, and its memory. */
#include "estimate/summary.h"
#include "estimate/predictions.h"

#include "base/locale.h"
#include "estimate/answers/at_tau.h"
#include "estimate/answers/wider_prior.h"
#include "estimate/estimate.h"
#include "estimate/evidence/evidence.h"
#include "estimate/evidence/levels.h"
#include "estimate/findings.h"
#include "model/data.h"
#include "parallel/threads.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

/* More tempered draws than this are thinned for the evidence. */
enum { MOST_DRAWS = 2000000, TRIP_DRAWS = 4000 };

char *tm_heap_format(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  int length = tm_vsnprintf(NULL, 0, format, arguments);
  va_end(arguments);
  char *text = length < 0 ? NULL : tm_heap_alloc((size_t)length + 1, 1);
  va_start(arguments, format);
  if (text)
    tm_vsnprintf(text, (size_t)length + 1, format, arguments);
  va_end(arguments);
  return text;
}

static tempera_status fill_from_view(const tempera_draws *draws,
                                     tm_tempered *view,
                                     tempera_summary *summary,
                                     tempera_error *error) {
  tm_barrier barrier;
  TM_TRY(tm_barrier_find(view, &barrier, error));
  summary->barrier = barrier.total;
  TM_TRY(tm_trips_count(draws, &barrier, &summary->round_trips,
                        &summary->restarts, error));
  TM_TRY(tm_evidence_fill(draws, view, summary, error));
  TM_TRY(tm_curve_fill(view, summary, error));
  for (size_t i = 0; i < summary->curve_count; i++)
    summary->curve[i].barrier =
        tm_barrier_between(&barrier, view->tau_min, summary->curve[i].tau);
  return TEMPERA_OK;
}

static tempera_status fill_tempered(const tempera_draws *draws,
                                    tempera_summary *summary,
                                    tempera_error *error) {
  tm_tempered view;
  TM_TRY(tm_tempered_create(draws, MOST_DRAWS, &view, error));
  tempera_status status = fill_from_view(draws, &view, summary, error);
  tm_tempered_free(&view);
  return status;
}

/* By the kind of tempered draws there are. */
static tempera_status fill_evidence(const tempera_draws *draws,
                                    tempera_summary *summary,
                                    tempera_error *error) {
  if (tm_levels_apply(draws))
    return tm_levels_fill(draws, summary, error);
  if (draws->has_role[TEMPERA_TEMPERED])
    return fill_tempered(draws, summary, error);
  summary->zero_likelihood = tm_zero_likelihood(draws, NULL);
  return tm_evidence_fill_untempered(draws, summary, error);
}

/* The evidence, the reference leg, and workers on the values: pieces for
 * threads. */
typedef struct parts {
  const tempera_draws *draws, *reference;
  tempera_summary *summary;
  tm_leg_evidence *leg;
  tm_values *values;
  tempera_status status[2]; /* of the first two */
  tempera_error error[2];
} parts;

static void do_part(size_t k, void *context) {
  parts *p = context;
  if (k == 0) {
    p->status[0] = fill_evidence(p->draws, p->summary, &p->error[0]);
    tm_evidence_from_support(p->draws, p->summary);
    if (p->status[0] == TEMPERA_OK)
      p->status[0] = tm_tempering_fill(p->draws, p->summary, &p->error[0]);
  } else if (k == 1) {
    p->status[1] =
        tm_leg_evidence_make(p->reference, p->summary, &p->leg, &p->error[1]);
  } else {
    tm_values_work(p->values, k - 2);
  }
}

tempera_status tm_estimate_summary(const tempera_draws *draws, int threads,
                                   tempera_summary *summary,
                                   tempera_error *error) {
  tm_leg_evidence *none = NULL;
  return tm_estimate_both(draws, NULL, threads, summary, &none, error);
}

tempera_status tm_estimate_both(const tempera_draws *draws,
                                const tempera_draws *reference, int threads,
                                tempera_summary *summary, tm_leg_evidence **leg,
                                tempera_error *error) {
  parts p = {.draws = draws, .reference = reference, .summary = summary};
  summary->barrier = summary->relabelled_rhat = summary->relabelled_ess = NAN;
  summary->log_z = summary->se = summary->lower = summary->upper = NAN;
  summary->prior_log_z = summary->prior_log_z_se = NAN;
  summary->wbic = summary->fractional = (tempera_path_answer){NAN, NAN, NAN};
  TM_TRY(tm_estimate_name_values(draws->names, draws->size, &summary->values,
                                 &summary->value_count, error));
  TM_TRY(tm_values_begin(draws, NULL, draws->size, summary->values, &p.values,
                         error));
  tm_parallel_for(2 + tm_values_workers(p.values, threads), threads, do_part,
                  &p);
  *leg = p.leg;
  tempera_status status = tm_values_end(p.values, summary, error);
  for (size_t k = 0; k < 2; k++)
    if (p.status[k] != TEMPERA_OK) {
      if (error)
        *error = p.error[k];
      return p.status[k];
    }
  return status;
}

/* From the levels' barrier, or that of the draws. */
static tempera_status count_on_levels(const tempera_draws *draws,
                                      size_t *round_trips, size_t *restarts,
                                      tempera_error *error) {
  tm_levels levels;
  TM_TRY(tm_levels_create(draws, TRIP_DRAWS, &levels, error));
  tm_barrier barrier = tm_levels_barrier(&levels);
  tempera_status status =
      tm_trips_count(draws, &barrier, round_trips, restarts, error);
  tm_levels_free(&levels);
  return status;
}

tempera_status tm_estimate_round_trips(const tempera_draws *draws,
                                       size_t *round_trips, size_t *restarts,
                                       tempera_error *error) {
  tm_tempered view;
  tm_barrier barrier;
  if (tm_levels_apply(draws))
    return count_on_levels(draws, round_trips, restarts, error);
  TM_TRY(tm_tempered_create(draws, TRIP_DRAWS, &view, error));
  tempera_status status = tm_barrier_find(&view, &barrier, error);
  if (status == TEMPERA_OK)
    status = tm_trips_count(draws, &barrier, round_trips, restarts, error);
  tm_tempered_free(&view);
  return status;
}

void tm_values_free(tempera_value_summary *values, size_t count) {
  for (size_t i = 0; i < count; i++) {
    tm_heap_free(values[i].name);
    tm_heap_free(values[i].pmf);
  }
  tm_heap_free(values);
}

void tempera_summary_free(tempera_summary *summary) {
  if (!summary)
    return;
  for (size_t i = 0; i < summary->estimate_count; i++)
    tm_heap_free(summary->estimates[i].warning);
  for (size_t i = 0; i < summary->mode_count; i++)
    tm_heap_free(summary->modes[i].mean);
  for (size_t i = 0; i < summary->ridge_count; i++)
    tm_heap_free(summary->ridge[i].optimum);
  tm_findings_free(summary);
  tm_values_free(summary->values, summary->value_count);
  tm_values_free(summary->quantities, summary->quantity_count);
  tm_values_free(summary->components, summary->component_count);
  tm_data_marks_free(summary->data, summary->data_count);
  tm_heap_free(summary->version);
  tm_heap_free(summary->model);
  tm_heap_free(summary->method);
  tm_heap_free(summary->estimator);
  tm_heap_free(summary->estimates);
  tm_heap_free(summary->modes);
  tm_heap_free(summary->labels);
  tm_heap_free(summary->tau_bins);
  tm_heap_free(summary->curve);
  tm_heap_free(summary->history);
  tm_heap_free(summary->tau_prior);
  tm_heap_free(summary->sensitivity);
  if (summary->reference)
    tm_heap_free(summary->reference->curve);
  tm_heap_free(summary->reference);
  tm_heap_free(summary->basis);
  tm_heap_free(summary->levels);
  tm_heap_free(summary->ridge);
  tm_heap_free(summary->decision);
  tm_heap_free(summary->verdict);
  tm_at_tau_free(summary->at_tau, summary->at_tau_count);
  tm_wider_free(summary->wider, summary->wider_count);
  tm_loo_free(summary->loo);
  tm_predictions_free(summary->predictions);
  tm_heap_free(summary);
}
