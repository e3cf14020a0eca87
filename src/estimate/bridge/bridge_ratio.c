/* bridge_ratio.c - see bridge_ratio.h.
 *
 * With t = l + log(s1/s2) - log r both means are of logistic functions:
 * mean_q S(t)/s1 = mean_p S(-t)/s2. The left side falls and the right side
 * rises in log r, so the root is unique and Newton within a bracket is safe. */
#include "estimate/bridge/bridge_ratio.h"

#include <gsl/gsl_cdf.h>
#include <math.h>

static double logistic(double t) {
  return t >= 0 ? 1 / (1 + exp(-t)) : exp(t) / (1 + exp(t));
}

/* Mean of S(sign * (l - shift)) and minus its log derivative by shift. */
static double mean_logistic(const double *l, size_t count, double sign,
                            double shift, double *slope) {
  double sum = 0, products = 0;
  for (size_t i = 0; i < count; i++) {
    double s = logistic(sign * (l[i] - shift));
    sum += s;
    products += s * (1 - s);
  }
  *slope = products / sum;
  return sum / (double)count;
}

static double least_finite(const double *l, size_t count, double sign) {
  double least = INFINITY;
  for (size_t i = 0; i < count; i++)
    if (isfinite(l[i]))
      least = fmin(least, sign * l[i]);
  return least;
}

/* log r, for target draws [from, from + count). */
static double solve(const tm_bridge_terms *t, size_t from, size_t count,
                    double log_odds) {
  const double *target = t->target + from;
  double low = fmin(least_finite(target, count, 1),
                    least_finite(t->proposal, t->proposals, 1));
  double high = -fmin(least_finite(target, count, -1),
                      least_finite(t->proposal, t->proposals, -1));
  if (isinf(least_finite(target, count, 1)) ||
      isinf(least_finite(t->proposal, t->proposals, 1)))
    return NAN;
  double margin = 40 + fabs(log_odds);
  low -= margin;
  high += margin;
  double c =
      least_finite(target, count, 1) / 2 - least_finite(target, count, -1) / 2;
  for (int step = 0; step < 200 && high - low > 1e-12; step++) {
    double shift = c - log_odds, falls, rises;
    double q = mean_logistic(t->proposal, t->proposals, 1, shift, &falls);
    double p = mean_logistic(target, count, -1, shift, &rises);
    /* q/s1 = p/s2 */
    double gap = log(q) - log(p) - log_odds;
    if (gap > 0)
      low = c;
    else
      high = c;
    double next = c + gap / (falls + rises);
    if (!(next > low && next < high))
      next = (low + high) / 2;
    if (fabs(next - c) < 1e-11)
      return next;
    c = next;
  }
  return c;
}

/* ---- Variance of a mean over correlated chains ---- */

typedef struct spectrum {
  double variance; /* of the overall mean */
  double time;     /* integrated autocorrelation time, at least 1 */
  double df;
} spectrum;

static double autocovariance(const double *x, size_t chains, size_t length,
                             size_t lag) {
  double sum = 0;
  for (size_t c = 0; c < chains; c++)
    for (size_t i = 0; i + lag < length; i++)
      sum += x[c * length + i] * x[c * length + i + lag];
  return sum / (double)(chains * (length - lag));
}

/* Geyer's initial monotone sequence, pooled over chains; x has mean zero, so
 * that chains which disagree count as slow mixing. */
static spectrum spectrum_at_zero(const double *x, size_t chains,
                                 size_t length) {
  double n = (double)(chains * length);
  double variance = autocovariance(x, chains, length, 0);
  if (!(variance > 0))
    return (spectrum){0, 1, n - 1};
  double sum = -variance, before = INFINITY;
  size_t lag = 0;
  for (; lag + 1 < length; lag += 2) {
    double pair = autocovariance(x, chains, length, lag) +
                  autocovariance(x, chains, length, lag + 1);
    if (pair <= 0)
      break;
    before = fmin(before, pair);
    sum += 2 * before;
  }
  double time = fmax(1, sum / variance);
  time = fmin(time, n / 2);
  /* The mean was taken off, which hides a share time/n of the variance. */
  return (spectrum){.variance = variance * time / (n - time),
                    .time = time,
                    .df = fmax(1, n / (double)(lag > 2 ? lag : 2) - 1)};
}

