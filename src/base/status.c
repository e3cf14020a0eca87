/* status.c - fills a caller-owned error; see status.h. */
#include "base/status.h"

#include "base/locale.h"

#include <stdarg.h>
#include <stdio.h>

static tempera_status fail(tempera_error *error, tempera_status status,
                           int line, int column, const char *format,
                           va_list arguments) {
  if (error) {
    error->line = line;
    error->column = column;
    tm_vsnprintf(error->message, sizeof error->message, format, arguments);
  }
  return status;
}

tempera_status tm_fail(tempera_error *error, tempera_status status,
                       const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fail(error, status, 0, 0, format, arguments);
  va_end(arguments);
  return status;
}

tempera_status tm_fail_at(tempera_error *error, tempera_status status, int line,
                          int column, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fail(error, status, line, column, format, arguments);
  va_end(arguments);
  return status;
}

tempera_status tm_fail_memory(tempera_error *error) {
  return tm_fail(error, TEMPERA_ERROR_MEMORY, "out of memory");
}

const char *tempera_version(void) { return TEMPERA_VERSION; }
