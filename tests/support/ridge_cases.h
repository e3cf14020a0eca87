/* ridge_cases.h - models with a known ridge, or known to have none, for
 * test_ridge.c: closed forms, enumeration, brute force. */
#ifndef TM_TESTS_RIDGE_CASES_H
#define TM_TESTS_RIDGE_CASES_H

#include "alone.h"
#include "cmocka_all.h"
#include "tempered_models.h"

#include <math.h>
#include <stdio.h>

static const double LOG_2PI = 1.8378770664093454836;

/* A model with the ridge it must have. */
typedef struct ridge_case {
  tempera_model_spec spec;
  double (*ridge)(double tau, const tempera_model_spec *spec);
  const double *starts;
  size_t start_count;
} ridge_case;

/* ---- models */

/* theta ~ N(0, 1)^3, ten observations with variance 0.5 around each; closed
 * form, with gradients or without. */
static const double MEANS[3] = {1.3, -0.4, 2.1};
static const double KAPPA = 20;

static int normal_likelihood_gradient(const double *theta, double *value,
                                      double *gradient, void *user) {
  size_t count = *(size_t *)user;
  *value = 0;
  for (size_t i = 0; i < count; i++) {
    double off = theta[i] - MEANS[i];
    *value -= 0.5 * KAPPA * off * off + 7;
    if (gradient)
      gradient[i] = -KAPPA * off;
  }
  return 0;
}

static int normal_prior_gradient(const double *theta, double *value,
                                 double *gradient, void *user) {
  size_t count = *(size_t *)user;
  *value = 0;
  for (size_t i = 0; i < count; i++) {
    *value -= 0.5 * (theta[i] * theta[i] + LOG_2PI);
    if (gradient)
      gradient[i] = -theta[i];
  }
  return 0;
}

static int normal_likelihood(const double *theta, double *value, void *user) {
  return normal_likelihood_gradient(theta, value, NULL, user);
}

static int normal_prior(const double *theta, double *value, void *user) {
  return normal_prior_gradient(theta, value, NULL, user);
}

static double normal_ridge(double tau, const tempera_model_spec *spec) {
  size_t count = *(size_t *)spec->user;
  double height = 0, k = tau * KAPPA;
  for (size_t i = 0; i < count; i++)
    height -= 7 * tau + 0.5 * LOG_2PI + 0.5 * MEANS[i] * MEANS[i] * k / (k + 1);
  return height;
}

static size_t ONE = 1, THREE = 3;
static const tempera_parameter REALS[2] = {
    {"theta", TEMPERA_REAL, 1, -INFINITY, INFINITY, TEMPERA_BOUNDS},
    {"theta", TEMPERA_REAL, 3, -INFINITY, INFINITY, TEMPERA_BOUNDS}};
static const double NORMAL_STARTS[12] = {0.1, 0.2, -0.1, 1, 1,  1,
                                         -1,  2,   0.5,  2, -2, 0};

static ridge_case normal_problem(size_t *count, bool gradients) {
  return (ridge_case){
      .spec = {.name = "normal",
               .parameters = &REALS[*count == 3],
               .parameter_count = 1,
               .log_likelihood = normal_likelihood,
               .log_prior = normal_prior,
               .log_likelihood_gradient =
                   gradients ? normal_likelihood_gradient : NULL,
               .log_prior_gradient = gradients ? normal_prior_gradient : NULL,
               .user = count},
      .ridge = normal_ridge,
      .starts = NORMAL_STARTS,
      .start_count = 4};
}

/* The paper's bimodal model: y_i ~ N(|mu|, 1), n = 25. */
static int bimodal_likelihood(const double *theta, double *value, void *user) {
  (void)user;
  double off = fabs(theta[0]) - 1.1;
  *value = -12.5 * off * off - 36;
  return 0;
}

static double bimodal_ridge(double tau, const tempera_model_spec *spec) {
  (void)spec;
  double mu = 25 * 1.1 * tau / (25 * tau + 1), off = mu - 1.1;
  return tau * (-12.5 * off * off - 36) - 0.5 * (mu * mu + LOG_2PI);
}

static int bimodal_optimum(double tau, double *theta, void *user) {
  (void)user;
  double mu = 25 * 1.1 * tau / (25 * tau + 1);
  theta[0] = theta[0] < 0 ? -mu : mu;
  return 0;
}

