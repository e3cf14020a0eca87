/* json_fields.h - small helpers shared by what writes and reads summaries. */
#ifndef TM_REPORT_JSON_FIELDS_H
#define TM_REPORT_JSON_FIELDS_H

#include "base/status.h"

#include <jansson.h>

/* Set a field; NaN and infinities become null, as does a NULL string. */
void tm_json_real(json_t *object, const char *name, double value);
void tm_json_whole(json_t *object, const char *name, uint64_t value);
void tm_json_string(json_t *object, const char *name, const char *value);
/* Takes `root` over. Free the text with tempera_text_free. */
TEMPERA_CHECKED tempera_status tm_json_dump(json_t *root, char **text,
                                            tempera_error *error);

/* The numbers of a value's summary, in the order in which they are shown. */
enum { TM_VALUE_FIELDS = 9 };
typedef struct tm_value_field {
  const char *name;
  size_t offset;
} tm_value_field;
extern const tm_value_field tm_value_fields[TM_VALUE_FIELDS];
double *tm_value_number(tempera_value_summary *value, size_t field);

#endif
