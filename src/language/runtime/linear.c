/* linear.c - linear algebra with reverse-mode rules (Giles 2008). Tensors are
 * row-major; LAPACKE is told so. */
#include "language/runtime/fixed.h"
#include "language/runtime/prelude_vector.h"

#include <cblas.h>
#include <lapacke.h>

void tm_check_square(tm_tape *tape, const tm_tensor *t, const char *name) {
  if (t->dim[0] != t->dim[1])
    tm_runtime_fail(tape, "", "%s of a %d x %d matrix", name, t->dim[0],
                    t->dim[1]);
}

/* ---- products ----------------------------------------------------------- */

typedef struct product_node {
  tm_node node;
  const double *a, *b;
  double *ad, *bd, *out;
  int m, k, n; /* (m x k)(k x n) */
} product_node;

/* Small products are done before a library has looked at its arguments. */
static bool is_small(int m, int k, int n) { return (long)m * k * n < 256; }

static void product_back_small(const product_node *p) {
  for (int i = 0; i < p->m; i++)
    for (int l = 0; l < p->k; l++) {
      const double *g = p->out + (long)i * p->n;
      const double *brow = p->b + (long)l * p->n;
      double total = 0, x = p->a[(long)i * p->k + l];
      if (p->ad) {
        for (int j = 0; j < p->n; j++)
          total += g[j] * brow[j];
        p->ad[(long)i * p->k + l] += total;
      }
      if (p->bd)
        for (int j = 0; j < p->n; j++)
          p->bd[(long)l * p->n + j] += g[j] * x;
    }
}

/* A' += G B^T, B' += A^T G */
static void product_back(tm_node *node) {
  product_node *p = (product_node *)node;
  int m = p->m, k = p->k, n = p->n;
  if (is_small(m, k, n)) {
    product_back_small(p);
    return;
  }
  if (p->ad && n == 1)
    cblas_dger(CblasRowMajor, m, k, 1, p->out, 1, p->b, 1, p->ad, k);
  else if (p->ad)
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, m, k, n, 1, p->out, n,
                p->b, n, 1, p->ad, k);
  if (p->bd && n == 1)
    cblas_dgemv(CblasRowMajor, CblasTrans, m, k, 1, p->a, k, p->out, 1, 1,
                p->bd, 1);
  else if (p->bd)
    cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, k, n, m, 1, p->a, k,
                p->out, n, 1, p->bd, n);
}

/* Into zeros. */
static void multiply(const double *a, const double *b, double *out, int m,
                     int k, int n) {
  if (is_small(m, k, n)) {
    for (int i = 0; i < m; i++)
      for (int l = 0; l < k; l++)
        for (int j = 0; j < n; j++)
          out[(long)i * n + j] += a[(long)i * k + l] * b[(long)l * n + j];
  } else if (n == 1) {
    cblas_dgemv(CblasRowMajor, CblasNoTrans, m, k, 1, a, k, b, 1, 0, out, 1);
  } else {
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, n, k, 1, a, k, b,
                n, 0, out, n);
  }
}

/* Vectors on the left are rows beside a matrix and columns beside a row. */
TM_F(matmul) {
  (void)count;
  const tm_tensor *x = &a[0].u.t, *y = &a[1].u.t;
  bool outer = x->rank == 1 && y->rank == 1;
  int m = x->rank == 2 || outer ? x->dim[0] : 1;
  int k = x->rank == 2 ? x->dim[1] : outer ? 1 : x->dim[0];
  int n = y->rank == 2 ? y->dim[1] : outer ? y->dim[0] : 1;
  if (!outer && y->dim[0] != k)
    tm_runtime_fail(tape, "", "* of %d columns and %d rows", k, y->dim[0]);
  int rank = outer || (x->rank == 2 && y->rank == 2) ? 2 : 1;
  int dim[2] = {rank == 2 ? m : m * n, n};
  tm_tensor out = tm_tensor_new(tape, rank, dim, x->d || y->d);
  multiply(x->v, y->v, out.v, m, k, n);
  if (out.d) {
    /* values may be assigned to later: keep them as they are now */
    const double *xv =
        y->d && !a[0].steady ? tm_copied(tape, x->v, (long)m * k) : x->v;
    const double *yv =
        x->d && !a[1].steady ? tm_copied(tape, y->v, (long)k * n) : y->v;
    product_node *p = (product_node *)tm_push(tape, sizeof *p, product_back);
    *p = (product_node){p->node, xv, yv, x->d, y->d, out.d, m, k, n};
  }
  return tm_any_tensor(out, 1);
}

