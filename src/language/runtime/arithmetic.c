/* arithmetic.c - the four operations element by element, of containers or of
 * a container and a scalar. Their nodes keep the operands, not partials. */
#include "language/runtime/runtime.h"

typedef struct arithmetic_node {
  tm_node node;
  const double *out; /* the result's adjoints */
  tm_view a, b;
  long n;
} arithmetic_node;

/* An operand as it is now: a scalar lies in the node, and with `values` those
 * that may be assigned to later are copied. */
static void keep(tm_tape *tape, tm_view *to, const tm_view *from, bool values) {
  *to = *from;
  to->own = from->scalar ? *from->v : 0;
  if (from->scalar) {
    to->v = &to->own;
  } else if (values && !from->steady) {
    size_t bytes = (size_t)from->n * sizeof(double);
    to->v = memcpy(tm_take_blank(tape, bytes + 1), from->v, bytes);
  }
}

/* x' += factor out' */
static void give(const tm_view *x, const double *out, double factor, long n) {
  double sum = 0;
  if (!x->d)
    return;
  if (x->stride)
    for (long k = 0; k < n; k++)
      x->d[k] += factor * out[k];
  else
#pragma omp simd reduction(+ : sum)
    for (long k = 0; k < n; k++)
      sum += out[k];
  if (!x->stride)
    *x->d += factor * sum;
}

static void add_back(tm_node *node) {
  arithmetic_node *p = (arithmetic_node *)node;
  give(&p->a, p->out, 1, p->n);
  give(&p->b, p->out, 1, p->n);
}

static void subtract_back(tm_node *node) {
  arithmetic_node *p = (arithmetic_node *)node;
  give(&p->a, p->out, 1, p->n);
  give(&p->b, p->out, -1, p->n);
}

/* x' += other out' */
static void give_product(const tm_view *x, const double *out,
                         const tm_view *other, long n) {
  double sum = 0;
  if (!x->d)
    return;
  if (!other->stride) {
    give(x, out, *other->v, n);
    return;
  }
  if (x->stride)
    for (long k = 0; k < n; k++)
      x->d[k] += other->v[k] * out[k];
  else
#pragma omp simd reduction(+ : sum)
    for (long k = 0; k < n; k++)
      sum += other->v[k] * out[k];
  if (!x->stride)
    *x->d += sum;
}

static void elt_multiply_back(tm_node *node) {
  arithmetic_node *p = (arithmetic_node *)node;
  give_product(&p->a, p->out, &p->b, p->n);
  give_product(&p->b, p->out, &p->a, p->n);
}

static void elt_divide_back(tm_node *node) {
  arithmetic_node *p = (arithmetic_node *)node;
  const tm_view *a = &p->a, *b = &p->b;
  if (!b->stride)
    give(a, p->out, 1 / *b->v, p->n);
  else if (a->d)
    for (long k = 0; k < p->n; k++)
      a->d[k * a->stride] += p->out[k] / b->v[k];
  for (long k = 0; b->d && k < p->n; k++) {
    double y = b->v[k * b->stride];
    b->d[k * b->stride] -= p->out[k] * (a->v[k * a->stride] / y) / y;
  }
}

/* `values`: the slopes need the operands. */
#define DEFINE(name, op, values)                                               \
  tm_any tm_tensor_##name(tm_tape *tape, const tm_any *x, int count) {         \
    (void)count;                                                               \
    tm_view v[2];                                                              \
    tm_view_of(x, &v[0]);                                                      \
    tm_view_of(x + 1, &v[1]);                                                  \
    long n = tm_common_length(tape, v, 2, #name);                              \
    const tm_tensor *like = v[0].scalar ? &x[1].u.t : &x[0].u.t;               \
    tm_tensor out =                                                            \
        tm_tensor_blank(tape, like->rank, like->dim, v[0].d || v[1].d);        \
    const double *a = v[0].v, *b = v[1].v;                                     \
    if (v[0].stride && v[1].stride)                                            \
      for (long k = 0; k < n; k++)                                             \
        out.v[k] = a[k] op b[k];                                               \
    else if (v[0].stride)                                                      \
      for (long k = 0; k < n; k++)                                             \
        out.v[k] = a[k] op * b;                                                \
    else                                                                       \
      for (long k = 0; k < n; k++)                                             \
        out.v[k] = *a op b[k];                                                 \
    if (out.d) {                                                               \
      arithmetic_node *p =                                                     \
          (arithmetic_node *)tm_push(tape, sizeof *p, name##_back);            \
      p->out = out.d;                                                          \
      p->n = n;                                                                \
      keep(tape, &p->a, &v[0], values &&v[1].d);                               \
      keep(tape, &p->b, &v[1], values);                                        \
    }                                                                          \
    return tm_any_tensor(out, 1);                                              \
  }
DEFINE(add, +, false)
DEFINE(subtract, -, false)
DEFINE(elt_multiply, *, true)
DEFINE(elt_divide, /, true)
