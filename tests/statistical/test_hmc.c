/* Facts about the Hamiltonian move and the measured choice between moves, on
 * a correlated Gaussian known at every tau: theta ~ N(0, I) in d dimensions,
 * l = -(t - m)' Q diag(lambda) Q' (t - m) / 2 with Q the cosine transform, so
 * that the coordinates Q' t are independent with precisions 1 + tau lambda. */
#include "kernels/hmc.h"
#include "kernels/leapfrog.h"
#include "kernels/mix.h"

#include "cmocka_all.h"
#include "failing_memory.h"

#include <math.h>
#include <stdio.h>

/* Sweeps of `auto` are short: effective draws are a third of them, and batches
 * must be long beside that for their means to be independent. */
enum { MOST = 50, BATCHES = 100, BATCH = 200 };

static const double TAUS[] = {0, 0.01, 0.3, 1};
enum { TAU_COUNT = sizeof TAUS / sizeof *TAUS };

/* ---- the model ---- */

typedef struct cosine {
  size_t d;
  double q[MOST][MOST]; /* columns are directions */
  double lambda[MOST];
} cosine;

static void cosine_fill(cosine *c, size_t d) {
  c->d = d;
  for (size_t i = 0; i < d; i++)
    for (size_t k = 0; k < d; k++)
      c->q[i][k] = sqrt((k ? 2.0 : 1.0) / (double)d) *
                   cos(M_PI * ((double)i + 0.5) * (double)k / (double)d);
  /* From 1 to 10^4: standard deviations from 0.7 to 0.01 at tau = 1. */
  for (size_t k = 0; k < d; k++)
    c->lambda[k] = pow(10, d > 1 ? 4 * (double)k / (double)(d - 1) : 1);
}

/* Directions y = Q' t; the likelihood is centred at y_k = 1. */
static double direction(const cosine *c, const double *theta, size_t k) {
  double y = 0;
  for (size_t i = 0; i < c->d; i++)
    y += c->q[i][k] * theta[i];
  return y;
}

static int likelihood_gradient(const double *theta, double *value, double *g,
                               void *user) {
  const cosine *c = user;
  *value = 0;
  for (size_t i = 0; i < c->d; i++)
    g[i] = 0;
  for (size_t k = 0; k < c->d; k++) {
    double off = direction(c, theta, k) - 1;
    *value -= 0.5 * c->lambda[k] * off * off;
    for (size_t i = 0; i < c->d; i++)
      g[i] -= c->lambda[k] * off * c->q[i][k];
  }
  return 0;
}

static int prior_gradient(const double *theta, double *value, double *g,
                          void *user) {
  const cosine *c = user;
  *value = 0;
  for (size_t i = 0; i < c->d; i++) {
    *value -= 0.5 * theta[i] * theta[i];
    g[i] = -theta[i];
  }
  return 0;
}

static int likelihood(const double *theta, double *value, void *user) {
  double g[MOST];
  return likelihood_gradient(theta, value, g, user);
}

static int prior(const double *theta, double *value, void *user) {
  double g[MOST];
  return prior_gradient(theta, value, g, user);
}

/* ---- a chain ---- */

typedef struct chain {
  cosine cosine;
  tempera_model *model;
  tm_arena *arena;
  const tm_move_type *type;
  void *move; /* the state of the one move under test */
  tm_kernel *kernel;
  tm_evaluator evaluator;
  tm_point point;
} chain;

/* Remember the state that the kernel creates for the move under test. */
static chain *opening;

static tempera_status create_seen(tm_shared *shared, tm_arena *arena,
                                  void **state, tempera_error *error) {
  tempera_status status = opening->type->create(shared, arena, state, error);
  opening->move = *state;
  return status;
}

