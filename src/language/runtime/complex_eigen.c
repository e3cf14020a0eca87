/* complex_eigen.c - eigenvalues and eigenvectors of complex and of general real
 * matrices. With A = V diag(w) V^-1 and P = V^-1 dA V,
 *   dw_j = P_jj,  dV = U + V diag(c),  U = V (F o P),
 * F_ij = 1 / (w_j - w_i), i != j. An eigenvector is known up to a factor: here
 * it has length one, and its largest component is real and positive, which
 * makes c_j = -Re(v_j^H u_j) - i Im(u_kj) / v_kj with k that component. The
 * sweep is the transpose of this. */
#include "language/runtime/complex.h"

#include <float.h>
#include <lapacke.h>

typedef struct eigen_node {
  tm_node node;
  const tm_complex *out;             /* adjoints of w or of V */
  const tm_complex *w, *v, *inverse; /* inverse: V^-1 */
  const int *pivot;
  tm_complex *ad, *work;
  int n;
  bool vectors, hermitian;
} eigen_node;

/* The component that is made real: of those that are as large as the largest,
 * but for rounding and a little, the first. */
static int pivot_of(const tm_complex *v, int rows, int columns, int j) {
  double largest = 0;
  for (int i = 0; i < rows; i++)
    largest = fmax(largest, cabs(v[(long)i * columns + j]));
  for (int i = 0; i < rows; i++)
    if (cabs(v[(long)i * columns + j]) >= 0.999 * largest)
      return i;
  return 0;
}

const int *tm_complex_pivots(tm_tape *tape, tm_complex *v, int rows,
                             int columns, tm_complex *phases) {
  int *pivot = tm_take(tape, (size_t)columns * sizeof *pivot + 1);
  for (int j = 0; j < columns; j++) {
    pivot[j] = pivot_of(v, rows, columns, j);
    tm_complex z = v[(long)pivot[j] * columns + j];
    tm_complex phase = z == 0 ? 1 : conj(z) / cabs(z);
    for (int i = 0; i < rows; i++)
      v[(long)i * columns + j] *= phase;
    v[(long)pivot[j] * columns + j] = cabs(z);
    if (phases)
      phases[j] = phase;
  }
  return pivot;
}

/* ---- backwards ---------------------------------------------------------- */

/* Gaps below rounding say nothing, see eigen.c. */
static tm_complex over_gap(tm_complex gap, double blur) {
  double size = creal(gap) * creal(gap) + cimag(gap) * cimag(gap);
  return size > 0 ? conj(gap) / (size + blur * blur) : 0;
}

static double blur_of(const eigen_node *e) {
  double largest = 0;
  for (int i = 0; i < e->n; i++)
    largest = fmax(largest, cabs(e->w[i]));
  return 3e4 * DBL_EPSILON * largest;
}

/* The adjoint of U from that of V. */
static void adjoint_of_u(const eigen_node *e, tm_complex *g) {
  int n = e->n;
  for (int j = 0; j < n; j++) {
    tm_complex along = 0;
    for (int i = 0; i < n; i++)
      along += conj(e->out[(long)i * n + j]) * e->v[(long)i * n + j];
    for (int i = 0; i < n; i++)
      g[(long)i * n + j] =
          e->out[(long)i * n + j] - creal(along) * e->v[(long)i * n + j];
    long at = (long)e->pivot[j] * n + j;
    g[at] += I * cimag(along) / creal(e->v[at]);
  }
}

/* The adjoint of P: diag(w'), or conj(F) o (V^H U'). */
static void middle(const eigen_node *e, tm_complex *g, tm_complex *p) {
  int n = e->n;
  memset(p, 0, (size_t)n * (size_t)n * sizeof *p);
  for (int i = 0; !e->vectors && i < n; i++)
    p[(long)i * n + i] = e->hermitian ? creal(e->out[i]) : e->out[i];
  if (!e->vectors)
    return;
  double blur = blur_of(e);
  adjoint_of_u(e, g);
  tm_complex_product((tm_side){'C', e->v}, (tm_side){'N', g}, n, n, n, 0, p);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      p[(long)i * n + j] *=
          i == j ? 0 : conj(over_gap(e->w[j] - e->w[i], blur));
}

/* A' += V^-H P' V^H; of a Hermitian one, which enters as (A + A^H)/2, with
 * its own adjoint. */
static void eigen_back(tm_node *node) {
  eigen_node *e = (eigen_node *)node;
  int n = e->n;
  long square = (long)n * n;
  tm_complex *g = e->work, *p = e->work + square, *left = e->work + 2 * square;
  middle(e, g, p);
  tm_complex_product((tm_side){'C', e->inverse}, (tm_side){'N', p}, n, n, n, 0,
                     left);
  tm_complex_product((tm_side){'N', left}, (tm_side){'C', e->v}, n, n, n, 0, g);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      e->ad[(long)i * n + j] +=
          e->hermitian ? 0.5 * (g[(long)i * n + j] + conj(g[(long)j * n + i]))
                       : g[(long)i * n + j];
}

