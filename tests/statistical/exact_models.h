/* exact_models.h - models whose tempered posteriors exp(tau*l) pi are known
 * in closed form at every tau: they can be drawn exactly, and a point of them
 * turned into independent uniforms (Rosenblatt's transform, randomised for
 * integers), so that one test of uniformity serves them all. */
#ifndef TM_TESTS_EXACT_MODELS_H
#define TM_TESTS_EXACT_MODELS_H

#include "base/random.h"

#include <gsl/gsl_cdf.h>
#include <math.h>

enum { EXACT_MOST = 3 };

typedef struct exact_model {
  tempera_model_spec spec;
  void (*draw)(double tau, tempera_random *random, double *theta);
  size_t uniform_count;
  void (*uniforms)(double tau, const double *theta, tempera_random *random,
                   double *out);
} exact_model;

/* A model's parts follow a naming habit: NAME_likelihood, NAME_prior,
 * NAME_draw, NAME_uniforms. */
#define EXACT_DENSITY(name)                                                    \
  static int name(const double *theta, double *value, void *user)

static inline double exact_square(double x) { return x * x; }

/* ---- one mean: mu ~ N(0, 1), ten observations of mean 1.5, variance 1 ---- */

EXACT_DENSITY(mean_likelihood) {
  (void)user;
  *value = -5 * exact_square(theta[0] - 1.5);
  return 0;
}

EXACT_DENSITY(mean_prior) {
  (void)user;
  *value = -0.5 * exact_square(theta[0]) - 0.5 * log(2 * M_PI);
  return 0;
}

static int mean_prior_draw(tempera_random *random, double *theta, void *user) {
  (void)user;
  theta[0] = tempera_random_normal(random);
  return 0;
}

static void mean_draw(double tau, tempera_random *random, double *theta) {
  double precision = 1 + 10 * tau;
  theta[0] =
      15 * tau / precision + tempera_random_normal(random) / sqrt(precision);
}

static void mean_uniforms(double tau, const double *theta,
                          tempera_random *random, double *out) {
  (void)random;
  double precision = 1 + 10 * tau;
  out[0] =
      gsl_cdf_ugaussian_P((theta[0] - 15 * tau / precision) * sqrt(precision));
}

static int mean_propose(double tau, double scale, const double *theta,
                        double *proposed, double *log_ratio,
                        tempera_random *random, void *user) {
  (void)tau;
  (void)user;
  proposed[0] = theta[0] + scale * tempera_random_normal(random);
  *log_ratio = 0;
  return 0;
}

/* ---- three correlated means: theta ~ N(0, I), l = -(t-m)' A (t-m) / 2,
 * A = B B'. The tempered precision is I + tau A. ---- */

static const double CORRELATED_B[3][3] = {
    {4, 0, 0}, {3.6, 1, 0}, {-2, 1.5, 0.8}};
static const double CORRELATED_M[3] = {1, -0.5, 2};

EXACT_DENSITY(correlated_likelihood) {
  (void)user;
  *value = 0;
  for (int k = 0; k < 3; k++) {
    double sum = 0;
    for (int i = 0; i < 3; i++)
      sum += CORRELATED_B[i][k] * (theta[i] - CORRELATED_M[i]);
    *value -= 0.5 * sum * sum;
  }
  return 0;
}

EXACT_DENSITY(correlated_prior) {
  (void)user;
  *value = 0;
  for (int i = 0; i < 3; i++)
    *value -= 0.5 * exact_square(theta[i]);
  return 0;
}

static int correlated_prior_draw(tempera_random *random, double *theta,
                                 void *user) {
  (void)user;
  for (int i = 0; i < 3; i++)
    theta[i] = tempera_random_normal(random);
  return 0;
}

