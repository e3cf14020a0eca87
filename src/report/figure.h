/* figure.h - figures as JSON, and as SVG files.
 *
 * A figure is a JSON object; page/charts turns it into a picture, on a page
 * (page.h) or here (tm_drawing). Every figure has
 *
 *   kind, title       note: a line under the title, may be absent
 *   x, y              axes: {name, scale: "value" | "log" | "category",
 *                     categories, min, max, zero, inverse}; all optional;
 *                     zero: true makes the axis begin at 0; path: true on an
 *                     axis of tau lets a page space it by the barrier
 *   wide: true        takes a whole row of the page
 *
 * and, by kind:
 *
 *   plot     series: [...], layers over one pair of axes. Each has a type, a
 *            name (shown in the legend when there are several), a colour (the
 *            palette's index; by its place unless given; -1 is grey) and
 *     line     x, y; or y with from and step. dash: 0.. ; width; marked: true
 *     area     as line, filled to `origin` (0)
 *     band     x, lower, upper
 *     steps    a histogram: edges (n + 1), y (n), filled: true
 *     points   x, y; size, symbol, opacity
 *     bars     y, over the categories of x
 *     errors   x, y, lower, upper; size: 0 for bars without a mark
 *     rule     axis "x" or "y", value, label: a reference value
 *   forest   items: [{name, value, lower, upper, main, doubtful, remark}];
 *            reference and reference_name: a value known to be true
 *   matrix   rows, columns: names; values[row][column]; text likewise
 *   contour  grids: [{name, x, y, z (rows, one for each y), levels (how many,
 *            or a list), filled}]; series: layers above
 *   surface  grid: {x, y, z}; z: {name}; turn, tilt in degrees
 *   pairs    columns: [{name, values}]; groups: a number from 0 for each
 *            draw; group_names
 *
 * The functions below build these; anything else is set by jansson. Numbers
 * that are not finite become null, which is drawn as a gap. */
#ifndef TM_REPORT_FIGURE_H
#define TM_REPORT_FIGURE_H

#include "base/status.h"

#include <jansson.h>

/* A new figure (a new reference). */
json_t *tm_figure(const char *kind, const char *title);
void tm_figure_note(json_t *figure, const char *note);
/* The axis "x", "y" or "z", made if absent (borrowed, to set more fields). */
json_t *tm_figure_axis(json_t *figure, const char *axis, const char *name);
/* An axis of tau. */
json_t *tm_figure_tau(json_t *figure, const char *axis);
/* A new layer, empty (borrowed). */
json_t *tm_figure_series(json_t *figure, const char *type, const char *name);
/* A layer with x and y (x NULL: 0, 1, ...). */
json_t *tm_figure_xy(json_t *figure, const char *type, const char *name,
                     const double *x, const double *y, size_t count);
/* The histogram of some values, as a density: a layer of steps. */
json_t *tm_figure_histogram(json_t *figure, const char *name,
                            const double *values, size_t count, double lower,
                            double upper, size_t bins);
json_t *tm_figure_rule(json_t *figure, const char *axis, double value,
                       const char *label);
/* A line of a forest. */
json_t *tm_figure_item(json_t *figure, const char *name, double value,
                       double lower, double upper);
/* {x, y, z}, z[j * nx + i] being the value at x[i], y[j]; a new reference:
 * set it as `grid` of a surface or append it to `grids` of a contour. */
json_t *tm_figure_grid(const char *name, const double *x, size_t nx,
                       const double *y, size_t ny, const double *z);
void tm_figure_add_grid(json_t *figure, json_t *grid);

/* An array of numbers, and the same set as a field. They are rounded to what
 * a picture shows (1/20 000 of their range, and five digits), which keeps
 * files small. */
json_t *tm_numbers(const double *values, size_t count);
void tm_set_numbers(json_t *object, const char *name, const double *values,
                    size_t count);

/* Drawing: loads the charts once (about a second), then draws many. */
typedef struct tm_drawing tm_drawing;
TEMPERA_CHECKED tempera_status tm_drawing_open(tm_drawing **drawing,
                                               tempera_error *error);
void tm_drawing_close(tm_drawing *drawing);
/* The figure as SVG text on white; free with tm_heap_free. */
TEMPERA_CHECKED tempera_status tm_drawing_svg(tm_drawing *drawing,
                                              const json_t *figure, int width,
                                              int height, char **text,
                                              tempera_error *error);

#endif
