/* sparse.c - matrices in compressed rows: values w, columns v, and u, where
 * each row begins, all counted from one. */
#include "language/runtime/fixed.h"

/* Elements that are not zero. */
static int filled(const tm_tensor *t) {
  int n = 0;
  for (long k = 0; k < tm_count(t); k++)
    n += t->v[k] != 0;
  return n;
}

TM_F(csr_extract_w) {
  (void)count;
  const tm_tensor *t = &a->u.t;
  tm_builder b = tm_build(tape, 1, (int[]){filled(t)}, t->d != NULL);
  long at = 0;
  for (long k = 0; k < tm_count(t); k++)
    if (t->v[k] != 0)
      tm_put(&b, at++, t->v[k], t->d ? t->d + k : NULL);
  return tm_built(tape, &b);
}
TM_F(csr_extract_v) {
  (void)count;
  const tm_tensor *t = &a->u.t;
  tm_tensor out = tm_tensor_new(tape, 1, (int[]){filled(t)}, 0);
  long at = 0;
  for (long k = 0; k < tm_count(t); k++)
    if (t->v[k] != 0)
      out.v[at++] = (double)(k % t->dim[1] + 1);
  return tm_any_tensor(out, 1);
}
TM_F(csr_extract_u) {
  (void)count;
  const tm_tensor *t = &a->u.t;
  tm_tensor out = tm_tensor_new(tape, 1, (int[]){t->dim[0] + 1}, 0);
  double at = 1;
  for (int i = 0; i < t->dim[0]; i++) {
    out.v[i] = at;
    for (int j = 0; j < t->dim[1]; j++)
      at += t->v[(long)i * t->dim[1] + j] != 0;
  }
  out.v[t->dim[0]] = at;
  return tm_any_tensor(out, 1);
}

/* m, n, w, v, u */
typedef struct sparse {
  int rows, columns;
  const tm_tensor *w;
  const double *v, *u;
} sparse;

static sparse read(tm_tape *tape, const tm_any *a) {
  sparse s = {(int)a[0].u.i, (int)a[1].u.i, &a[2].u.t, a[3].u.t.v, a[4].u.t.v};
  int size = s.w->dim[0];
  if (s.rows < 0 || s.columns < 0 || a[3].u.t.dim[0] != size ||
      a[4].u.t.dim[0] != s.rows + 1)
    tm_runtime_fail(tape, "",
                    "a sparse %d x %d matrix with %d values, %d columns and %d "
                    "beginnings of rows",
                    s.rows, s.columns, size, a[3].u.t.dim[0], a[4].u.t.dim[0]);
  for (int i = 0; i < size; i++)
    (void)tm_at(tape, (long)s.v[i], s.columns, "");
  for (int i = 0; i < s.rows; i++)
    if (s.u[i] < 1 || s.u[i + 1] < s.u[i] || s.u[i + 1] > size + 1)
      tm_runtime_fail(tape, "", "row %d of a sparse matrix is out of order",
                      i + 1);
  return s;
}

TM_F(csr_to_dense) {
  (void)count;
  sparse s = read(tape, a);
  tm_builder b = tm_build(tape, 2, (int[]){s.rows, s.columns}, s.w->d != NULL);
  for (int i = 0; i < s.rows; i++)
    for (long k = (long)s.u[i] - 1; k < (long)s.u[i + 1] - 1; k++)
      tm_put(&b, (long)i * s.columns + (long)s.v[k] - 1, s.w->v[k],
             s.w->d ? s.w->d + k : NULL);
  return tm_built(tape, &b);
}

typedef struct csr_node {
  tm_node node;
  sparse s;
  const double *w, *x;
  double *wd, *xd, *out;
} csr_node;

static void csr_back(tm_node *node) {
  csr_node *c = (csr_node *)node;
  for (int i = 0; i < c->s.rows; i++)
    for (long k = (long)c->s.u[i] - 1; k < (long)c->s.u[i + 1] - 1; k++) {
      long j = (long)c->s.v[k] - 1;
      if (c->wd)
        c->wd[k] += c->out[i] * c->x[j];
      if (c->xd)
        c->xd[j] += c->out[i] * c->w[k];
    }
}

TM_F(csr_times_vector) {
  (void)count;
  sparse s = read(tape, a);
  const tm_tensor *x = &a[5].u.t;
  if (x->dim[0] != s.columns)
    tm_runtime_fail(tape, "", "a sparse matrix of %d columns times %d elements",
                    s.columns, x->dim[0]);
  tm_tensor out = tm_tensor_new(tape, 1, &s.rows, s.w->d || x->d);
  for (int i = 0; i < s.rows; i++)
    for (long k = (long)s.u[i] - 1; k < (long)s.u[i + 1] - 1; k++)
      out.v[i] += s.w->v[k] * x->v[(long)s.v[k] - 1];
  if (out.d) {
    const double *w = tm_copied(tape, s.w->v, s.w->dim[0]);
    const double *v = tm_copied(tape, x->v, s.columns);
    csr_node *c = (csr_node *)tm_push(tape, sizeof *c, csr_back);
    *c = (csr_node){c->node, s, w, v, s.w->d, x->d, out.d};
    c->s.v = tm_copied(tape, s.v, s.w->dim[0]);
    c->s.u = tm_copied(tape, s.u, s.rows + 1);
  }
  return tm_any_tensor(out, 1);
}
