/* Tests of findings.c: the table's words, the order, what decides. */
#include "base/memory.h"
#include "cmocka_all.h"
#include "estimate/estimate.h"
#include "estimate/evidence/evidence.h"
#include "estimate/findings.h"
#include "failing_memory.h"

#include <math.h>
#include <string.h>

static tempera_summary *empty(void) {
  tempera_summary *s = tm_heap_alloc(1, sizeof *s);
  assert_non_null(s);
  return s;
}

/* Every row fills in its numbers and leaves no braces; codes are unique, are
 * what a program can compare, and severities fall down the table except that
 * withdrawn evidence and unreliable runs share the top. */
static void every_code_has_words(void **state) {
  (void)state;
  tempera_summary *s = empty();
  for (int k = 0; k < TM_FIND_CODES; k++)
    assert_int_equal(
        tm_find_about(s, (tm_finding_code)k, 1.5, 2.5, NULL, "%s", "this"),
        TEMPERA_OK);
  for (size_t i = 0; i < s->finding_count; i++) {
    const tempera_finding *f = &s->findings[i];
    assert_true(f->words[0] && !strpbrk(f->words, "{}"));
    assert_true(f->code[0] && strlen(f->code) < sizeof f->code - 1);
    assert_int_equal(strspn(f->code, "abcdefghijklmnopqrstuvwxyz-"),
                     strlen(f->code));
    for (size_t j = 0; j < i; j++)
      assert_string_not_equal(f->code, s->findings[j].code);
    if (i)
      assert_true(f->severity <= s->findings[i - 1].severity ||
                  s->findings[i - 1].severity >= TEMPERA_UNRELIABLE);
    assert_int_equal(tm_severity_read(tm_severity_word(f->severity)),
                     f->severity);
  }
  tempera_summary_free(s);
}

static void the_gravest_comes_first_and_decides(void **state) {
  (void)state;
  const char *problem = NULL, *advice = NULL;
  tempera_summary *s = empty();
  assert_int_equal(
      tm_find_about(s, TM_FIND_NO_RIDGE, NAN, NAN, NULL, "no %s", "reason"),
      TEMPERA_OK);
  assert_int_equal(tm_findings_worst(s), TEMPERA_NOTE);
  assert_false(tm_findings_problem(s, &problem, &advice));
  assert_false(tm_findings_open(s));
  assert_int_equal(tm_find(s, TM_FIND_TARGET_APART, -3, -5, NULL), TEMPERA_OK);
  assert_int_equal(tm_find_about(s, TM_FIND_MISSED_BASIN, 46.25, 15, NULL, "1"),
                   TEMPERA_OK);
  assert_int_equal(tm_findings_end(s, NULL), TEMPERA_OK);
  assert_string_equal(s->findings[0].code, "missed-basin");
  assert_string_equal(s->warnings[0],
                      "Near tau = 1 the best point known is 46.25 nats higher "
                      "than the draws explain (at most 15 is allowed): they "
                      "miss a basin.");
  assert_string_equal(s->warnings[2],
                      "There is no ridge (no reason); the run went on without "
                      "it.");
  assert_int_equal(s->warning_count, 3);
  assert_true(tm_findings_problem(s, &problem, &advice));
  assert_non_null(strstr(problem, "basin"));
  assert_true(tm_findings_open(s));
  tempera_summary_free(s);
}

/* A finding that more draws would not change keeps no run going. */
static void lasting_findings_do_not_ask_for_more(void **state) {
  (void)state;
  tempera_summary *s = empty();
  assert_int_equal(tm_find(s, TM_FIND_UNTEMPERED, NAN, NAN, NULL), TEMPERA_OK);
  assert_int_equal(tm_findings_worst(s), TEMPERA_UNRELIABLE);
  assert_false(tm_findings_open(s));
  assert_int_equal(tm_find(s, TM_FIND_ESS_ROUGH, 300, 400, NULL), TEMPERA_OK);
  assert_true(tm_findings_open(s));
  tempera_summary_free(s);
}

/* The verdict may be asked again: what it finds itself is not listed twice. */
static void a_second_verdict_forgets_the_first(void **state) {
  (void)state;
  tempera_summary *s = empty();
  tempera_tau_bin bin = {0, 1, 10, 1, 1, 0};
  s->tau_bins = &bin;
  s->tau_bin_count = 1;
  assert_int_equal(tm_find(s, TM_FIND_HOT_END_UNSEEN, NAN, NAN, NULL),
                   TEMPERA_OK);
  for (int k = 0; k < 2; k++) {
    assert_int_equal(tm_estimate_verdict(s, NULL), TEMPERA_OK);
    assert_int_equal(s->finding_count, 2);
    assert_string_equal(s->findings[0].code, "few-round-trips");
    assert_string_equal(s->findings[1].code, "hot-end-unseen");
    assert_false(s->reliable);
  }
  s->round_trips = 15;
  assert_int_equal(tm_estimate_verdict(s, NULL), TEMPERA_OK);
  assert_string_equal(s->findings[0].code, "round-trips-rough");
  assert_true(s->reliable);
  s->tau_bins = NULL;
  tempera_summary_free(s);
}