TM_F(crossprod) {
  return tm_call2(tape, tm_f_matmul, tm_f_transpose(tape, a, count), a[0]);
}
TM_F(tcrossprod) {
  return tm_call2(tape, tm_f_matmul, a[0], tm_f_transpose(tape, a, count));
}

/* The lower triangle of a matrix, as a new one. */
static tm_any lower_part(tm_tape *tape, const tm_any *a) {
  const tm_tensor *t = &a->u.t;
  tm_builder b = tm_build(tape, 2, t->dim, t->d != NULL);
  for (int i = 0; i < t->dim[0]; i++)
    for (int j = 0; j <= i && j < t->dim[1]; j++) {
      long at = (long)i * t->dim[1] + j;
      tm_put(&b, at, t->v[at], t->d ? t->d + at : NULL);
    }
  return tm_built(tape, &b);
}

TM_F(multiply_lower) {
  (void)count;
  tm_any l = lower_part(tape, a);
  return tm_f_tcrossprod(tape, &l, 1);
}

/* Row or column i of a matrix times element i of a vector: by a matrix of
 * repeated values, then elementwise. */
static tm_any diagonal_product(tm_tape *tape, tm_any v, tm_any m, bool rows) {
  int times = m.u.t.dim[rows ? 1 : 0];
  if (v.u.t.dim[0] != m.u.t.dim[rows ? 0 : 1])
    tm_runtime_fail(tape, "", "diag_*_multiply: %d values for %d", v.u.t.dim[0],
                    m.u.t.dim[rows ? 0 : 1]);
  tm_any full =
      tm_call2(tape, rows ? tm_f_rep_columns : tm_f_rep, v, tm_any_int(times));
  return tm_call2(tape, tape->runtime->find("elt_multiply", "RR"), full, m);
}

TM_F(diag_pre_multiply) {
  (void)count;
  return diagonal_product(tape, a[0], a[1], true);
}
TM_F(diag_post_multiply) {
  (void)count;
  return diagonal_product(tape, a[1], a[0], false);
}
TM_F(quad_form_diag) {
  (void)count;
  tm_any half = diagonal_product(tape, a[1], a[0], true);
  return diagonal_product(tape, a[1], half, false);
}
TM_F(quad_form) { /* b' A b */
  (void)count;
  return tm_call2(tape, tm_f_dot_product, a[1],
                  tm_call2(tape, tm_f_matmul, a[0], a[1]));
}
TM_F(quad_form_matrix) {
  (void)count;
  return tm_call2(tape, tm_f_matmul, tm_f_transpose(tape, a + 1, 1),
                  tm_call2(tape, tm_f_matmul, a[0], a[1]));
}

/* Sums over rows or columns of a product of matrices. */
static tm_any line_sums(tm_tape *tape, tm_any x, tm_any y, bool rows) {
  tm_any product =
      tm_call2(tape, tape->runtime->find("elt_multiply", "RR"), x, y);
  int n = x.u.t.dim[rows ? 1 : 0];
  tm_any one = tm_f_ones(tape, (tm_any[]){tm_any_int(n)}, 1);
  return rows ? tm_call2(tape, tm_f_matmul, product, one)
              : tm_call2(tape, tm_f_matmul, one, product);
}

TM_F(columns_dot_product) {
  (void)count;
  return line_sums(tape, a[0], a[1], false);
}
TM_F(rows_dot_product) {
  (void)count;
  return line_sums(tape, a[0], a[1], true);
}
TM_F(columns_dot_self) {
  (void)count;
  return line_sums(tape, a[0], a[0], false);
}
TM_F(rows_dot_self) {
  (void)count;
  return line_sums(tape, a[0], a[0], true);
}
TM_F(trace) {
  tm_any diagonal = tm_f_diagonal(tape, a, count);
  return tm_f_sum(tape, &diagonal, 1);
}

TM_F(add_diag) {
  (void)count;
  const tm_tensor *t = &a[0].u.t;
  tm_any values = a[1];
  if (values.tag != TM_TAG_TENSOR)
    values = tm_call2(tape, tm_f_rep, a[1], tm_any_int(t->dim[0]));
  tm_any d = tm_f_diag_matrix(tape, &values, 1);
  return tm_call2(tape, tape->runtime->find("add", "RR"), a[0], d);
}

/* ---- linear systems ----------------------------------------------------- */

