/* shape.c - functions that only move values: repeat, cut, stack, turn. Each
 * builds its result from copies, so that adjoints flow back by themselves. */
#include "language/runtime/fixed.h"

#include <stdlib.h>

static double *adjoint(const tm_view *v, long k) {
  return v->d ? v->d + k * v->stride : NULL;
}

static int whole(tm_tape *tape, const tm_any *a) {
  return tm_size(tape, a->u.i, "");
}

/* Elements order[0..n) of the argument, as a tensor of this shape. */
typedef long (*order_fn)(const tm_tensor *from, const tm_tensor *to, long k,
                         const long *extra);

static tm_any reordered(tm_tape *tape, const tm_any *a, int rank,
                        const int *dim, order_fn order, const long *extra) {
  tm_view v;
  tm_view_of(a, &v);
  tm_builder b = tm_build(tape, rank, dim, v.d != NULL);
  long n = tm_count(&b.out);
  for (long k = 0; k < n; k++) {
    long at = order(&a->u.t, &b.out, k, extra);
    tm_put(&b, k, v.v[at * v.stride], adjoint(&v, at));
  }
  return tm_built(tape, &b);
}

/* The same for those of a grid. */
static tm_any gridded(tm_tape *tape, const tm_any *a, int rank, const int *dim,
                      tm_grid grid) {
  tm_view v;
  tm_view_of(a, &v);
  tm_tensor out = tm_tensor_blank(tape, rank, dim, v.d != NULL);
  tm_put_grid(tape, out, 0, &v, grid);
  return tm_any_tensor(out, 1);
}

/* All elements in their order, from one of them on. */
static tm_any as_they_are(tm_tape *tape, const tm_any *a, int rank,
                          const int *dim, long from) {
  long n = 1;
  for (int i = 0; i < rank; i++)
    n *= dim[i];
  return gridded(tape, a, rank, dim, (tm_grid){from, 1, n, 0, 1});
}

typedef struct repeat_node {
  tm_node node;
  double *adjoint, *from;
  long n, times;
} repeat_node;

static void repeat_back(tm_node *node) {
  repeat_node *r = (repeat_node *)node;
  for (long i = 0; i < r->times; i++)
    for (long k = 0; k < r->n; k++)
      r->from[k] += r->adjoint[i * r->n + k];
}

/* A scalar or tensor, repeated over leading sizes given after it. */
TM_F(rep) {
  tm_view v;
  tm_view_of(a, &v);
  int dim[TM_RANK], rank = 0;
  for (int i = 1; i < count; i++)
    dim[rank++] = whole(tape, a + i);
  for (int i = 0; !v.scalar && i < a->u.t.rank; i++)
    dim[rank++] = a->u.t.dim[i];
  tm_tensor out = tm_tensor_blank(tape, rank, dim, v.d != NULL);
  long times = v.n ? tm_count(&out) / v.n : 0;
  for (long i = 0; i < times && v.n == 1; i++)
    out.v[i] = v.v[0];
  for (long i = 0; i < times && v.n > 1; i++)
    memcpy(out.v + i * v.n, v.v, (size_t)v.n * sizeof(double));
  if (v.d) {
    repeat_node *r = (repeat_node *)tm_push(tape, sizeof *r, repeat_back);
    *r = (repeat_node){r->node, out.d, v.d, v.n, times};
  }
  return tm_any_tensor(out, 1);
}

static long column_of(const tm_tensor *from, const tm_tensor *to, long k,
                      const long *extra) {
  (void)from, (void)extra;
  return k / to->dim[1];
}

TM_F(rep_columns) {
  (void)count;
  int dim[2] = {a->u.t.dim[0], whole(tape, a + 1)};
  return reordered(tape, a, 2, dim, column_of, NULL);
}

TM_F(flatten) {
  (void)count;
  int n = (int)tm_count(&a->u.t);
  return as_they_are(tape, a, 1, &n, 0);
}

static long columnwise(const tm_tensor *from, const tm_tensor *to, long k,
                       const long *extra) {
  (void)to, (void)extra;
  return tm_columnwise(from, k);
}

