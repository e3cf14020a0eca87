/* constrain.c - the constraining maps as functions: bounds element by element,
 * and vectors and matrices by the maps of parameters of the same type
 * (language/load/maps.h), so that both agree. */
#include "language/runtime/special.h"

#include "language/load/maps.h"
#include "language/runtime/fixed.h"

#include <lapacke.h>

/* ---- bounds: y and the bounds; d gets the slopes ------------------------- */

static double lower(const double *x, double *d) {
  bool none = x[1] == -INFINITY;
  double e = none ? 0 : exp(x[0]);
  if (d) {
    d[0] = none ? 1 : e;
    d[1] = !none;
  }
  return none ? x[0] : e + x[1];
}
static double lower_back(const double *x, double *d) {
  bool none = x[1] == -INFINITY;
  if (d) {
    d[0] = none ? 1 : 1 / (x[0] - x[1]);
    d[1] = none ? 0 : -d[0];
  }
  return none ? x[0] : log(x[0] - x[1]);
}
static double upper(const double *x, double *d) {
  bool none = x[1] == INFINITY;
  double e = none ? 0 : exp(x[0]);
  if (d) {
    d[0] = none ? 1 : -e;
    d[1] = !none;
  }
  return none ? x[0] : x[1] - e;
}
static double upper_back(const double *x, double *d) {
  bool none = x[1] == INFINITY;
  if (d) {
    d[0] = none ? 1 : -1 / (x[1] - x[0]);
    d[1] = none ? 0 : -d[0];
  }
  return none ? x[0] : log(x[1] - x[0]);
}

/* Both, where one of them may be infinite. */
static double both(const double *x, double *d) {
  double with_upper[2] = {x[0], x[2]}, slopes[2] = {0};
  if (x[2] == INFINITY || x[1] == -INFINITY) {
    bool low = x[2] == INFINITY;
    double value = low ? lower(x, d ? slopes : NULL)
                       : upper(with_upper, d ? slopes : NULL);
    if (d) {
      d[0] = slopes[0];
      d[1] = low ? slopes[1] : 0;
      d[2] = low ? 0 : slopes[1];
    }
    return value;
  }
  double p = tm_inv_logit(x[0]), width = x[2] - x[1];
  if (d) {
    d[0] = width * p * tm_inv_logit(-x[0]);
    d[1] = tm_inv_logit(-x[0]);
    d[2] = p;
  }
  return x[1] + width * p;
}
static double both_back(const double *x, double *d) {
  double with_upper[2] = {x[0], x[2]}, slopes[2] = {0};
  if (x[2] == INFINITY || x[1] == -INFINITY) {
    bool low = x[2] == INFINITY;
    double value = low ? lower_back(x, d ? slopes : NULL)
                       : upper_back(with_upper, d ? slopes : NULL);
    if (d) {
      d[0] = slopes[0];
      d[1] = low ? slopes[1] : 0;
      d[2] = low ? 0 : slopes[1];
    }
    return value;
  }
  double below = x[0] - x[1], above = x[2] - x[0];
  if (d) {
    d[0] = 1 / below + 1 / above;
    d[1] = -1 / below;
    d[2] = -1 / above;
  }
  return log(below) - log(above);
}
static double shift(const double *x, double *d) {
  if (d) {
    d[0] = x[2];
    d[1] = 1;
    d[2] = x[0];
  }
  return x[1] + x[2] * x[0];
}
static double shift_back(const double *x, double *d) {
  double value = (x[0] - x[1]) / x[2];
  if (d) {
    d[0] = 1 / x[2];
    d[1] = -d[0];
    d[2] = -value / x[2];
  }
  return value;
}

