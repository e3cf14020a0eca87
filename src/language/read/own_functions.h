/* own_functions.h - functions of the language that are written in it. */
#ifndef TM_LANGUAGE_OWN_FUNCTIONS_H
#define TM_LANGUAGE_OWN_FUNCTIONS_H

#include "base/memory.h"
#include "base/status.h"

/* Put the definitions that a program needs into its text; others are left
 * as they are. */
TEMPERA_CHECKED tempera_status tm_add_own_functions(tm_arena *arena,
                                                    const char **text,
                                                    size_t *length,
                                                    tempera_error *error);

#endif
