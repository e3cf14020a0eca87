/* matrix_exp.c - exponentials and powers of matrices. exp(A) by scaling,
 * a Pade approximant of order 13 and squaring (Higham 2005). The sweep uses
 *   exp [A' G; 0 A'] = [exp(A') Abar; 0 exp(A')]. */
#include "language/runtime/fixed.h"

#include <cblas.h>
#include <lapacke.h>

static void multiply(const double *a, const double *b, int n, double *out) {
  cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, n, n, 1, a, n, b, n,
              0, out, n);
}

/* sum of c_i times the powers (I, A2, A4, A6), every second coefficient */
static void combine(const double *const *powers, const double *c, int n,
                    double *out) {
  for (long k = 0; k < (long)n * n; k++) {
    double sum = k % (n + 1) == 0 ? c[0] : 0;
    for (int i = 1; i < 4; i++)
      sum += c[2 * i] * powers[i][k];
    out[k] = sum;
  }
}

static double norm_of(const double *a, int n) {
  double most = 0;
  for (int j = 0; j < n; j++) {
    double sum = 0;
    for (int i = 0; i < n; i++)
      sum += fabs(a[(long)i * n + j]);
    most = fmax(most, sum);
  }
  return most;
}

/* In place, with room for 8 n x n numbers and n pivots. */
static void exponential(double *a, int n, double *work, lapack_int *pivots) {
  static const double c[] = {64764752532480000,
                             32382376266240000,
                             7771770303897600,
                             1187353796428800,
                             129060195264000,
                             10559470521600,
                             670442572800,
                             33522128640,
                             1323241920,
                             40840800,
                             960960,
                             16380,
                             182,
                             1};
  long size = (long)n * n;
  double *p[8];
  for (int i = 0; i < 8; i++)
    p[i] = work + i * size;
  double norm = norm_of(a, n);
  int halvings = norm > 5.4 ? (int)ceil(log2(norm / 5.4)) : 0;
  for (long k = 0; k < size; k++)
    a[k] = ldexp(a[k], -halvings);
  double *a2 = p[0], *a4 = p[1], *a6 = p[2], *u = p[3], *v = p[4], *t = p[5];
  multiply(a, a, n, a2);
  multiply(a2, a2, n, a4);
  multiply(a2, a4, n, a6);
  const double *powers[] = {NULL, a2, a4, a6};
  static const double none = 0;
  /* u = A (A6 (c13 A6 + c11 A4 + c9 A2) + c7 A6 + c5 A4 + c3 A2 + c1 I) */
  double top[] = {none, none, c[9], none, c[11], none, c[13]};
  combine(powers, top, n, t);
  multiply(a6, t, n, v);
  combine(powers, c + 1, n, t);
  for (long k = 0; k < size; k++)
    t[k] += v[k];
  multiply(a, t, n, u);
  double other[] = {none, none, c[8], none, c[10], none, c[12]};
  combine(powers, other, n, t);
  multiply(a6, t, n, v);
  combine(powers, c, n, t);
  for (long k = 0; k < size; k++) {
    v[k] += t[k];
    a[k] = v[k] + u[k];
    t[k] = v[k] - u[k];
  }
  LAPACKE_dgesv(LAPACK_ROW_MAJOR, n, n, t, n, pivots, a, n);
  for (; halvings > 0; halvings--) {
    multiply(a, a, n, t);
    memcpy(a, t, (size_t)size * sizeof(double));
  }
}

typedef struct exp_node {
  tm_node node;
  int n;
  double *ad, *ed;
  const double *a;
  double *work; /* 9 (2n)^2 */
  lapack_int *pivots;
} exp_node;

static void exp_back(tm_node *node) {
  exp_node *e = (exp_node *)node;
  int n = e->n, two = 2 * n;
  double *block = e->work;
  memset(block, 0, (size_t)two * (size_t)two * sizeof(double));
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      double x = e->a[(long)j * n + i];
      block[(long)i * two + j] = block[(long)(i + n) * two + j + n] = x;
      block[(long)i * two + j + n] = e->ed[(long)i * n + j];
    }
  exponential(block, two, block + (long)two * two, e->pivots);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      e->ad[(long)i * n + j] += block[(long)i * two + j + n];
}

TM_F(matrix_exp) {
  (void)count;
  const tm_tensor *t = &a->u.t;
  tm_check_square(tape, t, "matrix_exp");
  int n = t->dim[0];
  long size = (long)n * n;
  tm_tensor out = tm_tensor_new(tape, 2, t->dim, t->d != NULL);
  memcpy(out.v, t->v, (size_t)size * sizeof(double));
  for (long k = 0; k < size; k++)
    if (!isfinite(out.v[k]))
      tm_runtime_reject(tape, "matrix_exp of a matrix with NaN");
  double *work = tm_take(tape, (size_t)(size ? 36 * size : 1) * sizeof *work);
  lapack_int *pivots = tm_take(tape, 2 * (size_t)n * sizeof *pivots + 1);
  if (n)
    exponential(out.v, n, work, pivots);
  if (t->d) {
    double *own = tm_copied(tape, t->v, size);
    exp_node *e = (exp_node *)tm_push(tape, sizeof *e, exp_back);
    *e = (exp_node){e->node, n, t->d, out.d, own, work, pivots};
  }
  return tm_any_tensor(out, 1);
}

TM_F(matrix_exp_multiply) {
  (void)count;
  return tm_call2(tape, tm_f_matmul, tm_f_matrix_exp(tape, a, 1), a[1]);
}
TM_F(scale_matrix_exp_multiply) {
  (void)count;
  tm_any scaled = tm_map2(tape, "elt_multiply", a[1], a[0]);
  return tm_call2(tape, tm_f_matmul, tm_f_matrix_exp(tape, &scaled, 1), a[2]);
}

/* By repeated squaring. */
TM_F(matrix_power) {
  (void)count;
  tm_check_square(tape, &a->u.t, "matrix_power");
  long power = a[1].u.i;
  if (power < 0)
    tm_runtime_fail(tape, "", "matrix_power: the power is %ld", power);
  tm_any size = tm_any_int(a->u.t.dim[0]);
  tm_any out = tm_f_identity(tape, &size, 1), square = a[0];
  for (bool first = true; power; power >>= 1) {
    if (power & 1)
      out = first ? square : tm_call2(tape, tm_f_matmul, out, square);
    first = first && !(power & 1);
    if (power > 1)
      square = tm_call2(tape, tm_f_matmul, square, square);
  }
  /* never the argument's own storage */
  return a[1].u.i == 1 ? tm_f_to_matrix(tape, a, 1) : out;
}
