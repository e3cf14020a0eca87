/* summarise.c - a run's summary: what the draws say (estimate/), what they
 * cost, and what they were made by. */
#include "run/sampler.h"

#include "estimate/answers/at_tau.h"
#include "estimate/answers/power.h"
#include "estimate/answers/sensitivity.h"
#include "estimate/answers/wider_prior.h"
#include "estimate/estimate.h"
#include "estimate/evidence/evidence.h"
#include "estimate/findings.h"
#include "parallel/ranks.h"
#include "run/absorption.h"
#include "run/advice.h"
#include "run/leg_bridge.h"
#include "run/predicting.h"
#include "run/quantities.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void fill_cost(const tempera_sampler *s, tempera_summary *summary) {
  summary->likelihood_evaluations = tm_sampler_evaluations(s);
  summary->seconds = tm_sampler_seconds(s);
  summary->seconds_in_model = s->starts.seconds_in_model;
  if (s->store) {
    tm_work work = tm_store_work(s->store);
    summary->gradient_evaluations = work.gradient_evaluations;
    summary->seconds_in_model += work.seconds_in_model;
  }
  for (size_t c = 0; c < s->options.chains; c++) {
    tm_group_cost cost = tm_group_cost_of(s->groups[c]);
    summary->gradient_evaluations += cost.gradient_evaluations;
    summary->seconds_in_model += cost.seconds;
  }
  tm_leg_cost leg = tm_leg_cost_of(s);
  summary->gradient_evaluations += leg.gradient_evaluations;
  summary->seconds_in_model += leg.seconds;
}

/* Reports draw the optimum against tau beside the draws. */
static tempera_status copy_knots(const tm_ridge_view *view, size_t size,
                                 tempera_summary *summary,
                                 tempera_error *error) {
  summary->ridge = tm_heap_alloc(view->knots, sizeof *summary->ridge);
  if (!summary->ridge)
    return tm_fail_memory(error);
  for (size_t k = 0; k < view->knots; k++) {
    double *optimum = tm_heap_alloc(size, sizeof *optimum);
    if (!optimum)
      return tm_fail_memory(error);
    memcpy(optimum, view->theta + k * size, size * sizeof *optimum);
    summary->ridge[summary->ridge_count++] =
        (tempera_ridge_point){view->tau[k], view->height[k], optimum};
  }
  return TEMPERA_OK;
}

static tempera_status fill_ridge(const tempera_sampler *s,
                                 tempera_summary *summary,
                                 tempera_error *error) {
  summary->ridge_gap = NAN;
  if (!s->ridge)
    return TEMPERA_OK;
  const tm_ridge_view *view = &s->ridge->view;
  if (view->absent)
    return tm_find_about(summary, TM_FIND_NO_RIDGE, NAN, NAN, error, "%s",
                         view->reason);
  summary->ridge_gap = view->gap;
  summary->ridge_knots = view->knots;
  summary->ridge_optimisations = view->optimisations;
  return copy_knots(view, tempera_model_size(s->model), summary, error);
}

/* NaN and +infinity that the chains have met. */
static tempera_status tell_rejected(const tempera_sampler *s,
                                    tempera_summary *summary,
                                    tempera_error *error) {
  uint64_t rejected = 0, answers = 0;
  const char *first = NULL;
  for (size_t c = 0; c < s->options.chains; c++) {
    tm_group_cost cost = tm_group_cost_of(s->groups[c]);
    rejected += cost.rejected;
    answers += cost.answers;
    first = first ? first : cost.rejected_at;
  }
  return rejected
             ? tm_find_about(summary, TM_FIND_NOT_NUMBERS, (double)rejected,
                             (double)answers, error, "%.250s", first)
             : TEMPERA_OK;
}

/* Of log Z, about as much; a fraction of the error that runs aim at. */
static const double MOST_ROUNDED = 0.005;

static tempera_status tell_rounded(const tempera_sampler *s,
                                   tempera_summary *summary,
                                   tempera_error *error) {
  double share;
  size_t worst;
  if (!s->rounded.arena || !s->draws->count)
    return TEMPERA_OK;
  TM_TRY(tm_rounded_share(&s->rounded, s->draws, &share, &worst, error));
  return share > MOST_ROUNDED
             ? tm_find_about(summary, TM_FIND_ROUNDED, share, MOST_ROUNDED,
                             error, "%s", s->model->names[worst])
             : TEMPERA_OK;
}

