/* calibrate.c - the runs of a simulation-based calibration.
 *
 * Each run is a process of its own, which draws parameters and data, opens the
 * program with these data, samples, and leaves a small file of ranks: so a
 * crash costs one run, and what is there already is not done again. The numbers
 * of run i depend on the seed and i alone. report/calibration.c reads the
 * files. */
#include "base/file.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/random.h"
#include "base/sized.h"
#include "model/data.h"
#include "model/model.h"
#include "parallel/threads.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST_MODELS = 16, MOST_CHAINS = 64 };

typedef struct work {
  tempera_calibration asked;
  tempera_options options;
  tempera_model *simulators[MOST_MODELS]; /* with the data as given */
  uint64_t seed;
  int *pids; /* of those under way, and their numbers */
  size_t *numbers, active, done;
} work;

/* One run, in its own process. */
typedef struct run {
  const work *w;
  uint64_t seed;
  size_t truth; /* which model the data are from */
  double *theta, log_likelihood;
  tempera_data *data;
  FILE *out;
  tempera_error error;
} run;

static uint64_t mix(uint64_t x) {
  x += UINT64_C(0x9e3779b97f4a7c15);
  x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
  return x ^ (x >> 31);
}

/* ---- ranks --------------------------------------------------------------- */

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
  bool several = u->w->asked.count > 1;
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
          several ? tempera_model_name(u->w->simulators[u->truth]) : "",
          several ? "/" : "", name, below);
}

/* The true value of a parameter, by its name in the program simulated from. */
static bool true_value(const run *u, const char *name, double *value) {
  const tempera_model *model = u->w->simulators[u->truth];
  for (size_t i = 0; i < tempera_model_size(model); i++)
    if (!strcmp(tempera_model_value_name(model, i), name)) {
      *value = u->theta[i];
      return true;
    }
  return false;
}

/* Log prior and log density, as the model has them, at the draws and at the
 * true parameters: they depend on data and all parameters at once. */
static tempera_status put_densities(run *u, const tempera_model *model,
                                    const tempera_draws *draws) {
  size_t chains = tempera_draws_chains(draws), size = tempera_model_size(model);
  size_t rows = tempera_draws_rows(draws, TEMPERA_TARGET);
  double *theta = tm_heap_alloc(size + 1, sizeof *theta);
  double *sums = tm_heap_alloc(chains * rows + 1, sizeof *sums);
  const double *prior[MOST_CHAINS], *both[MOST_CHAINS];
  double l = NAN, p = NAN;
  bool known = theta && sums;
  tempera_status status = known ? TEMPERA_OK : tm_fail_memory(&u->error);
  for (size_t i = 0; i < size && known; i++)
    known = true_value(u, tempera_model_value_name(model, i), &theta[i]);
  if (known)
    status = tempera_model_evaluate(model, theta, &l, &p, &u->error);
  for (size_t c = 0; known && status == TEMPERA_OK && c < chains; c++) {
    const double *likelihood =
        tempera_draws_log_likelihood(draws, TEMPERA_TARGET, c);
    prior[c] = tempera_draws_log_prior(draws, TEMPERA_TARGET, c);
    both[c] = sums + c * rows;
    for (size_t i = 0; i < rows; i++)
      sums[c * rows + i] = prior[c][i] + likelihood[i];
  }
  if (known && status == TEMPERA_OK && isfinite(l) && isfinite(p)) {
    put_rank(u, "log_prior__", prior, chains, rows, p, size + 1);
    put_rank(u, "log_density__", both, chains, rows, l + p, size + 2);
  }
  tm_heap_free(theta);
  tm_heap_free(sums);
  return status;
}

/* Averaged over data, the posterior is the prior: so the true parameters, where
 * they come from another program, must be draws of this model's prior. Data that
 * say much hide a wrong prior from ranks among posterior draws, not from these. */
