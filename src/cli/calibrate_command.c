/* calibrate_command.c - `tempera calibrate`: simulation-based calibration.
 *
 * Each run is a process of its own, which draws parameters and data, opens the
 * model with these data, samples, and leaves a small file of ranks: so a crash
 * costs one run, and what is there already is not done again. The numbers of
 * run i depend on the seed and i alone. */
#include "cli/cli.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
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
    "      --quiet           no progress\n"
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
  size_t count;
  const char *data_path, *simulator; /* the latter may be NULL */
  char folder[4000];
  size_t runs, threads;
  uint64_t seed;
  bool seeded, json, quiet;
  tempera_options options;
  cli_input inputs[MOST_MODELS]; /* with the data as given: they simulate */
} request;

/* ---- one run --------------------------------------------------------------
 */

static uint64_t mix(uint64_t x) {
  x += UINT64_C(0x9e3779b97f4a7c15);
  x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
  return x ^ (x >> 31);
}

typedef struct run {
  const request *r;
  size_t number;
  uint64_t seed;
  size_t truth; /* which model the data are from */
  double *theta, log_likelihood;
  tempera_data *data;
  FILE *out;
  tempera_error error;
} run;

/* The i-th of so many numbers spread evenly over the draws of all chains. */
static double draw_at(const double *const *columns, size_t chains, size_t rows,
                      size_t i) {
  size_t total = chains * rows,
         at = (2 * i + 1) * total / (2 * TEMPERA_CALIBRATION_DRAWS);
  return columns[at / rows][at % rows];
}

/* Equal values are put in any order. */
static void put_rank(run *u, const char *name, const double *const *columns,
                     size_t chains, size_t rows, double truth, size_t place) {
  size_t below = 0, equal = 0;
  double slack = 1e-12 * (1 + fabs(truth));
  for (size_t i = 0; i < TEMPERA_CALIBRATION_DRAWS; i++) {
    double x = draw_at(columns, chains, rows, i);
    if (fabs(x - truth) <= slack)
      equal++;
    else
      below += x < truth;
  }
  if (equal == TEMPERA_CALIBRATION_DRAWS)
    return; /* a constant, as the diagonal of a correlation matrix is */
  below += equal ? mix(u->seed ^ mix(place + 77)) % (equal + 1) : 0;
  fprintf(u->out, "rank,%s%s%s,%zu\n",
          u->r->count > 1 ? tempera_model_name(u->r->inputs[u->truth].model)
                          : "",
          u->r->count > 1 ? "/" : "", name, below);
}

/* The true value of a parameter, by its name in the program simulated from. */
static bool true_value(const run *u, const char *name, double *value) {
  const tempera_model *model = u->r->inputs[u->truth].model;
  for (size_t i = 0; i < tempera_model_size(model); i++)
    if (!strcmp(tempera_model_value_name(model, i), name)) {
      *value = u->theta[i];
      return true;
    }
  return false;
}

static tempera_status put_ranks(run *u, const tempera_model *model,
                                const tempera_sampler *sampler) {
  const tempera_draws *draws = tempera_sampler_draws(sampler);
  size_t chains = u->r->options.chains ? u->r->options.chains : 4;
  size_t rows = tempera_draws_rows(draws, TEMPERA_TARGET);
  const double *columns[64];
  double truth;
  if (chains * rows < TEMPERA_CALIBRATION_DRAWS || chains > 64) {
    snprintf(u->error.message, sizeof u->error.message,
             "fewer than %d target draws", TEMPERA_CALIBRATION_DRAWS);
    return TEMPERA_ERROR_INPUT;
  }
  for (size_t i = 0; i < tempera_model_size(model); i++) {
    const char *name = tempera_model_value_name(model, i);
    for (size_t c = 0; c < chains; c++)
      columns[c] = tempera_draws_values(draws, TEMPERA_TARGET, c, i);
    if (true_value(u, name, &truth))
      put_rank(u, name, columns, chains, rows, truth, i);
  }
  for (size_t c = 0; c < chains; c++)
    columns[c] = tempera_draws_log_likelihood(draws, TEMPERA_TARGET, c);
  put_rank(u, "log_likelihood__", columns, chains, rows, u->log_likelihood,
           tempera_model_size(model));
  return TEMPERA_OK;
}

