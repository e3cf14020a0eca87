/* prelude.h - what every generated program includes, and the library too:
 * scalars, tensors, the tape, and elementwise functions with derivatives.
 *
 * Reverse mode. A real that may depend on parameters is a tm_var: its value
 * and a pointer to its adjoint (NULL when it does not). Operations push nodes
 * on a tape in a bump arena; the backward sweep walks them in reverse. A
 * tensor is contiguous and row-major, with an array of adjoints or NULL.
 * Storage is mutable: assigning to an element pushes a node that, going
 * backwards, moves the adjoint from the element to what was assigned and
 * clears it, so that earlier readers of the old value find their own. */
#ifndef TM_LANGUAGE_PRELUDE_H
#define TM_LANGUAGE_PRELUDE_H

#include <math.h>
#include <stddef.h>
#include <string.h>

typedef struct tm_var {
  double v;
  double *d;
} tm_var;

enum { TM_RANK = 7 };

typedef struct tm_tensor {
  double *v, *d;
  int rank;
  int dim[TM_RANK];
} tm_tensor;

typedef enum tm_tag {
  TM_TAG_INT,
  TM_TAG_REAL,
  TM_TAG_TENSOR,
  TM_TAG_TEXT
} tm_tag;

/* A value of any kind, for calls into the library. */
typedef struct tm_any {
  tm_tag tag;
  int steady; /* its storage is never assigned again */
  union {
    long i;
    tm_var r;
    tm_tensor t;
    const char *s;
  } u;
} tm_any;

typedef struct tm_node {
  void (*back)(struct tm_node *node); /* NULL: a tm_linear */
  struct tm_node *before;
} tm_node;

/* A scalar of up to two operands with known partials. */
typedef struct tm_linear {
  tm_node node;
  double adjoint;
  double *a, *b;
  double da, db;
} tm_linear;

typedef struct tm_tape {
  char *at, *end; /* free space of the current chunk */
  tm_node *last;
  double sink; /* adjoint of nobody */
  double log_density;
  const char *place;              /* of the statement, while explaining */
  int showing;                    /* print statements print */
  void *chunks, *random, *inside; /* the library's own */
  const struct tm_runtime *runtime;
} tm_tape;

/* count may carry TM_DIRECT: the value goes straight into the target, so
 * partials may be added to steady arguments' adjoints at once. Densities of
 * containers may be asked for the part that depends on some arguments only
 * (TM_ONLY, with bits of the arguments from TM_CHOSEN on), or without it. */
typedef tm_any (*tm_fn)(tm_tape *tape, const tm_any *arguments, int count);
enum { TM_DIRECT = 1 << 16, TM_ONLY = 1 << 17, TM_REST = 1 << 18 };
enum { TM_CHOSEN = 20 };

/* A univariate log density: value, and partials when d is not 0. */
typedef double (*tm_kernel)(const double *x, double *d);

/* One index of a slice. */
typedef enum tm_slice_kind {
  TM_SLICE_ONE,
  TM_SLICE_ALL,
  TM_SLICE_RANGE,
  TM_SLICE_MANY
} tm_slice_kind;
typedef struct tm_slice {
  tm_slice_kind kind;
  long from, to; /* 0: open */
  tm_tensor many;
} tm_slice;

/* The right-hand side of a differential equation: time, state, arguments. */
typedef tm_tensor (*tm_rhs)(tm_tape *tape, double time, tm_tensor y,
                            const tm_any *arguments);
typedef enum tm_ode_method {
  TM_ODE_RK45,
  TM_ODE_BDF,
  TM_ODE_ADAMS
} tm_ode_method;
typedef struct tm_ode {
  tm_ode_method method;
  tm_rhs value, gradient;
  tm_any start;
  int moving; /* times may depend on parameters */
  double relative, absolute, most_steps;
  tm_tensor times;
  const tm_any *arguments;
  int argument_count;
} tm_ode;

