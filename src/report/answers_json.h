/* answers_json.h - parts of summary.json that answer what was asked beside the
 * posterior: power posteriors and the evidence under wider priors; written and
 * read. */
#ifndef TM_REPORT_ANSWERS_JSON_H
#define TM_REPORT_ANSWERS_JSON_H

#include "base/json.h"

/* summary_json.c and summary_read.c: values in a list, and an answer or null. */
json_t *tm_values_json(const tempera_value_summary *each, size_t count);
bool tm_values_from_json(const json_t *list, tempera_value_summary **values,
                         size_t *count);
json_t *tm_path_answer_json(const tempera_path_answer *answer,
                            const char *value, const char *tau);
tempera_path_answer tm_path_answer_from_json(const json_t *json,
                                             const char *value,
                                             const char *tau);

void tm_answers_to_json(const tempera_summary *summary, json_t *root);
/* False when out of memory. */
bool tm_answers_from_json(const json_t *root, tempera_summary *summary);

#endif
