/* compare_marginals.c - what runs say of parameters that they share: marginals
 * over each other, one picture for each parameter. */
#include "report/compare.h"

#include "base/json.h"
#include "report/run_files.h"
#include "report/run_page.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BINS = 60, MOST = 60, FIRST_SHOWN = 4 };

/* The posterior draws of one run's parameter, all chains. */
typedef struct column {
  double *values; /* sorted; NULL: it has none */
  size_t count;
} column;

static int rising(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static column read_column(const tm_run_files *files, const char *name) {
  column out = {0};
  if (!files->summary || !files->draws[TEMPERA_TARGET].chains)
    return out;
  const tm_run_draws *d = &files->draws[TEMPERA_TARGET];
  long at = tm_run_column(d, name);
  size_t n = d->chains * d->rows;
  out.values = at >= 0 && n ? tm_heap_alloc(n, sizeof(double)) : NULL;
  for (size_t c = 0; out.values && c < d->chains; c++)
    for (size_t i = 0; i < d->rows; i++) {
      double x = tm_run_values_of(d, c, (size_t)at)[i];
      if (isfinite(x))
        out.values[out.count++] = x;
    }
  if (out.values)
    qsort(out.values, out.count, sizeof(double), rising);
  return out;
}

/* Nearly all of everybody's draws. */
static void range_of(const column *columns, size_t count, double *low,
                     double *high) {
  *low = INFINITY;
  *high = -INFINITY;
  for (size_t r = 0; r < count; r++) {
    size_t n = columns[r].count;
    if (!n)
      continue;
    size_t cut = (size_t)(0.002 * (double)n);
    *low = fmin(*low, columns[r].values[cut]);
    *high = fmax(*high, columns[r].values[n - 1 - cut]);
  }
}

/* Whole numbers get a bin each. */
static size_t bins_of(const column *columns, size_t count, double *low,
                      double *high) {
  for (size_t r = 0; r < count; r++)
    for (size_t i = 0; i < columns[r].count; i++)
      if (columns[r].values[i] != floor(columns[r].values[i]))
        return BINS;
  if (*high - *low >= BINS)
    return BINS;
  *low -= 0.5;
  *high += 0.5;
  return (size_t)(*high - *low + 0.5);
}

/* NULL unless at least two have it, and it varies. */
static json_t *overlay(const tempera_comparison *c, const column *columns,
                       const char *name) {
  double low, high;
  size_t have = 0;
  for (size_t r = 0; r < c->count; r++)
    have += columns[r].count > 0;
  range_of(columns, c->count, &low, &high);
  if (have < 2 || !(high > low))
    return NULL;
  size_t bins = bins_of(columns, c->count, &low, &high);
  json_t *figure = tm_figure("plot", name);
  tm_figure_axis(figure, "x", name);
  json_t *y = tm_figure_axis(figure, "y", "density");
  json_object_set_new(y, "zero", json_true());
  for (size_t r = 0; r < c->count; r++) {
    if (!columns[r].count)
      continue;
    json_t *steps = tm_figure_histogram(figure, c->names[r], columns[r].values,
                                        columns[r].count, low, high, bins);
    tm_json_integer(steps, "colour", r);
    tm_json_integer(steps, "dash", r % 3);
  }
  return figure;
}

static json_t *figure_of(const tempera_comparison *c, const tm_run_files *files,
                         const char *name) {
  column *columns = tm_heap_alloc(c->count, sizeof *columns);
  json_t *figure = NULL;
  for (size_t r = 0; columns && r < c->count; r++)
    columns[r] = read_column(&files[r], name);
  if (columns)
    figure = overlay(c, columns, name);
  for (size_t r = 0; columns && r < c->count; r++)
    tm_heap_free(columns[r].values);
  tm_heap_free(columns);
  return figure;
}

static bool named_before(const tempera_summary *const *summaries, size_t run,
                         const char *name) {
  for (size_t i = 0; i < run; i++)
    for (size_t j = 0; j < summaries[i]->value_count; j++)
      if (summaries[i]->values[j].name &&
          !strcmp(summaries[i]->values[j].name, name))
        return true;
  return false;
}

/* Names in the order of the runs, each once. */
static void add_figures(json_t *section, const tempera_comparison *c,
                        const tempera_summary *const *summaries,
                        const tm_run_files *files) {
  json_t *gallery = NULL;
  size_t made = 0;
  for (size_t r = 0; r < c->count; r++)
    for (size_t j = 0; j < summaries[r]->value_count && made < MOST; j++) {
      const char *name = summaries[r]->values[j].name;
      if (!name || named_before(summaries, r, name))
        continue;
      json_t *figure = figure_of(c, files, name);
      if (!figure)
        continue;
      if (!gallery)
        gallery = tm_section_gallery(section, "Parameter", "the first ones",
                                     FIRST_SHOWN);
      tm_figures_add(tm_gallery_choice(gallery, name), figure);
      made++;
    }
  if (!gallery)
    tm_section_text(section, NULL,
                    "No parameter has the same name in two of the runs.");
}

void tm_compare_marginals(json_t *page, const tempera_comparison *c,
                          const tempera_summary *const *summaries,
                          const char *const *folders) {
  tm_run_files *files = tm_heap_alloc(c->count, sizeof *files);
  if (!folders || !files) {
    tm_heap_free(files);
    return;
  }
  json_t *section = tm_page_section(page, "Marginals");
  tm_section_text(section, NULL,
                  "Posterior densities of parameters of the same name, at tau "
                  "= 1. The same name need not mean the same thing in two "
                  "models.");
  for (size_t r = 0; r < c->count; r++)
    if (tm_run_files_read(folders[r], &files[r], NULL) != TEMPERA_OK) {
      files[r] = (tm_run_files){0};
      tm_section_text(section, "warn", "The draws of one run cannot be read.");
    }
  add_figures(section, c, summaries, files);
  for (size_t r = 0; r < c->count; r++)
    if (files[r].summary)
      tm_run_files_clear(&files[r]);
  tm_heap_free(files);
}
