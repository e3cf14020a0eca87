/* complex.h - complex numbers in the library. A complex number is a tensor of
 * its two parts, and a shape of them has one dimension more than it takes
 * indices, the last, of size two: so slices, assignments, data, functions of
 * the user and the tape know nothing of them. Where z has the adjoint
 * (x', y') of its parts, the adjoint is kept as x' + i y': a step dz of z then
 * changes the target by Re(conj(z') dz), and of w = f(z), analytic, z' gets
 * conj(f'(z)) w'. */
#ifndef TM_LANGUAGE_COMPLEX_H
#define TM_LANGUAGE_COMPLEX_H

#include "language/runtime/complex_tables.h"
#include "language/runtime/fixed.h"

#include <complex.h>

typedef double complex tm_complex;

/* How many there are in a tensor, and they themselves. */
TM_INLINE long tm_complex_count(const tm_tensor *t) { return tm_count(t) / 2; }
TM_INLINE tm_complex *tm_complexes(double *x) { return (tm_complex *)x; }

/* A new tensor of complex numbers, of a shape that has `rank` indices. */
tm_tensor tm_complex_blank(tm_tape *tape, int rank, const int *dim, int active);
/* Room for n of them, zero. */
TM_INLINE tm_complex *tm_complex_room(tm_tape *tape, long n) {
  return tm_take(tape, (size_t)n * sizeof(tm_complex) + 1);
}
TM_INLINE tm_complex *tm_complex_copy(tm_tape *tape, const double *x, long n) {
  return tm_complexes(tm_copied(tape, x, 2 * n));
}
/* The real (0) or imaginary (1) part of each, and back. */
tm_any tm_complex_part(tm_tape *tape, const tm_any *z, int part);
tm_any tm_complex_of(tm_tape *tape, tm_any real, tm_any imaginary);

tm_complex tm_complex_power(tm_complex a, tm_complex b);
tm_any tm_f_complex_conj(tm_tape *tape, const tm_any *a, int count);
tm_any tm_f_complex_minus(tm_tape *tape, const tm_any *a, int count);

/* c = op(a) op(b) + beta c, row-major; 'N', or 'C' for the adjoint. */
typedef struct tm_side {
  char op;
  const tm_complex *at;
} tm_side;
void tm_complex_product(tm_side a, tm_side b, int m, int k, int n, double beta,
                        tm_complex *c);

/* Make the largest component of each column real and positive: which one it
 * is, and (where asked) by what the columns were multiplied. */
const int *tm_complex_pivots(tm_tape *tape, tm_complex *v, int rows,
                             int columns, tm_complex *phases);

#define TM_DECLARE_COMPLEX(name, signature, function)                          \
  tm_any tm_f_##function(tm_tape *tape, const tm_any *a, int count);
TM_COMPLEX_OTHERS(TM_DECLARE_COMPLEX)

#endif
