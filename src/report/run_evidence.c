/* run_evidence.c - the evidence in a run's report: estimators side by side,
 * and the curve whose area is log Z. */
#include "report/run_page.h"

#include "base/json.h"
#include "report/table.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static bool is_headline(const tempera_summary *s, const tempera_estimate *e) {
  return s->estimator && strcmp(e->name, s->estimator) == 0;
}

/* What each is, in a few words; the page is read without the documents. */
static const char *kind_of(const char *name) {
  static const char *const kinds[][2] = {
      {"bridge", "between the target draws and a density fitted to them"},
      {"rb", "the density of tau at both ends of its path"},
      {"ti",
       "thermodynamic integration: the area under the mean log likelihood"},
      {"ss", "steppingstones along tau"},
      {"ss-forward",
       "steppingstones upwards; biased where levels hardly overlap"},
      {"ss-backward",
       "steppingstones downwards; biased where levels hardly overlap"},
      {"ti-pt-nb", "thermodynamic integration by trapezoids over the levels"},
      {"ti-pt-2", "the same with the second-order term"},
      {"ti-pt-b", "the same with divergences between levels"},
      {"rb-reference", "as rb, on the path from a fitted density"},
      {"reweighted", "all draws of the reference leg together"},
      {"st-weights", "visits of both ends over their weights"}};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    if (strcmp(kinds[i][0], name) == 0)
      return kinds[i][1];
  return "";
}

static void add_table(json_t *section, const tempera_summary *s) {
  json_t *table = tm_section_table(
      section, "Quoted is rb (ss for pt), or bridge where it agrees with that, "
               "raises no warning and has the smaller error.");
  tm_page_column(table, "estimator", "", true);
  tm_page_column(table, "log Z", "log evidence", false);
  tm_page_column(table, "se", "standard error", false);
  tm_page_column(table, "lower", "lower end of the 95 % interval", false);
  tm_page_column(table, "upper", "upper end of the 95 % interval", false);
  tm_page_column(table, "remark", "", true);
  for (size_t i = 0; i < s->estimate_count; i++) {
    const tempera_estimate *e = &s->estimates[i];
    int decimals = tm_decimals(e->se);
    char name[40];
    json_t *row = tm_page_row(table, e->warning ? "warn" : NULL);
    snprintf(name, sizeof name, "%s%s", e->name,
             is_headline(s, e) ? " (quoted)" : "");
    tm_row_text(row, name);
    tm_row_number(row, e->log_z, decimals);
    tm_row_number(row, e->se, decimals);
    tm_row_number(row, e->lower, decimals);
    tm_row_number(row, e->upper, decimals);
    tm_row_text(row, e->warning ? e->warning : kind_of(e->name));
  }
}

/* ---- the forest -----------------------------------------------------------
 */

/* The axis is that of the estimates without a warning, and some way around:
 * a harmonic mean far away would leave the others one point. */
static void range_of(const tempera_summary *s, double *low, double *high) {
  *low = *high = s->log_z;
  for (size_t i = 0; i < s->estimate_count; i++) {
    const tempera_estimate *e = &s->estimates[i];
    if (e->warning)
      continue;
    *low = fmin(*low, fmin(e->log_z, e->lower)); /* fmin skips NaN */
    *high = fmax(*high, fmax(e->log_z, e->upper));
  }
  double room = fmax(*high - *low, 1e-9);
  *low -= room;
  *high += room;
}

static json_t *forest(const tempera_summary *s) {
  json_t *figure =
      tm_figure("forest", "Estimates of log Z with 95 % intervals");
  double low, high;
  size_t beyond = 0;
  tm_text note = {0};
  json_object_set_new(figure, "wide", json_true());
  range_of(s, &low, &high);
  tm_figure_axis(figure, "x", "log Z");
  for (size_t i = 0; i < s->estimate_count; i++) {
    const tempera_estimate *e = &s->estimates[i];
    if (!(e->log_z >= low && e->log_z <= high)) {
      if (isfinite(e->log_z))
        tm_text_printf(&note, "%s%s (%.1f)", beyond++ ? ", " : "", e->name,
                       e->log_z);
      continue;
    }
    json_t *item =
        tm_figure_item(figure, e->name, e->log_z, e->lower, e->upper);
    json_object_set_new(item, "main", json_boolean(is_headline(s, e)));
    json_object_set_new(item, "doubtful", json_boolean(e->warning));
    tm_json_string(item, "remark", e->warning);
  }
  if (beyond)
    tm_text_add(&note, beyond > 1 ? " lie beyond the axis. "
                                  : " lies beyond the axis. ");
  tm_text_add(&note, "Bold: the estimate to quote. Hollow: with a warning.");
  tm_figure_note(figure, note.failed ? "" : note.data);
  tm_text_clear(&note);
  return figure;
}

/* ---- the curve ------------------------------------------------------------
 */

typedef struct curve {
  double *tau, *mean, *log_z;
  size_t count;
  double early; /* a tau half of the way up, by the barrier if known */
} curve;

