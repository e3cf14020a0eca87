/* pair.h - a tempered chain (theta1, tau1) and, for pt-stwnc, a target chain
 * theta2 at tau = 1 beside it: Algorithms 1 and 2 of the paper.
 *
 * Pairs are independent of each other; threads run over pairs. */
#ifndef TM_SAMPLERS_PAIR_H
#define TM_SAMPLERS_PAIR_H

#include "draws/draws.h"
#include "kernels/kernel.h"
#include "samplers/tau_move.h"

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
  const tempera_model *model;
  const tm_ridge *ridge;
  tm_pair_settings settings;
  uint32_t chain;
  tm_arena *arena;
  tm_evaluator evaluator;
  tm_kernel *kernel;
  tm_tau_mover mover;
  tm_point tempered, target, spare;
  double tau;
  tempera_random tempered_stream, target_stream, tau_stream, exchange_stream;
  double row[2][TM_COLUMNS]; /* what the last sweep did, by role */
  /* Draws whose line rose above the ridge's chord. */
  size_t beaten;
  double worst_excess;
  double *worst_theta;
  size_t done; /* sweeps so far, warmup included */
} tm_pair;

/* Creates everything but the ridge's part: see tm_pair_set_ridge. Both chains
 * start at `start` (natural scale), the tempered one at start_tau. */
TEMPERA_CHECKED tempera_status tm_pair_create(const tempera_model *model,
                                              const tm_pair_settings *settings,
                                              uint64_t seed, uint32_t chain,
                                              const double *start,
                                              double start_tau, tm_pair *pair,
                                              tempera_error *error);
void tm_pair_free(tm_pair *pair);
/* Give the pair its tau prior; again after each warmup round that changed
 * it. `capacity` is the most knots the prior will ever have. */
TEMPERA_CHECKED tempera_status tm_pair_set_prior(tm_pair *pair,
                                                 const tm_ridge *ridge,
                                                 const tm_tau_prior *prior,
                                                 tempera_error *error);
/* One sweep of Algorithm 1 or 2. Allocates nothing (but for what the exact
 * ridge's optimiser does). */
void tm_pair_sweep(tm_pair *pair);

/* log of the exchange's acceptance ratio, (tau1 - 1)(l2 - l1). */
double tm_exchange_log_ratio(double tau, double log_likelihood_tempered,
                             double log_likelihood_target);

#endif
