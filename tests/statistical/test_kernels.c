/* Facts about src/kernels: each move and each composition leaves the exact
 * tempered posterior invariant and finds it; scales are learned in warmup and
 * nothing changes afterwards. */
#include "kernels/move.h"

#include "cmocka_all.h"
#include "failing_memory.h"
#include "statistical/exact_gradients.h"
#include "statistical/exact_models.h"

#include <stdio.h>

enum { REPLICATES = 20000, SWEEPS = 3, LONG_RUN = 60000, BATCHES = 100 };

static const double TAUS[] = {0, 0.3, 1};

/* What is under test: one move, or one kind of kernel. */
typedef struct subject {
  const char *name;
  const tm_move_type *move;
  tempera_kernel kind;
} subject;

static const subject MOVES[] = {
    {"random-walk", &tm_move_random_walk, 0},
    {"joint", &tm_move_joint, 0},
    {"slice", &tm_move_slice, 0},
    {"slice-doubling", &tm_move_slice_doubling, 0},
    {"integer", &tm_move_integer, 0},
    {"gibbs", &tm_move_gibbs, 0},
    {"prior", &tm_move_prior, 0},
    {"recipe", &tm_move_recipe, 0},
    {"hmc", &tm_move_hmc, 0},
    {"mix", &tm_move_mix, 0},
};
static const subject KERNELS[] = {
    {"auto", NULL, TEMPERA_KERNEL_AUTO},
    {"random-walk kernel", NULL, TEMPERA_KERNEL_RANDOM_WALK},
    {"slice kernel", NULL, TEMPERA_KERNEL_SLICE},
    {"model kernel", NULL, TEMPERA_KERNEL_MODEL},
    {"hmc kernel", NULL, TEMPERA_KERNEL_HMC},
};
enum {
  MOVE_COUNT = sizeof MOVES / sizeof *MOVES,
  KERNEL_COUNT = sizeof KERNELS / sizeof *KERNELS
};

typedef struct chain {
  const exact_model *exact;
  tempera_model *model;
  tm_arena *arena;
  tm_kernel *kernel;
  tm_evaluator evaluator;
  tm_point point;
} chain;

static bool subject_applies(const subject *s, const tempera_model *model) {
  if (s->move)
    return s->move->applies(model);
  if (s->kind == TEMPERA_KERNEL_HMC)
    return tm_move_hmc.applies(model);
  return s->kind != TEMPERA_KERNEL_MODEL || tm_move_recipe.applies(model);
}

static void add_kernel(chain *c, const subject *s) {
  tm_kernel_settings settings = {.kind = s->kind};
  tempera_status status =
      s->move
          ? tm_kernel_compose(c->model, &s->move, 1, c->arena, &c->kernel, NULL)
          : tm_kernel_create(c->model, &settings, c->arena, &c->kernel, NULL);
  assert_int_equal(status, TEMPERA_OK);
}

static chain chain_open(const exact_model *exact) {
  chain c = {.exact = exact, .arena = tm_arena_create()};
  tempera_model_spec spec = exact->spec;
  exact_add_gradients(&spec);
  assert_int_equal(tempera_model_create(&spec, &c.model, NULL), TEMPERA_OK);
  assert_int_equal(tm_evaluator_create(c.model, c.arena, &c.evaluator, NULL),
                   TEMPERA_OK);
  assert_int_equal(tm_point_create(c.model, c.arena, &c.point, NULL),
                   TEMPERA_OK);
  return c;
}

static void chain_close(chain *c) {
  assert_int_equal(c->evaluator.status, TEMPERA_OK);
  tm_evaluator_release(&c->evaluator);
  tempera_model_free(c->model);
  tm_arena_free(c->arena);
}

static void start_exactly(chain *c, double tau, tempera_random *random) {
  c->exact->draw(tau, random, c->point.theta);
  tm_evaluate_natural(&c->evaluator, &c->point);
}

/* Rounds over the taus of the tests and others, ten sweeps at each, then
 * frozen. */
