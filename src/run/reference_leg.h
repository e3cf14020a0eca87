/* reference_leg.h - the reference leg at run level (method 5): q is fitted to
 * target draws at the end of warmup rounds, P(tau) begun from both ends and
 * learned in the last round; then both are fixed. */
#ifndef TM_RUN_REFERENCE_LEG_H
#define TM_RUN_REFERENCE_LEG_H

#include "groups/group.h"
#include "run/learning.h"
#include "tempering/reference.h"

typedef struct tm_reference_leg {
  tm_reference *reference;
  tm_learner *learner; /* of the q in force; NULL: none yet */
  tm_tau_prior prior;
  tempera_draws *round_draws; /* of the leg in this warmup round */
  bool walking;               /* the groups have their third walker */
  bool ordered;               /* q is of draws with their labels in order */
  size_t trips;               /* round trips in the round that has ended */
  /* Target draws of the warmup, every stride-th sweep: u and log f. */
  size_t stride, rows; /* rows: per chain */
  double *u, *log_density;
  /* What the q in force was fitted to: rows of u, at the end of this round. */
  double *fitted;
  size_t fitted_values, fitted_at;
} tm_reference_leg;

/* Is there to be one? Then make room; nothing walks yet. */
TEMPERA_CHECKED tempera_status tm_leg_begin(tempera_sampler *sampler,
                                            tempera_error *error);
void tm_leg_free(tm_reference_leg *leg);
/* Note a warmup sweep; groups may do so concurrently. */
void tm_leg_keep(tempera_sampler *sampler, const tm_group *group);
/* What was noted of these sweeps of a chain, to other ranks or from one. */
void tm_leg_pass(tempera_sampler *sampler, size_t chain, size_t from, size_t to,
                 tm_archive *archive);
TEMPERA_CHECKED tempera_status tm_leg_end_round(tempera_sampler *sampler,
                                                bool last,
                                                tempera_error *error);
/* Its state, but for the walkers', which are the groups'. A reader fits q again
 * and hands it out. */
TEMPERA_CHECKED tempera_status tm_leg_archive(tempera_sampler *sampler,
                                              tm_archive *archive,
                                              tempera_error *error);
/* At the end of a round: its round trips, by the q and P(tau) that were in
 * force. */
TEMPERA_CHECKED tempera_status tm_leg_count_trips(tempera_sampler *sampler,
                                                  tempera_error *error);
/* Has q enough draws to be fitted to for good, and did it carry walkers well
 * in the round that has ended? */
bool tm_leg_settled(const tempera_sampler *sampler);
/* Record what estimators must know. */
TEMPERA_CHECKED tempera_status tm_leg_freeze(tempera_sampler *sampler,
                                             tempera_error *error);
/* Likelihood and gradient calls on the leg, and seconds in the model. */
typedef struct tm_leg_cost {
  uint64_t likelihood_evaluations, gradient_evaluations;
  double seconds;
} tm_leg_cost;
tm_leg_cost tm_leg_cost_of(const tempera_sampler *sampler);

#endif
