/* saving.h - a sampler's state as bytes, and back (base/archive.h).
 *
 * What is saved: the options as they were asked for, the stage, what the method
 * and the kernels have learned, points, streams and counts, the history of the
 * landscape (history.h) and what q was fitted to. What is made again by a
 * reader, with the same result: starts, exploring a prior that has no draws,
 * the landscape, q. Rows of draws are apart, since a run's folder has them. */
#ifndef TM_RUN_SAVING_H
#define TM_RUN_SAVING_H

#include "base/archive.h"

/* Between advances. */
TEMPERA_CHECKED tempera_status tm_sampler_write(tempera_sampler *sampler,
                                                tm_archive *archive,
                                                tempera_error *error);
/* A sampler that stands where the other was written. Its draws have room and
 * counts, but their rows are not there yet. threads 0: as before. */
TEMPERA_CHECKED tempera_status tm_sampler_read(const tempera_model *model,
                                               tm_archive *archive, int threads,
                                               tempera_sampler **sampler,
                                               tempera_error *error);
/* Rows of kept sweeps, the reference leg's too: from *first to *last, which a
 * reader gets told. */
void tm_sampler_archive_rows(tempera_sampler *sampler, size_t *first,
                             size_t *last, tm_archive *archive);

/* Who keeps a run's state: asked after each block of sweeps, and told when it
 * `must` be kept, since what follows cannot be repeated from later. */
typedef struct tm_keeper {
  tempera_status (*keep)(tempera_sampler *sampler, bool must, void *user,
                         tempera_error *error);
  void *user;
} tm_keeper;
void tm_sampler_set_keeper(tempera_sampler *sampler, const tm_keeper *keeper);

#endif
