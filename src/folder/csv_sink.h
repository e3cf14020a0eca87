/* csv_sink.h - a sink that writes draws as Stan CSV: target-N.csv and
 * tempered-N.csv in a run's folder, as they come. */
#ifndef TM_FOLDER_CSV_SINK_H
#define TM_FOLDER_CSV_SINK_H

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
  bool reference; /* of the reference leg */
  size_t chain;
  tm_quantities quantities;
  size_t quantity_count; /* written in this file */
  tm_text block;         /* rows on their way to it; reused between blocks */
} tm_csv_file;

typedef struct tm_csv_sink {
  const char *folder;
  const tempera_sampler *sampler;
  tm_csv_file *files;
  size_t file_count;
  size_t dimension; /* unconstrained coordinates, for the adaptation block */
  size_t warmup_rows, rows; /* rows of every chain that are on disk */
  bool adapted;             /* the adaptation block is written */
  double *sizes;            /* of files, as they were read; else NULL */
  size_t size_count;
} tm_csv_sink;

/* What a header says of this run, but for its chain. */
tm_csv_about tm_csv_about_run(const char *data_path,
                              const tempera_sampler *sampler);

/* The files with their headers, in a folder that exists. Close it also after
 * a failure. */
TEMPERA_CHECKED tempera_status tm_csv_sink_open(const char *folder,
                                                const char *data_path,
                                                const tempera_sampler *sampler,
                                                tm_csv_sink *sink,
                                                tempera_error *error);
/* How long the files are (base/archive.h); and, once that was read, the files
 * again, cut to it. */
void tm_csv_sink_archive(tm_csv_sink *sink, tm_archive *archive);
TEMPERA_CHECKED tempera_status tm_csv_sink_reopen(
    const char *folder, const char *data_path, const tempera_sampler *sampler,
    tm_csv_sink *sink, tempera_error *error);
/* All of them to disk. */
TEMPERA_CHECKED tempera_status tm_csv_sink_sync(const tm_csv_sink *sink,
                                                tempera_error *error);
/* The append of a tempera_sink whose user is a tm_csv_sink. */
TEMPERA_CHECKED tempera_status tm_csv_sink_append(const tempera_block *block,
                                                  void *sink,
                                                  tempera_error *error);
/* The closing comments, and num_samples where fewer rows were drawn. */
TEMPERA_CHECKED tempera_status tm_csv_sink_end(tm_csv_sink *sink,
                                               tempera_error *error);
void tm_csv_sink_close(tm_csv_sink *sink);

#endif
