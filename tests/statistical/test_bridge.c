/* Facts about src/estimate/bridge: the evidence of models with exact answers
 * from synthetic target draws, independent or autocorrelated, and how often
 * its intervals cover. */
#include "estimate/bridge/bridge.h"
#include "estimate/estimate.h"
#include "estimate/evidence/evidence.h"
#include "estimate/findings.h"
#include "numeric/triangular.h"

#include "cmocka_all.h"
#include "failing_memory.h"

#include <math.h>
#include <stdio.h>

static const double LOG_2PI = 1.8378770664093454836;

static double log_normal(double x, double mean, double sd) {
  double z = (x - mean) / sd;
  return -0.5 * z * z - log(sd) - 0.5 * LOG_2PI;
}

/* ---- Problems: a model, its exact log Z, and draws from its posterior ----
 */

typedef struct problem problem;
struct problem {
  tempera_model *model;
  double log_z;
  /* Draw theta; `state` (16 numbers per chain, zero at first) carries what a
   * chain remembers, with correlation phi. */
  void (*draw)(const problem *p, double phi, double *state,
               tempera_random *random, double *theta);
  const void *user;
};

enum { STATE = 64 };

static double remember(double *z, double phi, tempera_random *random) {
  bool fresh = *z == 0;
  double e = tempera_random_normal(random);
  *z = fresh ? e : phi * *z + sqrt(1 - phi * phi) * e;
  return *z;
}

static tempera_model *made(const char *name, const tempera_parameter *blocks,
                           size_t count, tempera_density_fn likelihood,
                           tempera_density_fn prior, const void *user) {
  tempera_model_spec spec = {.name = name,
                             .parameters = blocks,
                             .parameter_count = count,
                             .log_likelihood = likelihood,
                             .log_prior = prior,
                             .prior_normalised = true,
                             .user = (void *)(uintptr_t)user};
  tempera_model *model = NULL;
  assert_int_equal(tempera_model_create(&spec, &model, NULL), TEMPERA_OK);
  return model;
}

static tempera_draws *drawn(const problem *p, size_t chains, size_t count,
                            double phi, uint64_t seed) {
  tempera_draws *draws = NULL;
  size_t size = p->model->size;
  assert_int_equal(
      tm_draws_create(chains, size, (const char *const *)p->model->names,
                      p->model->integer, true, false, &draws, NULL),
      TEMPERA_OK);
  assert_int_equal(tm_draws_reserve(draws, count, NULL), TEMPERA_OK);
  double theta[STATE], extra[TM_COLUMNS] = {0};
  for (size_t c = 0; c < chains; c++) {
    tempera_random random = tm_random(seed, (uint32_t)c, TM_PURPOSE_TEST);
    double state[STATE] = {0};
    state[STATE - 1] = (double)c;
    for (size_t i = 0; i < count; i++) {
      p->draw(p, phi, state, &random, theta);
      const tempera_model_spec *spec = &p->model->spec;
      spec->log_likelihood(theta, &extra[TM_LOG_LIKELIHOOD], spec->user);
      spec->log_prior(theta, &extra[TM_LOG_PRIOR], spec->user);
      tm_draws_put(draws, TEMPERA_TARGET, c, i, theta, extra);
    }
  }
  draws->count = count;
  return draws;
}

typedef struct outcome {
  tempera_estimate e;
  uint64_t evaluations;
} outcome;

static outcome estimated(const problem *p, size_t chains, size_t count,
                         double phi, uint64_t seed, size_t proposals) {
  outcome o = {0};
  tempera_error error = {0};
  tempera_draws *draws = drawn(p, chains, count, phi, seed);
  tm_bridge_settings settings = {
      .seed = seed, .threads = 1, .proposal_draws = proposals};
  tempera_status status = tm_bridge_estimate(p->model, draws, &settings, NULL,
                                             &o.e, &o.evaluations, &error);
  if (status != TEMPERA_OK)
    fail_msg("%s", error.message);
  tm_draws_free(draws);
  return o;
}