TM_F(flatten_columns) {
  (void)count;
  int n = (int)tm_count(&a->u.t), rows = a->u.t.dim[0];
  if (a->u.t.rank == 2)
    return gridded(tape, a, 1, &n,
                   (tm_grid){0, n ? n / rows : 0, rows, 1, n ? n / rows : 0});
  return reordered(tape, a, 1, &n, columnwise, NULL);
}

TM_F(to_matrix) {
  (void)count;
  return as_they_are(tape, a, 2, a->u.t.dim, 0);
}
TM_F(column_matrix) {
  (void)count;
  return as_they_are(tape, a, 2, (int[]){a->u.t.dim[0], 1}, 0);
}
TM_F(row_matrix) {
  (void)count;
  return as_they_are(tape, a, 2, (int[]){1, a->u.t.dim[0]}, 0);
}

/* Filled column by column from column-major values. */
static long filled(const tm_tensor *from, const tm_tensor *to, long k,
                   const long *extra) {
  (void)extra;
  long place = k % to->dim[1] * to->dim[0] + k / to->dim[1];
  return from->rank == 2 ? tm_columnwise(from, place) : place;
}

TM_F(fill_matrix) {
  (void)count;
  int dim[2] = {whole(tape, a + 1), whole(tape, a + 2)};
  if ((long)dim[0] * dim[1] != tm_count(&a->u.t))
    tm_runtime_fail(tape, "", "to_matrix: %ld values do not fill %d x %d",
                    tm_count(&a->u.t), dim[0], dim[1]);
  return reordered(tape, a, 2, dim, filled, NULL);
}

/* from, size along the first dimension */
static tm_any part(tm_tape *tape, const tm_any *a, long from, long size) {
  const tm_tensor *t = &a->u.t;
  int dim[TM_RANK];
  memcpy(dim, t->dim, sizeof dim);
  if (from < 0 || size < 0 || from + size > t->dim[0])
    tm_runtime_fail(tape, "", "elements %ld to %ld are not in 1:%d", from + 1,
                    from + size, t->dim[0]);
  dim[0] = (int)size;
  long offset = t->dim[0] ? from * (tm_count(t) / t->dim[0]) : 0;
  return as_they_are(tape, a, t->rank, dim, offset);
}

TM_F(head) {
  (void)count;
  return part(tape, a, 0, a[1].u.i);
}
TM_F(tail) {
  (void)count;
  return part(tape, a, a->u.t.dim[0] - a[1].u.i, a[1].u.i);
}
TM_F(segment) {
  (void)count;
  return part(tape, a, a[1].u.i - 1, a[2].u.i);
}

static long backwards(const tm_tensor *from, const tm_tensor *to, long k,
                      const long *extra) {
  (void)to, (void)extra;
  long inner = tm_count(from) / from->dim[0];
  return (from->dim[0] - 1 - k / inner) * inner + k % inner;
}

TM_F(reverse) {
  (void)count;
  return reordered(tape, a, a->u.t.rank, a->u.t.dim, backwards, NULL);
}

/* One after the other along the first dimension; scalars count as one, row
 * vectors beside a matrix as one row. */
static tm_any joined(tm_tape *tape, const tm_any *a, int rank, const int *dim) {
  tm_view v[2];
  tm_view_of(a, &v[0]);
  tm_view_of(a + 1, &v[1]);
  tm_tensor out = tm_tensor_blank(tape, rank, dim, v[0].d || v[1].d);
  if (tm_count(&out) != v[0].n + v[1].n)
    tm_runtime_fail(tape, "", "append: sizes do not match");
  for (int i = 0; i < 2; i++)
    tm_put_grid(tape, out, i * v[0].n, &v[i], (tm_grid){0, 1, v[i].n, 0, 1});
  return tm_any_tensor(out, 1);
}

static int ranks(const tm_any *a) {
  return a->tag == TM_TAG_TENSOR ? a->u.t.rank : 0;
}

