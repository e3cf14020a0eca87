/* tempered_models.h - small models whose posteriors at every tau the tests of
 * the ridge and of the Laplace ridge know. */
#ifndef TM_TESTS_TEMPERED_MODELS_H
#define TM_TESTS_TEMPERED_MODELS_H

#include "tempera.h"

#include <math.h>

/* Poisson counts: L = 0 at a rate of zero. */
static inline int poisson_likelihood(const double *theta, double *value,
                                     void *user) {
  (void)user;
  *value = 40 * log(theta[0]) - 12 * theta[0];
  return 0;
}

static const tempera_parameter RATE = {"rate", TEMPERA_REAL, 0,
                                       0,      INFINITY,     TEMPERA_BOUNDS};

/* An integer and a real: k geometric on 0..6 (L = 0 at 0), x ~ N(0, 4),
 * data on k*x. The best k grows with tau. */
static inline int mixed_likelihood(const double *theta, double *value,
                                   void *user) {
  (void)user;
  double off = theta[0] * theta[1] - 16;
  *value = theta[0] > 0 ? -20 * off * off : -INFINITY;
  return 0;
}

static inline int mixed_prior(const double *theta, double *value, void *user) {
  (void)user;
  *value = -2 * theta[0] - theta[1] * theta[1] / 8;
  return 0;
}

static const tempera_parameter MIXED[2] = {
    {"k", TEMPERA_INTEGER, 0, 0, 6, TEMPERA_BOUNDS},
    {"x", TEMPERA_REAL, 0, -INFINITY, INFINITY, TEMPERA_BOUNDS}};

/* Centred eight schools: mu ~ N(0, 5), spread ~ half-Cauchy(5),
 * theta_j ~ N(mu, spread): density unbounded as spread tends to 0. */
static const double SCHOOL[8] = {28, 8, -3, 7, -1, 1, 18, 12};
static const double ERROR[8] = {15, 10, 16, 11, 9, 11, 10, 18};

static inline int schools_likelihood_gradient(const double *theta,
                                              double *value, double *gradient,
                                              void *user) {
  (void)user;
  *value = 0;
  if (gradient)
    gradient[0] = gradient[1] = 0;
  for (size_t j = 0; j < 8; j++) {
    double off = (SCHOOL[j] - theta[2 + j]) / ERROR[j];
    *value -= 0.5 * off * off;
    if (gradient)
      gradient[2 + j] = off / ERROR[j];
  }
  return 0;
}

static inline int schools_prior_gradient(const double *theta, double *value,
                                         double *gradient, void *user) {
  (void)user;
  double mu = theta[0], spread = theta[1], square = spread * spread;
  *value = -0.5 * mu * mu / 25 - log1p(square / 25);
  double by_mu = -mu / 25, by_spread = -2 * spread / (25 + square);
  for (size_t j = 0; j < 8; j++) {
    double off = (theta[2 + j] - mu) / spread;
    *value -= 0.5 * off * off + log(spread);
    by_mu += off / spread;
    by_spread += (off * off - 1) / spread;
    if (gradient)
      gradient[2 + j] = -off / spread;
  }
  if (gradient) {
    gradient[0] = by_mu;
    gradient[1] = by_spread;
  }
  return 0;
}

static inline int schools_likelihood(const double *theta, double *value,
                                     void *user) {
  return schools_likelihood_gradient(theta, value, NULL, user);
}

static inline int schools_prior(const double *theta, double *value,
                                void *user) {
  return schools_prior_gradient(theta, value, NULL, user);
}

static const tempera_parameter SCHOOLS[3] = {
    {"mu", TEMPERA_REAL, 0, -INFINITY, INFINITY, TEMPERA_BOUNDS},
    {"spread", TEMPERA_REAL, 0, 0, INFINITY, TEMPERA_BOUNDS},
    {"theta", TEMPERA_REAL, 8, -INFINITY, INFINITY, TEMPERA_BOUNDS}};

#endif
