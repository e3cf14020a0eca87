/* A sampler that is saved and loaded again and again, on other numbers of
 * threads, ends as one that was left alone: for every method, kernel and part
 * with a state. Whoever adds state and forgets its archive function is told
 * here. */
#include "base/file.h"
#include "draws/draws.h"
#include "run/sampler.h"

#include "../statistical/family_toy.h"
#include "centred_model.h"
#include "gaussian_model.h"
#include "whole_run.h"

#include <stdio.h>
#include <unistd.h>

enum { EVERY = 173 }; /* sweeps between saves: ends of rounds fall anywhere */

typedef enum kind { GAUSSIAN, TOY, SLOPES, CENTRED } kind;

typedef struct scene {
  const char *name;
  kind model;
  const char *options[14];
} scene;

#define LENGTHS "iterations", "900", "warmup", "1000", "seed", "3"
static const scene SCENES[] = {
    {"pt-stwnc", TOY, {LENGTHS}},
    {"gradients", SLOPES, {LENGTHS, "chains", "2"}},
    {"scales", CENTRED, {LENGTHS, "chains", "2"}},
    {"hmc", SLOPES, {LENGTHS, "kernel", "hmc", "chains", "2"}},
    {"slice", GAUSSIAN, {LENGTHS, "kernel", "slice", "save-warmup", "true"}},
    {"walk", TOY, {LENGTHS, "kernel", "random-walk", "thin", "2"}},
    {"stwnc", GAUSSIAN, {LENGTHS, "method", "stwnc", "tau-move", "lifted"}},
    {"profile", GAUSSIAN, {LENGTHS, "tau-prior", "profile", "ridge", "spline"}},
    {"laplace", GAUSSIAN, {LENGTHS, "tau-prior", "laplace"}},
    {"exact", GAUSSIAN, {LENGTHS, "ridge", "exact"}},
    {"pt", TOY, {LENGTHS, "method", "pt"}},
    {"st", TOY, {LENGTHS, "method", "st"}},
    {"visits", TOY, {LENGTHS, "method", "st", "weights", "wang-landau"}},
    {"pawl", TOY, {LENGTHS, "method", "pawl"}},
    {"ee", TOY, {LENGTHS, "method", "ee"}},
    {"mh", GAUSSIAN, {LENGTHS, "method", "mh"}},
};

static int slope(double towards, double variance, size_t count,
                 const double *theta, double *gradient) {
  for (size_t j = 0; j < count; j++)
    gradient[j] = (towards - theta[j]) / variance;
  return 0;
}

static int likelihood_gradient(const double *theta, double *value,
                               double *gradient, void *user) {
  const gaussian_model *m = user;
  slope(m->y, m->variance, m->dimension, theta, gradient);
  return gaussian_likelihood(theta, value, user);
}

static int prior_gradient(const double *theta, double *value, double *gradient,
                          void *user) {
  const gaussian_model *m = user;
  slope(0, 1, m->dimension, theta, gradient);
  return gaussian_prior(theta, value, user);
}

static const centred_model EIGHT = {"eight", 8, 1, INFINITY, 1, 0, 1};

static tempera_model *model_of(kind k) {
  if (k == CENTRED)
    return centred_open(&EIGHT);
  tempera_model_spec spec = two_gaussians();
  if (k == SLOPES) {
    spec.log_likelihood_gradient = likelihood_gradient;
    spec.log_prior_gradient = prior_gradient;
  }
  return k == TOY ? toy_model(true) : make_model(&spec);
}

static void same_columns(const tempera_draws *a, const tempera_draws *b) {
  assert_int_equal(a->count, b->count);
  for (int role = 0; role < 2; role++)
    for (size_t chain = 0; a->has_role[role] && chain < a->chains; chain++)
      for (size_t c = 0; c < a->size + TM_COLUMNS; c++) {
        const double *x = tm_draws_column(a, (tempera_role)role, chain, c);
        const double *y = tm_draws_column(b, (tempera_role)role, chain, c);
        if (x)
          assert_memory_equal(
              x, y, tm_draws_rows(a, (tempera_role)role) * sizeof(double));
      }
}

static char *summary_text(const tempera_sampler *sampler) {
  tempera_error error = {0};
  tempera_summary *summary = NULL;
  char *text = NULL;
  if (tempera_sampler_summarise(sampler, &summary, &error) != TEMPERA_OK)
    fail_msg("%s", error.message);
  summary->seconds = summary->seconds_in_model = 0;
  assert_int_equal(tempera_summary_json(summary, &text, NULL), TEMPERA_OK);
  tempera_summary_free(summary);
  return text;
}

static void same_end(const tempera_sampler *a, const tempera_sampler *b) {
  same_columns(a->draws, b->draws);
  assert_true(a->draws->count > 0);
  assert_int_equal(!tempera_sampler_reference(a),
                   !tempera_sampler_reference(b));
  if (tempera_sampler_reference(a))
    same_columns(a->reference, b->reference);
  if (a->warmup_draws)
    same_columns(a->warmup_draws, b->warmup_draws);
  char *x = summary_text(a), *y = summary_text(b);
  assert_string_equal(x, y);
  tempera_text_free(x);
  tempera_text_free(y);
}

