/* storage.h - storage of variables and parameters, made by the library rather
 * than in every program: members of tm_the_runtime (prelude.h says what they
 * do). */
#ifndef TM_LANGUAGE_STORAGE_H
#define TM_LANGUAGE_STORAGE_H

#include "language/runtime/runtime.h"

tm_tensor tm_storage_duplicate(tm_tape *tape, tm_tensor from);
tm_tensor tm_storage_declare(tm_tape *tape, int rank, const int *dim,
                             int active);
tm_tensor tm_storage_unpack(tm_tape *tape, const double *theta,
                            double *gradient, int rank, const int *dim);
void tm_storage_pack(tm_tape *tape, tm_tensor from, double *theta,
                     const char *name);

#endif
