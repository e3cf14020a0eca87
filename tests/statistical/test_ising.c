/* Many integers: an Ising model at the critical point, free edges, against the
 * transfer matrix. Nothing may go through the integers' values one by one. */
#include "kernels/kernel.h"
#include "whole_run.h"

#include <math.h>

enum { MOST = 8 };
static const double BETA = 0.44068679350977147; /* log(1 + sqrt 2) / 2 */

/* The length of a side, and how often each callback was asked. */
typedef struct lattice {
  int side;
  size_t whole, parts;
} lattice;

static double spin(const double *s, int side, int i, int j) {
  bool outside = i < 0 || j < 0 || i >= side || j >= side;
  return outside ? 0 : 2 * s[i * side + j] - 1;
}

static int likelihood(const double *s, double *value, void *user) {
  lattice *l = user;
  double sum = 0;
  for (int i = 0; i < l->side; i++)
    for (int j = 0; j < l->side; j++)
      sum += spin(s, l->side, i, j) *
             (spin(s, l->side, i + 1, j) + spin(s, l->side, i, j + 1));
  *value = BETA * sum;
  l->whole++;
  return 0;
}

static int prior(const double *s, double *value, void *user) {
  const lattice *l = user;
  (void)s;
  *value = -l->side * l->side * log(2);
  return 0;
}

static int terms(const double *s, size_t site, double *log_likelihood,
                 double *log_prior, void *user) {
  lattice *l = user;
  int i = (int)site / l->side, j = (int)site % l->side;
  *log_likelihood = BETA * spin(s, l->side, i, j) *
                    (spin(s, l->side, i - 1, j) + spin(s, l->side, i + 1, j) +
                     spin(s, l->side, i, j - 1) + spin(s, l->side, i, j + 1));
  *log_prior = 0;
  l->parts++;
  return 0;
}

static int wrong_terms(const double *s, size_t site, double *log_likelihood,
                       double *log_prior, void *user) {
  int answer = terms(s, site, log_likelihood, log_prior, user);
  *log_likelihood *= 1.001;
  return answer;
}

static int draw(tempera_random *random, double *s, void *user) {
  const lattice *l = user;
  for (int i = 0; i < l->side * l->side; i++)
    s[i] = tempera_random_uniform(random) < 0.5;
  return 0;
}

static double along(unsigned row, int side) {
  double sum = 0;
  for (int i = 0; i + 1 < side; i++)
    sum += ((row >> i) & 1) == ((row >> (i + 1)) & 1) ? 1 : -1;
  return sum;
}

static double across(unsigned a, unsigned b, int side) {
  return side - 2 * __builtin_popcount(a ^ b);
}

/* Row after row; log of the mean of L over the prior. */
static double exact_log_z(int side) {
  unsigned rows = 1U << side;
  double now[1 << MOST], next[1 << MOST], total = 0;
  for (unsigned a = 0; a < rows; a++)
    now[a] = exp(BETA * along(a, side));
  for (int row = 1; row < side; row++) {
    for (unsigned a = 0; a < rows; a++) {
      next[a] = 0;
      for (unsigned b = 0; b < rows; b++)
        next[a] += now[b] * exp(BETA * (across(a, b, side) + along(a, side)));
    }
    memcpy(now, next, sizeof now);
  }
  for (unsigned a = 0; a < rows; a++)
    total += now[a];
  return log(total) - side * side * log(2);
}

static tempera_model *ising(lattice *l, tempera_terms_fn by_site) {
  size_t sites = (size_t)l->side * (size_t)l->side;
  const tempera_parameter s = {"s", TEMPERA_INTEGER, sites, 0,
                               1,   TEMPERA_BOUNDS};
  tempera_model_spec spec = {.name = "ising",
                             .parameters = &s,
                             .parameter_count = 1,
                             .log_likelihood = likelihood,
                             .log_prior = prior,
                             .prior_draw = draw,
                             .prior_normalised = true,
                             .user = l,
                             .integer_terms = by_site,
                             .integer_terms_cost = 2 / (double)sites};
  return make_model(&spec);
}

