/* run_files.h - a run's folder read back: summary, options and draws. What a
 * report shows comes from here alone. */
#ifndef TM_REPORT_RUN_FILES_H
#define TM_REPORT_RUN_FILES_H

#include "base/memory.h"

#include <jansson.h>

/* The draws of one role, column after column: tau__ and what the summary has
 * values of. The other columns of the files are not read. */
typedef struct tm_run_draws {
  size_t chains, rows; /* rows that every chain has; chains 0: no files */
  size_t width;        /* of the files */
  char **names;        /* as in the CSV files: tau__, mu.1 */
  bool *wanted;        /* columns that are read */
  double **values;     /* [chain * width + column]; NULL: not read */
} tm_run_draws;

typedef struct tm_run_files {
  const char *folder; /* the caller's */
  tm_arena *arena;
  tempera_summary *summary;
  json_t *config;         /* NULL when it cannot be read */
  tm_run_draws draws[2];  /* by tempera_role */
  tm_run_draws reference; /* of the reference leg: tau__ and log_ratio__ */
  double **numbers;       /* heap: all columns of each file */
  size_t count;
  bool all; /* columns are wanted */
  bool only_checked; /* none are: are the files whole? */
  bool unfinished;   /* it may have been killed: half a row is no fault */
} tm_run_files;

TEMPERA_CHECKED tempera_status tm_run_files_read(const char *folder,
                                                 tm_run_files *files,
                                                 tempera_error *error);
/* The same, with all columns of the CSV files. */
TEMPERA_CHECKED tempera_status tm_run_files_read_all(const char *folder,
                                                     tm_run_files *files,
                                                     tempera_error *error);
/* All columns by a summary with no more than chains and names, which is taken over
 * also on failure: for a run that has left none. */
TEMPERA_CHECKED tempera_status tm_run_files_read_as(const char *folder,
                                                    tempera_summary *summary,
                                                    tm_run_files *files,
                                                    tempera_error *error);
/* draws_read.c: what was read, as a sampler has it; with all columns. */
TEMPERA_CHECKED tempera_status tm_run_files_draws(const tm_run_files *files,
                                                  const char *folder,
                                                  tempera_draws **draws,
                                                  tempera_error *error);
void tm_run_files_clear(tm_run_files *files);

/* The column of a value by its name in summary.json (mu[1]) or of tau__; -1
 * when it was not read. */
long tm_run_column(const tm_run_draws *draws, const char *name);

#endif
