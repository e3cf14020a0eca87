/* learning.h - the learned tau prior (method 4.2): log P = log w - log z, with
 * an estimate of log z(tau) that is refined in warmup rounds, then frozen.
 *
 * w follows the communication barrier, so that the chain spends its time where
 * tau is hard to cross; an atom at tau = 0 lets theta start afresh. */
#ifndef TM_RUN_LEARNING_H
#define TM_RUN_LEARNING_H

#include "draws/draws.h"
#include "tempering/tau_prior.h"

/* Mass of the atom at tau = 0 under the prior aimed at. */
#define TM_ATOM 0.05

typedef struct tm_learner tm_learner;

/* Begin from an estimate of log z at increasing taus, from tau_min to 1 (a
 * Laplace curve, or a ridge); it fixes the knots. w follows the barrier, or is
 * even in tau without `by_barrier` (the `laplace` prior). */
TEMPERA_CHECKED tempera_status tm_learner_create(const double *tau,
                                                 const double *log_z,
                                                 size_t count, bool by_barrier,
                                                 tm_learner **learner,
                                                 tempera_error *error);
void tm_learner_free(tm_learner *learner);
/* Its state; a reader makes it (or, where there was none, frees it). */
void tm_learner_archive(tm_learner **learner, tm_archive *archive);
/* The prior as it stands; borrows the learner's knots. */
TEMPERA_CHECKED tempera_status tm_learner_prior(const tm_learner *learner,
                                                tm_tau_prior *prior,
                                                tempera_error *error);
/* The same as discrete levels: `count` taus (at least 2) from tau_min to 1,
 * even in w, and log z there. */
void tm_learner_levels(const tm_learner *learner, size_t count, double *tau,
                       double *log_z);
/* A round's tempered draws, made under the prior as it stands: refine log z
 * gently, and w from the barrier they measure. */
TEMPERA_CHECKED tempera_status tm_learner_update(tm_learner *learner,
                                                 const tempera_draws *draws,
                                                 tempera_error *error);
/* Has every step between knots been refined by draws? */
bool tm_learner_whole(const tm_learner *learner);

#endif
