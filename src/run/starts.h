/* starts.h - where chains and optimisers begin, and how much prior mass has
 * zero likelihood. */
#ifndef TM_RUN_STARTS_H
#define TM_RUN_STARTS_H

#include "model/model.h"

/* Draws from the prior, made once per run: starts for chains (never at
 * -infinity) and for the optimiser (those with the highest likelihood, then
 * some as they came), and the measured prior mass of {L = 0} (method 3.7, 4.4).
 */
typedef struct tm_starts {
  double *chains; /* chain_count x model size */
  size_t chain_count;
  double *optimiser;                  /* optimiser_count x model size */
  size_t best_count, optimiser_count; /* best first; all */
  size_t prior_draws, prior_zero;     /* 0, 0 without a prior_draw callback */
  double *looks; /* log likelihoods at the points looked at, -infinity or not */
  size_t look_count;
  uint64_t likelihood_evaluations;
  double seconds_in_model;
  bool nowhere;          /* no point tried had L > 0; then ... */
  char refusal[480];     /* ... what to say of it, and no starts */
  bool improper;         /* the prior cannot be normalised ... */
  char culprit[200];     /* ... along these values, the first few by name */
  size_t improper_count; /* ... and so many in all, as far as is seen */
} tm_starts;

/* Points u of a prior without prior_draw. */
typedef struct tm_pool {
  size_t count;
  const double *u; /* count x dimension */
} tm_pool;

/* At least `looks` points are looked at. `init` (chain_count x size, or NULL)
 * overrides the chains' starts; without prior draws, points come from the pool
 * or, where it is empty, blindly. Free with tm_starts_free. */
TEMPERA_CHECKED tempera_status tm_starts_find(const tempera_model *model,
                                              uint64_t seed, size_t chain_count,
                                              size_t looks, const double *init,
                                              tm_pool pool, tm_starts *starts,
                                              tempera_error *error);
void tm_starts_free(tm_starts *starts);

#endif
