/* compare_text.c - a comparison as tables and as JSON. */
#include "base/json.h"
#include "report/compare.h"
#include "report/compare.h"
#include "report/table.h"

/* "-1.02 +- 0.03", to the digits that the error supports. */
static void factor_cell(tm_table *table, const tempera_comparison *c, size_t i,
                        size_t j) {
  tm_text cell = {0};
  double se = c->log_bayes_factor_se[i * c->count + j];
  int decimals = tm_decimals(se);
  if (i == j)
    tm_text_add(&cell, "-");
  else
    tm_text_printf(&cell, "%.*f \xc2\xb1 %.*f", decimals,
                   c->log_bayes_factors[i * c->count + j], decimals, se);
  table->cells.failed = table->cells.failed || cell.failed;
  tm_table_cell(table, cell.failed ? "" : cell.data);
  tm_text_clear(&cell);
}

const char *tm_compare_word(tempera_factor kind) {
  static const char *const words[] = {"evidence", "fractional", "wbic"};
  return words[kind];
}

const char *tm_compare_score(tempera_factor kind) {
  static const char *const words[] = {"log Z", "log z(1)/z(b)", "-WBIC"};
  return words[kind];
}

void tm_compare_kind(const tempera_comparison *c, tm_text *out) {
  if (c->kind == TEMPERA_FACTOR_EVIDENCE)
    tm_text_add(out, "Bayes factors, by the evidence");
  else if (c->kind == TEMPERA_FACTOR_FRACTIONAL)
    tm_text_printf(out,
                   "Fractional Bayes factors (O'Hagan 1995), b = %.4g: not to "
                   "be set beside those by the evidence",
                   c->tau);
  else
    tm_text_printf(out,
                   "Differences of WBIC (Watanabe 2013), tau = %.3g: they stand "
                   "in for log Bayes factors, to the order of sqrt(log n)",
                   c->tau);
}

static void add_models(const tempera_comparison *c, bool colour, tm_text *out) {
  const char *const titles[] = {
      "run",  tm_compare_score(c->kind), "se", "log BF vs best",
      "se",   "probability", "se", "evidence against it",
      "prior"};
  enum { COLUMNS = sizeof titles / sizeof *titles };
  tm_table table = {.columns = COLUMNS};
  for (size_t i = 0; i < COLUMNS; i++)
    tm_table_cell(&table, titles[i]);
  for (size_t i = 0; i < c->count; i++) {
    int decimals = tm_decimals(c->se[i]);
    size_t at = i * c->count + c->best;
    tm_table_cell(&table, c->names[i]);
    tm_table_number(&table, c->log_z[i], decimals);
    tm_table_number(&table, c->se[i], decimals);
    tm_table_number(&table, c->log_bayes_factors[at], decimals);
    tm_table_number(&table, c->log_bayes_factor_se[at], decimals);
    tm_table_probability(&table, c->probability[i]);
    tm_table_probability(&table, c->probability_se[i]);
    tm_table_cell(&table, i == c->best ? "(best)"
                                       : tempera_evidence_words(
                                             c->log_bayes_factors[at]));
    tm_table_number(&table, c->prior[i], 4);
  }
  tm_table_print(&table, colour, out);
}

/* Two runs have one Bayes factor, which the first table shows. */
static void add_factors(const tempera_comparison *c, bool colour,
                        tm_text *out) {
  tm_table table = {.columns = c->count + 1};
  if (c->count < 3 || table.columns > TM_TABLE_COLUMNS)
    return;
  tm_table_cell(&table, "log BF, row over column");
  for (size_t j = 0; j < c->count; j++)
    tm_table_cell(&table, c->names[j]);
  for (size_t i = 0; i < c->count; i++) {
    tm_table_cell(&table, c->names[i]);
    for (size_t j = 0; j < c->count; j++)
      factor_cell(&table, c, i, j);
  }
  tm_text_add(out, "\n");
  tm_table_print(&table, colour, out);
}

tempera_status tempera_comparison_text(const tempera_comparison *comparison,
                                       bool colour, char **text,
                                       tempera_error *error) {
  tm_text out = {0};
  tm_compare_kind(comparison, &out);
  tm_text_add(&out, "\n\n");
  add_models(comparison, colour, &out);
  add_factors(comparison, colour, &out);
  tm_compare_loo_text(comparison, colour, &out);
  tm_text_add(&out, "\n  2 log BF: below 2 a bare mention, to 6 positive, to "
                    "10 strong, beyond very strong\n  (Kass & Raftery 1995)\n");
  if (comparison->numbers)
    tm_text_printf(&out, "\n  In the data, %s.\n", comparison->numbers);
  for (size_t i = 0; i < comparison->warning_count; i++)
    tm_text_printf(&out, "\n  Warning: %s\n", comparison->warnings[i]);
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

static json_t *model(const tempera_comparison *c, size_t i) {
  json_t *item = json_object();
  size_t at = i * c->count + c->best;
  tm_json_string(item, "run", c->names[i]);
  tm_json_string(item, "model", c->models[i]);
  tm_json_real(item, "log_z", c->log_z[i]);
  tm_json_real(item, "se", c->se[i]);
  tm_json_real(item, "prior", c->prior[i]);
  tm_json_real(item, "probability", c->probability[i]);
  tm_json_real(item, "probability_se", c->probability_se[i]);
  tm_json_real(item, "probability_lower", c->probability_lower[i]);
  tm_json_real(item, "probability_upper", c->probability_upper[i]);
  tm_json_string(
      item, "evidence_against",
      i == c->best ? NULL : tempera_evidence_words(c->log_bayes_factors[at]));
  tm_compare_loo_json(c, i, item);
  return item;
}

tempera_status tempera_comparison_json(const tempera_comparison *comparison,
                                       char **text, tempera_error *error) {
  const tempera_comparison *c = comparison;
  (void)tm_json_watch();
  json_t *root = json_object(), *models = json_array(), *warnings;
  for (size_t i = 0; i < c->count; i++)
    json_array_append_new(models, model(c, i));
  tm_json_string(root, "kind", tm_compare_word(c->kind));
  tm_json_real(root, "tau", c->tau);
  json_object_set_new(root, "models", models);
  tm_json_string(root, "best", c->names[c->best]);
  json_object_set_new(root, "log_bayes_factors",
                      matrix(c->log_bayes_factors, c->count));
  json_object_set_new(root, "log_bayes_factor_se",
                      matrix(c->log_bayes_factor_se, c->count));
  if (c->numbers)
    tm_json_string(root, "numbers", c->numbers);
  warnings = json_array();
  for (size_t i = 0; i < c->warning_count; i++)
    json_array_append_new(warnings, json_string(c->warnings[i]));
  json_object_set_new(root, "warnings", warnings);
  return tm_json_dump(root, text, error);
}
