/* gaussian_draws.h - draws whose evidence is known in closed form, for tests
 * of estimators without any sampler.
 *
 * theta has d independent coordinates with prior N(0, 1), each with n data of
 * mean m and unit variance: with a = n tau, theta | tau is normal with
 * precision 1 + a and mean a m/(1 + a), and
 *   log z(tau) = d (tau c - log(1 + a)/2 - m^2 a/(1 + a)/2).
 * A share q of the prior may have L = 0 besides. */
#ifndef TM_TESTS_GAUSSIAN_DRAWS_H
#define TM_TESTS_GAUSSIAN_DRAWS_H

#include "base/random.h"
#include "draws/draws.h"
#include "numeric/loglinear.h"

#include "cmocka_all.h"

#include <math.h>

enum { PRIOR_KNOTS = 61, FINE = 4001 };

typedef enum tau_law {
  FLAT,    /* log P = -log z on the knots */
  PROFILE, /* log P = -s on the knots: the paper's */
} tau_law;

typedef enum way {
  INDEPENDENT, /* (theta, tau) from its exact joint law */
  GIBBS,       /* theta | tau, then tau | theta: correlated */
  HELD, /* theta | tau, then a uniform proposal for tau, often rejected */
} way;

typedef struct gaussian {
  double d, n, mean, constant; /* constant: of l per coordinate, at most */
  double zero;                 /* prior mass where L = 0 */
  tau_law law;
  double log_atom;
  double tau_limit; /* the sampler never goes above; 1 to be right */
  /* filled by gaussian_ready */
  double knot[PRIOR_KNOTS], log_prior[PRIOR_KNOTS];
  double fine[FINE], cumulative[FINE]; /* of the tau marginal, off the atom */
  double atom_share;
} gaussian;

static inline double gaussian_log_z(const gaussian *g, double tau) {
  double a = g->n * tau;
  return g->d * (tau * g->constant - log1p(a) / 2 -
                 g->mean * g->mean * a / (1 + a) / 2);
}

static inline double gaussian_truth(const gaussian *g) {
  return gaussian_log_z(g, 1) + log1p(-g->zero);
}

static inline double gaussian_ridge(const gaussian *g, double tau) {
  double a = g->n * tau;
  return g->d * (tau * g->constant - g->mean * g->mean * a / (1 + a) / 2 -
                 log(2 * M_PI) / 2);
}

static inline tm_loglinear gaussian_prior(const gaussian *g) {
  return (tm_loglinear){PRIOR_KNOTS, g->knot, g->log_prior, g->log_atom};
}

static inline void gaussian_ready(gaussian *g) {
  for (int k = 0; k < PRIOR_KNOTS; k++) {
    double tau = g->knot[k] = pow(k / (PRIOR_KNOTS - 1.0), 4);
    g->log_prior[k] =
        g->law == FLAT ? -gaussian_log_z(g, tau) : -gaussian_ridge(g, tau);
  }
  tm_loglinear prior = gaussian_prior(g);
  double most = -INFINITY, height[FINE];
  for (int k = 0; k < FINE; k++) {
    g->fine[k] = pow(k / (FINE - 1.0), 3) * g->tau_limit;
    height[k] = tm_loglinear_at(&prior, g->fine[k]) +
                gaussian_log_z(g, g->fine[k]) + log1p(-g->zero);
    most = fmax(most, height[k]);
  }
  g->cumulative[0] = 0;
  for (int k = 1; k < FINE; k++)
    g->cumulative[k] =
        g->cumulative[k - 1] + (g->fine[k] - g->fine[k - 1]) *
                                   exp((height[k] + height[k - 1]) / 2 - most);
  double atom = exp(g->log_atom - most), total = g->cumulative[FINE - 1];
  g->atom_share = atom / (atom + total);
  for (int k = 0; k < FINE; k++)
    g->cumulative[k] /= total;
}

static inline double gaussian_tau(const gaussian *g, tempera_random *r) {
  if (tempera_random_uniform(r) < g->atom_share)
    return 0;
  double u = tempera_random_uniform(r);
  int low = 0, high = FINE - 1;
  while (high - low > 1) {
    int middle = (low + high) / 2;
    *(g->cumulative[middle] <= u ? &low : &high) = middle;
  }
  double share =
      (u - g->cumulative[low]) / (g->cumulative[high] - g->cumulative[low]);
  return g->fine[low] + share * (g->fine[high] - g->fine[low]);
}

