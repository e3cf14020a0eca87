/* Facts about draws at chosen tau: conjugate power posteriors are normal, and
 * those of an integer are sums. */
#include "cmocka_all.h"
#include "conjugate_models.h"

#include <stdio.h>

static tempera_summary *run(const tempera_model_spec *spec, const char *method,
                            double tau_min, const char *taus, uint64_t seed) {
  tempera_error error = {0};
  tempera_model *model = NULL;
  tempera_sampler *sampler = NULL;
  tempera_summary *summary = NULL;
  tempera_options o = tempera_options_default();
  o.seed = seed;
  o.tau_min = tau_min;
  o.iterations = 4000;
  o.threads = 1;
  if (tempera_options_set(&o, "method", method, &error) != TEMPERA_OK ||
      tempera_options_set(&o, "at-tau", taus, &error) != TEMPERA_OK ||
      tempera_model_create(spec, &model, &error) != TEMPERA_OK ||
      tempera_sampler_create(model, &o, &sampler, &error) != TEMPERA_OK ||
      tempera_sampler_run(sampler, NULL, NULL, &error) != TEMPERA_OK ||
      tempera_sampler_summarise(sampler, &summary, &error) != TEMPERA_OK)
    fail_msg("%s", error.message);
  tempera_sampler_free(sampler);
  tempera_model_free(model);
  return summary;
}

static void near_by(const char *what, double tau, double value, double se,
                    double truth) {
  print_message("  %-16s at %-5g %10.4f +- %.4f, exact %.4f\n", what, tau,
                value, se, truth);
  assert_true(se > 0 && fabs(value - truth) < 4 * se);
}

/* mean and sd of mu, mean log likelihood and rise, at one tau */
static void check(const tempera_power_posterior *p, double precision,
                  bool rises) {
  double tau = p->tau, sd = sqrt(conjugate_variance(tau, precision));
  assert_string_equal(p->why, "");
  const tempera_value_summary *v = &p->values[0];
  print_message("  %zu draws per chain, ESS %.0f, R-hat %.3f\n", p->draws,
                v->ess_bulk, v->rhat);
  near_by("mu", tau, v->mean, v->mcse, conjugate_centre(tau, precision));
  near_by("sd", tau, v->sd, sd / sqrt(2 * v->ess_tail), sd);
  if (tau == 0 || tau == 1)
    return;
  near_by("log likelihood", tau, p->log_likelihood.value, p->log_likelihood.se,
          conjugate_mean_likelihood(tau, precision));
  if (rises)
    near_by("rise", tau, p->rise.value, p->rise.se,
            conjugate_log_z(1, precision) - conjugate_log_z(tau, precision));
}

static const double PRECISION = 0.25;

static void power_posteriors_are_those_of_the_formula(void **state) {
  (void)state;
  static const char *const methods[] = {"pt-stwnc", "stwnc", "st", "pt",
                                        "pawl"};
  const tempera_model_spec spec = conjugate_spec();
  for (size_t m = 0; m < 5; m++) {
    tempera_summary *s = run(&spec, methods[m], 0, "1,0,0.3,0.02", m + 1);
    print_message("%s\n", methods[m]);
    assert_int_equal(s->at_tau_count, 4);
    for (size_t i = 0; i < 4; i++)
      check(&s->at_tau[i], PRECISION, true);
    tempera_summary_free(s);
  }
}

static void improper_priors_too(void **state) {
  (void)state;
  const tempera_model_spec flat = flat_spec();
  static const char *const methods[] = {"pt-stwnc", "pt"};
  for (size_t m = 0; m < 2; m++) {
    tempera_summary *s = run(&flat, methods[m], 0.05, "0.05,0.25,0.5", 7 + m);
    print_message("flat, %s\n", methods[m]);
    for (size_t i = 0; i < 3; i++)
      check(&s->at_tau[i], 0, true);
    tempera_summary_free(s);
  }
}

/* k uniform on 1 .. 6, counts Poisson(k) */
static const int COUNTS[4] = {1, 4, 2, 3};

static int count_likelihood(const double *theta, double *value, void *user) {
  (void)user;
  *value = 0;
  for (size_t i = 0; i < 4; i++)
    *value += COUNTS[i] * log(theta[0]) - theta[0] -
              lgamma((double)COUNTS[i] + 1);
  return 0;
}

static int count_prior(const double *theta, double *value, void *user) {
  (void)theta;
  (void)user;
  *value = -log(6);
  return 0;
}

static int count_draw(tempera_random *random, double *theta, void *user) {
  (void)user;
  theta[0] = 1 + floor(6 * tempera_random_uniform(random));
  return 0;
}

static void integers_too(void **state) {
  (void)state;
  static const tempera_parameter k = {"k", TEMPERA_INTEGER, 0, 1, 6,
                                      TEMPERA_BOUNDS};
  const tempera_model_spec spec = {.name = "counts",
                                   .parameters = &k,
                                   .parameter_count = 1,
                                   .log_likelihood = count_likelihood,
                                   .log_prior = count_prior,
                                   .prior_draw = count_draw,
                                   .prior_normalised = true};
  tempera_summary *s = run(&spec, "pt-stwnc", 0, "0.1,0.5,0.9", 3);
  for (size_t i = 0; i < 3; i++) {
    const tempera_power_posterior *p = &s->at_tau[i];
    double sum = 0, mean = 0, l;
    for (double value = 1; value <= 6; value++) {
      count_likelihood(&value, &l, NULL);
      sum += exp(p->tau * l);
      mean += exp(p->tau * l) * value;
    }
    near_by("k", p->tau, p->values[0].mean, p->values[0].mcse, mean / sum);
  }
  tempera_summary_free(s);
}

static void what_cannot_be_had_is_refused(void **state) {
  (void)state;
  tempera_error error = {0};
  tempera_options o = tempera_options_default();
  static const char *const bad[] = {"", "1.1", "-0.1", "0.5,", "0.5;1", "nan"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
    assert_int_equal(tempera_options_set(&o, "at-tau", bad[i], &error),
                     TEMPERA_ERROR_ARGUMENT);
  assert_int_equal(tempera_options_set(&o, "at-tau", "0.5,0.25,0.5", &error),
                   TEMPERA_OK);
  assert_true(o.at_tau_count == 2 && o.at_tau[0] == 0.25);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(power_posteriors_are_those_of_the_formula),
      cmocka_unit_test(improper_priors_too),
      cmocka_unit_test(integers_too),
      cmocka_unit_test(what_cannot_be_had_is_refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
