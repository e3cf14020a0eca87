/* stepsize.h - the step of Hamiltonian moves as a function of tau, by dual
 * averaging (Nesterov; Hoffman & Gelman 2014, section 3.2) at the nodes of the
 * tau grid of scale.h, with Stan's constants. */
#ifndef TM_KERNELS_STEPSIZE_H
#define TM_KERNELS_STEPSIZE_H

#include "kernels/scale.h"

typedef struct tm_stepsize {
  bool started;
  double target; /* mean acceptance aimed at */
  double centre; /* log steps are drawn towards it */
  double count[TM_TAU_NODES], surplus[TM_TAU_NODES];
  double latest[TM_TAU_NODES], mean[TM_TAU_NODES]; /* of log steps */
} tm_stepsize;

/* Begin (again) from a first guess, for all tau. */
void tm_stepsize_start(tm_stepsize *step, double guess, double target);
/* While learning the step to try, else the mean of those tried. Nodes never
 * visited do as the nearest that was. */
double tm_stepsize_at(const tm_stepsize *step, tm_tau_place place,
                      bool learning);
void tm_stepsize_update(tm_stepsize *step, tm_tau_place place,
                        double acceptance);
void tm_stepsize_archive(tm_stepsize *step, tm_archive *archive);

#endif
