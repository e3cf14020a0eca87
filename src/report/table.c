/* table.c - see table.h. */
#include "report/table.h"

#include "base/locale.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const char *tm_bold(bool colour) { return colour ? "\033[1m" : ""; }
const char *tm_plain(bool colour) { return colour ? "\033[0m" : ""; }

void tm_table_cell(tm_table *table, const char *text) {
  tm_text_add_bytes(&table->cells, text, strlen(text) + 1);
  table->count++;
}

void tm_format_number(char text[TM_NUMBER_TEXT], double value, int decimals) {
  if (isnan(value))
    snprintf(text, TM_NUMBER_TEXT, "-");
  else if (fabs(value) >= 1e10)
    tm_snprintf(text, TM_NUMBER_TEXT, "%.4g", value);
  else
    tm_snprintf(text, TM_NUMBER_TEXT, "%.*f", decimals, value);
}

void tm_format_short(char text[TM_NUMBER_TEXT], double value) {
  double size = fabs(value);
  if (size >= 1e7 || (size > 0 && size < 1e-4)) {
    tm_snprintf(text, TM_NUMBER_TEXT, "%.3e", value);
    return;
  }
  int decimals = size > 0 ? 3 - (int)floor(log10(size)) : 3;
  tm_format_number(text, value, decimals < 0 ? 0 : decimals);
}

/* Four decimals, while they show anything. */
void tm_format_probability(char text[TM_NUMBER_TEXT], double value) {
  if (value > 0 && value < 1e-3)
    tm_snprintf(text, TM_NUMBER_TEXT, "%.1e", value);
  else
    tm_format_number(text, value, value == 0 ? 0 : 4);
}

void tm_table_number(tm_table *table, double value, int decimals) {
  char text[TM_NUMBER_TEXT];
  tm_format_number(text, value, decimals);
  tm_table_cell(table, text);
}

void tm_table_short(tm_table *table, double value) {
  char text[TM_NUMBER_TEXT];
  tm_format_short(text, value);
  tm_table_cell(table, text);
}

void tm_table_probability(tm_table *table, double value) {
  char text[TM_NUMBER_TEXT];
  tm_format_probability(text, value);
  tm_table_cell(table, text);
}

/* The code point that begins here, and its length; bytes that are no UTF-8
 * count one each. */
static size_t decode(const char *text, uint32_t *point) {
  const unsigned char *c = (const unsigned char *)text;
  size_t length = c[0] < 0xc0 ? 1 : c[0] < 0xe0 ? 2 : c[0] < 0xf0 ? 3 : 4;
  *point = length == 1 ? c[0] : c[0] & (0xffU >> (length + 1));
  for (size_t i = 1; i < length; i++) {
    if ((c[i] & 0xc0) != 0x80)
      return i;
    *point = *point << 6 | (c[i] & 0x3f);
  }
  return length;
}

/* Combining marks take no column, East Asian characters and pictures two. */
static size_t point_width(uint32_t point) {
  static const struct {
    uint32_t first, last, width;
  } ranges[] = {
      {0x300, 0x36f, 0},   {0x1100, 0x115f, 2},   {0x200b, 0x200f, 0},
      {0x2e80, 0xa4cf, 2}, {0xac00, 0xd7a3, 2},   {0xf900, 0xfaff, 2},
      {0xfe00, 0xfe0f, 0}, {0xfe30, 0xfe6f, 2},   {0xff00, 0xff60, 2},
      {0xffe0, 0xffe6, 2}, {0x1f300, 0x1faff, 2}, {0x20000, 0x3fffd, 2}};
  for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
    if (point >= ranges[i].first && point <= ranges[i].last)
      return ranges[i].width;
  return 1;
}

size_t tm_width(const char *text) {
  size_t width = 0;
  while (*text) {
    uint32_t point;
    text += decode(text, &point);
    width += point_width(point);
  }
  return width;
}

static void measure(const tm_table *table, size_t *widths) {
  const char *cell = table->cells.data;
  for (size_t i = 0; i < table->count; i++) {
    size_t width = tm_width(cell), column = i % table->columns;
    if (width > widths[column])
      widths[column] = width;
    cell += strlen(cell) + 1;
  }
}

static void pad(tm_text *out, size_t n) {
  while (n-- > 0)
    tm_text_add(out, " ");
}

static void print_cell(tm_text *out, const char *cell, size_t width, bool left,
                       bool last) {
  size_t missing = width - tm_width(cell);
  if (!left)
    pad(out, missing);
  tm_text_add(out, cell);
  if (left && !last)
    pad(out, missing);
  if (!last)
    tm_text_add(out, "  ");
}

void tm_table_print(tm_table *table, bool colour, tm_text *out) {
  size_t widths[TM_TABLE_COLUMNS] = {0};
  const char *cell = table->cells.data;
  out->failed = out->failed || table->cells.failed;
  if (!out->failed && cell) {
    measure(table, widths);
    for (size_t i = 0; i < table->count; i++) {
      size_t column = i % table->columns;
      bool last = column + 1 == table->columns;
      if (column == 0)
        tm_text_add(out, "  ");
      if (i == 0)
        tm_text_add(out, tm_bold(colour));
      print_cell(out, cell, widths[column], column == 0, last);
      if (i + 1 == table->columns)
        tm_text_add(out, tm_plain(colour));
      if (last) {
        tm_text_trim(out);
        tm_text_add(out, "\n");
      }
      cell += strlen(cell) + 1;
    }
  }
  tm_text_clear(&table->cells);
}
