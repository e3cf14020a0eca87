/* file.c - see file.h. */
#include "base/file.h"

#include "base/memory.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static tempera_status fail_errno(tempera_error *error, const char *doing,
                                 const char *path) {
  return tm_fail(error, TEMPERA_ERROR_IO, "cannot %s %s: %s", doing, path,
                 strerror(errno));
}

static tempera_status read_stream(FILE *file, const char *path, char **content,
                                  size_t *length, tempera_error *error) {
  struct stat info; /* how much there will be, as a rule */
  bool sized = fstat(fileno(file), &info) == 0 && info.st_size > 0;
  size_t capacity = sized ? (size_t)info.st_size + 2 : 4096, used = 0;
  char *data = tm_heap_alloc(capacity, 1);
  while (data) {
    used += fread(data + used, 1, capacity - 1 - used, file);
    if (used < capacity - 1)
      break;
    char *larger = tm_heap_resize(data, capacity *= 2, 1);
    if (!larger)
      tm_heap_free(data);
    data = larger;
  }
  if (!data)
    return tm_fail_memory(error);
  if (ferror(file)) {
    tm_heap_free(data);
    return fail_errno(error, "read", path);
  }
  data[used] = '\0';
  *content = data;
  *length = used;
  return TEMPERA_OK;
}

tempera_status tm_file_read(const char *path, char **content, size_t *length,
                            tempera_error *error) {
  FILE *file = fopen(path, "rb");
  if (!file)
    return fail_errno(error, "open", path);
  tempera_status status = read_stream(file, path, content, length, error);
  fclose(file);
  return status;
}

static tempera_status write_stream(FILE *file, const char *path,
                                   const char *content, size_t length,
                                   tempera_error *error) {
  bool fine = fwrite(content, 1, length, file) == length && fflush(file) == 0 &&
              fsync(fileno(file)) == 0;
  return fine ? TEMPERA_OK : fail_errno(error, "write", path);
}

tempera_status tm_file_replace(const char *path, const char *content,
                               size_t length, tempera_error *error) {
  char beside[4096];
  if (snprintf(beside, sizeof beside, "%s.new", path) >= (int)sizeof beside)
    return tm_fail(error, TEMPERA_ERROR_IO, "path too long: %s", path);
  FILE *file = fopen(beside, "wb");
  if (!file)
    return fail_errno(error, "write", beside);
  tempera_status status = write_stream(file, beside, content, length, error);
  if (fclose(file) != 0 && status == TEMPERA_OK)
    status = fail_errno(error, "write", beside);
  if (status == TEMPERA_OK && rename(beside, path) != 0)
    status = fail_errno(error, "replace", path);
  if (status != TEMPERA_OK)
    remove(beside);
  return status;
}

bool tm_file_exists(const char *path) { return access(path, F_OK) == 0; }

tempera_status tm_folder_make(const char *path, tempera_error *error) {
  struct stat info;
  if (mkdir(path, 0777) == 0)
    return TEMPERA_OK;
  if (errno == EEXIST && stat(path, &info) == 0) {
    if (S_ISDIR(info.st_mode))
      return TEMPERA_OK;
    errno = ENOTDIR; /* says more than that something is there */
  }
  return fail_errno(error, "make folder", path);
}

char *tm_path_join(const char *folder, const char *name) {
  size_t size = strlen(folder) + strlen(name) + 2;
  char *path = tm_heap_alloc(size, 1);
  if (path)
    snprintf(path, size, "%s/%s", folder, name);
  return path;
}
