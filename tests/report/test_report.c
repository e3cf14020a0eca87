/* Facts about reports: summary.json both ways, tables. */
#include "base/memory.h"
#include "tempera.h"

#include "cmocka_all.h"

#include <math.h>
#include <stdio.h>
#include <unistd.h>

static char *text_of(const char *text) {
  char *copy = tm_heap_text(text);
  assert_non_null(copy);
  return copy;
}

static void fill_lists(tempera_summary *s) {
  s->estimates = tm_heap_alloc(2, sizeof *s->estimates);
  s->estimate_count = 2;
  s->estimates[0] = (tempera_estimate){"rb", -38.2534, 0.0123, -38.28, -38.23,
                                       0.01, 0.007,    0.5,    NULL};
  s->estimates[1] = (tempera_estimate){
      "phm", -35.2, NAN, NAN, NAN, NAN, NAN, 1, text_of("has no variance")};
  s->values = tm_heap_alloc(2, sizeof *s->values);
  s->value_count = 2;
  s->values[0] = (tempera_value_summary){
      text_of("mu"), 1.25,    0.5,   0.01, 0.4, 1.2, 2.1,
      4000.5,        3900.25, 1.001, NULL, 0,   true};
  s->values[1] = (tempera_value_summary){
      .name = text_of("I0[1]"), .mean = 5, .rhat = NAN, .pmf_count = 2};
  s->values[1].pmf = tm_heap_alloc(2, sizeof *s->values[1].pmf);
  s->values[1].pmf[0] = (tempera_pmf_entry){5, 0.75};
  s->values[1].pmf[1] = (tempera_pmf_entry){6, 0.25};
  s->quantities = tm_heap_alloc(1, sizeof *s->quantities);
  s->quantity_count = 1;
  s->quantities[0] = (tempera_value_summary){
      .name = text_of("y_rep[2,1]"), .mean = -3.5, .sd = NAN, .ess_bulk = 99};
  s->modes = tm_heap_alloc(2, sizeof *s->modes);
  s->mode_count = 2;
  for (size_t i = 0; i < 2; i++) {
    s->modes[i] = (tempera_mode){0.25 + 0.5 * (double)i, 0.02, NULL};
    s->modes[i].mean = tm_heap_alloc(2, sizeof(double));
    s->modes[i].mean[0] = i ? 1.4 : -1.4;
  }
  s->components = tm_heap_alloc(1, sizeof *s->components);
  s->component_count = 1;
  s->components[0] = (tempera_value_summary){
      .name = text_of("mu[1]"), .mean = 2.5, .sd = NAN, .ess_bulk = 77};
  s->labels = tm_heap_alloc(2, sizeof(double));
  s->label_count = 2;
  s->labels[0] = 0.375;
  s->labels[1] = 0.625;
  s->relabelled_rhat = 1.002;
  s->relabelled_ess = 1234;
  s->tau_bins = tm_heap_alloc(1, sizeof *s->tau_bins);
  s->tau_bin_count = 1;
  s->tau_bins[0] = (tempera_tau_bin){0, 0.5, 77, 0.4, 1, NAN};
  s->curve = tm_heap_alloc(1, sizeof *s->curve);
  s->curve_count = 1;
  s->curve[0] = (tempera_curve_point){0.5, -20.5, -36, 0.75};
  s->ridge = tm_heap_alloc(1, sizeof *s->ridge);
  s->ridge_count = 1;
  s->ridge[0] = (tempera_ridge_point){0.25, -12.5, NULL};
  s->ridge[0].optimum = tm_heap_alloc(2, sizeof(double));
  s->ridge[0].optimum[0] = 1.375;
  s->ridge[0].optimum[1] = NAN;
  s->findings = tm_heap_alloc(1, sizeof *s->findings);
  s->finding_count = 1;
  s->findings[0] = (tempera_finding){"rhat", TEMPERA_UNRELIABLE, 1.25, 1.01,
                                     text_of("labels are permuted")};
  s->warnings = tm_heap_alloc(1, sizeof *s->warnings);
  s->warning_count = 1;
  s->warnings[0] = text_of("labels are permuted");
  s->data = tm_heap_alloc(1, sizeof *s->data);
  s->data_count = 1;
  s->data[0] = (tempera_data_mark){text_of("K"), false, 0xf00d, 3};
}

static tempera_summary *example(double log_z) {
  tempera_summary *s = tm_heap_alloc(1, sizeof *s);
  assert_non_null(s);
  *s = (tempera_summary){.seed = 9007199254740993,
                         .data_hash = 0xfedcba9876543210,
                         .chains = 4,
                         .iterations = 100,
                         .warmup = 50,
                         .thin = 2,
                         .complete = true,
                         .log_z = log_z,
                         .se = 0.03,
                         .lower = log_z - 0.06,
                         .upper = log_z + 0.06,
                         .zero_likelihood = 0.0064,
                         .barrier = 1.161,
                         .swap_acceptance = 0.5,
                         .tau_acceptance = NAN,
                         .ridge_gap = 0.0005,
                         .restarts = 12,
                         .round_trips = 11,
                         .ridge_knots = 9,
                         .ridge_optimisations = 10,
                         .ridge_beaten = 1,
                         .likelihood_evaluations = 123456,
                         .gradient_evaluations = 7,
                         .seconds = 1.5,
                         .seconds_in_model = 0.75,
                         .reliable = true};
  s->version = text_of(TEMPERA_VERSION);
  s->model = text_of("example");
  s->method = text_of("pt-stwnc");
  s->estimator = text_of("rb");
  s->verdict = text_of("reliable");
  fill_lists(s);
  return s;
}

