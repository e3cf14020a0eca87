/* run_predictive.c - predictive checks in a run's report: replicated data
 * beside the observed, how often their statistics are greater, leave-one-out
 * PIT, and the Pareto k of every term left out. From predictive.csv, prior.csv
 * and loo.csv of the folder. */
#include "report/run_page.h"

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "estimate/predictions.h"
#include "numeric/sort.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CURVES = 40, GRID = 80, MOST_K = 4000, PIT_BINS = 10 };

/* ---- a file of numbers -----------------------------------------------------
 */

typedef struct sheet {
  char *text, **names;
  double *values; /* rows x width */
  size_t width, rows;
} sheet;

static void clear_sheet(sheet *s) {
  tm_heap_free(s->text);
  tm_heap_free(s->names);
  tm_heap_free(s->values);
  *s = (sheet){0};
}

static size_t count_of(const char *text, char what) {
  size_t n = 0;
  for (; *text; text++)
    n += *text == what;
  return n;
}

/* The first line has the names. */
static bool read_names(sheet *s, char **rest) {
  char *end = strchr(s->text, '\n');
  if (!end)
    return false;
  *end = '\0';
  s->width = count_of(s->text, ',') + 1;
  s->names = tm_heap_alloc(s->width, sizeof *s->names);
  if (!s->names)
    return false;
  char *at = s->text;
  for (size_t i = 0; i < s->width; i++) {
    s->names[i] = at;
    at += strcspn(at, ",");
    if (*at)
      *at++ = '\0';
  }
  *rest = end + 1;
  return true;
}

/* Rows that are whole; what follows a damaged one is not read. */
static void read_rows(sheet *s, char *at) {
  for (; *at; s->rows++) {
    double *row = s->values + s->rows * s->width;
    for (size_t i = 0; i < s->width; i++) {
      char *end = at;
      row[i] = tm_number_read(at, &end);
      if (end == at || *end != (i + 1 < s->width ? ',' : '\n'))
        return;
      at = end + 1;
    }
  }
}

static bool read_sheet(const char *folder, const char *name, sheet *s) {
  size_t length;
  char *path = tm_path_join(folder, name), *rest = NULL;
  *s = (sheet){0};
  bool fine = path && tm_file_exists(path) &&
              tm_file_read(path, &s->text, &length, NULL) == TEMPERA_OK &&
              read_names(s, &rest);
  if (fine) {
    s->values =
        tm_heap_alloc(count_of(rest, '\n') * s->width + 1, sizeof *s->values);
    fine = s->values != NULL;
  }
  if (fine)
    read_rows(s, rest);
  tm_heap_free(path);
  if (!fine || !s->rows)
    clear_sheet(s);
  return s->rows > 0;
}

/* ---- one variable ----------------------------------------------------------
 */

/* Columns [first, first + count) of a sheet are NAME_rep's. */
typedef struct variable {
  char name[64];
  size_t first, count;
} variable;

static bool same_variable(const char *a, const char *b) {
  size_t n = strcspn(a, ".");
  return n == strcspn(b, ".") && !strncmp(a, b, n);
}

static bool next_variable(const sheet *s, variable *v) {
  size_t at = v->first + v->count;
  while (at < s->width &&
         !strstr(s->names[at], "_rep")) /* chain__, parameters */
    at++;
  v->first = at;
  for (v->count = 0;
       at < s->width && same_variable(s->names[v->first], s->names[at]); at++)
    v->count++;
  if (!v->count)
    return false;
  size_t n = strcspn(s->names[v->first], ".");
  n = n > 4 ? n - 4 : n; /* without _rep */
  snprintf(v->name, sizeof v->name, "%.*s", (int)n, s->names[v->first]);
  return true;
}

typedef struct check {
  const sheet *posterior, *prior; /* the latter may be NULL */
  const double *observed, *pit;   /* rows of the first; pit may be NULL */
  size_t first;                   /* row of replicated data */
  variable v, in_prior;
} check;

static const double *row_of(const check *c, size_t i) {
  return c->posterior->values + (c->first + i) * c->posterior->width +
         c->v.first;
}

