/* Long lists of values on the screen and the page. */
#include "report/table.h"
#include "report/value_groups.h"

#include "cmocka_all.h"

#include <math.h>
#include <stdio.h>

static tempera_value_summary value(char *name, double mean) {
  return (tempera_value_summary){.name = name,
                                 .mean = mean,
                                 .ess_bulk = 100 + mean,
                                 .ess_tail = 200,
                                 .rhat = mean == 2 ? NAN : 1 + mean / 100};
}

static void elements_of_one_container_make_a_group(void **state) {
  (void)state;
  tempera_value_summary v[] = {value("mu", 0),         value("theta[1]", 1),
                               value("theta[2]", 2),   value("theta2[1]", 3),
                               value("log_lik[1]", 4), value("log_lik[2]", 5)};
  tm_value_group group = tm_value_group_at(v, 6, 0);
  assert_int_equal(group.count, 1);
  group = tm_value_group_at(v, 6, 1);
  assert_int_equal(group.count, 2);
  assert_int_equal(group.name_length, 5);
  tm_value_extremes e = tm_value_group_extremes(&group);
  assert_true(e.lowest_mean == 1 && e.highest_mean == 2);
  assert_true(e.least_ess == 101 && e.greatest_rhat == 1.01);
  assert_false(tm_value_group_folds(&group, 6));
  group = tm_value_group_at(v, 6, 3);
  assert_int_equal(group.count, 1);
  group = tm_value_group_at(v, 6, 4);
  assert_int_equal(group.count, 2);
  assert_true(tm_value_group_folds(&group, 6));
}

static void only_long_containers_of_long_tables_fold(void **state) {
  (void)state;
  tempera_value_summary v[30];
  char names[30][16];
  for (size_t i = 0; i < 30; i++) {
    snprintf(names[i], sizeof names[i], "%s[%zu]", i < 12 ? "a" : "b",
             i < 12 ? i : i - 12);
    v[i] = value(names[i], 1);
  }
  tm_value_group group = tm_value_group_at(v, 12, 0);
  assert_int_equal(group.count, 12);
  assert_false(tm_value_group_folds(&group, 12));
  assert_true(tm_value_group_folds(&group, 30));
}

static void small_probabilities_keep_their_digits(void **state) {
  (void)state;
  static const struct {
    double value;
    const char *text;
  } cases[] = {{0.4571, "0.4571"}, {2.7e-13, "2.7e-13"}, {0, "0"},
               {1, "1.0000"},      {0.00099, "9.9e-04"}, {NAN, "-"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char text[TM_NUMBER_TEXT];
    tm_format_probability(text, cases[i].value);
    assert_string_equal(text, cases[i].text);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(elements_of_one_container_make_a_group),
      cmocka_unit_test(only_long_containers_of_long_tables_fold),
      cmocka_unit_test(small_probabilities_keep_their_digits),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
