/* density_terms.h - densities as sums of terms, each a function of some of the
 * arguments. Over containers, a term whose arguments are all scalars is
 * computed once, one whose arguments are data can be computed when the data
 * are read, and the others are loops that the compiler vectorises: so the
 * functions here have no branches, only choices. */
#ifndef TM_LANGUAGE_DENSITY_TERMS_H
#define TM_LANGUAGE_DENSITY_TERMS_H

#include "language/runtime/density.h"

#include "numeric/libmvec.h"

/* Of n outcomes, at most TM_TERM_BLOCK: the values; partials go to d, or
 * nowhere when it is NULL. Every x[i] and d[i] is an array of n. */
typedef void (*tm_term_fn)(const double *const *x, double *const *d, long n,
                           double *values);

typedef struct tm_term {
  tm_term_fn rows;
  unsigned uses; /* bit i: argument i, the outcome being 0; 0: no term */
} tm_term;

enum { TM_TERMS = 3, TM_TERM_BLOCK = 256 };

/* TM_TERMS of them; NULL: the density has a kernel only. */
const tm_term *tm_density_terms(tm_kernel kernel);

#endif
