/* limits.h - bounds, offsets and multipliers that depend on parameters. */
#ifndef TM_LANGUAGE_LIMITS_H
#define TM_LANGUAGE_LIMITS_H

#include "language/runtime/runtime.h"

typedef struct tm_limits_pool tm_limits_pool;
tm_limits_pool *tm_limits_pool_new(void); /* NULL: out of memory */
void tm_limits_pool_free(tm_limits_pool *pool);

/* The map of a parameter of this shape that lies at `offset` of theta. What
 * it needs is taken from the tape, and it must not outlive the pool. */
void tm_limits_map(tm_tape *tape, tm_limits_pool *pool, const tm_limits *limits,
                   const void *instance, size_t offset, const tm_tensor *shape,
                   bool shifted, tempera_map *map);

#endif
