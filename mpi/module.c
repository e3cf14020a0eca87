/* module.c - libtempera-mpi.so: bytes between ranks by MPI, for
 * src/parallel/ranks.c. A module of its own, so that Tempera runs on machines
 * without MPI. */
#include "parallel/ranks.h"

#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static bool started_here;

/* Open MPI asks every network card before it starts, .2 s; ranks that share one
 * machine need none. Other choices, made by the user, stand. */
static void spare_networks(void) {
  const char *all = getenv("OMPI_COMM_WORLD_SIZE");
  const char *here = getenv("OMPI_COMM_WORLD_LOCAL_SIZE");
  if (all && here && strcmp(all, here) == 0)
    setenv("OMPI_MCA_pml", "ob1", 0);
}

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

/* MPI counts in ints. */
enum { AT_ONCE = 1 << 30 };

static void broadcast_from(int root, unsigned char *bytes, size_t count) {
  for (size_t done = 0; done < count;) {
    size_t here = count - done < AT_ONCE ? count - done : AT_ONCE;
    MPI_Request request;
    MPI_Ibcast(bytes + done, (int)here, MPI_BYTE, root, MPI_COMM_WORLD,
               &request);
    wait_for(&request);
    done += here;
  }
}

static void broadcast(void *bytes, size_t count) {
  broadcast_from(0, bytes, count);
}

/* All at once, where MPI can count it. */
static void gather_at_once(const void *bytes, int size, const size_t *lengths,
                           unsigned char *all) {
  int rank, *counts = malloc(2 * (size_t)size * sizeof *counts);
  if (!counts)
    MPI_Abort(MPI_COMM_WORLD, 1);
  int *starts = counts + size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int r = 0, total = 0; r < size; total += counts[r++]) {
    starts[r] = total;
    counts[r] = (int)lengths[r];
  }
  MPI_Request request;
  MPI_Iallgatherv(bytes, counts[rank], MPI_BYTE, all, counts, starts, MPI_BYTE,
                  MPI_COMM_WORLD, &request);
  wait_for(&request);
  free(counts);
}

static unsigned char *gather(const void *bytes, size_t count, size_t *lengths) {
  int size, rank;
  uint64_t mine = count;
  MPI_Request request;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  _Static_assert(sizeof(size_t) == sizeof(uint64_t), "sizes are sent as such");
  MPI_Iallgather(&mine, 1, MPI_UINT64_T, lengths, 1, MPI_UINT64_T,
                 MPI_COMM_WORLD, &request);
  wait_for(&request);
  size_t total = 0;
  for (int r = 0; r < size; r++)
    total += lengths[r];
  unsigned char *all = malloc(total + 1);
  if (!all)
    MPI_Abort(MPI_COMM_WORLD, 1); /* the others would wait for ever */
  if (total < AT_ONCE) {
    gather_at_once(bytes, size, lengths, all);
    return all;
  }
  size_t at = 0;
  for (int r = 0; r < size; at += lengths[r++]) {
    if (r == rank && count)
      memcpy(all + at, bytes, count);
    broadcast_from(r, all + at, lengths[r]);
  }
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
  if (!running)
    spare_networks();
  if (!running &&
      MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &level) != MPI_SUCCESS)
    return NULL;
  started_here = !running;
  MPI_Comm_rank(MPI_COMM_WORLD, &made.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &made.size);
  return &made;
}
