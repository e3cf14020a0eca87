/* text.c - see text.h. */
#include "base/text.h"

#include "base/memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void tm_text_clear(tm_text *text) {
  tm_heap_free(text->data);
  *text = (tm_text){0};
}

static bool reserve(tm_text *text, size_t extra) {
  if (text->failed)
    return false;
  size_t need = text->length + extra + 1;
  if (need <= text->capacity)
    return true;
  size_t capacity = text->capacity ? text->capacity : 256;
  while (capacity < need)
    capacity *= 2;
  char *data = tm_heap_resize(text->data, capacity, 1);
  if (!data) {
    text->failed = true;
    return false;
  }
  text->data = data;
  text->capacity = capacity;
  return true;
}

void tm_text_add_bytes(tm_text *text, const char *bytes, size_t length) {
  if (!reserve(text, length))
    return;
  memcpy(text->data + text->length, bytes, length);
  text->length += length;
  text->data[text->length] = '\0';
}

void tm_text_add(tm_text *text, const char *string) {
  tm_text_add_bytes(text, string, strlen(string));
}

void tm_text_printf(tm_text *text, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  va_list again;
  va_copy(again, arguments);
  int length = vsnprintf(NULL, 0, format, arguments);
  va_end(arguments);
  if (length >= 0 && reserve(text, (size_t)length)) {
    vsnprintf(text->data + text->length, (size_t)length + 1, format, again);
    text->length += (size_t)length;
  }
  va_end(again);
}

void tm_text_number(tm_text *text, double value) {
  if (isnan(value)) {
    tm_text_add(text, "nan");
    return;
  }
  if (isinf(value)) {
    tm_text_add(text, value > 0 ? "inf" : "-inf");
    return;
  }
  char digits[32];
  int precision = 15; /* most values need no more; 17 always suffices */
  do
    snprintf(digits, sizeof digits, "%.*g", precision, value);
  while (precision++ < 17 && strtod(digits, NULL) != value);
  tm_text_add(text, digits);
}