static tempera_status fill_labels(const tempera_sampler *s,
                                  tempera_summary *summary,
                                  tempera_error *error) {
  const tempera_options *o = &s->options;
  summary->version = tm_heap_text(TEMPERA_VERSION);
  summary->model = tm_heap_text(s->model->spec.name);
  summary->method = tm_heap_text(tm_method_word(o));
  if (!summary->version || !summary->model || !summary->method)
    return tm_fail_memory(error);
  if (s->starts.improper)
    TM_TRY(tm_find_about(summary, TM_FIND_IMPROPER, NAN, NAN, error, "%s",
                         s->starts.culprit));
  for (size_t i = 0; i < s->unused.count; i++)
    TM_TRY(tm_find_about(summary, TM_FIND_UNUSED_OPTION, NAN, NAN, error, "%s",
                         s->unused.text[i]));
  if (s->prior.uncertain[0])
    TM_TRY(tm_find_about(summary, TM_FIND_PRIOR_UNVOUCHED, NAN, NAN, error,
                         "%s", s->prior.uncertain));
  if (s->support.uncertain[0])
    TM_TRY(tm_find_about(summary, TM_FIND_SUPPORT_UNVOUCHED, NAN, NAN, error,
                         "%s", s->support.uncertain));
  if (s->barren && tm_sweeps_done(s) >= o->warmup)
    TM_TRY(
        tm_find_about(summary, TM_FIND_BARREN_WARMUP,
                      (double)(s->round_end - s->round_start), NAN, error, "%s",
                      s->annealed ? ", though log z was annealed anew" : ""));
  TM_TRY(tell_rejected(s, summary, error));
  TM_TRY(tell_rounded(s, summary, error));
  if (s->model->spec.no_likelihood)
    TM_TRY(tm_find(summary, TM_FIND_NO_LIKELIHOOD, NAN, NAN, error));
  summary->seed = o->seed;
  summary->chains = o->chains;
  summary->warmup = o->warmup;
  summary->thin = o->thin;
  return TEMPERA_OK;
}

/* How the run ended, and what it has cost, the summary's likelihood calls
 * among it. */
static tempera_status fill_outcome(const tempera_sampler *s, uint64_t calls,
                                   tempera_summary *summary,
                                   tempera_error *error) {
  size_t done = tm_sweeps_done(s), warmup = s->options.warmup;
  summary->iterations = done > warmup ? done - warmup : 0;
  summary->complete = s->satisfied || done == tm_sweeps_total(s);
  fill_cost(s, summary);
  summary->likelihood_evaluations += calls;
  if (!s->decision[0])
    return TEMPERA_OK;
  summary->decision = tm_heap_text(s->decision);
  return summary->decision ? TEMPERA_OK : tm_fail_memory(error);
}

/* Modes, the reference leg and the bridge, which fill different parts of a
 * summary. */
enum { PARTS = 3 };
typedef struct parts {
  const tempera_sampler *sampler;
  tempera_summary *summary;
  tm_leg_evidence *leg;
  bool evidence; /* may there be any? With log z(0), from the bridge. */
  uint64_t *bridge;
  tempera_status status[PARTS];
  tempera_error error[PARTS];
} parts;

static tempera_status bridge(const tempera_sampler *s, tempera_summary *summary,
                             uint64_t *calls, tempera_error *error) {
  tm_bridge_settings settings = {.seed = s->options.seed,
                                 .threads = s->options.threads};
  tm_bridge_terms terms;
  uint64_t drawn = 0;
  if (!tm_leg_bridges(s) || !summary->estimates)
    return tm_estimate_add_bridge(s->model, s->draws, &settings, summary, calls,
                                  error);
  tm_arena *arena = tm_arena_create();
  if (!arena)
    return tm_fail_memory(error);
  tempera_status status = tm_leg_bridge_terms(s, arena, &terms, &drawn, error);
  settings.terms = &terms;
  if (status == TEMPERA_OK)
    status = tm_estimate_add_bridge(s->model, s->draws, &settings, summary,
                                    calls, error);
  *calls += drawn;
  tm_arena_free(arena);
  return status;
}

