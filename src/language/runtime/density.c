/* density.c - the table of univariate densities, and the same over containers:
 * whole-vector nodes, or partials straight into the target's adjoints. */
#include "language/runtime/density.h"

tm_kernel tm_density_kernel(const char *name) {
#define ENTRY(name, letters) {#name, tm_kernel_##name},
  static const struct {
    const char *name;
    tm_kernel kernel;
  } kernels[] = {TM_DENSITIES(ENTRY)};
  for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++)
    if (!strcmp(kernels[i].name, name))
      return kernels[i].kernel;
  return NULL;
}

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
  double value = kernel == tm_kernel_normal && v[2].scalar
                     ? normal_loop(v, n, to)
                     : kernel_loop(kernel, arity, v, n, to, active);
  if (isnan(value) && bad_arguments(v, arity))
    return tm_any_real(ZERO);
  return tm_scalar_result(tape, value, keeps, kept);
}

#define DEFINE(name, letters)                                                  \
  static tm_any name##_density(tm_tape *tape, const tm_any *arguments,         \
                               int count) {                                    \
    return vectorised(tape, arguments, count, tm_kernel_##name,                \
                      (int)sizeof letters - 1, #name);                         \
  }
TM_DENSITIES(DEFINE)

#define TABLE(name, letters) {#name "_lpdf", letters, name##_density},
const tm_function_entry tm_density_functions[] = {
    TM_DENSITIES(TABLE){NULL, NULL, NULL}};
