/* triangular.h - Cholesky factors of dense matrices.
 *
 * Row-major, no workspace, no threads: the same bits on every machine load,
 * which a threaded LAPACK does not promise. */
#ifndef TM_NUMERIC_TRIANGULAR_H
#define TM_NUMERIC_TRIANGULAR_H

#include "base/stop.h"

/* a.b in eight interleaved partial sums, which the compiler may keep in
 * vectors without reordering anything. */
double tm_dot(const double *a, const double *b, size_t n);
/* a.b for `count` rows b, `stride` apart: the same bits as one by one. */
void tm_dots(const double *a, const double *b, size_t stride, size_t count,
             size_t n, double *out);
/* The sum of x, in four such sums. */
double tm_sum(const double *x, size_t n);
/* Replace the symmetric matrix (its lower triangle is read) by L with
 * L L' = matrix and zeros above the diagonal. False when the matrix is not
 * positive definite; its content is then lost. */
bool tm_cholesky(double *matrix, size_t n);
/* The same, asking `stop` (or NULL) about every row: false when it is due. */
bool tm_cholesky_until(double *matrix, size_t n, const tm_stop *stop);
/* The same, of matrix + ridge * diagonal with the smallest ridge of 0, 1e-12,
 * 1e-10, ... that makes it positive definite, or of the diagonal alone;
 * diagonal entries that are not positive and finite count as `floor` (> 0),
 * others that are not finite as 0. `work` holds n * n. */
void tm_cholesky_forced(double *matrix, size_t n, double floor, double *work);
/* inverse = L^-1, lower triangular. */
void tm_triangular_inverse(const double *lower, size_t n, double *inverse);
/* False when `stop` was due. */
bool tm_triangular_inverse_until(const double *lower, size_t n, double *inverse,
                                 const tm_stop *stop);
/* y = L x; y may be x. */
void tm_triangular_times(const double *lower, size_t n, const double *x,
                         double *y);
/* Solve L L' x = b; x may be b. */
void tm_cholesky_solve(const double *lower, size_t n, const double *b,
                       double *x);

#endif
