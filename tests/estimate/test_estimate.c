/* Facts about src/estimate: errors of means, mixing diagnostics against
 * published definitions, the barrier, round trips, and short inputs. */
#include "estimate/evidence/influence.h"
#include "estimate/mixing/mixing.h"
#include "estimate/summary.h"
#include "estimate_support.h"
#include "failing_memory.h"
#include "gaussian_draws.h"

static void assert_close(double value, double expected, double tolerance) {
  if (!(fabs(value - expected) <= tolerance))
    print_message("%.12g is not %.12g\n", value, expected);
  assert_true(fabs(value - expected) <= tolerance);
}

/* ---- errors ---------------------------------------------------------- */

static void fill_ar1(double *x, size_t n, double rho, uint64_t seed,
                     uint32_t chain) {
  tempera_random r = tm_random(seed, chain, TM_PURPOSE_TEST);
  double value = tempera_random_normal(&r);
  for (size_t i = 0; i < n; i++) {
    x[i] = value;
    value = rho * value + sqrt(1 - rho * rho) * tempera_random_normal(&r);
  }
}

static void error_of_an_autoregression_is_its_long_run_one(void **state) {
  (void)state;
  enum { CHAINS = 4, N = 5000, RUNS = 20 };
  static double x[CHAINS * N];
  for (double rho = 0; rho < 1; rho += 0.45) {
    double sum = 0, exact = sqrt((1 + rho) / (1 - rho) / (CHAINS * N));
    for (uint64_t seed = 1; seed <= RUNS; seed++) {
      for (uint32_t c = 0; c < CHAINS; c++)
        fill_ar1(x + c * N, N, rho, seed, c);
      sum += tm_influence_error(x, CHAINS, N).within / RUNS;
    }
    /* Each has about 60 degrees of freedom: 9 % over sqrt(RUNS). */
    assert_close(sum / exact, 1, 4 * 0.095 / sqrt(RUNS));
  }
}

static void chains_that_disagree_widen_the_error(void **state) {
  (void)state;
  enum { CHAINS = 4, N = 1000 };
  static double x[CHAINS * N];
  for (uint32_t c = 0; c < CHAINS; c++) {
    fill_ar1(x + c * N, N, 0, 1, c);
    for (size_t i = 0; i < N; i++)
      x[c * N + i] += 3.0 * c;
  }
  tm_monte_carlo mc = tm_influence_error(x, CHAINS, N);
  double between = 3 * sqrt(5.0 / 3 / CHAINS);
  assert_close(mc.between, between, 0.1);
  assert_close(mc.se, between * 3.18245 / 1.95996, 0.2);
}

/* ---- mixing ---------------------------------------------------------- */

/* The series of the reference computation: an autoregression driven by
 * Lehmer's generator, so that any language can repeat it. */
static void fill_lehmer(double *x, size_t n, int64_t seed, double rho,
                        double shift) {
  double value = 0;
  for (size_t i = 0; i < n; i++) {
    seed = seed * 48271 % 2147483647;
    value = rho * value + ((double)seed / 2147483647 - 0.5) + shift;
    x[i] = value;
  }
}

static tm_mixing measure(const double *x, size_t chains, size_t rows,
                         double q[3]) {
  tm_arena *arena = tm_arena_create();
  tm_ranked *sorted = TM_NEW(arena, tm_ranked, chains * rows);
  for (size_t i = 0; i < chains * rows; i++)
    sorted[i] = (tm_ranked){x[i], i};
  tm_ranked *room = TM_NEW(arena, tm_ranked, chains * rows);
  tm_ranked_sort(sorted, room, chains * rows);
  tm_mixing_work *work = tm_mixing_work_create(arena, chains, rows);
  tm_mixing m = tm_mixing_measure(work, sorted);
  const double p[] = {0.05, 0.5, 0.95};
  for (int k = 0; k < 3; k++)
    q[k] = tm_ranked_quantile(sorted, chains * rows, p[k]);
  tm_arena_free(arena);
  return m;
}

/* Expected: rhat, bulk, tail, mean ESS, quantiles, by a literal transcription
 * of Vehtari et al. (2021) in Python, autocovariances by double sums. */
typedef struct reference {
  size_t rows;
  double rho, shift;
  int64_t seed;
  double scale; /* > 0: the floor of scale * x, for ties */
  double expected[7];
} reference;

static const reference references[] = {
    {41,
     0.6,
     0.02,
     12345,
     0,
     {1.09060812991, 27.8407383535, 50.8234354726, 27.8705896429,
      -0.57366168634, 0.0920787483883, 0.719929656458}},
    {40,
     0.6,
     0.02,
     12345,
     0,
     {1.09454028257, 27.858965381, 41.6340361446, 27.7261528994,
      -0.574961383587, 0.0924888743887, 0.72289831621}},
    {60,
     0.6,
     0.02,
     12345,
     10,
     {1.05832126895, 50.8906862118, 82.4130026371, 51.1748686511, -6, 0, 6.05}},
    {600,
     0.98,
     0,
     999,
     0, /* more lags than are found directly */
     {1.40101601208, 6.97787102513, 32.4709040692, 7.01089362354,
      -2.45969241851, -0.0540574580425, 2.51892354578}},
};

