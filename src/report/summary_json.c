/* summary_json.c - a summary as summary.json. The names are an interface that
 * users' scripts rely on; absent numbers are null, never NaN. */
#include "base/json.h"
#include "base/memory.h"
#include "estimate/findings.h"
#include "estimate/predictions.h"
#include "report/answers_json.h"
#include "report/fields.h"

#include <math.h>

static json_t *data(const tempera_summary *s) {
  json_t *list = json_array();
  for (size_t i = 0; i < s->data_count; i++) {
    json_t *item = json_object();
    tm_json_string(item, "name", s->data[i].name);
    json_object_set_new(item, "array", json_boolean(s->data[i].array));
    tm_json_hash(item, "hash", s->data[i].hash);
    tm_json_real(item, "value", s->data[i].value);
    json_array_append_new(list, item);
  }
  return list;
}

static json_t *history(const tempera_summary *s) {
  json_t *list = json_array();
  for (size_t i = 0; i < s->history_count; i++) {
    json_t *item = json_object();
    tm_json_real(item, "share", s->history[i].share);
    tm_json_real(item, "log_z", s->history[i].log_z);
    tm_json_real(item, "se", s->history[i].se);
    json_array_append_new(list, item);
  }
  return list;
}

static json_t *estimators(const tempera_summary *s) {
  json_t *list = json_array();
  for (size_t i = 0; i < s->estimate_count; i++) {
    const tempera_estimate *e = &s->estimates[i];
    json_t *item = json_object();
    tm_json_string(item, "name", e->name);
    tm_json_real(item, "log_z", e->log_z);
    tm_json_real(item, "se", e->se);
    tm_json_real(item, "lower", e->lower);
    tm_json_real(item, "upper", e->upper);
    tm_json_real(item, "se_within", e->se_within);
    tm_json_real(item, "se_between", e->se_between);
    tm_json_real(item, "reach", e->reach);
    tm_json_string(item, "warning", e->warning);
    json_array_append_new(list, item);
  }
  return list;
}

static json_t *evidence(const tempera_summary *s) {
  json_t *object = json_object();
  tm_json_real(object, "log_z", s->log_z);
  tm_json_real(object, "se", s->se);
  tm_json_real(object, "lower", s->lower);
  tm_json_real(object, "upper", s->upper);
  tm_json_string(object, "estimator", s->estimator);
  tm_json_real(object, "zero_likelihood", s->zero_likelihood);
  json_object_set_new(object, "estimators", estimators(s));
  json_object_set_new(object, "history", history(s));
  return object;
}

static json_t *modes(const tempera_summary *s) {
  json_t *list = json_array();
  for (size_t i = 0; i < s->mode_count; i++) {
    json_t *item = json_object(), *mean = json_object();
    tm_json_real(item, "weight", s->modes[i].weight);
    tm_json_real(item, "se", s->modes[i].se);
    for (size_t j = 0; j < s->value_count && s->modes[i].mean; j++)
      tm_json_real(mean, s->values[j].name, s->modes[i].mean[j]);
    json_object_set_new(item, "mean", mean);
    json_array_append_new(list, item);
  }
  return list;
}

static json_t *labels(const tempera_summary *s) {
  json_t *list = json_array();
  for (size_t i = 0; i < s->label_count; i++)
    json_array_append_new(list, json_real(s->labels[i]));
  return list;
}

static json_t *pmf(const tempera_value_summary *v) {
  json_t *list = json_array();
  for (size_t i = 0; i < v->pmf_count; i++) {
    json_t *item = json_object();
    json_object_set_new(item, "value", json_integer(v->pmf[i].value));
    tm_json_real(item, "probability", v->pmf[i].probability);
    json_array_append_new(list, item);
  }
  return list;
}

static json_t *sensitivity(const tempera_sensitivity *s) {
  if (!s || !isfinite(s->prior) || !isfinite(s->likelihood))
    return json_null();
  json_t *object = json_object();
  tm_json_real(object, "prior", s->prior);
  tm_json_real(object, "prior_se", s->prior_se);
  tm_json_real(object, "likelihood", s->likelihood);
  tm_json_real(object, "likelihood_se", s->likelihood_se);
  tm_json_string(object, "word", tempera_sensitivity_words(s));
  return object;
}

/* Those of each, after them. */
static void add_sensitivities(const tempera_summary *s, json_t *list) {
  for (size_t i = 0; i < s->value_count; i++)
    json_object_set_new(
        json_array_get(list, i), "sensitivity",
        sensitivity(s->sensitivity ? &s->sensitivity[i] : NULL));
}

