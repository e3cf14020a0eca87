/* svd.c - singular values and vectors (thin), and the generalised inverse made
 * of them. With A = U S V' and P = U' dA V,
 *   dU = U (F o (P S + S P')) + (I - U U') dA V / S,
 *   dV = V (F o (S P + P' S)) + (I - V V') dA' U / S,
 * F_ij = 1 / (s_j^2 - s_i^2); the sweeps are their transposes. */
#include "language/runtime/fixed.h"

#include <cblas.h>
#include <float.h>
#include <lapacke.h>

typedef enum svd_part { VALUES, LEFT, RIGHT } svd_part;

typedef struct svd_node {
  tm_node node;
  svd_part part;
  int m, n, k;
  double *ad, *out;
  double *u, *s, *v; /* m x k, k, n x k */
  double *square, *tall, *other;
} svd_node;

/* c (+)= op(a) op(b), row-major, dense. */
static void product(bool ta, const double *a, bool tb, const double *b, int m,
                    int k, int n, double beta, double *c) {
  if (m && n)
    cblas_dgemm(CblasRowMajor, ta ? CblasTrans : CblasNoTrans,
                tb ? CblasTrans : CblasNoTrans, m, n, k, 1, a, ta ? m : k, b,
                tb ? k : n, beta, c, n);
}

/* 1 / (s_j^2 - s_i^2); pairs nearer than rounding say nothing. */
static double gap(const double *s, int i, int j) {
  double d = (s[j] - s[i]) * (s[j] + s[i]),
         blur = 3e4 * DBL_EPSILON * s[0] * s[0];
  return i == j || d == 0 ? 0 : d / (d * d + blur * blur);
}

/* The middle matrix of U square V' in the adjoint of A. */
static void middle(const svd_node *e, const double *vectors, int rows) {
  int k = e->k;
  double *x = e->square;
  product(true, vectors, false, e->out, k, rows, k, 0, x);
  for (int i = 0; i < k; i++)
    for (int j = 0; j <= i; j++) {
      double sum =
          gap(e->s, i, j) * x[i * k + j] + gap(e->s, j, i) * x[j * k + i];
      bool left = e->part == LEFT;
      x[i * k + j] = sum * e->s[left ? j : i];
      x[j * k + i] = sum * e->s[left ? i : j];
    }
}

/* (I - W W') Wbar / S, rows x k, into `other`. */
static void outside(const svd_node *e, const double *w, int rows) {
  int k = e->k;
  double *inner = e->square + (long)k * k;
  product(true, w, false, e->out, k, rows, k, 0, inner);
  product(false, w, false, inner, rows, k, k, 0, e->other);
  for (long i = 0; i < (long)rows * k; i++)
    e->other[i] = e->s[i % k] > 0 ? (e->out[i] - e->other[i]) / e->s[i % k] : 0;
}

static void svd_back(tm_node *node) {
  svd_node *e = (svd_node *)node;
  int m = e->m, n = e->n, k = e->k;
  if (e->part == VALUES) {
    for (long i = 0; i < (long)m * k; i++)
      e->tall[i] = e->u[i] * e->out[i % k];
    product(false, e->tall, true, e->v, m, k, n, 1, e->ad);
    return;
  }
  bool left = e->part == LEFT;
  middle(e, left ? e->u : e->v, left ? m : n);
  product(false, e->u, false, e->square, m, k, k, 0, e->tall);
  product(false, e->tall, true, e->v, m, k, n, 1, e->ad);
  outside(e, left ? e->u : e->v, left ? m : n);
  if (left)
    product(false, e->other, true, e->v, m, k, n, 1, e->ad);
  else
    product(false, e->u, true, e->other, m, k, n, 1, e->ad);
}

static double *room(tm_tape *tape, long n) {
  return tm_take(tape, (size_t)n * sizeof(double) + 1);
}

/* Without the node. */
static svd_node decompose(tm_tape *tape, const tm_tensor *t) {
  int m = t->dim[0], n = t->dim[1], k = m < n ? m : n;
  svd_node e = {.m = m, .n = n, .k = k, .ad = t->d};
  e.u = room(tape, (long)m * k);
  e.s = room(tape, k + 1);
  e.v = room(tape, (long)n * k);
  double *a = tm_copied(tape, t->v, (long)m * n), *vt = room(tape, (long)k * n);
  for (long i = 0; i < (long)m * n; i++)
    if (!isfinite(a[i]))
      tm_runtime_reject(tape, "a decomposition of a matrix with NaN");
  if (k && LAPACKE_dgesdd(LAPACK_ROW_MAJOR, 'S', m, n, a, n, e.s, e.u, k, vt,
                          n) != 0)
    tm_runtime_reject(tape, "singular values did not converge");
  for (int i = 0; i < k; i++)
    for (int j = 0; j < n; j++)
      e.v[(long)j * k + i] = vt[(long)i * n + j];
  return e;
}

