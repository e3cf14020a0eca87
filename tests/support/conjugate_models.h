/* conjugate_models.h - normal data whose power posteriors, and every integral
 * over them, have closed forms: a proper prior of the mean, a flat one, and the
 * mean and standard deviation with the flat prior of mean and log sd. */
#ifndef TM_TESTS_CONJUGATE_MODELS_H
#define TM_TESTS_CONJUGATE_MODELS_H

#include "tempera.h"

#include <gsl/gsl_sf_gamma.h>
#include <math.h>

enum { CONJUGATE_N = 20 };
/* Their mean and their sum of squares about it. */
static const double CONJUGATE_MEAN = 0.7, CONJUGATE_SQUARES = 17.5;
static const double CONJUGATE_LOG_2_PI = 1.8378770664093454836;

/* ---- mu ~ N(0, s0^2), sd 1 ---------------------------------------------- */

static const double PRIOR_SD = 2;

static inline int conjugate_likelihood(const double *theta, double *value,
                                       void *user) {
  (void)user;
  double off = CONJUGATE_MEAN - theta[0];
  *value = -0.5 * (CONJUGATE_N * (CONJUGATE_LOG_2_PI + off * off) +
                   CONJUGATE_SQUARES);
  return 0;
}

static inline int conjugate_prior(const double *theta, double *value,
                                  void *user) {
  (void)user;
  double x = theta[0] / PRIOR_SD;
  *value = -0.5 * (CONJUGATE_LOG_2_PI + x * x) - log(PRIOR_SD);
  return 0;
}

static inline int conjugate_draw(tempera_random *random, double *theta,
                                 void *user) {
  (void)user;
  theta[0] = PRIOR_SD * tempera_random_normal(random);
  return 0;
}

/* Mean and variance of mu at tau; a flat prior has precision 0. */
static inline double conjugate_variance(double tau, double precision) {
  return 1 / (precision + tau * CONJUGATE_N);
}

static inline double conjugate_centre(double tau, double precision) {
  return tau * CONJUGATE_N * CONJUGATE_MEAN *
         conjugate_variance(tau, precision);
}

static inline double conjugate_mean_likelihood(double tau, double precision) {
  double off = CONJUGATE_MEAN - conjugate_centre(tau, precision);
  return -0.5 *
         (CONJUGATE_N * (CONJUGATE_LOG_2_PI + off * off +
                         conjugate_variance(tau, precision)) +
          CONJUGATE_SQUARES);
}

/* log z(tau), z(0) = 1 for the proper prior; for the flat one (precision 0) the
 * integral of the likelihood's power. */
static inline double conjugate_log_z(double tau, double precision) {
  double v = conjugate_variance(tau, precision);
  double base =
      -0.5 * tau * (CONJUGATE_N * CONJUGATE_LOG_2_PI + CONJUGATE_SQUARES);
  if (precision == 0)
    return base + 0.5 * (CONJUGATE_LOG_2_PI + log(v));
  return base + 0.5 * log(precision * v) -
         0.5 * tau * CONJUGATE_N * precision * v * CONJUGATE_MEAN *
             CONJUGATE_MEAN;
}

static const tempera_parameter CONJUGATE_MU = {
    "mu", TEMPERA_REAL, 0, -INFINITY, INFINITY, TEMPERA_BOUNDS};

static inline tempera_model_spec conjugate_spec(void) {
  return (tempera_model_spec){.name = "conjugate",
                              .parameters = &CONJUGATE_MU,
                              .parameter_count = 1,
                              .log_likelihood = conjugate_likelihood,
                              .log_prior = conjugate_prior,
                              .prior_draw = conjugate_draw,
                              .prior_normalised = true,
                              .observations = CONJUGATE_N};
}

/* ---- flat priors -------------------------------------------------------- */

static inline int flat_prior(const double *theta, double *value, void *user) {
  (void)theta;
  (void)user;
  *value = 0;
  return 0;
}

static inline tempera_model_spec flat_spec(void) {
  tempera_model_spec spec = conjugate_spec();
  spec.name = "flat";
  spec.log_prior = flat_prior;
  spec.prior_draw = NULL;
  spec.prior_normalised = false;
  spec.prior_improper = true;
  return spec;
}

/* p(mu, sigma) = 1/sigma. */
static inline int scale_prior(const double *theta, double *value, void *user) {
  (void)user;
  *value = -log(theta[1]);
  return 0;
}

static inline int scale_likelihood(const double *theta, double *value,
                                   void *user) {
  (void)user;
  double off = CONJUGATE_MEAN - theta[0], square = theta[1] * theta[1];
  *value = -0.5 * CONJUGATE_N *
               (CONJUGATE_LOG_2_PI + 2 * log(theta[1]) + off * off / square) -
           0.5 * CONJUGATE_SQUARES / square;
  return 0;
}

/* Finite from tau > 1/n on. */
static inline double scale_log_z(double tau) {
  double m = tau * CONJUGATE_N, k = m - 1;
  return -0.5 * m * CONJUGATE_LOG_2_PI + 0.5 * (CONJUGATE_LOG_2_PI - log(m)) -
         log(2) - k / 2 * log(tau * CONJUGATE_SQUARES / 2) +
         gsl_sf_lngamma(k / 2);
}

static const tempera_parameter SCALE_PARAMETERS[2] = {
    {"mu", TEMPERA_REAL, 0, -INFINITY, INFINITY, TEMPERA_BOUNDS},
    {"sigma", TEMPERA_REAL, 0, 0, INFINITY, TEMPERA_BOUNDS}};

static inline tempera_model_spec scale_spec(void) {
  tempera_model_spec spec = flat_spec();
  spec.name = "scale";
  spec.parameters = SCALE_PARAMETERS;
  spec.parameter_count = 2;
  spec.log_likelihood = scale_likelihood;
  spec.log_prior = scale_prior;
  return spec;
}

#endif