static void mixing_agrees_with_the_published_definitions(void **state) {
  (void)state;
  for (size_t k = 0; k < sizeof references / sizeof *references; k++) {
    const reference *ref = &references[k];
    double x[3 * 600], q[3];
    for (int c = 0; c < 3; c++)
      fill_lehmer(x + (size_t)c * ref->rows, ref->rows, ref->seed + c, ref->rho,
                  ref->shift * c);
    for (size_t i = 0; ref->scale > 0 && i < 3 * ref->rows; i++)
      x[i] = floor(ref->scale * x[i]);
    tm_mixing m = measure(x, 3, ref->rows, q);
    const double got[] = {m.rhat, m.ess_bulk, m.ess_tail, m.ess_mean,
                          q[0],   q[1],       q[2]};
    for (int i = 0; i < 7; i++)
      assert_close(got[i], ref->expected[i],
                   1e-7 * (1 + fabs(ref->expected[i])));
  }
}

static void ess_of_an_autoregression_is_the_theoretical_one(void **state) {
  (void)state;
  enum { CHAINS = 4, N = 10000 };
  static double x[CHAINS * N];
  const double rho[] = {0, 0.3, 0.9, 0.99};
  const double tolerance[] = {0.05, 0.05, 0.12, 0.35};
  for (int k = 0; k < 4; k++) {
    for (uint32_t c = 0; c < CHAINS; c++)
      fill_ar1(x + c * N, N, rho[k], 7, c);
    double q[3], exact = CHAINS * N * (1 - rho[k]) / (1 + rho[k]);
    tm_mixing m = measure(x, CHAINS, N, q);
    assert_close(m.ess_mean / exact, 1, tolerance[k]);
    assert_close(m.ess_bulk / exact, 1, tolerance[k]);
    assert_true(m.rhat < 1 + 0.001 / (1 - rho[k]) + 0.001);
  }
}

static void rhat_sees_shifts_and_scales(void **state) {
  (void)state;
  enum { CHAINS = 4, N = 1000 };
  static double x[CHAINS * N];
  double q[3];
  for (uint32_t c = 0; c < CHAINS; c++) {
    fill_ar1(x + c * N, N, 0, 3, c);
    for (size_t i = 0; c == 0 && i < N; i++)
      x[i] += 2;
  }
  assert_true(measure(x, CHAINS, N, q).rhat > 1.2);
  for (uint32_t c = 0; c < CHAINS; c++) {
    fill_ar1(x + c * N, N, 0, 3, c);
    for (size_t i = 0; c == 0 && i < N; i++)
      x[i] *= 5; /* the same mean: only folding shows it */
  }
  assert_true(measure(x, CHAINS, N, q).rhat > 1.1);
}

static void
constant_values_have_no_rhat_and_stuck_chains_a_large_one(void **state) {
  (void)state;
  double x[40] = {0}, q[3];
  assert_true(isnan(measure(x, 2, 20, q).rhat));
  assert_true(isnan(measure(x, 2, 20, q).ess_bulk));
  x[3] = INFINITY;
  assert_true(isnan(measure(x, 2, 20, q).rhat));
  for (int i = 0; i < 40; i++)
    x[i] = i < 20; /* each chain stuck at its own value */
  assert_true(measure(x, 2, 20, q).rhat > 100);
}

/* ---- barrier --------------------------------------------------------- */

/* Half E|l - l'| by a double sum over a grid of theta, then the integral over
 * tau by the midpoint rule in sqrt(tau). */
static double exact_barrier(double (*l)(double), double width) {
  enum { GRID = 400, STEPS = 200 };
  double total = 0, value[GRID], weight[GRID];
  for (int step = 0; step < STEPS; step++) {
    double root = (step + 0.5) / STEPS, tau = root * root, sum = 0, half = 0;
    for (int i = 0; i < GRID; i++) {
      double theta = width * (2 * (i + 0.5) / GRID - 1);
      value[i] = l(theta);
      weight[i] = exp(tau * (value[i] + 30) - theta * theta / 2);
      sum += weight[i];
    }
    for (int i = 0; i < GRID; i++)
      for (int j = 0; j < i; j++)
        half += weight[i] * weight[j] * fabs(value[i] - value[j]);
    total += half / (sum * sum) * 2 * root / STEPS;
  }
  return total;
}

static double gaussian_l(double theta) {
  return -1.4 * 25 - 12.5 * (theta - 0.8) * (theta - 0.8);
}

static void barrier_is_its_integral(void **state) {
  (void)state;
  gaussian g = gaussian_make(1, 25, FLAT);
  tempera_draws *draws = gaussian_draws(&g, INDEPENDENT, 11, 4, 5000);
  tempera_summary *s = summarise(draws);
  double exact = exact_barrier(gaussian_l, 5);
  print_message("barrier %.4f, exact %.4f\n", s->barrier, exact);
  assert_close(s->barrier, exact, 0.03 * exact);
  draws->prior.knots = 0; /* by bins */
  tempera_summary *bins = summarise(draws);
  print_message("barrier by bins %.4f\n", bins->barrier);
  assert_close(bins->barrier, exact, 0.05 * exact);
  tempera_summary_free(bins);
  tempera_summary_free(s);
  tm_draws_free(draws);
}

