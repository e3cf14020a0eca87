/* slices.c - reduce_sum: the sum of a function over slices of its first
 * argument, in pieces that threads may share.
 *
 * Where the slices are cut, the data alone decide, so that sums have the same
 * bits for any number of threads. A piece has a tape of its own, on which it is
 * swept back at once: what it leaves is its value and the partials of its
 * arguments, which are added up in order. */
#include "language/runtime/runtime.h"

#include "parallel/threads.h"

#include <stdatomic.h>

enum { MOST_PIECES = 32 };

/* A tape to work on, taken by whoever does a piece. */
typedef struct desk {
  struct desk *next;
  atomic_flag taken;
  tm_guard guard;
  tm_tape tape;
} desk;

typedef struct piece {
  tm_any *arguments; /* with adjoints of its own */
  double value;
  size_t taken; /* bytes of the tape */
  tm_outcome outcome;
  char message[sizeof((tm_guard *)0)->message];
} piece;

typedef struct work {
  const tm_slices *call;
  const char *place;
  desk *desks;
  piece *pieces;
} work;

void tm_desks_free(void *desks) {
  for (desk *d = desks, *next; d; d = next) {
    next = d->next;
    tm_tape_free(&d->tape);
    tm_heap_free(d);
  }
}

/* At least so many. */
static desk *find_desks(tm_tape *tape, long count) {
  for (desk *d = tape->desks; d; d = d->next)
    count--;
  for (; count > 0; count--) {
    desk *d = tm_heap_alloc(1, sizeof *d);
    if (!d)
      tm_runtime_fail(tape, "", "out of memory");
    tm_tape_start(&d->tape, &d->guard);
    atomic_flag_clear(&d->taken);
    d->next = tape->desks;
    tape->desks = d;
  }
  return tape->desks;
}

static desk *take_desk(desk *d) {
  while (atomic_flag_test_and_set(&d->taken))
    d = d->next; /* there are as many as pieces */
  return d;
}

/* ---- where they are cut ------------------------------------------------- */

/* Slices of a piece: so that adding up the partials of what all pieces read is
 * little beside them, for slices of some 50 ns. */
static long slices_each(const tm_slices *call, long n) {
  static const double SLICES_PER_SUM = .4;
  long each = (n + MOST_PIECES - 1) / MOST_PIECES;
  double sums = 0;
  for (int i = 3; i < call->count; i++)
    if (call->active >> i & 1)
      sums += call->arguments[i].tag == TM_TAG_TENSOR
                  ? (double)tm_count(&call->arguments[i].u.t)
                  : 1;
  long least = call->grain > 1 ? call->grain : call->least;
  if (call->grain <= 1 && call->least > 1 && least < SLICES_PER_SUM * sums)
    least = (long)(SLICES_PER_SUM * sums);
  return each > least ? each : least;
}

/* Slices [from, from + n) of a container. */
static tm_any slices_of(tm_any all, long from, long n, double *adjoints) {
  tm_tensor *t = &all.u.t;
  long size = t->dim[0] ? tm_count(t) / t->dim[0] : 0;
  t->v += from * size;
  t->d = adjoints ? adjoints + from * size : NULL;
  t->dim[0] = (int)n;
  return all;
}

/* ---- a piece ------------------------------------------------------------ */

/* `adjoints` of the slices are the whole's; the others' are its own. */
static void set_up(tm_tape *tape, const tm_slices *call, piece *p, long from,
                   long n, double *adjoints) {
  p->arguments = tm_take(tape, (size_t)call->count * sizeof *p->arguments);
  for (int i = 3; i < call->count; i++) {
    tm_any *a = &p->arguments[i];
    tm_view v;
    *a = call->arguments[i];
    tm_view_of(a, &v);
    double *own = v.d ? tm_take(tape, (size_t)v.n * sizeof *own + 1) : NULL;
    if (a->tag == TM_TAG_REAL)
      a->u.r.d = own;
    else if (a->tag == TM_TAG_TENSOR)
      a->u.t.d = own;
  }
  p->arguments[0] = slices_of(call->arguments[0], from, n, adjoints);
  p->arguments[1] = tm_any_int(from + 1);
  p->arguments[2] = tm_any_int(from + n);
}

