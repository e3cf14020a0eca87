/* Likelihoods that are zero on all but a small share of the prior: the share,
 * draws from it, and the evidence, against exact answers. */
#include "cmocka_all.h"
#include "run/sampler.h"
#include "run/splitting.h"
#include "run/support.h"

#include <math.h>

/* x uniform on (0, 4)^2, by a density that is not normalised; L = e^x[0] in
 * two squares of side `side`, at (1, 1) and, `twice` as wide, at (3, 2). */
typedef struct islands {
  double side;
} islands;

static int flat(const double *x, double *value, void *user) {
  (void)x;
  (void)user;
  *value = 1;
  return 0;
}

static bool within(const double *x, double a, double b, double side) {
  return fabs(x[0] - a) < side / 2 && fabs(x[1] - b) < side / 2;
}

static int likelihood(const double *x, double *value, void *user) {
  double side = ((islands *)user)->side;
  *value = x[0];
  return !(within(x, 1, 1, side) || within(x, 3, 2, 2 * side));
}

static int draw(tempera_random *random, double *x, void *user) {
  (void)user;
  x[0] = 4 * tempera_random_uniform(random);
  x[1] = 4 * tempera_random_uniform(random);
  return 0;
}

static double log_mass(double side) { return log(5 * side * side / 16); }

static double log_evidence(double side) {
  double one = exp(1) * 2 * sinh(side / 2) * side;
  double two = exp(3) * 2 * sinh(side) * 2 * side;
  return log((one + two) / 16);
}

static tempera_model *two_islands(islands *user, bool normalised) {
  static const tempera_parameter x = {
      .name = "x", .size = 2, .lower = 0, .upper = 4};
  tempera_model_spec spec = {.name = "islands",
                             .parameters = &x,
                             .parameter_count = 1,
                             .log_likelihood = likelihood,
                             .log_prior = flat,
                             .prior_draw = draw,
                             .prior_normalised = normalised,
                             .prior_log_integral = 1 + log(16),
                             .user = user};
  tempera_model *model;
  assert_int_equal(tempera_model_create(&spec, &model, NULL), TEMPERA_OK);
  return model;
}

static void the_mass_is_right(void **state) {
  (void)state;
  for (int normalised = 0; normalised < 2; normalised++) {
    islands user = {.02};
    tempera_model *model = two_islands(&user, normalised);
    tm_support s;
    assert_int_equal(tm_support_find(model, 1, &s, NULL), TEMPERA_OK);
    assert_string_equal(s.uncertain, "");
    assert_true(s.hits >= 59 && s.draws <= 1 << 23);
    assert_true(s.se > 0 && s.se < (normalised ? 0.03 : 0.1));
    assert_true(fabs(s.log_p - log_mass(.02)) < 4 * s.se);
    tm_support_free(&s);
    tempera_model_free(model);
  }
}

/* A fifth of the draws is on the small island. */
static void law_draws_follow_the_restricted_prior(void **state) {
  (void)state;
  enum { N = 20000 };
  islands user = {.02};
  tempera_model *model = two_islands(&user, true);
  tm_support s;
  assert_int_equal(tm_support_find(model, 2, &s, NULL), TEMPERA_OK);
  assert_non_null(s.model.law);
  tm_arena *arena = tm_arena_create();
  tm_evaluator evaluator;
  tm_point point;
  assert_int_equal(tm_evaluator_create(&s.model, arena, &evaluator, NULL), 0);
  assert_int_equal(tm_point_create(&s.model, arena, &point, NULL), 0);
  tempera_random random = tm_random(5, 0, TM_PURPOSE_TEST);
  double small = 0, mean = 0;
  for (size_t i = 0; i < N; i++) {
    tm_prior_draw(&evaluator, &random, &point);
    assert_true(point.log_likelihood == point.theta[0]);
    bool there = within(point.theta, 1, 1, .02);
    small += there;
    mean += there ? point.theta[1] - 1 : point.theta[1] - 2;
  }
  assert_true(fabs(small / N - .2) < 4 * sqrt(.16 / N));
  assert_true(fabs(mean / N) < 4 * .04 / sqrt(12. * N));
  tm_evaluator_release(&evaluator);
  tm_arena_free(arena);
  tm_support_free(&s);
  tempera_model_free(model);
}

