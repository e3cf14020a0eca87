/* bridge_ratio.h - the ratio of two normalising constants from draws of both
 * densities, by the optimal bridge function (Meng & Wong 1996), with the
 * relative mean squared error of Fruehwirth-Schnatter (2004).
 *
 * p = p~/r is the target, known up to r; q the proposal, normalised. With
 * l = log p~/q the estimate solves
 *   r = mean_q[ e^l / (s1 e^l + s2 r) ] / mean_p[ 1 / (s1 e^l + s2 r) ],
 * s1 : s2 the effective numbers of draws. It stays consistent where q is zero
 * on part of p's support, since both means skip that part alike.
 *
 * The terms in these means are logistic, between 0 and 1, so that the variance
 * of a mean over n of them is at most mean/n and its relative error at most
 * 1/sqrt(sum): the sum is the number of draws in effect, whatever the tails of
 * p/q. */
#ifndef TM_ESTIMATE_BRIDGE_RATIO_H
#define TM_ESTIMATE_BRIDGE_RATIO_H

#include "base/memory.h"

typedef struct tm_bridge_terms {
  size_t chains, length; /* target draws: chain x length, in chain order */
  double *target;        /* l there; +infinity where q is zero */
  size_t proposals;
  double *proposal; /* l at draws of q; -infinity where p~ is zero */
} tm_bridge_terms;

typedef struct tm_bridge_ratio {
  double log_r; /* NaN when the two sets of draws share no support */
  double target_variance, proposal_variance; /* of log_r */
  double df;               /* degrees of freedom of target_variance */
  double correlation_time; /* of the target's terms; at least 1 */
  double between_variance; /* of log_r, from chains alone; NaN for one */
  double disagreement;     /* p-value of equal chain means; 1 for one */
  double overlap; /* terms that count, of the proposals or of effective target
                     draws, whichever are fewer */
} tm_bridge_ratio;

/* work: chains * length doubles. */
tm_bridge_ratio tm_bridge_ratio_solve(const tm_bridge_terms *terms,
                                      double *work);

#endif
