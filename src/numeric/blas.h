/* blas.h - room for BLAS where address space is limited. */
#ifndef TM_NUMERIC_BLAS_H
#define TM_NUMERIC_BLAS_H

#include "base/status.h"

/* OpenBLAS maps a buffer for every thread that calls it, and where it cannot it
 * tries again for ever. Under a limit on address space (ulimit -v) this takes
 * the buffers of so many threads now, or fails in words. */
TEMPERA_CHECKED tempera_status tm_blas_reserve(int threads,
                                               tempera_error *error);

#endif