static void do_part(size_t k, void *context) {
  parts *p = context;
  const tempera_sampler *s = p->sampler;
  if (k == 0)
    p->status[k] = tm_estimate_modes(s->draws, p->summary, &p->error[k]);
  else if (k == 1)
    p->status[k] = tm_reference_weigh(p->leg, p->evidence, &p->error[k]);
  else
    p->status[k] = bridge(s, p->summary, p->bridge, &p->error[k]);
}

/* No mixture can be fitted to many integers: where tempering gives an estimate,
 * one that cannot be right would only contradict it. */
enum { MANY_INTEGERS = 16 };

static bool bridges(const tempera_sampler *s) {
  size_t integers = s->model->dimension - s->model->real_dimension;
  return s->options.bridge &&
         !(integers > MANY_INTEGERS && s->method->tempered);
}

static tempera_status do_parts(parts *p, tempera_error *error) {
  int threads = tm_threads(p->sampler->options.threads);
  size_t count = bridges(p->sampler) ? PARTS : PARTS - 1;
  /* One after the other where ranks share the bridge's calls, or they go to
   * the model in batches. */
  bool alone = tm_ranks() || p->sampler->model->in_batches;
  for (size_t k = 0; alone && k < count; k++)
    do_part(k, p);
  if (!alone)
    tm_parallel_for(count, threads, do_part, p);
  for (size_t k = 0; k < PARTS; k++)
    if (p->status[k] != TEMPERA_OK) {
      if (error)
        *error = p->error[k];
      return p->status[k];
    }
  return TEMPERA_OK;
}

/* `calls` counts likelihood calls here and below. */
static tempera_status estimate(const tempera_sampler *s,
                               tempera_summary *summary, tm_leg_evidence **leg,
                               uint64_t *calls, tempera_error *error) {
  int threads = tm_threads(s->options.threads);
  TM_TRY(tm_estimate_both(s->draws, tempera_sampler_reference(s), threads,
                          summary, leg, error));
  return tm_estimate_labels(s->model, s->draws, threads, summary, calls, error);
}

/* After `estimate`: the rest that draws and sampler tell, but for the model's
 * quantities. */
static tempera_status complete(const tempera_sampler *s,
                               tempera_summary *summary, tm_leg_evidence *leg,
                               uint64_t *calls, tempera_error *error) {
  uint64_t bridge = 0;
  parts p = {.sampler = s,
             .summary = summary,
             .leg = leg,
             .evidence = bridges(s) && summary->estimates,
             .bridge = &bridge};
  TM_TRY(do_parts(&p, error));
  *calls += bridge;
  TM_TRY(tm_estimate_label_findings(summary, error));
  TM_TRY(tm_estimate_cross_check(s->draws, summary, error));
  if (summary->reference) {
    const tm_absorption *a = &s->absorption;
    summary->reference->starts = a->starts;
    summary->reference->absorbed = a->absorbed;
    summary->reference->lost_mass = a->lost_mass;
    summary->reference->far = a->far;
    summary->reference->far_absorbed = a->far_absorbed;
    summary->reference->far_mass = a->far_mass;
  }
  TM_TRY(tm_estimate_add_reference(leg, summary, error));
  TM_TRY(fill_labels(s, summary, error));
  TM_TRY(fill_ridge(s, summary, error));
  TM_TRY(tm_landscape_describe(s, summary, error));
  return s->begun && s->method->describe ? s->method->describe(s, summary)
                                         : TEMPERA_OK;
}

/* ---- checks on the way ----------------------------------------------------
 */

static double fewest_effective(const tempera_summary *summary) {
  double fewest = INFINITY;
  for (size_t i = 0; i < summary->value_count; i++)
    fewest = fmin(
        fewest, fmin(summary->values[i].ess_bulk, summary->values[i].ess_tail));
  return fewest;
}

