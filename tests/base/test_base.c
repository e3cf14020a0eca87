/* Facts about src/base: streams, text, arenas. */
#include "base/json.h"
#include "base/memory.h"
#include "base/random.h"
#include "base/text.h"

#include "cmocka_all.h"

#include <Random123/philox.h>
#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

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

/* Blocks are made in lanes where the processor has them. */
static void stream_is_that_of_random123(void **state) {
  (void)state;
  tempera_random r = tm_random(0x123456789abcdefull, 7, TM_PURPOSE_TEST);
  r.counter[0] = UINT32_MAX - 19; /* carried into the next word */
  r.counter[1] = 3;
  philox4x32_key_t key = {{r.key[0], r.key[1]}};
  philox4x32_ctr_t counter = {
      {r.counter[0], r.counter[1], r.counter[2], r.counter[3]}};
  for (int i = 0; i < 100; i++) {
    philox4x32_ctr_t block = philox4x32(counter, key);
    assert_int_equal(tm_random_bits(&r),
                     (uint64_t)block.v[1] << 32 | block.v[0]);
    assert_int_equal(tm_random_bits(&r),
                     (uint64_t)block.v[3] << 32 | block.v[2]);
    if (++counter.v[0] == 0)
      counter.v[1]++;
  }
}

static double density(double x) { return exp(-0.5 * x * x); }

static void layers_of_the_normal_have_equal_areas(void **state) {
  (void)state;
  const double *edge = tm_normal_edge;
  double area =
      edge[1] * density(edge[1]) + sqrt(M_PI / 2) * erfc(edge[1] / sqrt(2));
  assert_true(fabs(edge[0] * density(edge[1]) / area - 1) < 1e-14);
  for (int i = 1; i < TM_NORMAL_LAYERS; i++) {
    double layer = edge[i] * (density(edge[i + 1]) - density(edge[i]));
    assert_true(fabs(layer / area - 1) < 1e-12);
  }
  assert_true(edge[TM_NORMAL_LAYERS] == 0);
}