static tm_any part_of(tm_tape *tape, const tm_any *a, svd_part part) {
  const tm_tensor *t = &a->u.t;
  svd_node e = decompose(tape, t);
  int dim[2] = {part == VALUES ? e.k : part == LEFT ? e.m : e.n, e.k};
  tm_tensor out =
      tm_tensor_new(tape, part == VALUES ? 1 : 2, dim, t->d != NULL);
  const double *from = part == VALUES ? e.s : part == LEFT ? e.u : e.v;
  memcpy(out.v, from, (size_t)tm_count(&out) * sizeof(double));
  if (t->d) {
    e.part = part;
    e.out = out.d;
    e.square = room(tape, 2L * e.k * e.k);
    e.tall = room(tape, (long)e.m * e.k);
    e.other = room(tape, (long)(e.m > e.n ? e.m : e.n) * e.k);
    svd_node *node = (svd_node *)tm_push(tape, sizeof *node, svd_back);
    e.node = node->node;
    *node = e;
  }
  return tm_any_tensor(out, 1);
}

TM_F(singular_values) {
  (void)count;
  return part_of(tape, a, VALUES);
}
TM_F(svd_u) {
  (void)count;
  return part_of(tape, a, LEFT);
}
TM_F(svd_v) {
  (void)count;
  return part_of(tape, a, RIGHT);
}

/* ---- the generalised inverse -------------------------------------------- */

/* P = V S^+ U'. dP = -P dA P + P P' dA' (I - A P) + (I - P A) dA' P' P
 * (Golub and Pereyra 1973). */
typedef struct inverse_node {
  tm_node node;
  int m, n;
  double *ad, *pd;
  const double *a, *p;
  double *work;
} inverse_node;

static void identity_minus(double *x, int n) {
  for (long i = 0; i < (long)n * n; i++)
    x[i] = (i % (n + 1) == 0) - x[i];
}

static void inverse_back(tm_node *node) {
  inverse_node *e = (inverse_node *)node;
  int m = e->m, n = e->n, most = m > n ? m : n;
  double *x = e->work, *y = x + (long)most * most, *z = y + (long)most * most;
  product(true, e->p, false, e->pd, m, n, m, 0, x);
  product(false, x, true, e->p, m, m, n, 0, y);
  for (long i = 0; i < (long)m * n; i++)
    e->ad[i] -= y[i];
  product(false, e->p, true, e->p, n, m, n, 0, x); /* P P' */
  product(true, e->pd, false, x, m, n, n, 0, y);   /* Pbar' P P' */
  product(false, e->a, false, e->p, m, n, m, 0, z);
  identity_minus(z, m);
  product(false, z, false, y, m, m, n, 1, e->ad);
  product(true, e->p, false, e->p, m, n, m, 0, x); /* P' P */
  product(false, x, true, e->pd, m, m, n, 0, y);   /* P' P Pbar' */
  product(false, e->p, false, e->a, n, m, n, 0, z);
  identity_minus(z, n);
  product(false, y, false, z, m, n, n, 1, e->ad);
}

TM_F(generalized_inverse) {
  (void)count;
  const tm_tensor *t = &a->u.t;
  svd_node e = decompose(tape, t);
  int m = e.m, n = e.n, most = m > n ? m : n;
  double least = e.k ? DBL_EPSILON * most * e.s[0] : 0;
  for (long i = 0; i < (long)n * e.k; i++)
    e.v[i] *= e.s[i % e.k] > least ? 1 / e.s[i % e.k] : 0;
  tm_tensor out = tm_tensor_new(tape, 2, (int[]){n, m}, t->d != NULL);
  product(false, e.v, true, e.u, n, e.k, m, 0, out.v);
  if (t->d) {
    double *own = tm_copied(tape, t->v, (long)m * n);
    double *p = tm_copied(tape, out.v, (long)m * n);
    double *work = room(tape, 3L * most * most);
    inverse_node *i = (inverse_node *)tm_push(tape, sizeof *i, inverse_back);
    *i = (inverse_node){i->node, m, n, t->d, out.d, own, p, work};
  }
  return tm_any_tensor(out, 1);
}
