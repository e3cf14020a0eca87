/* tempered.h - the tempered draws as estimators want them: flat, with the
 * Rao-Blackwell weights p(tau | theta_i) and what stretch of tau they cover.
 *
 * With M_i = atom + integral of P(u) e^{u l_i} du (or, on levels, the sum of
 * w_t e^{tau_t l_i}), p(tau | theta_i) is
 * P(tau) e^{tau l_i} / M_i; P cancels from every ratio, so the weight of draw
 * i at tau is e^{tau l_i} / M_i, and at the atom 1/M_i. */
#ifndef TM_ESTIMATE_TEMPERED_H
#define TM_ESTIMATE_TEMPERED_H

#include "draws/draws.h"
#include "numeric/loglinear.h"

/* A stretch of tau is covered when the weights there come from at least this
 * many of the run's batches (Kish's effective number). */
#define TM_FEWEST_BATCHES 10

typedef struct tm_tempered {
  tm_arena *arena;
  size_t chains, rows, count; /* count = chains * rows */
  double *tau, *l;            /* chain after chain */
  /* Log likelihood of the target chain's rows, or NULL; where a sweep leaves
   * several tempered rows, target rows are not beside them. */
  double *target;
  /* Of draws and target draws: what may be added to 1, the factor of weights at
   * tau_min, since its mean there is known to be 0 (TM_EXCESS); or NULL. */
  double *excess, *target_excess;
  double *log_mass;       /* log M_i; NULL without a tau prior */
  tm_loglinear prior;     /* count 0: none (the exact ridge, or levels) */
  bool prior_steps;       /* see tm_draws_prior */
  tm_draws_levels levels; /* with weights, else count 0 */
  bool has_atom;
  double tau_min;
  size_t *order; /* draws off the atom with finite l, by tau */
  size_t ordered;
  double *weight; /* workspace of `count` for tm_tempered_weights */
  size_t chain_batches;
  double highest; /* the highest log likelihood seen anywhere */
  double lowest;  /* up to here draws are as good as at tau_min */
  bool bottom;    /* is tau_min covered? */
  /* The tau up to which the weights, and the draws themselves, cover. */
  double weight_top, draw_top;
} tm_tempered;

/* Draws beyond `limit` in all are thinned evenly. A view of no draws has
 * count 0. Free with tm_tempered_free. */
TEMPERA_CHECKED tempera_status tm_tempered_create(const tempera_draws *draws,
                                                  size_t limit,
                                                  tm_tempered *view,
                                                  tempera_error *error);
/* The target draws alone: only chains, rows, count and target are filled. */
TEMPERA_CHECKED tempera_status
tm_tempered_create_target(const tempera_draws *draws, size_t limit,
                          tm_tempered *view, tempera_error *error);
void tm_tempered_free(tm_tempered *view);

/* Fill view->weight with the weights at tau over e^shift; returns shift, or
 * -infinity when all weights are zero. Needs log_mass. */
double tm_tempered_weights(tm_tempered *view, double tau);
/* log of the mean weight at tau, after filling view->weight. */
double tm_tempered_log_mean(tm_tempered *view, double tau);
/* The mean of l under view->weight (as just filled). */
double tm_tempered_mean(const tm_tempered *view);
/* Kish's effective number of batches of view->weight. */
double tm_tempered_batches(const tm_tempered *view);

/* The same number for tau when only draws count that were made at up to twice
 * that tau (without an atom, among the lowest too, if they reach tau_min).
 * Weights that reach down from far above look even and mean nothing, as in the
 * harmonic mean: the draws that would carry them were never made. Changes
 * view->weight. */
double tm_tempered_support(tm_tempered *view, double tau);
/* Likewise for the target draws weighted back from tau = 1; also log E_1
 * e^{(tau - 1) l} over them, for any tau. */
double tm_target_support(tm_tempered *view, double tau, double *log_mean);

/* Taus from tau_min to 1 that resolve tau near 0; `per_decade` of them below
 * 0.1. Owned by the arena; NULL when out of memory. */
double *tm_tau_grid(tm_arena *arena, double tau_min, size_t per_decade,
                    size_t *count);

#endif