static void chain_open(chain *c, size_t d, const tm_move_type *type) {
  memset(c, 0, sizeof *c);
  cosine_fill(&c->cosine, d);
  tempera_parameter list = {"x",       TEMPERA_REAL, d,
                            -INFINITY, INFINITY,     TEMPERA_BOUNDS};
  tempera_model_spec spec = {.name = "cosine",
                             .parameters = &list,
                             .parameter_count = 1,
                             .log_likelihood = likelihood,
                             .log_prior = prior,
                             .log_likelihood_gradient = likelihood_gradient,
                             .log_prior_gradient = prior_gradient,
                             .user = &c->cosine};
  c->arena = tm_arena_create();
  c->type = type;
  assert_int_equal(tempera_model_create(&spec, &c->model, NULL), TEMPERA_OK);
  tm_move_type seen = *type;
  seen.create = create_seen;
  tm_move_type *kept = TM_NEW(c->arena, tm_move_type, 1);
  memcpy(kept, &seen, sizeof seen);
  const tm_move_type *list_of_one = kept;
  opening = c;
  assert_int_equal(
      tm_kernel_compose(c->model, &list_of_one, 1, c->arena, &c->kernel, NULL),
      TEMPERA_OK);
  assert_int_equal(tm_evaluator_create(c->model, c->arena, &c->evaluator, NULL),
                   TEMPERA_OK);
  assert_int_equal(tm_point_create(c->model, c->arena, &c->point, NULL),
                   TEMPERA_OK);
}

static void chain_close(chain *c) {
  assert_int_equal(c->evaluator.status, TEMPERA_OK);
  tm_evaluator_release(&c->evaluator);
  tempera_model_free(c->model);
  tm_arena_free(c->arena);
}

static void start_exactly(chain *c, double tau, tempera_random *random) {
  const cosine *m = &c->cosine;
  for (size_t i = 0; i < m->d; i++)
    c->point.theta[i] = 0;
  for (size_t k = 0; k < m->d; k++) {
    double precision = 1 + tau * m->lambda[k];
    double y = tau * m->lambda[k] / precision +
               tempera_random_normal(random) / sqrt(precision);
    for (size_t i = 0; i < m->d; i++)
      c->point.theta[i] += m->q[i][k] * y;
  }
  tm_evaluate_natural(&c->evaluator, &c->point);
}

/* Rounds of doubling length as in a run, all from a bad start: one state at
 * each of the taus, and one whose tau walks, by turns. */
static void warm_up(chain *c, int sweeps, tempera_random *random) {
  tm_point points[TAU_COUNT + 1];
  double taus[TAU_COUNT + 1] = {[TAU_COUNT] = 0.1};
  memcpy(taus, TAUS, sizeof TAUS);
  for (size_t i = 0; i < c->cosine.d; i++)
    c->point.theta[i] = 3;
  tm_evaluate_natural(&c->evaluator, &c->point);
  for (size_t t = 0; t <= TAU_COUNT; t++) {
    assert_int_equal(tm_point_create(c->model, c->arena, &points[t], NULL),
                     TEMPERA_OK);
    tm_point_copy(c->model, &c->point, &points[t]);
  }
  for (int n = 0, round_end = 100; n < sweeps; n++) {
    size_t t = (size_t)n % (TAU_COUNT + 1);
    (void)tm_kernel_sweep(c->kernel, &c->evaluator, &points[t], taus[t],
                          random);
    taus[TAU_COUNT] *= exp(0.1 * tempera_random_normal(random));
    taus[TAU_COUNT] = fmax(1e-3, fmin(1, taus[TAU_COUNT]));
    if (n + 1 == round_end) {
      tm_kernel_end_round(c->kernel);
      round_end = 2 * round_end + 100;
    }
  }
  tm_kernel_end_round(c->kernel);
  tm_kernel_freeze(c->kernel);
}

/* ---- the integrator ---- */

