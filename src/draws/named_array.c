/* named_array.c - see named_array.h. */
#include "draws/named_array.h"

#include "base/text.h"

#include <stdlib.h>
#include <string.h>

/* The length of the name before its indices. */
static size_t base_length(const char *name) { return strcspn(name, "["); }

/* x[1,3] gives 1 and 3; false when these are not indices. */
static bool read_indices(const char *name, size_t *rank,
                         size_t index[TM_ARRAY_RANK]) {
  const char *at = name + base_length(name);
  *rank = 0;
  if (*at == '\0')
    return true;
  do {
    const char *end;
    unsigned long value = tm_index_read(at + 1, &end);
    if (value == 0 || *rank == TM_ARRAY_RANK)
      return false;
    index[(*rank)++] = value;
    at = end;
  } while (*at == ',');
  return strcmp(at, "]") == 0;
}

/* Rank and sizes of the values from `first` on that share a name; false when
 * they are no array. */
static bool measure(const char *const *names, tm_named_array *a) {
  for (size_t i = 0; i < a->count; i++) {
    size_t rank, index[TM_ARRAY_RANK];
    if (!read_indices(names[a->first + i], &rank, index) || rank == 0)
      return false;
    if (i == 0)
      a->rank = rank;
    if (rank != a->rank)
      return false;
    for (size_t k = 0; k < rank; k++)
      if (index[k] > a->dims[k])
        a->dims[k] = index[k];
  }
  size_t total = 1;
  for (size_t k = 0; k < a->rank; k++) {
    if (a->dims[k] > a->count / total)
      return false; /* holes; and no overflow */
    total *= a->dims[k];
  }
  return total == a->count;
}

/* False when two values share a place. */
static bool find_places(const char *const *names, const tm_named_array *a,
                        size_t *place, bool *taken) {
  for (size_t i = 0; i < a->count; i++) {
    size_t rank, index[TM_ARRAY_RANK], at = 0;
    read_indices(names[a->first + i], &rank, index);
    for (size_t k = 0; k < rank; k++)
      at = at * a->dims[k] + index[k] - 1;
    if (taken[at])
      return false;
    taken[at] = true;
    place[i] = at;
  }
  return true;
}

static size_t run_length(const char *const *names, size_t count) {
  size_t length = base_length(names[0]), n = 1;
  if (names[0][length] == '\0')
    return 1;
  while (n < count && strncmp(names[n], names[0], length + 1) == 0)
    n++;
  return n;
}

static tempera_status make_array(const char *const *names, tm_named_array *a,
                                 tm_arena *arena, tempera_error *error) {
  size_t *place = TM_NEW(arena, size_t, a->count);
  bool *taken = TM_NEW(arena, bool, a->count);
  char *name = tm_arena_text(arena, names[a->first]);
  if (!place || !taken || !name)
    return tm_fail_memory(error);
  a->place = place;
  if (measure(names, a) && find_places(names, a, place, taken)) {
    name[base_length(name)] = '\0';
  } else {
    a->count = 1;
    a->rank = 0;
    place[0] = 0;
  }
  a->name = name;
  return TEMPERA_OK;
}

tempera_status tm_named_arrays(const char *const *names, size_t count,
                               tm_arena *arena, tm_named_array **arrays,
                               size_t *array_count, tempera_error *error) {
  tm_named_array *list = TM_NEW(arena, tm_named_array, count);
  size_t made = 0;
  if (!list)
    return tm_fail_memory(error);
  for (size_t i = 0; i < count; i += list[made++].count) {
    list[made] =
        (tm_named_array){.first = i, .count = run_length(names + i, count - i)};
    TM_TRY(make_array(names, &list[made], arena, error));
  }
  *arrays = list;
  *array_count = made;
  return TEMPERA_OK;
}
