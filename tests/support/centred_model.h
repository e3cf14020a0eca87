/* centred_model.h - a centred hierarchy: y_i ~ N(x_i, 1), x_i ~ N(a mu + b,
 * sigma), mu ~ N(0, 1), sigma = t^power. */
#ifndef TM_TESTS_CENTRED_MODEL_H
#define TM_TESTS_CENTRED_MODEL_H

#include "whole_run.h"

#include <gsl/gsl_cdf.h>
#include <math.h>

enum { CENTRED_MOST = 30 };

typedef struct centred_model {
  const char *name;
  size_t count;
  double power, upper; /* of t */
  double a, b;
  double spread; /* of y, whose mean is one */
} centred_model;

static inline double centred_observed(const centred_model *h, size_t i) {
  double share = ((double)i + 0.5) / (double)h->count;
  return 1 + h->spread * gsl_cdf_ugaussian_Pinv(share);
}

/* t's: half normal, uniform, gamma(2, 1). */
static inline double centred_log_prior_of(const centred_model *h, double t) {
  if (h->power == 1)
    return 0.5 * log(2 / M_PI) - 0.5 * t * t;
  return h->power > 0 ? -log(h->upper) : log(t) - t;
}

static inline double centred_slope_of(const centred_model *h, double t) {
  if (h->power == 1)
    return -t;
  return h->power > 0 ? 0 : 1 / t - 1;
}

static inline int centred_prior_gradient(const double *theta, double *value,
                                         double *gradient, void *user) {
  const centred_model *h = user;
  double t = theta[0], mu = theta[1], sigma = pow(t, h->power), of_sigma = 0;
  *value = centred_log_prior_of(h, t) - 0.5 * mu * mu - 0.5 * log(2 * M_PI);
  gradient[1] = -mu;
  for (size_t i = 0; i < h->count; i++) {
    double e = (theta[2 + i] - h->a * mu - h->b) / sigma;
    *value -= 0.5 * e * e + log(sigma) + 0.5 * log(2 * M_PI);
    gradient[2 + i] = -e / sigma;
    gradient[1] += h->a * e / sigma;
    of_sigma += (e * e - 1) / sigma;
  }
  gradient[0] = centred_slope_of(h, t) + of_sigma * h->power * sigma / t;
  return 0;
}

static inline int centred_prior(const double *theta, double *value,
                                void *user) {
  double gradient[CENTRED_MOST + 2];
  return centred_prior_gradient(theta, value, gradient, user);
}

static inline int centred_likelihood_gradient(const double *theta,
                                              double *value, double *gradient,
                                              void *user) {
  const centred_model *h = user;
  *value = gradient[0] = gradient[1] = 0;
  for (size_t i = 0; i < h->count; i++) {
    double e = centred_observed(h, i) - theta[2 + i];
    *value -= 0.5 * e * e + 0.5 * log(2 * M_PI);
    gradient[2 + i] = e;
  }
  return 0;
}

static inline int centred_likelihood(const double *theta, double *value,
                                     void *user) {
  double gradient[CENTRED_MOST + 2];
  return centred_likelihood_gradient(theta, value, gradient, user);
}

static inline int centred_draw(tempera_random *random, double *theta,
                               void *user) {
  const centred_model *h = user;
  double t = h->power == 1  ? fabs(tempera_random_normal(random))
             : h->power > 0 ? h->upper * tempera_random_uniform(random)
                            : tempera_random_exponential(random) +
                                  tempera_random_exponential(random);
  theta[0] = t;
  theta[1] = tempera_random_normal(random);
  for (size_t i = 0; i < h->count; i++)
    theta[2 + i] = h->a * theta[1] + h->b +
                   pow(t, h->power) * tempera_random_normal(random);
  return 0;
}

static inline tempera_model *centred_open(const centred_model *h) {
  const tempera_parameter parameters[] = {
      {"t", TEMPERA_REAL, 0, 0, h->upper, TEMPERA_BOUNDS},
      {"mu", TEMPERA_REAL, 0, -INFINITY, INFINITY, TEMPERA_BOUNDS},
      {"x", TEMPERA_REAL, h->count, -INFINITY, INFINITY, TEMPERA_BOUNDS}};
  tempera_model_spec spec = {.name = h->name,
                             .parameters = parameters,
                             .parameter_count = 3,
                             .log_likelihood = centred_likelihood,
                             .log_prior = centred_prior,
                             .log_likelihood_gradient =
                                 centred_likelihood_gradient,
                             .log_prior_gradient = centred_prior_gradient,
                             .prior_draw = centred_draw,
                             .prior_normalised = true,
                             .user = (void *)(uintptr_t)h};
  return make_model(&spec);
}

#endif
