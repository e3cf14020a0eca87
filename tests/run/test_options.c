/* Facts about options by name: src/run/options.c. */
#include "tempera.h"

#include "cmocka_all.h"

typedef struct wrong {
  const char *name, *value, *message;
} wrong;

static void defaults_are_those_of_the_interface(void **state) {
  (void)state;
  tempera_options o = tempera_options_default();
  assert_int_equal(o.method, TEMPERA_PT_STWNC);
  assert_int_equal(o.tau_prior, TEMPERA_PRIOR_LEARNED);
  assert_int_equal(o.ridge, TEMPERA_RIDGE_CONVEX);
  assert_int_equal(o.kernel, TEMPERA_KERNEL_AUTO);
  assert_int_equal(o.thin, 0); /* the default for the length */
  assert_true(o.exchange < 0);
  assert_false(o.warmup_given);
}

static void every_option_can_be_set_by_name(void **state) {
  (void)state;
  static const char *const settings[][2] = {{"method", "stwnc"},
                                            {"tau-prior", "profile"},
                                            {"ridge", "spline"},
                                            {"tau-move", "truncated-normal"},
                                            {"tau-scale", "0.2"},
                                            {"tau-min", "1e-3"},
                                            {"kernel", "slice"},
                                            {"chains", "7"},
                                            {"iterations", "100"},
                                            {"warmup", "0"},
                                            {"thin", "3"},
                                            {"levels", "9"},
                                            {"weights", "wang-landau"},
                                            {"walkers", "5"},
                                            {"exchange", "0.125"},
                                            {"seed", "123456789012"},
                                            {"threads", "2"},
                                            {"time-limit", "1.5"},
                                            {"until-se", "0.01"},
                                            {"paper", NULL},
                                            {"save-warmup", NULL}};
  tempera_options o = tempera_options_default();
  for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
    assert_int_equal(
        tempera_options_set(&o, settings[i][0], settings[i][1], NULL),
        TEMPERA_OK);
  assert_int_equal(o.method, TEMPERA_STWNC);
  assert_int_equal(o.ridge, TEMPERA_RIDGE_SPLINE);
  assert_int_equal(o.tau_move, TEMPERA_TAU_TRUNCATED_NORMAL);
  assert_int_equal(o.kernel, TEMPERA_KERNEL_SLICE);
  assert_true(o.tau_scale == 0.2 && o.tau_min == 1e-3);
  assert_true(o.exchange == 0.125 && o.time_limit == 1.5);
  assert_true(o.chains == 7 && o.iterations == 100 && o.thin == 3);
  assert_true(o.warmup_given && o.warmup == 0);
  assert_true(o.seed == 123456789012u && o.threads == 2);
  assert_true(o.until_se == 0.01 && o.paper && o.save_warmup);
}

static void wrong_values_are_refused_and_change_nothing(void **state) {
  (void)state;
  static const wrong cases[] = {
      {"method", "pts", "method pts is not known"},
      {"levels", "1", "wanted a whole number from 2"},
      {"swaps", "odd", "swaps odd is not known"},
      {"schedule", "even", "schedule even is not known"},
      {"chains", "0", "wanted a whole number from 1"},
      {"chains", "-1", "wanted a whole number"},
      {"chains", "2x", "wanted a whole number"},
      {"iterations", "1e3", "wanted a whole number"},
      {"seed", "18446744073709551616", "wanted a whole number"},
      {"exchange", "1.5", "probability"},
      {"exchange", "nan", "wanted a number"},
      {"tau-min", "1", "below 1"},
      {"time-limit", "0", "above 0"},
      {"until-se", "", "wanted a number"},
      {"paper", "maybe", "true or false"},
      {"colour", "red", "not known"},
  };
  tempera_options before = tempera_options_default(), after = before;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    tempera_error error = {0};
    assert_int_equal(
        tempera_options_set(&after, cases[i].name, cases[i].value, &error),
        TEMPERA_ERROR_ARGUMENT);
    if (!strstr(error.message, cases[i].message))
      fail_msg("%s %s: %s", cases[i].name, cases[i].value, error.message);
  }
  assert_memory_equal(&before, &after, sizeof before);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(defaults_are_those_of_the_interface),
      cmocka_unit_test(every_option_can_be_set_by_name),
      cmocka_unit_test(wrong_values_are_refused_and_change_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
