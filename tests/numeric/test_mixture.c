/* Facts about src/numeric/mixture and triangular: densities integrate to one
 * and agree with their draws; fits find what the points came from. */
#include "numeric/mixture.h"
#include "numeric/triangular.h"

#include "cmocka_all.h"
#include "failing_memory.h"

#include <math.h>

static tm_arena *arena;

static int set_up(void **state) {
  (void)state;
  arena = tm_arena_create();
  return arena ? 0 : -1;
}

static int tear_down(void **state) {
  (void)state;
  tm_arena_free(arena);
  return 0;
}

static tm_mixture fitted(const double *points, const double *weights,
                         size_t count, size_t dimension, size_t most, double df,
                         uint64_t seed) {
  tempera_random random = tm_random(seed, 0, TM_PURPOSE_TEST);
  tm_mixture mixture;
  tm_mixture_settings settings = {.most_components = most, .df = df};
  tm_points data = {count, dimension, points, weights};
  assert_int_equal(
      tm_mixture_fit(&data, &settings, &random, arena, &mixture, NULL),
      TEMPERA_OK);
  return mixture;
}

static double *normals(size_t count, uint64_t seed) {
  tempera_random random = tm_random(seed, 1, TM_PURPOSE_TEST);
  double *values = TM_NEW(arena, double, count);
  for (size_t i = 0; i < count; i++)
    values[i] = tempera_random_normal(&random);
  return values;
}

static void cholesky_reproduces_the_matrix(void **state) {
  (void)state;
  double matrix[9] = {4, 0, 0, 2, 5, 0, -1, 0.5, 3};
  double lower[9], inverse[9];
  memcpy(lower, matrix, sizeof lower);
  assert_true(tm_cholesky(lower, 3));
  tm_triangular_inverse(lower, 3, inverse);
  for (size_t i = 0; i < 3; i++)
    for (size_t j = 0; j <= i; j++) {
      double product = 0, unit = 0;
      for (size_t k = 0; k < 3; k++) {
        product += lower[i * 3 + k] * lower[j * 3 + k];
        unit += lower[i * 3 + k] * inverse[k * 3 + j];
      }
      assert_true(fabs(product - matrix[i * 3 + j]) < 1e-14);
      assert_true(fabs(unit - (i == j)) < 1e-14);
    }
  double b[3] = {1, 2, 3}, x[3];
  tm_cholesky_solve(lower, 3, b, x);
  double full[9] = {4, 2, -1, 2, 5, 0.5, -1, 0.5, 3};
  for (size_t i = 0; i < 3; i++)
    assert_true(fabs(tm_dot(full + 3 * i, x, 3) - b[i]) < 1e-13);
  double indefinite[4] = {1, 0, 2, 1};
  assert_false(tm_cholesky(indefinite, 2));
}

static void set_two_components(tm_mixture *m, double df) {
  assert_int_equal(tm_mixture_create(arena, 1, 2, m, NULL), TEMPERA_OK);
  m->components = 2;
  m->df = df;
  m->log_weight[0] = log(0.3);
  m->log_weight[1] = log(0.7);
  m->mean[0] = -2;
  m->mean[1] = 1;
  m->factor[0] = 0.5;
  m->factor[1] = 1.5;
  tm_mixture_complete(m);
}

static void densities_integrate_to_one(void **state) {
  (void)state;
  double dfs[] = {5, INFINITY};
  for (size_t i = 0; i < 2; i++) {
    tm_mixture m;
    set_two_components(&m, dfs[i]);
    double sum = 0, step = 0.01, work[3];
    for (double x = -400; x < 400; x += step)
      sum += step * exp(tm_mixture_log_density(&m, &x, work));
    assert_true(fabs(sum - 1) < 1e-7);
  }
}

/* E_q[f/q] for f another density is 1: draws and density belong together. */
static void draws_follow_the_density(void **state) {
  (void)state;
  tm_mixture q, f;
  set_two_components(&q, 5);
  set_two_components(&f, INFINITY);
  f.factor[1] = 1;
  tm_mixture_complete(&f);
  tempera_random random = tm_random(5, 0, TM_PURPOSE_TEST);
  enum { N = 40000 };
  double sum = 0, squares = 0, below = 0, work[3];
  for (int i = 0; i < N; i++) {
    double x;
    tm_mixture_draw(&q, &random, &x);
    double w = exp(tm_mixture_log_density(&f, &x, work) -
                   tm_mixture_log_density(&q, &x, work));
    sum += w;
    squares += w * w;
    below += x < -2;
  }
  double se = sqrt((squares / N - 1) / N);
  assert_true(fabs(sum / N - 1) < 4 * se);
  /* 0.3 * 1/2 + 0.7 * P(t_5 < -2) */
  double p = 0.15 + 0.7 * 0.05096974;
  assert_true(fabs(below / N - p) < 4 * sqrt(p * (1 - p) / N));
}

