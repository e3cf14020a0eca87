/* leapfrog.h - one Hamiltonian trajectory at fixed tau, in coordinates v in
 * which the draws are about round: u = u0 + L v over the reals, integers
 * held. With potential U(v) = -(tau*l + log pi + log J) and unit masses,
 *   H = U(v) + |p|^2 / 2. */
#ifndef TM_KERNELS_LEAPFROG_H
#define TM_KERNELS_LEAPFROG_H

#include "kernels/move.h"

typedef struct tm_leapfrog {
  /* Set for each trajectory by tm_leapfrog_start. */
  tm_evaluator *evaluator;
  double tau;
  tm_factor factor;
  /* State and workspace. */
  const tm_shared *shared;
  tm_point *point;       /* where the trajectory is; evaluated */
  double *origin;        /* u0, reals only */
  double *v, *p, *slope; /* slope = the gradient of -U over v */
  double *gradient;      /* over u */
  double *work;
} tm_leapfrog;

TEMPERA_CHECKED tempera_status tm_leapfrog_create(const tm_shared *shared,
                                                  tm_arena *arena,
                                                  tm_leapfrog *leapfrog,
                                                  tempera_error *error);

/* To the point `from`, v = 0; p is left as it is. `point` is used as scratch
 * and holds the trajectory's end. `gradient` over u there, if it is known; it
 * is evaluated for NULL. */
void tm_leapfrog_start(tm_leapfrog *leapfrog, const tm_step *step,
                       tm_factor factor, const tm_point *from, tm_point *point,
                       const double *gradient);
/* One step of length epsilon: half a kick, a drift, half a kick. */
void tm_leapfrog_step(tm_leapfrog *leapfrog, double epsilon);
/* H; +infinity or NaN where the density is zero or a gradient is not finite. */
double tm_leapfrog_energy(const tm_leapfrog *leapfrog);

#endif
