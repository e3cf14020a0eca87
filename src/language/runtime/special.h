/* special.h - special functions behind TM_MAP1 and TM_MAP2 of tables.h, and
 * some of more arguments: the value at x[0], x[1] ..., and partials when d is
 * not NULL. NaN where they are not defined. */
#ifndef TM_LANGUAGE_SPECIAL_H
#define TM_LANGUAGE_SPECIAL_H

#include "language/runtime/runtime.h"
#include "language/runtime/tables.h"

#define TM_SPECIAL(name) double tm_special_##name(const double *x, double *d)
#define TM_DECLARE_SPECIAL(name) TM_SPECIAL(name);
TM_MAP1(TM_DECLARE_SPECIAL)
TM_MAP2(TM_DECLARE_SPECIAL)

/* A fourth-order difference of f in argument i (of n), for those slopes that
 * have no closed form. */
double tm_special_difference(tm_kernel f, const double *x, int n, int i);

#endif
