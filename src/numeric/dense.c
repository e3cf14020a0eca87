/* dense.c - see dense.h. */
#include "numeric/dense.h"

#include <lapacke.h>

#include <math.h>
#include <string.h>

void tm_solve_lower(const double *l, size_t d, double *x) {
  for (size_t i = 0; i < d; i++) {
    for (size_t k = 0; k < i; k++)
      x[i] -= l[i * d + k] * x[k];
    x[i] /= l[i * d + i];
  }
}

void tm_solve_upper(const double *l, size_t d, double *x) {
  for (size_t i = d; i-- > 0;) {
    x[i] /= l[i * d + i];
    for (size_t k = 0; k < i; k++)
      x[k] -= l[i * d + k] * x[i];
  }
}

enum { LANES = 8 };

/* Four doubles anywhere in an array. */
typedef double four __attribute__((vector_size(32), aligned(8), may_alias));

/* Eight entries, from entry i on, of the sum of x_k times row k: no sum waits
 * for the one before. */
typedef struct eight {
  four low, high;
} eight;

static eight eight_entries(const double *rows, size_t d, const double *x,
                           size_t i, size_t from, size_t to) {
  eight sum = {{0}, {0}};
  for (size_t k = from; k < to; k++) {
    const four *row = (const four *)(rows + k * d + i);
    sum.low += row[0] * x[k];
    sum.high += row[1] * x[k];
  }
  return sum;
}

static double one_entry(const double *rows, size_t d, const double *x, size_t i,
                        size_t from, size_t to) {
  double sum = 0;
  for (size_t k = from; k < to; k++)
    sum += rows[k * d + i] * x[k];
  return sum;
}

double tm_factor_square(const double *l, size_t d, const double *x,
                        double most) {
  double square = 0;
  size_t i = 0;
  for (; i + LANES <= d && square <= most; i += LANES) {
    eight e = eight_entries(l, d, x, i, i, d);
    four squares = e.low * e.low + e.high * e.high;
    square += (squares[0] + squares[1]) + (squares[2] + squares[3]);
  }
  for (; i < d && square <= most; i++) {
    double entry = one_entry(l, d, x, i, i, d);
    square += entry * entry;
  }
  return square;
}

void tm_lower_transposed(const double *l, size_t d, const double *x,
                         double *y) {
  size_t i = 0;
  for (; i + LANES <= d; i += LANES) {
    eight e = eight_entries(l, d, x, i, i, d);
    memcpy(y + i, &e, sizeof e);
  }
  for (; i < d; i++)
    y[i] = one_entry(l, d, x, i, i, d);
}

void tm_upper_transposed(const double *r, size_t d, const double *x,
                         double *y) {
  size_t i = 0;
  for (; i + LANES <= d; i += LANES) {
    eight e = eight_entries(r, d, x, i, 0, i + LANES);
    memcpy(y + i, &e, sizeof e);
  }
  for (; i < d; i++)
    y[i] = one_entry(r, d, x, i, 0, i + 1);
}

static double off_diagonal(const double *a, size_t d) {
  double sum = 0;
  for (size_t i = 0; i < d; i++)
    for (size_t j = 0; j < i; j++)
      sum += a[i * d + j] * a[i * d + j];
  return sum;
}

/* Rotate rows and columns p and q of a so that a_pq = 0. */
static void rotate(double *a, double *v, size_t d, size_t p, size_t q) {
  double apq = a[p * d + q];
  if (apq == 0)
    return;
  double theta = (a[q * d + q] - a[p * d + p]) / (2 * apq);
  double t = copysign(1, theta) / (fabs(theta) + sqrt(1 + theta * theta));
  double c = 1 / sqrt(1 + t * t), s = t * c;
  for (size_t k = 0; k < d; k++) {
    double x = a[k * d + p], y = a[k * d + q];
    a[k * d + p] = c * x - s * y;
    a[k * d + q] = s * x + c * y;
  }
  for (size_t k = 0; k < d; k++) {
    double x = a[p * d + k], y = a[q * d + k];
    a[p * d + k] = c * x - s * y;
    a[q * d + k] = s * x + c * y;
    x = v[p * d + k];
    y = v[q * d + k];
    v[p * d + k] = c * x - s * y;
    v[q * d + k] = s * x + c * y;
  }
}

/* By LAPACK, column after column, which row-major are the rows. */
static bool by_lapack(double *a, size_t d, double *values, double *vectors) {
  memcpy(vectors, a, d * d * sizeof(double));
  return LAPACKE_dsyevd(LAPACK_COL_MAJOR, 'V', 'U', (lapack_int)d, vectors,
                        (lapack_int)d, values) == 0;
}

/* Rotations need no memory of their own and are quick where d is small; for d =
 * 1000 they would take minutes. */
void tm_symmetric_eigen(double *a, size_t d, double *values, double *vectors) {
  enum { SMALL = 48 };
  double size = 0;
  if (d > SMALL && by_lapack(a, d, values, vectors))
    return;
  for (size_t i = 0; i < d * d; i++) {
    vectors[i] = i % (d + 1) == 0;
    size += a[i] * a[i];
  }
  for (int sweep = 0; sweep < 40; sweep++) {
    if (!(off_diagonal(a, d) > 1e-28 * size))
      break;
    for (size_t p = 0; p < d; p++)
      for (size_t q = p + 1; q < d; q++)
        rotate(a, vectors, d, p, q);
  }
  for (size_t i = 0; i < d; i++)
    values[i] = a[i * d + i];
}
