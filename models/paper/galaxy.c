/* galaxy.c - the paper's second model: a mixture of K normals over the
 * velocities of galaxies,
 *
 *   y_i ~ sum_k p_k N(mu_k, sigma2_k),
 *   mu_k ~ N(20, 100),  sigma2_k ~ IG(3, 20),  p ~ Dirichlet(1),
 *
 * with one sigma2 for all components when `equal` is 1. The labels Z of the
 * components are summed out: the likelihood that is tempered is the one that
 * is integrated (method 3, point 3).
 *
 * With a_ik = log p_k N(y_i; mu_k, sigma2_k) and t_i = max_k a_ik,
 *
 *   l = sum_i t_i + log prod_i sum_k exp(a_ik - t_i).
 *
 * Each inner sum lies in [1, K], so hundreds of them multiply without
 * overflow and cost one logarithm together; the exponentials are vectorised.
 * Far away components underflow harmlessly, since the largest term is 1. */
#include "paper_data.h"
#include "fast_math.h"

#include <stdlib.h>

enum { LANES = 4 };

typedef struct galaxy {
  size_t n, padded; /* observations; the same up to a whole vector */
  size_t K, variances;
  size_t chunk;       /* observations whose sums multiply without overflow */
  double spread;      /* of the data: where the chains start */
  double log_gamma_K; /* the constant of Dirichlet(1) */
  double *y;          /* padded with copies of the last value */
  double *terms;      /* K x padded: a_ik, then exp(a_ik - t_i) */
  double *top, *sum;
} galaxy;

static const double *means(const double *theta) { return theta; }

static const double *variances(const galaxy *g, const double *theta) {
  return theta + g->K;
}

static const double *shares(const galaxy *g, const double *theta) {
  return theta + g->K + g->variances;
}

static double variance_of(const galaxy *g, const double *theta, size_t k) {
  return variances(g, theta)[g->variances == 1 ? 0 : k];
}

static double share_of(const galaxy *g, const double *theta, size_t k) {
  return g->K == 1 ? 1 : shares(g, theta)[k];
}

/* a_ik for one component, and t_i so far. */
static void fill_terms(size_t count, const double *restrict y, double level,
                       double rate, double mean, double *restrict terms,
                       double *restrict top) {
  for (size_t i = 0; i < count; i++) {
    double distance = y[i] - mean;
    double term = fused(-rate, distance * distance, level);
    terms[i] = term;
    top[i] = top[i] > term ? top[i] : term;
  }
}

static void add_exponentials(size_t count, const double *restrict top,
                             double *restrict terms, double *restrict sum) {
  for (size_t i = 0; i < count; i++) {
    terms[i] = exp_lane(terms[i] - top[i]);
    sum[i] += terms[i];
  }
}

/* sum_i t_i + log prod_i sum_i, with independent lanes so that neither loop
 * waits for the previous product. */
static double add_up(const galaxy *g) {
  double total = 0;
  for (size_t begin = 0; begin < g->padded; begin += g->chunk) {
    size_t left = g->padded - begin;
    size_t end = begin + (left < g->chunk ? left : g->chunk);
    double product[LANES] = {1, 1, 1, 1}, tops[LANES] = {0};
    for (size_t i = begin; i < end; i += LANES)
      for (size_t lane = 0; lane < LANES; lane++) {
        product[lane] *= g->sum[i + lane];
        tops[lane] += g->top[i + lane];
      }
    total += (tops[0] + tops[1]) + (tops[2] + tops[3]) +
             log((product[0] * product[1]) * (product[2] * product[3]));
  }
  return total;
}

