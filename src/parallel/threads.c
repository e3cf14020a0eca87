/* threads.c - see threads.h. */
#include "parallel/threads.h"

#include <omp.h>

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
