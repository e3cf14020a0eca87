/* density_whole.c - log masses of integers. */
#include "language/runtime/density.h"

static double log_choose(double n, double k) {
  return tm_lgamma(n + 1) - tm_lgamma(k + 1) - tm_lgamma(n - k + 1);
}

static double log_beta(double a, double b) {
  return tm_lgamma(a) + tm_lgamma(b) - tm_lgamma(a + b);
}

KERNEL(beta_binomial) {
  double k = x[0], n = x[1], a = x[2], b = x[3];
  if (!(n >= 0 && k >= 0 && k <= n && a > 0 && b > 0))
    return ZERO;
  if (d) {
    double both = tm_digamma(a + b) - tm_digamma(n + a + b);
    d[2] = tm_digamma(k + a) - tm_digamma(a) + both;
    d[3] = tm_digamma(n - k + b) - tm_digamma(b) + both;
  }
  return log_choose(n, k) + log_beta(k + a, n - k + b) - log_beta(a, b);
}

KERNEL(hypergeometric) {
  double n = x[0], N = x[1], a = x[2], b = x[3];
  (void)d;
  if (!(n >= 0 && n <= a && N - n >= 0 && N - n <= b))
    return ZERO;
  return log_choose(a, n) + log_choose(b, N - n) - log_choose(a + b, N);
}

KERNEL(discrete_range) {
  (void)d;
  if (!(x[0] >= x[1] && x[0] <= x[2]))
    return ZERO;
  return -log(x[2] - x[1] + 1);
}

/* Shape a, inverse scale b: mean a / b, precision a. */
KERNEL(neg_binomial) {
  double a = x[1], b = x[2], inner[3] = {x[0], a / b, a}, slopes[3];
  if (!(b > 0))
    return ZERO;
  double value = tm_kernel_neg_binomial_2(inner, d ? slopes : NULL);
  if (d && value > ZERO) {
    d[1] = slopes[1] / b + slopes[2];
    d[2] = -slopes[1] * a / (b * b);
  }
  return value;
}

/* r failures, success with a probability that is beta(a, b) */
KERNEL(beta_neg_binomial) {
  double n = x[0], r = x[1], a = x[2], b = x[3];
  if (!(n >= 0 && r > 0 && a > 0 && b > 0))
    return ZERO;
  if (d) {
    double all = tm_digamma(a + b + n + r), both = tm_digamma(a + b);
    double ar = tm_digamma(a + r);
    d[1] = tm_digamma(n + r) - tm_digamma(r) + ar - all;
    d[2] = ar - all - tm_digamma(a) + both;
    d[3] = tm_digamma(b + n) - all - tm_digamma(b) + both;
  }
  return tm_lgamma(n + r) - tm_lgamma(n + 1) - tm_lgamma(r) +
         log_beta(b + n, a + r) - log_beta(b, a);
}

KERNEL(yule_simon) {
  double n = x[0], a = x[1];
  if (!(n >= 1 && a > 0))
    return ZERO;
  if (d)
    d[1] = 1 / a + tm_digamma(a + 1) - tm_digamma(n + a + 1);
  return log(a) + log_beta(a + 1, n);
}
