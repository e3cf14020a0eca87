/* fields.h - the numbers of one value's summary, shared by what writes, reads
 * and shows them. */
#ifndef TM_REPORT_FIELDS_H
#define TM_REPORT_FIELDS_H

#include "base/status.h"

/* In the order in which they are shown. */
enum { TM_VALUE_FIELDS = 9 };
typedef struct tm_value_field {
  const char *name;
  size_t offset;
} tm_value_field;
extern const tm_value_field tm_value_fields[TM_VALUE_FIELDS];
double *tm_value_number(tempera_value_summary *value, size_t field);

#endif
