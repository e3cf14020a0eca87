/* threads.c - see threads.h. */
#include "parallel/threads.h"

#include <omp.h>
#include <stdbool.h>

int tm_threads(int requested) {
  return requested > 0 ? requested : omp_get_num_procs();
}

void tm_parallel_for(size_t count, int threads, tm_piece_fn fn, void *context) {
  if (count < 2 || threads < 2) {
    for (size_t i = 0; i < count; i++)
      fn(i, context);
    return;
  }
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads)
  for (size_t i = 0; i < count; i++)
    fn(i, context);
}

enum { MOST_TURNS = 256 }; /* pieces that can take turns */

typedef struct turns {
  size_t count, left[MOST_TURNS];
  bool taken[MOST_TURNS]; /* a thread has its turn at it */
} turns;

/* The free piece with the most turns left, so that all end together; `count`
 * when none is to be had. */
static size_t take(turns *t) {
  size_t best = t->count;
  for (size_t i = 0; i < t->count; i++)
    if (!t->taken[i] && t->left[i] &&
        (best == t->count || t->left[i] > t->left[best]))
      best = i;
  if (best < t->count) {
    t->taken[best] = true;
    t->left[best]--;
  }
  return best;
}

static void work(turns *t, tm_piece_fn fn, void *context) {
  for (size_t i = t->count;;) {
#pragma omp critical(tm_turns)
    {
      if (i < t->count)
        t->taken[i] = false;
      i = take(t);
    }
    if (i == t->count)
      return; /* what is left is in other hands */
    fn(i, context);
  }
}

void tm_parallel_turns(size_t count, size_t turns_each, int threads,
                       tm_piece_fn fn, void *context) {
  if (count < 2 || threads < 2 || count > MOST_TURNS) {
    for (size_t k = 0; k < turns_each; k++)
      tm_parallel_for(count, threads, fn, context);
    return;
  }
  turns t = {.count = count};
  for (size_t i = 0; i < count; i++)
    t.left[i] = turns_each;
  int most = count < (size_t)threads ? (int)count : threads;
#pragma omp parallel num_threads(most)
  work(&t, fn, context);
}
