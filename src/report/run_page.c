/* run_page.c - `tempera report`: a run's folder as one page. Here are the
 * verdict, the tables and the order of the sections. */
#include "report/run_page.h"

#include "base/file.h"
#include "base/json.h"
#include "base/locale.h"
#include "report/table.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- draws ----------------------------------------------------------------
 */

const tm_run_draws *tm_run_posterior(const tm_run_files *files) {
  return &files->draws[files->draws[TEMPERA_TARGET].chains ? TEMPERA_TARGET
                                                           : TEMPERA_TEMPERED];
}

const double *tm_run_values_of(const tm_run_draws *draws, size_t chain,
                               size_t column) {
  return draws->values[chain * draws->width + column];
}

size_t tm_run_step(size_t rows, size_t points) {
  if (points < 2)
    points = 2;
  return rows > points ? (rows + points - 1) / points : 1;
}

void tm_run_trace(json_t *figure, const tm_run_draws *draws, size_t column,
                  size_t points, size_t thin) {
  size_t step = tm_run_step(draws->rows, points);
  double *kept = tm_heap_alloc(draws->rows, sizeof *kept);
  for (size_t chain = 0; chain < draws->chains && kept; chain++) {
    const double *x = tm_run_values_of(draws, chain, column);
    char name[40];
    size_t n = 0;
    for (size_t i = 0; i < draws->rows; i += step)
      kept[n++] = x[i];
    snprintf(name, sizeof name, "chain %zu", chain + 1);
    json_t *line = tm_figure_xy(figure, "line", name, NULL, kept, n);
    tm_json_real(line, "width", 1);
    tm_json_integer(line, "from", 1);
    tm_json_integer(line, "step", step * (thin ? thin : 1));
  }
  tm_json_integer(json_object_get(figure, "x"), "max",
                  draws->rows * (thin ? thin : 1));
  tm_heap_free(kept);
}

/* ---- sections -------------------------------------------------------------
 */

static void add_verdict(json_t *page, const tempera_summary *s) {
  json_t *section = tm_page_section(page, "Verdict");
  char number[2 * TM_NUMBER_TEXT] = "";
  int decimals = tm_decimals(s->se);
  if (isfinite(s->log_z))
    tm_snprintf(number, sizeof number, "log Z = %.*f \xc2\xb1 %.*f", decimals,
                s->log_z, decimals, s->se);
  tm_section_answer(section, s->reliable ? "good" : "warn",
                    s->reliable ? "Reliable" : "Not reliable", number,
                    s->verdict ? s->verdict : "No verdict was reached.");
  if (s->decision) {
    tm_text line = {0};
    tm_text_printf(&line, "Length chosen automatically: %s.", s->decision);
    tm_section_text(section, NULL, line.failed ? "" : line.data);
    tm_text_clear(&line);
  }
  if (!s->warning_count)
    return;
  json_t *items = json_object_get(tm_section_list(section), "items");
  for (size_t i = 0; i < s->warning_count; i++)
    json_array_append_new(items, tm_json_words(s->warnings[i]));
}

/* Rows that ask for attention: the limits of the verdict. */
static const char *tone_of(const tempera_value_summary *v) {
  return v->rhat > 1.05 || v->ess_bulk < 100 ? "warn" : NULL;
}

static void add_value_row(json_t *table, const tempera_value_summary *v) {
  char name[256];
  json_t *row = tm_page_row(table, tone_of(v));
  snprintf(name, sizeof name, "%s%s", v->name ? v->name : "",
           v->permuted ? " *" : "");
  tm_row_text(row, name);
  tm_row_short(row, v->mean);
  tm_row_short(row, v->sd);
  tm_row_short(row, v->mcse);
  tm_row_short(row, v->q5);
  tm_row_short(row, v->q50);
  tm_row_short(row, v->q95);
  tm_row_number(row, v->ess_bulk, 0);
  tm_row_number(row, v->ess_tail, 0);
  tm_row_number(row, v->rhat, 3);
}

