/* lags.h - sums of products of a series with itself some steps later, for
 * autocovariances: one lag directly, or many by Fourier transforms.
 *
 * A transform as long as the series would not fit into any cache, and mostly
 * few of its lags are wanted. So series are cut into blocks as long as the lags
 * wanted; with F_b the transform of block b and as many zeros, the products of
 * block b with itself and its successor have the transform
 *   conj(F_b) (F_b + (-1)^k F_{b+1}). */
#ifndef TM_NUMERIC_LAGS_H
#define TM_NUMERIC_LAGS_H

#include "base/memory.h"

typedef struct tm_lags {
  size_t most; /* lags that there is room for, a power of two */
  double *now, *ago,
      *sum; /* transforms of this block, the last one, products */
} tm_lags;

/* For series up to `length` long; false when out of memory. */
bool tm_lags_create(tm_arena *arena, size_t length, tm_lags *lags);
/* The sums of x[i] x[i + lag] over i and over all series (`count` of them, one
 * after the other, `length` long each), for all lags below `below`, a power of
 * two up to lags->most. */
void tm_lags_sum(tm_lags *lags, const double *x, size_t count, size_t length,
                 size_t below, double *products);
/* The same of one series and one lag. */
double tm_lagged_product(const double *x, size_t length, size_t lag);

#endif
