/* density_whole.c - log masses of integers. */
#include "language/runtime/density.h"

static double log_choose(double n, double k) {
  return tm_lgamma(n + 1) - tm_lgamma(k + 1) - tm_lgamma(n - k + 1);
}

KERNEL(beta_binomial) {
  double k = x[0], n = x[1], a = x[2], b = x[3];
  if (!(n >= 0 && k >= 0 && k <= n && a > 0 && b > 0))
    return ZERO;
  if (d) {
    double both = tm_digamma_rise(a + b, n);
    d[2] = tm_digamma_rise(a, k) - both;
    d[3] = tm_digamma_rise(b, n - k) - both;
  }
  return log_choose(n, k) + tm_log_rise(a, k) + tm_log_rise(b, n - k) -
         tm_log_rise(a + b, n);
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
    double all = tm_digamma_rise(a + b, n + r);
    d[1] = tm_digamma_rise(r, n) - tm_digamma_rise(a + r, b + n);
    d[2] = tm_digamma_rise(a, r) - all;
    d[3] = tm_digamma_rise(b, n) - all;
  }
  return tm_log_rise(r, n) - tm_lgamma(n + 1) + tm_log_rise(b, n) +
         tm_log_rise(a, r) - tm_log_rise(a + b, n + r);
}

KERNEL(yule_simon) {
  double n = x[0], a = x[1];
  if (!(n >= 1 && a > 0))
    return ZERO;
  if (d)
    d[1] = 1 / a - tm_digamma_rise(a + 1, n);
  return log(a) + tm_lgamma(n) - tm_log_rise(a + 1, n);
}
