/* tau_ladder.c - see tau_ladder.h. */
#include "numeric/tau_ladder.h"

#include <gsl/gsl_cdf.h>
#include <math.h>

static const double POWER = 5; /* Calderhead & Girolami 2009 */
static const double MOST_REJECTION = 0.9999;
static const double LEAST_RISE = 1e-3; /* levels that coincide stay apart */

void tm_ladder_power(double *tau, size_t count, bool from_zero,
                     double tau_min) {
  for (size_t t = 0; t < count; t++) {
    double share = from_zero ? (double)t / (double)(count - 1)
                             : (double)(t + 1) / (double)count;
    tau[t] = tau_min + (1 - tau_min) * pow(share, POWER);
  }
}

double tm_ladder_rise(double rejection) {
  double r = fmax(0, fmin(rejection, MOST_REJECTION));
  double inverse_erf = gsl_cdf_ugaussian_Pinv((1 + r) / 2) / sqrt(2);
  return 2 / sqrt(acos(-1)) * inverse_erf;
}

void tm_ladder_barrier(const double *rejection, size_t count, double *barrier) {
  barrier[0] = 0;
  for (size_t t = 0; t + 1 < count; t++)
    barrier[t + 1] = barrier[t] + tm_ladder_rise(rejection[t]);
}

size_t tm_ladder_count(double barrier) { return (size_t)ceil(2 * barrier) + 1; }

void tm_ladder_respace(const double *tau, const double *barrier, size_t count,
                       double *fresh, size_t wanted, double *place) {
  double total = barrier[count - 1] + LEAST_RISE * (double)(count - 1);
  size_t k = 0;
  for (size_t j = 0; j < wanted; j++) {
    double at = total * (double)j / (double)(wanted - 1), from, rise;
    for (;; k++) {
      from = barrier[k] + LEAST_RISE * (double)k;
      rise = barrier[k + 1] - barrier[k] + LEAST_RISE;
      if (k + 2 >= count || at <= from + rise)
        break;
    }
    double share = fmin(1, fmax(0, (at - from) / rise));
    fresh[j] = tau[k] > 0 ? tau[k] * pow(tau[k + 1] / tau[k], share)
                          : tau[k + 1] * share;
    if (place)
      place[j] = barrier[k] + share * (barrier[k + 1] - barrier[k]);
  }
  fresh[0] = tau[0];
  fresh[wanted - 1] = tau[count - 1];
}
