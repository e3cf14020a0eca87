/* Facts about tempera_sampler that are not statistical: reproducibility,
 * allocation, failures half-way. */
#include "base/memory.h"
#include "draws/draws.h"
#include "run/sampler.h"

#include "failing_memory.h"
#include "gaussian_model.h"
#include "whole_run.h"

static tempera_options short_run(int threads) {
  tempera_options o = tempera_options_default();
  o.chains = 4;
  o.iterations = 300;
  o.warmup = 200;
  o.warmup_given = true;
  o.seed = 7;
  o.threads = threads;
  return o;
}

static void advance(tempera_sampler *sampler, size_t sweeps) {
  tempera_error error = {0};
  if (tempera_sampler_advance(sampler, sweeps, &error) != TEMPERA_OK)
    fail_msg("%s", error.message);
}

static void assert_same_draws(const tempera_draws *a, const tempera_draws *b,
                              size_t rows) {
  assert_true(a->count >= rows && b->count >= rows && rows > 0);
  for (int role = 0; role < 2; role++)
    for (size_t chain = 0; chain < a->chains; chain++)
      for (size_t c = 0; c < a->size + TM_COLUMNS; c++)
        assert_memory_equal(tm_draws_column(a, (tempera_role)role, chain, c),
                            tm_draws_column(b, (tempera_role)role, chain, c),
                            rows * tm_draws_width(a, (tempera_role)role) *
                                a->has_role[role] * sizeof(double));
}

static void draws_are_the_same_for_any_number_of_threads(void **state) {
  (void)state;
  tempera_model_spec spec = two_gaussians();
  tempera_model *model = make_model(&spec);
  const int threads[] = {1, 2, 4};
  tempera_sampler *samplers[3];
  for (size_t i = 0; i < 3; i++) {
    tempera_options o = short_run(threads[i]);
    samplers[i] = make_sampler(model, &o);
    advance(samplers[i], 1000);
    assert_same_draws(samplers[0]->draws, samplers[i]->draws, 300);
  }
  for (size_t i = 0; i < 3; i++)
    tempera_sampler_free(samplers[i]);
  tempera_model_free(model);
}

/* A summary as JSON, without what it has cost. */
static char *summary_text(const tempera_sampler *sampler) {
  tempera_error error = {0};
  tempera_summary *summary = NULL;
  char *text = NULL;
  if (tempera_sampler_summarise(sampler, &summary, &error) != TEMPERA_OK)
    fail_msg("%s", error.message);
  summary->seconds = summary->seconds_in_model = 0;
  summary->likelihood_evaluations = 0;
  assert_int_equal(tempera_summary_json(summary, &text, NULL), TEMPERA_OK);
  tempera_summary_free(summary);
  return text;
}

/* A run of automatic length hands on the summary of its last check: the second
 * one that is asked for is made anew. */
static void so_are_summaries_and_that_of_the_last_check(void **state) {
  (void)state;
  tempera_model_spec spec = two_gaussians();
  tempera_model *model = make_model(&spec);
  char *first = NULL;
  for (int threads = 1; threads <= 3; threads++) {
    tempera_options o = tempera_options_default();
    o.seed = 7;
    o.threads = threads;
    tempera_sampler *sampler = make_sampler(model, &o);
    assert_int_equal(tempera_sampler_run(sampler, NULL, NULL, NULL),
                     TEMPERA_OK);
    assert_true(sampler->satisfied);
    assert_non_null(sampler->checked);
    char *checked = summary_text(sampler);
    assert_null(sampler->checked);
    char *anew = summary_text(sampler);
    assert_string_equal(checked, anew);
    if (first)
      assert_string_equal(checked, first);
    tempera_text_free(anew);
    if (first)
      tempera_text_free(checked);
    else
      first = checked;
    tempera_sampler_free(sampler);
  }
  tempera_text_free(first);
  tempera_model_free(model);
}

static void so_are_those_of_other_methods(void **state) {
  (void)state;
  static const tempera_method methods[] = {TEMPERA_MH, TEMPERA_PT, TEMPERA_ST,
                                           TEMPERA_PAWL, TEMPERA_EE};
  tempera_model_spec spec = two_gaussians();
  tempera_model *model = make_model(&spec);
  for (size_t m = 0; m < sizeof methods / sizeof *methods; m++) {
    tempera_options o = short_run(1);
    o.method = methods[m];
    tempera_sampler *one = make_sampler(model, &o);
    o.threads = 4;
    tempera_sampler *four = make_sampler(model, &o);
    advance(one, 1000);
    for (size_t i = 0; i < 60; i++)
      advance(four, 7);
    assert_same_draws(one->draws, four->draws, 220);
    long before = heap_count();
    advance(four, 1); /* room for it was made before */
    assert_int_equal(heap_count(), before);
    tempera_sampler_free(one);
    tempera_sampler_free(four);
  }
  tempera_model_free(model);
}

