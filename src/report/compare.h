/* compare.h - the parts of a comparison of models. */
#ifndef TM_REPORT_COMPARE_H
#define TM_REPORT_COMPARE_H

#include "base/text.h"

/* compare_data.c: refuse runs on different data; otherwise append, in words, the
 * single numbers that differ to `numbers`, and the arrays that not all have to
 * `extras`. */
TEMPERA_CHECKED tempera_status tm_compare_data(
    const tempera_summary *const *summaries, const char *const *names,
    size_t count, tm_text *numbers, tm_text *extras, tempera_error *error);

#endif
