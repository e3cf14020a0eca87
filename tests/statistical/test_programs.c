/* Evidence of programs whose split or prior was once wrong, at default
 * settings, beside exact answers: reliable, and within four standard errors. */
#include "whole_run.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static double log_normal(double x, double m, double s) {
  return -0.5 * log(2 * M_PI) - log(s) - 0.5 * (x - m) * (x - m) / (s * s);
}

static tempera_model *load(const char *text, const char *json) {
  tempera_program *program = NULL;
  tempera_data *data = NULL;
  tempera_model *model = NULL;
  tempera_error error = {0};
  if (tempera_program_parse("p", text, strlen(text), &program, &error) ||
      tempera_data_parse(json, strlen(json), &data, &error) ||
      tempera_program_load(program, data, &model, &error))
    fail_msg("%s\n%s", text, error.message);
  tempera_program_free(program);
  tempera_data_free(data);
  return model;
}

static void check(const char *name, const char *text, const char *json,
                  double log_z) {
  tempera_model *model = load(text, json);
  tempera_options options = tempera_options_default();
  options.seed = 1;
  tempera_summary *s = run_model(model, &options);
  print_message("%s: log Z %.4f +- %.4f, exact %.4f\n", name, s->log_z, s->se,
                log_z);
  if (!s->reliable)
    fail_msg("%s: %s", name, s->verdict);
  if (!(fabs(s->log_z - log_z) < 4 * s->se) || !(s->se < 0.05))
    fail_msg("%s: log Z %.4f +- %.4f, not %.4f", name, s->log_z, s->se, log_z);
  tempera_summary_free(s);
  tempera_model_free(model);
}

/* A flat simplex of 3 and 10 outcomes: 10! 2! / 12!. */
static void counts_of_data_are_likelihood(void **state) {
  (void)state;
  check("counts",
        "data { array[10] int z; }"
        "transformed data { array[3] int n = rep_array(0, 3);"
        "  for (i in 1:10) n[z[i]] += 1; }"
        "parameters { simplex[3] theta; }"
        "model { n ~ multinomial(theta); }",
        "{\"z\":[1,2,1,3,1,2,1,1,3,1]}", -log(66));
}

/* y = 3 of a unit normal about mu, mu of scale 20. */
static void gathered_priors_are_prior(void **state) {
  (void)state;
  check("gathered",
        "data { real y; real s0; } parameters { real mu; }"
        "transformed parameters { real lprior = 0;"
        "  lprior += normal_lpdf(mu | 0, s0); }"
        "model { target += lprior; target += normal_lpdf(y | mu, 1); }",
        "{\"y\":3,\"s0\":20}", log_normal(3, 0, sqrt(401)));
}

/* Two far humps of the prior; the same with a label. */
static void humps_of_the_prior_are_all_seen(void **state) {
  (void)state;
  double exact = log(0.3 * exp(log_normal(4, -8, sqrt(2))) +
                     0.7 * exp(log_normal(4, 8, sqrt(2))));
  check("humps",
        "data { real y; } parameters { real mu; }"
        "model { target += log_mix(0.3, normal_lpdf(mu | -8, 1),"
        "                               normal_lpdf(mu | 8, 1));"
        "  y ~ normal(mu, 1); }",
        "{\"y\":4}", exact);
  check("humps, labelled",
        "data { real y; } parameters { int<lower=0, upper=1> k; real mu; }"
        "model { k ~ bernoulli(0.7); mu ~ normal(k ? 8 : -8, 1);"
        "  y ~ normal(mu, 1); }",
        "{\"y\":4}", exact);
}

/* Half of a normal, normalised by hand or not. */
static void normalised_halves_are_halves(void **state) {
  (void)state;
  double exact = log(2) + log_normal(0.7, 0, sqrt(2)) +
                 log(0.5 * erfc(-0.35 / sqrt(0.5) / M_SQRT2));
  check("half",
        "data { real y; int k; } parameters { real<lower=0> b; }"
        "model { target += normal_lpdf(b | 0, 1) - k * normal_lccdf(0 | 0, 1);"
        "  y ~ normal(b, 1); }",
        "{\"y\":0.7,\"k\":1}", exact);
  check("half, bare",
        "data { real y; } parameters { real<lower=0> b; }"
        "model { b ~ normal(0, 1); y ~ normal(b, 1); }",
        "{\"y\":0.7}", exact);
}

