/* rows.c - the operations of a statement over rows, block by block; see
 * rows_pass.h. */
#include "language/runtime/rows_pass.h"

#include "numeric/libmvec.h"

#include <string.h>

enum { BLOCK = TM_TERM_BLOCK };

/* ---- values ------------------------------------------------------------- */

static void repeat(double *to, double x, long n) {
  for (long k = 0; k < n; k++)
    to[k] = x;
}

static void dot_values(const tm_row_pass *w, int op) {
  const tm_row_plan *p = w->p;
  const double *x = w->arguments[p->ops[op].leaf].u.t.v;
  double *restrict y = w->v[op];
  int width = p->widths[op], j = 0;
  const double *c = p->rows.columns[op] + w->start;
  long n = w->n, rows = p->rows.n;
  memset(y, 0, (size_t)n * sizeof *y);
  for (; j + 4 <= width; j += 4, c += 4 * rows) {
    const double *restrict c0 = c, *restrict c1 = c + rows,
                           *restrict c2 = c1 + rows, *restrict c3 = c2 + rows;
    for (long k = 0; k < n; k++)
      y[k] += (c0[k] * x[j] + c1[k] * x[j + 1]) +
              (c2[k] * x[j + 2] + c3[k] * x[j + 3]);
  }
  for (; j < width; j++, c += rows)
    for (long k = 0; k < n; k++)
      y[k] += c[k] * x[j];
}

static void pick_values(const tm_row_pass *w, int op) {
  const double *from = w->arguments[w->p->ops[op].leaf].u.t.v;
  const int *at = w->p->rows.picks[op] + w->start;
  double *restrict y = w->v[op];
  for (long k = 0; k < w->n; k++)
    y[k] = from[at[k]];
}

/* NaN among the arguments (not the outcome) is density zero. */
static bool bad_row(const tm_row_pass *w, const tm_row_op *o, long k) {
  for (int i = 1; i < o->part_count; i++)
    if (isnan(w->v[o->parts[i]][k]))
      return true;
  return false;
}

static void arguments_of(const tm_row_pass *w, const tm_row_op *o,
                         const double **x) {
  static const double nothing[BLOCK];
  for (int i = 0; i < TM_ROW_PARTS; i++)
    x[i] = i < o->part_count ? w->v[o->parts[i]] : nothing;
}

/* Densities without terms, row by row. */
static void kernel_rows(const tm_row_pass *w, int op, double *values,
                        double *const *d) {
  const tm_row_op *o = &w->p->ops[op];
  for (long k = 0; k < w->n; k++) {
    double x[TM_ROW_PARTS], s[TM_ROW_PARTS] = {0};
    for (int i = 0; i < o->part_count; i++)
      x[i] = w->v[o->parts[i]][k];
    values[k] = w->p->kernels[op](x, d ? s : NULL);
    for (int i = 0; d && i < o->part_count; i++)
      d[i][k] = s[i];
  }
}

static void add(double *restrict to, const double *restrict x, long n) {
  for (long k = 0; k < n; k++)
    to[k] += x[k];
}

/* Where the slopes of a density that is not a term of the target itself are
 * kept until its adjoints are known: behind those. */
static bool slopes_of(const tm_row_pass *w, int op, double **d) {
  for (int i = 0; i < TM_ROW_PARTS; i++)
    d[i] = w->g && w->g[op] ? w->g[op] + (1 + i) * w->all : NULL;
  return d[0] != NULL;
}

/* Its values, and slopes where they are wanted. */
static void density_values(const tm_row_pass *w, int op) {
  const tm_row_op *o = &w->p->ops[op];
  const tm_term *terms = w->p->terms[op];
  const double *x[TM_ROW_PARTS];
  double *y = w->v[op], part[BLOCK], *d[TM_ROW_PARTS];
  bool wanted = slopes_of(w, op, d);
  arguments_of(w, o, x);
  if (!terms)
    kernel_rows(w, op, y, wanted ? d : NULL);
  else
    memset(y, 0, (size_t)w->n * sizeof *y);
  for (int i = 0; terms && wanted && i < o->part_count; i++)
    memset(d[i], 0, (size_t)w->n * sizeof **d);
  for (int t = 0; terms && t < TM_TERMS && terms[t].uses; t++) {
    terms[t].rows(x, wanted ? w->spare : NULL, w->n, part);
    add(y, part, w->n);
    for (int i = 0; wanted && i < o->part_count; i++)
      if (terms[t].uses >> i & 1 && w->g[o->parts[i]])
        add(d[i], w->spare[i], w->n);
  }
  for (long k = 0; k < w->n; k++)
    if (isnan(y[k]) && bad_row(w, o, k))
      y[k] = ZERO;
}

