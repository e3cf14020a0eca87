/* exact_gradients.h - gradients for the models of exact_models.h that have
 * real coordinates, added by name. */
#ifndef TM_TESTS_EXACT_GRADIENTS_H
#define TM_TESTS_EXACT_GRADIENTS_H

#include "statistical/exact_models.h"

#include <string.h>

/* The value is the density's own; `slopes` fills the gradient g at t. */
#define EXACT_GRADIENT(density, slopes)                                        \
  static int density##_gradient(const double *t, double *value, double *g,     \
                                void *user) {                                  \
    slopes;                                                                    \
    return density(t, value, user);                                            \
  }

EXACT_GRADIENT(mean_likelihood, g[0] = -10 * (t[0] - 1.5))
EXACT_GRADIENT(mean_prior, g[0] = -t[0])
EXACT_GRADIENT(rate_likelihood, g[0] = 12 / t[0] - 5)
EXACT_GRADIENT(rate_prior, g[0] = 1 / t[0] - 1)
EXACT_GRADIENT(shares_likelihood, g[0] = 3 / t[0]; g[1] = 5 / t[1];
               g[2] = 2 / t[2])
EXACT_GRADIENT(shares_prior, g[0] = 0.5 / t[0]; g[1] = 1 / t[1];
               g[2] = 2 / t[2])
EXACT_GRADIENT(bounded_likelihood, g[0] = 7 / (t[0] + 1) - 3 / (3 - t[0]))
EXACT_GRADIENT(bounded_prior, g[0] = 1 / (t[0] + 1) - 0.5 / (3 - t[0]))
EXACT_GRADIENT(modes_prior, g[0] = -t[0] / 4)
EXACT_GRADIENT(half_likelihood, g[0] = -1)
EXACT_GRADIENT(mixed_likelihood, g[0] = -4 * (t[0] + t[1] - 5); g[1] = 0)
EXACT_GRADIENT(mixed_prior, g[0] = -t[0]; g[1] = 0)
EXACT_GRADIENT(correlated_prior, for (int i = 0; i < 3; i++) g[i] = -t[i])

static void correlated_slopes(const double *t, double *g) {
  g[0] = g[1] = g[2] = 0;
  for (int k = 0; k < 3; k++) {
    double sum = 0;
    for (int i = 0; i < 3; i++)
      sum += CORRELATED_B[i][k] * (t[i] - CORRELATED_M[i]);
    for (int i = 0; i < 3; i++)
      g[i] -= CORRELATED_B[i][k] * sum;
  }
}
EXACT_GRADIENT(correlated_likelihood, correlated_slopes(t, g))

/* By differences, whatever the shape of the modes; between them the slope
 * jumps, and the integrator must stay reversible all the same. */
static double modes_slope(double x) {
  double lower = x - 1e-6, upper = x + 1e-6, below, above;
  (void)modes_likelihood(&lower, &below, NULL);
  (void)modes_likelihood(&upper, &above, NULL);
  return (above - below) / 2e-6;
}
EXACT_GRADIENT(modes_likelihood, g[0] = modes_slope(t[0]))

static inline void exact_add_gradients(tempera_model_spec *spec) {
  static const struct {
    const char *name;
    tempera_gradient_fn likelihood, prior;
  } ALL[] = {
      {"mean", mean_likelihood_gradient, mean_prior_gradient},
      {"correlated", correlated_likelihood_gradient, correlated_prior_gradient},
      {"rate", rate_likelihood_gradient, rate_prior_gradient},
      {"shares", shares_likelihood_gradient, shares_prior_gradient},
      {"bounded", bounded_likelihood_gradient, bounded_prior_gradient},
      {"modes", modes_likelihood_gradient, modes_prior_gradient},
      {"half", half_likelihood_gradient, mean_prior_gradient},
      {"mixed", mixed_likelihood_gradient, mixed_prior_gradient},
  };
  for (size_t i = 0; i < sizeof ALL / sizeof *ALL; i++)
    if (strcmp(spec->name, ALL[i].name) == 0) {
      spec->log_likelihood_gradient = ALL[i].likelihood;
      spec->log_prior_gradient = ALL[i].prior;
    }
}

#endif
