/* run_values.c - every parameter of a run's report by itself: marginal, trace,
 * ranks, autocorrelation, and draws and optimum against tau. */
#include "report/run_page.h"

#include "base/json.h"
#include "numeric/lags.h"
#include "numeric/sort.h"
#include "report/value_groups.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  FIRST_SHOWN = 4,
  BINS = 60,
  RANK_BINS = 20,
  LAGS = 40,
  MOST_VALUES = 300,      /* with figures; tables have all */
  TRACE_NUMBERS = 300000, /* in all traces, which bounds the file's size */
  MOST_TRACE = 500,
  LEAST_TRACE = 60,
  FEWEST_PRIOR = 100 /* draws at tau = 0, to be laid over a marginal */
};

typedef struct gallery {
  const tm_run_files *files;
  const tm_run_draws *draws;    /* the posterior's */
  const tm_run_draws *tempered; /* NULL: none, or the posterior's own */
  size_t trace;                 /* points of each chain */
  tm_ranked *sorted;            /* all draws of a value */
  tm_ranked *spare;             /* as many, for sorting */
  double *room;                 /* one number for each draw */
} gallery;

/* One parameter or quantity. */
typedef struct subject {
  const tempera_value_summary *value;
  size_t index; /* among the values; for the optimum */
  size_t column;
  bool quantity;
} subject;

static json_t *figure_of(const char *title, const char *x, const char *y) {
  json_t *figure = tm_figure("plot", title);
  tm_figure_axis(figure, "x", x);
  tm_figure_axis(figure, "y", y);
  return figure;
}

static size_t count_of(const tm_run_draws *draws) {
  return draws->chains * draws->rows;
}

static void gather(const tm_run_draws *draws, size_t column, double *out) {
  for (size_t c = 0; c < draws->chains; c++)
    memcpy(out + c * draws->rows, tm_run_values_of(draws, c, column),
           draws->rows * sizeof *out);
}

/* False when some draw is not finite. */
static bool sort_draws(gallery *g, size_t column) {
  const tm_run_draws *d = g->draws;
  gather(d, column, g->room);
  for (size_t i = 0; i < count_of(d); i++) {
    if (!isfinite(g->room[i]))
      return false;
    g->sorted[i] = (tm_ranked){g->room[i], i};
  }
  tm_ranked_sort(g->sorted, g->spare, count_of(d));
  return true;
}

static bool has_target(const gallery *g) {
  return g->files->draws[TEMPERA_TARGET].chains > 0;
}

/* ---- marginal -------------------------------------------------------------
 */

/* The target's draws, and as far again on both sides for the tempered ones,
 * which may come from a prior with very long tails. */
static void range_of(const gallery *g, double *low, double *high) {
  size_t n = count_of(g->draws);
  *low = g->sorted[0].value;
  *high = g->sorted[n - 1].value;
  double least = tm_ranked_quantile(g->sorted, n, 0.0005);
  double most = tm_ranked_quantile(g->sorted, n, 0.9995);
  double room = 0.15 * (most - least);
  *low = fmax(*low, least - room);
  *high = fmin(*high, most + room);
}

static void widen(const double *values, size_t count, double *low,
                  double *high) {
  double least = INFINITY, most = -INFINITY, width = *high - *low;
  for (size_t i = 0; i < count; i++)
    if (isfinite(values[i])) {
      least = fmin(least, values[i]);
      most = fmax(most, values[i]);
    }
  *low = fmax(*low - width, fmin(*low, least));
  *high = fmin(*high + width, fmax(*high, most));
}

/* Tempered draws at tau = 0 are draws from the prior: how many, in g->room. */
static size_t prior_draws(const gallery *g, size_t column) {
  const tm_run_draws *d = g->tempered;
  long tau = tm_run_column(d, "tau__");
  size_t count = 0;
  for (size_t c = 0; c < d->chains && tau >= 0; c++) {
    const double *at = tm_run_values_of(d, c, (size_t)tau);
    const double *x = tm_run_values_of(d, c, column);
    for (size_t i = 0; i < d->rows; i++)
      if (at[i] == 0 && isfinite(x[i]))
        g->room[count++] = x[i];
  }
  return count;
}

