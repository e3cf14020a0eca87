/* evidence_table.c - estimates beside what they estimate. */
#include "reproduce/evidence_table.h"

#include <math.h>
#include <stdio.h>

json_t *tm_evidence_sheet(const char *name, const char *title) {
  json_t *sheet = tm_sheet_create(name, title);
  tm_sheet_column(sheet, "method", "method", TM_SHEET_TEXT);
  tm_sheet_column(sheet, "published", "published", 3);
  tm_sheet_column(sheet, "published_sd", "sd", 3);
  tm_sheet_column(sheet, "log_z", "here", 3);
  tm_sheet_column(sheet, "sd", "sd", 3);
  tm_sheet_column(sheet, "se", "stated se", 3);
  tm_sheet_column(sheet, "exact", "exact", 3);
  tm_sheet_column(sheet, "published_error", "published off", 3);
  tm_sheet_column(sheet, "error", "here off", 3);
  tm_sheet_column(sheet, "error_over_se", "in errors", 1);
  tm_sheet_column(sheet, "reliable", "called reliable", TM_SHEET_TEXT);
  tm_sheet_column(sheet, "remark", "remark", TM_SHEET_TEXT);
  return sheet;
}

void tm_evidence_row(json_t *sheet, const char *label,
                     const tm_reference *reference, const tm_replicated *spread,
                     const char *remark) {
  json_t *row = tm_sheet_row(sheet, label);
  double own_error = tm_replicated_error(spread);
  double error = spread->mean - reference->exact;
  char reliable[32] = "";
  if (spread->runs > 0)
    snprintf(reliable, sizeof reliable, "%zu of %zu", spread->reliable,
             spread->runs);
  tm_sheet_number(row, reference->published);
  tm_sheet_number(row, reference->published_sd);
  tm_sheet_number(row, spread->mean);
  tm_sheet_number(row, spread->sd);
  tm_sheet_number(row, spread->se);
  tm_sheet_number(row, reference->exact);
  tm_sheet_number(row, reference->published - reference->exact);
  tm_sheet_number(row, error);
  tm_sheet_number(row, error / hypot(own_error, reference->exact_se));
  tm_sheet_words(row, reliable);
  tm_sheet_words(row, remark);
}

void tm_evidence_published(json_t *sheet, const char *label,
                           const tm_reference *reference, const char *remark) {
  tm_replicated none = {.mean = NAN, .sd = NAN, .se = NAN};
  tm_evidence_row(sheet, label, reference, &none, remark);
}
