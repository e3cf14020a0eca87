/* bridge_proposal.h - a normalised density over a model's unconstrained
 * coordinates, fitted to draws: a table of integer vectors (a pmf) times a
 * mixture of t's or Gaussians for the reals given each vector (method 4.4).
 *
 * Integer vectors seen often have a mixture of their own. The others, and
 * unseen ones next to seen ones, share a mixture of what a linear regression
 * of the reals on the integers leaves over. */
#ifndef TM_ESTIMATE_BRIDGE_PROPOSAL_H
#define TM_ESTIMATE_BRIDGE_PROPOSAL_H

#include "model/model.h"
#include "numeric/mixture.h"

typedef struct tm_bridge_proposal {
  const tempera_model *model;
  size_t reals, integers; /* numbers of coordinates */
  size_t *real, *integer; /* which ones */
  /* One entry per integer vector, sorted; just one without integers. */
  size_t cells;
  double *value;          /* cells x integers */
  double *mass;           /* probability */
  double *cumulative;     /* of mass */
  const tm_mixture **own; /* NULL: the shared one */
  tm_mixture shared;
  double *slope, *centre; /* reals x integers; integers */
  double *x, *work, *key; /* workspaces: one thread at a time */
} tm_bridge_proposal;

/* u: at least one row of model->dimension; at most `most` components (0: the
 * default). Everything comes from the arena. */
TEMPERA_CHECKED tempera_status
tm_bridge_proposal_fit(const tempera_model *model, const tm_points *u,
                       size_t most, tempera_random *random, tm_arena *arena,
                       tm_bridge_proposal *proposal, tempera_error *error);

/* The same density with workspaces of its own, for another thread. */
TEMPERA_CHECKED tempera_status
tm_bridge_proposal_copy(const tm_bridge_proposal *from, tm_arena *arena,
                        tm_bridge_proposal *to, tempera_error *error);

/* -infinity at integer vectors outside the table. */
double tm_bridge_proposal_log_density(const tm_bridge_proposal *proposal,
                                      const double *u);
void tm_bridge_proposal_draw(const tm_bridge_proposal *proposal,
                             tempera_random *random, double *u);

#endif
