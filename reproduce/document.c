/* document.c - what the studies made, as files: index.html, results.json, a CSV
 * file per table, an SVG file per figure. */
#include "reproduce/paper.h"

#include "base/file.h"
#include "base/memory.h"
#include "report/page.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { WIDTH = 720, HEIGHT = 460, PAIRS_HEIGHT = 700 };

void tm_document_heading(tm_paper *paper, const char *title, const char *text) {
  paper->section = tm_page_section(paper->page, title);
  paper->gallery = NULL;
  tm_section_text(paper->section, NULL, text);
}

static void add_columns(const json_t *sheet, json_t *table) {
  json_t *column;
  size_t i;
  json_array_foreach(json_object_get(sheet, "columns"), i, column) {
    const char *title = json_string_value(json_object_get(column, "title"));
    json_int_t decimals =
        json_integer_value(json_object_get(column, "decimals"));
    tm_page_column(table, title, "", decimals == TM_SHEET_TEXT);
  }
}

static void add_row(const json_t *sheet, const json_t *from, json_t *row) {
  json_t *columns = json_object_get(sheet, "columns"), *cell;
  size_t i;
  json_array_foreach(from, i, cell) {
    int decimals = (int)json_integer_value(
        json_object_get(json_array_get(columns, i), "decimals"));
    double value = json_is_number(cell) ? json_number_value(cell) : NAN;
    if (json_is_string(cell))
      tm_row_text(row, json_string_value(cell));
    else if (decimals < 0)
      tm_row_short(row, value);
    else
      tm_row_number(row, value, decimals);
  }
}

void tm_document_sheet(tm_paper *paper, json_t *sheet) {
  const char *title = json_string_value(json_object_get(sheet, "title"));
  json_t *section = tm_page_section(paper->page, title), *item;
  json_t *table = tm_section_table(section, "");
  size_t i;
  add_columns(sheet, table);
  json_array_foreach(json_object_get(sheet, "rows"), i, item)
      add_row(sheet, item, tm_page_row(table, NULL));
  json_array_foreach(json_object_get(sheet, "notes"), i, item)
      tm_section_text(section, NULL, json_string_value(item));
  json_array_append_new(paper->sheets, sheet);
}

/* Figures under one heading stand side by side. */
void tm_document_figure(tm_paper *paper, const char *name, json_t *figure) {
  json_object_set_new(figure, "name", json_string(name));
  json_array_append(paper->figures, figure);
  if (!paper->gallery)
    paper->gallery = tm_section_figures(paper->section);
  tm_figures_add(paper->gallery, figure);
}

/* ------------------------------------------------------------------------
 * Writing
 */

static tempera_status write_file(const tm_paper *paper, const char *name,
                                 const char *extension, const char *content,
                                 size_t length, tempera_error *error) {
  char file[128];
  snprintf(file, sizeof file, "%s%s", name, extension);
  char *path = tm_path_join(paper->request->folder, file);
  if (!path)
    return tm_fail_memory(error);
  tempera_status status = tm_file_replace(path, content, length, error);
  tm_heap_free(path);
  return status;
}

static tempera_status write_sheets(const tm_paper *paper,
                                   tempera_error *error) {
  json_t *sheet;
  size_t i;
  json_array_foreach(paper->sheets, i, sheet) {
    tm_text text = {0};
    tm_sheet_csv(sheet, &text);
    tempera_status status =
        text.failed
            ? tm_fail_memory(error)
            : write_file(paper,
                         json_string_value(json_object_get(sheet, "name")),
                         ".csv", text.data, text.length, error);
    tm_text_clear(&text);
    TM_TRY(status);
  }
  return TEMPERA_OK;
}

static tempera_status write_figure(const tm_paper *paper, tm_drawing *drawing,
                                   const json_t *figure, tempera_error *error) {
  const char *kind = json_string_value(json_object_get(figure, "kind"));
  char *svg = NULL;
  int height = strcmp(kind, "pairs") == 0 ? PAIRS_HEIGHT : HEIGHT;
  TM_TRY(tm_drawing_svg(drawing, figure, WIDTH, height, &svg, error));
  tempera_status status =
      write_file(paper, json_string_value(json_object_get(figure, "name")),
                 ".svg", svg, strlen(svg), error);
  tm_heap_free(svg);
  return status;
}

static tempera_status write_figures(tm_paper *paper, tempera_error *error) {
  tm_drawing *drawing = NULL;
  tempera_status status = tm_drawing_open(&drawing, error);
  size_t count = json_array_size(paper->figures);
  for (; paper->drawn < count && status == TEMPERA_OK; paper->drawn++)
    status = write_figure(paper, drawing,
                          json_array_get(paper->figures, paper->drawn), error);
  tm_drawing_close(drawing);
  return status;
}

/* The figures by name and title only: their data are in the page. */
static json_t *figure_list(const tm_paper *paper) {
  json_t *out = json_array(), *figure;
  size_t i;
  json_array_foreach(paper->figures, i, figure) {
    char file[128];
    snprintf(file, sizeof file, "%s.svg",
             json_string_value(json_object_get(figure, "name")));
    json_array_append_new(out, json_pack("{s:s, s:O}", "file", file, "title",
                                         json_object_get(figure, "title")));
  }
  return out;
}

static tempera_status write_results(const tm_paper *paper,
                                    tempera_error *error) {
  char *text = NULL;
  json_t *root =
      json_pack("{s:s, s:s, s:b, s:I, s:O, s:o}", "version", TEMPERA_VERSION,
                "study", paper->request->study, "quick", paper->request->quick,
                "seed", (json_int_t)paper->request->seed, "tables",
                paper->sheets, "figures", figure_list(paper));
  TM_TRY(tm_json_dump(root, &text, error));
  tempera_status status =
      write_file(paper, "results", ".json", text, strlen(text), error);
  tm_heap_free(text);
  return status;
}

tempera_status tm_document_write(tm_paper *paper, tempera_error *error) {
  TM_TRY(write_sheets(paper, error));
  TM_TRY(write_results(paper, error));
  TM_TRY(write_figures(paper, error));
  char *path = tm_path_join(paper->request->folder, "index.html");
  if (!path)
    return tm_fail_memory(error);
  tempera_status status = tm_page_write(paper->page, path, error);
  tm_heap_free(path);
  return status;
}
