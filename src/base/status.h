/* status.h - how functions fail: a status, and a message in a caller-owned
 * tempera_error. */
#ifndef TM_BASE_STATUS_H
#define TM_BASE_STATUS_H

#include "tempera.h"

/* Return early with the status of a failed call; use where nothing is held. */
#define TM_TRY(call)                                                           \
  do {                                                                         \
    tempera_status tm_try_status_ = (call);                                    \
    if (tm_try_status_ != TEMPERA_OK)                                          \
      return tm_try_status_;                                                   \
  } while (0)

/* The same where something is held: jump to `done`, with `status` set. */
#define TM_TRY_DONE(call)                                                      \
  do {                                                                         \
    status = (call);                                                           \
    if (status != TEMPERA_OK)                                                  \
      goto done;                                                               \
  } while (0)

/* Fill `error` (may be NULL) and give `status` back. */
tempera_status tm_fail(tempera_error *error, tempera_status status,
                       const char *format, ...)
    __attribute__((format(printf, 3, 4)));
tempera_status tm_fail_at(tempera_error *error, tempera_status status, int line,
                          int column, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
/* The one message for a failed allocation. */
tempera_status tm_fail_memory(tempera_error *error);

#endif
