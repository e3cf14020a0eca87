/* rows.c - the sum of a statement over rows, with its partials; see rows.h.
 *
 * Every operation has a block of values and one of adjoints. What is the same
 * for all rows is repeated over its block once; its adjoints add up over all
 * blocks, and are summed at the end. */
#include "language/runtime/rows.h"

#include <string.h>

enum { BLOCK = TM_TERM_BLOCK };

typedef struct pass {
  const tm_row_plan *p;
  const tm_any *arguments;
  double **v, **g;             /* values and adjoints; g NULL: none wanted */
  double **to;                 /* by leaf: where partials go */
  double *spare[TM_ROW_PARTS]; /* of one operation */
  long start, n, all;          /* the block; the longest */
} pass;

/* ---- values ------------------------------------------------------------- */

static void repeat(double *to, double x, long n) {
  for (long k = 0; k < n; k++)
    to[k] = x;
}

static void dot_values(const pass *w, int op) {
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

static void pick_values(const pass *w, int op) {
  const double *from = w->arguments[w->p->ops[op].leaf].u.t.v;
  const int *at = w->p->rows.picks[op] + w->start;
  double *restrict y = w->v[op];
  for (long k = 0; k < w->n; k++)
    y[k] = from[at[k]];
}

/* NaN among the arguments (not the outcome) is density zero. */
static bool bad_row(const pass *w, const tm_row_op *o, long k) {
  for (int i = 1; i < o->part_count; i++)
    if (isnan(w->v[o->parts[i]][k]))
      return true;
  return false;
}

static void arguments_of(const pass *w, const tm_row_op *o, const double **x) {
  static const double nothing[BLOCK];
  for (int i = 0; i < TM_ROW_PARTS; i++)
    x[i] = i < o->part_count ? w->v[o->parts[i]] : nothing;
}

/* Densities without terms, row by row. */
static void kernel_rows(const pass *w, int op, double *values,
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

/* The values of a density that is not a term of the target itself. */
static void density_values(const pass *w, int op) {
  const tm_row_op *o = &w->p->ops[op];
  const tm_term *terms = w->p->terms[op];
  const double *x[TM_ROW_PARTS];
  double *y = w->v[op], part[BLOCK];
  arguments_of(w, o, x);
  if (!terms)
    kernel_rows(w, op, y, NULL);
  else
    memset(y, 0, (size_t)w->n * sizeof *y);
  for (int i = 0; terms && i < TM_TERMS && terms[i].uses; i++) {
    terms[i].rows(x, NULL, w->n, part);
    for (long k = 0; k < w->n; k++)
      y[k] += part[k];
  }
  for (long k = 0; k < w->n; k++)
    if (isnan(y[k]) && bad_row(w, o, k))
      y[k] = ZERO;
}

static bool is_root_density(const tm_row_plan *p, int op) {
  return op + 1 < p->count && p->ops[op + 1].kind == TM_ROW_ADD &&
         p->ops[op].kind == TM_ROW_DENSITY;
}

static void values_of(const pass *w, int op) {
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
    break;
  }
}

/* ---- adjoints ----------------------------------------------------------- */

static void add(double *restrict to, const double *restrict x, long n) {
  for (long k = 0; k < n; k++)
    to[k] += x[k];
}

static double sum_of(const double *x, long n) {
  double total = 0;
#pragma omp simd reduction(+ : total)
  for (long k = 0; k < n; k++)
    total += x[k];
  return total;
}

static void dot_back(const pass *w, int op) {
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
static void pick_back(const pass *w, int op) {
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

static void call_back(const pass *w, int op) {
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
static void give_slopes(const pass *w, const tm_row_op *o, unsigned uses,
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

static void density_back(const pass *w, int op) {
  const tm_row_op *o = &w->p->ops[op];
  const tm_term *terms = w->p->terms[op];
  const double *x[TM_ROW_PARTS];
  double values[BLOCK];
  arguments_of(w, o, x);
  if (!terms) {
    kernel_rows(w, op, values, w->spare);
    give_slopes(w, o, ~0u, w->g[op]);
  }
  for (int i = 0; terms && i < TM_TERMS && terms[i].uses; i++) {
    terms[i].rows(x, w->spare, w->n, values);
    give_slopes(w, o, terms[i].uses, w->g[op]);
  }
}

static void back_through(const pass *w, int op) {
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

/* ---- terms of the target ------------------------------------------------ */

static bool uses_only(const tm_row_op *o, unsigned uses, const bool *set) {
  for (int i = 0; i < o->part_count; i++)
    if (uses >> i & 1 && !set[o->parts[i]])
      return false;
  return true;
}

static double weighted(const pass *w, double *values) {
  const double *weights = w->p->weights;
  if (weights)
    for (long k = 0; k < w->n; k++)
      values[k] *= weights[w->start + k];
  return sum_of(values, w->n);
}

/* One term of a density over the block. */
static double root_term(const pass *w, const tm_row_op *o,
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
static double shared_term(const pass *w, const tm_row_op *o,
                          const tm_term *term) {
  pass once = *w;
  double factor[1] = {w->p->total}, value[1];
  const double *x[TM_ROW_PARTS];
  once.n = 1;
  arguments_of(w, o, x);
  term->rows(x, w->spare, 1, value);
  if (w->g)
    give_slopes(&once, o, term->uses, factor);
  return w->p->total * *value;
}

static double root_kernel(const pass *w, int op) {
  const tm_row_op *o = &w->p->ops[op];
  const double *weights = w->p->weights;
  double values[BLOCK];
  kernel_rows(w, op, values, w->g ? w->spare : NULL);
  if (w->g)
    give_slopes(w, o, ~0u, weights ? weights + w->start : NULL);
  return weighted(w, values);
}

/* What stands for the spread within merged rows: -0.5 spread / s^2. */
static double spread_term(const pass *w, const tm_row_op *o) {
  double r = 1 / *w->v[o->parts[2]], value = -0.5 * w->p->spread * r * r;
  if (w->g && w->g[o->parts[2]])
    w->g[o->parts[2]][0] -= 2 * value * r;
  return value;
}

static double root_density(const pass *w, int op) {
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
static double root_value(const pass *w, int op) {
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

/* ---- all blocks --------------------------------------------------------- */

/* Adjoints of what depends on rows begin anew in every block. */
static double do_block(const pass *w) {
  const tm_row_plan *p = w->p;
  double total = 0;
  for (int op = 0; op < p->count; op++)
    if (!p->one[op])
      values_of(w, op);
  for (int op = 0; w->g && op < p->count; op++)
    if (!p->one[op] && w->g[op])
      memset(w->g[op], 0, (size_t)w->n * sizeof(double));
  for (int op = 1; op < p->count; op++) {
    if (p->ops[op].kind != TM_ROW_ADD)
      continue;
    total += is_root_density(p, op - 1) ? root_density(w, op - 1)
                                        : root_value(w, p->ops[op].parts[0]);
    if (total == ZERO)
      return ZERO;
  }
  for (int op = p->count; w->g && op-- > 0;)
    if (!p->one[op] && w->g[op])
      back_through(w, op);
  return total;
}

/* Adjoints of what is the same for all rows: summed, then back once. */
static void finish(pass *w) {
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

/* Which operations have adjoints: those with a parameter below them. Those that
 * are the same for all rows add up over the blocks, from zero. */
static void make_adjoints(tm_tape *tape, pass *w) {
  const tm_row_plan *p = w->p;
  size_t size = (size_t)w->all;
  double *room = tm_take_blank(tape, (size_t)p->count * size * sizeof *room);
  for (int op = 0; op < p->count; op++) {
    const tm_row_op *o = &p->ops[op];
    bool active = o->leaf >= 0 && w->to[o->leaf];
    for (int i = 0; i < o->part_count; i++)
      active = active || w->g[o->parts[i]];
    w->g[op] = active ? room : NULL;
    if (active && p->one[op])
      memset(room, 0, size * sizeof *room);
    room += active ? size : 0;
  }
}

static void make_room(tm_tape *tape, pass *w) {
  const tm_row_plan *p = w->p;
  size_t size = (size_t)w->all, blocks = (size_t)p->count + TM_ROW_PARTS;
  double *room = tm_take_blank(tape, blocks * size * sizeof *room);
  for (int op = 0; op < p->count; op++, room += size)
    w->v[op] = room;
  for (int i = 0; i < TM_ROW_PARTS; i++, room += size)
    w->spare[i] = room;
  if (w->g)
    make_adjoints(tape, w);
}

/* Where partials of the arguments go: to their adjoints, or, where storage may
 * be assigned to later, into a node. Is any wanted? */
static bool find_adjoints(tm_tape *tape, pass *w, tm_partial *kept,
                          int *keeps) {
  bool wanted = false;
  for (int i = 0; i < w->p->leaves; i++) {
    tm_view view;
    tm_view_of(&w->arguments[i], &view);
    w->to[i] = view.d;
    wanted = wanted || view.d;
    if (!view.d || view.steady)
      continue;
    w->to[i] = tm_take(tape, (size_t)view.n * sizeof(double));
    kept[(*keeps)++] = (tm_partial){view.d, w->to[i], view.n};
  }
  return wanted;
}

static void check_sizes(tm_tape *tape, const pass *w) {
  for (int op = 0; op < w->p->count; op++) {
    const tm_row_op *o = &w->p->ops[op];
    bool pick = o->kind == TM_ROW_PICK;
    if ((pick || o->kind == TM_ROW_DOT) &&
        tm_count(&w->arguments[o->leaf].u.t) !=
            (pick ? w->p->rows.sizes[op] : w->p->widths[op]))
      tm_runtime_fail(tape, w->p->place,
                      "a vector has %ld elements where %ld are used",
                      tm_count(&w->arguments[o->leaf].u.t),
                      pick ? w->p->rows.sizes[op] : (long)w->p->widths[op]);
  }
}

tm_var tm_rows_sum(tm_tape *tape, const tm_rows *rows,
                   const tm_any *arguments) {
  const tm_row_plan *p = (const tm_row_plan *)rows;
  double *v[TM_ROW_MOST], *g[TM_ROW_MOST], *to[TM_ROW_MOST];
  tm_partial kept[TM_ROW_MOST];
  int keeps = 0;
  pass w = {.p = p, .arguments = arguments, .v = v, .to = to};
  w.all = p->fit ? 1 : p->rows.n < BLOCK ? p->rows.n : BLOCK;
  if (find_adjoints(tape, &w, kept, &keeps))
    w.g = g;
  check_sizes(tape, &w);
  make_room(tape, &w);
  double total = p->constant;
  w.n = w.all;
  for (int op = 0; op < p->count; op++)
    if (p->one[op])
      values_of(&w, op);
  if (p->fit)
    total += tm_row_fit_sum(p->fit, p, w.v, w.g, arguments, w.to);
  for (; !p->fit && w.start < p->rows.n && total != ZERO; w.start += w.n) {
    w.n = p->rows.n - w.start < BLOCK ? p->rows.n - w.start : BLOCK;
    total += do_block(&w);
  }
  if (w.g && total > ZERO)
    finish(&w);
  return tm_scalar_result(tape, total, keeps, kept).u.r;
}