/* The likelihood that the data were drawn by must be the model's own. */
static tempera_status check_likelihood(run *u, const tempera_model *model) {
  double likelihood = NAN, prior = NAN;
  tempera_status status =
      tempera_model_evaluate(model, u->theta, &likelihood, &prior, &u->error);
  if (status != TEMPERA_OK)
    return status;
  if (fabs(likelihood - u->log_likelihood) <= 1e-6 * (1 + fabs(likelihood)))
    return TEMPERA_OK;
  snprintf(u->error.message, sizeof u->error.message,
           "the simulated data have another likelihood than that by which they "
           "were drawn (%.6g, %.6g): the statements are not a law of the data",
           likelihood, u->log_likelihood);
  return TEMPERA_ERROR_INPUT;
}

static tempera_status sample(run *u, const tempera_model *model, bool truth) {
  tempera_options options = u->r->options;
  tempera_sampler *sampler = NULL;
  tempera_summary *summary = NULL;
  options.seed = mix(u->seed + 1);
  options.threads = 1;
  tempera_status status =
      tempera_sampler_create(model, &options, &sampler, &u->error);
  if (status == TEMPERA_OK)
    status = tempera_sampler_run(sampler, NULL, NULL, &u->error);
  if (status == TEMPERA_OK)
    status = tempera_sampler_summarise(sampler, &summary, &u->error);
  if (status == TEMPERA_OK && truth)
    status = put_ranks(u, model, sampler);
  if (status == TEMPERA_OK)
    fprintf(u->out, "model,%s,%.17g,%.17g,%d\n", tempera_model_name(model),
            summary->estimator ? summary->log_z : NAN, summary->se,
            summary->reliable);
  tempera_summary_free(summary);
  tempera_sampler_free(sampler);
  return status;
}

static tempera_status fit(run *u, size_t m) {
  tempera_model *model = NULL;
  bool truth = m == u->truth || u->r->simulator;
  tempera_status status =
      tempera_model_load(u->r->models[m], u->data, &model, &u->error);
  if (status != TEMPERA_OK)
    return status;
  if (truth && !u->r->simulator)
    status = check_likelihood(u, model);
  if (status == TEMPERA_OK)
    status = sample(u, model, truth);
  tempera_model_free(model);
  return status;
}

static tempera_status do_run(run *u) {
  const cli_input *from = &u->r->inputs[u->truth];
  tempera_status status =
      tempera_model_simulate(from->model, from->data, u->seed, u->theta,
                             &u->log_likelihood, &u->data, &u->error);
  if (status != TEMPERA_OK)
    return status;
  if (u->r->count > 1)
    fprintf(u->out, "truth,%s\n", tempera_model_name(from->model));
  for (size_t m = 0; m < u->r->count && status == TEMPERA_OK; m++)
    status = fit(u, m);
  tempera_data_free(u->data);
  return status;
}

static void path_of(const request *r, size_t number, const char *end,
                    char *path, size_t size) {
  snprintf(path, size, "%s/run-%05zu.csv%s", r->folder, number, end);
}

/* In a process of its own; its file is there once it is whole. */
static int work(const request *r, size_t number) {
  char path[4096], part[4096];
  run u = {.r = r, .number = number, .seed = mix(r->seed + mix(number))};
  path_of(r, number, "", path, sizeof path);
  path_of(r, number, ".part", part, sizeof part);
  u.truth = r->simulator ? 0 : (size_t)(mix(u.seed) % r->count);
  u.theta =
      calloc(tempera_model_size(r->inputs[u.truth].model) + 1, sizeof *u.theta);
  u.out = fopen(part, "w");
  if (!u.theta || !u.out)
    return EXIT_BAD_INPUT;
  if (do_run(&u) != TEMPERA_OK) {
    for (char *c = u.error.message; *c; c++)
      if (*c == '\n')
        *c = ' ';
    u.out = freopen(part, "w", u.out);
    if (u.out)
      fprintf(u.out, "failed,%s\n", u.error.message);
  }
  bool fine = u.out && fclose(u.out) == 0 && rename(part, path) == 0;
  free(u.theta);
  return fine ? EXIT_DONE : EXIT_BAD_INPUT;
}

/* ---- all of them -----------------------------------------------------------
 */

static volatile sig_atomic_t stopped;
static void stop(int signal) { stopped = signal; }