static json_t *marginal(gallery *g, const subject *v) {
  json_t *figure = figure_of("Marginal", v->value->name, "density");
  json_object_set_new(json_object_get(figure, "y"), "zero", json_true());
  double low, high;
  long column = g->tempered ? tm_run_column(g->tempered, v->value->name) : -1;
  range_of(g, &low, &high);
  double finest = (high - low) / BINS;
  if (column >= 0) {
    gather(g->tempered, (size_t)column, g->room);
    widen(g->room, count_of(g->tempered), &low, &high);
  }
  if (!(high > low))
    return json_decref(figure), NULL;
  size_t bins = (size_t)fmin(3 * BINS, ceil((high - low) / finest));
  if (column >= 0) {
    json_t *steps = tm_figure_histogram(figure, "tempered", g->room,
                                        count_of(g->tempered), low, high, bins);
    tm_json_integer(steps, "colour", 1);
    tm_json_integer(steps, "dash", 1);
    size_t n = prior_draws(g, (size_t)column);
    if (n >= FEWEST_PRIOR) {
      size_t few = bins / 3 > 12 ? bins / 3 : bins;
      steps = tm_figure_histogram(figure, "prior", g->room, n, low, high, few);
      tm_json_integer(steps, "colour", 2);
    }
  }
  gather(g->draws, v->column, g->room);
  json_t *steps =
      tm_figure_histogram(figure, has_target(g) ? "target" : "draws at all tau",
                          g->room, count_of(g->draws), low, high, bins);
  tm_json_integer(steps, "colour", 0);
  json_object_set_new(steps, "filled", json_true());
  return figure;
}

static json_t *pmf(const subject *v) {
  json_t *figure = figure_of("Probabilities", v->value->name, "probability");
  json_t *x = json_object_get(figure, "x"), *names = json_array();
  json_t *bars = tm_figure_series(figure, "bars", NULL), *y = json_array();
  for (size_t i = 0; i < v->value->pmf_count; i++) {
    char name[24];
    snprintf(name, sizeof name, "%lld", (long long)v->value->pmf[i].value);
    json_array_append_new(names, json_string(name));
    json_array_append_new(y, json_real(v->value->pmf[i].probability));
  }
  tm_json_string(x, "scale", "category");
  json_object_set_new(x, "categories", names);
  json_object_set_new(json_object_get(figure, "y"), "zero", json_true());
  json_object_set_new(bars, "y", y);
  return figure;
}

/* ---- chains ---------------------------------------------------------------
 */

static json_t *trace(const gallery *g, const subject *v) {
  json_t *figure = figure_of("Trace", "iteration", v->value->name);
  tm_run_trace(figure, g->draws, v->column, g->trace, g->files->summary->thin);
  return figure;
}

static void in_grey(json_t *series) {
  json_object_set_new(series, "colour", json_integer(-1));
}

/* Ranks of all draws together, as shares, chain after chain. */
static void rank_draws(const gallery *g) {
  double count = (double)count_of(g->draws);
  for (size_t k = 0; k < count_of(g->draws); k++)
    g->room[g->sorted[k].index] = ((double)k + 0.5) / count;
}

/* Chains that agree have flat histograms. */
static json_t *ranks(const gallery *g) {
  const tm_run_draws *d = g->draws;
  json_t *figure =
      figure_of("Ranks of each chain's draws", "rank, as a share", "density");
  rank_draws(g);
  for (size_t c = 0; c < d->chains; c++) {
    char name[40];
    snprintf(name, sizeof name, "chain %zu", c + 1);
    json_t *steps = tm_figure_histogram(figure, name, g->room + c * d->rows,
                                        d->rows, 0, 1, RANK_BINS);
    tm_json_integer(steps, "dash", c);
  }
  json_object_set_new(json_object_get(figure, "y"), "zero", json_true());
  in_grey(tm_figure_rule(figure, "y", 1, NULL));
  return figure;
}

static void correlate(const double *x, size_t rows, double *room, double *out) {
  double mean = 0;
  for (size_t i = 0; i < rows; i++)
    mean += x[i] / (double)rows;
  for (size_t i = 0; i < rows; i++)
    room[i] = x[i] - mean;
  double square = tm_lagged_product(room, rows, 0);
  for (size_t lag = 0; lag <= LAGS; lag++)
    out[lag] = square > 0 ? tm_lagged_product(room, rows, lag) / square : NAN;
}

static json_t *autocorrelation(const gallery *g, const subject *v) {
  json_t *figure = figure_of("Autocorrelation", "lag", "correlation");
  tm_json_integer(json_object_get(figure, "y"), "max", 1);
  for (size_t c = 0; c < g->draws->chains; c++) {
    double values[LAGS + 1];
    char name[40];
    correlate(tm_run_values_of(g->draws, c, v->column), g->draws->rows, g->room,
              values);
    snprintf(name, sizeof name, "chain %zu", c + 1);
    json_t *line = tm_figure_xy(figure, "line", name, NULL, values, LAGS + 1);
    tm_json_integer(line, "dash", c);
  }
  in_grey(tm_figure_rule(figure, "y", 0, NULL));
  return figure;
}

