/* waits.c - how long a run on many ranks would take if every rank had a core to
 * itself and messages took no time, on a machine that is busy with other
 * things: each rank's processor time between messages is counted, and where
 * ranks meet all go on from the latest of them. Loaded before the command by
 * benchmarks/ ranks.sh (`waits`), in front of MPI's own functions. Rank 0
 * prints the sum at the end. */
#include <mpi.h>
#include <stdio.h>
#include <time.h>

static double reached, last; /* on the way so far; processor time at its end */
static enum { NOTHING, FROM_ROOT, FROM_ALL } under_way;

static double processor_time(void) {
  struct timespec used;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return (double)used.tv_sec + 1e-9 * (double)used.tv_nsec;
}

/* Waiting is not counted. */
static void stop_at(int what) {
  reached += processor_time() - last;
  under_way = what;
}

static void go_on(void) {
  double theirs = reached;
  if (under_way == FROM_ROOT)
    PMPI_Bcast(&theirs, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  else
    PMPI_Allreduce(&reached, &theirs, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  reached = theirs > reached ? theirs : reached;
  under_way = NOTHING;
  last = processor_time();
}

int MPI_Ibcast(void *bytes, int count, MPI_Datatype type, int root,
               MPI_Comm all, MPI_Request *request) {
  stop_at(FROM_ROOT);
  return PMPI_Ibcast(bytes, count, type, root, all, request);
}

int MPI_Iallgather(const void *from, int count, MPI_Datatype type, void *to,
                   int to_count, MPI_Datatype to_type, MPI_Comm all,
                   MPI_Request *request) {
  stop_at(FROM_ALL);
  return PMPI_Iallgather(from, count, type, to, to_count, to_type, all,
                         request);
}

int MPI_Iallgatherv(const void *from, int count, MPI_Datatype type, void *to,
                    const int counts[], const int starts[],
                    MPI_Datatype to_type, MPI_Comm all, MPI_Request *request) {
  stop_at(FROM_ALL);
  return PMPI_Iallgatherv(from, count, type, to, counts, starts, to_type, all,
                          request);
}

int MPI_Ibarrier(MPI_Comm all, MPI_Request *request) {
  stop_at(FROM_ALL);
  return PMPI_Ibarrier(all, request);
}

int MPI_Test(MPI_Request *request, int *done, MPI_Status *status) {
  int code = PMPI_Test(request, done, status);
  if (*done && under_way != NOTHING)
    go_on();
  return code;
}

int MPI_Finalize(void) {
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0)
    fprintf(stderr, "waits: %.3f\n", reached);
  return PMPI_Finalize();
}
