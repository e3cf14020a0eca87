/* sample_command.c - `tempera sample`: draws, evidence and report from one run.
 */
#include "cli/cli.h"
#include "tempera_mpi.h"

#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

static const char help[] =
    "usage: tempera sample MODEL [-d DATA.json] [options]\n"
    "       tempera sample --command \"PROGRAM ARGUMENTS\" --parameters P.json "
    "[options]\n"
    "\n"
    "Draw from a model's posterior and estimate its evidence. MODEL is a Stan\n"
    "program (.stan) or a .so built from C against tempera.h. Results go to a\n"
    "folder.\n"
    "\n"
    "  -d, --data FILE        data, CmdStan JSON\n"
    "  -o, --output DIR       the run's folder [MODEL-run]\n"
    "      --include-path P   folders for #include, separated by ':'\n"
    "      --command C        a program as the model: see docs/programs.md\n"
    "      --parameters FILE  its parameters, JSON\n"
    "      --workers N        copies of it that run at once [all cores]\n"
    "      --batch            many lines at once; an empty one ends them\n"
    "      --prior-normalised  its prior integrates to one\n"
    "      --method M         pt-stwnc, stwnc, pt, st, pawl, ee, mh "
    "[pt-stwnc]\n"
    "      --tau-prior P      learned, laplace, profile [learned]\n"
    "                         learned: log z(tau), refined in warmup\n"
    "                         laplace: from the optima and their curvature\n"
    "                         profile: the paper's, from the optima; it\n"
    "                         collapses in many dimensions\n"
    "      --ridge R          convex, spline, exact [convex]\n"
    "                         convex: knots until bounds meet, a certificate\n"
    "                         spline: the paper's, 301 optima and 60 knots\n"
    "                         exact: an optimisation at every tau proposal\n"
    "      --tau-move M       gibbs, uniform, truncated-normal, lifted, "
    "neighbour\n"
    "                         (the last for st only) [gibbs]\n"
    "                         gibbs: drawn exactly, never rejected\n"
    "                         uniform, truncated-normal: the paper's "
    "proposals\n"
    "                         lifted: goes on until a rejection turns it\n"
    "                         neighbour: one level up or down\n"
    "      --tau-scale X      sd of truncated-normal proposals [0.1]\n"
    "      --tau-min X        lowest tau, for improper priors [0]\n"
    "      --kernel K         auto, random-walk, slice, hmc, model [auto]\n"
    "      --chains N         independent chains [4]\n"
    "      --iterations N     per chain, after warmup [as many as it takes]\n"
    "      --warmup N         before them [half of those given; else to 9300,\n"
    "                         4500 with pt, pawl and ee]\n"
    "      --thin N           keep every N-th [1; 3 without --iterations]\n"
    "      --levels T         temperatures [pt: as many as needed; st: 20; "
    "pawl:\n"
    "                         10 bins to begin with; ee: 3 to 12]\n"
    "      --weights W        geyer-thompson, wang-landau\n"
    "                         (how st learns them) [geyer-thompson]\n"
    "      --swaps S          of pt: even-odd, reversible, random-pair "
    "[even-odd]\n"
    "      --schedule S       of pt: adapted, power [adapted]\n"
    "      --walkers M        of pawl, in each chain [8]\n"
    "      --exchange RHO     probability of proposing an exchange between "
    "the\n"
    "                         chains in a sweep [1; 0.1 for ee; 1/8 with\n"
    "                         --paper, in place of a move]\n"
    "      --at-tau X[,Y...]  draws of the power posterior at these tau too\n"
    "      --observations N   of the data, for WBIC [as many as the model "
    "says]\n";

/* ISO C knows texts of 4095 characters. */
static const char more_help[] =
    "      --seed S           random seed [a new one, recorded]\n"
    "      --threads N        [all cores]\n"
    "      --time-limit S     stop after S seconds\n"
    "      --eval-timeout S   end the run when the model stays in one call for "
    "S\n"
    "                         seconds\n"
    "      --until-se X       stop when the se of log Z is below X\n"
    "      --paper            the settings printed in the paper\n"
    "      --init FILE        starts: {name: value} or an array of such\n"
    "      --jumps BOOL       jump between the basins found [true]\n"
    "      --bridge BOOL      estimate the evidence by bridge sampling too "
    "[true]\n"
    "      --reference BOOL   a second leg, from a fitted density [true]\n"
    "      --save-warmup      keep warmup draws too\n"
    "      --tempered-quantities  generated quantities of draws below tau = 1\n"
    "                         too\n"
    "      --netcdf           also write run.nc, ArviZ InferenceData\n"
    "      --json             summary.json to standard output\n"
    "  -q, --quiet            say nothing but errors\n"
    "  -v, --verbose          say more, and sketch histograms and tau\n"
    "  -h, --help\n";

