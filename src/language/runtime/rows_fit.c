/* rows_fit.c - a normal density with one scale, whose mean is linear in the
 * parameters with data as coefficients, without rows: with the factors
 * [A y] = Q R of the coefficients and the outcome,
 *
 *   |y - A p|^2 = |q - R p|^2 + rest
 *
 * where q is the last column of R and rest the square of its last element.
 * Orthogonal factors lose no digits, as sums of squares and products would. It
 * is for statements of one term, without picks. */
#include "language/runtime/rows.h"

#include <lapacke.h>
#include <string.h>

enum { MOST = 64 }; /* columns */

typedef struct builder {
  tm_tape *tape;
  const tm_row_plan *p;
  double *matrix; /* by columns: the coefficients, then the outcome */
  int op[MOST], element[MOST];
  int width;
} builder;

/* The column of this scalar or element; -1: no room. */
static int column_of(builder *b, int op, int element) {
  for (int j = 0; j < b->width; j++)
    if (b->op[j] == op && b->element[j] == element)
      return j;
  if (b->width == MOST)
    return -1;
  b->op[b->width] = op;
  b->element[b->width] = element;
  return b->width++;
}

/* The value of an operation on data, for row k. */
static double fixed_value(const tm_row_plan *p, int op, long k) {
  return p->ops[op].kind == TM_ROW_NUMBER ? p->rows.numbers[op]
                                          : p->rows.columns[op][k];
}

static bool is_call(const tm_row_op *o, const char *name) {
  return o->kind == TM_ROW_CALL && !strcmp(o->name, name);
}

/* Does the part of a product that may be linear stand first or second? -1: it
 * is none. */
static int linear_part(const tm_row_plan *p, const tm_row_op *o) {
  if (is_call(o, "elt_multiply"))
    return p->fixed[o->parts[1]] ? 0 : p->fixed[o->parts[0]] ? 1 : -1;
  return is_call(o, "elt_divide") && p->fixed[o->parts[1]] ? 0 : -1;
}

static bool find_columns(builder *b, int op);

static bool find_in_parts(builder *b, const tm_row_op *o) {
  for (int i = 0; i < o->part_count; i++)
    if (!find_columns(b, o->parts[i]))
      return false;
  return true;
}

/* Is it linear? Its columns. */
static bool find_columns(builder *b, int op) {
  const tm_row_op *o = &b->p->ops[op];
  if (b->p->fixed[op])
    return true;
  if (b->p->one[op])
    return column_of(b, op, 0) >= 0;
  if (o->kind == TM_ROW_DOT) {
    for (int j = 0; j < b->p->widths[op]; j++)
      if (column_of(b, op, j) < 0)
        return false;
    return true;
  }
  if (is_call(o, "add") || is_call(o, "subtract") || is_call(o, "minus"))
    return find_in_parts(b, o);
  int part = linear_part(b->p, o);
  return part >= 0 && find_columns(b, o->parts[part]);
}

/* Add factor times the operation to row k: data go to the outcome's column. */
static void fill(builder *b, int op, long k, double factor) {
  const tm_row_plan *p = b->p;
  const tm_row_op *o = &p->ops[op];
  long n = p->rows.n;
  if (p->fixed[op]) {
    b->matrix[b->width * n + k] -= factor * fixed_value(p, op, k);
  } else if (p->one[op]) {
    b->matrix[column_of(b, op, 0) * n + k] += factor;
  } else if (o->kind == TM_ROW_DOT) {
    for (int j = 0; j < p->widths[op]; j++)
      b->matrix[column_of(b, op, j) * n + k] +=
          factor * p->rows.columns[op][j * n + k];
  } else if (is_call(o, "minus")) {
    fill(b, o->parts[0], k, -factor);
  } else if (is_call(o, "add") || is_call(o, "subtract")) {
    fill(b, o->parts[0], k, factor);
    fill(b, o->parts[1], k, is_call(o, "add") ? factor : -factor);
  } else {
    int part = linear_part(p, o);
    double x = fixed_value(p, o->parts[1 - part], k);
    fill(b, o->parts[part], k,
         is_call(o, "elt_divide") ? factor / x : factor * x);
  }
}

