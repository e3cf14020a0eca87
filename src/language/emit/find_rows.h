/* find_rows.h - statements that do the same to every row of the data; see
 * find_rows.c. */
#ifndef TM_LANGUAGE_EMIT_FIND_ROWS_H
#define TM_LANGUAGE_EMIT_FIND_ROWS_H

#include "language/emit/emit.h"
#include "language/runtime/prelude.h"

/* An operation (tm_row_op), with the expressions that it is made of. */
typedef struct tm_row_node {
  tm_row_kind kind;
  const char *name;     /* CALL, DENSITY */
  tm_expression *value; /* NUMBER, COLUMN, SCALAR; PICK and DOT: the vector */
  tm_expression *data;  /* PICK: places, or indexed with them; DOT: rows */
  tm_variable *inner;   /* DOT: `data` is a number for each value of this */
  short parts[4], part_count;
  int leaf;                    /* number among the arguments, or -1 */
  const tm_variable *owner;    /* the vector it is an element of, or NULL */
  const tm_expression *length; /* what that vector's must be; or NULL */
} tm_row_node;

enum { TM_ROW_COUNTERS = 8, TM_ROW_INLINED = 16, TM_ROW_CONDITIONS = 4 };

/* A condition on data alone that it stands behind, or behind its `else`. */
typedef struct tm_row_condition {
  const tm_statement *statement;
  bool otherwise;
} tm_row_condition;

typedef struct tm_row_statement {
  int number;
  const tm_statement *statement;
  tm_part part;
  tm_row_node *nodes;
  int count, leaves;
  tm_variable *counters[TM_ROW_COUNTERS]; /* all have the row's number */
  int counter_count;
  const tm_variable *inlined[TM_ROW_INLINED]; /* vectors that it stands for */
  int inlined_count;
  tm_row_condition conditions[TM_ROW_CONDITIONS];
  int condition_count;
  const struct tm_powers *powers; /* every row is a group, of these; or NULL */
} tm_row_statement;

/* Find them in the model block. */
TEMPERA_CHECKED tempera_status tm_rows_find(tm_program *program);

/* ---- emit_rows.c */

/* What is done when the data are read, with the sizes of parameters known. */
void tm_emit_row_plans(tm_emitter *g);
/* In place of the statement. */
void tm_emit_rows(tm_emitter *g, const tm_row_statement *r);
/* Has this part of the target any? */
bool tm_emit_has_rows(const tm_emitter *g, tm_part part);

#endif