/* ---- forwards ----------------------------------------------------------- */

static bool is_real(const tm_complex *a, long n) {
  for (long k = 0; k < n; k++)
    if (cimag(a[k]) != 0)
      return false;
  return true;
}

/* Pairs of a real matrix are conjugate to the last bit this way. */
static int real_pairs(tm_tape *tape, const tm_complex *a, int n, tm_complex *w,
                      tm_complex *v) {
  size_t square = (size_t)n * (size_t)n * sizeof(double) + 1;
  double *x = tm_take(tape, square), *vectors = tm_take(tape, square);
  double *re = tm_take(tape, square), *im = tm_take(tape, square);
  for (long k = 0; k < (long)n * n; k++)
    x[k] = creal(a[k]);
  int failed = LAPACKE_dgeev(LAPACK_ROW_MAJOR, 'N', 'V', n, x, n, re, im, NULL,
                             n, vectors, n);
  for (int j = 0; j < n; j++) {
    w[j] = re[j] + I * im[j];
    for (int i = 0; i < n; i++) {
      const double *row = vectors + (long)i * n;
      v[(long)i * n + j] = im[j] > 0   ? row[j] + I * row[j + 1]
                           : im[j] < 0 ? row[j - 1] - I * row[j]
                                       : row[j];
    }
  }
  return failed;
}

static int hermitian_pairs(tm_tape *tape, const tm_complex *a, int n,
                           tm_complex *w, tm_complex *v) {
  double *values = tm_take(tape, (size_t)n * sizeof(double) + 1);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      v[(long)i * n + j] =
          0.5 * (a[(long)i * n + j] + conj(a[(long)j * n + i]));
  int failed = LAPACKE_zheev(LAPACK_ROW_MAJOR, 'V', 'L', n, v, n, values);
  for (int j = 0; j < n; j++)
    w[j] = values[j];
  return failed;
}

static const tm_complex *inverse_of(tm_tape *tape, const tm_complex *v, int n,
                                    bool hermitian) {
  tm_complex *inverse = tm_complex_room(tape, (long)n * n);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      inverse[(long)i * n + j] =
          hermitian ? conj(v[(long)j * n + i]) : v[(long)i * n + j];
  lapack_int *pivots = tm_take(tape, (size_t)n * sizeof *pivots + 1);
  if (!hermitian &&
      (LAPACKE_zgetrf(LAPACK_ROW_MAJOR, n, n, inverse, n, pivots) ||
       LAPACKE_zgetri(LAPACK_ROW_MAJOR, n, inverse, n, pivots)))
    tm_runtime_reject(tape, "eigenvalues of a defective matrix have no slopes");
  return inverse;
}

static tm_complex *finite_copy(tm_tape *tape, const tm_tensor *t) {
  tm_check_square(tape, t, "a decomposition");
  long n = tm_complex_count(t);
  for (long k = 0; k < 2 * n; k++)
    if (!isfinite(t->v[k]))
      tm_runtime_reject(tape, "a decomposition of a matrix with NaN");
  return tm_complex_copy(tape, t->v, n);
}

static tm_any decomposed(tm_tape *tape, const tm_any *x, bool vectors,
                         bool hermitian) {
  const tm_tensor *t = &x->u.t;
  int n = t->dim[0], failed = 0;
  long square = (long)n * n;
  tm_complex *a = finite_copy(tape, t), *w = tm_complex_room(tape, n);
  tm_complex *v = tm_complex_room(tape, square);
  if (n && hermitian)
    failed = hermitian_pairs(tape, a, n, w, v);
  else if (n && is_real(a, square))
    failed = real_pairs(tape, a, n, w, v);
  else if (n)
    failed =
        LAPACKE_zgeev(LAPACK_ROW_MAJOR, 'N', 'V', n, a, n, w, NULL, n, v, n);
  if (failed)
    tm_runtime_reject(tape, "eigenvalues did not converge");
  const int *pivot = tm_complex_pivots(tape, v, n, n, NULL);
  tm_tensor out = tm_complex_blank(tape, vectors ? 2 : 1, t->dim, t->d != NULL);
  memcpy(out.v, vectors ? v : w,
         (size_t)(vectors ? square : n) * sizeof(tm_complex));
  if (n && t->d) {
    const tm_complex *inverse = inverse_of(tape, v, n, hermitian);
    tm_complex *work = tm_complex_room(tape, 3 * square);
    eigen_node *e = (eigen_node *)tm_push(tape, sizeof *e, eigen_back);
    *e = (eigen_node){e->node,  tm_complexes(out.d), w,    v, inverse,
                      pivot,    tm_complexes(t->d),  work, n, vectors,
                      hermitian};
  }
  return tm_any_tensor(out, 1);
}

TM_F(complex_eigenvalues) {
  (void)count;
  return decomposed(tape, a, false, false);
}
TM_F(complex_eigenvectors) {
  (void)count;
  return decomposed(tape, a, true, false);
}
TM_F(hermitian_values) {
  (void)count;
  return decomposed(tape, a, false, true);
}
TM_F(hermitian_vectors) {
  (void)count;
  return decomposed(tape, a, true, true);
}