static void check_evidence(int side, uint64_t seed, size_t iterations,
                           tempera_terms_fn by_site, double most_se) {
  lattice l = {.side = side};
  double exact = exact_log_z(side);
  tempera_options o = tempera_options_default();
  o.seed = seed;
  o.iterations = iterations;
  o.threads = 1; /* for the counts */
  tempera_model *model = ising(&l, by_site);
  tempera_summary *s = run_model(model, &o);
  print_message("%d x %d, seed %d: log Z %.4f se %.4f error %+.4f, %zu trips, "
                "%.3g evaluations (%.3g whole, %.3g parts)\n",
                side, side, (int)seed, s->log_z, s->se, s->log_z - exact,
                s->round_trips, (double)s->likelihood_evaluations,
                (double)l.whole, (double)l.parts);
  assert_true(s->se > 0 && s->se < most_se);
  assert_true(fabs(s->log_z - exact) < 4 * s->se);
  assert_true(s->reliable && s->round_trips > 200);
  double counted = (double)l.whole + 2. / side / side * (double)l.parts;
  assert_true(fabs((double)s->likelihood_evaluations - counted) <
              0.01 * counted + 100);
  tempera_summary_free(s);
  tempera_model_free(model);
}

static void ising_has_its_evidence(void **state) {
  (void)state;
  assert_true(fabs(exact_log_z(5) - 4.3754) < 1e-4);
  assert_true(fabs(exact_log_z(8) - 12.5630) < 1e-4);
  for (uint64_t seed = 1; seed <= 3; seed++)
    check_evidence(5, seed, 12000, NULL, 0.06);
}

static void it_has_it_by_the_terms_of_single_sites(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 3; seed++) {
    check_evidence(5, seed, 12000, terms, 0.06);
    check_evidence(8, seed, 12000, terms, 0.12);
  }
}

/* Those of single sites are the same, and use the same random numbers. */
static void both_ways_make_the_same_moves(void **state) {
  (void)state;
  enum { SWEEPS = 5000 };
  lattice l = {.side = 5};
  tempera_error error;
  tm_arena *arena = tm_arena_create();
  tm_kernel_settings settings = {.kind = TEMPERA_KERNEL_RANDOM_WALK};
  tempera_model *model[2];
  tm_evaluator evaluator[2];
  tm_kernel *kernel[2];
  tm_point point[2];
  tempera_random random[2], start = tm_random(1, 0, TM_PURPOSE_START);
  for (int k = 0; k < 2; k++) {
    model[k] = ising(&l, k ? terms : NULL);
    assert_false(tm_evaluator_create(model[k], arena, &evaluator[k], &error));
    assert_false(
        tm_kernel_create(model[k], &settings, arena, &kernel[k], &error));
    assert_false(tm_point_create(model[k], arena, &point[k], &error));
    random[k] = tm_random(2, 0, TM_PURPOSE_START);
  }
  tm_prior_draw(&evaluator[0], &start, &point[0]);
  tm_point_copy(model[0], &point[0], &point[1]);
  double moved = 0, first = point[0].log_likelihood;
  for (int i = 0; i < SWEEPS; i++) {
    for (int k = 0; k < 2; k++)
      (void)tm_kernel_sweep(kernel[k], &evaluator[k], &point[k], 0.7,
                            &random[k]);
    assert_memory_equal(point[0].u, point[1].u, 25 * sizeof(double));
    assert_memory_equal(point[0].theta, point[1].theta, 25 * sizeof(double));
    assert_true(fabs(point[0].log_likelihood - point[1].log_likelihood) <
                1e-11);
    moved = fmax(moved, fabs(point[0].log_likelihood - first));
  }
  assert_true(moved > 3 && evaluator[1].changes > SWEEPS);
  assert_true(evaluator[1].likelihood_evaluations <
              evaluator[0].likelihood_evaluations / 4);
  for (int k = 0; k < 2; k++) {
    tm_evaluator_release(&evaluator[k]);
    tempera_model_free(model[k]);
  }
  tm_arena_free(arena);
}

/* Differences that do not sum to the density are found out. */
static void wrong_terms_stop_the_run(void **state) {
  (void)state;
  lattice l = {.side = 5};
  tempera_options o = tempera_options_default();
  o.seed = 1;
  o.iterations = 2000;
  tempera_model *model = ising(&l, wrong_terms);
  tempera_sampler *sampler = NULL;
  tempera_error error = {0};
  assert_int_equal(tempera_sampler_create(model, &o, &sampler, &error),
                   TEMPERA_OK);
  assert_int_equal(tempera_sampler_run(sampler, NULL, NULL, &error),
                   TEMPERA_ERROR_MODEL);
  assert_non_null(strstr(error.message, "integer_terms"));
  tempera_sampler_free(sampler);
  tempera_model_free(model);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(ising_has_its_evidence),
      cmocka_unit_test(it_has_it_by_the_terms_of_single_sites),
      cmocka_unit_test(both_ways_make_the_same_moves),
      cmocka_unit_test(wrong_terms_stop_the_run)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
