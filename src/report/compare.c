/* compare.c - models against each other: log Bayes factors and posterior model
 * probabilities. Runs are independent, so the variances of their log Z add. */
#include "report/compare.h"

#include "base/memory.h"

#include <math.h>
#include <string.h>

const char *tempera_evidence_words(double log_bayes_factor) {
  double twice = 2 * fabs(log_bayes_factor);
  return twice < 2    ? "bare mention"
         : twice < 6  ? "positive"
         : twice < 10 ? "strong"
                      : "very strong";
}

/* ---- what can be compared ----------------------------------------------- */

static tempera_status check_evidence(const tempera_summary *s, const char *name,
                                     tempera_error *error) {
  if (s->estimator && isfinite(s->log_z) && isfinite(s->se))
    return TEMPERA_OK;
  for (size_t i = 0; i < s->finding_count; i++)
    if (!strcmp(s->findings[i].code, "improper-prior"))
      return tm_fail(error, TEMPERA_ERROR_INPUT,
                     "%s (model %s): %.300s Or compare by the fractional "
                     "evidence (--by fractional).",
                     name, s->model ? s->model : "?", s->findings[i].words);
  return tm_fail(error, TEMPERA_ERROR_INPUT,
                 "%s (model %s) has no evidence: its method gives none, or it "
                 "stopped too early",
                 name, s->model ? s->model : "?");
}

/* What is compared: larger is better. */
static tempera_path_answer score_of(tempera_factor kind,
                                    const tempera_summary *s) {
  if (kind == TEMPERA_FACTOR_FRACTIONAL)
    return s->fractional;
  if (kind == TEMPERA_FACTOR_WBIC)
    return (tempera_path_answer){-s->wbic.value, s->wbic.se, s->wbic.tau};
  return (tempera_path_answer){s->log_z, s->se, NAN};
}

/* All there, and at one tau. */
static tempera_status check_scores(tempera_factor kind,
                                   const tempera_summary *const *summaries,
                                   const char *const *names, size_t count,
                                   tempera_error *error) {
  const char *what =
      kind == TEMPERA_FACTOR_WBIC ? "WBIC" : "fractional evidence";
  double first = score_of(kind, summaries[0]).tau;
  for (size_t i = 0; i < count; i++) {
    tempera_path_answer a = score_of(kind, summaries[i]);
    if (kind == TEMPERA_FACTOR_EVIDENCE) {
      TM_TRY(check_evidence(summaries[i], names[i], error));
      continue;
    }
    if (!isfinite(a.value) || !(a.se > 0))
      return tm_fail(error, TEMPERA_ERROR_INPUT,
                     "%s has no %s: its path does not reach that tau, or (for "
                     "WBIC) the number of observations is not known: see "
                     "--observations of tempera sample",
                     names[i], what);
    if (!(fabs(a.tau - first) <= 1e-12 * first))
      return tm_fail(error, TEMPERA_ERROR_INPUT,
                     "%s has its %s at tau = %g, %s at %g: they cannot be "
                     "compared",
                     names[0], what, first, names[i], a.tau);
  }
  return TEMPERA_OK;
}

static tempera_status check_odds(const double *odds, size_t count,
                                 tempera_error *error) {
  for (size_t i = 0; odds && i < count; i++)
    if (!(odds[i] > 0) || !isfinite(odds[i]))
      return tm_fail(error, TEMPERA_ERROR_ARGUMENT,
                     "prior odds are positive numbers, one for each run");
  return TEMPERA_OK;
}

/* ---- the numbers -------------------------------------------------------- */

/* Var log(p/(1-p)) by the delta method: log(p_i/(1-p_i)) = log(w_i Z_i) -
 * log sum_{j != i} w_j Z_j. On this scale the interval stays inside (0, 1). */
static double logit_variance(const tempera_comparison *c, size_t i) {
  double rest = 0, variance = c->se[i] * c->se[i];
  for (size_t j = 0; j < c->count; j++)
    rest += j == i ? 0 : c->probability[j];
  for (size_t j = 0; j < c->count && rest > 0; j++)
    if (j != i)
      variance += pow(c->probability[j] / rest * c->se[j], 2);
  return variance;
}

/* p moved by `step` on the logit scale. */
static double moved(double p, double step) {
  return p / (p + (1 - p) * exp(-step));
}