/* Fills terms, top and sum; false where the density is zero for all. */
static bool evaluate(const galaxy *g, const double *theta) {
  for (size_t i = 0; i < g->padded; i++) {
    g->top[i] = -1e300; /* not -infinity: differences stay numbers */
    g->sum[i] = 0;
  }
  for (size_t k = 0; k < g->K; k++) {
    double sigma2 = variance_of(g, theta, k);
    if (!(sigma2 > 1e-300) || !(sigma2 < 1e300))
      return false;
    double level = log(share_of(g, theta, k)) - 0.5 * (LOG_2_PI + log(sigma2));
    fill_terms(g->padded, g->y, level, 0.5 / sigma2, means(theta)[k],
               g->terms + k * g->padded, g->top);
  }
  for (size_t k = 0; k < g->K; k++)
    add_exponentials(g->padded, g->top, g->terms + k * g->padded, g->sum);
  for (size_t i = g->n; i < g->padded; i++) {
    g->top[i] = 0;
    g->sum[i] = 1;
  }
  return true;
}

static int log_likelihood(const double *theta, double *value, void *user) {
  const galaxy *g = user;
  *value = evaluate(g, theta) ? add_up(g) : -INFINITY;
  return 0;
}

/* With r_i the probability that i belongs to k and d = y_i - mu_k:
 * dl/dmu = sum r d / s2, dl/ds2 = sum r (d^2 / s2 - 1) / (2 s2),
 * dl/dp = sum r / p. */
static void component_gradient(const galaxy *g, const double *theta, size_t k,
                               double *gradient) {
  const double *terms = g->terms + k * g->padded;
  double mean = means(theta)[k], sigma2 = variance_of(g, theta, k);
  double count = 0, first = 0, second = 0;
  for (size_t i = 0; i < g->n; i++) {
    double distance = g->y[i] - mean, weight = terms[i] / g->sum[i];
    count += weight;
    first += weight * distance;
    second += weight * (distance * distance);
  }
  gradient[k] = first / sigma2;
  gradient[g->K + (g->variances == 1 ? 0 : k)] +=
      0.5 * (second / sigma2 - count) / sigma2;
  if (g->K > 1)
    gradient[g->K + g->variances + k] =
        count / fmax(shares(g, theta)[k], 1e-300);
}

static int log_likelihood_gradient(const double *theta, double *value,
                                   double *gradient, void *user) {
  const galaxy *g = user;
  for (size_t j = 0; j < g->K + g->variances + (g->K > 1 ? g->K : 0); j++)
    gradient[j] = 0;
  *value = -INFINITY;
  if (!evaluate(g, theta))
    return 0;
  *value = add_up(g);
  if (*value > -INFINITY)
    for (size_t k = 0; k < g->K; k++)
      component_gradient(g, theta, k, gradient);
  return 0;
}

/* N(20, 100), IG(3, 20): 20^3 / Gamma(3) s2^-4 exp(-20/s2), and Dirichlet(1),
 * whose density over the first K-1 shares is Gamma(K). */
static int log_prior(const double *theta, double *value, void *user) {
  const galaxy *g = user;
  double total = g->log_gamma_K;
  for (size_t k = 0; k < g->K; k++) {
    double distance = (means(theta)[k] - 20) / 10;
    total -= 0.5 * (LOG_2_PI + distance * distance) + log(10);
  }
  for (size_t k = 0; k < g->variances; k++) {
    double sigma2 = variances(g, theta)[k];
    if (!(sigma2 > 1e-300) || !(sigma2 < 1e300)) {
      *value = -INFINITY;
      return 0;
    }
    total += 3 * log(20) - log(2) - 4 * log(sigma2) - 20 / sigma2;
  }
  *value = total;
  return 0;
}

static int log_prior_gradient(const double *theta, double *value,
                              double *gradient, void *user) {
  const galaxy *g = user;
  for (size_t k = 0; k < g->K; k++)
    gradient[k] = (20 - means(theta)[k]) / 100;
  for (size_t k = 0; k < g->variances; k++) {
    double sigma2 = variances(g, theta)[k];
    gradient[g->K + k] = (20 / sigma2 - 4) / sigma2;
  }
  for (size_t k = 0; g->K > 1 && k < g->K; k++)
    gradient[g->K + g->variances + k] = 0;
  return log_prior(theta, value, user);
}