/* The lowest mean that is drawn: near tau = 0 it may go to minus infinity,
 * and most of the picture would be empty. */
static double floor_of(const curve *c, bool *clipped) {
  double least = INFINITY, typical = NAN;
  for (size_t i = 0; i < c->count; i++) {
    least = fmin(least, c->mean[i]);
    if (isnan(typical) && c->tau[i] >= c->early)
      typical = c->mean[i];
  }
  double most = c->mean[c->count - 1];
  double limit = typical - 2 * fabs(most - typical) - 0.5 * fabs(most);
  *clipped = least < limit;
  return limit;
}

/* To one significant digit. */
static double round_up(double value) {
  double unit = pow(10, floor(log10(fmax(value, 1e-9))));
  return ceil(value / unit) * unit;
}

static json_t *mean_figure(const curve *c) {
  json_t *figure = tm_figure("plot", "Mean log likelihood along the path");
  bool clipped;
  double least = floor_of(c, &clipped);
  tm_figure_tau(figure, "x");
  json_t *y = tm_figure_axis(figure, "y", "E[log L] at tau");
  json_object_set_new(y, "zero", json_true());
  tm_figure_xy(figure, "area", "E[log L]", c->tau, c->mean, c->count);
  if (clipped)
    tm_json_real(y, "min", -round_up(-least));
  tm_figure_note(
      figure, clipped ? "log Z is the integral of this curve over tau from 0 "
                        "to 1. It goes on below the picture near tau = 0."
                      : "log Z is the integral of this curve over tau from 0 "
                        "to 1.");
  return figure;
}

static json_t *log_z_figure(const tempera_summary *s, const curve *c) {
  json_t *figure = tm_figure("plot", "log z(tau), from 0 to log Z");
  tm_figure_tau(figure, "x");
  tm_figure_axis(figure, "y", "log z(tau)");
  tm_figure_xy(figure, "line", "log z(tau)", c->tau, c->log_z, c->count);
  if (isfinite(s->log_z))
    tm_figure_rule(figure, "y", s->log_z, "log Z, as quoted");
  return figure;
}

static void add_curves(json_t *figures, const tempera_summary *s) {
  double *room = tm_heap_alloc(3 * s->curve_count, sizeof(double));
  if (!room)
    return;
  curve c = {room, room + s->curve_count, room + 2 * s->curve_count, 0, 0.02};
  for (size_t i = s->curve_count; i-- > 0 && s->barrier > 0;)
    if (s->curve[i].barrier >= 0.5 * s->barrier)
      c.early = s->curve[i].tau;
  for (size_t i = 0; i < s->curve_count; i++)
    if (isfinite(s->curve[i].mean_log_likelihood)) {
      c.tau[c.count] = s->curve[i].tau;
      c.mean[c.count] = s->curve[i].mean_log_likelihood;
      c.log_z[c.count++] = s->curve[i].log_z;
    }
  if (c.count >= 2) {
    tm_figures_add(figures, mean_figure(&c));
    tm_figures_add(figures, log_z_figure(s, &c));
  }
  tm_heap_free(room);
}

/* ---- as the run went on ---------------------------------------------------
 */

static json_t *history_figure(const tempera_summary *s) {
  json_t *figure = tm_figure("plot", "log Z as the run went on");
  size_t n = s->history_count;
  double *room = tm_heap_alloc(4 * n, sizeof *room);
  if (!room)
    return figure;
  for (size_t i = 0; i < n; i++) {
    const tempera_history_point *p = &s->history[i];
    room[i] = p->share * (double)s->iterations;
    room[n + i] = p->log_z;
    room[2 * n + i] = p->log_z - 1.96 * p->se;
    room[3 * n + i] = p->log_z + 1.96 * p->se;
  }
  tm_figure_axis(figure, "x", "iterations per chain");
  tm_figure_axis(figure, "y", "log Z");
  json_t *errors = tm_figure_xy(
      figure, "errors", "by the tempered chain so far", room, room + n, n);
  tm_set_numbers(errors, "lower", room + 2 * n, n);
  tm_set_numbers(errors, "upper", room + 3 * n, n);
  if (isfinite(s->log_z))
    tm_figure_rule(figure, "y", s->log_z, "log Z, as quoted");
  tm_figure_note(figure, "With 95 % intervals, which should shrink about what "
                         "is quoted.");
  tm_heap_free(room);
  return figure;
}

void tm_run_evidence(json_t *page, const tempera_summary *summary) {
  const tempera_summary *s = summary;
  json_t *section = tm_page_section(page, "Evidence");
  if (s->estimate_count == 0)
    tm_section_text(section, NULL, "This run gives no evidence.");
  else
    add_table(section, s);
  json_t *figures = tm_section_figures(section);
  if (s->estimate_count && isfinite(s->log_z))
    tm_figures_add(figures, forest(s));
  if (s->curve_count)
    add_curves(figures, s);
  if (s->history_count > 1)
    tm_figures_add(figures, history_figure(s));
}
