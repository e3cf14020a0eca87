/* Simulated tempering on the toy: its levels are visited in proportion to
 * w_t z(tau_t), each with its own law, and every estimator of log Z is right;
 * known answers, fixed seeds, four standard errors. */
#include "draws/draws.h"
#include "family_run.h"

static void check_levels(const toy_run *run, bool impossible) {
  const tempera_draws *draws = tempera_sampler_draws(run->sampler);
  const tm_draws_levels *levels = &draws->levels;
  double *picked = malloc(tempera_draws_chains(draws) *
                          tempera_draws_count(draws) * sizeof *picked);
  double share[64], total = 0;
  assert_true(picked && levels->count <= 64);
  assert_true(levels->tau[0] == 0 && levels->tau[levels->count - 1] == 1);
  for (size_t t = 0; t < levels->count; t++)
    total += share[t] = exp(levels->log_weight[t] +
                            toy_exact(levels->tau[t], impossible).log_z);
  for (size_t t = 0; t < levels->count; t++) {
    pick_level(draws, levels->tau[t], picked);
    check_share(draws, picked, share[t] / total);
    check_weighted_law(draws, TEMPERA_TEMPERED, picked,
                       toy_exact(levels->tau[t], impossible), "law of a level");
  }
  free(picked);
}

static void check_estimates(const toy_run *run, bool impossible) {
  double exact = toy_exact(1, impossible).log_z;
  check_evidence(run->summary, "rb", exact, 0.1);
  check_evidence(run->summary, "st-weights", exact, 0.2);
  check_evidence(run->summary, "ss", exact, 0.1);
  assert_string_equal(run->summary->estimator, "rb");
  assert_true(run->summary->round_trips > 100);
}

static void levels_have_their_laws(void **state) {
  (void)state;
  static const char *const cases[][5] = {
      {"levels", "6", NULL},
      {"levels", "6", "weights", "wang-landau", NULL},
      {"levels", "6", "tau-move", "uniform", NULL},
      {"levels", "6", "tau-move", "neighbour", NULL},
      {"levels", "6", "tau-move", "lifted", NULL},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    toy_run run = run_toy("st", i % 2, 21 + i, cases[i]);
    check_levels(&run, i % 2);
    check_estimates(&run, i % 2);
    free_run(&run);
  }
}

/* Wrong weights cost time, not truth: with no warmup nothing is learned. */
static void any_weights_are_correct(void **state) {
  (void)state;
  const char *options[] = {"levels", "4", "jumps", "false", NULL};
  toy_run run = run_toy_after("st", false, 31, options, 0);
  check_levels(&run, false);
  check_estimates(&run, false);
  free_run(&run);
}

static void intervals_cover(void **state) {
  (void)state;
  static const char *const names[] = {"rb", "st-weights", "ss"};
  const char *options[] = {"levels", "6", "iterations", "2400", NULL};
  check_coverage("st", options, 1200, names, 3);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(levels_have_their_laws),
      cmocka_unit_test(any_weights_are_correct),
      cmocka_unit_test(intervals_cover),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
