/* maps_lines.c - matrices whose rows or columns are simplexes, and matrices
 * whose rows and columns sum to zero: the maps of vectors, line by line.
 * Matrices lie column by column, coordinates too, as in Stan. */
#include "language/load/maps.h"

#include "model/model.h"

#include <math.h>
#include <string.h>

enum { LONGEST = 1024 }; /* values of a line */

/* The lines of a matrix: value k of line i is at i * line + k * step. */
typedef struct lines {
  size_t count, length, line, step;
} lines;

static lines rows_of(size_t rows, size_t columns) {
  return (lines){rows, columns, 1, rows};
}
static lines columns_of(size_t rows, size_t columns) {
  return (lines){columns, rows, rows, 1};
}

static void take(const lines *l, size_t i, const double *from, double *one) {
  for (size_t k = 0; k < l->length; k++)
    one[k] = from[i * l->line + k * l->step];
}

static void give(const lines *l, size_t i, const double *one, double *to) {
  for (size_t k = 0; k < l->length; k++)
    to[i * l->line + k * l->step] = one[k];
}

/* ---- simplexes ---------------------------------------------------------- */

static void value_lines(const tempera_map *m, bool by_row, lines *x, lines *u) {
  *x = by_row ? rows_of(m->rows, m->columns) : columns_of(m->rows, m->columns);
  *u = by_row ? rows_of(m->rows, m->columns - 1)
              : columns_of(m->rows - 1, m->columns);
}

static double simplexes_constrain(const tempera_map *m, const double *u,
                                  double *x, bool by_row) {
  lines values, coordinates;
  double from[LONGEST], to[LONGEST], log_jacobian = 0;
  value_lines(m, by_row, &values, &coordinates);
  for (size_t i = 0; i < values.count; i++) {
    take(&coordinates, i, u, from);
    log_jacobian += tm_simplex_constrain(values.length, from, to);
    give(&values, i, to, x);
  }
  return log_jacobian;
}

static void simplexes_unconstrain(const tempera_map *m, const double *x,
                                  double *u, bool by_row) {
  lines values, coordinates;
  double from[LONGEST], to[LONGEST];
  value_lines(m, by_row, &values, &coordinates);
  for (size_t i = 0; i < values.count; i++) {
    take(&values, i, x, from);
    tm_simplex_unconstrain(values.length, from, to);
    give(&coordinates, i, to, u);
  }
}

static bool simplexes_inside(const tempera_map *m, const double *x,
                             bool by_row) {
  lines values, coordinates;
  double one[LONGEST];
  value_lines(m, by_row, &values, &coordinates);
  for (size_t i = 0; i < values.count; i++) {
    take(&values, i, x, one);
    if (!tm_simplex_inside(values.length, one))
      return false;
  }
  return true;
}

static void simplexes_pull(const tempera_map *m, const double *x,
                           const double *g, bool jacobian, double *out,
                           bool by_row) {
  lines values, coordinates;
  double one[LONGEST], slope[LONGEST], to[LONGEST];
  value_lines(m, by_row, &values, &coordinates);
  for (size_t i = 0; i < values.count; i++) {
    take(&values, i, x, one);
    take(&values, i, g, slope);
    tm_simplex_pull_back(values.length, one, slope, jacobian, to);
    give(&coordinates, i, to, out);
  }
}

#define SIMPLEXES(name, by_row)                                                \
  static double name##_constrain(const tempera_map *m, const double *u,        \
                                 double *x) {                                  \
    return simplexes_constrain(m, u, x, by_row);                               \
  }                                                                            \
  static void name##_unconstrain(const tempera_map *m, const double *x,        \
                                 double *u) {                                  \
    simplexes_unconstrain(m, x, u, by_row);                                    \
  }                                                                            \
  static bool name##_inside(const tempera_map *m, const double *x) {           \
    return simplexes_inside(m, x, by_row);                                     \
  }                                                                            \
  static void name##_pull(const tempera_map *m, const double *u,               \
                          const double *x, const double *g, bool jacobian,     \
                          double *out) {                                       \
    (void)u;                                                                   \
    simplexes_pull(m, x, g, jacobian, out, by_row);                            \
  }

