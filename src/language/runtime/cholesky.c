/* cholesky.c - the Cholesky factor and its reverse-mode rule, by blocks:
 * I. Murray, "Differentiation of the Cholesky decomposition" (2016),
 * arXiv:1602.07527. Tensors are row-major: their lower triangle is the upper
 * one of the column-major matrix that LAPACK sees. */
#include "language/runtime/fixed.h"

#include <cblas.h>
#include <lapacke.h>

enum { BLOCK = 16 };

typedef struct cholesky_node {
  tm_node node;
  const double *l;
  double *ad, *ld;
  int n;
} cholesky_node;

#define AT(i, j) ((long)(i)*rows + (j))

/* L's adjoint becomes that of the lower triangle it came from: element by
 * element, last first. */
static void back_plain(const double *l, double *g, int n, int rows) {
  for (int i = n; i-- > 0;) {
    double d = g[AT(i, i)] *= 0.5 / l[AT(i, i)];
    for (int k = 0; k < i; k++)
      g[AT(i, k)] -= 2 * d * l[AT(i, k)];
    for (int j = i; j-- > 0;) {
      double x = g[AT(i, j)] /= l[AT(j, j)];
      g[AT(j, j)] -= x * l[AT(i, j)];
      for (int k = 0; k < j; k++) {
        g[AT(i, k)] -= x * l[AT(j, k)];
        g[AT(j, k)] -= x * l[AT(i, k)];
      }
    }
  }
}

/* r -= (d + d') l with d lower triangular. */
static void subtract_symmetric(const double *d, const double *l, double *r,
                               int size, int columns, int rows) {
  double both[BLOCK * BLOCK];
  for (int i = 0; i < size; i++)
    for (int j = 0; j <= i; j++)
      both[i * size + j] = both[j * size + i] = (i == j ? 2 : 1) * d[AT(i, j)];
  cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, size, columns, size,
              -1, both, size, l, rows, 1, r, rows);
}

/* The same by blocks of rows: D on the diagonal, R left of it, C below it and
 * B below R; `g` before a name is its adjoint. */
static void back_blocked(const double *l, double *g, int rows) {
  for (int end = rows, start; end > 0; end = start) {
    start = end > BLOCK ? end - BLOCK : 0;
    int size = end - start, below = rows - end;
    const double *D = l + AT(start, start), *R = l + AT(start, 0);
    const double *B = l + AT(end, 0), *C = l + AT(end, start);
    double *gD = g + AT(start, start), *gR = g + AT(start, 0);
    double *gB = g + AT(end, 0), *gC = g + AT(end, start);
    if (below) {
      cblas_dtrsm(CblasRowMajor, CblasRight, CblasLower, CblasNoTrans,
                  CblasNonUnit, below, size, 1, D, rows, gC, rows);
      cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, size, size, below,
                  -1, gC, rows, C, rows, 1, gD, rows);
    }
    if (below && start) {
      cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, below, start, size,
                  -1, gC, rows, R, rows, 1, gB, rows);
      cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, size, start, below,
                  -1, gC, rows, B, rows, 1, gR, rows);
    }
    back_plain(D, gD, size, rows);
    if (start)
      subtract_symmetric(gD, R, gR, size, start, rows);
  }
}

/* The sweep changes the adjoints it reads: they are the result's own,
 * complete when the sweep comes here, and read by nobody later. */
static void cholesky_back(tm_node *node) {
  cholesky_node *c = (cholesky_node *)node;
  int rows = c->n;
  back_blocked(c->l, c->ld, rows);
  for (int i = 0; i < rows; i++)
    for (int j = 0; j <= i; j++)
      c->ad[AT(i, j)] += c->ld[AT(i, j)];
}

/* In place; the upper triangle is left alone. */
static void factor_small(double *l, int rows) {
  for (int i = 0; i < rows; i++)
    for (int j = 0; j <= i; j++) {
      double sum = l[AT(i, j)];
      for (int k = 0; k < j; k++)
        sum -= l[AT(i, k)] * l[AT(j, k)];
      l[AT(i, j)] = i == j ? sqrt(sum) : sum / l[AT(j, j)];
    }
}

static void factor(tm_tape *tape, double *l, int rows) {
  lapack_int failed = 0;
  if (rows <= BLOCK)
    factor_small(l, rows);
  else
    LAPACK_dpotrf(&(char){'U'}, &rows, l, &rows, &failed);
  for (int i = 0; i < rows && !failed; i++)
    failed = !(l[AT(i, i)] > 0); /* NaN too */
  if (failed)
    tm_runtime_reject(tape, "cholesky_decompose: not positive definite");
}

/* Reads the lower triangle alone. */
tm_any tm_cholesky_of_lower(tm_tape *tape, const tm_any *a) {
  const tm_tensor *t = &a->u.t;
  int rows = t->dim[0];
  tm_tensor out = tm_tensor_new(tape, 2, t->dim, t->d != NULL);
  for (int i = 0; i < rows; i++)
    memcpy(out.v + AT(i, 0), t->v + AT(i, 0), ((size_t)i + 1) * sizeof(double));
  factor(tape, out.v, rows);
  if (t->d) {
    size_t bytes = (size_t)rows * (size_t)rows * sizeof(double);
    double *l = tm_take_blank(tape, bytes + 1);
    memcpy(l, out.v, bytes);
    cholesky_node *c = (cholesky_node *)tm_push(tape, sizeof *c, cholesky_back);
    *c = (cholesky_node){c->node, l, t->d, out.d, rows};
  }
  return tm_any_tensor(out, 1);
}

TM_F(cholesky) {
  (void)count;
  tm_check_symmetric(tape, &a->u.t, "cholesky_decompose");
  return tm_cholesky_of_lower(tape, a);
}
