/* callable.c - see callable.h; and which function is which. */
#include "language/runtime/callable.h"

#include "language/runtime/embedded_laplace.h"

static tm_any stripped(tm_any a) {
  if (a.tag == TM_TAG_REAL)
    a.u.r.d = NULL;
  else if (a.tag == TM_TAG_TENSOR)
    a.u.t.d = NULL;
  return a;
}

static void add_outer(tm_callable *c, tm_any *a) {
  tm_view v;
  tm_view_of(a, &v);
  if (!v.d)
    return;
  double *scratch = tm_take(c->tape, (size_t)v.n * sizeof(double) + 1);
  c->outers[c->outer_count++] = (tm_outer){v.d, scratch, v.n, c->columns};
  c->columns += v.n;
  if (a->tag == TM_TAG_REAL)
    a->u.r.d = scratch;
  else
    a->u.t.d = scratch;
}

tm_callable tm_callable_new(tm_tape *tape, const tm_system *system, int inner,
                            const char *place) {
  tm_callable c = {.tape = tape,
                   .system = system,
                   .place = place,
                   .inner = inner,
                   .count = inner + system->argument_count};
  if (c.count > TM_CALLABLE_ARGUMENTS)
    tm_runtime_fail(tape, place, "too many arguments");
  for (int i = 0; i < system->argument_count; i++) {
    c.active[inner + i] = system->arguments[i];
    c.plain[inner + i] = stripped(system->arguments[i]);
    add_outer(&c, &c.active[inner + i]);
  }
  return c;
}

void tm_callable_real(tm_callable *c, int i, double x, double *scratch) {
  c->plain[i] = tm_any_real(x);
  c->active[i] = tm_any_var((tm_var){x, scratch});
}
void tm_callable_vector(tm_callable *c, int i, double *x, int n,
                        double *scratch) {
  c->plain[i] = tm_any_tensor(((tm_tensor){x, NULL, 1, {n}}), 1);
  c->active[i] = tm_any_tensor(((tm_tensor){x, scratch, 1, {n}}), 1);
}

static void results(const tm_callable *c, const tm_any *out, int n,
                    tm_view *v) {
  tm_view_of(out, v);
  if (v->n != n)
    tm_runtime_fail(c->tape, c->place, "the function has %ld results, not %d",
                    v->n, n);
}

void tm_callable_value(const tm_callable *c, int n, double *out) {
  tm_tape_mark mark = tm_tape_here(c->tape);
  tm_any result = c->system->value(c->tape, c->plain);
  tm_view v;
  results(c, &result, n, &v);
  memcpy(out, v.v, (size_t)n * sizeof(double));
  tm_tape_back_to(c->tape, mark);
}

static void clear(const tm_callable *c) {
  for (int i = 0; i < c->outer_count; i++)
    memset(c->outers[i].scratch, 0, (size_t)c->outers[i].n * sizeof(double));
  for (int i = 0; i < c->inner; i++) {
    tm_view v;
    tm_view_of(&c->active[i], &v);
    if (v.d)
      memset(v.d, 0, (size_t)v.n * sizeof(double));
  }
}

double tm_callable_slope(tm_callable *c, int i, double *row) {
  tm_tape_mark mark = tm_tape_here(c->tape);
  clear(c);
  tm_any result = c->system->gradient(c->tape, c->active);
  tm_view v;
  tm_view_of(&result, &v);
  double value = v.v[i];
  if (v.d) {
    v.d[i] += 1;
    tm_sweep(c->tape, mark.last);
  }
  for (int k = 0; k < c->outer_count; k++)
    memcpy(row + c->outers[k].column, c->outers[k].scratch,
           (size_t)c->outers[k].n * sizeof(double));
  tm_tape_back_to(c->tape, mark);
  return value;
}

/* ---- results ------------------------------------------------------------ */

typedef struct result_node {
  tm_node node;
  double *out, *slopes;
  tm_outer *outers;
  int outer_count;
  long n, columns;
} result_node;

static void result_back(tm_node *node) {
  result_node *r = (result_node *)node;
  for (long i = 0; i < r->n; i++)
    for (int k = 0; k < r->outer_count; k++) {
      const tm_outer *o = &r->outers[k];
      for (long j = 0; j < o->n; j++)
        o->adjoint[j] += r->out[i] * r->slopes[i * r->columns + o->column + j];
    }
}

tm_any tm_callable_result(tm_callable *c, tm_tensor out, double *slopes) {
  if (out.d) {
    tm_outer *outers =
        tm_take(c->tape, (size_t)c->outer_count * sizeof *outers + 1);
    memcpy(outers, c->outers, (size_t)c->outer_count * sizeof *outers);
    result_node *r = (result_node *)tm_push(c->tape, sizeof *r, result_back);
    *r = (result_node){r->node,        out.d,          slopes,    outers,
                       c->outer_count, tm_count(&out), c->columns};
  }
  return tm_any_tensor(out, 1);
}

/* ---- map_rect ----------------------------------------------------------- */

static tm_any shard(tm_any all, int i) {
  tm_any one = all;
  one.u.t = tm_sub(all.u.t, i, 1);
  return one;
}

/* One shard after the other, on the tape itself. */
static tm_any map_rect(tm_tape *tape, const tm_system *s, const char *place) {
  const tm_any *a = s->controls; /* phi, theta, x_r, x_i */
  int shards = a[1].u.t.dim[0];
  if (a[2].u.t.dim[0] != shards || a[3].u.t.dim[0] != shards)
    tm_runtime_fail(tape, place,
                    "map_rect: %d shards of theta, %d of x_r, %d "
                    "of x_i",
                    shards, a[2].u.t.dim[0], a[3].u.t.dim[0]);
  bool active = a[0].u.t.d || a[1].u.t.d;
  tm_any all = tm_any_tensor(tm_tensor_new(tape, 1, (int[]){0}, 0), 1);
  for (int i = 0; i < shards; i++) {
    tm_any one[] = {a[0], shard(a[1], i), shard(a[2], i), shard(a[3], i)};
    tm_any part = (active ? s->gradient : s->value)(tape, one);
    all = i ? tm_call2(tape, tm_f_append, all, part) : part;
  }
  return all;
}

/* ---- by name ------------------------------------------------------------ */

tm_any tm_apply(tm_tape *tape, const char *name, const tm_system *system,
                const char *place) {
  if (!strcmp(name, "map_rect"))
    return map_rect(tape, system, place);
  if (!strncmp(name, "laplace", 7)) {
    tm_callable c = tm_callable_new(tape, system, 1, place);
    bool options = strstr(name, "_tol") != NULL;
    if (strstr(name, "_solve"))
      return strstr(name, ".1") ? tm_laplace_mode(&c, options)
                                : tm_laplace_factor(&c, options);
    return strstr(name, "_rng") ? tm_laplace_latent(&c, options)
                                : tm_laplace_marginal(&c, options);
  }
  bool dae = !strncmp(name, "dae", 3), integral = !strncmp(name, "integ", 5);
  tm_callable c = tm_callable_new(tape, system,
                                  dae        ? 3
                                  : integral ? 2
                                             : 1,
                                  place);
  if (dae)
    return tm_solve_dae(&c);
  if (integral)
    return tm_integrate(&c);
  return strstr(name, "newton") ? tm_solve_newton(&c) : tm_solve_powell(&c);
}
