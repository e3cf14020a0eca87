/* Facts about jumps along the ridge: they leave exact tempered posteriors
 * invariant, visit modes by their mass, allocate nothing; and what they and
 * the Laplace ridge do on the paper's models. */
#include "kernels/move.h"

#include "alone.h"
#include "failing_memory.h"
#include "family_wise.h"
#include "paper_support.h"
#include "statistical/exact_models.h"

#include <jansson.h>

enum { REPLICATES = 40000, SWEEPS = 3, STATISTICS = 8 };

static const double TAUS[] = {0, 0.02, 0.3, 1};
enum { TAU_COUNT = sizeof TAUS / sizeof *TAUS };
static const tm_move_type *move = &tm_move_jump; /* under test */

typedef struct chain {
  tempera_model *model;
  tm_laplace *laplace;
  tm_arena *arena;
  tm_kernel *kernel;
  tm_evaluator evaluator;
  tm_point point;
} chain;

static chain chain_open(tempera_model *model, const double *starts,
                        size_t count) {
  chain c = {.model = model, .arena = tm_arena_create()};
  tm_store_settings settings = {.seed = 1, .threads = 1};
  tempera_error error = {0};
  if (laplace_alone(model, &settings, 0, starts, count, &c.laplace, &error))
    fail_msg("%s: %s", model->spec.name, error.message);
  assert_int_equal(tm_kernel_compose(model, &move, 1, c.arena, &c.kernel, NULL),
                   TEMPERA_OK);
  tm_kernel_set_laplace(c.kernel, c.laplace);
  assert_int_equal(tm_evaluator_create(model, c.arena, &c.evaluator, NULL),
                   TEMPERA_OK);
  assert_int_equal(tm_point_create(model, c.arena, &c.point, NULL), TEMPERA_OK);
  return c;
}

static void chain_close(chain *c) {
  assert_int_equal(c->evaluator.status, TEMPERA_OK);
  tm_evaluator_release(&c->evaluator);
  laplace_alone_free(c->laplace);
  tempera_model_free(c->model);
  tm_arena_free(c->arena);
}

static double sweep(chain *c, double tau, tempera_random *random) {
  return tm_kernel_sweep(c->kernel, &c->evaluator, &c->point, tau, random)
      .acceptance;
}

/* ---- models with closed forms */

typedef void (*draw_fn)(double tau, tempera_random *random, double *theta);

static void start_at(chain *c, draw_fn draw, double tau,
                     tempera_random *random) {
  draw(tau, random, c->point.theta);
  tm_evaluate_natural(&c->evaluator, &c->point);
}

static void warm_up(chain *c, draw_fn draw) {
  tempera_random random = tm_random(5, 1, TM_PURPOSE_TEST);
  for (int i = 0; i < 4000; i++) {
    double u = tempera_random_uniform(&random);
    double tau = u < 0.8 ? TAUS[(int)(5 * u)] : pow(10, -60 * (1 - u));
    start_at(c, draw, tau, &random);
    (void)sweep(c, tau, &random);
  }
  tm_kernel_freeze(c->kernel);
}

/* What is compared before and after: a few functions of theta, odd and even,
 * of one value and of two, of order and of none. */
static void statistics_of(const double *theta, size_t size, double *out) {
  double least = theta[0], most = theta[0];
  for (size_t i = 1; i < size; i++) {
    least = fmin(least, theta[i]);
    most = fmax(most, theta[i]);
  }
  double x = theta[0], y = theta[size - 1];
  const double values[STATISTICS] = {atan(x),     cos(x),     x > y,
                                     atan(x * y), least,      atan(most),
                                     cos(3 * y),  fabs(x) < 1};
  memcpy(out, values, sizeof values);
}

/* From exact draws, a few sweeps change no expectation. The largest of the
 * mean differences, in standard errors. */
static double largest_change(chain *c, draw_fn draw, double tau, int replicates,
                             uint64_t seed, double *acceptance) {
  double sum[STATISTICS] = {0}, square[STATISTICS] = {0}, largest = 0;
  tempera_random random = tm_random(seed, 2, TM_PURPOSE_TEST);
  *acceptance = 0;
  for (int r = 0; r < replicates; r++) {
    double before[STATISTICS], after[STATISTICS];
    start_at(c, draw, tau, &random);
    statistics_of(c->point.theta, c->model->size, before);
    for (int k = 0; k < SWEEPS; k++)
      *acceptance += sweep(c, tau, &random) / (SWEEPS * replicates);
    statistics_of(c->point.theta, c->model->size, after);
    for (int i = 0; i < STATISTICS; i++) {
      double change = after[i] - before[i];
      sum[i] += change / replicates;
      square[i] += change * change / replicates;
    }
  }
  for (int i = 0; i < STATISTICS; i++) {
    double error = sqrt((square[i] - sum[i] * sum[i]) / replicates);
    if (error > 0)
      largest = fmax(largest, fabs(sum[i]) / error);
  }
  return largest;
}

