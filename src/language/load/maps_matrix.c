/* maps_matrix.c - constraining maps of Cholesky factors, covariance and
 * correlation matrices, as in the Stan reference manual. Matrices lie column
 * by column. */
#include "language/load/maps.h"

#include <math.h>
#include <string.h>

enum { BIGGEST = 512 }; /* rows of a matrix parameter */

/* ---- Cholesky factor of a covariance matrix ----------------------------- */

#define AT(i, j) ((j)*m->rows + (i))

/* Row by row; diagonals through exp. */
static double factor_constrain(const tempera_map *m, const double *u,
                               double *x) {
  double log_jacobian = 0;
  size_t k = 0;
  memset(x, 0, m->size * sizeof(double));
  for (size_t i = 0; i < m->rows; i++)
    for (size_t j = 0; j <= i && j < m->columns; j++, k++) {
      x[AT(i, j)] = i == j ? exp(u[k]) : u[k];
      log_jacobian += i == j ? u[k] : 0;
    }
  return log_jacobian;
}

static void factor_unconstrain(const tempera_map *m, const double *x,
                               double *u) {
  size_t k = 0;
  for (size_t i = 0; i < m->rows; i++)
    for (size_t j = 0; j <= i && j < m->columns; j++, k++)
      u[k] = i == j ? log(x[AT(i, j)]) : x[AT(i, j)];
}

static void factor_pull(const tempera_map *m, const double *u, const double *x,
                        const double *g, bool jacobian, double *out) {
  size_t k = 0;
  (void)u;
  for (size_t i = 0; i < m->rows; i++)
    for (size_t j = 0; j <= i && j < m->columns; j++, k++)
      out[k] =
          i == j ? g[AT(i, j)] * x[AT(i, j)] + (jacobian ? 1 : 0) : g[AT(i, j)];
}

static bool factor_inside(const tempera_map *m, const double *x) {
  for (size_t i = 0; i < m->rows; i++)
    for (size_t j = 0; j < m->columns; j++)
      if ((j > i && x[AT(i, j)] != 0) || (j == i && !(x[AT(i, j)] > 0)))
        return false;
  return tm_map_finite(m, x);
}

/* ---- Cholesky factor of a correlation matrix ---------------------------- */

/* Row i: x_j = z_j sqrt(r_j), r_{j+1} = r_j (1 - z_j^2), z = tanh u. */
static double unit_constrain(const tempera_map *m, const double *u, double *x) {
  double log_jacobian = 0;
  size_t k = 0;
  memset(x, 0, m->size * sizeof(double));
  for (size_t i = 0; i < m->rows; i++) {
    double rest = 1;
    for (size_t j = 0; j < i; j++, k++) {
      double z = tanh(u[k]);
      /* log(1 - tanh^2 u) without cancelling */
      log_jacobian += 2 * (M_LN2 - fabs(u[k]) - log1p(exp(-2 * fabs(u[k])))) +
                      (j ? 0.5 * log(rest) : 0);
      x[AT(i, j)] = z * sqrt(rest);
      rest *= 1 - z * z;
    }
    x[AT(i, i)] = sqrt(rest);
  }
  return log_jacobian;
}

static void unit_unconstrain(const tempera_map *m, const double *x, double *u) {
  size_t k = 0;
  for (size_t i = 0; i < m->rows; i++) {
    double rest = 1;
    for (size_t j = 0; j < i; j++, k++) {
      double z = x[AT(i, j)] / sqrt(rest);
      u[k] = atanh(z);
      rest -= x[AT(i, j)] * x[AT(i, j)];
    }
  }
}

static void unit_pull(const tempera_map *m, const double *u, const double *x,
                      const double *g, bool jacobian, double *out) {
  size_t start = 0;
  (void)x;
  for (size_t i = 0; i < m->rows; start += i, i++) {
    double rest[BIGGEST + 1], back;
    rest[0] = 1;
    for (size_t j = 0; j < i; j++) {
      double z = tanh(u[start + j]);
      rest[j + 1] = rest[j] * (1 - z * z);
    }
    back = g[AT(i, i)] * 0.5 / sqrt(rest[i]);
    for (size_t j = i; j-- > 0;) {
      double z = tanh(u[start + j]), root = sqrt(rest[j]);
      double gz = g[AT(i, j)] * root - back * rest[j] * 2 * z;
      back = g[AT(i, j)] * z * 0.5 / root + back * (1 - z * z) +
             (jacobian && j ? 0.5 / rest[j] : 0);
      out[start + j] = gz * (1 - z * z) - (jacobian ? 2 * z : 0);
    }
  }
}

/* ---- covariance and correlation matrices: X = L L' ---------------------- */

static void square(const tempera_map *m, const double *l, double *x) {
  for (size_t i = 0; i < m->rows; i++)
    for (size_t j = 0; j <= i; j++) {
      double sum = 0;
      for (size_t k = 0; k <= j; k++)
        sum += l[AT(i, k)] * l[AT(j, k)];
      x[AT(i, j)] = x[AT(j, i)] = sum;
    }
}

