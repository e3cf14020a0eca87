/* rows_calls.c - functions of scalars over a block of rows; see rows.h. */
#include "language/runtime/rows.h"

#include "numeric/libmvec.h"
#include "numeric/vector_gamma.h"

#include <string.h>

#define R (&tm_the_runtime)

#define DEFINE_UNARY(name, value, slope)                                       \
  static void name##_values(const double *const *x, double *restrict y,        \
                            long n) {                                          \
    const double *restrict a = x[0];                                           \
    _Pragma("GCC ivdep") for (long k = 0; k < n; k++) y[k] =                   \
        tm_d_##name(R, a[k]);                                                  \
  }                                                                            \
  static void name##_slopes(const double *const *x, const double *restrict y,  \
                            const double *restrict g, double *const *s,        \
                            long n) {                                          \
    const double *restrict a = x[0];                                           \
    double *restrict to = s[0];                                                \
    _Pragma("GCC ivdep") for (long k = 0; k < n; k++) to[k] =                  \
        g[k] * tm_d_##name##_slope(R, a[k], y[k]);                             \
  }
TM_UNARY(DEFINE_UNARY)

#define DEFINE_BINARY(name, value, slope_a, slope_b)                           \
  static void name##_values(const double *const *x, double *restrict y,        \
                            long n) {                                          \
    const double *restrict a = x[0], *restrict b = x[1];                       \
    _Pragma("GCC ivdep") for (long k = 0; k < n; k++) y[k] =                   \
        tm_d_##name(R, a[k], b[k]);                                            \
  }                                                                            \
  static void name##_slopes(const double *const *x, const double *restrict y,  \
                            const double *restrict g, double *const *s,        \
                            long n) {                                          \
    const double *restrict a = x[0], *restrict b = x[1];                       \
    double *restrict sa = s[0], *restrict sb = s[1];                           \
    for (long k = 0; sa && k < n; k++)                                         \
      sa[k] = g[k] * tm_d_##name##_a(R, a[k], b[k], y[k]);                     \
    for (long k = 0; sb && k < n; k++)                                         \
      sb[k] = g[k] * tm_d_##name##_b(R, a[k], b[k], y[k]);                     \
  }
TM_BINARY(DEFINE_BINARY)

/* log(p exp(a) + (1 - p) exp(b)) */
static void log_mix_values(const double *const *x, double *restrict y, long n) {
  const double *restrict p = x[0], *restrict a = x[1], *restrict b = x[2];
  for (long k = 0; k < n; k++) {
    double u = log(p[k]) + a[k], v = log1p(-p[k]) + b[k];
    double most = u > v ? u : v, least = u > v ? v : u;
    y[k] = most == -INFINITY ? most : most + tm_log1p_unit(exp(least - most));
  }
}

static void log_mix_slopes(const double *const *x, const double *restrict y,
                           const double *restrict g, double *const *s, long n) {
  const double *restrict p = x[0], *restrict a = x[1], *restrict b = x[2];
  double *restrict sp = s[0], *restrict sa = s[1], *restrict sb = s[2];
  for (long k = 0; k < n; k++) {
    double u = exp(a[k] - y[k]), v = exp(b[k] - y[k]);
    if (sp)
      sp[k] = g[k] * (u - v);
    if (sa)
      sa[k] = g[k] * p[k] * u;
    if (sb)
      sb[k] = g[k] * (1 - p[k]) * v;
  }
}

const tm_row_call *tm_row_call_find(const char *name) {
#define UNARY_ENTRY(name, value, slope) {#name, name##_values, name##_slopes},
#define BINARY_ENTRY(name, value, a, b) {#name, name##_values, name##_slopes},
  static const tm_row_call calls[] = {TM_UNARY(UNARY_ENTRY) TM_BINARY(
      BINARY_ENTRY){"log_mix", log_mix_values, log_mix_slopes}};
  for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
    if (!strcmp(calls[i].name, name))
      return &calls[i];
  return NULL;
}

bool tm_row_has_call(const char *name) {
  return tm_row_call_find(name) != NULL;
}
