/* rows_pass.h - one pass over blocks of rows (rows.h), for the value of a
 * statement and its slopes.
 *
 * Every operation has a block of values and one of adjoints. What is the same
 * for all rows is repeated over its block once; its adjoints add up over all
 * blocks, and are summed at the end. */
#ifndef TM_LANGUAGE_ROWS_PASS_H
#define TM_LANGUAGE_ROWS_PASS_H

#include "language/runtime/rows.h"

typedef struct tm_row_pass {
  const tm_row_plan *p;
  const tm_any *arguments;
  double **v, **g;             /* values and adjoints; g NULL: none wanted */
  double **to;                 /* by leaf: where partials go */
  double *spare[TM_ROW_PARTS]; /* of one operation */
  long start, n, all;          /* the block; the longest */
} tm_row_pass;

/* Values of what is the same for all rows. */
void tm_row_shared(const tm_row_pass *w);
/* The block's sum; its partials, but for what is the same for all rows, go to
 * `to`. */
double tm_row_block(const tm_row_pass *w);
/* After the last block: adjoints of what is the same for all rows are summed,
 * and go back once. */
void tm_row_finish(tm_row_pass *w);

#endif
