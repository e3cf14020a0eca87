/* Facts about hypotheses on parameters: conjugate models know the densities and
 * probabilities behind them. */
#include "cmocka_all.h"
#include "conjugate_models.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_randist.h>
#include <stdio.h>

/* ---- models ------------------------------------------------------------- */

/* y = a + b x, sd 1, a and b ~ N(0, 2^2): by the sums over 12 points. */
enum { LINE_N = 12 };
static const double SX = 18, SXX = 40, SY = 9, SXY = 21, SYY = 20;

static int line_likelihood(const double *t, double *value, void *user) {
  (void)user;
  double squares = SYY - 2 * t[0] * SY - 2 * t[1] * SXY + t[0] * t[0] * LINE_N +
                   2 * t[0] * t[1] * SX + t[1] * t[1] * SXX;
  *value = -0.5 * (LINE_N * CONJUGATE_LOG_2_PI + squares);
  return 0;
}

static int line_prior(const double *t, double *value, void *user) {
  (void)user;
  *value = -CONJUGATE_LOG_2_PI - 2 * log(2) - (t[0] * t[0] + t[1] * t[1]) / 8;
  return 0;
}

static int line_draw(tempera_random *random, double *t, void *user) {
  (void)user;
  t[0] = 2 * tempera_random_normal(random);
  t[1] = 2 * tempera_random_normal(random);
  return 0;
}

/* Posterior precision and mean. */
static const double P00 = LINE_N + 0.25, P01 = 18, P11 = 40.25;
static double determinant(void) { return P00 * P11 - P01 * P01; }
static double mean_a(void) { return (P11 * SY - P01 * SXY) / determinant(); }
static double mean_b(void) { return (P00 * SXY - P01 * SY) / determinant(); }

/* A rate ~ Gamma(2, 1), 40 events in 12 units; k uniform on 0..6, y ~ N(k, 1) at
 * 2.2. */
static int count_likelihood(const double *t, double *value, void *user) {
  (void)user;
  double off = 2.2 - t[1];
  *value = 40 * log(t[0]) - 12 * t[0] - off * off / 2;
  return 0;
}

static int count_prior(const double *t, double *value, void *user) {
  (void)user;
  *value = log(t[0]) - t[0] - log(7);
  return 0;
}

static int count_draw(tempera_random *random, double *t, void *user) {
  (void)user;
  t[0] = tempera_random_gamma(random, 2);
  t[1] = (double)tempera_random_below(random, 7);
  return 0;
}

/* a - b is known to 0.02, a + b by the prior alone. */
static int ridge_likelihood(const double *t, double *value, void *user) {
  (void)user;
  double z = (t[0] - t[1] - 0.5) / 0.02;
  *value = -z * z / 2;
  return 0;
}

/* A funnel: a ~ N(0, 2^2), b ~ N(0, e^2a), 0.7 seen of b with sd 1. */
static int funnel_likelihood(const double *t, double *value, void *user) {
  (void)user;
  *value = -0.5 * (0.7 - t[1]) * (0.7 - t[1]);
  return 0;
}

static int funnel_prior(const double *t, double *value, void *user) {
  (void)user;
  *value = -t[0] * t[0] / 8 - t[0] - t[1] * t[1] * exp(-2 * t[0]) / 2 -
           CONJUGATE_LOG_2_PI - log(2);
  return 0;
}

static int funnel_draw(tempera_random *random, double *t, void *user) {
  (void)user;
  t[0] = 2 * tempera_random_normal(random);
  t[1] = exp(t[0]) * tempera_random_normal(random);
  return 0;
}

static const tempera_parameter LINE[2] = {
    {"a", TEMPERA_REAL, 0, -INFINITY, INFINITY, TEMPERA_BOUNDS},
    {"b", TEMPERA_REAL, 0, -INFINITY, INFINITY, TEMPERA_BOUNDS}};
static const tempera_parameter COUNT[2] = {
    {"rate", TEMPERA_REAL, 0, 0, INFINITY, TEMPERA_BOUNDS},
    {"k", TEMPERA_INTEGER, 0, 0, 6, TEMPERA_BOUNDS}};

static tempera_model_spec line_spec(void) {
  tempera_model_spec spec = conjugate_spec();
  spec.parameters = LINE;
  spec.parameter_count = 2;
  spec.log_likelihood = line_likelihood;
  spec.log_prior = line_prior;
  spec.prior_draw = line_draw;
  return spec;
}

static tempera_model_spec count_spec(void) {
  tempera_model_spec spec = line_spec();
  spec.parameters = COUNT;
  spec.log_likelihood = count_likelihood;
  spec.log_prior = count_prior;
  spec.prior_draw = count_draw;
  return spec;
}