#define BOUND(name, f, arity)                                                  \
  TM_F(name) {                                                                 \
    (void)count;                                                               \
    return tm_map_kernel(tape, f, a, arity, #name);                            \
  }
BOUND(lower_bound_constrain, lower, 2)
BOUND(lower_bound_unconstrain, lower_back, 2)
BOUND(upper_bound_constrain, upper, 2)
BOUND(upper_bound_unconstrain, upper_back, 2)
BOUND(lower_upper_bound_constrain, both, 3)
BOUND(lower_upper_bound_unconstrain, both_back, 3)
BOUND(offset_multiplier_constrain, shift, 3)
BOUND(offset_multiplier_unconstrain, shift_back, 3)

/* ---- their log Jacobians ------------------------------------------------- */

static double lower_log(const double *x, double *d) {
  bool none = x[1] == -INFINITY;
  if (d) {
    d[0] = !none;
    d[1] = 0;
  }
  return none ? 0 : x[0];
}
static double upper_log(const double *x, double *d) {
  double turned[2] = {x[0], -x[1]};
  return lower_log(turned, d);
}
static double both_log(const double *x, double *d) {
  if (d)
    d[0] = d[1] = d[2] = 0;
  if (x[1] == -INFINITY || x[2] == INFINITY) {
    bool none = x[1] == -INFINITY && x[2] == INFINITY;
    if (d)
      d[0] = !none;
    return none ? 0 : x[0];
  }
  double width = x[2] - x[1];
  if (d) {
    d[0] = 1 - 2 * tm_inv_logit(x[0]);
    d[1] = -1 / width;
    d[2] = 1 / width;
  }
  return log(width) - tm_log1p_exp(x[0]) - tm_log1p_exp(-x[0]);
}
static double shift_log(const double *x, double *d) {
  if (d) {
    d[0] = d[1] = 0;
    d[2] = 1 / x[2];
  }
  return log(x[2]);
}

static tm_any total(tm_tape *tape, tm_any x) {
  return x.tag == TM_TAG_TENSOR ? tm_f_sum(tape, &x, 1) : x;
}
#define LOG_JACOBIAN(name, f, arity)                                           \
  TM_F(name##_log_jacobian) {                                                  \
    (void)count;                                                               \
    return total(tape, tm_map_kernel(tape, f, a, arity, #name));               \
  }
LOG_JACOBIAN(lower_bound, lower_log, 2)
LOG_JACOBIAN(upper_bound, upper_log, 2)
LOG_JACOBIAN(lower_upper_bound, both_log, 3)
LOG_JACOBIAN(offset_multiplier, shift_log, 3)

/* ---- maps of vectors and matrices --------------------------------------- */

typedef struct map_node {
  tm_node node;
  tempera_map map;
  double *u, *x, *g, *out; /* free and constrained, in the map's order */
  double *ud, *xd;         /* adjoints of tensors */
  int free_rows, free_columns, rows, columns;
} map_node;

/* Between a matrix row by row (tensors) and column by column (maps). */
static void turn(const double *from, int rows, int columns, bool to_columns,
                 double *to) {
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < columns; j++) {
      long by_row = (long)i * columns + j, by_column = (long)j * rows + i;
      to[to_columns ? by_column : by_row] =
          from[to_columns ? by_row : by_column];
    }
}
static void read_free(const map_node *m, const double *from, double *to) {
  turn(from, m->free_rows, m->free_columns, true, to);
}
static void read_constrained(const map_node *m, const double *from,
                             double *to) {
  turn(from, m->rows, m->columns, true, to);
}

static void constrain_back(tm_node *node) {
  map_node *m = (map_node *)node;
  read_constrained(m, m->xd, m->g);
  m->map.pull_back(&m->map, m->u, m->x, m->g, false, m->out);
  for (int i = 0; i < m->free_rows; i++)
    for (int j = 0; j < m->free_columns; j++)
      m->ud[(long)i * m->free_columns + j] +=
          m->out[(long)j * m->free_rows + i];
}

static double *room(tm_tape *tape, size_t n) {
  return tm_take(tape, n * sizeof(double) + 1);
}

/* A map with room for its numbers; sizes are checked. */
static map_node prepare(tm_tape *tape, tm_constraint constraint, int rows,
                        int columns, int free_rows, int free_columns,
                        const char *name) {
  map_node m = {.rows = rows,
                .columns = columns,
                .free_rows = free_rows,
                .free_columns = free_columns};
  if (rows < 1 || columns < 1 ||
      !tm_map_of(constraint, (size_t)rows, (size_t)columns, 0, 1, &m.map) ||
      m.map.unconstrained_size != (size_t)free_rows * (size_t)free_columns)
    tm_runtime_fail(tape, "", "%s: sizes do not match", name);
  m.u = room(tape, m.map.unconstrained_size);
  m.x = room(tape, m.map.size);
  m.g = room(tape, m.map.size);
  m.out = room(tape, m.map.unconstrained_size);
  return m;
}

static tm_any push(tm_tape *tape, map_node m, tm_tensor out, const double *in_d,
                   bool constrain, void (*back)(tm_node *)) {
  if (in_d) {
    m.ud = constrain ? (double *)(uintptr_t)in_d : out.d;
    m.xd = constrain ? out.d : (double *)(uintptr_t)in_d;
    map_node *node = (map_node *)tm_push(tape, sizeof *node, back);
    m.node = node->node;
    *node = m;
  }
  return tm_any_tensor(out, 1);
}

static tm_any constrained(tm_tape *tape, map_node m, const tm_tensor *u,
                          int rank) {
  read_free(&m, u->v, m.u);
  m.map.constrain(&m.map, m.u, m.x);
  tm_tensor out =
      tm_tensor_new(tape, rank, (int[]){m.rows, m.columns}, u->d != NULL);
  turn(m.x, m.rows, m.columns, false, out.v);
  return push(tape, m, out, u->d, true, constrain_back);
}

/* The log Jacobian alone, with its slopes. */
static tm_any log_jacobian(tm_tape *tape, map_node m, const tm_tensor *u) {
  read_free(&m, u->v, m.u);
  double value = m.map.constrain(&m.map, m.u, m.x);
  long n = (long)m.map.unconstrained_size;
  double *slopes = tm_room(tape, u->d, n);
  if (slopes) {
    m.map.pull_back(&m.map, m.u, m.x, m.g, true, m.out); /* g is zero */
    turn(m.out, m.free_rows, m.free_columns, false, slopes);
  }
  return tm_scalar_result(tape, value, 1, &(tm_partial){u->d, slopes, n});
}

/* u = f^-1(x): along the map's tangents du = (J'J)^-1 J' dx, so x' += J
 * (J'J)^-1 u'. Rows of J are pulled back one by one. */
static void unconstrain_back(tm_node *node) {
  map_node *m = (map_node *)node;
  size_t n = m->map.size, k = m->map.unconstrained_size;
  double *j = m->g + n, *square = j + n * k, *b = square + k * k;
  for (size_t i = 0; i < n; i++) {
    memset(m->g, 0, n * sizeof(double));
    m->g[i] = 1;
    m->map.pull_back(&m->map, m->u, m->x, m->g, false, j + i * k);
  }
  memset(square, 0, k * k * sizeof(double));
  for (size_t i = 0; i < n; i++)
    for (size_t r = 0; r < k; r++)
      for (size_t c = 0; c < k; c++)
        square[r * k + c] += j[i * k + r] * j[i * k + c];
  read_free(m, m->ud, b);
  if (k)
    LAPACKE_dposv(LAPACK_ROW_MAJOR, 'L', (int)k, 1, square, (int)k, b, 1);
  for (size_t i = 0; i < n; i++) {
    double sum = 0;
    for (size_t c = 0; c < k; c++)
      sum += j[i * k + c] * b[c];
    size_t row = i % (size_t)m->rows, column = i / (size_t)m->rows;
    m->xd[row * (size_t)m->columns + column] += sum;
  }
}

static tm_any unconstrained(tm_tape *tape, map_node m, const tm_tensor *x,
                            int rank, const char *name) {
  read_constrained(&m, x->v, m.x);
  if (!m.map.inside(&m.map, m.x))
    tm_runtime_reject(tape, "%s: the value breaks its constraint", name);
  m.map.unconstrain(&m.map, m.x, m.u);
  tm_tensor out = tm_tensor_new(
      tape, rank, (int[]){m.free_rows, m.free_columns}, x->d != NULL);
  turn(m.u, m.free_rows, m.free_columns, false, out.v);
  size_t n = m.map.size, k = m.map.unconstrained_size;
  if (x->d)
    m.g = room(tape, n + n * k + k * k + k);
  return push(tape, m, out, x->d, false, unconstrain_back);
}

/* ---- each kind ---------------------------------------------------------- */

typedef tm_any (*one_fn)(tm_tape *tape, const tm_any *a);

/* An array's elements one by one; other arguments are the same for all. */
static tm_any each(tm_tape *tape, const tm_any *a, int count, int rank,
                   one_fn one) {
  const tm_tensor *t = &a[0].u.t;
  if (t->rank == rank)
    return one(tape, a);
  tm_any *parts = tm_take(tape, (size_t)t->dim[0] * sizeof *parts + 1);
  for (int i = 0; i < t->dim[0]; i++) {
    tm_any with[3] = {tm_any_tensor(tm_sub(*t, i, 1), a[0].steady)};
    for (int k = 1; k < count; k++)
      with[k] = a[k];
    parts[i] = each(tape, with, count, rank, one);
  }
  if (t->dim[0] == 0)
    return a[0];
  return tm_any_tensor(tm_stack(tape, parts, t->dim[0]), 1);
}

/* The sum over an array. */
static tm_any sum_each(tm_tape *tape, const tm_any *a, int count, int rank,
                       one_fn one) {
  return total(tape, each(tape, a, count, rank, one));
}

/* Vectors: `more` elements than free ones. */
#define VECTORS(name, constraint, more)                                        \
  static tm_any name##_to(tm_tape *tape, const tm_any *a) {                    \
    const tm_tensor *t = &a->u.t;                                              \
    map_node m = prepare(tape, constraint, t->dim[0] + more, 1, t->dim[0], 1,  \
                         #name "_constrain");                                  \
    return constrained(tape, m, t, 1);                                         \
  }                                                                            \
  static tm_any name##_from(tm_tape *tape, const tm_any *a) {                  \
    const tm_tensor *t = &a->u.t;                                              \
    map_node m = prepare(tape, constraint, t->dim[0], 1, t->dim[0] - more, 1,  \
                         #name "_unconstrain");                                \
    return unconstrained(tape, m, t, 1, #name "_unconstrain");                 \
  }                                                                            \
  static tm_any name##_log(tm_tape *tape, const tm_any *a) {                   \
    const tm_tensor *t = &a->u.t;                                              \
    map_node m = prepare(tape, constraint, t->dim[0] + more, 1, t->dim[0], 1,  \
                         #name "_jacobian");                                   \
    return log_jacobian(tape, m, t);                                           \
  }                                                                            \
  TM_F(name##_log_jacobian) {                                                  \
    return sum_each(tape, a, count, 1, name##_log);                            \
  }                                                                            \
  TM_F(name##_constrain) { return each(tape, a, count, 1, name##_to); }        \
  TM_F(name##_unconstrain) { return each(tape, a, count, 1, name##_from); }
VECTORS(simplex, TM_SIMPLEX, 1)
VECTORS(ordered, TM_ORDERED, 0)
VECTORS(positive_ordered, TM_POSITIVE_ORDERED, 0)
VECTORS(sum_to_zero, TM_SUM_TO_ZERO, 1)

/* Stan's unit vectors: y over its length; the way back is the identity. */
static tm_any to_unit(tm_tape *tape, const tm_any *a) {
  tm_any length = tm_f_norm2(tape, a, 1);
  return tm_map2(tape, "elt_divide", a[0], length);
}
TM_F(unit_vector_constrain) { return each(tape, a, count, 1, to_unit); }
/* -|y|^2 / 2, which makes y normal and its direction uniform. */
TM_F(unit_vector_log_jacobian) {
  (void)count;
  tm_any square = tm_f_dot_self(tape, a, 1);
  return tm_map2(tape, "elt_multiply", square, tm_any_real(-0.5));
}
TM_F(unit_vector_unconstrain) {
  (void)count;
  return tm_map2(tape, "add", a[0], tm_any_real(0));
}

/* Matrices from vectors, of sizes that are given (the last counts). */
#define MATRICES(name, constraint)                                             \
  static tm_any name##_to(tm_tape *tape, const tm_any *a) {                    \
    const tm_tensor *t = &a->u.t;                                              \
    int rows = (int)a[1].u.i, columns = (int)a[2].u.i;                         \
    map_node m = prepare(tape, constraint, rows, columns, t->dim[0], 1,        \
                         #name "_constrain");                                  \
    return constrained(tape, m, t, 2);                                         \
  }                                                                            \
  static tm_any name##_from(tm_tape *tape, const tm_any *a) {                  \
    const tm_tensor *t = &a->u.t;                                              \
    tempera_map map;                                                           \
    if (!tm_map_of(constraint, (size_t)t->dim[0], (size_t)t->dim[1], 0, 1,     \
                   &map))                                                      \
      tm_runtime_fail(tape, "", #name "_unconstrain: sizes do not match");     \
    map_node m =                                                               \
        prepare(tape, constraint, t->dim[0], t->dim[1],                        \
                (int)map.unconstrained_size, 1, #name "_unconstrain");         \
    return unconstrained(tape, m, t, 1, #name "_unconstrain");                 \
  }                                                                            \
  static tm_any name##_log(tm_tape *tape, const tm_any *a) {                   \
    const tm_tensor *t = &a->u.t;                                              \
    int rows = (int)a[1].u.i, columns = (int)a[2].u.i;                         \
    map_node m = prepare(tape, constraint, rows, columns, t->dim[0], 1,        \
                         #name "_jacobian");                                   \
    return log_jacobian(tape, m, t);                                           \
  }                                                                            \
  TM_F(name##_log_jacobian) {                                                  \
    tm_any full[] = {a[0], a[1], count == 3 ? a[2] : a[1]};                    \
    return sum_each(tape, full, 3, 1, name##_log);                             \
  }                                                                            \
  TM_F(name##_constrain) {                                                     \
    tm_any full[] = {a[0], a[1], count == 3 ? a[2] : a[1]};                    \
    return each(tape, full, 3, 1, name##_to);                                  \
  }                                                                            \
  TM_F(name##_unconstrain) { return each(tape, a, count, 2, name##_from); }
MATRICES(cholesky_factor_corr, TM_CHOLESKY_CORR)
MATRICES(cholesky_factor_cov, TM_CHOLESKY_COV)
MATRICES(corr_matrix, TM_CORRELATION)
MATRICES(cov_matrix, TM_COVARIANCE)

/* Matrices from matrices that have fewer rows or columns. */
#define LINES(name, constraint, more_rows, more_columns)                       \
  static tm_any name##_to(tm_tape *tape, const tm_any *a) {                    \
    const tm_tensor *t = &a->u.t;                                              \
    map_node m = prepare(tape, constraint, t->dim[0] + more_rows,              \
                         t->dim[1] + more_columns, t->dim[0], t->dim[1],       \
                         #name "_constrain");                                  \
    return constrained(tape, m, t, 2);                                         \
  }                                                                            \
  static tm_any name##_from(tm_tape *tape, const tm_any *a) {                  \
    const tm_tensor *t = &a->u.t;                                              \
    map_node m =                                                               \
        prepare(tape, constraint, t->dim[0], t->dim[1], t->dim[0] - more_rows, \
                t->dim[1] - more_columns, #name "_unconstrain");               \
    return unconstrained(tape, m, t, 2, #name "_unconstrain");                 \
  }                                                                            \
  static tm_any name##_log(tm_tape *tape, const tm_any *a) {                   \
    const tm_tensor *t = &a->u.t;                                              \
    map_node m = prepare(tape, constraint, t->dim[0] + more_rows,              \
                         t->dim[1] + more_columns, t->dim[0], t->dim[1],       \
                         #name "_jacobian");                                   \
    return log_jacobian(tape, m, t);                                           \
  }                                                                            \
  TM_F(name##_log_jacobian) {                                                  \
    return sum_each(tape, a, count, 2, name##_log);                            \
  }                                                                            \
  TM_F(name##_constrain) { return each(tape, a, count, 2, name##_to); }        \
  TM_F(name##_unconstrain) { return each(tape, a, count, 2, name##_from); }
LINES(stochastic_column, TM_COLUMN_STOCHASTIC, 1, 0)
LINES(stochastic_row, TM_ROW_STOCHASTIC, 0, 1)
LINES(sum_to_zero_matrix, TM_SUM_TO_ZERO_MATRIX, 1, 1)
