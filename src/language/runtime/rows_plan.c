/* rows_plan.c - what is done once for a statement over rows, when the data are
 * read; see rows.h. */
#include "language/runtime/rows.h"

#include "base/hash.h"

#include <string.h>

/* ---- storage ------------------------------------------------------------ */

tm_rows *tm_rows_plan(tm_tape *tape, const tm_row_op *ops, int count, long n,
                      const char *place) {
  size_t size = (size_t)count;
  tm_row_plan *p = tm_take(tape, sizeof *p);
  p->ops = ops;
  p->place = place;
  p->count = count;
  p->rows.n = n > 0 ? n : 0;
  p->rows.numbers = tm_take(tape, size * sizeof(double));
  p->rows.columns = tm_take(tape, size * sizeof(double *));
  p->rows.picks = tm_take(tape, size * sizeof(int *));
  p->rows.sizes = tm_take(tape, size * sizeof(long));
  p->widths = tm_take(tape, size * sizeof(int));
  for (int i = 0; i < count; i++) {
    if (ops[i].kind == TM_ROW_COLUMN)
      p->rows.columns[i] = tm_take(tape, (size_t)p->rows.n * 8 + 1);
    if (ops[i].kind == TM_ROW_PICK)
      p->rows.picks[i] = tm_take(tape, (size_t)p->rows.n * sizeof(int) + 1);
    if (ops[i].leaf >= p->leaves)
      p->leaves = ops[i].leaf + 1;
    p->roots += ops[i].kind >= TM_ROW_ADD;
  }
  return &p->rows;
}

/* A column, or places from 1 on, from a vector. */
void tm_rows_vector(tm_rows *rows, int op, tm_tensor values, long from,
                    long length) {
  long n = tm_count(&values);
  if (from < 0 || n != length || n < from + rows->n) {
    rows->bad = 1;
    return;
  }
  if (rows->columns[op])
    memcpy(rows->columns[op], values.v + from, (size_t)rows->n * 8);
  for (long k = 0; rows->picks[op] && k < rows->n; k++) {
    long at = (long)values.v[from + k] - 1;
    rows->picks[op][k] = (int)at;
    if (at < 0 || at >= rows->sizes[op])
      rows->bad = 1;
  }
}

/* Room for rows of this width; false: another width was there. */
static bool take_columns(tm_tape *tape, tm_row_plan *p, int op, int width) {
  if (!p->rows.columns[op]) {
    size_t size = (size_t)width * (size_t)p->rows.n;
    p->widths[op] = width;
    p->rows.columns[op] = tm_take_blank(tape, size * sizeof(double) + 1);
  }
  p->rows.bad |= width != p->widths[op];
  return width == p->widths[op];
}

void tm_rows_row(tm_tape *tape, tm_rows *rows, int op, tm_tensor values,
                 long row) {
  int width = values.dim[0];
  if (!take_columns(tape, (tm_row_plan *)rows, op, width))
    return;
  for (int j = 0; j < width; j++)
    rows->columns[op][(long)j * rows->n + row] = values.v[j];
}

void tm_rows_matrix(tm_tape *tape, tm_rows *rows, int op, tm_tensor values,
                    long from, long length) {
  int width = values.dim[1];
  if (from < 0 || values.dim[0] != length || length < from + rows->n) {
    rows->bad = 1;
    return;
  }
  if (!take_columns(tape, (tm_row_plan *)rows, op, width))
    return;
  for (long i = 0; i < rows->n; i++)
    for (int j = 0; j < width; j++)
      rows->columns[op][(long)j * rows->n + i] =
          values.v[(from + i) * width + j];
}

/* ---- what is known of the operations ------------------------------------ */

static bool look_at(tm_tape *tape, tm_row_plan *p) {
  size_t size = (size_t)p->count;
  p->one = tm_take(tape, size);
  p->fixed = tm_take(tape, size);
  p->calls = tm_take(tape, size * sizeof *p->calls);
  p->kernels = tm_take(tape, size * sizeof *p->kernels);
  p->terms = tm_take(tape, size * sizeof *p->terms);
  for (int op = 0; op < p->count; op++) {
    const tm_row_op *o = &p->ops[op];
    p->one[op] = o->kind == TM_ROW_NUMBER || o->kind == TM_ROW_SCALAR ||
                 o->kind == TM_ROW_CALL;
    p->fixed[op] = o->kind == TM_ROW_COLUMN || o->kind == TM_ROW_NUMBER;
    for (int i = 0; i < o->part_count; i++)
      p->one[op] = p->one[op] && p->one[o->parts[i]];
    if (o->kind == TM_ROW_CALL)
      p->calls[op] = tm_row_call_find(o->name);
    if (o->kind == TM_ROW_DENSITY) {
      p->kernels[op] = tm_density_kernel(o->name);
      p->terms[op] = p->kernels[op] ? tm_density_terms(p->kernels[op]) : NULL;
    }
    if ((o->kind == TM_ROW_CALL && !p->calls[op]) ||
        (o->kind == TM_ROW_DENSITY && !p->kernels[op]))
      return false;
  }
  return true;
}

