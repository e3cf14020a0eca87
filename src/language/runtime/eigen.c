/* eigen.c - eigenvalues and eigenvectors of symmetric matrices, with the
 * reverse rules of A = V diag(w) V' (Giles 2008):
 *   A' += V (diag(w') + F o (V'V')) V',  F_ij = 1 / (w_j - w_i), i != j. */
#include "language/runtime/fixed.h"

#include <float.h>
#include <lapacke.h>

typedef struct eigen_node {
  tm_node node;
  double *ad, *out; /* adjoints of A, and of w or V */
  const double *w, *v;
  double *work; /* 2 n x n */
  int n;
  bool vectors;
} eigen_node;

/* Gaps below the rounding of the largest eigenvalue say nothing: there 1/gap
 * would blow rounding up, while in any smooth function of A the true terms of
 * such pairs vanish with the gap. */
static double blur_of(const eigen_node *e) {
  double largest = fmax(fabs(e->w[0]), fabs(e->w[e->n - 1]));
  return 3e4 * DBL_EPSILON * largest;
}

/* The middle matrix: diag(w'), or F o (V' Vbar). */
static void middle(const eigen_node *e, double *m) {
  int n = e->n;
  double blur = n ? blur_of(e) : 0;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      double sum = 0;
      if (!e->vectors)
        sum = i == j ? e->out[i] : 0;
      for (int k = 0; e->vectors && i != j && k < n; k++)
        sum += e->v[(long)k * n + i] * e->out[(long)k * n + j];
      double gap = e->w[j] - e->w[i];
      if (e->vectors && i != j)
        sum *= gap != 0 ? gap / (gap * gap + blur * blur) : 0;
      m[(long)i * n + j] = sum;
    }
}

static void eigen_back(tm_node *node) {
  eigen_node *e = (eigen_node *)node;
  int n = e->n;
  double *m = e->work, *left = e->work + (long)n * n;
  middle(e, m);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      left[(long)i * n + j] = 0;
      for (int k = 0; k < n; k++)
        left[(long)i * n + j] += e->v[(long)i * n + k] * m[(long)k * n + j];
    }
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      double sum = 0;
      for (int k = 0; k < n; k++)
        sum += left[(long)i * n + k] * e->v[(long)j * n + k];
      e->ad[(long)i * n + j] += 0.5 * sum; /* A enters as (A + A')/2 */
      e->ad[(long)j * n + i] += 0.5 * sum;
    }
}

static tm_any decomposed(tm_tape *tape, const tm_any *a, bool vectors) {
  const tm_tensor *t = &a->u.t;
  int n = t->dim[0];
  tm_check_symmetric(tape, t, vectors ? "eigenvectors_sym" : "eigenvalues_sym");
  size_t square = (size_t)n * (size_t)n * sizeof(double) + 1;
  double *v = tm_take(tape, square), *w = tm_take(tape, square);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      v[(long)i * n + j] =
          0.5 * (t->v[(long)i * n + j] + t->v[(long)j * n + i]);
  for (long k = 0; k < (long)n * n; k++)
    if (!isfinite(v[k]))
      tm_runtime_reject(tape, "eigenvalues of a matrix with NaN");
  if (n && LAPACKE_dsyev(LAPACK_ROW_MAJOR, 'V', 'L', n, v, n, w) != 0)
    tm_runtime_reject(tape, "eigenvalues did not converge");
  tm_tensor out = tm_tensor_new(tape, vectors ? 2 : 1, t->dim, t->d != NULL);
  memcpy(out.v, vectors ? v : w, (size_t)tm_count(&out) * sizeof(double));
  if (t->d) {
    double *work = tm_take(tape, 2 * square);
    eigen_node *e = (eigen_node *)tm_push(tape, sizeof *e, eigen_back);
    *e = (eigen_node){e->node, t->d, out.d, w, v, work, n, vectors};
  }
  return tm_any_tensor(out, 1);
}

TM_F(eigenvalues) {
  (void)count;
  return decomposed(tape, a, false);
}
TM_F(eigenvectors) {
  (void)count;
  return decomposed(tape, a, true);
}
