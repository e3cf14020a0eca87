/* special.c - special functions of one and two arguments. */
#include "language/runtime/special.h"

#include <gsl/gsl_sf_psi.h>

TM_SPECIAL(trigamma) {
  if (d) {
    gsl_sf_result r;
    d[0] = x[0] > 0 && !gsl_sf_psi_n_e(2, x[0], &r)
               ? r.val
               : tm_special_difference(tm_special_trigamma, x, 1, 0);
  }
  return tm_trigamma(x[0]);
}

/* x (x - 1) ... (x - n + 1), also for n that is not whole */
TM_SPECIAL(falling_factorial) {
  double value = tgamma(x[0] + 1) / tgamma(x[0] - x[1] + 1);
  if (!isfinite(value))
    value = exp(tm_lgamma(x[0] + 1) - tm_lgamma(x[0] - x[1] + 1));
  if (d) {
    d[1] = value * tm_digamma(x[0] - x[1] + 1);
    d[0] = value * tm_digamma(x[0] + 1) - d[1];
  }
  return value;
}

TM_SPECIAL(rising_factorial) {
  double value = tgamma(x[0] + x[1]) / tgamma(x[0]);
  if (!isfinite(value))
    value = exp(tm_lgamma(x[0] + x[1]) - tm_lgamma(x[0]));
  if (d) {
    d[1] = value * tm_digamma(x[0] + x[1]);
    d[0] = d[1] - value * tm_digamma(x[0]);
  }
  return value;
}
