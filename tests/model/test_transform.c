/* Facts about src/model/transform.c and point.c: the two scales agree, the
 * Jacobians and gradients are those of the maps, and points outside their
 * bounds have density zero. */
#include "model/model.h"

#include "cmocka_all.h"

#include <gsl/gsl_linalg.h>
#include <math.h>

enum { MOST = 8 };

static int flat(const double *theta, double *value, void *user) {
  (void)theta;
  (void)user;
  *value = 0;
  return 0;
}

/* A smooth function of all values, with its gradient. */
static double wave(size_t size, const double *theta, double *gradient) {
  double sum = 0, value = 0;
  for (size_t i = 0; i < size; i++)
    sum += (double)(i + 1) * theta[i];
  for (size_t i = 0; i < size; i++)
    value += sin(theta[i] + (double)i);
  if (gradient)
    for (size_t i = 0; i < size; i++)
      gradient[i] = cos(theta[i] + (double)i) + 0.2 * sum * (double)(i + 1);
  return value + 0.1 * sum * sum;
}

static int wave_value(const double *theta, double *value, void *user) {
  *value = wave(*(size_t *)user, theta, NULL);
  return 0;
}

static int wave_gradient(const double *theta, double *value, double *gradient,
                         void *user) {
  *value = wave(*(size_t *)user, theta, gradient);
  return 0;
}

static int minus_wave(const double *theta, double *value, void *user) {
  *value = -2 * wave(*(size_t *)user, theta, NULL);
  return 0;
}

static int minus_wave_gradient(const double *theta, double *value,
                               double *gradient, void *user) {
  size_t size = *(size_t *)user;
  *value = -2 * wave(size, theta, gradient);
  for (size_t i = 0; i < size; i++)
    gradient[i] *= -2;
  return 0;
}

#define REAL(size, lower, upper)                                               \
  { "x", TEMPERA_REAL, size, lower, upper, TEMPERA_BOUNDS }

typedef struct problem {
  const char *what;
  tempera_parameter parameters[3];
  size_t count;
} problem;

static const problem PROBLEMS[] = {
    {"free", {REAL(2, -INFINITY, INFINITY)}, 1},
    {"lower", {REAL(0, 1.5, INFINITY)}, 1},
    {"upper", {REAL(0, -INFINITY, -2)}, 1},
    {"both", {REAL(2, -1, 3)}, 1},
    {"simplex of 2", {{"p", TEMPERA_REAL, 2, 0, 1, TEMPERA_SIMPLEX}}, 1},
    {"simplex of 5", {{"p", TEMPERA_REAL, 5, 0, 1, TEMPERA_SIMPLEX}}, 1},
    {"mixed",
     {REAL(2, 0, INFINITY),
      {"p", TEMPERA_REAL, 3, 0, 1, TEMPERA_SIMPLEX},
      REAL(0, 0, 1)},
     3},
};
enum { PROBLEM_COUNT = sizeof PROBLEMS / sizeof *PROBLEMS };

static size_t wave_size;

static tempera_model *model_of(const problem *p) {
  tempera_model_spec spec = {.name = p->what,
                             .parameters = p->parameters,
                             .parameter_count = p->count,
                             .log_likelihood = wave_value,
                             .log_prior = minus_wave,
                             .log_likelihood_gradient = wave_gradient,
                             .log_prior_gradient = minus_wave_gradient,
                             .user = &wave_size};
  tempera_model *model = NULL;
  assert_int_equal(tempera_model_create(&spec, &model, NULL), TEMPERA_OK);
  wave_size = model->size;
  return model;
}

static void random_u(tempera_random *random, const tempera_model *model,
                     double *u) {
  for (size_t j = 0; j < model->dimension; j++)
    u[j] = 1.5 * tempera_random_normal(random);
}