/* Means of two normals in order: half the mass of the unordered pair, whose
 * evidence is that of each alone; the order is exchanged with the labels. */
static void ordered_means_are_normalised(void **state) {
  (void)state;
  double one = log_normal(1, 0, sqrt(2));
  check("ordered",
        "data { real y; } parameters { ordered[2] m; }"
        "model { m ~ normal(0, 1);"
        "  target += log_mix(0.5, normal_lpdf(y | m[1], 1),"
        "                         normal_lpdf(y | m[2], 1)); }",
        "{\"y\":1}", one);
}

/* A missing outcome adds nothing: y1 and mu alone. */
static void missing_outcomes_do_not_count(void **state) {
  (void)state;
  check("missing",
        "data { vector[2] y; array[1] int j; }"
        "parameters { real mu; vector[1] y_mis; }"
        "model { vector[2] all_y = y; all_y[j] = y_mis; mu ~ normal(0, 2);"
        "  all_y ~ normal(mu, 1); }",
        "{\"y\":[1.5, 0],\"j\":[2]}", log_normal(1.5, 0, sqrt(5)));
}

/* What data reject is likelihood: a uniform scale by hand, y = 2 below theta
 * of exponential(1): the integral of e^-t / t from 2 on. */
/* J from 1 to K, and two numbers from J - 1 to K + 1: a sum over all settings.
 */
static void bounds_of_integers_depend_on_integers(void **state) {
  (void)state;
  double count = 0, sum = 0;
  for (int k = 1; k <= 5; k++)
    for (int j = 1; j <= k; j++)
      for (int a = j - 1; a <= k + 1; a++)
        for (int b = j - 1; b <= k + 1; b++) {
          count++;
          sum += exp(log_normal(4.3, j + a, 1) + log_normal(2.1, b + k, 2));
        }
  check("integers",
        "data { vector[2] y; }"
        "parameters { int<lower=1, upper=5> K; int<lower=1, upper=K> J;"
        "  array[2] int<lower=J - 1, upper=K + 1> z; }"
        "model { y[1] ~ normal(J + z[1], 1); y[2] ~ normal(K + z[2], 2); }",
        "{\"y\":[4.3,2.1]}", log(sum / count));
}

static void data_reject_for_the_likelihood(void **state) {
  (void)state;
  check("reject",
        "data { real y; } parameters { real<lower=0> theta; }"
        "model { theta ~ exponential(1); if (y > theta) reject(\"no\");"
        "  target += -log(theta); // @likelihood\n }",
        "{\"y\":2}", log(0.04890051070806112));
}

static void no_likelihood_is_no_evidence(void **state) {
  (void)state;
  static const char *const texts[] = {
      "data { vector[3] y; int p; } parameters { real mu; }"
      "model { for (i in 1:3) mu ~ normal(y[i], 1); }",
      "data { vector[3] y; int p; } parameters { real mu; }"
      "model { mu ~ normal(0, 1); if (!p) y ~ normal(mu, 1); }"};
  for (int k = 0; k < 2; k++) {
    tempera_model *model = load(texts[k], "{\"y\":[1,2,3],\"p\":1}");
    tempera_options options = tempera_options_default();
    tempera_summary *s = run_model(model, &options);
    assert_false(s->reliable);
    assert_null(s->estimator);
    assert_non_null(strstr(s->verdict, "likelihood"));
    tempera_summary_free(s);
    tempera_model_free(model);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(counts_of_data_are_likelihood),
      cmocka_unit_test(gathered_priors_are_prior),
      cmocka_unit_test(humps_of_the_prior_are_all_seen),
      cmocka_unit_test(normalised_halves_are_halves),
      cmocka_unit_test(ordered_means_are_normalised),
      cmocka_unit_test(missing_outcomes_do_not_count),
      cmocka_unit_test(bounds_of_integers_depend_on_integers),
      cmocka_unit_test(data_reject_for_the_likelihood),
      cmocka_unit_test(no_likelihood_is_no_evidence),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