static void warm_up(chain *c, uint64_t seed) {
  tempera_random random = tm_random(seed, 1, TM_PURPOSE_TEST);
  for (int round = 0, length = 1000; round < 4; round++, length *= 2) {
    double tau = 0;
    for (int i = 0; i < length; i++) {
      if (i % 10 == 0) {
        double u = tempera_random_uniform(&random);
        tau = u < 0.75 ? TAUS[(int)(4 * u)] : pow(10, -12 * (1 - u));
        start_exactly(c, tau, &random);
      }
      (void)tm_kernel_sweep(c->kernel, &c->evaluator, &c->point, tau, &random);
    }
    tm_kernel_end_round(c->kernel);
  }
  tm_kernel_freeze(c->kernel);
}

/* ---- tests of uniformity ---- */

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double kolmogorov_smirnov(double *sample, size_t n) {
  double distance = 0, p = 0, root = sqrt((double)n);
  qsort(sample, n, sizeof *sample, ascending);
  for (size_t i = 0; i < n; i++)
    distance = fmax(distance, fmax((double)(i + 1) / (double)n - sample[i],
                                   sample[i] - (double)i / (double)n));
  double x = (root + 0.12 + 0.11 / root) * distance;
  if (x < 0.3)
    return 1;
  for (int k = 1; k < 50; k++)
    p += (k % 2 ? 2 : -2) * exp(-2 * k * k * x * x);
  return p;
}

static double uniforms[EXACT_MOST][REPLICATES];

static void fail_at(const char *fact, const subject *s, const chain *c,
                    double tau, size_t i, double value) {
  fail_msg("%s: %s on %s at tau = %g, value %zu: %g", fact, s->name,
           c->exact->spec.name, tau, i + 1, value);
}

/* Mean and variance of each uniform, and correlations between them. */
static void check_moments(const subject *s, const chain *c, double tau) {
  size_t count = c->exact->uniform_count;
  double n = REPLICATES;
  for (size_t i = 0; i < count; i++)
    for (size_t j = 0; j <= i; j++) {
      double mean = 0, product = 0;
      for (size_t r = 0; r < REPLICATES; r++) {
        double x = uniforms[i][r] - 0.5, y = uniforms[j][r] - 0.5;
        mean += x / n;
        product += x * y / n;
      }
      double expected = i == j ? 1.0 / 12 : 0;
      double sd = sqrt((i == j ? 1.0 / 180 : 1.0 / 144) / n);
      if (fabs(mean) > 4 / sqrt(12 * n))
        fail_at("mean", s, c, tau, i, mean * sqrt(12 * n));
      if (fabs(product - expected) > 4 * sd)
        fail_at("moment", s, c, tau, i, (product - expected) / sd);
    }
}

static void check_invariance(const subject *s, chain *c, double tau,
                             uint64_t seed) {
  tempera_random random = tm_random(seed, 2, TM_PURPOSE_TEST);
  for (size_t r = 0; r < REPLICATES; r++) {
    double out[EXACT_MOST];
    start_exactly(c, tau, &random);
    for (int k = 0; k < SWEEPS; k++)
      (void)tm_kernel_sweep(c->kernel, &c->evaluator, &c->point, tau, &random);
    c->exact->uniforms(tau, c->point.theta, &random, out);
    for (size_t i = 0; i < c->exact->uniform_count; i++)
      uniforms[i][r] = out[i];
  }
  check_moments(s, c, tau);
  for (size_t i = 0; i < c->exact->uniform_count; i++) {
    double p = kolmogorov_smirnov(uniforms[i], REPLICATES);
    if (p < 1e-4)
      fail_at("Kolmogorov-Smirnov", s, c, tau, i, p);
  }
}

static void all_invariant(const subject *subjects, size_t count) {
  for (size_t i = 0; i < count; i++)
    for (size_t m = 0; m < EXACT_COUNT_OF; m++) {
      chain c = chain_open(&EXACT_MODELS[m]);
      if (subject_applies(&subjects[i], c.model)) {
        add_kernel(&c, &subjects[i]);
        warm_up(&c, 100 + m);
        for (size_t t = 0; t < 3; t++)
          check_invariance(&subjects[i], &c, TAUS[t], 10 * m + t);
      }
      chain_close(&c);
    }
}