static json_t *add_value_table(json_t *section,
                               const tempera_value_summary *values,
                               size_t count) {
  static const struct {
    const char *name, *title;
  } columns[] = {{"parameter", ""},
                 {"mean", "posterior mean"},
                 {"sd", "posterior standard deviation"},
                 {"mcse", "Monte Carlo standard error of the mean"},
                 {"5%", "5 % quantile"},
                 {"50%", "median"},
                 {"95%", "95 % quantile"},
                 {"ess_bulk", "effective sample size of the bulk"},
                 {"ess_tail", "effective sample size of the tails"},
                 {"rhat", "rank-normalised split R-hat; below 1.01 is good"}};
  bool permuted = false;
  for (size_t i = 0; i < count; i++)
    permuted = permuted || values[i].permuted;
  json_t *table = tm_section_table(
      section, permuted ? "* Its label changes places: not to be read alone. "
                          "Click a column's name to sort."
                        : "Click a column's name to sort.");
  for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
    tm_page_column(table, columns[i].name, columns[i].title, i == 0);
  for (size_t i = 0; i < count; i++)
    add_value_row(table, &values[i]);
  return table;
}

static void add_quantities(json_t *section, const tempera_summary *s) {
  char words[120];
  if (!s->quantity_count)
    return;
  snprintf(words, sizeof words,
           "Transformed parameters and generated quantities (%zu)",
           s->quantity_count);
  tm_table_fold(add_value_table(section, s->quantities, s->quantity_count),
                words);
}

static void add_values(json_t *page, const tempera_summary *s) {
  json_t *section = tm_page_section(page, "Parameters");
  tm_section_text(section, NULL, "Draws at tau = 1, on the natural scale.");
  add_value_table(section, s->values, s->value_count);
  add_quantities(section, s);
  tm_run_overview(section, s);
}

/* Mixtures: what each component is, once labels no longer change places. */
static void add_components(json_t *page, const tempera_summary *s) {
  if (!s->component_count)
    return;
  json_t *section = tm_page_section(page, "Components");
  tm_section_text(section, NULL,
                  "Labels of interchangeable components were put in one order, "
                  "draw by draw: [1] is the same component in all of them. The "
                  "density is the same under every labelling, so these are as "
                  "good draws of it as the others.");
  add_value_table(section, s->components, s->component_count);
  tm_run_forests(section, s->components, s->component_count);
}

enum { MODE_COLUMNS = 12 };

static void add_modes(json_t *page, const tempera_summary *s) {
  if (s->mode_count < 2)
    return;
  size_t shown = s->value_count < MODE_COLUMNS ? s->value_count : MODE_COLUMNS;
  json_t *section = tm_page_section(page, "Modes");
  json_t *table = tm_section_table(
      section, shown < s->value_count
                   ? "Means of the first parameters; summary.json has all."
                   : "Means of the parameters within each mode.");
  tm_page_column(table, "mode", "by weight", true);
  tm_page_column(table, "weight", "posterior probability", false);
  tm_page_column(table, "se", "standard error of the weight", false);
  for (size_t j = 0; j < shown; j++)
    tm_page_column(table, s->values[j].name, "", false);
  for (size_t i = 0; i < s->mode_count; i++) {
    char name[24];
    json_t *row = tm_page_row(table, NULL);
    snprintf(name, sizeof name, "%zu", i + 1);
    tm_row_text(row, name);
    tm_row_probability(row, s->modes[i].weight);
    tm_row_probability(row, s->modes[i].se);
    for (size_t j = 0; j < shown; j++)
      tm_row_short(row, s->modes[i].mean[j]);
  }
}

/* ---- options and cost -----------------------------------------------------
 */

static json_t *add_facts(json_t *section, const char *first) {
  json_t *table = tm_section_table(section, NULL);
  tm_page_column(table, first, "", true);
  tm_page_column(table, "value", "", true);
  return table;
}

static void add_fact(json_t *table, const char *name, const json_t *value) {
  json_t *row = tm_page_row(table, NULL);
  tm_row_text(row, name);
  char *text = json_is_string(value)
                   ? NULL
                   : json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT |
                                           JSON_REAL_PRECISION(6));
  tm_row_text(row, json_is_string(value)  ? json_string_value(value)
                   : !text                ? ""
                   : json_is_null(value)  ? "\xe2\x80\x93"
                   : json_is_true(value)  ? "yes"
                   : json_is_false(value) ? "no"
                                          : text);
  free(text);
}

