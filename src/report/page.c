/* page.c - see page.h. */
#include "report/page.h"

#include "base/file.h"
#include "base/json.h"
#include "base/memory.h"
#include "report/assets.h"
#include "report/table.h"

#include <math.h>
#include <string.h>

json_t *tm_page(const char *title, const char *subtitle) {
  (void)tm_json_watch(); /* until it is written */
  json_t *page = json_object();
  tm_json_string(page, "title", title);
  tm_json_string(page, "subtitle", subtitle);
  tm_json_string(page, "footer", "Made by Tempera " TEMPERA_VERSION ".");
  json_object_set_new(page, "sections", json_array());
  return page;
}

static json_t *append(json_t *object, const char *list, json_t *item) {
  json_array_append_new(json_object_get(object, list), item);
  return item;
}

json_t *tm_page_section(json_t *page, const char *heading) {
  json_t *section = append(page, "sections", json_object());
  tm_json_string(section, "heading", heading);
  json_object_set_new(section, "blocks", json_array());
  return section;
}

static json_t *block(json_t *section, const char *type) {
  json_t *made = append(section, "blocks", json_object());
  tm_json_string(made, "type", type);
  return made;
}

json_t *tm_section_text(json_t *section, const char *tone, const char *text) {
  json_t *made = block(section, "text");
  tm_json_string(made, "tone", tone);
  tm_json_string(made, "text", text);
  return made;
}

void tm_section_answer(json_t *section, const char *tone, const char *tag,
                       const char *number, const char *text) {
  json_t *made = block(section, "answer");
  tm_json_string(made, "tone", tone);
  tm_json_string(made, "tag", tag);
  tm_json_string(made, "number", number);
  tm_json_string(made, "text", text);
}

json_t *tm_section_list(json_t *section) {
  json_t *made = block(section, "list");
  json_object_set_new(made, "items", json_array());
  return made;
}

json_t *tm_section_table(json_t *section, const char *note) {
  json_t *made = block(section, "table");
  tm_json_string(made, "note", note);
  json_object_set_new(made, "columns", json_array());
  json_object_set_new(made, "rows", json_array());
  return made;
}

void tm_table_fold(json_t *table, const char *words) {
  tm_json_string(table, "fold", words);
}

json_t *tm_section_figures(json_t *section) {
  json_t *made = block(section, "figures");
  json_object_set_new(made, "figures", json_array());
  return made;
}

json_t *tm_section_gallery(json_t *section, const char *label,
                           const char *first, size_t shown) {
  json_t *made = block(section, "gallery");
  tm_json_string(made, "label", label);
  tm_json_string(made, "first", first);
  tm_json_integer(made, "shown", shown);
  json_object_set_new(made, "choices", json_array());
  return made;
}

json_t *tm_gallery_choice(json_t *gallery, const char *name) {
  json_t *choice = append(gallery, "choices", json_object());
  tm_json_string(choice, "name", name);
  json_object_set_new(choice, "figures", json_array());
  return choice;
}

void tm_figures_add(json_t *figures, json_t *figure) {
  append(figures, "figures", figure);
}

/* ---- tables ---------------------------------------------------------------
 */

void tm_page_column(json_t *table, const char *name, const char *title,
                    bool left) {
  json_t *column = append(table, "columns", json_object());
  tm_json_string(column, "name", name);
  tm_json_string(column, "title", title);
  json_object_set_new(column, "left", json_boolean(left));
}

json_t *tm_page_row(json_t *table, const char *tone) {
  json_t *row = append(table, "rows", json_object());
  tm_json_string(row, "tone", tone);
  json_object_set_new(row, "cells", json_array());
  return row;
}

void tm_row_text(json_t *row, const char *text) {
  append(row, "cells", tm_json_words(text));
}

static void add_number(json_t *row, const char *text, double value) {
  json_t *cell = append(row, "cells", json_object());
  tm_json_string(cell, "text", text);
  tm_json_real(cell, "value", value);
}

void tm_row_number(json_t *row, double value, int decimals) {
  char text[TM_NUMBER_TEXT];
  tm_format_number(text, value, decimals);
  add_number(row, text, value);
}

void tm_row_short(json_t *row, double value) {
  char text[TM_NUMBER_TEXT];
  tm_format_short(text, value);
  add_number(row, text, value);
}

void tm_row_probability(json_t *row, double value) {
  char text[TM_NUMBER_TEXT];
  tm_format_probability(text, value);
  add_number(row, text, value);
}

/* ---- the file -------------------------------------------------------------
 */

/* The policy forbids everything that is not in the file itself. */
static const char head[] =
    "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
    "<meta name=\"viewport\" content=\"width=device-width, "
    "initial-scale=1\">\n"
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src "
    "'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src "
    "data:\">\n";
static const char again[] = "<meta http-equiv=\"refresh\" content=\"10\">\n";
static const char title[] = "<title>Tempera</title>\n<style>\n";
static const char body[] =
    "</style>\n</head>\n<body>\n<div id=\"page\"></div>\n"
    "<noscript>This page needs JavaScript, which is part of this file: nothing "
    "is loaded from elsewhere.</noscript>\n"
    "<script type=\"application/json\" id=\"document\">";
static const char middle[] = "</script>\n<script>";
static const char tail[] = "</script>\n</body>\n</html>\n";

/* Inside <script>, no text may look like the end of it: < > & are written as
 * JSON escapes. U+2028 and U+2029 are by JSON_ENSURE_ASCII. */
static void add_json(tm_text *out, const char *json) {
  while (*json) {
    size_t plain = strcspn(json, "<>&");
    tm_text_add_bytes(out, json, plain);
    json += plain;
    if (*json)
      tm_text_printf(out, "\\u%04x", (unsigned)*json++);
  }
}

static void add_asset(tm_text *out, tm_asset asset) {
  tm_text_add_bytes(out, asset.text, asset.length);
}

tempera_status tm_page_write(const json_t *page, const char *path,
                             tempera_error *error) {
  tm_text json = {0}, out = {0};
  bool dumped = tm_json_compact(page, &json);
  if (tm_memory_was_short(false) || !dumped) {
    tm_text_clear(&json);
    return tm_fail_memory(error);
  }
  tm_text_add(&out, head);
  if (json_is_true(json_object_get(page, "running")))
    tm_text_add(&out, again);
  tm_text_add(&out, title);
  add_asset(&out, tm_asset_style());
  tm_text_add(&out, body);
  add_json(&out, json.data);
  tm_text_add(&out, middle);
  add_asset(&out, tm_asset_script());
  tm_text_add(&out, tail);
  tm_text_clear(&json);
  tempera_status status =
      out.failed ? tm_fail_memory(error)
                 : tm_file_replace(path, out.data, out.length, error);
  tm_text_clear(&out);
  return status;
}
