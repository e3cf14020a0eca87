/* Facts about models that take many points at once: draws are those of the same
 * model that takes one, for any number of threads; every callback is made by
 * the thread that runs the sampler. */
#include "gaussian_model.h"
#include "whole_run.h"

#include <pthread.h>
#include <string.h>

enum { D = 3 };

typedef struct batches {
  gaussian_model model;
  pthread_t runner;
  size_t calls, points, largest, strangers;
  size_t likelihood_calls, likelihoods;
  size_t stop_after; /* calls; 0: never */
} batches;

static void note(batches *b, size_t count) {
  b->calls++;
  b->points += count;
  b->largest = count > b->largest ? count : b->largest;
  b->strangers += !pthread_equal(pthread_self(), b->runner);
}

static int likelihood_batch(const double *theta, size_t count, double *values,
                            double *gradients, void *user) {
  batches *b = user;
  note(b, count);
  b->likelihood_calls++;
  b->likelihoods += count;
  for (size_t i = 0; i < count; i++) {
    gaussian_likelihood(theta + i * D, values + i, &b->model);
    for (size_t j = 0; gradients && j < D; j++)
      gradients[i * D + j] =
          (b->model.y - theta[i * D + j]) / b->model.variance;
  }
  return b->stop_after && b->calls > b->stop_after ? -1 : 0;
}

static int prior_batch(const double *theta, size_t count, double *values,
                       double *gradients, void *user) {
  batches *b = user;
  note(b, count);
  for (size_t i = 0; i < count; i++) {
    gaussian_prior(theta + i * D, values + i, &b->model);
    for (size_t j = 0; gradients && j < D; j++)
      gradients[i * D + j] = -theta[i * D + j];
  }
  return 0;
}

static int likelihood_slope(const double *theta, double *value,
                            double *gradient, void *user) {
  return likelihood_batch(theta, 1, value, gradient, user);
}
static int prior_slope(const double *theta, double *value, double *gradient,
                       void *user) {
  return prior_batch(theta, 1, value, gradient, user);
}
static int likelihood_one(const double *theta, double *value, void *user) {
  return likelihood_batch(theta, 1, value, NULL, user);
}
static int prior_one(const double *theta, double *value, void *user) {
  return prior_batch(theta, 1, value, NULL, user);
}
static int draw(tempera_random *random, double *theta, void *user) {
  batches *b = user;
  b->strangers += !pthread_equal(pthread_self(), b->runner);
  return gaussian_prior_draw(random, theta, &b->model);
}
static const char *reason(const void *user) {
  return ((const batches *)user)->stop_after ? "enough of it" : NULL;
}

typedef enum model_form {
  ONE,
  ONE_SLOPES,
  BATCH,
  BATCH_SLOPES,
  MIXED
} model_form;

static tempera_model *model_of(batches *b, model_form form) {
  static const tempera_parameter x = {
      .name = "x", .size = D, .lower = -INFINITY, .upper = INFINITY};
  tempera_model_spec spec = {.name = "batches",
                             .parameters = &x,
                             .parameter_count = 1,
                             .prior_draw = draw,
                             .prior_normalised = true,
                             .reason = reason,
                             .user = b};
  bool batch = form >= BATCH, slopes = form == ONE_SLOPES;
  spec.log_likelihood = batch ? NULL : likelihood_one;
  spec.log_prior = batch && form != MIXED ? NULL : prior_one;
  spec.log_likelihood_gradient = slopes ? likelihood_slope : NULL;
  spec.log_prior_gradient = slopes ? prior_slope : NULL;
  spec.log_likelihood_batch = batch ? likelihood_batch : NULL;
  spec.log_prior_batch = batch && form != MIXED ? prior_batch : NULL;
  spec.batch_gradients = form == BATCH_SLOPES;
  return make_model(&spec);
}