/* Two chains of pt, whole and by their levels, which the sweeps of
 * a model that is thought to be slow are divided into. */
static void so_are_those_of_levels_at_the_same_time(void **state) {
  (void)state;
  tempera_model_spec spec = two_gaussians();
  tempera_model *model = make_model(&spec);
  tempera_options o = short_run(1);
  o.method = TEMPERA_PT;
  o.chains = 2;
  tempera_sampler *one = make_sampler(model, &o);
  o.threads = 4;
  tempera_sampler *four = make_sampler(model, &o);
  advance(one, 1000);
  for (size_t i = 0; i < 72; i++) {
    four->part_seconds = 1;
    advance(four, 7);
  }
  assert_true(four->groups[0]->part_count > 3);
  assert_same_draws(one->draws, four->draws, 300);
  assert_int_equal(tm_sampler_evaluations(one), tm_sampler_evaluations(four));
  tempera_sampler_free(one);
  tempera_sampler_free(four);
  tempera_model_free(model);
}

static void advancing_in_pieces_changes_nothing(void **state) {
  (void)state;
  tempera_model_spec spec = two_gaussians();
  tempera_model *model = make_model(&spec);
  tempera_options o = short_run(2);
  tempera_sampler *whole = make_sampler(model, &o);
  tempera_sampler *pieces = make_sampler(model, &o);
  advance(whole, 1000);
  for (size_t i = 0; i < 60; i++)
    advance(pieces, 7);
  assert_same_draws(whole->draws, pieces->draws, 220);
  assert_int_equal(pieces->draws->count, 220);
  tempera_sampler_free(whole);
  tempera_sampler_free(pieces);
  tempera_model_free(model);
}

static void seeds_and_chains_give_other_draws(void **state) {
  (void)state;
  tempera_model_spec spec = two_gaussians();
  tempera_model *model = make_model(&spec);
  tempera_options o = short_run(1);
  tempera_sampler *a = make_sampler(model, &o);
  o.seed = 8;
  tempera_sampler *b = make_sampler(model, &o);
  advance(a, 1000);
  advance(b, 1000);
  const double *x = tempera_draws_values(a->draws, TEMPERA_TARGET, 0, 0);
  const double *y = tempera_draws_values(b->draws, TEMPERA_TARGET, 0, 0);
  const double *z = tempera_draws_values(a->draws, TEMPERA_TARGET, 1, 0);
  assert_memory_not_equal(x, y, 100 * sizeof(double));
  assert_memory_not_equal(x, z, 100 * sizeof(double));
  tempera_sampler_free(a);
  tempera_sampler_free(b);
  tempera_model_free(model);
}

static void sweeps_allocate_nothing(void **state) {
  (void)state;
  tempera_model_spec spec = two_gaussians();
  tempera_model *model = make_model(&spec);
  tempera_options o = short_run(1);
  tempera_sampler *sampler = make_sampler(model, &o);
  advance(sampler, 201); /* ridge and warmup rounds may allocate */
  advance(sampler, 20);  /* room for rows is made between sweeps, doubling */
  advance(sampler, 10);
  long before = heap_count();
  size_t room = sampler->draws->capacity - sampler->draws->count;
  assert_true(room > 10);
  advance(sampler, room);
  assert_int_equal(heap_count(), before);
  tempera_sampler_free(sampler);
  tempera_model_free(model);
}

static void thinning_keeps_every_nth_sweep(void **state) {
  (void)state;
  tempera_model_spec spec = two_gaussians();
  tempera_model *model = make_model(&spec);
  tempera_options o = short_run(1);
  tempera_sampler *all = make_sampler(model, &o);
  o.thin = 7;
  tempera_sampler *some = make_sampler(model, &o);
  advance(all, 1000);
  advance(some, 1000);
  assert_int_equal(some->draws->count, 43); /* ceil(300 / 7) */
  const double *x = tempera_draws_values(all->draws, TEMPERA_TARGET, 2, 1);
  const double *y = tempera_draws_values(some->draws, TEMPERA_TARGET, 2, 1);
  for (size_t i = 0; i < 43; i++)
    assert_true(x[7 * i] == y[i]);
  tempera_sampler_free(all);
  tempera_sampler_free(some);
  tempera_model_free(model);
}

/* A likelihood that goes wrong after a number of calls. */
typedef struct fragile {
  gaussian_model gaussian;
  long calls, good;
  int answer;
  double value;
} fragile;

