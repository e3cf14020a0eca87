/* symmetric_eigen.c - eigenvalues and -vectors of symmetric matrices:
 * Householder's reflections to tridiagonal form, then implicit QL steps
 * (Wilkinson & Reinsch 1971). Needs no room beyond what is given: a
 * reflection's vector is kept in the row that it has cleared. Vectors are rows,
 * so that all inner loops are over neighbours in memory; ours and not LAPACK's
 * for the reason in dense.h.
 */
#include "numeric/dense.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum {
  SMALL = 16,
  QUICK = 200,    /* done before anyone could ask to stop */
  MOST_STEPS = 60 /* for each eigenvalue; a few are usual */
};

/* ---- small ones ---- */

static double off_diagonal(const double *a, size_t d) {
  double sum = 0;
  for (size_t i = 0; i < d; i++)
    for (size_t j = 0; j < i; j++)
      sum += a[i * d + j] * a[i * d + j];
  return sum;
}

/* Rotate rows and columns p and q of a so that a_pq = 0. */
static void rotate(double *a, double *v, size_t d, size_t p, size_t q) {
  double apq = a[p * d + q];
  if (apq == 0)
    return;
  double theta = (a[q * d + q] - a[p * d + p]) / (2 * apq);
  double t = copysign(1, theta) / (fabs(theta) + sqrt(1 + theta * theta));
  double c = 1 / sqrt(1 + t * t), s = t * c;
  for (size_t k = 0; k < d; k++) {
    double x = a[k * d + p], y = a[k * d + q];
    a[k * d + p] = c * x - s * y;
    a[k * d + q] = s * x + c * y;
  }
  for (size_t k = 0; k < d; k++) {
    double x = a[p * d + k], y = a[q * d + k];
    a[p * d + k] = c * x - s * y;
    a[q * d + k] = s * x + c * y;
    x = v[p * d + k];
    y = v[q * d + k];
    v[p * d + k] = c * x - s * y;
    v[q * d + k] = s * x + c * y;
  }
}

static void by_rotations(double *a, size_t d, double *values, double *vectors) {
  double size = 0;
  for (size_t i = 0; i < d * d; i++) {
    vectors[i] = i % (d + 1) == 0;
    size += a[i] * a[i];
  }
  for (int sweep = 0; sweep < 40; sweep++) {
    if (!(off_diagonal(a, d) > 1e-28 * size))
      break;
    for (size_t p = 0; p < d; p++)
      for (size_t q = p + 1; q < d; q++)
        rotate(a, vectors, d, p, q);
  }
  for (size_t i = 0; i < d; i++)
    values[i] = a[i * d + i];
}

/* ---- large ones ---- */

static bool asks(size_t d, const tm_stop *stop) {
  return d > QUICK && tm_stop_due(stop);
}

static void add_multiple(double *to, double factor, const double *x, size_t n) {
  for (size_t i = 0; i < n; i++)
    to[i] += factor * x[i];
}

/* The unit vector u = x - alpha e_1 for which I - 2uu' takes row k right of
 * the diagonal to alpha e_1; left in its place. False where it is zero
 * already. */
static bool reflect_row(double *a, size_t d, size_t k, double *alpha) {
  double *x = a + k * d + k + 1, largest = 0;
  size_t n = d - k - 1;
  for (size_t i = 0; i < n; i++)
    largest = fmax(largest, fabs(x[i]));
  *alpha = x[0];
  if (!(largest > 0) || !isfinite(largest))
    return false;
  for (size_t i = 0; i < n; i++)
    x[i] /= largest;
  double length = sqrt(tm_dot(x, x, n));
  *alpha = -copysign(length * largest, x[0]);
  x[0] += copysign(length, x[0]);
  double scale = 1 / sqrt(tm_dot(x, x, n));
  for (size_t i = 0; i < n; i++)
    x[i] *= scale;
  return true;
}

/* The block right of and below k: A <- H A H, H = I - 2uu'. */
static void reflect_block(double *a, size_t d, size_t k, double *q) {
  const double *u = a + k * d + k + 1;
  size_t n = d - k - 1;
  for (size_t i = 0; i < n; i++)
    q[i] = tm_dot(a + (k + 1 + i) * d + k + 1, u, n);
  add_multiple(q, -tm_dot(u, q, n), u, n);
  for (size_t i = 0; i < n; i++) {
    double *row = a + (k + 1 + i) * d + k + 1;
    add_multiple(row, -2 * u[i], q, n);
    add_multiple(row, -2 * q[i], u, n);
  }
}