/* The bounds (or offset and multiplier) of a parameter, from the values of
 * those before it; adjoints in `gradient` when it is not 0. */
typedef void (*tm_limits_fn)(tm_tape *tape, const void *instance,
                             const double *theta, double *gradient,
                             tm_any *limits);
typedef struct tm_limits {
  tm_limits_fn value, gradient;
} tm_limits;

/* What the library gives a program. Failures do not return. */
typedef struct tm_runtime {
  tm_fn (*find)(const char *name, const char *signature);
  tm_kernel (*kernel)(const char *name);
  void *(*more)(tm_tape *tape, size_t size); /* memory of a new chunk */
  void (*fail)(tm_tape *tape, const char *place, const char *format, ...)
      __attribute__((noreturn));
  /* print (0) or reject (1) what the arguments say */
  void (*message)(tm_tape *tape, const char *place, int reject,
                  const tm_any *arguments, int count);
  tm_tensor (*gather)(tm_tape *tape, tm_tensor from, int count,
                      const tm_slice *slices, const char *place);
  void (*scatter)(tm_tape *tape, tm_tensor to, int count,
                  const tm_slice *slices, tm_any value, const char *place);
  /* the value of a whole variable; `own`: nobody else holds its storage */
  tm_tensor (*assign)(tm_tape *tape, tm_tensor to, tm_tensor value, int own,
                      int active, const char *name, const char *place);
  tm_tensor (*stack)(tm_tape *tape, const tm_any *parts, int count);
  /* stop (data) or reject (parameters) when a value breaks its type */
  void (*check)(tm_tape *tape, tm_any value, int constraint, tm_any lower,
                tm_any upper, const char *name, int reject);
  /* data, parameters and output by name; `binding` is the library's own */
  tm_tensor (*read)(tm_tape *tape, void *binding, const char *name, int integer,
                    int rank, const int *dim);
  long (*parameter)(tm_tape *tape, void *binding, const char *name,
                    int constraint, int integer, int depth, int rank,
                    const int *dim, tm_any lower, tm_any upper);
  /* one whose limits depend on parameters before it */
  long (*dependent)(tm_tape *tape, void *binding, const char *name, int shifted,
                    int rank, const int *dim, const void *instance,
                    tm_limits limits);
  void (*improper)(void *binding); /* some element has no proper prior */
  /* an output's name and sizes, once; then its value, for every point */
  void (*announce)(tm_tape *tape, void *binding, const char *name,
                   int generated, int rank, const int *dim);
  void (*output)(tm_tape *tape, void *binding, tm_any value);
  int (*enough)(const void *binding); /* no more outputs are wanted */
  /* the solution at all times, one row each */
  tm_tensor (*ode)(tm_tape *tape, const tm_ode *system, tm_any y0,
                   const char *place);
  double (*lgamma)(double);
  double (*digamma)(double);
  double (*trigamma)(double);
  double (*inv_phi)(double);
} tm_runtime;

#define TM_UNUSED __attribute__((unused))
#define TM_INLINE static inline TM_UNUSED
/* Called often and not worth their copies in compile time. */
#define TM_OUTLINE static TM_UNUSED __attribute__((noinline))

/* Memory that is written before it is read. */
TM_INLINE void *tm_take_blank(tm_tape *tape, size_t size) {
  size = (size + 31) & ~(size_t)31;
  if ((size_t)(tape->end - tape->at) < size)
    return tape->runtime->more(tape, size);
  void *memory = tape->at;
  tape->at += size;
  return memory;
}

/* Zeroed memory. */
TM_INLINE void *tm_take(tm_tape *tape, size_t size) {
  return memset(tm_take_blank(tape, size), 0, size);
}

TM_INLINE tm_node *tm_push(tm_tape *tape, size_t size,
                           void (*back)(tm_node *)) {
  tm_node *node = (tm_node *)tm_take(tape, size);
  node->back = back;
  node->before = tape->last;
  tape->last = node;
  return node;
}

