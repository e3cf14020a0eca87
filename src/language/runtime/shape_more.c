/* shape_more.c - more containers from containers: softmax over arrays,
 * quantiles, mixtures over arrays, and constant vectors. */
#include "language/runtime/fixed.h"
#include "language/runtime/special.h"

#include <stdlib.h>

/* ---- one row at a time -------------------------------------------------- */

/* f of each row of an array of vectors, put together again. */
static tm_any each(tm_tape *tape, const tm_any *a, tm_fn f) {
  const tm_tensor *t = &a->u.t;
  int rows = t->dim[0];
  if (rows == 0)
    return a[0];
  tm_any *parts = tm_take(tape, (size_t)rows * sizeof *parts);
  for (int i = 0; i < rows; i++)
    parts[i] = tm_call1(tape, f, tm_any_tensor(tm_sub(*t, i, 1), a->steady));
  return tm_any_tensor(tm_stack(tape, parts, rows), 1);
}

TM_F(softmax_each) {
  (void)count;
  return each(tape, a, tm_f_softmax);
}
TM_F(log_softmax_each) {
  (void)count;
  return each(tape, a, tm_f_log_softmax);
}

/* ---- log mixtures over arrays of log densities -------------------------- */

TM_F(log_mix_array) {
  (void)count;
  const tm_tensor *lps = &a[1].u.t;
  tm_var sum = tm_constant(0);
  for (int i = 0; i < lps->dim[0]; i++) {
    tm_any row = tm_any_tensor(tm_sub(*lps, i, 1), a[1].steady);
    tm_any one = tm_call2(tape, tm_f_log_mix_vector, a[0], row);
    sum = tm_v_add(tape, sum, tm_as_var(&one));
  }
  return tm_any_var(sum);
}

/* ---- norms and quantiles ------------------------------------------------ */

TM_F(norm1) {
  (void)count;
  return tm_call1(tape, tm_f_sum, tm_map1(tape, "fabs", a[0]));
}

static int ascending(const void *x, const void *y) {
  double a = *(const double *)x, b = *(const double *)y;
  return (a > b) - (a < b);
}

/* Between the two nearest of the sorted values (R's type 7). */
static double quantile_of(tm_tape *tape, const double *sorted, long n,
                          double p) {
  if (!(p >= 0 && p <= 1))
    tm_runtime_fail(tape, "", "quantile: the probability is %g", p);
  double at = p * (double)(n - 1), low = floor(at);
  long i = (long)low, j = i + 1 < n ? i + 1 : i;
  return sorted[i] + (at - low) * (sorted[j] - sorted[i]);
}

TM_F(quantile) {
  (void)count;
  tm_view x, p;
  tm_view_of(a, &x);
  tm_view_of(a + 1, &p);
  if (x.n == 0)
    tm_runtime_fail(tape, "", "quantile of no values");
  double *sorted = tm_copied(tape, x.v, x.n);
  for (long i = 0; i < x.n; i++)
    if (isnan(sorted[i]))
      tm_runtime_fail(tape, "", "quantile: a value is not a number");
  qsort(sorted, (size_t)x.n, sizeof *sorted, ascending);
  if (p.scalar)
    return tm_any_real(quantile_of(tape, sorted, x.n, *p.v));
  tm_tensor out = tm_tensor_new(tape, 1, a[1].u.t.dim, 0);
  for (long i = 0; i < p.n; i++)
    out.v[i] = quantile_of(tape, sorted, x.n, p.v[i]);
  return tm_any_tensor(out, 1);
}

/* ---- products of lines -------------------------------------------------- */

/* A vector as a matrix of one column, or of one row, and back. */
static tm_any shaped(tm_any x, int rows, int columns) {
  x.u.t.rank = 2;
  x.u.t.dim[0] = rows;
  x.u.t.dim[1] = columns;
  return x;
}
static tm_any as_column(tm_any x) { return shaped(x, x.u.t.dim[0], 1); }
static tm_any as_row(tm_any x) { return shaped(x, 1, x.u.t.dim[0]); }

/* Sums over the one dimension there is, or over nothing. */
TM_F(line_dot) {
  return tm_f_columns_dot_product(
      tape, (tm_any[]){as_column(a[0]), as_column(a[count - 1])}, 2);
}
TM_F(line_product) {
  return tm_f_columns_dot_product(
      tape, (tm_any[]){as_row(a[0]), as_row(a[count - 1])}, 2);
}