enum {
  LIBRARY_OPTION = 1000,
  INIT,
  JSON,
  NETCDF,
  INCLUDE,
  COMMAND,
  PARAMETERS,
  WORKERS,
  BATCH,
  NORMALISED,
  EVAL_TIMEOUT
};

static const struct option long_options[] = {
    {"data", required_argument, NULL, 'd'},
    {"output", required_argument, NULL, 'o'},
    {"init", required_argument, NULL, INIT},
    {"include-path", required_argument, NULL, INCLUDE},
    {"command", required_argument, NULL, COMMAND},
    {"parameters", required_argument, NULL, PARAMETERS},
    {"workers", required_argument, NULL, WORKERS},
    {"batch", no_argument, NULL, BATCH},
    {"eval-timeout", required_argument, NULL, EVAL_TIMEOUT},
    {"prior-normalised", no_argument, NULL, NORMALISED},
    {"json", no_argument, NULL, JSON},
    {"netcdf", no_argument, NULL, NETCDF},
    {"quiet", no_argument, NULL, 'q'},
    {"verbose", no_argument, NULL, 'v'},
    {"help", no_argument, NULL, 'h'},
    {"method", required_argument, NULL, LIBRARY_OPTION},
    {"tau-prior", required_argument, NULL, LIBRARY_OPTION},
    {"ridge", required_argument, NULL, LIBRARY_OPTION},
    {"tau-move", required_argument, NULL, LIBRARY_OPTION},
    {"tau-scale", required_argument, NULL, LIBRARY_OPTION},
    {"tau-min", required_argument, NULL, LIBRARY_OPTION},
    {"kernel", required_argument, NULL, LIBRARY_OPTION},
    {"chains", required_argument, NULL, LIBRARY_OPTION},
    {"iterations", required_argument, NULL, LIBRARY_OPTION},
    {"warmup", required_argument, NULL, LIBRARY_OPTION},
    {"thin", required_argument, NULL, LIBRARY_OPTION},
    {"levels", required_argument, NULL, LIBRARY_OPTION},
    {"weights", required_argument, NULL, LIBRARY_OPTION},
    {"swaps", required_argument, NULL, LIBRARY_OPTION},
    {"schedule", required_argument, NULL, LIBRARY_OPTION},
    {"walkers", required_argument, NULL, LIBRARY_OPTION},
    {"exchange", required_argument, NULL, LIBRARY_OPTION},
    {"observations", required_argument, NULL, LIBRARY_OPTION},
    {"at-tau", required_argument, NULL, LIBRARY_OPTION},
    {"seed", required_argument, NULL, LIBRARY_OPTION},
    {"threads", required_argument, NULL, LIBRARY_OPTION},
    {"time-limit", required_argument, NULL, LIBRARY_OPTION},
    {"until-se", required_argument, NULL, LIBRARY_OPTION},
    {"paper", no_argument, NULL, LIBRARY_OPTION},
    {"save-warmup", no_argument, NULL, LIBRARY_OPTION},
    {"tempered-quantities", no_argument, NULL, LIBRARY_OPTION},
    {"jumps", required_argument, NULL, LIBRARY_OPTION},
    {"bridge", required_argument, NULL, LIBRARY_OPTION},
    {"reference", required_argument, NULL, LIBRARY_OPTION},
    {NULL, 0, NULL, 0}};

typedef struct request {
  cli_input input;
  const char *output, *init_path;
  char default_output[512], program[256];
  double *starts;
  bool json, netcdf, quiet, verbose, seeded;
  double eval_timeout; /* seconds; 0: none */
  tempera_options options;
} request;

/* ---- arguments ---------------------------------------------------------- */

static int set_library_option(request *r, int index) {
  tempera_error error = {0};
  const char *name = long_options[index].name;
  if (tempera_options_set(&r->options, name, optarg, &error) != TEMPERA_OK)
    return cli_usage("sample", "--%s", error.message);
  r->seeded = r->seeded || strcmp(name, "seed") == 0;
  return EXIT_DONE;
}

