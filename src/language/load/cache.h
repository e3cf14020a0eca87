/* cache.h - the user's private folder of compiled programs. */
#ifndef TM_LANGUAGE_CACHE_H
#define TM_LANGUAGE_CACHE_H

#include "base/status.h"

/* $XDG_CACHE_HOME/tempera or ~/.cache/tempera, made with mode 0700; refused
 * when it belongs to someone else or others may write there. Free with
 * tm_heap_free. */
TEMPERA_CHECKED tempera_status tm_cache_folder(char **path,
                                               tempera_error *error);

/* Mark a library as whole; is it there, and whole? */
TEMPERA_CHECKED tempera_status tm_cache_seal(const char *path,
                                             tempera_error *error);
bool tm_cache_sound(const char *path);

#endif
