/* test_family.c - every method's draws follow the law they claim, on a toy
 * with an integer and a real parameter whose answer is exact; known answers,
 * fixed seeds, four standard errors. */
#include "cmocka_all.h"
#include "estimate/influence.h"
#include "family_toy.h"

#include <string.h>

enum { CHAINS = 4, ITERATIONS = 6000, WARMUP = 1500 };

typedef struct toy_run {
  tempera_model *model;
  tempera_sampler *sampler;
  tempera_summary *summary;
} toy_run;

/* Options are "name value" pairs, ended by NULL. */
static toy_run run_toy(const char *method, bool impossible, uint64_t seed,
                       const char *const *options) {
  toy_run run = {.model = toy_model(impossible)};
  tempera_error error = {0};
  tempera_options o = tempera_options_default();
  assert_non_null(run.model);
  assert_int_equal(tempera_options_set(&o, "method", method, &error), 0);
  for (; options && options[0]; options += 2)
    if (tempera_options_set(&o, options[0], options[1], &error) != TEMPERA_OK)
      fail_msg("%s", error.message);
  o.chains = CHAINS;
  o.iterations = ITERATIONS;
  o.warmup_given = true;
  o.warmup = WARMUP;
  o.seed = seed;
  if (tempera_sampler_create(run.model, &o, &run.sampler, &error) ||
      tempera_sampler_run(run.sampler, NULL, NULL, &error) ||
      tempera_sampler_summarise(run.sampler, &run.summary, &error))
    fail_msg("%s: %s", method, error.message);
  return run;
}

static void free_run(toy_run *run) {
  tempera_summary_free(run->summary);
  tempera_sampler_free(run->sampler);
  tempera_model_free(run->model);
}

/* Every width-th draw from `first` on, as the series f(k, x). */
typedef double (*feature)(double k, double x, double which);
static double is_value(double k, double x, double which) {
  (void)x;
  return k == which;
}
static double is_positive(double k, double x, double which) {
  (void)k, (void)which;
  return x > 0;
}
static double size_of(double k, double x, double which) {
  (void)k, (void)which;
  return fabs(x);
}
static double square_of(double k, double x, double which) {
  (void)k, (void)which;
  return x * x;
}

typedef struct place {
  const tempera_draws *draws;
  tempera_role role;
  size_t first, width;
} place;

static void check_mean(const place *p, feature f, double which, double exact,
                       const char *what) {
  size_t rows = tempera_draws_count(p->draws);
  size_t chains = tempera_draws_chains(p->draws);
  double *series = malloc(chains * rows * sizeof *series), mean = 0;
  for (size_t c = 0; c < chains; c++) {
    const double *k = tempera_draws_values(p->draws, p->role, c, 0);
    const double *x = tempera_draws_values(p->draws, p->role, c, 1);
    for (size_t i = 0; i < rows; i++) {
      size_t row = p->first + i * p->width;
      double value = f(k[row], x[row], which);
      series[c * rows + i] = value;
      mean += value / (double)(chains * rows);
    }
  }
  double se = tm_influence_error(series, chains, rows).se;
  free(series);
  if (!(fabs(mean - exact) <= 4 * se) || !(se < 0.1))
    fail_msg("%s at %zu: %.5f +- %.5f, exactly %.5f", what, p->first, mean, se,
             exact);
}

static void check_law(const place *p, double tau, bool impossible) {
  toy_law law = toy_exact(tau, impossible);
  for (int k = 0; k < TOY_VALUES; k++)
    if (law.pmf[k] > 0)
      check_mean(p, is_value, k, law.pmf[k], "P(k)");
  check_mean(p, is_positive, 0, 0.5, "P(x > 0)");
  check_mean(p, size_of, 0, law.mean_size, "E|x|");
  check_mean(p, square_of, 0, law.mean_square, "E x^2");
}

static void check_target(const toy_run *run, bool impossible) {
  place p = {tempera_sampler_draws(run->sampler), TEMPERA_TARGET, 0, 1};
  check_law(&p, 1, impossible);
}

static const tempera_estimate *estimate(const tempera_summary *s,
                                        const char *name) {
  for (size_t i = 0; i < s->estimate_count; i++)
    if (!strcmp(s->estimates[i].name, name))
      return &s->estimates[i];
  fail_msg("there is no estimate %s", name);
  return NULL;
}

static void check_evidence(const tempera_summary *s, const char *name,
                           double exact, double most) {
  const tempera_estimate *e = estimate(s, name);
  if (!(fabs(e->log_z - exact) <= 4 * e->se) || !(e->se < most))
    fail_msg("%s: %.4f +- %.4f, exactly %.4f", name, e->log_z, e->se, exact);
}

static void mh_has_its_law(void **state) {
  (void)state;
  for (int impossible = 0; impossible < 2; impossible++) {
    toy_run run = run_toy("mh", impossible, 11, NULL);
    check_target(&run, impossible);
    check_evidence(run.summary, "bridge", toy_exact(1, impossible).log_z, 0.05);
    assert_string_equal(run.summary->estimator, "bridge");
    assert_false(run.summary->reliable);
    assert_non_null(strstr(run.summary->verdict, "without tempering"));
    assert_null(tempera_draws_tau(tempera_sampler_draws(run.sampler),
                                  TEMPERA_TEMPERED, 0));
    free_run(&run);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(mh_has_its_law),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
