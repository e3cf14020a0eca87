/* fitted_law.h - from points of a prior to a law that draws it by rejection
 * (model/prior_law.h), and to its integral.
 *
 * q is the density of bridge sampling fitted to the points, with a share of
 * the wide one of flat_model.h, so that no tail is out of reach. */
#ifndef TM_RUN_FITTED_LAW_H
#define TM_RUN_FITTED_LAW_H

#include "model/prior_law.h"

typedef struct tm_fitted_law {
  tm_prior_law law;
  double log_z, se; /* of f, by the mean of f/q over draws of q */
  double kept;      /* the share of proposals that rejection keeps */
} tm_fitted_law;

/* points: count x dimension coordinates u. Restricted: of the prior where the
 * likelihood is positive. `model` and the arena must outlive the law. */
TEMPERA_CHECKED tempera_status
tm_fitted_law_make(const tempera_model *model, const double *points,
                   size_t count, bool restricted, uint64_t seed,
                   tm_arena *arena, tm_fitted_law *made, tempera_error *error);

#endif
