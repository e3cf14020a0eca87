/* source.c - complaints that point at the source, and suggestions for
 * misspelt names. */
#include "language/read/source.h"

#include "base/locale.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { WINDOW = 72 }; /* columns of the source line shown */

/* Append to a fixed buffer; what does not fit is cut. */
static void append(char *out, size_t size, size_t *used, const char *bytes,
                   size_t count) {
  for (size_t i = 0; i < count && *used + 1 < size; i++)
    out[(*used)++] = bytes[i];
  out[*used] = '\0';
}

static const char *line_start(const tm_file *source, int line) {
  const char *at = source->text, *end = source->text + source->length;
  for (int i = 1; i < line && at; i++) {
    at = memchr(at, '\n', (size_t)(end - at));
    at = at ? at + 1 : NULL;
  }
  return at ? at : end;
}

/* The line, windowed around the column, and a caret beneath. Tabs and
 * unprintable bytes become spaces so that the caret stands right. */
static void show_line(const tm_file *source, int line, int column, char *out,
                      size_t size, size_t *used) {
  const char *start = line_start(source, line);
  size_t left = source->length - (size_t)(start - source->text);
  const char *newline = memchr(start, '\n', left);
  size_t length = newline ? (size_t)(newline - start) : left;
  size_t at = column > 0 ? (size_t)column - 1 : 0;
  if (at > length)
    at = length;
  size_t first = at > WINDOW - 12 ? at - (WINDOW - 12) : 0;
  size_t last = length - first > WINDOW ? first + WINDOW : length;
  append(out, size, used, "\n  ", 3);
  for (size_t i = first; i < last; i++) {
    char c = start[i];
    append(out, size, used, (unsigned char)c < 32 ? " " : &c, 1);
  }
  append(out, size, used, "\n  ", 3);
  for (size_t i = first; i < at; i++)
    append(out, size, used, " ", 1);
  append(out, size, used, "^", 1);
}

/* An error has a place in the program that was named: of an included file,
 * that of the outermost #include, and the message says where in it. */
static tempera_status complain(const tm_source *source, const tm_file *file,
                               int line, int column, const char *format,
                               va_list arguments) {
  tempera_error *error = source->error;
  if (!error)
    return TEMPERA_ERROR_INPUT;
  const tm_file *outer = file;
  error->line = line;
  error->column = column;
  for (; outer->from; outer = outer->from) {
    error->line = outer->line;
    error->column = outer->column;
  }
  size_t room = sizeof error->message - 2 * (WINDOW + 8), used = 0;
  if (outer != file) {
    char place[160];
    snprintf(place, sizeof place, "in %.100s:%d:%d: ", file->name, line,
             column);
    append(error->message, room, &used, place, strlen(place));
  }
  int wrote =
      tm_vsnprintf(error->message + used, room - used, format, arguments);
  used += wrote < 0 ? 0 : (size_t)wrote;
  if (used >= room)
    used = room - 1;
  show_line(file, line, column, error->message, sizeof error->message, &used);
  return TEMPERA_ERROR_INPUT;
}

tempera_status tm_complain(const tm_source *source, const tm_token *token,
                           const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  tempera_status status = complain(source, token->file, token->line,
                                   token->column, format, arguments);
  va_end(arguments);
  return status;
}

tempera_status tm_complain_at(const tm_source *source, const tm_file *file,
                              int line, int column, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  tempera_status status =
      complain(source, file, line, column, format, arguments);
  va_end(arguments);
  return status;
}

const char *tm_place_text(const tm_token *token, char *buffer) {
  int used = snprintf(buffer, TM_PLACE, "%d:%d", token->line, token->column);
  if (!token->file->from)
    return buffer;
  used += snprintf(buffer + used, TM_PLACE - (size_t)used, " of %s",
                   token->file->name);
  for (char *at = buffer; *at; at++) /* it goes into strings of C */
    if (*at == '"' || *at == '\\' || *at == '%' || (unsigned char)*at < 32)
      *at = '?';
  return buffer;
}

enum { LONGEST = 63 };

static size_t least(size_t a, size_t b, size_t c) {
  size_t m = a < b ? a : b;
  return m < c ? m : c;
}

size_t tm_edit_distance(const char *a, const char *b) {
  size_t n = strlen(a), m = strlen(b);
  if (n > LONGEST || m > LONGEST)
    return LONGEST;
  size_t rows[3][LONGEST + 1];
  size_t *before = rows[0], *above = rows[1], *row = rows[2];
  for (size_t j = 0; j <= m; j++)
    above[j] = j;
  for (size_t i = 1; i <= n; i++) {
    row[0] = i;
    for (size_t j = 1; j <= m; j++) {
      row[j] = least(above[j] + 1, row[j - 1] + 1,
                     above[j - 1] + (a[i - 1] != b[j - 1]));
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
          before[j - 2] + 1 < row[j])
        row[j] = before[j - 2] + 1;
    }
    size_t *free_row = before;
    before = above;
    above = row;
    row = free_row;
  }
  return above[m];
}

void tm_suggestion_offer(tm_suggestion *suggestion, const char *name) {
  size_t distance = tm_edit_distance(suggestion->wanted, name);
  size_t limit = 1 + strlen(suggestion->wanted) / 4;
  if (distance <= limit && distance < strlen(suggestion->wanted) &&
      (!suggestion->best || distance < suggestion->distance)) {
    suggestion->best = name;
    suggestion->distance = distance;
  }
}

const char *tm_suggestion_text(const tm_suggestion *suggestion, char *buffer,
                               size_t size) {
  if (!suggestion->best)
    return "";
  snprintf(buffer, size, "; did you mean '%s'?", suggestion->best);
  return buffer;
}