static void fill_probabilities(tempera_comparison *c) {
  double most = -INFINITY, total = 0;
  for (size_t i = 0; i < c->count; i++)
    most = fmax(most, log(c->prior[i]) + c->log_z[i]);
  for (size_t i = 0; i < c->count; i++) {
    c->probability[i] = exp(log(c->prior[i]) + c->log_z[i] - most);
    total += c->probability[i];
  }
  for (size_t i = 0; i < c->count; i++)
    c->probability[i] /= total;
  for (size_t i = 0; i < c->count; i++) {
    double p = c->probability[i], sd = sqrt(logit_variance(c, i));
    c->probability_se[i] = p * (1 - p) * sd;
    c->probability_lower[i] = moved(p, -1.96 * sd);
    c->probability_upper[i] = moved(p, 1.96 * sd);
  }
}

static void fill_factors(tempera_comparison *c) {
  size_t n = c->count;
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < n; j++) {
      c->log_bayes_factors[i * n + j] = c->log_z[i] - c->log_z[j];
      c->log_bayes_factor_se[i * n + j] =
          i == j ? 0 : hypot(c->se[i], c->se[j]);
    }
}

static void fill(tempera_comparison *c, const tempera_summary *const *summaries,
                 const double *odds) {
  double total = 0;
  for (size_t i = 0; i < c->count; i++)
    total += odds ? odds[i] : 1;
  for (size_t i = 0; i < c->count; i++) {
    tempera_path_answer score = score_of(c->kind, summaries[i]);
    c->log_z[i] = score.value;
    c->se[i] = score.se;
    c->tau = score.tau;
    c->prior[i] = (odds ? odds[i] : 1) / total;
    if (c->log_z[i] > c->log_z[c->best])
      c->best = i;
  }
  fill_probabilities(c);
  fill_factors(c);
}

/* ---- warnings ----------------------------------------------------------- */

/* Takes the text over; an empty one is no warning. */
static tempera_status warn(tempera_comparison *c, tm_text *text,
                           tempera_error *error) {
  if (text->failed)
    return tm_fail_memory(error);
  if (text->length == 0)
    return TEMPERA_OK;
  char **list = tm_heap_resize(c->warnings, c->warning_count + 1, sizeof *list);
  if (!list)
    return tm_fail_memory(error);
  c->warnings = list;
  list[c->warning_count++] = text->data;
  *text = (tm_text){0};
  return TEMPERA_OK;
}

/* And what kind of evidence is compared. */
static tempera_status warn_unreliable(tempera_comparison *c,
                                      const tempera_summary *const *summaries,
                                      tm_text *text, tempera_error *error) {
  for (size_t i = 0; i < c->count; i++) {
    const char *basis = summaries[i]->basis;
    if (!summaries[i]->reliable)
      tm_text_printf(text, "%s is not reliable: %s", c->names[i],
                     summaries[i]->verdict ? summaries[i]->verdict : "?");
    else if (basis && !strcmp(basis, "modes-found"))
      tm_text_printf(text,
                     "The evidence of %s is that of the modes found; round "
                     "trips to the prior do not vouch for it.",
                     c->names[i]);
    else
      continue;
    TM_TRY(warn(c, text, error));
  }
  return TEMPERA_OK;
}

/* Pairs whose difference is within two standard errors. */
static tempera_status warn_overlap(tempera_comparison *c, tm_text *text,
                                   tempera_error *error) {
  size_t n = c->count;
  for (size_t i = 0; i < n; i++)
    for (size_t j = i + 1; j < n; j++) {
      double size = fabs(c->log_bayes_factors[i * n + j]);
      if (size < 2 * c->log_bayes_factor_se[i * n + j])
        tm_text_printf(text, "%s%s and %s", text->length ? "; " : "",
                       c->names[i], c->names[j]);
    }
  if (text->length)
    tm_text_add(text, ": cannot be told apart by these runs' precision; if "
                      "it matters, run longer.");
  return warn(c, text, error);
}

static tempera_status warn_data(tempera_comparison *c,
                                const tempera_summary *const *summaries,
                                tm_text *extras, tempera_error *error) {
  tm_text text = {0};
  if (extras->length)
    tm_text_printf(&text, "The data are not the same in all: %s.",
                   extras->data);
  else if (summaries[0]->data_count == 0)
    tm_text_add(&text, "No data were recorded with these runs: whether they "
                       "are on the same data cannot be checked.");
  tempera_status status = warn(c, &text, error);
  tm_text_clear(&text);
  return status;
}

/* ---- making and freeing ------------------------------------------------- */

