/* Tests of labels.c and labels_pivot.c: which labels the density lets change
 * places, and one labelling of every point. */
#include "cmocka_all.h"
#include "model/labels.h"

#include <math.h>
#include <string.h>

static int zero(const double *theta, double *value, void *user) {
  (void)theta;
  (void)user;
  *value = 0;
  return 0;
}

/* user[k] is how much entry k of block a counts; b goes with a. */
static int weighted(const double *theta, double *value, void *user) {
  const double *weight = user;
  *value = 0;
  for (size_t k = 0; k < 3; k++)
    *value += weight[k] * sin(theta[k]) * (1 + theta[3 + k]);
  return 0;
}

typedef struct found {
  tm_arena *arena;
  tempera_model *model;
  tm_evaluator evaluator;
  tm_labels labels;
} found;

static found find(tempera_parameter *parameters, size_t count,
                  const double *weight, const double *points, size_t point) {
  tempera_model_spec spec = {.name = "labels",
                             .parameters = parameters,
                             .parameter_count = count,
                             .log_likelihood = weight ? weighted : zero,
                             .log_prior = zero,
                             .user = (void *)(uintptr_t)weight};
  found f = {.arena = tm_arena_create()};
  tm_point scratch;
  assert_int_equal(tempera_model_create(&spec, &f.model, NULL), TEMPERA_OK);
  assert_int_equal(tm_evaluator_create(f.model, f.arena, &f.evaluator, NULL),
                   TEMPERA_OK);
  assert_int_equal(tm_point_create(f.model, f.arena, &scratch, NULL),
                   TEMPERA_OK);
  assert_int_equal(tm_labels_find(&f.evaluator, &scratch, points, point,
                                  f.arena, &f.labels, NULL),
                   TEMPERA_OK);
  return f;
}

static void free_found(found *f) {
  tm_evaluator_release(&f->evaluator);
  tempera_model_free(f->model);
  tm_arena_free(f->arena);
}

#define FREE(name, count)                                                      \
  { name, TEMPERA_REAL, count, -INFINITY, INFINITY, TEMPERA_BOUNDS }

static const double POINT[6] = {-1.5, 2.25, 0.5, 1, 0.75, 0.125};

/* a and b permute together, but neither alone. */
static void blocks_permute_together(void **state) {
  (void)state;
  static const double even[3] = {1, 1, 1}, odd[3] = {1, 1, 1.0001};
  tempera_parameter two[] = {FREE("a", 3), FREE("b", 3)};
  found f = find(two, 2, even, POINT, 1);
  assert_int_equal(f.labels.count, 3);
  assert_int_equal(f.labels.permutations, 6);
  assert_true(f.labels.block[0] && f.labels.block[1]);
  assert_true(f.labels.key == 0 &&
              fabs(exp(f.labels.log_factorial) - 6) < 1e-9);
  free_found(&f);
  f = find(two, 2, odd, POINT, 1);
  assert_int_equal(f.labels.count, 0);
  free_found(&f);
}

/* Another block of the size is left out; a point of equal entries says nothing.
 */
static void a_stranger_of_the_same_size_is_left_out(void **state) {
  (void)state;
  static const double even[3] = {1, 1, 1};
  tempera_parameter two[] = {FREE("a", 3), FREE("b", 3)};
  static const double alike[6] = {1, 1, 1, 0, 0, 0};
  found f = find(two, 2, even, alike, 1);
  assert_int_equal(f.labels.count, 0);
  free_found(&f);
  /* Weights of a that differ, b alone: nothing; without weights: both. */
  f = find(two, 2, NULL, POINT, 1);
  assert_true(f.labels.count == 3 && f.labels.block[0] && f.labels.block[1]);
  free_found(&f);
}

/* Alike but for a needle: what does not change places there is no label. */
static int needle(const double *theta, double *value, void *user) {
  (void)user;
  double square = 0, off = 0;
  for (size_t k = 0; k < 3; k++) {
    square += theta[k] * theta[k];
    off += (theta[k] - (double)k) * (theta[k] - (double)k);
  }
  *value = log(exp(-square / 2) + exp(-off / 2e-4));
  return 0;
}

static void a_needle_breaks_labels(void **state) {
  (void)state;
  static const double away[3] = {-1, 0.5, 2}, at[3] = {0.001, 1, 2};
  tempera_parameter one[] = {FREE("a", 3)};
  found f = find(one, 1, NULL, away, 1);
  tm_point scratch;
  assert_int_equal(f.labels.count, 3);
  assert_int_equal(tm_point_create(f.model, f.arena, &scratch, NULL),
                   TEMPERA_OK);
  f.model->spec.log_likelihood = needle;
  assert_true(tm_labels_hold(&f.evaluator, &scratch, &f.labels, away));
  assert_false(tm_labels_hold(&f.evaluator, &scratch, &f.labels, at));
  free_found(&f);
}

