/* compare_page.c - a comparison as a page: models side by side, Bayes factors
 * as a matrix, probabilities as bars. */
#include "base/json.h"
#include "base/locale.h"
#include "report/compare.h"
#include "report/page.h"
#include "report/table.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void add_models(json_t *section, const tempera_comparison *c) {
  const struct {
    const char *name, *title;
    bool left;
  } columns[] = {{"run", "", true},
                 {"model", "", true},
                 {tm_compare_score(c->kind), "what is compared", false},
                 {"se", "its standard error", false},
                 {"log BF vs best", "log Bayes factor against the best", false},
                 {"se", "its standard error", false},
                 {"evidence against it", "after Kass and Raftery", true},
                 {"prior", "prior probability", false},
                 {"probability", "posterior probability", false},
                 {"se", "its standard error", false}};
  tm_text kind = {0};
  tm_compare_kind(c, &kind);
  tm_text_add(&kind, ".");
  tm_section_text(section, NULL, kind.failed ? "" : kind.data);
  tm_text_clear(&kind);
  json_t *table = tm_section_table(section, NULL);
  for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
    tm_page_column(table, columns[i].name, columns[i].title, columns[i].left);
  for (size_t i = 0; i < c->count; i++) {
    int decimals = tm_decimals(c->se[i]);
    size_t at = i * c->count + c->best;
    json_t *row = tm_page_row(table, NULL);
    tm_row_text(row, c->names[i]);
    tm_row_text(row, c->models[i] ? c->models[i] : "");
    tm_row_number(row, c->log_z[i], decimals);
    tm_row_number(row, c->se[i], decimals);
    tm_row_number(row, c->log_bayes_factors[at], decimals);
    tm_row_number(row, c->log_bayes_factor_se[at], decimals);
    tm_row_text(row, i == c->best
                         ? "(best)"
                         : tempera_evidence_words(c->log_bayes_factors[at]));
    tm_row_number(row, c->prior[i], 4);
    tm_row_probability(row, c->probability[i]);
    tm_row_probability(row, c->probability_se[i]);
  }
}

static void add_warnings(json_t *section, const tempera_comparison *c) {
  if (c->numbers) {
    tm_text line = {0};
    tm_text_printf(&line, "In the data, %s.", c->numbers);
    tm_section_text(section, NULL, line.failed ? "" : line.data);
    tm_text_clear(&line);
  }
  for (size_t i = 0; i < c->warning_count; i++)
    tm_section_text(section, "warn", c->warnings[i]);
}

static json_t *names_of(const tempera_comparison *c) {
  json_t *names = json_array();
  for (size_t i = 0; i < c->count; i++)
    json_array_append_new(names, tm_json_words(c->names[i]));
  return names;
}

/* ---- figures --------------------------------------------------------------
 */

static json_t *evidence_figure(const tempera_comparison *c) {
  char title[64];
  snprintf(title, sizeof title, "%s with 95 %% intervals",
           tm_compare_score(c->kind));
  json_t *figure = tm_figure("forest", title);
  tm_figure_axis(figure, "x", tm_compare_score(c->kind));
  for (size_t i = 0; i < c->count; i++) {
    json_t *item = tm_figure_item(figure, c->names[i], c->log_z[i],
                                  c->log_z[i] - 1.96 * c->se[i],
                                  c->log_z[i] + 1.96 * c->se[i]);
    json_object_set_new(item, "main", json_boolean(i == c->best));
  }
  return figure;
}

static json_t *probability_figure(const tempera_comparison *c) {
  json_t *figure = tm_figure("plot", "Posterior probabilities of the models");
  json_t *x = tm_figure_axis(figure, "x", "run");
  json_t *y = tm_figure_axis(figure, "y", "probability");
  tm_json_string(x, "scale", "category");
  json_object_set_new(x, "categories", names_of(c));
  tm_json_integer(y, "min", 0);
  tm_json_integer(y, "max", 1);
  tm_figure_xy(figure, "bars", "probability", NULL, c->probability, c->count);
  json_t *errors = tm_figure_xy(figure, "errors", "95 % interval", NULL,
                                c->probability, c->count);
  tm_set_numbers(errors, "lower", c->probability_lower, c->count);
  tm_set_numbers(errors, "upper", c->probability_upper, c->count);
  tm_json_integer(errors, "colour", 1);
  tm_json_integer(errors, "size", 0);
  return figure;
}

static void add_factor(json_t *values, json_t *texts,
                       const tempera_comparison *c, size_t i, size_t j) {
  double value = c->log_bayes_factors[i * c->count + j];
  double se = c->log_bayes_factor_se[i * c->count + j];
  int decimals = tm_decimals(se) > 0 ? tm_decimals(se) - 1 : 0;
  char text[2 * TM_NUMBER_TEXT];
  tm_snprintf(text, sizeof text, "%.*f\n\xc2\xb1 %.*f", decimals, value,
              decimals, se);
  json_array_append_new(values, i == j ? json_null() : json_real(value));
  json_array_append_new(texts, json_string(i == j ? "" : text));
}

