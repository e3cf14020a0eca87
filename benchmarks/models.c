/* models.c - what one evaluation of the paper's models costs, beside libm.
 *
 *   bench-models [BUILD [SOURCE]]
 *
 * A galaxy likelihood with K = 3 on 82 values is 246 exponentials and 82
 * logarithms in its plain form; the same calls to libm, timed in the same
 * run, are the yardstick, so the ratio does not depend on the machine's
 * speed. Each figure is the best of several repeats. */
#include "tempera.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { REPEATS = 15 };

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

typedef struct folders {
  const char *build, *source;
} folders;

static tempera_model *load(const folders *in, const char *name,
                           const char *file) {
  char library[4096], path[4096];
  snprintf(library, sizeof library, "%s/models/%s.so", in->build, name);
  snprintf(path, sizeof path, "%s/models/paper/%s", in->source, file);
  tempera_data *data = NULL;
  tempera_model *model = NULL;
  tempera_error error = {0};
  if (tempera_data_read(path, &data, &error) != TEMPERA_OK ||
      tempera_model_load(library, data, &model, &error) != TEMPERA_OK) {
    fprintf(stderr, "bench-models: %s\n", error.message);
    exit(1);
  }
  tempera_data_free(data);
  return model;
}

/* Microseconds per call, at points that differ a little from call to call. */
static double time_density(const tempera_model *model,
                           tempera_density_fn density, const double *theta,
                           int calls) {
  const tempera_model_spec *spec = tempera_model_spec_of(model);
  double point[64], value, best = INFINITY;
  volatile double sink = 0;
  memcpy(point, theta, tempera_model_size(model) * sizeof *theta);
  for (int repeat = 0; repeat < REPEATS; repeat++) {
    double start = now();
    for (int call = 0; call < calls; call++) {
      point[0] = theta[0] * (1 + 1e-6 * call);
      density(point, &value, spec->user);
      sink = value;
    }
    best = fmin(best, (now() - start) / calls);
  }
  (void)sink;
  return 1e6 * best;
}

static double time_gradient(const tempera_model *model, const double *theta,
                            int calls) {
  const tempera_model_spec *spec = tempera_model_spec_of(model);
  double gradient[64], value, best = INFINITY;
  for (int repeat = 0; repeat < REPEATS; repeat++) {
    double start = now();
    for (int call = 0; call < calls; call++)
      spec->log_likelihood_gradient(theta, &value, gradient, spec->user);
    best = fmin(best, (now() - start) / calls);
  }
  return 1e6 * best;
}

/* 246 exp and 82 log by libm; volatile inputs, so that none is folded. */
static double time_libm(int calls) {
  volatile double inputs[246], sink = 0;
  double best = INFINITY;
  for (int i = 0; i < 246; i++)
    inputs[i] = -0.04 * i - 0.01;
  for (int repeat = 0; repeat < REPEATS; repeat++) {
    double start = now();
    for (int call = 0; call < calls; call++) {
      double sum = 0;
      for (int i = 0; i < 246; i++)
        sum += exp(inputs[i]);
      for (int i = 0; i < 82; i++)
        sum += log(-inputs[i]);
      sink = sum;
    }
    best = fmin(best, (now() - start) / calls);
  }
  (void)sink;
  return 1e6 * best;
}

static void bench_galaxy(const folders *in) {
  static const double theta[9] = {9.7, 21.4,     32.9,      0.9,     4.9,
                                  1.4, 7 / 82.0, 72 / 82.0, 3 / 82.0};
  tempera_model *model = load(in, "galaxy", "galaxy-3.json");
  double libm = time_libm(2000);
  double ours = time_density(
      model, tempera_model_spec_of(model)->log_likelihood, theta, 2000);
  printf("galaxy K=3 log likelihood     %8.3f us\n", ours);
  printf("  246 exp + 82 log of libm    %8.3f us\n", libm);
  printf("  ratio (at most 0.5)         %8.3f\n", ours / libm);
  printf("galaxy K=3 with gradient      %8.3f us\n",
         time_gradient(model, theta, 2000));
  tempera_model_free(model);
}

/* Where the posterior is, and the mean over draws from the prior. */
static void bench_sir(const folders *in) {
  static const double theta[3] = {0.0965, 0.000617, 5};
  static const double far[][3] = {{1.2, 0.7, 5},  {0.3, 2.5, 4},
                                  {2.0, 0.05, 6}, {0.02, 0.01, 3},
                                  {5.0, 4.0, 2},  {0.6, 0.002, 8}};
  enum { FAR = sizeof far / sizeof *far };
  tempera_model *model = load(in, "sir", "eyam.json");
  tempera_density_fn density = tempera_model_spec_of(model)->log_likelihood;
  double mean = 0;
  for (int i = 0; i < FAR; i++)
    mean += time_density(model, density, far[i], 500) / FAR;
  printf("sir log likelihood, posterior %8.3f us\n",
         time_density(model, density, theta, 500));
  printf("  at %d points of the prior    %8.3f us\n", (int)FAR, mean);
  tempera_model_free(model);
}

static void bench_bimodal(const folders *in, const char *name) {
  static const double theta[2] = {1.4, 1.1};
  tempera_model *model = load(in, name, "bimodal.json");
  double ours = time_density(
      model, tempera_model_spec_of(model)->log_likelihood, theta, 20000);
  printf("%-8s log likelihood       %8.4f us\n", name, ours);
  tempera_model_free(model);
}

int main(int count, char **arguments) {
  char build[4096], source[4096 + 8];
  snprintf(build, sizeof build, "%s", count > 1 ? arguments[1] : arguments[0]);
  char *slash = count > 1 ? NULL : strrchr(build, '/');
  if (count < 2)
    strcpy(slash ? slash : build, slash ? "" : ".");
  snprintf(source, sizeof source, "%s/..", build);
  folders in = {build, count > 2 ? arguments[2] : source};
  bench_galaxy(&in);
  bench_sir(&in);
  bench_bimodal(&in, "bimodal");
  bench_bimodal(&in, "bimodal2");
  return 0;
}