static bool is_whole(const check *c) {
  for (size_t k = 0; k < c->v.count; k++)
    if (c->observed[k] != floor(c->observed[k]))
      return false;
  return true;
}

/* Where most of it lies: of the observed and of the replicated. */
static void range_of(const check *c, size_t rows, double *low, double *high) {
  size_t n = c->v.count * (rows < CURVES ? rows : CURVES);
  double *all = tm_heap_alloc(n + c->v.count, sizeof *all);
  *low = *high = 0;
  if (!all)
    return;
  size_t used = 0;
  for (size_t i = 0; i < rows && i < CURVES; i++)
    for (size_t k = 0; k < c->v.count; k++)
      if (isfinite(row_of(c, i)[k]))
        all[used++] = row_of(c, i)[k];
  tm_sort(all, used);
  *low = used ? all[used / 200] : 0;
  *high = used ? all[used - 1 - used / 200] : 0;
  for (size_t k = 0; k < c->v.count; k++) {
    *low = fmin(*low, c->observed[k]);
    *high = fmax(*high, c->observed[k]);
  }
  tm_heap_free(all);
}

/* A Gaussian kernel with Silverman's width, over a grid; whole numbers are
 * counted. */
static void density(const double *x, size_t n, bool whole, const double *grid,
                    double *y) {
  double s[TM_STATISTICS];
  tm_statistics(x, NULL, n, s);
  double width = 1.06 * s[1] * pow((double)n, -0.2);
  width = width > 0 ? width : 1e-3 + fabs(s[0]) * 1e-3;
  for (size_t g = 0; g < GRID; g++) {
    y[g] = 0;
    for (size_t k = 0; k < n; k++) {
      double z = (grid[g] - x[k]) / width;
      if (whole)
        y[g] += fabs(grid[g] - x[k]) < 0.5;
      else if (fabs(z) < 6)
        y[g] += exp(-0.5 * z * z) / (width * 2.5066282746310002);
    }
    y[g] /= (double)n;
  }
}

/* The grid; whole numbers one by one where they are few. */
static size_t grid_of(double low, double high, bool whole, double *grid) {
  size_t n = whole && high - low < GRID ? (size_t)(high - low) + 1 : GRID;
  for (size_t g = 0; g < GRID; g++)
    grid[g] = n < 2 ? low : low + (high - low) * (double)g / (double)(n - 1);
  return n;
}

static json_t *overlay(const check *c, bool prior) {
  char title[160];
  snprintf(title, sizeof title, "%s: observed and %s", c->v.name,
           prior ? "drawn from the prior" : "replicated");
  json_t *figure = tm_figure("plot", title);
  const sheet *s = prior ? c->prior : c->posterior;
  const variable *v = prior ? &c->in_prior : &c->v;
  size_t first = prior ? 0 : c->first, rows = s->rows - first;
  double low, high, grid[GRID], y[GRID];
  bool whole = is_whole(c);
  range_of(c, c->posterior->rows - c->first, &low, &high);
  if (prior && !whole) {
    double wider = high - low;
    low -= wider;
    high += wider;
  }
  whole = whole && high - low < GRID;
  size_t n = grid_of(low, high, whole, grid);
  size_t step = rows > CURVES ? rows / CURVES : 1;
  for (size_t i = 0, shown = 0; i < rows && shown < CURVES; i += step) {
    const double *x = s->values + (first + i) * s->width + v->first;
    if (!isfinite(x[0]))
      continue;
    density(x, v->count, whole, grid, y);
    json_t *line =
        tm_figure_xy(figure, "line",
                     shown   ? ""
                     : prior ? "from the prior"
                             : "replicated",
                     grid, y, n);
    json_object_set_new(line, "colour", json_integer(-1));
    json_object_set_new(line, "width", json_real(0.7));
    shown++;
  }
  density(c->observed, c->v.count, whole, grid, y);
  json_t *line = tm_figure_xy(figure, "line", "observed", grid, y, n);
  json_object_set_new(line, "colour", json_integer(0));
  json_object_set_new(line, "width", json_real(2.5));
  tm_figure_axis(figure, "x", c->v.name);
  tm_figure_axis(figure, "y", whole ? "share" : "density");
  tm_figure_note(figure,
                 prior ? "What the prior alone expects of data: it should hold "
                         "the observed, and not much that is absurd."
                       : "Where the observed line leaves the bundle, the model "
                         "does not make such data.");
  return figure;
}

