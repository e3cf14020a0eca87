/* complex_svd.c - singular values and vectors (thin) of complex matrices. With
 * A = U S V^H and P = U^H dA V, X = U^H dU and Y = V^H dV, skew-Hermitian,
 *   dS = Re diag(P),
 *   X_ij = (P_ij s_j + s_i conj(P_ji)) / (s_j^2 - s_i^2),
 *   Y_ij = (s_i P_ij + s_j conj(P_ji)) / (s_j^2 - s_i^2),   i != j,
 *   dU = U X + (I - U U^H) dA V / S,  dV = V Y + (I - V V^H) dA^H U / S.
 * The largest component of a column of U is real and positive, which gives
 * X_jj, and Y_jj = X_jj - i Im(P_jj) / s_j. The sweep is the transpose. */
#include "language/runtime/complex.h"

#include <float.h>
#include <lapacke.h>

typedef enum svd_part { VALUES, LEFT, RIGHT } svd_part;

typedef struct svd_node {
  tm_node node;
  svd_part part;
  int m, n, k;
  double *out;
  tm_complex *ad, *u, *v; /* m x k, n x k */
  double *s;
  const int *pivot;
  tm_complex *q, *r, *p; /* k x k */
  tm_complex *g, *wide;  /* m x k, and the larger of m and n times k */
} svd_node;

static double gap(const double *s, int i, int j) {
  double d = (s[j] - s[i]) * (s[j] + s[i]),
         blur = 3e4 * DBL_EPSILON * s[0] * s[0];
  return i == j || d == 0 ? 0 : d / (d * d + blur * blur);
}

/* The adjoint of U with that of its phases passed on; q = U^H of it. */
static void adjoint_of_u(const svd_node *e) {
  int k = e->k;
  const tm_complex *out = (const tm_complex *)e->out;
  bool left = e->part == LEFT;
  memset(e->g, 0, (size_t)e->m * (size_t)k * sizeof *e->g);
  memset(e->q, 0, (size_t)k * (size_t)k * sizeof *e->q);
  if (left) {
    memcpy(e->g, out, (size_t)e->m * (size_t)k * sizeof *e->g);
    tm_complex_product((tm_side){'C', e->u}, (tm_side){'N', out}, k, e->m, k, 0,
                       e->q);
  }
  for (int j = 0; j < k; j++) {
    long at = (long)e->pivot[j] * k + j;
    double turn = cimag((left ? e->q : e->r)[(long)j * k + j]);
    e->g[at] -= I * turn / creal(e->u[at]);
  }
  tm_complex_product((tm_side){'C', e->u}, (tm_side){'N', e->g}, k, e->m, k, 0,
                     e->q);
}

static void adjoint_of_p(const svd_node *e) {
  int k = e->k;
  const double *s = e->s;
  memset(e->p, 0, (size_t)k * (size_t)k * sizeof *e->p);
  for (int i = 0; i < k; i++)
    for (int j = 0; j < k; j++) {
      tm_complex q = e->q[(long)i * k + j], r = e->r[(long)i * k + j];
      double f = gap(s, i, j);
      e->p[(long)i * k + j] += f * (s[j] * q + s[i] * r);
      e->p[(long)j * k + i] += f * conj(s[i] * q + s[j] * r);
      if (i == j && s[j] > 0)
        e->p[(long)i * k + j] -= I * cimag(r) / s[j];
    }
}

/* (I - W W^H) G / S, rows x k, into `wide`. */
static void outside(const svd_node *e, const tm_complex *w,
                    const tm_complex *inner, const tm_complex *g, int rows) {
  int k = e->k;
  tm_complex_product((tm_side){'N', w}, (tm_side){'N', inner}, rows, k, k, 0,
                     e->wide);
  for (long i = 0; i < (long)rows * k; i++)
    e->wide[i] = e->s[i % k] > 0 ? (g[i] - e->wide[i]) / e->s[i % k] : 0;
}

