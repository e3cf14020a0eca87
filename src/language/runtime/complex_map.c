/* complex_map.c - functions of complex numbers element by element, and complex
 * numbers of their parts. */
#include "language/runtime/complex.h"

tm_tensor tm_complex_blank(tm_tape *tape, int rank, const int *dim,
                           int active) {
  int sizes[TM_RANK];
  if (rank >= TM_RANK)
    tm_runtime_fail(tape, "", "too many dimensions");
  for (int i = 0; i < rank; i++)
    sizes[i] = dim[i];
  sizes[rank] = 2;
  return tm_tensor_blank(tape, rank + 1, sizes, active);
}

/* One with the first `rank` dimensions of t. */
static tm_tensor blank_like(tm_tape *tape, const tm_tensor *t, int rank,
                            int active) {
  tm_tensor out = *t;
  out.rank = rank;
  size_t bytes = (size_t)tm_count(&out) * sizeof(double);
  out.v = tm_take_blank(tape, bytes);
  out.d = active ? tm_take(tape, bytes) : NULL;
  return out;
}

/* ---- parts -------------------------------------------------------------- */

/* out[k * to] = in[k * from], and the adjoints back. */
typedef struct stride_node {
  tm_node node;
  const double *out;
  double *in;
  long n, to, from;
} stride_node;

static void stride_back(tm_node *node) {
  stride_node *s = (stride_node *)node;
  for (long k = 0; k < s->n; k++)
    s->in[k * s->from] += s->out[k * s->to];
}

static void push_stride(tm_tape *tape, const double *out, double *in, long n,
                        long to, long from) {
  if (!in || !out)
    return;
  stride_node *s = (stride_node *)tm_push(tape, sizeof *s, stride_back);
  *s = (stride_node){s->node, out, in, n, to, from};
}

tm_any tm_complex_part(tm_tape *tape, const tm_any *z, int part) {
  const tm_tensor *t = &z->u.t;
  long n = tm_complex_count(t);
  double *d = t->d ? t->d + part : NULL;
  if (t->rank == 1)
    return tm_any_var(tm_linear1(tape, t->v[part], (tm_var){0, d}, 1));
  tm_tensor out = blank_like(tape, t, t->rank - 1, d != NULL);
  for (long k = 0; k < n; k++)
    out.v[k] = t->v[2 * k + part];
  push_stride(tape, out.d, d, n, 1, 2);
  return tm_any_tensor(out, 1);
}

tm_any tm_complex_of(tm_tape *tape, tm_any real, tm_any imaginary) {
  const tm_any *parts[2] = {&real, &imaginary};
  tm_view v[2];
  tm_view_of(&real, &v[0]);
  tm_view_of(&imaginary, &v[1]);
  long n = tm_common_length(tape, v, 2, "to_complex");
  const tm_tensor *like = v[0].scalar ? &imaginary.u.t : &real.u.t;
  bool scalar = n < 0;
  tm_tensor out = tm_complex_blank(tape, scalar ? 0 : like->rank,
                                   scalar ? NULL : like->dim, v[0].d || v[1].d);
  n = scalar ? 1 : n;
  for (int i = 0; i < 2; i++) {
    tm_view_of(parts[i], &v[i]);
    for (long k = 0; k < n; k++)
      out.v[2 * k + i] = v[i].v[k * v[i].stride];
    push_stride(tape, out.d ? out.d + i : NULL, v[i].d, n, 2, v[i].stride);
  }
  return tm_any_tensor(out, 1);
}

static tm_any of_real(tm_tape *tape, const tm_any *a, int count) {
  (void)count;
  return tm_complex_of(tape, a[0], tm_any_real(0));
}

static tm_any of_parts(tm_tape *tape, const tm_any *a, int count) {
  (void)count;
  return tm_complex_of(tape, a[0], a[1]);
}

TM_F(complex_zero) {
  (void)a, (void)count;
  return tm_complex_of(tape, tm_any_real(0), tm_any_real(0));
}

/* As Stan, not a number for a negative modulus. */
TM_F(polar) {
  (void)count;
  tm_var r = tm_as_var(&a[0]), angle = tm_as_var(&a[1]);
  double modulus = r.v >= 0 && isfinite(angle.v) ? r.v : NAN;
  double x = cos(angle.v), y = sin(angle.v);
  return tm_complex_of(
      tape, tm_any_var(tm_linear2(tape, modulus * x, r, x, angle, -r.v * y)),
      tm_any_var(tm_linear2(tape, modulus * y, r, y, angle, r.v * x)));
}

