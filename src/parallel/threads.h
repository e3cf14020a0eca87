/* threads.h - run independent pieces on several threads (OpenMP). The pieces
 * must not share mutable state, so results cannot depend on the number of
 * threads. */
#ifndef TM_PARALLEL_THREADS_H
#define TM_PARALLEL_THREADS_H

#include "base/status.h"

typedef void (*tm_piece_fn)(size_t piece, void *context);

/* The threads to use for a request (0: all cores). */
int tm_threads(int requested);
/* Call fn(0..count-1, context), each once, on up to `threads` threads. */
void tm_parallel_for(size_t count, int threads, tm_piece_fn fn, void *context);

#endif