/* Within 4 standard errors at several seeds, and sharper than `sharp`. */
static void assert_right(const problem *p, double phi, double sharp) {
  for (uint64_t seed = 1; seed <= 3; seed++) {
    outcome o = estimated(p, 4, 1000, phi, seed, 0);
    print_message("%-12s phi %.1f: %9.4f +- %.4f (error %+.4f)%s%s\n",
                  p->model->spec.name, phi, o.e.log_z, o.e.se,
                  o.e.log_z - p->log_z, o.e.warning ? " " : "",
                  o.e.warning ? o.e.warning : "");
    assert_true(fabs(o.e.log_z - p->log_z) < 4 * o.e.se);
    assert_true(o.e.se < sharp);
    assert_null(o.e.warning);
    assert_true(o.e.lower < o.e.log_z && o.e.log_z < o.e.upper);
    tm_heap_free(o.e.warning);
  }
}

/* ---- Gaussian: y_j ~ N(2 (theta_j + 0.9 theta_{j-1}), 1), theta ~ N(0,1) */

enum { MOST = 20 };

typedef struct gaussian {
  size_t d;
  double y[MOST], mean[MOST];
  double factor[MOST * MOST]; /* L, posterior covariance L L' */
} gaussian;

static double design(size_t i, size_t j) {
  return i == j ? 2 : i == j + 1 ? 1.8 : 0;
}

static int gaussian_likelihood(const double *theta, double *value, void *user) {
  const gaussian *g = user;
  *value = 0;
  for (size_t i = 0; i < g->d; i++) {
    double fit = 2 * theta[i] + (i ? 1.8 * theta[i - 1] : 0);
    *value += log_normal(g->y[i], fit, 1);
  }
  return 0;
}

static int standard_prior(const double *theta, double *value, void *user) {
  const gaussian *g = user;
  *value = 0;
  for (size_t i = 0; i < g->d; i++)
    *value += log_normal(theta[i], 0, 1);
  return 0;
}

static void gaussian_draw(const problem *p, double phi, double *state,
                          tempera_random *random, double *theta) {
  const gaussian *g = p->user;
  double z[MOST];
  for (size_t j = 0; j < g->d; j++)
    z[j] = remember(&state[j], phi, random);
  tm_triangular_times(g->factor, g->d, z, theta);
  for (size_t j = 0; j < g->d; j++)
    theta[j] += g->mean[j];
}

/* log N(y; 0, I + B B'), and the posterior from precision I + B'B. */
static problem gaussian_problem(gaussian *g, size_t d) {
  double marginal[MOST * MOST], precision[MOST * MOST], work[MOST * MOST];
  double x[MOST], right[MOST] = {0};
  *g = (gaussian){.d = d};
  for (size_t i = 0; i < d; i++)
    g->y[i] = 1.5 * sin(3.0 * (double)i + 1);
  for (size_t i = 0; i < d; i++)
    for (size_t j = 0; j < d; j++) {
      marginal[i * d + j] = precision[i * d + j] = i == j;
      for (size_t k = 0; k < d; k++) {
        marginal[i * d + j] += design(i, k) * design(j, k);
        precision[i * d + j] += design(k, i) * design(k, j);
      }
      right[i] += design(j, i) * g->y[j];
    }
  assert_true(tm_cholesky(marginal, d));
  tm_cholesky_solve(marginal, d, g->y, x);
  double log_z = -0.5 * tm_dot(x, g->y, d) - 0.5 * (double)d * LOG_2PI;
  for (size_t i = 0; i < d; i++)
    log_z -= log(marginal[i * d + i]);
  /* The covariance, column by column. */
  assert_true(tm_cholesky(precision, d));
  tm_cholesky_solve(precision, d, right, g->mean);
  for (size_t j = 0; j < d; j++) {
    double unit[MOST] = {0};
    unit[j] = 1;
    tm_cholesky_solve(precision, d, unit, x);
    for (size_t i = 0; i < d; i++)
      work[i * d + j] = x[i];
  }
  memcpy(g->factor, work, d * d * sizeof(double));
  assert_true(tm_cholesky(g->factor, d));
  tempera_parameter block = {"theta",   TEMPERA_REAL, d,
                             -INFINITY, INFINITY,     TEMPERA_BOUNDS};
  return (problem){
      made("gaussian", &block, 1, gaussian_likelihood, standard_prior, g),
      log_z, gaussian_draw, g};
}

