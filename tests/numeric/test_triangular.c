/* Dot products: several at a time have the bits of one by one, at any length. */
#include "numeric/triangular.h"

#include "base/random.h"

#include "cmocka_all.h"

#include <math.h>

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

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(several_dot_products_are_those_of_one_by_one),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
