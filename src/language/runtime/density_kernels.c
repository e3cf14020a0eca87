/* density_kernels.c - univariate log densities and log masses, one outcome at
 * a time, with analytic partials. x[0] is the outcome, then the arguments in
 * Stan's order; d gets one partial per entry, or is NULL. Densities follow
 * the Stan functions reference and keep their constants. */
#include "language/runtime/runtime.h"
#include "language/runtime/tables.h"

#define LOG_2PI 1.8378770664093453
#define LOG_PI 1.1447298858494002
#define LOG_2 0.6931471805599453
#define ZERO (-INFINITY)

#define KERNEL(name) static double name##_kernel(const double *x, double *d)

KERNEL(normal) {
  double s = x[2], z = (x[0] - x[1]) / s;
  if (!(s > 0))
    return ZERO;
  if (d) {
    d[0] = -z / s;
    d[1] = z / s;
    d[2] = (z * z - 1) / s;
  }
  return -0.5 * z * z - log(s) - 0.5 * LOG_2PI;
}

KERNEL(std_normal) {
  if (d)
    d[0] = -x[0];
  return -0.5 * x[0] * x[0] - 0.5 * LOG_2PI;
}

KERNEL(student_t) {
  double nu = x[1], s = x[3], z = (x[0] - x[2]) / s;
  if (!(nu > 0 && s > 0))
    return ZERO;
  double q = z * z / nu;
  if (d) {
    double w = (nu + 1) * z / (nu + z * z);
    d[0] = -w / s;
    d[2] = w / s;
    d[3] = (w * z - 1) / s;
    d[1] = 0.5 * (tm_digamma(0.5 * (nu + 1)) - tm_digamma(0.5 * nu) - 1 / nu -
                  log1p(q) + (nu + 1) / nu * q / (1 + q));
  }
  return tm_lgamma(0.5 * (nu + 1)) - tm_lgamma(0.5 * nu) -
         0.5 * (log(nu) + LOG_PI) - log(s) - 0.5 * (nu + 1) * log1p(q);
}

KERNEL(cauchy) {
  double s = x[2], z = (x[0] - x[1]) / s;
  if (!(s > 0))
    return ZERO;
  if (d) {
    double w = 2 * z / (1 + z * z);
    d[0] = -w / s;
    d[1] = w / s;
    d[2] = (w * z - 1) / s;
  }
  return -LOG_PI - log(s) - log1p(z * z);
}

KERNEL(double_exponential) {
  double s = x[2], z = (x[0] - x[1]) / s;
  if (!(s > 0))
    return ZERO;
  if (d) {
    d[0] = -tm_sign(z) / s;
    d[1] = -d[0];
    d[2] = (fabs(z) - 1) / s;
  }
  return -LOG_2 - log(s) - fabs(z);
}

KERNEL(logistic) {
  double s = x[2], z = (x[0] - x[1]) / s;
  if (!(s > 0))
    return ZERO;
  if (d) {
    double w = 2 * tm_inv_logit(z) - 1;
    d[0] = -w / s;
    d[1] = w / s;
    d[2] = (w * z - 1) / s;
  }
  return -z - log(s) - 2 * tm_log1p_exp(-z);
}

KERNEL(gumbel) {
  double s = x[2], z = (x[0] - x[1]) / s;
  if (!(s > 0))
    return ZERO;
  if (d) {
    double w = 1 - exp(-z);
    d[0] = -w / s;
    d[1] = w / s;
    d[2] = (w * z - 1) / s;
  }
  return -log(s) - z - exp(-z);
}

/* log Phi, and its slope phi / Phi */
static double log_phi(double z) {
  return z > -10 ? log(0.5 * erfc(-z * M_SQRT1_2))
                 : -0.5 * z * z - 0.5 * LOG_2PI - log(-z) +
                       log1p(-1 / (z * z) + 3 / (z * z * z * z) -
                             15 / pow(z, 6) + 105 / pow(z, 8));
}
static double log_phi_slope(double z) {
  return exp(-0.5 * z * z - 0.5 * LOG_2PI - log_phi(z));
}

KERNEL(skew_normal) {
  double s = x[2], a = x[3], z = (x[0] - x[1]) / s;
  if (!(s > 0))
    return ZERO;
  if (d) {
    double h = log_phi_slope(a * z), dz = -z + a * h;
    d[0] = dz / s;
    d[1] = -dz / s;
    d[2] = (-dz * z - 1) / s;
    d[3] = z * h;
  }
  return LOG_2 - log(s) - 0.5 * LOG_2PI - 0.5 * z * z + log_phi(a * z);
}