TM_F(trace_dot) { /* tr(A B) */
  (void)count;
  tm_any turned = tm_f_transpose(tape, a + 1, 1);
  if (turned.u.t.dim[0] != a[0].u.t.dim[0] ||
      turned.u.t.dim[1] != a[0].u.t.dim[1])
    tm_runtime_fail(tape, "", "trace_dot: sizes do not match");
  return tm_call1(tape, tm_f_sum, tm_map2(tape, "elt_multiply", a[0], turned));
}
TM_F(trace_quad_form) {
  tm_any q = tm_f_quad_form_matrix(tape, a, count);
  return tm_f_trace(tape, &q, 1);
}
TM_F(trace_gen_quad_form) {
  (void)count;
  tm_any q = tm_f_quad_form_matrix(tape, a + 1, 2);
  return tm_f_trace_dot(tape, (tm_any[]){a[0], q}, 2);
}
TM_F(chol2inv) {
  (void)count;
  tm_check_square(tape, &a->u.t, "chol2inv");
  tm_any n = tm_any_int(a->u.t.dim[0]);
  tm_any x = tm_call2(tape, tm_f_solve_lower, a[0], tm_f_identity(tape, &n, 1));
  return tm_f_crossprod(tape, &x, 1);
}

TM_F(symmetrize) {
  (void)count;
  const tm_tensor *t = &a->u.t;
  tm_check_square(tape, t, "symmetrize_from_lower_tri");
  int n = t->dim[0];
  tm_builder b = tm_build(tape, 2, t->dim, t->d != NULL);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      long at = i >= j ? (long)i * n + j : (long)j * n + i;
      tm_put(&b, (long)i * n + j, t->v[at], t->d ? t->d + at : NULL);
    }
  return tm_built(tape, &b);
}

TM_F(uniform_simplex) {
  tm_any ones = tm_f_ones(tape, a, count);
  for (int i = 0; i < ones.u.t.dim[0]; i++)
    ones.u.t.v[i] = 1.0 / ones.u.t.dim[0];
  return ones;
}

/* to_matrix(x, m, n, column_major) */
TM_F(fill_matrix_as) {
  (void)count;
  if (a[3].u.i)
    return tm_f_fill_matrix(tape, a, 3);
  tm_any turned = tm_f_fill_matrix(tape, (tm_any[]){a[0], a[2], a[1]}, 3);
  return tm_f_transpose(tape, &turned, 1);
}

/* ---- whole numbers ------------------------------------------------------ */

TM_F(cumulative_sum_int) {
  (void)count;
  return tm_f_cumulative_sum(tape, a, 1);
}
/* Functions of two ints over arrays, scalars broadcast. */
static tm_any whole_each(tm_tape *tape, const tm_any *a, tm_fn f,
                         const char *name) {
  tm_view n, k;
  tm_view_of(a, &n);
  tm_view_of(a + 1, &k);
  long size = tm_common_length(tape, (tm_view[]){n, k}, 2, name);
  const tm_tensor *like = n.scalar ? &a[1].u.t : &a[0].u.t;
  tm_tensor out = tm_tensor_new(tape, like->rank, like->dim, 0);
  for (long i = 0; i < size; i++) {
    tm_any one[] = {tm_any_int((long)n.v[i * n.stride]),
                    tm_any_int((long)k.v[i * k.stride])};
    out.v[i] = (double)f(tape, one, 2).u.i;
  }
  return tm_any_tensor(out, 1);
}
static tm_any whole_special(const tm_any *a, tm_kernel f) {
  double x[] = {(double)a[0].u.i, (double)a[1].u.i};
  return tm_any_int(lround(f(x, NULL)));
}
TM_F(falling_factorial_int) {
  (void)tape, (void)count;
  return whole_special(a, tm_special_falling_factorial);
}
TM_F(rising_factorial_int) {
  (void)tape, (void)count;
  return whole_special(a, tm_special_rising_factorial);
}
#define WHOLE(name, f)                                                         \
  TM_F(name##_each) {                                                          \
    (void)count;                                                               \
    return whole_each(tape, a, tm_f_##f, #name);                               \
  }
WHOLE(choose, choose)
WHOLE(falling_factorial, falling_factorial_int)
WHOLE(rising_factorial, rising_factorial_int)
TM_F(to_int_each) {
  (void)count;
  const tm_tensor *x = &a->u.t;
  tm_tensor out = tm_tensor_new(tape, x->rank, x->dim, 0);
  for (long i = 0, n = tm_count(x); i < n; i++)
    out.v[i] = (double)tm_f_to_int(tape, &tm_any_real(x->v[i]), 1).u.i;
  return tm_any_tensor(out, 1);
}
