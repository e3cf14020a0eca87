/* vector_exp.c - a loop of its own, so that it is vectorised wherever it is
 * used; see vector_exp.h. */
#include "numeric/vector_exp.h"

enum { PART = 256 };

void tm_vector_exp(double *values, size_t count) {
  for (size_t i = 0; i < count; i++)
    values[i] = tm_exp_kernel(values[i]);
}

double tm_vector_exp_sum(const double *x, const double *y, double shift,
                         size_t count) {
  double part[PART], sum = 0;
  for (size_t i = 0; i < count; i += PART) {
    size_t n = count - i < PART ? count - i : PART;
    for (size_t k = 0; k < n; k++)
      part[k] = (y ? x[i + k] + y[i + k] : x[i + k]) - shift;
    tm_vector_exp(part, n);
    for (size_t k = 0; k < n; k++)
      sum += part[k];
  }
  return sum;
}