static tempera_status put_prior_ranks(run *u, const tempera_model *model,
                                      size_t place) {
  enum { N = TEMPERA_CALIBRATION_DRAWS };
  size_t size = tempera_model_size(model);
  tm_arena *arena = tm_arena_create();
  double *theta = arena ? TM_NEW(arena, double, size + 1) : NULL;
  double *drawn = arena ? TM_NEW(arena, double, (size + 1) * N) : NULL;
  tm_evaluator e = {0};
  tempera_status status = theta && drawn
                              ? tm_evaluator_create(model, arena, &e, &u->error)
                              : tm_fail_memory(&u->error);
  bool fine = status == TEMPERA_OK;
  tempera_random random = tm_random(mix(u->seed + 2), 0, TM_PURPOSE_TEST);
  for (size_t i = 0; fine && i < N; i++) {
    fine = model->spec.prior_draw(&random, theta, e.user) == 0;
    for (size_t v = 0; v < size; v++)
      drawn[v * N + i] = theta[v];
  }
  for (size_t v = 0; fine && v < size; v++) {
    char name[128];
    const double *column[1] = {drawn + v * N};
    double truth;
    snprintf(name, sizeof name, "prior of %s",
             tempera_model_value_name(model, v));
    if (true_value(u, tempera_model_value_name(model, v), &truth))
      put_rank(u, name, column, 1, N, truth, place + v);
  }
  if (e.model)
    tm_evaluator_release(&e);
  tm_arena_free(arena);
  return status;
}

static tempera_status put_ranks(run *u, const tempera_model *model,
                                const tempera_sampler *sampler) {
  const tempera_draws *draws = tempera_sampler_draws(sampler);
  size_t chains = tempera_draws_chains(draws), size = tempera_model_size(model);
  size_t rows = tempera_draws_rows(draws, TEMPERA_TARGET);
  const double *columns[MOST_CHAINS];
  double truth;
  if (chains * rows < TEMPERA_CALIBRATION_DRAWS || chains > MOST_CHAINS)
    return tm_fail(&u->error, TEMPERA_ERROR_INPUT,
                   "fewer than %d target draws, or more than %d chains",
                   TEMPERA_CALIBRATION_DRAWS, MOST_CHAINS);
  for (size_t i = 0; i < size; i++) {
    const char *name = tempera_model_value_name(model, i);
    for (size_t c = 0; c < chains; c++)
      columns[c] = tempera_draws_values(draws, TEMPERA_TARGET, c, i);
    if (true_value(u, name, &truth))
      put_rank(u, name, columns, chains, rows, truth, i);
  }
  for (size_t c = 0; c < chains; c++)
    columns[c] = tempera_draws_log_likelihood(draws, TEMPERA_TARGET, c);
  put_rank(u, "log_likelihood__", columns, chains, rows, u->log_likelihood,
           size);
  if (u->w->asked.simulator && model->spec.prior_draw)
    TM_TRY(put_prior_ranks(u, model, size + 3));
  return put_densities(u, model, draws);
}

/* ---- one run --------------------------------------------------------------
 */

/* The likelihood that the data were drawn by must be the model's own. */
static tempera_status check_likelihood(run *u, const tempera_model *model) {
  double likelihood = NAN, prior = NAN;
  TM_TRY(
      tempera_model_evaluate(model, u->theta, &likelihood, &prior, &u->error));
  if (fabs(likelihood - u->log_likelihood) <= 1e-6 * (1 + fabs(likelihood)))
    return TEMPERA_OK;
  return tm_fail(
      &u->error, TEMPERA_ERROR_INPUT,
      "the simulated data have another likelihood than that by which they "
      "were drawn (%.6g, %.6g): the statements are not a law of the data",
      likelihood, u->log_likelihood);
}

static tempera_status sample(run *u, const tempera_model *model, bool truth) {
  tempera_options options = u->w->options;
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
  const tempera_calibration *asked = &u->w->asked;
  bool truth = m == u->truth || asked->simulator;
  TM_TRY(tempera_program_load(asked->programs[m], u->data, &model, &u->error));
  tempera_status status =
      truth && !asked->simulator ? check_likelihood(u, model) : TEMPERA_OK;
  if (status == TEMPERA_OK)
    status = sample(u, model, truth);
  tempera_model_free(model);
  return status;
}