/* ---- runs --------------------------------------------------------------- */

typedef struct run {
  tempera_model *model;
  tempera_sampler *sampler;
} run;

static run begin(const tempera_model_spec *spec, uint64_t seed,
                 size_t iterations) {
  tempera_error error = {0};
  run r = {0};
  tempera_options o = tempera_options_default();
  o.seed = seed;
  o.iterations = iterations;
  o.threads = 1;
  if (tempera_model_create(spec, &r.model, &error) != TEMPERA_OK ||
      tempera_sampler_create(r.model, &o, &r.sampler, &error) != TEMPERA_OK ||
      tempera_sampler_run(r.sampler, NULL, NULL, &error) != TEMPERA_OK)
    fail_msg("%s", error.message);
  return r;
}

static void end(run *r) {
  tempera_sampler_free(r->sampler);
  tempera_model_free(r->model);
}

static tempera_hypothesis *test(const run *r, const char *null, uint64_t seed) {
  tempera_error error = {0};
  tempera_hypothesis *h = NULL;
  if (tempera_hypothesis_test(r->model, tempera_sampler_draws(r->sampler), null,
                              seed, &h, &error) != TEMPERA_OK)
    fail_msg("%s: %s", null, error.message);
  return h;
}

/* Posterior and prior, and the factor made of them. */
static void check(const run *r, const char *null, double posterior,
                  double prior, double factor, double largest_se) {
  tempera_hypothesis *h = test(r, null, 7);
  print_message("%-18s %8.4f +- %.4f, exact %8.4f; parts %.4f (%.4f), %.4f "
                "(%.4f)\n",
                h->words, h->log_bf, h->se, factor, h->posterior, posterior,
                h->prior, prior);
  assert_null(h->warning);
  assert_true(h->se > 0 && h->se < largest_se);
  assert_true(fabs(h->log_bf - factor) < 4 * h->se);
  assert_true(fabs(h->posterior - posterior) < 4 * h->posterior_se);
  assert_true(fabs(h->prior - prior) < 4 * h->prior_se);
  tempera_hypothesis_free(h);
}

static void check_point(const run *r, const char *null, double posterior,
                        double prior) {
  check(r, null, posterior, prior, posterior - prior, 0.1);
}

static void check_odds(const run *r, const char *null, double p, double q) {
  check(r, null, log(p), log(q), log(p / (1 - p)) - log(q / (1 - q)), 0.3);
}

static double log_normal(double x, double mean, double variance) {
  return -0.5 * (CONJUGATE_LOG_2_PI + log(variance) +
                 (x - mean) * (x - mean) / variance);
}

static void savage_dickey_is_that_of_the_formula(void **state) {
  (void)state;
  const tempera_model_spec spec = line_spec();
  for (uint64_t seed = 1; seed <= 2; seed++) {
    run r = begin(&spec, seed, 3000);
    double sd = sqrt(P00 / determinant()), a = mean_a(), b = mean_b();
    check_point(&r, "b = 0", log_normal(0, b, sd * sd), log_normal(0, 0, 4));
    check_point(&r, "b = 1", log_normal(1, b, sd * sd), log_normal(1, 0, 4));
    check_point(&r, "a = 0, b = 0.5",
                0.5 * log(determinant()) - CONJUGATE_LOG_2_PI -
                    0.5 * (a * a * P00 - 2 * a * (0.5 - b) * P01 +
                           (0.5 - b) * (0.5 - b) * P11),
                log_normal(0, 0, 4) + log_normal(0.5, 0, 4));
    check_odds(&r, "|b| < 0.3",
               gsl_cdf_gaussian_P(0.3 - b, sd) -
                   gsl_cdf_gaussian_P(-0.3 - b, sd),
               gsl_cdf_gaussian_P(0.3, 2) - gsl_cdf_gaussian_P(-0.3, 2));
    check_odds(&r, "b > 0.4", gsl_cdf_gaussian_Q(0.4 - b, sd),
               gsl_cdf_gaussian_Q(0.4, 2));
    /* A point and an interval: a given b = 0.5 is normal too. */
    double given = a - P01 / P00 * (0.5 - b);
    check_point(&r, "b = 0.5, a > 0",
                log_normal(0.5, b, sd * sd) +
                    log(gsl_cdf_gaussian_Q(-given, sqrt(1 / P00))),
                log_normal(0.5, 0, 4) + log(0.5));
    end(&r);
  }
}

