/* vector_exp.c - a loop of its own, so that it is vectorised wherever it is
 * used; see vector_exp.h. */
#include "numeric/vector_exp.h"

void tm_vector_exp(double *values, size_t count) {
  for (size_t i = 0; i < count; i++)
    values[i] = tm_exp_kernel(values[i]);
}
