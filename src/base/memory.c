/* memory.c - arenas over the context's heap; see memory.h. */
#include "base/memory.h"

#include "base/context.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { ALIGNMENT = 32, FIRST_BLOCK = 4096, HUGE_PAGE = 1 << 21 };

/* The caller's allocator, or NULL. */
static const tempera_context_settings *allocator(void) {
  const tempera_context *context = tm_context();
  return context && context->settings.allocate ? &context->settings : NULL;
}

/* Zeroed, or not. */
static void *allocate(const tempera_context_settings *by, size_t bytes,
                      bool zeroed) {
  void *memory = by->allocate(bytes, by->memory_user);
  return memory && zeroed ? memset(memory, 0, bytes) : memory;
}

static bool overflows(size_t count, size_t size) {
  return size != 0 && count > (SIZE_MAX - HUGE_PAGE) / size;
}

static _Thread_local bool was_short;

bool tm_memory_watch(void) {
  bool outer = was_short;
  was_short = false;
  return outer;
}

bool tm_memory_was_short(bool outer) {
  bool was = was_short;
  was_short = was || outer;
  return was;
}

void tm_memory_note_short(void) { was_short = true; }

static void *noted(void *memory) {
  if (!memory)
    was_short = true;
  return memory;
}

void *tm_heap_alloc(size_t count, size_t size) {
  const tempera_context_settings *by = allocator();
  count = count ? count : 1;
  size = size ? size : 1;
  if (!by)
    return noted(calloc(count, size));
  return noted(overflows(count, size) ? NULL
                                      : allocate(by, count * size, true));
}

void *tm_heap_resize(void *memory, size_t count, size_t size) {
  const tempera_context_settings *by = allocator();
  if (overflows(count, size))
    return noted(NULL);
  size_t bytes = count && size ? count * size : 1;
  return noted(by ? by->resize(memory, bytes, by->memory_user)
                  : realloc(memory, bytes));
}

bool tm_list_room(void *list, size_t count, size_t *capacity, size_t size) {
  char *items;
  if (count < *capacity)
    return true;
  size_t larger = 2 * *capacity + 16;
  memcpy(&items, list, sizeof items); /* a pointer of any type */
  items = tm_heap_resize(items, larger, size);
  if (!items)
    return false;
  memset(items + *capacity * size, 0, (larger - *capacity) * size);
  memcpy(list, &items, sizeof items);
  *capacity = larger;
  return true;
}

void *tm_heap_large(size_t count, size_t size) {
  const tempera_context_settings *by = allocator();
  if (overflows(count, size))
    return noted(NULL);
  size_t bytes = count && size ? count * size : 1;
  if (by)
    return noted(allocate(by, bytes, false));
  if (bytes < 2 * (size_t)HUGE_PAGE)
    return noted(malloc(bytes));
  bytes = (bytes + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
  void *memory = aligned_alloc(HUGE_PAGE, bytes);
#ifdef MADV_HUGEPAGE
  if (memory)
    (void)madvise(memory, bytes, MADV_HUGEPAGE); /* or as it comes */
#endif
  return noted(memory);
}

void tm_heap_free(void *memory) {
  const tempera_context_settings *by = allocator();
  if (!by)
    free(memory);
  else if (memory)
    by->release(memory, by->memory_user);
}

char *tm_heap_text(const char *text) {
  size_t length = strlen(text) + 1;
  char *copy = tm_heap_alloc(length, 1);
  return copy ? memcpy(copy, text, length) : NULL;
}

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

void *tm_arena_begin(tm_arena **arena, size_t size) {
  *arena = tm_arena_create();
  void *made = *arena ? tm_arena_alloc(*arena, 1, size) : NULL;
  if (!made) {
    tm_arena_free(*arena);
    *arena = NULL;
  }
  return made;
}

char *tm_arena_text(tm_arena *arena, const char *text) {
  size_t length = strlen(text) + 1;
  char *copy = tm_arena_alloc(arena, length, 1);
  return copy ? memcpy(copy, text, length) : NULL;
}