/* Everything drawn, and log Z. */
static double run_form(model_form form, const char *threads, batches *b,
                       double *draws) {
  const char *const pairs[] = {"seed",       "5",     "chains", "5",
                               "iterations", "400",   "warmup", "300",
                               "threads",    threads, NULL};
  tempera_options options = tempera_options_default();
  size_t elements = 0;
  *b = (batches){.model = {.dimension = D, .y = 1, .variance = 0.25},
                 .runner = pthread_self()};
  set_options(&options, pairs);
  tempera_model *model = model_of(b, form);
  tempera_sampler *sampler = make_sampler(model, &options);
  tempera_summary *summary = run_sampler(sampler);
  assert_int_equal(tempera_draws_variable(tempera_sampler_draws(sampler),
                                          TEMPERA_TARGET, "x", draws, &elements,
                                          NULL),
                   TEMPERA_OK);
  double log_z = summary->log_z;
  tempera_summary_free(summary);
  tempera_sampler_free(sampler);
  tempera_model_free(model);
  return log_z;
}

enum { DRAWS = 5 * 400 * D };

static void draws_are_those_of_single_points(void **state) {
  (void)state;
  static double single[DRAWS], batched[DRAWS];
  static const model_form forms[] = {BATCH, MIXED, BATCH_SLOPES};
  batches b;
  for (size_t f = 0; f < 3; f++) {
    bool slopes = forms[f] == BATCH_SLOPES;
    double log_z = run_form(slopes ? ONE_SLOPES : ONE, "1", &b, single);
    size_t points = b.points, calls = 0;
    static const char *const threads[] = {"1", "2", "5", "0"};
    for (size_t t = 0; t < 4; t++) {
      double other = run_form(forms[f], threads[t], &b, batched);
      assert_memory_equal(&other, &log_z, sizeof log_z);
      assert_memory_equal(single, batched, sizeof single);
      assert_int_equal(b.points, points);
      assert_int_equal(b.strangers, 0);
      /* The bridge has many points at any time, chains one each. */
      assert_true(b.largest > 1 && b.likelihood_calls > 0);
      calls = t == 0 ? b.likelihood_calls : calls;
      assert_true(t == 0 || b.likelihood_calls < calls);
      if (t >= 2) /* what several chains do is done several at a time */
        assert_true(b.likelihood_calls * 2 < b.likelihoods);
    }
  }
}

static void a_batch_can_stop_the_run(void **state) {
  (void)state;
  tempera_options options = tempera_options_default();
  tempera_error error = {0};
  batches b = {.model = {.dimension = D, .y = 1, .variance = 0.25},
               .runner = pthread_self(),
               .stop_after = 3000};
  tempera_model *model = model_of(&b, BATCH);
  tempera_sampler *sampler = make_sampler(model, &options);
  assert_int_equal(tempera_sampler_run(sampler, NULL, NULL, &error),
                   TEMPERA_ERROR_MODEL);
  assert_non_null(strstr(error.message, "enough of it"));
  tempera_sampler_free(sampler);
  tempera_model_free(model);
}

static void what_contradicts_batches_is_refused(void **state) {
  (void)state;
  static const tempera_parameter x = {
      .name = "x", .lower = -INFINITY, .upper = INFINITY};
  tempera_model_spec spec = {.name = "both",
                             .parameters = &x,
                             .parameter_count = 1,
                             .log_likelihood = likelihood_one,
                             .log_prior = prior_one,
                             .log_likelihood_batch = likelihood_batch};
  tempera_model *model = NULL;
  assert_int_equal(tempera_model_create(&spec, &model, NULL),
                   TEMPERA_ERROR_ARGUMENT);
  spec.log_likelihood = NULL;
  spec.log_prior_batch = prior_batch;
  assert_int_equal(tempera_model_create(&spec, &model, NULL),
                   TEMPERA_ERROR_ARGUMENT);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(draws_are_those_of_single_points),
      cmocka_unit_test(a_batch_can_stop_the_run),
      cmocka_unit_test(what_contradicts_batches_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
