/* regression.h - Gaussian linear regression with known variance,
 *
 *   y ~ N(X b, sigma^2 I),  b ~ N(0, I),
 *
 * whose evidence is exact: with A = I + X'X / sigma^2,
 *
 *   log Z = -n/2 log(2 pi sigma^2) - 1/2 log det A
 *           - 1/2 (y'y / sigma^2 - c' A^-1 c),  c = X'y / sigma^2.
 *
 * sigma^2 = n / 100 with 4 d + 20 rows of standard normal regressors: the
 * posterior sd of every b is about a tenth of the prior's, at every d. */
#ifndef TM_BENCHMARKS_REGRESSION_H
#define TM_BENCHMARKS_REGRESSION_H

#include "bench.h"

#include <math.h>

static const double LOG_2_PI = 1.8378770664093454836;

enum { MOST = 500 };

typedef struct regression {
  size_t d, n;
  double variance, yy;
  double xy[MOST], xx[MOST * MOST]; /* X'y and X'X */
} regression;

/* ------------------------------------------------------------------------
 * Data: a fixed sequence (splitmix64, Box-Muller), the same on every machine
 */

static inline double uniform(uint64_t *state) {
  uint64_t z = *state += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return ((double)((z ^ (z >> 31)) >> 11) + 0.5) * 0x1p-53;
}

static inline double normal(uint64_t *state) {
  double radius = sqrt(-2 * log(uniform(state)));
  return radius * cos(2 * 3.14159265358979323846 * uniform(state));
}

static inline void make_data(size_t d, regression *r) {
  uint64_t state = d;
  double b[MOST], x[MOST];
  *r = (regression){.d = d, .n = 4 * d + 20};
  r->variance = (double)r->n / 100;
  for (size_t j = 0; j < d; j++)
    b[j] = normal(&state);
  for (size_t i = 0; i < r->n; i++) {
    double y = sqrt(r->variance) * normal(&state);
    for (size_t j = 0; j < d; j++) {
      x[j] = normal(&state);
      y += b[j] * x[j];
    }
    r->yy += y * y;
    for (size_t j = 0; j < d; j++) {
      r->xy[j] += x[j] * y;
      for (size_t k = 0; k < d; k++)
        r->xx[j * d + k] += x[j] * x[k];
    }
  }
}

/* A = C C' in place, then C w = c, so that c' A^-1 c = w'w. */
static inline double exact_log_z(const regression *r) {
  static double a[MOST * MOST];
  double w[MOST], log_det = 0, explained = 0;
  size_t d = r->d;
  for (size_t j = 0; j < d; j++) {
    for (size_t k = 0; k <= j; k++) {
      double sum = r->xx[j * d + k] / r->variance + (j == k);
      for (size_t m = 0; m < k; m++)
        sum -= a[j * d + m] * a[k * d + m];
      a[j * d + k] = j == k ? sqrt(sum) : sum / a[k * d + k];
    }
    w[j] = r->xy[j] / r->variance;
    for (size_t m = 0; m < j; m++)
      w[j] -= a[j * d + m] * w[m];
    w[j] /= a[j * d + j];
    log_det += 2 * log(a[j * d + j]);
    explained += w[j] * w[j];
  }
  return -0.5 * ((double)r->n * (LOG_2_PI + log(r->variance)) + log_det +
                 r->yy / r->variance - explained);
}

/* ------------------------------------------------------------------------
 * The model
 */

static inline int log_likelihood_gradient(const double *b, double *value,
                                   double *gradient, void *user) {
  const regression *r = user;
  double squares = r->yy;
  for (size_t j = 0; j < r->d; j++) {
    double fitted = 0;
    for (size_t k = 0; k < r->d; k++)
      fitted += r->xx[j * r->d + k] * b[k];
    squares += b[j] * (fitted - 2 * r->xy[j]);
    gradient[j] = (r->xy[j] - fitted) / r->variance;
  }
  *value = -0.5 * ((double)r->n * (LOG_2_PI + log(r->variance)) +
                   squares / r->variance);
  return 0;
}

static inline int log_likelihood(const double *b, double *value, void *user) {
  double gradient[MOST];
  return log_likelihood_gradient(b, value, gradient, user);
}

static inline int log_prior(const double *b, double *value, void *user) {
  const regression *r = user;
  *value = -0.5 * LOG_2_PI * (double)r->d;
  for (size_t j = 0; j < r->d; j++)
    *value -= 0.5 * b[j] * b[j];
  return 0;
}

static inline int log_prior_gradient(const double *b, double *value, double *gradient,
                              void *user) {
  const regression *r = user;
  for (size_t j = 0; j < r->d; j++)
    gradient[j] = -b[j];
  return log_prior(b, value, user);
}

static inline int prior_draw(tempera_random *random, double *b, void *user) {
  const regression *r = user;
  for (size_t j = 0; j < r->d; j++)
    b[j] = tempera_random_normal(random);
  return 0;
}

static inline tempera_model *regression_model(regression *r) {
  tempera_parameter b = {
      .name = "b", .size = r->d, .lower = -INFINITY, .upper = INFINITY};
  tempera_model_spec spec = {.name = "regression",
                             .parameters = &b,
                             .parameter_count = 1,
                             .log_likelihood = log_likelihood,
                             .log_prior = log_prior,
                             .log_likelihood_gradient = log_likelihood_gradient,
                             .log_prior_gradient = log_prior_gradient,
                             .prior_draw = prior_draw,
                             .prior_normalised = true,
                             .user = r};
  tempera_model *model = NULL;
  bench_check(tempera_model_create(&spec, &model, &bench_error));
  return model;
}

#endif
