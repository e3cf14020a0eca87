/* memory.c - arenas over one heap hook; see memory.h. */
#include "base/memory.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { ALIGNMENT = 32, FIRST_BLOCK = 4096 };

/* Test instrumentation, not state the library depends on. */
static atomic_long allocations;
static atomic_long fail_at;

static bool refused(void) {
  atomic_fetch_add(&allocations, 1);
  if (atomic_load(&fail_at) <= 0)
    return false;
  return atomic_fetch_sub(&fail_at, 1) == 1;
}

void *tm_heap_alloc(size_t count, size_t size) {
  return refused() ? NULL : calloc(count ? count : 1, size ? size : 1);
}

void *tm_heap_resize(void *memory, size_t count, size_t size) {
  if (size != 0 && count > SIZE_MAX / size)
    return NULL;
  return refused() ? NULL : realloc(memory, count && size ? count * size : 1);
}

void *tm_heap_large(size_t count, size_t size) {
  enum { HUGE = 1 << 21 };
  if (size != 0 && count > (SIZE_MAX - HUGE) / size)
    return NULL;
  size_t bytes = count && size ? count * size : 1;
  if (refused())
    return NULL;
  if (bytes < 2 * (size_t)HUGE)
    return malloc(bytes);
  bytes = (bytes + HUGE - 1) / HUGE * HUGE;
  void *memory = aligned_alloc(HUGE, bytes);
#ifdef MADV_HUGEPAGE
  if (memory)
    (void)madvise(memory, bytes, MADV_HUGEPAGE); /* or as it comes */
#endif
  return memory;
}

void tm_heap_free(void *memory) { free(memory); }

char *tm_heap_text(const char *text) {
  size_t length = strlen(text) + 1;
  char *copy = tm_heap_alloc(length, 1);
  return copy ? memcpy(copy, text, length) : NULL;
}

void tm_heap_fail_at(long k) { atomic_store(&fail_at, k); }
long tm_heap_count(void) { return atomic_load(&allocations); }

typedef struct block {
  struct block *next;
  size_t used, size;
} block;

struct tm_arena {
  block *blocks;
};

static size_t aligned(size_t n) {
  return (n + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

tm_arena *tm_arena_create(void) { return tm_heap_alloc(1, sizeof(tm_arena)); }

void tm_arena_free(tm_arena *arena) {
  if (!arena)
    return;
  for (block *b = arena->blocks; b;) {
    block *next = b->next;
    tm_heap_free(b);
    b = next;
  }
  tm_heap_free(arena);
}

/* A block's memory begins at the first aligned address behind its header. */
static char *block_memory(block *b) { return (char *)aligned((size_t)(b + 1)); }

static block *add_block(tm_arena *arena, size_t need) {
  size_t size = arena->blocks ? 2 * arena->blocks->size : FIRST_BLOCK;
  while (size < need)
    size *= 2;
  block *b = tm_heap_alloc(1, sizeof(block) + ALIGNMENT + size);
  if (!b)
    return NULL;
  b->size = size;
  b->next = arena->blocks;
  arena->blocks = b;
  return b;
}

void *tm_arena_alloc(tm_arena *arena, size_t count, size_t size) {
  if (size != 0 && count > (SIZE_MAX / 4) / size)
    return NULL;
  size_t need = aligned(count && size ? count * size : 1);
  block *b = arena->blocks;
  if (!b || b->size - b->used < need)
    b = add_block(arena, need);
  if (!b)
    return NULL;
  char *memory = block_memory(b) + b->used;
  b->used += need;
  return memory;
}

char *tm_arena_text(tm_arena *arena, const char *text) {
  size_t length = strlen(text) + 1;
  char *copy = tm_arena_alloc(arena, length, 1);
  return copy ? memcpy(copy, text, length) : NULL;
}
