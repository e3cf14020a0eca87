/* qr.c - the QR decomposition by Householder's reflections, the diagonal of R
 * not negative. Matrices that vary are reflected on the tape, where each step
 * is a product that has its sweep already; others go to LAPACK. */
#include "language/runtime/fixed.h"

#include <lapacke.h>

typedef struct factors {
  tm_any q, r; /* m x k and k x n */
} factors;

static tm_any cut(tm_tape *tape, tm_any x, int row, int column, int rows,
                  int columns) {
  return tm_f_block(tape,
                    (tm_any[]){x, tm_any_int(row + 1), tm_any_int(column + 1),
                               tm_any_int(rows), tm_any_int(columns)},
                    5);
}

/* Rows of Q and R turned so that R has no negative diagonal: a vector of signs
 * as data. */
static tm_any signs_of(tm_tape *tape, const tm_tensor *r) {
  tm_tensor s = tm_tensor_new(tape, 1, r->dim, 0);
  for (int i = 0; i < r->dim[0]; i++)
    s.v[i] = i < r->dim[1] && r->v[(long)i * r->dim[1] + i] < 0 ? -1 : 1;
  return tm_any_tensor(s, 1);
}

static factors turned(tm_tape *tape, factors f) {
  tm_any signs = signs_of(tape, &f.r.u.t);
  return (factors){tm_call2(tape, tm_f_diag_post_multiply, f.q, signs),
                   tm_call2(tape, tm_f_diag_pre_multiply, signs, f.r)};
}

/* ---- data --------------------------------------------------------------- */

static factors by_lapack(tm_tape *tape, const tm_tensor *t, int k) {
  int m = t->dim[0], n = t->dim[1], steps = m < n ? m : n;
  double *a = tm_copied(tape, t->v, (long)m * n);
  double *tau = tm_take(tape, (size_t)steps * sizeof(double) + 1);
  tm_tensor r = tm_tensor_new(tape, 2, (int[]){k, n}, 0);
  tm_tensor q = tm_tensor_new(tape, 2, (int[]){m, k}, 0);
  if (steps)
    LAPACKE_dgeqrf(LAPACK_ROW_MAJOR, m, n, a, n, tau);
  for (int i = 0; i < steps; i++)
    for (int j = i; j < n; j++)
      r.v[(long)i * n + j] = a[(long)i * n + j];
  for (int i = 0; i < m; i++)
    for (int j = 0; j < steps && j < k; j++)
      q.v[(long)i * k + j] = a[(long)i * n + j];
  if (steps)
    LAPACKE_dorgqr(LAPACK_ROW_MAJOR, m, k, steps, q.v, k, tau);
  return (factors){tm_any_tensor(q, 1), tm_any_tensor(r, 1)};
}

/* ---- matrices that vary ------------------------------------------------- */

/* v = x + sign(x_1) |x| e_1 for column `at` of r, zero above. */
static tm_any reflector(tm_tape *tape, tm_any r, int at) {
  const tm_tensor *t = &r.u.t;
  int m = t->dim[0];
  tm_any x = tm_f_sub_col(
      tape,
      (tm_any[]){r, tm_any_int(at + 1), tm_any_int(at + 1), tm_any_int(m - at)},
      4);
  tm_any length = tm_f_norm2(tape, &x, 1);
  if (x.u.t.v[0] < 0)
    length = tm_any_var(tm_v_negative(tape, tm_as_var(&length)));
  tm_any one =
      tm_f_one_hot(tape, (tm_any[]){tm_any_int(m - at), tm_any_int(1)}, 2);
  tm_any v =
      tm_map2(tape, "add", x, tm_map2(tape, "elt_multiply", one, length));
  tm_any above = tm_f_zeros(tape, (tm_any[]){tm_any_int(at)}, 1);
  return at ? tm_call2(tape, tm_f_append, above, v) : v;
}

/* x - v (2 / v'v) (v' x) */
static tm_any reflected(tm_tape *tape, tm_any v, tm_any x) {
  tm_any square = tm_f_dot_self(tape, &v, 1);
  if (tm_as_var(&square).v == 0)
    return x;
  tm_any scale = tm_map2(tape, "elt_divide", tm_any_real(2), square);
  tm_any row = tm_call2(tape, tm_f_matmul, v, x);
  tm_any step =
      tm_call2(tape, tm_f_matmul, tm_map2(tape, "elt_multiply", v, scale), row);
  return tm_map2(tape, "subtract", x, step);
}

/* The first k columns of the identity of size m, as data. */
static tm_any unit(tm_tape *tape, int m, int k) {
  tm_tensor t = tm_tensor_new(tape, 2, (int[]){m, k}, 0);
  for (int i = 0; i < k && i < m; i++)
    t.v[(long)i * k + i] = 1;
  return tm_any_tensor(t, 1);
}

static factors by_tape(tm_tape *tape, tm_any a, int k) {
  int m = a.u.t.dim[0], n = a.u.t.dim[1], steps = m - 1 < n ? m - 1 : n;
  tm_any r = a, q = unit(tape, m, k);
  tm_any *v = tm_take(tape, (size_t)(steps > 0 ? steps : 0) * sizeof *v + 1);
  for (int i = 0; i < steps; i++) {
    v[i] = reflector(tape, r, i);
    r = reflected(tape, v[i], r);
  }
  for (int i = steps; i-- > 0;)
    q = reflected(tape, v[i], q);
  return (factors){q, cut(tape, r, 0, 0, k, n)};
}

static factors decompose(tm_tape *tape, const tm_any *a, bool thin) {
  const tm_tensor *t = &a->u.t;
  int m = t->dim[0], n = t->dim[1], k = thin && n < m ? n : m;
  return turned(tape, t->d ? by_tape(tape, a[0], k) : by_lapack(tape, t, k));
}

TM_F(qr_q) {
  (void)count;
  return decompose(tape, a, false).q;
}
TM_F(qr_r) {
  (void)count;
  return decompose(tape, a, false).r;
}
TM_F(qr_thin_q) {
  (void)count;
  return decompose(tape, a, true).q;
}
TM_F(qr_thin_r) {
  (void)count;
  return decompose(tape, a, true).r;
}
