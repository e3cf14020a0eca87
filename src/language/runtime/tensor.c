/* tensor.c - slices, assignments, elementwise functions over tensors, and
 * the nodes they leave on the tape. */
#include "language/runtime/runtime.h"

#include "language/ast.h"

/* ---- results ------------------------------------------------------------ */

tm_any tm_int_result(long i) { return tm_any_int(i); }
tm_any tm_real_result(double x) { return tm_any_real(x); }
tm_any tm_tensor_result(tm_tensor t) { return tm_any_tensor(t, 1); }

void tm_view_of(const tm_any *a, tm_view *view) {
  *view = (tm_view){.n = 1, .scalar = 1, .steady = a->steady};
  if (a->tag == TM_TAG_INT) {
    view->own = (double)a->u.i;
    view->v = &view->own;
  } else if (a->tag == TM_TAG_REAL) {
    view->v = &a->u.r.v;
    view->d = a->u.r.d;
  } else {
    view->v = a->u.t.v;
    view->d = a->u.t.d;
    view->n = tm_count(&a->u.t);
    view->stride = 1;
    view->scalar = 0;
  }
}

long tm_common_length(tm_tape *tape, const tm_view *views, int count,
                      const char *name) {
  long n = -1;
  for (int i = 0; i < count; i++) {
    if (views[i].scalar)
      continue;
    if (n >= 0 && views[i].n != n)
      tm_runtime_fail(tape, "", "%s: arguments have %ld and %ld elements", name,
                      n, views[i].n);
    n = views[i].n;
  }
  return n;
}

typedef struct partials_node {
  tm_node node;
  double adjoint;
  int count;
  tm_partial partials[];
} partials_node;

static void partials_back(tm_node *node) {
  partials_node *p = (partials_node *)node;
  if (p->adjoint == 0)
    return;
  for (int i = 0; i < p->count; i++)
    for (long k = 0; k < p->partials[i].n; k++)
      p->partials[i].to[k] += p->adjoint * p->partials[i].partial[k];
}

tm_any tm_scalar_result(tm_tape *tape, double value, int count,
                        const tm_partial *partials) {
  int active = 0;
  for (int i = 0; i < count; i++)
    active += partials[i].to != NULL;
  if (!active)
    return tm_any_real(value);
  partials_node *p = (partials_node *)tm_push(
      tape, sizeof *p + (size_t)active * sizeof *partials, partials_back);
  for (int i = 0; i < count; i++)
    if (partials[i].to)
      p->partials[p->count++] = partials[i];
  return tm_any_var((tm_var){value, &p->adjoint});
}

/* ---- copies ------------------------------------------------------------- */

typedef struct copies_node {
  tm_node node;
  double *adjoint, **from;
  long n;
} copies_node;

static void copies_back(tm_node *node) {
  copies_node *c = (copies_node *)node;
  for (long k = 0; k < c->n; k++)
    if (c->from[k])
      *c->from[k] += c->adjoint[k];
}

tm_builder tm_build(tm_tape *tape, int rank, const int *dim, int active) {
  tm_builder b = {.out = tm_tensor_new(tape, rank, dim, active)};
  if (active)
    b.from = tm_take(tape, (size_t)tm_count(&b.out) * sizeof(double *) + 1);
  return b;
}

void tm_put(tm_builder *b, long k, double value, double *adjoint) {
  b->out.v[k] = value;
  if (b->from)
    b->from[k] = adjoint;
}

tm_any tm_built(tm_tape *tape, tm_builder *b) {
  if (b->from) {
    copies_node *c = (copies_node *)tm_push(tape, sizeof *c, copies_back);
    c->adjoint = b->out.d;
    c->from = b->from;
    c->n = tm_count(&b->out);
  }
  return tm_any_tensor(b->out, 1);
}

/* ---- slices ------------------------------------------------------------- */

/* The positions (from 0) that a slice picks in a dimension, and whether the
 * dimension stays. */
typedef struct picked {
  long count, from;
  const double *many;
  int keeps;
} picked;

static picked pick(tm_tape *tape, const tm_slice *s, int size,
                   const char *place) {
  picked p = {.keeps = 1};
  if (s->kind == TM_SLICE_ALL) {
    p.count = size;
  } else if (s->kind == TM_SLICE_ONE) {
    p.from = tm_at(tape, s->from, size, place);
    p.count = 1;
    p.keeps = 0;
  } else if (s->kind == TM_SLICE_MANY) {
    p.many = s->many.v;
    p.count = s->many.dim[0];
    for (long i = 0; i < p.count; i++)
      (void)tm_at(tape, (long)p.many[i], size, place);
  } else {
    long to = s->to == -1 ? size : s->to;
    if (to < s->from)
      return p; /* empty */
    p.from = tm_at(tape, s->from, size, place);
    (void)tm_at(tape, to, size, place);
    p.count = to - p.from;
  }
  return p;
}

static long position(const picked *p, long i) {
  return p->many ? (long)p->many[i] - 1 : p->from + i;
}

