/* lock.h - a run's folder is written by one process at a time. */
#ifndef TM_BASE_LOCK_H
#define TM_BASE_LOCK_H

#include "base/status.h"

/* Claim the folder, which exists; refused while another process has it. The
 * claim ends with tm_folder_unlock, or with the process. */
TEMPERA_CHECKED tempera_status tm_folder_lock(const char *folder, int *lock,
                                              tempera_error *error);
void tm_folder_unlock(int lock); /* -1: there is none */
/* Has some process claimed it just now? */
bool tm_folder_locked(const char *folder);

#endif