KERNEL(exp_mod_normal) {
  double m = x[1], s = x[2], l = x[3];
  if (!(s > 0 && l > 0))
    return ZERO;
  double u = (x[0] - m) / s - l * s; /* log Phi(u) is the last factor */
  if (d) {
    double h = log_phi_slope(u);
    d[0] = -l + h / s;
    d[1] = -d[0];
    d[2] = l * l * s + h * (-(x[0] - m) / (s * s) - l);
    d[3] = 1 / l + m + l * s * s - x[0] - h * s;
  }
  return log(l) + l * (m + 0.5 * l * s * s - x[0]) + log_phi(u);
}

KERNEL(lognormal) {
  double s = x[2], y = x[0];
  if (!(s > 0 && y > 0))
    return ZERO;
  double ly = log(y), z = (ly - x[1]) / s;
  if (d) {
    d[0] = -(1 + z / s) / y;
    d[1] = z / s;
    d[2] = (z * z - 1) / s;
  }
  return -0.5 * z * z - log(s) - ly - 0.5 * LOG_2PI;
}

/* Gamma with shape a and rate b, at y: shared by its relatives. */
static double gamma_value(double y, double a, double b, double *dy, double *da,
                          double *db) {
  if (!(y >= 0 && a > 0 && b > 0))
    return ZERO;
  *dy = (a - 1) / y - b;
  if (da)
    *da = log(b) + log(y) - tm_digamma(a);
  *db = a / b - y;
  return a * log(b) - tm_lgamma(a) + tm_xlogy(a - 1, y) - b * y;
}

KERNEL(gamma) {
  double dy, da, db;
  double value = gamma_value(x[0], x[1], x[2], &dy, d ? &da : NULL, &db);
  if (d && value > ZERO) {
    d[0] = dy;
    d[1] = da;
    d[2] = db;
  }
  return value;
}

KERNEL(chi_square) {
  double dy, da, db;
  double value = gamma_value(x[0], 0.5 * x[1], 0.5, &dy, &da, &db);
  if (d && value > ZERO) {
    d[0] = dy;
    d[1] = 0.5 * da;
  }
  return value;
}

KERNEL(inv_gamma) {
  double y = x[0], a = x[1], b = x[2];
  if (!(y > 0 && a > 0 && b > 0))
    return ZERO;
  if (d) {
    d[0] = (b / y - a - 1) / y;
    d[1] = log(b) - tm_digamma(a) - log(y);
    d[2] = a / b - 1 / y;
  }
  return a * log(b) - tm_lgamma(a) - (a + 1) * log(y) - b / y;
}

KERNEL(inv_chi_square) {
  double inner[3] = {x[0], 0.5 * x[1], 0.5}, slopes[3];
  double value = inv_gamma_kernel(inner, d ? slopes : NULL);
  if (d && value > ZERO) {
    d[0] = slopes[0];
    d[1] = 0.5 * slopes[1];
  }
  return value;
}

KERNEL(scaled_inv_chi_square) {
  double nu = x[1], s = x[2];
  double inner[3] = {x[0], 0.5 * nu, 0.5 * nu * s * s}, slopes[3];
  if (!(s > 0))
    return ZERO;
  double value = inv_gamma_kernel(inner, d ? slopes : NULL);
  if (d && value > ZERO) {
    d[0] = slopes[0];
    d[1] = 0.5 * slopes[1] + 0.5 * s * s * slopes[2];
    d[2] = nu * s * slopes[2];
  }
  return value;
}

KERNEL(exponential) {
  double y = x[0], b = x[1];
  if (!(y >= 0 && b > 0))
    return ZERO;
  if (d) {
    d[0] = -b;
    d[1] = 1 / b - y;
  }
  return log(b) - b * y;
}

KERNEL(weibull) {
  double y = x[0], a = x[1], s = x[2];
  if (!(y >= 0 && a > 0 && s > 0))
    return ZERO;
  double r = log(y / s), p = pow(y / s, a);
  if (d) {
    d[0] = (a - 1 - a * p) / y;
    d[1] = 1 / a + r - p * r;
    d[2] = a * (p - 1) / s;
  }
  return log(a) - log(s) + tm_xlogy(a - 1, y / s) - p;
}

KERNEL(frechet) {
  double y = x[0], a = x[1], s = x[2];
  if (!(y > 0 && a > 0 && s > 0))
    return ZERO;
  double r = log(y / s), p = pow(y / s, -a);
  if (d) {
    d[0] = (-1 - a + a * p) / y;
    d[1] = 1 / a - r + p * r;
    d[2] = a * (1 - p) / s;
  }
  return log(a) - log(s) - (1 + a) * r - p;
}

