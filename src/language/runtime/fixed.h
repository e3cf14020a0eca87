/* fixed.h - the functions behind TM_FIXED of tables.h, declared. */
#ifndef TM_LANGUAGE_FIXED_H
#define TM_LANGUAGE_FIXED_H

#include "language/runtime/runtime.h"
#include "language/runtime/tables.h"

#define TM_DECLARE_FIXED(name, signature, function)                            \
  tm_any tm_f_##function(tm_tape *tape, const tm_any *a, int count);
TM_FIXED(TM_DECLARE_FIXED)

tm_any tm_f_matmul(tm_tape *tape, const tm_any *a, int count);
tm_any tm_f_dirichlet_fill(tm_tape *tape, const tm_any *a, int count);
tm_any tm_f_ordered_fill(tm_tape *tape, const tm_any *a, int count);
tm_any tm_f_component_fill(tm_tape *tape, const tm_any *a, int count);
tm_any tm_f_whole_fill(tm_tape *tape, const tm_any *a, int count);
tm_any tm_f_bernoulli_logit_glm_fill(tm_tape *tape, const tm_any *a, int count);
tm_any tm_f_poisson_log_glm_fill(tm_tape *tape, const tm_any *a, int count);
tm_any tm_f_normal_id_glm_fill(tm_tape *tape, const tm_any *a, int count);
tm_any tm_f_neg_binomial_2_log_glm_fill(tm_tape *tape, const tm_any *a,
                                        int count);
tm_any tm_f_binomial_logit_glm_fill(tm_tape *tape, const tm_any *a, int count);

/* Fails with the function's name. */
void tm_check_square(tm_tape *tape, const tm_tensor *t, const char *name);
/* Square too; the point is rejected where it is not. */
void tm_check_symmetric(tm_tape *tape, const tm_tensor *t, const char *name);
/* The Cholesky factor by the lower triangle, whatever stands above. */
tm_any tm_cholesky_of_lower(tm_tape *tape, const tm_any *a);

/* Functions of ours on values made here. */
TM_INLINE tm_any tm_call1(tm_tape *tape, tm_fn f, tm_any x) {
  return f(tape, &x, 1);
}
TM_INLINE tm_any tm_call2(tm_tape *tape, tm_fn f, tm_any x, tm_any y) {
  return f(tape, (tm_any[]){x, y}, 2);
}
/* Elementwise functions by name: exp, and add of two. */
tm_any tm_map1(tm_tape *tape, const char *name, tm_any x);
tm_any tm_map2(tm_tape *tape, const char *name, tm_any x, tm_any y);

/* Zeros for partials, where adjoints are wanted. */
TM_INLINE double *tm_room(tm_tape *tape, const double *wanted, long n) {
  return wanted ? tm_take(tape, (size_t)n * sizeof(double) + 1) : NULL;
}
/* Numbers that may be written over later, as they are now. */
TM_INLINE double *tm_copied(tm_tape *tape, const double *x, long n) {
  double *y = tm_take_blank(tape, (size_t)n * sizeof(double) + 1);
  return n ? memcpy(y, x, (size_t)n * sizeof(double)) : y;
}

/* 1 to n with these probabilities. */
long tm_pick(tm_tape *tape, const double *p, long n);

#define TM_F(name) tm_any tm_f_##name(tm_tape *tape, const tm_any *a, int count)

#endif