static void u_to_theta_and_back_is_the_identity(void **state) {
  (void)state;
  tempera_random random = tm_random(1, 0, TM_PURPOSE_TEST);
  for (size_t p = 0; p < PROBLEM_COUNT; p++) {
    tempera_model *model = model_of(&PROBLEMS[p]);
    for (int repeat = 0; repeat < 50; repeat++) {
      double u[MOST], theta[MOST], back[MOST], again[MOST], jacobian;
      random_u(&random, model, u);
      tm_constrain(model, u, theta, &jacobian);
      assert_true(tm_inside(model, theta));
      tm_unconstrain(model, theta, back);
      tm_constrain(model, back, again, &jacobian);
      for (size_t j = 0; j < model->dimension; j++)
        assert_true(fabs(back[j] - u[j]) < 1e-10);
      for (size_t i = 0; i < model->size; i++)
        assert_true(fabs(again[i] - theta[i]) < 1e-12 * (1 + fabs(theta[i])));
    }
    tempera_model_free(model);
  }
}

static void u_that_is_no_number_reaches_nothing(void **state) {
  (void)state;
  for (size_t p = 0; p < PROBLEM_COUNT; p++) {
    tempera_model *model = model_of(&PROBLEMS[p]);
    for (size_t j = 0; j < model->dimension; j++) {
      double u[MOST] = {0}, theta[MOST], jacobian;
      tm_constrain(model, u, theta, &jacobian);
      assert_true(tm_reached(model, theta));
      u[j] = NAN;
      tm_constrain(model, u, theta, &jacobian);
      assert_false(tm_reached(model, theta));
    }
    tempera_model_free(model);
  }
  double far[2] = {0, INFINITY}, theta[3];
  assert_true(tm_simplex_constrain(3, far, theta) == -INFINITY);
  assert_true(isnan(theta[0]));
}

/* d theta_i / d u_j by central differences, over the first dimension-many
 * free values of each block. */
static double numeric_log_determinant(const tempera_model *model,
                                      const double *u) {
  size_t d = model->dimension;
  gsl_matrix *jacobian = gsl_matrix_alloc(d, d);
  for (size_t j = 0; j < d; j++) {
    double moved[MOST], high[MOST], low[MOST], unused, h = 1e-5;
    memcpy(moved, u, d * sizeof *u);
    moved[j] = u[j] + h;
    tm_constrain(model, moved, high, &unused);
    moved[j] = u[j] - h;
    tm_constrain(model, moved, low, &unused);
    for (size_t k = 0; k < d; k++) {
      const tm_block *block = &model->blocks[model->block_of_u[k]];
      size_t i = block->theta + (k - block->u);
      gsl_matrix_set(jacobian, k, j, (high[i] - low[i]) / (2 * h));
    }
  }
  gsl_permutation *permutation = gsl_permutation_alloc(d);
  int sign;
  gsl_linalg_LU_decomp(jacobian, permutation, &sign);
  double value = gsl_linalg_LU_lndet(jacobian);
  gsl_permutation_free(permutation);
  gsl_matrix_free(jacobian);
  return value;
}

static void log_jacobian_is_the_log_determinant(void **state) {
  (void)state;
  tempera_random random = tm_random(2, 0, TM_PURPOSE_TEST);
  for (size_t p = 0; p < PROBLEM_COUNT; p++) {
    tempera_model *model = model_of(&PROBLEMS[p]);
    for (int repeat = 0; repeat < 20; repeat++) {
      double u[MOST], theta[MOST], jacobian;
      random_u(&random, model, u);
      tm_constrain(model, u, theta, &jacobian);
      assert_true(fabs(jacobian - numeric_log_determinant(model, u)) < 1e-6);
    }
    tempera_model_free(model);
  }
}

/* log theta summed, each by logarithms alone. */
static double simplex_log_jacobian(size_t count, const double *u) {
  double left = 0, sum = 0;
  for (size_t k = 0; k + 1 < count; k++) {
    double y = u[k] - log((double)(count - 1 - k));
    double rest = y > 0 ? -y - log1p(exp(-y)) : -log1p(exp(y));
    sum += left + rest + y;
    left += rest;
  }
  return sum + left;
}

/* Where theta's product underflows, and on both sides of there. */
static void simplexes_far_out_keep_their_jacobian(void **state) {
  (void)state;
  for (double x = 0; x < 2000; x += 37)
    for (int sides = 0; sides < 4; sides++) {
      double u[3] = {sides & 1 ? x : -x, sides & 2 ? x / 3 : -x / 3, 0.3};
      double theta[4], exact = simplex_log_jacobian(4, u);
      assert_true(fabs(tm_simplex_constrain(4, u, theta) - exact) <
                  1e-13 * (1 + fabs(exact)));
      for (int i = 0; i < 4; i++)
        assert_true(theta[i] > 0 && theta[i] <= 1);
    }
}

