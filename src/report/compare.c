/* compare.c - models against each other: log Bayes factors and, with equal
 * prior odds, posterior model probabilities. Runs are independent, so the
 * variances of their log Z add. */
#include "base/json.h"
#include "base/memory.h"
#include "report/table.h"

#include <math.h>
#include <stdio.h>

static const char *model_of(const tempera_summary *s) {
  return s->model ? s->model : "?";
}

static tempera_status check(const tempera_summary *const *summaries,
                            size_t count, tempera_error *error) {
  if (count < 2)
    return tm_fail(error, TEMPERA_ERROR_ARGUMENT,
                   "a comparison needs at least two runs");
  for (size_t i = 0; i < count; i++) {
    const tempera_summary *s = summaries[i];
    if (!s->estimator || !isfinite(s->log_z) || !isfinite(s->se))
      return tm_fail(error, TEMPERA_ERROR_INPUT,
                     "run %zu (model %s) has no evidence: its prior is "
                     "improper or it stopped too early",
                     i + 1, model_of(s));
    if (s->data_hash != summaries[0]->data_hash)
      return tm_fail(error, TEMPERA_ERROR_INPUT,
                     "runs 1 (model %s) and %zu (model %s) are on different "
                     "data; evidences compare only on the same data",
                     model_of(summaries[0]), i + 1, model_of(s));
  }
  return TEMPERA_OK;
}

static tempera_comparison *make(size_t count) {
  tempera_comparison *c = tm_heap_alloc(1, sizeof *c);
  if (!c)
    return NULL;
  c->count = count;
  c->log_z = tm_heap_alloc(count, sizeof(double));
  c->se = tm_heap_alloc(count, sizeof(double));
  c->probability = tm_heap_alloc(count, sizeof(double));
  c->log_bayes_factors = tm_heap_alloc(count * count, sizeof(double));
  c->log_bayes_factor_se = tm_heap_alloc(count * count, sizeof(double));
  if (c->log_z && c->se && c->probability && c->log_bayes_factors &&
      c->log_bayes_factor_se)
    return c;
  tempera_comparison_free(c);
  return NULL;
}

static void fill(tempera_comparison *c) {
  size_t n = c->count;
  double best = -INFINITY, total = 0;
  for (size_t i = 0; i < n; i++)
    best = fmax(best, c->log_z[i]);
  for (size_t i = 0; i < n; i++)
    total += exp(c->log_z[i] - best);
  for (size_t i = 0; i < n; i++)
    c->probability[i] = exp(c->log_z[i] - best) / total;
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < n; j++) {
      c->log_bayes_factors[i * n + j] = c->log_z[i] - c->log_z[j];
      c->log_bayes_factor_se[i * n + j] =
          i == j ? 0 : hypot(c->se[i], c->se[j]);
    }
}

tempera_status tempera_compare(const tempera_summary *const *summaries,
                               size_t count, tempera_comparison **comparison,
                               tempera_error *error) {
  TM_TRY(check(summaries, count, error));
  tempera_comparison *made = make(count);
  if (!made)
    return tm_fail_memory(error);
  for (size_t i = 0; i < count; i++) {
    made->log_z[i] = summaries[i]->log_z;
    made->se[i] = summaries[i]->se;
  }
  fill(made);
  *comparison = made;
  return TEMPERA_OK;
}

void tempera_comparison_free(tempera_comparison *comparison) {
  if (!comparison)
    return;
  tm_heap_free(comparison->log_z);
  tm_heap_free(comparison->se);
  tm_heap_free(comparison->probability);
  tm_heap_free(comparison->log_bayes_factors);
  tm_heap_free(comparison->log_bayes_factor_se);
  tm_heap_free(comparison);
}

/* Bayes factors are shown against the best model: one column, not n x n. */
tempera_status tempera_comparison_text(const tempera_comparison *comparison,
                                       const char *const *names, bool colour,
                                       char **text, tempera_error *error) {
  const tempera_comparison *c = comparison;
  tm_text out = {0};
  tm_table table = {.columns = 6};
  static const char *const titles[] = {
      "run", "log Z", "se", "log BF vs best", "se", "probability"};
  size_t best = 0;
  for (size_t i = 0; i < 6; i++)
    tm_table_cell(&table, titles[i]);
  for (size_t i = 1; i < c->count; i++)
    best = c->log_z[i] > c->log_z[best] ? i : best;
  for (size_t i = 0; i < c->count; i++) {
    int decimals = tm_decimals(c->se[i]);
    size_t at = i * c->count + best;
    tm_table_cell(&table, names[i]);
    tm_table_number(&table, c->log_z[i], decimals);
    tm_table_number(&table, c->se[i], decimals);
    tm_table_number(&table, c->log_bayes_factors[at], decimals);
    tm_table_number(&table, c->log_bayes_factor_se[at], decimals);
    tm_table_number(&table, c->probability[i], 4);
  }
  tm_table_print(&table, colour, &out);
  tm_text_add(&out, "  (equal prior probabilities of the models)\n");
  if (out.failed) {
    tm_text_clear(&out);
    return tm_fail_memory(error);
  }
  *text = out.data;
  return TEMPERA_OK;
}

static json_t *matrix(const double *values, size_t n) {
  json_t *rows = json_array();
  for (size_t i = 0; i < n; i++) {
    json_t *row = json_array();
    for (size_t j = 0; j < n; j++)
      json_array_append_new(row, json_real(values[i * n + j]));
    json_array_append_new(rows, row);
  }
  return rows;
}

tempera_status tempera_comparison_json(const tempera_comparison *comparison,
                                       const char *const *names, char **text,
                                       tempera_error *error) {
  const tempera_comparison *c = comparison;
  json_t *root = json_object(), *models = json_array();
  for (size_t i = 0; i < c->count; i++) {
    json_t *item = json_object();
    tm_json_string(item, "run", names[i]);
    tm_json_real(item, "log_z", c->log_z[i]);
    tm_json_real(item, "se", c->se[i]);
    tm_json_real(item, "probability", c->probability[i]);
    json_array_append_new(models, item);
  }
  json_object_set_new(root, "models", models);
  json_object_set_new(root, "log_bayes_factors",
                      matrix(c->log_bayes_factors, c->count));
  json_object_set_new(root, "log_bayes_factor_se",
                      matrix(c->log_bayes_factor_se, c->count));
  return tm_json_dump(root, text, error);
}
