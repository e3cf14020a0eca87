/* spline.c - see spline.h. On uniform knots the clamped B-spline basis is
 * replaced by the uniform cardinal one, which spans the same splines on the
 * interval; the least squares are LAPACK's (QR). */
#include "numeric/spline.h"

#include <lapacke.h>
#include <math.h>
#include <string.h>

/* The four basis functions that are not zero at x, and the first's index. */
static size_t basis(const tm_spline *spline, double x, double values[4]) {
  double pieces = (double)(spline->knots - 1);
  double position = (x - spline->left) / (spline->right - spline->left);
  position = fmax(0, fmin(1, position)) * pieces;
  double first = fmin(floor(position), pieces - 1), t = position - first;
  double s = 1 - t;
  values[0] = s * s * s / 6;
  values[1] = (4 - 6 * t * t + 3 * t * t * t) / 6;
  values[2] = (4 - 6 * s * s + 3 * s * s * s) / 6;
  values[3] = t * t * t / 6;
  return (size_t)first;
}

static void fill_rows(const tm_spline *spline, const double *x, size_t count,
                      double *rows) {
  for (size_t i = 0; i < count; i++) {
    double values[4];
    size_t first = basis(spline, x[i], values);
    memcpy(rows + i * (spline->knots + 2) + first, values, sizeof values);
  }
}

/* Solve in place: `right` holds the right-hand sides, then the solution. */
static lapack_int solve(const tm_spline *spline, const double *x, size_t count,
                        double *rows, double *right) {
  lapack_int terms = (lapack_int)spline->knots + 2;
  lapack_int curves = (lapack_int)spline->curves;
  fill_rows(spline, x, count, rows);
  return LAPACKE_dgels(LAPACK_ROW_MAJOR, 'N', (lapack_int)count, terms, curves,
                       rows, terms, right, curves);
}

tempera_status tm_spline_fit(tm_spline *spline, tm_arena *arena,
                             const double *x, const double *y, size_t count,
                             tempera_error *error) {
  size_t terms = spline->knots + 2, curves = spline->curves;
  spline->coefficients = TM_NEW(arena, double, curves *terms);
  double *rows = tm_heap_alloc(count * terms, sizeof(double));
  double *right = tm_heap_alloc(count * curves, sizeof(double));
  tempera_status status = TEMPERA_OK;
  if (!spline->coefficients || !rows || !right) {
    status = tm_fail_memory(error);
    goto done;
  }
  memcpy(right, y, count * curves * sizeof(double));
  lapack_int answer = solve(spline, x, count, rows, right);
  if (answer != 0) {
    status = answer > 0 ? tm_fail(error, TEMPERA_ERROR_ARGUMENT,
                                  "too few points for a spline on %zu knots",
                                  spline->knots)
                        : tm_fail_memory(error);
    goto done;
  }
  for (size_t c = 0; c < curves; c++)
    for (size_t k = 0; k < terms; k++)
      spline->coefficients[c * terms + k] = right[k * curves + c];
done:
  tm_heap_free(right);
  tm_heap_free(rows);
  return status;
}

void tm_spline_at(const tm_spline *spline, double x, double *values) {
  double weight[4];
  size_t first = basis(spline, x, weight), terms = spline->knots + 2;
  for (size_t c = 0; c < spline->curves; c++) {
    const double *from = spline->coefficients + c * terms + first;
    values[c] = from[0] * weight[0] + from[1] * weight[1] +
                from[2] * weight[2] + from[3] * weight[3];
  }
}
