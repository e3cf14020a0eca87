/* prelude_scalar.h - functions and densities of scalars with derivatives, for
 * generated programs and for the library. */
#ifndef TM_LANGUAGE_PRELUDE_SCALAR_H
#define TM_LANGUAGE_PRELUDE_SCALAR_H

#ifndef TM_LANGUAGE_PRELUDE_H /* generated programs hold it already */
#include "language/runtime/prelude.h"
#endif

/* ---- scalar helpers ---------------------------------------------------- */

/* Written so that loops over them are vectorised. */
TM_INLINE double tm_inv_logit(double x) {
  double e = exp(-fabs(x));
  return (x >= 0 ? 1 : e) / (1 + e);
}
/* log(1 + x) for 0 <= x <= 1, within 3 ulp; a fifth of what log1p takes in
 * loops. It is 2 atanh(s), s = x / (2 + x), after halving 1 + x where that is
 * nearer to one. */
TM_INLINE double tm_log1p_unit(double x) {
  int large = x > 0.41421356;
  double s = (large ? x - 1 : x) / (large ? x + 3 : x + 2), q = s * s;
  double p = 1.0 / 21;
  p = p * q + 1.0 / 19;
  p = p * q + 1.0 / 17;
  p = p * q + 1.0 / 15;
  p = p * q + 1.0 / 13;
  p = p * q + 1.0 / 11;
  p = p * q + 1.0 / 9;
  p = p * q + 1.0 / 7;
  p = p * q + 1.0 / 5;
  p = p * q + 1.0 / 3;
  return (large ? 0.6931471805599453 : 0) + (2 * s + 2 * s * q * p);
}
TM_INLINE double tm_log1p_exp(double x) {
  return (x > 0 ? x : 0) + tm_log1p_unit(exp(-fabs(x)));
}
TM_INLINE double tm_log1m_exp(double x) {
  return x > -0.6931471805599453 ? log(-expm1(x)) : log1p(-exp(x));
}
/* The slopes have the same exponential, which is then computed once. */
TM_INLINE double tm_log_sum_exp(double a, double b) {
  double m = a > b ? a : b, ratio = exp(-fabs(a - b));
  return isinf(m) ? m : m + tm_log1p_unit(ratio);
}
TM_INLINE double tm_share_of_first(double a, double b) {
  double ratio = exp(-fabs(a - b));
  return (a > b ? 1 : ratio) / (1 + ratio);
}
TM_INLINE double tm_share_of_second(double a, double b) {
  double ratio = exp(-fabs(a - b));
  return (b > a ? 1 : ratio) / (1 + ratio);
}
TM_INLINE double tm_log_diff_exp(double a, double b) {
  return b == -INFINITY ? a : a + tm_log1m_exp(b - a);
}
TM_INLINE double tm_sign(double x) { return (x > 0) - (x < 0); }
TM_INLINE double tm_phi(double x) {
  return 0.5 * erfc(-x * 0.7071067811865476);
}
TM_INLINE double tm_phi_density(double x) {
  return 0.3989422804014327 * exp(-0.5 * x * x);
}
/* x log y with 0 log 0 = 0 */
TM_INLINE double tm_xlogy(double x, double y) {
  return x == 0 && y == 0 ? 0 : x * log(y);
}
TM_INLINE long tm_int_pow(long a, long b) {
  long r = 1;
  for (; b > 0; b--)
    r *= a;
  return r;
}

/* Elementwise functions of one argument: name, value in x, derivative in x
 * and the value y; R is the runtime. */
