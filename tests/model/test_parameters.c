/* Facts about parameters described in JSON. */
#include "cmocka_all.h"
#include "model/model.h"

#include <math.h>
#include <string.h>

static void blocks_come_in_order(void **state) {
  (void)state;
  static const char text[] =
      "{\"x\": \"real\", \"s\": [\"real\", 0, null], \"k\": [\"int\", 0, 20],"
      " \"p\": [\"simplex\", 3], \"b\": [\"real\", null, null, 5],"
      " \"m\": [\"real\", -Infinity, 1.5, [2, 2]]}";
  tempera_parameters *made = NULL;
  size_t count = 0;
  assert_int_equal(tempera_parameters_parse(text, strlen(text), &made, NULL),
                   TEMPERA_OK);
  const tempera_parameter *p = tempera_parameters_blocks(made, &count);
  assert_int_equal(count, 6);
  assert_string_equal(p[0].name, "x");
  assert_true(p[0].size == 0 && isinf(p[0].lower) && isinf(p[0].upper));
  assert_true(p[1].lower == 0 && isinf(p[1].upper));
  assert_true(p[2].kind == TEMPERA_INTEGER && p[2].upper == 20);
  assert_true(p[3].transform == TEMPERA_SIMPLEX && p[3].size == 3);
  assert_true(p[4].size == 5 && !p[4].value_names);
  assert_true(p[5].size == 4 && p[5].upper == 1.5);
  assert_string_equal(p[5].value_names[1], "m[1,2]");
  assert_string_equal(p[5].value_names[2], "m[2,1]");
  tempera_parameters_free(made);
}

static void what_is_wrong_has_a_place(void **state) {
  (void)state;
  static const char *const bad[] = {
      "[]",
      "{}",
      "{\"x\": 3}",
      "{\"x\": \"complex\"}",
      "{\"x\": [\"real\", 2, 1]}",
      "{\"x\": [\"real\", \"a\"]}",
      "{\"x\": [\"real\", null, null, 0]}",
      "{\"x\": [\"real\", null, null, []]}",
      "{\"x\": [\"real\", null, null, [16777216, 16777216]]}",
      "{\"x\": [\"real\", null, null, 2, 3]}",
      "{\"p\": [\"simplex\"]}",
      "{\"p\": [\"simplex\", 1]}",
      "{\"lp__\": \"real\"}",
      "{\"a b\": \"real\"}",
      "{\"\": \"real\"}",
      "{\"x\": \"real\""};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    tempera_parameters *made = NULL;
    tempera_error error = {0};
    assert_int_equal(
        tempera_parameters_parse(bad[i], strlen(bad[i]), &made, &error),
        TEMPERA_ERROR_INPUT);
    assert_null(made);
    assert_int_equal(error.line, 1);
    assert_true(strlen(error.message) > 10);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(blocks_come_in_order),
      cmocka_unit_test(what_is_wrong_has_a_place),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
