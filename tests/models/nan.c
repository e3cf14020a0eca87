/* nan.c - a log likelihood that is NaN everywhere. */
#include "normal.h"

static int likelihood(const double *theta, double *value, void *user) {
  (void)theta, (void)user;
  *value = NAN;
  return 0;
}

tempera_status tempera_model_open(const tempera_data *data,
                                  tempera_model **model, tempera_error *error) {
  return normal_open(data, "nan", likelihood, normal_prior, normal_draw, model,
                     error);
}
