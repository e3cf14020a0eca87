/* hmc.h - what the Hamiltonian move has learned, for tests and reports. */
#ifndef TM_KERNELS_HMC_H
#define TM_KERNELS_HMC_H

#include "kernels/move.h"

typedef struct tm_hmc_view {
  double step;          /* length of a leapfrog step, in units of the factor */
  unsigned length;      /* leapfrog steps of a trajectory, on average */
  uint64_t divergences; /* in all, at any tau */
} tm_hmc_view;

/* Of the state that tm_move_hmc created. */
tm_hmc_view tm_hmc_inspect(void *state, double tau);

#endif