static void one_gaussian_is_fitted_by_one_component(void **state) {
  (void)state;
  enum { N = 2000, D = 5 };
  double *points = normals(N * D, 1);
  for (size_t p = 0; p < N; p++) { /* strong correlation, odd scales */
    points[p * D + 1] = points[p * D] + 0.01 * points[p * D + 1];
    points[p * D + 2] = 1e6 + 1e3 * points[p * D + 2];
  }
  tm_mixture m = fitted(points, NULL, N, D, 16, 0, 1);
  assert_int_equal(m.components, 1);
  assert_true(isinf(m.df) || m.df == 30);
  assert_true(fabs(m.mean[0]) < 4 / sqrt(N));
  assert_true(fabs(m.factor[0] - 1) < 0.1);
  assert_true(fabs(m.factor[D] - m.factor[0]) < 0.01); /* slope 1 */
  assert_true(fabs(m.factor[D + 1] - 0.01) < 0.001);
  assert_true(fabs(m.factor[2 * D + 2] - 1e3) < 100);
}

static void two_modes_get_their_weights(void **state) {
  (void)state;
  enum { N = 2000, D = 5 };
  double *points = normals(N * D, 2);
  for (size_t p = 0; p < N; p++)
    for (size_t j = 0; j < D; j++)
      points[p * D + j] =
          p % 5 == 0 ? 8 + 0.1 * points[p * D + j] : points[p * D + j];
  tm_mixture m = fitted(points, NULL, N, D, 16, 0, 2);
  assert_int_equal(m.components, 2);
  size_t narrow = (size_t)(m.mean[0] <= 4);
  assert_true(fabs(exp(m.log_weight[narrow]) - 0.2) < 0.005);
  assert_true(fabs(m.mean[narrow * D] - 8) < 4 * 0.1 / sqrt(N / 5.0));
  assert_true(fabs(m.factor[narrow * D * D] - 0.1) < 0.02);
}

static void heavy_tails_choose_few_degrees_of_freedom(void **state) {
  (void)state;
  enum { N = 4000, D = 3 };
  double *points = normals(N * D, 3);
  tempera_random random = tm_random(3, 2, TM_PURPOSE_TEST);
  for (size_t p = 0; p < N; p++) {
    double stretch = sqrt(2 / tempera_random_gamma(&random, 2));
    for (size_t j = 0; j < D; j++)
      points[p * D + j] *= stretch;
  }
  tm_mixture m = fitted(points, NULL, N, D, 1, 0, 3);
  assert_true(m.df == 4);
  assert_true(fabs(m.factor[0] - 1) < 0.1);
}

static void weights_count_as_repeats(void **state) {
  (void)state;
  enum { N = 600, D = 2 };
  double *points = normals(N * D, 4);
  double *weights = TM_NEW(arena, double, N);
  double *repeated = TM_NEW(arena, double, 3 * N * D);
  size_t rows = 0;
  for (size_t p = 0; p < N; p++) {
    weights[p] = (double)(1 + p % 3);
    for (size_t r = 0; r < 1 + p % 3; r++)
      memcpy(repeated + D * rows++, points + D * p, D * sizeof(double));
  }
  tm_mixture a = fitted(points, weights, N, D, 4, 8, 5);
  tm_mixture b = fitted(repeated, NULL, rows, D, 4, 8, 5);
  assert_int_equal(a.components, b.components);
  for (size_t j = 0; j < D * a.components; j++)
    assert_true(fabs(a.mean[j] - b.mean[j]) < 1e-9);
}

static void assert_usable(const tm_mixture *m, const double *x) {
  tempera_random random = tm_random(6, 0, TM_PURPOSE_TEST);
  double *work = TM_NEW(arena, double, m->dimension + m->components);
  double *y = TM_NEW(arena, double, m->dimension);
  assert_true(m->components >= 1);
  assert_true(isfinite(tm_mixture_log_density(m, x, work)));
  for (int i = 0; i < 10; i++) {
    tm_mixture_draw(m, &random, y);
    assert_true(isfinite(tm_mixture_log_density(m, y, work)));
  }
}