TM_INLINE void tm_backward(tm_tape *tape) {
  for (tm_node *node = tape->last; node; node = node->before) {
    if (node->back) {
      node->back(node);
      continue;
    }
    tm_linear *linear = (tm_linear *)node;
    *linear->a += linear->adjoint * linear->da;
    *linear->b += linear->adjoint * linear->db;
  }
}

TM_INLINE tm_var tm_constant(double x) {
  tm_var r = {x, 0};
  return r;
}

TM_OUTLINE tm_var tm_linear1(tm_tape *tape, double value, tm_var a, double da) {
  if (!a.d)
    return tm_constant(value);
  tm_linear *n = (tm_linear *)tm_push(tape, sizeof *n, 0);
  n->a = a.d;
  n->b = &tape->sink;
  n->da = da;
  tm_var r = {value, &n->adjoint};
  return r;
}

TM_OUTLINE tm_var tm_linear2(tm_tape *tape, double value, tm_var a, double da,
                             tm_var b, double db) {
  if (!a.d && !b.d)
    return tm_constant(value);
  tm_linear *n = (tm_linear *)tm_push(tape, sizeof *n, 0);
  n->a = a.d ? a.d : &tape->sink;
  n->b = b.d ? b.d : &tape->sink;
  n->da = a.d ? da : 0;
  n->db = b.d ? db : 0;
  tm_var r = {value, &n->adjoint};
  return r;
}

TM_INLINE tm_var tm_copy(tm_tape *tape, tm_var a) {
  return tm_linear1(tape, a.v, a, 1);
}

/* ---- scalar helpers ---------------------------------------------------- */

/* Written so that loops over them are vectorised. */
TM_INLINE double tm_inv_logit(double x) {
  double e = exp(-fabs(x));
  return (x >= 0 ? 1 : e) / (1 + e);
}
TM_INLINE double tm_log1p_exp(double x) {
  return (x > 0 ? x : 0) + log1p(exp(-fabs(x)));
}
TM_INLINE double tm_log1m_exp(double x) {
  return x > -0.6931471805599453 ? log(-expm1(x)) : log1p(-exp(x));
}
TM_INLINE double tm_log_sum_exp(double a, double b) {
  double m = a > b ? a : b;
  if (isinf(m))
    return m;
  return m + log1p(exp(-fabs(a - b)));
}
TM_INLINE double tm_log_diff_exp(double a, double b) {
  return b == -INFINITY ? a : a + tm_log1m_exp(b - a);
}
TM_INLINE double tm_sign(double x) { return (x > 0) - (x < 0); }
TM_INLINE double tm_phi(double x) {
  return 0.5 * erfc(-x * 0.7071067811865476);
}
TM_INLINE double tm_phi_density(double x) {
  return 0.3989422804014327 * exp(-0.5 * x * x);
}
/* x log y with 0 log 0 = 0 */
TM_INLINE double tm_xlogy(double x, double y) {
  return x == 0 && y == 0 ? 0 : x * log(y);
}
TM_INLINE long tm_int_pow(long a, long b) {
  long r = 1;
  for (; b > 0; b--)
    r *= a;
  return r;
}

/* Elementwise functions of one argument: name, value in x, derivative in x
 * and the value y; R is the runtime. */
