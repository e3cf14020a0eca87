/* tau_move.h - moves of tau given theta (method 4.3).
 *
 * The target is p(tau | theta) ~ exp(tau*l + log P(tau)). `gibbs` draws it
 * exactly, without rejection and without a likelihood call; `uniform` and
 * `truncated-normal` are the paper's proposals; `lifted` goes on in one
 * direction over the knots until a rejection turns it round. Where the prior
 * has an atom at tau = 0, all of them reach it. */
#ifndef TM_SAMPLERS_TAU_MOVE_H
#define TM_SAMPLERS_TAU_MOVE_H

#include "paper/paper_ridge.h"
#include "tempering/tau_prior.h"

/* Everything a tau move needs besides the state. */
typedef struct tm_tau_mover {
  tempera_tau_move kind; /* never DEFAULT */
  double scale;          /* sd of the truncated normal */
  const tm_tau_prior *prior;
  double *work;            /* gibbs: two doubles per knot */
  bool fixed;              /* gibbs: the prior is, so that work may be kept: */
  double slope, total;     /* ... the log likelihood and mass it is for */
  tm_ridge_memory *memory; /* exact ridge: this chain's optima, else NULL */
  double log_prior_here;   /* exact ridge: log P at the current tau */
  bool downward;           /* lifted: the direction */
} tm_tau_mover;

/* Move tau given this log likelihood; gives the acceptance probability. */
double tm_tau_move(tm_tau_mover *mover, tm_evaluator *evaluator,
                   double log_likelihood, double *tau, tempera_random *random);
/* Its state, but for what is its prior's. */
void tm_tau_mover_archive(tm_tau_mover *mover, tm_archive *archive);
/* Exact ridge: (re)compute log P at tau, before the first move. */
void tm_tau_settle(tm_tau_mover *mover, tm_evaluator *evaluator, double tau);

#endif
