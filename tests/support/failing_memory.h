/* failing_memory.h - a context whose allocator counts, and fails when told to:
 * what tests of half-made things stand on. */
#ifndef TM_TESTS_FAILING_MEMORY_H
#define TM_TESTS_FAILING_MEMORY_H

#include "tempera.h"

#include <stdatomic.h>
#include <stdlib.h>

static atomic_long heap_allocations, heap_fails_at;

static inline bool heap_refuses(void) {
  atomic_fetch_add(&heap_allocations, 1);
  return atomic_load(&heap_fails_at) > 0 &&
         atomic_fetch_sub(&heap_fails_at, 1) == 1;
}
static inline void *heap_allocate(size_t size, void *user) {
  (void)user;
  return heap_refuses() ? NULL : malloc(size);
}
static inline void *heap_resize(void *memory, size_t size, void *user) {
  (void)user;
  return heap_refuses() ? NULL : realloc(memory, size);
}
static inline void heap_release(void *memory, void *user) {
  (void)user;
  free(memory);
}

/* Used from the first call on; memory of before may be freed under it, for
 * both are malloc's. */
static inline void heap_watch(void) {
  static tempera_context *context;
  const tempera_context_settings settings = {.allocate = heap_allocate,
                                             .resize = heap_resize,
                                             .release = heap_release};
  if (!context && tempera_context_create(&settings, &context, NULL))
    abort();
  tempera_context_use(context);
}

/* Fail the k-th allocation from now (0: never). */
static inline void heap_fail_at(long k) {
  heap_watch();
  atomic_store(&heap_fails_at, k);
}
/* The number of allocations so far. */
static inline long heap_count(void) {
  heap_watch();
  return atomic_load(&heap_allocations);
}

#endif
