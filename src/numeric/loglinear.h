/* loglinear.h - densities on an interval whose logarithm is piecewise linear.
 *
 * The tau prior is one (method 4.2), and tilting it by exp(tau * l) gives
 * another: p(tau | theta), whose mass and exact draws have closed forms
 * (method 4.3). An optional atom sits at x = 0. */
#ifndef TM_NUMERIC_LOGLINEAR_H
#define TM_NUMERIC_LOGLINEAR_H

#include "base/memory.h"

/* Borrowed arrays: x strictly increasing, count >= 2. log_atom is -infinity
 * without an atom. */
typedef struct tm_loglinear {
  size_t count;
  const double *x, *y;
  double log_atom;
} tm_loglinear;

/* y at x by interpolation; x is clamped to the interval. */
double tm_loglinear_at(const tm_loglinear *f, double x);
/* The interval that holds x: k with x[k] <= x < x[k+1] (the last one at the
 * right end). */
size_t tm_loglinear_interval(const tm_loglinear *f, double x);
/* log of the mass of exp(y(x) + slope*x) over the interval, atom included.
 * slope = -infinity leaves only the atom (log_atom, or -infinity). */
double tm_loglinear_log_mass(const tm_loglinear *f, double slope);
/* The same over [a, b] only, without the atom. */
double tm_loglinear_log_mass_between(const tm_loglinear *f, double slope,
                                     double a, double b);
/* An exact draw from the density proportional to exp(y(x) + slope*x), given
 * two uniforms in (0,1); `work` holds 2 x count doubles. 0 from the atom. */
double tm_loglinear_draw(const tm_loglinear *f, double slope, double uniform,
                         double uniform2, double *work);
/* The same in two parts, for several draws with one slope: the first fills
 * `work` and gives the total that the second asks for. */
double tm_loglinear_tilt(const tm_loglinear *f, double slope, double *work);
double tm_loglinear_pick(const tm_loglinear *f, double slope, double total,
                         double uniform, double uniform2, const double *work);

#endif
