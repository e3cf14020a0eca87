/* lock.c - see lock.h. The lock is the kernel's (flock) on a file of the
 * folder: it cannot be left behind by a process that was killed. */
#include "base/lock.h"

#include "base/file.h"
#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

tempera_status tm_folder_lock(const char *folder, int *lock,
                              tempera_error *error) {
  char *path = tm_path_join(folder, ".lock");
  if (!path)
    return tm_fail_memory(error);
  int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  int problem = errno;
  tm_heap_free(path);
  if (file < 0)
    return tm_fail(error, TEMPERA_ERROR_IO, "cannot write in %s: %s", folder,
                   strerror(problem));
  if (flock(file, LOCK_EX | LOCK_NB) != 0) {
    problem = errno;
    close(file);
    return problem == EWOULDBLOCK
               ? tm_fail(error, TEMPERA_ERROR_INPUT,
                         "%s is being written by another process", folder)
               : tm_fail(error, TEMPERA_ERROR_IO, "cannot lock %s: %s", folder,
                         strerror(problem));
  }
  *lock = file;
  return TEMPERA_OK;
}

void tm_folder_unlock(int lock) {
  if (lock >= 0)
    close(lock);
}

bool tm_folder_locked(const char *folder) {
  char *path = tm_path_join(folder, ".lock");
  int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
  tm_heap_free(path);
  if (file < 0)
    return false;
  bool claimed = flock(file, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  close(file);
  return claimed;
}