static int prior_draw(tempera_random *random, double *theta, void *user) {
  const galaxy *g = user;
  double *p = theta + g->K + g->variances, sum = 0;
  for (size_t k = 0; k < g->K; k++)
    theta[k] = 20 + 10 * tempera_random_normal(random);
  for (size_t k = 0; k < g->variances; k++)
    theta[g->K + k] = 20 / tempera_random_gamma(random, 3);
  if (g->K == 1)
    return 0;
  for (size_t k = 0; k < g->K; k++)
    sum += p[k] = tempera_random_exponential(random);
  for (size_t k = 0; k < g->K; k++)
    p[k] /= sum;
  return 0;
}

/* The walks below take one component at random. Their widths follow how much
 * the data say about it at tau, through quantities that the move leaves
 * alone, so that only the change of scale enters the Hastings ratio. */
static size_t any_component(const galaxy *g, tempera_random *random) {
  return (size_t)tempera_random_below(random, g->K);
}

static int propose_mu(double tau, double scale, const double *theta,
                      double *proposed, double *log_ratio,
                      tempera_random *random, void *user) {
  const galaxy *g = user;
  size_t k = any_component(g, random);
  double members = tau * (double)g->n * share_of(g, theta, k);
  double precision = members / variance_of(g, theta, k) + 0.01;
  proposed[k] += scale / sqrt(precision) * tempera_random_normal(random);
  *log_ratio = 0;
  return 0;
}

static int propose_sigma2(double tau, double scale, const double *theta,
                          double *proposed, double *log_ratio,
                          tempera_random *random, void *user) {
  const galaxy *g = user;
  size_t k = g->variances == 1 ? 0 : any_component(g, random);
  double share = g->variances == 1 ? 1 : share_of(g, theta, k);
  double members = tau * (double)g->n * share;
  double *sigma2 = proposed + g->K + k;
  *sigma2 = propose_positive(*sigma2, scale / sqrt(3 + 0.5 * members),
                             log_ratio, random);
  return 0;
}

/* Two components divide their common share anew: the logit of the division
 * walks, whose density over the share has the factor 1/(p_j p_k). */
static int propose_p(double tau, double scale, const double *theta,
                     double *proposed, double *log_ratio,
                     tempera_random *random, void *user) {
  const galaxy *g = user;
  double *p = proposed + g->K + g->variances;
  size_t j = any_component(g, random);
  size_t k = (size_t)tempera_random_below(random, g->K - 1);
  k += k >= j;
  double total = p[j] + p[k], before = p[j] * p[k];
  double width = scale / sqrt(1 + 0.25 * tau * (double)g->n * total);
  double logit = log(p[j]) - log(p[k]) + width * tempera_random_normal(random);
  p[j] = total / (1 + exp(-logit));
  p[k] = total / (1 + exp(logit));
  *log_ratio = log(p[j] * p[k]) - log(before);
  (void)theta;
  return isfinite(*log_ratio) ? 0 : 1;
}

static galaxy *galaxy_create(size_t n, size_t K, size_t variance_count) {
  size_t padded = (n + LANES - 1) / LANES * LANES;
  galaxy *g = calloc(1, sizeof *g);
  double *memory = g ? calloc((K + 3) * padded, sizeof *memory) : NULL;
  if (!memory) {
    free(g);
    return NULL;
  }
  size_t bits = 1; /* a sum of K ones is below 2^bits */
  while ((K >> bits) > 0)
    bits++;
  *g = (galaxy){.n = n,
                .padded = padded,
                .K = K,
                .variances = variance_count,
                .log_gamma_K = lgamma((double)K),
                .chunk = 1000 / bits / LANES * LANES,
                .y = memory,
                .terms = memory + 3 * padded,
                .top = memory + padded,
                .sum = memory + 2 * padded};
  return g;
}

static void galaxy_release(void *user) {
  galaxy *g = user;
  if (g)
    free(g->y);
  free(g);
}