/* ---- merging ------------------------------------------------------------ */

/* The outcome that may differ between merged rows, of the only term: a normal
 * density with one scale. -1: none. */
static int free_outcome(const tm_row_plan *p) {
  int last = p->count - 1, density = last - 1, uses = 0;
  if (p->roots != 1 || density < 0 || p->ops[last].kind != TM_ROW_ADD ||
      p->ops[density].kind != TM_ROW_DENSITY ||
      strcmp(p->ops[density].name, "normal") != 0)
    return -1;
  const short *parts = p->ops[density].parts;
  for (int op = 0; op < p->count; op++)
    for (int i = 0; i < p->ops[op].part_count; i++)
      uses += p->ops[op].parts[i] == parts[0];
  if (p->ops[parts[0]].kind != TM_ROW_COLUMN || !p->one[parts[2]] || uses != 1)
    return -1;
  for (long k = 0; k < p->rows.n; k++)
    if (!isfinite(p->rows.columns[parts[0]][k]))
      return -1; /* it has no mean */
  return parts[0];
}

typedef struct merger {
  tm_row_plan *p;
  int outcome;
  long *first, *table; /* of each group its first row; hashed, or -1 */
  size_t slots;
  long *group; /* of each row */
  long groups;
} merger;

static int width_of(const tm_row_plan *p, int op) {
  return p->ops[op].kind == TM_ROW_DOT ? p->widths[op] : 1;
}

/* Of a group of rows, which stands for its terms. */
static uint64_t hash_group(const merger *m, long i) {
  const tm_row_plan *p = m->p;
  size_t size = (size_t)p->group;
  long k = i * p->group;
  uint64_t hash = TM_HASH_START;
  for (int op = 0; op < p->count; op++) {
    if (op == m->outcome)
      continue;
    if (p->rows.picks[op])
      hash = tm_hash_bytes(hash, &p->rows.picks[op][k], size * sizeof(int));
    const double *c = p->rows.columns[op];
    for (int j = 0; c && j < width_of(p, op); j++, c += p->rows.n)
      hash = tm_hash_bytes(hash, &c[k], size * sizeof *c);
  }
  return hash;
}

static bool same_groups(const merger *m, long a, long b) {
  const tm_row_plan *p = m->p;
  size_t size = (size_t)p->group;
  a *= p->group;
  b *= p->group;
  for (int op = 0; op < p->count; op++) {
    if (op == m->outcome)
      continue;
    const int *at = p->rows.picks[op];
    if (at && memcmp(&at[a], &at[b], size * sizeof *at) != 0)
      return false;
    const double *c = p->rows.columns[op];
    for (int j = 0; c && j < width_of(p, op); j++, c += p->rows.n)
      if (memcmp(&c[a], &c[b], size * sizeof *c) != 0)
        return false;
  }
  return true;
}

/* Different ones in the order in which they come; false: too many to be worth
 * it. */
static bool find_groups(merger *m) {
  long n = m->p->rows.n / m->p->group;
  for (long k = 0; k < n; k++) {
    size_t at = hash_group(m, k) % m->slots;
    while (m->table[at] >= 0 && !same_groups(m, m->first[m->table[at]], k))
      at = (at + 1) % m->slots;
    if (m->table[at] < 0) {
      if (m->groups >= (2 * n) / 3)
        return false;
      m->first[m->groups] = k;
      m->table[at] = m->groups++;
    }
    m->group[k] = m->table[at];
  }
  return true;
}

