/* impossible.c - density zero everywhere: there is no start. */
#include "normal.h"

static int likelihood(const double *theta, double *value, void *user) {
  (void)theta, (void)user;
  *value = -INFINITY;
  return 0;
}

tempera_status tempera_model_open(const tempera_data *data,
                                  tempera_model **model, tempera_error *error) {
  return normal_open(data, "impossible", likelihood, normal_prior, normal_draw,
                     model, error);
}