/* ---- splitting ----------------------------------------------------------
 */

/* The distance from the nearer island, which a program's guards would tell. */
static double distance(const double *x, double a, double b, double side) {
  return fmax(0, fmax(fabs(x[0] - a), fabs(x[1] - b)) - side / 2);
}

static double island_shortfall(const double *x, void *user) {
  double side = ((islands *)user)->side;
  double s = fmin(distance(x, 1, 1, side), distance(x, 3, 2, 2 * side));
  return within(x, 1, 1, side) || within(x, 3, 2, 2 * side) ? 0 : s + 1e-300;
}

static double all_alike(const double *x, void *user) {
  (void)x;
  (void)user;
  return 1;
}

/* Over seeds the errors are as large as they claim, a Student factor included,
 * and each island has its share of the points. */
static void splitting_measures_a_mass_no_draw_would_meet(void **state) {
  (void)state;
  enum { SEEDS = 10 };
  islands user = {1e-4}; /* a mass of 3e-9 */
  tempera_model *model = two_islands(&user, true);
  model->shortfall = island_shortfall;
  double square = 0, mean = 0, small = 0;
  for (uint64_t seed = 1; seed <= SEEDS; seed++) {
    tm_arena *arena = tm_arena_create();
    tm_splitting made;
    assert_int_equal(tm_split(model, seed, arena, &made, NULL), TEMPERA_OK);
    assert_true(made.found && made.se > 0.01 && made.se < 0.3);
    assert_int_equal(made.point_count, TM_SPLIT_REPEATS * TM_SPLIT_PARTICLES);
    double z = (made.log_p - log_mass(1e-4)) / made.se;
    assert_true(fabs(z) < 4);
    square += z * z / SEEDS;
    mean += z / SEEDS;
    for (size_t i = 0; i < made.point_count; i++) /* u = logit(x / 4) */
      small += made.points[2 * i] < 0;
    tm_arena_free(arena);
  }
  small /= SEEDS * TM_SPLIT_REPEATS * (double)TM_SPLIT_PARTICLES;
  assert_true(square > 0.1 && square < 2.5); /* 1/1.2^2 on average */
  assert_true(fabs(mean) < 4 / sqrt(SEEDS));
  /* Of 80 repeats each keeps the islands' shares to about a third. */
  assert_true(fabs(small - .2) < 4 * .2 / sqrt(80));
  tempera_model_free(model);
}

static void splitting_says_where_there_is_no_way(void **state) {
  (void)state;
  islands user = {1e-4};
  tempera_model *model = two_islands(&user, true);
  model->shortfall = all_alike;
  tm_arena *arena = tm_arena_create();
  tm_splitting made;
  assert_int_equal(tm_split(model, 1, arena, &made, NULL), TEMPERA_OK);
  assert_false(made.found);
  tm_arena_free(arena);
  tempera_model_free(model);
}

/* ---- integers: a + b < 4, both uniform on 1 to 200: 3 of 40 000 -------------
 */

typedef struct corner {
  int mark;
} corner;

static double corner_shortfall(const double *x, void *user) {
  (void)user;
  return fmax(0, x[0] + x[1] - 3);
}

static int corner_likelihood(const double *x, double *value, void *user) {
  *value = 0;
  return corner_shortfall(x, user) > 0;
}

static int corner_prior(const double *x, double *value, void *user) {
  (void)x, (void)user;
  *value = -2 * log(200);
  return 0;
}

static int corner_draw(tempera_random *random, double *x, void *user) {
  (void)user;
  for (int i = 0; i < 2; i++)
    x[i] = 1 + (double)tempera_random_below(random, 200);
  return 0;
}

/* The terms of the model's own likelihood, not of a level set's. */
static int corner_terms(const double *x, size_t i, double *log_likelihood,
                        double *log_prior, void *user) {
  (void)i;
  assert_int_equal(((corner *)user)->mark, 4711);
  *log_likelihood = corner_shortfall(x, user) > 0 ? -INFINITY : 0;
  *log_prior = -2 * log(200);
  return 0;
}

