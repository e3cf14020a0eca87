/* fast_math.h - exp and log of arrays, written so that the compiler turns
 * the loops into vector instructions without fast-math: no branches, no
 * calls, integer work on 64-bit lanes only.
 *
 * Models are built against tempera.h alone, hence this copy beside the
 * library's own. Relative error below 1e-15 (log: absolute below 1e-15 near
 * 1), tested against libm in tests/reproduce/test_paper_models.c. */
#ifndef PAPER_FAST_MATH_H
#define PAPER_FAST_MATH_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline uint64_t to_bits(double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

static inline double from_bits(uint64_t bits) {
  double x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

/* a b + c, in one instruction where there is one: ISO C forbids the compiler
 * to fuse by itself, and fma() without the instruction is a slow call. */
static inline double fused(double a, double b, double c) {
#ifdef __FMA__
  return fma(a, b, c);
#else
  return a * b + c;
#endif
}

/* max(x, -709.08). Among negative doubles more bits mean a smaller number, so
 * an integer minimum does it; a floating comparison may trap, and gcc then
 * keeps a branch and gives up on the loop. */
static inline double exp_floor(double x) {
  const uint64_t lowest = UINT64_C(0xc08628a3d70a3d71);
  uint64_t bits = to_bits(x);
  return from_bits(bits < lowest ? bits : lowest);
}

/* exp(x): Cody-Waite reduction, then the Taylor polynomial of degree 12 on
 * |r| <= log(2)/2, in Estrin's order, which waits less. The floor has
 * n = -1023, whose exponent bits are those of zero, so everything below
 * -708.7 gives 0. Precondition: x <= 709. */
static inline double exp_lane(double x) {
  double bounded = exp_floor(x);
  const double shift = 0x1.8p52; /* adding it rounds to an integer */
  double shifted = fused(bounded, 1.4426950408889634, shift);
  double n = shifted - shift;
  double r = fused(n, -0x1.62e42fee00000p-1, bounded);
  r = fused(n, -0x1.a39ef35793c76p-33, r);
  double r2 = r * r, r4 = r2 * r2;
  double p0 = fused(1.66666666666666666667e-1, r, 0.5);
  double p2 = fused(8.33333333333333333333e-3, r, 4.16666666666666666667e-2);
  double p4 = fused(1.98412698412698412698e-4, r, 1.38888888888888888889e-3);
  double p6 = fused(2.75573192239858906526e-6, r, 2.48015873015873015873e-5);
  double p8 = fused(2.50521083854417187751e-8, r, 2.75573192239858906526e-7);
  p8 = fused(2.08767569878680989792e-9, r2, p8); /* 1/12! */
  double low = fused(p2, r2, p0), high = fused(p6, r2, p4);
  double p = fused(fused(p8, r4, high), r4, low);
  double value = fused(p, r2, r) + 1.0;
  /* The low bits of `shifted` hold n; move them into the exponent. */
  return value * from_bits((to_bits(shifted) + 1023) << 52);
}

/* log(x) as in fdlibm: x = 2^e (1 + f), s = f / (2 + f), and a minimax
 * polynomial in s^2. Precondition: x is a positive, normal, finite number. */
static inline double log_lane(double x) {
  /* Shift so that the exponent changes at sqrt(1/2), not at 1. */
  const uint64_t root = UINT64_C(0x3fe6a09e667f3bcd);
  uint64_t bits = to_bits(x);
  uint64_t biased = (bits - root + (UINT64_C(2048) << 52)) >> 52;
  double m = from_bits(bits - ((biased - 2048) << 52));
  /* An integer below 2^52 in the low bits of 2^52 is that double plus 2^52. */
  double e = from_bits(biased | UINT64_C(0x4330000000000000));
  e -= 0x1p52 + 2048.0;
  double f = m - 1.0, s = f / (2.0 + f), half = 0.5 * f * f;
  double z = s * s, z2 = z * z, z4 = z2 * z2;
  double p0 = fused(3.999999999940941908e-1, z, 6.666666666666735130e-1);
  double p2 = fused(2.222219843214978396e-1, z, 2.857142874366239149e-1);
  double p4 = fused(1.531383769920937332e-1, z, 1.818357216161805012e-1);
  p4 = fused(1.479819860511658591e-1, z2, p4);
  double p = z * fused(p4, z4, fused(p2, z2, p0));
  double low = s * (half + p) + e * 1.90821492927058770002e-10;
  return e * 6.93147180369123816490e-1 - ((half - low) - f);
}

static inline void exp_array(double *values, size_t count) {
  for (size_t i = 0; i < count; i++)
    values[i] = exp_lane(values[i]);
}

static inline void log_array(double *values, size_t count) {
  for (size_t i = 0; i < count; i++)
    values[i] = log_lane(values[i]);
}

#endif
