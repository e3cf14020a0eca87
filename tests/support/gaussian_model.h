/* gaussian_model.h - the tests' conjugate model: theta_j ~ N(0, 1),
 * y_j ~ N(theta_j, variance) with one observation each, so that everything at
 * any tau has a closed form. */
#ifndef TM_TESTS_GAUSSIAN_MODEL_H
#define TM_TESTS_GAUSSIAN_MODEL_H

#include "tempera.h"

#include <math.h>

enum { GAUSSIAN_MOST = 20 };

typedef struct gaussian_model {
  size_t dimension;
  double y, variance; /* the same observation in every coordinate */
} gaussian_model;

static const double LOG_2PI = 1.83787706640934548356;

static inline double gaussian_log(double x, double mean, double variance) {
  double z = x - mean;
  return -0.5 * (LOG_2PI + log(variance) + z * z / variance);
}

static inline int gaussian_likelihood(const double *theta, double *value,
                                      void *user) {
  const gaussian_model *m = user;
  *value = 0;
  for (size_t j = 0; j < m->dimension; j++)
    *value += gaussian_log(m->y, theta[j], m->variance);
  return 0;
}

static inline int gaussian_prior(const double *theta, double *value,
                                 void *user) {
  const gaussian_model *m = user;
  *value = 0;
  for (size_t j = 0; j < m->dimension; j++)
    *value += gaussian_log(theta[j], 0, 1);
  return 0;
}

static inline int gaussian_prior_draw(tempera_random *random, double *theta,
                                      void *user) {
  const gaussian_model *m = user;
  for (size_t j = 0; j < m->dimension; j++)
    theta[j] = tempera_random_normal(random);
  return 0;
}

/* Mean and variance of a coordinate at tau. */
static inline double gaussian_variance_at(const gaussian_model *m, double tau) {
  return 1 / (1 + tau / m->variance);
}

static inline double gaussian_mean_at(const gaussian_model *m, double tau) {
  return gaussian_variance_at(m, tau) * tau * m->y / m->variance;
}

/* log z(tau) = d * log integral of N(y; theta, v)^tau N(theta; 0, 1). */
static inline double gaussian_log_z(const gaussian_model *m, double tau) {
  if (tau == 0)
    return 0;
  double v = m->variance;
  double one = -0.5 * tau * (LOG_2PI + log(v)) +
               0.5 * (LOG_2PI + log(v / tau)) +
               gaussian_log(m->y, 0, 1 + v / tau);
  return (double)m->dimension * one;
}

static inline tempera_model_spec
gaussian_spec(gaussian_model *m, const tempera_parameter *parameter) {
  return (tempera_model_spec){.name = "gaussian",
                              .parameters = parameter,
                              .parameter_count = 1,
                              .log_likelihood = gaussian_likelihood,
                              .log_prior = gaussian_prior,
                              .prior_draw = gaussian_prior_draw,
                              .prior_normalised = true,
                              .user = m};
}

/* Two coordinates: the tests' plain problem. */
static inline tempera_model_spec two_gaussians(void) {
  static gaussian_model model = {2, 1, 0.2};
  static const tempera_parameter x = {
      .name = "x", .size = 2, .lower = -INFINITY, .upper = INFINITY};
  return gaussian_spec(&model, &x);
}

#endif
