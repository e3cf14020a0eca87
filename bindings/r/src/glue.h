/* glue.h - what the files of this package share. */
#ifndef GLUE_H
#define GLUE_H

#include <pthread.h>

#include <tempera.h>

#define R_NO_REMAP
#include <R.h>
#include <Rinternals.h>

typedef struct job {
  tempera_data *data;
  tempera_parameters *parameters;
  tempera_model *model;
  tempera_sampler *sampler;
  tempera_summary *summary;
  tempera_options options;
  double *starts;
  tempera_run_request request;
  tempera_status status;
  tempera_error error;
  /* what the library's threads said, until R prints it */
  pthread_mutex_t lock;
  char *said;
  size_t said_length;
  tempera_progress latest;
  int heard, show, done, interrupted, resuming;
  double shown;
  /* calls that do not come back */
  double eval_timeout, since; /* since when a first Ctrl-C waits; 0: none */
  int gave_up;
  tempera_error late;
  /* functions of R */
  SEXP call_densities;
  size_t size;
  int broken;
} job;

/* Parts of a list by name; NULL and 0 where they are not there. */
SEXP element(SEXP list, const char *name);
const char *text_of(SEXP list, const char *name);
int flag_of(SEXP list, const char *name);
SEXP named(SEXP list, const char *const *names, int count);
/* NaN is what is absent. */
double known(double x);

void stop_with(const tempera_error *error);
/* Was Ctrl-C pressed? */
int interrupted(void);

/* A model with its data, as `arguments` say; close it in any case. */
tempera_status open_job(job *j, SEXP arguments);
void close_job(job *j);
tempera_status set_options(job *j, SEXP arguments);
/* Its text or (NULL) the file; warnings become R's. */
tempera_status read_program(const char *code, const char *path,
                            const char *include_path, tempera_program **program,
                            tempera_error *error);

/* reading.c */
SEXP r_draws(SEXP folder, SEXP tempered);
SEXP r_summary(SEXP folder);
SEXP r_paths(SEXP folder);
SEXP r_program_of(SEXP folder);
SEXP r_report(SEXP folder, SEXP path);

/* answers.c */
SEXP r_compare(SEXP folders, SEXP names, SEXP odds, SEXP by, SEXP fraction,
               SEXP html);
SEXP r_test(SEXP arguments, SEXP folder, SEXP nulls, SEXP seed);
SEXP r_evidence(SEXP arguments, SEXP paths, SEXP seed, SEXP search);
SEXP r_calibrate(SEXP arguments);
SEXP r_program(SEXP code, SEXP path, SEXP include_path, SEXP output);
SEXP r_check(SEXP arguments, SEXP of_program, SEXP gradient, SEXP cost);

#endif
