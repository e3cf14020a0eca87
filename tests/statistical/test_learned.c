/* The learned tau prior: right where the profile prior collapses (many
 * dimensions) and where no ridge exists (unbounded densities). */
#include "gaussian_model.h"
#include "whole_run.h"

#include <gsl/gsl_integration.h>
#include <gsl/gsl_sf_gamma.h>

static tempera_summary *run(const tempera_model_spec *spec, uint64_t seed) {
  tempera_options o = tempera_options_default();
  o.seed = seed;
  o.iterations = 15000;
  tempera_model *model = make_model(spec);
  tempera_summary *summary = run_model(model, &o);
  tempera_model_free(model);
  return summary;
}

static void check(const char *name, const tempera_summary *s, double exact,
                  size_t fewest_trips) {
  print_message("%s seed %d: log Z %.4f se %.4f error %+.4f, %zu trips\n", name,
                (int)s->seed, s->log_z, s->se, s->log_z - exact,
                s->round_trips);
  assert_true(s->se > 0 && s->se < 0.5);
  assert_true(fabs(s->log_z - exact) < 4 * s->se);
  assert_true(s->round_trips >= fewest_trips);
}

static void twenty_dimensions_do_not_collapse(void **state) {
  (void)state;
  const tempera_parameter parameter = {"x",       TEMPERA_REAL, 20,
                                       -INFINITY, INFINITY,     TEMPERA_BOUNDS};
  gaussian_model g = {20, 0.5, 0.05};
  tempera_model_spec spec = gaussian_spec(&g, &parameter);
  for (uint64_t seed = 1; seed <= 3; seed++) {
    tempera_summary *s = run(&spec, seed);
    check("gaussian-20", s, gaussian_log_z(&g, 1), 20);
    tempera_summary_free(s);
  }
}

/* ------------------------------------------------------------------------
 * Centred eight schools: the density is unbounded at spread = 0
 */

static const double EFFECT[8] = {28, 8, -3, 7, -1, 1, 18, 12};
static const double ERROR[8] = {15, 10, 16, 11, 9, 11, 10, 18};

static double half_cauchy(double x) {
  return log(2 / (3.14159265358979323846 * 5)) - log1p(x * x / 25);
}

/* theta: mean, spread, then the eight effects. */
static int schools_likelihood(const double *theta, double *value, void *user) {
  (void)user;
  *value = 0;
  for (size_t j = 0; j < 8; j++)
    *value += gaussian_log(EFFECT[j], theta[2 + j], ERROR[j] * ERROR[j]);
  return 0;
}

static int schools_prior(const double *theta, double *value, void *user) {
  (void)user;
  *value = gaussian_log(theta[0], 0, 25) + half_cauchy(theta[1]);
  for (size_t j = 0; j < 8; j++)
    *value += gaussian_log(theta[2 + j], theta[0], theta[1] * theta[1]);
  return 0;
}

static int schools_draw(tempera_random *random, double *theta, void *user) {
  (void)user;
  theta[0] = 5 * tempera_random_normal(random);
  theta[1] =
      5 * fabs(tempera_random_normal(random) / tempera_random_normal(random));
  for (size_t j = 0; j < 8; j++)
    theta[2 + j] = theta[0] + theta[1] * tempera_random_normal(random);
  return 0;
}

/* The effects integrate out; two dimensions are left for quadrature. */
static double schools_given_spread(double mean, void *context) {
  double spread = *(double *)context, sum = gaussian_log(mean, 0, 25);
  for (size_t j = 0; j < 8; j++)
    sum += gaussian_log(EFFECT[j], mean, ERROR[j] * ERROR[j] + spread * spread);
  return exp(sum + 30);
}

static double schools_over_mean(double log_spread, void *workspace) {
  double spread = exp(log_spread), result, error;
  gsl_function f = {schools_given_spread, &spread};
  gsl_integration_qag(&f, -60, 60, 0, 1e-8, 500, GSL_INTEG_GAUSS31, workspace,
                      &result, &error);
  return result * exp(half_cauchy(spread) + log_spread);
}

static double schools_log_z(void) {
  gsl_integration_workspace *inner = gsl_integration_workspace_alloc(500);
  gsl_integration_workspace *outer = gsl_integration_workspace_alloc(500);
  gsl_function f = {schools_over_mean, inner};
  double result, error;
  gsl_integration_qag(&f, -20, 12, 0, 1e-7, 500, GSL_INTEG_GAUSS31, outer,
                      &result, &error);
  gsl_integration_workspace_free(inner);
  gsl_integration_workspace_free(outer);
  return log(result) - 30;
}

