/* module.c - libtempera-mpi.so: bytes between ranks by MPI, for
 * src/parallel/ranks.c. A module of its own, so that Tempera runs on machines
 * without MPI. */
#include "parallel/ranks.h"

#include <limits.h>
#include <mpi.h>
#include <stdlib.h>

static bool started_here;

static void broadcast(void *bytes, size_t count) {
  if (count > INT_MAX)
    MPI_Abort(MPI_COMM_WORLD, 1);
  MPI_Bcast(bytes, (int)count, MPI_BYTE, 0, MPI_COMM_WORLD);
}

static unsigned char *gather(const void *bytes, size_t count, size_t *lengths) {
  int size, mine = (int)count;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int *counts = malloc(2 * (size_t)size * sizeof *counts);
  if (!counts || count > INT_MAX)
    MPI_Abort(MPI_COMM_WORLD, 1);
  int *starts = counts + size;
  MPI_Allgather(&mine, 1, MPI_INT, counts, 1, MPI_INT, MPI_COMM_WORLD);
  size_t total = 0;
  for (int r = 0; r < size; r++) {
    starts[r] = (int)total;
    lengths[r] = (size_t)counts[r];
    total += lengths[r];
  }
  unsigned char *all = total < INT_MAX ? malloc(total + 1) : NULL;
  if (all)
    MPI_Allgatherv(bytes, mine, MPI_BYTE, all, counts, starts, MPI_BYTE,
                   MPI_COMM_WORLD);
  free(counts);
  return all;
}

static void end(void) {
  MPI_Barrier(MPI_COMM_WORLD);
  if (started_here)
    MPI_Finalize();
}

static void stop(int code) {
  MPI_Abort(MPI_COMM_WORLD, code);
  abort(); /* never */
}

const tm_transport *tempera_mpi_transport(void);

/* What libtempera.so looks up. NULL: MPI does not start. */
const tm_transport *tempera_mpi_transport(void) {
  static tm_transport made = {
      .broadcast = broadcast, .gather = gather, .end = end, .abort = stop};
  int running = 0, level;
  MPI_Initialized(&running);
  if (!running &&
      MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &level) != MPI_SUCCESS)
    return NULL;
  started_here = !running;
  MPI_Comm_rank(MPI_COMM_WORLD, &made.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &made.size);
  return &made;
}
