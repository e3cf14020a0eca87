/* mixing.h - R-hat and effective sample sizes of one quantity over chains:
 * Vehtari, Gelman, Simpson, Carpenter & Buerkner, "Rank-normalization,
 * folding, and localization: an improved R-hat", Bayesian Analysis 2021. */
#ifndef TM_ESTIMATE_MIXING_H
#define TM_ESTIMATE_MIXING_H

#include "base/memory.h"
#include "numeric/sort.h"

typedef struct tm_mixing {
  double rhat;     /* the larger of the rank-normalised and the folded one */
  double ess_bulk; /* of the rank-normalised draws */
  double ess_tail; /* the smaller of those of the 5 % and 95 % quantiles */
  double ess_mean; /* of the draws themselves */
} tm_mixing;

/* Workspace for `chains` chains of `rows` draws; NULL when out of memory. */
typedef struct tm_mixing_work tm_mixing_work;
tm_mixing_work *tm_mixing_work_create(tm_arena *arena, size_t chains,
                                      size_t rows);
/* `sorted` holds all chains * rows draws by value, with the index chain * rows
 * + row. All NaN for constant or non-finite draws, and for fewer than 8
 * rows. */
tm_mixing tm_mixing_measure(tm_mixing_work *work, const tm_ranked *sorted);
/* Split-chain ESS of the series x (chain after chain), as in ess_mean. */
double tm_mixing_ess(tm_mixing_work *work, const double *x);

#endif
