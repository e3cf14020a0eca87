/* Facts about log Z under wider priors: conjugate models know it. */
#include "cmocka_all.h"
#include "conjugate_models.h"

static tempera_summary *run(const tempera_model_spec *spec, uint64_t seed) {
  tempera_error error = {0};
  tempera_model *model = NULL;
  tempera_sampler *sampler = NULL;
  tempera_summary *summary = NULL;
  tempera_options o = tempera_options_default();
  o.seed = seed;
  o.iterations = 3000;
  o.threads = 1;
  if (tempera_model_create(spec, &model, &error) != TEMPERA_OK ||
      tempera_sampler_create(model, &o, &sampler, &error) != TEMPERA_OK ||
      tempera_sampler_run(sampler, NULL, NULL, &error) != TEMPERA_OK ||
      tempera_sampler_summarise(sampler, &summary, &error) != TEMPERA_OK)
    fail_msg("%s", error.message);
  tempera_sampler_free(sampler);
  tempera_model_free(model);
  return summary;
}

static void near_by(const tempera_wider *w, double truth) {
  print_message("  %2g times: %.5f +- %.5f (k %.2f), exact %.5f\n", w->factor,
                w->change, w->se, w->k, truth);
  assert_true(w->se > 0 && w->se < 0.05);
  assert_true(fabs(w->change - truth) < 4 * w->se);
}

static void a_wider_prior_has_the_evidence_of_the_formula(void **state) {
  (void)state;
  const tempera_model_spec spec = conjugate_spec();
  for (uint64_t seed = 1; seed <= 3; seed++) {
    tempera_summary *s = run(&spec, seed);
    assert_int_equal(s->wider_count, 1);
    assert_false(s->wider[0].shared);
    for (size_t f = 0; f < TEMPERA_WIDER_FACTORS; f++) {
      double c = s->wider[0].by[f].factor, precision = 0.25 / (c * c);
      near_by(&s->wider[0].by[f],
              conjugate_log_z(1, precision) - conjugate_log_z(1, 0.25));
    }
    tempera_summary_free(s);
  }
}

/* A rate: exponential(1) a priori, exponential data; and one that no data speak
 * of, whose weights say so. */
static const double RATE_N = 8, RATE_SUM = 5;

static int rate_likelihood(const double *theta, double *value, void *user) {
  (void)user;
  *value = RATE_N * log(theta[0]) - RATE_SUM * theta[0];
  return 0;
}

static int rate_prior(const double *theta, double *value, void *user) {
  (void)user;
  *value = -theta[0] - 0.5 * (CONJUGATE_LOG_2_PI + theta[1] * theta[1]);
  return 0;
}

static int rate_draw(tempera_random *random, double *theta, void *user) {
  (void)user;
  theta[0] = -log(tempera_random_uniform(random));
  theta[1] = tempera_random_normal(random);
  return 0;
}

static void bounds_are_stretched_from_and_idle_parameters_are_not_known(
    void **state) {
  (void)state;
  static const tempera_parameter parameters[2] = {
      {"rate", TEMPERA_REAL, 0, 0, INFINITY, TEMPERA_BOUNDS},
      {"idle", TEMPERA_REAL, 0, -INFINITY, INFINITY, TEMPERA_BOUNDS}};
  const tempera_model_spec spec = {.name = "rate",
                                   .parameters = parameters,
                                   .parameter_count = 2,
                                   .log_likelihood = rate_likelihood,
                                   .log_prior = rate_prior,
                                   .prior_draw = rate_draw,
                                   .prior_normalised = true};
  tempera_summary *s = run(&spec, 5);
  assert_int_equal(s->wider_count, 2);
  for (size_t f = 0; f < TEMPERA_WIDER_FACTORS; f++) {
    double c = s->wider[0].by[f].factor;
    near_by(&s->wider[0].by[f],
            -log(c) -
                (RATE_N + 1) * log((RATE_SUM + 1 / c) / (RATE_SUM + 1)));
    print_message("  idle: k %.2f\n", s->wider[1].by[f].k);
  }
  assert_true(isnan(s->wider[1].by[1].change) && s->wider[1].by[1].k > 0.7);
  char *text = NULL;
  assert_int_equal(tempera_summary_text(s, false, &text, NULL), TEMPERA_OK);
  assert_non_null(strstr(text, "were a prior wider"));
  assert_non_null(strstr(text, "run the program with it"));
  tempera_text_free(text);
  tempera_summary_free(s);
}

/* theta ~ N(0, e^s), s ~ N(0, 1): neither prior can be stretched alone. */
static int shared_prior(const double *theta, double *value, void *user) {
  (void)user;
  double x = theta[1] * exp(-theta[0]);
  *value = -CONJUGATE_LOG_2_PI - 0.5 * (theta[0] * theta[0] + x * x) - theta[0];
  return 0;
}

static int shared_draw(tempera_random *random, double *theta, void *user) {
  (void)user;
  theta[0] = tempera_random_normal(random);
  theta[1] = exp(theta[0]) * tempera_random_normal(random);
  return 0;
}

static int shared_likelihood(const double *theta, double *value, void *user) {
  return conjugate_likelihood(theta + 1, value, user);
}

static void priors_that_others_share_are_said_to_be(void **state) {
  (void)state;
  static const tempera_parameter parameters[2] = {
      {"s", TEMPERA_REAL, 0, -INFINITY, INFINITY, TEMPERA_BOUNDS},
      {"theta", TEMPERA_REAL, 0, -INFINITY, INFINITY, TEMPERA_BOUNDS}};
  const tempera_model_spec spec = {.name = "shared",
                                   .parameters = parameters,
                                   .parameter_count = 2,
                                   .log_likelihood = shared_likelihood,
                                   .log_prior = shared_prior,
                                   .prior_draw = shared_draw,
                                   .prior_normalised = true};
  tempera_summary *s = run(&spec, 1);
  assert_true(s->wider_count == 2 && s->wider[0].shared && s->wider[1].shared);
  assert_true(isnan(s->wider[0].by[0].change));
  tempera_summary_free(s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_wider_prior_has_the_evidence_of_the_formula),
      cmocka_unit_test(
          bounds_are_stretched_from_and_idle_parameters_are_not_known),
      cmocka_unit_test(priors_that_others_share_are_said_to_be)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
