/* density_whole.c - log masses of integers. */
#include "language/runtime/density.h"

KERNEL(bernoulli) {
  double p = x[1];
  if (!(p >= 0 && p <= 1) || (x[0] != 0 && x[0] != 1))
    return ZERO;
  if (d)
    d[1] = x[0] == 1 ? 1 / p : -1 / (1 - p);
  return x[0] == 1 ? log(p) : log1p(-p);
}

KERNEL(bernoulli_logit) {
  double t = x[0] == 1 ? x[1] : -x[1];
  if (x[0] != 0 && x[0] != 1)
    return ZERO;
  if (d)
    d[1] = (x[0] == 1 ? 1 : -1) * tm_inv_logit(-t);
  return -tm_log1p_exp(-t);
}

static double log_choose(double n, double k) {
  return tm_lgamma(n + 1) - tm_lgamma(k + 1) - tm_lgamma(n - k + 1);
}

KERNEL(binomial) {
  double k = x[0], n = x[1], p = x[2];
  if (!(p >= 0 && p <= 1 && n >= 0 && k >= 0 && k <= n))
    return ZERO;
  double rest = n - k;
  if (d)
    d[2] = (k > 0 ? k / p : 0) - (rest > 0 ? rest / (1 - p) : 0);
  return log_choose(n, k) + (k > 0 ? k * log(p) : 0) +
         (rest > 0 ? rest * log1p(-p) : 0);
}

KERNEL(binomial_logit) {
  double k = x[0], n = x[1], a = x[2];
  if (!(n >= 0 && k >= 0 && k <= n))
    return ZERO;
  if (d)
    d[2] = k - n * tm_inv_logit(a);
  return log_choose(n, k) - k * tm_log1p_exp(-a) - (n - k) * tm_log1p_exp(a);
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

KERNEL(poisson) {
  double k = x[0], l = x[1];
  if (!(l >= 0 && k >= 0))
    return ZERO;
  if (d)
    d[1] = (k > 0 ? k / l : 0) - 1;
  return (k > 0 ? k * log(l) : 0) - l - tm_lgamma(k + 1);
}

KERNEL(poisson_log) {
  double k = x[0], e = exp(x[1]);
  if (!(k >= 0))
    return ZERO;
  if (d)
    d[1] = k - e;
  return (k > 0 ? k * x[1] : 0) - e - tm_lgamma(k + 1);
}

/* Mean m and precision f; slopes with respect to log m and f. */
static double negative_binomial(double k, double log_m, double m, double f,
                                double *slope_log_m, double *slope_f) {
  double sum = m + f;
  if (slope_log_m) {
    *slope_log_m = k - (k + f) * m / sum;
    *slope_f = tm_digamma(k + f) - tm_digamma(f) + log(f) - log(sum) + 1 -
               (k + f) / sum;
  }
  return tm_lgamma(k + f) - tm_lgamma(f) - tm_lgamma(k + 1) +
         (k > 0 ? k * (log_m - log(sum)) : 0) - f * log1p(m / f);
}

KERNEL(neg_binomial_2) {
  double k = x[0], m = x[1], f = x[2], a, b;
  if (!(k >= 0 && m > 0 && f > 0))
    return ZERO;
  double value =
      negative_binomial(k, log(m), m, f, d ? &a : NULL, d ? &b : NULL);
  if (d) {
    d[1] = a / m;
    d[2] = b;
  }
  return value;
}

KERNEL(neg_binomial_2_log) {
  double k = x[0], f = x[2], a, b;
  if (!(k >= 0 && f > 0))
    return ZERO;
  double value =
      negative_binomial(k, x[1], exp(x[1]), f, d ? &a : NULL, d ? &b : NULL);
  if (d) {
    d[1] = a;
    d[2] = b;
  }
  return value;
}

/* Shape a, inverse scale b: mean a / b, precision a. */
KERNEL(neg_binomial) {
  double k = x[0], a = x[1], b = x[2], u, w;
  if (!(k >= 0 && a > 0 && b > 0))
    return ZERO;
  double value =
      negative_binomial(k, log(a / b), a / b, a, d ? &u : NULL, d ? &w : NULL);
  if (d) {
    d[1] = u / a + w;
    d[2] = -u / b;
  }
  return value;
}