static void gaussian_in_1_5_10_and_20_dimensions(void **state) {
  (void)state;
  size_t dimensions[] = {1, 5, 10, 20};
  double sharp[] = {0.01, 0.02, 0.03, 0.05};
  for (size_t i = 0; i < 4; i++) {
    gaussian g;
    problem p = gaussian_problem(&g, dimensions[i]);
    assert_right(&p, 0, sharp[i]);
    assert_right(&p, 0.9, 3 * sharp[i]);
    tempera_model_free(p.model);
  }
}

/* ---- Two modes in 5 dimensions, weights 0.8 and 0.2; log Z = -3.5 ---- */

enum { FIVE = 5 };

static double two_mode_density(const double *theta) {
  double a = log(0.8), b = log(0.2);
  for (size_t j = 0; j < FIVE; j++) {
    a += log_normal(theta[j], -2 + 0.1 * (double)j, 0.5);
    b += log_normal(theta[j], 2, 0.3 + 0.1 * (double)j);
  }
  return fmax(a, b) + log1p(exp(-fabs(a - b)));
}

static int wide_prior(const double *theta, double *value, void *user) {
  (void)user;
  *value = 0;
  for (size_t j = 0; j < FIVE; j++)
    *value += log_normal(theta[j], 0, 5);
  return 0;
}

static int two_mode_likelihood(const double *theta, double *value, void *user) {
  double prior;
  wide_prior(theta, &prior, user);
  *value = two_mode_density(theta) - prior - 3.5;
  return 0;
}

/* The mode is redrawn with probability 1 - phi; state[62] is 1 or 2. */
static void two_mode_draw(const problem *p, double phi, double *state,
                          tempera_random *random, double *theta) {
  double *mode = &state[STATE - 2];
  (void)p;
  if (*mode == 0 || tempera_random_uniform(random) > phi)
    *mode = tempera_random_uniform(random) < 0.8 ? 1 : 2;
  for (size_t j = 0; j < FIVE; j++) {
    double z = remember(&state[j], phi, random);
    theta[j] = *mode == 1 ? -2 + 0.1 * (double)j + 0.5 * z
                          : 2 + (0.3 + 0.1 * (double)j) * z;
  }
}

static problem two_mode_problem(void) {
  tempera_parameter block = {"theta",   TEMPERA_REAL, FIVE,
                             -INFINITY, INFINITY,     TEMPERA_BOUNDS};
  return (problem){
      made("two modes", &block, 1, two_mode_likelihood, wide_prior, NULL), -3.5,
      two_mode_draw, NULL};
}

static void two_modes_of_unequal_weight(void **state) {
  (void)state;
  problem p = two_mode_problem();
  assert_right(&p, 0, 0.03);
  assert_right(&p, 0.9, 0.1);
  tempera_model_free(p.model);
}

/* Half of the chains sit in each mode, though one weighs 0.8. */
static void stuck_draw(const problem *p, double phi, double *state,
                       tempera_random *random, double *theta) {
  state[STATE - 2] = state[STATE - 1] < 2 ? 1 : 2;
  two_mode_draw(p, phi < 1 ? 1 - 1e-300 : phi, state, random, theta);
  for (size_t j = 0; j < FIVE; j++)
    state[j] = 0; /* independent within its mode */
}

static void chains_stuck_in_modes_raise_a_warning(void **state) {
  (void)state;
  problem p = two_mode_problem();
  p.draw = stuck_draw;
  outcome o = estimated(&p, 4, 500, 0, 1, 0);
  assert_non_null(o.e.warning);
  assert_non_null(strstr(o.e.warning, "chains disagree"));
  assert_true(fabs(o.e.log_z - p.log_z) < 4 * o.e.se);
  tm_heap_free(o.e.warning);
  tempera_model_free(p.model);
}

/* A run's headline where the tempered chain says `log_z` +- 0.1. */
static tempera_summary judged(const problem *p, double log_z) {
  tempera_summary s = {.tau_bin_count = 1, .round_trips = 1000};
  tempera_draws *draws = drawn(p, 4, 1000, 0, 1);
  uint64_t evaluations;
  assert_int_equal(tm_estimates_reserve(&s, NULL), TEMPERA_OK);
  s.estimates[s.estimate_count++] =
      (tempera_estimate){.name = "rb", .log_z = log_z, .se = 0.1};
  assert_int_equal(tm_estimate_take(&s, &s.estimates[0], NULL), TEMPERA_OK);
  assert_int_equal(tm_estimate_add_bridge(p->model, draws,
                                          &(tm_bridge_settings){.seed = 1}, &s,
                                          &evaluations, NULL),
                   TEMPERA_OK);
  tm_draws_free(draws);
  return s;
}

