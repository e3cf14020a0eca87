/* Facts about the paper's two ridges: heights against closed forms, and against
 * the knots and each other on the paper's models. */
#include "ridge_cases.h"
#include "ridge_on_models.h"

static void spline_agrees_with_truth(void **state) {
  (void)state;
  for (int p = 0; p < PROBLEMS; p++) {
    ridge_case problem = problem_of(p);
    tempera_model *model = model_of(&problem);
    tm_ridge *ridge = built(model, &problem, TEMPERA_RIDGE_SPLINE, 1);
    for (int i = 0; i < TAUS; i++) {
      double tau = tau_of(i), truth = problem.ridge(tau, &problem.spec);
      assert_within(problem.spec.name, tau, tm_ridge_height(ridge, tau),
                    truth - 2e-3, truth + 2e-3);
    }
    ridge_alone_free(ridge);
    tempera_model_free(model);
  }
}

static void exact_agrees_with_truth_in_any_order(void **state) {
  (void)state;
  for (int p = 0; p < PROBLEMS; p++) {
    ridge_case problem = problem_of(p);
    tempera_model *model = model_of(&problem);
    tm_ridge *ridge = built(model, &problem, TEMPERA_RIDGE_EXACT, 1);
    tm_arena *arena = tm_arena_create();
    tm_evaluator evaluator = {0};
    tm_ridge_memory *memory = NULL;
    assert_int_equal(tm_evaluator_create(model, arena, &evaluator, NULL), 0);
    assert_int_equal(tm_ridge_memory_create(ridge, arena, 100, &memory, NULL),
                     0);
    for (int i = 0; i < TAUS; i++) {
      double tau = tau_of(i * 77 % TAUS);
      double truth = problem.ridge(tau, &problem.spec);
      assert_within(problem.spec.name, tau,
                    tm_ridge_exact(memory, &evaluator, tau), truth - 1e-5,
                    truth + 1e-7);
    }
    assert_int_equal(evaluator.status, TEMPERA_OK);
    assert_true(
        evaluator.likelihood_evaluations + evaluator.gradient_evaluations > 0);
    tm_evaluator_release(&evaluator);
    tm_arena_free(arena);
    ridge_alone_free(ridge);
    tempera_model_free(model);
  }
}

static double exact_at(const tempera_model *model, const tm_ridge *ridge,
                       double tau) {
  tm_arena *arena = tm_arena_create();
  tm_evaluator evaluator = {0};
  tm_ridge_memory *memory = NULL;
  assert_int_equal(tm_evaluator_create(model, arena, &evaluator, NULL), 0);
  assert_int_equal(tm_ridge_memory_create(ridge, arena, 64, &memory, NULL), 0);
  double height = tm_ridge_exact(memory, &evaluator, tau);
  tm_evaluator_release(&evaluator);
  tm_arena_free(arena);
  return height;
}

static void the_three_ridges_agree_on_all_models(void **state) {
  (void)state;
  static const char *const MODELS[][2] = {
      {"bimodal", "bimodal"},       {"bimodal2", "bimodal"},
      {"galaxy", "galaxy-2-equal"}, {"galaxy", "galaxy-3-equal"},
      {"galaxy", "galaxy-3"},       {"galaxy", "galaxy-4"},
      {"galaxy", "galaxy-5"},       {"sir", "eyam"}};
  for (size_t m = 0; m < sizeof MODELS / sizeof *MODELS; m++) {
    tempera_model *model = ridge_model(MODELS[m][0], MODELS[m][1]);
    tm_ridge *convex = ridge_on(model, TEMPERA_RIDGE_CONVEX, 1, 2);
    tm_ridge *spline = ridge_on(model, TEMPERA_RIDGE_SPLINE, 2, 2);
    tm_ridge *exact = ridge_on(model, TEMPERA_RIDGE_EXACT, 3, 2);
    double low = 0, high = 0;
    for (double tau = 1; tau > 1e-7; tau *= 0.77) {
      double height = exact_at(model, exact, tau);
      double a = tm_ridge_height(convex, tau) - height;
      double b = tm_ridge_height(spline, tau) - height;
      assert_true(a > -1e-5); /* the chord lies above */
      low = fmin(low, fmin(a, b));
      high = fmax(high, fmax(a, b));
    }
    print_message("%s: convex and spline against exact: %.1e to %.1e\n",
                  MODELS[m][1], low, high);
    assert_true(low > -2e-3 && high < 2e-3);
    ridge_alone_free(exact);
    ridge_alone_free(spline);
    ridge_alone_free(convex);
    tempera_model_free(model);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(spline_agrees_with_truth),
      cmocka_unit_test(exact_agrees_with_truth_in_any_order),
      cmocka_unit_test(the_three_ridges_agree_on_all_models),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