#define TM_UNARY(X)                                                            \
  X(exp, exp(x), y)                                                            \
  X(log, log(x), 1 / x)                                                        \
  X(sqrt, sqrt(x), y > 0 ? 0.5 / y : 0)                                        \
  X(square, x *x, 2 * x)                                                       \
  X(cbrt, cbrt(x), 1 / (3 * y * y))                                            \
  X(exp2, exp2(x), y * 0.6931471805599453)                                     \
  X(log2, log2(x), 1.4426950408889634 / x)                                     \
  X(log10, log10(x), 0.4342944819032518 / x)                                   \
  X(inv, 1 / x, -y * y)                                                        \
  X(inv_sqrt, 1 / sqrt(x), -0.5 * y / x)                                       \
  X(inv_square, 1 / (x * x), -2 * y / x)                                       \
  X(inv_logit, tm_inv_logit(x), y *(1 - y))                                    \
  X(logit, log(x / (1 - x)), 1 / (x * (1 - x)))                                \
  X(inv_cloglog, -expm1(-exp(x)), exp(x - exp(x)))                             \
  X(log1p, log1p(x), 1 / (1 + x))                                              \
  X(log1m, log1p(-x), -1 / (1 - x))                                            \
  X(expm1, expm1(x), y + 1)                                                    \
  X(log1p_exp, tm_log1p_exp(x), tm_inv_logit(x))                               \
  X(log1m_exp, tm_log1m_exp(x), exp(x) / expm1(x))                             \
  X(log_inv_logit, -tm_log1p_exp(-x), tm_inv_logit(-x))                        \
  X(log1m_inv_logit, -tm_log1p_exp(x), -tm_inv_logit(x))                       \
  X(minus, -x, 0 * y - 1)                                                      \
  X(fabs, fabs(x), tm_sign(x))                                                 \
  X(abs, fabs(x), tm_sign(x))                                                  \
  X(floor, floor(x), 0 * y)                                                    \
  X(ceil, ceil(x), 0 * y)                                                      \
  X(round, round(x), 0 * y)                                                    \
  X(trunc, trunc(x), 0 * y)                                                    \
  X(step, x >= 0 ? 1 : 0, 0 * y)                                               \
  X(sin, sin(x), cos(x))                                                       \
  X(cos, cos(x), -sin(x))                                                      \
  X(tan, tan(x), 1 + y * y)                                                    \
  X(asin, asin(x), 1 / sqrt(1 - x * x))                                        \
  X(acos, acos(x), -1 / sqrt(1 - x * x))                                       \
  X(atan, atan(x), 1 / (1 + x * x))                                            \
  X(sinh, sinh(x), cosh(x))                                                    \
  X(cosh, cosh(x), sinh(x))                                                    \
  X(tanh, tanh(x), 1 - y * y)                                                  \
  X(asinh, asinh(x), 1 / sqrt(x * x + 1))                                      \
  X(acosh, acosh(x), 1 / sqrt(x * x - 1))                                      \
  X(atanh, atanh(x), 1 / (1 - x * x))                                          \
  X(erf, erf(x), 1.1283791670955126 * exp(-x * x))                             \
  X(erfc, erfc(x), -1.1283791670955126 * exp(-x * x))                          \
  X(tgamma, tgamma(x), y * R->digamma(x))                                      \
  X(lgamma, R->lgamma(x), R->digamma(x))                                       \
  X(digamma, R->digamma(x), R->trigamma(x))                                    \
  X(Phi, tm_phi(x), tm_phi_density(x))                                         \
  X(Phi_approx, tm_inv_logit(0.07056 * x * x * x + 1.5976 * x),                \
    y *(1 - y) * (3 * 0.07056 * x * x + 1.5976))                               \
  X(inv_Phi, R->inv_phi(x), 1 / tm_phi_density(y))

/* Of two arguments: name, value in a and b, both derivatives (y: value). */
#define TM_ARITHMETIC(X)                                                       \
  X(add, a + b, 1, 1)                                                          \
  X(subtract, a - b, 1, -1)                                                    \
  X(elt_multiply, a *b, b, a)                                                  \
  X(elt_divide, a / b, 1 / b, -y / b)