static void each_move_keeps_the_tempered_posterior(void **state) {
  (void)state;
  all_invariant(MOVES, MOVE_COUNT);
}

static void each_kernel_keeps_the_tempered_posterior(void **state) {
  (void)state;
  all_invariant(KERNELS, KERNEL_COUNT);
}

/* ---- long runs ---- */

/* Batch means of the uniforms and of their squares against 1/2 and 1/3. */
static void check_long_run(const subject *s, chain *c, double tau,
                           uint64_t seed) {
  static double batch[2 * EXACT_MOST][BATCHES];
  size_t count = c->exact->uniform_count;
  tempera_random random = tm_random(seed, 3, TM_PURPOSE_TEST);
  memset(batch, 0, sizeof batch);
  start_exactly(c, tau, &random);
  for (int n = 0; n < LONG_RUN; n++) {
    double out[EXACT_MOST];
    (void)tm_kernel_sweep(c->kernel, &c->evaluator, &c->point, tau, &random);
    c->exact->uniforms(tau, c->point.theta, &random, out);
    for (size_t i = 0; i < count; i++) {
      double share = (double)BATCHES / LONG_RUN;
      batch[2 * i][n / (LONG_RUN / BATCHES)] += out[i] * share;
      batch[2 * i + 1][n / (LONG_RUN / BATCHES)] += out[i] * out[i] * share;
    }
  }
  for (size_t i = 0; i < 2 * count; i++) {
    double mean = 0, square = 0;
    for (int b = 0; b < BATCHES; b++) {
      mean += batch[i][b] / BATCHES;
      square += batch[i][b] * batch[i][b] / BATCHES;
    }
    double error = sqrt((square - mean * mean) / (BATCHES - 1));
    double z = (mean - (i % 2 ? 1.0 / 3 : 0.5)) / error;
    if (!(fabs(z) < 4))
      fail_at("long run", s, c, tau, i / 2, z);
  }
}

static void each_kernel_finds_the_tempered_posterior(void **state) {
  (void)state;
  for (size_t i = 0; i < KERNEL_COUNT; i++)
    for (size_t m = 0; m < EXACT_COUNT_OF; m++) {
      chain c = chain_open(&EXACT_MODELS[m]);
      bool local = KERNELS[i].kind != TEMPERA_KERNEL_AUTO;
      bool isolated = strcmp(c.model->spec.name, "modes") == 0;
      if (subject_applies(&KERNELS[i], c.model) && !(local && isolated)) {
        add_kernel(&c, &KERNELS[i]);
        warm_up(&c, 200 + m);
        for (size_t t = 0; t < 3; t++)
          check_long_run(&KERNELS[i], &c, TAUS[t], 10 * m + t);
      }
      chain_close(&c);
    }
}

/* ---- adaptation ---- */

static double mean_acceptance(chain *c, double tau, int sweeps) {
  tempera_random random = tm_random(77, 4, TM_PURPOSE_TEST);
  double sum = 0;
  start_exactly(c, tau, &random);
  for (int n = 0; n < sweeps; n++)
    sum += tm_kernel_sweep(c->kernel, &c->evaluator, &c->point, tau, &random)
               .acceptance;
  return sum / sweeps;
}

static void acceptance_reaches_its_target_at_every_tau(void **state) {
  (void)state;
  const struct {
    size_t model, subject;
    double target;
  } cases[] = {{0, 0, 0.44},  {1, 0, 0.44}, {2, 0, 0.44},
               {3, 0, 0.44},  {4, 0, 0.44}, {1, 1, 0.303},
               {3, 1, 0.337}, {7, 4, 0.44}, {0, 7, 0.44}};
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    chain c = chain_open(&EXACT_MODELS[cases[k].model]);
    add_kernel(&c, &MOVES[cases[k].subject]);
    warm_up(&c, 300 + k);
    for (size_t t = 0; t < 3; t++) {
      double acceptance = mean_acceptance(&c, TAUS[t], 10000);
      if (fabs(acceptance - cases[k].target) > 0.08)
        fail_at("acceptance", &MOVES[cases[k].subject], &c, TAUS[t], 0,
                acceptance);
    }
    chain_close(&c);
  }
}

