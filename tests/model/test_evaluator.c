/* Facts about models seen from outside: scales and their Jacobian, densities
 * and gradients at unconstrained points, callers built against other headers.
 */
#include "gaussian_model.h"
#include "whole_run.h"

/* A scale s > 0 with a density over it: log s, with gradient. */
static int value(const double *theta, double *out, void *user) {
  (void)user;
  *out = log(theta[0]) - theta[1] * theta[1];
  return theta[1] > 5 ? 1 : 0;
}
static int slope(const double *theta, double *out, double *gradient,
                 void *user) {
  gradient[0] = 1 / theta[0];
  gradient[1] = -2 * theta[1];
  return value(theta, out, user);
}
static int flat(const double *theta, double *out, void *user) {
  (void)theta, (void)user;
  *out = 0;
  return 0;
}
static int flat_slope(const double *theta, double *out, double *gradient,
                      void *user) {
  (void)theta, (void)user;
  *out = gradient[0] = gradient[1] = 0;
  return 0;
}

static tempera_model *scale_model(bool gradients) {
  static const tempera_parameter parameters[] = {
      {.name = "s", .lower = 0, .upper = INFINITY},
      {.name = "x", .lower = -INFINITY, .upper = INFINITY}};
  const tempera_model_spec spec = {
      .name = "scale",
      .parameters = parameters,
      .parameter_count = 2,
      .log_likelihood = value,
      .log_prior = flat,
      .log_likelihood_gradient = gradients ? slope : NULL,
      .log_prior_gradient = gradients ? flat_slope : NULL};
  return make_model(&spec);
}

static void scales_agree(void **state) {
  (void)state;
  tempera_model *model = scale_model(true);
  const double u[] = {0.7, -1.5}, outside[] = {-1, 0};
  double theta[2], back[2], jacobian;
  tempera_model_constrain(model, u, theta, &jacobian);
  assert_true(fabs(theta[0] - exp(0.7)) < 1e-14 && theta[1] == -1.5);
  assert_true(fabs(jacobian - 0.7) < 1e-14);
  assert_int_equal(tempera_model_unconstrain(model, theta, back, NULL), 0);
  assert_true(fabs(back[0] - u[0]) < 1e-14 && back[1] == u[1]);
  assert_int_equal(tempera_model_unconstrain(model, outside, back, NULL),
                   TEMPERA_ERROR_INPUT);
  tempera_model_free(model);
}

static void densities_have_gradients(void **state) {
  (void)state;
  tempera_model *model = scale_model(true);
  tempera_evaluator *e = NULL;
  tempera_density d;
  double g[2], u[] = {0.3, 2};
  assert_int_equal(tempera_evaluator_create(model, &e, NULL), 0);
  assert_int_equal(tempera_evaluator_at(e, 0.25, u, &d, g, NULL), 0);
  assert_true(fabs(d.log_likelihood - (0.3 - 4)) < 1e-14);
  assert_true(d.log_prior == 0 && fabs(d.log_jacobian - 0.3) < 1e-15);
  assert_true(fabs(g[0] - 1.25) < 1e-14); /* tau u0 - tau x^2 + u0 */
  assert_true(fabs(g[1] + 0.25 * 4) < 1e-14);
  u[1] = 6; /* rejected: no failure */
  assert_int_equal(tempera_evaluator_at(e, 1, u, &d, g, NULL), 0);
  assert_true(d.log_likelihood == -INFINITY && g[0] == 0 && g[1] == 0);
  tempera_evaluator_free(e);
  tempera_model_free(model);
}

static void without_gradients_none_are_given(void **state) {
  (void)state;
  tempera_model *model = scale_model(false);
  tempera_evaluator *e = NULL;
  tempera_density d;
  double g[2];
  const double u[] = {0, 0};
  assert_int_equal(tempera_evaluator_create(model, &e, NULL), 0);
  assert_int_equal(tempera_evaluator_at(e, 1, u, &d, NULL, NULL), 0);
  assert_int_equal(tempera_evaluator_at(e, 1, u, &d, g, NULL),
                   TEMPERA_ERROR_ARGUMENT);
  tempera_evaluator_free(e);
  tempera_model_free(model);
}

/* A client of yesterday's header knows fewer fields, one of tomorrow's more. */
static void structs_of_other_sizes_are_understood(void **state) {
  (void)state;
  tempera_model_spec spec = two_gaussians();
  tempera_model *model = make_model(&spec);
  tempera_sampler *sampler = NULL;
  struct {
    tempera_options known;
    size_t later;
  } larger;
  tempera_options_default_sized(&larger.known, sizeof larger);
  assert_int_equal(larger.later, 0);
  assert_true(larger.known.jumps);
  assert_int_equal(tempera_sampler_create_sized(model, &larger.known,
                                                sizeof larger, &sampler, NULL),
                   TEMPERA_OK);
  tempera_sampler_free(sampler);
  larger.later = 7;
  tempera_error error = {0};
  assert_int_equal(tempera_sampler_create_sized(
                       model, &larger.known, sizeof larger, &sampler, &error),
                   TEMPERA_ERROR_ARGUMENT);
  assert_non_null(strstr(error.message, "older than the tempera.h"));
  size_t before = offsetof(tempera_options, chain_offset);
  larger.known.chain_offset = 3;
  assert_int_equal(tempera_sampler_create_sized(model, &larger.known, before,
                                                &sampler, NULL),
                   TEMPERA_OK);
  assert_int_equal(tempera_sampler_options(sampler)->chain_offset, 0);
  tempera_sampler_free(sampler);
  tempera_model_free(model);
  assert_string_equal(tempera_version(), TEMPERA_VERSION);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(scales_agree),
      cmocka_unit_test(densities_have_gradients),
      cmocka_unit_test(without_gradients_none_are_given),
      cmocka_unit_test(structs_of_other_sizes_are_understood)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