/* Offsets into `from` of all elements picked, in row-major order. */
static long *offsets_of(tm_tape *tape, const tm_tensor *from, int count,
                        const tm_slice *slices, const char *place,
                        tm_tensor *shape) {
  picked p[TM_RANK];
  long total = 1;
  *shape = (tm_tensor){0};
  for (int i = 0; i < from->rank; i++) {
    tm_slice all = {.kind = TM_SLICE_ALL};
    p[i] = pick(tape, i < count ? &slices[i] : &all, from->dim[i], place);
    total *= p[i].count;
    if (p[i].keeps)
      shape->dim[shape->rank++] = (int)p[i].count;
  }
  long *offsets = tm_take(tape, (size_t)total * sizeof(long) + 1);
  for (long k = 0; k < total; k++) {
    long rest = k, at = 0, stride = 1;
    for (int i = from->rank; i-- > 0;) {
      at += position(&p[i], rest % p[i].count) * stride;
      rest /= p[i].count;
      stride *= from->dim[i];
    }
    offsets[k] = at;
  }
  return offsets;
}

tm_tensor tm_gather(tm_tape *tape, tm_tensor from, int count,
                    const tm_slice *slices, const char *place) {
  tm_tensor shape;
  long *at = offsets_of(tape, &from, count, slices, place, &shape);
  tm_builder b = tm_build(tape, shape.rank, shape.dim, from.d != NULL);
  long n = tm_count(&b.out);
  for (long k = 0; k < n; k++)
    tm_put(&b, k, from.v[at[k]], from.d ? from.d + at[k] : NULL);
  return tm_built(tape, &b).u.t;
}

typedef struct scatter_node {
  tm_node node;
  double *to, *from;
  long *offsets;
  long n, stride;
} scatter_node;

/* Backwards through the stores, last first, as repeated indices ask. */
static void scatter_back(tm_node *node) {
  scatter_node *s = (scatter_node *)node;
  for (long k = s->n; k-- > 0;) {
    double g = s->to[s->offsets[k]];
    s->to[s->offsets[k]] = 0;
    if (s->from)
      s->from[k * s->stride] += g;
  }
}

void tm_scatter(tm_tape *tape, tm_tensor to, int count, const tm_slice *slices,
                tm_any value, const char *place) {
  tm_tensor shape;
  long *at = offsets_of(tape, &to, count, slices, place, &shape);
  tm_view v;
  tm_view_of(&value, &v);
  long n = tm_count(&shape);
  if (v.n != n)
    tm_runtime_fail(tape, place, "%ld elements are assigned to %ld", v.n, n);
  double *copy = tm_take(tape, (size_t)n * sizeof(double) + 1);
  memcpy(copy, v.v, (size_t)n * sizeof(double)); /* they may overlap */
  for (long k = 0; k < n; k++)
    to.v[at[k]] = copy[k];
  if (!to.d)
    return;
  double *from = v.d;
  if (from && !v.scalar) { /* through a copy, for the same reason */
    tm_builder b = tm_build(tape, 1, (int[]){(int)n}, 1);
    for (long k = 0; k < n; k++)
      tm_put(&b, k, copy[k], v.d + k);
    from = tm_built(tape, &b).u.t.d;
  }
  scatter_node *s = (scatter_node *)tm_push(tape, sizeof *s, scatter_back);
  *s = (scatter_node){s->node, to.d, from, at, n, v.stride};
}

/* ---- whole variables ---------------------------------------------------- */

static void check_sizes(tm_tape *tape, const tm_tensor *to,
                        const tm_tensor *value, const char *name,
                        const char *place) {
  for (int i = 0; i < to->rank; i++)
    if (to->dim[i] != value->dim[i])
      tm_runtime_fail(tape, place,
                      "%s has size %d in dimension %d; the value assigned "
                      "has %d",
                      name, to->dim[i], i + 1, value->dim[i]);
}

tm_tensor tm_assign(tm_tape *tape, tm_tensor to, tm_tensor value, int own,
                    int active, const char *name, const char *place) {
  check_sizes(tape, &to, &value, name, place);
  long n = tm_count(&value);
  if (own && (value.d || !active))
    return value;
  if (own || !value.d) { /* passive: fresh storage, adjoints if it may vary */
    tm_tensor t = tm_tensor_new(tape, value.rank, value.dim, active);
    memcpy(t.v, value.v, (size_t)n * sizeof(double));
    return t;
  }
  tm_builder b = tm_build(tape, value.rank, value.dim, 1);
  for (long k = 0; k < n; k++)
    tm_put(&b, k, value.v[k], value.d + k);
  return tm_built(tape, &b).u.t;
}