/* rate ~ Gamma(1, 1): at tau = 0 the optimum is on the bound. */
static int exponential_prior(const double *theta, double *value, void *user) {
  (void)user;
  *value = -theta[0];
  return 0;
}

static double poisson_ridge(double tau, const tempera_model_spec *spec) {
  (void)spec;
  double rate = 40 * tau / (1 + 12 * tau);
  return tau > 0 ? tau * (40 * log(rate) - 12 * rate) - rate : 0;
}

static const double RATE_STARTS[4] = {1, 3, 0.2, 5};

/* An integer alone: k ~ Poisson(20) on 0..1000, data around 120; the starts
 * are far from it. */
static double count_prior_of(double k) {
  return k * log(20) - 20 - lgamma(k + 1);
}

static double count_likelihood_of(double k) {
  return -0.5 * (k - 120) * (k - 120) / 4;
}

static int count_likelihood(const double *theta, double *value, void *user) {
  (void)user;
  *value = count_likelihood_of(theta[0]);
  return 0;
}

static int count_prior(const double *theta, double *value, void *user) {
  (void)user;
  *value = count_prior_of(theta[0]);
  return 0;
}

static double count_ridge(double tau, const tempera_model_spec *spec) {
  (void)spec;
  double best = -INFINITY;
  for (int k = 0; k <= 1000; k++)
    best = fmax(best, tau * count_likelihood_of(k) + count_prior_of(k));
  return best;
}

static const tempera_parameter COUNT = {"k",  TEMPERA_INTEGER, 0, 0,
                                        1000, TEMPERA_BOUNDS};
static const double COUNT_STARTS[3] = {10, 20, 25};

static double mixed_ridge(double tau, const tempera_model_spec *spec) {
  (void)spec;
  double best = -INFINITY;
  for (double k = 1; k <= 6; k++) {
    double a = 20 * tau, b = 1 / (8 * k * k);
    best = fmax(best, -2 * k - 256 * a * b / (a + b));
  }
  return best;
}

static const double MIXED_STARTS[6] = {1, 3, 2, 5, 4, 4};

/* Two basins: a wide one at -1, and a narrow, higher one at 4 that wins only
 * for larger tau, so m(tau) jumps. */
static double log_sum(double a, double b) {
  return fmax(a, b) + log1p(exp(-fabs(a - b)));
}

static double basins_of(double x) {
  double wide = (x + 1) / 0.5, narrow = (x - 4) / 0.1;
  return log_sum(-0.5 * wide * wide - 30, -0.5 * narrow * narrow - 5);
}

static int basins_likelihood(const double *theta, double *value, void *user) {
  (void)user;
  *value = basins_of(theta[0]);
  return 0;
}

/* By brute force: the best of a grid, then a finer one around it. */
static double basins_ridge(double tau, const tempera_model_spec *spec) {
  (void)spec;
  double best = -INFINITY, at = 0, centre = 0, step = 1e-3;
  for (int round = 0; round < 3; round++, centre = at, step /= 500)
    for (int i = -6000; i <= 6000; i++) {
      double x = centre + i * step;
      double height = tau * basins_of(x) - 0.5 * (x * x + LOG_2PI);
      if (height > best) {
        best = height;
        at = x;
      }
    }
  return best;
}

static const double BASIN_STARTS[5] = {-1.2, -0.5, 0.3, 3.8, 4.1};

/* p ~ Dirichlet(shape) on three values, multinomial counts. */
static const double COUNTS[3] = {12, 3, 25};

static int simplex_likelihood(const double *theta, double *value, void *user) {
  (void)user;
  *value = 0;
  for (size_t i = 0; i < 3; i++)
    *value += COUNTS[i] * log(theta[i]);
  return 0;
}

static int simplex_prior(const double *theta, double *value, void *user) {
  *value = 0;
  for (size_t i = 0; i < 3; i++)
    *value += (*(double *)user - 1) * log(theta[i]);
  return 0;
}

static double simplex_ridge(double tau, const tempera_model_spec *spec) {
  double height = 0, total = 0, shape = *(double *)spec->user;
  for (size_t i = 0; i < 3; i++)
    total += tau * COUNTS[i] + shape - 1;
  for (size_t i = 0; i < 3; i++) {
    double weight = tau * COUNTS[i] + shape - 1;
    height += weight * log(weight / total);
  }
  return height;
}