#define TM_OF_TWO(X)                                                           \
  X(pow, pow(a, b), b == 0 ? 0 : b * pow(a, b - 1), a > 0 ? y * log(a) : 0)    \
  X(fmin, fmin(a, b), a <= b ? 1 : 0, a <= b ? 0 : 1)                          \
  X(fmax, fmax(a, b), a >= b ? 1 : 0, a >= b ? 0 : 1)                          \
  X(fdim, fdim(a, b), a > b ? 1 : 0, a > b ? -1 : 0)                           \
  X(fmod, fmod(a, b), 1, -trunc(a / b))                                        \
  X(hypot, hypot(a, b), a / y, b / y)                                          \
  X(atan2, atan2(a, b), b / (a * a + b * b), -a / (a * a + b * b))             \
  X(lbeta, R->lgamma(a) + R->lgamma(b) - R->lgamma(a + b),                     \
    R->digamma(a) - R->digamma(a + b), R->digamma(b) - R->digamma(a + b))      \
  X(beta, exp(R->lgamma(a) + R->lgamma(b) - R->lgamma(a + b)),                 \
    y *(R->digamma(a) - R->digamma(a + b)),                                    \
    y *(R->digamma(b) - R->digamma(a + b)))                                    \
  X(lchoose, R->lgamma(a + 1) - R->lgamma(b + 1) - R->lgamma(a - b + 1),       \
    R->digamma(a + 1) - R->digamma(a - b + 1),                                 \
    R->digamma(a - b + 1) - R->digamma(b + 1))                                 \
  X(binomial_coefficient_log,                                                  \
    R->lgamma(a + 1) - R->lgamma(b + 1) - R->lgamma(a - b + 1),                \
    R->digamma(a + 1) - R->digamma(a - b + 1),                                 \
    R->digamma(a - b + 1) - R->digamma(b + 1))                                 \
  X(log_sum_exp, tm_log_sum_exp(a, b), exp(a - y), exp(b - y))                 \
  X(log_diff_exp, tm_log_diff_exp(a, b), 1 / -expm1(b - a),                    \
    b == -INFINITY ? 0 : -1 / expm1(a - b))                                    \
  X(multiply_log, tm_xlogy(a, b), log(b), a / b)                               \
  X(lmultiply, tm_xlogy(a, b), log(b), a / b)                                  \
  X(log_falling_factorial, R->lgamma(a + 1) - R->lgamma(a - b + 1),            \
    R->digamma(a + 1) - R->digamma(a - b + 1), R->digamma(a - b + 1))          \
  X(log_rising_factorial, R->lgamma(a + b) - R->lgamma(a),                     \
    R->digamma(a + b) - R->digamma(a), R->digamma(a + b))                      \
  X(log_inv_logit_diff, tm_log_diff_exp(-tm_log1p_exp(-a), -tm_log1p_exp(-b)), \
    -1 / expm1(b - a) - tm_inv_logit(a), -1 / expm1(a - b) - tm_inv_logit(b))

#define TM_BINARY(X) TM_OF_TWO(X) TM_ARITHMETIC(X)

#define TM_DEFINE_UNARY(name, value, derivative)                               \
  TM_INLINE double tm_d_##name(const tm_runtime *R, double x) {                \
    (void)R;                                                                   \
    return value;                                                              \
  }                                                                            \
  TM_INLINE double tm_d_##name##_slope(const tm_runtime *R, double x,          \
                                       double y) {                             \
    (void)R, (void)x, (void)y;                                                 \
    return derivative;                                                         \
  }                                                                            \
  TM_INLINE tm_var tm_v_##name(tm_tape *tape, tm_var a) {                      \
    double y = tm_d_##name(tape->runtime, a.v);                                \
    if (!a.d)                                                                  \
      return tm_constant(y);                                                   \
    return tm_linear1(tape, y, a, tm_d_##name##_slope(tape->runtime, a.v, y)); \
  }
TM_UNARY(TM_DEFINE_UNARY)

