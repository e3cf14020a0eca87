/* vector_exp.h - exp of an array, written so that the compiler vectorises it
 * without fast-math.
 *
 * Cody-Waite reduction and a degree-11 polynomial; relative error below 2e-15
 * on [-708, 708], 0 below that range, infinity above, NaN for NaN. For masses
 * and weights, where a few ulps do not matter. */
#ifndef TM_NUMERIC_VECTOR_EXP_H
#define TM_NUMERIC_VECTOR_EXP_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline double tm_exp_kernel(double x) {
  double bounded = x < -708.0 ? -708.0 : (x > 708.0 ? 708.0 : x);
  const double shift = 0x1.8p52; /* adding it rounds to an integer */
  double shifted = bounded * 1.4426950408889634 + shift;
  double n = shifted - shift;
  double r = (bounded - n * 0x1.62e42fee00000p-1) - n * 0x1.a39ef35793c76p-33;
  double p = 2.50521083854417187751e-8; /* 1/11! */
  p = p * r + 2.75573192239858906526e-7;
  p = p * r + 2.75573192239858906526e-6;
  p = p * r + 2.48015873015873015873e-5;
  p = p * r + 1.98412698412698412698e-4;
  p = p * r + 1.38888888888888888889e-3;
  p = p * r + 8.33333333333333333333e-3;
  p = p * r + 4.16666666666666666667e-2;
  p = p * r + 1.66666666666666666667e-1;
  p = p * r + 0.5;
  p = p * r * r + r + 1.0;
  /* The low bits of `shifted` hold n; move them into the exponent. */
  int64_t bits;
  memcpy(&bits, &shifted, sizeof bits);
  int64_t power = (int64_t)((uint64_t)(bits + 1023) << 52);
  double scale;
  memcpy(&scale, &power, sizeof scale);
  double value = p * scale;
  value = x < -708.0 ? 0.0 : value;
  value = x > 708.0 ? INFINITY : value;
  return x != x ? x : value;
}

static inline void tm_vector_exp(double *values, size_t count) {
  for (size_t i = 0; i < count; i++)
    values[i] = tm_exp_kernel(values[i]);
}

#endif