static bool is_root_density(const tm_row_plan *p, int op) {
  return op + 1 < p->count && p->ops[op + 1].kind == TM_ROW_ADD &&
         p->ops[op].kind == TM_ROW_DENSITY;
}

static void values_of(const tm_row_pass *w, int op) {
  const tm_row_op *o = &w->p->ops[op];
  const double *x[TM_ROW_PARTS];
  switch (o->kind) {
  case TM_ROW_NUMBER:
    repeat(w->v[op], w->p->rows.numbers[op], w->n);
    break;
  case TM_ROW_SCALAR:
    repeat(w->v[op], tm_as_var(&w->arguments[o->leaf]).v, w->n);
    break;
  case TM_ROW_COLUMN:
    w->v[op] = w->p->rows.columns[op] + w->start;
    break;
  case TM_ROW_PICK:
    pick_values(w, op);
    break;
  case TM_ROW_DOT:
    dot_values(w, op);
    break;
  case TM_ROW_CALL:
    arguments_of(w, o, x);
    w->p->calls[op]->values(x, w->v[op], w->n);
    break;
  case TM_ROW_DENSITY:
    if (!is_root_density(w->p, op))
      density_values(w, op);
    break;
  case TM_ROW_ADD:
  case TM_ROW_POWERS:
    break;
  }
}

/* ---- adjoints ----------------------------------------------------------- */

static double sum_of(const double *x, long n) {
  double total = 0;
#pragma omp simd reduction(+ : total)
  for (long k = 0; k < n; k++)
    total += x[k];
  return total;
}

static void dot_back(const tm_row_pass *w, int op) {
  const tm_row_plan *p = w->p;
  double *to = w->to[p->ops[op].leaf];
  const double *c = p->rows.columns[op] + w->start, *g = w->g[op];
  for (int j = 0; j < p->widths[op]; j++, c += p->rows.n) {
    double total = 0;
#pragma omp simd reduction(+ : total)
    for (long k = 0; k < w->n; k++)
      total += g[k] * c[k];
    to[j] += total;
  }
}

/* Rows of a group that lie side by side are summed before they are added. */
static void pick_runs(const int *at, const double *g, long n, double *to) {
  for (long k = 0, end; k < n; k = end) {
    for (end = k + 1; end < n && at[end] == at[k];)
      end++;
    to[at[k]] += sum_of(g + k, end - k);
  }
}

/* Sums into one place wait for each other: four parts of the block are walked
 * together. */
static void pick_back(const tm_row_pass *w, int op) {
  double *to = w->to[w->p->ops[op].leaf];
  const int *at = w->p->rows.picks[op] + w->start;
  const double *g = w->g[op];
  if (w->p->runs[op]) {
    pick_runs(at, g, w->n, to);
    return;
  }
  long quarter = w->n / 4;
  for (long k = 0; k < quarter; k++)
    for (long part = 0; part < 4; part++)
      to[at[k + part * quarter]] += g[k + part * quarter];
  for (long k = 4 * quarter; k < w->n; k++)
    to[at[k]] += g[k];
}

static void call_back(const tm_row_pass *w, int op) {
  const tm_row_op *o = &w->p->ops[op];
  const double *x[TM_ROW_PARTS];
  double *s[TM_ROW_PARTS] = {0};
  arguments_of(w, o, x);
  for (int i = 0; i < o->part_count; i++)
    s[i] = w->g[o->parts[i]] ? w->spare[i] : NULL;
  if (o->part_count == 1 && !s[0])
    return;
  w->p->calls[op]->slopes(x, w->v[op], w->g[op], s, w->n);
  for (int i = 0; i < o->part_count; i++)
    if (s[i])
      add(w->g[o->parts[i]], s[i], w->n);
}

/* Slopes of one term of a density, times factor[k], or as they are. */
static void give_slopes(const tm_row_pass *w, const tm_row_op *o, unsigned uses,
                        const double *factor) {
  for (int i = 0; i < o->part_count; i++) {
    double *restrict to = w->g[o->parts[i]], *restrict s = w->spare[i];
    if (!to || !(uses >> i & 1))
      continue;
    if (!factor)
      add(to, s, w->n);
    else
      for (long k = 0; k < w->n; k++)
        to[k] += factor[k] * s[k];
  }
}

