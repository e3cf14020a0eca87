/* Whole programs with complex numbers: densities derived by hand, in C's own
 * complex numbers; the names and the order of what they write; their data. */
#include "base/file.h"
#include "model/model.h"

#include "cmocka_all.h"

#include <complex.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static tempera_model *build(const char *text, const char *json,
                            tempera_error *error) {
  tempera_program *program = NULL;
  tempera_data *data = NULL;
  tempera_model *model = NULL;
  if (tempera_program_parse("p.stan", text, strlen(text), &program, error))
    fail_msg("%d:%d: %s", error->line, error->column, error->message);
  assert_int_equal(tempera_data_parse(json, strlen(json), &data, error),
                   TEMPERA_OK);
  if (tempera_program_load(program, data, &model, error))
    model = NULL;
  tempera_program_free(program);
  tempera_data_free(data);
  return model;
}

static char *read_file(const char *name, const char *extension) {
  char path[512], *text = NULL;
  size_t length;
  snprintf(path, sizeof path, "%s/tests/language/run/%s%s", SOURCE_DIR, name,
           extension);
  assert_int_equal(tm_file_read(path, &text, &length, NULL), TEMPERA_OK);
  return text;
}

static tempera_model *load(const char *name) {
  tempera_error error = {0};
  char *text = read_file(name, ".stan"), *json = read_file(name, ".json");
  tempera_model *model = build(text, json, &error);
  if (!model)
    fail_msg("%s: %s", name, error.message);
  tm_heap_free(text);
  tm_heap_free(json);
  return model;
}

static void expect(tempera_model *m, const double *theta, double likelihood,
                   double prior) {
  double l, p;
  assert_int_equal(tempera_model_evaluate(m, theta, &l, &p, NULL), TEMPERA_OK);
  if (!(fabs(l - likelihood) < 1e-12 * fmax(1, fabs(l)) &&
        fabs(p - prior) < 1e-12 * fmax(1, fabs(p))))
    fail_msg("%s: %.15g and %.15g, by hand %.15g and %.15g", m->spec.name, l, p,
             likelihood, prior);
}

static double normal(double x, double mean, double sd) {
  double z = (x - mean) / sd;
  return -0.5 * z * z - log(sd) - 0.5 * log(2 * M_PI);
}

/* ---- densities ---------------------------------------------------------- */

/* The roots of z^2 - phi1 z - phi2, and (z, 1) / |(z, 1)| for eigenvectors. */
static void roots_have_their_density(void **state) {
  (void)state;
  static const double y[] = {0.3, -0.7, 1.1, 0.2, -0.9, 0.4, 1.3, -0.2};
  const double theta[] = {0.4, -0.7, 0.8};
  tempera_model *m = load("complex_roots");
  double complex root =
      0.5 * (theta[0] + csqrt(theta[0] * theta[0] + 4 * theta[1]));
  double r = cabs(root), likelihood = 0, mode = r * r / (1 + r * r);
  double prior = lgamma(6) - lgamma(4) - lgamma(2) + 3 * log(r) + log(1 - r) +
                 normal(fabs(carg(root)), 1, 0.5) + normal(mode, 0, 1);
  for (int t = 2; t < 8; t++)
    likelihood +=
        normal(y[t], theta[0] * y[t - 1] + theta[1] * y[t - 2], theta[2]);
  expect(m, theta, likelihood, prior);
  tempera_model_free(m);
}

static void spectra_have_their_density(void **state) {
  (void)state;
  enum { N = 12 };
  static const double y[N] = {0.3, -0.7, 1.1, 0.2,  -0.9, 0.4,
                              1.3, -0.2, 0.6, -1.4, 0.8,  0.1};
  const double theta[] = {0.35, 0.8};
  double likelihood = 0;
  tempera_model *m = load("complex_spectrum");
  for (int k = 1; k < N / 2; k++) {
    double complex wave = cexp(-2 * M_PI * I * k / N), sum = 0;
    for (int t = 0; t < N; t++)
      sum += y[t] * cpow(wave, t);
    double power = creal(sum * conj(sum)) / N,
           gain = 1 + theta[0] * theta[0] - 2 * theta[0] * creal(wave),
           density = theta[1] * theta[1] / gain;
    likelihood -= log(density) + power / density;
  }
  expect(m, theta, likelihood, -theta[1]);
  tempera_model_free(m);
}

static void lines_have_their_density(void **state) {
  (void)state;
  static const double complex x[] = {1 + 0.5 * I, -I, 2 + I},
                              y[] = {0.3 + I, 1 + 2 * I, -0.5 + 0.25 * I};
  const double theta[] = {0.2, -0.4, 0.7, 1.1, 0.9};
  double complex a = 0.2 - 0.4 * I, b = 0.7 + 1.1 * I;
  double likelihood = 0;
  for (int n = 0; n < 3; n++) {
    double complex rest = y[n] - a - b * x[n];
    likelihood += normal(creal(rest), 0, 0.9) + normal(cimag(rest), 0, 0.9);
  }
  tempera_model *m = load("complex_regression");
  expect(m, theta, likelihood,
         normal(0.2, 0, 2) + normal(-0.4, 1, 2) - cabs(b) - 0.9);
  static const char *const names[] = {"a[real]", "a[imag]", "b[real]",
                                      "b[imag]", "sigma"};
  for (size_t i = 0; i < 5; i++)
    assert_string_equal(tempera_model_value_name(m, i), names[i]);
  tempera_model_free(m);
}

/* ---- names and order ---------------------------------------------------- */

/* As CmdStan: columns of a matrix one after another, and under each number its
 * real and imaginary part. What is read is what is written. */
