/* prior_run.h - exploring a prior that the model cannot draw from.
 *
 * Without prior draws nothing guarantees that the hot end of the path has seen
 * all of the prior: z(0) comes out too small when it has not, and every
 * estimator that goes from tau = 0 to 1 is off alike. So the prior is itself
 * sampled first, by the same method, as the posterior of flat_model.h. That
 * gives its integral with an error, points spread over all its modes, and (by
 * rejection from a density fitted to them) draws. Where it fails to settle,
 * z(0) cannot be vouched for, and the run says so. */
#ifndef TM_RUN_PRIOR_RUN_H
#define TM_RUN_PRIOR_RUN_H

#include "model/prior_law.h"

/* Points into itself: not to be moved. */
typedef struct tm_prior_run {
  tm_arena *arena;     /* NULL: there was no need */
  tempera_model model; /* the run's, with what was found */
  tm_prior_law law;
  double *pool; /* pool_count x dimension: points u of the prior */
  size_t pool_count;
  char uncertain[240]; /* why z(0) cannot be vouched for; or "" */
} tm_prior_run;

/* Does this run need it? */
bool tm_prior_run_needed(const tempera_model *model,
                         const tempera_options *options);
/* Fails only when out of memory; what does not work out is noted there. `model`
 * must outlive the run. */
TEMPERA_CHECKED tempera_status
tm_prior_run_explore(const tempera_model *model, const tempera_options *options,
                     tm_prior_run *run, tempera_error *error);
void tm_prior_run_free(tm_prior_run *run);

#endif
