/* influence.h - one standard error for every estimator.
 *
 * To first order every estimator here is a mean over the draws of its
 * influence function psi (the delta method), so its Monte Carlo error is that
 * of a mean of an autocorrelated series. */
#ifndef TM_ESTIMATE_INFLUENCE_H
#define TM_ESTIMATE_INFLUENCE_H

#include <stddef.h>

typedef struct tm_monte_carlo {
  double se;      /* estimate +- 1.96 se is a 95 % interval */
  double within;  /* overlapping batch means, pooled over chains */
  double between; /* spread of the chains' means; NaN below three chains */
} tm_monte_carlo;

/* Fewer draws than this, and no error is given. */
#define TM_FEWEST_DRAWS 20

/* psi is chain after chain, `rows` long each. NaN for too few draws. */
tm_monte_carlo tm_influence_error(const double *psi, size_t chains,
                                  size_t rows);

#endif
