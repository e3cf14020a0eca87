/* spread.h - where the draws lie at nearby tau: means, standard deviations
 * and covariances of the real coordinates, learned in warmup apart for each
 * of a few stretches of tau (regimes). Shared by the moves that need them. */
#ifndef TM_KERNELS_SPREAD_H
#define TM_KERNELS_SPREAD_H

#include "base/memory.h"
#include "kernels/scale.h"

enum { TM_REGIMES = 7 };

size_t tm_regime_of(tm_tau_place place);

/* What has been put to use of a regime, coarse to fine. */
typedef enum tm_spread_level {
  TM_SPREAD_NOTHING = 0,
  TM_SPREAD_DIAGONAL,
  TM_SPREAD_DENSE
} tm_spread_level;

/* One regime. Matrices are row-major, d x d, and NULL when the spread is
 * diagonal. */
typedef struct tm_regime {
  double count; /* draws, older rounds at a discount */
  double *mean;
  double *square;  /* sums of squared deviations */
  double *scatter; /* sums of products of deviations, below the diagonal */
  tm_spread_level level;
  double *sd;
  double *factor; /* L, L L' = the covariance, shrunk towards its diagonal */
  double *turned; /* L' */
} tm_regime;

typedef struct tm_spread {
  size_t dimension;
  const size_t *coordinates; /* of u: which are followed */
  bool dense;                /* are covariances learned at all? */
  double *work, *candidate;
  tm_regime regimes[TM_REGIMES];
} tm_spread;

/* `coordinates` must outlive the spread. */
TEMPERA_CHECKED tempera_status tm_spread_create(size_t dimension,
                                                const size_t *coordinates,
                                                tm_arena *arena,
                                                tm_spread **spread,
                                                tempera_error *error);
void tm_spread_learn(tm_spread *spread, tm_tau_place place, const double *u);
/* Put what was learned to use; older rounds then count half of newer ones, so
 * that the way in from a bad start is forgotten. */
void tm_spread_end_round(tm_spread *spread);
void tm_spread_archive(tm_spread *spread, tm_archive *archive);
void tm_spread_level_archive(tm_spread_level *level, tm_archive *archive);

/* A matrix square root of a covariance: dense, diagonal, or (both NULL) the
 * identity. The values belong to the spread. */
typedef struct tm_factor {
  size_t dimension;
  const double *dense, *diagonal;
  const double *turned; /* the transpose of `dense` */
} tm_factor;

/* Of a regime (TM_REGIMES: the identity), at most this fine. */
tm_factor tm_spread_factor(const tm_spread *spread, size_t regime,
                           tm_spread_level finest);
/* out = L z, L' z and L^-1 z; out and z may not overlap. */
void tm_factor_times(const tm_factor *factor, const double *z, double *out);
void tm_factor_transposed(const tm_factor *factor, const double *z,
                          double *out);
void tm_factor_solve(const tm_factor *factor, const double *z, double *out);

#endif