/* ---- leave-one-out PIT -----------------------------------------------------
 */

static json_t *pit_figure(const check *c) {
  char title[160];
  double edges[PIT_BINS + 1], y[PIT_BINS] = {0}, n = 0;
  snprintf(title, sizeof title, "%s: leave-one-out PIT", c->v.name);
  for (size_t k = 0; k < c->v.count; k++)
    if (isfinite(c->pit[k])) {
      double bin = floor(c->pit[k] * PIT_BINS);
      y[bin >= PIT_BINS ? PIT_BINS - 1 : bin > 0 ? (size_t)bin : 0]++;
      n++;
    }
  if (n < 2)
    return NULL;
  for (size_t b = 0; b <= PIT_BINS; b++)
    edges[b] = (double)b / PIT_BINS;
  for (size_t b = 0; b < PIT_BINS; b++)
    y[b] *= PIT_BINS / n;
  double p = 1.0 / PIT_BINS, sd = sqrt(n * p * (1 - p)) * PIT_BINS / n;
  double ends[2] = {0, 1}, low[2], high[2];
  low[0] = low[1] = fmax(0, 1 - 2.8 * sd);
  high[0] = high[1] = 1 + 2.8 * sd;
  json_t *figure = tm_figure("plot", title);
  json_t *band = tm_figure_series(figure, "band", "where uniform counts lie");
  tm_set_numbers(band, "x", ends, 2);
  tm_set_numbers(band, "lower", low, 2);
  tm_set_numbers(band, "upper", high, 2);
  json_object_set_new(band, "colour", json_integer(-1));
  json_t *steps = tm_figure_series(figure, "steps", "PIT");
  tm_set_numbers(steps, "edges", edges, PIT_BINS + 1);
  tm_set_numbers(steps, "y", y, PIT_BINS);
  json_object_set_new(steps, "filled", json_true());
  json_object_set_new(steps, "colour", json_integer(0));
  tm_figure_axis(figure, "x", "P(replicated < observed | the other outcomes)");
  json_t *axis = tm_figure_axis(figure, "y", "density");
  json_object_set_new(axis, "zero", json_true());
  tm_figure_note(figure, "Flat where predictions are calibrated; high at both "
                         "ends where they are too narrow, in the middle where "
                         "they are too wide.");
  return figure;
}

/* ---- Pareto k --------------------------------------------------------------
 */

static json_t *k_figure(const tempera_loo *loo) {
  size_t step = loo->used / MOST_K + 1, n = 0;
  double *x = tm_heap_alloc(2 * loo->used + 1, sizeof *x);
  json_t *figure = tm_figure("plot", "Pareto k of every term left out");
  double *y = x ? x + loo->used : NULL;
  for (size_t i = 0; x && i < loo->used; i++) {
    bool shown = i % step == 0 || !(loo->pareto_k[i] < 0.7);
    if (!shown)
      continue;
    x[n] = (double)(loo->term ? loo->term[i] : i) + 1;
    y[n++] = isfinite(loo->pareto_k[i]) ? loo->pareto_k[i] : NAN;
  }
  json_t *points = tm_figure_xy(figure, "points", "k", x, y, n);
  json_object_set_new(points, "size", json_integer(4));
  tm_heap_free(x);
  tm_figure_rule(figure, "y", 0.7, "0.7");
  tm_figure_axis(figure, "x", "term of the likelihood");
  tm_figure_axis(figure, "y", "k");
  tm_figure_note(figure, "Above 0.7 one outcome changes the posterior so much "
                         "that leaving it out cannot be reckoned from these "
                         "draws.");
  return figure;
}

/* ---- the section -----------------------------------------------------------
 */

