/* spline.h - least-squares cubic B-splines on uniform knots. */
#ifndef TM_NUMERIC_SPLINE_H
#define TM_NUMERIC_SPLINE_H

#include "base/memory.h"

/* Cubic (4th order) on [left, right] with `knots` uniform breakpoints, ends
 * included; knots + 2 coefficients per curve. */
typedef struct tm_spline {
  double left, right;
  size_t knots, curves;
  double *coefficients; /* curves x (knots + 2) */
} tm_spline;

/* Fit `curves` curves at the same abscissae: y holds count x curves values.
 * count >= knots + 2, and the points must not leave a basis function empty. */
TEMPERA_CHECKED tempera_status tm_spline_fit(tm_spline *spline, tm_arena *arena,
                                             const double *x, const double *y,
                                             size_t count,
                                             tempera_error *error);
/* All curves at x (clamped to the interval). */
void tm_spline_at(const tm_spline *spline, double x, double *values);

#endif