/* Some 700 means are looked at; see family_wise.h. A chain that never moved
 * would pass, so it must move. */
static double check_invariance(chain *c, draw_fn draw, double tau,
                               uint64_t seed) {
  double acceptance;
  double z = largest_change(c, draw, tau, REPLICATES, seed, &acceptance);
  if (!(acceptance > 0.01) || !(z > 0))
    fail_msg("%s at tau = %g: nothing moves", c->model->spec.name, tau);
  if (!(z < family_z()))
    fail_msg("%s at tau = %g: off by %g standard errors", c->model->spec.name,
             tau, z);
  return acceptance;
}

static void check_model(const tempera_model_spec *spec, draw_fn draw) {
  tempera_model *model = NULL;
  double starts[16 * 12];
  tempera_random random = tm_random(4, 3, TM_PURPOSE_TEST);
  assert_int_equal(tempera_model_create(spec, &model, NULL), TEMPERA_OK);
  for (size_t i = 0; i < 16; i++)
    draw(i < 12 ? 1 : 0.1, &random, starts + i * model->size);
  chain c = chain_open(model, starts, 16);
  if (c.laplace->view.absent)
    fail_msg("%s: %s", spec->name, c.laplace->view.reason);
  warm_up(&c, draw);
  double acceptance[TAU_COUNT];
  for (size_t t = 0; t < TAU_COUNT; t++)
    acceptance[t] = check_invariance(&c, draw, TAUS[t], t);
  print_message("%-10s acceptance %.2f %.2f %.2f %.2f at tau %g %g %g %g%s\n",
                spec->name, acceptance[0], acceptance[1], acceptance[2],
                acceptance[3], TAUS[0], TAUS[1], TAUS[2], TAUS[3],
                spec->prior_normalised ? ", with prior" : "");
  chain_close(&c);
}

static void jumps_keep_the_tempered_posterior(void **state) {
  (void)state;
  for (size_t m = 0; m < EXACT_COUNT_OF; m++)
    check_model(&EXACT_MODELS[m].spec, EXACT_MODELS[m].draw);
}

static void walks_about_the_ridge_keep_it(void **state) {
  (void)state;
  int looked_at = 0;
  move = &tm_move_ridge_walk;
  for (size_t m = 0; m < EXACT_COUNT_OF; m++) {
    tempera_model *model = NULL;
    assert_int_equal(tempera_model_create(&EXACT_MODELS[m].spec, &model, NULL),
                     TEMPERA_OK);
    bool applies = tm_move_ridge_walk.applies(model);
    tempera_model_free(model);
    if (!applies)
      continue;
    check_model(&EXACT_MODELS[m].spec, EXACT_MODELS[m].draw);
    looked_at++;
  }
  move = &tm_move_jump;
  assert_true(looked_at > 1);
}

static void jumps_with_a_share_of_the_prior_keep_it_too(void **state) {
  (void)state;
  const char *normalised[] = {"mean", "half", "count", "few"};
  for (size_t m = 0; m < EXACT_COUNT_OF; m++)
    for (size_t i = 0; i < 4; i++)
      if (strcmp(EXACT_MODELS[m].spec.name, normalised[i]) == 0) {
        tempera_model_spec spec = EXACT_MODELS[m].spec;
        spec.prior_normalised = true;
        check_model(&spec, EXACT_MODELS[m].draw);
      }
}

/* ---- labels: x_k ~ N(0, 25), p ~ Dirichlet(2); the k-th smallest x is seen
 * at 3 (k - middle) with precision 10, and its p in 2 + k counts. Drawn by
 * rejection of unsorted x's, then relabelled. ---- */

static size_t K;

static double centre_of(size_t k) {
  return 3 * ((double)k - 0.5 * (double)(K - 1));
}

EXACT_DENSITY(labels_likelihood) {
  (void)user;
  *value = 0;
  for (size_t i = 0; i < K; i++) {
    size_t rank = 0;
    for (size_t j = 0; j < K; j++)
      rank += theta[j] < theta[i];
    *value += (2 + (double)rank) * log(theta[K + i]) -
              5 * exact_square(theta[i] - centre_of(rank));
  }
  return 0;
}