/* ---- against tau ----------------------------------------------------------
 */

/* The optimum may change from one mode to another: no line leads there. */
static void add_optimum(json_t *figure, const tempera_summary *s,
                        const subject *v, double jump) {
  size_t most = 2 * s->ridge_count;
  double *room = tm_heap_alloc(2 * most, sizeof *room);
  if (!room)
    return;
  size_t n = 0;
  for (size_t k = 0; k < s->ridge_count; k++) {
    double value = s->ridge[k].optimum[v->index];
    if (n && fabs(value - room[most + n - 1]) > jump) {
      room[n] = s->ridge[k].tau;
      room[most + n++] = NAN; /* a gap */
    }
    room[n] = s->ridge[k].tau;
    room[most + n++] = value;
  }
  json_t *line = tm_figure_xy(figure, "line", "optimum", room, room + most, n);
  tm_json_integer(line, "colour", 1);
  tm_json_real(line, "width", 2);
  json_object_set_new(line, "marked", json_boolean(s->ridge_count <= 60));
  tm_heap_free(room);
}

/* Draws far out in the prior's tails would leave the rest a line. */
static void add_tempered_draws(const gallery *g, json_t *figure, size_t tau,
                               size_t column, double low, double high) {
  const tm_run_draws *d = g->tempered;
  size_t step = tm_run_step(d->rows, g->trace / 2), n = 0;
  size_t most = d->chains * (d->rows / step + 1);
  double *room = tm_heap_alloc(2 * most, sizeof *room);
  if (!room)
    return;
  for (size_t c = 0; c < d->chains; c++)
    for (size_t i = 0; i < d->rows; i += step) {
      double x = tm_run_values_of(d, c, column)[i];
      if (!(x >= low && x <= high))
        continue;
      room[n] = tm_run_values_of(d, c, tau)[i];
      room[most + n++] = x;
    }
  json_t *points =
      tm_figure_xy(figure, "points", "tempered draws", room, room + most, n);
  tm_json_integer(points, "colour", 0);
  tm_heap_free(room);
}

static json_t *against_tau(gallery *g, const subject *v) {
  const tempera_summary *s = g->files->summary;
  long tau = g->tempered ? tm_run_column(g->tempered, "tau__") : -1;
  long column = tau < 0 ? -1 : tm_run_column(g->tempered, v->value->name);
  if (column < 0)
    return NULL;
  double low, high;
  range_of(g, &low, &high);
  gather(g->tempered, (size_t)column, g->room);
  widen(g->room, count_of(g->tempered), &low, &high);
  bool ridge = !v->quantity && s->ridge_count > 1;
  json_t *figure = figure_of(ridge ? "Draws and optimum against tau"
                                   : "Tempered draws against tau",
                             "tau", v->value->name);
  tm_figure_tau(figure, "x");
  add_tempered_draws(g, figure, (size_t)tau, (size_t)column, low, high);
  if (ridge)
    add_optimum(figure, s, v, 0.25 * (high - low));
  return figure;
}

/* ---- the gallery ----------------------------------------------------------
 */

static void add_figure(json_t *choice, json_t *figure) {
  if (figure)
    tm_figures_add(choice, figure);
}

static void add_choice(gallery *g, json_t *block, const subject *v) {
  json_t *choice = tm_gallery_choice(block, v->value->name);
  bool finite = sort_draws(g, v->column);
  if (v->value->pmf_count)
    add_figure(choice, pmf(v));
  else if (finite)
    add_figure(choice, marginal(g, v));
  add_figure(choice, trace(g, v));
  if (finite && g->draws->chains > 1)
    add_figure(choice, ranks(g));
  if (finite)
    add_figure(choice, autocorrelation(g, v));
  if (finite)
    add_figure(choice, against_tau(g, v));
}

/* Worst first: large R-hat, then few effective draws. */
static int by_mixing(const void *a, const void *b) {
  const tempera_value_summary *x = ((const subject *)a)->value;
  const tempera_value_summary *y = ((const subject *)b)->value;
  double p = isnan(x->rhat) ? 0 : rint(x->rhat * 1000);
  double q = isnan(y->rhat) ? 0 : rint(y->rhat * 1000);
  if (p != q)
    return p > q ? -1 : 1;
  p = isnan(x->ess_bulk) ? INFINITY : x->ess_bulk;
  q = isnan(y->ess_bulk) ? INFINITY : y->ess_bulk;
  return (p > q) - (p < q);
}

