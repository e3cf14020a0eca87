/* Facts about CmdStan JSON data: src/model/data.c and src/base/json.c. */
#include "base/memory.h"
#include "tempera.h"

#include "cmocka_all.h"
#include "failing_memory.h"

#include <math.h>
#include <stdio.h>

static tempera_data *parsed(const char *text) {
  tempera_data *data = NULL;
  tempera_error error = {0};
  if (tempera_data_parse(text, strlen(text), &data, &error) != TEMPERA_OK)
    fail_msg("%d:%d: %s", error.line, error.column, error.message);
  return data;
}

static void single_numbers_are_read_by_name(void **state) {
  (void)state;
  tempera_data *data = parsed("{\"n\": 3, \"x\": -2.5e1, \"extra\": \"text\"}");
  double x = 0;
  int64_t n = 0;
  assert_int_equal(tempera_data_integer(data, "n", &n, NULL), TEMPERA_OK);
  assert_int_equal(n, 3);
  assert_int_equal(tempera_data_real(data, "n", &x, NULL), TEMPERA_OK);
  assert_true(x == 3);
  assert_int_equal(tempera_data_real(data, "x", &x, NULL), TEMPERA_OK);
  assert_true(x == -25);
  assert_true(tempera_data_has(data, "extra"));
  assert_false(tempera_data_has(data, "y"));
  tempera_data_free(data);
}

static void arrays_of_any_rank_are_row_major(void **state) {
  (void)state;
  tempera_data *data = parsed("{\"a\": [[[1, 2], [3, 4]], [[5, 6], [7, 8]]]}");
  const double *values = NULL;
  const int64_t *integers = NULL;
  size_t count = 0;
  assert_int_equal(tempera_data_reals(data, "a", &values, &count, NULL),
                   TEMPERA_OK);
  assert_int_equal(count, 8);
  assert_int_equal(tempera_data_integers(data, "a", &integers, &count, NULL),
                   TEMPERA_OK);
  for (size_t i = 0; i < 8; i++) {
    assert_true(values[i] == (double)(i + 1));
    assert_int_equal(integers[i], i + 1);
  }
  tempera_data_free(data);
}

static void special_numbers_are_strings_or_bare(void **state) {
  (void)state;
  tempera_data *data = parsed(
      "{\"a\": [\"Inf\", \"-Inf\", \"+Inf\", \"Infinity\", \"-Infinity\", "
      "\"NaN\", Inf, -Inf, +Inf, Infinity, -Infinity, NaN], \"b\":NaN}");
  const double expected[] = {INFINITY, -INFINITY, INFINITY,
                             INFINITY, -INFINITY, NAN};
  const double *values = NULL;
  size_t count = 0;
  double b = 0;
  assert_int_equal(tempera_data_reals(data, "a", &values, &count, NULL),
                   TEMPERA_OK);
  assert_int_equal(count, 12);
  for (size_t i = 0; i < 12; i++)
    assert_true(values[i] == expected[i % 6] ||
                (isnan(values[i]) && isnan(expected[i % 6])));
  assert_int_equal(tempera_data_real(data, "b", &b, NULL), TEMPERA_OK);
  assert_true(isnan(b));
  tempera_data_free(data);
}

static void an_empty_array_is_any_zero_size_array(void **state) {
  (void)state;
  tempera_data *data = parsed("{\"a\": [], \"b\": [[], []]}");
  const double *values = NULL;
  const int64_t *integers = NULL;
  size_t count = 1;
  const char *names[] = {"a", "b"};
  for (size_t i = 0; i < 2; i++) {
    assert_int_equal(tempera_data_reals(data, names[i], &values, &count, NULL),
                     TEMPERA_OK);
    assert_int_equal(count, 0);
    assert_int_equal(
        tempera_data_integers(data, names[i], &integers, &count, NULL),
        TEMPERA_OK);
    assert_int_equal(count, 0);
  }
  tempera_data_free(data);
}

/* A table: text, what is asked of variable x, part of the message, place. */
typedef struct wrong_case {
  const char *text;
  char ask; /* r, i: single; R, I: arrays */
  const char *message;
  int line, column;
} wrong_case;

