/* Facts about sums of lagged products, against sums in a long double. */
#include "numeric/lags.h"

#include "base/random.h"

#include "cmocka_all.h"

#include <math.h>

static long double exact(const double *x, size_t count, size_t length,
                         size_t lag) {
  long double sum = 0;
  for (size_t c = 0; c < count; c++)
    for (size_t i = 0; i + lag < length; i++)
      sum += (long double)x[c * length + i] * x[c * length + i + lag];
  return sum;
}

static double *series(tm_arena *arena, size_t count) {
  tempera_random random = tm_random(1, 0, 0);
  double *x = TM_NEW(arena, double, count);
  for (size_t i = 0; i < count; i++)
    x[i] = (i ? 0.9 * x[i - 1] : 0) + tempera_random_uniform(&random) - 0.3;
  return x;
}

static void check(size_t count, size_t length, size_t below) {
  tm_arena *arena = tm_arena_create();
  double *x = series(arena, count * length);
  double *products = TM_NEW(arena, double, below);
  tm_lags lags;
  assert_true(tm_lags_create(arena, length, &lags));
  assert_true(lags.most >= length);
  double scale = (double)exact(x, count, length, 0);
  for (int again = 0; again < 2; again++) {
    tm_lags_sum(&lags, x, count, length, below, products);
    for (size_t lag = 0; lag < below; lag++)
      assert_true(fabs(products[lag] - (double)exact(x, count, length, lag)) <
                  1e-14 * scale);
  }
  tm_arena_free(arena);
}

/* Shorter than a block, exactly some blocks, and between; one series, an even
 * and an odd number of them. */
static void sums_are_exact(void **state) {
  (void)state;
  const size_t lengths[] = {4, 5, 63, 64, 65, 256, 1000};
  for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
    for (size_t count = 1; count <= 4; count++) {
      check(count, lengths[i], 4);
      if (lengths[i] > 32)
        check(count, lengths[i], 64);
    }
  check(3, 1000, 1024);
}

static void one_lag_is_exact(void **state) {
  (void)state;
  tm_arena *arena = tm_arena_create();
  double *x = series(arena, 100);
  for (size_t length = 1; length <= 100; length += 9)
    for (size_t lag = 0; lag < 110; lag++)
      assert_true(fabs(tm_lagged_product(x, length, lag) -
                       (double)exact(x, 1, length, lag)) < 1e-12);
  tm_arena_free(arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sums_are_exact),
      cmocka_unit_test(one_lag_is_exact),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
