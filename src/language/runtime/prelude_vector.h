/* prelude_vector.h - small vectors without a tape: what functions that are one
 * node (emit/local.h) are made of. Arrays are numbers alone; what ends with
 * _back adds to the adjoints of the argument. */
#ifndef TM_LANGUAGE_PRELUDE_VECTOR_H
#define TM_LANGUAGE_PRELUDE_VECTOR_H

#ifndef TM_LANGUAGE_PRELUDE_H /* generated programs hold them already */
#include "language/runtime/prelude.h"
#include "language/runtime/prelude_scalar.h"
#include "language/runtime/prelude_tensor.h"
#endif

/* Room on the stack; what is left of it. Beyond it, the tape's. */
typedef struct tm_room_left {
  double *at, *end;
} tm_room_left;

TM_INLINE double *tm_room_for(tm_tape *tape, tm_room_left *room, long n) {
  double *x = room->at;
  if (n > room->end - x)
    return (double *)tm_take_blank(tape, (size_t)n * sizeof(double));
  room->at += n;
  return x;
}

TM_OUTLINE double *tm_zeros_for(tm_tape *tape, tm_room_left *room, long n) {
  double *x = tm_room_for(tape, room, n);
  for (long i = 0; i < n; i++)
    x[i] = 0;
  return x;
}

/* ---- sizes -------------------------------------------------------------- */

TM_INLINE long tm_same_length(tm_tape *tape, long n, long m, const char *name,
                              const char *place) {
  if (n != m)
    tape->runtime->fail(tape, place, "%s: arguments have %ld and %ld elements",
                        name, n, m);
  return n;
}

TM_INLINE void tm_fits(tm_tape *tape, long declared, long n, const char *name,
                       const char *place) {
  if (n != declared)
    tape->runtime->fail(tape, place,
                        "%s has size %ld in dimension 1; the value assigned "
                        "has %ld",
                        name, declared, n);
}

/* ---- vectors from vectors ----------------------------------------------- */

TM_OUTLINE void tm_put_numbers(double *restrict to, const double *restrict from,
                               long n) {
  for (long i = 0; i < n; i++)
    to[i] = from[i];
}

TM_OUTLINE void tm_add_numbers(double *restrict to, const double *restrict from,
                               long n) {
  for (long i = 0; i < n; i++)
    to[i] += from[i];
}

TM_OUTLINE void tm_running_sum(const double *x, long n, double *y) {
  double sum = 0;
  for (long i = 0; i < n; i++)
    y[i] = sum += x[i];
}

TM_OUTLINE void tm_running_sum_back(const double *gy, long n, double *gx) {
  double sum = 0;
  for (long i = n; i-- > 0;)
    gx[i] += sum += gy[i];
}

/* exp(x - m) and their sum */
TM_OUTLINE double tm_powers_of(const tm_runtime *R, const double *x, long n,
                               double m, double *y) {
  double sum = 0;
  for (long i = 0; i < n; i++)
    y[i] = n < 8 ? exp(x[i] - m) : x[i] - m;
  if (n >= 8)
    R->exps(y, (size_t)n);
  for (long i = 0; i < n; i++)
    sum += y[i];
  return sum;
}

TM_INLINE double tm_largest(const double *x, long n) {
  double m = -INFINITY;
  for (long i = 0; i < n; i++)
    m = x[i] > m ? x[i] : m;
  return m;
}

TM_OUTLINE void tm_shares(const tm_runtime *R, const double *x, long n,
                          double *y) {
  double sum = tm_powers_of(R, x, n, tm_largest(x, n), y), r = 1 / sum;
  for (long i = 0; i < n; i++)
    y[i] *= r;
}

TM_OUTLINE void tm_shares_back(const double *y, const double *gy, long n,
                               double *gx) {
  double dot = 0;
  for (long i = 0; i < n; i++)
    dot += gy[i] * y[i];
  for (long i = 0; i < n; i++)
    gx[i] += y[i] * (gy[i] - dot);
}

/* log_sum_exp, and the shares of the sum; zeros where all terms are zero or one
 * is infinite. */
TM_OUTLINE double tm_log_of_powers(const tm_runtime *R, const double *x, long n,
                                   double *shares) {
  double m = tm_largest(x, n);
  int none = m == -INFINITY || m == INFINITY;
  double sum = none ? 1 : tm_powers_of(R, x, n, m, shares), r = 1 / sum;
  for (long i = 0; i < n; i++)
    shares[i] = none ? 0 : shares[i] * r;
  return none ? m : m + log(sum);
}

TM_OUTLINE void tm_log_shares(const tm_runtime *R, const double *x, long n,
                              double *y, double *shares) {
  double total = tm_log_of_powers(R, x, n, shares);
  for (long i = 0; i < n; i++)
    y[i] = x[i] - total;
}

