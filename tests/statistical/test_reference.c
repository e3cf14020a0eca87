/* The reference leg against exact answers: evidence by `rb` on it and by
 * reweighting, with honest errors, with and without gradients; the verdict's
 * basis; and two modes, where the leg alone would be wrong. */
#include "draws/draws.h"
#include "family_wise.h"
#include "gaussian_model.h"
#include "whole_run.h"

#include <math.h>
#include <string.h>

static tempera_options with_leg(uint64_t seed, size_t iterations) {
  tempera_options o = tempera_options_default();
  o.reference = true;
  o.seed = seed;
  o.threads = 1;
  o.iterations = iterations;
  o.warmup = 1500;
  o.warmup_given = true;
  return o;
}

static const tempera_estimate *find(const tempera_summary *s,
                                    const char *name) {
  for (size_t i = 0; i < s->estimate_count; i++)
    if (!strcmp(s->estimates[i].name, name))
      return &s->estimates[i];
  fail_msg("no %s", name);
  return NULL;
}

static double z_of(const tempera_summary *s, const char *name, double exact) {
  const tempera_estimate *e = find(s, name);
  assert_true(e->se > 0);
  return (e->log_z - exact) / e->se;
}

/* ---- Gaussians, without gradients --------------------------------------- */

static void gaussians_within_their_errors(void **state) {
  (void)state;
  gaussian_model g = {8, 1.5, 0.05};
  const tempera_parameter x = {
      .name = "x", .size = 8, .lower = -INFINITY, .upper = INFINITY};
  tempera_model_spec spec = gaussian_spec(&g, &x);
  tempera_model *model = make_model(&spec);
  for (uint64_t seed = 1; seed <= 3; seed++) {
    tempera_options o = with_leg(seed, 6000);
    tempera_summary *s = run_model(model, &o);
    double exact = gaussian_log_z(&g, 1);
    assert_non_null(s->reference);
    assert_true(fabs(z_of(s, "rb-reference", exact)) < family_z());
    assert_true(fabs(z_of(s, "reweighted", exact)) < family_z());
    assert_true(find(s, "reweighted")->se < 0.02);
    assert_true(s->reference->barrier < 0.5);
    assert_true(s->reference->round_trips > 100);
    tempera_summary_free(s);
  }
  tempera_model_free(model);
}

/* Of 40 intervals of 95 %, fewer than 32 cover with probability 1e-4. */
static void intervals_cover(void **state) {
  (void)state;
  gaussian_model g = {3, 1, 0.2};
  const tempera_parameter x = {
      .name = "x", .size = 3, .lower = -INFINITY, .upper = INFINITY};
  tempera_model_spec spec = gaussian_spec(&g, &x);
  tempera_model *model = make_model(&spec);
  size_t rb = 0, reweighted = 0;
  for (uint64_t seed = 1; seed <= 40; seed++) {
    tempera_options o = with_leg(seed, 1000);
    o.warmup = 900;
    o.bridge = true;
    tempera_summary *s = run_model(model, &o);
    double exact = gaussian_log_z(&g, 1);
    rb += fabs(z_of(s, "rb-reference", exact)) < 1.96;
    reweighted += fabs(z_of(s, "reweighted", exact)) < 1.96;
    tempera_summary_free(s);
  }
  tempera_model_free(model);
  assert_in_range(rb, 32, 40);
  assert_in_range(reweighted, 32, 40);
}

/* In many dimensions draws of q's wide part are never near the posterior: their
 * number is no error, since their share is known. For that the density of the
 * fitted part over q's must have mean 1 over draws of q. */
static void the_share_of_the_wide_part_is_known(void **state) {
  (void)state;
  gaussian_model g = {20, 1, 0.3};
  const tempera_parameter x = {
      .name = "x", .size = 20, .lower = -INFINITY, .upper = INFINITY};
  tempera_model_spec spec = gaussian_spec(&g, &x);
  tempera_model *model = make_model(&spec);
  tempera_options o = with_leg(1, 6000);
  tempera_sampler *s = NULL;
  assert_int_equal(tempera_sampler_create(model, &o, &s, NULL), TEMPERA_OK);
  assert_int_equal(tempera_sampler_run(s, NULL, NULL, NULL), TEMPERA_OK);
  const tempera_draws *d = tempera_sampler_reference(s);
  double n = 0, sum = 0, squares = 0;
  size_t wide = 0;
  for (size_t c = 0; c < d->chains; c++) {
    const double *renewed =
        tm_draws_column(d, TEMPERA_TEMPERED, c, d->size + TM_RENEWED);
    const double *excess =
        tm_draws_column(d, TEMPERA_TEMPERED, c, d->size + TM_EXCESS);
    for (size_t i = 0; i < d->count; i++) {
      if (renewed[i] != 1)
        continue;
      n++;
      sum += excess[i];
      squares += excess[i] * excess[i];
      wide += excess[i] < -0.5;
    }
  }
  double mean = sum / n, se = sqrt((squares / n - mean * mean) / n);
  assert_true(n > 1000 && wide > 0);
  assert_true(fabs(mean) < family_z() * se);
  tempera_sampler_free(s);
  tempera_model_free(model);
}

