/* calls.h - which call of the model is each thread in? So that a program can
 * say what a model did when it crashed or hung. */
#ifndef TM_MODEL_CALLS_H
#define TM_MODEL_CALLS_H

#include "base/memory.h"

#include <stdatomic.h>

/* An evaluator's latest call. A watching thread reads it while it goes on: the
 * stores are relaxed, which costs nothing. */
typedef struct tm_call {
  const tempera_model *model; /* NULL: while it is opened */
  _Atomic(size_t) chain; /* from 1; 0: of no chain */
  _Atomic(const char *) function;
  _Atomic(const double *) theta; /* NULL: not in a call */
  _Atomic(uint64_t) serial;
  struct tm_call *next, *previous; /* of those that are watched */
  bool listed;
  uint64_t seen; /* the watcher's: the serial it saw last, and since when */
  double since;
} tm_call;

/* NULL when out of memory. */
tm_call *tm_call_create(const tempera_model *model, tm_arena *arena);
void tm_call_release(tm_call *call);

/* This thread's innermost call. */
extern _Thread_local tm_call *tm_calling
    __attribute__((tls_model("initial-exec")));

/* Around a call of the model: begin gives what end takes. */
static inline tm_call *tm_call_begin(tm_call *call, const char *function,
                                     const double *theta) {
  tm_call *outer = tm_calling;
  if (outer) /* a model made of another */
    atomic_store_explicit(
        &call->chain, atomic_load_explicit(&outer->chain, memory_order_relaxed),
        memory_order_relaxed);
  atomic_store_explicit(&call->function, function, memory_order_relaxed);
  atomic_store_explicit(&call->theta, theta, memory_order_relaxed);
  atomic_store_explicit(
      &call->serial,
      atomic_load_explicit(&call->serial, memory_order_relaxed) + 1,
      memory_order_relaxed);
  tm_calling = call;
  return outer;
}

static inline void tm_call_end(tm_call *call, tm_call *outer) {
  atomic_store_explicit(&call->theta, NULL, memory_order_relaxed);
  tm_calling = outer;
}

#endif
