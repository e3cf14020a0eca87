/* Facts about locales: a host program that has called setlocale, here for
 * German, reads and writes the same numbers as any other. Skipped where there
 * is no such locale and none can be made. */
#include "base/file.h"
#include "base/memory.h"
#include "gaussian_model.h"
#include "whole_run.h"

#include <locale.h>
#include <stdio.h>
#include <unistd.h>

static char work[] = "/tmp/tempera-locale-XXXXXX";

static const char PROGRAM[] =
    "data { real y; }\n"
    "parameters { real<lower=-10.5> mu; }\n"
    "model { mu ~ normal(1.5, 2.25); y ~ normal(mu, 0.5e-1); }\n";

static void german(void) { assert_non_null(setlocale(LC_ALL, "de_DE.UTF-8")); }
static void plain(void) { assert_non_null(setlocale(LC_ALL, "C")); }

static void this_locale_has_a_comma(void **state) {
  (void)state;
  char text[16];
  german();
  snprintf(text, sizeof text, "%.1f", 1.5);
  assert_string_equal(text, "1,5");
  assert_true(strtod("1.5", NULL) == 1);
}

static char *translation(void) {
  tempera_program *program = NULL;
  char *text = NULL;
  assert_int_equal(
      tempera_program_parse("p.stan", PROGRAM, strlen(PROGRAM), &program, NULL),
      0);
  assert_int_equal(tempera_program_translate(program, &text, NULL), 0);
  tempera_program_free(program);
  return text;
}

static void programs_mean_the_same(void **state) {
  (void)state;
  plain();
  char *before = translation();
  german();
  char *after = translation();
  assert_string_equal(before, after);
  tempera_text_free(before);
  tempera_text_free(after);
  tempera_program *program = NULL;
  tempera_data *data = NULL;
  tempera_model *model = NULL;
  double mu = 1.25, l, p;
  assert_int_equal(
      tempera_program_parse("p.stan", PROGRAM, strlen(PROGRAM), &program, NULL),
      0);
  assert_int_equal(tempera_data_parse("{\"y\": 1.3}", 10, &data, NULL), 0);
  assert_int_equal(tempera_program_load(program, data, &model, NULL), 0);
  assert_int_equal(tempera_model_evaluate(model, &mu, &l, &p, NULL), 0);
  assert_true(fabs(l - gaussian_log(1.3, 1.25, 0.0025)) < 1e-12);
  /* untruncated: Stan's ~ leaves the mass above -10.5 to be asked for */
  assert_true(fabs(p - gaussian_log(1.25, 1.5, 2.25 * 2.25)) < 1e-12);
  tempera_model_free(model);
  tempera_data_free(data);
  tempera_program_free(program);
}

static void options_and_data_are_read_alike(void **state) {
  (void)state;
  german();
  tempera_options o = tempera_options_default();
  assert_int_equal(tempera_options_set(&o, "tau-min", "0.25", NULL), 0);
  assert_true(o.tau_min == 0.25);
  assert_int_not_equal(tempera_options_set(&o, "tau-min", "0,25", NULL), 0);
  tempera_data *data = NULL;
  const double *x;
  size_t count;
  const char text[] = "{\"x\": [1.5, -2.5e-3]}";
  assert_int_equal(tempera_data_parse(text, strlen(text), &data, NULL), 0);
  assert_int_equal(tempera_data_reals(data, "x", &x, &count, NULL), 0);
  assert_true(count == 2 && x[0] == 1.5 && x[1] == -2.5e-3);
  tempera_data_free(data);
}

/* A short run into a folder; its draws as they stand in the file. */
static char *run_into(const char *folder, tempera_summary **summary) {
  tempera_model_spec spec = two_gaussians();
  tempera_model *model = make_model(&spec);
  tempera_options o = tempera_options_default();
  o.iterations = 500;
  o.chains = 2;
  tempera_sampler *sampler = make_sampler(model, &o);
  const tempera_run_request request = {.folder = folder};
  assert_int_equal(
      tempera_run_sample(&request, sampler, NULL, NULL, summary, NULL), 0);
  tempera_sampler_free(sampler);
  tempera_model_free(model);
  char *path = tm_path_join(folder, "target-2.csv"), *text = NULL;
  size_t length;
  assert_int_equal(tm_file_read(path, &text, &length, NULL), 0);
  tm_heap_free(path);
  char *end = strstr(text, "Elapsed Time");
  assert_non_null(end);
  *end = '\0';
  return text;
}

typedef tempera_status (*writer)(const tempera_summary *, char **,
                                 tempera_error *);

static void assert_written_alike(writer write, const tempera_summary *summary) {
  char *a = NULL, *b = NULL;
  plain();
  assert_int_equal(write(summary, &a, NULL), 0);
  german();
  assert_int_equal(write(summary, &b, NULL), 0);
  assert_string_equal(a, b);
  tempera_text_free(a);
  tempera_text_free(b);
}

static tempera_status as_text(const tempera_summary *summary, char **text,
                              tempera_error *error) {
  return tempera_summary_text(summary, false, text, error);
}

static void runs_are_written_and_read_alike(void **state) {
  (void)state;
  char a[64], b[64];
  tempera_summary *first = NULL, *second = NULL, *read = NULL;
  snprintf(a, sizeof a, "%s/a", work);
  snprintf(b, sizeof b, "%s/b", work);
  plain();
  char *before = run_into(a, &first);
  german();
  char *after = run_into(b, &second);
  assert_string_equal(before, after);
  tm_heap_free(before);
  tm_heap_free(after);
  assert_true(first->log_z == second->log_z);
  assert_int_equal(tempera_summary_read(b, &read, NULL), 0);
  assert_true(read->log_z == second->log_z && read->se == second->se);
  assert_written_alike(tempera_summary_json, second);
  assert_written_alike(tempera_summary_csv, second);
  assert_written_alike(as_text, second);
  assert_int_equal(tempera_run_report(b, NULL, NULL), 0);
  tempera_summary_free(first);
  tempera_summary_free(second);
  tempera_summary_free(read);
}

/* The system's, or one made for this test. */
static bool have_locale(void) {
  char command[256];
  if (setlocale(LC_ALL, "de_DE.UTF-8"))
    return true;
  snprintf(command, sizeof command,
           "localedef -i de_DE -f UTF-8 %s/de_DE.UTF-8 > /dev/null 2>&1", work);
  return system(command) == 0 && setenv("LOCPATH", work, 1) == 0 &&
         setlocale(LC_ALL, "de_DE.UTF-8");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(this_locale_has_a_comma),
      cmocka_unit_test(programs_mean_the_same),
      cmocka_unit_test(options_and_data_are_read_alike),
      cmocka_unit_test(runs_are_written_and_read_alike)};
  char command[64];
  if (!mkdtemp(work))
    return 1;
  int failed = have_locale() ? cmocka_run_group_tests(tests, NULL, NULL) : 77;
  snprintf(command, sizeof command, "rm -rf %s", work);
  return system(command) == 0 ? failed : 1;
}