/* X = A^-1 B. Backwards: G = A^-T X', B' += G, A' -= G X^T (the lower
 * triangle of it where A is lower triangular). */
typedef struct solve_node {
  tm_node node;
  const double *factor; /* LU, or L */
  const lapack_int *pivots;
  const double *x;
  double *ad, *bd, *xd, *work;
  int n, columns;
  bool lower;
} solve_node;

static void apply_inverse(const double *factor, const lapack_int *pivots, int n,
                          int columns, char transposed, double *b) {
  if (n == 0 || columns == 0)
    return;
  if (pivots)
    LAPACKE_dgetrs(LAPACK_ROW_MAJOR, transposed, n, columns, factor, n, pivots,
                   b, columns);
  else
    cblas_dtrsm(CblasRowMajor, CblasLeft, CblasLower,
                transposed == 'T' ? CblasTrans : CblasNoTrans, CblasNonUnit, n,
                columns, 1, factor, n, b, columns);
}

static void solve_back(tm_node *node) {
  solve_node *s = (solve_node *)node;
  long size = (long)s->n * s->columns;
  memcpy(s->work, s->xd, (size_t)size * sizeof(double));
  apply_inverse(s->factor, s->pivots, s->n, s->columns, 'T', s->work);
  for (long k = 0; s->bd && k < size; k++)
    s->bd[k] += s->work[k];
  for (int i = 0; s->ad && i < s->n; i++)
    for (int j = 0; j < (s->lower ? i + 1 : s->n); j++)
      for (int c = 0; c < s->columns; c++)
        s->ad[(long)i * s->n + j] -=
            s->work[(long)i * s->columns + c] * s->x[(long)j * s->columns + c];
}

static const lapack_int *factorise(tm_tape *tape, double *factor, int n) {
  lapack_int *pivots = tm_take(tape, (size_t)n * sizeof(lapack_int) + 1);
  if (n && LAPACKE_dgetrf(LAPACK_ROW_MAJOR, n, n, factor, n, pivots) != 0)
    tm_runtime_reject(tape, "a matrix is singular");
  return pivots;
}

static tm_any solved(tm_tape *tape, const tm_any *a, bool lower) {
  const tm_tensor *m = &a[0].u.t, *b = &a[1].u.t;
  tm_check_square(tape, m, "a division");
  int n = m->dim[0], columns = b->rank == 2 ? b->dim[1] : 1;
  if (b->dim[0] != n)
    tm_runtime_fail(tape, "", "a division of %d rows by %d", b->dim[0], n);
  double *factor = tm_copied(tape, m->v, (long)n * n);
  for (int i = 0; lower && i < n; i++)
    if (factor[(long)i * n + i] == 0)
      tm_runtime_reject(tape, "a triangular matrix is singular");
  const lapack_int *pivots = lower ? NULL : factorise(tape, factor, n);
  tm_tensor out = tm_tensor_new(tape, b->rank, b->dim, m->d || b->d);
  long size = (long)n * columns;
  memcpy(out.v, b->v, (size_t)size * sizeof(double));
  apply_inverse(factor, pivots, n, columns, 'N', out.v);
  if (out.d) {
    double *x = tm_copied(tape, out.v, size),
           *work = tm_copied(tape, out.v, size);
    solve_node *s = (solve_node *)tm_push(tape, sizeof *s, solve_back);
    *s = (solve_node){s->node, factor, pivots, x,       m->d, b->d,
                      out.d,   work,   n,      columns, lower};
  }
  return tm_any_tensor(out, 1);
}

TM_F(solve) {
  (void)count;
  return solved(tape, a, false);
}
TM_F(solve_lower) {
  (void)count;
  return solved(tape, a, true);
}

static tm_any turn(tm_tape *tape, tm_any x) {
  return x.u.t.rank == 2 ? tm_f_transpose(tape, &x, 1) : x;
}

/* B / A = (A' \ B')' */
TM_F(solve_right) {
  (void)count;
  tm_any x = tm_call2(tape, tm_f_solve, tm_f_transpose(tape, a + 1, 1),
                      turn(tape, a[0]));
  return turn(tape, x);
}
TM_F(solve_lower_right) {
  (void)count;
  tm_any l = lower_part(tape, a + 1);
  return tm_f_solve_right(tape, (tm_any[]){a[0], l}, 2);
}
TM_F(inverse) {
  (void)count;
  tm_check_square(tape, &a->u.t, "inverse");
  tm_any n = tm_any_int(a->u.t.dim[0]);
  return tm_call2(tape, tm_f_solve, a[0], tm_f_identity(tape, &n, 1));
}