static void trajectories_run_back_to_their_start(void **state) {
  (void)state;
  chain c;
  chain_open(&c, 20, &tm_move_hmc);
  tempera_random random = tm_random(1, 0, TM_PURPOSE_TEST);
  tm_shared shared = {.model = c.model, .real_count = 20};
  size_t reals[20];
  shared.reals = reals;
  for (size_t i = 0; i < 20; i++)
    reals[i] = i;
  tm_leapfrog leapfrog;
  tm_point end;
  assert_int_equal(tm_leapfrog_create(&shared, c.arena, &leapfrog, NULL),
                   TEMPERA_OK);
  assert_int_equal(tm_point_create(c.model, c.arena, &end, NULL), TEMPERA_OK);
  start_exactly(&c, 0.3, &random);
  for (size_t i = 0; i < 20; i++)
    leapfrog.p[i] = tempera_random_normal(&random);
  tm_step step = {.evaluator = &c.evaluator, .tau = 0.3};
  tm_leapfrog_start(&leapfrog, &step, (tm_factor){.dimension = 20}, &c.point,
                    &end, NULL);
  double energy = tm_leapfrog_energy(&leapfrog), moved = 0, off = 0;
  for (int n = 0; n < 50; n++)
    tm_leapfrog_step(&leapfrog, 0.01);
  assert_true(fabs(tm_leapfrog_energy(&leapfrog) - energy) < 0.5);
  for (size_t i = 0; i < 20; i++) {
    moved = fmax(moved, fabs(end.u[i] - c.point.u[i]));
    leapfrog.p[i] = -leapfrog.p[i];
  }
  for (int n = 0; n < 50; n++)
    tm_leapfrog_step(&leapfrog, 0.01);
  for (size_t i = 0; i < 20; i++)
    off = fmax(off, fabs(end.u[i] - c.point.u[i]));
  assert_true(moved > 0.1);
  assert_true(off < 1e-11);
  assert_true(fabs(tm_leapfrog_energy(&leapfrog) - energy) < 1e-9);
  chain_close(&c);
}

/* Energy is conserved to second order in the step. */
static void energy_errors_fall_like_the_step_squared(void **state) {
  (void)state;
  chain c;
  chain_open(&c, 2, &tm_move_hmc);
  tempera_random random = tm_random(2, 0, TM_PURPOSE_TEST);
  size_t reals[2] = {0, 1};
  tm_shared shared = {.model = c.model, .real_count = 2, .reals = reals};
  tm_leapfrog leapfrog;
  tm_point end;
  assert_int_equal(tm_leapfrog_create(&shared, c.arena, &leapfrog, NULL),
                   TEMPERA_OK);
  assert_int_equal(tm_point_create(c.model, c.arena, &end, NULL), TEMPERA_OK);
  start_exactly(&c, 1, &random);
  tm_step step = {.evaluator = &c.evaluator, .tau = 1};
  double error[2];
  for (int fine = 0; fine < 2; fine++) {
    leapfrog.p[0] = 0.7;
    leapfrog.p[1] = -1.1;
    tm_leapfrog_start(&leapfrog, &step, (tm_factor){.dimension = 2}, &c.point,
                      &end, NULL);
    double energy = tm_leapfrog_energy(&leapfrog);
    for (int n = 0; n < (fine ? 70 : 7); n++)
      tm_leapfrog_step(&leapfrog, fine ? 1e-4 : 1e-3);
    error[fine] = fabs(tm_leapfrog_energy(&leapfrog) - energy);
  }
  assert_true(error[0] > 50 * error[1] && error[0] < 200 * error[1]);
  chain_close(&c);
}

/* ---- long runs ---- */

typedef struct outcome {
  double worst_z, z_square; /* over means and squares of all directions */
  double least_ess, mean_ess;
  double acceptance, gradients, likelihoods; /* per sweep */
} outcome;

static double batch_sums[2 * MOST][BATCHES];

static void run_batches(chain *c, double tau, uint64_t seed, outcome *out) {
  const cosine *m = &c->cosine;
  tempera_random random = tm_random(seed, 1, TM_PURPOSE_TEST);
  start_exactly(c, tau, &random);
  uint64_t gradients = c->evaluator.gradient_evaluations;
  uint64_t likelihoods = c->evaluator.likelihood_evaluations;
  memset(batch_sums, 0, sizeof batch_sums);
  for (int n = 0; n < BATCHES * BATCH; n++) {
    out->acceptance +=
        tm_kernel_sweep(c->kernel, &c->evaluator, &c->point, tau, &random)
            .acceptance /
        (BATCHES * BATCH);
    for (size_t k = 0; k < m->d; k++) {
      double precision = 1 + tau * m->lambda[k];
      double y =
          (direction(m, c->point.theta, k) - tau * m->lambda[k] / precision) *
          sqrt(precision);
      batch_sums[2 * k][n / BATCH] += y / BATCH;
      batch_sums[2 * k + 1][n / BATCH] += (y * y - 1) / BATCH;
    }
  }
  double sweeps = BATCHES * BATCH;
  out->gradients =
      (double)(c->evaluator.gradient_evaluations - gradients) / sweeps;
  out->likelihoods =
      (double)(c->evaluator.likelihood_evaluations - likelihoods) / sweeps;
}

