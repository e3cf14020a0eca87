/* dense.h - small dense matrices beyond triangular.h: solves, quadratic forms
 * and eigenvalues. Row-major and our own: a threaded BLAS may sum in another
 * order, and results must not depend on the number of threads. */
#ifndef TM_NUMERIC_DENSE_H
#define TM_NUMERIC_DENSE_H

#include "numeric/triangular.h"

/* x <- L^-1 x and x <- L'^-1 x. */
void tm_solve_lower(const double *l, size_t d, double *x);
void tm_solve_upper(const double *l, size_t d, double *x);
/* y = L' x and y = R' x of a lower and an upper triangle, with zeros in the
 * rest; y is not x. Row-major as they are, these are the quick products. */
void tm_lower_transposed(const double *l, size_t d, const double *x, double *y);
void tm_upper_transposed(const double *r, size_t d, const double *x, double *y);
/* |L' x|^2; stops early, with what it has, once above `most`. */
double tm_factor_square(const double *l, size_t d, const double *x,
                        double most);
/* The eigenvalues of symmetric `a` (destroyed); row i of `vectors` belongs to
 * value i. In symmetric_eigen.c. */
void tm_symmetric_eigen(double *a, size_t d, double *values, double *vectors);
/* False, and nothing useful, when `stop` was due. */
bool tm_symmetric_eigen_until(double *a, size_t d, double *values,
                              double *vectors, const tm_stop *stop);

#endif
