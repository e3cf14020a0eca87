/* Facts about draws as Stan CSV: src/draws/csv.c. */
#include "base/random.h"
#include "draws/csv.h"

#include "cmocka_all.h"

#include <math.h>

static tempera_draws *two_rows(void) {
  static const char *const names[] = {"mu", "p[2]", "x[1,3]"};
  static const bool integer[] = {false, false, false};
  tempera_draws *draws = NULL;
  assert_int_equal(
      tm_draws_create(1, 3, names, integer, true, true, &draws, NULL),
      TEMPERA_OK);
  assert_int_equal(tm_draws_reserve(draws, 2, NULL), TEMPERA_OK);
  const double theta[] = {0.1, 0.25, -3};
  double extra[TM_COLUMNS] = {[TM_TAU] = 0.5,
                              [TM_LOG_LIKELIHOOD] = -10,
                              [TM_LOG_PRIOR] = -1,
                              [TM_LOG_JACOBIAN] = 0.5,
                              [TM_ACCEPT] = 0.75};
  tm_draws_put(draws, TEMPERA_TEMPERED, 0, 0, theta, extra);
  extra[TM_TAU] = 0;
  extra[TM_LOG_LIKELIHOOD] = -INFINITY;
  tm_draws_put(draws, TEMPERA_TEMPERED, 0, 1, theta, extra);
  draws->count = 2;
  return draws;
}

static void rows_hold_stans_columns_then_values(void **state) {
  (void)state;
  tempera_draws *draws = two_rows();
  tm_text text = {0};
  tm_csv_row(&text, draws, TEMPERA_TEMPERED, 0, 0, NULL, 0);
  tm_csv_row(&text, draws, TEMPERA_TEMPERED, 0, 1, (double[]){7, NAN}, 2);
  assert_string_equal(text.data, "-5.5,0.75,0,0,0.5,-10,-1,0.1,0.25,-3\n"
                                 "-0.5,0.75,0,0,0,-inf,-1,0.1,0.25,-3,7,nan\n");
  tm_text_clear(&text);
  tm_draws_free(draws);
}

static void header_names_values_with_dots(void **state) {
  (void)state;
  tempera_draws *draws = two_rows();
  tm_text text = {0};
  size_t samples_at = 0, warmup_at = 0;
  tm_csv_about about = {.model = "m",
                        .method = "pt-stwnc",
                        .kernel = "auto",
                        .iterations = 120,
                        .warmup = 60,
                        .thin = 2,
                        .id = 1,
                        .seed = 9,
                        .quantity_names = (const char *[]){"g[1,1]"},
                        .quantity_count = 1};
  tm_csv_header(&text, &about, draws, TEMPERA_TARGET, &samples_at, &warmup_at);
  assert_non_null(strstr(text.data,
                         "\nlp__,accept_stat__,treedepth__,divergent__,tau__,"
                         "log_likelihood__,log_prior__,mu,p.2,x.1.3,g.1.1\n"));
  assert_int_equal(atoi(text.data + samples_at), 120);
  assert_int_equal(atoi(text.data + warmup_at), 60);
  assert_int_equal(text.data[samples_at + TM_CSV_FIELD], '\n');
  tm_text_clear(&text);
  tm_draws_free(draws);
}

/* Against printf and strtod, near powers of ten and two, where rounding up
 * adds a digit or halves the distance between doubles. */
static void numbers_of_any_size_read_back_exactly(void **state) {
  (void)state;
  tempera_random random = tm_random(1, 0, TM_PURPOSE_TEST);
  tm_text text = {0};
  for (int i = 0; i < 300000; i++) {
    double u = tempera_random_uniform(&random);
    double x = pow(10, 24 * u - 6) * (i % 2 ? 1 : -1);
    if (i % 5 == 1)
      x = nextafter(pow(10, floor(24 * u) - 6), i % 3 ? 0 : INFINITY);
    if (i % 5 == 2)
      x = ldexp(1, (int)(70 * u) - 20);
    if (i % 5 == 3)
      x = floor(1e6 * u) / 1000;
    text.length = 0;
    tm_text_number(&text, x);
    if (strtod(text.data, NULL) != x)
      fail_msg("%s is not %.17g", text.data, x);
  }
  tm_text_clear(&text);
}

static void numbers_are_written_as_people_write_them(void **state) {
  (void)state;
  static const struct {
    double value;
    const char *text;
  } cases[] = {{0, "0"},
               {1, "1"},
               {-2.5, "-2.5"},
               {100, "100"},
               {0.1, "0.1"},
               {0.001, "0.001"},
               {123456.789, "123456.789"},
               {999999999999999, "999999999999999"},
               {1e-7, "1e-07"},
               {1e300, "1e+300"},
               {NAN, "nan"},
               {-INFINITY, "-inf"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    tm_text text = {0};
    tm_text_number(&text, cases[i].value);
    assert_string_equal(text.data, cases[i].text);
    tm_text_clear(&text);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rows_hold_stans_columns_then_values),
      cmocka_unit_test(header_names_values_with_dots),
      cmocka_unit_test(numbers_of_any_size_read_back_exactly),
      cmocka_unit_test(numbers_are_written_as_people_write_them),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
