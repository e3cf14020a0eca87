/* test_trust_step.c - steps in many dimensions, by factors, gain as much as the
 * best one, which eigenvectors tell. */
#include "support/cmocka_all.h"

#include "base/random.h"
#include "numeric/dense.h"
#include "tempering/climb.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { D = 90 };

typedef struct problem {
  tm_frame frame;
  tm_evaluator evaluator;
  tm_climber c;
  double room[3 * D * D + 8 * D];
  double values[D], vectors[D * D]; /* of the scaled B */
} problem;

/* B = sum of value_i v_i v_i' in scaled coordinates, v_i random; the gradient
 * has these parts along v_i. */
static problem *make(const double *value, const double *part, double radius) {
  problem *p = calloc(1, sizeof *p);
  assert_non_null(p);
  tempera_random random = tm_random(1, 0, TM_PURPOSE_START);
  double *rows = p->room + 3 * D * D;
  p->frame.reals = D;
  p->c = (tm_climber){.frame = &p->frame,
                      .evaluator = &p->evaluator,
                      .b = p->room,
                      .work = p->room + D * D,
                      .vectors = p->room + 2 * D * D,
                      .values = rows,
                      .step = rows + D,
                      .gradient = rows + 2 * D,
                      .scale = rows + 3 * D,
                      .lane = rows + 4 * D,
                      .tl = rows + 5 * D,
                      .tp = rows + 6 * D,
                      .radius = radius};
  double *a = p->c.b;
  for (size_t i = 0; i < D; i++)
    for (size_t k = 0; k <= i; k++)
      a[i * D + k] = a[k * D + i] = tempera_random_normal(&random);
  tm_symmetric_eigen(a, D, p->values, p->vectors);
  memcpy(p->values, value, sizeof p->values);
  memset(a, 0, D * D * sizeof(double));
  for (size_t i = 0; i < D; i++)
    p->c.scale[i] = exp(tempera_random_normal(&random));
  for (size_t e = 0; e < D; e++)
    for (size_t i = 0; i < D; i++) {
      const double *v = p->vectors + e * D;
      p->c.gradient[i] += part[e] * v[i] / p->c.scale[i];
      for (size_t k = 0; k < D; k++)
        a[i * D + k] += value[e] * v[i] * v[k] / p->c.scale[i] / p->c.scale[k];
    }
  return p;
}

/* The best gain within the radius: sum g_i x_i - value_i x_i^2 / 2 with
 * x_i = g_i / (value_i + mu), and the lowest direction where that is short. */
static double best_gain(const double *value, const double *part,
                        double radius) {
  double least = 0, low = 0, high = 1e9, x[D], sum = 0, gain = 0;
  size_t lowest = 0;
  for (size_t i = 0; i < D; i++)
    if (value[i] < least) {
      least = value[i];
      lowest = i;
    }
  low = fmax(0, -least) * (1 + 1e-12);
  for (int step = 0; step < 200; step++) {
    double mu = (low + high) / 2;
    sum = 0;
    for (size_t i = 0; i < D; i++)
      sum += pow(part[i] / (value[i] + mu), 2);
    *(sum > radius * radius ? &low : &high) = mu;
  }
  sum = 0;
  for (size_t i = 0; i < D; i++) {
    x[i] = part[i] == 0 ? 0 : part[i] / (value[i] + high);
    sum += x[i] * x[i];
  }
  if (sum < radius * radius && least < 0)
    x[lowest] += copysign(sqrt(radius * radius - sum), x[lowest]);
  for (size_t i = 0; i < D; i++)
    gain += part[i] * x[i] - value[i] * x[i] * x[i] / 2;
  return gain;
}

static void check(const double *value, const double *part, double radius,
                  bool definite) {
  problem *p = make(value, part, radius);
  tm_climber_trust_step(&p->c, definite);
  double square = 0, gain = 0;
  for (size_t i = 0; i < D; i++) {
    double bs = 0;
    for (size_t k = 0; k < D; k++)
      bs += p->c.b[i * D + k] * p->c.step[k];
    gain += p->c.step[i] * (p->c.gradient[i] - bs / 2);
    square += pow(p->c.step[i] / p->c.scale[i], 2);
  }
  assert_true(sqrt(square) < 1.1001 * radius);
  double best = best_gain(value, part, 1.1 * radius);
  assert_true(best > 0);
  /* A length of .9 has at least .81 of the gain, the way along the flattest
   * direction the same. */
  assert_true(gain > 0.65 * best);
  free(p);
}

static void fill(double *x, double first, double last) {
  for (size_t i = 0; i < D; i++)
    x[i] = first + (last - first) * (double)i / (D - 1);
}

static void steps_too_long_are_cut(void **state) {
  (void)state;
  double value[D], part[D];
  fill(value, 0.01, 20);
  fill(part, 3, -1);
  for (double radius = 0.1; radius < 50; radius *= 5)
    check(value, part, radius, true);
}

static void where_it_bends_upwards_steps_reach_the_radius(void **state) {
  (void)state;
  double value[D], part[D];
  fill(value, -3, 9);
  fill(part, 0.5, 2);
  for (double radius = 0.1; radius < 500; radius *= 5)
    check(value, part, radius, false);
  fill(value, -1e-3, 1e6); /* of all sizes */
  for (double radius = 0.1; radius < 500; radius *= 5)
    check(value, part, radius, false);
}

static void saddles_are_left_along_the_lowest_direction(void **state) {
  (void)state;
  double value[D], part[D];
  fill(value, -2, 5);
  fill(part, 0, 0); /* nothing says which way to go */
  check(value, part, 3, false);
  fill(part, 0, 1); /* nothing along the lowest */
  check(value, part, 30, false);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(steps_too_long_are_cut),
      cmocka_unit_test(where_it_bends_upwards_steps_reach_the_radius),
      cmocka_unit_test(saddles_are_left_along_the_lowest_direction),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
