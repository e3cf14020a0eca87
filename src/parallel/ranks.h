/* ranks.h - one run on several processes ("ranks"), which all conduct it and
 * hold all of it. Pieces of work that call the model are dealt over ranks: the
 * owner of a piece does it and keeps a tape of the answers it got, tapes are
 * exchanged, and the others do the piece from the tape, without the model. What
 * happens between pieces is rank 0's tape. So memory is the same everywhere,
 * bit for bit, and equal to that of a run on one rank: only answers travel.
 * Where a piece is long and what it makes is small, such as a block of sweeps
 * of a chain, its outcome travels instead, and the others do nothing. */
#ifndef TM_PARALLEL_RANKS_H
#define TM_PARALLEL_RANKS_H

#include "base/answers.h"
#include "base/archive.h"
#include "parallel/threads.h"

/* What carries bytes; MPI's is in mpi/. All ranks call alike, in one thread. */
typedef struct tm_transport {
  int rank, size;
  /* `count` bytes of rank 0's to all. */
  void (*broadcast)(void *bytes, size_t count);
  /* Everybody's `count` bytes to all, in the order of ranks: lengths[size], and
   * the bytes, which the caller frees with free(). */
  unsigned char *(*gather)(const void *bytes, size_t count, size_t *lengths);
  void (*end)(void);
  /* Ends all ranks; does not return. */
  void (*abort)(int code);
} tm_transport;

/* From now on, in this thread; NULL: no longer. */
void tm_ranks_use(const tm_transport *transport);
const tm_transport *tm_ranks(void);
/* This rank goes on alone, to its end: then it must abort the others. */
void tm_ranks_part(void);
/* What follows is this rank's alone, such as a page to look at: the others know
 * nothing of it. Until it is back; both do nothing where there are no ranks. */
void tm_ranks_step_aside(void);
void tm_ranks_step_back(void);
bool tm_ranks_aside(void);
/* Into how many pieces to cut what could be cut into any number. */
size_t tm_shared_pieces(int threads, size_t most);

/* As tm_parallel_for, for pieces that call the model, over all ranks. */
void tm_shared_for(size_t count, int threads, tm_piece_fn fn, void *context);
/* As tm_parallel_turns, over all ranks; when all turns of a piece are done, its
 * owner's `pass` writes what it has made, and that of the others reads it. In a
 * piece nobody else is told of anything. */
typedef void (*tm_pass_fn)(size_t piece, tm_archive *archive, void *context);
void tm_shared_outcomes(size_t count, size_t turns_each, int threads,
                        tm_piece_fn fn, tm_pass_fn pass, void *context);
/* Rounds of pieces, as tm_shared_for, with nothing told between them: `next`,
 * on every rank, says after each whether there is another, from what the pieces
 * have left. It must not ask the outside world. */
void tm_shared_rounds(size_t count, int threads, tm_piece_fn fn,
                      bool (*next)(void *context), void *context);

#endif