static int first_only(const double *theta, double *value, void *user) {
  (void)user;
  *value = -theta[0] * theta[0];
  return 0;
}

/* Two entries that are equal prove nothing in favour of labels, but what
 * exchanging the others changes speaks against them. */
static void ties_do_not_save_labels(void **state) {
  (void)state;
  static const double away[3] = {-1, 0.5, 2}, tied[3] = {1, 2, 2};
  tempera_parameter one[] = {FREE("a", 3)};
  found f = find(one, 1, NULL, away, 1);
  tm_point scratch;
  assert_int_equal(tm_point_create(f.model, f.arena, &scratch, NULL),
                   TEMPERA_OK);
  f.model->spec.log_likelihood = first_only;
  assert_false(tm_labels_hold(&f.evaluator, &scratch, &f.labels, tied));
  free_found(&f);
}

/* 1 < 2 < 3 must stay so: permuted points have no density. */
static bool ordered_inside(const tempera_map *map, const double *theta) {
  (void)map;
  return theta[0] < theta[1] && theta[1] < theta[2];
}
static double ordered_constrain(const tempera_map *map, const double *u,
                                double *theta) {
  (void)map;
  theta[0] = u[0];
  theta[1] = theta[0] + exp(u[1]);
  theta[2] = theta[1] + exp(u[2]);
  return u[1] + u[2];
}
static void ordered_unconstrain(const tempera_map *map, const double *theta,
                                double *u) {
  (void)map;
  u[0] = theta[0];
  u[1] = log(theta[1] - theta[0]);
  u[2] = log(theta[2] - theta[1]);
}

static void ordered_pull_back(const tempera_map *map, const double *u,
                              const double *theta, const double *gradient,
                              bool jacobian, double *out) {
  (void)map;
  (void)u;
  (void)theta;
  (void)gradient;
  (void)jacobian;
  (void)out; /* no gradients here */
}

static void entries_in_order_do_not_change_places(void **state) {
  (void)state;
  static const tempera_map map = {.unconstrained_size = 3,
                                  .constrain = ordered_constrain,
                                  .unconstrain = ordered_unconstrain,
                                  .inside = ordered_inside,
                                  .pull_back = ordered_pull_back};
  static const double point[3] = {-1, 0.5, 2};
  tempera_parameter one[] = {FREE("a", 3)};
  one[0].transform = TEMPERA_MAPPED;
  one[0].map = &map;
  found f = find(one, 1, NULL, point, 1);
  assert_int_equal(f.labels.count, 0);
  free_found(&f);
}

/* Draws of three separated components under random labels come back in one
 * labelling, and each copy of a draw to the same one. */
static void the_pivot_undoes_relabelling(void **state) {
  (void)state;
  static const double even[3] = {1, 1, 1};
  enum { ROWS = 300 };
  tempera_parameter two[] = {FREE("a", 3), FREE("b", 3)};
  found f = find(two, 2, even, POINT, 1);
  tm_label_pivot pivot;
  assert_int_equal(
      tm_label_pivot_create(f.model, &f.labels, f.arena, &pivot, NULL),
      TEMPERA_OK);
  double theta[ROWS][6];
  tempera_random r = tm_random(1, 0, TM_PURPOSE_TEST);
  for (size_t i = 0; i < ROWS; i++) {
    for (size_t k = 0; k < 3; k++) {
      theta[i][k] = 5 * (double)k + tempera_random_normal(&r);
      theta[i][3 + k] = 3 * (double)k + tempera_random_normal(&r);
    }
    tm_label_pivot_shuffle(&pivot, &r, theta[i]);
  }
  tm_label_pivot_learn(&pivot, theta[0], ROWS, 7);
  for (size_t i = 0; i < ROWS; i++) {
    double copy[6];
    assert_true(theta[i][0] < theta[i][1] && theta[i][1] < theta[i][2]);
    memcpy(copy, theta[i], sizeof copy);
    assert_true(tm_label_pivot_settle(&pivot, copy));
    tm_label_pivot_shuffle(&pivot, &r, copy);
    tm_label_pivot_settle(&pivot, copy);
    assert_memory_equal(copy, theta[i], sizeof copy);
  }
  free_found(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(blocks_permute_together),
      cmocka_unit_test(a_stranger_of_the_same_size_is_left_out),
      cmocka_unit_test(a_needle_breaks_labels),
      cmocka_unit_test(ties_do_not_save_labels),
      cmocka_unit_test(entries_in_order_do_not_change_places),
      cmocka_unit_test(the_pivot_undoes_relabelling)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