/* L with L L' = I + tau A, and the tempered mean. */
static void correlated_law(double tau, double l[3][3], double mean[3]) {
  double a[3][3], shift[3] = {0}, y[3];
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      a[i][j] = 0;
      for (int k = 0; k < 3; k++)
        a[i][j] += tau * CORRELATED_B[i][k] * CORRELATED_B[j][k];
      shift[i] += a[i][j] * CORRELATED_M[j];
      a[i][j] += i == j;
    }
  for (int i = 0; i < 3; i++)
    for (int j = 0; j <= i; j++) {
      double sum = a[i][j];
      for (int k = 0; k < j; k++)
        sum -= l[i][k] * l[j][k];
      l[i][j] = i == j ? sqrt(sum) : sum / l[j][j];
    }
  for (int i = 0; i < 3; i++) {
    y[i] = shift[i];
    for (int k = 0; k < i; k++)
      y[i] -= l[i][k] * y[k];
    y[i] /= l[i][i];
  }
  for (int i = 2; i >= 0; i--) {
    mean[i] = y[i];
    for (int k = i + 1; k < 3; k++)
      mean[i] -= l[k][i] * mean[k];
    mean[i] /= l[i][i];
  }
}

static void correlated_draw(double tau, tempera_random *random, double *theta) {
  double l[3][3], mean[3];
  correlated_law(tau, l, mean);
  for (int i = 2; i >= 0; i--) { /* L' (theta - mean) = z */
    double sum = tempera_random_normal(random);
    for (int k = i + 1; k < 3; k++)
      sum -= l[k][i] * (theta[k] - mean[k]);
    theta[i] = mean[i] + sum / l[i][i];
  }
}

static void correlated_uniforms(double tau, const double *theta,
                                tempera_random *random, double *out) {
  (void)random;
  double l[3][3], mean[3];
  correlated_law(tau, l, mean);
  for (int i = 0; i < 3; i++) {
    double sum = 0;
    for (int k = i; k < 3; k++)
      sum += l[k][i] * (theta[k] - mean[k]);
    out[i] = gsl_cdf_ugaussian_P(sum);
  }
}

/* ---- a rate: lambda ~ Gamma(2, 1), five Poisson counts, 12 in all ---- */

EXACT_DENSITY(rate_likelihood) {
  (void)user;
  *value = 12 * log(theta[0]) - 5 * theta[0];
  return 0;
}

EXACT_DENSITY(rate_prior) {
  (void)user;
  *value = log(theta[0]) - theta[0];
  return 0;
}

static void rate_draw(double tau, tempera_random *random, double *theta) {
  theta[0] = tempera_random_gamma(random, 2 + 12 * tau) / (1 + 5 * tau);
}

static int rate_prior_draw(tempera_random *random, double *theta, void *user) {
  (void)user;
  rate_draw(0, random, theta);
  return 0;
}

static void rate_uniforms(double tau, const double *theta,
                          tempera_random *random, double *out) {
  (void)random;
  out[0] = gsl_cdf_gamma_P(theta[0], 2 + 12 * tau, 1 / (1 + 5 * tau));
}

/* A log-normal walk: its Hastings term is log(proposed / theta). */
static int rate_propose(double tau, double scale, const double *theta,
                        double *proposed, double *log_ratio,
                        tempera_random *random, void *user) {
  (void)tau;
  (void)user;
  *log_ratio = scale * tempera_random_normal(random);
  proposed[0] = theta[0] * exp(*log_ratio);
  return 0;
}

/* A walk that may leave the bounds. */
static int rate_step(double tau, double scale, const double *theta,
                     double *proposed, double *log_ratio,
                     tempera_random *random, void *user) {
  (void)tau;
  (void)user;
  proposed[0] = theta[0] + scale * tempera_random_normal(random);
  *log_ratio = 0;
  return 0;
}

/* ---- shares: p ~ Dirichlet(1.5, 2, 3), counts 3, 5, 2 ---- */

static void shares_law(double tau, double a[3]) {
  a[0] = 1.5 + 3 * tau;
  a[1] = 2 + 5 * tau;
  a[2] = 3 + 2 * tau;
}

EXACT_DENSITY(shares_likelihood) {
  (void)user;
  *value = 3 * log(theta[0]) + 5 * log(theta[1]) + 2 * log(theta[2]);
  return 0;
}

EXACT_DENSITY(shares_prior) {
  (void)user;
  *value = 0.5 * log(theta[0]) + log(theta[1]) + 2 * log(theta[2]);
  return 0;
}

static void shares_draw(double tau, tempera_random *random, double *theta) {
  double a[3], sum = 0;
  shares_law(tau, a);
  for (int i = 0; i < 3; i++)
    sum += theta[i] = tempera_random_gamma(random, a[i]);
  for (int i = 0; i < 3; i++)
    theta[i] /= sum;
}

