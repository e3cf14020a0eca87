/* factor_parts.h - what recognising laws (factor.c) and drawing from them
 * (factor_emit.c) share. */
#ifndef TM_LANGUAGE_FACTOR_PARTS_H
#define TM_LANGUAGE_FACTOR_PARTS_H

#include "language/emit/factor.h"

/* The stem of a law's name with another suffix. */
const char *tm_law_relative(tm_emitter *g, const char *name,
                            const char *suffix);
/* Is e a density of this law? Of labels, each drawn by itself? Of vectors, each
 * drawn by itself if there are several? */
bool tm_is_law(const tm_expression *e, const char *stem);
bool tm_is_categorical(const tm_expression *e);
bool tm_is_law_of_vectors(const tm_expression *e);
/* The random function of a whole value; NULL: none. */
const tm_builtin *tm_whole_rng(tm_emitter *g, const tm_expression *e);
/* What a transformed parameter copies that is declared as a copy; or NULL. */
const tm_expression *tm_copied_by(const tm_emitter *g,
                                  const tm_expression *left);
/* Is an outcome among its own arguments? */
bool tm_needs_itself(const tm_expression *density, const tm_variable *v);
/* x[2:4], x[{1, 3}] */
bool tm_is_slice(const tm_expression *left);

#endif