/* ---- analytic functions ------------------------------------------------- */

typedef struct analytic_node {
  tm_node node;
  const tm_complex *out, *slope;
  tm_complex *in;
  long n, stride;
} analytic_node;

static void analytic_back(tm_node *node) {
  analytic_node *p = (analytic_node *)node;
  for (long k = 0; k < p->n; k++)
    p->in[k * p->stride] += conj(p->slope[k]) * p->out[k];
}

/* z' += conj(slope) out' */
static void push_analytic(tm_tape *tape, const tm_tensor *out, double *in,
                          const tm_complex *slope, long n, long stride) {
  if (!in)
    return;
  analytic_node *p = (analytic_node *)tm_push(tape, sizeof *p, analytic_back);
  *p = (analytic_node){
      p->node, tm_complexes(out->d), slope, tm_complexes(in), n, stride};
}

typedef tm_complex (*complex_kernel)(tm_complex z, tm_complex *slope);

static tm_any map_complex(tm_tape *tape, const tm_any *a, complex_kernel f) {
  const tm_tensor *t = &a->u.t;
  long n = tm_complex_count(t);
  tm_tensor out = blank_like(tape, t, t->rank, t->d != NULL);
  tm_complex *slope = t->d ? tm_complex_room(tape, n) : NULL;
  for (long k = 0; k < n; k++)
    tm_complexes(out.v)[k] = f(tm_complexes(t->v)[k], slope ? slope + k : NULL);
  push_analytic(tape, &out, t->d, slope, n, 1);
  return tm_any_tensor(out, 1);
}

#define DEFINE_UNARY(name, value, derivative)                                  \
  static tm_complex kernel_##name(tm_complex z, tm_complex *slope) {           \
    tm_complex y = value;                                                      \
    if (slope)                                                                 \
      *slope = derivative;                                                     \
    return y;                                                                  \
  }                                                                            \
  static tm_any of_##name(tm_tape *tape, const tm_any *a, int count) {         \
    (void)count;                                                               \
    return map_complex(tape, a, kernel_##name);                                \
  }
TM_COMPLEX_FUNCTIONS(DEFINE_UNARY)

TM_F(complex_minus) { return of_minus(tape, a, count); }

/* Exact for small whole powers. */
tm_complex tm_complex_power(tm_complex a, tm_complex b) {
  enum { MOST = 64 };
  double whole = creal(b);
  if (cimag(b) != 0 || fabs(whole) > MOST || whole != floor(whole))
    return a == 0 && whole > 0 ? 0 : cpow(a, b);
  tm_complex power = 1;
  for (int k = (int)fabs(whole); k > 0; k /= 2, a *= a)
    if (k % 2)
      power *= a;
  return whole < 0 ? 1 / power : power;
}

typedef tm_complex (*complex_kernel2)(tm_complex a, tm_complex b,
                                      tm_complex *da, tm_complex *db);

/* One number with many, or as many with as many. */
static tm_any map_complex2(tm_tape *tape, const tm_any *x, complex_kernel2 f,
                           const char *name) {
  const tm_tensor *a = &x[0].u.t, *b = &x[1].u.t;
  long n = tm_complex_count(a), m = tm_complex_count(b);
  long step[2] = {a->rank > 1, b->rank > 1};
  if (step[0] && step[1] && n != m)
    tm_runtime_fail(tape, "", "%s: arguments have %ld and %ld elements", name,
                    n, m);
  const tm_tensor *like = step[0] ? a : b;
  n = step[0] ? n : m;
  tm_tensor out = blank_like(tape, like, like->rank, a->d || b->d);
  tm_complex *da = out.d ? tm_complex_room(tape, 2 * n) : NULL, unused[2];
  for (long k = 0; k < n; k++)
    tm_complexes(out.v)[k] =
        f(tm_complexes(a->v)[k * step[0]], tm_complexes(b->v)[k * step[1]],
          da ? da + k : unused, da ? da + n + k : unused + 1);
  push_analytic(tape, &out, a->d, da, n, step[0]);
  push_analytic(tape, &out, b->d, da ? da + n : NULL, n, step[1]);
  return tm_any_tensor(out, 1);
}

#define DEFINE_BINARY(name, operator, value, first, second)                    \
  static tm_complex kernel_##name(tm_complex a, tm_complex b, tm_complex *da,  \
                                  tm_complex *db) {                            \
    tm_complex y = value;                                                      \
    *da = first;                                                               \
    *db = second;                                                              \
    return y;                                                                  \
  }                                                                            \
  static tm_any of_##name(tm_tape *tape, const tm_any *a, int count) {         \
    (void)count;                                                               \
    return map_complex2(tape, a, kernel_##name, #name);                        \
  }