/* theta at tau: its first coordinate, log likelihood and log prior. */
static inline double gaussian_theta(const gaussian *g, double tau,
                                    tempera_random *r, double *l,
                                    double *log_prior) {
  double a = g->n * tau, first = 0;
  *l = *log_prior = 0;
  for (int j = 0; j < (int)g->d; j++) {
    double theta =
        a * g->mean / (1 + a) + tempera_random_normal(r) / sqrt(1 + a);
    double off = theta - g->mean;
    *l += g->constant - g->n / 2 * off * off;
    *log_prior -= theta * theta / 2 + log(2 * M_PI) / 2;
    first = j ? first : theta;
  }
  bool prior = tau == 0 && g->log_atom > -INFINITY;
  if (prior && tempera_random_uniform(r) < g->zero)
    *l = -INFINITY;
  return first;
}

/* One step of tau given l, for the correlated ways. */
static inline double gaussian_next_tau(const gaussian *g, way how, double tau,
                                       double l, tempera_random *r,
                                       double *accept) {
  tm_loglinear prior = gaussian_prior(g);
  double work[2 * PRIOR_KNOTS], u = tempera_random_uniform(r);
  double v = tempera_random_uniform(r);
  *accept = 1;
  if (how == GIBBS)
    return tm_loglinear_draw(&prior, l, u, v, work);
  double ratio =
      (v - tau) * l + tm_loglinear_at(&prior, v) - tm_loglinear_at(&prior, tau);
  *accept = fmin(1, exp(ratio));
  return log(u) < ratio ? v : tau;
}

static inline tempera_draws *gaussian_empty(const gaussian *g, size_t chains,
                                            size_t rows) {
  static const char *const names[] = {"theta"};
  static const bool integer[] = {false};
  tempera_draws *draws;
  tm_draws_prior prior = {PRIOR_KNOTS, g->knot, g->log_prior, g->log_atom};
  assert_int_equal(
      tm_draws_create(chains, 1, names, integer, true, true, &draws, NULL),
      TEMPERA_OK);
  assert_int_equal(tm_draws_reserve(draws, rows, NULL), TEMPERA_OK);
  assert_int_equal(tm_draws_set_prior(draws, &prior, NULL), TEMPERA_OK);
  return draws;
}

/* A chain of tempered draws beside independent target draws. */
static inline void gaussian_chain(const gaussian *g, tempera_draws *draws,
                                  way how, uint64_t seed, size_t chain,
                                  size_t rows) {
  tempera_random r = tm_random(seed, (uint32_t)chain, TM_PURPOSE_TEST);
  double tau = gaussian_tau(g, &r);
  for (size_t i = 0; i < rows; i++) {
    double extra[TM_COLUMNS] = {0}, theta;
    if (how == INDEPENDENT)
      tau = gaussian_tau(g, &r);
    theta = gaussian_theta(g, tau, &r, &extra[TM_LOG_LIKELIHOOD],
                           &extra[TM_LOG_PRIOR]);
    extra[TM_TAU_ACCEPT] = NAN;
    if (how != INDEPENDENT)
      tau = gaussian_next_tau(g, how, tau, extra[TM_LOG_LIKELIHOOD], &r,
                              &extra[TM_TAU_ACCEPT]);
    extra[TM_TAU] = tau;
    extra[TM_ACCEPT] = 1;
    tm_draws_put(draws, TEMPERA_TEMPERED, chain, i, &theta, extra);
    theta = gaussian_theta(g, 1, &r, &extra[TM_LOG_LIKELIHOOD],
                           &extra[TM_LOG_PRIOR]);
    extra[TM_TAU] = 1;
    tm_draws_put(draws, TEMPERA_TARGET, chain, i, &theta, extra);
  }
}

static inline tempera_draws *gaussian_draws(const gaussian *g, way how,
                                            uint64_t seed, size_t chains,
                                            size_t rows) {
  tempera_draws *draws = gaussian_empty(g, chains, rows);
  for (size_t c = 0; c < chains; c++)
    gaussian_chain(g, draws, how, seed, c, rows);
  draws->count = rows;
  if (g->zero > 0 && g->log_atom == -INFINITY) {
    tempera_random r = tm_random(seed, 1000, TM_PURPOSE_TEST);
    draws->prior_draws = 4000;
    draws->prior_zero = (size_t)tempera_random_binomial(&r, 4000, g->zero);
  }
  return draws;
}

static inline gaussian gaussian_make(double d, double n, tau_law law) {
  gaussian g = {.d = d,
                .n = n,
                .mean = 0.8,
                .constant = -1.4 * n,
                .law = law,
                .log_atom = -INFINITY,
                .tau_limit = 1};
  gaussian_ready(&g);
  return g;
}

#endif
