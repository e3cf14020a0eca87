/* The tau moves, the exchange and whole sweeps leave their target invariant:
 * start from exact draws, move, and compare with the exact law again. */
#include "groups/pair.h"

#include "alone.h"
#include "cmocka_all.h"
#include "gaussian_model.h"

enum { REPLICATES = 20000 };

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Kolmogorov-Smirnov distance of probabilities from uniform, times sqrt n. */
static double ks(double *p, size_t n) {
  qsort(p, n, sizeof *p, ascending);
  double worst = 0;
  for (size_t i = 0; i < n; i++)
    worst = fmax(worst, fmax(fabs(p[i] - (double)i / (double)n),
                             fabs(p[i] - (double)(i + 1) / (double)n)));
  return worst * sqrt((double)n);
}

/* P(sqrt(n) D > 2.3) is 5e-5. */
static const double KS_LIMIT = 2.3;

/* ------------------------------------------------------------------------
 * tau given theta
 */

/* With an atom the share of draws there is checked too. */
static void check_tau_move(tempera_tau_move kind, double scale, double tau_min,
                           double log_atom, double l, uint64_t seed) {
  const double x[] = {tau_min, tau_min + 0.01, 0.3, 0.35, 1};
  const double y[] = {-1, 2, 8, 7, 30};
  tm_tau_prior prior = {{5, x, y, log_atom}, NULL, tau_min};
  double work[10];
  tm_tau_mover mover = {
      .kind = kind, .scale = scale, .prior = &prior, .work = work};
  tempera_random random = tm_random(seed, 0, TM_PURPOSE_TEST);
  double mass = tm_loglinear_log_mass(&prior.log_prior, l);
  double at_atom = exp(log_atom - mass);
  static double p[REPLICATES];
  size_t off_atom = 0;
  for (size_t i = 0; i < REPLICATES; i++) {
    double u = tempera_random_uniform(&random);
    double v = tempera_random_uniform(&random);
    double tau = tm_loglinear_draw(&prior.log_prior, l, u, v, work);
    mover.downward = tempera_random_uniform(&random) < 0.5;
    for (int k = 0; k < 3; k++)
      tm_tau_move(&mover, NULL, l, &tau, &random);
    assert_true(tau >= tau_min && tau <= 1);
    if (tau > 0 || at_atom == 0)
      p[off_atom++] =
          exp(tm_loglinear_log_mass_between(&prior.log_prior, l, tau_min, tau) -
              mass) /
          (1 - at_atom);
  }
  double share = 1 - (double)off_atom / REPLICATES;
  assert_true(fabs(share - at_atom) <=
              4 * sqrt(at_atom * (1 - at_atom) / REPLICATES) + 1e-12);
  if (off_atom > 100)
    assert_true(ks(p, off_atom) < KS_LIMIT);
}

static void every_tau_move_keeps_its_law(void **state) {
  (void)state;
  const double slopes[] = {-2000, -35, -31, 4};
  for (size_t i = 0; i < 4; i++) {
    for (size_t kind = 0; kind < 4; kind++) {
      const tempera_tau_move kinds[] = {TEMPERA_TAU_GIBBS, TEMPERA_TAU_UNIFORM,
                                        TEMPERA_TAU_TRUNCATED_NORMAL,
                                        TEMPERA_TAU_LIFTED};
      uint64_t seed = 100 * i + 10 * kind;
      check_tau_move(kinds[kind], 0.1, 0, -INFINITY, slopes[i], seed + 1);
      check_tau_move(kinds[kind], 0.7, 0.2, -INFINITY, slopes[i], seed + 2);
      check_tau_move(kinds[kind], 0.3, 0, 0.5, slopes[i], seed + 3);
    }
  }
}

/* ------------------------------------------------------------------------
 * Whole sweeps on the conjugate Gaussian model
 */

static gaussian_model gaussian = {1, 2.0, 0.1};
static const tempera_parameter one_parameter = {
    "x", TEMPERA_REAL, 0, -INFINITY, INFINITY, TEMPERA_BOUNDS};

