/* text.c - see text.h. */
#include "base/text.h"

#include "base/locale.h"

#include "base/memory.h"

#include <float.h>
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
  int length = tm_vsnprintf(NULL, 0, format, arguments);
  va_end(arguments);
  if (length >= 0 && reserve(text, (size_t)length)) {
    tm_vsnprintf(text->data + text->length, (size_t)length + 1, format, again);
    text->length += (size_t)length;
  }
  va_end(again);
}

/* The C1 set is two bytes of UTF-8 each. */
void tm_text_plain(char *text) {
  for (unsigned char *c = (unsigned char *)text; *c; c++) {
    if (*c < 0x20 || *c == 0x7f)
      *c = '?';
    if (*c == 0xc2 && c[1] >= 0x80 && c[1] <= 0x9f)
      c[0] = c[1] = '?';
  }
}

void tm_text_trim(tm_text *text) {
  while (text->length > 0 && text->data[text->length - 1] == ' ')
    text->data[--text->length] = '\0';
}

/* ---- numbers ------------------------------------------------------------
 * Draws are written as text while they are drawn, millions of numbers to a
 * run, and printf takes about a microsecond for each. In the usual range an
 * 80-bit long double holds value * 10^k exactly enough to do without it. */

enum { MOST_POWER = 22 }; /* 10^22 is the largest power exact in a double */
static const double powers[MOST_POWER + 1] = {
    1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

/* digits / 10^scale without trailing zeros. */
static void add_decimal(tm_text *text, bool negative, uint64_t digits,
                        int scale) {
  static const char pairs[] =
      "00010203040506070809101112131415161718192021222324"
      "25262728293031323334353637383940414243444546474849"
      "50515253545556575859606162636465666768697071727374"
      "75767778798081828384858687888990919293949596979899";
  char out[48];
  char *end = out + sizeof out, *at = end;
  int more = 0;
  for (; scale > 0 && digits % 10 == 0; scale--)
    digits /= 10;
  for (; scale >= 2 + more; more += 2, digits /= 100) { /* two by two */
    at -= 2;
    memcpy(at, pairs + 2 * (digits % 100), 2);
  }
  if (more < scale) {
    *--at = (char)('0' + digits % 10);
    digits /= 10;
  }
  if (scale > 0)
    *--at = '.';
  do
    *--at = (char)('0' + digits % 10);
  while (digits /= 10);
  if (negative)
    *--at = '-';
  tm_text_add_bytes(text, at, (size_t)(end - at));
}

/* Does digits / 10^scale read back as size? When in doubt, no. */
static bool reads_back(uint64_t digits, int scale, double size) {
  if (digits <= UINT64_C(1) << 53)
    return (double)digits / powers[scale] == size;
  long double read = (long double)digits / (long double)powers[scale];
  double half = 0.5 * (size - nextafter(size, 0));
  return fabsl(read - (long double)size) < (long double)half * 0.99L;
}

/* 15 digits and up to `most` more, the fewest that read back; 17 always do:
 * their error of 0.506 units is below half the distance between doubles. False
 * outside of the range where that holds and where printf would not use an
 * exponent. */
static bool add_usual(tm_text *text, double value, int most) {
  double size = fabs(value);
  if (LDBL_MANT_DIG < 64 || !(size >= 1e-4 && size < 1e15))
    return false;
  int scale = 14;
  for (double bound = 10; size >= bound; bound *= 10)
    scale--;
  for (double bound = 1; size < bound; bound /= 10)
    scale++;
  for (int more = 0;; more++) {
    long double scaled = (long double)size * (long double)powers[scale + more];
    uint64_t digits = (uint64_t)(scaled + 0.5L);
    if (more == most || reads_back(digits, scale + more, size)) {
      add_decimal(text, value < 0, digits, scale + more);
      return true;
    }
  }
}

void tm_text_number(tm_text *text, double value) {
  if (add_usual(text, value, 2))
    return;
  if (value == 0) {
    tm_text_add(text, signbit(value) ? "-0" : "0");
    return;
  }
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
    tm_snprintf(digits, sizeof digits, "%.*g", precision, value);
  while (precision++ < 17 && tm_strtod(digits, NULL) != value);
  tm_text_add(text, digits);
}

void tm_text_number_15(tm_text *text, double value) {
  if (!add_usual(text, value, 0))
    tm_text_printf(text, "%.15g", value);
}

/* digits / 10^scale to the nearest double; false when that is not known. */
static bool divide(uint64_t digits, int scale, double *value) {
  if (digits <= UINT64_C(1) << 53) {
    *value = (double)digits / powers[scale]; /* both exact */
    return true;
  }
#if defined(__x86_64__) && LDBL_MANT_DIG == 64
  long double quotient = (long double)digits / (long double)powers[scale];
  uint64_t bits = 0; /* the first eight bytes are the digits, on x86 */
  memcpy(&bits, &quotient, sizeof bits);
  *value = (double)quotient;
  return (bits & 0x7ff) != 0x400; /* else right between two doubles, it seems */
#else
  return false;
#endif
}

/* Digits with a point among them up to a comma or the end; false for what is
 * longer or otherwise. */
static bool read_usual(const char *text, char **end, double *value) {
  const uint64_t most = UINT64_C(1000000000000000000);
  const char *at = text + (*text == '-'), *first = at, *point = NULL;
  uint64_t digits = 0;
  for (; digits < most; at++) {
    unsigned next = (unsigned)*at - '0';
    if (next <= 9)
      digits = 10 * digits + next;
    else if (*at == '.' && !point)
      point = at;
    else
      break;
  }
  ptrdiff_t scale = point ? at - point - 1 : 0;
  bool ended = *at == ',' || *at == '\0';
  if (!ended || at - first <= (point != NULL) || scale > MOST_POWER ||
      !divide(digits, (int)scale, value))
    return false;
  if (*text == '-')
    *value = -*value;
  *end = (char *)(uintptr_t)at;
  return true;
}

double tm_number_read(const char *text, char **end) {
  double value;
  return read_usual(text, end, &value) ? value : tm_strtod(text, end);
}

int tm_decimals(double se) {
  if (!(se > 0) || !isfinite(se))
    return 4;
  double digits = 1 - floor(log10(se));
  return digits < 0 ? 0 : digits > 8 ? 8 : (int)digits;
}

unsigned long tm_index_read(const char *text, const char **end) {
  static const char *const parts[] = {"real", "imag"};
  for (unsigned long i = 0; i < 2; i++)
    if (!strncmp(text, parts[i], 4)) {
      *end = text + 4;
      return i + 1;
    }
  char *after;
  unsigned long value = strtoul(text, &after, 10);
  *end = after;
  return value;
}

tempera_status tm_text_give(tm_text *text, char **out, tempera_error *error) {
  if (text->failed || !text->data) {
    tm_text_clear(text);
    return tm_fail_memory(error);
  }
  *out = text->data;
  *text = (tm_text){0};
  return TEMPERA_OK;
}
