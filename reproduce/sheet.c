/* sheet.c - tables as JSON, text and CSV. */
#include "reproduce/sheet.h"

#include "base/locale.h"
#include "report/table.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { CELL = 512 };

json_t *tm_sheet_create(const char *name, const char *title) {
  return json_pack("{s:s, s:s, s:[], s:[], s:[]}", "name", name, "title", title,
                   "columns", "rows", "notes");
}

void tm_sheet_column(json_t *sheet, const char *key, const char *title,
                     int decimals) {
  json_array_append_new(json_object_get(sheet, "columns"),
                        json_pack("{s:s, s:s, s:i}", "key", key, "title", title,
                                  "decimals", decimals));
}

json_t *tm_sheet_row(json_t *sheet, const char *label) {
  json_t *row = json_array();
  json_array_append_new(json_object_get(sheet, "rows"), row);
  tm_sheet_words(row, label);
  return row;
}

void tm_sheet_number(json_t *row, double value) {
  json_array_append_new(row, isfinite(value) ? json_real(value) : json_null());
}

void tm_sheet_words(json_t *row, const char *words) {
  json_array_append_new(row, json_string(words));
}

void tm_sheet_note(json_t *sheet, const char *format, ...) {
  char text[2048];
  va_list arguments;
  va_start(arguments, format);
  tm_vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  json_array_append_new(json_object_get(sheet, "notes"), json_string(text));
}

static const json_t *column_of(const json_t *sheet, size_t column) {
  return json_array_get(json_object_get(sheet, "columns"), column);
}

static const char *title_of(const json_t *object) {
  return json_string_value(json_object_get(object, "title"));
}

/* The cell as people read it; "" when empty. */
static void cell_text(const json_t *sheet, size_t column, const json_t *cell,
                      char *out, size_t size) {
  int decimals = (int)json_integer_value(
      json_object_get(column_of(sheet, column), "decimals"));
  if (json_is_string(cell))
    snprintf(out, size, "%s", json_string_value(cell));
  else if (!json_is_number(cell))
    snprintf(out, size, "%s", "");
  else if (decimals < 0)
    tm_snprintf(out, size, "%.5g", json_number_value(cell));
  else
    tm_snprintf(out, size, "%.*f", decimals, json_number_value(cell));
}

void tm_sheet_print(const json_t *sheet, bool colour, tm_text *out) {
  json_t *columns = json_object_get(sheet, "columns"), *row, *cell, *note;
  tm_table table = {.columns = json_array_size(columns)};
  size_t i, j;
  char text[CELL];
  tm_text_printf(out, "%s%s%s\n", tm_bold(colour), title_of(sheet),
                 tm_plain(colour));
  json_array_foreach(columns, i, cell) tm_table_cell(&table, title_of(cell));
  json_array_foreach(json_object_get(sheet, "rows"), i, row) {
    json_array_foreach(row, j, cell) {
      cell_text(sheet, j, cell, text, sizeof text);
      tm_table_cell(&table, text);
    }
  }
  tm_table_print(&table, colour, out);
  json_array_foreach(json_object_get(sheet, "notes"), i, note)
      tm_text_printf(out, "  %s\n", json_string_value(note));
  tm_text_add(out, "\n");
}

/* RFC 4180: quoted where it must be. */
static void csv_text(tm_text *out, const char *text) {
  bool quote = text[strcspn(text, ",\"\r\n")] != '\0';
  tm_text_add(out, quote ? "\"" : "");
  for (; *text; text++) {
    tm_text_add(out, *text == '"' ? "\"" : "");
    tm_text_add_bytes(out, text, 1);
  }
  tm_text_add(out, quote ? "\"" : "");
}

void tm_sheet_csv(const json_t *sheet, tm_text *out) {
  json_t *row, *cell;
  size_t i, j;
  json_array_foreach(json_object_get(sheet, "columns"), j, cell) {
    tm_text_add(out, j ? "," : "");
    csv_text(out, json_string_value(json_object_get(cell, "key")));
  }
  tm_text_add(out, "\n");
  json_array_foreach(json_object_get(sheet, "rows"), i, row) {
    json_array_foreach(row, j, cell) {
      tm_text_add(out, j ? "," : "");
      if (json_is_string(cell))
        csv_text(out, json_string_value(cell));
      else if (json_is_number(cell))
        tm_text_number(out, json_number_value(cell));
    }
    tm_text_add(out, "\n");
  }
}