static bool copy_texts(tempera_comparison *c,
                       const tempera_summary *const *summaries,
                       const char *const *names) {
  for (size_t i = 0; i < c->count; i++) {
    c->names[i] = tm_heap_text(names[i]);
    c->models[i] = tm_heap_text(summaries[i]->model ? summaries[i]->model : "");
    if (!c->names[i] || !c->models[i])
      return false;
    tm_text_plain(c->names[i]); /* names of folders */
  }
  return true;
}

static tempera_comparison *make(const tempera_summary *const *summaries,
                                const char *const *names, size_t count) {
  tempera_comparison *c = tm_heap_alloc(1, sizeof *c);
  if (!c)
    return NULL;
  c->count = count;
  c->names = tm_heap_alloc(count, sizeof *c->names);
  c->models = tm_heap_alloc(count, sizeof *c->models);
  double **vectors[] = {&c->log_z,
                        &c->se,
                        &c->prior,
                        &c->probability,
                        &c->probability_se,
                        &c->probability_lower,
                        &c->probability_upper};
  bool fine = c->names && c->models;
  for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
    *vectors[i] = tm_heap_alloc(count, sizeof(double));
    fine = fine && *vectors[i];
  }
  c->log_bayes_factors = tm_heap_alloc(count * count, sizeof(double));
  c->log_bayes_factor_se = tm_heap_alloc(count * count, sizeof(double));
  if (fine && c->log_bayes_factors && c->log_bayes_factor_se &&
      copy_texts(c, summaries, names))
    return c;
  tempera_comparison_free(c);
  return NULL;
}

static tempera_status warn_all(tempera_comparison *c,
                               const tempera_summary *const *summaries,
                               tm_text *extras, tempera_error *error) {
  tm_text text = {0};
  tempera_status status = warn_unreliable(c, summaries, &text, error);
  if (status == TEMPERA_OK)
    status = warn_overlap(c, &text, error);
  if (status == TEMPERA_OK)
    status = warn_data(c, summaries, extras, error);
  tm_text_clear(&text);
  return status;
}

tempera_status tempera_compare(const tempera_summary *const *summaries,
                               const char *const *names, size_t count,
                               const double *prior_odds,
                               tempera_comparison **comparison,
                               tempera_error *error) {
  return tempera_compare_by(TEMPERA_FACTOR_EVIDENCE, summaries, names, count,
                            prior_odds, comparison, error);
}

tempera_status tempera_compare_by(tempera_factor kind,
                                  const tempera_summary *const *summaries,
                                  const char *const *names, size_t count,
                                  const double *prior_odds,
                                  tempera_comparison **comparison,
                                  tempera_error *error) {
  tm_text numbers = {0}, extras = {0};
  tempera_comparison *made = NULL;
  tempera_status status = TEMPERA_OK;
  if (count < 2)
    return tm_fail(error, TEMPERA_ERROR_ARGUMENT,
                   "a comparison needs at least two runs");
  TM_TRY(check_odds(prior_odds, count, error));
  TM_TRY(check_scores(kind, summaries, names, count, error));
  TM_TRY_DONE(
      tm_compare_data(summaries, names, count, &numbers, &extras, error));
  made = make(summaries, names, count);
  TM_TRY_DONE(made ? TEMPERA_OK : tm_fail_memory(error));
  made->kind = kind;
  fill(made, summaries, prior_odds);
  TM_TRY_DONE(tm_compare_loo(summaries, made, error));
  TM_TRY_DONE(warn_all(made, summaries, &extras, error));
  made->numbers = numbers.data;
  numbers = (tm_text){0};
  *comparison = made;
  made = NULL;
done:
  tempera_comparison_free(made);
  tm_text_clear(&numbers);
  tm_text_clear(&extras);
  return status;
}

void tempera_comparison_free(tempera_comparison *comparison) {
  tempera_comparison *c = comparison;
  if (!c)
    return;
  tm_heap_free(c->numbers);
  for (size_t i = 0; i < c->count; i++) {
    tm_heap_free(c->names ? c->names[i] : NULL);
    tm_heap_free(c->models ? c->models[i] : NULL);
  }
  for (size_t i = 0; i < c->warning_count; i++)
    tm_heap_free(c->warnings[i]);
  void *parts[] = {c->names,
                   c->models,
                   c->log_z,
                   c->se,
                   c->prior,
                   c->probability,
                   c->probability_se,
                   c->probability_lower,
                   c->probability_upper,
                   c->log_bayes_factors,
                   c->log_bayes_factor_se,
                   c->warnings,
                   c->loo};
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
    tm_heap_free(parts[i]);
  tm_heap_free(c);
}
