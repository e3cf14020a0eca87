/* psis.c - see psis.h. */
#include "numeric/psis.h"

#include "numeric/pareto.h"
#include "numeric/sums.h"
#include "numeric/vector_exp.h"

#include <float.h>
#include <math.h>

enum { FEWEST_TAIL = 5 };

size_t tm_psis_tail(double efficiency, size_t count) {
  double n = (double)count;
  return (size_t)ceil(fmin(0.2 * n, 3 * sqrt(n / efficiency)));
}

/* The order statistics that the fitted law expects, in place of the tail's
 * values; `e` is for the exceedances. */
static double smooth(double *lw, size_t count, size_t tail,
                     const tm_ranked *ranked, double *e) {
  const tm_ranked *first = ranked + count - tail;
  double start = exp(first[-1].value), n = (double)tail;
  for (size_t i = 0; i < tail; i++)
    e[i] = exp(first[i].value) - start;
  tm_pareto law = tm_pareto_fit(e, tail);
  if (!isfinite(law.k))
    return INFINITY;
  for (size_t i = 0; i < tail; i++) {
    double p = ((double)i + 0.5) / n;
    double q = law.sigma * expm1(-law.k * log1p(-p)) / law.k;
    lw[first[i].index] = log(q + start);
  }
  return law.k;
}

static void normalise(double *lw, size_t count) {
  double most = -INFINITY;
  for (size_t s = 0; s < count; s++)
    most = fmax(most, lw[s]);
  double log_sum = most + log(tm_vector_exp_sum(lw, NULL, most, count));
  for (size_t s = 0; s < count; s++)
    lw[s] -= log_sum;
}

double tm_psis(double *lw, size_t count, size_t tail, tm_ranked *ranked,
               tm_ranked *room) {
  double most = -INFINITY, k = INFINITY;
  for (size_t s = 0; s < count; s++)
    most = fmax(most, lw[s]);
  for (size_t s = 0; s < count; s++) {
    lw[s] -= most;
    ranked[s] = (tm_ranked){lw[s], s};
  }
  if (tail >= FEWEST_TAIL && tail < count) {
    tm_ranked_sort(ranked, room, count);
    double width = ranked[count - 1].value - ranked[count - tail].value;
    if (!(fabs(width) < DBL_EPSILON / 100))
      k = smooth(lw, count, tail, ranked, (double *)(void *)room);
  }
  for (size_t s = 0; s < count; s++)
    lw[s] = fmin(lw[s], 0);
  normalise(lw, count);
  return k;
}

/* ---- relative efficiency --------------------------------------------------
 */

/* R's loo takes transforms of a convenient length m, and divides by n: */
static double scale_of(size_t n) {
  for (size_t m = n < 2 ? 2 : n;; m++) {
    size_t left = m;
    static const size_t factors[] = {2, 3, 5};
    for (int i = 0; i < 3; i++)
      while (left % factors[i] == 0)
        left /= factors[i];
    if (left == 1)
      return (double)m / (double)n;
  }
}

typedef struct series {
  const double *values;
  size_t chains, rows;
  const double *means;
  double scale;
} series;

/* The mean over chains of the autocovariance at a lag. */
static double covariance(const series *s, size_t lag) {
  double total = 0;
  for (size_t c = 0; c < s->chains; c++) {
    const double *x = s->values + c * s->rows;
    double sum = 0, mean = s->means[c];
    for (size_t i = 0; i + lag < s->rows; i++)
      sum += (x[i] - mean) * (x[i + lag] - mean);
    total += sum;
  }
  return s->scale * total / ((double)s->rows * (double)s->chains);
}

enum { MOST_CHAINS = 256 };

/* Correlations while pairs of them add up to something; how far. */
static size_t initial_sequence(const series *s, double mean_var, double var,
                               double *rho) {
  size_t t = 0;
  double even = 1, odd = 1 - (mean_var - covariance(s, 1)) / var;
  rho[0] = even;
  rho[1] = odd;
  while (t + 5 < s->rows && even + odd > 0) {
    t += 2;
    even = 1 - (mean_var - covariance(s, t)) / var;
    odd = 1 - (mean_var - covariance(s, t + 1)) / var;
    rho[t] = rho[t + 1] = 0;
    if (even + odd >= 0) {
      rho[t] = even;
      rho[t + 1] = odd;
    }
  }
  if (even > 0)
    rho[t] = even;
  return t;
}

double tm_relative_efficiency(const double *values, size_t chains, size_t rows,
                              double *work) {
  double means[MOST_CHAINS] = {0}, n = (double)rows, *rho = work;
  if (rows < 8 || chains > MOST_CHAINS)
    return 1;
  for (size_t c = 0; c < chains; c++)
    for (size_t i = 0; i < rows; i++)
      means[c] += values[c * rows + i] / n;
  series s = {values, chains, rows, means, scale_of(rows)};
  double mean_var = covariance(&s, 0) * n / (n - 1);
  double var = mean_var * (n - 1) / n;
  if (chains > 1)
    var += tm_sample_variance(means, chains);
  size_t most = initial_sequence(&s, mean_var, var, rho);
  for (size_t t = 2; t + 2 <= most; t += 2)
    if (rho[t] + rho[t + 1] > rho[t - 2] + rho[t - 1])
      rho[t] = rho[t + 1] = (rho[t - 2] + rho[t - 1]) / 2;
  double tau = -1 + rho[most], draws = n * (double)chains;
  for (size_t t = 0; t < (most ? most : 1); t++)
    tau += 2 * rho[t];
  tau = fmax(tau, 1 / log10(draws));
  return isfinite(tau) && tau > 0 ? 1 / tau : 1;
}