static const double bimodal_y[] = {
    1.043823483849024,  0.9610271874989168,   0.6088212439013441,
    0.9834762446698555, 1.948246851721121,    0.31715675159961276,
    2.68607759769095,   1.0563250228293535,   1.6935030220353586,
    1.6388935550168027, 2.781454100090289,    2.8962123228523255,
    2.5517509289140285, 1.5414901822002052,   0.6694383476963055,
    1.275774621887919,  0.24590843108867388,  0.6407259446878534,
    3.9513160018525273, 1.5676166193459689,   0.739965195035217,
    0.4200133771336598, -0.23870696719656004, 3.3108356592447983,
    1.3611597665268318};

static double bimodal_l(double mu) {
  double l = 0;
  for (int i = 0; i < 25; i++) {
    double off = bimodal_y[i] - fabs(mu);
    l -= off * off / 2 + log(2 * M_PI) / 2;
  }
  return l;
}

enum { MU = 2001, BIMODAL_KNOTS = 81 };

typedef struct bimodal {
  double mu[MU], l[MU], tau[BIMODAL_KNOTS], log_z[BIMODAL_KNOTS];
} bimodal;

static double bimodal_density(const bimodal *b, int i, double tau) {
  return exp(tau * b->l[i] - b->mu[i] * b->mu[i] / 2) / sqrt(2 * M_PI) *
         (b->mu[1] - b->mu[0]);
}

static void bimodal_ready(bimodal *b) {
  for (int i = 0; i < MU; i++) {
    b->mu[i] = 6.0 * (2.0 * i / (MU - 1) - 1);
    b->l[i] = bimodal_l(b->mu[i]);
  }
  for (int k = 0; k < BIMODAL_KNOTS; k++) {
    double sum = 0;
    b->tau[k] = pow(k / (BIMODAL_KNOTS - 1.0), 4);
    for (int i = 0; i < MU; i++)
      sum += bimodal_density(b, i, b->tau[k]);
    b->log_z[k] = -log(sum); /* log P = -log z */
  }
}

static int bimodal_draw(const bimodal *b, double tau, tempera_random *r) {
  double cumulative[MU], sum = 0;
  for (int i = 0; i < MU; i++)
    cumulative[i] = sum += bimodal_density(b, i, tau);
  double u = tempera_random_uniform(r) * sum;
  int i = 0;
  while (i + 1 < MU && cumulative[i] < u)
    i++;
  return i;
}

/* mu | tau exactly on a grid, tau | mu exactly: a Gibbs sampler of the
 * paper's bimodal model with the data of its tables. */
static void bimodal_barrier_and_evidence_are_the_known_ones(void **state) {
  (void)state;
  enum { CHAINS = 4, ROWS = 10000 };
  static bimodal b;
  static const char *const names[] = {"mu"};
  static const bool integer[] = {false};
  bimodal_ready(&b);
  tempera_draws *draws;
  assert_int_equal(
      tm_draws_create(CHAINS, 1, names, integer, false, true, &draws, NULL),
      TEMPERA_OK);
  assert_int_equal(tm_draws_reserve(draws, ROWS, NULL), TEMPERA_OK);
  tm_draws_prior prior = {BIMODAL_KNOTS, b.tau, b.log_z, -INFINITY};
  assert_int_equal(tm_draws_set_prior(draws, &prior, NULL), TEMPERA_OK);
  tm_loglinear law = {BIMODAL_KNOTS, b.tau, b.log_z, -INFINITY};
  for (uint32_t c = 0; c < CHAINS; c++) {
    tempera_random r = tm_random(5, c, TM_PURPOSE_TEST);
    double tau = 0.5, work[2 * BIMODAL_KNOTS];
    for (size_t i = 0; i < ROWS; i++) {
      int k = bimodal_draw(&b, tau, &r);
      double u = tempera_random_uniform(&r);
      tau =
          tm_loglinear_draw(&law, b.l[k], u, tempera_random_uniform(&r), work);
      double extra[TM_COLUMNS] = {[TM_TAU] = tau,
                                  [TM_LOG_LIKELIHOOD] = b.l[k],
                                  [TM_LOG_PRIOR] = -b.mu[k] * b.mu[k] / 2 -
                                                   log(2 * M_PI) / 2};
      tm_draws_put(draws, TEMPERA_TEMPERED, c, i, &b.mu[k], extra);
    }
  }
  draws->count = ROWS;
  tempera_summary *s = summarise(draws);
  print_message("Lambda(1) %.4f; log Z %.4f +- %.4f; mean %.3f\n", s->barrier,
                s->log_z, s->se, s->values[0].mean);
  assert_close(exact_barrier(bimodal_l, 5), 1.161, 0.003);
  assert_close(s->barrier, 1.161, 0.05); /* its sd is about 0.013 */
  assert_true(fabs(s->log_z + 38.2532) < 4 * s->se);
  assert_true(s->round_trips > 100);
  assert_true(fabs(s->values[0].mean) < 4 * s->values[0].mcse);
  tempera_summary_free(s);
  tm_draws_free(draws);
}

