/* symmetric.c - functions of symmetric matrices refuse those that are not, as
 * Stan does: a covariance matrix of which one half is filled, or mistyped,
 * would go unseen, since only one half of it is read. Where the matrix must be
 * positive definite, others have density zero. */
#include "language/runtime/fixed.h"

#include <math.h>

/* Rounding may make a difference of this, relative where elements are above
 * one. */
static const double MOST = 1e-8;

/* The largest difference; by squares of a few rows, so that neither half is
 * read across all memory. NaN passes: it is what the function itself will
 * meet. */
static double worst_of(const double *v, int n) {
  enum { SQUARE = 8 };
  double worst[SQUARE] = {0};
  for (int from = 0; from < n; from += SQUARE)
    for (int i = from; i < n; i++) {
      const double *row = v + (long)i * n + from;
      const double *column = v + (long)from * n + i;
      int width = i - from < SQUARE ? i - from : SQUARE;
      for (int j = 0; j < width; j++) {
        double gap = fabs(row[j] - column[(long)j * n]);
        worst[j] = gap > worst[j] ? gap : worst[j];
      }
    }
  for (int j = 1; j < SQUARE; j++)
    worst[0] = fmax(worst[0], worst[j]);
  return worst[0];
}

void tm_check_symmetric(tm_tape *tape, const tm_tensor *t, const char *name) {
  int n = t->dim[0];
  tm_check_square(tape, t, name);
  if (worst_of(t->v, n) <= MOST)
    return;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < i; j++) {
      double a = t->v[(long)i * n + j], b = t->v[(long)j * n + i];
      if (fabs(a - b) > MOST * fmax(1, fabs(a)))
        tm_runtime_reject(tape,
                          "%s: not symmetric: [%d, %d] is %g, [%d, %d] is %g",
                          name, i + 1, j + 1, a, j + 1, i + 1, b);
    }
}

/* Symmetric and positive definite, which the factor finds out. */
static void check_definite(tm_tape *tape, tm_any a, const char *name) {
  tm_check_symmetric(tape, &a.u.t, name);
  a.u.t.d = NULL;
  (void)tm_cholesky_of_lower(tape, &a);
}

TM_F(inverse_spd) {
  check_definite(tape, a[0], "inverse_spd");
  return tm_f_inverse(tape, a, count);
}
TM_F(log_determinant_spd) {
  check_definite(tape, a[0], "log_determinant_spd");
  return tm_f_log_determinant(tape, a, count);
}
TM_F(solve_spd) {
  check_definite(tape, a[0], "mdivide_left_spd");
  return tm_f_solve(tape, a, count);
}
TM_F(solve_right_spd) {
  check_definite(tape, a[1], "mdivide_right_spd");
  return tm_f_solve_right(tape, a, count);
}
TM_F(quad_form_sym) {
  tm_check_symmetric(tape, &a[0].u.t, "quad_form_sym");
  return tm_f_quad_form(tape, a, count);
}
TM_F(quad_form_sym_matrix) {
  tm_check_symmetric(tape, &a[0].u.t, "quad_form_sym");
  return tm_f_quad_form_matrix(tape, a, count);
}