static tempera_status do_run(run *u) {
  const tempera_model *from = u->w->simulators[u->truth];
  const tempera_calibration *asked = &u->w->asked;
  TM_TRY(tempera_model_simulate(from, asked->data, u->seed, u->theta,
                                &u->log_likelihood, &u->data, &u->error));
  tempera_status status = TEMPERA_OK;
  if (asked->count > 1)
    fprintf(u->out, "truth,%s\n", tempera_model_name(from));
  for (size_t m = 0; m < asked->count && status == TEMPERA_OK; m++)
    status = fit(u, m);
  tempera_data_free(u->data);
  return status;
}

static void path_of(const work *w, size_t number, const char *end, char *path,
                    size_t size) {
  snprintf(path, size, "%s/run-%05zu.csv%s", w->asked.folder, number, end);
}

/* Its file is there once it is whole. */
static int do_process(const work *w, size_t number) {
  char path[4096], part[4096];
  run u = {.w = w, .seed = mix(w->seed + mix(number))};
  path_of(w, number, "", path, sizeof path);
  path_of(w, number, ".part", part, sizeof part);
  u.truth = w->asked.simulator ? 0 : (size_t)(mix(u.seed) % w->asked.count);
  u.theta = tm_heap_alloc(tempera_model_size(w->simulators[u.truth]) + 1,
                          sizeof *u.theta);
  u.out = fopen(part, "w");
  if (!u.theta || !u.out)
    return 1;
  if (do_run(&u) != TEMPERA_OK) {
    for (char *c = u.error.message; *c; c++)
      *c = *c == '\n' ? ' ' : *c;
    u.out = freopen(part, "w", u.out);
    if (u.out)
      fprintf(u.out, "failed,%s\n", u.error.message);
  }
  return u.out && fclose(u.out) == 0 && rename(part, path) == 0 ? 0 : 1;
}

/* ---- all of them -----------------------------------------------------------
 */

static bool is_done(const work *w, size_t number) {
  char path[4096];
  path_of(w, number, "", path, sizeof path);
  return access(path, R_OK) == 0;
}

