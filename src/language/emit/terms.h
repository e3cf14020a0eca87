/* terms.h - see terms.c. */
#ifndef TM_LANGUAGE_TERMS_H
#define TM_LANGUAGE_TERMS_H

#include "language/emit/emit.h"

/* Emit prior_terms, likelihood_terms and what they read; false where there are
 * no integers, or the target cannot be taken apart. */
bool tm_emit_terms(tm_emitter *g);

#endif
