/* annealing.h - a first curve of log z where the Laplace ridge gives none or a
 * poor one: adaptive sequential Monte Carlo from the prior (method 4.9). */
#ifndef TM_RUN_ANNEALING_H
#define TM_RUN_ANNEALING_H

#include "run/sampler.h"

/* log z(tau) - log z(tau[0]) at `count` increasing taus from tau_min to 1. It
 * is some nats low where moves are slow: a start, never an estimate. `reached`
 * is false, and log_z not touched, when it did not get to tau = 1. Every
 * group's kernel moves its own particles, and learns scales and metrics at
 * every tau on the way. `ends` (chains x model size): where one particle of
 * each chain ended, at tau = 1. For warmup only. */
TEMPERA_CHECKED tempera_status tm_anneal(tempera_sampler *sampler,
                                         const double *tau, size_t count,
                                         double *log_z, double *ends,
                                         bool *reached, tempera_error *error);

#endif
