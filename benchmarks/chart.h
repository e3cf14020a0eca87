/* chart.h - a line chart with logarithmic axes as SVG, written by hand so that
 * the plots in docs/ need nothing installed. Colours are Okabe and Ito's, which
 * colour-blind readers tell apart; each line has its own marker as well. */
#ifndef TM_BENCHMARKS_CHART_H
#define TM_BENCHMARKS_CHART_H

#include <math.h>
#include <stdbool.h>
#include <stdio.h>

enum { CHART_POINTS = 16, CHART_LINES = 4, CHART_WIDTH = 380 };

typedef struct chart_line {
  const char *name;
  size_t count;
  double x[CHART_POINTS], y[CHART_POINTS];
  bool at_least[CHART_POINTS]; /* the true value is larger: an arrow */
} chart_line;

typedef struct chart {
  const char *title, *x_name, *y_name;
  double x_low, x_high, y_low, y_high; /* powers of ten for y */
  chart_line lines[CHART_LINES];
  size_t line_count;
} chart;

static const char *const chart_colours[CHART_LINES] = {"#D55E00", "#0072B2",
                                                       "#009E73", "#CC79A7"};

static inline void chart_add(chart_line *line, double x, double y,
                             bool at_least) {
  if (line->count == CHART_POINTS || !(y > 0) || !isfinite(y))
    return;
  line->x[line->count] = x;
  line->y[line->count] = y;
  line->at_least[line->count++] = at_least;
}

/* The y axis from a power of ten below all points to one above. */
static inline void chart_fit(chart *c) {
  c->y_low = INFINITY;
  c->y_high = -INFINITY;
  for (size_t l = 0; l < c->line_count; l++)
    for (size_t i = 0; i < c->lines[l].count; i++) {
      c->y_low = fmin(c->y_low, c->lines[l].y[i]);
      c->y_high = fmax(c->y_high, c->lines[l].y[i]);
    }
  if (!(c->y_low <= c->y_high)) /* nothing to draw */
    c->y_low = c->y_high = 1;
  c->y_low = pow(10, floor(log10(c->y_low)));
  c->y_high = pow(10, ceil(log10(c->y_high * 1.01)));
}

static inline double chart_x(const chart *c, double left, double x) {
  return left + 70 + 290 * log(x / c->x_low) / log(c->x_high / c->x_low);
}

static inline double chart_y(const chart *c, double y) {
  return 270 - 230 * log(y / c->y_low) / log(c->y_high / c->y_low);
}

static inline void chart_axes(FILE *f, const chart *c, double left,
                              const double *ticks, size_t tick_count) {
  fprintf(f, "<text x='%g' y='22' text-anchor='middle'>%s</text>\n", left + 215,
          c->title);
  fprintf(f, "<text x='%g' y='312' text-anchor='middle'>%s</text>\n",
          left + 215, c->x_name);
  fprintf(f,
          "<text transform='translate(%g,155) rotate(-90)' "
          "text-anchor='middle'>%s</text>\n",
          left + 14, c->y_name);
  fprintf(f, "<path d='M%g 40V270H%g' fill='none' stroke='black'/>\n",
          left + 70, left + 360);
  for (size_t i = 0; i < tick_count; i++)
    fprintf(f, "<text x='%.1f' y='287' text-anchor='middle'>%g</text>\n",
            chart_x(c, left, ticks[i]), ticks[i]);
  double decades = round(log10(c->y_high / c->y_low));
  for (int k = 0; k <= (int)decades; k++) {
    double y = c->y_low * pow(10, k), at = chart_y(c, y);
    fprintf(f, "<path d='M%g %.1fH%g' stroke='#dddddd'/>\n", left + 70, at,
            left + 360);
    fprintf(f, "<text x='%g' y='%.1f' text-anchor='end'>%g</text>\n", left + 65,
            at + 4, y);
  }
}

static inline void chart_marker(FILE *f, size_t line, double x, double y) {
  const char *colour = chart_colours[line];
  if (line == 0)
    fprintf(f, "<circle cx='%.1f' cy='%.1f' r='4' fill='%s'/>\n", x, y, colour);
  else if (line == 1)
    fprintf(f, "<rect x='%.1f' y='%.1f' width='8' height='8' fill='%s'/>\n",
            x - 4, y - 4, colour);
  else
    fprintf(f, "<path d='M%.1f %.1fl-5 9h10z' fill='%s'/>\n", x, y - 6, colour);
}

static inline void chart_draw_line(FILE *f, const chart *c, double left,
                                   size_t l) {
  const chart_line *line = &c->lines[l];
  fprintf(f, "<path fill='none' stroke='%s' stroke-width='2' d='",
          chart_colours[l]);
  for (size_t i = 0; i < line->count; i++)
    fprintf(f, "%c%.1f %.1f", i ? 'L' : 'M', chart_x(c, left, line->x[i]),
            chart_y(c, line->y[i]));
  fprintf(f, "'/>\n");
  for (size_t i = 0; i < line->count; i++) {
    double x = chart_x(c, left, line->x[i]), y = chart_y(c, line->y[i]);
    chart_marker(f, l, x, y);
    if (line->at_least[i])
      fprintf(f,
              "<path d='M%.1f %.1fv-18m-4 6l4-6l4 6' fill='none' "
              "stroke='%s' stroke-width='2'/>\n",
              x, y, chart_colours[l]);
  }
  double y = 52 + 17 * (double)l;
  chart_marker(f, l, left + 86, y);
  fprintf(f, "<text x='%g' y='%g'>%s</text>\n", left + 96, y + 4, line->name);
}

/* Charts side by side; ticks are those of every x axis. */
static inline bool charts_write(const char *path, chart *charts, size_t count,
                                const double *ticks, size_t tick_count) {
  FILE *f = fopen(path, "w");
  if (!f)
    return false;
  fprintf(f,
          "<svg xmlns='http://www.w3.org/2000/svg' "
          "viewBox='0 0 %zu 325' font-family='sans-serif' font-size='12'>\n"
          "<rect width='100%%' height='100%%' fill='white'/>\n",
          count * CHART_WIDTH);
  for (size_t i = 0; i < count; i++) {
    double left = (double)(i * CHART_WIDTH);
    chart_fit(&charts[i]);
    chart_axes(f, &charts[i], left, ticks, tick_count);
    for (size_t l = 0; l < charts[i].line_count; l++)
      chart_draw_line(f, &charts[i], left, l);
  }
  fprintf(f, "</svg>\n");
  return fclose(f) == 0;
}

#endif
