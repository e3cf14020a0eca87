/* sized.h - structs of callers that were built against an older or a newer
 * tempera.h, whose structs have fewer or more fields at their end. */
#ifndef TM_BASE_SIZED_H
#define TM_BASE_SIZED_H

#include "base/status.h"

/* Copy the caller's struct over ours, which holds the defaults: fields that
 * the caller does not know stay. Fields that we do not know must be zero. */
TEMPERA_CHECKED tempera_status tm_sized_take(void *ours, size_t our_size,
                                             const void *given,
                                             size_t given_size,
                                             tempera_error *error);
/* Copy ours to the caller: what it knows of it, zero what we do not. */
void tm_sized_give(void *to, size_t to_size, const void *ours, size_t our_size);

#endif
