/* sleeps.c - the well-behaved model, with a nap in each call: data
 * `microseconds` says how long. What many ranks are measured with. */
#include "normal.h"

#include <time.h>

static int64_t nap_length;

static int likelihood(const double *theta, double *value, void *user) {
  const struct timespec nap = {.tv_sec = nap_length / 1000000,
                               .tv_nsec = nap_length % 1000000 * 1000};
  nanosleep(&nap, NULL);
  return normal_likelihood(theta, value, user);
}

tempera_status tempera_model_open(const tempera_data *data,
                                  tempera_model **model, tempera_error *error) {
  tempera_status status =
      tempera_data_integer(data, "microseconds", &nap_length, error);
  return status == TEMPERA_OK
             ? normal_open(data, "sleeps", likelihood, normal_prior,
                           normal_draw, model, error)
             : status;
}
