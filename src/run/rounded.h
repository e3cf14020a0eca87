/* rounded.h - priors with mass closer to a bound than numbers can tell.
 *
 * Half of a gamma(.001, .001) lies below the smallest number there is, a sixth
 * of the upper half of a beta(.05, .05) above the largest below 1: draws from
 * such priors round to the bound, where densities are infinite or zero. The run
 * then is of the prior without that part, and log P of what is left, measured
 * by drawing, is added to whatever starts there, as with support.h. What the
 * part would hold of the posterior is found from the draws, with the value that
 * is next to the bound in place of theirs: next to nothing where the likelihood
 * vanishes there, and if not, neither draws nor evidence can be trusted. Of the
 * scale of groups, whose values a draw has for its own scale only, the draws
 * near to the bound tell. */
#ifndef TM_RUN_ROUNDED_H
#define TM_RUN_ROUNDED_H

#include "draws/draws.h"
#include "model/model.h"

/* Points into itself: not to be moved. */
typedef struct tm_rounded {
  tm_arena *arena;     /* NULL: nothing is rounded */
  tempera_model model; /* the run's, with log P */
  double se;           /* of it */
  double *lost;        /* of each value of theta: the share that is rounded, */
  double *next;        /* the number next to its bound, */
  double *border;      /* and where the prior's part nearest to it begins */
} tm_rounded;

/* `model` must outlive it. */
TEMPERA_CHECKED tempera_status tm_rounded_measure(const tempera_model *model,
                                                  uint64_t seed,
                                                  tm_rounded *rounded,
                                                  tempera_error *error);
/* What the rounded part would be beside the posterior of the draws, and the
 * value that has most of it. */
TEMPERA_CHECKED tempera_status tm_rounded_share(const tm_rounded *rounded,
                                                const tempera_draws *draws,
                                                double *share, size_t *worst,
                                                tempera_error *error);
void tm_rounded_free(tm_rounded *rounded);

#endif
