/* prelude_tensor.h - tensors, their elements, and parameters as tensors, for
 * generated programs and for the library. */
#ifndef TM_LANGUAGE_PRELUDE_TENSOR_H
#define TM_LANGUAGE_PRELUDE_TENSOR_H

#ifndef TM_LANGUAGE_PRELUDE_H /* generated programs hold it already */
#include "language/runtime/prelude.h"
#endif

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

/* A copy without adjoints. */
TM_INLINE tm_tensor tm_duplicate(tm_tape *tape, tm_tensor from) {
  return tape->runtime->duplicate(tape, from);
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
  return tape->runtime->declare(tape, rank, dim, active);
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

/* element = an expression with so many slopes, reversible; NULL: it has no
 * adjoint. */
TM_INLINE tm_linear *tm_linear_into(tm_tape *tape, tm_tensor t, long i,
                                    double value, int count) {
  t.v[i] = value;
  if (!t.d)
    return 0;
  tm_linear *p = tm_linear_new(tape, count);
  p->adjoint.element = t.d + i;
  p->assigned = 1;
  return p;
}

TM_INLINE void tm_set(tm_tape *tape, tm_tensor t, long i, tm_var value) {
  tm_linear *p = tm_linear_into(tape, t, i, value.v, 1);
  if (p)
    tm_linear_set(tape, p, 0, value.d, 1);
}

/* The same for a value that nobody else has: where its node is the last one,
 * that becomes the element's. */
TM_INLINE void tm_set_fresh(tm_tape *tape, tm_tensor t, long i, tm_var value) {
  tm_linear *p = (tm_linear *)tape->last;
  int own =
      t.d && p && !p->node.back && !p->assigned && value.d == &p->adjoint.own;
  if (!own) {
    tm_set(tape, t, i, value);
    return;
  }
  t.v[i] = value.v;
  p->adjoint.element = t.d + i;
  p->assigned = 1;
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

TM_INLINE double tm_first(const tm_any *a) {
  return a->tag == TM_TAG_TENSOR ? a->u.t.v[0]
         : a->tag == TM_TAG_INT  ? (double)a->u.i
                                 : a->u.r.v;
}

/* Are all elements the same, and is there one? */
TM_INLINE int tm_is_uniform(const tm_any *a) {
  if (a->tag != TM_TAG_TENSOR)
    return 1;
  for (long k = 0, n = tm_count(&a->u.t); k < n; k++)
    if (a->u.t.v[k] != a->u.t.v[0])
      return 0;
  return tm_count(&a->u.t) > 0;
}

/* Element k alone, of those that are tensors. */
TM_INLINE void tm_take_element(tm_any *a, int count, long k) {
  for (int i = 0; i < count; i++) {
    tm_tensor *x = &a[i].u.t;
    if (a[i].tag == TM_TAG_TENSOR && k < tm_count(x))
      *x = (tm_tensor){x->v + k, x->d ? x->d + k : NULL, 1, {1}};
  }
}

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

TM_INLINE tm_tensor tm_unpack(tm_tape *tape, const double *theta,
                              double *gradient, int rank, const int *dim) {
  if (rank > 1)
    return tape->runtime->unpack(tape, theta, gradient, rank, dim);
  tm_tensor t = tm_shape(rank, dim);
  t.v = (double *)theta; /* parameters are never assigned */
  t.d = gradient;
  return t;
}

#define tm_any_pairs(x) ((tm_any){.tag = TM_TAG_PAIRS, .u.t = (x)})
#define tm_any_text(x) ((tm_any){.tag = TM_TAG_TEXT, .steady = 1, .u.s = (x)})

/* target += value */
TM_INLINE void tm_add(tm_tape *tape, tm_var value) {
  tape->log_density += value.v;
  if (value.d)
    *value.d += 1;
}

#endif