EXACT_DENSITY(labels_prior) {
  (void)user;
  *value = lgamma(2 * (double)K);
  for (size_t i = 0; i < K; i++)
    *value += log(theta[K + i]) - 0.5 * exact_square(theta[i]) / 25 -
              0.5 * log(2 * M_PI * 25);
  return 0;
}

static bool draw_sorted(double tau, tempera_random *random, double *x) {
  for (size_t k = 0; k < K; k++) {
    double precision = 1.0 / 25 + 10 * tau;
    x[k] = 10 * tau * centre_of(k) / precision +
           tempera_random_normal(random) / sqrt(precision);
    if (k > 0 && x[k] < x[k - 1])
      return false;
  }
  return true;
}

static void labels_draw(double tau, tempera_random *random, double *theta) {
  double x[8], p[8], sum = 0;
  while (!draw_sorted(tau, random, x))
    ;
  for (size_t k = 0; k < K; k++)
    sum += p[k] = tempera_random_gamma(random, 2 + tau * (2 + (double)k));
  size_t order[8];
  for (size_t k = 0; k < K; k++) {
    size_t i = (size_t)tempera_random_below(random, k + 1);
    order[k] = order[i];
    order[i] = k;
  }
  for (size_t k = 0; k < K; k++) {
    theta[k] = x[order[k]];
    theta[K + k] = p[order[k]] / sum;
  }
}

static int labels_prior_draw(tempera_random *random, double *theta,
                             void *user) {
  (void)user;
  labels_draw(0, random, theta);
  return 0;
}

static void jumps_over_labels_keep_the_tempered_posterior(void **state) {
  (void)state;
  const size_t sizes[] = {2, 3, 4, 6}; /* 6 are too many to write out */
  for (size_t s = 0; s < 4; s++)
    for (int normalised = 0; normalised < 2; normalised++) {
      K = sizes[s];
      const tempera_parameter list[2] = {
          {.name = "x", .size = K, .lower = -INFINITY, .upper = INFINITY},
          {.name = "p", .size = K, .upper = 1, .transform = TEMPERA_SIMPLEX}};
      tempera_model_spec spec = {.name = "labels",
                                 .parameters = list,
                                 .parameter_count = 2,
                                 .log_likelihood = labels_likelihood,
                                 .log_prior = labels_prior,
                                 .prior_draw = labels_prior_draw,
                                 .prior_normalised = normalised};
      check_model(&spec, labels_draw);
    }
}

/* ---- two modes in five dimensions, 0.8 and 0.2 ---- */

static const double WIDTH[2] = {0.5, 0.3}, CENTRE[2] = {4, -3};

EXACT_DENSITY(pair_likelihood) {
  (void)user;
  double part[2];
  for (int k = 0; k < 2; k++) {
    part[k] = log(k ? 0.2 : 0.8) - 5 * log(WIDTH[k]);
    for (int i = 0; i < 5; i++)
      part[k] -= 0.5 * exact_square((theta[i] - CENTRE[k]) / WIDTH[k]);
  }
  *value = fmax(part[0], part[1]) + log1p(exp(-fabs(part[0] - part[1])));
  return 0;
}

EXACT_DENSITY(flat_prior) {
  (void)user;
  *value = 0;
  for (int i = 0; i < 5; i++)
    *value -= 0.5 * theta[i] * theta[i] / 1e6;
  return 0;
}

static tempera_model *pair_model(void) {
  static const tempera_parameter list = {
      .name = "x", .size = 5, .lower = -INFINITY, .upper = INFINITY};
  tempera_model_spec spec = {.name = "pair",
                             .parameters = &list,
                             .parameter_count = 1,
                             .log_likelihood = pair_likelihood,
                             .log_prior = flat_prior};
  tempera_model *model = NULL;
  assert_int_equal(tempera_model_create(&spec, &model, NULL), TEMPERA_OK);
  return model;
}

static const double PAIR_STARTS[20] = {3, 5, 2,  4,  5,  -1, -2, -3, -4, -2,
                                       1, 2, -1, -3, -5, 6,  1,  3,  2,  4};