static void forget(tempera_summary *s) {
  tm_heap_free(s->estimates[1].warning);
  tm_heap_free(s->estimates);
  tm_heap_free(s->estimator);
  tm_findings_free(s);
}

/* Bridge is the headline where the tempered chain agrees; where it does not,
 * the error reaches from one to the other. */
static void the_headline_covers_what_contradicts_it(void **state) {
  (void)state;
  gaussian g;
  problem p = gaussian_problem(&g, 3);
  tempera_summary agreed = judged(&p, p.log_z + 0.05);
  assert_string_equal(agreed.estimator, "bridge");
  assert_true(agreed.se < 0.05);
  forget(&agreed);
  tempera_summary apart = judged(&p, p.log_z + 1);
  assert_string_equal(apart.estimator, "rb");
  assert_non_null(strstr(apart.estimates[1].warning, "disagrees with rb"));
  const tempera_finding *f = tm_finding_of(&apart, TM_FIND_ESTIMATES_APART);
  assert_true(f && fabs(f->value + 1) < 0.1 && f->limit > 0.3);
  assert_true(apart.lower < p.log_z && p.log_z + 1 < apart.upper);
  assert_true(apart.se > 0.5 && apart.se < 0.6);
  forget(&apart);
  tempera_model_free(p.model);
}

/* ---- Bounds: Gamma-Poisson and Beta-binomial ---- */

static int poisson_likelihood(const double *theta, double *value, void *user) {
  (void)user; /* counts 3, 7, 4: sum 14, sum of log y! */
  *value =
      14 * log(theta[0]) - 3 * theta[0] - lgamma(4) - lgamma(8) - lgamma(5);
  return 0;
}

static int gamma_prior(const double *theta, double *value, void *user) {
  (void)user; /* Gamma(2, rate 1/2) */
  *value = 2 * log(0.5) - lgamma(2) + log(theta[0]) - 0.5 * theta[0];
  return 0;
}

static void gamma_draw(const problem *p, double phi, double *state,
                       tempera_random *random, double *theta) {
  (void)p;
  /* Redraw or hold: repeats, as rejected proposals make them. */
  if (state[0] == 0 || tempera_random_uniform(random) > phi)
    state[0] = tempera_random_gamma(random, 16) / 3.5;
  theta[0] = state[0];
}

static void positive_parameter(void **state) {
  (void)state;
  tempera_parameter block = {"rate", TEMPERA_REAL, 0,
                             0,      INFINITY,     TEMPERA_BOUNDS};
  double log_z = 2 * log(0.5) - lgamma(2) + lgamma(16) - 16 * log(3.5) -
                 lgamma(4) - lgamma(8) - lgamma(5);
  problem p = {
      made("poisson", &block, 1, poisson_likelihood, gamma_prior, NULL), log_z,
      gamma_draw, NULL};
  assert_right(&p, 0, 0.01);
  assert_right(&p, 0.7, 0.02);
  tempera_model_free(p.model);
}

static int binomial_likelihood(const double *theta, double *value, void *user) {
  (void)user; /* 9 of 12 */
  *value = lgamma(13) - lgamma(10) - lgamma(4) + 9 * log(theta[0]) +
           3 * log1p(-theta[0]);
  return 0;
}

static int flat_prior(const double *theta, double *value, void *user) {
  (void)theta;
  (void)user;
  *value = 0;
  return 0;
}

static void beta_draw(const problem *p, double phi, double *state,
                      tempera_random *random, double *theta) {
  (void)p;
  (void)phi;
  (void)state;
  theta[0] = tempera_random_beta(random, 10, 4);
}

static void probability_between_bounds(void **state) {
  (void)state;
  tempera_parameter block = {"p", TEMPERA_REAL, 0, 0, 1, TEMPERA_BOUNDS};
  problem p = {
      made("binomial", &block, 1, binomial_likelihood, flat_prior, NULL),
      -log(13), beta_draw, NULL};
  assert_right(&p, 0, 0.01);
  tempera_model_free(p.model);
}

/* ---- Simplex: Dirichlet(1,1,1,1) and counts 12, 3, 0, 7 ---- */

static const double counts[4] = {12, 3, 0, 7};