/* ---- curve and values ------------------------------------------------ */

static void curve_follows_the_closed_form(void **state) {
  (void)state;
  gaussian g = gaussian_make(1, 25, FLAT);
  tempera_draws *draws = gaussian_draws(&g, INDEPENDENT, 12, 4, 5000);
  tempera_summary *s = summarise(draws);
  assert_true(s->curve[0].tau == 0 && s->curve[0].log_z == 0);
  assert_true(s->curve[s->curve_count - 1].tau == 1);
  assert_in_range(s->curve_count, 40, 80);
  for (size_t k = 0; k < s->curve_count; k++) {
    const tempera_curve_point *p = &s->curve[k];
    double h = 1e-6 * (p->tau + 1e-3), low = fmax(p->tau - h, 0);
    double slope = (gaussian_log_z(&g, p->tau + h) - gaussian_log_z(&g, low)) /
                   (p->tau + h - low);
    assert_close(p->log_z, gaussian_log_z(&g, p->tau), 4 * s->se);
    assert_close(p->mean_log_likelihood, slope, 0.06 * fabs(slope));
  }
  assert_close(s->curve[s->curve_count - 1].log_z, s->log_z, 1e-9);
  tempera_summary_free(s);
  tm_draws_free(draws);
}

static void values_are_summaries_of_the_target_draws(void **state) {
  (void)state;
  gaussian g = gaussian_make(1, 25, FLAT);
  tempera_draws *draws = gaussian_draws(&g, GIBBS, 13, 4, 5000);
  tempera_summary *s = summarise(draws);
  double mean = 25 * 0.8 / 26, sd = 1 / sqrt(26);
  const tempera_value_summary *v = &s->values[0];
  assert_string_equal(v->name, "theta");
  assert_true(fabs(v->mean - mean) < 4 * v->mcse);
  assert_close(v->mcse, sd / sqrt(20000), 0.1 * sd / sqrt(20000));
  assert_close(v->sd, sd, 0.03 * sd);
  assert_close(v->q5, mean - 1.645 * sd, 0.05 * sd);
  assert_close(v->q50, mean, 0.05 * sd);
  assert_close(v->q95, mean + 1.645 * sd, 0.05 * sd);
  assert_true(v->rhat < 1.01 && v->ess_bulk > 15000 && v->ess_tail > 15000);
  assert_null(v->pmf);
  tempera_summary_free(s);
  tm_draws_free(draws);
}

static void without_a_target_chain_values_are_weighted(void **state) {
  (void)state;
  gaussian g = gaussian_make(1, 25, PROFILE);
  tempera_draws *draws = gaussian_draws(&g, GIBBS, 14, 4, 5000);
  draws->has_role[TEMPERA_TARGET] = false;
  tempera_summary *s = summarise(draws);
  const tempera_value_summary *v = &s->values[0];
  double mean = 25 * 0.8 / 26, sd = 1 / sqrt(26);
  assert_true(fabs(v->mean - mean) < 4 * v->mcse);
  assert_true(v->mcse < 0.01);
  assert_close(v->sd, sd, 0.05 * sd);
  assert_close(v->q95, mean + 1.645 * sd, 0.1 * sd);
  assert_true(isnan(v->rhat));
  assert_true(v->ess_bulk > 1000 && v->ess_bulk < 20000);
  bool said = false;
  for (size_t i = 0; i < s->warning_count; i++)
    said |= strstr(s->warnings[i], "weighted to tau = 1") != NULL;
  assert_true(said);
  for (size_t i = 0; i < s->estimate_count; i++)
    assert_string_not_equal(s->estimates[i].name, "phm");
  draws->has_role[TEMPERA_TARGET] = true; /* so that its columns are freed */
  tempera_summary_free(s);
  tm_draws_free(draws);
}

/* ---- hand-made draws ------------------------------------------------- */

static tempera_draws *hand_made(size_t rows, bool integer) {
  static const char *const names[] = {"k"};
  static const bool yes[] = {true}, no[] = {false};
  tempera_draws *draws;
  assert_int_equal(tm_draws_create(1, 1, names, integer ? yes : no, true, true,
                                   &draws, NULL),
                   TEMPERA_OK);
  assert_int_equal(tm_draws_reserve(draws, rows, NULL), TEMPERA_OK);
  return draws;
}

/* Which of the two thetas the last row's tempered one is. */
static double last_walker(const tempera_draws *draws) {
  return draws->count ? tm_draws_column(draws, TEMPERA_TEMPERED, 0,
                                        1 + TM_WALKER)[draws->count - 1]
                      : 0;
}

