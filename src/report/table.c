/* table.c - see table.h. */
#include "report/table.h"

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
    snprintf(text, TM_NUMBER_TEXT, "%.4g", value);
  else
    snprintf(text, TM_NUMBER_TEXT, "%.*f", decimals, value);
}

void tm_format_short(char text[TM_NUMBER_TEXT], double value) {
  double size = fabs(value);
  if (size >= 1e7 || (size > 0 && size < 1e-4)) {
    snprintf(text, TM_NUMBER_TEXT, "%.3e", value);
    return;
  }
  int decimals = size > 0 ? 3 - (int)floor(log10(size)) : 3;
  tm_format_number(text, value, decimals < 0 ? 0 : decimals);
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

int tm_decimals(double se) {
  if (!(se > 0) || !isfinite(se))
    return 4;
  double digits = 1 - floor(log10(se));
  return digits < 0 ? 0 : digits > 8 ? 8 : (int)digits;
}

/* Characters shown, not bytes: names may be UTF-8. */
static size_t width_of(const char *cell) {
  size_t width = 0;
  for (; *cell; cell++)
    width += ((unsigned char)*cell & 0xc0) != 0x80;
  return width;
}

static void measure(const tm_table *table, size_t *widths) {
  const char *cell = table->cells.data;
  for (size_t i = 0; i < table->count; i++) {
    size_t width = width_of(cell), column = i % table->columns;
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
  size_t missing = width - width_of(cell);
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