static double SHAPE_2 = 2;
static const tempera_parameter SIMPLEX = {"p", TEMPERA_REAL,   3, 0,
                                          1,   TEMPERA_SIMPLEX};
static const double SIMPLEX_STARTS[6] = {0.3, 0.3, 0.4, 0.2, 0.5, 0.3};

static const double SCHOOL_STARTS[20] = {4, 5,  6, 3, 2, 5, 1, 1, 8, 6,
                                         1, 10, 9, 8, 3, 7, 1, 1, 8, 12};

/* ---- the problems with a ridge */

enum {
  NORMAL_1,
  NORMAL_3,
  NORMAL_3_GRADIENT,
  BIMODAL,
  BIMODAL_OPTIMUM,
  POISSON,
  COUNTING,
  MIXTURE,
  BASINS,
  DIRICHLET,
  PROBLEMS
};

#define SPEC(title, parameter, n, likelihood, prior)                           \
  {                                                                            \
    .name = title, .parameters = parameter, .parameter_count = n,              \
    .log_likelihood = likelihood, .log_prior = prior, .user = &ONE             \
  }

static ridge_case problem_of(int which) {
  switch (which) {
  case NORMAL_1:
    return normal_problem(&ONE, false);
  case NORMAL_3:
    return normal_problem(&THREE, false);
  case NORMAL_3_GRADIENT:
    return normal_problem(&THREE, true);
  case BIMODAL:
  case BIMODAL_OPTIMUM: {
    ridge_case made = {
        SPEC("bimodal", &REALS[0], 1, bimodal_likelihood, normal_prior),
        bimodal_ridge, BASIN_STARTS, 5};
    if (which == BIMODAL_OPTIMUM)
      made.spec.optimum = bimodal_optimum;
    return made;
  }
  case POISSON:
    return (ridge_case){
        SPEC("poisson", &RATE, 1, poisson_likelihood, exponential_prior),
        poisson_ridge, RATE_STARTS, 4};
  case COUNTING:
    return (ridge_case){SPEC("count", &COUNT, 1, count_likelihood, count_prior),
                        count_ridge, COUNT_STARTS, 3};
  case MIXTURE:
    return (ridge_case){SPEC("mixed", MIXED, 2, mixed_likelihood, mixed_prior),
                        mixed_ridge, MIXED_STARTS, 3};
  case BASINS:
    return (ridge_case){
        SPEC("basins", &REALS[0], 1, basins_likelihood, normal_prior),
        basins_ridge, BASIN_STARTS, 5};
  default: {
    ridge_case made = {
        SPEC("simplex", &SIMPLEX, 1, simplex_likelihood, simplex_prior),
        simplex_ridge, SIMPLEX_STARTS, 2};
    made.spec.user = &SHAPE_2;
    return made;
  }
  }
}

static tempera_model *model_of(const ridge_case *problem) {
  tempera_model *model = NULL;
  tempera_error error = {0};
  assert_int_equal(tempera_model_create(&problem->spec, &model, &error),
                   TEMPERA_OK);
  return model;
}

static tm_ridge *built(const tempera_model *model, const ridge_case *problem,
                       tempera_ridge kind, int threads) {
  tm_store_settings store = {.seed = 1, .threads = threads};
  tempera_error error = {0};
  tm_ridge *ridge = NULL;
  tempera_status status =
      ridge_alone(model, &store, &ALL_OF_IT, kind, problem->starts,
                  problem->start_count, &ridge, &error);
  if (status != TEMPERA_OK)
    print_error("%s: %s\n", problem->spec.name, error.message);
  assert_int_equal(status, TEMPERA_OK);
  return ridge;
}

/* tau = 0, then log-spaced and uniform ones. */
enum { TAUS = 120 };
static double tau_of(int i) {
  return i == 0 ? 0 : i < 60 ? pow(10, -9 + i * 0.15) : (i - 59) / 60.0;
}

static void assert_within(const char *name, double tau, double value,
                          double low, double high) {
  if (value >= low && value <= high)
    return;
  print_error("%s at tau = %g: %.8f is not in [%.8f, %.8f]\n", name, tau, value,
              low, high);
  fail();
}

#endif
