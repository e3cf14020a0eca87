/* language.c - what compiled programs cost: to build, to the first draw, for
 * one value and for one gradient; beside rstan where that is installed.
 *
 *   bench-language [--ours]
 *
 * Three programs of benchmarks/programs: eight schools, a hierarchical
 * regression of radon's size, and a Gaussian process. A gradient is that of
 * the log posterior over the unconstrained parameters, as a leapfrog step
 * needs it: prior, likelihood and Jacobian. All figures are processor time, the
 * best of several repeats; building includes the C compiler. --ours leaves
 * rstan out, whose compiler takes minutes. */
#include "bench.h"

#include "model/model.h"

#include <cblas.h>
#include <fcntl.h>
#include <spawn.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { REPEATS = 1000, MOST = 1000 };

/* ---- data by fixed rules ------------------------------------------------ */

/* One variable of the data, for both formats. */
typedef struct series {
  const char *name;
  size_t count; /* 0: a scalar */
  double values[MOST];
} series;

/* Numbers in (-0.5, 0.5) that look irregular and are the same everywhere. */
static double scatter(size_t i) {
  double x = 0.6180339887498949 * (double)(i * i % 7919 + 13 * i + 1);
  return x - floor(x) - 0.5;
}

static series number(const char *name, double value) {
  return (series){name, 0, {value}};
}

static size_t eight_schools(series *out) {
  out[0] = number("J", 8);
  out[1] = (series){"y", 8, {28, 8, -3, 7, -1, 1, 18, 12}};
  out[2] = (series){"sigma", 8, {15, 10, 16, 11, 9, 11, 10, 18}};
  return 3;
}

/* 919 houses in 85 counties of unequal sizes. */
static size_t radon(series *out) {
  enum { N = 919, J = 85 };
  out[0] = number("N", N);
  out[1] = number("J", J);
  series *county = &out[2], *ground = &out[3], *uranium = &out[4], *y = &out[5];
  *county = (series){.name = "county", .count = N};
  *ground = (series){.name = "floor_measure", .count = N};
  *uranium = (series){.name = "uranium", .count = J};
  *y = (series){.name = "log_radon", .count = N};
  for (size_t j = 0; j < J; j++)
    uranium->values[j] = scatter(j);
  for (size_t i = 0; i < N; i++) {
    double along = (double)i / N;
    size_t j = (size_t)(J * along * along);
    county->values[i] = (double)(j + 1);
    ground->values[i] = scatter(3 * i) > 0.3;
    y->values[i] = 1.4 + 0.7 * uranium->values[j] - 0.6 * ground->values[i] +
                   0.5 * scatter(j + 7) + 2 * scatter(i + 1000);
  }
  return 6;
}

static size_t gaussian_process(series *out) {
  enum { N = 100 };
  out[0] = number("N", N);
  series *x = &out[1], *y = &out[2];
  *x = (series){.name = "x", .count = N};
  *y = (series){.name = "y", .count = N};
  for (size_t i = 0; i < N; i++) {
    x->values[i] = -2 + 4 * ((double)i + scatter(i)) / N;
    y->values[i] = sin(2 * x->values[i]) + 0.4 * scatter(i + 50);
  }
  return 3;
}

static void write_series(FILE *file, const series *s, bool json) {
  fprintf(file, json ? "\"%s\": %s" : "%s <- %s", s->name,
          !s->count ? ""
          : json    ? "["
                    : "c(");
  for (size_t i = 0; i < (s->count ? s->count : 1); i++)
    fprintf(file, "%s%.15g", i ? ", " : "", s->values[i]);
  fprintf(file, "%s\n", !s->count ? "" : json ? "]" : ")");
}

/* As CmdStan JSON, or as R reads it. */
static void write_data(const char *path, const series *all, size_t count,
                       bool json) {
  FILE *file = fopen(path, "w");
  if (!file) {
    fprintf(stderr, "benchmark: cannot write %s\n", path);
    exit(1);
  }
  fputs(json ? "{" : "", file);
  for (size_t i = 0; i < count; i++) {
    fputs(json && i ? ", " : "", file);
    write_series(file, &all[i], json);
  }
  fputs(json ? "}\n" : "", file);
  fclose(file);
}