TM_OUTLINE double tm_sum_of(const double *x, long n) {
  double sum = 0;
  for (long i = 0; i < n; i++)
    sum += x[i];
  return sum;
}

TM_OUTLINE double tm_products_of(const double *x, const double *y, long n) {
  double sum = 0;
  for (long i = 0; i < n; i++)
    sum += x[i] * y[i];
  return sum;
}

TM_OUTLINE void tm_add_times(double *restrict to, double g,
                             const double *restrict x, long n) {
  for (long i = 0; i < n; i++)
    to[i] += g * x[i];
}

/* log_softmax: g shares of the sum of adjoints, less */
TM_OUTLINE void tm_log_shares_back(const double *shares, const double *gy,
                                   long n, double *gx) {
  double sum = tm_sum_of(gy, n);
  for (long i = 0; i < n; i++)
    gx[i] += gy[i] - shares[i] * sum;
}

/* ---- categories --------------------------------------------------------- */

/* log p[y], of probabilities that sum to one; others leave. */
TM_OUTLINE double tm_log_category(tm_tape *tape, long y, const double *p,
                                  long n) {
  double sum = 0, least = 0;
  for (long i = 0; i < n; i++) {
    sum += p[i];
    least = p[i] < least ? p[i] : least;
  }
  if (least < 0 || !(fabs(sum - 1) <= 1e-8))
    tape->runtime->not_simplex(tape, p, n, "categorical");
  return log(p[tm_at(tape, y, (int)n, "")]);
}

/* ---- parts -------------------------------------------------------------- */

/* Elements under one number of the first dimension. */
TM_OUTLINE long tm_inner(const tm_tensor *x) {
  long inner = 1;
  for (int i = 1; i < x->rank; i++)
    inner *= x->dim[i];
  return inner;
}

TM_OUTLINE void tm_not_in(tm_tape *tape, long from, long n, int size) {
  tape->runtime->fail(tape, "", "elements %ld to %ld are not in 1:%d", from + 1,
                      from + n, size);
}

/* n numbers along the first dimension, from number `from` (0: the first) on,
 * where they lie. Not called: a tensor that is passed through memory is waited
 * for. */
TM_INLINE tm_tensor tm_cut(tm_tape *tape, tm_tensor x, long inner, long from,
                           long n) {
  if (from < 0 || n < 0 || from + n > x.dim[0])
    tm_not_in(tape, from, n, x.dim[0]);
  x.v += from * inner;
  x.d = x.d ? x.d + from * inner : 0;
  x.dim[0] = (int)n;
  return x;
}

/* How many x[from:to] are; to -1: up to the end. */
TM_OUTLINE long tm_range_length(tm_tape *tape, long from, long to, int size,
                                const char *place) {
  if (to < from)
    return 0;
  (void)tm_at(tape, from, size, place);
  return tm_at(tape, to, size, place) - from + 2;
}

TM_INLINE tm_tensor tm_range(tm_tape *tape, tm_tensor x, long inner, long from,
                             long to, const char *place) {
  long n =
      tm_range_length(tape, from, to == -1 ? x.dim[0] : to, x.dim[0], place);
  return tm_cut(tape, x, inner, n ? from - 1 : 0, n);
}

/* Numbers as a tensor, for their length and values. */
TM_INLINE tm_tensor tm_seen(const double *x, long n) {
  tm_tensor t = {(double *)x, 0, 1, {(int)n}};
  return t;
}

TM_INLINE tm_tensor tm_without_adjoints(tm_tensor x) {
  x.d = 0;
  return x;
}

/* ---- products ----------------------------------------------------------- */

/* Numbers at equal distances: a vector, or the column of a matrix. */
typedef struct tm_line {
  const double *v;
  double *d;
  long n, stride;
} tm_line;

TM_INLINE tm_line tm_line_of(tm_tensor x) {
  tm_line line = {x.v, x.d, x.dim[0], 1};
  return line;
}

/* Column j of a matrix. */
TM_INLINE tm_line tm_column_of(tm_tape *tape, tm_tensor x, long j,
                               const char *place) {
  long at = tm_at(tape, j, x.dim[1], place);
  tm_line line = {x.v + at, x.d ? x.d + at : 0, x.dim[0], x.dim[1]};
  return line;
}

enum { TM_FEW = 12 }; /* elements that are not worth a loop of vectors */

/* Of vectors side by side; and at any distances, by sums that do not wait for
 * each other. */
typedef double tm_four __attribute__((vector_size(32), aligned(8), may_alias));

TM_OUTLINE double tm_dot_dense(const double *a, const double *b, long n) {
  tm_four p = {0, 0, 0, 0}, q = p;
  double sum = 0;
  long i = 0;
  for (; i + 7 < n; i += 8) {
    p += *(const tm_four *)(a + i) * *(const tm_four *)(b + i);
    q += *(const tm_four *)(a + i + 4) * *(const tm_four *)(b + i + 4);
  }
  for (p += q; i < n; i++)
    sum += a[i] * b[i];
  return sum + (p[0] + p[1] + (p[2] + p[3]));
}