static void put(tempera_draws *draws, double value, double tau, double exchange,
                double renewed) {
  double walker = last_walker(draws);
  double extra[TM_COLUMNS] = {[TM_TAU] = tau,
                              [TM_LOG_LIKELIHOOD] = -value,
                              [TM_EXCHANGE] = exchange,
                              [TM_RENEWED] = renewed,
                              [TM_ACCEPT] = 0.25,
                              [TM_TAU_ACCEPT] = exchange > 0 ? NAN : 0.5,
                              [TM_WALKER] =
                                  exchange == 2 ? 1 - walker : walker};
  tm_draws_put(draws, TEMPERA_TEMPERED, 0, draws->count, &value, extra);
  extra[TM_TAU] = 1;
  extra[TM_WALKER] = 1 - extra[TM_WALKER];
  tm_draws_put(draws, TEMPERA_TARGET, 0, draws->count, &value, extra);
  draws->count++;
}

/* u = tau when no barrier is known. */
static size_t trips(const tempera_draws *draws, size_t *restarts) {
  tm_barrier unknown = {.total = NAN};
  size_t round_trips;
  assert_int_equal(
      tm_trips_count(draws, &unknown, &round_trips, restarts, NULL),
      TEMPERA_OK);
  return round_trips;
}

static void round_trips_follow_theta_through_exchanges(void **state) {
  (void)state;
  tempera_draws *draws = hand_made(20, false);
  size_t restarts;
  put(draws, 0, 0.5, 0, 0);
  put(draws, 0, 0.01, 0, 0); /* A at the bottom */
  put(draws, 0, 0.6, 0, 0);
  assert_int_equal(trips(draws, &restarts), 0);
  assert_int_equal(restarts, 0);
  put(draws, 0, 0.6, 2, 0); /* A to the target: a restart; B tempered */
  assert_int_equal(trips(draws, &restarts), 0);
  assert_int_equal(restarts, 1);
  put(draws, 0, 0.0, 0, 0);  /* B at the bottom: it never was there before */
  put(draws, 0, 0.4, 1, 0);  /* proposed, rejected */
  put(draws, 0, 0.4, 2, 0);  /* B to the target (restart), A tempered */
  put(draws, 0, 0.04, 0, 0); /* A back at the bottom: a round trip */
  assert_int_equal(trips(draws, &restarts), 1);
  assert_int_equal(restarts, 2);
  put(draws, 0, 0.97, 0, 0); /* A climbs by itself: a restart */
  put(draws, 0, 0.03, 0, 0); /* and back: a round trip */
  assert_int_equal(trips(draws, &restarts), 2);
  assert_int_equal(restarts, 3);
  tempera_summary *s = summarise(draws);
  assert_close(s->swap_acceptance, 2.0 / 3, 1e-12);
  assert_close(s->tau_acceptance, 0.5, 1e-12);
  tempera_summary_free(s);
  tm_draws_free(draws);
}

static void a_prior_draw_starts_a_new_lineage(void **state) {
  (void)state;
  tempera_draws *draws = hand_made(20, false);
  size_t restarts;
  put(draws, 0, 0.3, 0, 1); /* born at u = 0, already at .3 */
  put(draws, 0, 0.99, 0, 0);
  assert_int_equal(trips(draws, &restarts), 0);
  assert_int_equal(restarts, 1);
  put(draws, 0, 0.2, 0, 1); /* came down to be redrawn: a round trip */
  assert_int_equal(trips(draws, &restarts), 1);
  put(draws, 0, 0.2, 2, 0); /* the new one to the target: a restart */
  assert_int_equal(trips(draws, &restarts), 1);
  assert_int_equal(restarts, 2);
  tm_draws_free(draws);
}

static void a_prior_draw_is_before_the_exchange(void **state) {
  (void)state;
  tempera_draws *draws = hand_made(20, false);
  size_t restarts;
  put(draws, 0, 0.3, 0, 1);
  put(draws, 0, 0.9, 2, 0); /* A to the target: a restart */
  put(draws, 0, 0.3, 2, 1); /* B redrawn, then to the target: a restart */
  assert_int_equal(trips(draws, &restarts), 0); /* A never came down */
  assert_int_equal(restarts, 2);
  tm_draws_free(draws);
}

static void exchanges_between_kept_draws_are_followed(void **state) {
  (void)state;
  tempera_draws *draws = hand_made(20, false);
  size_t restarts;
  put(draws, 0, 0.01, 0, 0); /* A at the bottom */
  put(draws, 0, 0.5, 2, 0);  /* A to the target: a restart */
  put(draws, 0, 0.5, 0, 0);
  put(draws, 0, 0.01, 0, 0); /* A again, after an exchange not kept */
  tm_draws_column(draws, TEMPERA_TEMPERED, 0, 1 + TM_WALKER)[3] = 0;
  tm_draws_column(draws, TEMPERA_TARGET, 0, 1 + TM_WALKER)[3] = 1;
  assert_int_equal(trips(draws, &restarts), 1);
  assert_int_equal(restarts, 1);
  tm_draws_free(draws);
}

