/* hoist.h - what a model computes from data alone is computed once. */
#ifndef TM_LANGUAGE_HOIST_H
#define TM_LANGUAGE_HOIST_H

#include "language/read/ast.h"

/* Mark the expressions of transformed parameters and model that need only data
 * (tm_expression.kept), and list them in program->kept. */
TEMPERA_CHECKED tempera_status tm_hoist(tm_program *program);

#endif