#define TM_DEFINE_BINARY(name, value, slope_a, slope_b)                        \
  TM_INLINE double tm_d_##name(const tm_runtime *R, double a, double b) {      \
    (void)R;                                                                   \
    return value;                                                              \
  }                                                                            \
  TM_INLINE double tm_d_##name##_a(const tm_runtime *R, double a, double b,    \
                                   double y) {                                 \
    (void)R, (void)a, (void)b, (void)y;                                        \
    return slope_a;                                                            \
  }                                                                            \
  TM_INLINE double tm_d_##name##_b(const tm_runtime *R, double a, double b,    \
                                   double y) {                                 \
    (void)R, (void)a, (void)b, (void)y;                                        \
    return slope_b;                                                            \
  }                                                                            \
  TM_INLINE tm_var tm_v_##name(tm_tape *tape, tm_var a, tm_var b) {            \
    const tm_runtime *R = tape->runtime;                                       \
    double y = tm_d_##name(R, a.v, b.v);                                       \
    if (!a.d && !b.d)                                                          \
      return tm_constant(y);                                                   \
    return tm_linear2(tape, y, a, a.d ? tm_d_##name##_a(R, a.v, b.v, y) : 0,   \
                      b, b.d ? tm_d_##name##_b(R, a.v, b.v, y) : 0);           \
  }
TM_BINARY(TM_DEFINE_BINARY)

TM_INLINE tm_var tm_v_negative(tm_tape *tape, tm_var a) {
  return tm_linear1(tape, -a.v, a, -1);
}

/* ---- tensors ----------------------------------------------------------- */

TM_INLINE long tm_count(const tm_tensor *t) {
  long n = 1;
  for (int i = 0; i < t->rank; i++)
    n *= t->dim[i];
  return n;
}

/* A new tensor of these sizes, its values to be written at once; with (zero)
 * adjoints when asked. */
TM_INLINE tm_tensor tm_tensor_blank(tm_tape *tape, int rank, const int *dim,
                                    int active) {
  tm_tensor t = {0, 0, rank, {0}};
  for (int i = 0; i < rank; i++)
    t.dim[i] = dim[i];
  size_t bytes = (size_t)tm_count(&t) * sizeof(double);
  t.v = (double *)tm_take_blank(tape, bytes);
  if (active)
    t.d = (double *)tm_take(tape, bytes);
  return t;
}

/* The same with values zero. */
TM_INLINE tm_tensor tm_tensor_new(tm_tape *tape, int rank, const int *dim,
                                  int active) {
  tm_tensor t = tm_tensor_blank(tape, rank, dim, active);
  memset(t.v, 0, (size_t)tm_count(&t) * sizeof(double));
  return t;
}

/* A declared size. */
TM_INLINE int tm_size(tm_tape *tape, long n, const char *place) {
  if (n < 0 || n > 2000000000)
    tape->runtime->fail(tape, place, "a size is %ld; it must be 0 or more", n);
  return (int)n;
}

/* Sizes without storage. */
TM_INLINE tm_tensor tm_shape(int rank, const int *dim) {
  tm_tensor t = {0, 0, rank, {0}};
  for (int i = 0; i < rank; i++)
    t.dim[i] = dim[i];
  return t;
}

/* A declared variable's storage; NaN until assigned. */
TM_INLINE tm_tensor tm_declare(tm_tape *tape, int rank, const int *dim,
                               int active) {
  tm_tensor t = tm_tensor_new(tape, rank, dim, active);
  long n = tm_count(&t);
  for (long i = 0; i < n; i++)
    t.v[i] = NAN;
  return t;
}

TM_INLINE long tm_at(tm_tape *tape, long index, int size, const char *place) {
  if (index < 1 || index > size)
    tape->runtime->fail(tape, place, "index %ld is not in 1:%d", index, size);
  return index - 1;
}

/* The sub-tensor under `count` leading single indices. */
TM_INLINE tm_tensor tm_sub(tm_tensor t, long offset, int count) {
  tm_tensor r = {0, 0, t.rank - count, {0}};
  long n = 1;
  for (int i = 0; i < r.rank; i++) {
    r.dim[i] = t.dim[i + count];
    n *= r.dim[i];
  }
  r.v = t.v + offset * n;
  r.d = t.d ? t.d + offset * n : 0;
  return r;
}

TM_INLINE long tm_offset2(tm_tape *tape, const tm_tensor *t, long i, long j,
                          const char *place) {
  return tm_at(tape, i, t->dim[0], place) * t->dim[1] +
         tm_at(tape, j, t->dim[1], place);
}

