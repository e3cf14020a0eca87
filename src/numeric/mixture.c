/* mixture.c - density and draws of a mixture; see mixture.h. The density of a
 * t with nu degrees of freedom and scale matrix L L' is
 *   Gamma((nu+d)/2) / (Gamma(nu/2) (nu pi)^{d/2} |L|)
 *     (1 + |L^-1 (x-m)|^2 / nu)^{-(nu+d)/2}. */
#include "numeric/mixture.h"

#include "numeric/triangular.h"

#include <math.h>
#include <string.h>

static const double LOG_2PI = 1.8378770664093454836;
static const double LOG_PI = 1.1447298858494001741;

tempera_status tm_mixture_create(tm_arena *arena, size_t dimension,
                                 size_t capacity, tm_mixture *mixture,
                                 tempera_error *error) {
  size_t square = dimension * dimension;
  tm_mixture made = {
      .dimension = dimension,
      .capacity = capacity,
      .df = INFINITY,
      .log_weight = TM_NEW(arena, double, capacity),
      .mean = TM_NEW(arena, double, capacity *dimension),
      .factor = TM_NEW(arena, double, capacity *square),
      .inverse = TM_NEW(arena, double, capacity *square),
      .log_norm = TM_NEW(arena, double, capacity),
      .diagonal = TM_NEW(arena, bool, capacity),
  };
  if (!made.log_weight || !made.mean || !made.factor || !made.inverse ||
      !made.log_norm || !made.diagonal)
    return tm_fail_memory(error);
  *mixture = made;
  return TEMPERA_OK;
}

static double log_constant(double df, size_t dimension) {
  double d = (double)dimension;
  if (isinf(df))
    return -0.5 * d * LOG_2PI;
  return lgamma(0.5 * (df + d)) - lgamma(0.5 * df) -
         0.5 * d * (log(df) + LOG_PI);
}

static double log_sum_exp(const double *values, size_t count) {
  double most = -INFINITY, sum = 0;
  for (size_t i = 0; i < count; i++)
    most = fmax(most, values[i]);
  if (most == -INFINITY)
    return most;
  for (size_t i = 0; i < count; i++)
    sum += exp(values[i] - most);
  return most + log(sum);
}

static bool is_diagonal(const double *factor, size_t d) {
  for (size_t i = 0; i < d; i++)
    for (size_t j = 0; j < i; j++)
      if (factor[i * d + j] != 0)
        return false;
  return true;
}

void tm_mixture_complete(tm_mixture *mixture) {
  size_t d = mixture->dimension;
  double total = log_sum_exp(mixture->log_weight, mixture->components);
  for (size_t k = 0; k < mixture->components; k++) {
    const double *factor = mixture->factor + k * d * d;
    double log_determinant = 0;
    for (size_t i = 0; i < d; i++)
      log_determinant += log(factor[i * d + i]);
    mixture->diagonal[k] = is_diagonal(factor, d);
    tm_triangular_inverse(factor, d, mixture->inverse + k * d * d);
    mixture->log_norm[k] = log_constant(mixture->df, d) - log_determinant;
    mixture->log_weight[k] -= total;
  }
}

void tm_mixture_unit(tm_mixture *mixture) {
  size_t d = mixture->dimension;
  memset(mixture->mean, 0, d * sizeof(double));
  memset(mixture->factor, 0, d * d * sizeof(double));
  for (size_t i = 0; i < d; i++)
    mixture->factor[i * d + i] = 1;
  tm_mixture_complete(mixture);
}

/* Entry i of L^-1 x; the same bits either way, as zeros add nothing. */
static double solved(const tm_mixture *mixture, size_t k, size_t i,
                     const double *x) {
  size_t d = mixture->dimension;
  const double *row = mixture->inverse + (k * d + i) * d;
  return mixture->diagonal[k] ? row[i] * x[i] : tm_dot(row, x, i + 1);
}

/* Its square; y = L^-1 (x - mean_k) where that is wanted. */
static double distance_with(const tm_mixture *mixture, size_t k,
                            const double *x, double *centred, double *y) {
  size_t d = mixture->dimension;
  const double *mean = mixture->mean + k * d;
  double sum = 0;
  for (size_t i = 0; i < d; i++) {
    centred[i] = x[i] - mean[i];
    double along = solved(mixture, k, i, centred);
    sum += along * along;
    if (y)
      y[i] = along;
  }
  return sum;
}

