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

/* nan and infinities; false for finite values. */
static bool add_special(tm_text *text, double value) {
  if (isfinite(value))
    return false;
  tm_text_add(text, isnan(value) ? "nan" : value > 0 ? "inf" : "-inf");
  return true;
}

void tm_text_number(tm_text *text, double value) {
  if (add_special(text, value))
    return;
  char digits[32];
  int precision = 15; /* most values need no more; 17 always suffices */
  do
    snprintf(digits, sizeof digits, "%.*g", precision, value);
  while (precision++ < 17 && strtod(digits, NULL) != value);
  tm_text_add(text, digits);
}

enum { DIGITS = 12 };
static const uint64_t TOP = 1000000000000; /* 10^DIGITS */

/* 10^n for |n| up to 350, by squaring; long double keeps 12 digits exact
 * enough. */
static long double power_of_ten(int n) {
  static const long double POWERS[] = {1e1L,  1e2L,  1e4L,   1e8L,  1e16L,
                                       1e32L, 1e64L, 1e128L, 1e256L};
  long double power = 1;
  for (int bit = 0, rest = abs(n); rest; bit++, rest >>= 1)
    if (rest & 1)
      power *= POWERS[bit];
  return n < 0 ? 1 / power : power;
}

/* value = digits * 10^(exponent - DIGITS + 1), 10^(DIGITS-1) <= digits. */
static uint64_t scale_to_digits(double value, int *exponent) {
  int binary;
  frexp(value, &binary);
  int e = (int)floor((binary - 1) * 0.30102999566398120);
  long double scaled = value * power_of_ten(DIGITS - 1 - e);
  if (scaled >= (long double)TOP - 0.5L) {
    scaled /= 10;
    e++;
  }
  *exponent = e;
  return (uint64_t)(scaled + 0.5L);
}

/* The digits, without trailing zeros; their number is returned. */
static int spell_digits(uint64_t digits, char spelt[DIGITS]) {
  for (int i = DIGITS - 1; i >= 0; i--, digits /= 10)
    spelt[i] = (char)('0' + digits % 10);
  int count = DIGITS;
  while (count > 1 && spelt[count - 1] == '0')
    count--;
  return count;
}

static size_t spell_fixed(char *out, const char *digits, int count,
                          int exponent) {
  char *at = out;
  if (exponent < 0) {
    *at++ = '0';
    *at++ = '.';
    for (int i = -1; i > exponent; i--)
      *at++ = '0';
  }
  for (int i = 0; i < count || i <= exponent; i++) {
    if (i == exponent + 1 && exponent >= 0)
      *at++ = '.';
    *at++ = i < count ? digits[i] : '0';
  }
  return (size_t)(at - out);
}

void tm_text_draw(tm_text *text, double value) {
  if (add_special(text, value))
    return;
  if (value == 0) {
    tm_text_add_bytes(text, "0", 1);
    return;
  }
  char spelt[DIGITS], out[40];
  int exponent;
  int count = spell_digits(scale_to_digits(fabs(value), &exponent), spelt);
  if (value < 0)
    tm_text_add_bytes(text, "-", 1);
  bool fixed = exponent >= -5 && exponent < DIGITS;
  size_t length = spell_fixed(out, spelt, count, fixed ? exponent : 0);
  tm_text_add_bytes(text, out, length);
  if (!fixed)
    tm_text_printf(text, "e%d", exponent);
}