static int shares_prior_draw(tempera_random *random, double *theta,
                             void *user) {
  (void)user;
  shares_draw(0, random, theta);
  return 0;
}

static void shares_uniforms(double tau, const double *theta,
                            tempera_random *random, double *out) {
  (void)random;
  double a[3];
  shares_law(tau, a);
  out[0] = gsl_cdf_beta_P(theta[0], a[0], a[1] + a[2]);
  out[1] = gsl_cdf_beta_P(theta[1] / (theta[1] + theta[2]), a[1], a[2]);
}

/* ---- a probability on [-1, 3]: (x+1)/4 ~ Beta(2, 1.5), 7 of 10 ---- */

EXACT_DENSITY(bounded_likelihood) {
  (void)user;
  double p = (theta[0] + 1) / 4;
  *value = 7 * log(p) + 3 * log1p(-p);
  return 0;
}

EXACT_DENSITY(bounded_prior) {
  (void)user;
  double p = (theta[0] + 1) / 4;
  *value = log(p) + 0.5 * log1p(-p);
  return 0;
}

static void bounded_draw(double tau, tempera_random *random, double *theta) {
  theta[0] = 4 * tempera_random_beta(random, 2 + 7 * tau, 1.5 + 3 * tau) - 1;
}

static int bounded_prior_draw(tempera_random *random, double *theta,
                              void *user) {
  (void)user;
  bounded_draw(0, random, theta);
  return 0;
}

static void bounded_uniforms(double tau, const double *theta,
                             tempera_random *random, double *out) {
  (void)random;
  out[0] = gsl_cdf_beta_P((theta[0] + 1) / 4, 2 + 7 * tau, 1.5 + 3 * tau);
}

/* ---- two unlike modes: x ~ N(0, 4), l = -2 (x - 3)^2 for x > 0 and
 * -(x + 2)^2 / 2 otherwise: a normal cut at 0 on either side. Unlike, since
 * symmetry would hide a move that is not reversible. ---- */

EXACT_DENSITY(modes_likelihood) {
  (void)user;
  *value = theta[0] > 0 ? -2 * exact_square(theta[0] - 3)
                        : -0.5 * exact_square(theta[0] + 2);
  return 0;
}

EXACT_DENSITY(modes_prior) {
  (void)user;
  *value = -exact_square(theta[0]) / 8;
  return 0;
}

/* The law of |x| on one side, and the mass there. */
typedef struct modes_side {
  double mean, sd, above, mass;
} modes_side;

static modes_side modes_law(double tau, bool right) {
  double sharpness = tau * (right ? 4 : 1), centre = right ? 3 : 2;
  double precision = 0.25 + sharpness, mean = sharpness * centre / precision;
  modes_side side = {.mean = mean, .sd = 1 / sqrt(precision)};
  side.above = gsl_cdf_ugaussian_Q(-mean / side.sd);
  side.mass =
      exp(0.5 * precision * mean * mean - 0.5 * sharpness * centre * centre) *
      side.sd * side.above;
  return side;
}

static void modes_draw(double tau, tempera_random *random, double *theta) {
  double masses = modes_law(tau, true).mass + modes_law(tau, false).mass;
  bool right =
      masses * tempera_random_uniform(random) < modes_law(tau, true).mass;
  modes_side side = modes_law(tau, right);
  double tail = side.above * tempera_random_uniform(random);
  double size = side.mean + side.sd * gsl_cdf_ugaussian_Qinv(tail);
  theta[0] = right ? size : -size;
}

static int modes_prior_draw(tempera_random *random, double *theta, void *user) {
  (void)user;
  theta[0] = 2 * tempera_random_normal(random);
  return 0;
}

static void modes_uniforms(double tau, const double *theta,
                           tempera_random *random, double *out) {
  (void)random;
  bool right = theta[0] > 0;
  modes_side side = modes_law(tau, right);
  double share = side.mass / (side.mass + modes_law(tau, !right).mass);
  double tail =
      gsl_cdf_ugaussian_Q((fabs(theta[0]) - side.mean) / side.sd) / side.above;
  out[0] = right ? 1 - share * tail : share * tail;
}

/* ---- a half line: x ~ N(0, 1), L = exp(-x) for x > 0, else zero ---- */

EXACT_DENSITY(half_likelihood) {
  (void)user;
  *value = theta[0] > 0 ? -theta[0] : -INFINITY;
  return 0;
}