static void whole_values_have_probabilities(void **state) {
  (void)state;
  tempera_draws *draws = hand_made(100, true);
  for (int i = 0; i < 100; i++)
    put(draws, i % 4 == 3 ? 7 : i % 4 - 1, 0.5, 0, 0);
  tempera_summary *s = summarise(draws);
  const tempera_value_summary *v = &s->values[0];
  const int64_t expected[] = {-1, 0, 1, 7};
  assert_int_equal(v->pmf_count, 4);
  for (int i = 0; i < 4; i++) {
    assert_int_equal(v->pmf[i].value, expected[i]);
    assert_close(v->pmf[i].probability, 0.25, 1e-12);
  }
  tempera_summary_free(s);
  tm_draws_free(draws);
  draws = hand_made(100, true);
  for (int i = 0; i < 100; i++)
    put(draws, i, 0.5, 0, 0);
  s = summarise(draws);
  assert_null(s->values[0].pmf); /* a hundred values are too many */
  tempera_summary_free(s);
  tm_draws_free(draws);
}

static void tau_bins_share_the_draws(void **state) {
  (void)state;
  gaussian g = gaussian_make(1, 25, PROFILE);
  tempera_draws *draws = gaussian_draws(&g, HELD, 15, 4, 5000);
  double height[1000]; /* the profile prior is the ridge upside down */
  for (size_t k = 0; k < draws->prior.knots; k++)
    height[k] = -draws->prior.log_prior[k];
  draws->ridge =
      (tm_draws_ridge){draws->prior.knots, draws->prior.tau, height, NULL};
  tempera_summary *s = summarise(draws);
  size_t total = 0;
  double edge = 0;
  assert_int_equal(s->tau_bin_count, 20);
  for (size_t j = 0; j < s->tau_bin_count; j++) {
    const tempera_tau_bin *b = &s->tau_bins[j];
    assert_true(b->lower == edge && b->upper > b->lower);
    assert_in_range(b->draws, 800, 1200);
    assert_true(b->acceptance == 1);
    assert_true(b->tau_acceptance > 0 && b->tau_acceptance < 1);
    /* The chord lies above the ridge, and the best of 1000 draws near it. */
    assert_true(b->ridge_excess > -1e-9 && b->ridge_excess < 0.1);
    edge = b->upper;
    total += b->draws;
  }
  assert_true(edge == 1);
  assert_int_equal(total, 20000);
  tempera_summary_free(s);
  tm_draws_free(draws);
}

/* ---- verdicts and edges ---------------------------------------------- */

/* Its printed error is of taus that are held; an error of zero is none. */
static void ti_paper_has_no_error_of_zero(void **state) {
  (void)state;
  gaussian g = gaussian_make(1, 25, FLAT);
  tempera_draws *draws = gaussian_draws(&g, GIBBS, 1, 4, 500);
  tempera_summary *s = summarise(draws);
  const tempera_estimate *e = tm_estimate_find(s, "ti-paper");
  assert_non_null(e);
  assert_true(isnan(e->se_within) && e->se == e->se_between && e->se > 0);
  tempera_summary_free(s);
  tm_draws_free(draws);
}

/* The count of the progress line takes its ends from fewer draws: off by a
 * fifth in one run, but right on the whole. */
static void trips_by_few_draws_are_about_as_many(void **state) {
  (void)state;
  gaussian g = gaussian_make(1, 25, FLAT);
  double trips = 0, by_few = 0;
  for (uint64_t seed = 1; seed <= 20; seed++) {
    tempera_draws *draws = gaussian_draws(&g, GIBBS, seed, 4, 2500);
    tempera_summary *s = summarise(draws);
    size_t few, restarts;
    assert_int_equal(tm_estimate_round_trips(draws, &few, &restarts, NULL),
                     TEMPERA_OK);
    trips += (double)s->round_trips;
    by_few += (double)few;
    tempera_summary_free(s);
    tm_draws_free(draws);
  }
  assert_close(by_few / trips, 1, 4 * 0.2 / sqrt(20));
}

static void verdict_is_reliable_for_good_draws_only(void **state) {
  (void)state;
  gaussian g = gaussian_make(1, 25, FLAT);
  tempera_draws *draws = gaussian_draws(&g, GIBBS, 16, 4, 2500);
  tempera_summary *s = summarise(draws);
  print_message("%s\n", s->verdict);
  assert_true(s->reliable);
  assert_non_null(strstr(s->verdict, "Reliable: "));
  assert_int_equal(s->warning_count, 0);
  assert_true(s->round_trips > 20);
  s->round_trips = 3;
  assert_int_equal(tm_estimate_verdict(s, NULL), TEMPERA_OK);
  assert_false(s->reliable);
  assert_non_null(strstr(s->verdict, "round trips"));
  s->round_trips = 300;
  tempera_level levels[] = {{.tau = 0.1, .rejection = 0.97},
                            {.tau = 1, .rejection = NAN}};
  s->levels = levels;
  s->level_count = 2;
  assert_int_equal(tm_estimate_verdict(s, NULL), TEMPERA_OK);
  assert_false(s->reliable);
  assert_non_null(strstr(s->verdict, "hardly exchange"));
  s->levels = NULL;
  s->level_count = 0;
  s->values[0].rhat = 1.3;
  assert_int_equal(tm_estimate_verdict(s, NULL), TEMPERA_OK);
  assert_false(s->reliable);
  tempera_summary_free(s);
  tm_draws_free(draws);
}

