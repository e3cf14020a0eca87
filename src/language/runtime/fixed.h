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

/* Fails with the function's name. */
void tm_check_square(tm_tape *tape, const tm_tensor *t, const char *name);

#define TM_F(name) tm_any tm_f_##name(tm_tape *tape, const tm_any *a, int count)

#endif
