/* Facts about estimators of the evidence: near the exact answer, and with
 * error bars that hold. */
#include "estimate_support.h"
#include "gaussian_draws.h"

#include <stdio.h>

static void assert_near(const tempera_estimate *e, double truth,
                        double largest_se) {
  assert_non_null(e);
  print_message("%-8s %.4f +- %.4f, truth %.4f%s%s\n", e->name, e->log_z, e->se,
                truth, e->warning ? ", " : "", e->warning ? e->warning : "");
  assert_true(fabs(e->log_z - truth) < 4 * e->se);
  assert_true(e->se < largest_se);
}

static const char *const good[] = {"rb", "ti", "ss"};

static void check(const gaussian *g, way how, uint64_t seed,
                  double largest_se) {
  tempera_draws *draws = gaussian_draws(g, how, seed, 4, 2500);
  tempera_summary *s = summarise(draws);
  for (size_t k = 0; k < 3; k++) {
    const tempera_estimate *e = estimate(s, good[k]);
    assert_near(e, gaussian_truth(g), largest_se);
    assert_null(e->warning);
  }
  assert_string_equal(s->estimator, "rb");
  assert_true(s->log_z == estimate(s, "rb")->log_z);
  double log_z, se;
  tm_estimate_headline(draws, &log_z, &se);
  assert_true(log_z == s->log_z && se == s->se);
  tempera_summary_free(s);
  tm_draws_free(draws);
}

static void estimators_agree_with_the_closed_form(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 3; seed++) {
    gaussian flat = gaussian_make(1, 25, FLAT);
    check(&flat, INDEPENDENT, seed, 0.06);
    check(&flat, GIBBS, seed, 0.08);
    gaussian profile = gaussian_make(1, 25, PROFILE);
    check(&profile, INDEPENDENT, seed, 0.06);
    check(&profile, GIBBS, seed, 0.08);
    gaussian three = gaussian_make(3, 40, FLAT);
    check(&three, GIBBS, seed, 0.2);
  }
}

static void an_atom_and_zero_likelihood_are_counted(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 3; seed++) {
    gaussian g = gaussian_make(1, 25, FLAT);
    g.log_atom = log(0.05);
    g.zero = 0.3;
    gaussian_ready(&g);
    check(&g, INDEPENDENT, seed, 0.12);
    check(&g, GIBBS, seed, 0.15);
  }
}

static void zero_likelihood_is_added_from_prior_draws(void **state) {
  (void)state;
  gaussian g = gaussian_make(1, 25, PROFILE);
  g.zero = 0.3;
  gaussian_ready(&g);
  for (uint64_t seed = 1; seed <= 3; seed++)
    check(&g, GIBBS, seed, 0.1);
}

typedef struct tally {
  int covered, made;
  double error, square, se;
} tally;

static void count(tally *t, const tempera_estimate *e, double truth) {
  t->covered += e->lower <= truth && truth <= e->upper;
  t->made++;
  t->error += e->log_z - truth;
  t->square += (e->log_z - truth) * (e->log_z - truth);
  t->se += e->se;
}

enum { RUNS = 200 };

/* The evidence alone, which is what many runs have time for. */
static tempera_summary *evidence_only(const tempera_draws *draws) {
  tempera_summary *s = tm_heap_alloc(1, sizeof *s);
  tm_tempered view;
  assert_int_equal(tm_tempered_create(draws, SIZE_MAX / 2, &view, NULL),
                   TEMPERA_OK);
  assert_int_equal(tm_evidence_fill(draws, &view, s, NULL), TEMPERA_OK);
  tm_tempered_free(&view);
  return s;
}

static void tally_runs(const gaussian *g, way how, size_t rows, bool table,
                       tally t[3]) {
  for (uint64_t seed = 1; seed <= RUNS; seed++) {
    tempera_draws *draws = gaussian_draws(g, how, 1000 + seed, 4, rows);
    draws->prior.knots = table ? draws->prior.knots : 0;
    tempera_summary *s = evidence_only(draws);
    for (size_t k = 0; k < 3; k++)
      if (tm_estimate_find(s, good[k]))
        count(&t[k], estimate(s, good[k]), gaussian_truth(g));
    tempera_summary_free(s);
    tm_draws_free(draws);
  }
}

static void print_tally(const char *what, const tally *t) {
  print_message("%s: %d of %d cover, bias %.4f, rms %.4f, se %.4f\n", what,
                t->covered, t->made, t->error / t->made,
                sqrt(t->square / t->made), t->se / t->made);
}

static void check_coverage(const char *what, const gaussian *g, way how,
                           size_t rows, bool table) {
  tally t[3] = {{0}};
  tally_runs(g, how, rows, table, t);
  for (size_t k = 0; k < 3; k++) {
    if (!table && k != 1) /* ti only */
      continue;
    print_message("%s, ", what);
    print_tally(good[k], &t[k]);
    assert_int_equal(t[k].made, RUNS);
    assert_in_range(t[k].covered, 180, 197);
  }
}

