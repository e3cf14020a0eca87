/* rows_sum.c - the sum of a statement over rows, with its partials; see rows.h.
 * Long data are cut into pieces, each with sums of its own, which other threads
 * may do. */
#include "language/runtime/rows_pass.h"

#include "parallel/threads.h"

#include <stdatomic.h>
#include <string.h>

/* Blocks up to a row, added to a total. */
static double do_blocks(tm_row_pass *w, long end, double total) {
  for (; w->start < end && total != ZERO; w->start += w->n) {
    w->n = end - w->start < w->p->block ? end - w->start : w->p->block;
    total += tm_row_block(w);
  }
  return total;
}

/* Which operations have adjoints: those with a parameter below them. Those that
 * are the same for all rows add up over the blocks, from zero. */
static void make_adjoints(tm_tape *tape, tm_row_pass *w) {
  const tm_row_plan *p = w->p;
  size_t size = (size_t)w->all;
  size_t each = size * (1 + TM_ROW_PARTS);
  double *room = tm_take_blank(tape, (size_t)p->count * each * sizeof *room);
  for (int op = 0; op < p->count; op++) {
    const tm_row_op *o = &p->ops[op];
    bool active = o->leaf >= 0 && w->to[o->leaf];
    for (int i = 0; i < o->part_count; i++)
      active = active || w->g[o->parts[i]];
    w->g[op] = active ? room : NULL;
    if (active && p->one[op])
      memset(room, 0, size * sizeof *room);
    /* slopes of densities are kept behind (rows.c) */
    room += !active ? 0 : o->kind == TM_ROW_DENSITY ? each : size;
  }
}

static void make_room(tm_tape *tape, tm_row_pass *w) {
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

/* ---- pieces ------------------------------------------------------------- */

/* Room to work in is taken by whoever does a piece. */
typedef struct desk {
  atomic_flag taken;
  double *v[TM_ROW_MOST], *g[TM_ROW_MOST], *spare[TM_ROW_PARTS];
} desk;
typedef struct piece {
  double *to[TM_ROW_MOST], total;
} piece;
typedef struct cut {
  const tm_row_pass *whole;
  desk *desks;
  piece *pieces;
} cut;

static desk *take_desk(desk *d) {
  while (atomic_flag_test_and_set(&d->taken))
    d++; /* there are as many as pieces */
  return d;
}

static void do_piece(size_t i, void *context) {
  const cut *all = context;
  const tm_row_plan *p = all->whole->p;
  piece *own = &all->pieces[i];
  desk *at = take_desk(all->desks);
  tm_row_pass w = *all->whole;
  w.v = at->v;
  w.g = w.g ? at->g : NULL;
  w.to = own->to;
  memcpy(w.spare, at->spare, sizeof w.spare);
  for (int op = 0; w.g && op < p->count; op++)
    if (p->one[op] && w.g[op])
      memset(w.g[op], 0, (size_t)w.all * sizeof(double));
  w.start = (long)i * p->piece;
  long end = p->rows.n - w.start < p->piece ? p->rows.n : w.start + p->piece;
  own->total = do_blocks(&w, end, 0);
  if (w.g && own->total > ZERO)
    tm_row_finish(&w);
  atomic_flag_clear(&at->taken);
}

/* What is the same for all rows has its values from the whole. */
static void make_desk(tm_tape *tape, const tm_row_pass *whole, desk *d) {
  tm_row_pass w = *whole;
  atomic_flag_clear(&d->taken);
  w.v = d->v;
  w.g = w.g ? d->g : NULL;
  make_room(tape, &w);
  memcpy(d->spare, w.spare, sizeof d->spare);
  for (int op = 0; op < w.p->count; op++)
    if (w.p->one[op])
      d->v[op] = whole->v[op];
}

static void add(double *restrict to, const double *restrict x, long n) {
  for (long k = 0; k < n; k++)
    to[k] += x[k];
}

static double add_up(const tm_row_pass *whole, const cut *all, size_t count) {
  double total = whole->p->constant;
  for (size_t i = 0; i < count && total != ZERO; i++)
    total += all->pieces[i].total;
  for (int leaf = 0; total > ZERO && leaf < whole->p->leaves; leaf++) {
    tm_view view;
    tm_view_of(&whole->arguments[leaf], &view);
    for (size_t i = 0; whole->to[leaf] && i < count; i++)
      add(whole->to[leaf], all->pieces[i].to[leaf], view.n);
  }
  return total;
}

static double do_pieces(tm_tape *tape, const tm_row_pass *whole) {
  const tm_row_plan *p = whole->p;
  size_t count = (size_t)tm_row_pieces(p);
  cut all = {whole, tm_take_blank(tape, count * sizeof(desk)),
             tm_take_blank(tape, count * sizeof(piece))};
  for (size_t i = 0; i < count; i++) {
    make_desk(tape, whole, &all.desks[i]);
    for (int leaf = 0; leaf < p->leaves; leaf++) {
      tm_view view;
      tm_view_of(&whole->arguments[leaf], &view);
      all.pieces[i].to[leaf] =
          whole->to[leaf] ? tm_take(tape, (size_t)view.n * sizeof(double))
                          : NULL;
    }
  }
  tm_parallel_within(count, do_piece, &all);
  return add_up(whole, &all, count);
}

/* ---- the sum ------------------------------------------------------------ */

/* Where partials of the arguments go: to their adjoints, or, where storage may
 * be assigned to later, into a node. Is any wanted? */
static bool find_adjoints(tm_tape *tape, tm_row_pass *w, tm_partial *kept,
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

static void check_sizes(tm_tape *tape, const tm_row_pass *w) {
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
  tm_row_pass w = {.p = p, .arguments = arguments, .v = v, .to = to};
  w.all = p->fit ? 1 : p->rows.n < p->block ? p->rows.n : p->block;
  if (find_adjoints(tape, &w, kept, &keeps))
    w.g = g;
  check_sizes(tape, &w);
  make_room(tape, &w);
  w.n = w.all;
  tm_row_shared(&w);
  double total = p->constant;
  bool pieces = tm_row_pieces(p) > 1 && total != ZERO;
  if (pieces)
    total = do_pieces(tape, &w);
  else if (p->fit)
    total += tm_row_fit_sum(p->fit, p, w.v, w.g, arguments, w.to);
  else
    total = do_blocks(&w, p->rows.n, total);
  if (!pieces && w.g && total > ZERO)
    tm_row_finish(&w);
  return tm_scalar_result(tape, total, keeps, kept).u.r;
}