TM_INLINE tm_var tm_element_of(tm_tensor t, long i) {
  tm_var r = {t.v[i], t.d ? t.d + i : 0};
  return r;
}

/* element = value, reversible. */
typedef struct tm_store {
  tm_node node;
  double *to, *from;
} tm_store;

TM_INLINE void tm_store_back(tm_node *node) {
  tm_store *s = (tm_store *)node;
  double g = *s->to;
  *s->to = 0;
  *s->from += g;
}

TM_INLINE void tm_set(tm_tape *tape, tm_tensor t, long i, tm_var value) {
  t.v[i] = value.v;
  if (!t.d)
    return;
  tm_store *s = (tm_store *)tm_push(tape, sizeof *s, tm_store_back);
  s->to = t.d + i;
  s->from = value.d ? value.d : &tape->sink;
}

/* Values as tm_any, built in place. */
#define tm_any_int(x) ((tm_any){.tag = TM_TAG_INT, .steady = 1, .u.i = (x)})
#define tm_any_var(...)                                                        \
  ((tm_any){.tag = TM_TAG_REAL, .steady = 1, .u.r = (__VA_ARGS__)})
#define tm_any_real(x) tm_any_var(tm_constant(x))
#define tm_any_tensor(x, kept)                                                 \
  ((tm_any){.tag = TM_TAG_TENSOR, .steady = (kept), .u.t = (x)})
/* A scalar that lies in a variable's storage. */
#define tm_any_loose(x) ((tm_any){.tag = TM_TAG_REAL, .steady = 0, .u.r = (x)})

TM_INLINE tm_var tm_as_var(const tm_any *a) {
  return a->tag == TM_TAG_INT ? tm_constant((double)a->u.i) : a->u.r;
}

TM_INLINE long tm_divide_int(tm_tape *tape, long a, long b, const char *place) {
  if (b == 0)
    tape->runtime->fail(tape, place, "integer division by zero");
  return a / b;
}
TM_INLINE long tm_modulo_int(tm_tape *tape, long a, long b, const char *place) {
  if (b == 0)
    tape->runtime->fail(tape, place, "integer modulus by zero");
  return a % b;
}

/* ---- parameters: theta is column-major, tensors are row-major ----------- */

TM_INLINE long tm_columnwise(const tm_tensor *t, long k) {
  long at = 0, stride = tm_count(t);
  for (int i = 0; i < t->rank; i++) {
    stride /= t->dim[i];
    at += k % t->dim[i] * stride;
    k /= t->dim[i];
  }
  return at;
}

/* Copied back to theta's order by tm_repack_back. */
typedef struct tm_repack {
  tm_node node;
  tm_tensor t;
  double *gradient;
} tm_repack;

TM_INLINE void tm_repack_back(tm_node *node) {
  tm_repack *r = (tm_repack *)node;
  long n = tm_count(&r->t);
  for (long k = 0; k < n; k++)
    r->gradient[k] += r->t.d[tm_columnwise(&r->t, k)];
}

TM_INLINE tm_tensor tm_unpack(tm_tape *tape, const double *theta,
                              double *gradient, int rank, const int *dim) {
  tm_tensor t = tm_shape(rank, dim);
  if (rank <= 1) {
    t.v = (double *)theta; /* parameters are never assigned */
    t.d = gradient;
    return t;
  }
  t = tm_tensor_new(tape, rank, dim, gradient != 0);
  long n = tm_count(&t);
  for (long k = 0; k < n; k++)
    t.v[tm_columnwise(&t, k)] = theta[k];
  if (gradient) {
    tm_repack *r = (tm_repack *)tm_push(tape, sizeof *r, tm_repack_back);
    r->t = t;
    r->gradient = gradient;
  }
  return t;
}

#define tm_any_text(x) ((tm_any){.tag = TM_TAG_TEXT, .steady = 1, .u.s = (x)})

