/* quantities.c - mu ~ N(0, 1) and nothing seen, with quantities: mu squared,
 * and a number of chance. */
#include "normal.h"

static int flat(const double *theta, double *value, void *user) {
  (void)theta, (void)user;
  *value = 0;
  return 0;
}

static int quantities(const double *theta, tempera_random *random, double *out,
                      void *user) {
  (void)user;
  out[0] = theta[0] * theta[0];
  out[1] = tempera_random_normal(random);
  return 0;
}

tempera_status tempera_model_open(const tempera_data *data,
                                  tempera_model **model, tempera_error *error) {
  static const tempera_parameter mu = {"mu",      TEMPERA_REAL, 0,
                                       -INFINITY, INFINITY,     TEMPERA_BOUNDS};
  (void)data;
  tempera_model_spec spec = {.name = "quantities",
                             .parameters = &mu,
                             .parameter_count = 1,
                             .log_likelihood = flat,
                             .log_prior = normal_prior,
                             .prior_draw = normal_draw,
                             .quantity_count = 2,
                             .quantity_names =
                                 (const char *[]){"mu_squared", "noise"},
                             .quantities = quantities};
  return tempera_model_create(&spec, model, error);
}
