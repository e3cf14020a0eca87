/* Facts about the ridge: heights against closed forms and enumeration, the
 * certificate, absence, and what warmup may do to it. */
#include "ridge_cases.h"

#include "failing_memory.h"
#include "groups/pair.h"

static const tm_store_settings STORE = {.threads = 1};

static double SHAPE_HALF = 0.5;

static int gamma_half_prior(const double *theta, double *value, void *user) {
  (void)user;
  *value = -0.5 * log(theta[0]) - theta[0];
  return 0;
}

/* ---- facts */

static void convex_lies_between_truth_and_truth_plus_gap(void **state) {
  (void)state;
  for (int p = 0; p < PROBLEMS; p++) {
    ridge_case problem = problem_of(p);
    tempera_model *model = model_of(&problem);
    tm_ridge *ridge = built(model, &problem, TEMPERA_RIDGE_CONVEX, 1);
    const tm_ridge_view *view = &ridge->view;
    assert_false(view->absent);
    assert_true(view->gap < TM_RIDGE_GAP);
    for (int i = 0; i < TAUS; i++) {
      double tau = tau_of(i), truth = problem.ridge(tau, &problem.spec);
      assert_within(problem.spec.name, tau, tm_ridge_height(ridge, tau),
                    truth - 1e-6, truth + view->gap + 1e-6);
    }
    print_message("%-8s knots %3zu  optimisations %3zu (%zu per value)  "
                  "evaluations of both %6llu  gap %.2e\n",
                  problem.spec.name, view->knots, view->optimisations,
                  most_optimisations(ridge),
                  (unsigned long long)tm_store_spent(ridge->store), view->gap);
    ridge_alone_free(ridge);
    tempera_model_free(model);
  }
}

static void table_is_an_increasing_finite_tau_prior(void **state) {
  (void)state;
  static const tempera_ridge KINDS[] = {
      TEMPERA_RIDGE_CONVEX, TEMPERA_RIDGE_SPLINE, TEMPERA_RIDGE_EXACT};
  for (int p = 0; p < PROBLEMS; p++)
    for (size_t kind = 0; kind < 3; kind++) {
      ridge_case problem = problem_of(p);
      tempera_model *model = model_of(&problem);
      tm_ridge *ridge = built(model, &problem, KINDS[kind], 1);
      const tm_ridge_view *view = &ridge->view;
      assert_true(view->knots >= 2);
      assert_true(view->tau[0] == 0 && view->tau[view->knots - 1] == 1);
      for (size_t k = 0; k < view->knots; k++) {
        assert_true(isfinite(view->height[k]));
        assert_true(k == 0 || view->tau[k] > view->tau[k - 1]);
        assert_true(tm_inside(model, view->theta + k * model->size));
      }
      assert_true(kind == 0 ? view->gap < TM_RIDGE_GAP : isnan(view->gap));
      ridge_alone_free(ridge);
      tempera_model_free(model);
    }
}

static void ridge_does_not_depend_on_threads(void **state) {
  (void)state;
  static const int CASES[] = {MIXTURE, BASINS};
  for (size_t c = 0; c < 2; c++)
    for (int kind = 0; kind < 2; kind++) {
      ridge_case problem = problem_of(CASES[c]);
      tempera_model *model = model_of(&problem);
      tm_ridge *one = built(model, &problem, (tempera_ridge)kind, 1);
      const tm_ridge_view *a = &one->view;
      for (int threads = 2; threads <= 4; threads += 2) {
        tm_ridge *many = built(model, &problem, (tempera_ridge)kind, threads);
        const tm_ridge_view *b = &many->view;
        size_t row = b->knots * sizeof(double);
        assert_int_equal(a->knots, b->knots);
        assert_memory_equal(a->tau, b->tau, row);
        assert_memory_equal(a->height, b->height, row);
        assert_memory_equal(a->theta, b->theta, row * model->size);
        assert_int_equal(a->optimisations, b->optimisations);
        assert_int_equal(tm_store_spent(one->store),
                         tm_store_spent(many->store));
        ridge_alone_free(many);
      }
      ridge_alone_free(one);
      tempera_model_free(model);
    }
}

