/* trajectory.h - a Hamiltonian trajectory that doubles, forwards or backwards
 * at random, until it turns (Hoffman & Gelman 2014), from which a point is
 * drawn by its weight e^-H (Betancourt 2017). It leaves the law at tau
 * invariant whatever the step and the factor are. */
#ifndef TM_KERNELS_TRAJECTORY_H
#define TM_KERNELS_TRAJECTORY_H

#include "kernels/leapfrog.h"

/* Doublings: 1023 leapfrog steps at most. */
enum { TM_DOUBLINGS = 10 };

/* A stretch of the trajectory, in the order in which it was walked. */
typedef struct tm_branch {
  double *momenta;      /* their sum */
  double *first, *last; /* momenta at its ends */
  double log_weight;    /* of the sum of e^(H0 - H) */
  tm_point point;       /* drawn from it by weight ... */
  double *gradient;     /* ... and the gradient over u there */
} tm_branch;

/* Where the integrator stands at an end of the trajectory. */
typedef struct tm_end {
  double *v, *p, *slope;
} tm_end;

typedef struct tm_trajectory {
  tm_leapfrog leapfrog;
  tm_branch halves[TM_DOUBLINGS][2], whole;
  tm_end ends[2];
  double *sum; /* scratch */
  /* Of the last one. */
  double start_energy;
  unsigned steps;    /* leapfrog steps */
  double acceptance; /* summed over them */
  bool diverged;     /* the energy rose by more than 1000 somewhere */
} tm_trajectory;

TEMPERA_CHECKED tempera_status tm_trajectory_create(const tm_shared *shared,
                                                    tm_arena *arena,
                                                    tm_trajectory *trajectory,
                                                    tempera_error *error);
/* From where the leapfrog was just started, momenta drawn here. The point drawn
 * is in whole.point; true if it is another than the start. */
bool tm_trajectory_run(tm_trajectory *trajectory, tempera_random *random,
                       double epsilon, unsigned most_doublings);

#endif
