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

TM_INLINE double *tm_zeros_for(tm_tape *tape, tm_room_left *room, long n) {
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

TM_INLINE void tm_put_numbers(double *restrict to, const double *restrict from,
                              long n) {
  for (long i = 0; i < n; i++)
    to[i] = from[i];
}

TM_INLINE void tm_add_numbers(double *restrict to, const double *restrict from,
                              long n) {
  for (long i = 0; i < n; i++)
    to[i] += from[i];
}

TM_INLINE void tm_running_sum(const double *x, long n, double *y) {
  double sum = 0;
  for (long i = 0; i < n; i++)
    y[i] = sum += x[i];
}

TM_INLINE void tm_running_sum_back(const double *gy, long n, double *gx) {
  double sum = 0;
  for (long i = n; i-- > 0;)
    gx[i] += sum += gy[i];
}

/* exp(x - m) and their sum */
TM_INLINE double tm_powers_of(const tm_runtime *R, const double *x, long n,
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

TM_INLINE void tm_shares(const tm_runtime *R, const double *x, long n,
                         double *y) {
  double sum = tm_powers_of(R, x, n, tm_largest(x, n), y), r = 1 / sum;
  for (long i = 0; i < n; i++)
    y[i] *= r;
}

TM_INLINE void tm_shares_back(const double *y, const double *gy, long n,
                              double *gx) {
  double dot = 0;
  for (long i = 0; i < n; i++)
    dot += gy[i] * y[i];
  for (long i = 0; i < n; i++)
    gx[i] += y[i] * (gy[i] - dot);
}

/* log_sum_exp, and the shares of the sum; zeros where all terms are zero or one
 * is infinite. */
TM_INLINE double tm_log_of_powers(const tm_runtime *R, const double *x, long n,
                                  double *shares) {
  double m = tm_largest(x, n);
  int none = m == -INFINITY || m == INFINITY;
  double sum = none ? 1 : tm_powers_of(R, x, n, m, shares), r = 1 / sum;
  for (long i = 0; i < n; i++)
    shares[i] = none ? 0 : shares[i] * r;
  return none ? m : m + log(sum);
}

TM_INLINE void tm_log_shares(const tm_runtime *R, const double *x, long n,
                             double *y, double *shares) {
  double total = tm_log_of_powers(R, x, n, shares);
  for (long i = 0; i < n; i++)
    y[i] = x[i] - total;
}

TM_INLINE double tm_sum_of(const double *x, long n) {
  double sum = 0;
  for (long i = 0; i < n; i++)
    sum += x[i];
  return sum;
}

TM_INLINE double tm_products_of(const double *x, const double *y, long n) {
  double sum = 0;
  for (long i = 0; i < n; i++)
    sum += x[i] * y[i];
  return sum;
}

TM_INLINE void tm_add_times(double *restrict to, double g,
                            const double *restrict x, long n) {
  for (long i = 0; i < n; i++)
    to[i] += g * x[i];
}

/* log_softmax: g shares of the sum of adjoints, less */
TM_INLINE void tm_log_shares_back(const double *shares, const double *gy,
                                  long n, double *gx) {
  double sum = tm_sum_of(gy, n);
  for (long i = 0; i < n; i++)
    gx[i] += gy[i] - shares[i] * sum;
}

/* ---- categories --------------------------------------------------------- */

/* log p[y], of probabilities that sum to one; others leave. */
TM_INLINE double tm_log_category(tm_tape *tape, long y, const double *p,
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

/* n elements along the first dimension, from number `from` (0: the first) on,
 * where they lie. */
TM_INLINE tm_tensor tm_cut(tm_tape *tape, tm_tensor x, long from, long n) {
  if (from < 0 || n < 0 || from + n > x.dim[0])
    tape->runtime->fail(tape, "", "elements %ld to %ld are not in 1:%d",
                        from + 1, from + n, x.dim[0]);
  long inner = 1;
  for (int i = 1; i < x.rank; i++)
    inner *= x.dim[i];
  x.v += from * inner;
  x.d = x.d ? x.d + from * inner : 0;
  x.dim[0] = (int)n;
  return x;
}

/* x[from:to]; to -1: up to the end */
TM_INLINE tm_tensor tm_range(tm_tape *tape, tm_tensor x, long from, long to,
                             const char *place) {
  to = to == -1 ? x.dim[0] : to;
  if (to < from)
    return tm_cut(tape, x, 0, 0);
  long first = tm_at(tape, from, x.dim[0], place);
  return tm_cut(tape, x, first, tm_at(tape, to, x.dim[0], place) - first + 1);
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

/* ---- the node ----------------------------------------------------------- */

/* Slopes of a vector's elements; those behind them. */
TM_INLINE tm_slope *tm_put_slopes(tm_slope *s, double *to, const double *g,
                                  long n) {
  for (long i = 0; to && i < n; i++) {
    tm_slope slope = {to + i, g[i]};
    *s++ = slope;
  }
  return s;
}

#endif