static double squared_distance(const tm_mixture *mixture, size_t k,
                               const double *x, double *centred) {
  return distance_with(mixture, k, x, centred, NULL);
}

/* The log of component k's share of the density at this squared distance. */
static double log_term(const tm_mixture *mixture, size_t k, double square) {
  double df = mixture->df, d = (double)mixture->dimension;
  double shape =
      isinf(df) ? -0.5 * square : -0.5 * (df + d) * log1p(square / df);
  return mixture->log_weight[k] + mixture->log_norm[k] + shape;
}

double tm_mixture_log_density(const tm_mixture *mixture, const double *x,
                              double *work) {
  double *terms = work + mixture->dimension;
  for (size_t k = 0; k < mixture->components; k++)
    terms[k] = log_term(mixture, k, squared_distance(mixture, k, x, work));
  return log_sum_exp(terms, mixture->components);
}

/* Add -weight (L L')^-1 (x - mean_k) to the gradient; y = L^-1 (x - mean_k). */
static void add_slope(const tm_mixture *mixture, size_t k, double weight,
                      const double *y, double *gradient) {
  size_t d = mixture->dimension;
  const double *inverse = mixture->inverse + k * d * d;
  for (size_t i = 0; i < d; i++) {
    double along = weight * y[i];
    for (size_t j = mixture->diagonal[k] ? i : 0; j <= i; j++)
      gradient[j] -= along * inverse[i * d + j];
  }
}

double tm_mixture_gradient(const tm_mixture *mixture, const double *x,
                           double *work, double *gradient) {
  size_t d = mixture->dimension, components = mixture->components;
  double df = mixture->df, *terms = work + d, *squares = terms + components;
  double *y = squares + components;
  for (size_t k = 0; k < components; k++) {
    squares[k] = distance_with(mixture, k, x, work, y + k * d);
    terms[k] = log_term(mixture, k, squares[k]);
  }
  double log_density = log_sum_exp(terms, components);
  for (size_t j = 0; j < d; j++)
    gradient[j] = 0;
  for (size_t k = 0; k < components; k++) {
    double share = exp(terms[k] - log_density);
    double pull = isinf(df) ? 1 : (df + (double)d) / (df + squares[k]);
    if (share > 0)
      add_slope(mixture, k, share * pull, y + k * d, gradient);
  }
  return log_density;
}

size_t tm_mixture_condition(const tm_mixture *mixture, const double *x,
                            tempera_random *random, double *work,
                            double *stretch) {
  double df = mixture->df, d = (double)mixture->dimension;
  double *terms = work + mixture->dimension;
  double log_density = tm_mixture_log_density(mixture, x, work);
  double uniform = tm_random_uniform(random);
  size_t k = 0;
  for (; k + 1 < mixture->components; k++) {
    uniform -= exp(terms[k] - log_density);
    if (uniform < 0)
      break;
  }
  *stretch = 1;
  if (!isinf(df)) { /* s given x is Gamma((df+d)/2, (df+square)/2) */
    double square = squared_distance(mixture, k, x, work);
    double gamma = tempera_random_gamma(random, 0.5 * (df + d));
    *stretch = sqrt(0.5 * (df + square) / gamma);
  }
  return k;
}

static size_t pick(const tm_mixture *mixture, double uniform) {
  size_t k = 0;
  for (; k + 1 < mixture->components; k++) {
    uniform -= exp(mixture->log_weight[k]);
    if (uniform < 0)
      break;
  }
  return k;
}

void tm_mixture_draw(const tm_mixture *mixture, tempera_random *random,
                     double *x) {
  size_t d = mixture->dimension;
  size_t k = pick(mixture, tm_random_uniform(random));
  double df = mixture->df, stretch = 1;
  if (!isinf(df)) /* chi^2_nu / nu = Gamma(nu/2) / (nu/2) */
    stretch = sqrt(0.5 * df / tempera_random_gamma(random, 0.5 * df));
  for (size_t i = 0; i < d; i++)
    x[i] = stretch * tm_random_normal(random);
  const double *factor = mixture->factor + k * d * d;
  for (size_t i = 0; i < d && mixture->diagonal[k]; i++)
    x[i] *= factor[i * d + i];
  if (!mixture->diagonal[k])
    tm_triangular_times(factor, d, x, x);
  for (size_t i = 0; i < d; i++)
    x[i] += mixture->mean[k * d + i];
}