/* The density that is the only term, normal with an outcome from data. */
static int only_density(const tm_row_plan *p) {
  int density = p->count - 2;
  if (p->roots != 1 || density < 0 || p->ops[density + 1].kind != TM_ROW_ADD ||
      p->ops[density].kind != TM_ROW_DENSITY ||
      strcmp(p->ops[density].name, "normal") != 0)
    return -1;
  const short *parts = p->ops[density].parts;
  return p->fixed[parts[0]] && p->one[parts[2]] ? density : -1;
}

static tm_row_fit *factors(builder *b) {
  tm_tape *tape = b->tape;
  long n = b->p->rows.n;
  int width = b->width;
  tm_row_fit *fit = tm_take(tape, sizeof *fit);
  double tau[MOST + 1];
  fit->width = width;
  fit->triangle = tm_take(tape, (size_t)(width * width) * sizeof(double) + 1);
  fit->q = tm_take(tape, (size_t)width * sizeof(double) + 1);
  fit->op = tm_take(tape, (size_t)width * sizeof(int) + 1);
  fit->element = tm_take(tape, (size_t)width * sizeof(int) + 1);
  if (LAPACKE_dgeqrf(LAPACK_COL_MAJOR, (lapack_int)n, width + 1, b->matrix,
                     (lapack_int)n, tau) != 0)
    return NULL;
  for (int i = 0; i < width; i++) {
    for (int j = i; j < width; j++)
      fit->triangle[i * width + j] = b->matrix[j * n + i];
    fit->q[i] = b->matrix[width * n + i];
    fit->op[i] = b->op[i];
    fit->element[i] = b->element[i];
  }
  fit->rest = b->matrix[width * n + width] * b->matrix[width * n + width];
  return isfinite(fit->rest) ? fit : NULL;
}

void tm_row_fit_find(tm_tape *tape, tm_row_plan *p) {
  builder b = {.tape = tape, .p = p};
  int density = only_density(p);
  long n = p->rows.n;
  if (density < 0 || !find_columns(&b, p->ops[density].parts[1]) ||
      n <= 2L * b.width)
    return;
  size_t size = (size_t)n * (size_t)(b.width + 1) * sizeof(double);
  b.matrix = tm_heap_alloc(1, size);
  if (!b.matrix)
    return;
  for (long k = 0; k < n; k++) {
    fill(&b, p->ops[density].parts[1], k, 1);
    b.matrix[b.width * n + k] += fixed_value(p, p->ops[density].parts[0], k);
  }
  p->fit = factors(&b);
  if (p->fit)
    p->fit->density = density;
  tm_heap_free(b.matrix);
}

double tm_row_fit_sum(const tm_row_fit *fit, const tm_row_plan *p,
                      double *const *values, double *const *slopes,
                      const tm_any *arguments, double *const *to) {
  double x[MOST], gap[MOST], squares = fit->rest;
  int width = fit->width, scale = p->ops[fit->density].parts[2];
  for (int j = 0; j < width; j++) {
    const tm_row_op *o = &p->ops[fit->op[j]];
    x[j] = o->kind == TM_ROW_DOT ? arguments[o->leaf].u.t.v[fit->element[j]]
                                 : values[fit->op[j]][0];
  }
  for (int i = 0; i < width; i++) {
    gap[i] = fit->q[i];
    for (int j = i; j < width; j++)
      gap[i] -= fit->triangle[i * width + j] * x[j];
    squares += gap[i] * gap[i];
  }
  double s = values[scale][0], r = 1 / s;
  double value = -0.5 * squares * r * r - p->total * (log(s) + 0.5 * LOG_2PI);
  if (!(s > 0) || isnan(value)) /* or a mean that is not a number */
    return ZERO;
  if (!slopes)
    return value;
  if (slopes[scale])
    slopes[scale][0] += (squares * r * r - p->total) * r;
  for (int j = 0; j < width; j++) {
    double slope = 0;
    for (int i = 0; i <= j; i++)
      slope += fit->triangle[i * width + j] * gap[i];
    const tm_row_op *o = &p->ops[fit->op[j]];
    if (o->kind == TM_ROW_DOT) {
      if (to[o->leaf])
        to[o->leaf][fit->element[j]] += slope * r * r;
    } else if (slopes[fit->op[j]]) {
      slopes[fit->op[j]][0] += slope * r * r;
    }
  }
  return value;
}
