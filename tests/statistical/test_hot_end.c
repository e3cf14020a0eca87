/* Likelihoods that fall without end over the prior: log-gamma densities, whose
 * log is x - e^x, on a box so wide that e^x reaches 1e13 and 1e130. log z falls
 * at taus that no draw visits, and every estimator must see it.
 *
 * With x ~ U(-b, b), E[e^{x - e^x}] = (e^{-e^{-b}} - e^{-e^b}) / (2b). */
#include "cmocka_all.h"
#include "estimate_support.h"

#include <math.h>

enum { SIZE = 2 };

static int likelihood(const double *x, double *value, void *user) {
  (void)user;
  *value = 0;
  for (int i = 0; i < SIZE; i++)
    *value += x[i] - exp(x[i]);
  return 0;
}

static int gradient(const double *x, double *value, double *out, void *user) {
  for (int i = 0; i < SIZE; i++)
    out[i] = 1 - exp(x[i]);
  return likelihood(x, value, user);
}

static int prior(const double *x, double *value, void *user) {
  (void)x;
  *value = -SIZE * log(2 * *(const double *)user);
  return 0;
}

static int prior_gradient(const double *x, double *value, double *out,
                          void *user) {
  for (int i = 0; i < SIZE; i++)
    out[i] = 0;
  return prior(x, value, user);
}

static int prior_draw(tempera_random *random, double *x, void *user) {
  double b = *(const double *)user;
  for (int i = 0; i < SIZE; i++)
    x[i] = b * (2 * tempera_random_uniform(random) - 1);
  return 0;
}

static tempera_summary *run(double *b, uint64_t seed) {
  const tempera_parameter x = {"x", TEMPERA_REAL, SIZE,
                               -*b, *b,           TEMPERA_BOUNDS};
  tempera_model_spec spec = {.name = "log-gamma",
                             .parameters = &x,
                             .parameter_count = 1,
                             .log_likelihood = likelihood,
                             .log_prior = prior,
                             .log_likelihood_gradient = gradient,
                             .log_prior_gradient = prior_gradient,
                             .prior_draw = prior_draw,
                             .prior_normalised = true,
                             .user = b};
  tempera_options options = tempera_options_default();
  tempera_model *model = NULL;
  tempera_sampler *sampler = NULL;
  tempera_summary *summary = NULL;
  options.seed = seed;
  options.iterations = 6000;
  assert_int_equal(tempera_model_create(&spec, &model, NULL), TEMPERA_OK);
  assert_int_equal(tempera_sampler_create(model, &options, &sampler, NULL),
                   TEMPERA_OK);
  assert_int_equal(tempera_sampler_run(sampler, NULL, NULL, NULL), TEMPERA_OK);
  assert_int_equal(tempera_sampler_summarise(sampler, &summary, NULL),
                   TEMPERA_OK);
  tempera_sampler_free(sampler);
  tempera_model_free(model);
  return summary;
}

static void every_estimator_sees_the_fall(void **state) {
  (void)state;
  static const char *const names[] = {"rb", "ti", "ss", "bridge"};
  double half[] = {30, 300};
  for (size_t k = 0; k < 2; k++)
    for (uint64_t seed = 1; seed <= 3; seed++) {
      double exact = -SIZE * log(2 * half[k]);
      tempera_summary *s = run(&half[k], seed);
      for (size_t i = 0; i < 4; i++) {
        const tempera_estimate *e = estimate(s, names[i]);
        print_message("b=%g %s: %+.4f +- %.4f\n", half[k], e->name,
                      e->log_z - exact, e->se);
        assert_true(fabs(e->log_z - exact) < 4 * e->se && e->se < 0.5);
      }
      tempera_summary_free(s);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_estimator_sees_the_fall)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
