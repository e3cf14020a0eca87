/* rows.h - statements that do the same to every row of the data, such as
 *
 *   for (n in 1:N) y[n] ~ normal(a[group[n]] + x[n] * b, sigma);
 *
 * The code generator (emit/find_rows.c) writes them as lists of operations
 * (tm_row_op of prelude.h). Here they are done block by block of
 * TM_TERM_BLOCK rows, so that what one operation leaves lies in the nearest
 * cache for the next; the partials of a block follow its values at once, and
 * only parameters' adjoints are kept.
 *
 * When the data are read (rows_plan.c), rows that are the same are merged, with
 * weights; for a normal density with one scale rows may differ in the outcome,
 * of which mean and spread are kept. A normal density whose mean is linear in
 * the parameters is done with a triangular matrix instead of rows (rows_fit.c).
 * Long data are cut into pieces, which threads may share (rows_sum.c).
 */
#ifndef TM_LANGUAGE_ROWS_H
#define TM_LANGUAGE_ROWS_H

#include "language/runtime/density_terms.h"

enum { TM_ROW_PARTS = 4 };

/* A function of scalars over n <= TM_TERM_BLOCK rows, and the products of its
 * slopes with the adjoints g of its values. */
typedef struct tm_row_call {
  const char *name;
  void (*values)(const double *const *x, double *y, long n);
  void (*slopes)(const double *const *x, const double *y, const double *g,
                 double *const *s, long n);
} tm_row_call;
const tm_row_call *tm_row_call_find(const char *name);

/* -0.5 |q - R p|^2 / s^2 in place of a sum over rows: see rows_fit.c. */
typedef struct tm_row_fit {
  int width;            /* columns */
  double *triangle, *q; /* R by rows; Q'y */
  double rest;          /* the squares that no p can change */
  int *op, *element;    /* of each column: a scalar, or an element of a DOT */
  int density;          /* the operation it stands for */
} tm_row_fit;

/* What the library knows of a statement over rows. */
typedef struct tm_row_plan {
  tm_rows rows;      /* first, as the program sees it */
  const char *place; /* of the statement, "line:column" */
  const tm_row_op *ops;
  int count, leaves, roots;
  long group, block; /* rows that make one term; that are done at a time */
  int *widths;     /* DOT: columns, which lie one behind the other */
  bool *one;       /* the same for all rows */
  bool *runs;      /* PICK: rows of an element lie side by side */
  bool *fixed;     /* a column or a number */
  double *weights; /* of merged rows; NULL: one each */
  double total;    /* rows before they were merged */
  long piece;      /* rows that one thread does */
  double spread;   /* sum of (y - mean)^2 within merged rows */
  double constant; /* terms that depend on data alone */
  const tm_row_call **calls;
  tm_kernel *kernels;
  const tm_term **terms;
  tm_row_fit *fit;            /* or NULL */
  struct tm_row_plan *before; /* that was made */
} tm_row_plan;

/* Merge rows; tm_row_merge may leave them as they are. */
void tm_row_merge(tm_tape *tape, tm_row_plan *p);
/* Into how many pieces the rows are cut, by their length alone. */
long tm_row_pieces(const tm_row_plan *p);
/* A fit in place of rows, where there can be one. */
void tm_row_fit_find(tm_tape *tape, tm_row_plan *p);
/* Its value; adjoints of scalars and of vectors are added to. */
double tm_row_fit_sum(const tm_row_fit *fit, const tm_row_plan *p,
                      double *const *values, double *const *slopes,
                      const tm_any *arguments, double *const *to);

/* members of tm_the_runtime (prelude.h says what they do) */
tm_rows *tm_rows_plan(tm_tape *tape, const tm_row_op *ops, int count, long n,
                      const char *place);
void tm_rows_vector(tm_rows *rows, int op, tm_tensor values, long from,
                    long length);
void tm_rows_matrix(tm_tape *tape, tm_rows *rows, int op, tm_tensor values,
                    long from, long length);
void tm_rows_row(tm_tape *tape, tm_rows *rows, int op, tm_tensor values,
                 long row);
tm_rows *tm_rows_ready(tm_tape *tape, tm_rows *rows);
tm_var tm_rows_sum(tm_tape *tape, const tm_rows *rows, const tm_any *arguments);

#endif
