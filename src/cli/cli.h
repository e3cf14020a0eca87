/* cli.h - what the subcommands share. The command is an ordinary client of
 * tempera.h and includes nothing else of the library. */
#ifndef TM_CLI_CLI_H
#define TM_CLI_CLI_H

#include "tempera.h"

enum {
  EXIT_DONE = 0,
  EXIT_BAD_INPUT = 1, /* or a failing model */
  EXIT_USAGE = 2
};

/* Subcommands: arguments as main's, argv[0] being the command's name. */
int cli_sample(int argc, char **argv);
int cli_check(int argc, char **argv);
int cli_compile(int argc, char **argv);
int cli_summary(int argc, char **argv);
int cli_compare(int argc, char **argv);
int cli_report(int argc, char **argv);
int cli_reproduce(int argc, char **argv);
int cli_resume(int argc, char **argv);
int cli_calibrate(int argc, char **argv);
int cli_test(int argc, char **argv);
int cli_evidence(int argc, char **argv);

/* Before all else, with main's argv: chains are what runs in parallel, not
 * BLAS. */
void cli_start(char **argv);
/* After all else: `code`, or EXIT_BAD_INPUT after a message when standard
 * output could not be written. */
int cli_end(int code);
/* `FILE:LINE:COLUMN: what` on standard error; gives EXIT_BAD_INPUT back. */
int cli_fail(const char *file, const tempera_error *error);
/* `tempera COMMAND: what` and where to read on; gives EXIT_USAGE back. */
int cli_usage(const char *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* What getopt_long refused (':' or '?'), with the nearest option there is. */
struct option;
int cli_bad_option(const char *command, int code, char **argv,
                   const struct option *options);
/* All options of a command, each by `take`, up to the first failure; -h shows
 * the help and gives CLI_HELP_SHOWN. The words that are left begin at optind.
 */
enum { CLI_HELP_SHOWN = -1 };
typedef struct cli_arguments {
  const char *help;
  const struct option *options;
  int (*take)(void *request, int code, char **argv);
} cli_arguments;
int cli_take_arguments(const cli_arguments *how, int argc, char **argv,
                       void *request);
/* --seed, from optarg. */
int cli_take_seed(const char *command, uint64_t *seed);
/* The name in the list (ended by NULL) nearest to a mistyped one, or NULL. */
/* --eval-timeout, from optarg. */
int cli_take_timeout(const char *command, double *seconds);
const char *cli_nearest(const char *name, const char *const *names);
/* Is it a terminal that can overwrite a line? */
bool cli_terminal(int descriptor);
/* Its width, 80 when that is not known. */
size_t cli_columns(int descriptor);
/* Does the locale have UTF-8? */
bool cli_utf8(void);
/* Colour if standard output is a terminal that wants it. */
bool cli_colour(void);
/* Print and free a text of the library; 0, or EXIT_BAD_INPUT when standard
 * output cannot be written. */
int cli_print(char *text);

/* crash.c: from now on a model that crashes, exits or (timeout > 0) stays in a
 * call for so many seconds ends the process with a message; draws are in the
 * folder. Texts must last. */
void cli_watch_model(const char *model, double timeout);
void cli_watch_run(const char *folder);
void cli_watch_end(void);
/* Until the end is said, the process may use so many seconds; then it ends with
 * `said` of the model. */
void cli_watch_search(double seconds, const char *said);
void cli_watch_search_end(void);

/* Under mpirun: join the other ranks. 0, or an exit status after a message. */
int cli_ranks_begin(void);
/* Rank 0 speaks for all, and hears the signals that mpirun passes on. */
void cli_ranks_be_silent(void);
/* A rank that writes nothing: the same run, without a folder. */
int cli_ranks_follow(tempera_sampler *sampler);
/* Rank 0, when the run is over. One that cannot go on, as one whose disk is
 * full, takes the others with it; what all have met alike they end with in
 * order. */
void cli_ranks_leave(tempera_status status);

/* A model and its data, as `sample` and `check` load them. */
typedef struct cli_input {
  const char *model_path, *data_path; /* data_path may be NULL */
  const char *include_path;           /* or NULL */
  tempera_command command;            /* .command NULL: model_path says it */
  const char *parameters_path;        /* of the command */
  bool quiet;                         /* no warnings */
  tempera_data *data;
  tempera_model *model;
} cli_input;
/* Does the path end in .stan? */
bool cli_is_program(const char *path);
/* 0, or an exit status after a message. */
int cli_load(cli_input *input);
void cli_unload(cli_input *input);
/* `sample --command`: its options, what must go with it, and the model. */
int cli_take_workers(cli_input *input, const char *text);
int cli_check_command(const cli_input *input, const char *model);
int cli_load_command(cli_input *input);

/* `check --gradient`: an exit status. */
/* Unconstrained coordinates of a parameter. */

/* A run on its way, and what to do with it. */
typedef struct cli_run {
  const cli_input *input;
  const char *output; /* its folder */
  bool json, netcdf, quiet, verbose;
} cli_run;
/* From now on the first interrupt cancels the sampler, in order; the second
 * ends the process. */
void cli_catch_signals(tempera_sampler *sampler);
/* Tables, files, messages; gives the exit status. */
int cli_finish(const cli_run *run, const tempera_sampler *sampler,
               const tempera_summary *summary, tempera_status status,
               const tempera_error *error);

/* The progress display on standard error. */
typedef struct cli_progress {
  bool quiet, verbose, terminal;
  double shown_at;   /* seconds into the run of the last line; < 0: none */
  double began_at;   /* when the ridge was there; < 0: not yet */
  size_t began_with; /* and sweeps done by then */
  double trimmed_at; /* when memory was last given back */
  tempera_phase phase;
} cli_progress;
cli_progress cli_progress_start(bool quiet, bool verbose);
int cli_progress_show(const tempera_progress *progress, void *user);
/* Clear the line, so that what follows starts on a clean one. */
void cli_progress_end(const cli_progress *progress);

#endif
