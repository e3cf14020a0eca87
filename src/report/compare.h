/* compare.h - the parts of a comparison of models. */
#ifndef TM_REPORT_COMPARE_H
#define TM_REPORT_COMPARE_H

#include "base/text.h"

#include <jansson.h>

/* compare_data.c: refuse runs on different data; otherwise append, in words, the
 * single numbers that differ to `numbers`, and the arrays that not all have to
 * `extras`. */
TEMPERA_CHECKED tempera_status tm_compare_data(
    const tempera_summary *const *summaries, const char *const *names,
    size_t count, tm_text *numbers, tm_text *extras, tempera_error *error);

/* compare_text.c: the kind as a word, the column of what is compared, and a
 * sentence on it. */
const char *tm_compare_word(tempera_factor kind);
const char *tm_compare_score(tempera_factor kind);
void tm_compare_kind(const tempera_comparison *comparison, tm_text *out);

/* compare_loo.c: leave-one-out beside the evidence, where all runs have it; and
 * what tables and JSON (a json_t object of model i) show of it. */
TEMPERA_CHECKED tempera_status
tm_compare_loo(const tempera_summary *const *summaries,
               tempera_comparison *comparison, tempera_error *error);
void tm_compare_loo_text(const tempera_comparison *comparison, bool colour,
                         tm_text *out);
void tm_compare_loo_json(const tempera_comparison *comparison, size_t i,
                         void *object);

/* compare_marginals.c: a section with the marginals of parameters that runs
 * share, from the draws in their folders; nothing when these are NULL. */
void tm_compare_marginals(json_t *page, const tempera_comparison *comparison,
                          const tempera_summary *const *summaries,
                          const char *const *folders);

#endif
