/* density_terms.c - the densities that are made of terms; see density_terms.h.
 * Each term is -infinity for arguments it does not allow. */
#include "language/runtime/density_terms.h"
#include "language/runtime/rise.h"

#include "numeric/vector_gamma.h"

/* A term for one outcome: y and the arguments; d gets the slopes. With it comes
 * the same over many. */
#define ARGUMENTS                                                              \
  TM_UNUSED double y, TM_UNUSED double a, TM_UNUSED double b,                  \
      TM_UNUSED double c, TM_UNUSED double *d
#define TERM(name)                                                             \
  static inline double name(ARGUMENTS);                                        \
  static void name##_rows(const double *const *x, double *const *d, long n,    \
                          double *restrict values) {                           \
    const double *restrict y = x[0], *restrict a = x[1], *restrict b = x[2],   \
                           *restrict c = x[3];                                 \
    if (d) {                                                                   \
      double *restrict dy = d[0], *restrict da = d[1], *restrict db = d[2],    \
                       *restrict dc = d[3];                                    \
      _Pragma("GCC ivdep") for (long k = 0; k < n; k++) {                      \
        double s[4] = {0, 0, 0, 0};                                            \
        values[k] = name(y[k], a[k], b[k], c[k], s);                           \
        dy[k] = s[0], da[k] = s[1], db[k] = s[2], dc[k] = s[3];                \
      }                                                                        \
    } else {                                                                   \
      for (long k = 0; k < n; k++) {                                           \
        double s[4];                                                           \
        values[k] = name(y[k], a[k], b[k], c[k], s);                           \
      }                                                                        \
    }                                                                          \
  }                                                                            \
  static inline double name(ARGUMENTS)

/* ---- shared ------------------------------------------------------------- */

TERM(none) { return 0; }

/* b is a scale */
TERM(log_scale) {
  d[2] = -1 / b;
  return b > 0 ? -log(b) : ZERO;
}

/* f((y - a) / b) with f' = -w; r = 1 / b, because divisions are slow. */
static inline double line_term(double value, double z, double w, double r,
                               double *d) {
  d[1] = w * r;
  d[0] = -d[1];
  d[2] = d[1] * z;
  return r >= 0 && r < INFINITY ? value : ZERO;
}

/* a log b - log gamma(a) of the gamma family */
TERM(shape_and_rate) {
  d[1] = log(b) - tm_vector_digamma(a);
  d[2] = a / b;
  return a > 0 && b > 0 ? a * log(b) - tm_vector_lgamma(a) : ZERO;
}

/* - log y! */
TERM(log_factorial) { return y >= 0 ? -tm_vector_lgamma(y + 1) : ZERO; }

/* log of n = a over k = y */
TERM(log_choose) {
  return y >= 0 && y <= a ? tm_vector_lgamma(a + 1) - tm_vector_lgamma(y + 1) -
                                tm_vector_lgamma(a - y + 1)
                          : ZERO;
}

/* ---- on the line -------------------------------------------------------- */

TERM(normal_gap) {
  double r = 1 / b, z = (y - a) * r;
  return line_term(-0.5 * z * z - 0.5 * LOG_2PI, z, z, r, d);
}

TERM(std_normal_gap) {
  d[0] = -y;
  return -0.5 * y * y - 0.5 * LOG_2PI;
}

TERM(cauchy_gap) {
  double r = 1 / b, z = (y - a) * r;
  return line_term(-LOG_PI - log1p(z * z), z, 2 * z / (1 + z * z), r, d);
}

TERM(double_exponential_gap) {
  double r = 1 / b, z = (y - a) * r;
  return line_term(-LOG_2 - fabs(z), z, z > 0 ? 1 : z < 0 ? -1 : 0, r, d);
}

TERM(logistic_gap) {
  double r = 1 / b, z = (y - a) * r;
  return line_term(-z - 2 * tm_log1p_exp(-z), z, 2 * tm_inv_logit(z) - 1, r, d);
}

TERM(gumbel_gap) {
  double r = 1 / b, z = (y - a) * r, e = exp(-z);
  return line_term(-z - e, z, 1 - e, r, d);
}

/* a: degrees of freedom, b: location, c: scale */
TERM(student_t_gap) {
  double r = 1 / c, z = (y - b) * r, w = (a + 1) * z / (a + z * z);
  double q = z * z / a, l = log1p(q);
  d[2] = w * r;
  d[0] = -d[2];
  d[1] = 0.5 * (w * z / a - l);
  d[3] = d[2] * z;
  return a > 0 && c > 0 ? -0.5 * (a + 1) * l : ZERO;
}

TERM(student_t_shape) {
  double f = 0.5 * a, share = log1p(0.5 / f);
  bool large = f > TM_LARGE_SHAPE;
  double slope = large ? share - below_log(f + 0.5) + below_log(f)
                       : tm_vector_digamma(f + 0.5) - tm_vector_digamma(f);
  double value =
      large ? rise(0.5, f, share) - 0.5 * M_LN2
            : tm_vector_lgamma(f + 0.5) - tm_vector_lgamma(f) - 0.5 * log(a);
  d[1] = 0.5 * (slope - 1 / a);
  return a > 0 ? value - 0.5 * LOG_PI : ZERO;
}