json_t *tm_values_json(const tempera_value_summary *each, size_t count) {
  json_t *list = json_array();
  for (size_t i = 0; i < count; i++) {
    const tempera_value_summary *v = &each[i];
    json_t *item = json_object();
    tm_json_string(item, "name", v->name);
    for (size_t f = 0; f < TM_VALUE_FIELDS; f++)
      tm_json_real(item, tm_value_fields[f].name,
                   *tm_value_number((tempera_value_summary *)v, f));
    if (v->permuted)
      json_object_set_new(item, "permuted", json_true());
    if (v->pmf)
      json_object_set_new(item, "pmf", pmf(v));
    json_array_append_new(list, item);
  }
  return list;
}

static json_t *tau_bins(const tempera_summary *s) {
  json_t *list = json_array();
  for (size_t i = 0; i < s->tau_bin_count; i++) {
    const tempera_tau_bin *b = &s->tau_bins[i];
    json_t *item = json_object();
    tm_json_real(item, "lower", b->lower);
    tm_json_real(item, "upper", b->upper);
    tm_json_integer(item, "draws", b->draws);
    tm_json_real(item, "acceptance", b->acceptance);
    tm_json_real(item, "tau_acceptance", b->tau_acceptance);
    tm_json_real(item, "ridge_excess", b->ridge_excess);
    json_array_append_new(list, item);
  }
  return list;
}

static json_t *levels(const tempera_summary *s) {
  json_t *list = json_array();
  for (size_t i = 0; i < s->level_count; i++) {
    const tempera_level *level = &s->levels[i];
    json_t *item = json_object();
    tm_json_real(item, "tau", level->tau);
    tm_json_real(item, "log_z", level->log_z);
    tm_json_real(item, "mean_log_likelihood", level->mean_log_likelihood);
    tm_json_real(item, "rejection", level->rejection);
    tm_json_real(item, "barrier", level->barrier);
    json_array_append_new(list, item);
  }
  return list;
}

static json_t *curve(const tempera_curve_point *points, size_t count,
                     const char *mean) {
  json_t *list = json_array();
  for (size_t i = 0; i < count; i++) {
    json_t *item = json_object();
    tm_json_real(item, "tau", points[i].tau);
    tm_json_real(item, "log_z", points[i].log_z);
    tm_json_real(item, mean, points[i].mean_log_likelihood);
    tm_json_real(item, "barrier", points[i].barrier);
    json_array_append_new(list, item);
  }
  return list;
}

static json_t *reference(const tempera_reference *r) {
  json_t *object = json_object();
  if (!r) {
    json_decref(object);
    return json_null();
  }
  tm_json_real(object, "barrier", r->barrier);
  tm_json_integer(object, "restarts", r->restarts);
  tm_json_integer(object, "round_trips", r->round_trips);
  tm_json_integer(object, "fewest_round_trips", r->fewest_trips);
  tm_json_integer(object, "absorbed", r->absorbed);
  tm_json_integer(object, "starts", r->starts);
  tm_json_real(object, "lost_mass", r->lost_mass);
  tm_json_integer(object, "far", r->far);
  tm_json_integer(object, "far_absorbed", r->far_absorbed);
  tm_json_real(object, "far_mass", r->far_mass);
  tm_json_real(object, "swap_acceptance", r->swap_acceptance);
  tm_json_real(object, "acceptance", r->acceptance);
  tm_json_real(object, "rhat", r->rhat);
  tm_json_real(object, "ess", r->ess);
  tm_json_real(object, "pareto_k", r->pareto_k);
  json_object_set_new(object, "curve",
                      curve(r->curve, r->curve_count, "mean_log_ratio"));
  return object;
}

/* An optimum's numbers are in the order of `parameters`. */
static json_t *ridge(const tempera_summary *s) {
  json_t *list = json_array();
  for (size_t i = 0; i < s->ridge_count; i++) {
    json_t *item = json_object(), *optimum = json_array();
    tm_json_real(item, "tau", s->ridge[i].tau);
    tm_json_real(item, "height", s->ridge[i].height);
    for (size_t j = 0; j < s->value_count; j++) {
      double value = s->ridge[i].optimum[j];
      json_array_append_new(optimum,
                            isfinite(value) ? json_real(value) : json_null());
    }
    json_object_set_new(item, "optimum", optimum);
    json_array_append_new(list, item);
  }
  return list;
}