typedef struct fixture {
  tm_arena *arena;
  tm_evaluator evaluator;
  tm_point point, moved;
} fixture;

static fixture fixture_of(const tempera_model *model) {
  fixture f = {.arena = tm_arena_create()};
  assert_int_equal(tm_evaluator_create(model, f.arena, &f.evaluator, NULL),
                   TEMPERA_OK);
  assert_int_equal(tm_point_create(model, f.arena, &f.point, NULL), TEMPERA_OK);
  assert_int_equal(tm_point_create(model, f.arena, &f.moved, NULL), TEMPERA_OK);
  return f;
}

static void fixture_free(fixture *f) {
  tm_evaluator_release(&f->evaluator);
  tm_arena_free(f->arena);
}

/* Likelihood: without the Jacobian; prior: with it. */
static void pulled_back_gradients_match_differences(void **state) {
  (void)state;
  tempera_random random = tm_random(3, 0, TM_PURPOSE_TEST);
  for (size_t p = 0; p < PROBLEM_COUNT; p++) {
    tempera_model *model = model_of(&PROBLEMS[p]);
    fixture f = fixture_of(model);
    for (int repeat = 0; repeat < 20; repeat++) {
      double likelihood[MOST], prior[MOST], h = 1e-5;
      random_u(&random, model, f.point.u);
      tm_evaluate_gradient(&f.evaluator, &f.point, likelihood, prior);
      for (size_t j = 0; j < model->dimension; j++) {
        double l[2], lp[2];
        for (int side = 0; side < 2; side++) {
          memcpy(f.moved.u, f.point.u, model->dimension * sizeof(double));
          f.moved.u[j] += side ? h : -h;
          tm_evaluate(&f.evaluator, &f.moved);
          l[side] = f.moved.log_likelihood;
          lp[side] = f.moved.log_prior + f.moved.log_jacobian;
        }
        double by_l = (l[1] - l[0]) / (2 * h), by_p = (lp[1] - lp[0]) / (2 * h);
        assert_true(fabs(likelihood[j] - by_l) < 1e-5 * (1 + fabs(by_l)));
        assert_true(fabs(prior[j] - by_p) < 1e-5 * (1 + fabs(by_p)));
      }
      tm_evaluate(&f.evaluator, &f.moved);
      memcpy(f.moved.u, f.point.u, model->dimension * sizeof(double));
      tm_evaluate(&f.evaluator, &f.moved);
      assert_true(f.moved.log_likelihood == f.point.log_likelihood);
      assert_true(f.moved.log_prior == f.point.log_prior);
      assert_true(f.moved.log_jacobian == f.point.log_jacobian);
    }
    fixture_free(&f);
    tempera_model_free(model);
  }
}

static void integers_pass_through_and_have_no_gradient(void **state) {
  (void)state;
  problem p = {
      "integers",
      {{"k", TEMPERA_INTEGER, 2, 0, 9, TEMPERA_BOUNDS}, REAL(0, 0, INFINITY)},
      2};
  tempera_model *model = model_of(&p);
  fixture f = fixture_of(model);
  double start[3] = {3, 9, 2}, likelihood[3], prior[3];
  memcpy(f.point.theta, start, sizeof start);
  tm_evaluate_natural(&f.evaluator, &f.point);
  assert_true(f.point.u[0] == 3 && f.point.u[1] == 9);
  assert_true(fabs(f.point.u[2] - log(2)) < 1e-15);
  assert_true(fabs(f.point.log_jacobian - log(2)) < 1e-15);
  tm_evaluate_gradient(&f.evaluator, &f.point, likelihood, prior);
  assert_true(likelihood[0] == 0 && prior[1] == 0 && likelihood[2] != 0);
  f.point.u[1] = 10;
  tm_evaluate(&f.evaluator, &f.point);
  assert_true(f.point.log_prior == -INFINITY);
  f.point.u[1] = 2.5;
  tm_evaluate(&f.evaluator, &f.point);
  assert_true(f.point.log_prior == -INFINITY);
  fixture_free(&f);
  tempera_model_free(model);
}

