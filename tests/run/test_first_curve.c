/* The first curve of log z, where a knot of the Laplace ridge is bad: draws
 * from the prior bound it from below. */
#include "cmocka_all.h"
#include "run/learner.h"
#include "run/sampler.h"

#include <math.h>

/* x ~ normal(0, 1), y = 2 ~ normal(x, .1) */
static double log_normal(double x, double mean, double sd) {
  double z = (x - mean) / sd;
  return -0.5 * z * z - log(sd) - 0.918938533204672742;
}

static int likelihood(const double *x, double *value, void *user) {
  (void)user;
  *value = log_normal(2, *x, .1);
  return 0;
}

static int prior(const double *x, double *value, void *user) {
  (void)user;
  *value = log_normal(*x, 0, 1);
  return 0;
}

static int draw(tempera_random *random, double *x, void *user) {
  (void)user;
  *x = tempera_random_normal(random);
  return 0;
}

static double truth(double tau) {
  double precision = tau / .01;
  return -tau * (log(.1) + 0.918938533204672742) - .5 * log1p(precision) -
         .5 * 4 * precision / (1 + precision);
}

/* Knots in the middle are lowered by `depth`. */
static void spoil(tempera_sampler *sampler, double depth) {
  const tm_laplace_view *view = &sampler->laplace->view;
  tm_laplace_knot *knots = (tm_laplace_knot *)view->knots;
  assert_true(view->knot_count > 2);
  for (size_t k = 1; k + 1 < view->knot_count; k++)
    knots[k].log_z -= depth;
}

static double worst(tempera_sampler *sampler) {
  tm_learner *learner = NULL;
  double most = 0;
  assert_int_equal(tm_landscape_learner(sampler, true, &learner, NULL), 0);
  for (size_t k = 0; k < learner->count; k++)
    most = fmax(most, fabs(learner->log_z[k] - truth(learner->tau[k])));
  tm_learner_free(learner);
  return most;
}

static void a_bad_knot_is_bounded_by_prior_draws(void **state) {
  (void)state;
  static const tempera_parameter x = {
      .name = "x", .size = 1, .lower = -INFINITY, .upper = INFINITY};
  tempera_model_spec spec = {.name = "normal",
                             .parameters = &x,
                             .parameter_count = 1,
                             .log_likelihood = likelihood,
                             .log_prior = prior,
                             .prior_draw = draw,
                             .prior_normalised = true};
  tempera_model *model = NULL;
  tempera_sampler *sampler = NULL;
  tempera_options o = tempera_options_default();
  o.threads = 1;
  assert_int_equal(tempera_model_create(&spec, &model, NULL), TEMPERA_OK);
  assert_int_equal(tempera_sampler_create(model, &o, &sampler, NULL), 0);
  assert_int_equal(tm_landscape_begin(sampler, NULL), 0);
  assert_true(worst(sampler) < .5);
  spoil(sampler, 300);
  double off = worst(sampler);
  print_message("off by %.2f nats with a ridge that is off by 300\n", off);
  assert_true(off < 5);
  tempera_sampler_free(sampler);
  tempera_model_free(model);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_bad_knot_is_bounded_by_prior_draws)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
