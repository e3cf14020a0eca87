/* dense.c - see dense.h. */
#include "numeric/dense.h"

#include <math.h>
#include <string.h>

/* Where rows are long, many sums at a time; they round in another order. */
enum { LONG = 64 };

void tm_solve_lower(const double *l, size_t d, double *x) {
  for (size_t i = 0; i < d; i++) {
    double left = x[i];
    if (i >= LONG)
      left -= tm_dot(l + i * d, x, i);
    for (size_t k = 0; k < i && i < LONG; k++)
      left -= l[i * d + k] * x[k];
    x[i] = left / l[i * d + i];
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