static int fragile_likelihood(const double *theta, double *value, void *user) {
  fragile *f = user;
  if (++f->calls > f->good) {
    *value = f->value;
    return f->answer;
  }
  return gaussian_likelihood(theta, value, &f->gaussian);
}

static int fragile_prior(const double *theta, double *value, void *user) {
  return gaussian_prior(theta, value, &((fragile *)user)->gaussian);
}

static int fragile_draw(tempera_random *random, double *theta, void *user) {
  return gaussian_prior_draw(random, theta, &((fragile *)user)->gaussian);
}

static void check_failure(int answer, double value, const char *expected) {
  fragile f = {{2, 1, 0.2}, 0, 40000, answer, value};
  tempera_model_spec spec = two_gaussians();
  spec.log_likelihood = fragile_likelihood;
  spec.log_prior = fragile_prior;
  spec.prior_draw = fragile_draw;
  spec.user = &f;
  tempera_model *model = make_model(&spec);
  tempera_options o = short_run(1);
  o.iterations = 100000;
  o.chains = 1;
  tempera_sampler *sampler = make_sampler(model, &o);
  tempera_error error = {0};
  assert_int_equal(tempera_sampler_run(sampler, NULL, NULL, &error),
                   TEMPERA_ERROR_MODEL);
  if (!strstr(error.message, expected))
    fail_msg("expected '%s' in: %s", expected, error.message);
  assert_true(tempera_draws_count(sampler->draws) > 100);
  tempera_summary *summary = NULL;
  assert_int_equal(tempera_sampler_summarise(sampler, &summary, &error),
                   TEMPERA_OK);
  assert_false(summary->complete);
  tempera_summary_free(summary);
  tempera_sampler_free(sampler);
  tempera_model_free(model);
}

static void a_failing_model_keeps_what_was_drawn(void **state) {
  (void)state;
  check_failure(0, NAN, "returned NaN");
  check_failure(0, INFINITY, "+infinity");
  check_failure(-1, 0, "asked to stop");
}

static int no_likelihood(const double *theta, double *value, void *user) {
  (void)theta;
  (void)user;
  *value = -INFINITY;
  return 0;
}

static void zero_likelihood_everywhere_is_refused(void **state) {
  (void)state;
  tempera_model_spec spec = two_gaussians();
  spec.log_likelihood = no_likelihood;
  tempera_model *model = make_model(&spec);
  tempera_options o = short_run(1);
  tempera_sampler *sampler = NULL;
  tempera_error error = {0};
  assert_int_equal(tempera_sampler_create(model, &o, &sampler, &error),
                   TEMPERA_ERROR_MODEL);
  assert_non_null(strstr(error.message, "starts"));
  assert_null(sampler);
  tempera_model_free(model);
}

static int flat_prior(const double *theta, double *value, void *user) {
  (void)user;
  *value = gaussian_log(theta[0], 0, 1); /* nothing for x[2] */
  return 0;
}

static void improper_priors_need_tau_min(void **state) {
  (void)state;
  tempera_model_spec spec = two_gaussians();
  spec.log_prior = flat_prior;
  spec.prior_draw = NULL;
  spec.prior_normalised = false;
  tempera_model *model = make_model(&spec);
  tempera_options o = short_run(1);
  tempera_sampler *sampler = NULL;
  tempera_error error = {0};
  o.paper = true;
  assert_int_equal(tempera_sampler_create(model, &o, &sampler, &error),
                   TEMPERA_ERROR_MODEL);
  assert_non_null(strstr(error.message, "x[2]"));
  o.paper = false;
  sampler = make_sampler(model, &o); /* sampled on the proper part */
  assert_true(tempera_sampler_options(sampler)->tau_min > 0);
  tempera_sampler_free(sampler);
  o.tau_min = 0.05;
  sampler = make_sampler(model, &o);
  advance(sampler, 1000);
  tempera_summary *summary = NULL;
  assert_int_equal(tempera_sampler_summarise(sampler, &summary, &error),
                   TEMPERA_OK);
  assert_null(summary->estimator);
  assert_true(isnan(summary->log_z));
  const double *tau = tempera_draws_tau(sampler->draws, TEMPERA_TEMPERED, 0);
  for (size_t i = 0; i < 300; i++)
    assert_true(tau[i] >= 0.05);
  tempera_summary_free(summary);
  tempera_sampler_free(sampler);
  tempera_model_free(model);
}

/* Every allocation of a whole short run is made to fail once: no crash, no
 * leak (under the sanitizers), and a status that says so. */
