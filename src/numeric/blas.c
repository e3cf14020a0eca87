/* blas.c - see blas.h. */
#include "numeric/blas.h"

#include <dlfcn.h>
#include <sys/mman.h>
#include <sys/resource.h>

/* A buffer is 128 MB in Debian's builds; as much again is the least that a run
 * lives on. */
enum { BUFFER_MB = 128, REST_MB = 64, MOST = 256 };

static bool can_map(size_t bytes) {
  void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED)
    return false;
  munmap(memory, bytes);
  return true;
}

/* Taken together and given back, they stay with OpenBLAS. */
static void take_buffers(int threads) {
  void *(*take)(int) = NULL;
  void (*give)(void *) = NULL;
  void *buffers[MOST];
  *(void **)&take = dlsym(RTLD_DEFAULT, "blas_memory_alloc");
  *(void **)&give = dlsym(RTLD_DEFAULT, "blas_memory_free");
  if (!take || !give)
    return; /* another BLAS */
  for (int i = 0; i < threads; i++)
    buffers[i] = take(0);
  for (int i = 0; i < threads; i++)
    give(buffers[i]);
}

tempera_status tm_blas_reserve(int threads, tempera_error *error) {
  struct rlimit space;
  if (getrlimit(RLIMIT_AS, &space) != 0 || space.rlim_cur == RLIM_INFINITY)
    return TEMPERA_OK;
  threads = threads < MOST ? threads : MOST;
  size_t need = ((size_t)threads * BUFFER_MB + REST_MB) << 20;
  if (!can_map(need))
    return tm_fail(
        error, TEMPERA_ERROR_MEMORY,
        "the limit on address space, %zu MB (ulimit -v), leaves less "
        "than the %zu MB that a run on %d threads needs; raise it, "
        "or give fewer threads",
        (size_t)(space.rlim_cur >> 20), need >> 20, threads);
  take_buffers(threads);
  return TEMPERA_OK;
}