KERNEL(rayleigh) {
  double y = x[0], s = x[1];
  if (!(y >= 0 && s > 0))
    return ZERO;
  if (d) {
    d[0] = 1 / y - y / (s * s);
    d[1] = (y * y / (s * s) - 2) / s;
  }
  return log(y) - 2 * log(s) - 0.5 * y * y / (s * s);
}

KERNEL(loglogistic) {
  double y = x[0], a = x[1], b = x[2];
  if (!(y >= 0 && a > 0 && b > 0))
    return ZERO;
  double r = log(y / a), w = tm_inv_logit(b * r);
  if (d) {
    d[0] = (b - 1 - 2 * b * w) / y;
    d[1] = (-b + 2 * b * w) / a;
    d[2] = 1 / b + r - 2 * r * w;
  }
  return log(b) - log(a) + tm_xlogy(b - 1, y / a) - 2 * tm_log1p_exp(b * r);
}

KERNEL(pareto) {
  double y = x[0], m = x[1], a = x[2];
  if (!(m > 0 && a > 0 && y >= m))
    return ZERO;
  if (d) {
    d[0] = -(a + 1) / y;
    d[1] = a / m;
    d[2] = 1 / a + log(m / y);
  }
  return log(a) + a * log(m) - (a + 1) * log(y);
}

KERNEL(pareto_type_2) {
  double l = x[2], a = x[3], z = (x[0] - x[1]) / l;
  if (!(l > 0 && a > 0 && z >= 0))
    return ZERO;
  if (d) {
    d[0] = -(a + 1) / (l * (1 + z));
    d[1] = -d[0];
    d[2] = (-1 + (a + 1) * z / (1 + z)) / l;
    d[3] = 1 / a - log1p(z);
  }
  return log(a) - log(l) - (a + 1) * log1p(z);
}

KERNEL(beta) {
  double y = x[0], a = x[1], b = x[2];
  if (!(y >= 0 && y <= 1 && a > 0 && b > 0))
    return ZERO;
  if (d) {
    double both = tm_digamma(a + b);
    d[0] = (a - 1) / y - (b - 1) / (1 - y);
    d[1] = log(y) + both - tm_digamma(a);
    d[2] = log1p(-y) + both - tm_digamma(b);
  }
  return tm_lgamma(a + b) - tm_lgamma(a) - tm_lgamma(b) + tm_xlogy(a - 1, y) +
         (b == 1 ? 0 : (b - 1) * log1p(-y));
}

KERNEL(beta_proportion) {
  double m = x[1], k = x[2];
  double inner[3] = {x[0], m * k, (1 - m) * k}, slopes[3];
  if (!(m > 0 && m < 1 && k > 0))
    return ZERO;
  double value = beta_kernel(inner, d ? slopes : NULL);
  if (d && value > ZERO) {
    d[0] = slopes[0];
    d[1] = k * (slopes[1] - slopes[2]);
    d[2] = m * slopes[1] + (1 - m) * slopes[2];
  }
  return value;
}

/* log I_0 and I_1 / I_0 by series or asymptotically. */
static double log_bessel0(double k, double *ratio) {
  if (k > 700) {
    *ratio = 1 - 0.5 / k - 0.125 / (k * k);
    return k - 0.5 * log(2 * M_PI * k) + 0.125 / k + 0.0625 / (k * k);
  }
  double term = 1, i0 = 1, i1 = 0.5 * k, q = 0.25 * k * k, other = 0.5 * k;
  for (int n = 1; n < 2000; n++) {
    term *= q / ((double)n * n);
    other *= q / ((double)n * (n + 1));
    i0 += term;
    i1 += other;
    if (term < 1e-17 * i0)
      break;
  }
  *ratio = i1 / i0;
  return log(i0);
}

KERNEL(von_mises) {
  double k = x[2], ratio;
  if (!(k >= 0))
    return ZERO;
  double bessel = log_bessel0(k, &ratio), z = x[0] - x[1];
  if (d) {
    d[0] = -k * sin(z);
    d[1] = -d[0];
    d[2] = cos(z) - ratio;
  }
  return k * cos(z) - LOG_2PI - bessel;
}

KERNEL(uniform) {
  double a = x[1], b = x[2];
  if (!(a < b && x[0] >= a && x[0] <= b))
    return ZERO;
  if (d) {
    d[0] = 0;
    d[1] = 1 / (b - a);
    d[2] = -d[1];
  }
  return -log(b - a);
}

