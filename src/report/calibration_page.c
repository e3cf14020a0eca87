/* calibration_page.c - the page of `tempera calibrate`: ranks against their
 * simultaneous band, coverage of intervals, probabilities of models. */
#include "report/calibration.h"

#include "base/file.h"
#include "report/page.h"

#include <math.h>
#include <stdio.h>

enum { FEW = 24 };

static json_t *rank_figure(const tm_calibration *c, const tm_rank_series *s) {
  char title[140];
  double x[TM_RANKS], y[TM_RANKS], lower[TM_RANKS], upper[TM_RANKS],
      n = (double)s->count;
  tm_rank_law l = {.n = s->count};
  size_t counts[TM_RANKS + 1] = {0}, below = 0;
  snprintf(title, sizeof title, "%s: cdf of ranks minus uniform", s->name);
  if (!tm_rank_tails(&l, c->arena))
    return NULL;
  for (size_t i = 0; i < s->count; i++)
    counts[s->ranks[i]]++;
  for (size_t k = 0; k < TM_RANKS; k++) {
    const double *tails = l.tails + k * (l.n + 1);
    size_t low = 0, high = l.n;
    while (low < l.n && tails[low] < s->gamma)
      low++;
    while (high > 0 && tails[high] < s->gamma)
      high--;
    x[k] = (double)(k + 1) / (TM_RANKS + 1);
    below += counts[k];
    y[k] = (double)below / n - x[k];
    lower[k] = (double)low / n - x[k];
    upper[k] = (double)high / n - x[k];
  }
  json_t *figure = tm_figure("plot", title);
  json_t *band = tm_figure_series(figure, "band", "95 % of uniform ranks");
  tm_set_numbers(band, "x", x, TM_RANKS);
  tm_set_numbers(band, "lower", lower, TM_RANKS);
  tm_set_numbers(band, "upper", upper, TM_RANKS);
  json_object_set_new(band, "colour", json_integer(-1));
  json_t *line = tm_figure_xy(figure, "line", "ranks", x, y, TM_RANKS);
  json_object_set_new(line, "colour", json_integer(0));
  tm_figure_axis(figure, "x", "rank of the truth, as a share");
  tm_figure_axis(figure, "y", "difference");
  return figure;
}

static void add_table(json_t *section, const tm_calibration *c) {
  json_t *table = tm_section_table(
      section, "p: of uniform ranks, by the simultaneous band. Coverage: how "
               "often the interval held the truth.");
  tm_page_column(table, "parameter", "", true);
  tm_page_column(table, "runs", "", false);
  tm_page_column(table, "p", "", false);
  tm_page_column(table, "50 % interval", "", false);
  tm_page_column(table, "90 % interval", "", false);
  for (size_t i = 0; i < c->count; i++) {
    const tm_rank_series *s = &c->list[i];
    json_t *row = tm_page_row(
        table, tm_calibration_alarm(s->p * (double)c->count) ? "warn" : NULL);
    tm_row_text(row, s->name);
    tm_row_number(row, (double)s->count, 0);
    tm_row_number(row, s->p, 4);
    tm_row_number(row, s->covered[0], 3);
    tm_row_number(row, s->covered[1], 3);
  }
}

static void add_model_section(json_t *page, const tm_calibration *c) {
  if (c->model_count < 2)
    return;
  json_t *section = tm_page_section(page, "Models");
  json_t *table = tm_section_table(
      section, "A model's mean posterior probability should be the share of "
               "runs in which it was true; z is their difference in standard "
               "errors.");
  tm_page_column(table, "model", "", true);
  tm_page_column(table, "mean probability", "", false);
  tm_page_column(table, "share of truth", "", false);
  tm_page_column(table, "z", "", false);
  for (size_t m = 0; m < c->model_count; m++) {
    json_t *row = tm_page_row(table, fabs(c->model_z[m]) > 3 ? "warn" : NULL);
    tm_row_text(row, c->models[m]);
    tm_row_number(row, c->mean[m], 3);
    tm_row_number(row, c->share[m], 3);
    tm_row_number(row, c->model_z[m], 2);
  }
}

/* Side by side where they are few. */
static void add_figures(json_t *section, const tm_calibration *c) {
  bool few = c->count <= FEW;
  json_t *all =
      few ? tm_section_figures(section)
          : tm_section_gallery(section, "parameter", "the first of them", 6);
  for (size_t i = 0; i < c->count; i++) {
    json_t *figure = rank_figure(c, &c->list[i]);
    if (figure)
      tm_figures_add(few ? all : tm_gallery_choice(all, c->list[i].name),
                     figure);
  }
}

tempera_status tm_calibration_page(const tm_calibration *c, const char *folder,
                                   tempera_error *error) {
  char line[120];
  snprintf(line, sizeof line, "%zu of %zu simulated data sets", c->done,
           c->runs);
  json_t *page = tm_page("Calibration", line);
  json_t *section = tm_page_section(page, "Verdict");
  tm_text words = {0};
  tm_calibration_verdict(c, &words);
  if (!words.failed)
    tm_section_text(section, tm_calibration_fine(c) ? "good" : "warn",
                    words.data);
  tm_text_clear(&words);
  section = tm_page_section(page, "Ranks and intervals");
  add_table(section, c);
  add_figures(section, c);
  add_model_section(page, c);
  char *path = tm_path_join(folder, "report.html");
  tempera_status status =
      path ? tm_page_write(page, path, error) : tm_fail_memory(error);
  tm_heap_free(path);
  json_decref(page);
  return status;
}
