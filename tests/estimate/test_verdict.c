/* Tests of the rules behind "reliable": each with what it must catch beside
 * what it must let pass. */
#include "estimate/bridge/bridge.h"
#include "estimate/evidence/basin_check.h"
#include "estimate_support.h"
#include "gaussian_draws.h"

static tempera_summary *checked(const tempera_draws *draws) {
  tempera_summary *s = summarise(draws);
  assert_int_equal(tm_estimate_cross_check(draws, s, NULL), TEMPERA_OK);
  assert_int_equal(tm_estimate_verdict(s, NULL), TEMPERA_OK);
  return s;
}

static void fill_value(tempera_draws *draws, tempera_role role, double value,
                       double step) {
  for (size_t c = 0; c < draws->chains; c++)
    for (size_t i = 0; i < tm_draws_rows(draws, role); i++)
      tm_draws_column(draws, role, c, 0)[i] = value + step * (double)c;
}

/* ---- a parameter that does not move ------------------------------------- */

static void a_frozen_parameter_is_not_reliable(void **state) {
  (void)state;
  gaussian g = gaussian_make(1, 25, FLAT);
  tempera_draws *draws = gaussian_draws(&g, GIBBS, 16, 4, 2500);
  tempera_summary *s = checked(draws);
  assert_true(s->reliable && !tm_finding_of(s, TM_FIND_FROZEN));
  tempera_summary_free(s);
  fill_value(draws, TEMPERA_TARGET, 0.5, 0);
  s = checked(draws);
  assert_true(isnan(s->values[0].rhat));
  assert_non_null(tm_finding_of(s, TM_FIND_FROZEN));
  assert_false(s->reliable);
  tempera_summary_free(s);
  fill_value(draws, TEMPERA_TARGET, 0.5, 1); /* each chain elsewhere */
  s = checked(draws);
  assert_true(s->values[0].rhat > 100);
  assert_non_null(tm_finding_of(s, TM_FIND_CHAINS_APART));
  assert_false(s->reliable);
  tempera_summary_free(s);
  tm_draws_free(draws);
}

/* stwnc, st and pawl keep no draws at tau = 1. */
static void without_target_draws_the_tempered_ones_tell(void **state) {
  (void)state;
  gaussian g = gaussian_make(1, 25, FLAT);
  tempera_draws *draws = gaussian_draws(&g, GIBBS, 16, 4, 2500);
  draws->has_role[TEMPERA_TARGET] = false;
  tempera_summary *s = checked(draws);
  assert_null(tm_finding_of(s, TM_FIND_FROZEN));
  tempera_summary_free(s);
  fill_value(draws, TEMPERA_TEMPERED, 0.5, 0);
  s = checked(draws);
  assert_non_null(tm_finding_of(s, TM_FIND_FROZEN));
  assert_false(s->reliable);
  tempera_summary_free(s);
  tm_draws_free(draws);
}

/* The diagonal of a correlation matrix is one and stays so. */
static void what_the_type_holds_is_not_frozen(void **state) {
  (void)state;
  static const bool fixed[] = {true};
  gaussian g = gaussian_make(1, 25, FLAT);
  tempera_draws *draws = gaussian_draws(&g, GIBBS, 16, 4, 2500);
  draws->fixed = fixed;
  fill_value(draws, TEMPERA_TARGET, 1, 0);
  tempera_summary *s = checked(draws);
  assert_null(tm_finding_of(s, TM_FIND_FROZEN));
  tempera_summary_free(s);
  tm_draws_free(draws);
}

/* All of an integer's mass may be in one place; its tempered draws show that it
 * can be elsewhere. */
static void an_integer_with_one_likely_value_is_not_frozen(void **state) {
  (void)state;
  static const bool integer[] = {true};
  gaussian g = gaussian_make(1, 25, FLAT);
  tempera_draws *draws = gaussian_draws(&g, GIBBS, 16, 4, 2500);
  draws->integer = integer;
  fill_value(draws, TEMPERA_TARGET, 3, 0);
  fill_value(draws, TEMPERA_TEMPERED, 3, 1);
  tempera_summary *s = checked(draws);
  assert_null(tm_finding_of(s, TM_FIND_FROZEN));
  tempera_summary_free(s);
  fill_value(draws, TEMPERA_TEMPERED, 3, 0);
  s = checked(draws);
  assert_non_null(tm_finding_of(s, TM_FIND_FROZEN));
  tempera_summary_free(s);
  tm_draws_free(draws);
}

/* ---- a basin known of, and missed --------------------------------------- */

/* The true ridge, raised by so many nats. */
static void set_ridge(const gaussian *g, tempera_draws *draws, double nats) {
  double height[PRIOR_KNOTS];
  for (size_t k = 0; k < PRIOR_KNOTS; k++)
    height[k] = gaussian_ridge(g, g->knot[k]) + nats;
  tm_draws_ridge ridge = {PRIOR_KNOTS, g->knot, height, NULL};
  assert_int_equal(tm_draws_set_ridge(draws, &ridge, NULL), TEMPERA_OK);
}