static const char *file(void) {
  static char path[64];
  snprintf(path, sizeof path, "saving-%d.tmp", (int)getpid());
  return path;
}

static tempera_sampler *reload(const tempera_model *model,
                               tempera_sampler *sampler, int threads) {
  tempera_error error = {0};
  tempera_sampler *fresh = NULL;
  if (tempera_sampler_save(sampler, file(), &error) != TEMPERA_OK)
    fail_msg("%s", error.message);
  tempera_sampler_free(sampler);
  if (tempera_sampler_load(model, file(), threads, &fresh, &error) !=
      TEMPERA_OK)
    fail_msg("%s", error.message);
  return fresh;
}

static void advance(tempera_sampler *sampler, size_t sweeps) {
  tempera_error error = {0};
  if (tempera_sampler_advance(sampler, sweeps, &error) != TEMPERA_OK)
    fail_msg("%s", error.message);
}

static void one_scene(const scene *one) {
  tempera_options o = tempera_options_default();
  set_options(&o, one->options);
  tempera_model *model = model_of(one->model);
  tempera_sampler *whole = make_sampler(model, &o);
  tempera_sampler *parted = make_sampler(model, &o);
  advance(whole, 10000);
  for (int k = 0; tm_sweeps_done(parted) < tm_sweeps_total(parted); k++) {
    parted = reload(model, parted, 1 + k % 3);
    advance(parted, EVERY);
  }
  parted = reload(model, parted, 2);
  print_message("%s\n", one->name);
  same_end(whole, parted);
  tempera_sampler_free(whole);
  tempera_sampler_free(parted);
  tempera_model_free(model);
  remove(file());
}

static void a_sampler_goes_on_as_if_it_had_never_stopped(void **state) {
  (void)state;
  const char *only = getenv("SCENE");
  for (size_t i = 0; i < sizeof SCENES / sizeof *SCENES; i++)
    if (!only || strcmp(only, SCENES[i].name) == 0)
      one_scene(&SCENES[i]);
}

/* Of automatic length: decisions are made again where it was saved. */
static int stop_after(const tempera_progress *progress, void *user) {
  return progress->done >= *(const size_t *)user;
}

static void so_does_a_run_of_automatic_length(void **state) {
  (void)state;
  tempera_model *model = model_of(GAUSSIAN);
  tempera_options o = tempera_options_default();
  o.seed = 5;
  tempera_sampler *whole = make_sampler(model, &o);
  assert_int_equal(tempera_sampler_run(whole, NULL, NULL, NULL), TEMPERA_OK);
  tempera_sampler *parted = make_sampler(model, &o);
  advance(parted, 4000);
  parted = reload(model, parted, 1);
  /* Where the first check is due; warmup may have ended early. */
  advance(parted, whole->options.warmup + 6000 - 4000);
  parted = reload(model, parted, 2);
  size_t never = SIZE_MAX;
  assert_int_equal(tempera_sampler_run(parted, stop_after, &never, NULL),
                   TEMPERA_OK);
  assert_string_equal(whole->decision, parted->decision);
  parted = reload(model, parted, 2); /* the end can be saved too */
  same_end(whole, parted);
  tempera_sampler_free(whole);
  tempera_sampler_free(parted);
  tempera_model_free(model);
  remove(file());
}

static void a_run_made_longer_is_one_asked_for_at_once(void **state) {
  (void)state;
  tempera_model *model = model_of(TOY);
  tempera_options o = tempera_options_default();
  const char *const options[] = {LENGTHS, NULL};
  set_options(&o, options);
  tempera_sampler *shorter = make_sampler(model, &o);
  o.iterations = 2100;
  tempera_sampler *whole = make_sampler(model, &o);
  assert_int_equal(tempera_sampler_run(whole, NULL, NULL, NULL), TEMPERA_OK);
  advance(shorter, 5000);
  shorter = reload(model, shorter, 0);
  assert_int_equal(tempera_sampler_lengthen(shorter, 800, NULL),
                   TEMPERA_ERROR_ARGUMENT);
  assert_int_equal(tempera_sampler_lengthen(shorter, 2100, NULL), TEMPERA_OK);
  assert_int_equal(tempera_sampler_run(shorter, NULL, NULL, NULL), TEMPERA_OK);
  same_end(whole, shorter);
  tempera_sampler_free(whole);
  tempera_sampler_free(shorter);
  tempera_model_free(model);
  remove(file());
}

static void another_model_is_refused(void **state) {
  (void)state;
  tempera_model *one = model_of(GAUSSIAN), *other = model_of(TOY);
  tempera_options o = tempera_options_default();
  tempera_error error = {0};
  tempera_sampler *sampler = make_sampler(one, &o), *loaded = NULL;
  assert_int_equal(tempera_sampler_save(sampler, file(), NULL), TEMPERA_OK);
  assert_int_equal(tempera_sampler_load(other, file(), 0, &loaded, &error),
                   TEMPERA_ERROR_INPUT);
  assert_non_null(strstr(error.message, "another model"));
  assert_null(loaded);
  tempera_sampler_free(sampler);
  tempera_model_free(one);
  tempera_model_free(other);
  remove(file());
}