TM_COMPLEX_BINARY(DEFINE_BINARY)

/* ---- with real values, and conj ----------------------------------------- */

typedef struct modulus_node {
  tm_node node;
  const double *out, *slopes;
  double *in;
  long n;
} modulus_node;

static void modulus_back(tm_node *node) {
  modulus_node *p = (modulus_node *)node;
  for (long k = 0; k < 2 * p->n; k++)
    p->in[k] += p->slopes[k] * p->out[k / 2];
}

typedef double (*modulus_kernel)(double x, double y, double *slopes);

static tm_any map_modulus(tm_tape *tape, const tm_any *a, modulus_kernel f) {
  const tm_tensor *t = &a->u.t;
  long n = tm_complex_count(t);
  double *slopes = tm_take_blank(tape, (size_t)n * 2 * sizeof(double) + 1);
  if (t->rank == 1) {
    double value = f(t->v[0], t->v[1], slopes);
    tm_partial partial = {t->d, slopes, 2};
    return tm_scalar_result(tape, value, 1, &partial);
  }
  tm_tensor out = blank_like(tape, t, t->rank - 1, t->d != NULL);
  for (long k = 0; k < n; k++)
    out.v[k] = f(t->v[2 * k], t->v[2 * k + 1], slopes + 2 * k);
  if (out.d) {
    modulus_node *p = (modulus_node *)tm_push(tape, sizeof *p, modulus_back);
    *p = (modulus_node){p->node, out.d, slopes, t->d, n};
  }
  return tm_any_tensor(out, 1);
}

#define DEFINE_MODULUS(name, value, first, second)                             \
  static double kernel_##name(double x, double y, double *slopes) {            \
    double v = value;                                                          \
    slopes[0] = first;                                                         \
    slopes[1] = second;                                                        \
    (void)x, (void)y;                                                          \
    return v;                                                                  \
  }                                                                            \
  static tm_any of_##name(tm_tape *tape, const tm_any *a, int count) {         \
    (void)count;                                                               \
    return map_modulus(tape, a, kernel_##name);                                \
  }
TM_MODULI(DEFINE_MODULUS)

typedef struct conj_node {
  tm_node node;
  const tm_complex *out;
  tm_complex *in;
  long n;
} conj_node;

static void conj_back(tm_node *node) {
  conj_node *p = (conj_node *)node;
  for (long k = 0; k < p->n; k++)
    p->in[k] += conj(p->out[k]);
}

TM_F(complex_conj) {
  (void)count;
  const tm_tensor *t = &a->u.t;
  long n = tm_complex_count(t);
  tm_tensor out = blank_like(tape, t, t->rank, t->d != NULL);
  for (long k = 0; k < n; k++)
    tm_complexes(out.v)[k] = conj(tm_complexes(t->v)[k]);
  if (out.d) {
    conj_node *p = (conj_node *)tm_push(tape, sizeof *p, conj_back);
    *p = (conj_node){p->node, tm_complexes(out.d), tm_complexes(t->d), n};
  }
  return tm_any_tensor(out, 1);
}

TM_F(complex_equal) {
  (void)tape, (void)count;
  return tm_any_int(*tm_complexes(a[0].u.t.v) == *tm_complexes(a[1].u.t.v));
}
TM_F(complex_unequal) {
  return tm_any_int(!tm_f_complex_equal(tape, a, count).u.i);
}

/* ---- the table ---------------------------------------------------------- */

#define ENTRY(name, value, slope) {#name, "Z", of_##name},
#define ENTRY2(name, operator, value, a, b)                                    \
  {#name, "ZZ", of_##name}, {operator, "ZZ", of_##name},
#define ENTRY_MODULUS(name, value, a, b) {#name, "Z", of_##name},
#define ENTRY_ALSO(name, function) {name, "Z", tm_f_##function},
#define ENTRY_PAIR(name, signature)                                            \
  {name, signature, sizeof signature == 2 ? of_real : of_parts},
const tm_function_entry tm_complex_functions[] = {
    TM_COMPLEX_FUNCTIONS(ENTRY) TM_COMPLEX_BINARY(ENTRY2)
        TM_MODULI(ENTRY_MODULUS) TM_COMPLEX_UNARY(ENTRY_ALSO)
            TM_OF_PARTS(ENTRY_PAIR){NULL, NULL, NULL}};
