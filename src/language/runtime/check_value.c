/* check_value.c - does a value keep the promise of its declared type? */
#include "language/runtime/runtime.h"

#include "base/locale.h"
#include "language/read/ast.h"

#include <stdio.h>

static const double TOLERANCE = 1e-8;

_Noreturn static void broken(tm_tape *tape, int reject, const char *name,
                             const char *what, double found) {
  tape->place = NULL; /* the name has its own */
  if (reject)
    tm_runtime_reject(tape, "%s %s; found %.8g", name, what, found);
  tm_runtime_fail(tape, "", "variable %s %s; found %.8g", name, what, found);
}

/* name[i,j] for the k-th element, row by row. */
static void name_element(char *out, size_t size, const char *name,
                         const tm_any *value, long k) {
  int rank = value->tag == TM_TAG_TENSOR ? value->u.t.rank : 0;
  long index[TM_RANK];
  for (int i = rank; i-- > 0; k /= value->u.t.dim[i])
    index[i] = k % value->u.t.dim[i] + 1;
  int used = snprintf(out, size, "%.200s", name);
  for (int i = 0; i < rank; i++)
    used += snprintf(out + used, size - (size_t)used, "%c%ld", i ? ',' : '[',
                     index[i]);
  if (rank)
    snprintf(out + used, size - (size_t)used, "]");
}

static void check_bounds(tm_tape *tape, const tm_view *v, const tm_any *value,
                         const tm_any *lower, const tm_any *upper,
                         const char *name, int reject) {
  tm_view lo, hi;
  char what[120];
  tm_view_of(lower, &lo);
  tm_view_of(upper, &hi);
  for (long k = 0; k < v->n; k++) {
    double x = v->v[k], a = lo.v[k * lo.stride], b = hi.v[k * hi.stride];
    if (x >= a && x <= b)
      continue;
    if (!(x >= a))
      tm_snprintf(what, sizeof what, "was declared with lower=%.8g", a);
    else
      tm_snprintf(what, sizeof what, "was declared with upper=%.8g", b);
    char element[300];
    name_element(element, sizeof element, name, value, k);
    broken(tape, reject, element, what, x);
  }
}

static void check_vector(tm_tape *tape, const double *x, long n, int constraint,
                         const char *name, int reject) {
  double sum = 0, square = 0;
  for (long i = 0; i < n; i++) {
    sum += x[i];
    square += x[i] * x[i];
    if (constraint == TM_SIMPLEX && !(x[i] >= 0))
      broken(tape, reject, name, "is a simplex without negative values", x[i]);
    if (constraint == TM_POSITIVE_ORDERED && i == 0 && !(x[0] >= 0))
      broken(tape, reject, name, "must be positive", x[0]);
    if ((constraint == TM_ORDERED || constraint == TM_POSITIVE_ORDERED) &&
        i > 0 && !(x[i] > x[i - 1]))
      broken(tape, reject, name, "must be ordered", x[i]);
  }
  if (constraint == TM_SIMPLEX && !(fabs(sum - 1) < TOLERANCE))
    broken(tape, reject, name, "is a simplex and must sum to 1", sum);
  if (constraint == TM_UNIT_VECTOR && !(fabs(square - 1) < TOLERANCE))
    broken(tape, reject, name, "must have length 1", square);
  if (constraint == TM_SUM_TO_ZERO && !(fabs(sum) < TOLERANCE))
    broken(tape, reject, name, "must sum to 0", sum);
}

/* Each row, or column, as the vector that it promises to be. */
static void check_lines(tm_tape *tape, const double *x, int rows, int cols,
                        int constraint, const char *name, int reject) {
  int promised =
      constraint == TM_SUM_TO_ZERO_MATRIX ? TM_SUM_TO_ZERO : TM_SIMPLEX;
  double *column = tm_take(tape, (size_t)rows * sizeof *column);
  for (int i = 0; constraint != TM_COLUMN_STOCHASTIC && i < rows; i++)
    check_vector(tape, x + i * cols, cols, promised, name, reject);
  for (int j = 0; constraint != TM_ROW_STOCHASTIC && j < cols; j++) {
    for (int i = 0; i < rows; i++)
      column[i] = x[i * cols + j];
    check_vector(tape, column, rows, promised, name, reject);
  }
}

/* A row of the factor of a correlation matrix has length 1. */
static void check_row(tm_tape *tape, const double *row, int i, const char *name,
                      int reject) {
  double square = 0;
  for (int j = 0; j <= i; j++)
    square += row[j] * row[j];
  if (!(fabs(square - 1) < TOLERANCE))
    broken(tape, reject, name, "needs rows of length 1", square);
}

static void check_pivots(tm_tape *tape, const double *x, int n,
                         const char *name, int reject) {
  double *a = tm_take(tape, (size_t)n * (size_t)n * sizeof *a);
  memcpy(a, x, (size_t)n * (size_t)n * sizeof *a);
  for (int k = 0; k < n; k++) {
    double pivot = a[k * n + k];
    if (!(pivot > 0))
      broken(tape, reject, name, "must be positive definite (its pivots)",
             pivot);
    for (int i = k + 1; i < n; i++)
      for (int j = k + 1; j <= i; j++)
        a[i * n + j] -= a[i * n + k] * a[j * n + k] / pivot;
  }
}

/* Symmetric with a positive pivot at each step of elimination, or a lower
 * triangle with a positive diagonal. */
static void check_matrix(tm_tape *tape, const double *x, int rows, int cols,
                         int constraint, const char *name, int reject) {
  bool factor = constraint == TM_CHOLESKY_CORR || constraint == TM_CHOLESKY_COV;
  for (int i = 0; i < rows; i++)
    for (int j = i + 1; j < cols; j++) {
      double above = x[i * cols + j];
      if (factor && above != 0)
        broken(tape, reject, name, "must be lower triangular", above);
      if (!factor && j < rows && i < cols &&
          !(fabs(above - x[j * cols + i]) < TOLERANCE))
        broken(tape, reject, name, "must be symmetric", above);
    }
  for (int i = 0; i < rows && i < cols; i++) {
    double diagonal = x[i * cols + i];
    if (!(diagonal > 0))
      broken(tape, reject, name, "needs a positive diagonal", diagonal);
    if (constraint == TM_CORRELATION && !(fabs(diagonal - 1) < TOLERANCE))
      broken(tape, reject, name, "needs ones on its diagonal", diagonal);
    if (constraint == TM_CHOLESKY_CORR)
      check_row(tape, x + i * cols, i, name, reject);
  }
  if (!factor)
    check_pivots(tape, x, rows, name, reject);
}

void tm_check_value(tm_tape *tape, tm_any value, int constraint, tm_any lower,
                    tm_any upper, const char *name, int reject) {
  tm_view v;
  tm_view_of(&value, &v);
  if (constraint == TM_BOUNDED) {
    check_bounds(tape, &v, &value, &lower, &upper, name, reject);
    return;
  }
  const tm_tensor *t = &value.u.t;
  bool matrix = constraint >= TM_CHOLESKY_CORR;
  int rows = t->dim[t->rank - (matrix ? 2 : 1)], cols = t->dim[t->rank - 1];
  long size = matrix ? (long)rows * cols : rows;
  for (long k = 0; size > 0 && k < v.n; k += size)
    if (constraint >= TM_ROW_STOCHASTIC)
      check_lines(tape, v.v + k, rows, cols, constraint, name, reject);
    else if (matrix)
      check_matrix(tape, v.v + k, rows, cols, constraint, name, reject);
    else
      check_vector(tape, v.v + k, rows, constraint, name, reject);
}