static void half_draw(double tau, tempera_random *random, double *theta) {
  double u = tempera_random_uniform(random);
  theta[0] = tau > 0
                 ? gsl_cdf_ugaussian_Qinv(u * gsl_cdf_ugaussian_Q(tau)) - tau
                 : gsl_cdf_ugaussian_Qinv(u);
}

static void half_uniforms(double tau, const double *theta,
                          tempera_random *random, double *out) {
  (void)random;
  out[0] = gsl_cdf_ugaussian_Q(theta[0] + tau) /
           (tau > 0 ? gsl_cdf_ugaussian_Q(tau) : 1);
}

/* ---- integers, by enumeration ---- */

enum { EXACT_VALUES = 32 };

/* k from log weights; and where `k` lies among them, made continuous. */
static void enumerate(const double *log_weight, double *cumulative) {
  double most = -INFINITY, sum = 0;
  for (int k = 0; k < EXACT_VALUES; k++)
    most = fmax(most, log_weight[k]);
  for (int k = 0; k < EXACT_VALUES; k++)
    cumulative[k] = sum += exp(log_weight[k] - most);
  for (int k = 0; k < EXACT_VALUES; k++)
    cumulative[k] /= sum;
}

static double enumerated_draw(const double *log_weight,
                              tempera_random *random) {
  double cumulative[EXACT_VALUES], u = tempera_random_uniform(random);
  enumerate(log_weight, cumulative);
  int k = 0;
  while (k < EXACT_VALUES - 1 && cumulative[k] < u)
    k++;
  return k;
}

static double enumerated_uniform(const double *log_weight, double value,
                                 tempera_random *random) {
  double cumulative[EXACT_VALUES];
  enumerate(log_weight, cumulative);
  int k = (int)fmin(value, EXACT_VALUES - 1);
  double below = k > 0 ? cumulative[k - 1] : 0;
  return below + tempera_random_uniform(random) * (cumulative[k] - below);
}

static double log_poisson(double k, double mean) {
  return k * log(mean) - mean - lgamma(k + 1);
}

/* A count: k ~ Poisson(6), unbounded; l = -((k - 9) / 1.5)^2 / 2. */
EXACT_DENSITY(count_likelihood) {
  (void)user;
  *value = -0.5 * exact_square((theta[0] - 9) / 1.5);
  return 0;
}

EXACT_DENSITY(count_prior) {
  (void)user;
  *value = log_poisson(theta[0], 6);
  return 0;
}

static void count_law(double tau, double *log_weight) {
  for (int k = 0; k < EXACT_VALUES; k++)
    log_weight[k] = log_poisson(k, 6) - 0.5 * tau * exact_square((k - 9) / 1.5);
}

static void count_draw(double tau, tempera_random *random, double *theta) {
  double log_weight[EXACT_VALUES];
  count_law(tau, log_weight);
  theta[0] = enumerated_draw(log_weight, random);
}

static int count_prior_draw(tempera_random *random, double *theta, void *user) {
  (void)user;
  theta[0] = (double)tempera_random_poisson(random, 6);
  return 0;
}

static void count_uniforms(double tau, const double *theta,
                           tempera_random *random, double *out) {
  double log_weight[EXACT_VALUES];
  count_law(tau, log_weight);
  out[0] = enumerated_uniform(log_weight, theta[0], random);
}

/* k* ~ Poisson(k + 1), with its Hastings term. */
static int count_propose(double tau, double scale, const double *theta,
                         double *proposed, double *log_ratio,
                         tempera_random *random, void *user) {
  (void)tau;
  (void)scale;
  (void)user;
  proposed[0] = (double)tempera_random_poisson(random, theta[0] + 1);
  *log_ratio = log_poisson(theta[0], proposed[0] + 1) -
               log_poisson(proposed[0], theta[0] + 1);
  return 0;
}

/* A small support: k ~ Binomial(5, 0.4), l = -(k - 4)^2 and L = 0 at 2. */
static double few_log_prior(double k) {
  return lgamma(6) - lgamma(k + 1) - lgamma(6 - k) + k * log(0.4) +
         (5 - k) * log(0.6);
}

EXACT_DENSITY(few_likelihood) {
  (void)user;
  *value = theta[0] == 2 ? -INFINITY : -exact_square(theta[0] - 4);
  return 0;
}

