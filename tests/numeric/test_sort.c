/* Facts about sorting: the order is that of qsort with ties by place. */
#include "numeric/sort.h"

#include "base/random.h"

#include "cmocka_all.h"

#include <math.h>

enum { MOST = 20000 };

static int compare(const void *a, const void *b) {
  const tm_ranked *x = a, *y = b;
  if (x->value != y->value)
    return x->value < y->value ? -1 : 1;
  return (x->index > y->index) - (x->index < y->index);
}

/* Numbers of every size and sign, with ties, both zeros and infinities. */
static double number(tempera_random *random, int kind, size_t i) {
  double u = tempera_random_uniform(random);
  switch (kind) {
  case 0:
    return u - 0.5;
  case 1:
    return floor(10 * u) - 5;
  case 2:
    return ldexp(u - 0.5, (int)(u * 1e6) % 2000 - 1000);
  case 5: /* many share their leading bits */
    return 1e9 + 1e-4 * u;
  case 3:
    return i % 3 == 0   ? -0.0
           : i % 3 == 1 ? 0.0
           : u < 0.5    ? -INFINITY
                        : INFINITY;
  default:
    return 7;
  }
}

static void check(size_t count, int kind) {
  static tm_ranked sorted[MOST], expected[MOST], room[MOST];
  static double plain[MOST];
  tempera_random random = tm_random(1, 0, 0);
  for (size_t i = 0; i < count; i++) {
    plain[i] = number(&random, kind, i);
    sorted[i] = expected[i] = (tm_ranked){plain[i], i};
  }
  qsort(expected, count, sizeof *expected, compare);
  tm_ranked_sort(sorted, room, count);
  tm_sort(plain, count);
  for (size_t i = 0; i < count; i++) {
    assert_int_equal(sorted[i].index, expected[i].index);
    assert_true(sorted[i].value == expected[i].value);
    assert_int_equal(signbit(sorted[i].value) != 0,
                     signbit(expected[i].value) != 0);
    assert_true(plain[i] == expected[i].value);
  }
}

static void order_is_right(void **state) {
  (void)state;
  const size_t counts[] = {0, 1, 2, 3, 17, 499, 500, 501, 5000, MOST};
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
    for (int kind = 0; kind < 6; kind++)
      check(counts[i], kind);
}

static void quantiles_interpolate(void **state) {
  (void)state;
  const tm_ranked sorted[] = {{1, 0}, {2, 1}, {4, 2}};
  assert_true(isnan(tm_ranked_quantile(sorted, 0, 0.5)));
  assert_true(tm_ranked_quantile(sorted, 3, 0) == 1);
  assert_true(tm_ranked_quantile(sorted, 3, 0.25) == 1.5);
  assert_true(tm_ranked_quantile(sorted, 3, 0.75) == 3);
  assert_true(tm_ranked_quantile(sorted, 3, 1) == 4);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(order_is_right),
      cmocka_unit_test(quantiles_interpolate),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
