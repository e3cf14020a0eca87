/* summarise.c - a run's summary: what the draws say (estimate/), what they
 * cost, and what they were made by. */
#include "run/sampler.h"

#include "estimate/estimate.h"
#include "run/quantities.h"
#include "run/run.h"

#include <math.h>
#include <string.h>

static void fill_cost(const tempera_sampler *s, tempera_summary *summary) {
  const tm_ridge_view *view = s->ridge ? tm_ridge_look(s->ridge) : NULL;
  summary->likelihood_evaluations = tm_sampler_evaluations(s);
  summary->seconds = tm_sampler_seconds(s);
  summary->seconds_in_model = s->starts.seconds_in_model;
  if (view) {
    summary->gradient_evaluations = view->gradient_evaluations;
    summary->seconds_in_model += view->seconds_in_model;
  }
  if (s->laplace) {
    const tm_laplace_view *laplace = tm_laplace_look(s->laplace);
    summary->gradient_evaluations += laplace->gradient_evaluations;
    summary->seconds_in_model += laplace->seconds_in_model;
  }
  for (size_t c = 0; c < s->options.chains; c++) {
    const tm_evaluator *e = &s->groups[c]->evaluator;
    summary->gradient_evaluations += e->gradient_evaluations;
    summary->seconds_in_model += e->seconds;
  }
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
  const tm_ridge_view *view = tm_ridge_look(s->ridge);
  if (view->absent)
    return tm_summary_warn(summary,
                           "There is no ridge (%s); the run went on "
                           "without it.",
                           view->reason);
  summary->ridge_gap = view->gap;
  summary->ridge_knots = view->knots;
  summary->ridge_optimisations = view->optimisations;
  return copy_knots(view, tempera_model_size(s->model), summary, error);
}

static tempera_status fill_labels(const tempera_sampler *s,
                                  tempera_summary *summary,
                                  tempera_error *error) {
  const tempera_options *o = &s->options;
  size_t done = tm_sweeps_done(s);
  summary->version = tm_heap_text(TEMPERA_VERSION);
  summary->model = tm_heap_text(s->model->spec.name);
  summary->method = tm_heap_text(tm_method_word(o));
  if (!summary->version || !summary->model || !summary->method)
    return tm_fail_memory(error);
  for (size_t i = 0; i < s->unused.count; i++)
    if (tm_summary_warn(summary, "%s", s->unused.text[i]) != TEMPERA_OK)
      return tm_fail_memory(error);
  summary->seed = o->seed;
  summary->chains = o->chains;
  summary->warmup = o->warmup;
  summary->thin = o->thin;
  summary->iterations = done > o->warmup ? done - o->warmup : 0;
  summary->complete = s->satisfied || done == tm_sweeps_total(s);
  if (s->decision[0]) {
    summary->decision = tm_heap_text(s->decision);
    if (!summary->decision)
      return tm_fail_memory(error);
  }
  return TEMPERA_OK;
}

tempera_status tm_sampler_summarise(const tempera_sampler *sampler,
                                    bool quantities, tempera_summary **summary,
                                    tempera_error *error) {
  tempera_summary *made = tm_heap_alloc(1, sizeof *made);
  if (!made)
    return tm_fail_memory(error);
  uint64_t bridge = 0;
  tempera_status status = tm_estimate_summary(sampler->draws, made, error);
  if (status == TEMPERA_OK && sampler->options.bridge)
    status =
        tm_estimate_add_bridge(sampler->model, sampler->draws,
                               sampler->options.seed, made, &bridge, error);
  if (status == TEMPERA_OK)
    status = tm_estimate_doubt(sampler->draws, made, error);
  if (status == TEMPERA_OK)
    status = fill_labels(sampler, made, error);
  if (status == TEMPERA_OK)
    status = fill_ridge(sampler, made, error);
  if (status == TEMPERA_OK && sampler->begun && sampler->method->describe)
    status = sampler->method->describe(sampler, made);
  if (status == TEMPERA_OK && quantities)
    status = tm_quantities_summarise(sampler, made, error);
  if (status == TEMPERA_OK) {
    fill_cost(sampler, made);
    made->likelihood_evaluations += bridge;
    status = tm_estimate_verdict(made, error);
  }
  if (status != TEMPERA_OK) {
    tempera_summary_free(made);
    return status;
  }
  *summary = made;
  return TEMPERA_OK;
}

tempera_status tempera_sampler_summarise(const tempera_sampler *sampler,
                                         tempera_summary **summary,
                                         tempera_error *error) {
  return tm_sampler_summarise(sampler, true, summary, error);
}
