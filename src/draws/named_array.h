/* named_array.h - arrays behind flat names: mu[1], mu[2] are one array of two,
 * B[1,1], B[2,1], ... a matrix, in whatever order they come. The parts of
 * complex numbers, z[1,real] and z[1,imag], are a last dimension of two. */
#ifndef TM_DRAWS_NAMED_ARRAY_H
#define TM_DRAWS_NAMED_ARRAY_H

#include "base/memory.h"

enum { TM_ARRAY_RANK = 8 };

/* Values first .. first+count-1 of the names. */
typedef struct tm_named_array {
  const char *name; /* without indices */
  size_t first, count;
  size_t rank, dims[TM_ARRAY_RANK]; /* outermost first */
  const size_t *place; /* row-major place in the array of each value */
} tm_named_array;

/* Allocated in the arena; what is no full array stays single values. */
TEMPERA_CHECKED tempera_status tm_named_arrays(const char *const *names,
                                               size_t count, tm_arena *arena,
                                               tm_named_array **arrays,
                                               size_t *array_count,
                                               tempera_error *error);

#endif