/* Priors take logarithms of values and of distances to bounds. */
static void far_coordinates_stay_strictly_inside_the_bounds(void **state) {
  (void)state;
  problem p = {
      "far", {REAL(0, -1, 3), REAL(0, 5, INFINITY), REAL(0, -INFINITY, 7)}, 3};
  tempera_model *model = model_of(&p);
  double far[] = {-900, -50, 50, 900}, theta[3], jacobian;
  for (size_t i = 0; i < 4; i++) {
    double u[3] = {far[i], -fabs(far[i]), -fabs(far[i])};
    tm_constrain(model, u, theta, &jacobian);
    assert_true(theta[0] > -1 && theta[0] < 3);
    assert_true(theta[1] > 5 && theta[2] < 7);
    assert_true(isfinite(jacobian));
  }
  double overflow[3] = {0, 900, 0};
  tm_constrain(model, overflow, theta, &jacobian);
  assert_false(tm_inside(model, theta));
  tempera_model_free(model);
}

static void values_on_bounds_map_to_finite_coordinates(void **state) {
  (void)state;
  tempera_model *model = model_of(&PROBLEMS[6]);
  fixture f = fixture_of(model);
  double edges[][6] = {
      {0, 1, 0, 0, 1, 0}, {2, 0, 1, 0, 0, 1}, {1, 1, 0.5, 0.5, 0, 0.5}};
  for (size_t e = 0; e < 3; e++) {
    memcpy(f.point.theta, edges[e], sizeof edges[e]);
    tm_evaluate_natural(&f.evaluator, &f.point);
    for (size_t j = 0; j < model->dimension; j++)
      assert_true(isfinite(f.point.u[j]));
    for (size_t i = 0; i < model->size; i++)
      assert_true(fabs(f.point.theta[i] - edges[e][i]) < 1e-12);
    assert_true(isfinite(f.point.log_prior));
    assert_true(isfinite(f.point.log_jacobian));
  }
  fixture_free(&f);
  tempera_model_free(model);
}

/* theta stays as it is given, but for rounding, and u and the Jacobian are what
 * they are on the way from u. */
static void natural_points_are_those_of_their_coordinates(void **state) {
  (void)state;
  tempera_random random = tm_random(4, 0, TM_PURPOSE_TEST);
  for (size_t p = 0; p < PROBLEM_COUNT; p++) {
    tempera_model *model = model_of(&PROBLEMS[p]);
    fixture f = fixture_of(model);
    for (int repeat = 0; repeat < 50; repeat++) {
      random_u(&random, model, f.moved.u);
      tm_evaluate(&f.evaluator, &f.moved);
      memcpy(f.point.theta, f.moved.theta, model->size * sizeof(double));
      tm_evaluate_natural(&f.evaluator, &f.point);
      for (size_t j = 0; j < model->dimension; j++)
        assert_true(fabs(f.point.u[j] - f.moved.u[j]) < 1e-10);
      for (size_t i = 0; i < model->size; i++)
        assert_true(fabs(f.point.theta[i] - f.moved.theta[i]) < 1e-14);
      assert_true(fabs(f.point.log_jacobian - f.moved.log_jacobian) < 1e-10);
      assert_true(fabs(f.point.log_prior - f.moved.log_prior) < 1e-10);
    }
    fixture_free(&f);
    tempera_model_free(model);
  }
}

static void natural_points_outside_have_density_zero(void **state) {
  (void)state;
  tempera_model *model = model_of(&PROBLEMS[6]);
  fixture f = fixture_of(model);
  double outside[][6] = {
      {-0.1, 1, 0.2, 0.3, 0.5, 0.5}, {1, 1, 0.2, 0.3, 0.6, 0.5},
      {1, 1, -0.2, 0.6, 0.6, 0.5},   {1, 1, 0.2, 0.3, 0.5, 1.1},
      {1, NAN, 0.2, 0.3, 0.5, 0.5},  {1, INFINITY, 0.2, 0.3, 0.5, 0.5}};
  for (size_t i = 0; i < sizeof outside / sizeof *outside; i++) {
    memcpy(f.point.theta, outside[i], sizeof outside[i]);
    tm_evaluate_natural(&f.evaluator, &f.point);
    assert_true(f.point.log_prior == -INFINITY);
    assert_true(f.point.log_likelihood == -INFINITY);
  }
  assert_int_equal(f.evaluator.likelihood_evaluations, 0);
  assert_int_equal(f.evaluator.status, TEMPERA_OK);
  fixture_free(&f);
  tempera_model_free(model);
}