static int galaxy_clone(const void *user, void **copy) {
  const galaxy *g = user;
  galaxy *made = galaxy_create(g->n, g->K, g->variances);
  if (!made)
    return 1;
  memcpy(made->y, g->y, g->padded * sizeof *g->y);
  made->spread = g->spread;
  *copy = made;
  return 0;
}

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static galaxy *galaxy_from(const double *y, size_t n, size_t K,
                           size_t variance_count) {
  galaxy *g = galaxy_create(n, K, variance_count);
  if (!g)
    return NULL;
  normal_sample sample = summarise(y, n);
  g->spread = sample.squares / sample.n;
  memcpy(g->y, y, n * sizeof *y);
  qsort(g->y, n, sizeof *y, ascending); /* for the quantiles of `start` */
  for (size_t i = n; i < g->padded; i++)
    g->y[i] = g->y[n - 1];
  return g;
}

/* The quantiles of the data, each wide enough to reach the outliers. */
static void set_start(const galaxy *g, double *start) {
  double K = (double)g->K;
  for (size_t k = 0; k < g->K; k++)
    start[k] = g->y[(size_t)(((double)k + 0.5) / K * (double)g->n)];
  for (size_t k = 0; k < g->variances; k++)
    start[g->K + k] = fmax(g->spread / 2, 1e-3);
  for (size_t k = 0; g->K > 1 && k < g->K; k++)
    start[g->K + g->variances + k] = 1 / K;
}

/* As many visits to each kind as it has components. */
static size_t set_proposals(const galaxy *g, tempera_proposal *proposals) {
  size_t count = 0;
  for (size_t k = 0; k < g->K; k++)
    proposals[count++] = (tempera_proposal){"mu", propose_mu, 2.4, 0.44};
  for (size_t k = 0; k < g->variances; k++)
    proposals[count++] =
        (tempera_proposal){"sigma2", propose_sigma2, 2.4, 0.44};
  for (size_t k = 1; k < g->K; k++)
    proposals[count++] = (tempera_proposal){"p", propose_p, 2.4, 0.44};
  return count;
}

static tempera_status create_model(galaxy *g, tempera_proposal *proposals,
                                   double *start, tempera_model **model,
                                   tempera_error *error) {
  set_start(g, start);
  const tempera_recipe recipe = {.proposals = proposals,
                                 .proposal_count = set_proposals(g, proposals),
                                 .start = start,
                                 .start_tau = 0.5,
                                 .tau_move = TEMPERA_TAU_UNIFORM};
  const tempera_parameter parameters[] = {
      {.name = "mu", .size = g->K, .lower = -INFINITY, .upper = INFINITY},
      {.name = "sigma2", .size = g->variances, .upper = INFINITY},
      {.name = "p", .size = g->K, .upper = 1, .transform = TEMPERA_SIMPLEX}};
  const tempera_model_spec spec = {
      .name = "galaxy",
      .parameters = parameters,
      .parameter_count = g->K > 1 ? 3 : 2,
      .log_likelihood = log_likelihood,
      .log_prior = log_prior,
      .log_likelihood_gradient = log_likelihood_gradient,
      .log_prior_gradient = log_prior_gradient,
      .prior_draw = prior_draw,
      .recipe = &recipe,
      .prior_normalised = true,
      .user = g,
      .clone = galaxy_clone,
      .release = galaxy_release,
  };
  return tempera_model_create(&spec, model, error);
}

TEMPERA_DECLARE_MODEL;

tempera_status tempera_model_open(const tempera_data *data,
                                  tempera_model **model, tempera_error *error) {
  const double *y;
  size_t n;
  int64_t K = 0, equal = 0;
  TRY(read_sample(data, &y, &n, error));
  TRY(read_integer(data, "K", 1, 1000, &K, error));
  TRY(read_integer(data, "equal", 0, 1, &equal, error));
  size_t components = (size_t)K;
  galaxy *g = galaxy_from(y, n, components, equal ? 1 : components);
  tempera_proposal *proposals = calloc(3 * components, sizeof *proposals);
  double *start = calloc(3 * components, sizeof *start);
  tempera_status status = g && proposals && start
                              ? create_model(g, proposals, start, model, error)
                              : no_memory(error);
  free(start);
  free(proposals);
  if (status != TEMPERA_OK)
    galaxy_release(g);
  return status;
}
