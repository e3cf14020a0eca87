/* Facts about WBIC and the fractional evidence: conjugate models know both. */
#include "cmocka_all.h"
#include "conjugate_models.h"

#include <stdio.h>
#include <stdlib.h>

static tempera_summary *run_by(tempera_method method,
                               const tempera_model_spec *spec, double tau_min,
                               uint64_t seed, size_t iterations) {
  tempera_error error = {0};
  tempera_model *model = NULL;
  tempera_sampler *sampler = NULL;
  tempera_summary *summary = NULL;
  tempera_options o = tempera_options_default();
  o.method = method;
  o.seed = seed;
  o.tau_min = tau_min;
  o.iterations = iterations;
  o.threads = 1;
  assert_int_equal(tempera_model_create(spec, &model, &error), TEMPERA_OK);
  if (tempera_sampler_create(model, &o, &sampler, &error) != TEMPERA_OK ||
      tempera_sampler_run(sampler, NULL, NULL, &error) != TEMPERA_OK ||
      tempera_sampler_summarise(sampler, &summary, &error) != TEMPERA_OK)
    fail_msg("%s", error.message);
  tempera_sampler_free(sampler);
  tempera_model_free(model);
  return summary;
}

static tempera_summary *run(const tempera_model_spec *spec, double tau_min,
                            uint64_t seed, size_t iterations) {
  return run_by(TEMPERA_PT_STWNC, spec, tau_min, seed, iterations);
}

static void assert_near(const char *what, const tempera_path_answer *a,
                        double truth, double largest_se) {
  print_message("%-22s %.4f +- %.4f at %.3f, exact %.4f\n", what, a->value,
                a->se, a->tau, truth);
  assert_true(a->se > 0 && a->se < largest_se);
  assert_true(fabs(a->value - truth) < 4 * a->se);
}

static const double PRECISION = 0.25; /* of N(0, 2^2) */

static void wbic_is_that_of_the_formula(void **state) {
  (void)state;
  const tempera_model_spec spec = conjugate_spec();
  double tau = 1 / log(CONJUGATE_N);
  for (uint64_t seed = 1; seed <= 3; seed++) {
    tempera_summary *s = run(&spec, 0, seed, 4000);
    assert_near("WBIC", &s->wbic, -conjugate_mean_likelihood(tau, PRECISION),
                0.05);
    assert_true(s->wbic.tau == tau);
    /* At b = 0 it is the evidence. */
    assert_near("fractional, b = 0", &s->fractional,
                conjugate_log_z(1, PRECISION), 0.02);
    assert_true(s->fractional.tau == 0 && s->fractional.value == s->log_z);
    tempera_summary_free(s);
  }
}

static void improper_priors_have_a_fractional_evidence(void **state) {
  (void)state;
  const tempera_model_spec flat = flat_spec(), scale = scale_spec();
  static const double fractions[] = {0.05, 0.25, 0.5};
  for (size_t i = 0; i < 3; i++) {
    double b = fractions[i];
    tempera_summary *s = run(&flat, b, i + 1, 4000);
    assert_true(isnan(s->log_z));
    assert_near("fractional, flat", &s->fractional,
                conjugate_log_z(1, 0) - conjugate_log_z(b, 0), 0.05);
    assert_true(s->fractional.tau == b);
    if (b < 1 / log(CONJUGATE_N))
      assert_near("WBIC, flat", &s->wbic,
                  -conjugate_mean_likelihood(1 / log(CONJUGATE_N), 0), 0.05);
    else
      assert_true(isnan(s->wbic.value)); /* the path does not go there */
    tempera_summary_free(s);
  }
  for (size_t i = 0; i < 2; i++) {
    double b = i == 0 ? 0.15 : 0.5;
    tempera_summary *s = run(&scale, b, 11 + i, 4000);
    assert_near("fractional, scale", &s->fractional,
                scale_log_z(1) - scale_log_z(b), 0.1);
    tempera_summary_free(s);
  }
}

static void without_observations_there_is_no_wbic(void **state) {
  (void)state;
  tempera_model_spec spec = conjugate_spec();
  spec.observations = 0;
  tempera_summary *s = run(&spec, 0, 1, 1000);
  assert_true(isnan(s->wbic.value) && isnan(s->wbic.se));
  char *text = NULL;
  assert_int_equal(tempera_summary_json(s, &text, NULL), TEMPERA_OK);
  assert_non_null(strstr(text, "\"wbic\": null"));
  tempera_text_free(text);
  tempera_summary_free(s);
  spec.observations = 2; /* 1/log 2 lies beyond tau = 1 */
  s = run(&spec, 0, 1, 1000);
  assert_true(isnan(s->wbic.value));
  tempera_summary_free(s);
}

/* Without --tau-min the path goes down to twice the minimal training sample,
 * which is one observation for a mean, two for mean and scale. */
static void the_smallest_proper_b_is_the_default(void **state) {
  (void)state;
  const tempera_model_spec flat = flat_spec(), scale = scale_spec();
  for (uint64_t seed = 1; seed <= 3; seed++) {
    tempera_summary *s = run(&flat, 0, seed, 6000);
    assert_true(s->fractional.tau == 2.0 / CONJUGATE_N);
    assert_near("fractional, flat", &s->fractional,
                conjugate_log_z(1, 0) - conjugate_log_z(s->fractional.tau, 0),
                0.1);
    tempera_summary_free(s);
    s = run(&scale, 0, seed, 6000);
    assert_true(s->fractional.tau == 4.0 / CONJUGATE_N);
    assert_near("fractional, scale", &s->fractional,
                scale_log_z(1) - scale_log_z(s->fractional.tau), 0.2);
    tempera_summary_free(s);
  }
  /* b n = 0.6 observations leave the scale improper: there is no answer. */
  tempera_summary *s = run(&scale, 0.03, 1, 6000);
  print_message("%s\n", s->fractional_why);
  assert_true(isnan(s->fractional.value) && s->fractional_why[0]);
  tempera_summary_free(s);
}

static void levels_have_both_too(void **state) {
  (void)state;
  const tempera_model_spec spec = conjugate_spec(), flat = flat_spec();
  tempera_summary *s = run_by(TEMPERA_PT, &spec, 0, 1, 4000);
  assert_near("WBIC, pt", &s->wbic,
              -conjugate_mean_likelihood(1 / log(CONJUGATE_N), PRECISION),
              0.05);
  tempera_summary_free(s);
  s = run_by(TEMPERA_PT, &flat, 0.05, 2, 4000);
  assert_near("fractional, flat, pt", &s->fractional,
              conjugate_log_z(1, 0) - conjugate_log_z(0.05, 0), 0.05);
  tempera_summary_free(s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(wbic_is_that_of_the_formula),
      cmocka_unit_test(improper_priors_have_a_fractional_evidence),
      cmocka_unit_test(the_smallest_proper_b_is_the_default),
      cmocka_unit_test(levels_have_both_too),
      cmocka_unit_test(without_observations_there_is_no_wbic)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