/* Between good and too little the run stands, and says what is rough. */
static void verdict_and_warnings_agree_on_the_mixing(void **state) {
  (void)state;
  static const struct {
    double rhat, ess;
    bool reliable;
    const char *warning, *verdict; /* NULL: nothing about it */
  } cases[] = {
      {1.005, 500, true, NULL, NULL},
      {1.005, 250, true, "is 250 (it should be above 400): means and quantiles",
       "Means and quantiles of the parameters are rough."},
      {1.03, 500, true, "is 1.030 (it should be below 1.01): means and",
       "Means and quantiles of the parameters are rough."},
      {1.005, 60, false, "is 60 (it should be above 400): too few",
       "too few effective draws"},
      {1.3, 500, false,
       "is 1.300 (it should be below 1.01): the chains disagree",
       "the chains have not mixed"},
  };
  gaussian g = gaussian_make(1, 25, FLAT);
  tempera_draws *draws = gaussian_draws(&g, GIBBS, 16, 4, 2500);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    tempera_summary *s = summarise(draws);
    s->values[0].rhat = cases[i].rhat;
    s->values[0].ess_bulk = cases[i].ess;
    assert_int_equal(tm_estimate_verdict(s, NULL), TEMPERA_OK);
    assert_true(s->reliable == cases[i].reliable);
    assert_int_equal(s->warning_count, cases[i].warning ? 1 : 0);
    if (cases[i].warning)
      assert_non_null(strstr(s->warnings[0], cases[i].warning));
    assert_non_null(strstr(s->verdict, cases[i].verdict ? cases[i].verdict
                                                        : "checks agree."));
    assert_true(cases[i].verdict || !strstr(s->verdict, "rough"));
    tempera_summary_free(s);
  }
  tm_draws_free(draws);
}

static void an_improper_prior_has_no_evidence(void **state) {
  (void)state;
  gaussian g = gaussian_make(1, 25, FLAT);
  tempera_draws *draws = gaussian_draws(&g, GIBBS, 17, 4, 2500);
  draws->evidence = false;
  tempera_summary *s = summarise(draws);
  assert_null(s->estimator);
  assert_int_equal(s->estimate_count, 0);
  assert_true(isnan(s->log_z) && isnan(s->se) && isnan(s->lower));
  assert_true(s->barrier > 0.5 && s->curve_count > 0 && s->round_trips > 10);
  assert_true(s->values[0].rhat < 1.01);
  double log_z, se;
  tm_estimate_headline(draws, &log_z, &se);
  assert_true(isnan(log_z) && isnan(se));
  tempera_summary_free(s);
  tm_draws_free(draws);
}

static void tau_bounded_below_starts_the_curve_there(void **state) {
  (void)state;
  static const double knots[] = {0.1, 0.4, 1}, height[] = {0, 1, 2};
  tempera_draws *draws = hand_made(400, false);
  tm_draws_prior prior = {3, knots, height, -INFINITY};
  assert_int_equal(tm_draws_set_prior(draws, &prior, NULL), TEMPERA_OK);
  draws->tau_min = 0.1;
  draws->evidence = false;
  for (int i = 0; i < 400; i++)
    put(draws, i % 7 * 0.3, 0.1 + 0.9 * (i % 31) / 30, 0, 0);
  tempera_summary *s = summarise(draws);
  assert_true(s->curve[0].tau == 0.1 && s->curve[0].log_z == 0);
  assert_true(s->curve[s->curve_count - 1].tau == 1);
  assert_true(s->tau_bins[0].lower == 0.1);
  tempera_summary_free(s);
  tm_draws_free(draws);
}

static void few_draws_give_nan_and_a_plain_verdict(void **state) {
  (void)state;
  gaussian g = gaussian_make(1, 25, FLAT);
  const size_t rows[] = {0, 1, 2, 3, 4, 7, 8, 9};
  for (size_t k = 0; k < 8; k++)
    for (size_t chains = 1; chains <= 4; chains += 3)
      for (int roles = 0; roles < 4; roles++) {
        tempera_draws *draws = gaussian_draws(&g, GIBBS, 18, chains, rows[k]);
        draws->has_role[TEMPERA_TARGET] = roles & 1;
        draws->has_role[TEMPERA_TEMPERED] = roles & 2;
        draws->prior.knots = k % 2 ? draws->prior.knots : 0;
        tempera_summary *s = summarise(draws);
        assert_int_equal(s->value_count, 1);
        assert_non_null(s->verdict);
        assert_false(s->reliable);
        if (rows[k] * chains < TM_FEWEST_DRAWS || !(roles & 2))
          assert_true(isnan(s->log_z) && isnan(s->se) && !s->estimator);
        if (rows[k] < 8)
          assert_true(isnan(s->values[0].rhat));
        double log_z, se;
        tm_estimate_headline(draws, &log_z, &se);
        size_t trips_made, restarts;
        assert_int_equal(
            tm_estimate_round_trips(draws, &trips_made, &restarts, NULL),
            TEMPERA_OK);
        tempera_summary_free(s);
        draws->has_role[TEMPERA_TARGET] = true;
        draws->has_role[TEMPERA_TEMPERED] = true;
        tm_draws_free(draws);
      }
}