/* In one basin no alarm, in any dimension; in one that is h nats too low an
 * alarm, with h far less than the d/2 by which all draws lie below their
 * optimum. Over 40 seeds of each. */
static void a_missed_basin_is_seen_in_many_dimensions(void **state) {
  (void)state;
  static const struct { double d, h; } cases[] = {{1, 15}, {10, 20}, {100, 40}};
  for (size_t k = 0; k < 3; k++) {
    gaussian g = gaussian_make(cases[k].d, 25, FLAT);
    size_t alarms = 0, caught = 0;
    for (uint64_t seed = 1; seed <= 40; seed++) {
      tempera_draws *draws = gaussian_draws(&g, GIBBS, seed, 4, 1000);
      tempera_summary *s = summarise(draws);
      tm_basin_gap gap;
      set_ridge(&g, draws, 0);
      assert_int_equal(tm_basin_check(draws, s, &gap, NULL), TEMPERA_OK);
      assert_true(gap.tau >= 0);
      alarms += gap.height > gap.limit;
      set_ridge(&g, draws, cases[k].h);
      assert_int_equal(tm_basin_check(draws, s, &gap, NULL), TEMPERA_OK);
      caught += gap.height > gap.limit;
      tempera_summary_free(s);
      tm_draws_free(draws);
    }
    print_message("d=%g: %zu of 40 alarms, %zu of 40 basins %g nats up seen\n",
                  cases[k].d, alarms, caught, cases[k].h);
    assert_int_equal(alarms, 0);
    assert_int_equal(caught, 40);
  }
}

/* The neck of a funnel: higher than all draws, and holds nothing. */
static void a_high_basin_without_mass_is_not_missed(void **state) {
  (void)state;
  gaussian g = gaussian_make(1, 25, FLAT);
  tempera_draws *draws = gaussian_draws(&g, GIBBS, 16, 4, 2500);
  tempera_summary *s = summarise(draws);
  tm_basin_gap gap;
  set_ridge(&g, draws, 40);
  for (double below = 0; below <= 8; below += 8) {
    draws->ridge.weighed = true;
    draws->ridge.log_mass = s->log_z - below;
    assert_int_equal(tm_basin_check(draws, s, &gap, NULL), TEMPERA_OK);
    assert_true((gap.height > gap.limit) == (below == 0));
  }
  tempera_summary_free(s);
  tm_draws_free(draws);
}

/* Draws above a ridge that is too low, as where steps stop every climb, are no
 * alarm; a single one that all the others do not explain is. */
static void draws_above_the_ridge_must_be_explained(void **state) {
  (void)state;
  gaussian g = gaussian_make(3, 25, FLAT);
  tempera_draws *draws = gaussian_draws(&g, GIBBS, 16, 4, 2500);
  set_ridge(&g, draws, -20);
  tempera_summary *s = checked(draws);
  assert_null(tm_finding_of(s, TM_FIND_MISSED_BASIN));
  assert_true(s->reliable);
  tempera_summary_free(s);
  size_t column = draws->size + TM_LOG_LIKELIHOOD;
  tm_draws_column(draws, TEMPERA_TEMPERED, 2, column)[100] += 60;
  set_ridge(&g, draws, 0);
  s = summarise(draws);
  tm_basin_gap gap;
  assert_int_equal(tm_basin_check(draws, s, &gap, NULL), TEMPERA_OK);
  assert_true(gap.height > 30 && gap.limit < 15);
  tempera_summary_free(s);
  tm_draws_free(draws);
}

/* Also where there is no evidence to hang it on: tau bounded below. */
static void a_missed_basin_is_told_without_evidence(void **state) {
  (void)state;
  gaussian g = gaussian_make(1, 25, FLAT);
  tempera_draws *draws = gaussian_draws(&g, GIBBS, 16, 4, 2500);
  draws->evidence = false;
  set_ridge(&g, draws, 0);
  tempera_summary *s = checked(draws);
  assert_true(s->reliable && s->estimate_count == 0);
  tempera_summary_free(s);
  set_ridge(&g, draws, 46);
  s = checked(draws);
  const tempera_finding *f = tm_finding_of(s, TM_FIND_MISSED_BASIN);
  assert_true(f && f->value > 40 && f->value < 50 && f->limit < 15);
  assert_false(s->reliable);
  tempera_summary_free(s);
  tm_draws_free(draws);
}

/* ---- errors ------------------------------------------------------------- */

static int no_likelihood(const double *theta, double *value, void *user) {
  (void)theta;
  (void)user;
  *value = 0;
  return 0;
}

static int unit_normal(const double *theta, double *value, void *user) {
  (void)user;
  *value = -0.5 * theta[0] * theta[0] - 0.5 * log(2 * M_PI);
  return 0;
}