static void integers_are_split_without_their_terms(void **state) {
  (void)state;
  corner user = {4711};
  tempera_parameter x = {.name = "x",
                         .kind = TEMPERA_INTEGER,
                         .size = 2,
                         .lower = 1,
                         .upper = 200};
  tempera_model_spec spec = {.name = "corner",
                             .parameters = &x,
                             .parameter_count = 1,
                             .log_likelihood = corner_likelihood,
                             .log_prior = corner_prior,
                             .prior_draw = corner_draw,
                             .prior_normalised = true,
                             .integer_terms = corner_terms,
                             .user = &user};
  tempera_model *model = NULL;
  assert_int_equal(tempera_model_create(&spec, &model, NULL), TEMPERA_OK);
  model->shortfall = corner_shortfall;
  tm_arena *arena = tm_arena_create();
  tm_splitting made;
  assert_int_equal(tm_split(model, 1, arena, &made, NULL), TEMPERA_OK);
  print_message("log P = %.3f +- %.3f, exact %.3f\n", made.log_p, made.se,
                log(3. / 40000));
  assert_true(made.found);
  assert_true(fabs(made.log_p - log(3. / 40000)) < 4 * made.se);
  tm_arena_free(arena);
  tempera_model_free(model);
}

static tempera_summary *summary_of(const tempera_model *model) {
  tempera_options options = tempera_options_default();
  options.seed = 3;
  options.threads = 1;
  tempera_sampler *sampler;
  tempera_summary *summary;
  assert_int_equal(tempera_sampler_create(model, &options, &sampler, NULL), 0);
  assert_int_equal(tempera_sampler_run(sampler, NULL, NULL, NULL), 0);
  assert_int_equal(tempera_sampler_summarise(sampler, &summary, NULL), 0);
  tempera_sampler_free(sampler);
  return summary;
}

/* Every estimator that starts from tau = 0, and bridge, which does not. */
static void evidence_is_right(void **state) {
  (void)state;
  for (int normalised = 0; normalised < 2; normalised++) {
    islands user = {.02};
    tempera_model *model = two_islands(&user, normalised);
    tempera_summary *s = summary_of(model);
    double truth = log_evidence(.02);
    assert_true(s->reliable);
    assert_true(fabs(s->log_z - truth) < 4 * s->se);
    size_t checked = 0;
    for (size_t i = 0; i < s->estimate_count; i++) {
      const tempera_estimate *e = &s->estimates[i];
      if (strcmp(e->name, "rb") && strcmp(e->name, "ss") &&
          strcmp(e->name, "ti") && strcmp(e->name, "bridge"))
        continue;
      assert_true(fabs(e->log_z - truth) < 4 * e->se);
      checked++;
    }
    assert_int_equal(checked, 4);
    assert_true(fabs(log1p(-s->zero_likelihood) - log_mass(.02)) < 0.5);
    tempera_summary_free(s);
    tempera_model_free(model);
  }
}

/* A dozen hits may all be on one island. */
static void few_hits_forbid_reliable(void **state) {
  (void)state;
  islands user = {.002};
  tempera_model *model = two_islands(&user, true);
  tm_support support;
  assert_int_equal(tm_support_find(model, 1, &support, NULL), TEMPERA_OK);
  assert_true(support.hits > 0 && support.hits < 59);
  assert_string_not_equal(support.uncertain, "");
  tm_support_free(&support);
  tempera_summary *s = summary_of(model);
  assert_false(s->reliable);
  tempera_summary_free(s);
  tempera_model_free(model);
}

static void none_at_all_is_an_error(void **state) {
  (void)state;
  islands user = {0};
  tempera_model *model = two_islands(&user, true);
  tm_support support;
  tempera_error error = {0};
  assert_int_equal(tm_support_find(model, 1, &support, &error),
                   TEMPERA_ERROR_MODEL);
  assert_non_null(strstr(error.message, "2097152 prior draws"));
  tempera_model_free(model);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(splitting_measures_a_mass_no_draw_would_meet),
      cmocka_unit_test(splitting_says_where_there_is_no_way),
      cmocka_unit_test(integers_are_split_without_their_terms),
      cmocka_unit_test(the_mass_is_right),
      cmocka_unit_test(law_draws_follow_the_restricted_prior),
      cmocka_unit_test(evidence_is_right),
      cmocka_unit_test(few_hits_forbid_reliable),
      cmocka_unit_test(none_at_all_is_an_error),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
