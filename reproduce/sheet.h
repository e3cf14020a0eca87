/* sheet.h - a table of the paper, held once as JSON and written as text, CSV
 * and a section of the page.
 *
 *   { "name": "table2", "title": "...",
 *     "columns": [ {"key": "log_z", "title": "log Z", "decimals": 3}, ... ],
 *     "rows": [ ["TI-PT-B, T=30", -38.25, ...], ... ], "notes": [ "..." ] }
 */
#ifndef TM_REPRODUCE_SHEET_H
#define TM_REPRODUCE_SHEET_H

#include "base/json.h"

enum {
  TM_SHEET_TEXT = -1,       /* a column of words */
  TM_SHEET_SIGNIFICANT = -2 /* numbers to five significant digits */
};

/* Free with json_decref. */
json_t *tm_sheet_create(const char *name, const char *title);
/* `decimals` places, or one of the kinds above. */
void tm_sheet_column(json_t *sheet, const char *key, const char *title,
                     int decimals);
/* A new row; the sheet owns it. Cells follow in the order of the columns. */
json_t *tm_sheet_row(json_t *sheet, const char *label);
void tm_sheet_number(json_t *row, double value); /* NaN: an empty cell */
void tm_sheet_words(json_t *row, const char *words);
void tm_sheet_note(json_t *sheet, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

void tm_sheet_print(const json_t *sheet, bool colour, tm_text *out);
void tm_sheet_csv(const json_t *sheet, tm_text *out);

#endif
