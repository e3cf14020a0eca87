/* checkpoint.h - a run's state in its folder, from which it can go on.
 *
 *   checkpoint        the state, replaced whole every few seconds
 *   checkpoint.old    the one before, used where the newest is damaged
 *   checkpoint.draws  rows that the estimators need, appended block by block:
 *                     in full, since the CSV files lack some columns
 *
 * A checkpoint says how long the other files were. What they have beyond that
 * is cut off by whoever goes on, and drawn again. */
#ifndef TM_FOLDER_CHECKPOINT_H
#define TM_FOLDER_CHECKPOINT_H

#include "folder/csv_sink.h"

typedef struct tm_checkpoint {
  const char *folder;
  tempera_sampler *sampler;
  tm_csv_sink *files;
  int rows;          /* descriptor of checkpoint.draws; -1: not open */
  int64_t rows_size; /* its bytes up to the last block */
  double due;        /* seconds of the monotonic clock */
  bool kept;         /* one was written, ... */
  size_t kept_at;    /* ... at this sweep */
  bool given_up;     /* there is no room for more */
  bool pageless;     /* no page can be made of the run */
} tm_checkpoint;

/* For a run that begins: an empty checkpoint.draws, and the first checkpoint,
 * before any other file. Close it also after a failure. */
TEMPERA_CHECKED tempera_status tm_checkpoint_begin(const char *folder,
                                                   tempera_sampler *sampler,
                                                   tm_csv_sink *files,
                                                   tm_checkpoint *checkpoint,
                                                   tempera_error *error);
/* The newest that can be used, with its rows: a sampler that stands where it
 * was written, and the files cut to what they were then. */
TEMPERA_CHECKED tempera_status
tm_checkpoint_load(const char *folder, const char *data_path,
                   const tempera_model *model, int threads, tm_csv_sink *files,
                   tm_checkpoint *checkpoint, tempera_error *error);
/* Keep the state if it is time to, or if it must be. */
TEMPERA_CHECKED tempera_status tm_checkpoint_keep(tm_checkpoint *checkpoint,
                                                  bool must,
                                                  tempera_error *error);
/* Rows flow here from now on. */
TEMPERA_CHECKED tempera_status tm_checkpoint_attach(tm_checkpoint *checkpoint,
                                                    tempera_error *error);
void tm_checkpoint_close(tm_checkpoint *checkpoint);

#endif