/* Counts in cells, the tail beyond the last layer among them. */
static void normals_fall_where_they_should(void **state) {
  (void)state;
  tempera_random r = tm_random(5, 0, TM_PURPOSE_TEST);
  enum { N = 4000000, CELLS = 66, MIDDLE = CELLS / 2 };
  static double count[CELLS];
  double width = tm_normal_edge[1] / (MIDDLE - 1);
  for (int i = 0; i < N; i++) {
    double cell = MIDDLE + floor(tempera_random_normal(&r) / width);
    count[(int)fmax(0, fmin(CELLS - 1, cell))]++;
  }
  double chi_square = 0;
  for (int i = 0; i < CELLS; i++) {
    double low = i == 0 ? -INFINITY : (i - MIDDLE) * width;
    double high = i == CELLS - 1 ? INFINITY : (i + 1 - MIDDLE) * width;
    double expected =
        N * (gsl_cdf_ugaussian_P(high) - gsl_cdf_ugaussian_P(low));
    chi_square += pow(count[i] - expected, 2) / expected;
  }
  double freedom = CELLS - 1;
  assert_true(fabs(chi_square - freedom) < 4 * sqrt(2 * freedom));
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

/* The law of each, as counts in cells of equal probability. */
static void chi_squares_fall_where_they_should(void **state) {
  (void)state;
  static const unsigned freedom[] = {1, 2, 5, 8, 32, 33, 60};
  enum { N = 200000, CELLS = 50 };
  for (size_t k = 0; k < sizeof freedom / sizeof *freedom; k++) {
    tempera_random r = tm_random(7, (uint32_t)k, TM_PURPOSE_TEST);
    double count[CELLS] = {0}, off = 0, expected = (double)N / CELLS;
    for (int i = 0; i < N; i++) {
      double x = tm_random_chi_square(&r, freedom[k]);
      count[(int)(CELLS * gsl_cdf_chisq_P(x, freedom[k]))]++;
    }
    for (int i = 0; i < CELLS; i++)
      off += pow(count[i] - expected, 2) / expected;
    assert_true(fabs(off - (CELLS - 1)) < 4 * sqrt(2 * (CELLS - 1)));
  }
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

static void check_reading(const char *text) {
  char *end, *expected_end;
  double value = tm_number_read(text, &end);
  double expected = strtod(text, &expected_end);
  assert_ptr_equal(end, expected_end);
  assert_memory_equal(&value, &expected, sizeof value);
}

static void numbers_are_read_as_strtod_does(void **state) {
  (void)state;
  static const char *const texts[] = {
      "0", "-0", "-0.0,1", "1.5", "12,3", "", "-", ".", "-.,", "5.", ".5", "+7",
      "1.2.3", "1e5", "1e", "0x1p3", " 4", "inf", "-inf,", "nan", "1 ", "2x",
      /* halfway between doubles, and just beside */
      "9007199254740993", "900719925474099.3", "9007199254740993.0000000001",
      "90071992547409.925", "0.12500000000000001388", "123456789012345678",
      "1234567890123456789", "12345678901234567890123", "0.00000000000000001",
      "0.000000000000000000000000000001", "4503599627370497.5",
      "4503599627370496.5"};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
    check_reading(texts[i]);
  tempera_random r = tm_random(3, 0, TM_PURPOSE_START);
  for (int i = 0; i < 200000; i++) {
    char text[64];
    double scale = pow(10, 20 * tempera_random_uniform(&r) - 6);
    double value = tempera_random_normal(&r) * scale;
    snprintf(text, sizeof text, "%.*f,1", i % 20, value);
    check_reading(text);
    snprintf(text, sizeof text, "%.*g", i % 20, value);
    check_reading(text);
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

static void a_list_keeps_its_items_and_zeroes_the_rest(void **state) {
  (void)state;
  int *list = NULL;
  size_t capacity = 0;
  for (size_t count = 0; count < 100; count++) {
    assert_true(tm_list_room(&list, count, &capacity, sizeof *list));
    assert_true(capacity > count && list[count] == 0);
    list[count] = (int)count + 1;
  }
  for (int i = 0; i < 100; i++)
    assert_int_equal(list[i], i + 1);
  assert_false(tm_list_room(&list, capacity, &capacity, SIZE_MAX / 8));
  assert_int_equal(list[99], 100);
  tm_heap_free(list);
}

/* Numbers apart, whose texts may differ, as jansson. */
static void json_is_written_as_by_jansson(void **state) {
  (void)state;
  static const char *const texts[] = {
      "{\"a\":[1,2.5,-0.1,1e-9,1e300,null],\"b\":{},\"c\":[],\"d\":[{}]}",
      "[true,false,\"\\u00e9\\\"\\u2028</script>\",{\"\\u00fc\":[[0.0,-7]]}]"};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    json_t *root = json_loads(texts[i], 0, NULL);
    tm_text out = {0};
    assert_non_null(root);
    assert_true(tm_json_compact(root, &out));
    for (const char *c = out.data; *c; c++)
      assert_true((unsigned char)*c < 0x80 && *c != ' ');
    json_t *again = json_loads(out.data, 0, NULL);
    char *expected = json_dumps(root, JSON_REAL_PRECISION(15));
    char *found = json_dumps(again, JSON_REAL_PRECISION(15));
    if (i == 0) /* 0.0 is written as 0 */
      assert_string_equal(found, expected);
    free(found);
    free(expected);
    json_decref(again);
    json_decref(root);
    tm_text_clear(&out);
  }
}

static void numbers_of_15_digits_are_close(void **state) {
  (void)state;
  tempera_random r = tm_random(4, 0, TM_PURPOSE_START);
  for (int i = 0; i < 20000; i++) {
    double x = exp(30 * tm_random_normal(&r)) * (i % 2 ? 1 : -1);
    char expected[40];
    tm_text text = {0};
    snprintf(expected, sizeof expected, "%.15g", i % 3 ? x : rint(x));
    tm_text_number_15(&text, i % 3 ? x : rint(x));
    assert_int_equal(strlen(text.data), strlen(expected));
    double wanted = strtod(expected, NULL); /* but for halves, any way round */
    assert_true(fabs(strtod(text.data, NULL) - wanted) <= 1e-14 * fabs(wanted));
    tm_text_clear(&text);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(streams_differ_by_seed_chain_and_purpose),
      cmocka_unit_test(stream_matches_known_answer),
      cmocka_unit_test(stream_is_that_of_random123),
      cmocka_unit_test(layers_of_the_normal_have_equal_areas),
      cmocka_unit_test(normals_fall_where_they_should),
      cmocka_unit_test(normals_have_the_right_moments),
      cmocka_unit_test(chi_squares_fall_where_they_should),
      cmocka_unit_test(numbers_read_back_exactly),
      cmocka_unit_test(numbers_are_read_as_strtod_does),
      cmocka_unit_test(numbers_of_15_digits_are_close),
      cmocka_unit_test(json_is_written_as_by_jansson),
      cmocka_unit_test(arena_memory_is_zeroed_and_aligned),
      cmocka_unit_test(a_list_keeps_its_items_and_zeroes_the_rest),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