/* A process that ended without a file was a crash of the model. */
static void note_crash(const work *w, size_t number, int status) {
  char path[4096];
  if (is_done(w, number))
    return;
  path_of(w, number, "", path, sizeof path);
  FILE *out = fopen(path, "w");
  if (!out)
    return;
  fprintf(out, "failed,the process ended %s %d\n",
          WIFSIGNALED(status) ? "by signal" : "with status",
          WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
  fclose(out);
}

/* Those that are over; other children of the caller's are its own affair. */
static void take_leave(work *w) {
  for (size_t i = 0; i < w->active;) {
    int status = 0;
    pid_t pid = waitpid(w->pids[i], &status, WNOHANG);
    if (pid == 0) {
      i++;
      continue;
    }
    note_crash(w, w->numbers[i], status);
    w->active--;
    w->done++;
    w->pids[i] = w->pids[w->active];
    w->numbers[i] = w->numbers[w->active];
  }
}

static void end_all(work *w) {
  for (size_t i = 0; i < w->active; i++)
    kill(w->pids[i], SIGKILL);
  for (size_t i = 0; i < w->active; i++)
    while (waitpid(w->pids[i], NULL, 0) < 0 && errno == EINTR)
      ;
  w->active = 0;
}

/* The caller hears Ctrl-C, and ends its runs by its progress function. */
static tempera_status start(work *w, size_t number, tempera_error *error) {
  fflush(NULL);
  pid_t pid = fork();
  if (pid == 0) {
    signal(SIGINT, SIG_IGN);
    signal(SIGTERM, SIG_DFL);
    _exit(do_process(w, number));
  }
  if (pid < 0)
    return tm_fail(error, TEMPERA_ERROR_IO, "cannot start a process: %s",
                   strerror(errno));
  w->pids[w->active] = pid;
  w->numbers[w->active++] = number;
  return TEMPERA_OK;
}

static tempera_status run_all(work *w, size_t places,
                              tempera_calibration_fn progress, void *user,
                              tempera_error *error) {
  static const struct timespec pause = {0, 20000000};
  tempera_status status = TEMPERA_OK;
  size_t next = 1;
  while (status == TEMPERA_OK && (next <= w->asked.runs || w->active > 0)) {
    while (next <= w->asked.runs && is_done(w, next)) {
      w->done++;
      next++;
    }
    if (next <= w->asked.runs && w->active < places) {
      status = start(w, next++, error);
      continue;
    }
    if (progress && progress(w->done, w->asked.runs, user) != 0)
      status = tm_fail(error, TEMPERA_CANCELLED, "stopped");
    if (w->active > 0 && status == TEMPERA_OK)
      nanosleep(&pause, NULL);
    take_leave(w);
  }
  end_all(w);
  if (progress && status == TEMPERA_OK)
    progress(w->done, w->asked.runs, user);
  return status;
}

/* ---- the folder ------------------------------------------------------------
 */

static uint64_t hash_options(const tempera_options *o) {
  const uint64_t whole[] = {
      o->method, o->tau_prior,  o->ridge,        o->tau_move, o->kernel,
      o->chains, o->iterations, o->warmup_given, o->warmup,   o->thin,
      o->levels, o->weights,    o->swaps,        o->schedule, o->walkers,
      o->paper,  o->jumps,      o->bridge,       o->reference};
  const double reals[] = {o->tau_scale, o->tau_min, o->exchange, o->time_limit,
                          o->until_se};
  uint64_t h = tm_hash_bytes(TM_HASH_START, whole, sizeof whole);
  return tm_hash_bytes(h, reals, sizeof reals);
}

/* What the runs of a folder are made by: programs, data and options. */
static tempera_status hash_settings(const work *w, uint64_t *hash,
                                    tempera_error *error) {
  const tempera_calibration *asked = &w->asked;
  uint64_t h = hash_options(&w->options);
  tempera_data_mark *marks = NULL;
  size_t count = 0;
  for (size_t i = 0; i <= asked->count; i++) {
    const tempera_program *program =
        i < asked->count ? asked->programs[i] : asked->simulator;
    char *text = NULL;
    if (!program)
      continue;
    TM_TRY(tempera_program_translate(program, &text, error));
    h = tm_hash_bytes(h, text, strlen(text) + 1);
    tm_heap_free(text);
  }
  TM_TRY(tm_data_marks(asked->data, &marks, &count, error));
  for (size_t i = 0; i < count; i++) {
    h = tm_hash_bytes(h, marks[i].name, strlen(marks[i].name) + 1);
    h = tm_hash_bytes(h, &marks[i].hash, sizeof marks[i].hash);
  }
  tm_data_marks_free(marks, count);
  *hash = h;
  return TEMPERA_OK;
}

static uint64_t new_seed(void) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return mix((uint64_t)now.tv_sec * 1000003u + (uint64_t)now.tv_nsec) >> 33;
}

/* Take up the folder's seed, or begin it. */
static tempera_status open_folder(work *w, tempera_error *error) {
  char path[4096], line[64];
  unsigned long long seed = 0, found = 0;
  uint64_t hash = 0;
  const tempera_calibration *asked = &w->asked;
  TM_TRY(hash_settings(w, &hash, error));
  snprintf(path, sizeof path, "%s/settings", asked->folder);
  FILE *file = fopen(path, "r");
  if (file) {
    bool whole = fscanf(file, "%llu %llx", &seed, &found) == 2;
    fclose(file);
    w->seed = seed;
    return whole && found == hash && (!asked->seeded || asked->seed == seed)
               ? TEMPERA_OK
               : tm_fail(error, TEMPERA_ERROR_INPUT,
                         "%s: it holds a calibration with other models, data, "
                         "options or seed; give another folder, or remove it",
                         asked->folder);
  }
  w->seed = asked->seeded ? asked->seed : new_seed();
  TM_TRY(tm_folders_make(asked->folder, 0777, error));
  int length = snprintf(line, sizeof line, "%llu %llx\n",
                        (unsigned long long)w->seed, (unsigned long long)hash);
  return tm_file_write(path, line, (size_t)length, false, error);
}