static void assert_absent(ridge_case *problem, const char *parameter) {
  tempera_model *model = model_of(problem);
  for (int kind = 0; kind < 3; kind++) {
    tm_ridge *ridge = built(model, problem, (tempera_ridge)kind, 1);
    const tm_ridge_view *view = &ridge->view;
    assert_true(view->absent);
    assert_non_null(strstr(view->reason, parameter));
    assert_true(isnan(view->gap));
    if (kind == 0)
      print_message("%s (%llu evaluations)\n", view->reason,
                    (unsigned long long)tm_store_spent(ridge->store));
    ridge_alone_free(ridge);
  }
  tempera_model_free(model);
}

static void centred_eight_schools_has_no_ridge(void **state) {
  (void)state;
  ridge_case problem = {
      SPEC("schools", SCHOOLS, 3, schools_likelihood, schools_prior), NULL,
      SCHOOL_STARTS, 2};
  assert_absent(&problem, "spread");
  problem.spec.log_likelihood_gradient = schools_likelihood_gradient;
  problem.spec.log_prior_gradient = schools_prior_gradient;
  assert_absent(&problem, "spread");
}

static void shapes_below_one_have_no_ridge(void **state) {
  (void)state;
  ridge_case gamma = {
      SPEC("gamma", &RATE, 1, poisson_likelihood, gamma_half_prior), NULL,
      RATE_STARTS, 4};
  assert_absent(&gamma, "rate");
  ridge_case simplex = {
      SPEC("simplex", &SIMPLEX, 1, simplex_likelihood, simplex_prior), NULL,
      SIMPLEX_STARTS, 2};
  simplex.spec.user = &SHAPE_HALF;
  assert_absent(&simplex, "p[");
}

/* tau_min > 0 keeps the shape-1/2 prior bounded: 40 tau > 1/2. */
static void ridge_may_begin_above_zero(void **state) {
  (void)state;
  ridge_case problem = {
      SPEC("gamma", &RATE, 1, poisson_likelihood, gamma_half_prior), NULL,
      RATE_STARTS, 4};
  tempera_model *model = model_of(&problem);
  for (int kind = 0; kind < 2; kind++) {
    tm_ridge *ridge = NULL;
    tm_ridge_settings settings = {.tau_min = 0.02};
    assert_int_equal(ridge_alone(model, &STORE, &settings, (tempera_ridge)kind,
                                 RATE_STARTS, 4, &ridge, NULL),
                     0);
    assert_false(ridge->view.absent);
    assert_true(ridge->view.tau[0] == 0.02);
    for (double tau = 0.02; tau <= 1; tau += 0.07) {
      double weight = 40 * tau - 0.5, rate = weight / (1 + 12 * tau);
      double truth = weight * log(rate) - (1 + 12 * tau) * rate;
      assert_within("gamma", tau, tm_ridge_height(ridge, tau), truth - 1e-3,
                    truth + 1e-3);
    }
    ridge_alone_free(ridge);
  }
  tempera_model_free(model);
}

/* Starts in the wide basin only: the narrow one is missed until a draw from
 * it comes along. */
static void improve_raises_knots_after_a_missed_optimum(void **state) {
  (void)state;
  ridge_case problem = problem_of(BASINS);
  problem.start_count = 3;
  tempera_model *model = model_of(&problem);
  tm_ridge *ridge = built(model, &problem, TEMPERA_RIDGE_CONVEX, 1);
  double before = tm_ridge_height(ridge, 1), draw = 4.2;
  double truth = problem.ridge(1, &problem.spec);
  assert_true(before < truth - 1);
  double l = basins_of(draw), prior = -0.5 * (draw * draw + LOG_2PI);
  assert_true(tm_ridge_excess(ridge, l, prior) > TM_RIDGE_GAP);
  assert_int_equal(tm_ridge_improve(ridge, &draw, 1, NULL), TEMPERA_OK);
  assert_true(tm_ridge_excess(ridge, l, prior) < 0);
  const tm_ridge_view *view = &ridge->view;
  assert_true(view->gap < TM_RIDGE_GAP);
  for (int i = 0; i < TAUS; i++) {
    truth = problem.ridge(tau_of(i), &problem.spec);
    assert_within("improved", tau_of(i), tm_ridge_height(ridge, tau_of(i)),
                  truth - 1e-6, truth + view->gap + 1e-6);
  }
  ridge_alone_free(ridge);
  tempera_model_free(model);
}

