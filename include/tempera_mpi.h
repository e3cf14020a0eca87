/* tempera_mpi.h - one run on many processes, by MPI. Every rank creates the
 * same sampler and calls the same functions in the same order; the model's
 * calls are spread over ranks, chain by chain, and draws are the same, bit for
 * bit, for any number of ranks and threads.
 *
 *     tempera_mpi_begin(&error);                // before the sampler is made
 *     ... create a sampler, run it, summarise: on every rank
 *     if (tempera_mpi_rank() == 0) ...          // write or print
 *     tempera_mpi_end();
 *
 * MPI itself is loaded by tempera_mpi_begin (libtempera-mpi.so, which lies
 * beside the library where it was built with MPI): programs need not link to
 * it. Sinks and progress callbacks belong to rank 0 and must not call the
 * model. */
#ifndef TEMPERA_MPI_H
#define TEMPERA_MPI_H

#include "tempera.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Start MPI, unless the program has, and share what samplers of this thread do.
 * Refused where Tempera was built without MPI. */
TEMPERA_CHECKED tempera_status tempera_mpi_begin(tempera_error *error);
/* All ranks wait for each other and part; MPI is finalised if _begin started
 * it. */
void tempera_mpi_end(void);
/* End all ranks at once, with this exit status. */
void tempera_mpi_abort(int status);
/* 0 and 1 outside of begin and end. */
int tempera_mpi_rank(void);
int tempera_mpi_size(void);
/* Rank 0's bytes for all, as a seed. Between begin and end. */
void tempera_mpi_share(void *bytes, size_t count);

#ifdef __cplusplus
}
#endif

#endif
