/* Facts about power-scaling sensitivity: a normal posterior knows its exact
 * derivatives. */
#include "cmocka_all.h"
#include "conjugate_models.h"

/* d F(x)/d log alpha, with s = b theta + c theta^2 and theta ~ N(mean, sd^2). */
static double moved(double x, double mean, double sd, double b, double c) {
  double z = (x - mean) / sd, phi = exp(-z * z / 2) / sqrt(2 * M_PI);
  return -phi * ((b + 2 * c * mean) * sd + c * sd * sd * z);
}

/* The diagnostic by quadrature over the draws' range. */
static double exact(double low, double high, double mean, double sd, double b,
                    double c) {
  enum { STEPS = 20000 };
  double up = 0, down = 0, up_bound = 0, down_bound = 0;
  double width = (high - low) / STEPS;
  for (int k = 0; k < STEPS; k++) {
    double x = low + (k + 0.5) * width, h = moved(x, mean, sd, b, c);
    double f = 0.5 * erfc(-(x - mean) / sd / sqrt(2));
    double g = 0.5 * erfc((x - mean) / sd / sqrt(2));
    up += h * h / f;
    down += h * h / g;
    up_bound += f;
    down_bound += g;
  }
  return sqrt(M_LN2 / 8 * fmax(up / up_bound, down / down_bound));
}

static void near(const char *what, double value, double se, double truth) {
  print_message("%-12s %.4f +- %.4f, exact %.4f\n", what, value, se, truth);
  assert_true(se > 0 && se < 0.05);
  assert_true(fabs(value - truth) < 4 * se);
}

static void sensitivities_are_exact_derivatives(void **state) {
  (void)state;
  const tempera_model_spec spec = conjugate_spec();
  const double precision = 1 / (PRIOR_SD * PRIOR_SD);
  double mean = conjugate_centre(1, precision);
  double sd = sqrt(conjugate_variance(1, precision));
  for (uint64_t seed = 1; seed <= 3; seed++) {
    tempera_error error = {0};
    tempera_model *model = NULL;
    tempera_sampler *sampler = NULL;
    tempera_summary *s = NULL;
    tempera_options o = tempera_options_default();
    o.seed = seed;
    o.iterations = 900; /* all of them are used */
    o.threads = 1;
    if (tempera_model_create(&spec, &model, &error) != TEMPERA_OK ||
        tempera_sampler_create(model, &o, &sampler, &error) != TEMPERA_OK ||
        tempera_sampler_run(sampler, NULL, NULL, &error) != TEMPERA_OK ||
        tempera_sampler_summarise(sampler, &s, &error) != TEMPERA_OK)
      fail_msg("%s", error.message);
    double low = INFINITY, high = -INFINITY;
    const tempera_draws *draws = tempera_sampler_draws(sampler);
    for (size_t c = 0; c < tempera_draws_chains(draws); c++)
      for (size_t i = 0; i < tempera_draws_count(draws); i++) {
        double x = tempera_draws_values(draws, TEMPERA_TARGET, c, 0)[i];
        low = fmin(low, x);
        high = fmax(high, x);
      }
    assert_non_null(s->sensitivity);
    near("prior", s->sensitivity[0].prior, s->sensitivity[0].prior_se,
         exact(low, high, mean, sd, 0, -0.5 * precision));
    near("likelihood", s->sensitivity[0].likelihood,
         s->sensitivity[0].likelihood_se,
         exact(low, high, mean, sd, CONJUGATE_N * CONJUGATE_MEAN,
               -0.5 * CONJUGATE_N));
    tempera_summary_free(s);
    tempera_sampler_free(sampler);
    tempera_model_free(model);
  }
}

static void words_follow_the_authors(void **state) {
  (void)state;
  const tempera_sensitivity conflict = {0.06, 0.01, 0.2, 0.01};
  const tempera_sensitivity weak = {0.06, 0.01, 0.01, 0.01};
  const tempera_sensitivity fine = {0.01, 0.01, 0.2, 0.01};
  assert_string_equal(tempera_sensitivity_words(&conflict),
                      "prior-data conflict");
  assert_string_equal(tempera_sensitivity_words(&weak), "weak likelihood");
  assert_null(tempera_sensitivity_words(&fine));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sensitivities_are_exact_derivatives),
      cmocka_unit_test(words_follow_the_authors)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
