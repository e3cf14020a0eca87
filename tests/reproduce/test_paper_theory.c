/* The paper's bimodal models by quadrature, against the reference answers. */
#include "cmocka_all.h"
#include "reproduce/paper_models.h"
#include "reproduce/theory.h"

#include <math.h>
#include <stdio.h>

static void assert_close(double found, double expected, double within) {
  if (!(fabs(found - expected) <= within))
    fail_msg("found %.12g, expected %.12g", found, expected);
}

static double truth(const json_t *root, const char *data, const char *model,
                    const char *field) {
  char path[256];
  snprintf(path, sizeof path, "bimodal/data_%s/%s/%s", data, model, field);
  return tm_paper_number(root, path);
}

static tm_theory theory_for(const char *file, bool variance_known) {
  json_t *root = NULL;
  double y[64];
  size_t i;
  json_t *value;
  assert_int_equal(tm_paper_json(file, &root, NULL), TEMPERA_OK);
  json_array_foreach(json_object_get(root, "y"), i, value) y[i] =
      json_number_value(value);
  json_decref(root);
  return tm_theory_of(y, i, variance_known);
}

static void check_curve(const json_t *root, const char *data, const char *model,
                        const tm_theory *theory) {
  for (int i = 0; i < 9; i++) {
    char tau[32], log_z[32];
    snprintf(tau, sizeof tau, "tau/%d", i);
    snprintf(log_z, sizeof log_z, "log_z_tau/%d", i);
    assert_close(tm_theory_log_z(theory, truth(root, data, model, tau)),
                 truth(root, data, model, log_z), 1e-8);
  }
}

/* The tau-marginal under the profile prior is exp(log z - s). */
static void check_profile(const json_t *root, const char *data,
                          const char *model, const tm_theory *theory) {
  enum { STEPS = 4000 };
  double below = 0, total = 0;
  for (int i = 0; i < STEPS; i++) {
    double u = (i + 0.5) / STEPS, tau = u * u; /* finer near zero */
    double weight =
        2 * u / STEPS *
        exp(tm_theory_log_z(theory, tau) - tm_theory_profile(theory, tau));
    total += weight;
    below += tau < 0.25 ? weight : 0;
  }
  assert_close(below / total,
               truth(root, data, model, "profile_prior_tau_cdf/0.25"), 1e-4);
}

static void check_data(const json_t *root, const char *data, const char *file) {
  tm_theory one = theory_for(file, true), two = theory_for(file, false);
  check_curve(root, data, "one_parameter", &one);
  check_curve(root, data, "two_parameters", &two);
  check_profile(root, data, "one_parameter", &one);
  check_profile(root, data, "two_parameters", &two);
  assert_close(tm_theory_mu_mean(&one),
               truth(root, data, "one_parameter", "mode_means_mu/1"), 1e-8);
  assert_close(tm_theory_mu_mean(&two),
               truth(root, data, "two_parameters", "mean_abs_mu"), 1e-8);
  assert_close(tm_theory_sigma2_mean(&two),
               truth(root, data, "two_parameters", "mean_sigma2"), 1e-8);
  double sum = 0;
  for (int i = 0; i < 4000; i++)
    sum += 0.005 * tm_theory_sigma2_density(&two, 0.0025 + 0.005 * i);
  assert_close(sum, 1, 1e-5);
}

static void test_theory_agrees_with_the_references(void **state) {
  json_t *root = NULL;
  (void)state;
  assert_int_equal(tm_paper_json("truth.json", &root, NULL), TEMPERA_OK);
  check_data(root, "2555", "bimodal.json");
  check_data(root, "1555", "bimodal-1555.json");
  json_decref(root);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_theory_agrees_with_the_references)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
