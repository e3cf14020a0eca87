/* improper.c - a flat prior on the whole line: no law at tau = 0. */
#include "normal.h"

static int prior(const double *theta, double *value, void *user) {
  (void)theta, (void)user;
  *value = 0;
  return 0;
}

tempera_status tempera_model_open(const tempera_data *data,
                                  tempera_model **model, tempera_error *error) {
  return normal_open(data, "improper", normal_likelihood, prior, NULL, model,
                     error);
}