static void centred_eight_schools_needs_no_ridge(void **state) {
  (void)state;
  const tempera_parameter parameters[] = {
      {"mean", TEMPERA_REAL, 0, -INFINITY, INFINITY, TEMPERA_BOUNDS},
      {"spread", TEMPERA_REAL, 0, 0, INFINITY, TEMPERA_BOUNDS},
      {"effect", TEMPERA_REAL, 8, -INFINITY, INFINITY, TEMPERA_BOUNDS}};
  tempera_model_spec spec = {.name = "eight-schools",
                             .parameters = parameters,
                             .parameter_count = 3,
                             .log_likelihood = schools_likelihood,
                             .log_prior = schools_prior,
                             .prior_draw = schools_draw,
                             .prior_normalised = true};
  double exact = schools_log_z();
  for (uint64_t seed = 1; seed <= 3; seed++) {
    tempera_summary *s = run(&spec, seed);
    check("eight schools", s, exact, 20);
    assert_true(isnan(s->ridge_gap)); /* null: the ridge is absent */
    bool told = false;
    for (size_t i = 0; i < s->warning_count; i++)
      told = told || strstr(s->warnings[i], "spread");
    assert_true(told);
    tempera_summary_free(s);
  }
}

/* ------------------------------------------------------------------------
 * A Gamma(1/2) prior on a Poisson rate: unbounded at 0, conjugate
 */

static const double COUNTS[5] = {3, 0, 2, 4, 1};

static int rate_likelihood(const double *theta, double *value, void *user) {
  (void)user;
  *value = 0;
  for (size_t i = 0; i < 5; i++)
    *value += COUNTS[i] * log(theta[0]) - theta[0] - lgamma(COUNTS[i] + 1);
  return 0;
}

static int rate_prior(const double *theta, double *value, void *user) {
  (void)user;
  *value = -0.5 * log(theta[0]) - theta[0] - lgamma(0.5);
  return 0;
}

static int rate_draw(tempera_random *random, double *theta, void *user) {
  (void)user;
  theta[0] = tempera_random_gamma(random, 0.5);
  return 0;
}

static void a_gamma_shape_below_one_needs_no_ridge(void **state) {
  (void)state;
  const tempera_parameter parameter = {"rate", TEMPERA_REAL, 0,
                                       0,      INFINITY,     TEMPERA_BOUNDS};
  tempera_model_spec spec = {.name = "rate",
                             .parameters = &parameter,
                             .parameter_count = 1,
                             .log_likelihood = rate_likelihood,
                             .log_prior = rate_prior,
                             .prior_draw = rate_draw,
                             .prior_normalised = true};
  /* Gamma(1/2 + sum y) / (Gamma(1/2) (1+n)^(1/2 + sum y) prod y!) */
  double sum = 0, exact = -lgamma(0.5);
  for (size_t i = 0; i < 5; i++) {
    sum += COUNTS[i];
    exact -= lgamma(COUNTS[i] + 1);
  }
  exact += lgamma(0.5 + sum) - (0.5 + sum) * log(6);
  for (uint64_t seed = 1; seed <= 3; seed++) {
    tempera_summary *s = run(&spec, seed);
    check("gamma 1/2", s, exact, 100);
    assert_true(isnan(s->ridge_gap));
    assert_true(fabs(s->values[0].mean - (0.5 + sum) / 6) <
                4 * s->values[0].mcse);
    tempera_summary_free(s);
  }
}

/* ------------------------------------------------------------------------
 * Two modes of weight 0.8 and 0.2 in five dimensions: the prior is symmetric,
 * so that the posterior keeps the weights
 */

static double part(const double *theta, double mean, double weight) {
  double value = log(weight);
  for (size_t j = 0; j < 5; j++)
    value += gaussian_log(theta[j], mean, 0.04);
  return value;
}

static int modes_likelihood(const double *theta, double *value, void *user) {
  (void)user;
  double a = part(theta, 1, 0.8), b = part(theta, -1, 0.2), most = fmax(a, b);
  *value = most + log(exp(a - most) + exp(b - most));
  return 0;
}

static void modes_have_their_weights(void **state) {
  (void)state;
  const tempera_parameter parameter = {"x",       TEMPERA_REAL, 5,
                                       -INFINITY, INFINITY,     TEMPERA_BOUNDS};
  gaussian_model g = {5, 0, 1};
  tempera_model_spec spec = gaussian_spec(&g, &parameter);
  spec.log_likelihood = modes_likelihood;
  for (uint64_t seed = 1; seed <= 3; seed++) {
    tempera_summary *s = run(&spec, seed);
    check("two modes", s, 5 * gaussian_log(1, 0, 1.04), 100);
    assert_int_equal(s->mode_count, 2);
    assert_true(fabs(s->modes[0].weight - 0.8) < 4 * s->modes[0].se);
    assert_true(s->modes[0].se < 0.02);
    assert_true(fabs(s->modes[0].mean[0] - 1 / 1.04) < 0.05);
    tempera_summary_free(s);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(modes_have_their_weights),
      cmocka_unit_test(twenty_dimensions_do_not_collapse),
      cmocka_unit_test(centred_eight_schools_needs_no_ridge),
      cmocka_unit_test(a_gamma_shape_below_one_needs_no_ridge),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