/* ---- ours --------------------------------------------------------------- */

typedef struct problem {
  const char *name;
  size_t (*data)(series *out);
  int calls; /* timed at once: a fraction of a millisecond */
  char program[1024], json[1024], dump[1024];
} problem;

/* Of this process and of children that have ended. */
static double processor_seconds(void) {
  double total = 0;
  for (int i = 0; i < 2; i++) {
    struct rusage use;
    getrusage(i ? RUSAGE_CHILDREN : RUSAGE_SELF, &use);
    total += (double)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) +
             1e-6 * (double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec);
  }
  return total;
}

static double time_compiler(const problem *p) {
  double start = processor_seconds();
  tempera_program *program = NULL;
  char *path = NULL;
  bench_check(tempera_program_read(p->program, &program, &bench_error));
  bench_check(tempera_program_compile(program, NULL, &path, &bench_error));
  tempera_program_free(program);
  tempera_text_free(path);
  return processor_seconds() - start;
}

typedef struct costs {
  double value, gradient;
} costs;

/* Seconds per evaluation, at points that differ a little. */
static costs time_model(const problem *p) {
  tempera_data *data = NULL;
  tempera_model *model = NULL;
  bench_check(tempera_data_read(p->json, &data, &bench_error));
  bench_check(tempera_model_load(p->program, data, &model, &bench_error));
  tempera_data_free(data);
  tm_arena *arena = tm_arena_create();
  tm_evaluator evaluator;
  tm_point point;
  bench_check(tm_evaluator_create(model, arena, &evaluator, &bench_error));
  bench_check(tm_point_create(model, arena, &point, &bench_error));
  size_t n = model->dimension;
  double *slopes = TM_NEW(arena, double, 2 * n);
  costs best = {INFINITY, INFINITY};
  for (int repeat = 0; repeat < 2 * REPEATS; repeat++) {
    double start = bench_now();
    for (int call = 0; call < p->calls; call++) {
      point.u[0] = 1e-6 * call;
      if (repeat % 2)
        tm_evaluate(&evaluator, &point);
      else
        tm_evaluate_gradient(&evaluator, &point, slopes, slopes + n);
    }
    double *kept = repeat % 2 ? &best.value : &best.gradient;
    *kept = fmin(*kept, (bench_now() - start) / p->calls);
  }
  if (evaluator.status != TEMPERA_OK || !isfinite(point.log_likelihood)) {
    fprintf(stderr, "benchmark: %s has no density at 0\n", p->name);
    exit(1);
  }
  tm_evaluator_release(&evaluator);
  tempera_model_free(model);
  tm_arena_free(arena);
  return best;
}

