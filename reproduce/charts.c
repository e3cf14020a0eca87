/* charts.c - see charts.h. */
#include "reproduce/charts.h"

#include "base/locale.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_POINTS = 1500 };

json_t *tm_chart_plot(const char *title, const char *x, const char *y) {
  json_t *figure = tm_figure("plot", title);
  tm_figure_axis(figure, "x", x);
  tm_figure_axis(figure, "y", y);
  return figure;
}

static void colour(json_t *series, int index) {
  json_object_set_new(series, "colour", json_integer(index));
}

void tm_chart_histogram(json_t *figure, const char *name, int index,
                        const double *values, size_t count, double lower,
                        double upper, size_t bins) {
  json_t *series =
      tm_figure_histogram(figure, name, values, count, lower, upper, bins);
  colour(series, index);
  json_object_set_new(series, "filled", json_true());
}

/* To five significant digits: axes may be logarithmic, where rounding by the
 * range would flatten what is small. */
static void set_numbers(json_t *series, const char *name, const double *values,
                        size_t count, size_t step) {
  json_t *list = json_array();
  for (size_t i = 0; i < count; i += step) {
    char text[32];
    tm_snprintf(text, sizeof text, "%.5g", values[i]);
    json_array_append_new(list, json_real(tm_strtod(text, NULL)));
  }
  json_object_set_new(series, name, list);
}

static void add_layer(json_t *figure, const char *type, const char *name,
                      int index, const double *x, const double *y, size_t count,
                      size_t step) {
  json_t *series = tm_figure_series(figure, type, name);
  set_numbers(series, "x", x, count, step);
  set_numbers(series, "y", y, count, step);
  colour(series, index);
}

void tm_chart_curve(json_t *figure, const char *name, int index,
                    const double *x, const double *y, size_t count) {
  add_layer(figure, "line", name, index, x, y, count, 1);
}

void tm_chart_points(json_t *figure, const char *name, int index,
                     const double *x, const double *y, size_t count) {
  size_t step = 1 + (count - 1) / MOST_POINTS;
  add_layer(figure, "points", name, index, x, y, count, step);
}

void tm_chart_grid(double lower, double upper, size_t count, double *out) {
  for (size_t i = 0; i < count; i++)
    out[i] = lower + (upper - lower) * (double)i / (double)(count - 1);
}

static double bell(double z) { return 0.3989422804014327 * exp(-0.5 * z * z); }

void tm_chart_density(const double *x, const double *y, size_t count,
                      double width_x, double width_y, const double *grid_x,
                      size_t nx, const double *grid_y, size_t ny, double *z) {
  double scale = 1 / ((double)count * width_x * width_y);
  memset(z, 0, nx * ny * sizeof *z);
  for (size_t k = 0; k < count; k++)
    for (size_t j = 0; j < ny; j++) {
      double at = grid_y[j];
      double weight = bell((at - y[k]) / width_y) +
                      bell((at + y[k]) / width_y) +
                      bell((2 - at - y[k]) / width_y);
      if (weight < 1e-6)
        continue;
      for (size_t i = 0; i < nx; i++)
        z[j * nx + i] += scale * weight * bell((grid_x[i] - x[k]) / width_x);
    }
}

static tempera_status keep(const tempera_sampler *sampler, size_t replicate,
                           void *context, tempera_error *error) {
  tm_picture *p = context;
  (void)replicate;
  TM_TRY(
      tm_draw_set_copy(sampler, TEMPERA_TARGET, p->values, &p->target, error));
  return tm_draw_set_copy(sampler, TEMPERA_TEMPERED, p->values, &p->tempered,
                          error);
}

tempera_status tm_picture_take(tm_paper *paper, const char *what,
                               const tempera_model *model, tm_length length,
                               const char *const *words, tm_picture *picture,
                               tempera_error *error) {
  tempera_summary *summary = NULL;
  tm_batch batch = {.what = what,
                    .model = model,
                    .count = 1,
                    .inspect = keep,
                    .context = picture};
  *picture = (tm_picture){.values = tempera_model_size(model)};
  if (picture->values > TM_DRAW_SET_VALUES)
    picture->values = TM_DRAW_SET_VALUES;
  TM_TRY(tm_batch_options(paper, length, words, &batch, error));
  tempera_status status = tm_batch_run(paper, &batch, &summary, error);
  tm_batch_free(&summary, 1);
  if (status != TEMPERA_OK)
    tm_picture_free(picture);
  return status;
}

void tm_picture_free(tm_picture *picture) {
  tm_draw_set_free(&picture->target);
  tm_draw_set_free(&picture->tempered);
}
