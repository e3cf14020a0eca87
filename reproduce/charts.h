/* charts.h - what the figures of the studies share. */
#ifndef TM_REPRODUCE_CHARTS_H
#define TM_REPRODUCE_CHARTS_H

#include "report/figure.h"
#include "reproduce/draw_set.h"
#include "reproduce/paper.h"

/* Places in the palette, so that a thing has one colour in all figures. */
enum {
  TM_COLOUR_TEMPERED = -1, /* grey, as in the paper */
  TM_COLOUR_TARGET = 1,
  TM_COLOUR_THEORY = 0,
  TM_COLOUR_OTHER = 2 /* PAWL, the optimum */
};

/* A plot with its axes named; a new reference. */
json_t *tm_chart_plot(const char *title, const char *x, const char *y);
/* Layers of a plot: the histogram of a column, a curve, points (thinned). */
void tm_chart_histogram(json_t *figure, const char *name, int colour,
                        const double *values, size_t count, double lower,
                        double upper, size_t bins);
void tm_chart_curve(json_t *figure, const char *name, int colour,
                    const double *x, const double *y, size_t count);
void tm_chart_points(json_t *figure, const char *name, int colour,
                     const double *x, const double *y, size_t count);

/* `count` numbers from lower to upper, evenly. */
void tm_chart_grid(double lower, double upper, size_t count, double *out);
/* A kernel estimate of the joint density on a grid; x is free, y lies in
 * [0, 1] and is reflected there. z[j * nx + i] is at x[i], y[j]. */
void tm_chart_density(const double *x, const double *y, size_t count,
                      double width_x, double width_y, const double *grid_x,
                      size_t nx, const double *grid_y, size_t ny, double *z);

/* Run one replicate and keep its draws of both roles. */
typedef struct tm_picture {
  size_t values;
  tm_draw_set target, tempered;
} tm_picture;
TEMPERA_CHECKED tempera_status
tm_picture_take(tm_paper *paper, const char *what, const tempera_model *model,
                tm_length length, const char *const *words, tm_picture *picture,
                tempera_error *error);
void tm_picture_free(tm_picture *picture);

#endif
