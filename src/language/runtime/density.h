/* density.h - univariate log densities and log masses, one outcome at a time,
 * with analytic partials. x[0] is the outcome, then the arguments in Stan's
 * order; d gets one partial per entry, or is NULL. Densities follow the Stan
 * functions reference and keep their constants. */
#ifndef TM_LANGUAGE_DENSITY_H
#define TM_LANGUAGE_DENSITY_H

#include "language/runtime/runtime.h"
#include "language/runtime/tables.h"

#define LOG_2PI 1.8378770664093453
#define LOG_PI 1.1447298858494002
#define LOG_2 0.6931471805599453
#define ZERO (-INFINITY)

#define KERNEL(name) double tm_kernel_##name(const double *x, double *d)
#define TM_DECLARE_KERNEL(name, letters) KERNEL(name);
TM_DENSITIES(TM_DECLARE_KERNEL)

#endif
