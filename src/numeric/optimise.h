/* optimise.h - local maximisation in a box, typed over NLopt.
 *
 * One run of one algorithm: what to do about failed runs, restarts and
 * several starts is decided by the caller, who knows the objective. */
#ifndef TM_NUMERIC_OPTIMISE_H
#define TM_NUMERIC_OPTIMISE_H

#include "base/status.h"

typedef struct tm_optimiser tm_optimiser;

/* The objective at x, to be maximised; -infinity where x is not allowed.
 * Fills `gradient` unless it is NULL. */
typedef double (*tm_objective_fn)(const double *x, double *gradient,
                                  void *context);

typedef enum tm_optimiser_method {
  TM_OPTIMISER_SIMPLEX = 0, /* Nelder-Mead; Sbplx in more than 5 dimensions */
  TM_OPTIMISER_LBFGS,
  TM_OPTIMISER_SLSQP
} tm_optimiser_method;

typedef struct tm_optimiser_settings {
  size_t dimension; /* may be 0: there is then nothing to move */
  tm_optimiser_method method;
  const double *lower, *upper; /* dimension of each; copied */
  double tolerance;            /* absolute, on the objective */
  int evaluations;             /* at most this many in a run */
} tm_optimiser_settings;

/* Free with tm_optimiser_free. */
TEMPERA_CHECKED tempera_status
tm_optimiser_create(const tm_optimiser_settings *settings,
                    tm_optimiser **optimiser, tempera_error *error);
void tm_optimiser_free(tm_optimiser *optimiser);

/* One run from x, which must be inside the box; `step` (dimension, positive)
 * sizes the first simplex. On return x is the best point as NLopt saw it.
 * False when the algorithm broke down; x may have improved even so. NLopt
 * allocates inside a run. */
bool tm_optimiser_run(tm_optimiser *optimiser, tm_objective_fn objective,
                      void *context, const double *step, double *x);
/* From inside the objective: end the run. */
void tm_optimiser_stop(tm_optimiser *optimiser);

#endif
