/* threads.h - run independent pieces on several threads. The pieces must not
 * share mutable state, so results cannot depend on the number of threads. A
 * piece that asks for threads itself gets its own. */
#ifndef TM_PARALLEL_THREADS_H
#define TM_PARALLEL_THREADS_H

#include "base/status.h"

typedef void (*tm_piece_fn)(size_t piece, void *context);

/* The threads to use for a request (0: all cores). */
int tm_threads(int requested);
/* Call fn(0..count-1, context), each once, on up to `threads` threads; where
 * that is negative on the caller's alone, so many at a time, which take turns
 * where they ask (below). */
void tm_parallel_for(size_t count, int threads, tm_piece_fn fn, void *context);
/* Call fn(i, context) `turns_each` times for each i < count. The calls of one i
 * come one after another, on any thread; those of different i at the same time.
 * With many short turns no thread waits long at the end. */
void tm_parallel_turns(size_t count, size_t turns_each, int threads,
                       tm_piece_fn fn, void *context);

/* Within such a piece: call fn(0..count-1, context), each once, with the help
 * of threads of the call that have no piece to work on; they sleep until then.
 * On any other thread, in order. To wake one takes some microseconds. What is
 * cut into pieces must not depend on the number of threads. */
void tm_parallel_within(size_t count, tm_piece_fn fn, void *context);

/* For what the calling thread does for many at once: a piece that runs in turn
 * with others (threads < 0) leaves a question and waits for the answer. Once
 * all of them ask or are done, what was asked is answered in one call, which
 * may put off some questions until more are there, by not saying that they are
 * answered, but not all. Elsewhere the question is answered at once. All
 * questions at a time must have the same `answer`. */
enum { TM_MOST_QUESTIONS = 257 };
typedef void (*tm_answer_fn)(void *const *questions, size_t count,
                             bool *answered);
void tm_ask_caller(tm_answer_fn answer, void *question);

#endif
