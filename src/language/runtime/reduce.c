/* reduce.c - containers to numbers: sums, moments, extremes, dot products. */
#include "language/runtime/fixed.h"

#include "numeric/vector_exp.h"

static double *room(tm_tape *tape, const tm_view *v) {
  return v->d ? tm_take(tape, (size_t)v->n * sizeof(double)) : NULL;
}

static tm_any one_argument(tm_tape *tape, const tm_view *v, double value,
                           double *partial) {
  return tm_scalar_result(tape, value, 1, &(tm_partial){v->d, partial, v->n});
}

/* The same for arrays of integers, whose results are integers. */
#define WHOLE(name)                                                            \
  TM_F(name##_int) {                                                           \
    return tm_any_int((long)tm_f_##name(tape, a, count).u.r.v);                \
  }

TM_F(sum) {
  (void)count;
  tm_view v;
  tm_view_of(a, &v);
  double total = 0, *p = room(tape, &v);
  for (long k = 0; k < v.n; k++)
    total += v.v[k];
  for (long k = 0; p && k < v.n; k++)
    p[k] = 1;
  return one_argument(tape, &v, total, p);
}

TM_F(prod) {
  (void)count;
  tm_view v;
  tm_view_of(a, &v);
  double total = 1, *p = room(tape, &v);
  for (long k = 0; k < v.n; k++)
    total *= v.v[k];
  for (long k = 0; p && k < v.n; k++) {
    p[k] = 1;
    for (long j = 0; j < v.n; j++)
      p[k] *= j == k ? 1 : v.v[j];
  }
  return one_argument(tape, &v, total, p);
}

WHOLE(sum)
WHOLE(prod)

TM_F(mean) {
  (void)count;
  tm_view v;
  tm_view_of(a, &v);
  if (v.n == 0)
    tm_runtime_fail(tape, "", "mean of nothing");
  double total = 0, *p = room(tape, &v);
  for (long k = 0; k < v.n; k++)
    total += v.v[k];
  for (long k = 0; p && k < v.n; k++)
    p[k] = 1 / (double)v.n;
  return one_argument(tape, &v, total / (double)v.n, p);
}

static double variance_of(tm_tape *tape, const tm_view *v, double *p) {
  if (v->n == 0)
    tm_runtime_fail(tape, "", "variance of nothing");
  if (v->n == 1)
    return 0;
  double mean = 0, squares = 0, n1 = (double)v->n - 1;
  for (long k = 0; k < v->n; k++)
    mean += v->v[k] / (double)v->n;
  for (long k = 0; k < v->n; k++)
    squares += (v->v[k] - mean) * (v->v[k] - mean);
  for (long k = 0; p && k < v->n; k++)
    p[k] = 2 * (v->v[k] - mean) / n1;
  return squares / n1;
}

TM_F(variance) {
  (void)count;
  tm_view v;
  tm_view_of(a, &v);
  double *p = room(tape, &v);
  return one_argument(tape, &v, variance_of(tape, &v, p), p);
}

TM_F(sd) {
  (void)count;
  tm_view v;
  tm_view_of(a, &v);
  double *p = room(tape, &v), s = sqrt(variance_of(tape, &v, p));
  for (long k = 0; p && k < v.n; k++)
    p[k] = s > 0 ? p[k] / (2 * s) : 0;
  return one_argument(tape, &v, s, p);
}

static tm_any extreme(tm_tape *tape, const tm_any *a, double sign) {
  tm_view v;
  tm_view_of(a, &v);
  double *p = room(tape, &v), best = -INFINITY;
  long at = 0;
  for (long k = 0; k < v.n; k++)
    if (sign * v.v[k] > best || isnan(v.v[k])) {
      best = sign * v.v[k];
      at = k;
    }
  if (p && v.n)
    p[at] = 1;
  return one_argument(tape, &v, sign * best, p);
}

TM_F(min) {
  (void)count;
  return extreme(tape, a, -1);
}
TM_F(max) {
  (void)count;
  return extreme(tape, a, 1);
}
WHOLE(min)
WHOLE(max)

TM_F(min2) {
  (void)tape, (void)count;
  return tm_any_int(a[0].u.i < a[1].u.i ? a[0].u.i : a[1].u.i);
}
TM_F(max2) {
  (void)tape, (void)count;
  return tm_any_int(a[0].u.i > a[1].u.i ? a[0].u.i : a[1].u.i);
}

enum { MANY = 8 }; /* powers that are worth a loop of vectors */

/* exp(x - m) and their sum; of two, the larger has 1 at once. */
static double sum_of_powers(const tm_view *v, double m, double *to) {
  double total = 0;
  if (v->n == 2) {
    double e = exp(-fabs(v->v[0] - v->v[1]));
    bool second = v->v[0] < m; /* `to` may be where they are */
    to[0] = second ? e : 1;
    to[1] = second ? 1 : e;
    return 1 + e;
  }
  for (long k = 0; k < v->n; k++)
    to[k] = v->n < MANY ? exp(v->v[k] - m) : v->v[k] - m;
  if (v->n >= MANY)
    tm_vector_exp(to, (size_t)v->n);
  for (long k = 0; k < v->n; k++)
    total += to[k];
  return total;
}

TM_F(log_sum_exp) {
  (void)count;
  tm_view v;
  tm_view_of(a, &v);
  double m = -INFINITY, few[8];
  for (long k = 0; k < v.n; k++)
    m = v.v[k] > m ? v.v[k] : m;
  bool small = v.n <= (long)(sizeof few / sizeof *few);
  double *p = small ? few : tm_take(tape, (size_t)v.n * sizeof(double));
  double total = 0, value = m;
  if (isinf(m)) {
    memset(p, 0, (size_t)v.n * sizeof(double));
  } else {
    total = sum_of_powers(&v, m, p);
    value += log(total);
    for (long k = 0; k < v.n; k++)
      p[k] /= total;
  }
  if (!v.d || !small)
    return one_argument(tape, &v, value, p);
  tm_linear *node = tm_linear_new(tape, (int)v.n);
  for (long k = 0; k < v.n; k++)
    tm_linear_set(tape, node, (int)k, v.d + k, p[k]);
  return tm_any_var((tm_var){value, &node->adjoint.own});
}

/* Of 2 to 7 numbers, without the power of the largest; false: one is not a
 * finite number. */
static bool share_out_few(double *e, long n, double *value, double *total) {
  long at = 0;
  double sum = 1, finite = 0;
  for (long k = 1; k < n; k++)
    at = e[k] > e[at] ? k : at;
  double m = e[at];
  for (long k = 0; k < n; k++)
    finite += 0 * e[k];
  if (finite != 0)
    return false;
  for (long j = 1; j < n; j++) {
    long k = at + j < n ? at + j : at + j - n;
    e[k] = exp(e[k] - m);
    sum += e[k];
  }
  e[at] = 1;
  *total = sum;
  *value = m + log(sum);
  return true;
}

/* log_sum_exp of n terms, which become shares of the sum. Where all are zero or
 * one is infinite, none has a share. */
static double share_out(double *e, long n, double *total) {
  double m = -INFINITY;
  double few;
  if (n > 1 && n < MANY && share_out_few(e, n, &few, total))
    return few;
  for (long k = 0; k < n; k++)
    m = e[k] > m ? e[k] : m;
  *total = 0;
  if (isinf(m)) {
    memset(e, 0, (size_t)n * sizeof *e);
    return m;
  }
  *total = sum_of_powers(&(tm_view){.v = e, .n = n}, m, e);
  return m + log(*total);
}

/* What is common is not a number: as if every term were not, which is zero. */
double tm_powers_value(double *e, long n, double common) {
  double total, value = share_out(e, n, &total);
  return isnan(common) || value == -INFINITY ? -INFINITY : value + common;
}

tm_var tm_powers_sum(tm_tape *tape, tm_linear *node, double *e, long n,
                     int each, int rest, double common) {
  double total, value = share_out(e, n, &total);
  double inverse = total > 0 ? 1 / total : 0;
  tm_slope *s = node->slopes;
  for (long k = 0; k < n; k++) {
    double share = e[k] * inverse;
    for (int i = 0; i < each; i++)
      s++->d *= share;
  }
  node->node.back = NULL;
  node->node.before = tape->last;
  node->adjoint.own = 0;
  node->count = (int)n * each + rest;
  node->assigned = 0;
  tape->last = &node->node;
  value = isnan(common) || value == -INFINITY ? -INFINITY : value + common;
  return (tm_var){value, &node->adjoint.own};
}

enum { FEW = 12 }; /* elements that are not worth a loop of vectors */

static double sum_of_products(const double *a, const double *b, long n) {
  double total = 0;
  if (n <= FEW) {
    for (long k = 0; k < n; k++)
      total += a[k] * b[k];
    return total;
  }
#pragma omp simd reduction(+ : total)
  for (long k = 0; k < n; k++)
    total += a[k] * b[k];
  return total;
}

/* sum of a_k b_k for the same or two arguments */
TM_F(dot_product) {
  (void)count;
  tm_view v[2];
  tm_view_of(a, &v[0]);
  tm_view_of(a + 1, &v[1]);
  long n = tm_common_length(tape, v, 2, "dot_product");
  double total = sum_of_products(v[0].v, v[1].v, n);
  tm_partial p[2] = {{v[0].d, NULL, n}, {v[1].d, NULL, n}};
  for (int i = 0; i < 2; i++)
    if (v[i].d && v[1 - i].steady && !v[1 - i].scalar) {
      p[i].partial = (double *)(uintptr_t)v[1 - i].v;
    } else if (v[i].d) {
      p[i].partial = tm_take(tape, (size_t)n * sizeof(double));
      memcpy(p[i].partial, v[1 - i].v, (size_t)n * sizeof(double));
    }
  return tm_scalar_result(tape, total, 2, p);
}

TM_F(dot_self) {
  (void)count;
  tm_view v;
  tm_view_of(a, &v);
  double total = 0, *p = room(tape, &v);
  for (long k = 0; k < v.n; k++)
    total += v.v[k] * v.v[k];
  for (long k = 0; p && k < v.n; k++)
    p[k] = 2 * v.v[k];
  return one_argument(tape, &v, total, p);
}

TM_F(norm2) {
  tm_any square = tm_f_dot_self(tape, a, count);
  return tm_any_var(tm_v_sqrt(tape, square.u.r));
}

TM_F(squared_distance) {
  (void)count;
  tm_view v[2];
  tm_view_of(a, &v[0]);
  tm_view_of(a + 1, &v[1]);
  long n = tm_common_length(tape, v, 2, "distance");
  double total = 0;
  double *p[2] = {room(tape, &v[0]), room(tape, &v[1])};
  for (long k = 0; k < n; k++) {
    double gap = v[0].v[k] - v[1].v[k];
    total += gap * gap;
    for (int i = 0; i < 2; i++)
      if (p[i])
        p[i][k] = (i ? -2 : 2) * gap;
  }
  return tm_scalar_result(tape, total, 2,
                          (tm_partial[]){{v[0].d, p[0], n}, {v[1].d, p[1], n}});
}

TM_F(distance) {
  tm_any square = tm_f_squared_distance(tape, a, count);
  return tm_any_var(tm_v_sqrt(tape, square.u.r));
}

/* log(theta exp(a) + (1 - theta) exp(b)) */
TM_F(log_mix) {
  (void)count;
  tm_view v[3];
  for (int i = 0; i < 3; i++)
    tm_view_of(a + i, &v[i]);
  double t = *v[0].v, x = *v[1].v, y = *v[2].v;
  if (!(t >= 0 && t <= 1))
    tm_runtime_reject(tape, "log_mix: the weight %g is not in [0, 1]", t);
  double value = tm_log_sum_exp(log(t) + x, log1p(-t) + y);
  double p[3] = {exp(x - value) - exp(y - value), t * exp(x - value),
                 (1 - t) * exp(y - value)};
  tm_partial kept[3];
  for (int i = 0; i < 3; i++) {
    double *place = tm_take(tape, sizeof(double));
    *place = p[i];
    kept[i] = (tm_partial){v[i].d, place, 1};
  }
  return tm_scalar_result(tape, value, 3, kept);
}

TM_F(log_mix_vector) {
  (void)count;
  tm_view v[2];
  tm_view_of(a, &v[0]);
  tm_view_of(a + 1, &v[1]);
  long n = tm_common_length(tape, v, 2, "log_mix");
  double value = -INFINITY;
  for (long k = 0; k < n; k++)
    value = tm_log_sum_exp(value, log(v[0].v[k]) + v[1].v[k]);
  double *p[2] = {room(tape, &v[0]), room(tape, &v[1])};
  for (long k = 0; k < n; k++) {
    double e = exp(v[1].v[k] - value);
    if (p[0])
      p[0][k] = e;
    if (p[1])
      p[1][k] = v[0].v[k] * e;
  }
  return tm_scalar_result(tape, value, 2,
                          (tm_partial[]){{v[0].d, p[0], n}, {v[1].d, p[1], n}});
}

/* ---- sizes, tests ------------------------------------------------------- */

TM_F(one) {
  (void)tape, (void)a, (void)count;
  return tm_any_int(1);
}
TM_F(rows) {
  (void)tape, (void)count;
  return tm_any_int(a->u.t.dim[0]);
}
TM_F(cols) {
  (void)tape, (void)count;
  return tm_any_int(a->u.t.dim[1]);
}
TM_F(num_elements) {
  (void)tape, (void)count;
  return tm_any_int(tm_count(&a->u.t));
}
TM_F(dims) {
  (void)count;
  int rank = a->tag == TM_TAG_TENSOR ? a->u.t.rank : 0;
  tm_tensor out = tm_tensor_new(tape, 1, &rank, 0);
  for (int i = 0; i < rank; i++)
    out.v[i] = a->u.t.dim[i];
  return tm_any_tensor(out, 1);
}
TM_F(int_step) {
  (void)tape, (void)count;
  tm_view v;
  tm_view_of(a, &v);
  return tm_any_int(*v.v > 0);
}
TM_F(is_nan) {
  (void)tape, (void)count;
  tm_view v;
  tm_view_of(a, &v);
  return tm_any_int(isnan(*v.v) != 0);
}
TM_F(is_inf) {
  (void)tape, (void)count;
  tm_view v;
  tm_view_of(a, &v);
  return tm_any_int(isinf(*v.v) != 0);
}
TM_F(is_zero) {
  (void)tape, (void)count;
  tm_view v;
  tm_view_of(a, &v);
  return tm_any_int(*v.v == 0);
}
TM_F(to_int) {
  (void)count;
  tm_view v;
  tm_view_of(a, &v);
  if (!(fabs(*v.v) < 2147483648.0))
    tm_runtime_fail(tape, "", "to_int of %g", *v.v);
  return tm_any_int((long)*v.v);
}

static tm_var var_of(const tm_any *a) {
  return a->tag == TM_TAG_INT ? tm_constant((double)a->u.i) : a->u.r;
}

TM_F(if_else) {
  (void)count; /* a copy: the argument may lie in a variable's storage */
  return tm_any_var(tm_copy(tape, a[0].u.i ? var_of(a + 1) : var_of(a + 2)));
}
TM_F(fma) {
  (void)count;
  tm_var product = tm_v_elt_multiply(tape, var_of(a), var_of(a + 1));
  return tm_any_var(tm_v_add(tape, product, var_of(a + 2)));
}
static double times_plus(const double *x, double *d) {
  if (d) {
    d[0] = x[1];
    d[1] = x[0];
    d[2] = 1;
  }
  return fma(x[0], x[1], x[2]);
}
TM_F(fma_each) {
  (void)count;
  return tm_map_kernel(tape, times_plus, a, 3, "fma");
}
TM_F(squared_difference) {
  (void)count;
  tm_var d = tm_v_subtract(tape, var_of(a), var_of(a + 1));
  return tm_any_var(tm_v_square(tape, d));
}
TM_F(choose) {
  (void)tape, (void)count;
  double n = (double)a[0].u.i, k = (double)a[1].u.i;
  return tm_any_int(k < 0 || k > n
                        ? 0
                        : lround(exp(tm_lgamma(n + 1) - tm_lgamma(k + 1) -
                                     tm_lgamma(n - k + 1))));
}