/* Those of --command. */
static int take_command_option(request *r, int code) {
  switch (code) {
  case COMMAND:
    r->input.command.command = optarg;
    return EXIT_DONE;
  case PARAMETERS:
    r->input.parameters_path = optarg;
    return EXIT_DONE;
  case WORKERS:
    return cli_take_workers(&r->input, optarg);
  case BATCH:
    r->input.command.batch = true;
    return EXIT_DONE;
  default:
    r->input.command.prior_normalised = true;
    return EXIT_DONE;
  }
}

static int take_timeout(request *r) {
  int code = cli_take_timeout("sample", &r->eval_timeout);
  r->input.command.timeout = r->eval_timeout;
  return code;
}

static int take_option(request *r, int code, int index, char **argv) {
  if (code >= COMMAND && code <= NORMALISED)
    return take_command_option(r, code);
  switch (code) {
  case 'd':
    r->input.data_path = optarg;
    return EXIT_DONE;
  case 'o':
    r->output = optarg;
    return EXIT_DONE;
  case INIT:
    r->init_path = optarg;
    return EXIT_DONE;
  case INCLUDE:
    r->input.include_path = optarg;
    return EXIT_DONE;
  case EVAL_TIMEOUT:
    return take_timeout(r);
  case JSON:
    r->json = true;
    return EXIT_DONE;
  case NETCDF:
    r->netcdf = true;
    return EXIT_DONE;
  case 'q':
    r->quiet = true;
    return EXIT_DONE;
  case 'v':
    r->verbose = true;
    return EXIT_DONE;
  case LIBRARY_OPTION:
    return set_library_option(r, index);
  default:
    return cli_bad_option("sample", code, argv, long_options);
  }
}

/* The model file's base name without extension, and -run, right here. */
static void name_output(request *r) {
  const char *slash = strrchr(r->input.model_path, '/');
  const char *base = slash ? slash + 1 : r->input.model_path;
  const char *dot = strrchr(base, '.');
  int length = (int)(dot && dot != base ? (size_t)(dot - base) : strlen(base));
  snprintf(r->default_output, sizeof r->default_output, "%.*s-run", length,
           base);
  if (!r->output)
    r->output = r->default_output;
}

enum { HELP_SHOWN = -1 };

static int take_arguments(request *r, int argc, char **argv) {
  int code, index = 0;
  opterr = 0;
  while ((code = getopt_long(argc, argv, ":d:o:qvh", long_options, &index)) !=
         -1) {
    if (code == 'h')
      return fputs(help, stdout), fputs(more_help, stdout), HELP_SHOWN;
    int taken = take_option(r, code, index, argv);
    if (taken != EXIT_DONE)
      return taken;
  }
  const char *program = r->input.command.command;
  int fits = cli_check_command(&r->input, optind < argc ? argv[optind] : NULL);
  if (fits != EXIT_DONE)
    return fits;
  if (optind == argc && !program)
    return cli_usage("sample", "which model? (MODEL is missing)");
  if (optind + 1 < argc)
    return cli_usage("sample", "one model at a time, but also given: %s",
                     argv[optind + 1]);
  snprintf(r->program, sizeof r->program, "%.*s",
           program ? (int)strcspn(program, " \t\n") : 0,
           program ? program : "");
  r->input.model_path = program ? r->program : argv[optind];
  name_output(r);
  return EXIT_DONE;
}

static int pick_seed(request *r) {
  uint32_t bits;
  if (r->seeded)
    return EXIT_DONE;
  if (getrandom(&bits, sizeof bits, 0) != sizeof bits) {
    fputs("tempera: the system gives no random seed; use --seed\n", stderr);
    return EXIT_BAD_INPUT;
  }
  tempera_mpi_share(&bits, sizeof bits);
  r->options.seed = bits;
  return EXIT_DONE;
}

static int read_starts(request *r) {
  tempera_error error = {0};
  size_t size = tempera_model_size(r->input.model);
  if (!r->init_path)
    return EXIT_DONE;
  if (r->options.chains == 0)
    r->options.chains = r->options.paper ? 1 : 4;
  r->starts = calloc(r->options.chains * size, sizeof(double));
  if (!r->starts)
    return fputs("tempera: out of memory\n", stderr), EXIT_BAD_INPUT;
  if (tempera_starts_read(r->init_path, r->input.model, r->options.chains,
                          r->starts, &error) != TEMPERA_OK)
    return cli_fail(r->init_path, &error);
  r->options.init = r->starts;
  return EXIT_DONE;
}