/* An estimate keeps its own words too, one after the other. */
static void estimates_hear_of_what_is_found(void **state) {
  (void)state;
  tempera_summary *s = empty();
  tempera_estimate e = {.name = "bridge"};
  assert_int_equal(
      tm_find_estimate(s, &e, TM_FIND_BRIDGE_COVER, 12, 30, NULL, "posterior"),
      TEMPERA_OK);
  assert_int_equal(tm_find_estimate(NULL, &e, TM_FIND_NO_ESTIMATE, NAN, NAN,
                                    NULL, "for %s", "once"),
                   TEMPERA_OK);
  assert_int_equal(s->finding_count, 1);
  assert_true(s->findings[0].value == 12 && s->findings[0].limit == 30);
  assert_int_equal(strncmp(s->findings[0].words, "log Z by bridge: the", 20),
                   0);
  assert_non_null(strstr(e.warning, "; for once"));
  tm_heap_free(e.warning);
  tempera_summary_free(s);
}

/* A bridge whose density covers nothing contradicts nobody, once round trips
 * vouch for the estimate that is quoted; without them it does. */
static void a_void_bridge_contradicts_nobody(void **state) {
  (void)state;
  for (size_t trips = 0; trips <= 100; trips += 100) {
    tempera_summary *s = empty();
    tempera_reference leg = {.round_trips = 100};
    tempera_estimate e[] = {
        {.name = "rb", .log_z = -19.5, .se = 0.05, .reach = 1},
        {.name = "reweighted", .log_z = -19.6, .se = 0.1, .reach = 1},
        {.name = "bridge", .log_z = -24, .se = 0.7, .reach = 1}};
    s->estimates = e;
    s->estimate_count = 3;
    s->reference = &leg;
    s->round_trips = trips;
    assert_int_equal(tm_estimate_take(s, &e[0], NULL), TEMPERA_OK);
    assert_int_equal(tm_find_estimate(s, &e[2], TM_FIND_BRIDGE_COVER, 1, 30,
                                      NULL, "posterior"),
                     TEMPERA_OK);
    assert_int_equal(tm_estimate_weigh_reference(s, NULL), TEMPERA_OK);
    assert_int_equal(tm_finding_of(s, TM_FIND_ESTIMATES_APART) != NULL,
                     trips == 0);
    assert_true(trips == 0 || s->se == 0.05);
    for (size_t i = 0; i < 3; i++)
      tm_heap_free(e[i].warning);
    s->estimates = NULL;
    s->estimate_count = 0;
    s->reference = NULL;
    tempera_summary_free(s);
  }
}

/* A draw that the leg does not come down from objects where its basin may hold
 * 2 % of the evidence, and where that is not known. */
static void a_far_draw_objects_where_it_matters(void **state) {
  (void)state;
  static const double mass[] = {-30, -12, -INFINITY, NAN};
  static const bool tail[] = {false, true, false, true};
  for (size_t i = 0; i < 4; i++) {
    tempera_summary *s = empty();
    tempera_tau_bin bin = {0};
    tempera_reference leg = {.round_trips = 200,
                             .fewest_trips = 40,
                             .rhat = 1,
                             .pareto_k = 0.9,
                             .starts = 60,
                             .absorbed = 60,
                             .far = 60,
                             .far_absorbed = 59,
                             .far_mass = mass[i]};
    s->tau_bins = &bin;
    s->tau_bin_count = 1;
    s->reference = &leg;
    s->log_z = -10;
    assert_int_equal(tm_estimate_verdict(s, NULL), TEMPERA_OK);
    assert_int_equal(tm_finding_of(s, TM_FIND_REFERENCE_TAIL) != NULL, tail[i]);
    s->tau_bins = NULL;
    s->tau_bin_count = 0;
    s->reference = NULL;
    tempera_summary_free(s);
  }
}

static void every_failed_allocation_is_reported(void **state) {
  (void)state;
  tempera_status status = TEMPERA_ERROR_MEMORY;
  long k = 0;
  while (status == TEMPERA_ERROR_MEMORY && k < 100) {
    tempera_summary *s = empty();
    tempera_estimate e = {.name = "rb"};
    heap_fail_at(++k);
    status = tm_find_about(s, TM_FIND_NO_RIDGE, NAN, NAN, NULL, "%d", 5);
    if (status == TEMPERA_OK)
      status = tm_find_estimate(s, &e, TM_FIND_NO_ESTIMATE, NAN, NAN, NULL,
                                "%s", "none");
    if (status == TEMPERA_OK)
      status = tm_findings_end(s, NULL);
    heap_fail_at(0);
    tm_heap_free(e.warning);
    tempera_summary_free(s);
  }
  assert_int_equal(status, TEMPERA_OK);
  assert_true(k > 5);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_code_has_words),
      cmocka_unit_test(the_gravest_comes_first_and_decides),
      cmocka_unit_test(lasting_findings_do_not_ask_for_more),
      cmocka_unit_test(a_second_verdict_forgets_the_first),
      cmocka_unit_test(estimates_hear_of_what_is_found),
      cmocka_unit_test(a_void_bridge_contradicts_nobody),
      cmocka_unit_test(a_far_draw_objects_where_it_matters),
      cmocka_unit_test(every_failed_allocation_is_reported)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
