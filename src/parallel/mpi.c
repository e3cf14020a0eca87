/* mpi.c - tempera_mpi.h: finds the module that speaks MPI, and hands it to
 * ranks.c. */
#include "tempera_mpi.h"

#include "parallel/ranks.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

static const char MODULE[] = "libtempera-mpi.so";

/* The module in the folder that the first `length` characters of `path` name,
 * with their slash. */
static void *open_in(const char *path, size_t length) {
  char full[4096];
  snprintf(full, sizeof full, "%.*s%s", (int)length, path, MODULE);
  return dlopen(full, RTLD_NOW | RTLD_GLOBAL);
}

/* Beside this library, or beside the folder of its variants for newer
 * processors, which the module has none of, or wherever the linker looks. */
static void *open_module(void) {
  static const char VARIANTS[] = "glibc-hwcaps/";
  Dl_info self;
  void *found = NULL;
  if (dladdr((const void *)(uintptr_t)tempera_mpi_begin, &self)) {
    const char *name = self.dli_fname, *slash = strrchr(name, '/'),
               *variants = strstr(name, VARIANTS);
    for (const char *more = variants; more; more = strstr(more + 1, VARIANTS))
      variants = more;
    if (slash)
      found = open_in(name, (size_t)(slash + 1 - name));
    if (!found && variants)
      found = open_in(name, (size_t)(variants - name));
  }
  return found ? found : dlopen(MODULE, RTLD_NOW | RTLD_GLOBAL);
}

tempera_status tempera_mpi_begin(tempera_error *error) {
  const tm_transport *(*transport)(void) = NULL;
  if (tm_ranks())
    return tm_fail(error, TEMPERA_ERROR_ARGUMENT, "MPI is in use already");
  void *module = open_module();
  if (module)
    *(void **)&transport = dlsym(module, "tempera_mpi_transport");
  if (!transport)
    return tm_fail(error, TEMPERA_ERROR_IO,
                   "this is several ranks, and Tempera cannot load its module "
                   "for MPI: %.300s; install Open MPI and build Tempera anew",
                   dlerror());
  const tm_transport *made = transport();
  if (!made)
    return tm_fail(error, TEMPERA_ERROR_IO, "MPI does not start");
  tm_ranks_use(made);
  return TEMPERA_OK;
}

void tempera_mpi_end(void) {
  const tm_transport *ranks = tm_ranks();
  if (!ranks)
    return;
  tm_ranks_use(NULL);
  ranks->end();
}

void tempera_mpi_abort(int status) {
  if (tm_ranks())
    tm_ranks()->abort(status);
}

int tempera_mpi_rank(void) { return tm_ranks() ? tm_ranks()->rank : 0; }

int tempera_mpi_size(void) { return tm_ranks() ? tm_ranks()->size : 1; }

void tempera_mpi_share(void *bytes, size_t count) {
  tm_answers_agree(bytes, count);
}
