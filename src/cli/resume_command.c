/* resume_command.c - `tempera resume`: a run that ended, was interrupted or was
 * killed goes on from its last checkpoint. */
#include "cli/cli.h"
#include "tempera_mpi.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "usage: tempera resume RUN [options]\n"
    "\n"
    "Go on with a run that was interrupted or killed, to the same files as if\n"
    "nothing had happened; or with a run that is over, to more iterations. "
    "RUN\n"
    "is the folder of `tempera sample`. Start it where that was started; "
    "under\n"
    "mpirun, if you like, on any number of ranks.\n"
    "\n"
    "      --iterations N     per chain, in all [as many as were asked for]\n"
    "      --threads N        [as many as before]\n"
    "      --eval-timeout S   stop when a call of the model takes longer\n"
    "      --workers N        of a run of --command [as many as cores]\n"
    "      --model FILE       where the model is now\n"
    "  -d, --data FILE        where the data are now\n"
    "      --include-path P   folders for #include, separated by ':'\n"
    "      --json             summary.json to standard output\n"
    "  -q, --quiet            say nothing but errors\n"
    "  -v, --verbose          say more, and sketch histograms and tau\n"
    "  -h, --help\n";

enum { LIBRARY_OPTION = 1000, MODEL, INCLUDE, JSON, EVAL_TIMEOUT, WORKERS };

static const struct option long_options[] = {
    {"iterations", required_argument, NULL, LIBRARY_OPTION},
    {"threads", required_argument, NULL, LIBRARY_OPTION},
    {"eval-timeout", required_argument, NULL, EVAL_TIMEOUT},
    {"workers", required_argument, NULL, WORKERS},
    {"model", required_argument, NULL, MODEL},
    {"data", required_argument, NULL, 'd'},
    {"include-path", required_argument, NULL, INCLUDE},
    {"json", no_argument, NULL, JSON},
    {"quiet", no_argument, NULL, 'q'},
    {"verbose", no_argument, NULL, 'v'},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0}};

typedef struct request {
  cli_input input;
  cli_run run;
  tempera_options options; /* iterations and threads, if given */
  double eval_timeout;
} request;

enum { HELP_SHOWN = -1 };

static int take_option(request *r, int code, int index, char **argv) {
  tempera_error error = {0};
  const char *name = long_options[index].name;
  switch (code) {
  case 'd':
    r->input.data_path = optarg;
    return EXIT_DONE;
  case MODEL:
    r->input.model_path = optarg;
    return EXIT_DONE;
  case INCLUDE:
    r->input.include_path = optarg;
    return EXIT_DONE;
  case EVAL_TIMEOUT:
    return cli_take_timeout("resume", &r->eval_timeout);
  case WORKERS:
    return cli_take_workers(&r->input, optarg);
  case JSON:
    r->run.json = true;
    return EXIT_DONE;
  case 'q':
    r->run.quiet = r->input.quiet = true;
    return EXIT_DONE;
  case 'v':
    r->run.verbose = true;
    return EXIT_DONE;
  case LIBRARY_OPTION:
    return tempera_options_set(&r->options, name, optarg, &error) == TEMPERA_OK
               ? EXIT_DONE
               : cli_usage("resume", "--%s", error.message);
  default:
    return cli_bad_option("resume", code, argv, long_options);
  }
}

static int take_arguments(request *r, int argc, char **argv) {
  int code, index = 0;
  opterr = 0;
  while ((code = getopt_long(argc, argv, ":d:qvh", long_options, &index)) !=
         -1) {
    if (code == 'h')
      return fputs(help, stdout), HELP_SHOWN;
    int taken = take_option(r, code, index, argv);
    if (taken != EXIT_DONE)
      return taken;
  }
  if (optind + 1 != argc)
    return cli_usage("resume", "give the folder of one run");
  r->run.output = argv[optind];
  return EXIT_DONE;
}

static int go_on(const request *r, tempera_run *run) {
  tempera_error error = {0};
  tempera_summary *summary = NULL;
  tempera_sampler *sampler = tempera_run_sampler(run);
  size_t iterations = r->options.iterations;
  if (iterations &&
      tempera_sampler_lengthen(sampler, iterations, &error) != TEMPERA_OK)
    return cli_usage("resume", "%s", error.message);
  if (tempera_mpi_rank() > 0)
    return cli_ranks_follow(sampler);
  cli_progress progress = cli_progress_start(r->run.quiet, r->run.verbose);
  cli_catch_signals(sampler);
  cli_watch_run(r->run.output);
  tempera_status status =
      tempera_run_resume(run, cli_progress_show, &progress, &summary, &error);
  cli_ranks_leave(status);
  cli_progress_end(&progress);
  int code = cli_finish(&r->run, sampler, summary, status, &error);
  tempera_summary_free(summary);
  return code;
}