SIMPLEXES(rows, true)
SIMPLEXES(columns, false)

/* ---- rows and columns that sum to zero ---------------------------------- */

/* X = A U B' with A and B orthonormal maps of the vectors that sum to zero:
 * no Jacobian, and the transpose is the inverse. */
static double zeros_constrain(const tempera_map *m, const double *u,
                              double *x) {
  double one[LONGEST], to[LONGEST];
  lines short_columns = columns_of(m->rows - 1, m->columns - 1);
  lines columns = columns_of(m->rows, m->columns - 1);
  for (size_t i = 0; i < columns.count; i++) {
    take(&short_columns, i, u, one);
    tm_zero_sum(m->rows, one, to);
    give(&columns, i, to, x); /* the last column is still free */
  }
  lines short_rows = rows_of(m->rows, m->columns - 1);
  lines rows = rows_of(m->rows, m->columns);
  for (size_t i = 0; i < rows.count; i++) {
    take(&short_rows, i, x, one);
    tm_zero_sum(m->columns, one, to);
    give(&rows, i, to, x);
  }
  return 0;
}

static void zeros_transpose(const tempera_map *m, const double *x, double *u) {
  double one[LONGEST], to[LONGEST];
  lines columns = columns_of(m->rows, m->columns);
  lines short_rows = rows_of(m->rows - 1, m->columns - 1);
  /* Rows first, each kept where it will be needed: column by column. */
  for (size_t i = 0; i < short_rows.count; i++) {
    for (size_t k = 0; k < columns.count; k++) {
      take(&columns, k, x, to);
      tm_zero_sum_back(m->rows, to, to);
      one[k] = to[i];
    }
    tm_zero_sum_back(m->columns, one, one);
    give(&short_rows, i, one, u);
  }
}

static void zeros_pull(const tempera_map *m, const double *u, const double *x,
                       const double *g, bool jacobian, double *out) {
  (void)u, (void)x, (void)jacobian;
  zeros_transpose(m, g, out);
}

static bool zeros_inside(const tempera_map *m, const double *x) {
  double one[LONGEST];
  for (int by_row = 0; by_row < 2; by_row++) {
    lines l =
        by_row ? rows_of(m->rows, m->columns) : columns_of(m->rows, m->columns);
    for (size_t i = 0; i < l.count; i++) {
      take(&l, i, x, one);
      if (!tm_zero_sum_inside(l.length, one))
        return false;
    }
  }
  return true;
}

/* ---- the table ---------------------------------------------------------- */

bool tm_lines_map_of(tm_constraint constraint, size_t rows, size_t columns,
                     tempera_map *map) {
  static const tempera_map maps[] = {
      [TM_ROW_STOCHASTIC] = {.constrain = rows_constrain,
                             .unconstrain = rows_unconstrain,
                             .inside = rows_inside,
                             .pull_back = rows_pull},
      [TM_COLUMN_STOCHASTIC] = {.constrain = columns_constrain,
                                .unconstrain = columns_unconstrain,
                                .inside = columns_inside,
                                .pull_back = columns_pull},
      [TM_SUM_TO_ZERO_MATRIX] = {.constrain = zeros_constrain,
                                 .unconstrain = zeros_transpose,
                                 .inside = zeros_inside,
                                 .pull_back = zeros_pull}};
  if (rows > LONGEST || columns > LONGEST || rows < 1 || columns < 1)
    return false;
  *map = maps[constraint];
  map->unconstrained_size =
      constraint == TM_ROW_STOCHASTIC      ? rows * (columns - 1)
      : constraint == TM_COLUMN_STOCHASTIC ? (rows - 1) * columns
                                           : (rows - 1) * (columns - 1);
  return true;
}
