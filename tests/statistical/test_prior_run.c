/* A prior without draws is explored before the run: its integral, draws from
 * it, and the evidence, against exact answers. */
#include "cmocka_all.h"
#include "run/prior_run.h"
#include "run/sampler.h"

#include <math.h>

/* ---- two wells: exp(-(x^2 - 9)^2 / 4), datum 2 ~ normal(x, 2) ------------ */

static int wells(const double *x, double *value, void *user) {
  (void)user;
  double w = x[0] * x[0] - 9;
  *value = -w * w / 4;
  return 0;
}

static int datum(const double *x, double *value, void *user) {
  (void)user;
  double z = (2 - x[0]) / 2;
  *value = -0.5 * z * z - log(2) - 0.5 * log(2 * M_PI);
  return 0;
}

static double wells_log_z(tempera_density_fn with, double power) {
  double sum = 0, step = 1e-3;
  for (double x = -8; x <= 8; x += step) {
    double prior, other = 0;
    wells(&x, &prior, NULL);
    if (with)
      with(&x, &other, NULL);
    sum += step * exp(prior + other) * pow(x, power);
  }
  return log(sum);
}

static tempera_model *two_wells(void) {
  static const tempera_parameter x = {
      .name = "x", .size = 1, .lower = -INFINITY, .upper = INFINITY};
  tempera_model_spec spec = {.name = "wells",
                             .parameters = &x,
                             .parameter_count = 1,
                             .log_likelihood = datum,
                             .log_prior = wells};
  tempera_model *model;
  assert_int_equal(tempera_model_create(&spec, &model, NULL), TEMPERA_OK);
  return model;
}

/* ---- an integer and a real: exp(-(k - 3)^2 / 4 - (x - k)^2), k >= 0 ------ */

static int steps(const double *t, double *value, void *user) {
  (void)user;
  double a = t[0] - 3, b = t[1] - t[0];
  *value = -a * a / 4 - b * b;
  return 0;
}

static tempera_model *whole_and_real(void) {
  static const tempera_parameter list[] = {
      {.name = "k",
       .kind = TEMPERA_INTEGER,
       .size = 1,
       .lower = 0,
       .upper = INFINITY},
      {.name = "x", .size = 1, .lower = -INFINITY, .upper = INFINITY}};
  tempera_model_spec spec = {.name = "steps",
                             .parameters = list,
                             .parameter_count = 2,
                             .log_likelihood = datum,
                             .log_prior = steps};
  tempera_model *model;
  assert_int_equal(tempera_model_create(&spec, &model, NULL), TEMPERA_OK);
  return model;
}

static void explore(const tempera_model *model, double time_limit,
                    tm_prior_run *run) {
  tempera_options options = tempera_options_default();
  options.seed = 1;
  options.threads = 1;
  options.time_limit = time_limit;
  assert_true(tm_prior_run_needed(model, &options));
  assert_int_equal(tm_prior_run_explore(model, &options, run, NULL),
                   TEMPERA_OK);
}

static void integral_is_right_with_its_error(void **state) {
  (void)state;
  tempera_model *model = two_wells();
  tm_prior_run run;
  explore(model, 0, &run);
  assert_string_equal(run.uncertain, "");
  assert_true(run.model.prior_known);
  double truth = wells_log_z(NULL, 0);
  assert_true(run.model.prior_se > 0 && run.model.prior_se < 0.02);
  assert_true(fabs(run.model.prior_log_z - truth) < 4 * run.model.prior_se);
  tm_prior_run_free(&run);
  tempera_model_free(model);
}

/* Means over independent draws of the law: of x, x^2 and x^4. */
static void law_draws_follow_the_prior(void **state) {
  (void)state;
  enum { N = 40000 };
  tempera_model *model = two_wells();
  tm_prior_run run;
  explore(model, 0, &run);
  assert_non_null(run.model.law);
  tm_arena *arena = tm_arena_create();
  tm_evaluator evaluator;
  tm_point point;
  assert_int_equal(tm_evaluator_create(&run.model, arena, &evaluator, NULL), 0);
  assert_int_equal(tm_point_create(&run.model, arena, &point, NULL), 0);
  tempera_random random = tm_random(5, 0, TM_PURPOSE_TEST);
  double sum[9] = {0};
  for (size_t i = 0; i < N; i++) {
    tm_prior_draw(&evaluator, &random, &point);
    double l;
    datum(point.theta, &l, NULL);
    assert_true(fabs(point.log_likelihood - l) < 1e-12);
    for (int k = 1; k <= 8; k++)
      sum[k] += pow(point.theta[0], k) / N;
  }
  double log_z = wells_log_z(NULL, 0);
  for (int k = 1; k <= 4; k += k) {
    double truth = k == 1 ? 0 : exp(wells_log_z(NULL, k) - log_z);
    double se = sqrt((sum[2 * k] - sum[k] * sum[k]) / N);
    assert_true(fabs(sum[k] - truth) < 4 * se);
  }
  tm_evaluator_release(&evaluator);
  tm_arena_free(arena);
  tm_prior_run_free(&run);
  tempera_model_free(model);
}

