/* pawl.h - parallel adaptive Wang-Landau within simulated tempering (Bornn,
 * Jacob, Del Moral & Doucet 2013; the paper's section 2).
 *
 * M walkers (theta, tau) share one prior of tau, constant on bins. In warmup
 * each sweep makes the bins that hold walkers less likely, by a gain that
 * falls whenever the histogram of visits is flat; until it first is, a bin
 * that has under a quarter of its visits in one half is halved; the mean of l,
 * which is the slope of log z, says how heavy the halves are. Then the bins
 * and the prior are frozen, and the walkers are independent. tau is always
 * drawn exactly given theta: held by a rejection, it would look like a bin that
 * asks to be halved. */
#ifndef TM_SAMPLERS_PAWL_H
#define TM_SAMPLERS_PAWL_H

#include "groups/group.h"
#include "groups/tau_bins.h"
#include "groups/tau_move.h"
#include "groups/wang_landau.h"

/* Bins are not halved beyond this; what is pooled may have more. */
enum { TM_PAWL_BINS = 256, TM_PAWL_CAPACITY = 1024 };

typedef struct tm_pawl_settings {
  tempera_kernel kernel;
  size_t walkers;
} tm_pawl_settings;

typedef struct tm_walker {
  tm_point point;
  double tau;
} tm_walker;

typedef struct tm_pawl {
  tm_group group;
  tm_pawl_settings settings;
  tm_walker *walkers;
  tm_tau_bins bins;
  tm_tau_prior prior;
  tm_tau_mover mover;
  bool learning;
  tm_wang_landau visits; /* of the atom, if any, then of the bins */
  size_t *here, *left;   /* walkers per place now; visits in left halves */
  double *sum;           /* of their log likelihoods, by place */
  tempera_random theta_stream, tau_stream;
} tm_pawl;

/* All walkers start at `start` and start_tau; the bins come with
 * tm_pawl_set_bins, before the first sweep. */
TEMPERA_CHECKED tempera_status tm_pawl_create(const tempera_model *model,
                                              const tm_pawl_settings *settings,
                                              uint64_t seed, uint32_t chain,
                                              const double *start,
                                              double start_tau, tm_pawl **pawl,
                                              tempera_error *error);
void tm_pawl_set_bins(tm_pawl *pawl, const tm_tau_bins *bins);

#endif
