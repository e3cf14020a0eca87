/* slow.c - the well-behaved model, at a fiftieth of a second per call. */
#include "normal.h"

#include <time.h>

static int slow_likelihood(const double *theta, double *value, void *user) {
  const struct timespec nap = {.tv_nsec = 20000000};
  nanosleep(&nap, NULL);
  return normal_likelihood(theta, value, user);
}

tempera_status tempera_model_open(const tempera_data *data,
                                  tempera_model **model, tempera_error *error) {
  return normal_open(data, "slow", slow_likelihood, normal_prior, normal_draw,
                     model, error);
}