static void degenerate_points_still_give_a_density(void **state) {
  (void)state;
  double one[3] = {1, -2, 1e5};
  tm_mixture m = fitted(one, NULL, 1, 3, 16, 0, 6);
  assert_usable(&m, one);
  enum { N = 200, D = 4 };
  double *points = normals(N * D, 6);
  for (size_t p = 0; p < N; p++) {
    points[p * D + 1] = 7;                     /* constant */
    points[p * D + 2] = 2 * points[p * D] - 3; /* collinear */
  }
  m = fitted(points, NULL, N, D, 16, 0, 7);
  assert_usable(&m, points);
  for (size_t p = 0; p < N; p++) /* one point, two hundred times */
    memcpy(points + p * D, points, D * sizeof(double));
  m = fitted(points, NULL, N, D, 16, 0, 8);
  assert_usable(&m, points);
  for (size_t p = 0; p < N; p++) /* two points, each held many times */
    for (size_t j = 0; j < D; j++)
      points[p * D + j] = p / 10 % 2 ? 1.5 : -1;
  m = fitted(points, NULL, N, D, 16, 0, 9);
  assert_usable(&m, points);
}

static void fewer_points_than_dimensions_are_enough(void **state) {
  (void)state;
  enum { D = 50 };
  double *points = normals(200 * D, 10);
  size_t counts[] = {2, 10, 30, 60, 200};
  for (size_t i = 0; i < 5; i++) {
    tm_mixture m = fitted(points, NULL, counts[i], D, 16, 0, 11);
    assert_usable(&m, points);
  }
}

static void failed_allocations_are_reported(void **state) {
  (void)state;
  enum { N = 100, D = 2 };
  double *points = normals(N * D, 12);
  tm_mixture_settings settings = {.most_components = 3};
  tm_points data = {N, D, points, NULL};
  for (long k = 1; k <= 4; k++) {
    tempera_random random = tm_random(1, 0, TM_PURPOSE_TEST);
    tm_arena *own = tm_arena_create();
    tm_mixture mixture;
    tempera_error error = {0};
    heap_fail_at(k);
    tempera_status status =
        tm_mixture_fit(&data, &settings, &random, own, &mixture, &error);
    heap_fail_at(0);
    assert_true(status == TEMPERA_OK || status == TEMPERA_ERROR_MEMORY);
    if (k <= 2)
      assert_int_equal(status, TEMPERA_ERROR_MEMORY);
    tm_arena_free(own);
  }
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

/* Two clusters, told to be three and of t's; and whatever was chosen, again. */
static void a_shape_is_taken_as_it_is_given(void **state) {
  (void)state;
  enum { N = 400 };
  double *x = normals(N, 11);
  for (size_t i = 0; i < N; i++)
    x[i] += i % 2 ? 8 : 0;
  tempera_random random = tm_random(12, 0, TM_PURPOSE_TEST);
  tm_points data = {N, 1, x, NULL};
  tm_mixture_settings settings = {.most_components = 1, .shape = {3, 5}};
  tm_mixture mixture;
  assert_int_equal(
      tm_mixture_fit(&data, &settings, &random, arena, &mixture, NULL),
      TEMPERA_OK);
  assert_int_equal(mixture.components, 3);
  assert_true(mixture.df == 5);
  tm_mixture chosen = fitted(x, NULL, N, 1, 8, 0, 13);
  settings.shape = (tm_mixture_shape){chosen.components, chosen.df};
  assert_int_equal(
      tm_mixture_fit(&data, &settings, &random, arena, &mixture, NULL),
      TEMPERA_OK);
  double work[8];
  for (double at = -1; at <= 9; at += 2)
    assert_true(fabs(tm_mixture_log_density(&mixture, &at, work) -
                     tm_mixture_log_density(&chosen, &at, work)) < 0.2);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      CASE(cholesky_reproduces_the_matrix),
      CASE(densities_integrate_to_one),
      CASE(draws_follow_the_density),
      CASE(one_gaussian_is_fitted_by_one_component),
      CASE(two_modes_get_their_weights),
      CASE(heavy_tails_choose_few_degrees_of_freedom),
      CASE(weights_count_as_repeats),
      CASE(degenerate_points_still_give_a_density),
      CASE(fewer_points_than_dimensions_are_enough),
      CASE(failed_allocations_are_reported),
      CASE(a_shape_is_taken_as_it_is_given),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
