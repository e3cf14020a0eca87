/* density.c - the table of univariate densities, and the same over containers:
 * whole-vector nodes, or partials straight into the target's adjoints. */
#include "language/runtime/density_terms.h"

tm_kernel tm_density_kernel(const char *name) {
#define ENTRY(name, letters) {#name, tm_kernel_##name},
  static const struct {
    const char *name;
    tm_kernel kernel;
  } kernels[] = {TM_DENSITIES(ENTRY)};
  for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++)
    if (!strcmp(kernels[i].name, name))
      return kernels[i].kernel;
  return NULL;
}

enum { MOST = 4 };

/* A density call: views of its arguments, and where partials go (NULL: not
 * wanted). */
typedef struct call {
  tm_view v[MOST];
  double *to[MOST];
  int arity;
  long n;
} call;

static bool uses(const call *c, const tm_term *term, int i) {
  return i < c->arity && (term->uses >> i & 1);
}

static void add_slopes(double *to, bool scalar, const double *d, long n) {
  double sum = 0;
  if (!scalar)
    for (long k = 0; k < n; k++)
      to[k] += d[k];
  else
#pragma omp simd reduction(+ : sum)
    for (long k = 0; k < n; k++)
      sum += d[k];
  if (scalar)
    *to += sum;
}

static double sum_of(const double *values, long n) {
  double total = 0;
#pragma omp simd reduction(+ : total)
  for (long k = 0; k < n; k++)
    total += values[k];
  return total;
}

static void repeat(double x, long n, double *to) {
  for (long k = 0; k < n && k < TM_TERM_BLOCK; k++)
    to[k] = x;
}

/* The sum over all outcomes, block by block; scalars are repeated. */
static double term_loop(const call *c, const tm_term *term, bool active) {
  static const double nothing[TM_TERM_BLOCK];
  double repeated[MOST][TM_TERM_BLOCK], slopes[MOST][TM_TERM_BLOCK];
  double values[TM_TERM_BLOCK], total = 0;
  const double *x[MOST];
  double *d[MOST];
  for (int i = 0; i < MOST; i++) {
    d[i] = slopes[i];
    x[i] = uses(c, term, i) ? repeated[i] : nothing;
    if (uses(c, term, i) && c->v[i].scalar)
      repeat(*c->v[i].v, c->n, repeated[i]);
  }
  for (long start = 0; start < c->n; start += TM_TERM_BLOCK) {
    long n = c->n - start < TM_TERM_BLOCK ? c->n - start : TM_TERM_BLOCK;
    for (int i = 0; i < c->arity; i++)
      if (uses(c, term, i) && !c->v[i].scalar)
        x[i] = c->v[i].v + start;
    term->rows(x, active ? d : NULL, n, values);
    total += sum_of(values, n);
    for (int i = 0; i < c->arity && active; i++)
      if (uses(c, term, i) && c->to[i])
        add_slopes(c->to[i] + start * c->v[i].stride, c->v[i].scalar, d[i], n);
  }
  return total;
}

static double term_value(const call *c, const tm_term *term) {
  bool active = false, scalars = true;
  for (int i = 0; i < c->arity; i++)
    if (uses(c, term, i)) {
      active = active || c->to[i];
      scalars = scalars && c->v[i].scalar;
    }
  if (!scalars || c->n == 1)
    return term_loop(c, term, active);
  double slopes[MOST] = {0}, times = (double)c->n;
  call once = {.arity = c->arity, .n = 1};
  for (int i = 0; i < c->arity; i++) {
    once.v[i] = c->v[i];
    once.to[i] = c->to[i] ? &slopes[i] : NULL;
  }
  double value = times * term_loop(&once, term, active);
  for (int i = 0; i < c->arity; i++)
    if (once.to[i])
      *c->to[i] += times * slopes[i];
  return value;
}

/* With TM_ONLY the terms that use these arguments alone, with TM_REST the
 * others. */
static double sum_of_terms(const call *c, const tm_term *terms, int count) {
  unsigned chosen = (unsigned)count >> TM_CHOSEN;
  double total = 0;
  for (int i = 0; i < TM_TERMS && terms[i].uses; i++) {
    bool inside = !(terms[i].uses & ~chosen);
    if ((inside && count & TM_REST) || (!inside && count & TM_ONLY))
      continue;
    total += term_value(c, &terms[i]);
    if (total == ZERO)
      break;
  }
  return total;
}

bool tm_density_has_terms(const char *name, unsigned chosen) {
  tm_kernel kernel = tm_density_kernel(name);
  const tm_term *terms = kernel ? tm_density_terms(kernel) : NULL;
  for (int i = 0; terms && i < TM_TERMS && terms[i].uses; i++)
    if (!(terms[i].uses & ~chosen))
      return true;
  return false;
}

/* Densities that have a kernel only. */
static double kernel_loop(tm_kernel kernel, const call *c, bool active) {
  double x[MOST], d[MOST] = {0}, total = 0;
  for (long k = 0; k < c->n && total != ZERO; k++) {
    for (int i = 0; i < c->arity; i++)
      x[i] = c->v[i].v[k * c->v[i].stride];
    total += kernel(x, active ? d : NULL);
    for (int i = 0; i < c->arity && active; i++)
      if (c->to[i])
        c->to[i][k * c->v[i].stride] += d[i];
  }
  return total;
}

/* NaN among the arguments (not the outcome) is a bad argument like any
 * other: density zero. */
static bool bad_arguments(const tm_view *v, int arity) {
  for (int i = 1; i < arity; i++)
    for (long k = 0; k < v[i].n; k++)
      if (isnan(v[i].v[k]))
        return true;
  return false;
}

/* Where partials go: straight to the adjoints of steady arguments when the
 * value goes straight into the target; else to arrays kept in a node. */
static tm_any vectorised(tm_tape *tape, const tm_any *arguments, int count,
                         tm_kernel kernel, int arity, const char *name) {
  call c = {.arity = arity};
  tm_partial kept[MOST];
  bool direct = count & TM_DIRECT, active = false;
  int keeps = 0;
  for (int i = 0; i < arity; i++)
    tm_view_of(&arguments[i], &c.v[i]);
  c.n = tm_common_length(tape, c.v, arity, name);
  if (c.n < 0)
    c.n = 1;
  for (int i = 0; i < arity; i++) {
    const tm_view *v = &c.v[i];
    if (!v->d)
      continue;
    active = true;
    c.to[i] = v->d;
    if (direct && v->steady)
      continue;
    c.to[i] = tm_take(tape, (size_t)v->n * sizeof(double));
    kept[keeps++] = (tm_partial){v->d, c.to[i], v->n};
  }
  const tm_term *terms = c.n ? tm_density_terms(kernel) : NULL;
  double value =
      terms ? sum_of_terms(&c, terms, count) : kernel_loop(kernel, &c, active);
  if (isnan(value) && bad_arguments(c.v, arity))
    return tm_any_real(ZERO);
  return tm_scalar_result(tape, value, keeps, kept);
}

#define DEFINE(name, letters)                                                  \
  static tm_any name##_density(tm_tape *tape, const tm_any *arguments,         \
                               int count) {                                    \
    return vectorised(tape, arguments, count, tm_kernel_##name,                \
                      (int)sizeof letters - 1, #name);                         \
  }
TM_DENSITIES(DEFINE)

#define TABLE(name, letters) {#name "_lpdf", letters, name##_density},
const tm_function_entry tm_density_functions[] = {
    TM_DENSITIES(TABLE){NULL, NULL, NULL}};
