/* The curve of log z against prior draws: agreement passes, a chain that has
 * not explored the prior is caught. With l = -x^2/2 - c and x ~ N(0, 1000^2)
 * z(tau) = e^(-c tau) / sqrt(1 + 1e6 tau). */
#include "base/random.h"
#include "cmocka_all.h"
#include "estimate/evidence/anchor.h"

#include <math.h>

enum { DRAWS = 400, POINTS = 40 };

static double log_z(double tau) { return -3 * tau - 0.5 * log1p(1e6 * tau); }

static void make(double *l, tempera_curve_point *curve, double slack) {
  tempera_random random = tm_random(1, 0, TM_PURPOSE_TEST);
  for (int i = 0; i < DRAWS; i++) {
    double x = 1000 * tempera_random_normal(&random);
    l[i] = -0.5 * x * x - 3;
  }
  for (int i = 0; i < POINTS; i++) {
    curve[i].tau = pow(10, -10 + 10.0 * i / (POINTS - 1));
    curve[i].log_z = slack * log_z(curve[i].tau);
  }
}

static tm_anchor_gap compare(double slack, double se) {
  double l[DRAWS];
  tempera_curve_point curve[POINTS];
  make(l, curve, slack);
  tempera_draws draws = {.prior_draws = DRAWS, .prior_log_likelihood = l};
  tempera_summary summary = {
      .curve = curve, .curve_count = POINTS, .log_z = -10, .se = se};
  return tm_anchor_compare(&draws, &summary);
}

static void test_the_right_curve_passes(void **state) {
  (void)state;
  assert_true(isnan(compare(1, 0.01).tau));
}

static void test_a_flat_curve_is_caught(void **state) {
  (void)state;
  tm_anchor_gap gap = compare(0.01, 0.01);
  assert_true(gap.tau > 0 && gap.tau < 1e-3);
  assert_true(fabs(gap.prior - log_z(gap.tau)) < 0.3);
}

static void test_a_large_error_does_not_excuse_it(void **state) {
  (void)state;
  assert_true(compare(0.01, 5).tau > 0);
}

/* A likelihood of e^5 on a share of the prior that 400 draws are likely to
 * miss: the curve knows better, and may lie above; as far above as nine missed
 * draws explain, and not below. */
static void test_what_prior_draws_miss_is_allowed_for(void **state) {
  (void)state;
  static const double share[] = {0.005, 0.2, -0.2};
  double l[DRAWS] = {0}, best[1] = {5}, *columns[2 * TM_COLUMNS];
  for (int k = 0; k < 3; k++) {
    tempera_curve_point curve[POINTS];
    for (int i = 0; i < POINTS; i++) {
      curve[i].tau = (i + 1.0) / POINTS;
      curve[i].log_z =
          log1p(share[k] * expm1(5 * curve[i].tau) / (share[k] < 0 ? 100 : 1));
    }
    tempera_draws draws = {.prior_draws = DRAWS, .prior_log_likelihood = l};
    draws.chains = draws.count = draws.width = 1;
    draws.has_role[TEMPERA_TARGET] = true;
    draws.columns = columns;
    for (int c = 0; c < 2 * TM_COLUMNS; c++)
      columns[c] = best; /* no values; tau, log likelihood, ... */
    tempera_summary summary = {
        .curve = curve, .curve_count = POINTS, .se = 0.01};
    assert_true(isnan(tm_anchor_compare(&draws, &summary).tau) == (k == 0));
  }
}

static void test_no_prior_draws_no_verdict(void **state) {
  (void)state;
  tempera_draws draws = {0};
  tempera_summary summary = {0};
  assert_true(isnan(tm_anchor_compare(&draws, &summary).tau));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_the_right_curve_passes),
      cmocka_unit_test(test_a_flat_curve_is_caught),
      cmocka_unit_test(test_a_large_error_does_not_excuse_it),
      cmocka_unit_test(test_what_prior_draws_miss_is_allowed_for),
      cmocka_unit_test(test_no_prior_draws_no_verdict)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
