/* prior_draw.c - what prior draws need besides random numbers: sorting into
 * order, choosing a component, taking over a whole random value. The log
 * density of what is drawn is kept in tape->log_density. */
#include "language/runtime/fixed.h"

#include <stdlib.h>

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Independent values of one law, put in order: n! as dense. */
TM_F(ordered_fill) {
  (void)count;
  const tm_tensor *to = &a[0].u.t;
  size_t n = (size_t)to->dim[to->rank - 1];
  long rows = n ? tm_count(to) / (long)n : 0;
  for (long i = 0; i < rows; i++)
    qsort(to->v + i * (long)n, n, sizeof(double), ascending);
  tape->log_density += (double)rows * lgamma((double)n + 1);
  return tm_any_int(0);
}

/* One of the components with these log weights, from 1. */
TM_F(component_fill) {
  (void)count;
  const tm_tensor *w = &a[0].u.t;
  double top = -INFINITY, sum = 0;
  for (int k = 0; k < w->dim[0]; k++)
    top = fmax(top, w->v[k]);
  for (int k = 0; k < w->dim[0]; k++)
    sum += exp(w->v[k] - top);
  double *p = tm_take(tape, (size_t)w->dim[0] * sizeof(double) + 1);
  for (int k = 0; k < w->dim[0]; k++)
    p[k] = exp(w->v[k] - top) / sum;
  if (!isfinite(top) || !isfinite(sum))
    tm_runtime_fail(tape, "", "the weights of a mixture are not numbers");
  tape->log_density -= top + log(sum);
  return tm_any_real((double)tm_pick(tape, p, w->dim[0]));
}

/* A vector or matrix as it came from its own random function. */
TM_F(whole_fill) {
  (void)count;
  const tm_tensor *to = &a[0].u.t, *from = &a[1].u.t;
  if (tm_count(to) != tm_count(from))
    tm_runtime_fail(tape, "", "a random value has the wrong size");
  for (long k = 0, n = tm_count(to); k < n; k++) {
    if (!isnan(to->v[k]))
      tm_runtime_fail(tape, "", "an element has two prior statements");
    to->v[k] = from->v[k];
  }
  return tm_any_int(0);
}
