/* Dot products: several at a time have the bits of one by one, at any length.
 * Factors and inverses at sizes around those where the way changes. */
#include "numeric/triangular.h"

#include "base/random.h"

#include "cmocka_all.h"

#include <math.h>
#include <stdlib.h>

enum { MOST = 43, COUNT = 11, STRIDE = 50 };

static void several_dot_products_are_those_of_one_by_one(void **state) {
  (void)state;
  tempera_random random = tm_random(5, 0, TM_PURPOSE_TEST);
  double a[MOST], b[COUNT * STRIDE], out[COUNT];
  for (size_t i = 0; i < MOST; i++)
    a[i] = tempera_random_normal(&random);
  for (size_t i = 0; i < COUNT * STRIDE; i++)
    b[i] = tempera_random_normal(&random);
  for (size_t n = 0; n <= MOST; n++)
    for (size_t count = 1; count <= COUNT; count++) {
      tm_dots(a, b, STRIDE, count, n, out);
      for (size_t k = 0; k < count; k++) {
        double one = tm_dot(a, b + k * STRIDE, n), sum = 0;
        for (size_t i = 0; i < n; i++)
          sum += a[i] * b[k * STRIDE + i];
        assert_true(out[k] == one);
        assert_true(fabs(one - sum) < 1e-13);
      }
    }
}

/* A covariance of n walks' steps: |i - j| apart they share less. */
static double entry(size_t i, size_t j) {
  return 1 / (1 + fabs((double)i - (double)j)) + (i == j ? 0.5 : 0);
}

static double *filled(size_t n) {
  double *a = malloc(n * n * sizeof(double));
  assert_non_null(a);
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < n; j++)
      a[i * n + j] = j <= i ? entry(i, j) : NAN; /* not read */
  return a;
}

static void check_factor(size_t n) {
  double *l = filled(n), *inverse = malloc(n * n * sizeof(double));
  double worst = 0, off = 0;
  assert_non_null(inverse);
  assert_true(tm_cholesky(l, n));
  tm_triangular_inverse(l, n, inverse);
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < n; j++) {
      double sum = 0, one = 0;
      for (size_t k = 0; k <= (i < j ? i : j); k++)
        sum += l[i * n + k] * l[j * n + k];
      for (size_t k = j; k <= i; k++)
        one += l[i * n + k] * inverse[k * n + j];
      worst = fmax(worst, fabs(sum - entry(i, j)));
      off = fmax(off, fabs(one - (i == j)));
      assert_true(j <= i || (l[i * n + j] == 0 && inverse[i * n + j] == 0));
    }
  print_message("%zu: LL' off by %.1e, LL^-1 by %.1e\n", n, worst, off);
  assert_true(worst < 1e-13 && off < 1e-12);
  free(l);
  free(inverse);
}

/* By hand up to 255 rows, in blocks beyond. */
static void factors_and_inverses_are_right_at_any_size(void **state) {
  (void)state;
  static const size_t sizes[] = {1,   2,   17,  64,  200, 255,
                                 256, 257, 319, 320, 400};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
    check_factor(sizes[i]);
}

/* Two rows that are equal but for rounding, wherever they are; a NaN. */
static void what_is_not_definite_has_no_factor(void **state) {
  (void)state;
  static const size_t sizes[] = {20, 300}, rows[] = {1, 19, 70, 299};
  for (size_t s = 0; s < 2; s++)
    for (size_t r = 0; r < 4 && rows[r] < sizes[s]; r++) {
      size_t n = sizes[s], row = rows[r];
      double *a = filled(n);
      for (size_t j = 0; j < row; j++)
        a[row * n + j] = entry(0, j);
      a[row * n] = entry(0, 0);
      a[row * n + row] = entry(0, 0) * (1 + 1e-15);
      for (size_t i = row + 1; i < n; i++)
        a[i * n + row] = entry(i, 0);
      assert_false(tm_cholesky(a, n));
      free(a);
      a = filled(n);
      a[row * n + row / 2] = NAN;
      assert_false(tm_cholesky(a, n));
      free(a);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(factors_and_inverses_are_right_at_any_size),
      cmocka_unit_test(what_is_not_definite_has_no_factor),
      cmocka_unit_test(several_dot_products_are_those_of_one_by_one),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
