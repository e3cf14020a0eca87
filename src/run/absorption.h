/* absorption.h - do states annealed from the prior, and the draws that lie
 * farthest from q, belong to what the reference leg knows (method 5.8)?
 *
 * Each start is a prior draw, annealed to tau = 1 along the prior leg by the
 * frozen kernels. It is absorbed when from there it is accepted down the
 * reference leg to q. If all of n independent starts are, a basin that catches
 * a share p of them goes unseen with probability (1 - p)^n: 59 starts exclude
 * 5 % at the level of 95 %.
 *
 * A start that is not absorbed is in a basin of its own, B. Were it a draw of
 * the posterior within B, then annealed back to the prior, with W the sum of l
 * over the steps of tau, E[e^-W] <= 1 / z(B), z(B) the evidence within B
 * (Jarzynski's equality, by which z is estimated on the way up), so that log
 * z(B) <= W + log 1000 but for one time in a thousand (Markov). A state that is
 * still rising is none: its bound is higher by ten times the rise of its mean
 * l between its last two tries (W is made of l alone: in the neck of a funnel
 * the prior's density rises without end). `lost_mass` is the highest bound; the
 * verdict compares it with log z.
 *
 * Draws far from q have a heavy tail of D where q's own tails are too light,
 * as a Gaussian's are beside those of the log of a scale that may be zero, or
 * where they are in a mode that q does not know. From the former the leg comes
 * down, from the latter it does not: the farthest draw of each of 60 stretches
 * of the chains is tried. What the basins of those that stay away may hold is
 * bounded in the same way: they are draws of the posterior. */
#ifndef TM_RUN_ABSORPTION_H
#define TM_RUN_ABSORPTION_H

#include "run/sampler.h"

/* After warmup, where there is a reference leg and the prior can be drawn from;
 * fills sampler->absorption. With more draws far ones are tried anew, and in a
 * run that is half as long again also the starts that had not come down: they
 * get a share of its sweeps. */
TEMPERA_CHECKED tempera_status tm_absorption_measure(tempera_sampler *sampler,
                                                     tempera_error *error);

#endif
