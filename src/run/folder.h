/* folder.h - a run's folder: config.json, the draws as they come, and
 * summary.json. */
#ifndef TM_RUN_FOLDER_H
#define TM_RUN_FOLDER_H

#include "draws/csv.h"
#include "run/quantities.h"
#include "run/run.h"

/* One CSV file that only grows. */
typedef struct tm_csv_file {
  char *path;
  int descriptor;               /* -1: not open */
  size_t samples_at, warmup_at; /* offsets of counts in the header */
  int64_t size; /* bytes up to the last block that is in every file */
  tempera_role role;
  size_t chain;
  tm_quantities quantities;
  tm_text block; /* rows on their way to it; reused between blocks */
} tm_csv_file;

typedef struct tm_folder {
  const char *path;
  tm_csv_file *files;
  size_t file_count;
  size_t dimension; /* unconstrained coordinates, for the adaptation block */
  size_t warmup_rows, rows; /* rows of every chain that are on disk */
  bool adapted;             /* the adaptation block is written */
} tm_folder;

/* Makes the folder (and those above it), refuses one that holds a run, and
 * writes config.json. */
TEMPERA_CHECKED tempera_status tm_folder_open(
    const tempera_run_request *request, const tempera_sampler *sampler,
    tm_folder *folder, tempera_error *error);
/* The CSV files with their headers. */
TEMPERA_CHECKED tempera_status
tm_folder_begin(tm_folder *folder, const tempera_run_request *request,
                const tempera_sampler *sampler, tempera_error *error);
/* Append the rows drawn since the last call, warmup's first. */
TEMPERA_CHECKED tempera_status tm_folder_append(tm_folder *folder,
                                                const tempera_sampler *sampler,
                                                tempera_error *error);
/* The closing comments, and num_samples where fewer rows were drawn. */
TEMPERA_CHECKED tempera_status tm_folder_end(tm_folder *folder,
                                             const tempera_sampler *sampler,
                                             double warmup_seconds,
                                             double sampling_seconds,
                                             tempera_error *error);
void tm_folder_close(tm_folder *folder);

/* config.json as text; free with tm_heap_free. */
TEMPERA_CHECKED tempera_status tm_config_json(
    const tempera_run_request *request, const tempera_sampler *sampler,
    char **text, tempera_error *error);

#endif
