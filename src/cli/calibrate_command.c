/* calibrate_command.c - `tempera calibrate`: simulation-based calibration. */
#include "cli/cli.h"

#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char help[] =
    "usage: tempera calibrate MODEL.stan [MODEL.stan...] -d DATA.json "
    "[options]\n"
    "\n"
    "Simulation-based calibration: parameters from the prior, data from the\n"
    "likelihood statements, a run on these data, many times over. Ranks of "
    "the\n"
    "true parameters among posterior draws must be uniform, and intervals "
    "hold\n"
    "the truth as often as they say. With several models, data come from each\n"
    "with equal chance, and posterior model probabilities are checked. "
    "DATA.json\n"
    "says sizes and predictors; its outcomes are replaced.\n"
    "\n"
    "  -d, --data FILE       the data\n"
    "  -o, --output DIR      files and report [MODEL-calibration]; runs that "
    "are\n"
    "                        there are not done again\n"
    "      --runs N          simulated data sets [200]\n"
    "      --seed S          [drawn, and kept in DIR]\n"
    "      --threads N       runs at a time [all cores]\n"
    "      --simulate FILE   simulate from this program instead\n"
    "      --iterations N    of each run [1000]\n"
    "      --warmup N        of each run [automatic]\n"
    "      --chains N        of each run [4]\n"
    "      --method METHOD   as of `tempera sample`\n"
    "      --json            calibration.json to standard output\n"
    "  -q, --quiet           no progress\n"
    "  -h, --help\n";

enum { SIMULATE = 256, SAMPLING };
static const struct option long_options[] = {
    {"data", required_argument, NULL, 'd'},
    {"output", required_argument, NULL, 'o'},
    {"runs", required_argument, NULL, 'r'},
    {"seed", required_argument, NULL, 's'},
    {"threads", required_argument, NULL, 't'},
    {"simulate", required_argument, NULL, SIMULATE},
    {"iterations", required_argument, NULL, SAMPLING},
    {"warmup", required_argument, NULL, SAMPLING},
    {"chains", required_argument, NULL, SAMPLING},
    {"method", required_argument, NULL, SAMPLING},
    {"json", no_argument, NULL, 'j'},
    {"quiet", no_argument, NULL, 'q'},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0}};

enum { MOST_MODELS = 16 };

typedef struct request {
  char *const *models;
  const char *data_path, *simulator; /* the latter may be NULL */
  char folder[4000];
  bool json, quiet;
  tempera_options options;
  tempera_calibration what;
  tempera_program *programs[MOST_MODELS + 1]; /* the last: to simulate from */
  tempera_data *data;
} request;

static volatile sig_atomic_t stopped;
static void stop(int signal) { stopped = signal; }

/* Its user's progress: a line now and then. */
typedef struct display {
  const request *r;
  size_t shown;
} display;

static int show(size_t done, size_t runs, void *user) {
  display *d = user;
  bool terminal = cli_terminal(STDERR_FILENO), end = done == runs;
  size_t step = terminal ? 1 : runs / 10 + 1;
  if (!d->r->quiet && (done >= d->shown + step || (end && done > d->shown))) {
    fprintf(stderr, "%s%zu of %zu runs%s", terminal ? "\r" : "", done, runs,
            terminal && !end ? "" : "\n");
    d->shown = done;
  }
  return stopped != 0;
}

static int read_program(request *r, size_t i, const char *path) {
  tempera_error error = {0};
  const char *words;
  if (tempera_program_read(path, &r->programs[i], &error) != TEMPERA_OK)
    return cli_fail(path, &error);
  for (size_t k = 0; (words = tempera_program_warning(r->programs[i], k)); k++)
    fprintf(stderr, "%s:%s\n", path, words);
  return EXIT_DONE;
}

static int read_all(request *r) {
  tempera_error error = {0};
  int code = EXIT_DONE;
  for (size_t i = 0; i < r->what.count && code == EXIT_DONE; i++)
    code = read_program(r, i, r->models[i]);
  if (code == EXIT_DONE && r->simulator)
    code = read_program(r, MOST_MODELS, r->simulator);
  if (code == EXIT_DONE &&
      tempera_data_read(r->data_path, &r->data, &error) != TEMPERA_OK)
    code = cli_fail(r->data_path, &error);
  return code;
}

static int report(const request *r) {
  char *text = NULL, *json = NULL;
  tempera_error error = {0};
  if (tempera_calibration_report(r->folder, r->what.runs, cli_colour(), &text,
                                 &json, &error) != TEMPERA_OK)
    return cli_fail(NULL, &error);
  tempera_text_free(r->json ? text : json);
  int code = cli_print(r->json ? json : text);
  if (!r->json && !r->quiet)
    printf("\nEverything is in %s; open %s/report.html for charts.\n",
           r->folder, r->folder);
  return code;
}

