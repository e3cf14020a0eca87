/* stops.c - works for a while, then asks to stop: data `calls` says when. */
#include "normal.h"

#include <stdatomic.h>

static atomic_long calls_left;

static int likelihood(const double *theta, double *value, void *user) {
  if (atomic_fetch_sub(&calls_left, 1) <= 0)
    return -1;
  return normal_likelihood(theta, value, user);
}

tempera_status tempera_model_open(const tempera_data *data,
                                  tempera_model **model, tempera_error *error) {
  int64_t calls = 0;
  tempera_status status = tempera_data_integer(data, "calls", &calls, error);
  if (status != TEMPERA_OK)
    return status;
  atomic_store(&calls_left, (long)calls);
  return normal_open(data, "stops", likelihood, normal_prior, normal_draw,
                     model, error);
}
