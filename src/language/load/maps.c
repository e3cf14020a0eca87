/* maps.c - constraining maps with Jacobians and their reverse, as in the Stan
 * reference manual, so that lp__ agrees with Stan's: simplexes, ordered
 * vectors, vectors that sum to zero, offset and multiplier. Unit vectors
 * differ: Stan's map has a coordinate too many, ours is one to one
 * (bridgestan_scale.c goes between them). */
#include "language/load/maps.h"

#include "model/model.h"

#include <math.h>
#include <string.h>

/* ---- offset and multiplier ---------------------------------------------- */

static double offset_constrain(const tempera_map *m, const double *u,
                               double *x) {
  for (size_t i = 0; i < m->size; i++)
    x[i] = m->offset + m->multiplier * u[i];
  return (double)m->size * log(m->multiplier);
}

static void offset_unconstrain(const tempera_map *m, const double *x,
                               double *u) {
  for (size_t i = 0; i < m->size; i++)
    u[i] = (x[i] - m->offset) / m->multiplier;
}

static void offset_pull(const tempera_map *m, const double *u, const double *x,
                        const double *g, bool jacobian, double *out) {
  (void)u, (void)x, (void)jacobian;
  for (size_t i = 0; i < m->size; i++)
    out[i] = g[i] * m->multiplier;
}

bool tm_map_finite(const tempera_map *m, const double *x) {
  for (size_t i = 0; i < m->size; i++)
    if (!isfinite(x[i]))
      return false;
  return true;
}

/* ---- ordered: x_k = x_{k-1} + exp(u_k) ---------------------------------- */

static double ordered_from(size_t first, const tempera_map *m, const double *u,
                           double *x) {
  double log_jacobian = 0, last = 0;
  for (size_t k = 0; k < m->size; k++) {
    last = k < first ? u[k] : last + exp(u[k]);
    log_jacobian += k < first ? 0 : u[k];
    x[k] = last;
  }
  return log_jacobian;
}

static void ordered_back(size_t first, const tempera_map *m, const double *u,
                         const double *g, bool jacobian, double *out) {
  double after = 0;
  for (size_t k = m->size; k-- > 0;) {
    after += g[k];
    out[k] = k < first ? after : after * exp(u[k]) + (jacobian ? 1 : 0);
  }
}

static double ordered_constrain(const tempera_map *m, const double *u,
                                double *x) {
  return ordered_from(1, m, u, x);
}
static double positive_constrain(const tempera_map *m, const double *u,
                                 double *x) {
  return ordered_from(0, m, u, x);
}
static void ordered_unconstrain(const tempera_map *m, const double *x,
                                double *u) {
  for (size_t k = 0; k < m->size; k++)
    u[k] = k ? log(x[k] - x[k - 1]) : x[0];
}
static void positive_unconstrain(const tempera_map *m, const double *x,
                                 double *u) {
  ordered_unconstrain(m, x, u);
  if (m->size)
    u[0] = log(x[0]);
}
static void ordered_pull(const tempera_map *m, const double *u, const double *x,
                         const double *g, bool jacobian, double *out) {
  (void)x;
  ordered_back(1, m, u, g, jacobian, out);
}
static void positive_pull(const tempera_map *m, const double *u,
                          const double *x, const double *g, bool jacobian,
                          double *out) {
  (void)x;
  ordered_back(0, m, u, g, jacobian, out);
}
static bool ordered_inside(const tempera_map *m, const double *x) {
  for (size_t k = 1; k < m->size; k++)
    if (!(x[k] > x[k - 1]))
      return false;
  return tm_map_finite(m, x);
}
static bool positive_inside(const tempera_map *m, const double *x) {
  return ordered_inside(m, x) && (m->size == 0 || x[0] > 0);
}

/* ---- simplexes ---------------------------------------------------------- */

static double simplex_constrain(const tempera_map *m, const double *u,
                                double *x) {
  return tm_simplex_constrain(m->size, u, x);
}
static void simplex_unconstrain(const tempera_map *m, const double *x,
                                double *u) {
  tm_simplex_unconstrain(m->size, x, u);
}
static bool simplex_inside(const tempera_map *m, const double *x) {
  return tm_simplex_inside(m->size, x);
}
static void simplex_pull(const tempera_map *m, const double *u, const double *x,
                         const double *g, bool jacobian, double *out) {
  (void)u;
  tm_simplex_pull_back(m->size, x, g, jacobian, out);
}

/* ---- unit vectors: stereographic projection ----------------------------- */

/* x_i = 2 u_i / (1 + s), the last (1 - s) / (1 + s), s = |u|^2; each of the
 * K - 1 directions is scaled by 2 / (1 + s). */
static double square_of(const tempera_map *m, const double *u) {
  double s = 0;
  for (size_t i = 0; i + 1 < m->size; i++)
    s += u[i] * u[i];
  return s;
}

static double sphere_constrain(const tempera_map *m, const double *u,
                               double *x) {
  double s = square_of(m, u);
  for (size_t i = 0; i + 1 < m->size; i++)
    x[i] = 2 * u[i] / (1 + s);
  x[m->size - 1] = (1 - s) / (1 + s);
  return (double)(m->size - 1) * (M_LN2 - log1p(s));
}