/* Along a ridge of correlation .9999, at 0 to 5 of its sds: b has to follow. */
static void what_is_fixed_takes_the_rest_along(void **state) {
  (void)state;
  tempera_model_spec spec = line_spec();
  spec.log_likelihood = ridge_likelihood;
  run r = begin(&spec, 5, 2000);
  double p = 1 / 0.0004, determinant_ = (0.25 + p) * (0.25 + p) - p * p;
  double v = (0.25 + p) / determinant_;
  double mean = v * 0.5 * p - p / determinant_ * 0.5 * p;
  for (int k = 0; k <= 5; k++) {
    char null[40];
    double x = round(1000 * (mean + k * sqrt(v))) / 1000;
    snprintf(null, sizeof null, "a = %.3f", x);
    check_point(&r, null, log_normal(x, mean, v), log_normal(x, 0, 4));
  }
  end(&r);
}

/* Where no shift helps: from the draws of a alone. */
static void a_funnel_is_known_from_its_draws(void **state) {
  (void)state;
  tempera_model_spec spec = line_spec();
  spec.log_likelihood = funnel_likelihood;
  spec.log_prior = funnel_prior;
  spec.prior_draw = funnel_draw;
  run r = begin(&spec, 6, 3000);
  const double at[] = {-3, -1, 0, 1, 2};
  double sum = 0, step = 1e-3;
  for (int i = -16000; i <= 16000; i++) {
    double a = i * step, variance = 1 + exp(2 * a);
    sum += step * exp(log_normal(a, 0, 4) + log_normal(0.7, 0, variance));
  }
  for (size_t k = 0; k < sizeof at / sizeof *at; k++) {
    char null[40];
    double a = at[k], prior = log_normal(a, 0, 4);
    snprintf(null, sizeof null, "a = %g", a);
    check(&r, null, prior + log_normal(0.7, 0, 1 + exp(2 * a)) - log(sum),
          prior, log_normal(0.7, 0, 1 + exp(2 * a)) - log(sum), 0.3);
  }
  end(&r);
}

static void bounds_and_integers_are_no_hindrance(void **state) {
  (void)state;
  const tempera_model_spec spec = count_spec();
  run r = begin(&spec, 3, 4000);
  check_point(&r, "rate = 3", log(gsl_ran_gamma_pdf(3, 42, 1.0 / 13)),
              log(gsl_ran_gamma_pdf(3, 2, 1)));
  double sum = 0, at[7];
  for (int k = 0; k < 7; k++)
    sum += at[k] = exp(-0.5 * (2.2 - k) * (2.2 - k));
  check_odds(&r, "k = 1", at[1] / sum, 1.0 / 7);
  check_odds(&r, "1 < k < 4", (at[2] + at[3]) / sum, 2.0 / 7);
  check_point(&r, "rate = 4, k = 3",
              log(gsl_ran_gamma_pdf(4, 42, 1.0 / 13) * at[3] / sum),
              log(gsl_ran_gamma_pdf(4, 2, 1) / 7));
  end(&r);
}

static void refused(const run *r, const char *null, const char *words) {
  tempera_error error = {0};
  tempera_hypothesis *h = NULL;
  assert_int_not_equal(tempera_hypothesis_test(r->model,
                                               tempera_sampler_draws(r->sampler),
                                               null, 1, &h, &error),
                       TEMPERA_OK);
  assert_null(h);
  if (!strstr(error.message, words))
    fail_msg("%s: %s", null, error.message);
}

static void what_has_no_density_is_refused(void **state) {
  (void)state;
  const tempera_model_spec spec = count_spec(), flat = flat_spec();
  run r = begin(&spec, 1, 500);
  refused(&r, "rate = 0", "not inside the prior's support");
  refused(&r, "rate = -1", "not inside the prior's support");
  refused(&r, "k = 1.5", "never 1.5");
  refused(&r, "speed = 1", "no parameter or quantity speed");
  refused(&r, "rate", "wanted NAME = X");
  refused(&r, "rate = 1,", "wanted NAME = X");
  refused(&r, "rate = 1, rate < 2", "two conditions");
  tempera_hypothesis *h = test(&r, "rate > 1000", 1); /* no draw is there */
  assert_true(isnan(h->log_bf) && h->warning);
  tempera_hypothesis_free(h);
  end(&r);
  r = begin(&flat, 1, 500);
  refused(&r, "mu = 0", "improper");
  end(&r);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(savage_dickey_is_that_of_the_formula),
      cmocka_unit_test(what_is_fixed_takes_the_rest_along),
      cmocka_unit_test(a_funnel_is_known_from_its_draws),
      cmocka_unit_test(bounds_and_integers_are_no_hindrance),
      cmocka_unit_test(what_has_no_density_is_refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
