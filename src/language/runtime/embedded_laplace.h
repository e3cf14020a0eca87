/* embedded_laplace.h - the embedded Laplace approximation: a latent vector
 * theta ~ multi_normal(0, K) with log likelihood f(theta, arguments),
 * integrated out around its mode. */
#ifndef TM_LANGUAGE_LAPLACE_H
#define TM_LANGUAGE_LAPLACE_H

#include "language/runtime/callable.h"

/* What the call was given: controls are the size of the Hessian's blocks, K,
 * and perhaps the start, tolerance, most steps, solver, most halvings of a
 * step, and whether another solver may be tried. */
enum { TM_LAPLACE_BLOCK, TM_LAPLACE_K, TM_LAPLACE_OPTIONS };
tm_any tm_laplace_marginal(tm_callable *c, bool options);
tm_any tm_laplace_latent(tm_callable *c, bool options);
/* The mode, and the Cholesky factor of the spread there: values alone. */
tm_any tm_laplace_mode(tm_callable *c, bool options);
tm_any tm_laplace_factor(tm_callable *c, bool options);

/* f along a line: derivatives of its slopes at theta + t direction by t, once
 * (order 1) or twice (2), at t = 0. n are of theta, the others of arguments. */
typedef struct tm_line {
  tm_callable *c;
  const double *theta, *direction;
  int n, order;
} tm_line;
void tm_line_derivatives(const tm_line *line, double *of_theta,
                         double *of_arguments);
/* Its value and slopes at theta. */
double tm_latent_slopes(tm_callable *c, const double *theta, int n,
                        double *of_theta, double *of_arguments);

#endif