TERM(student_t_scale) {
  d[3] = -1 / c;
  return c > 0 ? -log(c) : ZERO;
}

/* ---- positive outcomes and intervals ------------------------------------ */

TERM(minus_log) {
  d[0] = -1 / y;
  return y > 0 ? -log(y) : ZERO;
}

TERM(lognormal_gap) {
  double r = 1 / b, z = (log(y) - a) * r;
  double value = line_term(-0.5 * z * z - 0.5 * LOG_2PI, z, z, r, d);
  d[0] /= y;
  return y > 0 ? value : ZERO;
}

TERM(exponential_decay) {
  d[0] = -a;
  d[1] = -y;
  return y >= 0 && a > 0 ? -a * y : ZERO;
}

TERM(log_rate) {
  d[1] = 1 / a;
  return a > 0 ? log(a) : ZERO;
}

/* a log y, with 0 log 0 = 0 */
static inline double power(double a, double y) {
  return a == 0 && y == 0 ? 0 : a * log(y);
}

TERM(gamma_decay) {
  d[0] = (a - 1) / y - b;
  d[1] = log(y);
  d[2] = -y;
  return y >= 0 && a > 0 && b > 0 ? power(a - 1, y) - b * y : ZERO;
}

TERM(inv_gamma_decay) {
  d[0] = (b / y - a - 1) / y;
  d[1] = -log(y);
  d[2] = -1 / y;
  return y > 0 && a > 0 && b > 0 ? -(a + 1) * log(y) - b / y : ZERO;
}

TERM(weibull_decay) {
  double r = log(y / b), p = pow(y / b, a);
  d[0] = (a - 1 - a * p) / y;
  d[1] = r - p * r;
  d[2] = (1 - a + a * p) / b;
  return y >= 0 && a > 0 && b > 0 ? power(a - 1, y / b) - p : ZERO;
}

TERM(beta_powers) {
  double rest = log1p(-y);
  d[0] = (a - 1) / y - (b - 1) / (1 - y);
  d[1] = log(y);
  d[2] = rest;
  return y >= 0 && y <= 1 && a > 0 && b > 0
             ? power(a - 1, y) + (b == 1 ? 0 : (b - 1) * rest)
             : ZERO;
}

TERM(beta_constant) {
  double both = tm_vector_digamma(a + b);
  d[1] = both - tm_vector_digamma(a);
  d[2] = both - tm_vector_digamma(b);
  return a > 0 && b > 0 ? tm_vector_lgamma(a + b) - tm_vector_lgamma(a) -
                              tm_vector_lgamma(b)
                        : ZERO;
}

/* ---- integers ----------------------------------------------------------- */

TERM(bernoulli_choice) {
  double rest = 1 - a;
  d[1] = y == 1 ? 1 / a : -1 / rest;
  return a >= 0 && a <= 1 && (y == 0 || y == 1) ? (y == 1 ? log(a) : log1p(-a))
                                                : ZERO;
}

/* One exponential for value and slope; min and max, no branches. */
TERM(bernoulli_logit_choice) {
  double sign = 2 * y - 1, z = sign * a, e = exp(-fabs(z));
  double less = z < 0 ? z : 0, top = z < 0 ? 1 : e;
  d[1] = sign * top / (1 + e);
  return y == 0 || y == 1 ? less - tm_log1p_unit(e) : ZERO;
}

TERM(binomial_powers) {
  double rest = a - y;
  d[2] = (y > 0 ? y / b : 0) - (rest > 0 ? rest / (1 - b) : 0);
  return b >= 0 && b <= 1 && y >= 0 && rest >= 0
             ? (y > 0 ? y * log(b) : 0) + (rest > 0 ? rest * log1p(-b) : 0)
             : ZERO;
}

TERM(binomial_logit_powers) {
  d[2] = y - a * tm_inv_logit(b);
  return y >= 0 && y <= a ? -y * tm_log1p_exp(-b) - (a - y) * tm_log1p_exp(b)
                          : ZERO;
}

TERM(poisson_rate) {
  d[1] = (y > 0 ? y / a : 0) - 1;
  return a >= 0 && y >= 0 ? (y > 0 ? y * log(a) : 0) - a : ZERO;
}

TERM(poisson_log_rate) {
  double e = exp(a);
  d[1] = y - e;
  return y >= 0 ? (y > 0 ? y * a : 0) - e : ZERO;
}

/* Mean m and precision f; slopes with respect to log m and f. Of a large f all
 * of lgamma(f) is in here, of a small one it is a term of its own. */
