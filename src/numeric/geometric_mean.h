/* geometric_mean.h - the covariance S between that of draws and that of their
 * gradients: S G S = X. For a Gaussian with covariance C, G = C^-1 X C^-1 holds
 * of any draws, so that S = C exactly once there are d + 1 of them. */
#ifndef TM_NUMERIC_GEOMETRIC_MEAN_H
#define TM_NUMERIC_GEOMETRIC_MEAN_H

#include <stdbool.h>
#include <stddef.h>

/* x (X, symmetric and full) becomes the lower factor of S; g (G) is lost. False
 * where a matrix is not definite. */
bool tm_geometric_mean(double *x, double *g, size_t d, double *work);
size_t tm_geometric_mean_work(size_t dimension); /* doubles of `work` */

#endif