static bool root(const tempera_map *m, const double *x, double *l) {
  memset(l, 0, m->size * sizeof(double));
  for (size_t i = 0; i < m->rows; i++)
    for (size_t j = 0; j <= i; j++) {
      double sum = x[AT(i, j)];
      for (size_t k = 0; k < j; k++)
        sum -= l[AT(i, k)] * l[AT(j, k)];
      if (i == j && !(sum > 0))
        return false;
      l[AT(i, j)] = i == j ? sqrt(sum) : sum / l[AT(j, j)];
    }
  return true;
}

enum { FEWEST_ON_STACK = 32 * 32 };

/* The power of L's diagonal i in |dX/dL|. */
static double power(const tempera_map *m, size_t i, bool correlation) {
  return (double)(m->rows - i) - (correlation ? 1 : 0);
}

static double square_constrain(const tempera_map *m, const double *u, double *x,
                               bool correlation) {
  double l[FEWEST_ON_STACK];
  double log_jacobian =
      correlation ? unit_constrain(m, u, l) : factor_constrain(m, u, l);
  for (size_t i = 0; i < m->rows; i++)
    log_jacobian +=
        power(m, i, correlation) * log(l[AT(i, i)]) + (correlation ? 0 : M_LN2);
  square(m, l, x);
  /* A sum that rounds to 1 in all draws would look like one that is stuck. */
  for (size_t i = 0; correlation && i < m->rows; i++)
    x[AT(i, i)] = 1;
  return log_jacobian;
}

static void square_pull(const tempera_map *m, const double *u, const double *x,
                        const double *g, bool jacobian, double *out,
                        bool correlation) {
  double l[FEWEST_ON_STACK], gl[FEWEST_ON_STACK];
  (void)x;
  if (correlation)
    unit_constrain(m, u, l);
  else
    factor_constrain(m, u, l);
  for (size_t i = 0; i < m->rows; i++)
    for (size_t j = 0; j < m->rows; j++) {
      double sum = 0;
      for (size_t k = 0; k < m->rows; k++)
        sum += (g[AT(i, k)] + g[AT(k, i)]) * l[AT(k, j)];
      gl[AT(i, j)] = j > i ? 0 : sum;
    }
  for (size_t i = 0; jacobian && i < m->rows; i++)
    gl[AT(i, i)] += power(m, i, correlation) / l[AT(i, i)];
  if (correlation)
    unit_pull(m, u, l, gl, jacobian, out);
  else
    factor_pull(m, u, l, gl, jacobian, out);
}

static double covariance_constrain(const tempera_map *m, const double *u,
                                   double *x) {
  return square_constrain(m, u, x, false);
}
static double correlation_constrain(const tempera_map *m, const double *u,
                                    double *x) {
  return square_constrain(m, u, x, true);
}
static void covariance_unconstrain(const tempera_map *m, const double *x,
                                   double *u) {
  double l[FEWEST_ON_STACK];
  if (root(m, x, l))
    factor_unconstrain(m, l, u);
}
static void correlation_unconstrain(const tempera_map *m, const double *x,
                                    double *u) {
  double l[FEWEST_ON_STACK];
  if (root(m, x, l))
    unit_unconstrain(m, l, u);
}
static void covariance_pull(const tempera_map *m, const double *u,
                            const double *x, const double *g, bool jacobian,
                            double *out) {
  square_pull(m, u, x, g, jacobian, out, false);
}
static void correlation_pull(const tempera_map *m, const double *u,
                             const double *x, const double *g, bool jacobian,
                             double *out) {
  square_pull(m, u, x, g, jacobian, out, true);
}
static bool square_inside(const tempera_map *m, const double *x) {
  double l[FEWEST_ON_STACK];
  return tm_map_finite(m, x) && root(m, x, l);
}

/* ---- the table ---------------------------------------------------------- */

bool tm_matrix_map_of(tm_constraint constraint, size_t rows, size_t columns,
                      tempera_map *map) {
  static const tempera_map maps[] = {
      [TM_CHOLESKY_CORR] = {.constrain = unit_constrain,
                            .unconstrain = unit_unconstrain,
                            .inside = factor_inside,
                            .pull_back = unit_pull},
      [TM_CHOLESKY_COV] = {.constrain = factor_constrain,
                           .unconstrain = factor_unconstrain,
                           .inside = factor_inside,
                           .pull_back = factor_pull},
      [TM_CORRELATION] = {.constrain = correlation_constrain,
                          .unconstrain = correlation_unconstrain,
                          .inside = square_inside,
                          .pull_back = correlation_pull},
      [TM_COVARIANCE] = {.constrain = covariance_constrain,
                         .unconstrain = covariance_unconstrain,
                         .inside = square_inside,
                         .pull_back = covariance_pull}};
  bool squared = constraint == TM_CORRELATION || constraint == TM_COVARIANCE;
  bool unit = constraint == TM_CORRELATION || constraint == TM_CHOLESKY_CORR;
  if (rows > BIGGEST || rows < columns ||
      (squared && rows * rows > FEWEST_ON_STACK))
    return false;
  *map = maps[constraint];
  map->unconstrained_size =
      unit ? rows * (rows - 1) / 2
           : columns * (columns + 1) / 2 + (rows - columns) * columns;
  return true;
}
