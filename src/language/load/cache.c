/* cache.c - where compiled programs are kept. What lies there is loaded as
 * code, so nobody else may be able to put anything there. */
#include "language/load/cache.h"

#include "base/file.h"
#include "base/memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static tempera_status check_private(const char *path, tempera_error *error) {
  struct stat status;
  if (lstat(path, &status) != 0)
    return tm_fail(error, TEMPERA_ERROR_IO, "cannot look at %s: %s", path,
                   strerror(errno));
  if (!S_ISDIR(status.st_mode))
    return tm_fail(error, TEMPERA_ERROR_IO, "%s is not a folder", path);
  if (status.st_uid != geteuid())
    return tm_fail(error, TEMPERA_ERROR_IO,
                   "%s belongs to another user; set XDG_CACHE_HOME to a "
                   "folder of your own",
                   path);
  if (status.st_mode & 077)
    return tm_fail(error, TEMPERA_ERROR_IO,
                   "%s is open to other users; chmod 700 it", path);
  return TEMPERA_OK;
}

static tempera_status make_private(const char *path, tempera_error *error) {
  if (mkdir(path, 0700) != 0 && errno != EEXIST)
    return tm_fail(error, TEMPERA_ERROR_IO, "cannot make %s: %s", path,
                   strerror(errno));
  return TEMPERA_OK;
}

tempera_status tm_cache_folder(char **path, tempera_error *error) {
  const char *base = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
  char *parent = base && base[0] == '/'   ? tm_heap_text(base)
                 : home && home[0] == '/' ? tm_path_join(home, ".cache")
                                          : NULL;
  if (!parent)
    return tm_fail(error, TEMPERA_ERROR_IO,
                   "no place for compiled programs: set XDG_CACHE_HOME");
  tempera_status status = make_private(parent, error);
  char *folder = tm_path_join(parent, "tempera");
  tm_heap_free(parent);
  if (!folder)
    return tm_fail_memory(error);
  if (status == TEMPERA_OK)
    status = make_private(folder, error);
  if (status == TEMPERA_OK)
    status = check_private(folder, error);
  if (status != TEMPERA_OK) {
    tm_heap_free(folder);
    return status;
  }
  *path = folder;
  return TEMPERA_OK;
}