static void draws_all_alike_do_no_harm(void **state) {
  (void)state;
  tempera_draws *draws = hand_made(200, true);
  for (int i = 0; i < 200; i++)
    put(draws, 2, 0.5, 0, 0);
  tempera_summary *s = summarise(draws);
  assert_false(s->reliable);
  assert_true(isnan(s->values[0].rhat));
  assert_close(s->values[0].mean, 2, 0);
  tempera_summary_free(s);
  tm_draws_free(draws);
}

static void fail_every_allocation(const tempera_draws *draws) {
  tempera_status status = TEMPERA_ERROR_MEMORY;
  long k = 0;
  while (status == TEMPERA_ERROR_MEMORY && k < 1000) {
    tempera_summary *s = tm_heap_alloc(1, sizeof *s);
    heap_fail_at(++k);
    status = tm_estimate_summary(draws, 1, s, NULL);
    if (status == TEMPERA_OK)
      status = tm_estimate_modes(draws, s, NULL);
    if (status == TEMPERA_OK)
      status = tm_estimate_label_findings(s, NULL);
    if (status == TEMPERA_OK)
      status = tm_estimate_verdict(s, NULL);
    heap_fail_at(0);
    tempera_summary_free(s);
  }
  assert_int_equal(status, TEMPERA_OK);
  assert_true(k > 20);
}

static void every_failed_allocation_is_reported(void **state) {
  (void)state;
  gaussian g = gaussian_make(1, 25, PROFILE);
  tempera_draws *draws = gaussian_draws(&g, HELD, 19, 2, 100);
  fail_every_allocation(draws);
  draws->width = 2; /* the same rows, as those of two walkers */
  draws->count = 50;
  fail_every_allocation(draws);
  tm_draws_free(draws);
}

/* A count that cannot be made is not a count of zero. */
static void trips_that_cannot_be_counted_are_no_number(void **state) {
  (void)state;
  gaussian g = gaussian_make(1, 25, FLAT);
  tempera_draws *draws = gaussian_draws(&g, GIBBS, 16, 2, 200);
  tm_barrier unknown = {.total = NAN};
  size_t trips_made = 77, restarts = 77;
  draws->width = 2;
  draws->count = 100;
  heap_fail_at(1);
  assert_int_equal(
      tm_trips_count(draws, &unknown, &trips_made, &restarts, NULL),
      TEMPERA_ERROR_MEMORY);
  heap_fail_at(0);
  assert_true(trips_made == 77 && restarts == 77);
  tm_draws_free(draws);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(error_of_an_autoregression_is_its_long_run_one),
      cmocka_unit_test(chains_that_disagree_widen_the_error),
      cmocka_unit_test(mixing_agrees_with_the_published_definitions),
      cmocka_unit_test(ess_of_an_autoregression_is_the_theoretical_one),
      cmocka_unit_test(rhat_sees_shifts_and_scales),
      cmocka_unit_test(
          constant_values_have_no_rhat_and_stuck_chains_a_large_one),
      cmocka_unit_test(barrier_is_its_integral),
      cmocka_unit_test(bimodal_barrier_and_evidence_are_the_known_ones),
      cmocka_unit_test(curve_follows_the_closed_form),
      cmocka_unit_test(values_are_summaries_of_the_target_draws),
      cmocka_unit_test(without_a_target_chain_values_are_weighted),
      cmocka_unit_test(round_trips_follow_theta_through_exchanges),
      cmocka_unit_test(a_prior_draw_starts_a_new_lineage),
      cmocka_unit_test(a_prior_draw_is_before_the_exchange),
      cmocka_unit_test(exchanges_between_kept_draws_are_followed),
      cmocka_unit_test(whole_values_have_probabilities),
      cmocka_unit_test(tau_bins_share_the_draws),
      cmocka_unit_test(ti_paper_has_no_error_of_zero),
      cmocka_unit_test(trips_by_few_draws_are_about_as_many),
      cmocka_unit_test(verdict_is_reliable_for_good_draws_only),
      cmocka_unit_test(verdict_and_warnings_agree_on_the_mixing),
      cmocka_unit_test(an_improper_prior_has_no_evidence),
      cmocka_unit_test(tau_bounded_below_starts_the_curve_there),
      cmocka_unit_test(few_draws_give_nan_and_a_plain_verdict),
      cmocka_unit_test(draws_all_alike_do_no_harm),
      cmocka_unit_test(every_failed_allocation_is_reported),
      cmocka_unit_test(trips_that_cannot_be_counted_are_no_number),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