static int multinomial_likelihood(const double *theta, double *value,
                                  void *user) {
  (void)user;
  *value = lgamma(23);
  for (size_t k = 0; k < 4; k++)
    *value +=
        (counts[k] > 0 ? counts[k] * log(theta[k]) : 0) - lgamma(counts[k] + 1);
  return 0;
}

static int dirichlet_prior(const double *theta, double *value, void *user) {
  (void)theta;
  (void)user;
  *value = lgamma(4);
  return 0;
}

static void dirichlet_draw(const problem *p, double phi, double *state,
                           tempera_random *random, double *theta) {
  double sum = 0;
  (void)p;
  (void)phi;
  (void)state;
  for (size_t k = 0; k < 4; k++)
    sum += theta[k] = tempera_random_gamma(random, counts[k] + 1);
  for (size_t k = 0; k < 4; k++)
    theta[k] /= sum;
}

static void simplex(void **state) {
  (void)state;
  tempera_parameter block = {"p", TEMPERA_REAL, 4, 0, 1, TEMPERA_SIMPLEX};
  /* All ordered counts are equally likely: 22 over 4 parts. */
  double log_z = lgamma(4) + lgamma(23) - lgamma(26);
  problem p = {made("multinomial", &block, 1, multinomial_likelihood,
                    dirichlet_prior, NULL),
               log_z, dirichlet_draw, NULL};
  assert_right(&p, 0, 0.02);
  tempera_model_free(p.model);
}

/* ---- Integer and real: k ~ Poisson(4), x ~ N(k, 1), y = 6 ~ N(x, 1/2) --- */

static int integer_likelihood(const double *theta, double *value, void *user) {
  (void)user;
  *value = log_normal(6, theta[1], 0.5);
  return 0;
}

static int integer_prior(const double *theta, double *value, void *user) {
  double k = theta[0];
  (void)user;
  *value = k * log(4) - 4 - lgamma(k + 1) + log_normal(theta[1], k, 1);
  return 0;
}

static double integer_term(int k) {
  return exp(k * log(4) - 4 - lgamma(k + 1.0) + log_normal(6, k, sqrt(1.25)));
}

static void integer_draw(const problem *p, double phi, double *state,
                         tempera_random *random, double *theta) {
  double left = tempera_random_uniform(random) * exp(p->log_z);
  (void)phi;
  (void)state;
  int k = 0;
  while (k < 60 && (left -= integer_term(k)) > 0)
    k++;
  theta[0] = k;
  theta[1] = (k + 6 / 0.25) / 5 + sqrt(0.2) * tempera_random_normal(random);
}

static void integer_and_real(void **state) {
  (void)state;
  tempera_parameter blocks[] = {
      {"k", TEMPERA_INTEGER, 0, 0, INFINITY, TEMPERA_BOUNDS},
      {"x", TEMPERA_REAL, 0, -INFINITY, INFINITY, TEMPERA_BOUNDS}};
  double sum = 0;
  for (int k = 0; k < 60; k++)
    sum += integer_term(k);
  problem p = {
      made("integer", blocks, 2, integer_likelihood, integer_prior, NULL),
      log(sum), integer_draw, NULL};
  assert_right(&p, 0, 0.03);
  tempera_model_free(p.model);
}

/* ---- An unnormalised prior: half-normal without its constant ---- */

static int half_normal_prior(const double *theta, double *value, void *user) {
  (void)user;
  *value = -0.5 * theta[0] * theta[0];
  return 0;
}

static int half_normal_likelihood(const double *theta, double *value,
                                  void *user) {
  (void)user;
  *value = log_normal(0.7, theta[0], 0.5);
  return 0;
}

static int half_normal_prior_draw(tempera_random *random, double *theta,
                                  void *user) {
  (void)user;
  theta[0] = fabs(tempera_random_normal(random));
  return 0;
}

static void half_normal_draw(const problem *p, double phi, double *state,
                             tempera_random *random, double *theta) {
  (void)p;
  (void)phi;
  (void)state;
  do /* posterior N(0.56, 0.2) cut to positive values */
    theta[0] = 0.56 + sqrt(0.2) * tempera_random_normal(random);
  while (theta[0] <= 0);
}