static tempera_status ask(const tempera_data *data, char what,
                          tempera_error *error) {
  double real;
  int64_t integer;
  const double *reals;
  const int64_t *integers;
  size_t count;
  switch (what) {
  case 'r':
    return tempera_data_real(data, "x", &real, error);
  case 'i':
    return tempera_data_integer(data, "x", &integer, error);
  case 'R':
    return tempera_data_reals(data, "x", &reals, &count, error);
  default:
    return tempera_data_integers(data, "x", &integers, &count, error);
  }
}

static void wrong_types_and_shapes_say_what_was_wanted_and_found(void **s) {
  (void)s;
  static const wrong_case cases[] = {
      {"{\"x\": 3.0}", 'i', "x: wanted one integer (3.0 is not", 1, 2},
      {"{\n  \"x\": [1, 2]}", 'r', "found an array [2] of integers", 2, 3},
      {"{\"a\": 1,\n\"x\": 2}", 'R', "wanted an array of reals, found an int",
       2, 1},
      {"{\"x\": [[1, 2.5]]}", 'I', "found an array [1, 2] of reals", 1, 2},
      {"{\"x\": [1, [2]]}", 'R', "nests deeper in places", 1, 2},
      {"{\"x\": [[1], 2]}", 'R', "mixes numbers and arrays", 1, 2},
      {"{\"x\": [[1, 2], [3]]}", 'R', "its rows differ in length", 1, 2},
      {"{\"x\": \"three\"}", 'r', "x holds a string where a number", 1, 2},
      {"{\"x\": [1, null]}", 'R', "holds null", 1, 2},
      {"{\"x\": [true]}", 'I', "holds true or false", 1, 2},
      {"{\"x\": {\"y\": 1}}", 'r', "holds an object", 1, 2},
      {"{\"y\": 1}", 'r', "lack variable x: wanted one real number", 0, 0},
      {"{\"x\": [[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]}", 'R', "more than 16", 1,
       2},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    tempera_data *data = parsed(cases[i].text);
    tempera_error error = {0};
    assert_int_equal(ask(data, cases[i].ask, &error), TEMPERA_ERROR_INPUT);
    if (!strstr(error.message, cases[i].message))
      fail_msg("%s: %s", cases[i].text, error.message);
    assert_int_equal(error.line, cases[i].line);
    assert_int_equal(error.column, cases[i].column);
    tempera_data_free(data);
  }
}

static void items_of_tuples_are_variables(void **state) {
  (void)state;
  static const char text[] =
      "{\"t\": {\"1\": 3, \"2\": {\"1\": [1.5, 2], \"2\": 7}},"
      " \"a\": [{\"1\": 1, \"2\": [1, 2]}, {\"1\": 2, \"2\": [3, 4]}]}";
  tempera_data *data = NULL;
  tempera_error error = {0};
  assert_int_equal(tempera_data_parse(text, strlen(text), &data, &error),
                   TEMPERA_OK);
  int64_t one = 0;
  size_t count = 0;
  const double *reals = NULL;
  const int64_t *integers = NULL;
  assert_int_equal(tempera_data_integer(data, "t:1", &one, &error), TEMPERA_OK);
  assert_int_equal(one, 3);
  assert_int_equal(tempera_data_reals(data, "t:2:1", &reals, &count, &error),
                   TEMPERA_OK);
  assert_true(count == 2 && reals[0] == 1.5);
  assert_int_equal(
      tempera_data_integers(data, "a:2", &integers, &count, &error),
      TEMPERA_OK);
  assert_true(count == 4 && integers[2] == 3);
  assert_false(tempera_data_has(data, "t"));
  tempera_data_free(data);
}

