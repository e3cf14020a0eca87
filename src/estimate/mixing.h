/* mixing.h - R-hat and effective sample sizes of one quantity over chains:
 * Vehtari, Gelman, Simpson, Carpenter & Buerkner, "Rank-normalization,
 * folding, and localization: an improved R-hat", Bayesian Analysis 2021. */
#ifndef TM_ESTIMATE_MIXING_H
#define TM_ESTIMATE_MIXING_H

#include "base/memory.h"

typedef struct tm_mixing {
  double rhat;     /* the larger of the rank-normalised and the folded one */
  double ess_bulk; /* of the rank-normalised draws */
  double ess_tail; /* the smaller of those of the 5 % and 95 % quantiles */
  double ess_mean; /* of the draws themselves */
} tm_mixing;

/* One draw, for sorting: index = chain * rows + row. */
typedef struct tm_ranked {
  double value;
  size_t index;
} tm_ranked;

void tm_ranked_sort(tm_ranked *draws, size_t count);
/* The quantile of sorted draws that interpolates linearly (R's type 7). */
double tm_ranked_quantile(const tm_ranked *sorted, size_t count, double p);

/* Workspace for `chains` chains of `rows` draws; NULL when out of memory. */
typedef struct tm_mixing_work tm_mixing_work;
tm_mixing_work *tm_mixing_work_create(tm_arena *arena, size_t chains,
                                      size_t rows);
/* `sorted` holds all chains * rows draws by value. All NaN for constant or
 * non-finite draws, and for fewer than 8 rows. */
tm_mixing tm_mixing_measure(tm_mixing_work *work, const tm_ranked *sorted);
/* Split-chain ESS of the series x (chain after chain), as in ess_mean. */
double tm_mixing_ess(tm_mixing_work *work, const double *x);

#endif