static problem half_normal_problem(bool with_draw, bool normalised) {
  tempera_parameter block = {"x", TEMPERA_REAL, 0, 0, INFINITY, TEMPERA_BOUNDS};
  tempera_model_spec spec = {.name = "half-normal",
                             .parameters = &block,
                             .parameter_count = 1,
                             .log_likelihood = half_normal_likelihood,
                             .log_prior = half_normal_prior,
                             .prior_normalised = normalised};
  if (with_draw)
    spec.prior_draw = half_normal_prior_draw;
  problem p = {.draw = half_normal_draw};
  assert_int_equal(tempera_model_create(&spec, &p.model, NULL), TEMPERA_OK);
  p.log_z = log(2) + log_normal(0.7, 0, sqrt(1.25)) +
            log(0.5 * erfc(-0.56 / sqrt(0.4)));
  return p;
}

static void unnormalised_prior_is_divided_out(void **state) {
  (void)state;
  problem p = half_normal_problem(true, false);
  assert_right(&p, 0, 0.02);
  outcome o = estimated(&p, 4, 1000, 0, 1, 300);
  assert_int_equal(o.evaluations, 600); /* none for the prior */
  tempera_model_free(p.model);
}

static void unknown_prior_mass_gives_no_estimate_but_a_reason(void **state) {
  (void)state;
  problem p = half_normal_problem(false, false);
  outcome o = estimated(&p, 4, 100, 0, 1, 0);
  assert_true(isnan(o.e.log_z) && isnan(o.e.se) && isnan(o.e.lower));
  assert_non_null(strstr(o.e.warning, "integral is not known"));
  assert_string_equal(o.e.name, "bridge");
  assert_int_equal(o.evaluations, 0);
  tm_heap_free(o.e.warning);
  tempera_model_free(p.model);
  p = half_normal_problem(true, false);
  o = estimated(&p, 1, 10, 0, 1, 0);
  assert_true(isnan(o.e.log_z));
  assert_non_null(strstr(o.e.warning, "too few"));
  tm_heap_free(o.e.warning);
  tempera_model_free(p.model);
}

/* ---- Exchangeable labels ---- */

enum { K = 3 };
static const double label_mean[K] = {-3, 0, 2};
static const double label_shape[K] = {20, 8, 12};

static double labelled_density(const double *theta, const size_t *order) {
  double sum = lgamma(40);
  for (size_t k = 0; k < K; k++) {
    size_t j = order[k];
    sum += log_normal(theta[k], label_mean[j], 0.4) +
           (label_shape[j] - 1) * log(theta[K + k]) - lgamma(label_shape[j]);
  }
  return sum;
}

static int label_prior(const double *theta, double *value, void *user) {
  (void)user;
  *value = lgamma(K); /* uniform weights */
  for (size_t k = 0; k < K; k++)
    *value += log_normal(theta[k], 0, 5);
  return 0;
}