tm_tensor tm_stack(tm_tape *tape, const tm_any *parts, int count) {
  tm_view first, v;
  tm_view_of(&parts[0], &first);
  int dim[TM_RANK] = {count}, rank = 1, active = 0;
  if (!first.scalar) {
    const tm_tensor *t = &parts[0].u.t;
    memcpy(dim + 1, t->dim, (size_t)t->rank * sizeof(int));
    rank += t->rank;
  }
  for (int i = 0; i < count; i++) {
    tm_view_of(&parts[i], &v);
    active = active || v.d;
    if (v.n != first.n)
      tm_runtime_fail(tape, "", "the rows of a list differ in length");
  }
  tm_builder b = tm_build(tape, rank, dim, active);
  for (int i = 0; i < count; i++) {
    tm_view_of(&parts[i], &v);
    for (long k = 0; k < v.n; k++)
      tm_put(&b, i * v.n + k, v.v[k], v.d ? v.d + k : NULL);
  }
  return tm_built(tape, &b).u.t;
}

/* ---- elementwise -------------------------------------------------------- */

typedef struct map_node {
  tm_node node;
  double *out, *a, *b, *pa, *pb;
  long n, sa, sb;
} map_node;

static void map_back(tm_node *node) {
  map_node *m = (map_node *)node;
  if (m->a)
    for (long k = 0; k < m->n; k++)
      m->a[k * m->sa] += m->out[k] * m->pa[k];
  if (m->b)
    for (long k = 0; k < m->n; k++)
      m->b[k * m->sb] += m->out[k] * m->pb[k];
}

static tm_tensor like(tm_tape *tape, const tm_any *a, int active) {
  return tm_tensor_new(tape, a->u.t.rank, a->u.t.dim, active);
}

static map_node *push_map(tm_tape *tape, const tm_tensor *out, const tm_view *a,
                          const tm_view *b) {
  size_t bytes = (size_t)tm_count(out) * sizeof(double);
  double *pa = a->d ? tm_take(tape, bytes) : NULL;
  double *pb = b && b->d ? tm_take(tape, bytes) : NULL;
  map_node *m = (map_node *)tm_push(tape, sizeof *m, map_back);
  *m = (map_node){m->node, out->d,        a->d,      b ? b->d : NULL,  pa,
                  pb,      tm_count(out), a->stride, b ? b->stride : 0};
  return m;
}

#define DEFINE_UNARY(name, value, derivative)                                  \
  static tm_any map_##name(tm_tape *tape, const tm_any *x, int count) {        \
    (void)count;                                                               \
    const tm_runtime *R = tape->runtime;                                       \
    tm_view a;                                                                 \
    tm_view_of(x, &a);                                                         \
    tm_tensor out = like(tape, x, a.d != NULL);                                \
    for (long k = 0; k < a.n; k++)                                             \
      out.v[k] = tm_d_##name(R, a.v[k]);                                       \
    if (a.d) {                                                                 \
      map_node *m = push_map(tape, &out, &a, NULL);                            \
      for (long k = 0; k < a.n; k++)                                           \
        m->pa[k] = tm_d_##name##_slope(R, a.v[k], out.v[k]);                   \
    }                                                                          \
    return tm_any_tensor(out, 1);                                              \
  }
TM_UNARY(DEFINE_UNARY)

#define DEFINE_BINARY(name, value, slope_a, slope_b)                           \
  static tm_any map_##name(tm_tape *tape, const tm_any *x, int count) {        \
    (void)count;                                                               \
    const tm_runtime *R = tape->runtime;                                       \
    tm_view v[2], *a = v, *b = v + 1;                                          \
    tm_view_of(x, a);                                                          \
    tm_view_of(x + 1, b);                                                      \
    long n = tm_common_length(tape, v, 2, #name);                              \
    tm_tensor out =                                                            \
        like(tape, a->scalar ? x + 1 : x, a->d != NULL || b->d != NULL);       \
    if (a->stride && b->stride)                                                \
      for (long k = 0; k < n; k++)                                             \
        out.v[k] = tm_d_##name(R, a->v[k], b->v[k]);                           \
    else                                                                       \
      for (long k = 0; k < n; k++)                                             \
        out.v[k] = tm_d_##name(R, a->v[k * a->stride], b->v[k * b->stride]);   \
    if (!out.d)                                                                \
      return tm_any_tensor(out, 1);                                            \
    map_node *m = push_map(tape, &out, a, b);                                  \
    for (long k = 0; k < n && a->d; k++)                                       \
      m->pa[k] = tm_d_##name##_a(R, a->v[k * a->stride], b->v[k * b->stride],  \
                                 out.v[k]);                                    \
    for (long k = 0; k < n && b->d; k++)                                       \
      m->pb[k] = tm_d_##name##_b(R, a->v[k * a->stride], b->v[k * b->stride],  \
                                 out.v[k]);                                    \
    return tm_any_tensor(out, 1);                                              \
  }
TM_BINARY(DEFINE_BINARY)

#define UNARY_ENTRY(name, value, slope) {#name, "R", map_##name},
#define BINARY_ENTRY(name, value, a, b) {#name, "RR", map_##name},
const tm_function_entry tm_elementwise_functions[] = {
    TM_UNARY(UNARY_ENTRY) TM_BINARY(BINARY_ENTRY){NULL, NULL, NULL}};
