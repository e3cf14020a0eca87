/* gradient.c - what one value and one gradient of a program cost.
 *
 *   bench-gradient PROGRAM DATA.json [--points N [SCALE]]
 *
 * Prints the number of parameters and microseconds of processor time for a
 * value and for a gradient of the log posterior over the unconstrained
 * parameters (prior, likelihood and Jacobian): the best of many repeats, at
 * points that differ a little. With --points, values and gradients at N random
 * points instead (normal, of standard deviation SCALE, .3), with all their
 * digits, to compare two builds. */
#include "bench.h"

#include "base/random.h"
#include "model/model.h"

#include <cblas.h>
#include <string.h>

typedef struct subject {
  tempera_model *model;
  tm_arena *arena;
  tm_evaluator evaluator;
  tm_point point;
  double *slopes; /* of prior and likelihood */
  size_t n;
} subject;

static subject load(const char *program, const char *path) {
  subject s = {.arena = tm_arena_create()};
  tempera_data *data = NULL;
  bench_check(tempera_data_read(path, &data, &bench_error));
  bench_check(tempera_model_load(program, data, &s.model, &bench_error));
  tempera_data_free(data);
  bench_check(
      tm_evaluator_create(s.model, s.arena, &s.evaluator, &bench_error));
  bench_check(tm_point_create(s.model, s.arena, &s.point, &bench_error));
  s.n = s.model->dimension;
  s.slopes = TM_NEW(s.arena, double, 2 * s.n + 1);
  return s;
}

static void random_point(subject *s, int number, double scale) {
  tempera_random random = tm_random(1, (uint32_t)number, TM_PURPOSE_START);
  for (size_t i = 0; i < s->n; i++)
    s->point.u[i] = scale * tempera_random_normal(&random);
}

static void evaluate(subject *s) {
  tm_evaluate_gradient(&s->evaluator, &s->point, s->slopes, s->slopes + s->n);
}

/* A point where there is a density; scales are tried from 0 on. */
static void start(subject *s) {
  for (int number = 0; number < 200; number++) {
    random_point(s, number, 0.01 * number);
    evaluate(s);
    if (isfinite(s->point.log_likelihood) && isfinite(s->point.log_prior))
      return;
  }
  fprintf(stderr, "benchmark: no start found\n");
  exit(1);
}

/* Microseconds per call. */
static double timed(subject *s, bool gradient) {
  double best = INFINITY, total = 0;
  int calls = 1;
  for (int repeat = 0; total < 0.6 && repeat < 4000; repeat++) {
    double began = bench_cpu();
    for (int call = 0; call < calls; call++) {
      s->point.u[0] += call % 2 ? 1e-9 : -1e-9;
      if (gradient)
        evaluate(s);
      else
        tm_evaluate(&s->evaluator, &s->point);
    }
    double took = bench_cpu() - began;
    total += took;
    best = fmin(best, took / calls);
    if (took < 2e-4 && repeat < 20)
      calls *= 2;
  }
  return 1e6 * best;
}

static void print_points(subject *s, int points, double scale) {
  for (int i = 0; i < points; i++) {
    random_point(s, i, scale);
    evaluate(s);
    printf("%.17g %.17g", s->point.log_prior, s->point.log_likelihood);
    for (size_t k = 0; k < 2 * s->n; k++)
      printf(" %.17g", s->slopes[k]);
    printf("\n");
  }
}

int main(int count, char **arguments) {
  if (count < 3) {
    fprintf(stderr, "bench-gradient PROGRAM DATA.json [--points N [SCALE]]\n");
    return 2;
  }
  openblas_set_num_threads(1);
  subject s = load(arguments[1], arguments[2]);
  if (count >= 5 && !strcmp(arguments[3], "--points")) {
    print_points(&s, atoi(arguments[4]), count > 5 ? atof(arguments[5]) : 0.3);
  } else {
    start(&s);
    double value = timed(&s, false), gradient = timed(&s, true);
    printf("%zu %.3f %.3f\n", s.n, value, gradient);
  }
  tm_evaluator_release(&s.evaluator);
  tempera_model_free(s.model);
  tm_arena_free(s.arena);
  return 0;
}
