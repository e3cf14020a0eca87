/* PAWL on the toy: after warmup the walkers follow P(tau) e^{tau l} pi with the
 * bins' P(tau), and every estimator of log Z is right; known answers, fixed
 * seeds, four standard errors. */
#include "draws/draws.h"
#include "family_run.h"

/* Stretches of tau in which the law is compared; the atom is apart. */
static const double edges[] = {0, 0.05, 0.2, 0.5, 1};
enum { STRETCHES = sizeof edges / sizeof *edges - 1 };

static void add_law(toy_law *sum, const toy_law *law, double weight) {
  for (int k = 0; k < TOY_VALUES; k++)
    sum->pmf[k] += weight * law->pmf[k];
  sum->mean_size += weight * law->mean_size;
  sum->mean_square += weight * law->mean_square;
}

static void scale_law(toy_law *law, double factor) {
  toy_law sum = {0};
  add_law(&sum, law, factor);
  *law = sum;
}

/* Three Gauss-Legendre points of [a, b] under a constant log P. */
static double integrate(double a, double b, double log_prior, bool impossible,
                        toy_law *sum) {
  static const double at[] = {-0.7745966692414834, 0, 0.7745966692414834};
  static const double weight[] = {5. / 18, 8. / 18, 5. / 18};
  double total = 0;
  for (int i = 0; i < 3 && a < b; i++) {
    double tau = (a + b) / 2 + at[i] * (b - a) / 2;
    toy_law law = toy_exact(tau, impossible);
    double mass = weight[i] * (b - a) * exp(log_prior + law.log_z);
    add_law(sum, &law, mass);
    total += mass;
  }
  return total;
}

/* The mass of a stretch and the law of theta in it. */
static double exact_stretch(const tm_draws_prior *prior, int s, bool impossible,
                            toy_law *law) {
  double mass = 0;
  *law = (toy_law){0};
  for (size_t k = 0; k + 1 < prior->knots; k += 2)
    mass += integrate(fmax(edges[s], prior->tau[k]),
                      fmin(edges[s + 1], prior->tau[k + 1]),
                      prior->log_prior[k], impossible, law);
  scale_law(law, 1 / mass);
  return mass;
}

/* 1 for rows with low < tau <= high. */
static void pick(const tempera_draws *draws, double low, double high,
                 double *weight) {
  size_t rows = tempera_draws_rows(draws, TEMPERA_TEMPERED);
  for (size_t c = 0; c < tempera_draws_chains(draws); c++) {
    const double *tau = tempera_draws_tau(draws, TEMPERA_TEMPERED, c);
    for (size_t i = 0; i < rows; i++)
      weight[c * rows + i] = tau[i] > low && tau[i] <= high;
  }
}

static void check_joint_law(const toy_run *run, bool impossible) {
  const tempera_draws *draws = tempera_sampler_draws(run->sampler);
  const tm_draws_prior *prior = &draws->prior;
  size_t n =
      tempera_draws_chains(draws) * tempera_draws_rows(draws, TEMPERA_TEMPERED);
  double *picked = malloc(n * sizeof *picked);
  toy_law law[STRETCHES], bottom = toy_exact(0, impossible);
  double mass[STRETCHES], atom = exp(prior->log_atom), total = atom;
  assert_non_null(picked);
  for (int s = 0; s < STRETCHES; s++)
    total += mass[s] = exact_stretch(prior, s, impossible, &law[s]);
  pick(draws, -1, 0, picked);
  check_share(draws, picked, atom / total);
  check_weighted_law(draws, TEMPERA_TEMPERED, picked, bottom,
                     "law of the atom");
  for (int s = 0; s < STRETCHES; s++) {
    pick(draws, edges[s], edges[s + 1], picked);
    check_share(draws, picked, mass[s] / total);
    check_weighted_law(draws, TEMPERA_TEMPERED, picked, law[s],
                       "law of a stretch of tau");
  }
  free(picked);
}

static void walkers_have_their_law(void **state) {
  (void)state;
  static const char *const cases[][5] = {
      {"iterations", "6000", NULL},
      {"iterations", "12000", "walkers", "3", NULL},
      {"iterations", "6000", "jumps", "false", NULL},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    toy_run run = run_toy("pawl", i % 2, 41 + i, cases[i]);
    double exact = toy_exact(1, i % 2).log_z;
    check_joint_law(&run, i % 2);
    check_evidence(run.summary, "rb", exact, 0.1);
    check_evidence(run.summary, "ti", exact, 0.1);
    check_evidence(run.summary, "ss", exact, 0.1);
    assert_string_equal(run.summary->estimator, "rb");
    assert_true(run.summary->round_trips > 100);
    free_run(&run);
  }
}

/* Of 40 short runs at least 34 intervals of each estimator cover. */
static void intervals_cover(void **state) {
  (void)state;
  static const char *const names[] = {"rb", "ti", "ss"};
  const char *options[] = {"walkers", "4", "iterations", "1200", NULL};
  check_coverage("pawl", options, 900, names, 3);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(walkers_have_their_law),
      cmocka_unit_test(intervals_cover),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
