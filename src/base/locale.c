/* locale.c - see locale.h. */
#include "base/locale.h"

#include <locale.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static locale_t plain; /* made once and kept: (locale_t)0 when out of memory */

static void make_plain(void) { plain = newlocale(LC_ALL_MASK, "C", NULL); }

static locale_t plain_locale(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, make_plain);
  return plain;
}

int tm_vsnprintf(char *out, size_t size, const char *format,
                 va_list arguments) {
  locale_t before = uselocale(plain_locale()); /* of this thread alone */
  int length = vsnprintf(out, size, format, arguments);
  uselocale(before);
  return length;
}

int tm_snprintf(char *out, size_t size, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  int length = tm_vsnprintf(out, size, format, arguments);
  va_end(arguments);
  return length;
}

double tm_strtod(const char *text, char **end) {
  locale_t locale = plain_locale();
  return locale ? strtod_l(text, end, locale) : strtod(text, end);
}

bool tm_is_alphanumeric(int c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
         (c >= 'A' && c <= 'Z');
}

bool tm_is_space(int c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
