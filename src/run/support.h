/* support.h - likelihoods that are zero on nearly all of the prior.
 *
 * Where L > 0 on a thousandth of the prior or less, a tempered chain that
 * redraws from the prior at tau = 0 hardly ever comes back from there. Then
 * the path begins at tau = 0+ instead: at the prior where L > 0. Plain prior
 * draws, by the million, find its points and measure its mass P(L > 0); a law
 * fitted to the points (fitted_law.h) draws from it and measures the mass
 * again. Where a quarter of a million draws find too few of them and the
 * program's guards tell how far a point is from passing, level sets lead there
 * instead (splitting.h). log P(L > 0) and its error are added to whatever
 * starts from 0+. */
#ifndef TM_RUN_SUPPORT_H
#define TM_RUN_SUPPORT_H

#include "model/prior_law.h"
#include "run/starts.h"

/* Points into itself: not to be moved. */
typedef struct tm_support {
  tm_arena *arena;     /* NULL: there was no need */
  tempera_model model; /* the run's, with the law */
  tm_prior_law law;
  size_t draws, hits; /* prior draws made, and those with L > 0 */
  double *points;     /* point_count x dimension: points u with L > 0 */
  size_t point_count;
  double log_p, se; /* of P(L > 0) */
  bool split;       /* it is of splitting (splitting.h), and agrees */
  uint64_t likelihood_evaluations, split_evaluations;
  char uncertain[240]; /* why log_p cannot be vouched for; or "" */
} tm_support;

/* By what the first prior draws were like. */
bool tm_support_needed(const tempera_model *model,
                       const tempera_options *options, const tm_starts *starts);
/* Fails where millions of draws found no point with L > 0, when the model
 * does, and when out of memory. `model` must outlive it. */
TEMPERA_CHECKED tempera_status tm_support_find(const tempera_model *model,
                                               uint64_t seed,
                                               tm_support *support,
                                               tempera_error *error);
void tm_support_free(tm_support *support);

#endif