#define TM_UNARY(X)                                                            \
  X(exp, exp(x), y)                                                            \
  X(log, log(x), 1 / x)                                                        \
  X(sqrt, sqrt(x), y > 0 ? 0.5 / y : 0)                                        \
  X(square, x *x, 2 * x)                                                       \
  X(cbrt, cbrt(x), 1 / (3 * y * y))                                            \
  X(exp2, exp2(x), y * 0.6931471805599453)                                     \
  X(log2, log2(x), 1.4426950408889634 / x)                                     \
  X(log10, log10(x), 0.4342944819032518 / x)                                   \
  X(inv, 1 / x, -y * y)                                                        \
  X(inv_sqrt, 1 / sqrt(x), -0.5 * y / x)                                       \
  X(inv_square, 1 / (x * x), -2 * y / x)                                       \
  X(inv_logit, tm_inv_logit(x), y *(1 - y))                                    \
  X(logit, log(x / (1 - x)), 1 / (x * (1 - x)))                                \
  X(inv_cloglog, -expm1(-exp(x)), exp(x - exp(x)))                             \
  X(log1p, log1p(x), 1 / (1 + x))                                              \
  X(log1m, log1p(-x), -1 / (1 - x))                                            \
  X(expm1, expm1(x), y + 1)                                                    \
  X(log1p_exp, tm_log1p_exp(x), tm_inv_logit(x))                               \
  X(log1m_exp, tm_log1m_exp(x), exp(x) / expm1(x))                             \
  X(log_inv_logit, -tm_log1p_exp(-x), tm_inv_logit(-x))                        \
  X(log1m_inv_logit, -tm_log1p_exp(x), -tm_inv_logit(x))                       \
  X(minus, -x, 0 * y - 1)                                                      \
  X(fabs, fabs(x), tm_sign(x))                                                 \
  X(abs, fabs(x), tm_sign(x))                                                  \
  X(floor, floor(x), 0 * y)                                                    \
  X(ceil, ceil(x), 0 * y)                                                      \
  X(round, round(x), 0 * y)                                                    \
  X(trunc, trunc(x), 0 * y)                                                    \
  X(step, x >= 0 ? 1 : 0, 0 * y)                                               \
  X(sin, sin(x), cos(x))                                                       \
  X(cos, cos(x), -sin(x))                                                      \
  X(tan, tan(x), 1 + y * y)                                                    \
  X(asin, asin(x), 1 / sqrt(1 - x * x))                                        \
  X(acos, acos(x), -1 / sqrt(1 - x * x))                                       \
  X(atan, atan(x), 1 / (1 + x * x))                                            \
  X(sinh, sinh(x), cosh(x))                                                    \
  X(cosh, cosh(x), sinh(x))                                                    \
  X(tanh, tanh(x), 1 - y * y)                                                  \
  X(asinh, asinh(x), 1 / sqrt(x * x + 1))                                      \
  X(acosh, acosh(x), 1 / sqrt(x * x - 1))                                      \
  X(atanh, atanh(x), 1 / (1 - x * x))                                          \
  X(erf, erf(x), 1.1283791670955126 * exp(-x * x))                             \
  X(erfc, erfc(x), -1.1283791670955126 * exp(-x * x))                          \
  X(tgamma, tgamma(x), y * R->digamma(x))                                      \
  X(lgamma, R->lgamma(x), R->digamma(x))                                       \
  X(digamma, R->digamma(x), R->trigamma(x))                                    \
  X(Phi, tm_phi(x), tm_phi_density(x))                                         \
  X(Phi_approx, tm_inv_logit(0.07056 * x * x * x + 1.5976 * x),                \
    y *(1 - y) * (3 * 0.07056 * x * x + 1.5976))                               \
  X(inv_Phi, R->inv_phi(x), 1 / tm_phi_density(y))

/* Of two arguments: name, value in a and b, both derivatives (y: value). */
#define TM_ARITHMETIC(X)                                                       \
  X(add, a + b, 1, 1)                                                          \
  X(subtract, a - b, 1, -1)                                                    \
  X(elt_multiply, a *b, b, a)                                                  \
  X(elt_divide, a / b, 1 / b, -y / b)

#define TM_OF_TWO(X)                                                           \
  X(pow, pow(a, b), b == 0 ? 0 : b * pow(a, b - 1), a > 0 ? y * log(a) : 0)    \
  X(fmin, fmin(a, b), a <= b ? 1 : 0, a <= b ? 0 : 1)                          \
  X(fmax, fmax(a, b), a >= b ? 1 : 0, a >= b ? 0 : 1)                          \
  X(fdim, fdim(a, b), a > b ? 1 : 0, a > b ? -1 : 0)                           \
  X(fmod, fmod(a, b), 1, -trunc(a / b))                                        \
  X(hypot, hypot(a, b), a / y, b / y)                                          \
  X(atan2, atan2(a, b), b / (a * a + b * b), -a / (a * a + b * b))             \
  X(lbeta, R->lgamma(a) + R->lgamma(b) - R->lgamma(a + b),                     \
    R->digamma(a) - R->digamma(a + b), R->digamma(b) - R->digamma(a + b))      \
  X(beta, exp(R->lgamma(a) + R->lgamma(b) - R->lgamma(a + b)),                 \
    y *(R->digamma(a) - R->digamma(a + b)),                                    \
    y *(R->digamma(b) - R->digamma(a + b)))                                    \
  X(lchoose, R->lgamma(a + 1) - R->lgamma(b + 1) - R->lgamma(a - b + 1),       \
    R->digamma(a + 1) - R->digamma(a - b + 1),                                 \
    R->digamma(a - b + 1) - R->digamma(b + 1))                                 \
  X(binomial_coefficient_log,                                                  \
    R->lgamma(a + 1) - R->lgamma(b + 1) - R->lgamma(a - b + 1),                \
    R->digamma(a + 1) - R->digamma(a - b + 1),                                 \
    R->digamma(a - b + 1) - R->digamma(b + 1))                                 \
  X(log_sum_exp, tm_log_sum_exp(a, b), tm_share_of_first(a, b),                \
    tm_share_of_second(a, b))                                                  \
  X(log_diff_exp, tm_log_diff_exp(a, b), 1 / -expm1(b - a),                    \
    b == -INFINITY ? 0 : -1 / expm1(a - b))                                    \
  X(multiply_log, tm_xlogy(a, b), log(b), a / b)                               \
  X(lmultiply, tm_xlogy(a, b), log(b), a / b)                                  \
  X(log_falling_factorial, R->log_rise(a - b + 1, b),                          \
    R->digamma_rise(a - b + 1, b), R->digamma(a - b + 1))                      \
  X(log_rising_factorial, R->log_rise(a, b), R->digamma_rise(a, b),            \
    R->digamma(a + b))                                                         \
  X(log_inv_logit_diff, tm_log_diff_exp(-tm_log1p_exp(-a), -tm_log1p_exp(-b)), \
    -1 / expm1(b - a) - tm_inv_logit(a), -1 / expm1(a - b) - tm_inv_logit(b))