/* A scale that is off by e^10 is found within one short warmup, and nodes
 * that were never visited follow. */
static void scales_are_found_from_far_away(void **state) {
  (void)state;
  double truths[] = {1e-6, 1, 1e5};
  for (size_t k = 0; k < 3; k++) {
    tm_scale scale;
    tm_scale_start(&scale, 1, 0.44);
    tempera_random random = tm_random(5, 0, TM_PURPOSE_TEST);
    for (int n = 0; n < 1500; n++) {
      /* Visits above tau = 1e-3 only; the truth grows like tau^-1/2. */
      double tau = pow(10, -3 * tempera_random_uniform(&random));
      tm_tau_place place = tm_tau_locate(tau);
      double truth = truths[k] / sqrt(tau);
      double ratio = tm_scale_at(&scale, place, true) / truth;
      tm_scale_update(&scale, place, 0.88 / (1 + ratio));
    }
    tm_scale_freeze(&scale, 1);
    for (double tau = 1; tau > 2e-3; tau /= 3) {
      double ratio = tm_scale_at(&scale, tm_tau_locate(tau), false) *
                     sqrt(tau) / truths[k];
      assert_true(ratio > 0.5 && ratio < 2);
    }
    double lowest = tm_scale_at(&scale, tm_tau_locate(1e-3), false);
    double unvisited = tm_scale_at(&scale, tm_tau_locate(0), false);
    assert_true(fabs(log(unvisited / lowest)) < 1);
  }
}

static void tau_grid_is_continuous_and_covers_the_unit_interval(void **state) {
  (void)state;
  double last = -0.01;
  for (double tau = 0; tau <= 1; tau = tau > 0 ? tau * 1.05 : 1e-14) {
    tm_tau_place place = tm_tau_locate(tau);
    double x = (double)place.node + place.weight;
    assert_true(place.node + 1 < TM_TAU_NODES);
    assert_true(place.weight >= 0 && place.weight <= 1);
    assert_true(x > last && x - last < 0.06);
    last = x;
  }
  tm_tau_place one = tm_tau_locate(1), zero = tm_tau_locate(0);
  assert_true((double)one.node + one.weight == TM_TAU_NODES - 1);
  assert_true(zero.node == 0 && zero.weight == 0);
}

/* Correlated reals mix better jointly once the covariance is learned: over
 * seeds the squared jumps grow by a factor of 1.9, give or take 0.1. */
static void joint_walk_learns_the_covariance(void **state) {
  (void)state;
  double squared[2] = {0};
  for (int learned = 0; learned < 2; learned++) {
    chain c = chain_open(&EXACT_MODELS[1]);
    add_kernel(&c, &MOVES[1]);
    if (learned)
      warm_up(&c, 400);
    tempera_random random = tm_random(6, 0, TM_PURPOSE_TEST);
    start_exactly(&c, 1, &random);
    /* Without end_round the steps stay diagonal, though tuned. */
    for (int n = 0; n < 8000; n++) {
      double before = c.point.theta[2];
      (void)tm_kernel_sweep(c.kernel, &c.evaluator, &c.point, 1, &random);
      if (n >= 4000)
        squared[learned] += exact_square(c.point.theta[2] - before);
    }
    chain_close(&c);
  }
  assert_true(squared[1] > 1.5 * squared[0]);
}

/* ---- promises of kernel.h ---- */

static void run_bits(chain *c, double *out, int sweeps) {
  tempera_random random = tm_random(9, 5, TM_PURPOSE_TEST);
  for (int n = 0; n < sweeps; n++) {
    double tau = TAUS[1 + n % 2];
    if (n == 0)
      start_exactly(c, tau, &random);
    out[2 * n] =
        tm_kernel_sweep(c->kernel, &c->evaluator, &c->point, tau, &random)
            .acceptance;
    out[2 * n + 1] = c->point.theta[0];
  }
}