static void density_back(const tm_row_pass *w, int op) {
  const tm_row_op *o = &w->p->ops[op];
  const double *restrict g = w->g[op];
  double *d[TM_ROW_PARTS];
  (void)slopes_of(w, op, d);
  for (int i = 0; i < o->part_count; i++) {
    double *restrict to = w->g[o->parts[i]], *restrict s = d[i];
    for (long k = 0; to && k < w->n; k++)
      to[k] += g[k] * s[k];
  }
}

static void back_through(const tm_row_pass *w, int op) {
  switch (w->p->ops[op].kind) {
  case TM_ROW_PICK:
    pick_back(w, op);
    break;
  case TM_ROW_DOT:
    dot_back(w, op);
    break;
  case TM_ROW_CALL:
    call_back(w, op);
    break;
  case TM_ROW_DENSITY:
    if (!is_root_density(w->p, op))
      density_back(w, op);
    break;
  default:
    break;
  }
}

void tm_row_shared(const tm_row_pass *w) {
  for (int op = 0; op < w->p->count; op++)
    if (w->p->one[op])
      values_of(w, op);
}

/* ---- terms of the target ------------------------------------------------ */

static bool uses_only(const tm_row_op *o, unsigned uses, const bool *set) {
  for (int i = 0; i < o->part_count; i++)
    if (uses >> i & 1 && !set[o->parts[i]])
      return false;
  return true;
}

static double weighted(const tm_row_pass *w, double *values) {
  const double *weights = w->p->weights;
  if (weights)
    for (long k = 0; k < w->n; k++)
      values[k] *= weights[w->start + k];
  return sum_of(values, w->n);
}

/* One term of a density over the block. */
static double root_term(const tm_row_pass *w, const tm_row_op *o,
                        const tm_term *term) {
  const double *x[TM_ROW_PARTS], *weights = w->p->weights;
  double values[BLOCK];
  bool wanted = false;
  arguments_of(w, o, x);
  for (int i = 0; w->g && i < o->part_count; i++)
    wanted = wanted || (term->uses >> i & 1 && w->g[o->parts[i]]);
  term->rows(x, wanted ? w->spare : NULL, w->n, values);
  if (wanted)
    give_slopes(w, o, term->uses, weights ? weights + w->start : NULL);
  return weighted(w, values);
}

/* A term that is the same for all rows, in the first block. */
static double shared_term(const tm_row_pass *w, const tm_row_op *o,
                          const tm_term *term) {
  tm_row_pass once = *w;
  double factor[1] = {w->p->total}, value[1];
  const double *x[TM_ROW_PARTS];
  once.n = 1;
  arguments_of(w, o, x);
  term->rows(x, w->spare, 1, value);
  if (w->g)
    give_slopes(&once, o, term->uses, factor);
  return w->p->total * *value;
}

static double root_kernel(const tm_row_pass *w, int op) {
  const tm_row_op *o = &w->p->ops[op];
  const double *weights = w->p->weights;
  double values[BLOCK];
  kernel_rows(w, op, values, w->g ? w->spare : NULL);
  if (w->g)
    give_slopes(w, o, ~0u, weights ? weights + w->start : NULL);
  return weighted(w, values);
}

/* What stands for the spread within merged rows: -0.5 spread / s^2. */
static double spread_term(const tm_row_pass *w, const tm_row_op *o) {
  double r = 1 / *w->v[o->parts[2]], value = -0.5 * w->p->spread * r * r;
  if (w->g && w->g[o->parts[2]])
    w->g[o->parts[2]][0] -= 2 * value * r;
  return value;
}

static double root_density(const tm_row_pass *w, int op) {
  const tm_row_plan *p = w->p;
  const tm_row_op *o = &p->ops[op];
  const tm_term *terms = p->terms[op];
  double total = 0;
  if (!terms)
    total = root_kernel(w, op);
  for (int i = 0; terms && i < TM_TERMS && terms[i].uses; i++) {
    if (uses_only(o, terms[i].uses, p->fixed))
      continue; /* in the constant */
    if (!uses_only(o, terms[i].uses, p->one))
      total += root_term(w, o, &terms[i]);
    else if (w->start == 0)
      total += shared_term(w, o, &terms[i]);
    if (total == ZERO)
      return ZERO;
  }
  if (p->spread > 0 && w->start == 0)
    total += spread_term(w, o);
  for (long k = 0; isnan(total) && k < w->n; k++)
    if (bad_row(w, o, k))
      return ZERO;
  return total;
}