/* P(tau) z(tau) is the marginal of tau: tabulated finely and inverted. */
enum { GRID = 4000 };
typedef struct marginal {
  double tau[GRID + 1], cdf[GRID + 1];
  double atom; /* share of the whole; cdf is given that tau is off it */
} marginal;

static void tabulate(const tm_tau_prior *prior, marginal *m) {
  double total = 0, before = 0;
  for (size_t i = 0; i <= GRID; i++) {
    double share = (double)i / GRID, tau = share * share * share;
    double density = exp(tm_loglinear_at(&prior->log_prior, tau) +
                         gaussian_log_z(&gaussian, tau));
    m->tau[i] = tau;
    if (i)
      total += 0.5 * (density + before) * (tau - m->tau[i - 1]);
    m->cdf[i] = total;
    before = density;
  }
  for (size_t i = 0; i <= GRID; i++)
    m->cdf[i] /= total;
  double atom = exp(prior->log_prior.log_atom); /* z(0) = 1 */
  m->atom = atom / (atom + total);
}

static double invert(const marginal *m, double u) {
  size_t low = 0, high = GRID;
  while (high - low > 1) {
    size_t middle = (low + high) / 2;
    if (m->cdf[middle] <= u)
      low = middle;
    else
      high = middle;
  }
  double share = (u - m->cdf[low]) / (m->cdf[high] - m->cdf[low]);
  return m->tau[low] + share * (m->tau[high] - m->tau[low]);
}

static double cdf_at(const marginal *m, double tau) {
  size_t low = 0, high = GRID;
  while (high - low > 1) {
    size_t middle = (low + high) / 2;
    if (m->tau[middle] <= tau)
      low = middle;
    else
      high = middle;
  }
  double share = (tau - m->tau[low]) / (m->tau[high] - m->tau[low]);
  return m->cdf[low] + share * (m->cdf[high] - m->cdf[low]);
}

static double normal_cdf(double z) { return 0.5 * erfc(-z / sqrt(2)); }

static void place(tm_pair *pair, tm_point *point, double tau,
                  tempera_random *random) {
  point->theta[0] = gaussian_mean_at(&gaussian, tau) +
                    sqrt(gaussian_variance_at(&gaussian, tau)) *
                        tempera_random_normal(random);
  tm_evaluate_natural(&pair->group.evaluator, point);
}

static double position(const tm_point *point, double tau) {
  return normal_cdf((point->theta[0] - gaussian_mean_at(&gaussian, tau)) /
                    sqrt(gaussian_variance_at(&gaussian, tau)));
}

typedef struct sweep_case {
  tm_pair_settings settings;
  double log_atom; /* above the prior's height at tau = 0 */
  uint64_t seed;
} sweep_case;

