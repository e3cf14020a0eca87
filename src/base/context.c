/* context.c - see context.h. */
#include "base/context.h"

#include "base/sized.h"

#include <cblas.h>
#include <stdio.h>
#include <stdlib.h>

static _Thread_local const tempera_context *current;

const tempera_context *tm_context(void) { return current; }

void tm_context_inherit(const tempera_context *context) { current = context; }

tempera_status
tempera_context_create_sized(const tempera_context_settings *settings,
                             size_t size, tempera_context **context,
                             tempera_error *error) {
  tempera_context made = {0};
  const tempera_context_settings *s = &made.settings;
  TM_TRY(tm_sized_take(&made.settings, sizeof made.settings, settings, size,
                       error));
  int given =
      (s->allocate != NULL) + (s->resize != NULL) + (s->release != NULL);
  if (given % 3 != 0 || s->blas_threads < 0)
    return tm_fail(error, TEMPERA_ERROR_ARGUMENT,
                   "a context needs all of allocate, resize and release or "
                   "none, and no negative number of threads");
  tempera_context *kept = malloc(sizeof *kept); /* before any context */
  if (!kept)
    return tm_fail_memory(error);
  *kept = made;
  *context = kept;
  return TEMPERA_OK;
}

void tempera_context_free(tempera_context *context) { free(context); }

const tempera_context *tempera_context_use(const tempera_context *context) {
  const tempera_context *before = current;
  current = context;
  if (context && context->settings.blas_threads > 0)
    openblas_set_num_threads(context->settings.blas_threads);
  return before;
}

void tm_message(const tempera_context *context, const char *text,
                size_t length) {
  if (context && context->settings.message)
    context->settings.message(text, length, context->settings.message_user);
  else
    fwrite(text, 1, length, stderr);
}
