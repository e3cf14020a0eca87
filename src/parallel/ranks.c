/* ranks.c - see ranks.h. */
#include "parallel/ranks.h"

#include "base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* MPI is the process's, and so is this. */
static const tm_transport *ranks;

/* ---- between pieces: rank 0 tells -----------------------------------------
 * in chunks, the last of a section marked as such. */

static tm_answers serial;
static bool section_ended; /* the chunk read last was the section's last */

typedef struct chunk_head {
  uint64_t length, last;
} chunk_head;

static void lost(const char *why) {
  fprintf(stderr, "tempera: rank %d: %s\n", ranks ? ranks->rank : 0, why);
  if (ranks)
    ranks->abort(1);
}

static void tell(bool last) {
  chunk_head head = {serial.length, last};
  ranks->broadcast(&head, sizeof head);
  ranks->broadcast(serial.data, serial.length);
  serial.length = 0;
}

static void hear(void) {
  chunk_head head;
  ranks->broadcast(&head, sizeof head);
  if (serial.capacity < head.length) {
    tm_heap_free(serial.data);
    serial.data = tm_heap_alloc(head.length, 1);
    serial.capacity = head.length;
    if (!serial.data)
      lost("out of memory for what rank 0 tells");
  }
  ranks->broadcast(serial.data, head.length);
  serial.length = head.length;
  serial.at = 0;
  section_ended = head.last;
}

static void turn(tm_answers *tape) {
  (void)tape;
  if (ranks->rank == 0)
    tell(false);
  else if (!section_ended)
    hear();
}

/* Rank 0 says so before the pieces, the others listen after theirs: rank 0 may
 * be writing files in the meantime. */
static void end_section(void) {
  if (ranks->rank == 0)
    tell(true);
}

static void hear_end(void) {
  if (ranks->rank == 0)
    return;
  if (serial.at == serial.length && !section_ended)
    hear();
  if (serial.at != serial.length || !section_ended)
    lost("ranks have parted ways: rank 0 told of more than was asked for");
}

static void begin_section(void) {
  serial.length = serial.at = 0;
  section_ended = false;
}

void tm_ranks_use(const tm_transport *transport) {
  if (ranks) {
    end_section();
    hear_end();
    tm_answers_clear(&serial);
    tm_answers_now = NULL;
  }
  ranks = transport;
  if (!ranks)
    return;
  serial = (tm_answers){.replays = ranks->rank > 0, .turn = turn};
  begin_section();
  tm_answers_now = &serial;
  tm_answers_when_lost(lost);
}

const tm_transport *tm_ranks(void) { return ranks; }

void tm_ranks_part(void) {
  if (ranks)
    tm_answers_now = NULL;
}

void tm_ranks_step_aside(void) { tm_ranks_part(); }

void tm_ranks_step_back(void) {
  if (ranks)
    tm_answers_now = &serial;
}

bool tm_ranks_aside(void) { return ranks && !tm_answers_now; }

/* ---- pieces ---------------------------------------------------------------
 */

/* Pieces of one call: `mine` or the others', by their number. */
typedef struct deal {
  tm_answers *tapes;
  size_t *pieces, count;
  tm_piece_fn fn;
  tm_pass_fn pass; /* or NULL */
  void *context;
} deal;

static void do_piece(size_t k, void *context) {
  const deal *d = context;
  size_t piece = d->pieces[k];
  tm_answers *outer = tm_answers_now;
  tm_answers_now = &d->tapes[piece];
  d->fn(piece, d->context);
  tm_answers_now = outer;
}

/* The first piece of a rank, which has every so-many-th from there on. The last
 * ranks have those that are left over: rank 0 has files to write beside. */
static size_t first_piece(size_t rank) {
  return (size_t)ranks->size - 1 - rank;
}

static void choose(deal *d, size_t count, bool mine) {
  size_t first = first_piece((size_t)ranks->rank);
  d->count = 0;
  for (size_t i = 0; i < count; i++)
    if ((i % (size_t)ranks->size == first) == mine)
      d->pieces[d->count++] = i;
}

/* Our tapes, one behind the other, each with its length before it. */
static void pack(const deal *d, tm_answers *packed) {
  for (size_t k = 0; k < d->count; k++) {
    tm_answers *tape = &d->tapes[d->pieces[k]];
    uint64_t length = tape->length;
    tm_answers_pass(packed, &length, sizeof length);
    tm_answers_pass(packed, tape->data, tape->length);
  }
}

/* The others' tapes, out of what came. */
static void unpack(deal *d, size_t count, const unsigned char *all,
                   const size_t *lengths) {
  for (size_t r = 0, at = 0; r < (size_t)ranks->size; at += lengths[r++]) {
    tm_answers packed = {.replays = true,
                         .data = (unsigned char *)(uintptr_t)all + at,
                         .length = lengths[r]};
    for (size_t i = first_piece(r); i < count && r != (size_t)ranks->rank;
         i += (size_t)ranks->size) {
      uint64_t length = 0;
      tm_answers *tape = &d->tapes[i];
      tm_answers_pass(&packed, &length, sizeof length);
      tape->data = tm_heap_alloc(length, 1);
      if (!tape->data)
        lost("out of memory for what other ranks tell");
      tm_answers_pass(&packed, tape->data, length);
      tape->replays = true;
      tape->length = tape->capacity = length;
    }
  }
}