/* A place in an error, once the programs have been read, is in the data. */
static int run_all(request *r) {
  const struct sigaction action = {.sa_handler = stop};
  tempera_error error = {0};
  display d = {.r = r};
  sigaction(SIGINT, &action, NULL);
  sigaction(SIGTERM, &action, NULL);
  tempera_status status =
      tempera_calibrate(&r->what, &r->options, show, &d, &error);
  if (status == TEMPERA_ERROR_ARGUMENT)
    return cli_usage("calibrate", "%s", error.message);
  if (status != TEMPERA_OK && status != TEMPERA_CANCELLED)
    return cli_fail(error.line > 0 ? r->data_path : NULL, &error);
  int code = report(r);
  return status == TEMPERA_CANCELLED ? 128 + (int)stopped : code;
}

static int calibrate(request *r) {
  int code = read_all(r);
  r->what.programs = (const tempera_program *const *)r->programs;
  r->what.simulator = r->programs[MOST_MODELS];
  r->what.data = r->data;
  r->what.folder = r->folder;
  if (code == EXIT_DONE)
    code = run_all(r);
  for (size_t i = 0; i <= MOST_MODELS; i++)
    tempera_program_free(r->programs[i]);
  tempera_data_free(r->data);
  return code;
}

/* ---- options ----------------------------------------------------------------
 */

static int take_count(const char *name, size_t most, uint64_t *value) {
  char *end;
  errno = 0;
  unsigned long long given = strtoull(optarg, &end, 10);
  if (*end || end == optarg || errno || optarg[0] == '-' || given > most)
    return cli_usage("calibrate", "--%s %s: wanted a whole number", name,
                     optarg);
  *value = given;
  return EXIT_DONE;
}

static int take_option(request *r, int code, int index, char **argv) {
  tempera_error error = {0};
  uint64_t value = 0;
  int taken = EXIT_DONE;
  switch (code) {
  case 'd':
    r->data_path = optarg;
    break;
  case 'o':
    snprintf(r->folder, sizeof r->folder, "%s", optarg);
    break;
  case 'r':
    taken = take_count("runs", 99999, &value);
    r->what.runs = (size_t)value;
    break;
  case 's':
    taken = take_count("seed", SIZE_MAX, &r->what.seed);
    r->what.seeded = true;
    break;
  case 't':
    taken = take_count("threads", 1024, &value);
    r->what.threads = (size_t)value;
    break;
  case SIMULATE:
    r->simulator = optarg;
    break;
  case SAMPLING:
    if (tempera_options_set(&r->options, long_options[index].name, optarg,
                            &error) != TEMPERA_OK)
      return cli_usage("calibrate", "--%s", error.message);
    break;
  case 'j':
    r->json = true;
    break;
  case 'q':
    r->quiet = true;
    break;
  default:
    return cli_bad_option("calibrate", code, argv, long_options);
  }
  return taken;
}

static void name_folder(request *r) {
  const char *path = r->models[0], *slash = strrchr(path, '/');
  const char *name = slash ? slash + 1 : path;
  size_t n = strlen(name);
  n -= n > 5 && !strcmp(name + n - 5, ".stan") ? 5 : 0;
  snprintf(r->folder, sizeof r->folder, "%.*s-calibration", (int)n, name);
}

int cli_calibrate(int argc, char **argv) {
  int code, index = 0;
  request *r = calloc(1, sizeof *r);
  if (!r)
    return fputs("tempera: out of memory\n", stderr), EXIT_BAD_INPUT;
  r->what.runs = 200;
  r->options = tempera_options_default();
  opterr = 0;
  while ((code = getopt_long(argc, argv, ":d:o:qh", long_options, &index)) !=
         -1) {
    if (code == 'h') {
      free(r);
      return fputs(help, stdout), EXIT_DONE;
    }
    int taken = take_option(r, code, index, argv);
    if (taken != EXIT_DONE)
      return free(r), taken;
  }
  r->models = argv + optind;
  r->what.count = (size_t)(argc - optind);
  if (r->what.count == 0 || r->what.count > MOST_MODELS)
    code = cli_usage("calibrate", "give one program, or a few");
  else if (!r->data_path)
    code = cli_usage("calibrate",
                     "give the data with -d FILE.json: sizes and predictors");
  else
    code = EXIT_DONE;
  if (code == EXIT_DONE && !r->folder[0])
    name_folder(r);
  if (code == EXIT_DONE)
    code = calibrate(r);
  free(r);
  return code;
}