/* (1/6) sum over the orders of a density, so that L pi integrates to e^-7. */
static int label_likelihood(const double *theta, double *value, void *user) {
  static const size_t orders[6][K] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                      {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
  double terms[6], most = -INFINITY, sum = 0, prior;
  for (size_t i = 0; i < 6; i++)
    most = fmax(most, terms[i] = labelled_density(theta, orders[i]));
  for (size_t i = 0; i < 6; i++)
    sum += exp(terms[i] - most);
  label_prior(theta, &prior, user);
  *value = most + log(sum / 6) - prior - 7;
  return 0;
}

/* Only ever one labelling. */
static void label_draw(const problem *p, double phi, double *state,
                       tempera_random *random, double *theta) {
  double sum = 0;
  (void)p;
  for (size_t k = 0; k < K; k++) {
    theta[k] = label_mean[k] + 0.4 * remember(&state[k], phi, random);
    sum += theta[K + k] = tempera_random_gamma(random, label_shape[k]);
  }
  for (size_t k = 0; k < K; k++)
    theta[K + k] /= sum;
}

static void one_labelling_gives_the_evidence_of_all(void **state) {
  (void)state;
  tempera_parameter blocks[] = {
      {"mu", TEMPERA_REAL, K, -INFINITY, INFINITY, TEMPERA_BOUNDS},
      {"p", TEMPERA_REAL, K, 0, 1, TEMPERA_SIMPLEX}};
  problem p = {made("labels", blocks, 2, label_likelihood, label_prior, NULL),
               -7, label_draw, NULL};
  assert_right(&p, 0, 0.03);
  assert_right(&p, 0.8, 0.05);
  tempera_model_free(p.model);
}

/* One mode that is symmetric in its coordinates. */
static int symmetric_likelihood(const double *theta, double *value,
                                void *user) {
  (void)user;
  *value = 0;
  for (size_t j = 0; j < FIVE; j++)
    *value += log_normal(1, theta[j], 0.5);
  return 0;
}

static void symmetric_draw(const problem *p, double phi, double *state,
                           tempera_random *random, double *theta) {
  double precision = 1 / 25.0 + 4;
  (void)p;
  for (size_t j = 0; j < FIVE; j++)
    theta[j] =
        4 / precision + remember(&state[j], phi, random) / sqrt(precision);
}

static problem symmetric_problem(void) {
  tempera_parameter block = {"theta",   TEMPERA_REAL, FIVE,
                             -INFINITY, INFINITY,     TEMPERA_BOUNDS};
  return (problem){
      made("symmetric", &block, 1, symmetric_likelihood, wide_prior, NULL),
      FIVE * log_normal(1, 0, sqrt(25.25)), symmetric_draw, NULL};
}

/* Two modes in which all coordinates are alike; log Z = -2. */
static int alike_modes_likelihood(const double *theta, double *value,
                                  void *user) {
  double a = log(0.8), b = log(0.2), prior;
  for (size_t j = 0; j < FIVE; j++) {
    a += log_normal(theta[j], -2, 0.3);
    b += log_normal(theta[j], 2, 0.5);
  }
  wide_prior(theta, &prior, user);
  *value = fmax(a, b) + log1p(exp(-fabs(a - b))) - prior - 2;
  return 0;
}

static void alike_modes_draw(const problem *p, double phi, double *state,
                             tempera_random *random, double *theta) {
  double *mode = &state[STATE - 2];
  (void)p;
  if (*mode == 0 || tempera_random_uniform(random) > phi)
    *mode = tempera_random_uniform(random) < 0.8 ? 1 : 2;
  for (size_t j = 0; j < FIVE; j++)
    theta[j] = (*mode == 1 ? -2 : 2) +
               (*mode == 1 ? 0.3 : 0.5) * remember(&state[j], phi, random);
}

static problem alike_modes_problem(void) {
  tempera_parameter block = {"theta",   TEMPERA_REAL, FIVE,
                             -INFINITY, INFINITY,     TEMPERA_BOUNDS};
  return (problem){
      made("alike modes", &block, 1, alike_modes_likelihood, wide_prior, NULL),
      -2, alike_modes_draw, NULL};
}

static void symmetric_single_mode_is_not_multiplied(void **state) {
  (void)state;
  problem p = symmetric_problem();
  /* As sharp as without symmetry: no error of a cut that is not made. */
  assert_right(&p, 0, 0.004);
  tempera_model_free(p.model);
}

/* ---- Cost, seeds and error bars ---- */

static void evaluations_are_as_asked_and_seeds_repeat(void **state) {
  (void)state;
  problem p = two_mode_problem();
  outcome a = estimated(&p, 4, 500, 0.5, 9, 250);
  outcome b = estimated(&p, 4, 500, 0.5, 9, 250);
  assert_true(a.e.log_z == b.e.log_z && a.e.se == b.e.se);
  /* Two halves, and one draw, as it is and permuted, that shows theta not to be
   * exchangeable. */
  assert_int_equal(a.evaluations, 502);
  tempera_model_free(p.model);
}

static size_t covered(const problem *p, double phi) {
  size_t hits = 0;
  double squares = 0, variances = 0;
  for (uint64_t seed = 1; seed <= 200; seed++) {
    outcome o = estimated(p, 4, 500, phi, seed, 500);
    hits += o.e.lower <= p->log_z && p->log_z <= o.e.upper;
    squares += pow(o.e.log_z - p->log_z, 2);
    variances += o.e.se * o.e.se;
    tm_heap_free(o.e.warning);
  }
  print_message("%s phi %.1f: %zu of 200 cover; rms error %.4f, claimed "
                "%.4f\n",
                p->model->spec.name, phi, hits, sqrt(squares / 200),
                sqrt(variances / 200));
  return hits;
}

/* With phi = 0 it was 187 and 194: left out to keep this short. In the last two
 * draws are moved to random copies. */
static void intervals_cover_95_percent(void **state) {
  (void)state;
  gaussian g;
  problem problems[] = {gaussian_problem(&g, 10), two_mode_problem(),
                        symmetric_problem(), alike_modes_problem()};
  for (size_t i = 0; i < sizeof problems / sizeof *problems; i++) {
    assert_in_range(covered(&problems[i], 0.8), 180, 197);
    tempera_model_free(problems[i].model);
  }
}

/* No allocation may fail unnoticed, leak or crash. */
static void failed_allocations_are_reported(void **state) {
  (void)state;
  problem p = half_normal_problem(true, false);
  tempera_draws *draws = drawn(&p, 2, 40, 0, 1);
  tm_bridge_settings settings = {.seed = 1, .threads = 1, .proposal_draws = 20};
  bool done = false;
  long k = 1;
  for (; !done; k++) {
    tempera_estimate e;
    uint64_t evaluations;
    tempera_error error = {0};
    heap_fail_at(k);
    tempera_status status = tm_bridge_estimate(p.model, draws, &settings, NULL,
                                               &e, &evaluations, &error);
    done = status == TEMPERA_OK;
    heap_fail_at(0);
    if (done)
      tm_heap_free(e.warning);
    else
      assert_int_equal(status, TEMPERA_ERROR_MEMORY);
  }
  assert_true(k > 10);
  tm_draws_free(draws);
  tempera_model_free(p.model);
}

/* ---- Integers alone: (j, k) with j ~ Binomial(6, 1/2), k ~ Poisson(3) ---- */

static int pair_likelihood(const double *theta, double *value, void *user) {
  (void)user;
  *value = log_normal(7, theta[0] + theta[1], 2);
  return 0;
}

static int pair_prior(const double *theta, double *value, void *user) {
  double j = theta[0], k = theta[1];
  (void)user;
  *value = lgamma(7) - lgamma(j + 1) - lgamma(7 - j) - 6 * log(2) + k * log(3) -
           3 - lgamma(k + 1);
  return 0;
}

static double pair_term(int i) {
  double theta[2] = {i % 7, i / 7}, likelihood, prior;
  pair_likelihood(theta, &likelihood, NULL);
  pair_prior(theta, &prior, NULL);
  return exp(likelihood + prior);
}

static void pair_draw(const problem *p, double phi, double *state,
                      tempera_random *random, double *theta) {
  double left = tempera_random_uniform(random) * exp(p->log_z);
  (void)phi;
  (void)state;
  int i = 0;
  while (i < 7 * 40 && (left -= pair_term(i)) > 0)
    i++;
  theta[0] = i % 7;
  theta[1] = i / 7;
}

static void integers_alone(void **state) {
  (void)state;
  tempera_parameter blocks[] = {
      {"j", TEMPERA_INTEGER, 0, 0, 6, TEMPERA_BOUNDS},
      {"k", TEMPERA_INTEGER, 0, 0, INFINITY, TEMPERA_BOUNDS}};
  double sum = 0;
  for (int i = 0; i < 7 * 40; i++)
    sum += pair_term(i);
  problem p = {made("integers", blocks, 2, pair_likelihood, pair_prior, NULL),
               log(sum), pair_draw, NULL};
  assert_right(&p, 0, 0.03);
  tempera_model_free(p.model);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_headline_covers_what_contradicts_it),
      cmocka_unit_test(gaussian_in_1_5_10_and_20_dimensions),
      cmocka_unit_test(two_modes_of_unequal_weight),
      cmocka_unit_test(chains_stuck_in_modes_raise_a_warning),
      cmocka_unit_test(positive_parameter),
      cmocka_unit_test(probability_between_bounds),
      cmocka_unit_test(simplex),
      cmocka_unit_test(integer_and_real),
      cmocka_unit_test(unnormalised_prior_is_divided_out),
      cmocka_unit_test(unknown_prior_mass_gives_no_estimate_but_a_reason),
      cmocka_unit_test(one_labelling_gives_the_evidence_of_all),
      cmocka_unit_test(symmetric_single_mode_is_not_multiplied),
      cmocka_unit_test(evaluations_are_as_asked_and_seeds_repeat),
      cmocka_unit_test(integers_alone),
      cmocka_unit_test(failed_allocations_are_reported),
      cmocka_unit_test(intervals_cover_95_percent),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