static void show(const request *r, size_t done, bool end) {
  bool terminal = cli_terminal(STDERR_FILENO);
  if (r->quiet || (!terminal && !end && done % (r->runs / 10 + 1)))
    return;
  fprintf(stderr, "%s%zu of %zu runs%s", terminal ? "\r" : "", done, r->runs,
          terminal && !end ? "" : "\n");
}

static bool is_done(const request *r, size_t number) {
  char path[4096];
  path_of(r, number, "", path, sizeof path);
  return access(path, R_OK) == 0;
}

/* A process that ended without a file was a crash of the model. */
static void note_crash(const request *r, size_t number, int status) {
  char path[4096];
  if (is_done(r, number) || stopped)
    return;
  path_of(r, number, "", path, sizeof path);
  FILE *out = fopen(path, "w");
  if (!out)
    return;
  fprintf(out, "failed,the process ended %s %d\n",
          WIFSIGNALED(status) ? "by signal" : "with status",
          WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
  fclose(out);
}

typedef struct crew {
  pid_t *pids;
  size_t *numbers, active, done;
} crew;

static void wait_one(const request *r, crew *c) {
  int status;
  pid_t pid = wait(&status);
  for (size_t i = 0; pid > 0 && i < c->active; i++)
    if (c->pids[i] == pid) {
      note_crash(r, c->numbers[i], status);
      c->active--;
      c->pids[i] = c->pids[c->active];
      c->numbers[i] = c->numbers[c->active];
      show(r, ++c->done, false);
      return;
    }
}

static int run_all(const request *r) {
  crew c = {.pids = calloc(r->threads, sizeof *c.pids),
            .numbers = calloc(r->threads, sizeof *c.numbers)};
  const struct sigaction action = {.sa_handler = stop};
  sigaction(SIGINT, &action, NULL);
  sigaction(SIGTERM, &action, NULL);
  for (size_t i = 1; c.pids && c.numbers && i <= r->runs && !stopped; i++) {
    if (is_done(r, i)) {
      c.done++;
      continue;
    }
    while (c.active == r->threads && !stopped)
      wait_one(r, &c);
    if (stopped)
      break;
    pid_t pid = fork();
    if (pid == 0)
      _exit(work(r, i));
    if (pid < 0)
      return perror("tempera: fork"), EXIT_BAD_INPUT;
    c.pids[c.active] = pid;
    c.numbers[c.active++] = i;
  }
  for (size_t i = 0; i < c.active && stopped; i++)
    kill(c.pids[i], SIGKILL);
  while (c.active > 0 && !stopped)
    wait_one(r, &c);
  show(r, c.done, true);
  free(c.pids);
  free(c.numbers);
  return stopped ? 128 + (int)stopped : EXIT_DONE;
}

/* ---- the folder ------------------------------------------------------------
 */

/* What the runs in a folder were made by, in one line; the seed apart. */
static void settings(const request *r, char *line, size_t size) {
  size_t used = 0;
  for (size_t i = 0; i < r->count && used < size; i++)
    used += (size_t)snprintf(line + used, size - used, "%s ", r->models[i]);
  if (used < size)
    snprintf(line + used, size - used,
             "data %s simulate %s iterations %zu warmup %zu chains %zu method "
             "%d",
             r->data_path, r->simulator ? r->simulator : "-",
             r->options.iterations, r->options.warmup, r->options.chains,
             (int)r->options.method);
}

static uint64_t new_seed(void) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return mix((uint64_t)now.tv_sec * 1000003u + (uint64_t)now.tv_nsec) >> 33;
}

