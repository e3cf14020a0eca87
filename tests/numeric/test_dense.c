/* Facts about small dense matrices: quick products against plain sums, in all
 * dimensions around the width of a vector. */
#include "base/random.h"
#include "cmocka_all.h"
#include "numeric/dense.h"

#include <math.h>
#include <string.h>

enum { MOST = 20 };

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

/* A = sum of values v v', for d below and above where LAPACK takes over. */
static void eigenvectors_make_the_matrix_again(void **state) {
  (void)state;
  enum { LARGE = 60 };
  static double a[LARGE * LARGE], kept[LARGE * LARGE], v[LARGE * LARGE],
      e[LARGE];
  static const size_t sizes[] = {1, 7, LARGE};
  tempera_random random = tm_random(3, 0, TM_PURPOSE_TEST);
  for (size_t n = 0; n < 3; n++) {
    size_t d = sizes[n];
    for (size_t i = 0; i < d; i++)
      for (size_t j = 0; j <= i; j++)
        a[i * d + j] = a[j * d + i] = tempera_random_normal(&random);
    memcpy(kept, a, sizeof a);
    tm_symmetric_eigen(a, d, e, v);
    for (size_t i = 0; i < d; i++)
      for (size_t j = 0; j < d; j++) {
        double sum = 0;
        for (size_t k = 0; k < d; k++)
          sum += e[k] * v[k * d + i] * v[k * d + j];
        assert_true(fabs(sum - kept[i * d + j]) < 1e-11);
      }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(products_are_plain_sums),
      cmocka_unit_test(inverses_and_solves_undo_products),
      cmocka_unit_test(eigenvectors_make_the_matrix_again),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
