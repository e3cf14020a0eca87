/* psis.h - Pareto-smoothed importance sampling (Vehtari, Simpson, Gelman, Yao &
 * Gabry, JMLR 2024), as R's package loo does it. */
#ifndef TM_NUMERIC_PSIS_H
#define TM_NUMERIC_PSIS_H

#include "numeric/sort.h"

/* How many of `count` ratios are the tail, when the chain is worth
 * `efficiency` independent draws for each. */
size_t tm_psis_tail(double efficiency, size_t count);
/* Log ratios, none of them NaN, become normalised log weights with a smoothed
 * tail. Gives the tail's shape k; infinity where none could be fitted. `ranked`
 * and `room` are for `count` of them each. */
double tm_psis(double *log_ratios, size_t count, size_t tail, tm_ranked *ranked,
               tm_ranked *room);
/* The efficiency of chains (one after another, `rows` numbers each) for the
 * mean of their numbers: effective draws by draws, of Geyer's initial monotone
 * sequence over all chains; 1 where it is not a number. `work`: 2 rows numbers.
 */
double tm_relative_efficiency(const double *values, size_t chains, size_t rows,
                              double *work);

#endif