static void malformed_json_is_placed_in_the_callers_text(void **state) {
  (void)state;
  static const wrong_case cases[] = {
      {"{\"x\": }", 0, "malformed JSON", 1, 7},
      {"{\"x\": [NaN, Inf, -Infinity] ]", 0, "malformed JSON", 1, 29},
      {"{\"x\": 1,\n \"y\": NaN, oops}", 0, "malformed JSON", 2, 12},
      {"{\"x\": 1, \"x\": 2}", 0, "duplicate", 1, 10},
      {"{\"\xc3\xa9\": NaN, !}", 0, "malformed JSON", 1, 12},
      {"", 0, "malformed JSON", 1, 1},
      {"{\"x\": [1, 2", 0, "malformed JSON", 1, 11},
      {"{\"x\": NaNny}", 0, "malformed JSON", 1, 7},
      {"[1, 2]", 0, "wanted one JSON object", 1, 1},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    tempera_data *data = NULL;
    tempera_error error = {0};
    assert_int_equal(
        tempera_data_parse(cases[i].text, strlen(cases[i].text), &data, &error),
        TEMPERA_ERROR_INPUT);
    assert_null(data);
    if (!strstr(error.message, cases[i].message) ||
        error.line != cases[i].line || error.column != cases[i].column)
      fail_msg("%s -> %d:%d: %s", cases[i].text, error.line, error.column,
               error.message);
  }
}

static void special_words_inside_strings_are_left_alone(void **state) {
  (void)state;
  tempera_data *data = parsed("{\"a NaN \\\" Inf\": 1, \"x\": 2}");
  assert_true(tempera_data_has(data, "a NaN \" Inf"));
  tempera_data_free(data);
}

static void text_need_not_end_in_a_zero_byte(void **state) {
  (void)state;
  const char text[] = {'{', '"', 'x', '"', ':', 'N', 'a', 'N', '}'};
  char *exact = malloc(sizeof text);
  tempera_data *data = NULL;
  memcpy(exact, text, sizeof text);
  assert_int_equal(tempera_data_parse(exact, sizeof text, &data, NULL),
                   TEMPERA_OK);
  free(exact);
  tempera_data_free(data);
}

static void hash_of(const char *text, uint64_t *hash) {
  tempera_data *data = parsed(text);
  *hash = tempera_data_hash(data);
  tempera_data_free(data);
}

static void hash_follows_the_observations_only(void **state) {
  (void)state;
  uint64_t a, same, other, alone, alone2;
  hash_of("{\"n\": 2, \"y\": [1, 2.5], \"K\": 3}", &a);
  hash_of("{\"y\":[1.0,25e-1],\n\"n\":2, \"K\":4}", &same);
  hash_of("{\"n\": 2, \"y\": [1, 2.6], \"K\": 3}", &other);
  assert_true(a == same);
  assert_true(a != other);
  hash_of("{\"y\": 1}", &alone);
  hash_of("{\"y\": 2}", &alone2);
  assert_true(alone != alone2);
}

static void a_missing_file_is_named(void **state) {
  (void)state;
  tempera_data *data = NULL;
  tempera_error error = {0};
  assert_int_equal(tempera_data_read("/nonexistent/y.json", &data, &error),
                   TEMPERA_ERROR_IO);
  assert_non_null(strstr(error.message, "/nonexistent/y.json"));
}

static void every_failed_allocation_is_reported_and_leaks_nothing(void **s) {
  (void)s;
  const char *text = "{\"n\": 2, \"y\": [1, NaN], \"bad\": [1, [2]]}";
  for (long k = 1;; k++) {
    tempera_data *data = NULL;
    tempera_error error = {0};
    heap_fail_at(k);
    tempera_status status =
        tempera_data_parse(text, strlen(text), &data, &error);
    heap_fail_at(0);
    tempera_data_free(data);
    if (status == TEMPERA_OK)
      return;
    assert_int_equal(status, TEMPERA_ERROR_MEMORY);
    assert_true(k < 1000);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(single_numbers_are_read_by_name),
      cmocka_unit_test(arrays_of_any_rank_are_row_major),
      cmocka_unit_test(special_numbers_are_strings_or_bare),
      cmocka_unit_test(an_empty_array_is_any_zero_size_array),
      cmocka_unit_test(wrong_types_and_shapes_say_what_was_wanted_and_found),
      cmocka_unit_test(items_of_tuples_are_variables),
      cmocka_unit_test(malformed_json_is_placed_in_the_callers_text),
      cmocka_unit_test(special_words_inside_strings_are_left_alone),
      cmocka_unit_test(text_need_not_end_in_a_zero_byte),
      cmocka_unit_test(hash_follows_the_observations_only),
      cmocka_unit_test(a_missing_file_is_named),
      cmocka_unit_test(every_failed_allocation_is_reported_and_leaks_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