static int sometimes(const double *theta, double *value, void *user) {
  (void)user;
  *value = theta[0] < 0   ? -INFINITY
           : theta[0] > 5 ? NAN
           : theta[0] > 4 ? INFINITY
                          : -theta[0];
  return theta[0] > 3 && theta[0] <= 4 ? 1 : theta[0] > 6 ? -1 : 0;
}

static void callbacks_are_checked(void **state) {
  (void)state;
  tempera_parameter x = REAL(0, -INFINITY, INFINITY);
  tempera_model_spec spec = {.name = "sometimes",
                             .parameters = &x,
                             .parameter_count = 1,
                             .log_likelihood = sometimes,
                             .log_prior = flat};
  tempera_model *model = NULL;
  assert_int_equal(tempera_model_create(&spec, &model, NULL), TEMPERA_OK);
  double at[] = {1, -1, 3.5, 4.5, 5.5, 6.5};
  for (size_t i = 0; i < 6; i++) {
    fixture f = fixture_of(model);
    f.point.u[0] = at[i];
    tm_evaluate(&f.evaluator, &f.point);
    assert_true(f.point.log_likelihood == (i == 0 ? -1 : -INFINITY));
    /* NaN and +infinity are rejected and counted; only "stop" ends a run. */
    assert_int_equal(f.evaluator.status,
                     i < 5 ? TEMPERA_OK : TEMPERA_ERROR_MODEL);
    if (i == 1) {
      assert_true(tm_log_density(&f.point, 0) == 0);
      assert_true(tm_log_density(&f.point, 1e-300) == -INFINITY);
    }
    fixture_free(&f);
  }
  tempera_model_free(model);
}

static void a_cap_cuts_the_likelihood(void **state) {
  (void)state;
  tempera_model *model = model_of(&PROBLEMS[6]);
  fixture f = fixture_of(model);
  double gradient[16], prior_gradient[16];
  for (size_t j = 0; j < model->dimension; j++)
    f.point.u[j] = 0.1 * (double)j;
  tm_evaluate(&f.evaluator, &f.point);
  double value = f.point.log_likelihood, prior = f.point.log_prior;
  f.evaluator.capped = true;
  for (int below = 0; below < 2; below++) {
    f.evaluator.cap = below ? value - 1 : value + 1;
    double wanted = below ? value - 1 : value;
    tm_evaluate(&f.evaluator, &f.point);
    assert_true(f.point.log_likelihood == wanted);
    tm_evaluate_gradient(&f.evaluator, &f.point, gradient, prior_gradient);
    assert_true(f.point.log_likelihood == wanted);
    assert_true(f.point.log_prior == prior);
  }
  fixture_free(&f);
  tempera_model_free(model);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(u_to_theta_and_back_is_the_identity),
      cmocka_unit_test(u_that_is_no_number_reaches_nothing),
      cmocka_unit_test(log_jacobian_is_the_log_determinant),
      cmocka_unit_test(simplexes_far_out_keep_their_jacobian),
      cmocka_unit_test(pulled_back_gradients_match_differences),
      cmocka_unit_test(integers_pass_through_and_have_no_gradient),
      cmocka_unit_test(far_coordinates_stay_strictly_inside_the_bounds),
      cmocka_unit_test(values_on_bounds_map_to_finite_coordinates),
      cmocka_unit_test(natural_points_are_those_of_their_coordinates),
      cmocka_unit_test(natural_points_outside_have_density_zero),
      cmocka_unit_test(callbacks_are_checked),
      cmocka_unit_test(a_cap_cuts_the_likelihood),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