static void modes_are_visited_by_their_mass(void **state) {
  (void)state;
  enum { BATCHES = 100, LENGTH = 1000 };
  chain c = chain_open(pair_model(), PAIR_STARTS, 4);
  tempera_random random = tm_random(6, 0, TM_PURPOSE_TEST);
  memcpy(c.point.theta, PAIR_STARTS, 5 * sizeof(double));
  tm_evaluate_natural(&c.evaluator, &c.point);
  for (int i = 0; i < 500; i++)
    (void)sweep(&c, 1, &random);
  tm_kernel_freeze(c.kernel);
  double sum = 0, square = 0, acceptance = 0;
  for (int b = 0; b < BATCHES; b++) {
    double share = 0;
    for (int i = 0; i < LENGTH; i++) {
      acceptance += sweep(&c, 1, &random) / (BATCHES * LENGTH);
      share += (c.point.theta[0] < 0) / (double)LENGTH;
    }
    sum += share / BATCHES;
    square += share * share / BATCHES;
  }
  double error = sqrt((square - sum * sum) / (BATCHES - 1));
  print_message("share %.4f +- %.4f, acceptance %.2f\n", sum, error,
                acceptance);
  assert_near(sum, 0.2, 4 * error);
  assert_true(error < 0.005);
  assert_true(acceptance > 0.5);
  chain_close(&c);
}

/* ---- promises of kernel.h ---- */

static void a_sweep_allocates_nothing(void **state) {
  (void)state;
  chain c = chain_open(pair_model(), PAIR_STARTS, 4);
  tempera_random random = tm_random(7, 0, TM_PURPOSE_TEST);
  memcpy(c.point.theta, PAIR_STARTS, 5 * sizeof(double));
  tm_evaluate_natural(&c.evaluator, &c.point);
  long before = heap_count();
  for (int i = 0; i < 3000; i++)
    (void)sweep(&c, i % 2 ? 1 : 1e-3, &random);
  assert_int_equal(heap_count(), before);
  chain_close(&c);
}

static void without_a_ridge_jumps_are_idle(void **state) {
  (void)state;
  chain c = chain_open(pair_model(), PAIR_STARTS, 4);
  tempera_random random = tm_random(8, 0, TM_PURPOSE_TEST);
  memcpy(c.point.theta, PAIR_STARTS, 5 * sizeof(double));
  tm_evaluate_natural(&c.evaluator, &c.point);
  tm_kernel_set_laplace(c.kernel, NULL);
  uint64_t before = c.evaluator.likelihood_evaluations;
  for (int i = 0; i < 100; i++)
    (void)sweep(&c, 1, &random);
  assert_int_equal(c.evaluator.likelihood_evaluations, before);
  tm_kernel_set_laplace(c.kernel, c.laplace);
  for (int i = 0; i < 100; i++)
    (void)sweep(&c, 1, &random);
  assert_true(c.evaluator.likelihood_evaluations > before);
  /* Once frozen, nothing changes any more. */
  tm_kernel_freeze(c.kernel);
  tm_kernel_set_laplace(c.kernel, NULL);
  before = c.evaluator.likelihood_evaluations;
  for (int i = 0; i < 100; i++)
    (void)sweep(&c, 1, &random);
  assert_true(c.evaluator.likelihood_evaluations > before);
  chain_close(&c);
}

/* ---- the paper's models ---- */

/* The best of a thousand prior draws, as a run finds its starts. */
static void best_draws(const tempera_model *model, double *starts,
                       size_t count) {
  double best[8], theta[64];
  tempera_random random = tm_random(1, 0, TM_PURPOSE_START);
  for (size_t i = 0; i < 1000; i++) {
    draw_prior(model, &random, theta);
    double height = likelihood_at(model, theta);
    size_t slot = 0;
    if (i < count)
      slot = i;
    else
      for (size_t k = 1; k < count; k++)
        slot = best[k] < best[slot] ? k : slot;
    if (i >= count && best[slot] >= height)
      continue;
    best[slot] = height;
    memcpy(starts + slot * model->size, theta, model->size * sizeof(double));
  }
}

/* Acceptance of jumps at this tau, on a chain that also walks. */
static double measured(chain *c, tm_kernel *walk, double tau) {
  tempera_random random = tm_random(9, 0, TM_PURPOSE_TEST);
  size_t jumps = 0;
  memcpy(c->point.u, tm_laplace_nearest(c->laplace, tau)->modes[0].u,
         c->model->dimension * sizeof(double));
  tm_evaluate(&c->evaluator, &c->point);
  double sum = 0;
  for (int i = 0; i < 3000; i++) {
    uint64_t before = c->evaluator.likelihood_evaluations;
    double acceptance = sweep(c, tau, &random);
    if (i >= 500 && c->evaluator.likelihood_evaluations > before) {
      sum += acceptance;
      jumps++;
    }
    (void)tm_kernel_sweep(walk, &c->evaluator, &c->point, tau, &random);
  }
  return sum / (double)jumps;
}

