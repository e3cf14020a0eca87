/* elementwise.c - functions element by element over tensors: nodes with
 * partials. */
#include "language/runtime/runtime.h"

#include "numeric/libmvec.h"

typedef struct map_node {
  tm_node node;
  double *out, *a, *b, *pa, *pb;
  long n, sa, sb;
} map_node;

static void give(double *to, long stride, const double *out,
                 const double *partial, long n) {
  double sum = 0;
  if (!to)
    return;
  if (stride)
    for (long k = 0; k < n; k++)
      to[k] += out[k] * partial[k];
  else
#pragma omp simd reduction(+ : sum)
    for (long k = 0; k < n; k++)
      sum += out[k] * partial[k];
  *to += sum;
}

static void map_back(tm_node *node) {
  map_node *m = (map_node *)node;
  give(m->a, m->sa, m->out, m->pa, m->n);
  give(m->b, m->sb, m->out, m->pb, m->n);
}

static tm_tensor like(tm_tape *tape, const tm_any *a, int active) {
  return tm_tensor_blank(tape, a->u.t.rank, a->u.t.dim, active);
}

static map_node *push_map(tm_tape *tape, const tm_tensor *out, const tm_view *a,
                          const tm_view *b) {
  size_t bytes = (size_t)tm_count(out) * sizeof(double);
  double *pa = a->d ? tm_take_blank(tape, bytes) : NULL;
  double *pb = b && b->d ? tm_take_blank(tape, bytes) : NULL;
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
TM_OF_TWO(DEFINE_BINARY)

#define OPERATION_ENTRY(name, value, a, b) {#name, "RR", tm_tensor_##name},
#define UNARY_ENTRY(name, value, slope) {#name, "R", map_##name},
#define BINARY_ENTRY(name, value, a, b) {#name, "RR", map_##name},
const tm_function_entry tm_elementwise_functions[] = {
    TM_UNARY(UNARY_ENTRY) TM_OF_TWO(BINARY_ENTRY)
        TM_ARITHMETIC(OPERATION_ENTRY){NULL, NULL, NULL}};
