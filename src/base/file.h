/* file.h - reading whole files, replacing files atomically, making folders. */
#ifndef TM_BASE_FILE_H
#define TM_BASE_FILE_H

#include "base/status.h"

/* The whole file, NUL-terminated; free with tm_heap_free. Pipes may be read,
 * devices not: some never end. */
TEMPERA_CHECKED tempera_status tm_file_read(const char *path, char **content,
                                            size_t *length,
                                            tempera_error *error);
/* Write beside, flush to disk, rename over: readers see old or new. A link's
 * file is replaced, not the link; devices and pipes are written to as they
 * are. */
TEMPERA_CHECKED tempera_status tm_file_replace(const char *path,
                                               const char *content,
                                               size_t length,
                                               tempera_error *error);
/* Written as it is, in place; `safely`: and flushed to disk. */
TEMPERA_CHECKED tempera_status tm_file_write(const char *path,
                                             const char *content, size_t length,
                                             bool safely, tempera_error *error);
/* So that names in it outlast a loss of power; as far as the system can. */
void tm_folder_sync(const char *path);
bool tm_file_exists(const char *path);
/* Make a folder; fine if it is there already. */
TEMPERA_CHECKED tempera_status tm_folder_make(const char *path,
                                              tempera_error *error);
/* With those above it, each of this mode. */
TEMPERA_CHECKED tempera_status tm_folders_make(const char *path, unsigned mode,
                                               tempera_error *error);
/* Is there anything in it that would be waited for without end, or has none: a
 * pipe or a device, also behind a link? A run's folder holds files. */
TEMPERA_CHECKED tempera_status tm_folder_plain(const char *folder,
                                               tempera_error *error);
/* "folder/name"; free with tm_heap_free; NULL when out of memory. */
char *tm_path_join(const char *folder, const char *name);

#endif
