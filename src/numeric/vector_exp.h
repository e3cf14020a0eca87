/* vector_exp.h - exp of an array, written so that the compiler vectorises it
 * without fast-math.
 *
 * Cody-Waite reduction and a degree-13 polynomial; relative error below 2e-15
 * where the result is a normal number, 0 and infinity beyond, NaN for NaN.
 * For masses and weights, where a few ulps do not matter. */
#ifndef TM_NUMERIC_VECTOR_EXP_H
#define TM_NUMERIC_VECTOR_EXP_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Adding it to a double rounds that to an integer and leaves the integer in
 * the low bits. */
#define TM_EXP_SHIFT 0x1.8p52

/* a b + c, in one instruction where there is one: ISO C forbids the compiler
 * to fuse by itself, and fma() without the instruction is a slow call. */
static inline double tm_fused(double a, double b, double c) {
#ifdef __FMA__
  return fma(a, b, c);
#else
  return a * b + c;
#endif
}

/* 2^n, from n + TM_EXP_SHIFT. */
static inline double tm_power_of_two(double shifted) {
  uint64_t bits;
  memcpy(&bits, &shifted, sizeof bits);
  bits = (bits + 1023) << 52;
  double power;
  memcpy(&power, &bits, sizeof power);
  return power;
}

static inline double tm_exp_kernel(double x) {
  /* Two factors 2^half and 2^rest cover this range, under- and overflowing
   * as they should; no branch is needed for the ends. */
  x = x < -800.0 ? -800.0 : x;
  x = x > 800.0 ? 800.0 : x;
  double n = tm_fused(x, 1.4426950408889634, TM_EXP_SHIFT) - TM_EXP_SHIFT;
  double r = tm_fused(-n, 0x1.a39ef35793c76p-33,
                      tm_fused(-n, 0x1.62e42fee00000p-1, x));
  double p = 1.60590438368216145994e-10; /* 1/13! */
  p = tm_fused(p, r, 2.08767569878680989792e-9);
  p = tm_fused(p, r, 2.50521083854417187751e-8);
  p = tm_fused(p, r, 2.75573192239858906526e-7);
  p = tm_fused(p, r, 2.75573192239858906526e-6);
  p = tm_fused(p, r, 2.48015873015873015873e-5);
  p = tm_fused(p, r, 1.98412698412698412698e-4);
  p = tm_fused(p, r, 1.38888888888888888889e-3);
  p = tm_fused(p, r, 8.33333333333333333333e-3);
  p = tm_fused(p, r, 4.16666666666666666667e-2);
  p = tm_fused(p, r, 1.66666666666666666667e-1);
  p = tm_fused(p, r, 0.5);
  p = tm_fused(p * r, r, r) + 1.0;
  double half = n * 0.5 + TM_EXP_SHIFT;
  double rest = (n - (half - TM_EXP_SHIFT)) + TM_EXP_SHIFT;
  return p * tm_power_of_two(half) * tm_power_of_two(rest);
}

void tm_vector_exp(double *values, size_t count);
/* The sum of e^(x + y - shift); y may be NULL. */
double tm_vector_exp_sum(const double *x, const double *y, double shift,
                         size_t count);

#endif