static void parts_lie_side_by_side(void **state) {
  (void)state;
  static const char text[] =
      "parameters { complex_matrix[2, 2] p; array[2] complex_vector[2] q; }\n"
      "model { to_vector(get_real(p)) ~ normal(0, 1);\n"
      "  to_vector(get_imag(p)) ~ normal(0, 1);\n"
      "  for (k in 1:2) target += -sum(norm(q[k])); }\n"
      "generated quantities { complex_matrix[2, 2] copy = p;\n"
      "  complex low = p[2, 1]; array[2] complex_vector[2] other = q;\n"
      "  complex last = q[2][1]; }\n";
  static const char *const names[] = {
      "p[1,1,real]", "p[1,1,imag]", "p[2,1,real]", "p[2,1,imag]",
      "p[1,2,real]", "p[1,2,imag]", "p[2,2,real]", "p[2,2,imag]",
      "q[1,1,real]", "q[1,1,imag]", "q[2,1,real]", "q[2,1,imag]"};
  double theta[16], out[20];
  tempera_error error = {0};
  tempera_random random = tm_random(1, 0, TM_PURPOSE_TEST);
  tempera_model *m = build(text, "{}", &error);
  assert_non_null(m);
  assert_int_equal(m->size, 16);
  assert_int_equal(m->spec.quantity_count, 20);
  for (size_t i = 0; i < 12; i++)
    assert_string_equal(m->names[i], names[i]);
  assert_string_equal(m->spec.quantity_names[2], "copy[2,1,real]");
  assert_string_equal(m->spec.quantity_names[8], "low[real]");
  for (int i = 0; i < 16; i++)
    theta[i] = i + 1;
  assert_int_equal(m->spec.quantities(theta, &random, out, m->spec.user), 0);
  for (int i = 0; i < 8; i++)
    assert_true(out[i] == i + 1 && out[10 + i] == i + 9);
  assert_true(out[8] == 3 && out[9] == 4 && out[18] == 11 && out[19] == 12);
  tempera_model_free(m);
}

static void starts_are_pairs(void **state) {
  (void)state;
  static const char starts[] =
      "{\"a\": [1, 2], \"b\": [-1, 0.5], \"sigma\": 3}",
                    bad[] = "{\"a\": 1, \"b\": [-1, 0.5], \"sigma\": 3}";
  double theta[5];
  tempera_error error = {0};
  tempera_model *m = load("complex_regression");
  assert_int_equal(
      tempera_starts_parse(starts, strlen(starts), m, 1, theta, &error),
      TEMPERA_OK);
  assert_true(theta[0] == 1 && theta[1] == 2 && theta[2] == -1 &&
              theta[3] == 0.5 && theta[4] == 3);
  assert_int_equal(tempera_starts_parse(bad, strlen(bad), m, 1, theta, &error),
                   TEMPERA_ERROR_INPUT);
  tempera_model_free(m);
}

/* ---- data and priors ---------------------------------------------------- */

static void data_are_pairs(void **state) {
  (void)state;
  static const char text[] =
      "data { complex z; complex_vector[2] v; } parameters { real x; }\n"
      "model { x ~ normal(get_real(z), 1 + abs(v[2])); }\n";
  static const struct {
    const char *json, *message;
  } cases[] = {{"{\"z\": [1, 2], \"v\": [[1, 2], [3, 4]]}", NULL},
               {"{\"z\": 1, \"v\": [[1, 2], [3, 4]]}", "variable z"},
               {"{\"z\": [1, 2], \"v\": [1, 2]}", "variable v"},
               {"{\"z\": [1, 2, 3], \"v\": [[1, 2], [3, 4]]}", "variable z"},
               {"{\"v\": [[1, 2], [3, 4]]}", "lack variable z"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    tempera_error error = {0};
    tempera_model *m = build(text, cases[i].json, &error);
    assert_int_equal(m != NULL, cases[i].message == NULL);
    if (cases[i].message && !strstr(error.message, cases[i].message))
      fail_msg("%s: %s", cases[i].json, error.message);
    tempera_model_free(m);
  }
}

/* Each part needs a prior; the modulus speaks of both. */
static void both_parts_need_a_prior(void **state) {
  (void)state;
  static const struct {
    const char *model;
    bool proper;
  } cases[] = {
      {"get_real(z) ~ normal(0, 1); get_imag(z) ~ normal(0, 1);", true},
      {"get_real(z) ~ normal(0, 1);", false},
      {"get_imag(z) ~ normal(0, 1);", false},
      {"abs(z) ~ exponential(1);", true},
      {"for (k in 1:3) { get_real(z[k]) ~ normal(0, 1); "
       "get_imag(z[k]) ~ normal(0, 1); }",
       true},
      {"get_real(z) ~ normal(0, 1); get_imag(z[1:2]) ~ normal(0, 1);", false},
      {"get_real(z[1:2]) ~ normal(0, 1); get_imag(z) ~ normal(0, 1);", false},
      {"get_real(z - 1) ~ normal(0, 1); get_imag(2 * z) ~ normal(0, 1);",
       true}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char text[400];
    tempera_error error = {0};
    snprintf(text, sizeof text,
             "data { real y; } parameters { complex_vector[3] z; }\n"
             "model { %s y ~ normal(get_real(sum(z)), 1); }\n",
             cases[i].model);
    tempera_model *m = build(text, "{\"y\": 1}", &error);
    assert_non_null(m);
    if (m->spec.prior_improper == cases[i].proper)
      fail_msg("%s", cases[i].model);
    tempera_model_free(m);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(roots_have_their_density),
      cmocka_unit_test(spectra_have_their_density),
      cmocka_unit_test(lines_have_their_density),
      cmocka_unit_test(parts_lie_side_by_side),
      cmocka_unit_test(starts_are_pairs),
      cmocka_unit_test(data_are_pairs),
      cmocka_unit_test(both_parts_need_a_prior),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
