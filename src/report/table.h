/* table.h - an aligned table of text: the first column to the left, numbers
 * to the right. */
#ifndef TM_REPORT_TABLE_H
#define TM_REPORT_TABLE_H

#include "base/text.h"

enum { TM_TABLE_COLUMNS = 64 };

/* Start with {.columns = n}. Cells are added row by row; the first row holds
 * the titles. */
typedef struct tm_table {
  size_t columns;
  tm_text cells; /* NUL-terminated, one after the other */
  size_t count;
} tm_table;

void tm_table_cell(tm_table *table, const char *text);
/* A number to `decimals` places; "-" when it is NaN. */
void tm_table_number(tm_table *table, double value, int decimals);
/* Four significant digits, integers without decimals. */
void tm_table_short(tm_table *table, double value);
void tm_table_probability(tm_table *table, double value);
/* Append the table and free it. */
void tm_table_print(tm_table *table, bool colour, tm_text *out);

/* Emphasis for terminals; "" when colour is off. */
const char *tm_bold(bool colour);
const char *tm_plain(bool colour);

/* Numbers as the tables show them: to `decimals` places, "-" when NaN; and
 * to four significant digits. */
enum { TM_NUMBER_TEXT = 64 };
void tm_format_number(char text[TM_NUMBER_TEXT], double value, int decimals);
void tm_format_short(char text[TM_NUMBER_TEXT], double value);
/* A probability, or its standard error: 0.4571, 2.7e-13. */
void tm_format_probability(char text[TM_NUMBER_TEXT], double value);

/* Columns that a UTF-8 text takes on a terminal. */
size_t tm_width(const char *text);

#endif
