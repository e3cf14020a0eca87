/* tau_prior.h - P(tau), the prior of the inverse temperature (method 4.2).
 *
 * log P is one continuous piecewise-linear function on knots; that function
 * is the prior, exactly. `profile` takes log P = -s, the ridge upside down.
 * With the exact ridge the sampler's log P comes from an optimisation, and
 * the table, certified to TM_RIDGE_GAP, serves the estimators only. */
#ifndef TM_TEMPERING_TAU_PRIOR_H
#define TM_TEMPERING_TAU_PRIOR_H

#include "numeric/loglinear.h"
#include "tempering/ridge.h"

typedef struct tm_tau_prior {
  tm_loglinear log_prior;
  double *values; /* storage behind log_prior.y */
  double tau_min;
} tm_tau_prior;

/* Tabulate -s. The knots' taus are borrowed from the ridge, which must
 * outlive the prior and not be improved while it is in use; call again after
 * tm_ridge_improve. Free with tm_tau_prior_free. */
TEMPERA_CHECKED tempera_status tm_tau_prior_profile(const tm_ridge *ridge,
                                                    double tau_min,
                                                    tm_tau_prior *prior,
                                                    tempera_error *error);
void tm_tau_prior_free(tm_tau_prior *prior);

#endif
