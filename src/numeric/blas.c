/* blas.c - what belongs to BLAS as a whole. */
#include "tempera.h"

#include <cblas.h>

void tempera_blas_threads(int count) { openblas_set_num_threads(count); }
