/* Facts about src/base: streams, text, arenas. */
#include "base/memory.h"
#include "base/random.h"
#include "base/text.h"

#include "cmocka_all.h"

#include <math.h>

static void streams_differ_by_seed_chain_and_purpose(void **state) {
  (void)state;
  tempera_random a = tm_random(1, 0, TM_PURPOSE_TAU);
  tempera_random same = tm_random(1, 0, TM_PURPOSE_TAU);
  tempera_random others[] = {tm_random(2, 0, TM_PURPOSE_TAU),
                             tm_random(1, 1, TM_PURPOSE_TAU),
                             tm_random(1, 0, TM_PURPOSE_EXCHANGE),
                             tm_random(1ull << 32 | 1, 0, TM_PURPOSE_TAU)};
  uint64_t first = tm_random_bits(&a);
  assert_int_equal(first, tm_random_bits(&same));
  for (size_t i = 0; i < 4; i++)
    assert_int_not_equal(first, tm_random_bits(&others[i]));
}

/* Philox4x32-10 of counter 0 and key 0, from Random123's known answers. */
static void stream_matches_known_answer(void **state) {
  (void)state;
  tempera_random r = tm_random(0, 0, (tm_purpose)0);
  assert_int_equal(tm_random_bits(&r), 0xe169c58d6627e8d5ull);
  assert_int_equal(tm_random_bits(&r), 0x9b00dbd8bc57ac4cull);
}

static void normals_have_the_right_moments(void **state) {
  (void)state;
  tempera_random r = tm_random(3, 0, TM_PURPOSE_TEST);
  enum { N = 200000 };
  double sum = 0, square = 0, fourth = 0;
  for (int i = 0; i < N; i++) {
    double x = tempera_random_normal(&r);
    sum += x;
    square += x * x;
    fourth += x * x * x * x;
  }
  assert_true(fabs(sum / N) < 4 / sqrt(N));
  assert_true(fabs(square / N - 1) < 4 * sqrt(2.0 / N));
  assert_true(fabs(fourth / N - 3) < 4 * sqrt(96.0 / N));
}

static void numbers_read_back_exactly(void **state) {
  (void)state;
  double values[] = {0.1, 1.0 / 3, -38.25321251549197, 5e-324, 1e300, 2};
  for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
    tm_text text = {0};
    tm_text_number(&text, values[i]);
    assert_true(strtod(text.data, NULL) == values[i]);
    tm_text_clear(&text);
  }
}

static void draws_are_spelt_to_twelve_digits(void **state) {
  (void)state;
  const struct {
    double value;
    const char *spelt;
  } cases[] = {{0, "0"},
               {-0.5, "-0.5"},
               {123, "123"},
               {1e-5, "0.00001"},
               {1e-6, "1e-6"},
               {-2.5e300, "-2.5e300"},
               {1e11, "100000000000"},
               {1e12, "1e12"},
               {0.1, "0.1"},
               {NAN, "nan"},
               {-INFINITY, "-inf"},
               {9.9999999999999, "10"},
               {5e-324, "4.94065645841e-324"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    tm_text text = {0};
    tm_text_draw(&text, cases[i].value);
    assert_string_equal(text.data, cases[i].spelt);
    tm_text_clear(&text);
  }
  tempera_random r = tm_random(5, 0, TM_PURPOSE_TEST);
  for (int i = 0; i < 100000; i++) {
    double value =
        tempera_random_normal(&r) * exp(600 * tempera_random_uniform(&r) - 300);
    tm_text text = {0};
    tm_text_draw(&text, value);
    assert_true(fabs(strtod(text.data, NULL) / value - 1) < 1e-11);
    tm_text_clear(&text);
  }
}

static void arena_memory_is_zeroed_and_aligned(void **state) {
  (void)state;
  tm_arena *arena = tm_arena_create();
  for (size_t n = 1; n < 3000; n += 97) {
    double *values = TM_NEW(arena, double, n);
    assert_int_equal((uintptr_t)values % 32, 0);
    for (size_t i = 0; i < n; i++)
      assert_true(values[i] == 0);
  }
  assert_null(tm_arena_alloc(arena, SIZE_MAX / 2, 8));
  tm_arena_free(arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(streams_differ_by_seed_chain_and_purpose),
      cmocka_unit_test(stream_matches_known_answer),
      cmocka_unit_test(normals_have_the_right_moments),
      cmocka_unit_test(numbers_read_back_exactly),
      cmocka_unit_test(draws_are_spelt_to_twelve_digits),
      cmocka_unit_test(arena_memory_is_zeroed_and_aligned),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
