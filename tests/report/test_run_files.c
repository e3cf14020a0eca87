/* Facts about reading a run's folder back: what other hands may have done to
 * its files is met with a message or does not matter. */
#include "report/run_files.h"

#include "cmocka_all.h"

#include <math.h>
#include <stdio.h>
#include <unistd.h>

static char folder[] = "/tmp/tempera-run-XXXXXX";

static void put(const char *name, const char *text) {
  char path[256];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  assert_true(fputs(text, file) >= 0);
  assert_int_equal(fclose(file), 0);
}

static void drop(const char *name) {
  char path[256];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  unlink(path);
}

static int make_folder(void **state) {
  (void)state;
  if (!mkdtemp(folder))
    return -1;
  put("summary.json", "{\"evidence\": {}, \"chains\": 2, \"parameters\": "
                      "[{\"name\": \"mu[1,2]\"}]}");
  return 0;
}

static int remove_folder(void **state) {
  (void)state;
  static const char *const names[] = {"summary.json", "target-1.csv",
                                      "target-2.csv"};
  for (size_t i = 0; i < 3; i++)
    drop(names[i]);
  return rmdir(folder);
}

static void draws_come_back_as_they_were(void **state) {
  (void)state;
  tm_run_files files;
  tempera_error error = {0};
  put("target-1.csv", "# a comment\ntau__,mu.1.2\n# Adaptation terminated\n"
                      "1,2.5\n-inf,nan\n3,4\n# end\n");
  put("target-2.csv", "tau__,mu.1.2\r\n9,9\r\n# Adaptation terminated\r\n"
                      "5,6\r\n\r\n7,8\r\n10,1\r\n");
  assert_int_equal(tm_run_files_read(folder, &files, &error), TEMPERA_OK);
  const tm_run_draws *d = &files.draws[TEMPERA_TARGET];
  assert_int_equal(d->chains, 2);
  assert_int_equal(d->rows, 3);
  assert_int_equal(d->width, 2);
  assert_int_equal(tm_run_column(d, "mu[1,2]"), 1);
  assert_int_equal(tm_run_column(d, "tau__"), 0);
  assert_int_equal(tm_run_column(d, "mu"), -1);
  assert_true(d->values[1][0] == 2.5 && isnan(d->values[1][1]));
  assert_true(isinf(d->values[0][1]));
  assert_true(d->values[2][0] == 5 && d->values[3][2] == 1);
  assert_int_equal(files.draws[TEMPERA_TEMPERED].chains, 0);
  assert_null(files.config);
  tm_run_files_clear(&files);
}

/* The rows are whole all the same. */
static void columns_that_no_report_shows_are_skipped(void **state) {
  (void)state;
  tm_run_files files;
  tempera_error error = {0};
  put("target-1.csv", "lp__,mu.1.2,energy__\n1,2,3\n4,5,6\n");
  put("target-2.csv", "lp__,mu.1.2,energy__\n1,1e-5,3\n4,-5.25,6\n");
  assert_int_equal(tm_run_files_read(folder, &files, &error), TEMPERA_OK);
  const tm_run_draws *d = &files.draws[TEMPERA_TARGET];
  assert_int_equal(d->rows, 2);
  assert_int_equal(tm_run_column(d, "lp__"), -1);
  assert_int_equal(tm_run_column(d, "energy__"), -1);
  assert_null(d->values[0]);
  assert_true(d->values[1][0] == 2 && d->values[1][1] == 5);
  assert_true(d->values[4][0] == 1e-5 && d->values[4][1] == -5.25);
  tm_run_files_clear(&files);
}

/* A killed run leaves half a row; the chains are as long as the shortest. */
static void half_a_row_is_left_out(void **state) {
  (void)state;
  tm_run_files files;
  tempera_error error = {0};
  put("target-1.csv", "lp__,x\n1,2\n3,4\n5,1");
  put("target-2.csv", "lp__,x\n1,2\n3,4\n5,6\n7,");
  assert_int_equal(tm_run_files_read(folder, &files, &error), TEMPERA_OK);
  assert_int_equal(files.draws[TEMPERA_TARGET].rows, 2);
  tm_run_files_clear(&files);
}

/* The same of a run that has ended, and what no killed run leaves, is told of
 * with file and line. */
static void what_other_hands_did_is_named(void **state) {
  (void)state;
  static const struct {
    const char *summary, *first, *second, *words;
  } cases[] = {
      {"true", "lp__,x\n1,2\n", "lp__,x\n1,2", "target-2.csv, line 2, is no row"},
      {"false", "lp__,x\n1\n1,2\n", "lp__,x\n1,2\n", "target-1.csv, line 2, is"},
      {"false", "# c\nlp__,x\n1,2\n1,,2\n", "lp__,x\n1,2\n", "line 4, is no row"},
      {"false", "lp__,x\n1,b\n", "lp__,x\n1,2\n", "target-1.csv, line 2, is"},
      {"false", "lp__,x\nb,1\n", "lp__,x\n1,2\n", "target-1.csv, line 2, is"},
      {"false", "lp__,x\n1,2\n", "lp__,y\n1,2\n", "target-2.csv, line 1: other"},
      {"false", "lp__,x\n1,2\n", "lp__,x,y\n1,2,3\n", "target-2.csv, line 1: o"},
      {"true", "lp__,x\n1,2\n", "lp__,x\n1,2\n3,4\n", "one of them was cut"},
      {"false", "lp__,x\n1,2\n", NULL, "target-2.csv is missing"},
      {"true", NULL, "lp__,x\n1,2\n", "target-1.csv is missing"},
      {"true, \"iterations\": 3, \"thin\": 2", "lp__,x\n1,2\n",
       "lp__,x\n1,2\n", "target-1.csv holds 1 draws, and the summary speaks"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char summary[256];
    tm_run_files files;
    tempera_error error = {0};
    snprintf(summary, sizeof summary,
             "{\"evidence\": {}, \"chains\": 2, \"parameters\": "
             "[{\"name\": \"x\"}], \"complete\": %s}",
             cases[i].summary);
    put("summary.json", summary);
    drop("target-1.csv");
    drop("target-2.csv");
    if (cases[i].first)
      put("target-1.csv", cases[i].first);
    if (cases[i].second)
      put("target-2.csv", cases[i].second);
    assert_int_equal(tm_run_files_read(folder, &files, &error),
                     TEMPERA_ERROR_INPUT);
    if (!strstr(error.message, cases[i].words))
      fail_msg("case %zu: %s", i, error.message);
    assert_int_equal(tempera_run_check(folder, &error), TEMPERA_ERROR_INPUT);
  }
}

static void a_file_without_draws_is_named(void **state) {
  (void)state;
  static const char *const bad[] = {"", "#", "lp__,x\n"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    tm_run_files files;
    tempera_error error = {0};
    put("target-1.csv", bad[i]);
    put("target-2.csv", bad[i]);
    assert_int_equal(tm_run_files_read(folder, &files, &error),
                     TEMPERA_ERROR_INPUT);
    assert_non_null(strstr(error.message, "target-1.csv holds no draws"));
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(draws_come_back_as_they_were),
      cmocka_unit_test(columns_that_no_report_shows_are_skipped),
      cmocka_unit_test(half_a_row_is_left_out),
      cmocka_unit_test(a_file_without_draws_is_named),
      cmocka_unit_test(what_other_hands_did_is_named),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
