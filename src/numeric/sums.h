/* sums.h - sums that several rooms need. */
#ifndef TM_NUMERIC_SUMS_H
#define TM_NUMERIC_SUMS_H

#include <math.h>
#include <stddef.h>

/* log(e^a + e^b). */
static inline double tm_log_add(double a, double b) {
  double most = fmax(a, b);
  return most == -INFINITY ? most : most + log1p(exp(-fabs(a - b)));
}

/* About the mean, of n - 1 degrees of freedom. */
static inline double tm_sample_variance(const double *x, size_t n) {
  double mean = 0, sum = 0;
  for (size_t i = 0; i < n; i++)
    mean += x[i] / (double)n;
  for (size_t i = 0; i < n; i++)
    sum += (x[i] - mean) * (x[i] - mean);
  return sum / (double)(n - 1);
}

#endif