static void vectors_back(const svd_node *e) {
  int m = e->m, n = e->n, k = e->k;
  const tm_complex *out = (const tm_complex *)e->out;
  memset(e->r, 0, (size_t)k * (size_t)k * sizeof *e->r);
  if (e->part == RIGHT)
    tm_complex_product((tm_side){'C', e->v}, (tm_side){'N', out}, k, n, k, 0,
                       e->r);
  adjoint_of_u(e);
  adjoint_of_p(e);
  outside(e, e->u, e->q, e->g, m);
  tm_complex_product((tm_side){'N', e->wide}, (tm_side){'C', e->v}, m, k, n, 1,
                     e->ad);
  if (e->part != RIGHT)
    return;
  outside(e, e->v, e->r, out, n);
  tm_complex_product((tm_side){'N', e->u}, (tm_side){'C', e->wide}, m, k, n, 1,
                     e->ad);
}

static void svd_back(tm_node *node) {
  svd_node *e = (svd_node *)node;
  int k = e->k;
  memset(e->p, 0, (size_t)k * (size_t)k * sizeof *e->p);
  if (e->part != VALUES)
    vectors_back(e);
  for (int i = 0; e->part == VALUES && i < k; i++)
    e->p[(long)i * k + i] = e->out[i];
  tm_complex_product((tm_side){'N', e->u}, (tm_side){'N', e->p}, e->m, k, k, 0,
                     e->wide);
  tm_complex_product((tm_side){'N', e->wide}, (tm_side){'C', e->v}, e->m, k,
                     e->n, 1, e->ad);
}

/* Without the node. */
static svd_node decompose(tm_tape *tape, const tm_tensor *t) {
  int m = t->dim[0], n = t->dim[1], k = m < n ? m : n;
  svd_node e = {.m = m, .n = n, .k = k, .ad = tm_complexes(t->d)};
  e.u = tm_complex_room(tape, (long)m * k);
  e.v = tm_complex_room(tape, (long)n * k);
  e.s = tm_take(tape, (size_t)k * sizeof(double) + 1);
  tm_complex *a = tm_complex_copy(tape, t->v, (long)m * n);
  tm_complex *vh = tm_complex_room(tape, (long)k * n);
  tm_complex *phase = tm_complex_room(tape, k);
  for (long i = 0; i < 2L * m * n; i++)
    if (!isfinite(t->v[i]))
      tm_runtime_reject(tape, "a decomposition of a matrix with NaN");
  if (k && LAPACKE_zgesdd(LAPACK_ROW_MAJOR, 'S', m, n, a, n, e.s, e.u, k, vh,
                          n) != 0)
    tm_runtime_reject(tape, "singular values did not converge");
  e.pivot = tm_complex_pivots(tape, e.u, m, k, phase);
  for (int i = 0; i < k; i++)
    for (int j = 0; j < n; j++)
      e.v[(long)j * k + i] = conj(vh[(long)i * n + j]) * phase[i];
  return e;
}

static tm_any part_of(tm_tape *tape, const tm_any *a, svd_part part) {
  const tm_tensor *t = &a->u.t;
  svd_node e = decompose(tape, t);
  int k = e.k, active = t->d != NULL;
  int dim[2] = {part == VALUES ? k : part == LEFT ? e.m : e.n, k};
  tm_tensor out = part == VALUES ? tm_tensor_blank(tape, 1, dim, active)
                                 : tm_complex_blank(tape, 2, dim, active);
  const void *from = part == VALUES ? (void *)e.s : part == LEFT ? e.u : e.v;
  memcpy(out.v, from, (size_t)tm_count(&out) * sizeof(double));
  if (active && k) {
    long square = (long)k * k, most = e.m > e.n ? e.m : e.n;
    e.part = part;
    e.out = out.d;
    e.q = tm_complex_room(tape, 3 * square);
    e.r = e.q + square;
    e.p = e.r + square;
    e.g = tm_complex_room(tape, (long)e.m * k);
    e.wide = tm_complex_room(tape, most * k);
    svd_node *node = (svd_node *)tm_push(tape, sizeof *node, svd_back);
    e.node = node->node;
    *node = e;
  }
  return tm_any_tensor(out, 1);
}

TM_F(complex_singular_values) {
  (void)count;
  return part_of(tape, a, VALUES);
}
TM_F(complex_svd_u) {
  (void)count;
  return part_of(tape, a, LEFT);
}
TM_F(complex_svd_v) {
  (void)count;
  return part_of(tape, a, RIGHT);
}