/* ---- Schur -------------------------------------------------------------- */

/* A = U T U^H with T upper triangular. With M = U^H dA U and X = U^H dU, which
 * is skew-Hermitian, M = X T + dT - T X. Below the diagonal, where dT is zero,
 * this is a triangular system for X there; its diagonal follows from the
 * phases of U, chosen as above. */
typedef struct schur_node {
  tm_node node;
  const tm_complex *out, *t, *u;
  const int *pivot;
  tm_complex *ad, *work;
  int n;
  bool unitary; /* out is the adjoint of U, else of T */
} schur_node;

/* The adjoint of X, with that of its diagonal passed on to the rest. */
static void adjoint_of_x(const schur_node *s, const tm_complex *g,
                         tm_complex *x) {
  int n = s->n;
  tm_side out = {'N', s->out};
  if (s->unitary) {
    tm_complex_product((tm_side){'C', s->u}, out, n, n, n, 0, x);
  } else {
    tm_complex_product((tm_side){'N', g}, (tm_side){'C', s->t}, n, n, n, 0, x);
    for (long k = 0; k < (long)n * n; k++)
      x[k] = -x[k];
    tm_complex_product((tm_side){'C', s->t}, (tm_side){'N', g}, n, n, n, 1, x);
  }
  for (int j = 0; j < n; j++) {
    const tm_complex *row = s->u + (long)s->pivot[j] * n;
    double turn = cimag(x[(long)j * n + j]) / creal(row[j]);
    for (int i = 0; i < n; i++)
      if (i != j)
        x[(long)i * n + j] -= turn * I * conj(row[i]);
  }
}

/* The transposed system, from the diagonal outwards; below it in `z`. */
static void solve_below(const schur_node *s, const tm_complex *x,
                        tm_complex *z) {
  int n = s->n;
  const tm_complex *t = s->t;
  double largest = 0;
  for (int i = 0; i < n; i++)
    largest = fmax(largest, cabs(t[(long)i * n + i]));
  double blur = 3e4 * DBL_EPSILON * largest;
  for (int d = 1; d < n; d++)
    for (int k = 0; k + d < n; k++) {
      int i = k + d;
      tm_complex rest = x[(long)i * n + k] - conj(x[(long)k * n + i]);
      for (int j = k + 1; j < i; j++)
        rest += conj(t[(long)j * n + i]) * z[(long)j * n + k] -
                conj(t[(long)k * n + j]) * z[(long)i * n + j];
      tm_complex gap = t[(long)k * n + k] - t[(long)i * n + i];
      z[(long)i * n + k] = rest * conj(over_gap(gap, blur));
    }
}

static void schur_back(tm_node *node) {
  schur_node *s = (schur_node *)node;
  int n = s->n;
  long square = (long)n * n;
  tm_complex *m = s->work, *x = s->work + square;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      m[(long)i * n + j] = !s->unitary && i <= j ? s->out[(long)i * n + j] : 0;
  adjoint_of_x(s, m, x);
  solve_below(s, x, m);
  tm_complex_product((tm_side){'N', s->u}, (tm_side){'N', m}, n, n, n, 0, x);
  tm_complex_product((tm_side){'N', x}, (tm_side){'C', s->u}, n, n, n, 1,
                     s->ad);
}

static tm_any schur(tm_tape *tape, const tm_any *x, bool unitary) {
  const tm_tensor *a = &x->u.t;
  int n = a->dim[0];
  long square = (long)n * n;
  lapack_int none = 0;
  tm_complex *t = finite_copy(tape, a), *w = tm_complex_room(tape, n);
  tm_complex *u = tm_complex_room(tape, square);
  if (n && LAPACKE_zgees(LAPACK_ROW_MAJOR, 'V', 'N', NULL, n, t, n, &none, w, u,
                         n) != 0)
    tm_runtime_reject(tape, "a Schur decomposition did not converge");
  tm_complex *phase = tm_complex_room(tape, n);
  const int *pivot = tm_complex_pivots(tape, u, n, n, phase);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      t[(long)i * n + j] =
          i <= j ? t[(long)i * n + j] * conj(phase[i]) * phase[j] : 0;
  tm_tensor out = tm_complex_blank(tape, 2, a->dim, a->d != NULL);
  memcpy(out.v, unitary ? u : t, (size_t)square * sizeof(tm_complex));
  if (n && a->d) {
    tm_complex *work = tm_complex_room(tape, 2 * square);
    schur_node *s = (schur_node *)tm_push(tape, sizeof *s, schur_back);
    *s = (schur_node){s->node, tm_complexes(out.d), t,    u,
                      pivot,   tm_complexes(a->d),  work, n,
                      unitary};
  }
  return tm_any_tensor(out, 1);
}

TM_F(schur_t) {
  (void)count;
  return schur(tape, a, false);
}
TM_F(schur_u) {
  (void)count;
  return schur(tape, a, true);
}