/* Numbers anywhere in the file may lie, with a right checksum. */
static void lies_are_refused_or_harmless(void **state) {
  (void)state;
  tempera_model *model = model_of(TOY);
  tempera_options o = tempera_options_default();
  const char *const options[] = {
      "iterations", "40", "warmup", "320", "seed", "3", "chains", "2", NULL};
  set_options(&o, options);
  tempera_sampler *sampler = make_sampler(model, &o);
  advance(sampler, 310);
  tm_archive a = tm_archive_writer();
  assert_int_equal(tm_sampler_write(sampler, &a, NULL), TEMPERA_OK);
  size_t refused = 0, step = (a.length - TM_ARCHIVE_HEAD) / 40;
  for (size_t at = TM_ARCHIVE_HEAD; at + 8 < a.length; at += step) {
    unsigned char kept[8];
    memcpy(kept, a.data + at, 8);
    memset(a.data + at, 0xee, 8);
    assert_int_equal(tm_archive_seal(&a, NULL), TEMPERA_OK);
    tm_archive b;
    tempera_sampler *loaded = NULL;
    assert_int_equal(tm_archive_open(a.data, a.length, &b, NULL), TEMPERA_OK);
    if (tm_sampler_read(model, &b, 1, &loaded, NULL) == TEMPERA_OK)
      tempera_sampler_free(loaded);
    else
      refused++;
    memcpy(a.data + at, kept, 8);
  }
  assert_true(refused > 0);
  tm_archive_clear(&a);
  tempera_sampler_free(sampler);
  tempera_model_free(model);
}

/* Starts without a number of chains would be read beyond their end. */
static void starts_belong_to_chains(void **state) {
  enum { CHAINS = 13, NEAR = 600 };
  (void)state;
  tempera_model *model = model_of(TOY);
  tempera_options o = tempera_options_default();
  size_t values = CHAINS * tempera_model_size(model), spoiled = 0;
  double *init = calloc(values, sizeof *init), one, other;
  assert_int_equal(tempera_model_probe(model, 1, 1, init, &one, &other, NULL),
                   TEMPERA_OK);
  for (size_t i = values / CHAINS; i < values; i++)
    init[i] = init[i - values / CHAINS];
  o.chains = CHAINS;
  o.init = init;
  o.seed = 3;
  tempera_sampler *sampler = make_sampler(model, &o);
  tm_archive a = tm_archive_writer();
  assert_int_equal(tm_sampler_write(sampler, &a, NULL), TEMPERA_OK);
  for (size_t at = TM_ARCHIVE_HEAD; at < TM_ARCHIVE_HEAD + NEAR; at++) {
    const uint64_t chains = CHAINS;
    if (memcmp(a.data + at, &chains, sizeof chains) != 0)
      continue;
    memset(a.data + at, 0, sizeof chains);
    tm_archive b;
    tempera_sampler *loaded = NULL;
    assert_int_equal(tm_archive_seal(&a, NULL), TEMPERA_OK);
    assert_int_equal(tm_archive_open(a.data, a.length, &b, NULL), TEMPERA_OK);
    assert_int_not_equal(tm_sampler_read(model, &b, 1, &loaded, NULL),
                         TEMPERA_OK);
    memcpy(a.data + at, &chains, sizeof chains);
    spoiled++;
  }
  assert_true(spoiled > 0);
  tm_archive_clear(&a);
  tempera_sampler_free(sampler);
  tempera_model_free(model);
  free(init);
}

/* Lengths of a search that no run has: a checkpoint that claims them would keep
 * whoever reads it busy for years. */
static void searches_are_as_long_as_the_run_allows(void **state) {
  (void)state;
  tempera_sampler s = {.saved_at = 100};
  s.options.chains = 2;
  tm_deed deed = {.kind = TM_DO_SEARCH, .looks = 70000, .evaluations = 30000};
  assert_true(tm_search_possible(&s, &deed));
  deed.looks = 80000;
  assert_false(tm_search_possible(&s, &deed));
  deed.looks = 0;
  deed.evaluations = 2000000;
  assert_false(tm_search_possible(&s, &deed));
  s.saved_at = 1000000;
  assert_true(tm_search_possible(&s, &deed));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_sampler_goes_on_as_if_it_had_never_stopped),
      cmocka_unit_test(so_does_a_run_of_automatic_length),
      cmocka_unit_test(a_run_made_longer_is_one_asked_for_at_once),
      cmocka_unit_test(another_model_is_refused),
      cmocka_unit_test(lies_are_refused_or_harmless),
      cmocka_unit_test(starts_belong_to_chains),
      cmocka_unit_test(searches_are_as_long_as_the_run_allows),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
