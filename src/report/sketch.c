/* sketch.c - draws as small pictures of text: a histogram of each parameter and
 * the way of tau, for a look at a run without leaving the terminal. */
#include "base/text.h"
#include "draws/draws.h"
#include "report/table.h"

#include <math.h>
#include <stdio.h>

/* More would scroll away what came before. */
enum { LEVELS = 8, MOST_VALUES = 40, MOST_CELLS = 60, FEWEST_CELLS = 10 };

typedef struct sketch {
  const tempera_draws *draws;
  const tempera_text_style *style;
  tm_text out;
} sketch;

/* A share from 0 to 1 as a bar of so many eighths; nothing at all is blank. */
static void add_bar(sketch *s, double share) {
  static const char *const blocks[LEVELS + 1] = {" ",
                                                 "\xe2\x96\x81",
                                                 "\xe2\x96\x82",
                                                 "\xe2\x96\x83",
                                                 "\xe2\x96\x84",
                                                 "\xe2\x96\x85",
                                                 "\xe2\x96\x86",
                                                 "\xe2\x96\x87",
                                                 "\xe2\x96\x88"};
  static const char *const signs[LEVELS + 1] = {" ", ".", ":", "-", "=",
                                                "+", "*", "#", "@"};
  int level = share > 0 ? (int)ceil(fmin(share, 1) * LEVELS) : 0;
  tm_text_add(&s->out, (s->style->utf8 ? blocks : signs)[level]);
}

static size_t cells_beside(const sketch *s, size_t labels) {
  size_t columns = s->style->columns ? s->style->columns : 80;
  size_t left = columns > labels ? columns - labels : 0;
  return left < FEWEST_CELLS ? FEWEST_CELLS
         : left > MOST_CELLS ? MOST_CELLS
                             : left;
}

static void title(sketch *s, const char *text) {
  tm_text_printf(&s->out, "\n%s%s%s\n", tm_bold(s->style->colour), text,
                 tm_plain(s->style->colour));
}

/* ---- histograms --------------------------------------------------------- */

typedef struct range {
  double lowest, highest;
} range;

static range range_of(const tempera_draws *draws, size_t i) {
  range r = {INFINITY, -INFINITY};
  for (size_t c = 0; c < draws->chains; c++) {
    const double *x = tm_draws_column(draws, TEMPERA_TARGET, c, i);
    for (size_t row = 0; row < draws->count; row++) {
      r.lowest = fmin(r.lowest, x[row]);
      r.highest = fmax(r.highest, x[row]);
    }
  }
  return r;
}

/* Integers that are few get a cell each. */
static size_t bins_for(const sketch *s, size_t i, range r, size_t cells) {
  bool integer = s->draws->integer && s->draws->integer[i];
  double values = r.highest - r.lowest + 1;
  return integer && values <= (double)cells ? (size_t)values : cells;
}

static void add_histogram(sketch *s, size_t i, range r, size_t cells) {
  size_t counts[MOST_CELLS] = {0}, most = 1, bins = bins_for(s, i, r, cells);
  double width = r.highest - r.lowest;
  for (size_t c = 0; c < s->draws->chains; c++) {
    const double *x = tm_draws_column(s->draws, TEMPERA_TARGET, c, i);
    for (size_t row = 0; row < s->draws->count; row++) {
      double at = width > 0 ? (x[row] - r.lowest) / width * (double)bins : 0;
      size_t bin = at < (double)bins ? (size_t)at : bins - 1;
      if (++counts[bin] > most)
        most = counts[bin];
    }
  }
  for (size_t k = 0; k < cells; k++)
    add_bar(s, k < bins ? (double)counts[k] / (double)most : 0);
}

static void pad(tm_text *out, const char *text, size_t width) {
  tm_text_add(out, text);
  for (size_t shown = tm_width(text); shown < width; shown++)
    tm_text_add(out, " ");
}

static void add_histograms(sketch *s) {
  const tempera_draws *d = s->draws;
  size_t shown = d->size < MOST_VALUES ? d->size : MOST_VALUES, widest = 0;
  for (size_t i = 0; i < shown; i++)
    if (tm_width(d->names[i]) > widest)
      widest = tm_width(d->names[i]);
  size_t cells = cells_beside(s, widest + 26);
  title(s, "Histograms (draws at tau = 1)");
  for (size_t i = 0; i < shown; i++) {
    range r = range_of(d, i);
    tm_text_add(&s->out, "  ");
    pad(&s->out, d->names[i], widest);
    tm_text_printf(&s->out, " %9.4g |", r.lowest);
    add_histogram(s, i, r, cells);
    tm_text_printf(&s->out, "| %.4g\n", r.highest);
  }
  if (shown < d->size)
    tm_text_printf(&s->out, "  ... and %zu more\n", d->size - shown);
}

/* ---- the way of tau ----------------------------------------------------- */

static void add_tau(sketch *s) {
  const tempera_draws *d = s->draws;
  size_t cells = cells_beside(s, 16);
  if (cells > d->count)
    cells = d->count;
  title(s, "Tau of the tempered chains (low: the prior, high: the posterior)");
  for (size_t c = 0; c < d->chains; c++) {
    const double *tau = tempera_draws_tau(d, TEMPERA_TEMPERED, c);
    tm_text_printf(&s->out, "  chain %-3zu |", c + 1);
    for (size_t k = 0; k < cells; k++) /* the lowest bar is tau = 0 */
      add_bar(s, fmax(tau[k * d->count / cells], 1e-3));
    tm_text_add(&s->out, "|\n");
  }
}

tempera_status tempera_draws_sketch(const tempera_draws *draws,
                                    const tempera_text_style *style,
                                    char **text, tempera_error *error) {
  sketch s = {.draws = draws, .style = style};
  tm_text_add(&s.out, "");
  if (draws->count > 0 && draws->has_role[TEMPERA_TARGET])
    add_histograms(&s);
  if (draws->count > 0 && draws->has_role[TEMPERA_TEMPERED] &&
      tm_draws_width(draws, TEMPERA_TEMPERED) == 1) /* a ladder has no way */
    add_tau(&s);
  if (s.out.failed) {
    tm_text_clear(&s.out);
    return tm_fail_memory(error);
  }
  *text = s.out.data;
  return TEMPERA_OK;
}