static void nothing_changes_after_freeze(void **state) {
  (void)state;
  enum { N = 300 };
  double first[2 * N], second[2 * N];
  for (size_t i = 0; i < KERNEL_COUNT; i++)
    for (size_t m = 0; m < EXACT_COUNT_OF; m++) {
      chain c = chain_open(&EXACT_MODELS[m]);
      if (subject_applies(&KERNELS[i], c.model)) {
        add_kernel(&c, &KERNELS[i]);
        warm_up(&c, 500 + m);
        run_bits(&c, first, N);
        for (int k = 0; k < 3; k++) {
          (void)mean_acceptance(&c, TAUS[k], 500);
          tm_kernel_end_round(c.kernel);
        }
        run_bits(&c, second, N);
        assert_memory_equal(first, second, sizeof first);
      }
      chain_close(&c);
    }
}

static void sweeps_allocate_nothing(void **state) {
  (void)state;
  for (size_t i = 0; i < KERNEL_COUNT; i++)
    for (size_t m = 0; m < EXACT_COUNT_OF; m++) {
      chain c = chain_open(&EXACT_MODELS[m]);
      if (subject_applies(&KERNELS[i], c.model)) {
        add_kernel(&c, &KERNELS[i]);
        long before = heap_count();
        for (size_t t = 0; t < 3; t++)
          (void)mean_acceptance(&c, TAUS[t], 1000);
        assert_int_equal(heap_count(), before);
      }
      chain_close(&c);
    }
}

static void zero_likelihood_is_never_entered_above_tau_0(void **state) {
  (void)state;
  const size_t models[] = {6, 8};
  const double taus[] = {1e-300, 1e-13, 1e-4, 0.5, 1};
  for (size_t i = 0; i < 3; i++)
    for (size_t m = 0; m < 2; m++) {
      chain c = chain_open(&EXACT_MODELS[models[m]]);
      add_kernel(&c, &KERNELS[i]);
      tempera_random random = tm_random(12, 0, TM_PURPOSE_TEST);
      for (int n = 0; n < 5000; n++) {
        double tau = taus[n / 1000];
        if (n % 1000 == 0)
          start_exactly(&c, tau, &random);
        if (n == 2500)
          tm_kernel_freeze(c.kernel);
        (void)tm_kernel_sweep(c.kernel, &c.evaluator, &c.point, tau, &random);
        assert_true(isfinite(c.point.log_likelihood));
      }
      chain_close(&c);
    }
}

/* A mean known to 1e-3: the prior meets it once in hundreds of draws. */
EXACT_DENSITY(sharp_likelihood) {
  (void)user;
  *value = -5e5 * exact_square(theta[0] - 0.2);
  return 0;
}

static void sharp_draw(double tau, tempera_random *random, double *theta) {
  double precision = 1 + 1e6 * tau;
  theta[0] =
      2e5 * tau / precision + tempera_random_normal(random) / sqrt(precision);
}

static void prior_proposals_are_tried_where_they_succeed(void **state) {
  (void)state;
  exact_model sharp = EXACT_MODELS[0];
  sharp.spec.log_likelihood = sharp_likelihood;
  sharp.draw = sharp_draw;
  chain c = chain_open(&sharp);
  add_kernel(&c, &MOVES[6]);
  warm_up(&c, 600);
  tempera_random random = tm_random(13, 0, TM_PURPOSE_TEST);
  int tried[3] = {0}, renewed[3] = {0};
  for (size_t t = 0; t < 3; t++) {
    start_exactly(&c, TAUS[t], &random);
    for (int n = 0; n < 2000; n++) {
      uint64_t before = c.evaluator.likelihood_evaluations;
      tm_sweep sweep =
          tm_kernel_sweep(c.kernel, &c.evaluator, &c.point, TAUS[t], &random);
      tried[t] += c.evaluator.likelihood_evaluations > before;
      renewed[t] += sweep.renewed;
    }
  }
  assert_int_equal(renewed[0], 2000);
  assert_true(tried[2] < 100);
  assert_true(renewed[2] <= tried[2]);
  chain_close(&c);
}

static void kernel_of_a_model_without_recipe_is_refused(void **state) {
  (void)state;
  chain c = chain_open(&EXACT_MODELS[1]);
  tm_kernel_settings settings = {.kind = TEMPERA_KERNEL_MODEL};
  tempera_error error = {0};
  assert_int_equal(
      tm_kernel_create(c.model, &settings, c.arena, &c.kernel, &error),
      TEMPERA_ERROR_ARGUMENT);
  assert_non_null(strstr(error.message, "correlated"));
  chain_close(&c);
}

