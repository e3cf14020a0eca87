/* geometric_mean.c - see geometric_mean.h: with X = L L' and L' G L = V m V',
 * S = L V m^-1/2 V' L'. */
#include "numeric/geometric_mean.h"

#include "numeric/dense.h"

#include <math.h>
#include <string.h>

/* out = L' A L for symmetric A; t is scratch. */
static void sandwich(const double *l, const double *a, size_t d, double *t,
                     double *out) {
  for (size_t i = 0; i < d; i++)
    for (size_t j = 0; j < d; j++) {
      double sum = 0;
      for (size_t k = j; k < d; k++)
        sum += a[i * d + k] * l[k * d + j];
      t[i * d + j] = sum;
    }
  for (size_t i = 0; i < d; i++)
    for (size_t j = 0; j < d; j++) {
      double sum = 0;
      for (size_t k = i; k < d; k++)
        sum += l[k * d + i] * t[k * d + j];
      out[i * d + j] = sum;
    }
}

/* L <- the Cholesky factor of L V m^-1/2 V' L'. */
static bool combine(double *l, const double *vectors, const double *values,
                    size_t d, double *w) {
  for (size_t i = 0; i < d; i++)
    for (size_t k = 0; k < d; k++) {
      double sum = 0;
      for (size_t j = 0; j <= i; j++)
        sum += l[i * d + j] * vectors[k * d + j];
      w[i * d + k] = sum * pow(fmax(values[k], 1e-12), -0.25);
    }
  for (size_t i = 0; i < d; i++)
    for (size_t j = 0; j < d; j++)
      l[i * d + j] = tm_dot(w + i * d, w + j * d, d);
  return tm_cholesky(l, d);
}

size_t tm_geometric_mean_work(size_t dimension) {
  return (2 * dimension + 1) * dimension;
}

bool tm_geometric_mean(double *x, double *g, size_t d, double *work) {
  double *t = work, *vectors = work + d * d, *values = work + 2 * d * d;
  if (!tm_cholesky(x, d))
    return false;
  sandwich(x, g, d, t, vectors);
  memcpy(g, vectors, d * d * sizeof(double));
  tm_symmetric_eigen(g, d, values, vectors);
  return combine(x, vectors, values, d, t);
}