/* A basin that catches this share of the starts is missed by all of them in
 * one run of twenty. */
static json_t *search(const tempera_summary *s) {
  json_t *object = json_object();
  double starts = (double)s->search_starts;
  tm_json_integer(object, "starts", s->search_starts);
  tm_json_integer(object, "basins", s->search_basins);
  tm_json_real(object, "missed_share", starts > 3 ? 3 / starts : NAN);
  return object;
}

/* No error is zero: a summary made by hand has none. */
json_t *tm_path_answer_json(const tempera_path_answer *answer,
                            const char *value, const char *tau) {
  const tempera_path_answer *a = answer;
  if (!(a->se > 0))
    return json_null();
  json_t *object = json_object();
  tm_json_real(object, value, a->value);
  tm_json_real(object, "se", a->se);
  tm_json_real(object, tau, a->tau);
  return object;
}

static json_t *tau_prior(const tempera_summary *s) {
  if (!s->tau_prior)
    return json_null();
  json_t *object = json_object(), *list = json_array();
  for (size_t i = 0; i < s->tau_prior_count; i++) {
    json_t *item = json_object();
    tm_json_real(item, "tau", s->tau_prior[i].tau);
    tm_json_real(item, "log_prior", s->tau_prior[i].log_prior);
    json_array_append_new(list, item);
  }
  tm_json_real(object, "log_atom", s->tau_prior_atom);
  json_object_set_new(object, "steps", json_boolean(s->tau_prior_steps));
  json_object_set_new(object, "knots", list);
  return object;
}

static json_t *tempering(const tempera_summary *s) {
  json_t *object = json_object();
  tm_json_real(object, "barrier", s->barrier);
  tm_json_integer(object, "restarts", s->restarts);
  tm_json_integer(object, "round_trips", s->round_trips);
  tm_json_real(object, "swap_acceptance", s->swap_acceptance);
  tm_json_real(object, "tau_acceptance", s->tau_acceptance);
  tm_json_integer(object, "ridge_knots", s->ridge_knots);
  tm_json_real(object, "ridge_gap", s->ridge_gap);
  tm_json_integer(object, "ridge_optimisations", s->ridge_optimisations);
  tm_json_integer(object, "ridge_beaten", s->ridge_beaten);
  json_object_set_new(object, "search", search(s));
  json_object_set_new(object, "tau_bins", tau_bins(s));
  json_object_set_new(object, "curve",
                      curve(s->curve, s->curve_count, "mean_log_likelihood"));
  json_object_set_new(object, "tau_prior", tau_prior(s));
  json_object_set_new(object, "reference", reference(s->reference));
  json_object_set_new(object, "levels", levels(s));
  json_object_set_new(object, "ridge", ridge(s));
  return object;
}

static json_t *cost(const tempera_summary *s) {
  json_t *object = json_object();
  tm_json_integer(object, "likelihood_evaluations", s->likelihood_evaluations);
  tm_json_integer(object, "gradient_evaluations", s->gradient_evaluations);
  tm_json_real(object, "seconds", s->seconds);
  tm_json_real(object, "seconds_in_model", s->seconds_in_model);
  return object;
}

static json_t *loo(const tempera_loo *l) {
  json_t *object = l ? json_object() : json_null();
  if (!l)
    return object;
  tm_json_real(object, "elpd", l->elpd);
  tm_json_real(object, "se", l->se);
  tm_json_real(object, "p", l->p);
  tm_json_integer(object, "k_bad", l->k_bad);
  tm_json_real(object, "k_max", l->k_max);
  tm_json_integer(object, "terms", l->terms);
  tm_json_integer(object, "used", l->used);
  tm_json_integer(object, "draws", l->draws);
  return object;
}

static json_t *waic(const tempera_loo *l) {
  json_t *object = l ? json_object() : json_null();
  if (!l)
    return object;
  tm_json_real(object, "elpd", l->waic);
  tm_json_real(object, "se", l->waic_se);
  tm_json_real(object, "p", l->waic_p);
  return object;
}