static void check_sweeps(const sweep_case *c) {
  tempera_error error;
  tempera_model_spec spec = gaussian_spec(&gaussian, &one_parameter);
  tempera_model *model;
  assert_int_equal(tempera_model_create(&spec, &model, &error), TEMPERA_OK);
  double start = 1.5;
  tm_ridge_settings ridge_settings = {.gap = 1};
  tm_store_settings store = {.seed = 1, .threads = 1};
  tm_ridge *ridge = NULL;
  assert_int_equal(ridge_alone(model, &store, &ridge_settings,
                               TEMPERA_RIDGE_CONVEX, &start, 1, &ridge, &error),
                   TEMPERA_OK);
  tm_tau_prior prior = {0};
  assert_int_equal(tm_tau_prior_profile(ridge, 0, &prior, &error), TEMPERA_OK);
  prior.log_prior.log_atom = prior.values[0] + c->log_atom;
  tm_pair *pair = NULL;
  assert_int_equal(tm_pair_create(model, &c->settings, c->seed, 0, &start, 0.5,
                                  &pair, &error),
                   TEMPERA_OK);
  assert_int_equal(tm_pair_set_prior(pair, ridge, &prior, &error), TEMPERA_OK);
  for (int i = 0; i < 500; i++)
    tm_group_sweep(&pair->group);
  tm_kernel_end_round(pair->group.kernel);
  tm_kernel_freeze(pair->group.kernel);

  static marginal m;
  tabulate(&prior, &m);
  tempera_random random = tm_random(c->seed, 1, TM_PURPOSE_TEST);
  static double of_tau[REPLICATES], of_tempered[REPLICATES],
      of_target[REPLICATES];
  size_t off_atom = 0;
  for (size_t i = 0; i < REPLICATES; i++) {
    bool atom = tempera_random_uniform(&random) < m.atom;
    pair->tau = atom ? 0 : invert(&m, tempera_random_uniform(&random));
    place(pair, &pair->tempered, pair->tau, &random);
    place(pair, &pair->target, 1, &random);
    tm_tau_settle(&pair->mover, &pair->group.evaluator, pair->tau);
    for (int k = 0; k < 3; k++)
      tm_group_sweep(&pair->group);
    if (pair->tau > 0)
      of_tau[off_atom++] = cdf_at(&m, pair->tau);
    of_tempered[i] = position(&pair->tempered, pair->tau);
    of_target[i] = position(&pair->target, 1);
  }
  double share = 1 - (double)off_atom / REPLICATES;
  assert_true(fabs(share - m.atom) <=
              4 * sqrt(m.atom * (1 - m.atom) / REPLICATES) + 1e-12);
  assert_true(ks(of_tau, off_atom) < KS_LIMIT);
  assert_true(ks(of_tempered, REPLICATES) < KS_LIMIT);
  assert_true(ks(of_target, REPLICATES) < KS_LIMIT);
  tm_group_free(&pair->group);
  tm_tau_prior_free(&prior);
  ridge_alone_free(ridge);
  tempera_model_free(model);
}

static void sweeps_keep_the_joint_law(void **state) {
  (void)state;
  const sweep_case cases[] = {
      {{TEMPERA_PT_STWNC, false, 1, TEMPERA_TAU_GIBBS, 0.1, TEMPERA_KERNEL_AUTO,
        0},
       -INFINITY,
       1},
      {{TEMPERA_PT_STWNC, true, 0.5, TEMPERA_TAU_UNIFORM, 0.1,
        TEMPERA_KERNEL_RANDOM_WALK, 0},
       -INFINITY,
       2},
      /* exchanges alone */
      {{TEMPERA_PT_STWNC, true, 1, TEMPERA_TAU_GIBBS, 0.1, TEMPERA_KERNEL_AUTO,
        0},
       -INFINITY,
       3},
      {{TEMPERA_STWNC, false, 0, TEMPERA_TAU_TRUNCATED_NORMAL, 0.2,
        TEMPERA_KERNEL_SLICE, 0},
       -INFINITY,
       4},
      /* an atom, where theta is drawn afresh */
      {{TEMPERA_PT_STWNC, false, 1, TEMPERA_TAU_GIBBS, 0.1, TEMPERA_KERNEL_AUTO,
        0},
       -1,
       5},
      {{TEMPERA_PT_STWNC, false, 1, TEMPERA_TAU_LIFTED, 0.1,
        TEMPERA_KERNEL_RANDOM_WALK, 0},
       -1,
       6},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    check_sweeps(&cases[i]);
}

static void exchange_ratio_is_the_papers(void **state) {
  (void)state;
  /* alpha = L(theta2)^tau L(theta1) / (L(theta1)^tau L(theta2)) */
  assert_true(fabs(tm_exchange_log_ratio(0.25, -10, 1, -4) -
                   (0.25 * -4 - 10 - 0.25 * -10 + 4)) < 1e-12);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_tau_move_keeps_its_law),
      cmocka_unit_test(sweeps_keep_the_joint_law),
      cmocka_unit_test(exchange_ratio_is_the_papers),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
