/* pareto.h - the shape k of a generalised Pareto tail. */
#ifndef TM_NUMERIC_PARETO_H
#define TM_NUMERIC_PARETO_H

#include "base/memory.h"

/* Of the tail of e^x: of the largest of the x (as many as Vehtari, Simpson,
 * Gelman, Yao & Gabry take for importance ratios: a fifth, at most three times
 * the root of their number), by Zhang & Stephens (Technometrics 2009) with the
 * weak prior of the former. -infinity for a tail of equal values; NaN below
 * 25 values. `x` is sorted. */
double tm_pareto_shape(double *x, size_t count);

/* Shape, with the same prior, and scale of a tail, by its exceedances in
 * ascending order; k is infinite where it cannot be fitted. */
typedef struct tm_pareto {
  double k, sigma;
} tm_pareto;
tm_pareto tm_pareto_fit(const double *exceedances, size_t count);

#endif
