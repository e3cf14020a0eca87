/* wrong_slope.c - one thousandth of the likelihood's slope is missing. */
#include "tempera.h"

static int likelihood(const double *theta, double *value, void *user) {
  (void)user;
  *value = -2 * (theta[0] - 1) * (theta[0] - 1);
  return 0;
}
static int likelihood_gradient(const double *theta, double *value,
                               double *gradient, void *user) {
  gradient[0] = -3.996 * (theta[0] - 1);
  return likelihood(theta, value, user);
}
static int prior(const double *theta, double *value, void *user) {
  (void)user;
  *value = -0.5 * theta[0] * theta[0];
  return 0;
}
static int prior_gradient(const double *theta, double *value, double *gradient,
                          void *user) {
  gradient[0] = -theta[0];
  return prior(theta, value, user);
}

TEMPERA_DECLARE_MODEL;
tempera_status tempera_model_open(const tempera_data *data,
                                  tempera_model **model, tempera_error *error) {
  (void)data;
  tempera_parameter x = {.name = "x", .lower = -10, .upper = 10};
  tempera_model_spec spec = {.name = "wrong_slope",
                             .parameters = &x,
                             .parameter_count = 1,
                             .log_likelihood = likelihood,
                             .log_likelihood_gradient = likelihood_gradient,
                             .log_prior = prior,
                             .log_prior_gradient = prior_gradient};
  return tempera_model_create(&spec, model, error);
}