static void draws_of_zero_likelihood_prove_nothing(void **state) {
  (void)state;
  ridge_case problem = problem_of(BASINS);
  tempera_model *model = model_of(&problem);
  tm_ridge *ridge = built(model, &problem, TEMPERA_RIDGE_CONVEX, 1);
  assert_true(tm_ridge_excess(ridge, -INFINITY, 100) <= 0);
  ridge_alone_free(ridge);
  tempera_model_free(model);
}

/* The tempered chain is in the wide basin, the target chain in the one that
 * the ridge has missed. */
static void the_target_chain_is_watched_too(void **state) {
  (void)state;
  ridge_case problem = problem_of(BASINS);
  problem.start_count = 3;
  tempera_model *model = model_of(&problem);
  tm_ridge *ridge = built(model, &problem, TEMPERA_RIDGE_CONVEX, 1);
  tm_tau_prior prior = {0};
  tm_pair_settings settings = {.method = TEMPERA_PT_STWNC,
                               .kernel = TEMPERA_KERNEL_RANDOM_WALK};
  double wide = -1;
  tm_pair *pair = NULL;
  assert_int_equal(tm_tau_prior_profile(ridge, 0, &prior, NULL), TEMPERA_OK);
  assert_int_equal(
      tm_pair_create(model, &settings, 1, 0, &wide, 0.5, &pair, NULL),
      TEMPERA_OK);
  assert_int_equal(tm_pair_set_prior(pair, ridge, &prior, NULL), TEMPERA_OK);
  tm_group_sweep(&pair->group);
  assert_true(pair->worst_excess == 0);
  pair->target.theta[0] = 4;
  tm_evaluate_natural(&pair->group.evaluator, &pair->target);
  for (int i = 0; i < 50 && pair->worst_excess == 0; i++)
    tm_group_sweep(&pair->group); /* seen when it moves */
  assert_true(pair->worst_excess > TM_RIDGE_GAP);
  assert_true(pair->worst_theta[0] == pair->target.theta[0]);
  tm_group_free(&pair->group);
  tm_tau_prior_free(&prior);
  ridge_alone_free(ridge);
  tempera_model_free(model);
}

static int stopping_likelihood(const double *theta, double *value, void *user) {
  (void)user;
  *value = -theta[0] * theta[0];
  return theta[0] > 2 ? -1 : 0;
}

static void a_model_that_stops_ends_the_build(void **state) {
  (void)state;
  ridge_case problem = {
      SPEC("stop", &RATE, 1, stopping_likelihood, exponential_prior), NULL,
      RATE_STARTS, 4};
  tempera_model *model = model_of(&problem);
  tm_ridge *ridge = NULL;
  tempera_error error = {0};
  assert_int_equal(ridge_alone(model, &STORE, &ALL_OF_IT, TEMPERA_RIDGE_CONVEX,
                               RATE_STARTS, 4, &ridge, &error),
                   TEMPERA_ERROR_MODEL);
  assert_non_null(strstr(error.message, "asked to stop"));
  assert_null(ridge);
  tempera_model_free(model);
}

static void running_out_of_memory_is_reported(void **state) {
  (void)state;
  ridge_case problem = problem_of(MIXTURE);
  tempera_model *model = model_of(&problem);
  for (long k = 1;; k++) {
    tm_ridge *ridge = NULL;
    heap_fail_at(k);
    tempera_status status =
        ridge_alone(model, &STORE, &ALL_OF_IT, TEMPERA_RIDGE_SPLINE,
                    problem.starts, problem.start_count, &ridge, NULL);
    heap_fail_at(0);
    if (status == TEMPERA_OK) {
      ridge_alone_free(ridge);
      break;
    }
    assert_int_equal(status, TEMPERA_ERROR_MEMORY);
    assert_null(ridge);
  }
  tempera_model_free(model);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(convex_lies_between_truth_and_truth_plus_gap),
      cmocka_unit_test(table_is_an_increasing_finite_tau_prior),
      cmocka_unit_test(ridge_does_not_depend_on_threads),
      cmocka_unit_test(centred_eight_schools_has_no_ridge),
      cmocka_unit_test(shapes_below_one_have_no_ridge),
      cmocka_unit_test(ridge_may_begin_above_zero),
      cmocka_unit_test(improve_raises_knots_after_a_missed_optimum),
      cmocka_unit_test(draws_of_zero_likelihood_prove_nothing),
      cmocka_unit_test(the_target_chain_is_watched_too),
      cmocka_unit_test(a_model_that_stops_ends_the_build),
      cmocka_unit_test(running_out_of_memory_is_reported),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
