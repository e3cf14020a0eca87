/* terms.h - see terms.c. */
#ifndef TM_LANGUAGE_TERMS_H
#define TM_LANGUAGE_TERMS_H

#include "language/emit/emit.h"

/* Emit prior_terms, likelihood_terms and what they read; false where there are
 * no integers, or the target cannot be taken apart. */
bool tm_emit_terms(tm_emitter *g);

/* for (n in 1:num_elements(outcome)) target += density of the n-th ones; or
 * NULL: its elements cannot be had one by one. */
tm_statement *tm_each_of(tm_emitter *g, const tm_statement *s);

#endif
