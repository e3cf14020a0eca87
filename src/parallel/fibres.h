/* fibres.h - pieces of work that take turns on one thread, each with a stack of
 * its own: where one asks (tm_ask_caller, threads.h) the next goes on, and when
 * all ask they are answered together. A switch costs a fraction of a
 * microsecond, where waking a thread costs many. */
#ifndef TM_PARALLEL_FIBRES_H
#define TM_PARALLEL_FIBRES_H

#include "parallel/threads.h"

/* Call fn(i, context) `turns` times for each i < count, up to `most` pieces at
 * a time. Without memory for stacks the pieces come one after the other. */
void tm_fibres_run(size_t count, size_t turns, size_t most, tm_piece_fn fn,
                   void *context);

#endif
