/* run_reference.c - the reference leg in a run's report: how far it is beside
 * the leg from the prior, both curves of log z, and how D = log f - log q lies
 * under q and under the posterior. */
#include "report/run_page.h"

#include "base/json.h"
#include "numeric/sort.h"

#include <math.h>
#include <string.h>

enum { BINS = 60 };
/* Draws of tau from here on, weighted by e^{(1 - tau) D}, stand for the
 * posterior. */
static const double NEAR_ONE = 0.8, FAR = 8;

/* A field of a curve's points over tau. */
static void add_line(json_t *figure, const char *name,
                     const tempera_curve_point *points, size_t count,
                     bool barrier) {
  double *room = tm_heap_alloc(2 * count + 1, sizeof *room);
  size_t n = 0;
  for (size_t i = 0; room && i < count; i++) {
    double value = barrier ? points[i].barrier : points[i].log_z;
    if (!isfinite(value))
      continue;
    room[n] = points[i].tau;
    room[count + n++] = value;
  }
  if (n > 1)
    tm_figure_xy(figure, "line", name, room, room + count, n);
  tm_heap_free(room);
}

static json_t *legs_figure(const tempera_summary *s, bool barrier) {
  json_t *figure =
      tm_figure("plot", barrier ? "The communication barrier of both legs"
                                : "log z(tau) along both legs");
  json_t *x = tm_figure_axis(figure, "x", "tau");
  tm_json_integer(x, "min", 0);
  tm_json_integer(x, "max", 1);
  tm_figure_axis(figure, "y", barrier ? "barrier up to tau" : "log z(tau)");
  add_line(figure, "from the prior", s->curve, s->curve_count, barrier);
  add_line(figure, "from the reference", s->reference->curve,
           s->reference->curve_count, barrier);
  tm_figure_note(figure,
                 barrier ? "The sweeps of a round trip grow like the square of "
                           "what a leg comes to at tau = 1."
                         : "Both begin at 0. The one from the prior ends at "
                           "log Z, the other at that plus the log of the "
                           "prior's integral.");
  return figure;
}

/* ---- D ------------------------------------------------------------------ */

/* Values and weights of draws at one end of the leg. */
typedef struct sample {
  double *d, *weight;
  size_t count;
} sample;

static void gather(const tm_run_draws *draws, bool top, sample *out) {
  long tau = tm_run_column(draws, "tau__");
  long ratio = tm_run_column(draws, "log_ratio__");
  double most = -INFINITY;
  for (size_t c = 0; tau >= 0 && ratio >= 0 && c < draws->chains; c++) {
    const double *t = draws->values[c * draws->width + (size_t)tau];
    const double *d = draws->values[c * draws->width + (size_t)ratio];
    for (size_t i = 0; i < draws->rows; i++) {
      if (!isfinite(d[i]) || (top ? t[i] < NEAR_ONE : t[i] > 0))
        continue;
      out->d[out->count] = d[i];
      out->weight[out->count] = top ? (1 - t[i]) * d[i] : 0;
      most = fmax(most, out->weight[out->count++]);
    }
  }
  for (size_t i = 0; i < out->count; i++)
    out->weight[i] = exp(out->weight[i] - most);
}

static double quantile(const double *sorted, size_t n, double share) {
  return sorted[(size_t)(share * (double)(n - 1))];
}

/* All but the outermost of both ends; of what q has far below all that the
 * posterior has (by wide t's, or a tail that is none) no more than FAR nats. */
static void find_range(const sample *ends, double *low, double *high) {
  size_t most = ends[0].count > ends[1].count ? ends[0].count : ends[1].count;
  double *sorted = tm_heap_alloc(most, sizeof *sorted), least[2];
  *low = *high = 0;
  for (int k = 0; k < 2 && sorted; k++) {
    size_t n = ends[k].count;
    memcpy(sorted, ends[k].d, n * sizeof *sorted);
    tm_sort(sorted, n);
    least[k] = quantile(sorted, n, 0.005);
    *high = fmax(k ? *high : -INFINITY, quantile(sorted, n, 0.9995));
  }
  if (sorted)
    *low = fmin(least[1], fmax(least[0], least[1] - FAR));
  tm_heap_free(sorted);
}

static void add_end(json_t *figure, const char *name, const sample *s,
                    double low, double high) {
  double edges[BINS + 1], y[BINS] = {0}, total = 0;
  double width = (high - low) / BINS;
  for (size_t k = 0; k <= BINS; k++)
    edges[k] = low + width * (double)k;
  for (size_t i = 0; i < s->count; i++) {
    double bin = floor((s->d[i] - low) / width);
    total += s->weight[i];
    if (bin >= 0 && bin < BINS)
      y[(size_t)bin] += s->weight[i];
  }
  for (size_t k = 0; k < BINS; k++)
    y[k] /= total * width;
  json_t *steps = tm_figure_series(figure, "steps", name);
  tm_set_numbers(steps, "edges", edges, BINS + 1);
  tm_set_numbers(steps, "y", y, BINS);
  json_object_set_new(steps, "filled", json_true());
}

static json_t *overlap_figure(const tm_run_draws *draws) {
  size_t most = draws->chains * draws->rows;
  double *room = tm_heap_alloc(4 * most + 1, sizeof *room), low, high;
  if (!room || most == 0) {
    tm_heap_free(room);
    return NULL;
  }
  sample ends[2] = {{room, room + most, 0},
                    {room + 2 * most, room + 3 * most, 0}};
  gather(draws, false, &ends[0]);
  gather(draws, true, &ends[1]);
  json_t *figure = NULL;
  if (ends[0].count && ends[1].count)
    find_range(ends, &low, &high);
  if (ends[0].count && ends[1].count && high > low) {
    figure = tm_figure("plot", "Overlap of the two ends of the reference leg");
    tm_figure_axis(figure, "x", "D = log of the posterior over q");
    json_object_set_new(tm_figure_axis(figure, "y", "density"), "zero",
                        json_true());
    add_end(figure, "under q", &ends[0], low, high);
    add_end(figure, "under the posterior", &ends[1], low, high);
    tm_figure_note(figure, "The more they overlap, the better q is, and the "
                           "sharper are the estimates of this leg.");
  }
  tm_heap_free(room);
  return figure;
}

void tm_run_reference(json_t *page, const tm_run_files *files) {
  const tempera_summary *s = files->summary;
  if (!s->reference || s->reference->curve_count < 2)
    return;
  json_t *section = tm_page_section(page, "Reference leg");
  tm_section_text(section, NULL,
                  "A second way to the posterior, from a density q that was "
                  "fitted to its draws.");
  json_t *figures = tm_section_figures(section);
  json_t *overlap = overlap_figure(&files->reference);
  tm_figures_add(figures, legs_figure(s, true));
  tm_figures_add(figures, legs_figure(s, false));
  if (overlap)
    tm_figures_add(figures, overlap);
}
