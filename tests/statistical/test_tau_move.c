/* Facts about tau moves: each leaves p(tau | theta) as it is, atom included.
 * Many chains start from an exact draw and make one move; the atom's and the
 * lower half's shares must stay what they are (method 4.3). */
#include "samplers/tau_move.h"

#include "base/random.h"

#include "cmocka_all.h"

#include <math.h>

static const double X[] = {0, 1e-3, 0.1, 0.5, 1};
static const double Y[] = {1, 0.5, 2, 3, 4};
enum { KNOTS = 5, CHAINS = 100000 };
static const double LOG_LIKELIHOOD = -3;

typedef struct shares {
  double atom, low; /* tau = 0; 0 < tau < 1/4 */
} shares;

static shares exact(const tm_loglinear *f) {
  double whole = tm_loglinear_log_mass(f, LOG_LIKELIHOOD);
  double low = tm_loglinear_log_mass_between(f, LOG_LIKELIHOOD, 0, 0.25);
  return (shares){exp(f->log_atom - whole), exp(low - whole)};
}

static shares after_a_move(tempera_tau_move kind, const tm_tau_prior *prior) {
  double work[KNOTS];
  tempera_random random = tm_random(1, (uint32_t)kind, TM_PURPOSE_TEST);
  shares count = {0};
  for (int i = 0; i < CHAINS; i++) {
    double u = tempera_random_uniform(&random);
    double v = tempera_random_uniform(&random);
    double tau =
        tm_loglinear_draw(&prior->log_prior, LOG_LIKELIHOOD, u, v, work);
    tm_tau_mover mover = {
        .kind = kind, .scale = 0.3, .prior = prior, .work = work};
    mover.downward = tempera_random_uniform(&random) < 0.5;
    tm_tau_move(&mover, NULL, LOG_LIKELIHOOD, &tau, &random);
    count.atom += tau == 0;
    count.low += tau > 0 && tau < 0.25;
  }
  return (shares){count.atom / CHAINS, count.low / CHAINS};
}

static void close_to(double share, double truth) {
  double se = sqrt(truth * (1 - truth) / CHAINS);
  assert_true(fabs(share - truth) <= 4 * se);
}

static void check_moves(double log_atom) {
  static const tempera_tau_move kinds[] = {
      TEMPERA_TAU_GIBBS, TEMPERA_TAU_UNIFORM, TEMPERA_TAU_TRUNCATED_NORMAL,
      TEMPERA_TAU_LIFTED};
  tm_tau_prior prior = {.log_prior = {KNOTS, X, Y, log_atom}};
  shares truth = exact(&prior.log_prior);
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    shares moved = after_a_move(kinds[i], &prior);
    close_to(moved.atom, truth.atom);
    close_to(moved.low, truth.low);
  }
}

static void every_move_keeps_the_law_without_an_atom(void **state) {
  (void)state;
  check_moves(-INFINITY);
}

static void every_move_keeps_the_law_with_an_atom(void **state) {
  (void)state;
  check_moves(0);  /* about a quarter of the mass */
  check_moves(-3); /* little */
  check_moves(3);  /* most */
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_move_keeps_the_law_without_an_atom),
      cmocka_unit_test(every_move_keeps_the_law_with_an_atom)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
