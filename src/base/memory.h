/* memory.h - an arena: many allocations, one free. Things that live together
 * (a chain, a ridge, a summary) allocate from one arena when they are created,
 * so that sweeps allocate nothing and cleaning up is one call. */
#ifndef TM_BASE_MEMORY_H
#define TM_BASE_MEMORY_H

#include "base/status.h"

typedef struct tm_arena tm_arena;

tm_arena *tm_arena_create(void); /* NULL when out of memory */
void tm_arena_free(tm_arena *arena);
/* Zeroed memory for count items of this size, aligned for any type and for
 * 32-byte vectors; NULL when out of memory or when count * size overflows. */
void *tm_arena_alloc(tm_arena *arena, size_t count, size_t size);
char *tm_arena_text(tm_arena *arena, const char *text); /* a copy */

#define TM_NEW(arena, type, count)                                             \
  ((type *)tm_arena_alloc((arena), (count), sizeof(type)))

/* A new arena with one zeroed object in it, which will keep it; NULL both when
 * out of memory. */
void *tm_arena_begin(tm_arena **arena, size_t size);

#define TM_BEGIN(arena, type) ((type *)tm_arena_begin((arena), sizeof(type)))

/* The heap, for what must grow or be freed apart: malloc's, or that of the
 * context in use. Every heap call of the library, arenas included, comes
 * through here. */
void *tm_heap_alloc(size_t count, size_t size); /* zeroed */
void *tm_heap_resize(void *memory, size_t count, size_t size);
/* Not zeroed, and in huge pages where it is large: for what is filled as it
 * comes, since a first touch of every 4 KiB would be felt. */
void *tm_heap_large(size_t count, size_t size);
void tm_heap_free(void *memory);
/* Room for one more in a list on the heap of which `count` items are in use;
 * new ones are zeroed. `list` points to the pointer to it, which may move.
 * False, and the list as it was, when out of memory. */
bool tm_list_room(void *list, size_t count, size_t *capacity, size_t size);
char *tm_heap_text(const char *text);

/* For work with many small allocations whose failures are not looked at one by
 * one (a page, a JSON text): begin, and at the end ask whether this thread has
 * asked in vain since, jansson's asking included. `outer` is what begin gave:
 * such work may be part of other such work, which will then know, too. */
bool tm_memory_watch(void);
bool tm_memory_was_short(bool outer);
void tm_memory_note_short(void);

#endif
