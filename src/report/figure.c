/* figure.c - see figure.h. As elsewhere with jansson, a failed allocation
 * leaves a part out; writing the whole then reports it or shows less. */
#include "report/figure.h"

#include "base/json.h"
#include "base/memory.h"

#include <math.h>

json_t *tm_figure(const char *kind, const char *title) {
  json_t *figure = json_object();
  tm_json_string(figure, "kind", kind);
  tm_json_string(figure, "title", title);
  return figure;
}

void tm_figure_note(json_t *figure, const char *note) {
  tm_json_string(figure, "note", note);
}

/* ---- numbers --------------------------------------------------------------
 */

/* The decimal unit just below 1/20 000 of the range; 0: keep every digit. */
static double unit_of(const double *values, size_t count) {
  double low = INFINITY, high = -INFINITY;
  for (size_t i = 0; i < count; i++)
    if (isfinite(values[i])) {
      low = fmin(low, values[i]);
      high = fmax(high, values[i]);
    }
  return high > low ? pow(10, floor(log10((high - low) / 20000))) : 0;
}

/* To the unit, but five digits are kept: what is small beside the range may be
 * all that a picture shows, by an axis that is cut or not linear. Division by
 * the inverse of a small unit, so that 0.1 stays 0.1. */
static double rounded(double value, double unit) {
  if (!(unit > 0) || value == 0)
    return value;
  double own = pow(10, floor(log10(fabs(value))) - 4);
  unit = fmax(fmin(unit, own), 1e-300);
  return unit < 1 ? rint(value / unit) / rint(1 / unit)
                  : rint(value / unit) * unit;
}

json_t *tm_numbers(const double *values, size_t count) {
  json_t *list = json_array();
  double unit = unit_of(values, count);
  for (size_t i = 0; i < count; i++) {
    double value = isfinite(values[i]) ? rounded(values[i], unit) : NAN;
    json_array_append_new(list, !isfinite(value) ? json_null()
                                : value == rint(value) && fabs(value) < 1e15
                                    ? json_integer((json_int_t)value)
                                    : json_real(value));
  }
  return list;
}

void tm_set_numbers(json_t *object, const char *name, const double *values,
                    size_t count) {
  json_object_set_new(object, name, tm_numbers(values, count));
}

/* ---- parts ----------------------------------------------------------------
 */

static json_t *part(json_t *object, const char *name, json_t *(*make)(void)) {
  if (!json_object_get(object, name))
    json_object_set_new(object, name, make());
  return json_object_get(object, name);
}

json_t *tm_figure_axis(json_t *figure, const char *axis, const char *name) {
  json_t *object = part(figure, axis, json_object);
  tm_json_string(object, "name", name);
  return object;
}

static json_t *append(json_t *figure, const char *list, json_t *item) {
  json_array_append_new(part(figure, list, json_array), item);
  return item;
}

json_t *tm_figure_tau(json_t *figure, const char *axis) {
  json_t *made = tm_figure_axis(figure, axis, "tau");
  json_object_set_new(made, "path", json_true());
  return made;
}

json_t *tm_figure_series(json_t *figure, const char *type, const char *name) {
  json_t *series = append(figure, "series", json_object());
  tm_json_string(series, "type", type);
  tm_json_string(series, "name", name);
  return series;
}

json_t *tm_figure_xy(json_t *figure, const char *type, const char *name,
                     const double *x, const double *y, size_t count) {
  json_t *series = tm_figure_series(figure, type, name);
  if (x)
    tm_set_numbers(series, "x", x, count);
  tm_set_numbers(series, "y", y, count);
  return series;
}

json_t *tm_figure_histogram(json_t *figure, const char *name,
                            const double *values, size_t count, double lower,
                            double upper, size_t bins) {
  json_t *series = tm_figure_series(figure, "steps", name);
  double *height = tm_heap_alloc(2 * bins + 1, sizeof(double));
  if (!height)
    return series;
  double *edges = height + bins, width = (upper - lower) / (double)bins;
  for (size_t i = 0; i <= bins; i++)
    edges[i] = lower + width * (double)i;
  for (size_t i = 0; i < count; i++)
    if (values[i] >= lower && values[i] <= upper) {
      size_t bin = (size_t)((values[i] - lower) / width);
      height[bin < bins ? bin : bins - 1] += 1 / ((double)count * width);
    }
  tm_set_numbers(series, "edges", edges, bins + 1);
  tm_set_numbers(series, "y", height, bins);
  tm_heap_free(height);
  return series;
}

json_t *tm_figure_rule(json_t *figure, const char *axis, double value,
                       const char *label) {
  json_t *series = tm_figure_series(figure, "rule", NULL);
  tm_json_string(series, "axis", axis);
  tm_json_real(series, "value", value);
  tm_json_string(series, "label", label);
  return series;
}

json_t *tm_figure_item(json_t *figure, const char *name, double value,
                       double lower, double upper) {
  json_t *item = append(figure, "items", json_object());
  tm_json_string(item, "name", name);
  tm_json_real(item, "value", value);
  tm_json_real(item, "lower", lower);
  tm_json_real(item, "upper", upper);
  return item;
}

json_t *tm_figure_grid(const char *name, const double *x, size_t nx,
                       const double *y, size_t ny, const double *z) {
  json_t *grid = json_object(), *rows = json_array();
  tm_json_string(grid, "name", name);
  tm_set_numbers(grid, "x", x, nx);
  tm_set_numbers(grid, "y", y, ny);
  for (size_t j = 0; j < ny; j++)
    json_array_append_new(rows, tm_numbers(z + j * nx, nx));
  json_object_set_new(grid, "z", rows);
  return grid;
}

void tm_figure_add_grid(json_t *figure, json_t *grid) {
  append(figure, "grids", grid);
}
