/* Facts about small dense matrices: quick products against plain sums, in all
 * dimensions around the width of a vector. */
#include "base/random.h"
#include "cmocka_all.h"
#include "numeric/dense.h"

#include <math.h>
#include <string.h>

enum { MOST = 20, MOST_EIGEN = 90 };

/* A lower triangle with zeros above it, and its transpose. */
static void fill(tempera_random *random, size_t d, double *l, double *r) {
  for (size_t i = 0; i < d; i++)
    for (size_t j = 0; j < d; j++)
      l[i * d + j] = r[j * d + i] =
          j <= i ? tempera_random_normal(random) + 4 * (i == j) : 0;
}

static void assert_near(double a, double b) {
  assert_true(fabs(a - b) < 1e-12 * (1 + fabs(b)));
}

static void products_are_plain_sums(void **state) {
  (void)state;
  tempera_random random = tm_random(1, 0, TM_PURPOSE_TEST);
  for (size_t d = 1; d <= MOST; d++) {
    double l[MOST * MOST], r[MOST * MOST], x[MOST], y[MOST], z[MOST];
    fill(&random, d, l, r);
    for (size_t i = 0; i < d; i++)
      x[i] = tempera_random_normal(&random);
    tm_lower_transposed(l, d, x, y);
    tm_upper_transposed(r, d, x, z);
    double square = 0;
    for (size_t i = 0; i < d; i++) {
      double transposed = 0, plain = 0;
      for (size_t k = 0; k < d; k++) {
        transposed += l[k * d + i] * x[k];
        plain += l[i * d + k] * x[k];
      }
      assert_near(y[i], transposed);
      assert_near(z[i], plain);
      square += transposed * transposed;
    }
    assert_near(tm_factor_square(l, d, x, INFINITY), square);
  }
}

static void inverses_and_solves_undo_products(void **state) {
  (void)state;
  tempera_random random = tm_random(2, 0, TM_PURPOSE_TEST);
  for (size_t d = 1; d <= MOST; d++) {
    double l[MOST * MOST], r[MOST * MOST], x[MOST], y[MOST], z[MOST];
    double inverse[MOST * MOST];
    fill(&random, d, l, r);
    tm_triangular_inverse(l, d, inverse);
    for (size_t i = 0; i < d; i++)
      x[i] = tempera_random_normal(&random);
    tm_lower_transposed(l, d, x, y);
    tm_lower_transposed(inverse, d, y, z);
    tm_solve_upper(l, d, y);
    for (size_t i = 0; i < d; i++) {
      assert_true(fabs(z[i] - x[i]) < 1e-8);
      assert_true(fabs(y[i] - x[i]) < 1e-8);
    }
  }
}

/* Symmetric, with a few eigenvalues that are alike and one that is zero. */
static void fill_symmetric(tempera_random *random, size_t d, double *a) {
  static double rows[MOST_EIGEN * MOST_EIGEN];
  for (size_t i = 0; i < d * d; i++)
    rows[i] = i < d ? 0 : tempera_random_normal(random);
  for (size_t i = 0; i < d; i++)
    for (size_t j = 0; j < d; j++) {
      a[i * d + j] = 0;
      for (size_t k = 0; k < d && d % 3; k++)
        a[i * d + j] += rows[k * d + i] * rows[k * d + j];
      a[i * d + j] += d % 3 == 0 && i == j ? (double)(i % 4) : 0;
    }
}

static void eigenvectors_rebuild_the_matrix(void **state) {
  (void)state;
  static double a[MOST_EIGEN * MOST_EIGEN], b[MOST_EIGEN * MOST_EIGEN];
  static double v[MOST_EIGEN * MOST_EIGEN], values[MOST_EIGEN];
  static const size_t sizes[] = {1, 2, 3, 4, 7, 12, 20, 61, MOST_EIGEN};
  tempera_random random = tm_random(3, 0, TM_PURPOSE_TEST);
  for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
    size_t d = sizes[s];
    fill_symmetric(&random, d, a);
    memcpy(b, a, d * d * sizeof *a);
    tm_symmetric_eigen(b, d, values, v);
    for (size_t i = 0; i < d; i++)
      for (size_t j = 0; j < d; j++) {
        double again = 0, unit = tm_dot(v + i * d, v + j * d, d);
        for (size_t k = 0; k < d; k++)
          again += values[k] * v[k * d + i] * v[k * d + j];
        assert_true(fabs(again - a[i * d + j]) < 1e-12 * (double)(d * d + 4));
        assert_true(fabs(unit - (i == j)) < 1e-12);
      }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(products_are_plain_sums),
      cmocka_unit_test(inverses_and_solves_undo_products),
      cmocka_unit_test(eigenvectors_rebuild_the_matrix),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
