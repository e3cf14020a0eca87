/* text.h - a growing string, for everything the library writes as text. */
#ifndef TM_BASE_TEXT_H
#define TM_BASE_TEXT_H

#include "base/status.h"

#include <stdarg.h>

/* Start with {0}. A failed allocation sets `failed` and later calls do
 * nothing, so only the end needs a check. Free with tm_text_clear, or take
 * `data` over. */
typedef struct tm_text {
  char *data; /* NUL-terminated once anything was added */
  size_t length, capacity;
  bool failed;
} tm_text;

void tm_text_clear(tm_text *text);
void tm_text_add(tm_text *text, const char *string);
void tm_text_add_bytes(tm_text *text, const char *bytes, size_t length);
void tm_text_printf(tm_text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Every control character becomes '?': what comes from files and names is not
 * to end a line or to steer a terminal. */
void tm_text_plain(char *text);
/* The text as its caller's, for tempera_text_free. */
TEMPERA_CHECKED tempera_status tm_text_give(tm_text *text, char **out,
                                            tempera_error *error);
/* Drop spaces at the end. */
void tm_text_trim(tm_text *text);
/* The shortest decimal that reads back as the same double; nan and inf as
 * Stan CSV spells them (nan, inf, -inf). */
void tm_text_number(tm_text *text, double value);
/* With 15 digits, as by "%.15g"; halves may go the other way. */
void tm_text_number_15(tm_text *text, double value);
/* As strtod, only faster for numbers as tm_text_number writes them. */
double tm_number_read(const char *text, char **end);

/* An index in the name of a value, as in x[2,1]: a number from 1 on, or the
 * part of a complex number, real being the first and imag the second. 0:
 * neither. */
unsigned long tm_index_read(const char *text, const char **end);

/* Decimals that show two digits of the standard error. */
int tm_decimals(double se);

#endif