/* Only runs that have mixed, and may end now, pay for the rest. */
static tempera_status check_with(tempera_sampler *s, tm_may_end may_end,
                                 tempera_summary *summary,
                                 tm_leg_evidence **leg, tm_check *check,
                                 tempera_error *error) {
  TM_TRY(estimate(s, summary, leg, &s->estimate_evaluations, error));
  TM_TRY(tm_estimate_judge_mixing(summary, error));
  check->mixed = !tm_findings_open(summary);
  check->ess = fewest_effective(summary);
  check->round_trips = summary->round_trips;
  check->whole = check->mixed && (!may_end || may_end(s, check));
  if (check->whole) {
    if (summary->round_trips < TM_FEWEST_TRIPS)
      TM_TRY(tm_absorption_measure(s, error));
    TM_TRY(complete(s, summary, *leg, &s->estimate_evaluations, error));
    TM_TRY(tm_estimate_verdict(summary, error));
  } else {
    TM_TRY(tm_findings_end(summary, error));
  }
  check->open = tm_findings_open(summary);
  check->se = summary->se;
  check->only_trips = tm_findings_only_trips(summary);
  if (check->open) /* without the full stop */
    snprintf(check->why, sizeof check->why, "%.*s",
             (int)strlen(summary->findings[0].words) - 1,
             summary->findings[0].words);
  return TEMPERA_OK;
}

tempera_status tm_sampler_check(tempera_sampler *sampler, tm_may_end may_end,
                                tm_check *check, tempera_error *error) {
  tempera_summary *made = tm_heap_alloc(1, sizeof *made);
  if (!made)
    return tm_fail_memory(error);
  *check = (tm_check){0};
  uint64_t before = sampler->estimate_evaluations;
  tm_leg_evidence *leg = NULL;
  tempera_status status =
      check_with(sampler, may_end, made, &leg, check, error);
  tm_leg_evidence_free(leg);
  if (status != TEMPERA_OK || !check->whole) {
    tempera_summary_free(made);
    return status;
  }
  tempera_summary_free(atomic_exchange(&sampler->checked, made));
  sampler->checked_count = sampler->draws->count;
  sampler->checked_calls = sampler->estimate_evaluations - before;
  return TEMPERA_OK;
}

/* The last check's summary, if nothing was drawn since; else NULL. It can be
 * had once, by all ranks or none. */
static tempera_summary *take_checked(const tempera_sampler *sampler) {
  tempera_sampler *s = (tempera_sampler *)(uintptr_t)sampler;
  if (s->checked_count != s->draws->count || tm_ranks_aside())
    return NULL;
  return atomic_exchange(&s->checked, NULL);
}

/* ---- at the end -----------------------------------------------------------
 */

static tempera_status summarise(const tempera_sampler *s,
                                tempera_summary *summary, uint64_t *calls,
                                tempera_error *error) {
  tm_leg_evidence *leg = NULL;
  tempera_status status = estimate(s, summary, &leg, calls, error);
  if (status == TEMPERA_OK)
    status = complete(s, summary, leg, calls, error);
  tm_leg_evidence_free(leg);
  return status;
}

tempera_status tempera_sampler_summarise(const tempera_sampler *sampler,
                                         tempera_summary **summary,
                                         tempera_error *error) {
  uint64_t calls = 0;
  tempera_status status = TEMPERA_OK;
  tempera_summary *made = take_checked(sampler);
  if (!made) {
    made = tm_heap_alloc(1, sizeof *made);
    if (!made)
      return tm_fail_memory(error);
    status = summarise(sampler, made, &calls, error);
  }
  if (status == TEMPERA_OK)
    status = tm_estimate_history(
        sampler->draws, tm_threads(sampler->options.threads), made, error);
  if (status == TEMPERA_OK)
    status = tm_quantities_summarise(sampler, made, error);
  if (status == TEMPERA_OK)
    status = tm_predictions_add(sampler, made, error);
  if (status == TEMPERA_OK)
    status = fill_outcome(sampler, calls, made, error);
  if (status == TEMPERA_OK)
    status = tm_estimate_verdict(made, error);
  if (status == TEMPERA_OK)
    status = tm_advise(sampler, made, error);
  if (status == TEMPERA_OK)
    status = tm_estimate_power(sampler->draws, tm_sampler_observations(sampler),
                               made, error);
  if (status == TEMPERA_OK)
    status = tm_estimate_at_tau(
        sampler->draws, sampler->options.at_tau, sampler->options.at_tau_count,
        tm_seed_of(&sampler->options), tm_threads(sampler->options.threads),
        made, error);
  if (status == TEMPERA_OK)
    status = tm_estimate_wider(sampler->model, sampler->draws,
                               tm_seed_of(&sampler->options), made, error);
  if (status == TEMPERA_OK)
    status = tm_estimate_sensitivity(sampler->draws, made, error);
  if (status != TEMPERA_OK)
    tempera_summary_free(made);
  else
    *summary = made;
  return status;
}