static tempera_summary *read_back(const char *json) {
  char folder[] = "/tmp/tempera-report-XXXXXX", path[64];
  tempera_summary *back = NULL;
  tempera_error error = {0};
  assert_non_null(mkdtemp(folder));
  snprintf(path, sizeof path, "%s/summary.json", folder);
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fputs(json, file);
  fclose(file);
  if (tempera_summary_read(folder, &back, &error) != TEMPERA_OK)
    fail_msg("%d:%d: %s", error.line, error.column, error.message);
  unlink(path);
  rmdir(folder);
  return back;
}

static tempera_summary *through_disk(const tempera_summary *s, char **json) {
  assert_int_equal(tempera_summary_json(s, json, NULL), TEMPERA_OK);
  return read_back(*json);
}

static void summary_json_reads_back_as_the_same_summary(void **state) {
  (void)state;
  tempera_summary *s = example(-38.2534);
  char *json = NULL, *again = NULL;
  tempera_summary *back = through_disk(s, &json);
  assert_int_equal(tempera_summary_json(back, &again, NULL), TEMPERA_OK);
  assert_string_equal(json, again);
  assert_true(back->seed == 9007199254740993);
  assert_true(back->data_hash == 0xfedcba9876543210);
  assert_true(back->data_count == 1 && back->data[0].hash == 0xf00d);
  assert_true(back->data[0].value == 3 && !back->data[0].array);
  assert_true(isnan(back->tau_acceptance));
  assert_true(back->modes[1].mean[0] == 1.4);
  assert_int_equal(back->values[1].pmf[1].value, 6);
  assert_true(back->values[0].permuted && !back->values[1].permuted);
  assert_int_equal(back->quantity_count, 1);
  assert_string_equal(back->quantities[0].name, "y_rep[2,1]");
  assert_true(back->quantities[0].mean == -3.5 &&
              isnan(back->quantities[0].sd));
  assert_true(back->ridge_count == 1 && back->ridge[0].height == -12.5);
  assert_true(back->ridge[0].optimum[0] == 1.375 &&
              isnan(back->ridge[0].optimum[1]));
  assert_true(back->label_count == 2 && back->labels[1] == 0.625);
  assert_int_equal(back->component_count, 1);
  assert_string_equal(back->components[0].name, "mu[1]");
  assert_true(back->components[0].mean == 2.5);
  assert_int_equal(back->finding_count, 1);
  assert_string_equal(back->findings[0].code, "rhat");
  assert_int_equal(back->findings[0].severity, TEMPERA_UNRELIABLE);
  assert_true(back->findings[0].value == 1.25 &&
              back->findings[0].limit == 1.01);
  assert_true(back->estimates[0].reach == 0.5);
  assert_true(back->relabelled_rhat == 1.002 && back->relabelled_ess == 1234);
  tempera_text_free(json);
  tempera_text_free(again);
  tempera_summary_free(s);
  tempera_summary_free(back);
}

/* Whoever edited the file may have spoilt a key. */
static void lost_names_are_empty(void **state) {
  (void)state;
  tempera_summary *s = example(-38.2534);
  char *json = NULL, *shown = NULL;
  assert_int_equal(tempera_summary_json(s, &json, NULL), TEMPERA_OK);
  for (char *at = json; (at = strstr(at, "\"name\"")); at++)
    memcpy(at, "\"namg\"", 6);
  tempera_summary *back = read_back(json);
  assert_string_equal(back->values[0].name, "");
  assert_int_equal(tempera_summary_text(back, false, &shown, NULL), TEMPERA_OK);
  assert_non_null(strstr(shown, "Modes"));
  tempera_text_free(shown);
  tempera_text_free(json);
  tempera_summary_free(s);
  tempera_summary_free(back);
}

static void absent_numbers_are_null_in_json(void **state) {
  (void)state;
  tempera_summary *s = example(NAN);
  s->se = INFINITY;
  char *json = NULL;
  assert_int_equal(tempera_summary_json(s, &json, NULL), TEMPERA_OK);
  assert_non_null(strstr(json, "\"log_z\": null"));
  assert_non_null(strstr(json, "\"se\": null"));
  assert_null(strstr(json, "nan"));
  assert_null(strstr(json, "inf"));
  tempera_text_free(json);
  tempera_summary_free(s);
}

static void tables_name_parameters_evidence_and_verdict(void **state) {
  (void)state;
  tempera_summary *s = example(-38.2534);
  char *plain = NULL, *colour = NULL;
  assert_int_equal(tempera_summary_text(s, false, &plain, NULL), TEMPERA_OK);
  assert_int_equal(tempera_summary_text(s, true, &colour, NULL), TEMPERA_OK);
  static const char *const parts[] = {"mu",
                                      "log Z = -38.253, se 0.030 (rb)",
                                      "has no variance",
                                      "Verdict",
                                      "labels are permuted",
                                      "P(I0[1]):  5: 0.7500",
                                      "0.0064",
                                      "round trips",
                                      "Modes",
                                      "mu *",
                                      "0.375  0.625",
                                      "R-hat 1.002, ESS 1234"};
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
    if (!strstr(plain, parts[i]))
      fail_msg("%s is missing in\n%s", parts[i], plain);
  assert_null(strchr(plain, '\033'));
  assert_non_null(strchr(colour, '\033'));
  tempera_text_free(plain);
  tempera_text_free(colour);
  tempera_summary_free(s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(summary_json_reads_back_as_the_same_summary),
      cmocka_unit_test(lost_names_are_empty),
      cmocka_unit_test(absent_numbers_are_null_in_json),
      cmocka_unit_test(tables_name_parameters_evidence_and_verdict),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