static inline double negative_binomial(double k, double log_m, double m,
                                       double f, double *slope_log_m,
                                       double *slope_f) {
  double sum = m + f, l = log(sum), part = log1p(m / f), share = log1p(k / f);
  bool large = f > TM_LARGE_SHAPE;
  double log_mean = k > 0 ? k * log_m : 0;
  double slope = large ? share - below_log(k + f) + below_log(f) - part
                       : tm_vector_digamma(k + f) + log(f) - l;
  double value = large ? rise(k, f, share) + log_mean - (k + f) * part
                       : tm_vector_lgamma(k + f) + log_mean - k * l - f * part;
  *slope_log_m = k - (k + f) * m / sum;
  *slope_f = slope + (m - k) / sum;
  return k >= 0 && m > 0 && f > 0 ? value : ZERO;
}

TERM(neg_binomial_2_rate) {
  double value = negative_binomial(y, log(a), a, b, d + 1, d + 2);
  d[1] /= a;
  return value;
}

TERM(neg_binomial_2_log_rate) {
  return negative_binomial(y, a, exp(a), b, d + 1, d + 2);
}

TERM(small_shape) {
  bool small = b <= TM_LARGE_SHAPE;
  d[2] = small ? -tm_vector_digamma(b) : 0;
  return b > 0 ? (small ? -tm_vector_lgamma(b) : 0) : ZERO;
}

/* ---- the table ---------------------------------------------------------- */

/* Name, arguments with the outcome, and up to three terms with what they use:
 * 1 the outcome, 2, 4 and 8 the arguments. */
#define DENSITIES(X)                                                           \
  X(normal, 3, normal_gap, 7, log_scale, 4, none, 0)                           \
  X(std_normal, 1, std_normal_gap, 1, none, 0, none, 0)                        \
  X(cauchy, 3, cauchy_gap, 7, log_scale, 4, none, 0)                           \
  X(double_exponential, 3, double_exponential_gap, 7, log_scale, 4, none, 0)   \
  X(logistic, 3, logistic_gap, 7, log_scale, 4, none, 0)                       \
  X(gumbel, 3, gumbel_gap, 7, log_scale, 4, none, 0)                           \
  X(student_t, 4, student_t_gap, 15, student_t_shape, 2, student_t_scale, 8)   \
  X(lognormal, 3, lognormal_gap, 7, log_scale, 4, minus_log, 1)                \
  X(exponential, 2, exponential_decay, 3, log_rate, 2, none, 0)                \
  X(gamma, 3, gamma_decay, 7, shape_and_rate, 6, none, 0)                      \
  X(inv_gamma, 3, inv_gamma_decay, 7, shape_and_rate, 6, none, 0)              \
  X(weibull, 3, weibull_decay, 7, log_rate, 2, log_scale, 4)                   \
  X(beta, 3, beta_powers, 7, beta_constant, 6, none, 0)                        \
  X(bernoulli, 2, bernoulli_choice, 3, none, 0, none, 0)                       \
  X(bernoulli_logit, 2, bernoulli_logit_choice, 3, none, 0, none, 0)           \
  X(binomial, 3, binomial_powers, 7, log_choose, 3, none, 0)                   \
  X(binomial_logit, 3, binomial_logit_powers, 7, log_choose, 3, none, 0)       \
  X(poisson, 2, poisson_rate, 3, log_factorial, 1, none, 0)                    \
  X(poisson_log, 2, poisson_log_rate, 3, log_factorial, 1, none, 0)            \
  X(neg_binomial_2, 3, neg_binomial_2_rate, 7, small_shape, 4, log_factorial,  \
    1)                                                                         \
  X(neg_binomial_2_log, 3, neg_binomial_2_log_rate, 7, small_shape, 4,         \
    log_factorial, 1)

#define DEFINE(name, arity, first, u, second, v, third, w)                     \
  KERNEL(name) {                                                               \
    double y = x[0], a = arity > 1 ? x[1] : 0, b = arity > 2 ? x[2] : 0,       \
           c = arity > 3 ? x[3] : 0, s[TM_TERMS][4] = {{0}};                   \
    if (!d)                                                                    \
      return first(y, a, b, c, s[0]) + second(y, a, b, c, s[1]) +              \
             third(y, a, b, c, s[2]);                                          \
    double value = first(y, a, b, c, s[0]) + second(y, a, b, c, s[1]) +        \
                   third(y, a, b, c, s[2]);                                    \
    for (int i = 0; i < arity; i++)                                            \
      d[i] = s[0][i] + s[1][i] + s[2][i];                                      \
    return value;                                                              \
  }
DENSITIES(DEFINE)

const tm_term *tm_density_terms(tm_kernel kernel) {
#define ENTRY(name, arity, first, u, second, v, third, w)                      \
  {tm_kernel_##name,                                                           \
   {{first##_rows, u}, {second##_rows, v}, {third##_rows, w}}},
  static const struct {
    tm_kernel kernel;
    tm_term terms[TM_TERMS];
  } table[] = {DENSITIES(ENTRY)};
  for (size_t i = 0; i < sizeof table / sizeof *table; i++)
    if (table[i].kernel == kernel)
      return table[i].terms;
  return NULL;
}