static void add_loo(json_t *section, const tempera_loo *loo) {
  tm_text text = {0};
  tm_text_printf(&text,
                 "Leave-one-out: elpd %.2f \xc2\xb1 %.2f over %zu terms of the "
                 "likelihood, p %.2f (WAIC: %.2f \xc2\xb1 %.2f, p %.2f). ",
                 loo->elpd, loo->se, loo->terms, loo->p, loo->waic,
                 loo->waic_se, loo->waic_p);
  if (loo->k_bad)
    tm_text_printf(&text,
                   "%zu of the %zu left out %s a Pareto k above 0.7: their "
                   "share, and elpd with it, is not to be trusted.",
                   loo->k_bad, loo->used, loo->k_bad == 1 ? "has" : "have");
  else
    tm_text_add(&text, "All Pareto k are below 0.7.");
  if (!text.failed)
    tm_section_text(section, loo->k_bad ? "warn" : NULL, text.data);
  tm_text_clear(&text);
}

/* Statistics of the variable in summary.json: of all data and all draws used,
 * where the files have some. */
static void add_tails(json_t *table, const json_t *stored, const char *name) {
  size_t i, k;
  const json_t *one, *statistic;
  json_array_foreach(stored, i, one) {
    const char *its = json_string_value(json_object_get(one, "name"));
    if (!its || strcmp(its, name))
      continue;
    json_array_foreach(json_object_get(one, "statistics"), k, statistic) {
      const json_t *tail = json_object_get(statistic, "tail");
      const char *word =
          json_string_value(json_object_get(statistic, "statistic"));
      if (!word || !json_is_number(tail))
        continue;
      double share = json_number_value(tail);
      json_t *row =
          tm_page_row(table, share < 0.01 || share > 0.99 ? "warn" : NULL);
      tm_row_text(row, name);
      tm_row_text(row, word);
      tm_row_short(row, json_number_value(
                            json_object_get(statistic, "observed")));
      tm_row_probability(row, share);
    }
  }
}

static json_t *add_variables(json_t *section, const json_t *stored,
                             const sheet *posterior, const sheet *prior) {
  json_t *table = tm_section_table(
      section, "Tail: the share of replicated data whose statistic is greater "
               "than the observed; near 0 or 1, the model does not make it.");
  tm_page_column(table, "variable", "", true);
  tm_page_column(table, "statistic", "", true);
  tm_page_column(table, "observed", "", false);
  tm_page_column(table, "tail", "", false);
  json_t *figures = tm_section_figures(section);
  bool has_pit = posterior->rows > 1 && posterior->values[posterior->width] < 0;
  check c = {.posterior = posterior, .prior = prior, .first = 1 + has_pit};
  while (next_variable(posterior, &c.v)) {
    c.observed = posterior->values + c.v.first;
    c.pit = has_pit ? c.observed + posterior->width : NULL;
    add_tails(table, stored, c.v.name);
    if (c.v.count > 1 && posterior->rows > c.first)
      tm_figures_add(figures, overlay(&c, false));
    json_t *pit = c.pit ? pit_figure(&c) : NULL;
    if (pit)
      tm_figures_add(figures, pit);
    if (prior && next_variable(prior, &c.in_prior) &&
        c.in_prior.count == c.v.count && c.v.count > 1)
      tm_figures_add(figures, overlay(&c, true));
  }
  return figures;
}

void tm_run_predictive(json_t *page, const tm_run_files *files) {
  sheet posterior, prior;
  json_t *summary = NULL;
  const tempera_loo *loo = files->summary->loo;
  bool data = read_sheet(files->folder, "predictive.csv", &posterior);
  bool has_prior = read_sheet(files->folder, "prior.csv", &prior);
  if (data && tm_json_load(files->folder, "summary.json", &summary, NULL) !=
                  TEMPERA_OK)
    summary = NULL;
  if (loo || data) {
    json_t *section = tm_page_section(page, "Predictions"), *figures = NULL;
    if (loo)
      add_loo(section, loo);
    if (files->summary->loo_why[0])
      tm_section_text(section, NULL, files->summary->loo_why);
    if (data)
      figures = add_variables(
          section, json_object_get(summary, "predictive"),
                    &posterior, has_prior ? &prior : NULL);
    if (loo && loo->pareto_k)
      tm_figures_add(figures ? figures : tm_section_figures(section),
                     k_figure(loo));
  }
  json_decref(summary);
  clear_sheet(&posterior);
  clear_sheet(&prior);
}