TM_F(append) {
  (void)count;
  const tm_any *big = ranks(a) >= ranks(a + 1) ? a : a + 1;
  int dim[TM_RANK] = {2}, rank = ranks(big) ? ranks(big) : 1;
  if (ranks(big))
    memcpy(dim, big->u.t.dim, sizeof dim);
  if (ranks(big)) {
    dim[0] = 0;
    for (int i = 0; i < 2; i++)
      dim[0] += ranks(a + i) == rank ? a[i].u.t.dim[0] : 1;
  }
  if (ranks(a) == ranks(a + 1) && ranks(a) && a[0].u.t.dim[0] == 0)
    memcpy(dim + 1, a[1].u.t.dim + 1, sizeof dim - sizeof *dim);
  return joined(tape, a, rank, dim);
}

TM_F(append_rows) {
  (void)count;
  return joined(tape, a, 2, (int[]){2, a->u.t.dim[0]});
}

static int columns_of(const tm_any *a) {
  return a->u.t.rank == 2 ? a->u.t.dim[1] : 1;
}

TM_F(append_columns) {
  (void)count;
  tm_view v[2];
  tm_view_of(a, &v[0]);
  tm_view_of(a + 1, &v[1]);
  int rows = a->u.t.dim[0], c0 = columns_of(a), c1 = columns_of(a + 1);
  if (a[1].u.t.dim[0] != rows)
    tm_runtime_fail(tape, "", "append_col: %d rows and %d rows", rows,
                    a[1].u.t.dim[0]);
  tm_builder b = tm_build(tape, 2, (int[]){rows, c0 + c1}, v[0].d || v[1].d);
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < c0 + c1; j++) {
      int w = j >= c0;
      long at = w ? (long)i * c1 + j - c0 : (long)i * c0 + j;
      tm_put(&b, (long)i * (c0 + c1) + j, v[w].v[at], adjoint(&v[w], at));
    }
  return tm_built(tape, &b);
}

static tm_any cut(tm_tape *tape, const tm_any *a, long row, long column,
                  long rows, long columns, int rank) {
  const tm_tensor *t = &a->u.t;
  if (row < 0 || column < 0 || rows < 0 || columns < 0 ||
      row + rows > t->dim[0] || column + columns > t->dim[1])
    tm_runtime_fail(tape, "", "a block leaves its %d x %d matrix", t->dim[0],
                    t->dim[1]);
  int dim[2] = {(int)rows, (int)columns};
  if (rank == 1)
    dim[0] = (int)(rows * columns);
  return gridded(
      tape, a, rank, dim,
      (tm_grid){row * t->dim[1] + column, rows, columns, t->dim[1], 1});
}

TM_F(col) {
  (void)count;
  return cut(tape, a, 0, a[1].u.i - 1, a->u.t.dim[0], 1, 1);
}
TM_F(row) {
  (void)count;
  return cut(tape, a, a[1].u.i - 1, 0, 1, a->u.t.dim[1], 1);
}
TM_F(block) {
  (void)count;
  return cut(tape, a, a[1].u.i - 1, a[2].u.i - 1, a[3].u.i, a[4].u.i, 2);
}
TM_F(sub_col) {
  (void)count;
  return cut(tape, a, a[1].u.i - 1, a[2].u.i - 1, a[3].u.i, 1, 1);
}
TM_F(sub_row) {
  (void)count;
  return cut(tape, a, a[1].u.i - 1, a[2].u.i - 1, 1, a[3].u.i, 1);
}

TM_F(transpose) {
  (void)count;
  int rows = a->u.t.dim[0], columns = a->u.t.dim[1];
  return gridded(tape, a, 2, (int[]){columns, rows},
                 (tm_grid){0, columns, rows, 1, columns});
}

TM_F(diag_matrix) {
  (void)count;
  tm_view v;
  tm_view_of(a, &v);
  int n = (int)v.n;
  tm_builder b = tm_build(tape, 2, (int[]){n, n}, v.d != NULL);
  for (int i = 0; i < n; i++)
    tm_put(&b, (long)i * n + i, v.v[i], adjoint(&v, i));
  return tm_built(tape, &b);
}

static long on_diagonal(const tm_tensor *from, const tm_tensor *to, long k,
                        const long *extra) {
  (void)to, (void)extra;
  return k * from->dim[1] + k;
}

TM_F(diagonal) {
  (void)count;
  int rows = a->u.t.dim[0], cols = a->u.t.dim[1];
  int n = rows < cols ? rows : cols;
  return reordered(tape, a, 1, &n, on_diagonal, NULL);
}