/* The value of a piece, and its partials. */
static void evaluate(tm_tape *tape, const tm_slices *call, piece *p) {
  tm_any result = call->f(tape, p->arguments);
  tm_var sum = tm_as_var(&result);
  p->value = sum.v;
  if (!sum.d)
    return;
  *sum.d += 1;
  tm_sweep(tape, NULL);
}

/* Whether it ends or leaves early, how is noted. */
static void do_at(desk *d, const work *w, piece *p) {
  tm_tape_reset(&d->tape);
  d->tape.place = w->place;
  d->guard.outcome = TM_FINE;
  if (!setjmp(d->guard.place))
    evaluate(&d->tape, w->call, p);
}

static void do_piece(size_t i, void *context) {
  const work *w = context;
  piece *p = &w->pieces[i];
  desk *d = take_desk(w->desks);
  do_at(d, w, p);
  p->taken = tm_tape_taken(&d->tape);
  p->outcome = d->guard.outcome;
  if (p->outcome != TM_FINE)
    memcpy(p->message, d->guard.message, sizeof p->message);
  atomic_flag_clear(&d->taken);
}

/* ---- all ---------------------------------------------------------------- */

/* As the first piece that left early. */
static void look_for_failures(tm_tape *tape, const piece *pieces, long count) {
  for (long i = 0; i < count; i++)
    if (pieces[i].outcome != TM_FINE)
      tm_runtime_leave(tape, pieces[i].outcome, pieces[i].message);
}

static double *adjoints_of(const tm_any *a) {
  return a->tag == TM_TAG_REAL     ? a->u.r.d
         : a->tag == TM_TAG_TENSOR ? a->u.t.d
                                   : NULL;
}

/* Values and partials in order; the first piece's partials become the sums. */
static tm_var add_up(tm_tape *tape, const tm_slices *call, const piece *pieces,
                     long count, double *sliced) {
  tm_partial *kept = tm_take(tape, (size_t)call->count * sizeof *kept);
  double total = 0;
  for (long i = 0; i < count; i++) {
    total += pieces[i].value;
    tape->given_back += pieces[i].taken;
  }
  for (int k = 0; k < call->count; k++) {
    tm_view v;
    tm_view_of(&call->arguments[k], &v);
    double *sum = k ? adjoints_of(&pieces[0].arguments[k]) : sliced;
    for (long i = 1; i < count && k && sum; i++) {
      const double *restrict more = adjoints_of(&pieces[i].arguments[k]);
      for (long j = 0; j < v.n; j++)
        sum[j] += more[j];
    }
    kept[k] = (tm_partial){sum ? v.d : NULL, sum, v.n};
  }
  return tm_scalar_result(tape, total, call->count, kept).u.r;
}

static tm_var in_pieces(tm_tape *tape, const tm_slices *call, long each) {
  const tm_tensor *all = &call->arguments[0].u.t;
  long n = all->dim[0], count = (n + each - 1) / each;
  double *sliced =
      all->d ? tm_take(tape, (size_t)tm_count(all) * sizeof *sliced) : NULL;
  work w = {call, tape->place, find_desks(tape, count),
            tm_take(tape, (size_t)count * sizeof(piece))};
  for (long i = 0; i < count; i++)
    set_up(tape, call, &w.pieces[i], i * each,
           n < (i + 1) * each ? n - i * each : each, sliced);
  tm_parallel_within((size_t)count, do_piece, &w);
  look_for_failures(tape, w.pieces, count);
  return add_up(tape, call, w.pieces, count, sliced);
}

tm_var tm_slices_sum(tm_tape *tape, const tm_slices *call) {
  const tm_guard *guard = tape->inside;
  long n = call->arguments[0].u.t.dim[0], each = slices_each(call, n);
  bool prints = guard->printer.print || tape->showing; /* in their order */
  if (each >= n || prints) {
    tm_any whole = call->f(tape, call->arguments);
    return tm_as_var(&whole);
  }
  return in_pieces(tape, call, each);
}
