/* run_tempering.c - tempering in a run's report: where tau went, how often it
 * came back, and how well it moved. */
#include "report/run_page.h"

#include "base/json.h"
#include "numeric/sort.h"

#include <math.h>
#include <stdio.h>

enum { TRACE_POINTS = 500, TAU_BINS = 40 };

static void add_number(json_t *table, const char *name, double value,
                       int decimals, const char *meaning) {
  if (isnan(value))
    return;
  json_t *row = tm_page_row(table, NULL);
  tm_row_text(row, name);
  tm_row_number(row, value, decimals);
  tm_row_text(row, meaning);
}

static void add_reference(json_t *table, const tempera_reference *r) {
  add_number(table, "reference leg: barrier", r->barrier, 3,
             "how hard the way from the fitted density to the posterior is");
  add_number(table, "reference leg: round trips", (double)r->round_trips, 0,
             "from that density to the posterior and back, over all chains");
  add_number(table, "reference leg: exchange acceptance", r->swap_acceptance, 3,
             "");
  add_number(table, "reference leg: Pareto k", r->pareto_k, 2,
             "of the posterior's tail beyond that density; below 0.7 is good");
  if (!r->starts)
    return;
  add_number(table, "annealed states", (double)r->starts, 0,
             "brought from the prior to the posterior, to look for modes");
  add_number(table, "of which absorbed", (double)r->absorbed, 0,
             "accepted down the reference leg: they are in modes it knows");
  add_number(table, "draws far from that density", (double)r->far, 0,
             "the farthest of each stretch of the chains");
  add_number(table, "of which absorbed", (double)r->far_absorbed, 0,
             "all of them: it is only a tail, which the leg reaches");
}

static void add_table(json_t *section, const tempera_summary *s) {
  json_t *table = tm_section_table(section, NULL);
  tm_page_column(table, "quantity", "", true);
  tm_page_column(table, "value", "", false);
  tm_page_column(table, "meaning", "", true);
  add_number(table, "communication barrier", s->barrier, 3,
             "how hard the way from prior to posterior is");
  add_number(table, "round trips", (double)s->round_trips, 0,
             "prior to posterior and back, over all chains");
  add_number(table, "restarts", (double)s->restarts, 0,
             "arrivals at the posterior from the prior");
  add_number(table, "exchange acceptance", s->swap_acceptance, 3,
             "of the exchanges proposed between chains");
  add_number(table, "tau move acceptance", s->tau_acceptance, 3, "");
  if (s->reference)
    add_reference(table, s->reference);
  if (!s->ridge_knots)
    return;
  add_number(table, "ridge knots", (double)s->ridge_knots, 0,
             "values of tau at which the optimum was found");
  add_number(table, "ridge gap", s->ridge_gap, 5,
             "in nats, certified given global optima at the knots");
  add_number(table, "draws above the ridge", (double)s->ridge_beaten, 0,
             "a draw above it proves that an optimum was missed");
}

/* ---- tau ------------------------------------------------------------------
 */

static json_t *trace_figure(const tm_run_files *files, size_t column) {
  const tm_run_draws *draws = &files->draws[TEMPERA_TEMPERED];
  json_t *figure = tm_figure("plot", "Trace of tau in the tempered chains");
  size_t step = tm_run_step(draws->rows, TRACE_POINTS);
  char note[80];
  tm_figure_axis(figure, "x", "iteration");
  json_t *y = tm_figure_tau(figure, "y");
  tm_json_integer(y, "min", 0);
  tm_json_integer(y, "max", 1);
  tm_run_trace(figure, draws, column, TRACE_POINTS, files->summary->thin);
  json_object_set_new(figure, "wide", json_true());
  if (step > 1) {
    snprintf(note, sizeof note, "One draw in %zu is shown.", step);
    tm_figure_note(figure, note);
  }
  return figure;
}

/* Edges of TAU_BINS bins: even in the barrier where that is known, else in
 * tau. */