EXACT_DENSITY(few_prior) {
  (void)user;
  *value = few_log_prior(theta[0]);
  return 0;
}

static void few_law(double tau, double *log_weight) {
  for (int k = 0; k < EXACT_VALUES; k++)
    log_weight[k] = k > 5 || (k == 2 && tau > 0)
                        ? -INFINITY
                        : few_log_prior(k) - tau * exact_square(k - 4);
}

static void few_draw(double tau, tempera_random *random, double *theta) {
  double log_weight[EXACT_VALUES];
  few_law(tau, log_weight);
  theta[0] = enumerated_draw(log_weight, random);
}

static int few_prior_draw(tempera_random *random, double *theta, void *user) {
  (void)user;
  few_draw(0, random, theta);
  return 0;
}

static void few_uniforms(double tau, const double *theta,
                         tempera_random *random, double *out) {
  double log_weight[EXACT_VALUES];
  few_law(tau, log_weight);
  out[0] = enumerated_uniform(log_weight, theta[0], random);
}

/* ---- mixed: mu ~ N(0, 1), k ~ Poisson(3), l = -2 (mu + k - 5)^2 ---- */

EXACT_DENSITY(mixed_likelihood) {
  (void)user;
  *value = -2 * exact_square(theta[0] + theta[1] - 5);
  return 0;
}

EXACT_DENSITY(mixed_prior) {
  (void)user;
  *value = -0.5 * exact_square(theta[0]) + log_poisson(theta[1], 3);
  return 0;
}

static void mixed_law(double tau, double *log_weight) {
  double shrink = 4 * tau / (1 + 4 * tau);
  for (int k = 0; k < EXACT_VALUES; k++)
    log_weight[k] = log_poisson(k, 3) - 0.5 * shrink * exact_square(5 - k);
}

static int mixed_gibbs_mu(double tau, double *theta, tempera_random *random,
                          void *user) {
  (void)user;
  double precision = 1 + 4 * tau;
  theta[0] = 4 * tau * (5 - theta[1]) / precision +
             tempera_random_normal(random) / sqrt(precision);
  return 0;
}

static int mixed_gibbs_k(double tau, double *theta, tempera_random *random,
                         void *user) {
  (void)user;
  double log_weight[EXACT_VALUES];
  for (int k = 0; k < EXACT_VALUES; k++)
    log_weight[k] =
        log_poisson(k, 3) - 2 * tau * exact_square(theta[0] + k - 5);
  theta[1] = enumerated_draw(log_weight, random);
  return 0;
}

static void mixed_draw(double tau, tempera_random *random, double *theta) {
  double log_weight[EXACT_VALUES];
  mixed_law(tau, log_weight);
  theta[1] = enumerated_draw(log_weight, random);
  mixed_gibbs_mu(tau, theta, random, NULL);
}

static int mixed_prior_draw(tempera_random *random, double *theta, void *user) {
  (void)user;
  mixed_draw(0, random, theta);
  return 0;
}

static void mixed_uniforms(double tau, const double *theta,
                           tempera_random *random, double *out) {
  double log_weight[EXACT_VALUES], precision = 1 + 4 * tau;
  mixed_law(tau, log_weight);
  out[0] = gsl_cdf_ugaussian_P(
      (theta[0] - 4 * tau * (5 - theta[1]) / precision) * sqrt(precision));
  out[1] = enumerated_uniform(log_weight, theta[1], random);
}

/* ---- the list ---- */

static const tempera_parameter EXACT_FREE[] = {
    {"x", TEMPERA_REAL, 0, -INFINITY, INFINITY, TEMPERA_BOUNDS}};
static const tempera_parameter EXACT_FREE3[] = {
    {"x", TEMPERA_REAL, 3, -INFINITY, INFINITY, TEMPERA_BOUNDS}};
static const tempera_parameter EXACT_POSITIVE[] = {
    {"x", TEMPERA_REAL, 0, 0, INFINITY, TEMPERA_BOUNDS}};
static const tempera_parameter EXACT_SIMPLEX[] = {
    {"p", TEMPERA_REAL, 3, 0, 1, TEMPERA_SIMPLEX}};
