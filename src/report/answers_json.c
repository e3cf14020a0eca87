/* answers_json.c - see answers_json.h. */
#include "report/answers_json.h"

#include "base/memory.h"
#include "base/text.h"

#include <math.h>
#include <stdio.h>

static double real(const json_t *object, const char *name) {
  const json_t *json = json_object_get(object, name);
  return json_is_number(json) ? json_number_value(json) : NAN;
}

static json_t *power_posterior(const tempera_power_posterior *p) {
  json_t *item = json_object();
  tm_json_real(item, "tau", p->tau);
  tm_json_integer(item, "draws", p->draws);
  json_object_set_new(
      item, "mean_log_likelihood",
      tm_path_answer_json(&p->log_likelihood, "value", "tau"));
  json_object_set_new(item, "fractional",
                      tm_path_answer_json(&p->rise, "log_z", "b"));
  json_object_set_new(item, "parameters",
                      tm_values_json(p->values, p->value_count));
  tm_json_string(item, "warning", p->why[0] ? p->why : NULL);
  return item;
}

/* ---- wider priors -------------------------------------------------------- */

static json_t *wider_prior(const tempera_wider_prior *p) {
  json_t *item = json_object(), *list = json_array();
  tm_json_string(item, "name", p->name);
  json_object_set_new(item, "shared", json_boolean(p->shared));
  for (size_t f = 0; f < TEMPERA_WIDER_FACTORS; f++) {
    json_t *one = json_object();
    tm_json_real(one, "factor", p->by[f].factor);
    tm_json_real(one, "change", p->by[f].change);
    tm_json_real(one, "se", p->by[f].se);
    tm_json_real(one, "pareto_k", p->by[f].k);
    json_array_append_new(list, one);
  }
  json_object_set_new(item, "wider", list);
  return item;
}

static json_t *wider_priors(const tempera_summary *s) {
  if (!s->wider_count)
    return json_null();
  json_t *list = json_array();
  for (size_t i = 0; i < s->wider_count; i++)
    json_array_append_new(list, wider_prior(&s->wider[i]));
  return list;
}

static bool read_wider_prior(const json_t *item, tempera_wider_prior *p) {
  const char *name = json_string_value(json_object_get(item, "name"));
  const json_t *list = json_object_get(item, "wider");
  p->name = tm_heap_text(name ? name : "");
  if (!p->name)
    return false;
  tm_text_plain(p->name);
  p->shared = json_is_true(json_object_get(item, "shared"));
  for (size_t f = 0; f < TEMPERA_WIDER_FACTORS; f++) {
    const json_t *one = json_array_get(list, f);
    p->by[f] = (tempera_wider){real(one, "factor"), real(one, "change"),
                               real(one, "se"), real(one, "pareto_k")};
  }
  return true;
}

static bool read_wider_priors(const json_t *list, tempera_summary *s) {
  size_t count = json_array_size(list);
  if (!count)
    return true;
  s->wider = tm_heap_alloc(count, sizeof *s->wider);
  for (size_t i = 0; s->wider && i < count; i++) {
    s->wider_count = i + 1;
    if (!read_wider_prior(json_array_get(list, i), &s->wider[i]))
      return false;
  }
  return s->wider != NULL;
}

/* ---- all of them --------------------------------------------------------- */

void tm_answers_to_json(const tempera_summary *summary, json_t *root) {
  const tempera_summary *s = summary;
  json_object_set_new(root, "prior_sensitivity", wider_priors(s));
  if (s->loo_why[0])
    tm_json_string(root, "loo_warning", s->loo_why);
  if (!s->at_tau_count)
    return;
  json_t *list = json_array();
  for (size_t i = 0; i < s->at_tau_count; i++)
    json_array_append_new(list, power_posterior(&s->at_tau[i]));
  json_object_set_new(root, "at_tau", list);
}

static bool read_power_posterior(const json_t *item,
                                 tempera_power_posterior *p) {
  const char *why = json_string_value(json_object_get(item, "warning"));
  json_int_t draws = json_integer_value(json_object_get(item, "draws"));
  p->tau = real(item, "tau");
  p->draws = draws > 0 ? (size_t)draws : 0;
  p->log_likelihood = tm_path_answer_from_json(
      json_object_get(item, "mean_log_likelihood"), "value", "tau");
  p->rise = tm_path_answer_from_json(json_object_get(item, "fractional"),
                                     "log_z", "b");
  snprintf(p->why, sizeof p->why, "%s", why ? why : "");
  tm_text_plain(p->why);
  return tm_values_from_json(json_object_get(item, "parameters"), &p->values,
                             &p->value_count);
}

bool tm_answers_from_json(const json_t *root, tempera_summary *summary) {
  const json_t *list = json_object_get(root, "at_tau");
  const char *why =
      json_string_value(json_object_get(root, "fractional_warning"));
  snprintf(summary->fractional_why, sizeof summary->fractional_why, "%s",
           why ? why : "");
  tm_text_plain(summary->fractional_why);
  why = json_string_value(json_object_get(root, "loo_warning"));
  snprintf(summary->loo_why, sizeof summary->loo_why, "%s", why ? why : "");
  tm_text_plain(summary->loo_why);
  size_t count = json_array_size(list);
  if (!read_wider_priors(json_object_get(root, "prior_sensitivity"), summary))
    return false;
  if (!count)
    return true;
  summary->at_tau = tm_heap_alloc(count, sizeof *summary->at_tau);
  for (size_t i = 0; summary->at_tau && i < count; i++) {
    summary->at_tau_count = i + 1;
    if (!read_power_posterior(json_array_get(list, i), &summary->at_tau[i]))
      return false;
  }
  return summary->at_tau != NULL;
}
