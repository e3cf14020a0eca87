/* callable.h - a user's function as the library calls it: values, and its
 * slopes in the inner values (which a solver varies) and in those arguments of
 * the call that depend on parameters, by reverse sweeps on the same tape, whose
 * memory is given back each time. */
#ifndef TM_LANGUAGE_CALLABLE_H
#define TM_LANGUAGE_CALLABLE_H

#include "language/runtime/fixed.h"

enum { TM_CALLABLE_ARGUMENTS = 32, TM_CALLABLE_INNER = 3 };

/* An argument that varies: its adjoints, those of sweeps, its first column. */
typedef struct tm_outer {
  double *adjoint, *scratch;
  long n, column;
} tm_outer;

typedef struct tm_callable {
  tm_tape *tape;
  const tm_system *system;
  const char *place;
  int inner, count;
  tm_any plain[TM_CALLABLE_ARGUMENTS], active[TM_CALLABLE_ARGUMENTS];
  tm_outer outers[TM_CALLABLE_ARGUMENTS];
  int outer_count;
  long columns; /* of slopes in arguments */
} tm_callable;

tm_callable tm_callable_new(tm_tape *tape, const tm_system *system, int inner,
                            const char *place);
/* Set inner value i; scratch (n numbers, or NULL) takes its adjoints. */
void tm_callable_real(tm_callable *c, int i, double x, double *scratch);
void tm_callable_vector(tm_callable *c, int i, double *x, int n,
                        double *scratch);
/* n values, or a failure. */
void tm_callable_value(const tm_callable *c, int n, double *out);
/* Slopes of result i: the inner ones in their scratch, those of arguments in
 * `row`. Gives its value. */
double tm_callable_slope(tm_callable *c, int i, double *row);

/* A result whose slopes are known: out = n values, slopes n x columns. */
tm_any tm_callable_result(tm_callable *c, tm_tensor out, double *slopes);

/* The functions, by what they solve. */
tm_any tm_solve_newton(tm_callable *c);
tm_any tm_solve_powell(tm_callable *c);
tm_any tm_integrate(tm_callable *c);
tm_any tm_solve_dae(tm_callable *c);

#endif