static const tempera_parameter EXACT_BOUNDED[] = {
    {"x", TEMPERA_REAL, 0, -1, 3, TEMPERA_BOUNDS}};
static const tempera_parameter EXACT_COUNT[] = {
    {"k", TEMPERA_INTEGER, 0, 0, INFINITY, TEMPERA_BOUNDS}};
static const tempera_parameter EXACT_FEW[] = {
    {"k", TEMPERA_INTEGER, 0, 0, 5, TEMPERA_BOUNDS}};
static const tempera_parameter EXACT_MIXED[] = {
    {"mu", TEMPERA_REAL, 0, -INFINITY, INFINITY, TEMPERA_BOUNDS},
    {"k", TEMPERA_INTEGER, 0, 0, 31, TEMPERA_BOUNDS}};
static const tempera_gibbs_fn EXACT_GIBBS[] = {mixed_gibbs_mu, mixed_gibbs_k};

static const tempera_proposal MEAN_PROPOSALS[] = {
    {"mu", mean_propose, 100, 0.44}};
static const tempera_proposal RATE_PROPOSALS[] = {
    {"log-normal", rate_propose, 0.01, 0.44}, {"normal", rate_step, 1.5, 0}};
static const tempera_proposal COUNT_PROPOSALS[] = {
    {"poisson", count_propose, 1, 0}};
static const tempera_recipe MEAN_RECIPE = {.proposals = MEAN_PROPOSALS,
                                           .proposal_count = 1};
static const tempera_recipe RATE_RECIPE = {.proposals = RATE_PROPOSALS,
                                           .proposal_count = 2};
static const tempera_recipe COUNT_RECIPE = {.proposals = COUNT_PROPOSALS,
                                            .proposal_count = 1};

#define EXACT(label, list, likelihood, prior, draws, exact_draw, exact_out,    \
              outs, ...)                                                       \
  {                                                                            \
    {.name = label,                                                            \
     .parameters = list,                                                       \
     .parameter_count = sizeof list / sizeof *list,                            \
     .log_likelihood = likelihood,                                             \
     .log_prior = prior,                                                       \
     .prior_draw = draws,                                                      \
     __VA_ARGS__},                                                             \
        exact_draw, outs, exact_out                                            \
  }

static const exact_model EXACT_MODELS[] = {
    EXACT("mean", EXACT_FREE, mean_likelihood, mean_prior, mean_prior_draw,
          mean_draw, mean_uniforms, 1, .recipe = &MEAN_RECIPE),
    EXACT("correlated", EXACT_FREE3, correlated_likelihood, correlated_prior,
          correlated_prior_draw, correlated_draw, correlated_uniforms, 3,
          .gibbs_count = 0),
    EXACT("rate", EXACT_POSITIVE, rate_likelihood, rate_prior, rate_prior_draw,
          rate_draw, rate_uniforms, 1, .recipe = &RATE_RECIPE),
    EXACT("shares", EXACT_SIMPLEX, shares_likelihood, shares_prior,
          shares_prior_draw, shares_draw, shares_uniforms, 2, .gibbs_count = 0),
    EXACT("bounded", EXACT_BOUNDED, bounded_likelihood, bounded_prior,
          bounded_prior_draw, bounded_draw, bounded_uniforms, 1,
          .gibbs_count = 0),
    EXACT("modes", EXACT_FREE, modes_likelihood, modes_prior, modes_prior_draw,
          modes_draw, modes_uniforms, 1, .gibbs_count = 0),
    EXACT("half", EXACT_FREE, half_likelihood, mean_prior, mean_prior_draw,
          half_draw, half_uniforms, 1, .gibbs_count = 0),
    EXACT("count", EXACT_COUNT, count_likelihood, count_prior, count_prior_draw,
          count_draw, count_uniforms, 1, .recipe = &COUNT_RECIPE),
    EXACT("few", EXACT_FEW, few_likelihood, few_prior, few_prior_draw, few_draw,
          few_uniforms, 1, .gibbs_count = 0),
    EXACT("mixed", EXACT_MIXED, mixed_likelihood, mixed_prior, mixed_prior_draw,
          mixed_draw, mixed_uniforms, 2, .gibbs = EXACT_GIBBS,
          .gibbs_count = 2),
};
enum { EXACT_COUNT_OF = sizeof EXACT_MODELS / sizeof *EXACT_MODELS };

#endif