/* Standardised directions against mean 0 and mean square 1; the effective
 * size of the sample for means by batches. */
static outcome long_run(chain *c, double tau, uint64_t seed) {
  outcome out = {.least_ess = INFINITY};
  size_t d = c->cosine.d;
  run_batches(c, tau, seed, &out);
  for (size_t i = 0; i < 2 * d; i++) {
    double mean = 0, square = 0;
    for (int b = 0; b < BATCHES; b++) {
      mean += batch_sums[i][b] / BATCHES;
      square += batch_sums[i][b] * batch_sums[i][b] / BATCHES;
    }
    double variance = (square - mean * mean) * BATCHES / (BATCHES - 1);
    double z = mean / sqrt(variance / BATCHES);
    out.worst_z = fmax(out.worst_z, fabs(z));
    out.z_square += z * z / (2 * (double)d);
    if (i % 2)
      continue;
    double ess = BATCHES / variance;
    out.least_ess = fmin(out.least_ess, ess);
    out.mean_ess += ess / (double)d;
  }
  return out;
}

static void report(const char *what, double tau, const outcome *out) {
  double cost = out->likelihoods + 2 * out->gradients, n = BATCHES * BATCH;
  printf("  %s, tau %g: acceptance %.2f, per sweep %.1f gradients and %.1f "
         "likelihoods; ESS per sweep %.2f (least %.2f), per 100 evaluations "
         "%.2f (least %.2f); worst z %.1f\n",
         what, tau, out->acceptance, out->gradients, out->likelihoods,
         out->mean_ess / n, out->least_ess / n,
         100 * out->mean_ess / (n * cost), 100 * out->least_ess / (n * cost),
         out->worst_z);
}

static void hmc_samples_a_correlated_gaussian_in_50_dimensions(void **state) {
  (void)state;
  chain c;
  chain_open(&c, 50, &tm_move_hmc);
  tempera_random random = tm_random(3, 0, TM_PURPOSE_TEST);
  warm_up(&c, 6000, &random);
  for (size_t t = 0; t < TAU_COUNT; t++) {
    outcome out = long_run(&c, TAUS[t], 10 + t);
    tm_hmc_view view = tm_hmc_inspect(c.move, TAUS[t]);
    report("hmc in 50 dimensions", TAUS[t], &out);
    printf("    step %.3f, length %u, divergences %g\n", view.step, view.length,
           (double)view.divergences);
    assert_true(out.worst_z < 4);
    assert_true(out.z_square > 0.6 && out.z_square < 1.5);
    assert_true(fabs(out.acceptance - 0.8) < 0.08);
    assert_true(out.least_ess > 0.05 * BATCHES * BATCH);
  }
  chain_close(&c);
}

/* ---- the choice ---- */

static double share_of(const tm_mix_view *view, const char *name) {
  for (size_t i = 0; i < view->count; i++)
    if (strcmp(view->names[i], name) == 0)
      return view->shares[i];
  return 0;
}

static void auto_prefers_hmc_in_50_dimensions(void **state) {
  (void)state;
  chain c;
  chain_open(&c, 50, &tm_move_mix);
  tempera_random random = tm_random(4, 0, TM_PURPOSE_TEST);
  warm_up(&c, 6000, &random);
  for (size_t t = 0; t < TAU_COUNT; t++) {
    tm_mix_view view = tm_mix_inspect(c.move, TAUS[t]);
    outcome out = long_run(&c, TAUS[t], 20 + t);
    report("auto in 50 dimensions", TAUS[t], &out);
    for (size_t i = 0; i < view.count; i++)
      printf("    %s: share %.2f, efficiency %.2g\n", view.names[i],
             view.shares[i], view.efficiency[i]);
    assert_int_equal(view.count, 5);
    /* A twentieth of the evaluations at least is left to each walk. */
    assert_true(share_of(&view, "hmc") + share_of(&view, "hmc-long") > 0.6);
    assert_true(50 * share_of(&view, "random-walk") >=
                0.045 * (out.likelihoods + 2 * out.gradients));
    assert_true(50 * share_of(&view, "joint") >=
                0.045 * (out.likelihoods + 2 * out.gradients));
    assert_true(out.likelihoods < 2 * out.gradients);
    assert_true(out.worst_z < 4);
    assert_true(out.z_square > 0.6 && out.z_square < 1.5);
  }
  chain_close(&c);
}

