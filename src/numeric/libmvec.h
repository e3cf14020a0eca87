/* libmvec.h - lets the compiler vectorise loops that call libm.
 *
 * glibc has its functions for vectors too (libmvec, within 4 ulp; NaN and
 * infinities as the scalar ones have them) but declares them only under
 * fast-math. Declared here, loops over exp or log are vectorised with all else
 * kept exact. Elsewhere this file does nothing. */
#ifndef TM_NUMERIC_LIBMVEC_H
#define TM_NUMERIC_LIBMVEC_H

#include <math.h>

#if defined __x86_64__ && defined __GLIBC__ && defined __GNUC__ &&             \
    !defined __clang__ && __GLIBC_PREREQ(2, 35)
#define TM_VECTOR_CALL __attribute__((__simd__("notinbranch")))
extern double exp(double) TM_VECTOR_CALL;
extern double log(double) TM_VECTOR_CALL;
extern double log1p(double) TM_VECTOR_CALL;
extern double expm1(double) TM_VECTOR_CALL;
extern double pow(double, double) TM_VECTOR_CALL;
extern double sin(double) TM_VECTOR_CALL;
extern double cos(double) TM_VECTOR_CALL;
extern double tanh(double) TM_VECTOR_CALL;
extern double erf(double) TM_VECTOR_CALL;
extern double erfc(double) TM_VECTOR_CALL;
#endif

#endif