/* Means of the outcome within groups, and the squares about them. */
static void gather_outcomes(tm_tape *tape, merger *m) {
  tm_row_plan *p = m->p;
  double *y = p->rows.columns[m->outcome];
  double *mean = tm_take(tape, (size_t)m->groups * sizeof *mean);
  for (long k = 0; k < p->rows.n; k++)
    mean[m->group[k]] += (y[k] - y[m->first[m->group[k]]]);
  for (long i = 0; i < m->groups; i++)
    mean[i] = y[m->first[i]] + mean[i] / p->weights[i];
  for (long k = 0; k < p->rows.n; k++)
    p->spread += (y[k] - mean[m->group[k]]) * (y[k] - mean[m->group[k]]);
  for (long i = 0; i < m->groups; i++)
    y[m->first[i]] = mean[i];
}

/* Keep the first rows of every kind. */
static void shrink(merger *m) {
  tm_row_plan *p = m->p;
  long size = p->group, n = m->groups * size;
  for (int op = 0; op < p->count; op++) {
    double *c = p->rows.columns[op];
    for (int j = 0; c && j < width_of(p, op); j++)
      for (long i = 0; i < n; i++)
        c[j * n + i] = c[j * p->rows.n + m->first[i / size] * size + i % size];
    for (long i = 0; p->rows.picks[op] && i < n; i++)
      p->rows.picks[op][i] =
          p->rows.picks[op][m->first[i / size] * size + i % size];
  }
  p->rows.n = n;
}

void tm_row_merge(tm_tape *tape, tm_row_plan *p) {
  size_t n = (size_t)(p->rows.n / p->group);
  merger m = {.p = p, .outcome = free_outcome(p), .slots = 2 * n + 1};
  tm_tape_mark mark = tm_tape_here(tape);
  m.first = tm_take(tape, n * sizeof *m.first);
  m.group = tm_take(tape, n * sizeof *m.group);
  m.table = tm_take(tape, m.slots * sizeof *m.table);
  memset(m.table, -1, m.slots * sizeof *m.table);
  if (!find_groups(&m)) {
    tm_tape_back_to(tape, mark);
    return;
  }
  p->weights = tm_take(tape, (size_t)m.groups * sizeof(double));
  for (size_t k = 0; k < n; k++)
    p->weights[m.group[k]] += 1;
  if (m.outcome >= 0)
    gather_outcomes(tape, &m);
  shrink(&m);
}

/* ---- groups -------------------------------------------------------------- */

/* Of a block's rows the first terms of all groups, then the second ones and so
 * on: `to` has room for them. */
static void turn_block(const void *from, void *to, size_t bytes, long groups,
                       long size) {
  const char *rows = from;
  char *turned = to;
  for (long j = 0; j < size; j++)
    for (long i = 0; i < groups; i++, turned += bytes)
      memcpy(turned, rows + (size_t)(i * size + j) * bytes, bytes);
}

static void turn(tm_row_plan *p, void *values, size_t bytes) {
  double room[TM_TERM_BLOCK];
  char *at = values;
  for (long start = 0, n; values && start < p->rows.n; start += n) {
    n = p->rows.n - start < p->block ? p->rows.n - start : p->block;
    char *block = at + (size_t)start * bytes;
    turn_block(block, room, bytes, n / p->group, p->group);
    memcpy(block, room, (size_t)n * bytes);
  }
}

static void turn_groups(tm_row_plan *p) {
  for (int op = 0; op < p->count; op++) {
    turn(p, p->rows.picks[op], sizeof(int));
    double *c = p->rows.columns[op];
    for (int j = 0; c && j < width_of(p, op); j++, c += p->rows.n)
      turn(p, c, sizeof *c);
  }
}

/* ---- the end ------------------------------------------------------------ */

/* Terms of the target that depend on data alone, each row's once. */
static double constant_terms(const tm_row_plan *p) {
  double total = 0;
  for (int op = 0; op + 1 < p->count; op++) {
    const tm_row_op *o = &p->ops[op];
    const tm_term *terms = p->terms[op];
    for (int t = 0; terms && p->ops[op + 1].kind == TM_ROW_ADD &&
                    t < TM_TERMS && terms[t].uses;
         t++) {
      bool data = true;
      for (int i = 0; i < o->part_count; i++)
        data = data && (!(terms[t].uses >> i & 1) || p->fixed[o->parts[i]]);
      for (long k = 0; data && k < p->rows.n; k++) {
        double x[TM_ROW_PARTS] = {0}, value;
        const double *at[TM_ROW_PARTS] = {&x[0], &x[1], &x[2], &x[3]};
        for (int i = 0; i < o->part_count; i++) {
          const double *c = p->rows.columns[o->parts[i]];
          x[i] = terms[t].uses >> i & 1
                     ? (c ? c[k] : p->rows.numbers[o->parts[i]])
                     : 1;
        }
        terms[t].rows(at, NULL, 1, &value);
        total += (p->weights ? p->weights[k] : 1) * value;
      }
    }
  }
  return total;
}