static void sphere_unconstrain(const tempera_map *m, const double *x,
                               double *u) {
  double last = x[m->size - 1], s = square_of(m, x);
  double height = last > 0 ? 1 + last : s / (1 - last); /* 1 + last */
  for (size_t i = 0; i + 1 < m->size; i++)
    u[i] = height > 0 ? x[i] / height : 0;
}

bool tm_map_is_sphere(const tempera_map *map) {
  return map && map->constrain == sphere_constrain;
}

static bool sphere_inside(const tempera_map *m, const double *x) {
  double s = square_of(m, x) + x[m->size - 1] * x[m->size - 1];
  return fabs(s - 1) < 1e-8;
}

static void sphere_pull(const tempera_map *m, const double *u, const double *x,
                        const double *g, bool jacobian, double *out) {
  double scale = 1 / (1 + square_of(m, u)), along = g[m->size - 1];
  (void)x;
  for (size_t i = 0; i + 1 < m->size; i++)
    along += g[i] * u[i];
  for (size_t i = 0; i + 1 < m->size; i++)
    out[i] = 2 * scale * (g[i] - 2 * scale * along * u[i]) -
             (jacobian ? 2 * (double)(m->size - 1) * scale * u[i] : 0);
}

/* ---- vectors that sum to zero ------------------------------------------- */

void tm_zero_sum(size_t size, const double *u, double *x) {
  double sum = 0;
  memset(x, 0, size * sizeof(double));
  for (size_t i = size - 1; i > 0; i--) {
    double n = (double)i, w = u[i - 1] / sqrt(n * (n + 1));
    sum += w;
    x[i - 1] += sum;
    x[i] -= n * w;
  }
}

/* Its transpose, which is also its inverse. */
void tm_zero_sum_back(size_t size, const double *x, double *u) {
  double sum = 0;
  for (size_t i = 1; i < size; i++) {
    double n = (double)i;
    sum += x[i - 1];
    u[i - 1] = (sum - n * x[i]) / sqrt(n * (n + 1));
  }
}

/* An orthogonal map of K - 1 coordinates: no Jacobian. */
static double zero_constrain(const tempera_map *m, const double *u, double *x) {
  tm_zero_sum(m->size, u, x);
  return 0;
}

static void zero_transpose(const tempera_map *m, const double *x, double *u) {
  tm_zero_sum_back(m->size, x, u);
}

static void zero_pull(const tempera_map *m, const double *u, const double *x,
                      const double *g, bool jacobian, double *out) {
  (void)u, (void)x, (void)jacobian;
  zero_transpose(m, g, out);
}

bool tm_zero_sum_inside(size_t size, const double *x) {
  double sum = 0, largest = 0;
  for (size_t i = 0; i < size; i++) {
    sum += x[i];
    largest += fabs(x[i]);
  }
  return isfinite(largest) && fabs(sum) <= 1e-8 * (1 + largest);
}

static bool zero_inside(const tempera_map *m, const double *x) {
  return tm_zero_sum_inside(m->size, x);
}

/* ---- the table ---------------------------------------------------------- */

static bool vector_map_of(tm_constraint constraint, size_t size,
                          tempera_map *map) {
  static const tempera_map maps[] = {
      [TM_OFFSET] = {.constrain = offset_constrain,
                     .unconstrain = offset_unconstrain,
                     .inside = tm_map_finite,
                     .pull_back = offset_pull},
      [TM_SIMPLEX] = {.constrain = simplex_constrain,
                      .unconstrain = simplex_unconstrain,
                      .inside = simplex_inside,
                      .pull_back = simplex_pull},
      [TM_UNIT_VECTOR] = {.constrain = sphere_constrain,
                          .unconstrain = sphere_unconstrain,
                          .inside = sphere_inside,
                          .pull_back = sphere_pull},
      [TM_ORDERED] = {.constrain = ordered_constrain,
                      .unconstrain = ordered_unconstrain,
                      .inside = ordered_inside,
                      .pull_back = ordered_pull},
      [TM_POSITIVE_ORDERED] = {.constrain = positive_constrain,
                               .unconstrain = positive_unconstrain,
                               .inside = positive_inside,
                               .pull_back = positive_pull},
      [TM_SUM_TO_ZERO] = {.constrain = zero_constrain,
                          .unconstrain = zero_transpose,
                          .inside = zero_inside,
                          .pull_back = zero_pull}};
  bool fewer = constraint == TM_SIMPLEX || constraint == TM_UNIT_VECTOR ||
               constraint == TM_SUM_TO_ZERO;
  if (constraint < TM_OFFSET || (fewer && size < 1) ||
      (constraint == TM_UNIT_VECTOR && size < 2))
    return false;
  *map = maps[constraint];
  map->unconstrained_size = size - fewer;
  return true;
}

bool tm_map_of(tm_constraint constraint, size_t rows, size_t columns,
               double offset, double multiplier, tempera_map *map) {
  bool has = constraint >= TM_ROW_STOCHASTIC
                 ? tm_lines_map_of(constraint, rows, columns, map)
             : constraint >= TM_CHOLESKY_CORR
                 ? tm_matrix_map_of(constraint, rows, columns, map)
                 : vector_map_of(constraint, rows, map);
  if (!has)
    return false;
  map->rows = rows;
  map->columns = columns;
  map->size = rows * columns;
  map->offset = offset;
  map->multiplier = multiplier;
  return true;
}