/* ---- beginning --------------------------------------------------------------
 */

/* The programs with the data as given; one simulation, so that what cannot be
 * simulated is said at once. */
static tempera_status load_one(work *w, size_t i, tempera_error *error) {
  const tempera_calibration *asked = &w->asked;
  tempera_data *data = NULL;
  tempera_error why = {0};
  double likelihood;
  TM_TRY(tempera_program_load(asked->simulator ? asked->simulator
                                               : asked->programs[i],
                              asked->data, &w->simulators[i], error));
  double *theta =
      tm_heap_alloc(tempera_model_size(w->simulators[i]) + 1, sizeof *theta);
  if (!theta)
    return tm_fail_memory(error);
  tempera_status status = tempera_model_simulate(
      w->simulators[i], asked->data, 1, theta, &likelihood, &data, &why);
  tm_heap_free(theta);
  tempera_data_free(data);
  if (status != TEMPERA_ERROR_INPUT) /* one failed draw is one failed run */
    return TEMPERA_OK;
  return tm_fail(error, status, "%s: %s", tempera_model_name(w->simulators[i]),
                 why.message);
}

static tempera_status check_request(const tempera_calibration *asked,
                                    tempera_error *error) {
  if (asked->count == 0 || asked->count > MOST_MODELS)
    return tm_fail(error, TEMPERA_ERROR_ARGUMENT,
                   "give one program, or up to %d", MOST_MODELS);
  if (asked->simulator && asked->count > 1)
    return tm_fail(error, TEMPERA_ERROR_ARGUMENT,
                   "another program to simulate from goes with one model");
  if (asked->runs < 2 || asked->runs > 99999)
    return tm_fail(error, TEMPERA_ERROR_ARGUMENT,
                   "from 2 to 99999 runs, not %zu", asked->runs);
  return TEMPERA_OK;
}

static tempera_status calibrate(work *w, tempera_calibration_fn progress,
                                void *user, tempera_error *error) {
  size_t places = (size_t)tm_threads((int)w->asked.threads);
  for (size_t i = 0; i < (w->asked.simulator ? 1 : w->asked.count); i++)
    TM_TRY(load_one(w, i, error));
  TM_TRY(open_folder(w, error));
  w->pids = tm_heap_alloc(places, sizeof *w->pids);
  w->numbers = tm_heap_alloc(places, sizeof *w->numbers);
  if (!w->pids || !w->numbers)
    return tm_fail_memory(error);
  return run_all(w, places, progress, user, error);
}

tempera_status tempera_calibrate_sized(const tempera_calibration *request,
                                       size_t size,
                                       const tempera_options *options,
                                       size_t options_size,
                                       tempera_calibration_fn progress,
                                       void *user, tempera_error *error) {
  work w = {.options = tempera_options_default()};
  if (options)
    TM_TRY(tm_sized_take(&w.options, sizeof w.options, options, options_size,
                         error));
  TM_TRY(tm_sized_take(&w.asked, sizeof w.asked, request, size, error));
  TM_TRY(check_request(&w.asked, error));
  w.options.seed = 0;
  w.options.threads = 1;
  w.options.init = NULL;
  if (w.options.iterations == 0)
    w.options.iterations = 1000;
  tempera_status status = calibrate(&w, progress, user, error);
  for (size_t i = 0; i < MOST_MODELS; i++)
    tempera_model_free(w.simulators[i]);
  tm_heap_free(w.pids);
  tm_heap_free(w.numbers);
  return status;
}
