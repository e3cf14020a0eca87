/* prior_law.h - draws from a prior that has no prior_draw: by rejection from a
 * normalised density q that was fitted to it.
 *
 * On the unconstrained scale let f = pi |J| and log f - log q <= log_bound
 * wherever q proposes. A proposal kept with probability f / (q e^log_bound) is
 * an exact draw of f. Who makes the law says how the bound was found
 * (run/prior_run.c). */
#ifndef TM_MODEL_PRIOR_LAW_H
#define TM_MODEL_PRIOR_LAW_H

#include "model/model.h"

struct tm_prior_law {
  void *state;
  /* A copy with workspaces of its own, from the arena; NULL: no memory. */
  void *(*copy)(const void *state, tm_arena *arena);
  /* Fill u with a draw of q; returns log q there. */
  double (*propose)(void *state, tempera_random *random, double *u);
  double log_bound;
  /* f is the prior where the likelihood is positive, nothing elsewhere. */
  bool restricted;
};

/* Stands in the spec of a model that has a law, for those who ask whether
 * there are draws; never called. */
int tm_prior_law_stands_in(tempera_random *random, double *theta, void *user);

/* A draw, with the prior and the Jacobian (and the likelihood, of a restricted
 * law only); false when the law gave none. */
bool tm_prior_law_draw(tm_evaluator *evaluator, tempera_random *random,
                       tm_point *point);

#endif
