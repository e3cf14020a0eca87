/* crank_nicolson.h - preconditioned Crank-Nicolson proposals about a Gaussian
 * (method 5.5): x' = m + cos(angle) (x - m) + sin(angle) L z, z standard
 * normal. N(m, L L') is their reversible law, so that a density p is left
 * invariant by accepting with min(1, (p/N)(x') / (p/N)(x)); an angle of pi/2
 * is an independent draw. */
#ifndef TM_KERNELS_CRANK_NICOLSON_H
#define TM_KERNELS_CRANK_NICOLSON_H

#include "model/model.h"

/* x, out: dimension; they may be the same. work: dimension. */
void tm_crank_nicolson(const tm_normal *about, size_t dimension, double angle,
                       const double *x, tempera_random *random, double *work,
                       double *out);

#endif