/* target += x */
static double root_value(const tm_row_pass *w, int op) {
  const double *weights = w->p->weights;
  double values[BLOCK], *g = w->g ? w->g[op] : NULL;
  memcpy(values, w->v[op], (size_t)w->n * sizeof *values);
  if (g && weights)
    add(g, weights + w->start, w->n);
  else if (g)
    for (long k = 0; k < w->n; k++)
      g[k] += 1;
  return weighted(w, values);
}

/* The largest of each group, of which a block has all first terms, then all
 * second ones and so on; false: one is zero or no number. */
static bool largest(const double *x, long groups, long size, double *most) {
  memcpy(most, x, (size_t)groups * sizeof *most);
  for (long j = 1; j < size; j++)
    for (long i = 0; i < groups; i++) {
      double term = x[j * groups + i];
      most[i] = term > most[i] || most[i] != most[i] ? term : most[i];
    }
  int bad = 0;
  for (long i = 0; i < groups; i++)
    bad |= !(most[i] > ZERO);
  return !bad;
}

/* exp(x - m) for the largest m of each group, and their sums. Where that is
 * infinite, none has a share of it. */
static void take_powers(const double *x, long groups, long size,
                        const double *most, double *e, double *sums) {
  memset(sums, 0, (size_t)groups * sizeof *sums);
  for (long j = 0; j < size; j++, x += groups, e += groups) {
    for (long i = 0; i < groups; i++)
      e[i] = exp(most[i] < INFINITY ? x[i] - most[i] : ZERO);
    for (long i = 0; i < groups; i++)
      sums[i] += e[i];
  }
  for (long i = 0; i < groups; i++)
    sums[i] = most[i] < INFINITY ? sums[i] : 1;
}

/* target += log_sum_exp(x) of every group */
static double root_powers(const tm_row_pass *w, int op) {
  double e[BLOCK], most[BLOCK], sums[BLOCK], values[BLOCK];
  double *g = w->g ? w->g[op] : NULL;
  long size = w->p->group, groups = w->n / size, first = w->start / size;
  const double *weights = w->p->weights ? w->p->weights + first : NULL;
  if (!largest(w->v[op], groups, size, most))
    return ZERO;
  take_powers(w->v[op], groups, size, most, e, sums);
  for (long i = 0; i < groups; i++)
    values[i] = most[i] + log(sums[i]);
  for (long i = 0; i < groups; i++)
    sums[i] = (weights ? weights[i] : 1) / sums[i]; /* shares' factors */
  for (long j = 0; g && j < size; j++)
    for (long i = 0; i < groups; i++)
      g[j * groups + i] += sums[i] * e[j * groups + i];
  for (long i = 0; weights && i < groups; i++)
    values[i] *= weights[i];
  return sum_of(values, groups);
}

static double root_of(const tm_row_pass *w, int op) {
  int operand = w->p->ops[op].parts[0];
  if (w->p->ops[op].kind == TM_ROW_POWERS)
    return root_powers(w, operand);
  return is_root_density(w->p, op - 1) ? root_density(w, op - 1)
                                       : root_value(w, operand);
}

/* ---- all blocks --------------------------------------------------------- */

/* Adjoints of what depends on rows begin anew. */
double tm_row_block(const tm_row_pass *w) {
  const tm_row_plan *p = w->p;
  double total = 0;
  for (int op = 0; op < p->count; op++)
    if (!p->one[op])
      values_of(w, op);
  for (int op = 0; w->g && op < p->count; op++)
    if (!p->one[op] && w->g[op])
      memset(w->g[op], 0, (size_t)w->n * sizeof(double));
  for (int op = 1; op < p->count; op++) {
    if (p->ops[op].kind < TM_ROW_ADD)
      continue;
    total += root_of(w, op);
    if (total == ZERO)
      return ZERO;
  }
  for (int op = p->count; w->g && op-- > 0;)
    if (!p->one[op] && w->g[op])
      back_through(w, op);
  return total;
}

void tm_row_finish(tm_row_pass *w) {
  const tm_row_plan *p = w->p;
  w->n = 1;
  for (int op = p->count; op-- > 0;) {
    if (!p->one[op] || !w->g[op])
      continue;
    w->g[op][0] = sum_of(w->g[op], w->all);
    if (p->ops[op].kind == TM_ROW_SCALAR)
      *w->to[p->ops[op].leaf] += w->g[op][0];
    else
      back_through(w, op);
  }
}
