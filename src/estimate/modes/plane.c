/* plane.c - see plane.h. */
#include "estimate/modes/plane.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { REACH = 3 * TM_PLANE_PER_WIDTH };

bool tm_plane_create(tm_arena *arena, tm_plane *plane) {
  plane->density = TM_NEW(arena, double, TM_PLANE_MOST);
  plane->open = TM_NEW(arena, size_t, TM_PLANE_MOST);
  return plane->density && plane->open;
}

void tm_plane_fill(tm_plane *p, const double *ts, const double *us,
                   size_t count) {
  double kernel[REACH + 1];
  long columns = (long)p->columns, rows = (long)p->rows;
  for (size_t k = 0; k <= REACH; k++)
    kernel[k] = exp(-0.5 * pow((double)k / TM_PLANE_PER_WIDTH, 2));
  memset(p->density, 0, p->columns * p->rows * sizeof(double));
  for (size_t i = 0; i < count; i++) {
    double t = (ts[i] - p->t) / p->wide, u = (us[i] - p->u) / p->tall;
    if (!(t >= 0 && t < (double)columns))
      continue;
    for (long a = -REACH; a <= REACH; a++)
      for (long b = -REACH; b <= REACH; b++) {
        long g = (long)t + a, k = (long)u + b;
        if (g >= 0 && g < columns && k >= 0 && k < rows)
          p->density[g * rows + k] += kernel[labs(a)] * kernel[labs(b)];
      }
  }
}

static size_t column_of(const tm_plane *p, double t) {
  return (size_t)((t - p->t) / p->wide);
}

static size_t best_cell(const tm_plane *p, double t) {
  size_t from = column_of(p, t) * p->rows, best = from;
  for (size_t k = from; k < from + p->rows; k++)
    best = p->density[k] > p->density[best] ? k : best;
  return best;
}

/* Whether cells no lower than `level` lead from one of them to a column;
 * they are wiped out on the way. */
static bool leads_to(tm_plane *p, size_t from, size_t column, double level) {
  size_t count = 0, cells = p->columns * p->rows;
  p->open[count++] = from;
  p->density[from] = -1;
  while (count > 0) {
    size_t at = p->open[--count], row = at % p->rows;
    if (at / p->rows == column)
      return true;
    size_t next[4] = {at + p->rows, at - p->rows, row ? at - 1 : cells,
                      row + 1 < p->rows ? at + 1 : cells};
    for (size_t k = 0; k < 4; k++)
      if (next[k] < cells && p->density[next[k]] >= level) {
        p->open[count++] = next[k];
        p->density[next[k]] = -1; /* once is enough */
      }
  }
  return false;
}

bool tm_plane_leads(tm_plane *p, double peak, double other, double cut,
                    double share) {
  size_t a = best_cell(p, peak), b = best_cell(p, other);
  double level = share * fmin(p->density[a], p->density[b]);
  size_t column = column_of(p, cut);
  return leads_to(p, a, column, level) || leads_to(p, b, column, level);
}
