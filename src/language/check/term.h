/* term.h - what raises the target, taken apart: which calls are densities,
 * which normalise them, what is a sum, and which part of it a variable is. */
#ifndef TM_LANGUAGE_TERM_H
#define TM_LANGUAGE_TERM_H

#include "language/check/types.h"

/* name_lpdf(outcome | ...) and its kin, ours or the user's. */
bool tm_is_density(const tm_expression *e);
/* name_lcdf(outcome | ...) and its kin. */
bool tm_is_cdf(const tm_expression *e);
/* The distribution's name in that of a density or cdf, by its length. */
size_t tm_stem_length(const char *name);
/* a + b or a - b */
bool tm_is_sum(const tm_expression *e);
/* v, v[i] or sum(v): v; otherwise NULL. */
const tm_variable *tm_summand(const tm_expression *e);
/* Are they written alike? Names must mean the same variable. */
bool tm_same_text(const tm_expression *a, const tm_expression *b);

#endif
