/* Facts about sinks: every row comes once and in order, a sink that fails stops
 * the run with its own words, and so does a progress callback that wants to. */
#include "gaussian_model.h"
#include "whole_run.h"

#include <stdio.h>

enum { WARMUP = 300, KEPT = 500 };

typedef struct store {
  size_t count[2]; /* kept, warmup */
  double sum;      /* of the first value of chain 0, kept */
  size_t full_at;  /* kept sweeps that fit; 0: all */
  bool in_order;
} store;

static tempera_status keep(const tempera_block *block, void *user,
                           tempera_error *error) {
  store *s = user;
  if (s->full_at && !block->warmup && block->last > s->full_at) {
    snprintf(error->message, sizeof error->message, "the store is full");
    return TEMPERA_ERROR_IO;
  }
  s->in_order = s->in_order && block->first == s->count[block->warmup] &&
                block->last > block->first &&
                (!block->warmup || s->count[0] == 0);
  s->count[block->warmup] = block->last;
  const double *x = tempera_draws_values(block->draws, TEMPERA_TARGET, 0, 0);
  for (size_t i = block->first; i < block->last && !block->warmup; i++)
    s->sum += x[i];
  return TEMPERA_OK;
}

static tempera_options short_options(void) {
  tempera_options o = tempera_options_default();
  o.warmup_given = o.save_warmup = true;
  o.warmup = WARMUP;
  o.iterations = KEPT;
  o.chains = 2;
  o.threads = 2;
  return o;
}

static void every_row_comes_once_and_in_order(void **state) {
  (void)state;
  tempera_model_spec spec = two_gaussians();
  tempera_model *model = make_model(&spec);
  tempera_options o = short_options();
  tempera_sampler *sampler = make_sampler(model, &o);
  store a = {.in_order = true}, b = {.in_order = true};
  assert_int_equal(
      tempera_sampler_add_sink(sampler, &(tempera_sink){keep, &a}, NULL), 0);
  assert_int_equal(
      tempera_sampler_add_sink(sampler, &(tempera_sink){keep, &b}, NULL), 0);
  assert_int_equal(tempera_sampler_run(sampler, NULL, NULL, NULL), TEMPERA_OK);
  assert_true(a.in_order && b.in_order);
  assert_int_equal(a.count[0], KEPT);
  assert_int_equal(a.count[1], WARMUP);
  double sum = 0;
  const double *x = tempera_draws_values(tempera_sampler_draws(sampler),
                                         TEMPERA_TARGET, 0, 0);
  for (size_t i = 0; i < KEPT; i++)
    sum += x[i];
  assert_true(a.sum == sum && b.sum == sum);
  /* too late for another one */
  assert_int_equal(
      tempera_sampler_add_sink(sampler, &(tempera_sink){keep, &a}, NULL),
      TEMPERA_ERROR_ARGUMENT);
  tempera_sampler_free(sampler);
  tempera_model_free(model);
}

static void a_sink_that_fails_stops_the_run(void **state) {
  (void)state;
  tempera_model_spec spec = two_gaussians();
  tempera_model *model = make_model(&spec);
  tempera_options o = short_options();
  tempera_sampler *sampler = make_sampler(model, &o);
  store s = {.in_order = true, .full_at = KEPT / 2};
  tempera_error error = {0};
  assert_int_equal(
      tempera_sampler_add_sink(sampler, &(tempera_sink){keep, &s}, NULL), 0);
  assert_int_equal(tempera_sampler_run(sampler, NULL, NULL, &error),
                   TEMPERA_ERROR_IO);
  assert_string_equal(error.message, "the store is full");
  assert_true(s.in_order);
  tempera_sampler_free(sampler);
  tempera_model_free(model);
}

static int stop_when_sampling(const tempera_progress *progress, void *user) {
  (void)user;
  return progress->phase == TEMPERA_PHASE_SAMPLING;
}

static void progress_can_stop_a_run(void **state) {
  (void)state;
  tempera_model_spec spec = two_gaussians();
  tempera_model *model = make_model(&spec);
  tempera_options o = short_options();
  o.iterations = 1000000;
  tempera_sampler *sampler = make_sampler(model, &o);
  assert_int_equal(tempera_sampler_run(sampler, stop_when_sampling, NULL, NULL),
                   TEMPERA_CANCELLED);
  assert_true(tempera_draws_count(tempera_sampler_draws(sampler)) < 10000);
  tempera_sampler_free(sampler);
  tempera_model_free(model);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_row_comes_once_and_in_order),
      cmocka_unit_test(a_sink_that_fails_stops_the_run),
      cmocka_unit_test(progress_can_stop_a_run)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
