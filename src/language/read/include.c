/* include.c - which file an #include means. */
#include "base/file.h"
#include "language/read/source.h"

#include <string.h>
#include <sys/stat.h>

enum { DEEPEST = 50 };

static bool is_regular(const char *path) {
  struct stat info;
  return stat(path, &info) == 0 && S_ISREG(info.st_mode);
}

/* folder/name where that is a file, else NULL; an empty folder is this one. */
static char *found_in(tm_source *source, const char *folder, size_t length,
                      const char *name) {
  size_t size = length + strlen(name) + 2;
  char *path = TM_NEW(source->arena, char, size);
  if (!path)
    return NULL;
  memcpy(path, folder, length);
  if (length && folder[length - 1] != '/')
    path[length++] = '/';
  memcpy(path + length, name, strlen(name));
  return is_regular(path) ? path : NULL;
}

static char *found(tm_source *source, const tm_file *from, const char *name) {
  const char *slash = strrchr(from->path, '/');
  char *path = found_in(source, from->path,
                        slash ? (size_t)(slash - from->path) + 1 : 0, name);
  const char *folder = source->include_path;
  while (!path && folder && *folder) {
    size_t length = strcspn(folder, ":");
    path = length ? found_in(source, folder, length, name) : NULL;
    folder += length + (folder[length] == ':');
  }
  return path;
}

/* A file may be included twice, but not from within itself. */
static tempera_status check_nesting(const tm_source *source,
                                    const tm_file *from, int line, int column,
                                    const char *path, const char *name) {
  int depth = 0;
  for (const tm_file *file = from; file; file = file->from)
    if (++depth > DEEPEST || !strcmp(file->path, path))
      return tm_complain_at(source, from, line, column,
                            "%s includes itself, or files are included more "
                            "than %d levels deep",
                            name, DEEPEST);
  return TEMPERA_OK;
}

tempera_status tm_include(tm_source *source, const tm_file *from, int line,
                          int column, const char *name, tm_file **file) {
  if (!*name)
    return tm_complain_at(source, from, line, column,
                          "#include needs the name of a file");
  char *path = found(source, from, name);
  if (!path)
    return tm_complain_at(source, from, line, column,
                          "there is no file '%s' beside this one%s", name,
                          source->include_path
                              ? " or in the include path"
                              : "; give its folder with --include-path");
  TM_TRY(check_nesting(source, from, line, column, path, name));
  char *text = NULL;
  size_t length = 0;
  TM_TRY(tm_file_read(path, &text, &length, source->error));
  char *copy = TM_NEW(source->arena, char, length + 1);
  *file = TM_NEW(source->arena, tm_file, 1);
  if (copy)
    memcpy(copy, text, length);
  tm_heap_free(text);
  if (!copy || !*file)
    return tm_fail_memory(source->error);
  **file = (tm_file){.path = path,
                     .name = name,
                     .text = copy,
                     .length = length,
                     .from = from,
                     .line = line,
                     .column = column};
  return TEMPERA_OK;
}
