/* summary_csv.c - the values of a summary as CSV (RFC 4180), for spreadsheets
 * and data frames: a row for each parameter and quantity, every number in full,
 * absent ones empty. */
#include "base/text.h"
#include "report/fields.h"

#include <math.h>

/* Quoted, for names like B[1,2]. */
static void add_name(tm_text *out, const char *name) {
  tm_text_add(out, "\"");
  for (; *name; name++)
    tm_text_add_bytes(out, *name == '"' ? "\"\"" : name, *name == '"' ? 2 : 1);
  tm_text_add(out, "\"");
}

static void add_rows(tm_text *out, const char *kind,
                     const tempera_value_summary *values, size_t count) {
  for (size_t i = 0; i < count; i++) {
    const tempera_value_summary *v = &values[i];
    add_name(out, v->name ? v->name : "");
    tm_text_printf(out, ",%s", kind);
    for (size_t f = 0; f < TM_VALUE_FIELDS; f++) {
      double number = *tm_value_number((tempera_value_summary *)v, f);
      tm_text_add(out, ",");
      if (!isnan(number))
        tm_text_number(out, number);
    }
    tm_text_add(out, v->permuted ? ",true\n" : ",false\n");
  }
}

tempera_status tempera_summary_csv(const tempera_summary *summary, char **text,
                                   tempera_error *error) {
  tm_text out = {0};
  tm_text_add(&out, "name,kind");
  for (size_t f = 0; f < TM_VALUE_FIELDS; f++)
    tm_text_printf(&out, ",%s", tm_value_fields[f].name);
  tm_text_add(&out, ",permuted\n");
  add_rows(&out, "parameter", summary->values, summary->value_count);
  add_rows(&out, "component", summary->components, summary->component_count);
  add_rows(&out, "quantity", summary->quantities, summary->quantity_count);
  if (out.failed) {
    tm_text_clear(&out);
    return tm_fail_memory(error);
  }
  *text = out.data;
  return TEMPERA_OK;
}
