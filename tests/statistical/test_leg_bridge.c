/* test_leg_bridge.c - from 40 real parameters on the bridge takes the reference
 * leg's q. A posterior of independent logistic laws, whose tails no Gaussian
 * has, with log Z = 0 (the likelihood is its density over the prior's): the
 * estimate is right, and its errors are what they say over many seeds. */
#include "family_wise.h"
#include "whole_run.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <string.h>

enum { D = 45, SEEDS = 12 };
static const double LOG_2PI = 1.8378770664093453, PRIOR_SD = 3;

static int prior(const double *x, double *value, double *slope, void *user) {
  (void)user;
  *value = 0;
  for (size_t i = 0; i < D; i++) {
    double z = x[i] / PRIOR_SD;
    *value -= 0.5 * (z * z + LOG_2PI) + log(PRIOR_SD);
    slope[i] = -z / PRIOR_SD;
  }
  return 0;
}

static int prior_value(const double *x, double *value, void *user) {
  double slope[D];
  return prior(x, value, slope, user);
}

/* log of e^-y / (1 + e^-y)^2, y = (x - .5) / .4, over .4. */
static int likelihood(const double *x, double *value, double *slope,
                      void *user) {
  double log_prior;
  (void)prior(x, &log_prior, slope, user);
  *value = -log_prior;
  for (size_t i = 0; i < D; i++) {
    double y = fabs(x[i] - 0.5) / 0.4;
    *value -= y + 2 * log1p(exp(-y)) + log(0.4);
    slope[i] = copysign(tanh(y / 2) / 0.4, 0.5 - x[i]) - slope[i];
  }
  return 0;
}

static int likelihood_value(const double *x, double *value, void *user) {
  double slope[D];
  return likelihood(x, value, slope, user);
}

static int draw(tempera_random *random, double *x, void *user) {
  (void)user;
  for (size_t i = 0; i < D; i++)
    x[i] = PRIOR_SD * tempera_random_normal(random);
  return 0;
}

static tempera_model *logistic_model(void) {
  const tempera_parameter x = {
      .name = "x", .size = D, .lower = -INFINITY, .upper = INFINITY};
  const tempera_model_spec spec = {.name = "logistic",
                                   .parameters = &x,
                                   .parameter_count = 1,
                                   .log_likelihood = likelihood_value,
                                   .log_prior = prior_value,
                                   .log_likelihood_gradient = likelihood,
                                   .log_prior_gradient = prior,
                                   .prior_draw = draw,
                                   .prior_normalised = true};
  return make_model(&spec);
}

static const tempera_estimate *find(const tempera_summary *s,
                                    const char *name) {
  for (size_t i = 0; i < s->estimate_count; i++)
    if (!strcmp(s->estimates[i].name, name))
      return &s->estimates[i];
  fail_msg("no %s", name);
  return NULL;
}

static void its_error_is_what_it_says(void **state) {
  (void)state;
  tempera_model *model = logistic_model();
  tempera_options o = tempera_options_default();
  o.chains = 4;
  o.threads = 1;
  o.warmup = 900;
  o.warmup_given = true;
  o.iterations = 800;
  double squares = 0, sum = 0;
  for (o.seed = 1; o.seed <= SEEDS; o.seed++) {
    tempera_summary *s = run_model(model, &o);
    const tempera_estimate *e = find(s, "bridge");
    double z = e->log_z / e->se;
    print_message("seed %2d: %.4f +- %.4f\n", (int)o.seed, e->log_z, e->se);
    assert_null(e->warning);
    assert_true(e->se > 0 && e->se < 0.1);
    assert_true(fabs(z) < family_z());
    squares += z * z;
    sum += z;
    tempera_summary_free(s);
  }
  print_message("z: mean %.2f, mean square %.2f\n", sum / SEEDS,
                squares / SEEDS);
  assert_true(fabs(sum) < family_z() * sqrt(SEEDS));
  assert_true(squares < gsl_cdf_chisq_Qinv(family_rate(), SEEDS));
  assert_true(squares > gsl_cdf_chisq_Pinv(family_rate(), SEEDS));
  tempera_model_free(model);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(its_error_is_what_it_says)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