/* ---- the run ------------------------------------------------------------ */

static void announce(const request *r, const tempera_sampler *sampler) {
  const tempera_options *o = tempera_sampler_options(sampler);
  const char *warning;
  for (size_t i = 0;
       !r->quiet && (warning = tempera_sampler_warning(sampler, i)); i++)
    fprintf(stderr, "tempera: %s\n", warning);
  if (r->quiet || !r->verbose)
    return;
  fprintf(stderr,
          "model %s: %zu values, %zu unconstrained; %zu chains of %zu + %zu "
          "sweeps, seed %" PRIu64 ", into %s\n",
          tempera_model_name(r->input.model),
          tempera_model_size(r->input.model),
          tempera_model_unconstrained_size(r->input.model), o->chains,
          o->warmup, o->iterations, o->seed, r->output);
}

static int run(const request *r, tempera_sampler *sampler) {
  tempera_error error = {0};
  tempera_summary *summary = NULL;
  cli_progress progress = cli_progress_start(r->quiet, r->verbose);
  const char *command = r->input.command.command;
  tempera_run_request where = {.folder = r->output,
                               .model_path =
                                   command ? NULL : r->input.model_path,
                               .data_path = r->input.data_path,
                               .data = r->input.data,
                               .init_path = r->init_path,
                               .command = command,
                               .parameters_path = r->input.parameters_path,
                               .batch = r->input.command.batch,
                               .prior_normalised =
                                   r->input.command.prior_normalised,
                               .prior_improper =
                                   r->input.command.prior_improper};
  const cli_run finish = {.input = &r->input,
                          .output = r->output,
                          .json = r->json,
                          .netcdf = r->netcdf,
                          .quiet = r->quiet,
                          .verbose = r->verbose};
  announce(r, sampler);
  cli_catch_signals(sampler);
  cli_watch_run(r->output);
  tempera_status status = tempera_run_sample(&where, sampler, cli_progress_show,
                                             &progress, &summary, &error);
  cli_ranks_leave(status);
  cli_progress_end(&progress);
  int code = cli_finish(&finish, sampler, summary, status, &error);
  tempera_summary_free(summary);
  return code;
}

/* Said before the model is asked for anything, which may take long. */
static int refuse_taken(const request *r) {
  tempera_error error = {0};
  if (tempera_mpi_rank() > 0 ||
      tempera_run_folder_vacant(r->output, &error) == TEMPERA_OK)
    return EXIT_DONE;
  return cli_fail(NULL, &error);
}

/* Options that do not fit the model are usage; the rest is the model's. */
static int sample(request *r) {
  tempera_error error = {0};
  tempera_sampler *sampler = NULL;
  tempera_status status =
      tempera_sampler_create(r->input.model, &r->options, &sampler, &error);
  if (status == TEMPERA_ERROR_ARGUMENT)
    return cli_usage("sample", "%s", error.message);
  if (status != TEMPERA_OK)
    return cli_fail(r->input.model_path, &error);
  int code = tempera_mpi_rank() > 0 ? cli_ranks_follow(sampler) : run(r, sampler);
  tempera_sampler_free(sampler);
  return code;
}

int cli_sample(int argc, char **argv) {
  request r = {.options = tempera_options_default()};
  int code = take_arguments(&r, argc, argv);
  if (code != EXIT_DONE)
    return code == HELP_SHOWN ? EXIT_DONE : code;
  code = cli_ranks_begin();
  if (code != EXIT_DONE)
    return code;
  if (tempera_mpi_rank() > 0) {
    cli_ranks_be_silent();
    r.quiet = true;
    r.json = r.netcdf = r.verbose = false;
  }
  r.input.quiet = r.quiet;
  /* Workers are watched by the library. */
  cli_watch_model(r.input.model_path,
                  r.input.command.command ? 0 : r.eval_timeout);
  code = pick_seed(&r);
  if (code == EXIT_DONE)
    code = cli_load(&r.input);
  if (code == EXIT_DONE)
    code = read_starts(&r);
  if (code == EXIT_DONE)
    code = refuse_taken(&r);
  if (code == EXIT_DONE)
    code = sample(&r);
  if (code != EXIT_DONE)
    tempera_mpi_abort(code); /* while other ranks wait */
  tempera_mpi_end();
  free(r.starts);
  cli_unload(&r.input);
  cli_watch_end();
  return code;
}