/* A likelihood that is 1 everywhere: every weight is the same. */
static void no_error_is_zero(void **state) {
  (void)state;
  gaussian g = gaussian_make(1, 25, FLAT);
  tempera_draws *draws = gaussian_draws(&g, INDEPENDENT, 16, 4, 1000);
  for (size_t c = 0; c < 4; c++)
    for (size_t i = 0; i < 1000; i++)
      for (int role = 0; role < 2; role++)
        tm_draws_column(draws, (tempera_role)role, c,
                        1 + TM_LOG_LIKELIHOOD)[i] = 0;
  tempera_summary *s = summarise(draws);
  for (size_t i = 0; i < s->estimate_count; i++)
    if (strcmp(s->estimates[i].name, "ti-paper") != 0)
      assert_true(s->estimates[i].se > 3e-4 && s->estimates[i].se < 0.01);
  tempera_summary_free(s);
  tm_draws_free(draws);
  const tempera_parameter theta = {"theta",   TEMPERA_REAL, 0,
                                   -INFINITY, INFINITY,     TEMPERA_BOUNDS};
  tempera_model_spec spec = {.name = "prior",
                             .parameters = &theta,
                             .parameter_count = 1,
                             .log_likelihood = no_likelihood,
                             .log_prior = unit_normal,
                             .prior_normalised = true};
  tempera_model *model = NULL;
  assert_int_equal(tempera_model_create(&spec, &model, NULL), TEMPERA_OK);
  g = gaussian_make(1, 0, FLAT);
  draws = gaussian_draws(&g, INDEPENDENT, 3, 4, 1000);
  tempera_estimate e = {0};
  uint64_t calls;
  assert_int_equal(tm_bridge_estimate(model, draws,
                                      &(tm_bridge_settings){.seed = 1}, NULL,
                                      &e, &calls, NULL),
                   TEMPERA_OK);
  assert_true(e.se >= tm_least_se(4000) && fabs(e.log_z) < 4 * e.se);
  tm_heap_free(e.warning);
  tm_draws_free(draws);
  tempera_model_free(model);
}

static void a_large_error_is_not_reliable(void **state) {
  (void)state;
  gaussian g = gaussian_make(1, 25, FLAT);
  tempera_draws *draws = gaussian_draws(&g, GIBBS, 16, 4, 2500);
  tempera_summary *s = checked(draws);
  s->se = 0.49;
  assert_int_equal(tm_estimate_verdict(s, NULL), TEMPERA_OK);
  assert_true(s->reliable);
  s->se = 0.51;
  assert_int_equal(tm_estimate_verdict(s, NULL), TEMPERA_OK);
  assert_true(!s->reliable && tm_finding_of(s, TM_FIND_IMPRECISE));
  tempera_summary_free(s);
  tm_draws_free(draws);
}

/* Three errors apart says little where ten tours stand behind the errors. */
static void few_trips_make_disagreement_harder_to_prove(void **state) {
  (void)state;
  assert_true(fabs(tm_apart_limit(100000) - 3.2905) < 0.01);
  assert_true(fabs(tm_apart_limit(10) - 4.7809) < 0.01); /* t, 9 df */
  for (size_t trips = 1; trips < 200; trips++)
    assert_true(tm_apart_limit(trips + 1) <= tm_apart_limit(trips));
}

/* What rests on three tours is not known to a thousandth. */
static void few_trips_widen_what_rests_on_them(void **state) {
  (void)state;
  gaussian g = gaussian_make(1, 25, FLAT);
  tempera_draws *draws = gaussian_draws(&g, GIBBS, 16, 4, 2500);
  tempera_summary *s = summarise(draws);
  assert_true(s->se < 0.05);
  s->round_trips = 3;
  assert_int_equal(tm_estimate_cross_check(draws, s, NULL), TEMPERA_OK);
  assert_int_equal(tm_estimate_verdict(s, NULL), TEMPERA_OK);
  assert_true(s->se > 1 / sqrt(3) && s->se < 0.6 && !s->reliable);
  assert_true(estimate(s, "ti")->se > 1 / sqrt(3));
  assert_true(s->upper - s->lower > 3.9 / sqrt(3));
  tempera_summary_free(s);
  tm_draws_free(draws);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_frozen_parameter_is_not_reliable),
      cmocka_unit_test(without_target_draws_the_tempered_ones_tell),
      cmocka_unit_test(what_the_type_holds_is_not_frozen),
      cmocka_unit_test(an_integer_with_one_likely_value_is_not_frozen),
      cmocka_unit_test(a_missed_basin_is_seen_in_many_dimensions),
      cmocka_unit_test(a_high_basin_without_mass_is_not_missed),
      cmocka_unit_test(a_missed_basin_is_told_without_evidence),
      cmocka_unit_test(draws_above_the_ridge_must_be_explained),
      cmocka_unit_test(no_error_is_zero),
      cmocka_unit_test(a_large_error_is_not_reliable),
      cmocka_unit_test(few_trips_make_disagreement_harder_to_prove),
      cmocka_unit_test(few_trips_widen_what_rests_on_them)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