/* Errors that do not depend on the luck of the wide part. */
static void many_dimensions_within_their_errors(void **state) {
  (void)state;
  enum { RUNS = 8 };
  gaussian_model g = {20, 1, 0.3};
  const tempera_parameter x = {
      .name = "x", .size = 20, .lower = -INFINITY, .upper = INFINITY};
  tempera_model_spec spec = gaussian_spec(&g, &x);
  tempera_model *model = make_model(&spec);
  double exact = gaussian_log_z(&g, 1), squares[2] = {0};
  for (uint64_t seed = 1; seed <= RUNS; seed++) {
    tempera_options o = with_leg(seed, 600);
    o.warmup = 900;
    tempera_summary *s = run_model(model, &o);
    double z[] = {z_of(s, "rb-reference", exact), z_of(s, "reweighted", exact)};
    for (size_t i = 0; i < 2; i++)
      squares[i] += z[i] * z[i];
    tempera_summary_free(s);
  }
  tempera_model_free(model);
  double most = gsl_cdf_chisq_Qinv(family_rate(), RUNS);
  for (size_t i = 0; i < 2; i++)
    assert_true(squares[i] > 0 && squares[i] < most);
}

/* ---- A count and a rate: integers and a bound ---------------------------- */

/* k ~ uniform on 0 .. 9, r ~ exponential(1), y ~ exponential(rate r (k + 1)):
 * L = r (k + 1) e^{-r (k + 1) y}, whose integral over r is
 * (k + 1) / (1 + (k + 1) y)^2. */
static const double Y = 0.4;

static int count_likelihood(const double *theta, double *value, void *user) {
  (void)user;
  double rate = theta[1] * (theta[0] + 1);
  *value = log(rate) - rate * Y;
  return 0;
}

static int count_prior(const double *theta, double *value, void *user) {
  (void)user;
  *value = -log(10) - theta[1];
  return 0;
}

static int count_draw(tempera_random *random, double *theta, void *user) {
  (void)user;
  theta[0] = (double)tempera_random_below(random, 10);
  theta[1] = tempera_random_exponential(random);
  return 0;
}

static void integers_and_bounds(void **state) {
  (void)state;
  const tempera_parameter blocks[] = {
      {.name = "k", .kind = TEMPERA_INTEGER, .lower = 0, .upper = 9},
      {.name = "r", .lower = 0, .upper = INFINITY}};
  tempera_model_spec spec = {.name = "count",
                             .parameters = blocks,
                             .parameter_count = 2,
                             .log_likelihood = count_likelihood,
                             .log_prior = count_prior,
                             .prior_draw = count_draw,
                             .prior_normalised = true};
  double z = 0;
  for (int k = 1; k <= 10; k++)
    z += k / ((1 + k * Y) * (1 + k * Y)) / 10;
  tempera_model *model = make_model(&spec);
  for (uint64_t seed = 1; seed <= 3; seed++) {
    tempera_options o = with_leg(seed, 4000);
    tempera_summary *s = run_model(model, &o);
    assert_true(fabs(z_of(s, "rb-reference", log(z))) < 4);
    assert_true(fabs(z_of(s, "reweighted", log(z))) < 4);
    tempera_summary_free(s);
  }
  tempera_model_free(model);
}

/* ---- An improper prior --------------------------------------------------- */

static int nothing(const double *theta, double *value, void *user) {
  (void)theta;
  (void)user;
  *value = 0;
  return 0;
}

static void improper_priors_are_sampled(void **state) {
  (void)state;
  gaussian_model g = {2, 1, 0.2};
  const tempera_parameter x = {
      .name = "x", .size = 2, .lower = -INFINITY, .upper = INFINITY};
  tempera_model_spec spec = gaussian_spec(&g, &x);
  spec.log_prior = nothing;
  spec.prior_draw = NULL;
  spec.prior_normalised = false;
  tempera_model *model = make_model(&spec);
  tempera_options o = with_leg(1, 4000);
  tempera_summary *s = run_model(model, &o);
  assert_true(isnan(s->log_z));
  bool named = false;
  for (size_t i = 0; i < s->warning_count; i++)
    named = named || strstr(s->warnings[i], "undefined: the prior of x[1]");
  assert_true(named);
  for (size_t i = 0; i < 2; i++) { /* N(1, 0.2) each */
    assert_true(fabs(s->values[i].mean - 1) < 4 * s->values[i].mcse);
    assert_true(fabs(s->values[i].sd - sqrt(0.2)) < 0.02);
  }
  tempera_summary_free(s);
  tempera_model_free(model);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(gaussians_within_their_errors),
      cmocka_unit_test(intervals_cover),
      cmocka_unit_test(the_share_of_the_wide_part_is_known),
      cmocka_unit_test(many_dimensions_within_their_errors),
      cmocka_unit_test(integers_and_bounds),
      cmocka_unit_test(improper_priors_are_sampled),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
