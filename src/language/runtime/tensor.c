/* tensor.c - results, slices and assignments of tensors, and the nodes they
 * leave on the tape. */
#include "language/runtime/runtime.h"

/* ---- results ------------------------------------------------------------ */

tm_any tm_int_result(long i) { return tm_any_int(i); }

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

typedef struct grid_node {
  tm_node node;
  const double *adjoint;
  double *to;
  tm_grid grid;
} grid_node;

static void grid_back(tm_node *node) {
  const grid_node *n = (const grid_node *)node;
  const double *restrict g = n->adjoint;
  long columns = n->grid.columns, run = n->grid.run;
  for (long i = 0; i < n->grid.rows; i++, g += columns) {
    double *restrict to = n->to + i * n->grid.rise;
    for (long j = 0; run == 1 && j < columns; j++)
      to[j] += g[j];
    for (long j = 0; run != 1 && j < columns; j++)
      to[j * run] += g[j];
  }
}

void tm_put_grid(tm_tape *tape, tm_tensor out, long at, const tm_view *v,
                 tm_grid grid) {
  if (grid.columns == 1) /* the longer loop inside */
    grid = (tm_grid){grid.start, 1, grid.rows, 0, grid.rise};
  double *restrict to = out.v + at;
  for (long i = 0; i < grid.rows; i++, to += grid.columns) {
    const double *restrict from = v->v + grid.start + i * grid.rise;
    for (long j = 0; grid.run == 1 && j < grid.columns; j++)
      to[j] = from[j];
    for (long j = 0; grid.run != 1 && j < grid.columns; j++)
      to[j] = from[j * grid.run];
  }
  if (!v->d || !out.d || !grid.rows || !grid.columns)
    return;
  grid_node *n = (grid_node *)tm_push(tape, sizeof *n, grid_back);
  n->adjoint = out.d + at;
  n->to = v->d + grid.start;
  n->grid = grid;
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

/* What is picked in every dimension, and the sizes that stay; how many. */
static long pick_all(tm_tape *tape, const tm_tensor *from, int count,
                     const tm_slice *slices, const char *place, picked *p,
                     tm_tensor *shape) {
  long total = 1;
  *shape = (tm_tensor){0};
  for (int i = 0; i < from->rank; i++) {
    tm_slice all = {.kind = TM_SLICE_ALL};
    p[i] = pick(tape, i < count ? &slices[i] : &all, from->dim[i], place);
    total *= p[i].count;
    if (p[i].keeps)
      shape->dim[shape->rank++] = (int)p[i].count;
  }
  return total;
}

/* Ranges of a vector or a matrix, as a grid; false: they are not. */
static bool grid_of(const tm_tensor *from, const picked *p, tm_grid *grid) {
  bool matrix = from->rank == 2;
  if ((!matrix && from->rank != 1) || p[0].many || (matrix && p[1].many))
    return false;
  long columns = from->dim[1];
  *grid = matrix ? (tm_grid){p[0].from * columns + p[1].from, p[0].count,
                             p[1].count, columns, 1}
                 : (tm_grid){p[0].from, 1, p[0].count, 0, 1};
  return true;
}

/* Offsets into `from` of all elements picked, in row-major order. */
static long *offsets_of(tm_tape *tape, const tm_tensor *from, const picked *p,
                        long total) {
  long *offsets = tm_take_blank(tape, (size_t)total * sizeof(long) + 1);
  tm_grid g;
  if (grid_of(from, p, &g)) {
    for (long i = 0, k = 0; i < g.rows; i++)
      for (long j = 0; j < g.columns; j++)
        offsets[k++] = g.start + i * g.rise + j;
    return offsets;
  }
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

typedef struct gather_node {
  tm_node node;
  double *from, *out;
  const int *places;
  long n;
} gather_node;

/* Groups often lie side by side, and sums into one place wait for each other:
 * four parts of the indices are walked together. */
static void gather_back(tm_node *node) {
  gather_node *g = (gather_node *)node;
  const int *at = g->places;
  long quarter = g->n / 4;
  for (long k = 0; k < quarter; k++)
    for (long part = 0; part < 4; part++)
      g->from[at[k + part * quarter]] += g->out[k + part * quarter];
  for (long k = 4 * quarter; k < g->n; k++)
    g->from[at[k]] += g->out[k];
}

/* Indices into a vector, from zero; one look at all of them finds whether
 * any is out of range. */
static const int *places_of(tm_tape *tape, const tm_tensor *many, int size,
                            const char *place) {
  long n = many->dim[0];
  int *places = tm_take_blank(tape, (size_t)n * sizeof(int) + 1), bad = 0;
  for (long k = 0; k < n; k++) {
    places[k] = (int)many->v[k] - 1;
    bad |= (unsigned)places[k] >= (unsigned)size;
  }
  for (long k = 0; bad && k < n; k++)
    (void)tm_at(tape, (long)many->v[k], size, place);
  return places;
}

/* v[many], the commonest of slices. */
static tm_tensor gather_many(tm_tape *tape, const tm_tensor *from,
                             const tm_tensor *many, const char *place) {
  const int *places = places_of(tape, many, from->dim[0], place);
  tm_tensor out = tm_tensor_blank(tape, 1, many->dim, from->d != NULL);
  long n = many->dim[0];
  for (long k = 0; k < n; k++)
    out.v[k] = from->v[places[k]];
  if (out.d) {
    gather_node *g = (gather_node *)tm_push(tape, sizeof *g, gather_back);
    *g = (gather_node){g->node, from->d, out.d, places, n};
  }
  return out;
}

tm_tensor tm_gather(tm_tape *tape, tm_tensor from, int count,
                    const tm_slice *slices, const char *place) {
  if (from.rank == 1 && slices->kind == TM_SLICE_MANY)
    return gather_many(tape, &from, &slices->many, place);
  tm_tensor shape;
  picked p[TM_RANK];
  tm_grid grid;
  long total = pick_all(tape, &from, count, slices, place, p, &shape);
  if (grid_of(&from, p, &grid)) {
    tm_tensor out =
        tm_tensor_blank(tape, shape.rank, shape.dim, from.d != NULL);
    tm_put_grid(tape, out, 0, &(tm_view){.v = from.v, .d = from.d}, grid);
    return out;
  }
  long *at = offsets_of(tape, &from, p, total);
  tm_builder b = tm_build(tape, shape.rank, shape.dim, from.d != NULL);
  long n = tm_count(&b.out);
  for (long k = 0; k < n; k++)
    tm_put(&b, k, from.v[at[k]], from.d ? from.d + at[k] : NULL);
  return tm_built(tape, &b).u.t;
}

typedef struct scatter_node {
  tm_node node;
  double *to, *from;
  const long *offsets;
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
  picked p[TM_RANK];
  tm_view v;
  tm_view_of(&value, &v);
  long n = pick_all(tape, &to, count, slices, place, p, &shape);
  const long *at = offsets_of(tape, &to, p, n);
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
    tm_tensor own = tm_tensor_blank(tape, 1, (int[]){(int)n}, 1);
    tm_put_grid(tape, own, 0, &v, (tm_grid){0, 1, n, 0, 1});
    from = own.d;
  }
  scatter_node *s = (scatter_node *)tm_push(tape, sizeof *s, scatter_back);
  *s = (scatter_node){s->node, to.d, from, at, n, v.stride};
}

typedef struct fill_node {
  tm_node node;
  double *to, *from;
  long n;
} fill_node;

static void fill_back(tm_node *node) {
  fill_node *f = (fill_node *)node;
  for (long k = 0; k < f->n; k++) { /* they may be the same */
    double g = f->to[k];
    f->to[k] = 0;
    if (f->from)
      f->from[k] += g;
  }
}

void tm_fill(tm_tape *tape, const tm_tensor *to, int count, const long *indices,
             tm_tensor value, const char *place) {
  long n = 1, at = 0;
  for (int i = 0; i < count; i++)
    at = at * to->dim[i] + tm_at(tape, indices[i], to->dim[i], place);
  for (int i = count; i < to->rank; i++)
    n *= to->dim[i];
  if (tm_count(&value) != n)
    tm_runtime_fail(tape, place, "%ld elements are assigned to %ld",
                    tm_count(&value), n);
  memmove(to->v + at * n, value.v, (size_t)n * sizeof(double));
  if (!to->d)
    return;
  fill_node *f = (fill_node *)tm_push(tape, sizeof *f, fill_back);
  f->to = to->d + at * n;
  f->from = value.d;
  f->n = n;
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
  tm_tensor own_copy = tm_tensor_blank(tape, value.rank, value.dim, 1);
  tm_put_grid(tape, own_copy, 0, &(tm_view){.v = value.v, .d = value.d},
              (tm_grid){0, 1, n, 0, 1});
  return own_copy;
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