static void find_runs(tm_tape *tape, tm_row_plan *p) {
  enum { LEAST = 8 }; /* rows each, on average */
  p->runs = tm_take(tape, (size_t)p->count);
  for (int op = 0; op < p->count; op++) {
    const int *at = p->rows.picks[op];
    long runs = 1;
    for (long k = 1; at && k < p->rows.n; k++)
      runs += at[k] != at[k - 1];
    p->runs[op] = at && p->rows.n / runs >= LEAST;
  }
}

/* Nanoseconds, about, for the value and slopes of a row. */
static double row_cost(const tm_row_plan *p) {
  static const double CALL = 3, DENSITY = 2, OTHER = .5, COLUMN = .2;
  double cost = 0;
  for (int op = 0; op < p->count; op++) {
    tm_row_kind kind = p->ops[op].kind;
    if (!p->one[op])
      cost += kind == TM_ROW_DENSITY  ? DENSITY
              : kind == TM_ROW_CALL   ? CALL
              : kind == TM_ROW_POWERS ? CALL
              : kind == TM_ROW_DOT    ? COLUMN * p->widths[op]
                                      : OTHER;
  }
  return cost;
}

/* Pieces are worth waking a thread for, and are more than their adding up.
 * Their number depends on the data alone, as the bits of sums do. */
static void find_piece(tm_row_plan *p) {
  static const double WORTH = 5e4; /* nanoseconds */
  enum { MOST = 32, SUMS = 16 };
  double elements = 0, cost = row_cost(p);
  for (int op = 0; op < p->count; op++)
    elements += (double)p->rows.sizes[op] + p->widths[op];
  double least = WORTH > SUMS * elements ? WORTH : SUMS * elements;
  double count = floor((double)p->rows.n * cost / least);
  if (count > MOST)
    count = MOST;
  long blocks = (p->rows.n + p->block - 1) / p->block;
  p->piece =
      count < 2 ? p->rows.n : (long)ceil((double)blocks / count) * p->block;
}

long tm_row_pieces(const tm_row_plan *p) {
  return p->fit || !p->rows.n ? 1 : (p->rows.n + p->piece - 1) / p->piece;
}

tm_rows *tm_rows_ready(tm_tape *tape, tm_rows *rows) {
  tm_row_plan *p = (tm_row_plan *)rows;
  p->total = (double)rows->n;
  p->group = rows->group > 1 ? rows->group : 1;
  p->block = TM_TERM_BLOCK / p->group * p->group;
  if (rows->bad || p->block == 0 || !look_at(tape, p))
    return NULL;
  p->before = tape->rows;
  tape->rows = p;
  if (rows->n == 0)
    return rows;
  for (int op = 0; op < p->count; op++)
    if (p->ops[op].kind == TM_ROW_DOT && !rows->columns[op])
      return NULL;
  tm_row_fit_find(tape, p);
  if (!p->fit)
    tm_row_merge(tape, p);
  if (p->group > 1)
    turn_groups(p);
  find_runs(tape, p);
  find_piece(p);
  p->constant = p->fit ? 0 : constant_terms(p);
  return rows;
}

/* ---- for people --------------------------------------------------------- */

bool tm_rows_describe(const void *plans, const char *place, tm_text *out) {
  const tm_row_plan *p = plans;
  while (p && strcmp(p->place, place) != 0)
    p = p->before;
  if (!p)
    return false;
  long rows = (long)p->total / p->group;
  if (!rows)
    tm_text_add(out, "no rows");
  else if (p->fit)
    tm_text_printf(out,
                   "%ld rows in a triangular factor of %d columns, found when "
                   "the data were read",
                   rows, p->fit->width);
  else if (p->weights)
    tm_text_printf(out, "%ld rows, of which %ld differ and are done, in blocks",
                   rows, p->rows.n / p->group);
  else
    tm_text_printf(out, "%ld rows in blocks", rows);
  if (p->group > 1)
    tm_text_printf(out, ", of %ld powers each", p->group);
  if (tm_row_pieces(p) > 1)
    tm_text_printf(out, ", in %ld pieces that threads may share",
                   tm_row_pieces(p));
  return true;
}