/* Statistics of the data, and how often replicated data have a greater one. */
static json_t *predictive(const tempera_predictions *p) {
  json_t *list = p && p->tail ? json_array() : json_null();
  for (size_t v = 0; p && p->tail && v < p->replicas.count; v++) {
    json_t *item = json_object(), *all = json_array();
    tm_json_string(item, "name", p->replicas.each[v].name);
    for (size_t i = 0; i < TM_STATISTICS; i++) {
      json_t *one = json_object();
      tm_json_string(one, "statistic", tm_statistic_names[i]);
      tm_json_real(one, "observed", p->statistic[v * TM_STATISTICS + i]);
      tm_json_real(one, "tail", p->tail[v * TM_STATISTICS + i]);
      json_array_append_new(all, one);
    }
    json_object_set_new(item, "statistics", all);
    json_array_append_new(list, item);
  }
  return list;
}

static json_t *findings(const tempera_summary *s) {
  json_t *list = json_array();
  for (size_t i = 0; i < s->finding_count; i++) {
    const tempera_finding *f = &s->findings[i];
    json_t *item = json_object();
    tm_json_string(item, "code", f->code);
    tm_json_string(item, "severity", tm_severity_word(f->severity));
    tm_json_real(item, "value", f->value);
    tm_json_real(item, "limit", f->limit);
    tm_json_string(item, "words", f->words);
    json_array_append_new(list, item);
  }
  return list;
}

static json_t *warnings(const tempera_summary *s) {
  json_t *list = json_array();
  for (size_t i = 0; i < s->warning_count; i++)
    json_array_append_new(list, json_string(s->warnings[i]));
  return list;
}

/* What was run, and how far. */
static void add_run(const tempera_summary *s, json_t *root) {
  tm_json_string(root, "version", s->version);
  tm_json_string(root, "model", s->model);
  tm_json_string(root, "method", s->method);
  tm_json_integer(root, "seed", s->seed);
  tm_json_hash(root, "data_hash", s->data_hash);
  json_object_set_new(root, "data", data(s));
  tm_json_integer(root, "chains", s->chains);
  tm_json_integer(root, "iterations", s->iterations);
  tm_json_integer(root, "warmup", s->warmup);
  tm_json_integer(root, "thin", s->thin);
  json_object_set_new(root, "complete", json_boolean(s->complete));
  if (s->running)
    tm_json_integer(root, "running", s->running);
}

static void add_evidence(const tempera_summary *s, json_t *root) {
  json_object_set_new(root, "evidence", evidence(s));
  json_object_set_new(root, "wbic",
                      tm_path_answer_json(&s->wbic, "value", "tau"));
  json_object_set_new(root, "fractional",
                      tm_path_answer_json(&s->fractional, "log_z", "b"));
  if (s->fractional_why[0])
    tm_json_string(root, "fractional_warning", s->fractional_why);
  if (s->observations)
    tm_json_integer(root, "observations", s->observations);
}

static void add_posterior(const tempera_summary *s, json_t *root) {
  json_object_set_new(root, "modes", modes(s));
  if (s->label_count) {
    json_object_set_new(root, "labels", labels(s));
    tm_json_real(root, "relabelled_rhat", s->relabelled_rhat);
    tm_json_real(root, "relabelled_ess", s->relabelled_ess);
  }
  json_t *parameters = tm_values_json(s->values, s->value_count);
  add_sensitivities(s, parameters);
  json_object_set_new(root, "parameters", parameters);
  if (s->component_count)
    json_object_set_new(root, "components",
                        tm_values_json(s->components, s->component_count));
  if (s->quantity_count)
    json_object_set_new(root, "quantities",
                        tm_values_json(s->quantities, s->quantity_count));
}

tempera_status tempera_summary_json(const tempera_summary *summary, char **text,
                                    tempera_error *error) {
  const tempera_summary *s = summary;
  (void)tm_json_watch();
  json_t *root = json_object();
  add_run(s, root);
  add_evidence(s, root);
  add_posterior(s, root);
  json_object_set_new(root, "tempering", tempering(s));
  tm_answers_to_json(s, root);
  json_object_set_new(root, "loo", loo(s->loo));
  json_object_set_new(root, "waic", waic(s->loo));
  json_object_set_new(root, "predictive", predictive(s->predictions));
  json_object_set_new(root, "cost", cost(s));
  json_object_set_new(root, "reliable", json_boolean(s->reliable));
  tm_json_string(root, "basis", s->basis);
  tm_json_string(root, "decision", s->decision);
  tm_json_string(root, "verdict", s->verdict);
  json_object_set_new(root, "findings", findings(s));
  json_object_set_new(root, "warnings", warnings(s));
  return tm_json_dump(root, text, error);
}

void tempera_text_free(char *text) { tm_heap_free(text); }
