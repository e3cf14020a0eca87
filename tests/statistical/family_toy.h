/* family_toy.h - a model with an integer and a real parameter whose tempered
 * posteriors are known exactly, for every method of the family:
 *   k uniform on 0..4, x ~ N(0, 2^2),
 *   l(k, x) = c_k - (|x| - m_k)^2 / (2 s_k^2):
 * two modes in x for every k, some of them narrow, and unlike weights. With
 * `impossible`, k = 4 has likelihood zero. All integrals are sums over a fine
 * grid of x, exact to about 1e-9. */
#ifndef FAMILY_TOY_H
#define FAMILY_TOY_H

#include "tempera.h"

#include <math.h>
#include <stdlib.h>

enum { TOY_VALUES = 5, TOY_GRID = 40001 };
static const double toy_centre[TOY_VALUES] = {1, 1.5, 2, 2.5, 3};
static const double toy_width[TOY_VALUES] = {0.5, 0.4, 0.3, 0.4, 0.6};
static const double toy_height[TOY_VALUES] = {0, 1, 2, 0.5, -0.5};
static const double toy_sd = 2, toy_reach = 16;

static inline double toy_l(int k, double x) {
  double z = (fabs(x) - toy_centre[k]) / toy_width[k];
  return 3 * toy_height[k] - z * z / 2;
}

static int toy_likelihood(const double *theta, double *value, void *user) {
  int k = (int)theta[0];
  bool impossible = *(const bool *)user && k == 4;
  *value = impossible ? -INFINITY : toy_l(k, theta[1]);
  return 0;
}

static double toy_log_prior(double x) {
  double z = x / toy_sd;
  return -log(TOY_VALUES) - z * z / 2 - log(toy_sd * sqrt(2 * acos(-1)));
}

static int toy_prior(const double *theta, double *value, void *user) {
  (void)user;
  *value = toy_log_prior(theta[1]);
  return 0;
}

static int toy_draw(tempera_random *random, double *theta, void *user) {
  (void)user;
  theta[0] = (double)tempera_random_below(random, TOY_VALUES);
  theta[1] = toy_sd * tempera_random_normal(random);
  return 0;
}

/* NULL on failure. */
static inline tempera_model *toy_model(bool impossible) {
  static const bool flags[2] = {false, true};
  static const tempera_parameter parameters[] = {
      {.name = "k", .kind = TEMPERA_INTEGER, .lower = 0, .upper = 4},
      {.name = "x", .lower = -INFINITY, .upper = INFINITY}};
  tempera_model_spec spec = {.name = "toy",
                             .parameters = parameters,
                             .parameter_count = 2,
                             .log_likelihood = toy_likelihood,
                             .log_prior = toy_prior,
                             .prior_draw = toy_draw,
                             .prior_normalised = true,
                             .user = (void *)&flags[impossible]};
  tempera_model *model = NULL;
  tempera_error error;
  return tempera_model_create(&spec, &model, &error) == TEMPERA_OK ? model
                                                                   : NULL;
}

/* The tempered posterior at tau: log z, P(k), and moments of l, |x| and x^2
 * (l given L > 0). P(x > 0) is one half by symmetry. */
typedef struct toy_law {
  double log_z, pmf[TOY_VALUES], mean_l, variance_l, mean_size, mean_square;
} toy_law;

static inline toy_law toy_exact(double tau, bool impossible) {
  toy_law law = {0};
  double z = 0, inside = 0, squares = 0, step = 2 * toy_reach / (TOY_GRID - 1);
  for (int k = 0; k < TOY_VALUES; k++)
    for (int i = 0; i < TOY_GRID; i++) {
      double x = -toy_reach + i * step, l = toy_l(k, x);
      bool zero = impossible && k == 4;
      double p = step * exp(toy_log_prior(x) + (zero ? 0 : tau * l));
      if (zero && tau > 0)
        continue;
      z += p;
      law.pmf[k] += p;
      law.mean_size += p * fabs(x);
      law.mean_square += p * x * x;
      if (zero)
        continue;
      inside += p;
      law.mean_l += p * l;
      squares += p * l * l;
    }
  for (int k = 0; k < TOY_VALUES; k++)
    law.pmf[k] /= z;
  law.log_z = log(z);
  law.mean_size /= z;
  law.mean_square /= z;
  law.mean_l /= inside;
  law.variance_l = squares / inside - law.mean_l * law.mean_l;
  return law;
}

#endif
