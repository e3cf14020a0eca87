/* powers.h - log_sum_exp of what a loop before it makes; see powers.c. */
#ifndef TM_LANGUAGE_EMIT_POWERS_H
#define TM_LANGUAGE_EMIT_POWERS_H

#include "language/program.h"

/* log_sum_exp(each + rest) over the loop's variable, from 1 on. */
typedef struct tm_powers {
  const tm_statement *loop;
  const tm_variable *terms;   /* the container, which nobody else reads */
  tm_expression *each, *rest; /* what changes from term to term; or NULL */
} tm_powers;

/* Find them in the program's functions and blocks. */
TEMPERA_CHECKED tempera_status tm_powers_find(tm_program *program);

#endif
