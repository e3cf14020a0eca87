/* summary_read.c - summary.json back into a summary: `tempera summary` and
 * `tempera compare` work on folders. Fields that are missing are absent, so
 * that files of other versions can still be read. */
#include "base/file.h"
#include "base/json.h"
#include "base/lock.h"
#include "base/memory.h"
#include "estimate/findings.h"
#include "report/answers_json.h"
#include "report/fields.h"
#include "report/unsummarised.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIELD(name)                                                            \
  { #name, offsetof(tempera_value_summary, name) }
const tm_value_field tm_value_fields[TM_VALUE_FIELDS] = {
    FIELD(mean), FIELD(sd),       FIELD(mcse),     FIELD(q5),  FIELD(q50),
    FIELD(q95),  FIELD(ess_bulk), FIELD(ess_tail), FIELD(rhat)};

double *tm_value_number(tempera_value_summary *value, size_t field) {
  return (double *)(void *)((char *)value + tm_value_fields[field].offset);
}

static double real(const json_t *object, const char *name) {
  const json_t *json = json_object_get(object, name);
  return json_is_number(json) ? json_number_value(json) : NAN;
}

static uint64_t read_integer(const json_t *object, const char *name) {
  json_int_t value = json_integer_value(json_object_get(object, name));
  return value > 0 ? (uint64_t)value : 0;
}

static bool truth(const json_t *object, const char *name) {
  return json_is_true(json_object_get(object, name));
}

/* A copy of a string field, NULL for null; false when out of memory. */
static bool text(const json_t *object, const char *name, char **out) {
  const json_t *json = json_object_get(object, name);
  if (!json_is_string(json))
    return true;
  *out = tm_heap_text(json_string_value(json));
  if (*out)
    tm_text_plain(*out);
  return *out != NULL;
}

/* What has lost its name has an empty one. */
static bool name_of(const json_t *object, char **out) {
  if (!text(object, "name", out))
    return false;
  if (!*out)
    *out = tm_heap_text("");
  return *out != NULL;
}

/* Room for an array field's items and their number; false when out of memory.
 * An empty list stays NULL. */
static bool room(const json_t *list, size_t size, void *items, size_t *count) {
  size_t n = json_array_size(list);
  if (n == 0)
    return true;
  void *made = tm_heap_alloc(n, size);
  if (!made)
    return false;
  memcpy(items, &made, sizeof made);
  *count = n;
  return true;
}

static uint64_t hash(const json_t *object, const char *name) {
  const char *digits = json_string_value(json_object_get(object, name));
  return digits ? strtoull(digits, NULL, 16) : 0;
}

static bool read_data(const json_t *list, tempera_summary *s) {
  if (!room(list, sizeof *s->data, &s->data, &s->data_count))
    return false;
  for (size_t i = 0; i < s->data_count; i++) {
    const json_t *item = json_array_get(list, i);
    s->data[i].array = truth(item, "array");
    s->data[i].hash = hash(item, "hash");
    s->data[i].value = real(item, "value");
    if (!name_of(item, &s->data[i].name))
      return false;
  }
  return true;
}

static bool read_estimates(const json_t *list, tempera_summary *s) {
  if (!room(list, sizeof *s->estimates, &s->estimates, &s->estimate_count))
    return false;
  for (size_t i = 0; i < s->estimate_count; i++) {
    const json_t *item = json_array_get(list, i);
    const char *name = json_string_value(json_object_get(item, "name"));
    tempera_estimate *e = &s->estimates[i];
    snprintf(e->name, sizeof e->name, "%s", name ? name : "");
    tm_text_plain(e->name);
    e->log_z = real(item, "log_z");
    e->se = real(item, "se");
    e->lower = real(item, "lower");
    e->upper = real(item, "upper");
    e->se_within = real(item, "se_within");
    e->se_between = real(item, "se_between");
    e->reach = real(item, "reach");
    if (!text(item, "warning", &e->warning))
      return false;
  }
  return true;
}

static bool read_history(const json_t *list, tempera_summary *s) {
  if (!room(list, sizeof *s->history, &s->history, &s->history_count))
    return false;
  for (size_t i = 0; i < s->history_count; i++) {
    const json_t *item = json_array_get(list, i);
    s->history[i] = (tempera_history_point){
        real(item, "share"), real(item, "log_z"), real(item, "se")};
  }
  return true;
}

static bool read_evidence(const json_t *root, tempera_summary *s) {
  const json_t *json = json_object_get(root, "evidence");
  s->log_z = real(json, "log_z");
  s->se = real(json, "se");
  s->lower = real(json, "lower");
  s->upper = real(json, "upper");
  s->zero_likelihood = real(json, "zero_likelihood");
  return text(json, "estimator", &s->estimator) &&
         read_estimates(json_object_get(json, "estimators"), s) &&
         read_history(json_object_get(json, "history"), s);
}

static bool read_pmf(const json_t *list, tempera_value_summary *v) {
  if (!room(list, sizeof *v->pmf, &v->pmf, &v->pmf_count))
    return false;
  for (size_t i = 0; i < v->pmf_count; i++) {
    const json_t *item = json_array_get(list, i);
    v->pmf[i].value = json_integer_value(json_object_get(item, "value"));
    v->pmf[i].probability = real(item, "probability");
  }
  return true;
}

bool tm_values_from_json(const json_t *list, tempera_value_summary **values,
                         size_t *count) {
  if (!room(list, sizeof **values, values, count))
    return false;
  for (size_t i = 0; i < *count; i++) {
    const json_t *item = json_array_get(list, i);
    tempera_value_summary *v = &(*values)[i];
    for (size_t f = 0; f < TM_VALUE_FIELDS; f++)
      *tm_value_number(v, f) = real(item, tm_value_fields[f].name);
    v->permuted = truth(item, "permuted");
    if (!name_of(item, &v->name) || !read_pmf(json_object_get(item, "pmf"), v))
      return false;
  }
  return true;
}

/* After the values. */
static bool read_sensitivities(const json_t *list, tempera_summary *s) {
  if (!s->value_count ||
      !json_object_get(json_array_get(list, 0), "sensitivity"))
    return true;
  s->sensitivity = tm_heap_alloc(s->value_count, sizeof *s->sensitivity);
  for (size_t i = 0; s->sensitivity && i < s->value_count; i++) {
    const json_t *item =
        json_object_get(json_array_get(list, i), "sensitivity");
    s->sensitivity[i] = (tempera_sensitivity){
        real(item, "prior"), real(item, "prior_se"), real(item, "likelihood"),
        real(item, "likelihood_se")};
  }
  return s->sensitivity != NULL;
}

/* After the values: a mode's means are stored by their names. */
static bool read_modes(const json_t *list, tempera_summary *s) {
  if (!room(list, sizeof *s->modes, &s->modes, &s->mode_count))
    return false;
  for (size_t i = 0; i < s->mode_count; i++) {
    const json_t *item = json_array_get(list, i);
    const json_t *mean = json_object_get(item, "mean");
    s->modes[i].weight = real(item, "weight");
    s->modes[i].se = real(item, "se");
    s->modes[i].mean = tm_heap_alloc(s->value_count, sizeof(double));
    if (!s->modes[i].mean)
      return false;
    for (size_t j = 0; j < s->value_count; j++)
      s->modes[i].mean[j] =
          s->values[j].name ? real(mean, s->values[j].name) : NAN;
  }
  return true;
}

static bool read_labels(const json_t *root, tempera_summary *s) {
  const json_t *list = json_object_get(root, "labels");
  s->relabelled_rhat = real(root, "relabelled_rhat");
  s->relabelled_ess = real(root, "relabelled_ess");
  if (!room(list, sizeof *s->labels, &s->labels, &s->label_count))
    return false;
  for (size_t i = 0; i < s->label_count; i++)
    s->labels[i] = json_number_value(json_array_get(list, i));
  return true;
}

static bool read_tau_bins(const json_t *list, tempera_summary *s) {
  if (!room(list, sizeof *s->tau_bins, &s->tau_bins, &s->tau_bin_count))
    return false;
  for (size_t i = 0; i < s->tau_bin_count; i++) {
    const json_t *item = json_array_get(list, i);
    s->tau_bins[i] =
        (tempera_tau_bin){.lower = real(item, "lower"),
                          .upper = real(item, "upper"),
                          .draws = read_integer(item, "draws"),
                          .acceptance = real(item, "acceptance"),
                          .tau_acceptance = real(item, "tau_acceptance"),
                          .ridge_excess = real(item, "ridge_excess")};
  }
  return true;
}

static bool read_curve(const json_t *list, const char *mean,
                       tempera_curve_point **curve, size_t *count) {
  if (!room(list, sizeof **curve, curve, count))
    return false;
  for (size_t i = 0; i < *count; i++) {
    const json_t *item = json_array_get(list, i);
    (*curve)[i] = (tempera_curve_point){.tau = real(item, "tau"),
                                        .log_z = real(item, "log_z"),
                                        .mean_log_likelihood = real(item, mean),
                                        .barrier = real(item, "barrier")};
  }
  return true;
}

static bool read_reference(const json_t *json, tempera_summary *s) {
  if (!json_is_object(json))
    return true;
  tempera_reference *r = s->reference = tm_heap_alloc(1, sizeof *r);
  if (!r)
    return false;
  r->barrier = real(json, "barrier");
  r->restarts = read_integer(json, "restarts");
  r->round_trips = read_integer(json, "round_trips");
  r->fewest_trips = read_integer(json, "fewest_round_trips");
  r->absorbed = read_integer(json, "absorbed");
  r->starts = read_integer(json, "starts");
  r->lost_mass = real(json, "lost_mass");
  r->far = read_integer(json, "far");
  r->far_absorbed = read_integer(json, "far_absorbed");
  r->far_mass = real(json, "far_mass");
  r->swap_acceptance = real(json, "swap_acceptance");
  r->acceptance = real(json, "acceptance");
  r->rhat = real(json, "rhat");
  r->ess = real(json, "ess");
  r->pareto_k = real(json, "pareto_k");
  return read_curve(json_object_get(json, "curve"), "mean_log_ratio", &r->curve,
                    &r->curve_count);
}

tempera_path_answer tm_path_answer_from_json(const json_t *json,
                                             const char *value,
                                             const char *tau) {
  return (tempera_path_answer){real(json, value), real(json, "se"),
                               real(json, tau)};
}

static bool read_tau_prior(const json_t *json, tempera_summary *s) {
  const json_t *list = json_object_get(json, "knots");
  double atom = real(json, "log_atom");
  s->tau_prior_atom = isnan(atom) ? -INFINITY : atom;
  s->tau_prior_steps = truth(json, "steps");
  if (!room(list, sizeof *s->tau_prior, &s->tau_prior, &s->tau_prior_count))
    return false;
  for (size_t i = 0; i < s->tau_prior_count; i++) {
    const json_t *item = json_array_get(list, i);
    s->tau_prior[i] =
        (tempera_tau_knot){real(item, "tau"), real(item, "log_prior")};
  }
  return true;
}

static bool read_levels(const json_t *list, tempera_summary *s) {
  if (!room(list, sizeof *s->levels, &s->levels, &s->level_count))
    return false;
  for (size_t i = 0; i < s->level_count; i++) {
    const json_t *item = json_array_get(list, i);
    s->levels[i] = (tempera_level){.tau = real(item, "tau"),
                                   .log_z = real(item, "log_z"),
                                   .mean_log_likelihood =
                                       real(item, "mean_log_likelihood"),
                                   .rejection = real(item, "rejection"),
                                   .barrier = real(item, "barrier")};
  }
  return true;
}

/* After the values, as an optimum has one number for each. */
static bool read_ridge(const json_t *list, tempera_summary *s) {
  if (!room(list, sizeof *s->ridge, &s->ridge, &s->ridge_count))
    return false;
  for (size_t i = 0; i < s->ridge_count; i++) {
    const json_t *item = json_array_get(list, i);
    const json_t *optimum = json_object_get(item, "optimum");
    s->ridge[i].tau = real(item, "tau");
    s->ridge[i].height = real(item, "height");
    s->ridge[i].optimum = tm_heap_alloc(s->value_count, sizeof(double));
    if (!s->ridge[i].optimum)
      return false;
    for (size_t j = 0; j < s->value_count; j++) {
      const json_t *value = json_array_get(optimum, j);
      s->ridge[i].optimum[j] =
          json_is_number(value) ? json_number_value(value) : NAN;
    }
  }
  return true;
}

static bool read_tempering(const json_t *root, tempera_summary *s) {
  const json_t *json = json_object_get(root, "tempering");
  s->barrier = real(json, "barrier");
  s->restarts = read_integer(json, "restarts");
  s->round_trips = read_integer(json, "round_trips");
  s->swap_acceptance = real(json, "swap_acceptance");
  s->tau_acceptance = real(json, "tau_acceptance");
  s->ridge_knots = read_integer(json, "ridge_knots");
  s->ridge_gap = real(json, "ridge_gap");
  s->ridge_optimisations = read_integer(json, "ridge_optimisations");
  s->ridge_beaten = read_integer(json, "ridge_beaten");
  const json_t *search = json_object_get(json, "search");
  if (search) {
    s->search_starts = read_integer(search, "starts");
    s->search_basins = read_integer(search, "basins");
  }
  return read_tau_bins(json_object_get(json, "tau_bins"), s) &&
         read_curve(json_object_get(json, "curve"), "mean_log_likelihood",
                    &s->curve, &s->curve_count) &&
         read_tau_prior(json_object_get(json, "tau_prior"), s) &&
         read_reference(json_object_get(json, "reference"), s) &&
         read_levels(json_object_get(json, "levels"), s) &&
         read_ridge(json_object_get(json, "ridge"), s);
}

static void read_cost(const json_t *root, tempera_summary *s) {
  const json_t *json = json_object_get(root, "cost");
  s->likelihood_evaluations = read_integer(json, "likelihood_evaluations");
  s->gradient_evaluations = read_integer(json, "gradient_evaluations");
  s->seconds = real(json, "seconds");
  s->seconds_in_model = real(json, "seconds_in_model");
}

static bool read_findings(const json_t *list, tempera_summary *s) {
  if (!room(list, sizeof *s->findings, &s->findings, &s->finding_count))
    return false;
  for (size_t i = 0; i < s->finding_count; i++) {
    const json_t *item = json_array_get(list, i);
    const char *code = json_string_value(json_object_get(item, "code"));
    tempera_finding *f = &s->findings[i];
    snprintf(f->code, sizeof f->code, "%s", code ? code : "");
    tm_text_plain(f->code);
    f->severity =
        tm_severity_read(json_string_value(json_object_get(item, "severity")));
    f->value = real(item, "value");
    f->limit = real(item, "limit");
    if (!text(item, "words", &f->words))
      return false;
  }
  return true;
}

static bool read_warnings(const json_t *list, tempera_summary *s) {
  if (!room(list, sizeof *s->warnings, &s->warnings, &s->warning_count))
    return false;
  for (size_t i = 0; i < s->warning_count; i++) {
    const char *warning = json_string_value(json_array_get(list, i));
    s->warnings[i] = tm_heap_text(warning ? warning : "");
    if (!s->warnings[i])
      return false;
    tm_text_plain(s->warnings[i]);
  }
  return true;
}

static bool read_head(const json_t *root, tempera_summary *s) {
  s->seed = read_integer(root, "seed");
  s->data_hash = hash(root, "data_hash");
  s->chains = read_integer(root, "chains");
  s->iterations = read_integer(root, "iterations");
  s->warmup = read_integer(root, "warmup");
  s->thin = read_integer(root, "thin");
  s->complete = truth(root, "complete");
  s->running = read_integer(root, "running");
  s->reliable = truth(root, "reliable");
  return text(root, "version", &s->version) && text(root, "model", &s->model) &&
         text(root, "method", &s->method) &&
         text(root, "decision", &s->decision) &&
         text(root, "basis", &s->basis) && text(root, "verdict", &s->verdict);
}

static bool read_loo(const json_t *root, tempera_summary *s) {
  const json_t *loo = json_object_get(root, "loo");
  const json_t *waic = json_object_get(root, "waic");
  if (!json_is_object(loo))
    return true;
  s->loo = tm_heap_alloc(1, sizeof *s->loo);
  if (!s->loo)
    return false;
  *s->loo = (tempera_loo){.terms = read_integer(loo, "terms"),
                          .used = read_integer(loo, "used"),
                          .draws = read_integer(loo, "draws"),
                          .elpd = real(loo, "elpd"),
                          .se = real(loo, "se"),
                          .p = real(loo, "p"),
                          .k_max = real(loo, "k_max"),
                          .k_bad = read_integer(loo, "k_bad"),
                          .waic = real(waic, "elpd"),
                          .waic_se = real(waic, "se"),
                          .waic_p = real(waic, "p")};
  if (!s->loo->used || s->loo->used > s->loo->terms) /* of an older version */
    s->loo->used = s->loo->terms;
  return true;
}

/* The terms, from a file of their own; without it, or where it says another
 * number of them, there are none. */
static tempera_status read_terms(const char *folder, tempera_loo *loo,
                                 tempera_error *error) {
  char *path = tm_path_join(folder, "loo.csv"), *content = NULL;
  size_t length = 0, row = 0;
  if (!path)
    return tm_fail_memory(error);
  size_t n = loo->used;
  bool some = n < loo->terms;
  if (n && tm_file_exists(path) && n < ((size_t)1 << 40) &&
      tm_file_read(path, &content, &length, NULL) == TEMPERA_OK &&
      length / 4 >= n) {
    loo->pointwise = tm_heap_alloc(n, sizeof(double));
    loo->pareto_k = tm_heap_alloc(n, sizeof(double));
    loo->term = some ? tm_heap_alloc(n, sizeof *loo->term) : NULL;
    for (char *at = strchr(content, '\n');
         loo->pointwise && loo->pareto_k && (loo->term || !some) && at &&
         row < n;
         row++) {
      char *comma = strchr(at, ','), *end = NULL;
      double term = tm_number_read(at + 1, &end);
      if (!comma || end != comma || !(term >= 1 && term <= (double)loo->terms))
        break;
      if (some)
        loo->term[row] = (size_t)term - 1;
      loo->pointwise[row] = tm_number_read(comma + 1, &end);
      if (!end || *end != ',')
        break;
      loo->pareto_k[row] = tm_number_read(end + 1, &end);
      at = strchr(end, '\n');
    }
  }
  if (row != n) {
    tm_heap_free(loo->pointwise);
    tm_heap_free(loo->pareto_k);
    tm_heap_free(loo->term);
    loo->pointwise = loo->pareto_k = NULL;
    loo->term = NULL;
  }
  tm_heap_free(content);
  tm_heap_free(path);
  return TEMPERA_OK;
}

static bool read_summary(const json_t *root, tempera_summary *s) {
  read_cost(root, s);
  s->wbic =
      tm_path_answer_from_json(json_object_get(root, "wbic"), "value", "tau");
  s->fractional = tm_path_answer_from_json(json_object_get(root, "fractional"),
                                           "log_z", "b");
  s->observations = read_integer(root, "observations");
  return read_head(root, s) && read_data(json_object_get(root, "data"), s) &&
         read_evidence(root, s) &&
         tm_values_from_json(json_object_get(root, "parameters"), &s->values,
                             &s->value_count) &&
         read_sensitivities(json_object_get(root, "parameters"), s) &&
         tm_values_from_json(json_object_get(root, "quantities"),
                             &s->quantities, &s->quantity_count) &&
         tm_values_from_json(json_object_get(root, "components"),
                             &s->components, &s->component_count) &&
         read_modes(json_object_get(root, "modes"), s) &&
         read_labels(root, s) && read_tempering(root, s) && read_loo(root, s) &&
         tm_answers_from_json(root, s) &&
         read_findings(json_object_get(root, "findings"), s) &&
         read_warnings(json_object_get(root, "warnings"), s);
}

static tempera_status from_json(const json_t *root, tempera_summary **summary,
                                tempera_error *error) {
  if (!json_is_object(json_object_get(root, "evidence")))
    return tm_fail_at(error, TEMPERA_ERROR_INPUT, 1, 1,
                      "this is not the summary.json of a run");
  tempera_summary *made = tm_heap_alloc(1, sizeof *made);
  if (!made || !read_summary(root, made)) {
    tempera_summary_free(made);
    return tm_fail_memory(error);
  }
  *summary = made;
  return TEMPERA_OK;
}

/* A run that ended before its first summary has its draws all the same. */
static bool left_none(const char *folder, const char *path) {
  char *config = tm_path_join(folder, "config.json");
  bool begun = config && tm_file_exists(config);
  tm_heap_free(config);
  return begun && !tm_file_exists(path);
}

/* A summary that was written on the way outlives a run that was killed. */
static tempera_status notice_end(const char *folder, tempera_summary *s,
                                 tempera_error *error) {
  static const char words[] =
      "The run ended before it was done; this is what it had found when it "
      "last wrote. `tempera resume` goes on with it.";
  if (!s->running || tm_folder_locked(folder))
    return TEMPERA_OK;
  char **longer =
      tm_heap_resize(s->warnings, s->warning_count + 1, sizeof *s->warnings);
  if (!longer)
    return tm_fail_memory(error);
  s->warnings = longer;
  s->warnings[s->warning_count] = tm_heap_text(words);
  if (!s->warnings[s->warning_count])
    return tm_fail_memory(error);
  s->warning_count++;
  s->running = 0;
  s->complete = false;
  return TEMPERA_OK;
}

tempera_status tempera_summary_read(const char *folder,
                                    tempera_summary **summary,
                                    tempera_error *error) {
  char *content = NULL;
  size_t length = 0;
  tm_json_text prepared = {0};
  json_t *root = NULL;
  tempera_summary *made = NULL;
  tempera_status status = TEMPERA_OK;
  TM_TRY(tm_folder_plain(folder, error));
  char *path = tm_path_join(folder, "summary.json");
  if (!path)
    return tm_fail_memory(error);
  if (left_none(folder, path)) {
    status = tm_summary_from_draws(folder, summary, error);
    goto done;
  }
  TM_TRY_DONE(tm_file_read(path, &content, &length, error));
  TM_TRY_DONE(tm_json_parse(content, length, &prepared, &root, error));
  TM_TRY_DONE(from_json(root, &made, error));
  if (made->loo)
    TM_TRY_DONE(read_terms(folder, made->loo, error));
  TM_TRY_DONE(notice_end(folder, made, error));
  *summary = made;
  made = NULL;
done:
  tempera_summary_free(made);
  json_decref(root);
  tm_json_text_clear(&prepared);
  tm_heap_free(content);
  tm_heap_free(path);
  return status;
}