static void add_number(json_t *table, const char *name, double value,
                       int decimals) {
  json_t *row = tm_page_row(table, NULL);
  tm_row_text(row, name);
  tm_row_number(row, value, decimals);
}

static void add_options(json_t *page, const tm_run_files *files) {
  const tempera_summary *s = files->summary;
  json_t *section = tm_page_section(page, "Cost and options");
  json_t *cost = add_facts(section, "cost");
  add_number(cost, "likelihood evaluations", (double)s->likelihood_evaluations,
             0);
  add_number(cost, "gradient evaluations", (double)s->gradient_evaluations, 0);
  add_number(cost, "seconds", s->seconds, 2);
  add_number(cost, "seconds in the model, all threads", s->seconds_in_model, 2);
  if (!files->config)
    return;
  json_t *options = add_facts(section, "option");
  tm_table_fold(options, "Options in force");
  const char *name;
  json_t *value;
  json_object_foreach(files->config, name, value)
      add_fact(options, name, value);
}

/* ---- the page -------------------------------------------------------------
 */

static json_t *begin(const tempera_summary *s) {
  tm_text line = {0};
  tm_text_printf(&line,
                 "%s: %zu chain%s, %zu iterations after %zu of warmup, seed "
                 "%" PRIu64,
                 s->method ? s->method : "", s->chains,
                 s->chains == 1 ? "" : "s", s->iterations, s->warmup, s->seed);
  if (s->running)
    tm_text_printf(&line,
                   " (running, to %zu iterations at most; this page "
                   "loads itself again)",
                   s->running);
  else if (!s->complete)
    tm_text_add(&line, " (stopped before the end)");
  json_t *page =
      tm_page(s->model ? s->model : "A run", line.failed ? "" : line.data);
  json_object_set_new(page, "running", json_boolean(s->running > 0));
  tm_text_clear(&line);
  return page;
}

/* The share of the barrier at the curve's taus, where all of it is known. */
static void add_path(json_t *page, const tempera_summary *s) {
  json_t *tau = json_array(), *u = json_array();
  for (size_t i = 0; i < s->curve_count && s->barrier > 0; i++)
    if (isfinite(s->curve[i].barrier)) {
      json_array_append_new(tau, json_real(s->curve[i].tau));
      json_array_append_new(u, json_real(s->curve[i].barrier / s->barrier));
    }
  bool whole = json_array_size(tau) > 2;
  json_t *path = json_pack("{s:o, s:o}", "tau", tau, "u", u);
  if (whole)
    json_object_set_new(page, "path", path);
  else
    json_decref(path);
}

static tempera_status make(const tm_run_files *files, json_t **page,
                           tempera_error *error) {
  const tempera_summary *s = files->summary;
  json_t *made = begin(s);
  add_path(made, s);
  add_verdict(made, s);
  tm_run_evidence(made, s);
  add_values(made, s);
  add_components(made, s);
  add_modes(made, s);
  tm_run_pairs(made, files);
  tempera_status status = tm_run_values(made, files, error);
  tm_run_predictive(made, files);
  tm_run_answers(made, files);
  tm_run_tempering(made, files);
  tm_run_reference(made, files);
  add_options(made, files);
  if (status != TEMPERA_OK)
    json_decref(made);
  else
    *page = made;
  return status;
}

tempera_status tempera_run_report(const char *folder, const char *path,
                                  tempera_error *error) {
  tm_run_files files;
  json_t *page = NULL;
  TM_TRY(tm_run_files_read_all(folder, &files, error));
  char *default_path = path ? NULL : tm_path_join(folder, "report.html");
  tempera_status status =
      path || default_path ? TEMPERA_OK : tm_fail_memory(error);
  if (status == TEMPERA_OK)
    status = make(&files, &page, error);
  if (status == TEMPERA_OK)
    status = tm_page_write(page, path ? path : default_path, error);
  json_decref(page);
  tm_heap_free(default_path);
  tm_run_files_clear(&files);
  return status;
}
