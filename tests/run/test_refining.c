/* What a round's draws may do to the learned curve of log z, and what they may
 * not (method 4.9). The start is the exact curve plus `tilt` times tau, which
 * is convex as well. */
#include "estimate/summary.h"
#include "gaussian_draws.h"
#include "run/learner.h"

enum { POINTS = 200 };

static gaussian make(double d, double tau_limit) {
  gaussian g = {.d = d,
                .n = 50,
                .mean = 0.5,
                .law = FLAT,
                .log_atom = log(0.05),
                .tau_limit = tau_limit};
  gaussian_ready(&g);
  return g;
}

static tm_learner *begin(const gaussian *g, double tilt) {
  double tau[POINTS], log_z[POINTS];
  for (int k = 0; k < POINTS; k++) {
    tau[k] = pow(k / (POINTS - 1.0), 4);
    log_z[k] = gaussian_log_z(g, tau[k]) + tilt * tau[k];
  }
  tm_learner *learner;
  assert_int_equal(tm_learner_create(tau, log_z, POINTS, true, &learner, NULL),
                   TEMPERA_OK);
  return learner;
}

static double error_at(const gaussian *g, const tm_learner *l, size_t k) {
  return l->log_z[k] - gaussian_log_z(g, l->tau[k]);
}

static void a_round_that_went_everywhere_corrects_the_curve(void **state) {
  (void)state;
  gaussian g = make(10, 1);
  tm_learner *learner = begin(&g, 4);
  tempera_draws *draws = gaussian_draws(&g, INDEPENDENT, 1, 4, 1000);
  assert_int_equal(tm_learner_update(learner, draws, NULL), TEMPERA_OK);
  assert_true(tm_learner_whole(learner));
  print_message("error at tau = 1: 4 before, %.3f after\n",
                error_at(&g, learner, learner->count - 1));
  assert_true(fabs(error_at(&g, learner, learner->count - 1)) < 1);
  tm_draws_free(draws);
  tm_learner_free(learner);
}

/* The tempered draws end at 0.1 and the target's speak down to one half: steps
 * between stay as they were. (Those next to one that moved may follow, for the
 * curve is kept convex.) */
static void steps_without_draws_stay(void **state) {
  (void)state;
  gaussian g = make(80, 0.1);
  tm_learner *learner = begin(&g, 0.5), *before = begin(&g, 0.5);
  tempera_draws *draws = gaussian_draws(&g, INDEPENDENT, 2, 4, 1000);
  assert_int_equal(tm_learner_update(learner, draws, NULL), TEMPERA_OK);
  assert_false(tm_learner_whole(learner));
  size_t kept = 0;
  for (size_t k = 0; k + 1 < learner->count; k++) {
    bool between = learner->tau[k] > 0.3 && learner->tau[k + 1] < 0.5;
    assert_false(between && learner->supported[k]);
    if (!between || learner->supported[k - 1] || learner->supported[k + 1])
      continue;
    double now = learner->log_z[k + 1] - learner->log_z[k];
    assert_true(fabs(now - before->log_z[k + 1] + before->log_z[k]) < 1e-9);
    kept++;
  }
  assert_true(kept > 0);
  tm_draws_free(draws);
  tm_learner_free(learner);
  tm_learner_free(before);
}

static void no_step_goes_far_in_one_round(void **state) {
  (void)state;
  gaussian g = make(10, 1);
  tm_learner *learner = begin(&g, 400), *before = begin(&g, 400);
  tempera_draws *draws = gaussian_draws(&g, INDEPENDENT, 3, 4, 1000);
  assert_int_equal(tm_learner_update(learner, draws, NULL), TEMPERA_OK);
  for (size_t k = 0; k + 1 < learner->count; k++) {
    double now = learner->log_z[k + 1] - learner->log_z[k];
    double was = before->log_z[k + 1] - before->log_z[k];
    assert_true(now <= was + 1e-9); /* towards the truth */
    assert_true(now >= was - 6);    /* 3 nats, and what convexity asks for */
  }
  tm_draws_free(draws);
  tm_learner_free(learner);
  tm_learner_free(before);
}

/* The mistake that made a chain at tau = 1 look as if it had been everywhere:
 * weights down to tau = 0 are even, and nothing was drawn there. */
static void the_barrier_is_unknown_where_nothing_was_drawn(void **state) {
  (void)state;
  gaussian g = make(10, 1);
  tempera_draws *draws = gaussian_draws(&g, INDEPENDENT, 4, 4, 1000);
  for (size_t c = 0; c < 4; c++)
    for (size_t i = 0; i < 1000; i++) {
      double extra[TM_COLUMNS] = {0}, theta;
      tempera_random r =
          tm_random_part(5, (uint32_t)c, TM_PURPOSE_TEST, (uint32_t)i);
      theta = gaussian_theta(&g, 1, &r, &extra[TM_LOG_LIKELIHOOD],
                             &extra[TM_LOG_PRIOR]);
      extra[TM_TAU] = 0.9;
      tm_draws_put(draws, TEMPERA_TEMPERED, c, i, &theta, extra);
    }
  tm_tempered view;
  tm_barrier barrier;
  assert_int_equal(tm_tempered_create(draws, 20000, &view, NULL), TEMPERA_OK);
  assert_int_equal(tm_barrier_find(&view, &barrier, NULL), TEMPERA_OK);
  assert_true(isnan(barrier.total));
  assert_true(barrier.bottom_end < 0 && barrier.top_start >= 0.5);
  assert_true(isnan(tm_barrier_between(&barrier, 0.1, 0.3)));
  assert_true(tm_barrier_between(&barrier, 0.95, 1) > 0);
  assert_true(tm_barrier_share(&barrier, 0.5) == 0.5);
  tm_tempered_free(&view);
  tm_draws_free(draws);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_round_that_went_everywhere_corrects_the_curve),
      cmocka_unit_test(steps_without_draws_stay),
      cmocka_unit_test(no_step_goes_far_in_one_round),
      cmocka_unit_test(the_barrier_is_unknown_where_nothing_was_drawn),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