static void report(chain *c, const double *taus, size_t count,
                   const double *truth, double *acceptance) {
  const tm_laplace_view *view = &c->laplace->view;
  tm_work work = tm_store_work(c->laplace->store);
  tm_kernel_settings settings = {.kind = TEMPERA_KERNEL_RANDOM_WALK};
  tm_kernel *walk = NULL;
  assert_int_equal(tm_kernel_create(c->model, &settings, c->arena, &walk, NULL),
                   TEMPERA_OK);
  print_message("%s: %zu knots, %zu climbs, %llu likelihoods, %llu gradients\n",
                c->model->spec.name, view->knot_count, work.optimisations,
                (unsigned long long)work.likelihood_evaluations,
                (unsigned long long)work.gradient_evaluations);
  for (size_t i = 0; i < count; i++) {
    acceptance[i] = measured(c, walk, taus[i]);
    print_message("  tau %8.2g  log z Laplace %9.3f  truth %9.3f  "
                  "acceptance of jumps %.3f\n",
                  taus[i], tm_laplace_log_z(c->laplace, taus[i]), truth[i],
                  acceptance[i]);
  }
}

/* truth.json: sir.tempered.logz at the tau nearest to this one. */
static void sir_truth(double *tau, double *log_z) {
  json_t *root = json_load_file(SOURCE_DIR "/models/paper/truth.json", 0, NULL);
  assert_non_null(root);
  json_t *tempered = json_object_get(json_object_get(root, "sir"), "tempered");
  json_t *taus = json_object_get(tempered, "tau");
  json_t *values = json_object_get(tempered, "logz");
  size_t best = 0;
  for (size_t i = 0; i < json_array_size(taus); i++)
    if (fabs(json_number_value(json_array_get(taus, i)) - *tau) <
        fabs(json_number_value(json_array_get(taus, best)) - *tau))
      best = i;
  *tau = json_number_value(json_array_get(taus, best));
  *log_z = json_number_value(json_array_get(values, best));
  json_decref(root);
}

static void sir_is_found_within_ten_thousand_evaluations(void **state) {
  (void)state;
  enum { POINTS = 12 };
  double taus[POINTS] = {0,    1e-6, 1e-5, 1e-4, 1e-3, 4e-3,
                         0.01, 0.02, 0.05, 0.2,  0.5,  1};
  double truth[POINTS], acceptance[POINTS], starts[8 * 3];
  for (int i = 0; i < POINTS; i++)
    sir_truth(&taus[i], &truth[i]);
  tempera_model *model = paper_model("sir", "eyam.json");
  best_draws(model, starts, 8);
  chain c = chain_open(model, starts, 8);
  report(&c, taus, POINTS, truth, acceptance);
  assert_true(tm_store_work(c.laplace->store).likelihood_evaluations < 10000);
  assert_near(tm_laplace_log_z(c.laplace, 1), truth[POINTS - 1], 0.02);
  assert_true(acceptance[POINTS - 1] > 0.3);
  for (int i = 0; i < POINTS; i++)
    assert_near(tm_laplace_log_z(c.laplace, taus[i]), truth[i], 2);
  chain_close(&c);
}

static void galaxy_is_found_within_fifteen_thousand_gradients(void **state) {
  (void)state;
  enum { POINTS = 7 };
  double taus[POINTS] = {0, 1e-3, 0.01, 0.05, 0.2, 0.5, 1};
  double truth[POINTS] = {0, NAN, NAN, NAN, NAN, NAN, -226.78};
  double acceptance[POINTS], starts[8 * 9];
  tempera_model *model = paper_model("galaxy", "galaxy-3.json");
  best_draws(model, starts, 8);
  chain c = chain_open(model, starts, 8);
  report(&c, taus, POINTS, truth, acceptance);
  const tm_laplace_view *view = &c.laplace->view;
  assert_int_equal(view->labels.count, 3);
  assert_true(tm_store_spent(c.laplace->store) < 15000);
  assert_near(tm_laplace_log_z(c.laplace, 1), -226.78, 1.5);
  chain_close(&c);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(jumps_keep_the_tempered_posterior),
      cmocka_unit_test(walks_about_the_ridge_keep_it),
      cmocka_unit_test(jumps_with_a_share_of_the_prior_keep_it_too),
      cmocka_unit_test(jumps_over_labels_keep_the_tempered_posterior),
      cmocka_unit_test(modes_are_visited_by_their_mass),
      cmocka_unit_test(a_sweep_allocates_nothing),
      cmocka_unit_test(without_a_ridge_jumps_are_idle),
      cmocka_unit_test(sir_is_found_within_ten_thousand_evaluations),
      cmocka_unit_test(galaxy_is_found_within_fifteen_thousand_gradients),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