/* ---- made from numbers -------------------------------------------------- */

static tm_any constant(tm_tape *tape, const tm_any *a, int count,
                       double value) {
  int dim[2] = {0};
  for (int i = 0; i < count; i++)
    dim[i] = whole(tape, a + i);
  tm_tensor t = tm_tensor_new(tape, count, dim, 0);
  long n = tm_count(&t);
  for (long k = 0; k < n; k++)
    t.v[k] = value;
  return tm_any_tensor(t, 1);
}

TM_F(ones) { return constant(tape, a, count, 1); }
TM_F(zeros) { return constant(tape, a, count, 0); }

TM_F(identity) {
  (void)count;
  int n = whole(tape, a);
  tm_tensor t = tm_tensor_new(tape, 2, (int[]){n, n}, 0);
  for (int i = 0; i < n; i++)
    t.v[(long)i * n + i] = 1;
  return tm_any_tensor(t, 1);
}

TM_F(one_hot) {
  (void)count;
  int n = whole(tape, a);
  tm_tensor t = tm_tensor_new(tape, 1, &n, 0);
  t.v[tm_at(tape, a[1].u.i, n, "")] = 1;
  return tm_any_tensor(t, 1);
}

TM_F(linspaced) {
  (void)count;
  int n = whole(tape, a);
  tm_view lo, hi;
  tm_view_of(a + 1, &lo);
  tm_view_of(a + 2, &hi);
  tm_tensor t = tm_tensor_new(tape, 1, &n, 0);
  for (int i = 0; i < n; i++)
    t.v[i] = n == 1 ? *hi.v : *lo.v + i * (*hi.v - *lo.v) / (n - 1);
  return tm_any_tensor(t, 1);
}

TM_F(linspaced_int) {
  (void)count;
  int n = whole(tape, a);
  long lo = a[1].u.i, hi = a[2].u.i;
  tm_tensor t = tm_tensor_new(tape, 1, &n, 0);
  for (int i = 0; i < n; i++)
    t.v[i] = n == 1 ? (double)hi : (double)(lo + i * (hi - lo) / (n - 1));
  return tm_any_tensor(t, 1);
}

/* ---- order -------------------------------------------------------------- */

typedef struct item {
  double value;
  long at;
} item;

static int ascending(const void *x, const void *y) {
  const item *a = x, *b = y;
  if (a->value != b->value)
    return a->value < b->value ? -1 : 1;
  return (a->at > b->at) - (a->at < b->at);
}

static item *sorted(tm_tape *tape, const tm_view *v, double sign) {
  item *items = tm_take(tape, (size_t)v->n * sizeof *items + 1);
  for (long k = 0; k < v->n; k++)
    items[k] = (item){sign * v->v[k], k};
  if (v->n)
    qsort(items, (size_t)v->n, sizeof *items, ascending);
  return items;
}

static tm_any in_order(tm_tape *tape, const tm_any *a, double sign,
                       bool indices) {
  tm_view v;
  tm_view_of(a, &v);
  item *items = sorted(tape, &v, sign);
  tm_builder b = tm_build(tape, 1, a->u.t.dim, v.d != NULL && !indices);
  for (long k = 0; k < v.n; k++)
    if (indices)
      b.out.v[k] = (double)items[k].at + 1;
    else
      tm_put(&b, k, v.v[items[k].at], adjoint(&v, items[k].at));
  return tm_built(tape, &b);
}

TM_F(sort_asc) {
  (void)count;
  return in_order(tape, a, 1, false);
}
TM_F(sort_desc) {
  (void)count;
  return in_order(tape, a, -1, false);
}
TM_F(order_asc) {
  (void)count;
  return in_order(tape, a, 1, true);
}
TM_F(order_desc) {
  (void)count;
  return in_order(tape, a, -1, true);
}
TM_F(rank_of) {
  (void)count;
  tm_view v;
  tm_view_of(a, &v);
  long s = tm_at(tape, a[1].u.i, (int)v.n, ""), below = 0;
  for (long k = 0; k < v.n; k++)
    below += v.v[k] < v.v[s];
  return tm_any_int(below);
}
