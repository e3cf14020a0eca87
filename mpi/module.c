/* module.c - libtempera-mpi.so: bytes between ranks by MPI, for
 * src/parallel/ranks.c. A module of its own, so that Tempera runs on machines
 * without MPI. */
#include "parallel/ranks.h"

#include <limits.h>
#include <mpi.h>
#include <stdlib.h>
#include <time.h>

static bool started_here;

/* MPI waits by asking over and over, which takes the processor from ranks on
 * the same machine that have work to do: after some tries, sleep between them,
 * for a twentieth of the wait so far. */
static void wait_for(MPI_Request *request) {
  enum { TRIES = 200, MOST = 2000000 /* ns */ };
  long waited = 20000; /* ns */
  int done = 0;
  for (int i = 0; i < TRIES && !done; i++)
    MPI_Test(request, &done, MPI_STATUS_IGNORE);
  while (!done) {
    long nap = waited / 20 < MOST ? waited / 20 : MOST;
    nanosleep(&(struct timespec){.tv_nsec = nap}, NULL);
    waited += nap;
    MPI_Test(request, &done, MPI_STATUS_IGNORE);
  }
}

static void broadcast(void *bytes, size_t count) {
  if (count > INT_MAX)
    MPI_Abort(MPI_COMM_WORLD, 1);
  MPI_Request request;
  MPI_Ibcast(bytes, (int)count, MPI_BYTE, 0, MPI_COMM_WORLD, &request);
  wait_for(&request);
}

static unsigned char *gather(const void *bytes, size_t count, size_t *lengths) {
  int size, mine = (int)count;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int *counts = malloc(2 * (size_t)size * sizeof *counts);
  if (!counts || count > INT_MAX)
    MPI_Abort(MPI_COMM_WORLD, 1);
  int *starts = counts + size;
  MPI_Request request;
  MPI_Iallgather(&mine, 1, MPI_INT, counts, 1, MPI_INT, MPI_COMM_WORLD,
                 &request);
  wait_for(&request);
  size_t total = 0;
  for (int r = 0; r < size; r++) {
    starts[r] = (int)total;
    lengths[r] = (size_t)counts[r];
    total += lengths[r];
  }
  unsigned char *all = total < INT_MAX ? malloc(total + 1) : NULL;
  if (all) {
    MPI_Iallgatherv(bytes, mine, MPI_BYTE, all, counts, starts, MPI_BYTE,
                    MPI_COMM_WORLD, &request);
    wait_for(&request);
  }
  free(counts);
  return all;
}

static void end(void) {
  MPI_Request request;
  MPI_Ibarrier(MPI_COMM_WORLD, &request);
  wait_for(&request);
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