/* Where the run's files are, unless the caller knows better. */
static int resume(request *r, char *model_path, char *data_path) {
  tempera_error error = {0};
  tempera_run *run = NULL;
  if (!r->input.model_path)
    r->input.model_path = model_path;
  if (!r->input.data_path)
    r->input.data_path = data_path;
  if (!r->input.model_path && !r->input.command.command)
    return cli_usage("resume", "the run names no model; give --model FILE");
  int code = cli_load(&r->input);
  if (code != EXIT_DONE)
    return code;
  const tempera_run_request where = {.folder = r->run.output,
                                     .model_path = r->input.model_path,
                                     .data_path = data_path,
                                     .data = r->input.data};
  if (tempera_run_open(&where, r->input.model, r->options.threads, &run,
                       &error) != TEMPERA_OK)
    return cli_fail(NULL, &error);
  code = go_on(r, run);
  tempera_run_close(run);
  return code;
}

/* Rank 0 alone need see the folder: a path of its own for all. */
static int share_path(char **path) {
  size_t length = *path ? strlen(*path) + 1 : 0;
  tempera_mpi_share(&length, sizeof length);
  if (tempera_mpi_rank() > 0 && length)
    *path = calloc(length, 1);
  if (length && !*path)
    return fputs("tempera: out of memory\n", stderr), EXIT_BAD_INPUT;
  tempera_mpi_share(*path, length);
  return EXIT_DONE;
}

static int find_paths(request *r, char **model_path, char **data_path) {
  tempera_error error = {0};
  if (tempera_mpi_rank() == 0 &&
      tempera_run_paths(r->run.output, model_path, data_path, &error) !=
          TEMPERA_OK)
    return cli_fail(NULL, &error);
  int code = share_path(model_path);
  return code == EXIT_DONE ? share_path(data_path) : code;
}

/* Of --command, unless there is a model instead. */
static int find_program(request *r, char **program, char **parameters) {
  tempera_error error = {0};
  tempera_command *c = &r->input.command;
  if (tempera_mpi_rank() == 0 &&
      tempera_run_program(r->run.output, program, parameters, &c->batch,
                          &c->prior_normalised, &c->prior_improper,
                          &error) != TEMPERA_OK)
    return cli_fail(NULL, &error);
  tempera_mpi_share(&c->batch, sizeof c->batch);
  tempera_mpi_share(&c->prior_normalised, sizeof c->prior_normalised);
  tempera_mpi_share(&c->prior_improper, sizeof c->prior_improper);
  int code = share_path(program);
  code = code == EXIT_DONE ? share_path(parameters) : code;
  c->timeout = r->eval_timeout;
  c->command = r->input.model_path ? NULL : *program;
  r->input.parameters_path = *parameters;
  return code;
}

int cli_resume(int argc, char **argv) {
  char *model_path = NULL, *data_path = NULL;
  char *program = NULL, *parameters = NULL;
  request r = {.options = tempera_options_default()};
  r.run.input = &r.input;
  int code = take_arguments(&r, argc, argv);
  if (code != EXIT_DONE)
    return code == HELP_SHOWN ? EXIT_DONE : code;
  code = cli_ranks_begin();
  if (code != EXIT_DONE)
    return code;
  if (tempera_mpi_rank() > 0) {
    cli_ranks_be_silent();
    r.run.quiet = r.input.quiet = true;
    r.run.json = r.run.verbose = false;
  }
  code = find_paths(&r, &model_path, &data_path);
  if (code == EXIT_DONE)
    code = find_program(&r, &program, &parameters);
  /* Workers are watched by the library. */
  cli_watch_model(r.input.model_path ? r.input.model_path : model_path,
                  program ? 0 : r.eval_timeout);
  if (code == EXIT_DONE)
    code = resume(&r, model_path, data_path);
  if (code != EXIT_DONE)
    tempera_mpi_abort(code); /* while other ranks wait */
  tempera_mpi_end();
  cli_watch_end();
  cli_unload(&r.input);
  tempera_text_free(model_path);
  tempera_text_free(data_path);
  tempera_text_free(program);
  tempera_text_free(parameters);
  return code;
}