static void auto_in_one_dimension_is_one_componentwise_step(void **state) {
  (void)state;
  chain c;
  chain_open(&c, 1, &tm_move_mix);
  tempera_random random = tm_random(5, 0, TM_PURPOSE_TEST);
  warm_up(&c, 1000, &random);
  tm_mix_view view = tm_mix_inspect(c.move, 1);
  assert_int_equal(view.count, 1);
  assert_string_equal(view.names[0], "random-walk");
  outcome out = long_run(&c, 1, 30);
  report("auto in one dimension", 1, &out);
  assert_true(out.likelihoods == 1 && out.gradients == 0);
  assert_true(out.worst_z < 4);
  chain_close(&c);
}

/* Without gradients the joint walk wins where coordinates are correlated. */
static void auto_without_gradients_chooses_between_walks(void **state) {
  (void)state;
  chain c;
  chain_open(&c, 5, &tm_move_mix);
  c.model->spec.log_likelihood_gradient = NULL;
  tm_arena *arena = tm_arena_create();
  const tm_move_type *types[] = {&tm_move_mix};
  tm_move_type seen = tm_move_mix;
  seen.create = create_seen;
  types[0] = &seen;
  opening = &c;
  assert_int_equal(tm_kernel_compose(c.model, types, 1, arena, &c.kernel, NULL),
                   TEMPERA_OK);
  tempera_random random = tm_random(6, 0, TM_PURPOSE_TEST);
  warm_up(&c, 4000, &random);
  tm_mix_view at_one = tm_mix_inspect(c.move, 1);
  assert_int_equal(at_one.count, 3);
  assert_true(share_of(&at_one, "joint") > 0.7);
  outcome out = long_run(&c, 1, 40);
  report("auto without gradients in 5 dimensions", 1, &out);
  assert_true(out.gradients == 0 && out.likelihoods == 1);
  assert_true(out.worst_z < 4);
  chain_close(&c);
  tm_arena_free(arena);
}

static void hmc_and_choice_allocate_nothing(void **state) {
  (void)state;
  const tm_move_type *types[] = {&tm_move_hmc, &tm_move_mix};
  for (size_t i = 0; i < 2; i++) {
    chain c;
    chain_open(&c, 10, types[i]);
    long before = heap_count();
    for (uint64_t round = 0; round < 3; round++) {
      for (size_t t = 0; t < TAU_COUNT; t++)
        (void)long_run(&c, TAUS[t], 50 + round);
      tm_kernel_end_round(c.kernel);
    }
    tm_kernel_freeze(c.kernel);
    (void)long_run(&c, 1, 60);
    assert_int_equal(heap_count(), before);
    chain_close(&c);
  }
}

/* A likelihood a thousand times narrower than the prior, from a start far off:
 * early trajectories diverge, none is accepted, and the step is found. */
static void divergences_are_rejected_and_counted(void **state) {
  (void)state;
  chain c;
  chain_open(&c, 2, &tm_move_hmc);
  c.cosine.lambda[0] = c.cosine.lambda[1] = 1e6;
  tempera_random random = tm_random(8, 0, TM_PURPOSE_TEST);
  warm_up(&c, 5000, &random);
  tm_hmc_view view = tm_hmc_inspect(c.move, 1);
  assert_true(view.divergences > 0);
  outcome out = long_run(&c, 1, 70);
  report("hmc on a narrow target", 1, &out);
  assert_true(fabs(out.acceptance - 0.8) < 0.15);
  assert_true(out.worst_z < 4);
  assert_int_equal(tm_hmc_inspect(c.move, 1).divergences, view.divergences);
  chain_close(&c);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(trajectories_run_back_to_their_start),
      cmocka_unit_test(energy_errors_fall_like_the_step_squared),
      cmocka_unit_test(hmc_samples_a_correlated_gaussian_in_50_dimensions),
      cmocka_unit_test(auto_prefers_hmc_in_50_dimensions),
      cmocka_unit_test(auto_in_one_dimension_is_one_componentwise_step),
      cmocka_unit_test(auto_without_gradients_chooses_between_walks),
      cmocka_unit_test(hmc_and_choice_allocate_nothing),
      cmocka_unit_test(divergences_are_rejected_and_counted),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