/* log |det A|; its slope is A^-T. */
TM_F(log_determinant) {
  (void)count;
  const tm_tensor *t = &a->u.t;
  tm_check_square(tape, t, "log_determinant");
  int n = t->dim[0];
  double *lu = tm_copied(tape, t->v, (long)n * n), value = 0;
  const lapack_int *pivots = factorise(tape, lu, n);
  for (int i = 0; i < n; i++)
    value += log(fabs(lu[(long)i * n + i]));
  double *p = NULL;
  if (t->d) {
    p = tm_take(tape, (size_t)n * (size_t)n * sizeof(double) + 1);
    for (int i = 0; i < n; i++)
      p[(long)i * n + i] = 1;
    apply_inverse(lu, pivots, n, n, 'T', p);
  }
  return tm_scalar_result(tape, value, 1, &(tm_partial){t->d, p, (long)n * n});
}

TM_F(determinant) {
  (void)count;
  const tm_tensor *t = &a->u.t;
  tm_check_square(tape, t, "determinant");
  int n = t->dim[0];
  double *lu = tm_copied(tape, t->v, (long)n * n), sign = 1;
  const lapack_int *pivots = factorise(tape, lu, n);
  for (int i = 0; i < n; i++)
    sign *= (lu[(long)i * n + i] < 0) != (pivots[i] != i + 1) ? -1 : 1;
  tm_var log_value = tm_f_log_determinant(tape, a, 1).u.r;
  tm_var value = tm_v_exp(tape, log_value);
  return tm_any_var(sign > 0 ? value : tm_v_negative(tape, value));
}

/* ---- softmax and running sums ------------------------------------------- */

typedef struct vector_node {
  tm_node node;
  double *xd, *yd;
  const double *y;
  long n;
} vector_node;

static void softmax_back(tm_node *node) {
  vector_node *v = (vector_node *)node;
  double dot = 0;
  for (long k = 0; k < v->n; k++)
    dot += v->yd[k] * v->y[k];
  for (long k = 0; k < v->n; k++)
    v->xd[k] += v->y[k] * (v->yd[k] - dot);
}

static void log_softmax_back(tm_node *node) {
  vector_node *v = (vector_node *)node;
  double sum = 0;
  for (long k = 0; k < v->n; k++)
    sum += v->yd[k];
  for (long k = 0; k < v->n; k++)
    v->xd[k] += v->yd[k] - exp(v->y[k]) * sum;
}

static void cumulative_back(tm_node *node) {
  vector_node *v = (vector_node *)node;
  double sum = 0;
  for (long k = v->n; k-- > 0;) {
    sum += v->yd[k];
    v->xd[k] += sum;
  }
}

static tm_any vector_result(tm_tape *tape, const tm_tensor *x, tm_tensor y,
                            void (*back)(tm_node *)) {
  if (x->d) {
    double *kept = tm_copied(tape, y.v, tm_count(&y));
    vector_node *v = (vector_node *)tm_push(tape, sizeof *v, back);
    *v = (vector_node){v->node, x->d, y.d, kept, tm_count(&y)};
  }
  return tm_any_tensor(y, 1);
}

TM_F(log_softmax) {
  (void)count;
  const tm_tensor *x = &a->u.t;
  double total =
      tm_f_log_sum_exp(
          tape,
          &(tm_any){.tag = TM_TAG_TENSOR, .u.t = {x->v, NULL, 1, {x->dim[0]}}},
          1)
          .u.r.v;
  tm_tensor y = tm_tensor_new(tape, 1, x->dim, x->d != NULL);
  for (int k = 0; k < x->dim[0]; k++)
    y.v[k] = x->v[k] - total;
  return vector_result(tape, x, y, log_softmax_back);
}

TM_F(softmax) {
  (void)count;
  const tm_tensor *x = &a->u.t;
  tm_tensor y = tm_tensor_blank(tape, 1, x->dim, x->d != NULL);
  tm_shares(tape->runtime, x->v, x->dim[0], y.v);
  return vector_result(tape, x, y, softmax_back);
}

TM_F(cumulative_sum) {
  (void)count;
  const tm_tensor *x = &a->u.t;
  tm_tensor y = tm_tensor_new(tape, 1, x->dim, x->d != NULL);
  double sum = 0;
  for (int k = 0; k < x->dim[0]; k++)
    y.v[k] = sum += x->v[k];
  return vector_result(tape, x, y, cumulative_back);
}