static void find_edges(const tempera_summary *s, double *edges) {
  size_t i = 0;
  for (size_t k = 0; k <= TAU_BINS; k++) {
    double share = (double)k / TAU_BINS;
    edges[k] = share;
    if (!(s->barrier > 0) || k == 0 || k == TAU_BINS)
      continue;
    while (i + 1 < s->curve_count &&
           s->curve[i + 1].barrier < share * s->barrier)
      i++;
    if (i + 1 == s->curve_count)
      continue;
    const tempera_curve_point *a = &s->curve[i], *b = &s->curve[i + 1];
    double width = b->barrier - a->barrier;
    edges[k] = a->tau + (width > 0 ? (share * s->barrier - a->barrier) / width *
                                         (b->tau - a->tau)
                                   : 0);
  }
}

static void add_histogram(json_t *figure, const char *name, const double *tau,
                          size_t rows, const double *edges, size_t dash) {
  double density[TAU_BINS] = {0};
  for (size_t i = 0; i < rows; i++) {
    size_t bin = 0;
    while (bin + 1 < TAU_BINS && tau[i] >= edges[bin + 1])
      bin++;
    density[bin] += 1.0 / (double)rows;
  }
  for (size_t k = 0; k < TAU_BINS; k++)
    density[k] /= fmax(edges[k + 1] - edges[k], 1e-300);
  json_t *steps = tm_figure_series(figure, "steps", name);
  json_t *at = json_array(), *y = json_array();
  for (size_t k = 0; k <= TAU_BINS; k++)
    json_array_append_new(at, json_real(edges[k]));
  for (size_t k = 0; k < TAU_BINS; k++)
    json_array_append_new(y, json_real(density[k]));
  json_object_set_new(steps, "edges", at);
  json_object_set_new(steps, "y", y);
  tm_json_integer(steps, "dash", dash);
}

static json_t *marginal_figure(const tempera_summary *s,
                               const tm_run_draws *draws, size_t column) {
  json_t *figure = tm_figure("plot", "Marginal of tau");
  tm_figure_tau(figure, "x");
  json_object_set_new(tm_figure_axis(figure, "y", "density"), "zero",
                      json_true());
  double edges[TAU_BINS + 1];
  find_edges(s, edges);
  for (size_t c = 0; c < draws->chains; c++) {
    char name[40];
    snprintf(name, sizeof name, "chain %zu", c + 1);
    add_histogram(figure, name, tm_run_values_of(draws, c, column), draws->rows,
                  edges, c);
  }
  return figure;
}

/* ---- journeys -------------------------------------------------------------
 */

/* The 5 % and 95 % quantiles of tau over all chains. */
static bool find_ends(const tm_run_draws *draws, size_t column, double *low,
                      double *high) {
  size_t count = draws->chains * draws->rows;
  double *sorted = tm_heap_alloc(count, sizeof *sorted);
  if (!sorted)
    return false;
  for (size_t i = 0; i < count; i++)
    sorted[i] =
        tm_run_values_of(draws, i / draws->rows, column)[i % draws->rows];
  tm_sort(sorted, count);
  *low = sorted[count / 20];
  *high = sorted[count - 1 - count / 20];
  tm_heap_free(sorted);
  return *low < *high;
}

/* Steps upwards at each return to the low end after the high one. */
static void add_journeys(json_t *figure, const tm_run_draws *draws,
                         size_t column, size_t chain, double low, double high,
                         size_t thin) {
  const double *tau = tm_run_values_of(draws, chain, column);
  json_t *x = json_array(), *y = json_array();
  bool up = false, counted = false;
  size_t count = 0;
  char name[40];
  for (size_t i = 0; i < draws->rows; i++) {
    if (tau[i] <= low && up)
      count++, counted = true;
    up = tau[i] >= high || (up && tau[i] > low);
    if (counted || i == 0 || i + 1 == draws->rows) {
      json_array_append_new(x, json_integer((json_int_t)(i * thin + 1)));
      json_array_append_new(y, json_integer((json_int_t)count));
    }
    counted = false;
  }
  snprintf(name, sizeof name, "chain %zu", chain + 1);
  json_t *line = tm_figure_series(figure, "line", name);
  tm_json_integer(line, "dash", chain);
  json_object_set_new(line, "x", x);
  json_object_set_new(line, "y", y);
}