/* The target's terms over their mean, minus one, into x. */
static void relative_terms(const tm_bridge_terms *t, double shift, double *x) {
  size_t n = t->chains * t->length;
  double sum = 0;
  for (size_t i = 0; i < n; i++)
    sum += x[i] = logistic(shift - t->target[i]);
  double mean = sum / (double)n;
  for (size_t i = 0; i < n; i++)
    x[i] = x[i] / mean - 1;
}

/* Take each chain's own mean off; the F test of these means. */
static double disagreement(double *x, size_t chains, size_t length) {
  if (chains < 2)
    return 1;
  double between = 0;
  for (size_t c = 0; c < chains; c++) {
    double mean = 0;
    for (size_t i = 0; i < length; i++)
      mean += x[c * length + i] / (double)length;
    between += mean * mean;
    for (size_t i = 0; i < length; i++)
      x[c * length + i] -= mean;
  }
  spectrum within = spectrum_at_zero(x, chains, length);
  double per_chain = within.variance * (double)chains;
  double free = (double)(chains - 1);
  if (!(per_chain > 0))
    return between > 0 ? 0 : 1;
  return gsl_cdf_fdist_Q(between / free / per_chain, free,
                         fmax(1, within.df - free));
}

static double proposal_variance(const tm_bridge_terms *t, double shift) {
  double sum = 0, squares = 0, n = (double)t->proposals;
  for (size_t i = 0; i < t->proposals; i++) {
    double s = logistic(t->proposal[i] - shift);
    sum += s;
    squares += s * s;
  }
  double mean = sum / n;
  return fmax(0, squares / n - mean * mean) / (mean * mean) / (n - 1);
}

/* Sums of the logistic terms; correlated ones count as fewer. */
static double overlap(const tm_bridge_terms *t, double shift, double time) {
  double slope, n = (double)(t->chains * t->length) / time;
  double q = mean_logistic(t->proposal, t->proposals, 1, shift, &slope);
  double p = mean_logistic(t->target, t->chains * t->length, -1, shift, &slope);
  return fmin(q * (double)t->proposals, p * n);
}

/* Variance of the mean over chains of each chain's own estimate. */
static double between_chains(const tm_bridge_terms *t, double log_odds) {
  double sum = 0, squares = 0, n = (double)t->chains;
  if (t->chains < 2)
    return NAN;
  for (size_t c = 0; c < t->chains; c++) {
    double own = solve(t, c * t->length, t->length, log_odds);
    sum += own;
    squares += own * own;
  }
  return fmax(0, squares / n - sum / n * sum / n) / (n - 1);
}

tm_bridge_ratio tm_bridge_ratio_solve(const tm_bridge_terms *t, double *work) {
  size_t n = t->chains * t->length;
  double log_odds = log((double)n / (double)t->proposals);
  tm_bridge_ratio ratio = {.log_r = NAN, .disagreement = 1};
  spectrum s = {.time = 1};
  /* The best s1 uses effective draws, and their number the terms: twice. */
  for (int round = 0; round < 3; round++) {
    if (round > 0)
      log_odds = log((double)n / s.time / (double)t->proposals);
    ratio.log_r = solve(t, 0, n, log_odds);
    if (isnan(ratio.log_r))
      return ratio;
    relative_terms(t, ratio.log_r - log_odds, work);
    s = spectrum_at_zero(work, t->chains, t->length);
  }
  ratio.target_variance = s.variance;
  ratio.df = s.df;
  ratio.correlation_time = s.time;
  ratio.proposal_variance = proposal_variance(t, ratio.log_r - log_odds);
  ratio.disagreement = disagreement(work, t->chains, t->length);
  ratio.between_variance = between_chains(t, log_odds);
  ratio.overlap = overlap(t, ratio.log_r - log_odds, s.time);
  return ratio;
}
