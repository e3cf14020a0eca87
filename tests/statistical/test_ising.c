/* Many integers: an Ising model at the critical point, free edges, against the
 * transfer matrix. Nothing may go through the integers' values one by one. */
#include "whole_run.h"

#include <math.h>

enum { SIDE = 5, SITES = SIDE * SIDE };
static const double BETA = 0.44068679350977147; /* log(1 + sqrt 2) / 2 */

static int likelihood(const double *s, double *value, void *user) {
  (void)user;
  double sum = 0;
  for (int i = 0; i < SIDE; i++)
    for (int j = 0; j < SIDE; j++) {
      double spin = 2 * s[i * SIDE + j] - 1;
      if (i + 1 < SIDE)
        sum += spin * (2 * s[(i + 1) * SIDE + j] - 1);
      if (j + 1 < SIDE)
        sum += spin * (2 * s[i * SIDE + j + 1] - 1);
    }
  *value = BETA * sum;
  return 0;
}

static int prior(const double *s, double *value, void *user) {
  (void)s;
  (void)user;
  *value = -SITES * log(2);
  return 0;
}

static int draw(tempera_random *random, double *s, void *user) {
  (void)user;
  for (int i = 0; i < SITES; i++)
    s[i] = tempera_random_uniform(random) < 0.5;
  return 0;
}

static double along(unsigned row) {
  double sum = 0;
  for (unsigned i = 0; i + 1 < SIDE; i++)
    sum += ((row >> i) & 1) == ((row >> (i + 1)) & 1) ? 1 : -1;
  return sum;
}

static double across(unsigned a, unsigned b) {
  double sum = 0;
  for (unsigned i = 0; i < SIDE; i++)
    sum += ((a >> i) & 1) == ((b >> i) & 1) ? 1 : -1;
  return sum;
}

/* Row after row; log of the mean of L over the prior. */
static double exact_log_z(void) {
  enum { ROWS = 1 << SIDE };
  double now[ROWS], next[ROWS], total = 0;
  for (unsigned a = 0; a < ROWS; a++)
    now[a] = exp(BETA * along(a));
  for (int row = 1; row < SIDE; row++) {
    for (unsigned a = 0; a < ROWS; a++) {
      next[a] = 0;
      for (unsigned b = 0; b < ROWS; b++)
        next[a] += now[b] * exp(BETA * (across(a, b) + along(a)));
    }
    memcpy(now, next, sizeof now);
  }
  for (unsigned a = 0; a < ROWS; a++)
    total += now[a];
  return log(total) - SITES * log(2);
}

static void ising_has_its_evidence(void **state) {
  (void)state;
  const tempera_parameter sites = {"s", TEMPERA_INTEGER, SITES, 0,
                                   1,   TEMPERA_BOUNDS};
  tempera_model_spec spec = {.name = "ising",
                             .parameters = &sites,
                             .parameter_count = 1,
                             .log_likelihood = likelihood,
                             .log_prior = prior,
                             .prior_draw = draw,
                             .prior_normalised = true};
  double exact = exact_log_z();
  assert_true(fabs(exact - 4.3754) < 1e-4);
  for (uint64_t seed = 1; seed <= 3; seed++) {
    tempera_options o = tempera_options_default();
    o.seed = seed;
    o.iterations = 12000;
    tempera_model *model = make_model(&spec);
    tempera_summary *s = run_model(model, &o);
    print_message("seed %d: log Z %.4f se %.4f error %+.4f, %zu trips, %.2g "
                  "evaluations\n",
                  (int)seed, s->log_z, s->se, s->log_z - exact, s->round_trips,
                  (double)s->likelihood_evaluations);
    assert_true(s->se > 0 && s->se < 0.06);
    assert_true(fabs(s->log_z - exact) < 4 * s->se);
    assert_true(s->reliable && s->round_trips > 200);
    tempera_summary_free(s);
    tempera_model_free(model);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(ising_has_its_evidence)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