static void intervals_cover_for_independent_draws(void **state) {
  (void)state;
  gaussian flat = gaussian_make(1, 25, FLAT);
  check_coverage("flat, independent", &flat, INDEPENDENT, 500, true);
  gaussian profile = gaussian_make(1, 25, PROFILE);
  check_coverage("profile, independent", &profile, INDEPENDENT, 500, true);
}

static void intervals_cover_for_correlated_draws(void **state) {
  (void)state;
  gaussian flat = gaussian_make(1, 25, FLAT);
  check_coverage("flat, Gibbs", &flat, GIBBS, 500, true);
  gaussian profile = gaussian_make(1, 25, PROFILE);
  check_coverage("profile, Gibbs", &profile, GIBBS, 500, true);
  check_coverage("no table, held", &profile, HELD, 1000, false);
  check_coverage("profile, held", &profile, HELD, 1000, true);
  gaussian atom = gaussian_make(1, 25, FLAT);
  atom.log_atom = log(0.05);
  atom.zero = 0.1;
  gaussian_ready(&atom);
  check_coverage("atom, Gibbs", &atom, GIBBS, 500, true);
}

/* Method 3.2: where taus are held, states of low l hold longer; one vote per
 * tau overrates the others, and no number of draws helps. */
static void ti_paper_is_biased_where_taus_are_held(void **state) {
  (void)state;
  gaussian g = gaussian_make(1, 25, PROFILE);
  tempera_draws *draws = gaussian_draws(&g, HELD, 3, 4, 10000);
  tempera_summary *s = summarise(draws);
  const tempera_estimate *paper = estimate(s, "ti-paper");
  assert_near(estimate(s, "rb"), gaussian_truth(&g), 0.1);
  assert_near(estimate(s, "ti"), gaussian_truth(&g), 0.1);
  print_message("ti-paper %.4f\n", paper->log_z);
  assert_true(paper->log_z - gaussian_truth(&g) > 0.1);
  assert_non_null(strstr(paper->warning, "biased"));
  tempera_summary_free(s);
  tm_draws_free(draws);
}

/* The exact ridge has no table, so only ti is left, and it must do. */
static void ti_needs_no_table_of_the_tau_prior(void **state) {
  (void)state;
  gaussian g = gaussian_make(1, 25, PROFILE);
  for (uint64_t seed = 1; seed <= 4; seed++) {
    tempera_draws *draws = gaussian_draws(&g, HELD, seed, 4, 5000);
    draws->prior.knots = 0;
    tempera_summary *s = summarise(draws);
    assert_null(tm_estimate_find(s, "rb"));
    assert_string_equal(s->estimator, "ti");
    assert_near(estimate(s, "ti"), gaussian_truth(&g), 0.2);
    assert_true(s->barrier > 0.5 && s->barrier < 3);
    const tempera_curve_point *middle = NULL;
    for (size_t k = 0; k < s->curve_count; k++)
      if (fabs(s->curve[k].tau - 0.5) < 0.02)
        middle = &s->curve[k];
    assert_true(fabs(middle->log_z - gaussian_log_z(&g, middle->tau)) < 0.4);
    tempera_summary_free(s);
    tm_draws_free(draws);
  }
}

static void without_draws_near_zero_ti_gives_no_estimate(void **state) {
  (void)state;
  gaussian g = gaussian_make(1, 25, PROFILE);
  tempera_draws *draws = gaussian_draws(&g, INDEPENDENT, 6, 4, 2000);
  draws->prior.knots = 0;
  tempera_random r = tm_random(6, 0, TM_PURPOSE_TEST);
  for (size_t c = 0; c < 4; c++)
    for (size_t i = 0; i < 2000; i++) {
      double tau = 0.1 + 0.9 * tempera_random_uniform(&r), unused;
      double *l =
          tm_draws_column(draws, TEMPERA_TEMPERED, c, 1 + TM_LOG_LIKELIHOOD);
      tm_draws_column(draws, TEMPERA_TEMPERED, c, 1 + TM_TAU)[i] = tau;
      (void)gaussian_theta(&g, tau, &r, &l[i], &unused);
    }
  tempera_summary *s = summarise(draws);
  assert_null(s->estimator);
  assert_true(isnan(s->log_z) && isnan(s->se));
  assert_non_null(tm_finding_of(s, TM_FIND_HOT_END_UNSEEN));
  assert_int_equal(tm_estimate_verdict(s, NULL), TEMPERA_OK);
  assert_false(s->reliable);
  tempera_summary_free(s);
  tm_draws_free(draws);
}

