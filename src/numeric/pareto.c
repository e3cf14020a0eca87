/* pareto.c - see pareto.h. */
#include "numeric/pareto.h"

#include <math.h>
#include <stdlib.h>

enum { FEWEST = 25, GRID = 100 };

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* k at this theta, by exceedances e of the tail's start. */
static double shape_at(const double *e, size_t n, double theta) {
  double sum = 0;
  for (size_t i = 0; i < n; i++)
    sum += log1p(-theta * e[i]);
  return sum / (double)n;
}

static double log_profile(const double *e, size_t n, double theta) {
  double k = shape_at(e, n, theta);
  return (double)n * (log(-theta / k) - k - 1);
}

tm_pareto tm_pareto_fit(const double *e, size_t n) {
  size_t m = 30 + (size_t)sqrt((double)n);
  double theta[GRID], value[GRID], most = -INFINITY, total = 0, mean = 0;
  double quartile = e[(size_t)((double)n / 4 + 0.5) - 1];
  m = m < GRID ? m : GRID;
  for (size_t j = 0; j < m; j++) {
    theta[j] = 1 / e[n - 1] +
               (1 - sqrt((double)m / ((double)j + 0.5))) / (3 * quartile);
    value[j] = log_profile(e, n, theta[j]);
    most = fmax(most, value[j]);
  }
  for (size_t j = 0; j < m; j++) {
    double weight = exp(value[j] - most);
    total += weight;
    mean += weight * theta[j];
  }
  double hat = mean / total, k = shape_at(e, n, hat), count = (double)n;
  tm_pareto law = {(count * k + 10 * 0.5) / (count + 10), -k / hat};
  if (isnan(law.k))
    law.k = INFINITY;
  return law;
}

double tm_pareto_shape(double *x, size_t count) {
  double fifth = 0.2 * (double)count, root = 3 * sqrt((double)count);
  size_t n = (size_t)fmin(fifth, root);
  if (count < FEWEST || n < 5)
    return NAN;
  qsort(x, count, sizeof *x, ascending);
  double top = x[count - 1], start = exp(x[count - n - 1] - top);
  double *e = x + count - n;
  for (size_t i = 0; i < n; i++)
    e[i] = exp(e[i] - top) - start;
  size_t equal = 0;
  while (equal < n && !(e[equal] > 0))
    equal++;
  if (n - equal < 5)
    return -INFINITY;
  return tm_pareto_fit(e + equal, n - equal).k;
}