static void exchange(deal *d, size_t count, size_t *lengths) {
  tm_answers packed = {0};
  hear_end();
  pack(d, &packed);
  unsigned char *all = ranks->gather(packed.data, packed.length, lengths);
  tm_answers_clear(&packed);
  unpack(d, count, all, lengths);
  free(all);
}

/* `turns` 0: once. */
static void run(const deal *d, size_t turns, int threads, tm_piece_fn fn) {
  if (turns)
    tm_parallel_turns(d->count, turns, threads, fn, (void *)(uintptr_t)d);
  else
    tm_parallel_for(d->count, threads, fn, (void *)(uintptr_t)d);
}

/* Memory of a call. */
static size_t *begin_deal(deal *d, size_t count) {
  d->tapes = tm_heap_alloc(count, sizeof(tm_answers));
  d->pieces = tm_heap_alloc(count, sizeof(size_t));
  size_t *lengths = tm_heap_alloc((size_t)ranks->size, sizeof *lengths);
  if (!d->tapes || !d->pieces || !lengths)
    lost("out of memory for tapes");
  return lengths;
}

static void end_deal(deal *d, size_t *lengths) {
  tm_heap_free(lengths);
  tm_heap_free(d->pieces);
  tm_heap_free(d->tapes);
}

static void deal_out(deal *d, size_t count, size_t turns, int threads,
                     size_t *lengths) {
  choose(d, count, true);
  run(d, turns, threads, do_piece);
  exchange(d, count, lengths);
  choose(d, count, false);
  run(d, turns, threads, do_piece);
  for (size_t i = 0; i < count; i++)
    tm_answers_clear(&d->tapes[i]);
}

/* ---- outcomes: an archive in the place of a tape ------------------------- */

static void do_untold(size_t k, void *context) {
  const deal *d = context;
  d->fn(d->pieces[k], d->context);
}

static void write_outcome(size_t k, void *context) {
  const deal *d = context;
  size_t piece = d->pieces[k];
  tempera_error error;
  tm_archive archive = tm_archive_writer();
  d->pass(piece, &archive, d->context);
  if (tm_archive_seal(&archive, &error) != TEMPERA_OK)
    lost(error.message);
  d->tapes[piece] = (tm_answers){.data = archive.data,
                                 .length = archive.length,
                                 .capacity = archive.capacity};
}

static void read_outcome(size_t k, void *context) {
  const deal *d = context;
  size_t piece = d->pieces[k];
  const tm_answers *tape = &d->tapes[piece];
  tempera_error error;
  tm_archive archive;
  tempera_status status =
      tm_archive_open(tape->data, tape->length, &archive, &error);
  if (status == TEMPERA_OK) {
    d->pass(piece, &archive, d->context);
    status = tm_archive_end(&archive, &error);
  }
  if (status != TEMPERA_OK)
    lost(error.message);
}

static void deal_outcomes(deal *d, size_t count, size_t turns, int threads,
                          size_t *lengths) {
  choose(d, count, true);
  run(d, turns, threads, do_untold);
  run(d, 0, threads, write_outcome);
  exchange(d, count, lengths);
  choose(d, count, false);
  run(d, 0, threads, read_outcome);
  for (size_t i = 0; i < count; i++)
    tm_answers_clear(&d->tapes[i]);
}

/* `pass` NULL: by tapes. */
static void share(size_t count, size_t turns, int threads, tm_piece_fn fn,
                  tm_pass_fn pass, void *context) {
  deal d = {.fn = fn, .pass = pass, .context = context};
  size_t *lengths = begin_deal(&d, count);
  end_section();
  if (pass)
    deal_outcomes(&d, count, turns, threads, lengths);
  else
    deal_out(&d, count, turns, threads, lengths);
  begin_section();
  end_deal(&d, lengths);
}

static void share_rounds(size_t count, int threads, tm_piece_fn fn,
                         bool (*next)(void *context), void *context) {
  deal d = {.fn = fn, .context = context};
  size_t *lengths = begin_deal(&d, count);
  end_section();
  do
    deal_out(&d, count, 0, threads, lengths);
  while (next(context));
  begin_section();
  end_deal(&d, lengths);
}

/* In the thread that conducts the run, and not within a piece. */
static bool shared(void) { return ranks && tm_answers_now == &serial; }

size_t tm_shared_pieces(int threads, size_t most) {
  size_t pieces = (size_t)abs(threads) * (shared() ? (size_t)ranks->size : 1);
  return pieces < most ? pieces : most;
}

void tm_shared_for(size_t count, int threads, tm_piece_fn fn, void *context) {
  if (shared())
    share(count, 0, threads, fn, NULL, context);
  else
    tm_parallel_for(count, threads, fn, context);
}

void tm_shared_outcomes(size_t count, size_t turns_each, int threads,
                        tm_piece_fn fn, tm_pass_fn pass, void *context) {
  if (shared())
    share(count, turns_each, threads, fn, pass, context);
  else
    tm_parallel_turns(count, turns_each, threads, fn, context);
}

void tm_shared_rounds(size_t count, int threads, tm_piece_fn fn,
                      bool (*next)(void *context), void *context) {
  if (shared()) {
    share_rounds(count, threads, fn, next, context);
    return;
  }
  do
    tm_parallel_for(count, threads, fn, context);
  while (next(context));
}