static void hmc_without_gradients_is_refused(void **state) {
  (void)state;
  exact_model exact = EXACT_MODELS[1];
  exact.spec.name = "plain"; /* no gradients under this name */
  chain c = chain_open(&exact);
  tm_kernel_settings settings = {.kind = TEMPERA_KERNEL_HMC};
  tempera_error error = {0};
  assert_int_equal(
      tm_kernel_create(c.model, &settings, c.arena, &c.kernel, &error),
      TEMPERA_ERROR_ARGUMENT);
  assert_non_null(strstr(error.message, "plain has no gradients"));
  chain_close(&c);
}

static void failed_allocations_are_reported(void **state) {
  (void)state;
  for (size_t i = 0; i < KERNEL_COUNT; i++) {
    chain c = chain_open(&EXACT_MODELS[i == 3 ? 0 : 1]);
    tm_kernel_settings settings = {.kind = KERNELS[i].kind};
    tempera_status status = TEMPERA_ERROR_MEMORY;
    for (long k = 1; status != TEMPERA_OK && k < 200; k++) {
      tm_arena *arena = tm_arena_create();
      heap_fail_at(k);
      status = tm_kernel_create(c.model, &settings, arena, &c.kernel, NULL);
      heap_fail_at(0);
      assert_true(status == TEMPERA_OK || status == TEMPERA_ERROR_MEMORY);
      tm_arena_free(arena);
    }
    assert_int_equal(status, TEMPERA_OK);
    chain_close(&c);
  }
}

static int stop_gibbs(double tau, double *theta, tempera_random *random,
                      void *user) {
  (void)tau;
  (void)random;
  (void)user;
  theta[0] = NAN;
  return -1;
}

static int reject_gibbs(double tau, double *theta, tempera_random *random,
                        void *user) {
  (void)stop_gibbs(tau, theta, random, user);
  return 1;
}

static void callbacks_may_reject_or_stop(void **state) {
  (void)state;
  const tempera_gibbs_fn blocks[] = {reject_gibbs, stop_gibbs};
  for (int stop = 0; stop < 2; stop++) {
    exact_model exact = EXACT_MODELS[0];
    exact.spec.gibbs = &blocks[stop];
    exact.spec.gibbs_count = 1;
    chain c = chain_open(&exact);
    add_kernel(&c, &MOVES[5]);
    tempera_random random = tm_random(14, 0, TM_PURPOSE_TEST);
    start_exactly(&c, 1, &random);
    double before = c.point.theta[0];
    (void)tm_kernel_sweep(c.kernel, &c.evaluator, &c.point, 1, &random);
    assert_true(c.point.theta[0] == before);
    assert_int_equal(c.evaluator.status,
                     stop ? TEMPERA_ERROR_MODEL : TEMPERA_OK);
    c.evaluator.status = TEMPERA_OK;
    chain_close(&c);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_move_keeps_the_tempered_posterior),
      cmocka_unit_test(each_kernel_keeps_the_tempered_posterior),
      cmocka_unit_test(each_kernel_finds_the_tempered_posterior),
      cmocka_unit_test(acceptance_reaches_its_target_at_every_tau),
      cmocka_unit_test(scales_are_found_from_far_away),
      cmocka_unit_test(tau_grid_is_continuous_and_covers_the_unit_interval),
      cmocka_unit_test(joint_walk_learns_the_covariance),
      cmocka_unit_test(nothing_changes_after_freeze),
      cmocka_unit_test(sweeps_allocate_nothing),
      cmocka_unit_test(zero_likelihood_is_never_entered_above_tau_0),
      cmocka_unit_test(prior_proposals_are_tried_where_they_succeed),
      cmocka_unit_test(kernel_of_a_model_without_recipe_is_refused),
      cmocka_unit_test(hmc_without_gradients_is_refused),
      cmocka_unit_test(failed_allocations_are_reported),
      cmocka_unit_test(callbacks_may_reject_or_stop),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