/* Rows of `vectors` become those of H_0 H_1 ... transposed; from the last
 * reflection back, only what it reaches is touched. */
static bool gather_reflections(const double *a, size_t d, double *vectors,
                               const tm_stop *stop) {
  memset(vectors, 0, d * d * sizeof(double));
  for (size_t i = 0; i < d; i++)
    vectors[i * d + i] = 1;
  for (size_t k = d - 1; k-- > 0;) {
    const double *u = a + k * d + k + 1;
    size_t n = d - k - 1;
    if (asks(d, stop))
      return false;
    if (a[k * d + k] == 0) /* see tridiagonalise */
      continue;
    for (size_t i = 0; i < n; i++) { /* columns of Q, which are rows here */
      double *row = vectors + (k + 1 + i) * d + k + 1;
      add_multiple(row, -2 * tm_dot(row, u, n), u, n);
    }
  }
  return true;
}

/* Diagonal to `values`, what is beside it to column 0 of `a` below the first
 * row; then, the diagonal of `a` being free, it says where there was a
 * reflection. */
static bool tridiagonalise(double *a, size_t d, double *values, double *q,
                           const tm_stop *stop) {
  for (size_t k = 0; k + 1 < d; k++) {
    double alpha;
    if (asks(d, stop))
      return false;
    values[k] = a[k * d + k];
    bool turned = reflect_row(a, d, k, &alpha);
    a[k * d + k] = turned;
    if (turned)
      reflect_block(a, d, k, q);
    a[(k + 1) * d] = alpha;
  }
  values[d - 1] = a[d * d - 1];
  return true;
}

/* Rows p and p + 1 of `vectors`, by cosine c and sine s. */
static void turn_rows(double *vectors, size_t d, size_t p, double c, double s) {
  double *x = vectors + p * d, *y = x + d;
  for (size_t k = 0; k < d; k++) {
    double held = y[k];
    y[k] = s * x[k] + c * held;
    x[k] = c * x[k] - s * held;
  }
}

/* One implicit step on rows [low, high]; beside[i] joins i and i + 1. */
static void ql_step(double *values, double *beside, double *vectors, size_t d,
                    size_t low, size_t high) {
  double g = (values[low + 1] - values[low]) / (2 * beside[low]);
  double r = hypot(g, 1), s = 1, c = 1, p = 0;
  g = values[high] - values[low] + beside[low] / (g + copysign(r, g));
  for (size_t i = high; i-- > low;) {
    double f = s * beside[i], b = c * beside[i];
    r = hypot(f, g);
    beside[i + 1] = r;
    if (r == 0) { /* it has fallen apart in the middle */
      values[i + 1] -= p;
      beside[high] = 0;
      return;
    }
    s = f / r;
    c = g / r;
    g = values[i + 1] - p;
    r = (values[i] - g) * s + 2 * c * b;
    p = s * r;
    values[i + 1] = g + p;
    g = c * r - b;
    turn_rows(vectors, d, i, c, s);
  }
  values[low] -= p;
  beside[low] = g;
  beside[high] = 0;
}

static bool by_reflections(double *a, size_t d, double *values, double *vectors,
                           const tm_stop *stop) {
  if (!tridiagonalise(a, d, values, vectors, stop) ||
      !gather_reflections(a, d, vectors, stop))
    return false;
  double *beside = a; /* its first row is free now */
  for (size_t i = 0; i + 1 < d; i++)
    beside[i] = a[(i + 1) * d];
  beside[d - 1] = 0;
  for (size_t low = 0; low < d; low++)
    for (int step = 0; step < MOST_STEPS; step++) {
      size_t high = low;
      while (high + 1 < d &&
             fabs(beside[high]) >
                 DBL_EPSILON * (fabs(values[high]) + fabs(values[high + 1])))
        high++;
      if (high == low)
        break;
      if (asks(d, stop))
        return false;
      ql_step(values, beside, vectors, d, low, high);
    }
  return true;
}

bool tm_symmetric_eigen_until(double *a, size_t d, double *values,
                              double *vectors, const tm_stop *stop) {
  if (d > SMALL)
    return by_reflections(a, d, values, vectors, stop);
  by_rotations(a, d, values, vectors);
  return true;
}

void tm_symmetric_eigen(double *a, size_t d, double *values, double *vectors) {
  (void)tm_symmetric_eigen_until(a, d, values, vectors, NULL);
}
