/* tau_prior.c - see tau_prior.h. */
#include "tempering/tau_prior.h"

#include <math.h>

tempera_status tm_tau_prior_profile(const tm_ridge *ridge, double tau_min,
                                    tm_tau_prior *prior, tempera_error *error) {
  const tm_ridge_view *view = &ridge->view;
  double *values = tm_heap_alloc(view->knots, sizeof(double));
  if (!values)
    return tm_fail_memory(error);
  for (size_t k = 0; k < view->knots; k++)
    values[k] = -view->height[k];
  tm_tau_prior_free(prior);
  *prior =
      (tm_tau_prior){.log_prior = {view->knots, view->tau, values, -INFINITY},
                     .values = values,
                     .tau_min = tau_min};
  return TEMPERA_OK;
}

void tm_tau_prior_free(tm_tau_prior *prior) {
  tm_heap_free(prior->values);
  *prior = (tm_tau_prior){0};
}