static json_t *journeys_figure(const tm_run_files *files, size_t column) {
  const tm_run_draws *draws = &files->draws[TEMPERA_TEMPERED];
  double low, high;
  if (!find_ends(draws, column, &low, &high))
    return NULL;
  json_t *figure = tm_figure("plot", "Round trips of tau, counted up");
  size_t thin = files->summary->thin ? files->summary->thin : 1;
  tm_json_integer(tm_figure_axis(figure, "x", "iteration"), "max",
                  draws->rows * thin);
  json_object_set_new(tm_figure_axis(figure, "y", "round trips of tau"), "zero",
                      json_true());
  for (size_t c = 0; c < draws->chains; c++)
    add_journeys(figure, draws, column, c, low, high, thin);
  tm_figure_note(figure,
                 "Between the lowest and the highest 5 % of tau in the draws. "
                 "Steady and alike is good, a flat line is a stuck chain. The "
                 "table counts trips of parameters, which exchanges carry "
                 "along too.");
  return figure;
}

/* ---- bins of tau ----------------------------------------------------------
 */

static json_t *acceptance_figure(const tempera_summary *s) {
  json_t *figure = tm_figure("plot", "Acceptance by tau");
  double *room = tm_heap_alloc(3 * s->tau_bin_count, sizeof *room);
  size_t n = s->tau_bin_count;
  tm_figure_tau(figure, "x");
  json_t *y = tm_figure_axis(figure, "y", "mean acceptance");
  tm_json_integer(y, "min", 0);
  tm_json_integer(y, "max", 1);
  if (!room)
    return figure;
  for (size_t i = 0; i < n; i++) {
    room[i] = (s->tau_bins[i].lower + s->tau_bins[i].upper) / 2;
    room[n + i] = s->tau_bins[i].acceptance;
    room[2 * n + i] = s->tau_bins[i].tau_acceptance;
  }
  json_t *line =
      tm_figure_xy(figure, "line", "moves of parameters", room, room + n, n);
  json_object_set_new(line, "marked", json_true());
  line = tm_figure_xy(figure, "line", "moves of tau", room, room + 2 * n, n);
  json_object_set_new(line, "marked", json_true());
  tm_json_integer(line, "dash", 1);
  tm_heap_free(room);
  tm_figure_note(figure, "Each bin of tau holds about as many draws.");
  return figure;
}

/* Does tau move from row to row? Methods with many levels or walkers at once
 * write a row for each of them. */
static bool is_walk(const tm_run_files *files) {
  const tempera_summary *s = files->summary;
  size_t thin = s->thin ? s->thin : 1;
  size_t sweeps = (s->iterations + thin - 1) / thin;
  return files->draws[TEMPERA_TEMPERED].rows <= sweeps;
}

void tm_run_tempering(json_t *page, const tm_run_files *files) {
  const tempera_summary *s = files->summary;
  const tm_run_draws *draws = &files->draws[TEMPERA_TEMPERED];
  if (!draws->chains)
    return;
  json_t *section = tm_page_section(page, "Tempering");
  add_table(section, s);
  json_t *figures = tm_section_figures(section);
  long tau = tm_run_column(draws, "tau__");
  if (tau < 0)
    return;
  bool walks = is_walk(files);
  if (walks)
    tm_figures_add(figures, trace_figure(files, (size_t)tau));
  tm_figures_add(figures, marginal_figure(s, draws, (size_t)tau));
  json_t *journeys = walks ? journeys_figure(files, (size_t)tau) : NULL;
  if (journeys)
    tm_figures_add(figures, journeys);
  if (s->tau_bin_count > 1)
    tm_figures_add(figures, acceptance_figure(s));
}