/* Take up the folder's seed, or begin it. */
static int open_folder(request *r) {
  char path[4096], line[8000], found[8000] = "";
  unsigned long long seed = 0;
  tempera_error error = {0};
  settings(r, line, sizeof line);
  snprintf(path, sizeof path, "%s/settings", r->folder);
  FILE *file = fopen(path, "r");
  if (file) {
    bool whole = fscanf(file, "%llu\n", &seed) == 1 &&
                 fgets(found, sizeof found, file) != NULL;
    fclose(file);
    if (whole && !strcmp(found, line) && (!r->seeded || r->seed == seed)) {
      r->seed = seed;
      return EXIT_DONE;
    }
    snprintf(error.message, sizeof error.message,
             "it holds a calibration with other models, options or seed; give "
             "another folder with -o, or remove it");
    return cli_fail(r->folder, &error);
  }
  if (!r->seeded)
    r->seed = new_seed();
  if (mkdir(r->folder, 0777) != 0 && errno != EEXIST) {
    snprintf(error.message, sizeof error.message, "cannot make the folder: %s",
             strerror(errno));
    return cli_fail(r->folder, &error);
  }
  file = fopen(path, "w");
  bool fine =
      file && fprintf(file, "%llu\n%s", (unsigned long long)r->seed, line) > 0;
  if (file && fclose(file) == 0 && fine)
    return EXIT_DONE;
  snprintf(error.message, sizeof error.message, "cannot write: %s",
           strerror(errno));
  return cli_fail(path, &error);
}

/* The programs with the data as given; one simulation, so that what cannot be
 * simulated is said at once. */
static int load_all(request *r) {
  size_t count = r->simulator ? 1 : r->count;
  for (size_t i = 0; i < count; i++) {
    cli_input *in = &r->inputs[i];
    *in = (cli_input){.model_path = r->simulator ? r->simulator : r->models[i],
                      .data_path = r->data_path,
                      .quiet = i > 0};
    int code = cli_load(in);
    if (code != EXIT_DONE)
      return code;
    tempera_error error = {0};
    tempera_data *data = NULL;
    double likelihood,
        *theta = calloc(tempera_model_size(in->model) + 1, sizeof *theta);
    tempera_status status =
        theta ? tempera_model_simulate(in->model, in->data, 1, theta,
                                       &likelihood, &data, &error)
              : TEMPERA_ERROR_MEMORY;
    free(theta);
    tempera_data_free(data);
    if (status == TEMPERA_ERROR_INPUT)
      return cli_fail(in->model_path, &error);
  }
  return EXIT_DONE;
}

static int report(const request *r) {
  char *text = NULL, *json = NULL;
  tempera_error error = {0};
  if (tempera_calibration_report(r->folder, r->runs, cli_colour(), &text, &json,
                                 &error) != TEMPERA_OK)
    return cli_fail(NULL, &error);
  if (!r->json)
    tempera_text_free(json);
  else
    tempera_text_free(text);
  int code = cli_print(r->json ? json : text);
  if (!r->json && !r->quiet)
    printf("\nEverything is in %s; open %s/report.html for charts.\n",
           r->folder, r->folder);
  return code;
}

static int calibrate(request *r) {
  int code = load_all(r);
  if (code == EXIT_DONE)
    code = open_folder(r);
  if (code == EXIT_DONE)
    code = run_all(r);
  if (code == EXIT_DONE || code > 128) {
    int shown = report(r);
    code = code == EXIT_DONE ? shown : code;
  }
  for (size_t i = 0; i < MOST_MODELS; i++)
    cli_unload(&r->inputs[i]);
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
    r->runs = (size_t)value;
    if (taken == EXIT_DONE && value < 2)
      return cli_usage("calibrate", "--runs: at least 2");
    break;
  case 's':
    taken = take_count("seed", SIZE_MAX, &r->seed);
    r->seeded = true;
    break;
  case 't':
    taken = take_count("threads", 1024, &value);
    r->threads = (size_t)value;
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
  r->runs = 200;
  r->options = tempera_options_default();
  r->options.iterations = 1000;
  opterr = 0;
  while ((code = getopt_long(argc, argv, ":d:o:h", long_options, &index)) !=
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
  r->count = (size_t)(argc - optind);
  if (r->count == 0 || r->count > MOST_MODELS || !r->data_path)
    code =
        cli_usage("calibrate", r->count && !r->data_path
                                   ? "give the data with -d FILE.json: sizes "
                                     "and predictors"
                                   : "give one program, or a few");
  else if (r->simulator && r->count > 1)
    code = cli_usage("calibrate", "--simulate goes with one model");
  else
    code = EXIT_DONE;
  if (code == EXIT_DONE && !r->folder[0])
    name_folder(r);
  if (r->threads == 0)
    r->threads = (size_t)sysconf(_SC_NPROCESSORS_ONLN);
  if (code == EXIT_DONE)
    code = calibrate(r);
  free(r);
  return code;
}
