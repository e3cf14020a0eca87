/* pair.h - a tempered chain (theta1, tau1) and, for pt-stwnc, a target chain
 * theta2 at tau = 1 beside it: Algorithms 1 and 2 of the paper.
 *
 * Pairs are independent of each other; threads run over pairs. */
#ifndef TM_SAMPLERS_PAIR_H
#define TM_SAMPLERS_PAIR_H

#include "groups/group.h"
#include "groups/reference_walker.h"
#include "groups/tau_move.h"

typedef struct tm_pair_settings {
  tempera_method method;
  bool exchange_replaces; /* as printed: an exchange is instead of a mutation */
  double exchange;        /* probability rho */
  tempera_tau_move tau_move;
  double tau_scale;
  tempera_kernel kernel;
  size_t memory; /* exact ridge: optima to remember; 0 otherwise */
} tm_pair_settings;

typedef struct tm_pair {
  tm_group group;
  const tm_ridge *ridge;
  tm_pair_settings settings;
  tm_tau_mover mover;
  tm_point tempered, target;
  double tau;
  /* Which theta is where: each keeps its number through exchanges. */
  unsigned tempered_walker, target_walker, reference_walker;
  tm_reference_walker *reference; /* NULL: none, or not yet */
  tempera_random tempered_stream, target_stream, tau_stream, exchange_stream;
  /* The draw of either chain whose line rose above the ridge most. */
  bool frozen; /* the ridge is no longer watched */
  double worst_excess;
  double *worst_theta;
} tm_pair;

/* Creates everything but the tau prior: see tm_pair_set_prior. Both chains
 * start at `start` (natural scale), the tempered one at start_tau. Sweep and
 * free it as a group. */
TEMPERA_CHECKED tempera_status tm_pair_create(const tempera_model *model,
                                              const tm_pair_settings *settings,
                                              uint64_t seed, uint32_t chain,
                                              const double *start,
                                              double start_tau, tm_pair **pair,
                                              tempera_error *error);
/* Give the pair its tau prior; again after each warmup round that changed
 * it. */
TEMPERA_CHECKED tempera_status tm_pair_set_prior(tm_pair *pair,
                                                 const tm_ridge *ridge,
                                                 const tm_tau_prior *prior,
                                                 tempera_error *error);
/* Put the tempered chain, and the target chain too if `target`, at a
 * natural-scale point of positive density, tau at 1. */
void tm_pair_place(tm_pair *pair, const double *theta, bool target);

/* From now on a third walker, on the path from a fitted q; or, if there is one
 * already, on the path from the q fitted anew. Then set its tau prior. */
TEMPERA_CHECKED tempera_status
tm_pair_set_reference(tm_pair *pair, const tm_reference *reference,
                      uint64_t seed, tempera_error *error);
TEMPERA_CHECKED tempera_status tm_pair_set_reference_prior(
    tm_pair *pair, const tm_tau_prior *prior, tempera_error *error);
/* Before q is fitted anew: what the third walker's point is on the model's own
 * scales, which the path to come cannot tell. */
void tm_pair_save_reference(tm_pair *pair);

#endif
