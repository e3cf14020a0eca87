/* higher.h - the table of functions that take a function: algebraic solvers,
 * integrals, differential-algebraic equations, the embedded Laplace
 * approximation, map_rect. (Differential
 * equations and reduce_sum are in check_solver.c.) */
#ifndef TM_LANGUAGE_HIGHER_H
#define TM_LANGUAGE_HIGHER_H

#include "language/check/check.h"

/* Types by letters: v vector, r real, a array[] real, i array[] int, w array[]
 * vector, m matrix, b array[,] real, c array[,] int; capitals may not depend on
 * parameters. A call is (f, controls, tolerances, more), and f is called with
 * (inner, more); old ones have the tolerances last and three more. */
typedef struct tm_higher {
  const char *name, *inner, *controls;
  char value, result;
  bool tolerances, old;
  const char *defaults[3];
} tm_higher;

const tm_higher *tm_higher_find(const char *name);
TEMPERA_CHECKED tempera_status tm_check_higher(tm_checker *c, tm_expression *e);
/* Where, behind the function, tolerances (0: none) and `more` begin. */
void tm_higher_layout(const tm_higher *h, size_t parts, size_t *tolerances,
                      size_t *first, size_t *count);

/* The first argument as a function of these types; it is taken from parts. */
TEMPERA_CHECKED tempera_status tm_find_system(tm_checker *c, tm_expression *e,
                                              const tm_type *types,
                                              size_t count, tm_type result);

/* The embedded Laplace approximation: a call of the covariance function becomes
 * an argument, and tuples become their items, before parts are checked. */
TEMPERA_CHECKED tempera_status tm_check_laplace(tm_checker *c,
                                                tm_expression *e);

#endif
