/* run_pairs.c - the pairs plot of a run's report, coloured by mode. A draw's
 * mode is not in the files: it is taken to be the one with the nearest mean,
 * whole parameters deciding first. */
#include "report/run_page.h"

#include "base/json.h"
#include "base/locale.h"

#include <math.h>
#include <stdio.h>

enum { MOST_COLUMNS = 5, POINTS = 1000, MOST_MODES = 8 };

typedef struct cloud {
  const tempera_summary *summary;
  const tm_run_draws *draws;
  long *column; /* of each value of the summary; -1: none */
  size_t step, modes;
} cloud;

static double distance(const cloud *c, size_t chain, size_t row, size_t mode) {
  const tempera_summary *s = c->summary;
  double sum = 0;
  for (size_t j = 0; j < s->value_count; j++) {
    if (c->column[j] < 0 || !(s->values[j].sd > 0))
      continue;
    double x = tm_run_values_of(c->draws, chain, (size_t)c->column[j])[row];
    double d = (x - s->modes[mode].mean[j]) / s->values[j].sd;
    if (isfinite(d))
      sum += s->values[j].pmf ? 1e6 * d * d : d * d;
  }
  return sum;
}

static size_t nearest(const cloud *c, size_t chain, size_t row) {
  size_t best = 0;
  double least = INFINITY;
  for (size_t m = 0; m < c->modes; m++) {
    double d = distance(c, chain, row, m);
    if (d < least) {
      least = d;
      best = m;
    }
  }
  return best;
}

static void add_groups(json_t *figure, const cloud *c) {
  json_t *groups = json_array(), *names = json_array();
  for (size_t chain = 0; chain < c->draws->chains; chain++)
    for (size_t i = 0; i < c->draws->rows; i += c->step)
      json_array_append_new(groups,
                            json_integer((json_int_t)nearest(c, chain, i)));
  for (size_t m = 0; m < c->modes; m++) {
    char name[64];
    tm_snprintf(name, sizeof name, "mode %zu (%.3f)", m + 1,
                c->summary->modes[m].weight);
    json_array_append_new(names, json_string(name));
  }
  json_object_set_new(figure, "groups", groups);
  json_object_set_new(figure, "group_names", names);
}

static void add_column(json_t *columns, const cloud *c, size_t j) {
  size_t n = 0;
  double *values =
      tm_heap_alloc(c->draws->chains * c->draws->rows, sizeof *values);
  json_t *column = json_object();
  for (size_t chain = 0; chain < c->draws->chains && values; chain++) {
    const double *x = tm_run_values_of(c->draws, chain, (size_t)c->column[j]);
    for (size_t i = 0; i < c->draws->rows; i += c->step)
      values[n++] = x[i];
  }
  tm_json_string(column, "name", c->summary->values[j].name);
  tm_set_numbers(column, "values", values, n);
  json_array_append_new(columns, column);
  tm_heap_free(values);
}

/* Values that vary and are finite; others have no place in a plot. */
static bool drawable(const cloud *c, size_t j) {
  const tempera_value_summary *v = &c->summary->values[j];
  return c->column[j] >= 0 && isfinite(v->mean) && v->sd > 0 && isfinite(v->sd);
}

static json_t *pairs_figure(const cloud *c) {
  json_t *figure = tm_figure("pairs", "Pairs of parameters");
  json_t *columns = json_array();
  size_t taken = 0, j = 0;
  char note[160];
  for (; j < c->summary->value_count && taken < MOST_COLUMNS; j++)
    if (drawable(c, j)) {
      add_column(columns, c, j);
      taken++;
    }
  json_object_set_new(figure, "columns", columns);
  json_object_set_new(figure, "wide", json_boolean(taken > 2));
  if (c->modes > 1)
    add_groups(figure, c);
  snprintf(
      note, sizeof note, "%s%s%s", c->step > 1 ? "Some of the draws. " : "",
      j < c->summary->value_count ? "The first parameters. " : "",
      c->modes > 1 ? "A draw's mode is the one with the nearest mean." : "");
  tm_figure_note(figure, note);
  if (taken >= 2)
    return figure;
  json_decref(figure);
  return NULL;
}

void tm_run_pairs(json_t *page, const tm_run_files *files) {
  const tempera_summary *s = files->summary;
  const tm_run_draws *draws = tm_run_posterior(files);
  if (!files->draws[TEMPERA_TARGET].chains || s->value_count < 2)
    return;
  cloud c = {.summary = s,
             .draws = draws,
             .column = tm_heap_alloc(s->value_count, sizeof(long)),
             .step = tm_run_step(draws->rows, POINTS / draws->chains),
             .modes = s->mode_count < MOST_MODES ? s->mode_count : MOST_MODES};
  if (!c.column)
    return;
  for (size_t j = 0; j < s->value_count; j++)
    c.column[j] =
        s->values[j].name ? tm_run_column(draws, s->values[j].name) : -1;
  json_t *figure = pairs_figure(&c);
  if (figure)
    tm_figures_add(tm_section_figures(tm_page_section(page, "Pairs")), figure);
  tm_heap_free(c.column);
}