/* ---- masses ------------------------------------------------------------- */

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

tm_kernel tm_density_kernel(const char *name) {
#define ENTRY(name, letters) {#name, name##_kernel},
  static const struct {
    const char *name;
    tm_kernel kernel;
  } kernels[] = {TM_DENSITIES(ENTRY)};
  for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++)
    if (!strcmp(kernels[i].name, name))
      return kernels[i].kernel;
  return NULL;
}

/* ---- vectorised --------------------------------------------------------- */

enum { MOST = 4 };

/* The fast loops for the commonest case: normal with a scalar scale. */
static double normal_loop(const tm_view *v, long n, double *const *to) {
  double s = v[2].v[0], inv = 1 / s, squares = 0, sum_y = 0, sum_m = 0;
  if (!(s > 0))
    return ZERO;
  const double *y = v[0].v, *m = v[1].v;
  long sy = v[0].stride, sm = v[1].stride;
  for (long k = 0; k < n; k++) {
    double z = (y[k * sy] - m[k * sm]) * inv;
    squares += z * z;
  }
  for (long k = 0; k < n && to[0]; k++) {
    double g = (m[k * sm] - y[k * sy]) * inv * inv;
    if (sy)
      to[0][k] += g;
    else
      sum_y += g;
  }
  for (long k = 0; k < n && to[1]; k++) {
    double g = (y[k * sy] - m[k * sm]) * inv * inv;
    if (sm)
      to[1][k] += g;
    else
      sum_m += g;
  }
  if (to[0] && !sy)
    *to[0] += sum_y;
  if (to[1] && !sm)
    *to[1] += sum_m;
  if (to[2])
    *to[2] += (squares - (double)n) * inv;
  return -0.5 * squares - (double)n * (log(s) + 0.5 * LOG_2PI);
}

static inline double kernel_loop(tm_kernel kernel, int arity, const tm_view *v,
                                 long n, double *const *to, bool active) {
  double x[MOST], d[MOST] = {0}, total = 0;
  for (long k = 0; k < n; k++) {
    for (int i = 0; i < arity; i++)
      x[i] = v[i].v[k * v[i].stride];
    total += kernel(x, active ? d : NULL);
    for (int i = 0; i < arity && active; i++)
      if (to[i])
        to[i][k * v[i].stride] += d[i];
    if (total == ZERO)
      break;
  }
  return total;
}

/* NaN among the arguments (not the outcome) is a bad argument like any
 * other: density zero. */
static bool bad_arguments(const tm_view *v, int arity) {
  for (int i = 1; i < arity; i++)
    for (long k = 0; k < v[i].n; k++)
      if (isnan(v[i].v[k]))
        return true;
  return false;
}

/* Where partials go: straight to the adjoints of steady arguments when the
 * value goes straight into the target; else to arrays kept in a node. */
static tm_any vectorised(tm_tape *tape, const tm_any *arguments, int count,
                         tm_kernel kernel, int arity, const char *name) {
  tm_view v[MOST] = {{0}};
  double *to[MOST] = {0};
  tm_partial kept[MOST];
  bool direct = count & TM_DIRECT, active = false;
  int keeps = 0;
  for (int i = 0; i < arity; i++)
    tm_view_of(&arguments[i], &v[i]);
  long n = tm_common_length(tape, v, arity, name);
  if (n < 0)
    n = 1;
  for (int i = 0; i < arity; i++) {
    if (!v[i].d)
      continue;
    active = true;
    if (direct && v[i].steady) {
      to[i] = v[i].d;
      continue;
    }
    to[i] = tm_take(tape, (size_t)v[i].n * sizeof(double));
    kept[keeps++] = (tm_partial){v[i].d, to[i], v[i].n};
  }
  double value = kernel == normal_kernel && v[2].scalar
                     ? normal_loop(v, n, to)
                     : kernel_loop(kernel, arity, v, n, to, active);
  if (isnan(value) && bad_arguments(v, arity))
    return tm_any_real(ZERO);
  return tm_scalar_result(tape, value, keeps, kept);
}

#define DEFINE(name, letters)                                                  \
  static tm_any name##_density(tm_tape *tape, const tm_any *arguments,         \
                               int count) {                                    \
    return vectorised(tape, arguments, count, name##_kernel,                   \
                      (int)sizeof letters - 1, #name);                         \
  }
TM_DENSITIES(DEFINE)

#define TABLE(name, letters) {#name "_lpdf", letters, name##_density},
const tm_function_entry tm_density_functions[] = {
    TM_DENSITIES(TABLE){NULL, NULL, NULL}};