static void integers_are_explored_too(void **state) {
  (void)state;
  tempera_model *model = whole_and_real();
  tm_prior_run run;
  explore(model, 0, &run);
  double sum = 0;
  for (int k = 0; k < 60; k++)
    sum += exp(-(k - 3) * (k - 3) / 4.) * sqrt(M_PI);
  assert_string_equal(run.uncertain, "");
  assert_true(run.model.prior_se < 0.1);
  assert_true(fabs(run.model.prior_log_z - log(sum)) < 4 * run.model.prior_se);
  tm_prior_run_free(&run);
  tempera_model_free(model);
}

static tempera_summary *summary_of(const tempera_model *model,
                                   double time_limit) {
  tempera_options options = tempera_options_default();
  options.seed = 2;
  options.threads = 1;
  options.time_limit = time_limit;
  tempera_sampler *sampler;
  tempera_summary *summary;
  assert_int_equal(tempera_sampler_create(model, &options, &sampler, NULL), 0);
  assert_int_equal(tempera_sampler_run(sampler, NULL, NULL, NULL), 0);
  assert_int_equal(tempera_sampler_summarise(sampler, &summary, NULL), 0);
  tempera_sampler_free(sampler);
  return summary;
}

static void evidence_is_right(void **state) {
  (void)state;
  tempera_model *model = two_wells();
  tempera_summary *summary = summary_of(model, 0);
  double truth = wells_log_z(datum, 0) - wells_log_z(NULL, 0);
  assert_true(summary->reliable);
  assert_true(fabs(summary->log_z - truth) < 4 * summary->se);
  tempera_summary_free(summary);
  tempera_model_free(model);
}

/* A prior whose exploration was cut short cannot be vouched for. */
static void a_doubt_forbids_reliable(void **state) {
  (void)state;
  tempera_model *model = two_wells();
  tm_prior_run run;
  explore(model, 1e-6, &run);
  assert_string_not_equal(run.uncertain, "");
  assert_false(run.model.prior_known);
  assert_null(run.model.law);
  tm_prior_run_free(&run);
  tempera_summary *summary = summary_of(model, 1e-6);
  bool said = false;
  for (size_t i = 0; i < summary->finding_count; i++)
    said = said || !strcmp(summary->findings[i].code, "prior-unvouched");
  assert_true(said);
  assert_false(summary->reliable);
  tempera_summary_free(summary);
  tempera_model_free(model);
}

/* Its integral is checked against the claim. */
static void a_false_claim_is_noticed(void **state) {
  (void)state;
  tempera_model *model = two_wells();
  model->spec.prior_normalised = true;
  tm_prior_run run;
  explore(model, 0, &run);
  assert_non_null(strstr(run.uncertain, "says that its integral"));
  tm_prior_run_free(&run);
  tempera_model_free(model);
}

/* ---- normal(3e6, 10) and exponential(1e-4), without their constants ------ */

static int far_slopes(const double *t, double *value, double *slope,
                      void *user) {
  (void)user;
  double z = (t[0] - 3e6) / 10;
  *value = -0.5 * z * z - t[1] / 1e4;
  slope[0] = -z / 10;
  slope[1] = -1e-4;
  return 0;
}

static int far(const double *t, double *value, void *user) {
  double slope[2];
  return far_slopes(t, value, slope, user);
}

static int flat_slopes(const double *t, double *value, double *slope,
                       void *user) {
  (void)t, (void)user;
  *value = slope[0] = slope[1] = 0;
  return 0;
}

static int flat(const double *t, double *value, void *user) {
  double slope[2];
  return flat_slopes(t, value, slope, user);
}

/* The Laplace ridge is found not to exist when it is refined, after the chains
 * have begun to jump by it. */
static void far_away_it_is_right_or_doubted(void **state) {
  (void)state;
  static const tempera_parameter list[] = {
      {.name = "x", .size = 1, .lower = -INFINITY, .upper = INFINITY},
      {.name = "s", .size = 1, .lower = 0, .upper = INFINITY}};
  tempera_model_spec spec = {.name = "far",
                             .parameters = list,
                             .parameter_count = 2,
                             .log_likelihood = flat,
                             .log_prior = far,
                             .log_likelihood_gradient = flat_slopes,
                             .log_prior_gradient = far_slopes};
  tempera_model *model;
  assert_int_equal(tempera_model_create(&spec, &model, NULL), TEMPERA_OK);
  double truth = log(10) + 0.5 * log(2 * M_PI) + log(1e4);
  for (int seed = 1; seed <= 2; seed++) {
    tempera_options options = tempera_options_default();
    tm_prior_run run;
    options.seed = (uint64_t)seed;
    options.threads = 1;
    assert_int_equal(tm_prior_run_explore(model, &options, &run, NULL),
                     TEMPERA_OK);
    if (!run.uncertain[0])
      assert_true(fabs(run.model.prior_log_z - truth) < 5 * run.model.prior_se);
    tm_prior_run_free(&run);
  }
  tempera_model_free(model);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(integral_is_right_with_its_error),
      cmocka_unit_test(law_draws_follow_the_prior),
      cmocka_unit_test(integers_are_explored_too),
      cmocka_unit_test(evidence_is_right),
      cmocka_unit_test(a_doubt_forbids_reliable),
      cmocka_unit_test(a_false_claim_is_noticed),
      cmocka_unit_test(far_away_it_is_right_or_doubted),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
