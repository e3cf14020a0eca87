/* dense.c - see dense.h. */
#include "numeric/dense.h"

#include <math.h>

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

/* The sum of squares of eight entries of L'x, from entry i on, row by row of L:
 * no sum waits for the one before. What is above the diagonal of L is zero. */
static double eight_squares(const double *l, size_t d, const double *x,
                            size_t i) {
  four low = {0}, high = {0};
  for (size_t k = i; k < d; k++) {
    const four *row = (const four *)(l + k * d + i);
    low += row[0] * x[k];
    high += row[1] * x[k];
  }
  four square = low * low + high * high;
  return (square[0] + square[1]) + (square[2] + square[3]);
}

double tm_factor_square(const double *l, size_t d, const double *x,
                        double most) {
  double square = 0;
  size_t i = 0;
  for (; i + LANES <= d && square <= most; i += LANES)
    square += eight_squares(l, d, x, i);
  for (; i < d && square <= most; i++) {
    double sum = 0;
    for (size_t k = i; k < d; k++)
      sum += l[k * d + i] * x[k];
    square += sum * sum;
  }
  return square;
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

void tm_symmetric_eigen(double *a, size_t d, double *values, double *vectors) {
  double size = 0;
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
