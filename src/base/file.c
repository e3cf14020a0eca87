/* file.c - see file.h. */
#include "base/file.h"

#include "base/memory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What comes through a pipe may never end; this much is no model's data. */
enum { MOST_STREAMED = 1 << 30 };

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
    if (!sized && used >= MOST_STREAMED) {
      tm_heap_free(data);
      return tm_fail(error, TEMPERA_ERROR_INPUT,
                     "%s goes on and on: more than %d MB were read; is it the "
                     "right file?",
                     path, MOST_STREAMED >> 20);
    }
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

/* A terminal ends when its user says so; other devices (/dev/zero) may not. */
static bool is_device(FILE *file) {
  struct stat info;
  return fstat(fileno(file), &info) == 0 &&
         (S_ISBLK(info.st_mode) ||
          (S_ISCHR(info.st_mode) && !isatty(fileno(file))));
}

tempera_status tm_file_read(const char *path, char **content, size_t *length,
                            tempera_error *error) {
  FILE *file = fopen(path, "rb");
  if (!file)
    return fail_errno(error, "open", path);
  tempera_status status =
      is_device(file) ? tm_fail(error, TEMPERA_ERROR_INPUT,
                                "%s is a device, not a file or a pipe", path)
                      : read_stream(file, path, content, length, error);
  fclose(file);
  return status;
}

/* Devices and pipes know nothing of disks. */
static tempera_status write_stream(FILE *file, const char *path,
                                   const char *content, size_t length,
                                   bool sync, tempera_error *error) {
  bool fine = fwrite(content, 1, length, file) == length && fflush(file) == 0 &&
              (!sync || fsync(fileno(file)) == 0);
  tempera_status status = fine ? TEMPERA_OK : fail_errno(error, "write", path);
  if (fclose(file) != 0 && status == TEMPERA_OK)
    status = fail_errno(error, "write", path);
  return status;
}

/* A new file, never what somebody else has put there. */
static FILE *open_new(const char *path) {
  unlink(path);
  int descriptor =
      open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
  FILE *file = descriptor < 0 ? NULL : fdopen(descriptor, "wb");
  if (!file && descriptor >= 0)
    close(descriptor);
  return file;
}

static tempera_status replace(const char *path, const char *content,
                              size_t length, tempera_error *error) {
  char beside[4096];
  if (snprintf(beside, sizeof beside, "%s.new", path) >= (int)sizeof beside)
    return tm_fail(error, TEMPERA_ERROR_IO, "path too long: %s", path);
  FILE *file = open_new(beside);
  if (!file)
    return fail_errno(error, "write", beside);
  tempera_status status =
      write_stream(file, beside, content, length, true, error);
  if (status == TEMPERA_OK && rename(beside, path) != 0)
    status = fail_errno(error, "replace", path);
  if (status != TEMPERA_OK)
    remove(beside);
  return status;
}

static tempera_status write_through(const char *path, const char *content,
                                    size_t length, tempera_error *error) {
  FILE *file = fopen(path, "wb");
  return file ? write_stream(file, path, content, length, false, error)
              : fail_errno(error, "write", path);
}

tempera_status tm_file_replace(const char *path, const char *content,
                               size_t length, tempera_error *error) {
  struct stat there;
  bool known = stat(path, &there) == 0;
  if (known && S_ISDIR(there.st_mode))
    return tm_fail(error, TEMPERA_ERROR_IO, "%s is a folder; name a file",
                   path);
  if (known && !S_ISREG(there.st_mode))
    return write_through(path, content, length, error);
  if (lstat(path, &there) != 0 || !S_ISLNK(there.st_mode))
    return replace(path, content, length, error);
  char *real =
      realpath(path, NULL); /* what the link points to stays named so */
  tempera_status status = real ? replace(real, content, length, error)
                               : write_through(path, content, length, error);
  free(real);
  return status;
}

bool tm_file_exists(const char *path) { return access(path, F_OK) == 0; }

static tempera_status make_folder(const char *path, unsigned mode,
                                  tempera_error *error) {
  struct stat info;
  if (mkdir(path, mode) == 0)
    return TEMPERA_OK;
  if (errno == EEXIST && stat(path, &info) == 0) {
    if (S_ISDIR(info.st_mode))
      return TEMPERA_OK;
    errno = ENOTDIR; /* says more than that something is there */
  }
  return fail_errno(error, "make folder", path);
}

tempera_status tm_folder_make(const char *path, tempera_error *error) {
  return make_folder(path, 0777, error);
}

tempera_status tm_folders_make(const char *path, unsigned mode,
                               tempera_error *error) {
  char *above = tm_heap_text(path);
  if (!above)
    return tm_fail_memory(error);
  tempera_status status = TEMPERA_OK;
  for (char *c = above + (*above != '\0'); *c && status == TEMPERA_OK; c++)
    if (*c == '/') {
      *c = '\0';
      status = make_folder(above, mode, error);
      *c = '/';
    }
  tm_heap_free(above);
  return status == TEMPERA_OK ? make_folder(path, mode, error) : status;
}

tempera_status tm_folder_plain(const char *folder, tempera_error *error) {
  tempera_status status = TEMPERA_OK;
  struct stat info;
  DIR *entries = opendir(folder);
  if (!entries)
    return errno == ENOMEM ? tm_fail_memory(error)
                           : TEMPERA_OK; /* whoever reads it says why */
  for (struct dirent *e; status == TEMPERA_OK && (e = readdir(entries));)
    if (fstatat(dirfd(entries), e->d_name, &info, 0) == 0 &&
        !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode))
      status = tm_fail(error, TEMPERA_ERROR_INPUT,
                       "%s/%s is a pipe or a device; the folder of a run holds "
                       "files",
                       folder, e->d_name);
  closedir(entries);
  return status;
}

char *tm_path_join(const char *folder, const char *name) {
  size_t size = strlen(folder) + strlen(name) + 2;
  char *path = tm_heap_alloc(size, 1);
  if (path)
    snprintf(path, size, "%s/%s", folder, name);
  return path;
}

tempera_status tm_file_write(const char *path, const char *content,
                             size_t length, bool safely, tempera_error *error) {
  FILE *file = fopen(path, "wb");
  if (!file)
    return fail_errno(error, "write", path);
  bool fine = fwrite(content, 1, length, file) == length && fflush(file) == 0 &&
              (!safely || fsync(fileno(file)) == 0);
  tempera_status status = fine ? TEMPERA_OK : fail_errno(error, "write", path);
  if (fclose(file) != 0 && status == TEMPERA_OK)
    status = fail_errno(error, "write", path);
  return status;
}

void tm_folder_sync(const char *path) {
  int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0)
    return;
  (void)fsync(folder);
  close(folder);
}
