/* bench.h - what every benchmark needs: a clock, a unit (one libm exp call,
 * timed in the same run), and the paper's models. */
#ifndef TM_BENCHMARKS_BENCH_H
#define TM_BENCHMARKS_BENCH_H

#include "tempera.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static tempera_error bench_error;

static inline void bench_check(tempera_status status) {
  if (status == TEMPERA_OK)
    return;
  fprintf(stderr, "benchmark: %s\n", bench_error.message);
  exit(1);
}

static inline double bench_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* This thread's time: what others do on the machine is not counted. */
static inline double bench_cpu(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* CPU seconds of so many calls of a libm function on varying arguments in
 * (0.5, 1.5), one at a time as scalar code calls it. */
static inline double bench_calls(double (*function)(double), int calls) {
  volatile double sink = 0;
  double x = 0.5, start = bench_cpu();
  for (int i = 0; i < calls; i++) {
    sink = function(x);
    x = x < 1.5 ? x + 1e-6 : 0.5;
  }
  (void)sink;
  return bench_cpu() - start;
}

/* Seconds per call. */
static inline double bench_call(double (*function)(double)) {
  enum { CALLS = 2000000 };
  return bench_calls(function, CALLS) / CALLS;
}

/* Seconds per libm exp call; measured once. */
static inline double bench_exp(void) {
  static double seconds;
  if (seconds == 0)
    seconds = bench_call(exp);
  return seconds;
}

static inline tempera_model *bench_load(const char *name, const char *data) {
  char path[1024];
  snprintf(path, sizeof path, SOURCE_DIR "/models/paper/%s", data);
  tempera_data *read = NULL;
  tempera_model *model = NULL;
  bench_check(tempera_data_read(path, &read, &bench_error));
  snprintf(path, sizeof path, BUILD_DIR "/models/%s.so", name);
  bench_check(tempera_model_load(path, read, &model, &bench_error));
  tempera_data_free(read);
  return model;
}

#endif