/* target += value */
TM_INLINE void tm_add(tm_tape *tape, tm_var value) {
  tape->log_density += value.v;
  if (value.d)
    *value.d += 1;
}

/* ---- densities of scalars ---------------------------------------------- */

enum { TM_DENSITY_ARGUMENTS = 4 };

/* NaN among the arguments (not the outcome) is density zero. */
TM_OUTLINE double tm_density_checked(int n, const double *x) {
  for (int i = 1; i < n; i++)
    if (isnan(x[i]))
      return -INFINITY;
  return NAN;
}

TM_OUTLINE double tm_density_value(tm_kernel kernel, int n, const double *x) {
  double value = kernel(x, 0);
  return isnan(value) ? tm_density_checked(n, x) : value;
}

typedef struct tm_density_node {
  tm_node node;
  double adjoint;
  int count;
  double *to[TM_DENSITY_ARGUMENTS];
  double d[TM_DENSITY_ARGUMENTS];
} tm_density_node;

TM_INLINE void tm_density_back(tm_node *node) {
  tm_density_node *p = (tm_density_node *)node;
  for (int i = 0; i < p->count; i++)
    *p->to[i] += p->adjoint * p->d[i];
}

/* Partials of the arguments in `deferred` go into a node, and those of the
 * others straight to their adjoints (for the target, whose adjoint is 1). */
TM_OUTLINE tm_var tm_density(tm_tape *tape, tm_kernel kernel, int n,
                             const tm_var *a, unsigned deferred,
                             double adjoint) {
  double x[TM_DENSITY_ARGUMENTS], d[TM_DENSITY_ARGUMENTS] = {0};
  unsigned active = 0;
  for (int i = 0; i < n; i++) {
    x[i] = a[i].v;
    active |= (unsigned)(a[i].d != 0) << i;
  }
  double value = kernel(x, active ? d : 0);
  if (isnan(value))
    return tm_constant(tm_density_checked(n, x));
  tm_density_node *p = 0;
  if (active & deferred) {
    p = (tm_density_node *)tm_push(tape, sizeof *p, tm_density_back);
    p->adjoint = adjoint;
  }
  for (int i = 0; i < n; i++) {
    if (!(active >> i & 1))
      continue;
    if (deferred >> i & 1) {
      p->to[p->count] = a[i].d;
      p->d[p->count++] = d[i];
    } else {
      *a[i].d += d[i];
    }
  }
  tm_var r = {value, p ? &p->adjoint : 0};
  return r;
}

TM_INLINE long tm_abs_int(long a) { return a < 0 ? -a : a; }

/* ---- what a program gives the library ---------------------------------- */

/* Every generated program exports one of these as tempera_program_entry. */
typedef struct tm_entry {
  unsigned version; /* of this header */
  const char *name;
  int proper; /* is the prior? */
  size_t instance_size;
  void (*start)(const tm_runtime *runtime);
  /* read the data, compute transformed data; memory is the tape's */
  void (*data)(tm_tape *tape, void *instance, void *binding);
  /* lay out the parameters, then name the quantities */
  void (*parameters)(tm_tape *tape, void *instance, void *binding);
  /* [prior, likelihood]; values are left in tape->log_density */
  void (*value[2])(tm_tape *tape, const void *instance, const double *theta);
  void (*gradient[2])(tm_tape *tape, const void *instance, const double *theta,
                      double *gradient);
  /* both at once, rejecting the point by the statement that makes it zero */
  void (*explain)(tm_tape *tape, const void *instance, const double *theta);
  /* transformed parameters and generated quantities */
  void (*quantities)(tm_tape *tape, const void *instance, const double *theta,
                     void *binding);
  /* a draw from the prior, or NULL */
  void (*prior)(tm_tape *tape, const void *instance, double *theta);
  /* transformed parameters and model with their prints, or NULL */
  void (*show)(tm_tape *tape, const void *instance, const double *theta);
} tm_entry;

enum { TM_ENTRY_VERSION = 4 };

#endif
