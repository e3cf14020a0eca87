/* special_map.c - special functions over any shape, scalars broadcast, and
 * elementwise functions called by name. */
#include "language/runtime/fixed.h"
#include "language/runtime/special.h"

double tm_special_difference(tm_kernel f, const double *x, int n, int i) {
  enum { MOST = 4 };
  static const double steps[] = {-2, -1, 1, 2};
  double moved[MOST], h = 1e-3 * fmax(fabs(x[i]), 1e-2), y[4];
  for (int k = 0; k < n; k++)
    moved[k] = x[k];
  for (int k = 0; k < 4; k++) {
    moved[i] = x[i] + steps[k] * h;
    y[k] = f(moved, NULL);
  }
  return (y[0] - 8 * y[1] + 8 * y[2] - y[3]) / (12 * h);
}

enum { MOST = 4 };

/* The result's adjoints, those of the arguments and the slopes. */
typedef struct map_node {
  tm_node node;
  const double *out;
  double *to[MOST], *slope[MOST];
  long n, stride[MOST];
} map_node;

static void map_back(tm_node *node) {
  map_node *m = (map_node *)node;
  for (int i = 0; i < MOST; i++)
    for (long k = 0; m->to[i] && k < m->n; k++)
      m->to[i][k * m->stride[i]] += m->out[k] * m->slope[i][k];
}

tm_any tm_map_kernel(tm_tape *tape, tm_kernel f, const tm_any *a, int arity,
                     const char *name) {
  tm_view v[MOST] = {{0}};
  const tm_tensor *like = NULL;
  bool active = false;
  for (int i = 0; i < arity; i++)
    tm_view_of(&a[i], &v[i]);
  long n = tm_common_length(tape, v, arity, name);
  if (n < 0)
    return tm_kernel_call(tape, f, a, arity);
  for (int i = arity; i-- > 0;) {
    like = v[i].scalar ? like : &a[i].u.t;
    active = active || v[i].d;
  }
  tm_tensor out = tm_tensor_blank(tape, like->rank, like->dim, active);
  map_node m = {.out = out.d, .n = n};
  for (int i = 0; i < arity; i++) {
    m.to[i] = v[i].d;
    m.slope[i] = tm_room(tape, v[i].d, n);
    m.stride[i] = v[i].stride;
  }
  for (long k = 0; k < n; k++) {
    double x[MOST], d[MOST] = {0};
    for (int i = 0; i < arity; i++)
      x[i] = v[i].v[k * v[i].stride];
    out.v[k] = f(x, out.d ? d : NULL);
    for (int i = 0; i < arity; i++)
      if (m.slope[i])
        m.slope[i][k] = d[i];
  }
  if (out.d) {
    map_node *node = (map_node *)tm_push(tape, sizeof *node, map_back);
    m.node = node->node;
    *node = m;
  }
  return tm_any_tensor(out, 1);
}

#define DEFINE1(name)                                                          \
  static tm_any name##_map(tm_tape *tape, const tm_any *a, int count) {        \
    (void)count;                                                               \
    return tm_map_kernel(tape, tm_special_##name, a, 1, #name);                \
  }
#define DEFINE2(name)                                                          \
  static tm_any name##_map(tm_tape *tape, const tm_any *a, int count) {        \
    (void)count;                                                               \
    return tm_map_kernel(tape, tm_special_##name, a, 2, #name);                \
  }
TM_MAP1(DEFINE1)
TM_MAP2(DEFINE2)

#define ENTRY1(name) {#name, "R", name##_map},
#define ENTRY2(name) {#name, "RR", name##_map},
const tm_function_entry tm_map_functions[] = {
    TM_MAP1(ENTRY1) TM_MAP2(ENTRY2){NULL, NULL, NULL}};

/* ---- by name ------------------------------------------------------------ */

tm_any tm_map1(tm_tape *tape, const char *name, tm_any x) {
  return tm_call1(tape, tape->runtime->find(name, "R"), x);
}

/* Of scalars: the four operations and nothing else. */
tm_any tm_map2(tm_tape *tape, const char *name, tm_any x, tm_any y) {
  if (x.tag == TM_TAG_TENSOR || y.tag == TM_TAG_TENSOR)
    return tm_call2(tape, tape->runtime->find(name, "RR"), x, y);
  tm_var a = tm_as_var(&x), b = tm_as_var(&y);
  return tm_any_var(!strcmp(name, "add")        ? tm_v_add(tape, a, b)
                    : !strcmp(name, "subtract") ? tm_v_subtract(tape, a, b)
                    : !strcmp(name, "elt_multiply")
                        ? tm_v_elt_multiply(tape, a, b)
                        : tm_v_elt_divide(tape, a, b));
}
