/* mixed.c - every kind of parameter: a bounded real, a simplex, an integer.
 * The prior is uniform on all of them; the likelihood is nearly flat. */
#include "normal.h"

static int likelihood(const double *theta, double *value, void *user) {
  (void)user;
  *value = -0.5 * theta[0] * theta[0] + log(theta[1] + 0.1) - 0.1 * theta[4];
  return 0;
}

/* Uniform on (0, 2), on the simplex (density 2) and on 1 .. 5. */
static int prior(const double *theta, double *value, void *user) {
  (void)theta, (void)user;
  *value = -log(2) + log(2) - log(5);
  return 0;
}

static int draw(tempera_random *random, double *theta, void *user) {
  (void)user;
  double a = tempera_random_exponential(random);
  double b = tempera_random_exponential(random);
  double c = tempera_random_exponential(random);
  theta[0] = 2 * tempera_random_uniform(random);
  theta[1] = a / (a + b + c);
  theta[2] = b / (a + b + c);
  theta[3] = c / (a + b + c);
  theta[4] = 1 + (double)tempera_random_below(random, 5);
  return 0;
}

tempera_status tempera_model_open(const tempera_data *data,
                                  tempera_model **model, tempera_error *error) {
  static const tempera_parameter parameters[] = {
      {.name = "s", .lower = 0, .upper = 2},
      {.name = "p", .size = 3, .transform = TEMPERA_SIMPLEX},
      {.name = "k", .kind = TEMPERA_INTEGER, .lower = 1, .upper = 5}};
  (void)data;
  tempera_model_spec spec = {.name = "mixed",
                             .parameters = parameters,
                             .parameter_count = 3,
                             .log_likelihood = likelihood,
                             .log_prior = prior,
                             .prior_draw = draw,
                             .prior_normalised = true};
  return tempera_model_create(&spec, model, error);
}