static void fail_allocations(const tempera_model *model,
                             const tempera_options *o) {
  bool finished = false;
  for (long k = 1; !finished && k < 100000; k += 1 + k / 8) {
    tempera_sampler *sampler = NULL;
    tempera_summary *summary = NULL;
    heap_fail_at(k);
    tempera_error error = {0};
    tempera_status status = tempera_sampler_create(model, o, &sampler, &error);
    if (status == TEMPERA_OK)
      status = tempera_sampler_advance(sampler, 1000, &error);
    if (status == TEMPERA_OK)
      status = tempera_sampler_summarise(sampler, &summary, &error);
    heap_fail_at(0);
    /* The model's own clone allocates too, and can only say that it failed. */
    bool clone = status == TEMPERA_ERROR_MODEL &&
                 strstr(error.message, "clone failed") != NULL;
    assert_true(status == TEMPERA_OK || status == TEMPERA_ERROR_MEMORY ||
                clone);
    finished = status == TEMPERA_OK;
    tempera_summary_free(summary);
    tempera_sampler_free(sampler);
  }
  assert_true(finished);
}

static void a_failed_allocation_is_reported(void **state) {
  (void)state;
  tempera_model_spec spec = two_gaussians();
  tempera_model *model = make_model(&spec);
  tempera_options o = short_run(1);
  o.iterations = 50;
  o.warmup = 100;
  for (o.method = TEMPERA_PT_STWNC; o.method <= TEMPERA_EE; o.method++)
    fail_allocations(model, &o);
  tempera_model_free(model);
}

static void cancel_stops_at_the_next_sweep(void **state) {
  (void)state;
  tempera_model_spec spec = two_gaussians();
  tempera_model *model = make_model(&spec);
  tempera_options o = short_run(2);
  tempera_sampler *sampler = make_sampler(model, &o);
  advance(sampler, 250);
  tempera_sampler_cancel(sampler);
  tempera_error error = {0};
  assert_int_equal(tempera_sampler_run(sampler, NULL, NULL, &error),
                   TEMPERA_CANCELLED);
  assert_int_equal(tempera_draws_count(sampler->draws), 50);
  tempera_sampler_free(sampler);
  tempera_model_free(model);
}

static bool it_may_not(const tempera_sampler *sampler, const tm_check *check) {
  (void)sampler;
  assert_true(check->mixed && check->ess > 0 && isfinite(check->ess));
  return false;
}

/* No bridge, no call of the likelihood, nothing to hand on. */
static void a_check_looks_no_further_than_it_must(void **state) {
  (void)state;
  tempera_model_spec spec = two_gaussians();
  tempera_model *model = make_model(&spec);
  tempera_options o = short_run(1);
  o.iterations = 3000;
  o.warmup = 1000;
  tempera_sampler *sampler = make_sampler(model, &o);
  advance(sampler, 4000);
  tm_check brief, whole;
  uint64_t before = sampler->estimate_evaluations;
  assert_int_equal(tm_sampler_check(sampler, it_may_not, &brief, NULL),
                   TEMPERA_OK);
  assert_true(brief.mixed && !brief.whole);
  assert_null(sampler->checked);
  uint64_t between = sampler->estimate_evaluations;
  assert_int_equal(tm_sampler_check(sampler, NULL, &whole, NULL), TEMPERA_OK);
  assert_true(whole.mixed && whole.whole);
  assert_true(whole.ess == brief.ess && whole.round_trips == brief.round_trips);
  assert_true(sampler->estimate_evaluations - between >
              1000 + between - before);
  assert_non_null(sampler->checked);
  tempera_sampler_free(sampler);
  tempera_model_free(model);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(draws_are_the_same_for_any_number_of_threads),
      cmocka_unit_test(so_are_summaries_and_that_of_the_last_check),
      cmocka_unit_test(so_are_those_of_levels_at_the_same_time),
      cmocka_unit_test(so_are_those_of_other_methods),
      cmocka_unit_test(advancing_in_pieces_changes_nothing),
      cmocka_unit_test(seeds_and_chains_give_other_draws),
      cmocka_unit_test(sweeps_allocate_nothing),
      cmocka_unit_test(thinning_keeps_every_nth_sweep),
      cmocka_unit_test(a_failing_model_keeps_what_was_drawn),
      cmocka_unit_test(zero_likelihood_everywhere_is_refused),
      cmocka_unit_test(improper_priors_need_tau_min),
      cmocka_unit_test(a_failed_allocation_is_reported),
      cmocka_unit_test(cancel_stops_at_the_next_sweep),
      cmocka_unit_test(a_check_looks_no_further_than_it_must),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
