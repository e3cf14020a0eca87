/* cache.c - where compiled programs are kept. What lies there is loaded as
 * code, so nobody else may be able to put anything there. */
#include "language/load/cache.h"

#include "base/file.h"
#include "base/hash.h"
#include "base/memory.h"

#include <errno.h>
#include <stdio.h>
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

tempera_status tm_cache_folder(char **path, tempera_error *error) {
  const char *base = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
  char *parent = base && base[0] == '/'   ? tm_heap_text(base)
                 : home && home[0] == '/' ? tm_path_join(home, ".cache")
                                          : NULL;
  if (!parent)
    return tm_fail(error, TEMPERA_ERROR_IO,
                   "no place for compiled programs: set XDG_CACHE_HOME");
  char *folder = tm_path_join(parent, "tempera");
  tm_heap_free(parent);
  if (!folder)
    return tm_fail_memory(error);
  tempera_status status = tm_folders_make(folder, 0700, error);
  if (status == TEMPERA_OK)
    status = check_private(folder, error);
  if (status != TEMPERA_OK) {
    tm_heap_free(folder);
    return status;
  }
  *path = folder;
  return TEMPERA_OK;
}

/* ---- seals ----------------------------------------------------------------
 * The dynamic linker does not survive a file that was cut short (a full disk, a
 * machine that went down): behind each library stands a hash of it. */

tempera_status tm_cache_seal(const char *path, tempera_error *error) {
  char *content = NULL;
  size_t length = 0;
  TM_TRY(tm_file_read(path, &content, &length, error));
  uint64_t seal = tm_hash_bytes(TM_HASH_START, content, length);
  tm_heap_free(content);
  FILE *file = fopen(path, "ab");
  bool fine = file && fwrite(&seal, sizeof seal, 1, file) == 1;
  if ((file && fclose(file) != 0) || !fine)
    return tm_fail(error, TEMPERA_ERROR_IO, "cannot write %s: %s", path,
                   strerror(errno));
  return TEMPERA_OK;
}

bool tm_cache_sound(const char *path) {
  char *content = NULL;
  size_t length = 0;
  uint64_t seal = 0;
  struct stat info; /* a pipe would be waited for */
  if (stat(path, &info) != 0 || !S_ISREG(info.st_mode) ||
      tm_file_read(path, &content, &length, NULL) != TEMPERA_OK)
    return false;
  bool long_enough = length > sizeof seal;
  if (long_enough)
    memcpy(&seal, content + length - sizeof seal, sizeof seal);
  bool sound = long_enough && seal == tm_hash_bytes(TM_HASH_START, content,
                                                    length - sizeof seal);
  tm_heap_free(content);
  return sound;
}
