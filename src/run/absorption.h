/* absorption.h - do states annealed from the prior belong to what the
 * reference leg knows (method 5.8)?
 *
 * Each start is a prior draw, annealed to tau = 1 along the prior leg by the
 * frozen kernels. It is absorbed when from there it is accepted down the
 * reference leg to q. If all of n independent starts are, a basin that catches
 * a share p of them goes unseen with probability (1 - p)^n: 59 starts exclude
 * 5 % at the level of 95 %. */
#ifndef TM_RUN_ABSORPTION_H
#define TM_RUN_ABSORPTION_H

#include "run/sampler.h"

/* Once, after warmup, where there is a reference leg and the prior can be
 * drawn from; fills sampler->absorption. */
TEMPERA_CHECKED tempera_status tm_absorption_measure(tempera_sampler *sampler,
                                                     tempera_error *error);

#endif