#define TM_BINARY(X) TM_OF_TWO(X) TM_ARITHMETIC(X)

#define TM_DEFINE_UNARY(name, value, derivative)                               \
  TM_INLINE double tm_d_##name(const tm_runtime *R, double x) {                \
    (void)R;                                                                   \
    return value;                                                              \
  }                                                                            \
  TM_INLINE double tm_d_##name##_slope(const tm_runtime *R, double x,          \
                                       double y) {                             \
    (void)R, (void)x, (void)y;                                                 \
    return derivative;                                                         \
  }                                                                            \
  TM_INLINE tm_var tm_v_##name(tm_tape *tape, tm_var a) {                      \
    double y = tm_d_##name(tape->runtime, a.v);                                \
    if (!a.d)                                                                  \
      return tm_constant(y);                                                   \
    return tm_linear1(tape, y, a, tm_d_##name##_slope(tape->runtime, a.v, y)); \
  }
TM_UNARY(TM_DEFINE_UNARY)

#define TM_DEFINE_BINARY(name, value, slope_a, slope_b)                        \
  TM_INLINE double tm_d_##name(const tm_runtime *R, double a, double b) {      \
    (void)R;                                                                   \
    return value;                                                              \
  }                                                                            \
  TM_INLINE double tm_d_##name##_a(const tm_runtime *R, double a, double b,    \
                                   double y) {                                 \
    (void)R, (void)a, (void)b, (void)y;                                        \
    return slope_a;                                                            \
  }                                                                            \
  TM_INLINE double tm_d_##name##_b(const tm_runtime *R, double a, double b,    \
                                   double y) {                                 \
    (void)R, (void)a, (void)b, (void)y;                                        \
    return slope_b;                                                            \
  }                                                                            \
  TM_INLINE tm_var tm_v_##name(tm_tape *tape, tm_var a, tm_var b) {            \
    const tm_runtime *R = tape->runtime;                                       \
    double y = tm_d_##name(R, a.v, b.v);                                       \
    if (!a.d && !b.d)                                                          \
      return tm_constant(y);                                                   \
    return tm_linear2(tape, y, a, a.d ? tm_d_##name##_a(R, a.v, b.v, y) : 0,   \
                      b, b.d ? tm_d_##name##_b(R, a.v, b.v, y) : 0);           \
  }
TM_BINARY(TM_DEFINE_BINARY)

TM_INLINE tm_var tm_v_negative(tm_tape *tape, tm_var a) {
  return tm_linear1(tape, -a.v, a, -1);
}

/* ---- densities of scalars ---------------------------------------------- */

/* NaN among the arguments (not the outcome) is density zero. */
TM_OUTLINE double tm_density_checked(int n, const double *x) {
  for (int i = 1; i < n; i++)
    if (isnan(x[i]))
      return -INFINITY;
  return NAN;
}

TM_OUTLINE double tm_density_value(tm_kernel kernel, int n, const double *x) {
  double value = kernel(x, 0);
  return isnan(value) ? tm_density_checked(n, x) : value;
}

/* The same with slopes. */
TM_OUTLINE double tm_density_slopes(tm_kernel kernel, int n, const double *x,
                                    double *d) {
  for (int i = 0; i < n; i++)
    d[i] = 0;
  double value = kernel(x, d);
  if (!isnan(value))
    return value;
  for (int i = 0; i < n; i++)
    d[i] = 0;
  return tm_density_checked(n, x);
}

/* The normal density, which is met most, without a call; d may be 0,
 * `log_scale` is the logarithm of x[2], which may be known already. */
TM_INLINE double tm_normal_density(tm_kernel kernel, const double *x, double *d,
                                   double log_scale) {
  double r = 1 / x[2], z = (x[0] - x[1]) * r;
  if (!(r > 0 && r < INFINITY && fabs(z) < INFINITY))
    return d ? tm_density_slopes(kernel, 3, x, d)
             : tm_density_value(kernel, 3, x);
  if (d) {
    d[1] = z * r;
    d[0] = -d[1];
    d[2] = d[1] * z - r;
  }
  return -0.5 * z * z - 0.9189385332046727 - log_scale;
}

/* The same of an exponential one, of its rate x[1]. */
TM_INLINE double tm_exponential_density(tm_kernel kernel, const double *x,
                                        double *d, double log_rate) {
  if (!(x[1] > 0 && x[1] < INFINITY && x[0] >= 0 && x[0] < INFINITY))
    return d ? tm_density_slopes(kernel, 2, x, d)
             : tm_density_value(kernel, 2, x);
  if (d) {
    d[0] = -x[1];
    d[1] = 1 / x[1] - x[0];
  }
  return log_rate - x[1] * x[0];
}

TM_INLINE long tm_abs_int(long a) { return a < 0 ? -a : a; }

#endif
