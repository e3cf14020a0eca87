/* context.h - the context in use; see tempera.h. Each thread has its own: a
 * public call finds it there, and threads that the library starts take it over
 * from the one that started them. */
#ifndef TM_BASE_CONTEXT_H
#define TM_BASE_CONTEXT_H

#include "base/status.h"

struct tempera_context {
  tempera_context_settings settings;
};

/* NULL: none. */
const tempera_context *tm_context(void);
/* For this thread, and nothing more: BLAS was told by who uses the context. */
void tm_context_inherit(const tempera_context *context);
/* A message for the user. */
void tm_message(const tempera_context *context, const char *text,
                size_t length);

#endif