/* Run a command and read what it writes; its exit status, or -1. */
static int run(const char *const *arguments, char *out, size_t size) {
  int ends[2];
  pid_t child;
  if (pipe(ends) != 0)
    return -1;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
  posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addclose(&actions, ends[0]);
  posix_spawn_file_actions_addclose(&actions, ends[1]);
  int failed = posix_spawnp(&child, arguments[0], &actions, NULL,
                            (char *const *)(uintptr_t)arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  size_t used = 0;
  char rest[256];
  for (ssize_t got = 1; !failed && got > 0; used += (size_t)got) {
    bool room = used + 1 < size;
    got = read(ends[0], room ? out + used : rest,
               room ? size - 1 - used : sizeof rest);
    used -= got < 0;
  }
  out[used < size ? used : size - 1] = '\0';
  close(ends[0]);
  int status = -1;
  if (!failed)
    waitpid(child, &status, 0);
  return !failed && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* From a .stan file to a finished run of one draw. */
static double time_first_draw(const problem *p, const char *folder) {
  char out[64], where[1100];
  snprintf(where, sizeof where, "%s/%s-run", folder, p->name);
  const char *const remove[] = {"rm", "-rf", where, NULL};
  const char *const sample[] = {BUILD_DIR "/tempera",
                                "sample",
                                p->program,
                                "-d",
                                p->json,
                                "-o",
                                where,
                                "-q",
                                "--chains=1",
                                "--warmup=0",
                                "--iterations=1",
                                "--bridge=false",
                                "--seed=1",
                                NULL};
  run(remove, out, sizeof out);
  double start = processor_seconds();
  if (run(sample, out, sizeof out) != 0)
    return NAN;
  return processor_seconds() - start;
}

/* ---- rstan -------------------------------------------------------------- */

typedef struct rstan {
  bool here;
  double compile, gradient;
} rstan;

static rstan time_rstan(const problem *p) {
  char out[4096];
  rstan r = {0};
  const char *const command[] = {"Rscript", SOURCE_DIR "/benchmarks/rstan.R",
                                 p->program, p->dump, NULL};
  if (run(command, out, sizeof out) != 0)
    return r;
  const char *line = strstr(out, "rstan ");
  r.here = line && sscanf(line, "rstan %lf %lf", &r.compile, &r.gradient) == 2;
  return r;
}

/* ---- all ---------------------------------------------------------------- */

static void prepare(problem *p, const char *folder) {
  series *all = calloc(8, sizeof *all);
  if (!all)
    exit(1);
  snprintf(p->program, sizeof p->program,
           SOURCE_DIR "/benchmarks/programs/%s.stan", p->name);
  snprintf(p->json, sizeof p->json, "%s/%s.json", folder, p->name);
  snprintf(p->dump, sizeof p->dump, "%s/%s.R", folder, p->name);
  size_t count = p->data(all);
  write_data(p->json, all, count, true);
  write_data(p->dump, all, count, false);
  free(all);
}

static void empty_cache(const char *folder) {
  char cache[1100], out[64];
  snprintf(cache, sizeof cache, "%s/tempera", folder);
  run((const char *const[]){"rm", "-rf", cache, NULL}, out, sizeof out);
}

static void bench_first_draw(const problem *p, const char *folder) {
  double cold = INFINITY, warm = INFINITY;
  for (int i = 0; i < 3; i++) {
    empty_cache(folder);
    cold = fmin(cold, time_first_draw(p, folder));
    warm = fmin(warm, time_first_draw(p, folder));
  }
  printf("%s: first draw after %.3f s, %.3f s when compiled before\n", p->name,
         cold, warm);
}

/* Is rstan there? */
static bool bench(const problem *p, const char *folder, bool beside) {
  double compile = INFINITY;
  for (int i = 0; i < 3; i++) {
    empty_cache(folder);
    compile = fmin(compile, time_compiler(p));
  }
  costs c = time_model(p);
  printf("%s\n  compile  %9.3f s\n  value    %9.3f us\n"
         "  gradient %9.3f us\n",
         p->name, compile, 1e6 * c.value, 1e6 * c.gradient);
  fflush(stdout);
  if (!beside)
    return false;
  rstan r = time_rstan(p);
  if (r.here)
    printf("  rstan: compile  %9.3f s  %9.1f times ours (at least 30)\n"
           "         gradient %9.3f us %9.1f times ours (at least 3)\n",
           r.compile, r.compile / compile, 1e6 * r.gradient,
           r.gradient / c.gradient);
  return r.here;
}

int main(int count, char **arguments) {
  problem problems[] = {{"eight_schools", eight_schools, 200, "", "", ""},
                        {"radon", radon, 20, "", "", ""},
                        {"gaussian_process", gaussian_process, 2, "", "", ""}};
  char folder[] = "/tmp/bench-language-XXXXXX", out[64];
  if (!mkdtemp(folder))
    return 1;
  openblas_set_num_threads(1);
  setenv("XDG_CACHE_HOME", folder, 1); /* a cold one */
  bool beside = count < 2 || strcmp(arguments[1], "--ours") != 0;
  bool asked = beside;
  enum { PROBLEMS = sizeof problems / sizeof *problems };
  for (size_t i = 0; i < PROBLEMS; i++)
    prepare(&problems[i], folder);
  bench_first_draw(&problems[0], folder);
  for (size_t i = 0; i < PROBLEMS; i++)
    beside = bench(&problems[i], folder, beside);
  if (asked && !beside)
    printf("rstan is not installed (r-cran-rstan): no comparison\n");
  run((const char *const[]){"rm", "-rf", folder, NULL}, out, sizeof out);
  return 0;
}
