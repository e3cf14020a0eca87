/* States annealed from the prior, and draws far from q: where the likelihood is
 * zero on most of the prior, and with a second mode that no draw has visited.
 */
#include "run/absorption.h"
#include "whole_run.h"

#include <math.h>

/* x[1], x[2] ~ normal(0, 3); L is flat within a box about 0, of 3 % of the
 * prior, but for a hill of which `user` says where it is, and 0 outside. */
static const double HALF = 0.7;

static int box(const double *x, double *value, void *user) {
  double at = *(double *)user, square = 0;
  *value = -INFINITY;
  for (size_t i = 0; i < 2; i++) {
    if (fabs(x[i]) > HALF)
      return 0;
    square += (x[i] - at) * (x[i] - at);
  }
  *value = -square / (2 * 0.1 * 0.1);
  return 0;
}

static int prior(const double *x, double *value, void *user) {
  (void)user;
  *value = -(x[0] * x[0] + x[1] * x[1]) / 18 - 2 * log(3) - 1.8378770664093453;
  return 0;
}

static int draw(tempera_random *random, double *x, void *user) {
  (void)user;
  for (size_t i = 0; i < 2; i++)
    x[i] = 3 * tempera_random_normal(random);
  return 0;
}

static tempera_sampler *sampled(tempera_model **model, double *at) {
  static const tempera_parameter x = {
      .name = "x", .size = 2, .lower = -INFINITY, .upper = INFINITY};
  tempera_model_spec spec = {.name = "box",
                             .parameters = &x,
                             .parameter_count = 1,
                             .log_likelihood = box,
                             .log_prior = prior,
                             .prior_draw = draw,
                             .prior_normalised = true,
                             .user = at};
  *model = make_model(&spec);
  tempera_options o = tempera_options_default();
  o.chains = 4;
  o.iterations = 4000;
  o.threads = 1;
  tempera_sampler *sampler = make_sampler(*model, &o);
  tempera_summary_free(run_sampler(sampler));
  return sampler;
}

static tm_absorption measured(tempera_sampler *s) {
  s->absorption = (tm_absorption){0};
  assert_int_equal(tm_absorption_measure(s, NULL), TEMPERA_OK);
  return s->absorption;
}

static void zero_likelihood_keeps_no_start(void **state) {
  (void)state;
  double at = 0.2;
  tempera_model *model = NULL;
  tempera_sampler *s = sampled(&model, &at);
  tm_absorption a = measured(s);
  assert_int_equal(a.starts, 60);
  assert_int_equal(a.absorbed, 60);
  assert_true(a.lost_mass == -INFINITY);
  assert_int_equal(a.far, 60);
  assert_int_equal(a.far_absorbed, 60);
  assert_true(a.far_mass == -INFINITY);
  tempera_sampler_free(s);
  tempera_model_free(model);
}

/* Starts that stayed away are tried again, and no others, when the run
 * is half as long again. */
static void lost_starts_are_tried_again(void **state) {
  (void)state;
  double at = 0.2;
  tempera_model *model = NULL;
  tempera_sampler *s = sampled(&model, &at);
  tm_absorption whole = measured(s);
  assert_int_equal(whole.lost, 0);
  assert_int_equal(whole.tried, tm_sweeps_done(s));
  s->absorption.absorbed = 58; /* as if those two were lost half way */
  s->absorption.lost = (uint64_t)1 << 3 | (uint64_t)1 << 59;
  s->absorption.lost_mass = INFINITY;
  s->absorption.tried = 2 * tm_sweeps_done(s) / 3 + 1;
  s->absorption.rows = 0;
  assert_int_equal(tm_absorption_measure(s, NULL), TEMPERA_OK);
  assert_int_equal(s->absorption.absorbed, 58);
  assert_true(s->absorption.lost_mass == INFINITY);
  s->absorption.tried--;
  s->absorption.rows = 0;
  assert_int_equal(tm_absorption_measure(s, NULL), TEMPERA_OK);
  assert_int_equal(s->absorption.starts, 60);
  assert_int_equal(s->absorption.absorbed, 60);
  assert_int_equal(s->absorption.lost, 0);
  assert_true(s->absorption.lost_mass == -INFINITY);
  tempera_sampler_free(s);
  tempera_model_free(model);
}

/* Draws as if some had been where q is not: the leg does not come down. */
static void draws_in_another_mode_are_told(void **state) {
  (void)state;
  double at = 0.2;
  tempera_model *model = NULL;
  tempera_sampler *s = sampled(&model, &at);
  assert_int_equal(measured(s).far_absorbed, 60);
  at = -0.55; /* the hill moves away: all draws lie outside of q's reach */
  for (size_t c = 0; c < s->options.chains; c++)
    for (size_t j = 0; j < 2; j++) {
      double *x = tm_draws_column(s->draws, TEMPERA_TARGET, c, j);
      for (size_t i = 0; i < s->draws->count; i++)
        x[i] = at;
    }
  tm_absorption a = measured(s);
  assert_int_equal(a.far, 60);
  assert_true(a.far_absorbed < 50 && a.far_mass > -20);
  assert_true(a.absorbed < 60 && a.lost_mass > -20);
  tempera_sampler_free(s);
  tempera_model_free(model);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(zero_likelihood_keeps_no_start),
      cmocka_unit_test(lost_starts_are_tried_again),
      cmocka_unit_test(draws_in_another_mode_are_told),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