TM_OUTLINE double tm_dot_apart(const double *a, long rise, const double *b,
                               long run, long n) {
  double p = 0, q = 0, r = 0, s = 0;
  long i = 0;
  for (; i + 3 < n; i += 4, a += 4 * rise, b += 4 * run) {
    p += a[0] * b[0];
    q += a[rise] * b[run];
    r += a[2 * rise] * b[2 * run];
    s += a[3 * rise] * b[3 * run];
  }
  for (; i < n; i++, a += rise, b += run)
    p += a[0] * b[0];
  return p + q + (r + s);
}

TM_INLINE double tm_dot_value(tm_tape *tape, tm_line a, tm_line b) {
  long n = tm_same_length(tape, a.n, b.n, "dot_product", "");
  if (a.stride != 1 || b.stride != 1)
    return tm_dot_apart(a.v, a.stride, b.v, b.stride, n);
  return n > TM_FEW ? tm_dot_dense(a.v, b.v, n) : tm_products_of(a.v, b.v, n);
}

typedef struct tm_dot_node {
  tm_node node;
  double adjoint;
  tm_line a, b, u, w; /* a and b, and their values as they were */
} tm_dot_node;

TM_INLINE void tm_dot_give(tm_line to, double g, tm_line other) {
  double *restrict d = to.d;
  const double *restrict v = other.v;
  if (to.stride == 1 && other.stride == 1)
    for (long i = 0; i < to.n; i++)
      d[i] += g * v[i];
  else
    for (long i = 0; i < to.n; i++)
      d[i * to.stride] += g * v[i * other.stride];
}

TM_OUTLINE void tm_dot_back(tm_node *node) {
  tm_dot_node *p = (tm_dot_node *)node;
  if (p->a.d)
    tm_dot_give(p->a, p->adjoint, p->w);
  if (p->b.d)
    tm_dot_give(p->b, p->adjoint, p->u);
}

/* Its values as they are now. */
TM_INLINE tm_line tm_line_kept(tm_tape *tape, tm_line x) {
  double *v = (double *)tm_take_blank(tape, (size_t)x.n * sizeof(double));
  for (long i = 0; i < x.n; i++)
    v[i] = x.v[i * x.stride];
  tm_line kept = {v, 0, x.n, 1};
  return kept;
}

TM_OUTLINE tm_var tm_dot_many(tm_tape *tape, double value, const tm_line *a,
                              const tm_line *b, int steady) {
  tm_line u = b->d && !(steady & 1) ? tm_line_kept(tape, *a) : *a;
  tm_line w = a->d && !(steady & 2) ? tm_line_kept(tape, *b) : *b;
  tm_dot_node *p = (tm_dot_node *)tm_push(tape, sizeof *p, tm_dot_back);
  p->a = *a;
  p->b = *b;
  p->u = u;
  p->w = w;
  tm_var product = {value, &p->adjoint};
  return product;
}

/* Few elements, side by side, are slopes. */
TM_OUTLINE tm_var tm_dot_few(tm_tape *tape, const double *a, double *ad,
                             const double *b, double *bd, long n) {
  double value = 0;
  tm_linear *p = tm_linear_new(tape, (int)n * ((ad != 0) + (bd != 0)));
  tm_slope *s = p->slopes;
  for (long i = 0; i < n; i++) {
    value += a[i] * b[i];
    if (ad) {
      s->to = ad + i;
      s++->d = b[i];
    }
    if (bd) {
      s->to = bd + i;
      s++->d = a[i];
    }
  }
  tm_var product = {value, &p->adjoint.own};
  return product;
}

/* `steady`: bits of those whose storage is not assigned again. */
TM_INLINE tm_var tm_dot(tm_tape *tape, tm_line a, tm_line b, int steady) {
  if (a.n == b.n && a.n <= TM_FEW && a.stride == 1 && b.stride == 1 &&
      (a.d || b.d))
    return tm_dot_few(tape, a.v, a.d, b.v, b.d, a.n);
  double value = tm_dot_value(tape, a, b);
  return a.d || b.d ? tm_dot_many(tape, value, &a, &b, steady)
                    : tm_constant(value);
}

/* ---- the node ----------------------------------------------------------- */

/* Slopes of a vector's elements; those behind them. */
TM_OUTLINE tm_slope *tm_put_slopes(tm_slope *s, double *to, const double *g,
                                   long n) {
  for (long i = 0; to && i < n; i++) {
    tm_slope slope = {to + i, g[i]};
    *s++ = slope;
  }
  return s;
}

#endif
