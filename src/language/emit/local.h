/* local.h - a function of the user as one node of the tape.
 *
 *   real pcm(int y, real theta, vector beta) {
 *     vector[rows(beta) + 1] p;
 *     p = softmax(cumulative_sum(append_row(0, theta - beta)));
 *     return categorical_lpmf(y + 1 | p);
 *   }
 *
 * A body of assignments to scalars and vectors, with conditions and other such
 * functions in it, becomes C on numbers: every operation is a part with a value
 * (x5_, of a vector with n5_ elements), operands first. Where it returns, the
 * adjoints (g5_) follow from the last part to the first, and what has reached
 * the arguments is a node's slopes. No vector in between is a tensor, and none
 * has a node. A function with anything else in it is emitted as it is written.
 */
#ifndef TM_LANGUAGE_EMIT_LOCAL_H
#define TM_LANGUAGE_EMIT_LOCAL_H

#include "language/emit/operation.h"

typedef enum tm_local_kind {
  TM_LOCAL_NUMBER, /* does not depend on parameters */
  TM_LOCAL_LEAF,   /* an argument or an element of one: tm_var a5_ */
  TM_LOCAL_TENSOR, /* an argument: l5_ */
  TM_LOCAL_VIEW,   /* a vector that lies in one: l5_ */
  TM_LOCAL_OPERATION,
  TM_LOCAL_DENSITY,
  TM_LOCAL_ELEMENT, /* of a vector that is computed: k5_ says which */
  TM_LOCAL_CUT,     /* some of its elements, where they lie */
  TM_LOCAL_REPEAT,
  TM_LOCAL_JOIN, /* scalars and vectors one after the other */
  TM_LOCAL_RUNNING_SUM,
  TM_LOCAL_SUM,
  TM_LOCAL_DOT,
  TM_LOCAL_SOFTMAX, /* from here on, those but for CATEGORY keep shares s5_ */
  TM_LOCAL_LOG_SOFTMAX,
  TM_LOCAL_LOG_SUM_EXP,
  TM_LOCAL_CATEGORY, /* y5_ is the outcome */
  TM_LOCAL_CATEGORY_LOGIT
} tm_local_kind;

enum { TM_LOCAL_MOST = 160, TM_LOCAL_OPERANDS = 8 };

typedef struct tm_local_part {
  tm_local_kind kind;
  const tm_expression *e;
  tm_operation op;
  int parts[TM_LOCAL_OPERANDS], count;
  bool vector, active; /* active: it has an adjoint */
  bool reached;        /* the result depends on it */
} tm_local_part;

typedef struct tm_local {
  tm_emitter *g;
  bool gradient;
  tm_local_part all[TM_LOCAL_MOST];
  int count;
  int *bound; /* by variable index: its part, or -1 */
  size_t variable_count;
  int instances; /* of functions that were written in */
  int numbers;   /* that were given to them */
  int depth, paths;
  bool failed; /* it is not to be done so */
} tm_local;

/* A real scalar or vector, or an array of one dimension? */
bool tm_local_is_vector(tm_type type);

/* The part that is e's value; -1, and `failed`: there is none. */
int tm_local_part_of(tm_local *l, const tm_expression *e);
/* Part k, just added, as `all[k]`. */
int tm_local_push(tm_local *l, tm_local_part part);
/* The value of a call of another such function. */
int tm_local_call(tm_local *l, const tm_expression *e);

/* The function ends with this part. */
void tm_local_return(tm_local *l, int root);

/* The body of f, added to `own`, if it can be done so. */
bool tm_emit_local(tm_emitter *g, const tm_function *f, tm_text *own);

#endif
