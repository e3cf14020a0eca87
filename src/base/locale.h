/* locale.h - numbers in text, the same in any locale: a host program may have
 * called setlocale, after which printf writes 1,5 and strtod stops at the
 * point of 1.5. Whatever the library reads or writes goes through here, or
 * through text.h, which does. */
#ifndef TM_BASE_LOCALE_H
#define TM_BASE_LOCALE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

int tm_snprintf(char *out, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
int tm_vsnprintf(char *out, size_t size, const char *format, va_list arguments)
    __attribute__((format(printf, 3, 0)));
double tm_strtod(const char *text, char **end);
/* ASCII's. */
bool tm_is_alphanumeric(int c);
bool tm_is_space(int c);

#endif
