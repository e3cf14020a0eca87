/* family_wise.h - bounds for comparisons with exact answers, derived for all of
 * the suite together: if everything is right, and had seeds been drawn anew,
 * the chance that any test fails is at most FAMILY_RATE.
 *
 * With at most FAMILY_CHECKS comparisons each may fail with p = FAMILY_RATE /
 * FAMILY_CHECKS = 1e-8 (Bonferroni, so that they need not be independent): 5.7
 * standard errors where the error is known, more by Student's t where it is
 * estimated from few batches. A test that wants the power of four standard
 * errors takes twice the draws. */
#ifndef TM_TESTS_FAMILY_WISE_H
#define TM_TESTS_FAMILY_WISE_H

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stddef.h>

static const double FAMILY_RATE = 1e-4;
/* test_jump makes some 700, the suite a few thousand; the rest is room. */
enum { FAMILY_CHECKS = 10000 };

static inline double family_rate(void) { return FAMILY_RATE / FAMILY_CHECKS; }

/* Two-sided, in standard errors. */
static inline double family_z(void) {
  return gsl_cdf_ugaussian_Qinv(family_rate() / 2);
}

/* The same for errors with this many degrees of freedom. */
static inline double family_t(double df) {
  return gsl_cdf_tdist_Qinv(family_rate() / 2, df);
}

/* How many of n events of probability p each may happen. */
static inline size_t family_most(size_t n, double p) {
  double above = 1, term = pow(1 - p, (double)n);
  size_t k = 0;
  for (;; k++) {
    above -= term;
    if (k >= n || above < family_rate())
      return k;
    term *= (double)(n - k) / (double)(k + 1) * p / (1 - p);
  }
}

/* How far the error between m chains, widened as tm_influence_error does, may
 * exceed the one within them of `df` degrees of freedom: the square of their
 * ratio is an F. */
static inline double family_spread(size_t chains, double df) {
  double between = (double)chains - 1;
  double ratio = sqrt(gsl_cdf_fdist_Qinv(family_rate(), between, df));
  return ratio * gsl_cdf_tdist_Pinv(0.975, between) / 1.959963984540054;
}

#endif