/* In ten dimensions the profile prior keeps the chain from tau = 1 (method
 * 3.4). What is not visited is bounded, and said. */
static void unvisited_taus_are_bounded_by_convexity(void **state) {
  (void)state;
  gaussian g = gaussian_make(10, 100, PROFILE);
  int covered = 0;
  for (uint64_t seed = 1; seed <= 20; seed++) {
    tempera_draws *draws = gaussian_draws(&g, GIBBS, seed, 4, 1000);
    tempera_summary *s = summarise(draws);
    for (size_t k = 0; k < 3; k++) {
      const tempera_estimate *e = estimate(s, good[k]);
      covered +=
          e->lower <= gaussian_truth(&g) && gaussian_truth(&g) <= e->upper;
      assert_true(e->reach < 1);
      if (seed == 1)
        print_message("%s %.3f +- %.3f, truth %.3f: %s\n", e->name, e->log_z,
                      e->se, gaussian_truth(&g), e->warning);
    }
    assert_int_equal(tm_estimate_verdict(s, NULL), TEMPERA_OK);
    assert_false(s->reliable);
    tempera_summary_free(s);
    tm_draws_free(draws);
  }
  print_message("%d of 60 cover\n", covered);
  assert_true(covered >= 54);
}

/* In between, wherever the edge of what was visited falls, intervals hold;
 * those that convexity widens may hold too often. */
static void intervals_cover_as_the_profile_prior_collapses(void **state) {
  (void)state;
  for (int d = 2; d <= 5; d += 3) {
    gaussian g = gaussian_make(d, 60, PROFILE);
    tally t[3] = {{0}};
    tally_runs(&g, GIBBS, 500, true, t);
    for (size_t k = 0; k < 3; k++) {
      print_message("d=%d, ", d);
      print_tally(good[k], &t[k]);
    }
    for (size_t k = 0; k < 3; k++)
      assert_in_range(t[k].covered, 180, d == 2 ? 197 : 200);
  }
}

/* A sampler that cannot climb: its draws follow no law over all of [0, 1],
 * which the target chain betrays. */
static void a_chain_kept_below_some_tau_does_not_claim_the_rest(void **state) {
  (void)state;
  gaussian g = gaussian_make(2, 400, FLAT);
  g.tau_limit = 0.02;
  gaussian_ready(&g);
  tempera_draws *draws = gaussian_draws(&g, INDEPENDENT, 5, 4, 2000);
  tempera_summary *s = summarise(draws);
  print_message("%.3f +- %.3f, truth %.3f: %s\n", s->log_z, s->se,
                gaussian_truth(&g), s->warnings[0]);
  assert_true(s->lower <= gaussian_truth(&g));
  assert_true(s->upper >= gaussian_truth(&g));
  assert_int_equal(tm_estimate_verdict(s, NULL), TEMPERA_OK);
  assert_false(s->reliable);
  double log_z, se;
  tm_estimate_headline(draws, &log_z, &se);
  assert_true(log_z == s->log_z && se == s->se);
  tempera_summary_free(s);
  tm_draws_free(draws);
}

/* Without a target chain E_1[l] is bounded by the highest l known of. */
static void the_bound_holds_without_a_target_chain(void **state) {
  (void)state;
  gaussian g = gaussian_make(6, 100, PROFILE);
  for (uint64_t seed = 1; seed <= 5; seed++) {
    tempera_draws *draws = gaussian_draws(&g, GIBBS, seed, 4, 1000);
    draws->has_role[TEMPERA_TARGET] = false;
    tempera_summary *s = summarise(draws);
    print_message("%.3f +- %.3f, truth %.3f\n", s->log_z, s->se,
                  gaussian_truth(&g));
    assert_true(s->lower <= gaussian_truth(&g));
    assert_true(s->upper >= gaussian_truth(&g));
    draws->has_role[TEMPERA_TARGET] = true;
    tempera_summary_free(s);
    tm_draws_free(draws);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(estimators_agree_with_the_closed_form),
      cmocka_unit_test(an_atom_and_zero_likelihood_are_counted),
      cmocka_unit_test(zero_likelihood_is_added_from_prior_draws),
      cmocka_unit_test(intervals_cover_for_independent_draws),
      cmocka_unit_test(intervals_cover_for_correlated_draws),
      cmocka_unit_test(ti_paper_is_biased_where_taus_are_held),
      cmocka_unit_test(ti_needs_no_table_of_the_tau_prior),
      cmocka_unit_test(without_draws_near_zero_ti_gives_no_estimate),
      cmocka_unit_test(unvisited_taus_are_bounded_by_convexity),
      cmocka_unit_test(intervals_cover_as_the_profile_prior_collapses),
      cmocka_unit_test(a_chain_kept_below_some_tau_does_not_claim_the_rest),
      cmocka_unit_test(the_bound_holds_without_a_target_chain),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