static void add_subjects(const gallery *g, const tempera_value_summary *values,
                         size_t count, bool quantity, subject *list,
                         size_t *n) {
  for (size_t i = 0; i < count;) {
    tm_value_group group = tm_value_group_at(values, count, i);
    bool folded = quantity && tm_value_group_folds(&group, count);
    for (size_t j = 0; j < group.count && !folded; j++) {
      const tempera_value_summary *v = &group.values[j];
      long column = v->name ? tm_run_column(g->draws, v->name) : -1;
      if (column >= 0)
        list[(*n)++] = (subject){v, i + j, (size_t)column, quantity};
    }
    i += group.count;
  }
}

/* Parameters, and quantities that are not long lists (log_lik, y_rep). */
static size_t list_subjects(const gallery *g, subject *list) {
  const tempera_summary *s = g->files->summary;
  size_t n = 0;
  add_subjects(g, s->values, s->value_count, false, list, &n);
  add_subjects(g, s->quantities, s->quantity_count, true, list, &n);
  return n;
}

static void explain(const gallery *g, json_t *section, size_t count,
                    size_t drawn) {
  size_t step = tm_run_step(g->draws->rows, g->trace);
  tm_text text = {0};
  if (step > 1)
    tm_text_printf(&text,
                   "Traces show one draw in %zu of %zu; histograms, ranks and "
                   "correlations are of all. ",
                   step, g->draws->rows);
  if (!has_target(g))
    tm_text_add(&text, "This method has no chain at tau = 1: these are its "
                       "draws at all tau, while the table is of the "
                       "posterior. ");
  if (g->tempered)
    tm_text_add(&text, "The tempered chain's draws at all tau show where the "
                       "target chain can come from. ");
  if (drawn < count)
    tm_text_printf(&text, "Of %zu, the %zu that mix worst are here. ", count,
                   drawn);
  if (text.length)
    tm_section_text(section, NULL, text.failed ? "" : text.data);
  tm_text_clear(&text);
}

static void add_gallery(gallery *g, json_t *page, subject *list, size_t count) {
  size_t drawn = count < MOST_VALUES ? count : MOST_VALUES;
  char first[80];
  size_t share = TRACE_NUMBERS / (drawn * g->draws->chains);
  g->trace = share > MOST_TRACE    ? MOST_TRACE
             : share < LEAST_TRACE ? LEAST_TRACE
                                   : share;
  json_t *section = tm_page_section(page, "One by one");
  explain(g, section, count, drawn);
  if (count > FIRST_SHOWN)
    qsort(list, count, sizeof *list, by_mixing);
  snprintf(first, sizeof first, "the %d that mix worst", FIRST_SHOWN);
  json_t *block = tm_section_gallery(
      section, "Show", count > FIRST_SHOWN ? first : "all", FIRST_SHOWN);
  for (size_t i = 0; i < drawn; i++)
    add_choice(g, block, &list[i]);
}

tempera_status tm_run_values(json_t *page, const tm_run_files *files,
                             tempera_error *error) {
  const tempera_summary *s = files->summary;
  gallery g = {.files = files, .draws = tm_run_posterior(files)};
  const tm_run_draws *tempered = &files->draws[TEMPERA_TEMPERED];
  size_t most = s->value_count + s->quantity_count;
  if (!g.draws->chains)
    return TEMPERA_OK;
  if (tempered->chains && tempered != g.draws)
    g.tempered = tempered;
  size_t draws = count_of(g.draws);
  if (g.tempered && count_of(tempered) > draws)
    draws = count_of(tempered);
  subject *list = tm_heap_alloc(most, sizeof *list);
  g.sorted = tm_heap_alloc(count_of(g.draws), sizeof *g.sorted);
  g.spare = tm_heap_alloc(count_of(g.draws), sizeof *g.spare);
  g.room = tm_heap_alloc(draws, sizeof *g.room);
  tempera_status status = TEMPERA_OK;
  if (!list || !g.sorted || !g.spare || !g.room)
    status = tm_fail_memory(error);
  else if ((most = list_subjects(&g, list)) > 0)
    add_gallery(&g, page, list, most);
  tm_heap_free(g.room);
  tm_heap_free(g.spare);
  tm_heap_free(g.sorted);
  tm_heap_free(list);
  return status;
}
