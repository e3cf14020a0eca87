/* test_family.c - every method's draws follow the law they claim, on a toy
 * with an integer and a real parameter whose answer is exact; known answers,
 * fixed seeds, four standard errors. */
#include "cmocka_all.h"
#include "estimate/influence.h"
#include "family_run.h"

#include <string.h>

/* Every width-th draw from `first` on. */
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
