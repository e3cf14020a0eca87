/* vector_gamma.h - log gamma and its derivative for positive arguments, with
 * no branches, so that loops over them are vectorised.
 *
 * Arguments below 8 are moved up by 8 by the recurrence; then Stirling's
 * series (Abramowitz and Stegun 6.1.40 and 6.3.18). Errors below 2e-14 of
 * 1 + |result|; infinite at 0 and meaningless below. */
#ifndef TM_NUMERIC_VECTOR_GAMMA_H
#define TM_NUMERIC_VECTOR_GAMMA_H

#include "numeric/libmvec.h"

static inline double tm_vector_lgamma(double x) {
  double product = 1;
  for (int i = 0; i < 8; i++)
    product *= x + i;
  product = x < 8 ? product : 1;
  double z = x < 8 ? x + 8 : x, r = 1 / z, q = r * r;
  double p = -3617.0 / 122400;
  p = p * q + 1.0 / 156;
  p = p * q - 691.0 / 360360;
  p = p * q + 1.0 / 1188;
  p = p * q - 1.0 / 1680;
  p = p * q + 1.0 / 1260;
  p = p * q - 1.0 / 360;
  p = p * q + 1.0 / 12;
  return (z - 0.5) * log(z) - z + 0.91893853320467274178 + p * r - log(product);
}

static inline double tm_vector_digamma(double x) {
  double sum = 0;
  for (int i = 0; i < 8; i++)
    sum += 1 / (x + i);
  sum = x < 8 ? sum : 0;
  double z = x < 8 ? x + 8 : x, r = 1 / z, q = r * r;
  double p = -3617.0 / 8160;
  p = p * q + 1.0 / 12;
  p = p * q - 691.0 / 32760;
  p = p * q + 1.0 / 132;
  p = p * q - 1.0 / 240;
  p = p * q + 1.0 / 252;
  p = p * q - 1.0 / 120;
  p = p * q + 1.0 / 12;
  return log(z) - 0.5 * r - p * q - sum;
}

#endif