static json_t *factor_figure(const tempera_comparison *c) {
  json_t *figure = tm_figure("matrix", "Log Bayes factors, row over column");
  json_t *values = json_array(), *texts = json_array();
  for (size_t i = 0; i < c->count; i++) {
    json_t *row = json_array(), *words = json_array();
    for (size_t j = 0; j < c->count; j++)
      add_factor(row, words, c, i, j);
    json_array_append_new(values, row);
    json_array_append_new(texts, words);
  }
  json_object_set_new(figure, "rows", names_of(c));
  json_object_set_new(figure, "columns", names_of(c));
  json_object_set_new(figure, "values", values);
  json_object_set_new(figure, "text", texts);
  tm_figure_note(figure, "Blue: for the row. Orange: for the column.");
  return figure;
}

static void add_scores(json_t *page, const tempera_comparison *c) {
  static const char *const columns[][2] = {
      {"elpd LOO", "larger is better"},
      {"se", "its standard error"},
      {"vs best", "difference from the best"},
      {"se", "its standard error"},
      {"bad Pareto k", "outcomes whose elpd is not to be trusted"},
      {"elpd WAIC", "the same by WAIC"}};
  if (!c->loo)
    return;
  json_t *section = tm_page_section(page, "Prediction");
  json_t *table = tm_section_table(
      section, "Log predictive density of the data, each outcome given the "
               "others: which model predicts such data best. The evidence "
               "asks which one, with its prior, predicted them all.");
  json_t *figure = tm_figure("forest", "elpd against the best, \xc2\xb1 2 se");
  tm_figure_axis(figure, "x", "difference of elpd (LOO)");
  tm_page_column(table, "run", "", true);
  for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
    tm_page_column(table, columns[i][0], columns[i][1], false);
  for (size_t i = 0; i < c->count; i++) {
    const tempera_loo_row *l = &c->loo[i];
    json_t *row = tm_page_row(table, l->k_bad ? "warn" : NULL);
    tm_row_text(row, c->names[i]);
    tm_row_number(row, l->elpd, 2);
    tm_row_number(row, l->se, 2);
    tm_row_number(row, l->difference, 2);
    tm_row_number(row, l->difference_se, 2);
    tm_row_number(row, (double)l->k_bad, 0);
    tm_row_number(row, l->waic, 2);
    tm_figure_item(figure, c->names[i], l->difference,
                   l->difference - 2 * l->difference_se,
                   l->difference + 2 * l->difference_se);
  }
  tm_figures_add(tm_section_figures(section), figure);
}

/* ---- parameters side by side ----------------------------------------------
 */

static const tempera_value_summary *find(const tempera_summary *s,
                                         const char *name) {
  for (size_t j = 0; j < s->value_count; j++)
    if (s->values[j].name && strcmp(s->values[j].name, name) == 0)
      return &s->values[j];
  return NULL;
}

static bool seen_before(const tempera_summary *const *summaries, size_t run,
                        const char *name) {
  for (size_t i = 0; i < run; i++)
    if (find(summaries[i], name))
      return true;
  return false;
}

static void add_value(json_t *table, const tempera_summary *const *summaries,
                      size_t count, const char *name) {
  json_t *row = tm_page_row(table, NULL);
  tm_row_text(row, name);
  for (size_t i = 0; i < count; i++) {
    const tempera_value_summary *v = find(summaries[i], name);
    tm_row_short(row, v ? v->mean : NAN);
    tm_row_short(row, v ? v->sd : NAN);
  }
}

static void add_values(json_t *page, const tempera_comparison *c,
                       const tempera_summary *const *summaries) {
  json_t *section = tm_page_section(page, "Parameters side by side");
  json_t *table =
      tm_section_table(section, "Posterior means and standard deviations.");
  tm_page_column(table, "parameter", "", true);
  for (size_t i = 0; i < c->count; i++) {
    tm_page_column(table, c->names[i], "posterior mean", false);
    tm_page_column(table, "sd", c->names[i], false);
  }
  for (size_t i = 0; i < c->count; i++)
    for (size_t j = 0; j < summaries[i]->value_count; j++) {
      const char *name = summaries[i]->values[j].name;
      if (name && !seen_before(summaries, i, name))
        add_value(table, summaries, c->count, name);
    }
}

tempera_status tempera_comparison_page(const tempera_comparison *comparison,
                                       const tempera_summary *const *summaries,
                                       const char *const *folders,
                                       const char *path, tempera_error *error) {
  const tempera_comparison *c = comparison;
  char subtitle[64];
  snprintf(subtitle, sizeof subtitle, "%zu runs on the same data", c->count);
  json_t *page = tm_page("Comparison of models", subtitle);
  json_t *section = tm_page_section(page, "Models");
  add_models(section, c);
  add_warnings(section, c);
  json_t *figures = tm_section_figures(tm_page_section(page, "Evidence"));
  tm_figures_add(figures, probability_figure(c));
  tm_figures_add(figures, factor_figure(c));
  tm_figures_add(figures, evidence_figure(c));
  add_scores(page, c);
  tm_compare_marginals(page, c, summaries, folders);
  add_values(page, c, summaries);
  tempera_status status = tm_page_write(page, path, error);
  json_decref(page);
  return status;
}
