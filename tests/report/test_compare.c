/* Facts about comparing models: Bayes factors, probabilities and their errors,
 * what is refused and what is warned of. */
#include "base/memory.h"
#include "base/random.h"
#include "model/data.h"

#include "cmocka_all.h"
#include "failing_memory.h"

#include <math.h>
#include <string.h>

static tempera_summary *example(double log_z) {
  tempera_summary *s = tm_heap_alloc(1, sizeof *s);
  assert_non_null(s);
  *s = (tempera_summary){.log_z = log_z, .se = 0.03, .reliable = true};
  s->model = tm_heap_text("example");
  s->estimator = tm_heap_text("rb");
  s->verdict = tm_heap_text("a verdict");
  assert_true(s->model && s->estimator && s->verdict);
  return s;
}

static void close_to(double value, double wanted) {
  if (!(fabs(value - wanted) < 1e-12))
    fail_msg("%.17g, wanted %.17g", value, wanted);
}

/* Compare two summaries, equal odds when `odds` is NULL. */
static tempera_comparison *compared(const tempera_summary *a,
                                    const tempera_summary *b,
                                    const double *odds) {
  const tempera_summary *both[] = {a, b};
  const char *names[] = {"one", "two"};
  tempera_comparison *c = NULL;
  tempera_error error = {0};
  if (tempera_compare(both, names, 2, odds, &c, &error) != TEMPERA_OK)
    fail_msg("%s", error.message);
  return c;
}

static void comparison_gives_bayes_factors_and_probabilities(void **state) {
  (void)state;
  tempera_summary *a = example(-10), *b = example(-11);
  b->se = 0.04;
  tempera_comparison *c = compared(a, b, NULL);
  char *text = NULL, *json = NULL;
  double p = 1 / (1 + exp(-1.0));
  assert_int_equal(c->best, 0);
  close_to(c->log_bayes_factors[1], 1);
  close_to(c->log_bayes_factors[2], -1);
  close_to(c->log_bayes_factor_se[1], 0.05);
  close_to(c->probability[0], p);
  close_to(c->probability[0] + c->probability[1], 1);
  /* Two models: logit p is the log Bayes factor, with its error. */
  close_to(c->probability_se[0], p * (1 - p) * 0.05);
  close_to(c->probability_lower[0], 1 / (1 + exp(-1 + 1.96 * 0.05)));
  close_to(c->probability_upper[0], 1 / (1 + exp(-1 - 1.96 * 0.05)));
  assert_int_equal(tempera_comparison_text(c, false, &text, NULL), TEMPERA_OK);
  assert_non_null(strstr(text, "two"));
  assert_non_null(strstr(text, "positive"));
  assert_int_equal(tempera_comparison_json(c, &json, NULL), TEMPERA_OK);
  assert_non_null(strstr(json, "\"log_bayes_factors\""));
  tempera_text_free(text);
  tempera_text_free(json);
  tempera_comparison_free(c);
  tempera_summary_free(a);
  tempera_summary_free(b);
}

static void prior_odds_multiply_bayes_factors(void **state) {
  (void)state;
  tempera_summary *a = example(-10), *b = example(-11);
  const double odds[] = {2, 6}, wrong[] = {1, 0};
  const tempera_summary *both[] = {a, b};
  const char *names[] = {"one", "two"};
  tempera_comparison *c = compared(a, b, odds), *none = NULL;
  close_to(c->prior[0], 0.25);
  close_to(c->probability[0] / c->probability[1], exp(1) / 3);
  assert_int_equal(tempera_compare(both, names, 2, wrong, &none, NULL),
                   TEMPERA_ERROR_ARGUMENT);
  assert_null(none);
  tempera_comparison_free(c);
  tempera_summary_free(a);
  tempera_summary_free(b);
}

/* The delta method's error of three probabilities against simulation. */
static void probability_errors_are_those_of_noisy_evidences(void **state) {
  (void)state;
  enum { MODELS = 3, DRAWS = 200000 };
  const double log_z[] = {-10, -10.5, -12}, se[] = {0.05, 0.08, 0.02};
  tempera_summary *s[MODELS];
  const char *names[] = {"a", "b", "c"};
  tempera_comparison *c = NULL;
  double sum[MODELS] = {0}, squares[MODELS] = {0};
  tempera_random random = tm_random(7, 0, TM_PURPOSE_TEST);
  for (size_t i = 0; i < MODELS; i++) {
    s[i] = example(log_z[i]);
    s[i]->se = se[i];
  }
  assert_int_equal(tempera_compare((const tempera_summary *const *)s, names,
                                   MODELS, NULL, &c, NULL),
                   TEMPERA_OK);
  for (int d = 0; d < DRAWS; d++) {
    double weight[MODELS], total = 0;
    for (size_t i = 0; i < MODELS; i++)
      total += weight[i] =
          exp(log_z[i] + se[i] * tempera_random_normal(&random));
    for (size_t i = 0; i < MODELS; i++) {
      sum[i] += weight[i] / total;
      squares[i] += pow(weight[i] / total, 2);
    }
  }
  for (size_t i = 0; i < MODELS; i++) {
    double mean = sum[i] / DRAWS;
    double sd = sqrt(squares[i] / DRAWS - mean * mean);
    assert_true(fabs(c->probability_se[i] / sd - 1) < 0.02);
  }
  tempera_comparison_free(c);
  for (size_t i = 0; i < MODELS; i++)
    tempera_summary_free(s[i]);
}

static void evidence_has_words(void **state) {
  (void)state;
  assert_string_equal(tempera_evidence_words(0.9), "bare mention");
  assert_string_equal(tempera_evidence_words(-1.1), "positive");
  assert_string_equal(tempera_evidence_words(4), "strong");
  assert_string_equal(tempera_evidence_words(-5.1), "very strong");
}

static bool warned(const tempera_comparison *c, const char *words) {
  for (size_t i = 0; i < c->warning_count; i++)
    if (strstr(c->warnings[i], words))
      return true;
  return false;
}

static void comparison_warns_of_overlap_and_of_unreliable_runs(void **state) {
  (void)state;
  tempera_summary *a = example(-10), *b = example(-10.05);
  b->reliable = false;
  tempera_comparison *c = compared(a, b, NULL);
  assert_true(warned(c, "one and two: cannot be told apart"));
  assert_true(warned(c, "two is not reliable"));
  assert_false(warned(c, "one is not reliable"));
  tempera_comparison_free(c);
  b->log_z = -11;
  b->reliable = true;
  c = compared(a, b, NULL);
  assert_false(warned(c, "told apart"));
  tempera_comparison_free(c);
  tempera_summary_free(a);
  tempera_summary_free(b);
}

static void comparison_refuses_missing_evidence(void **state) {
  (void)state;
  tempera_summary *a = example(-10), *b = example(-11);
  const tempera_summary *both[] = {a, b};
  const char *names[] = {"one", "two"};
  tempera_comparison *c = NULL;
  tempera_error error = {0};
  assert_int_equal(tempera_compare(both, names, 1, NULL, &c, &error),
                   TEMPERA_ERROR_ARGUMENT);
  b->log_z = NAN;
  assert_int_equal(tempera_compare(both, names, 2, NULL, &c, &error),
                   TEMPERA_ERROR_INPUT);
  assert_non_null(strstr(error.message, "two (model"));
  assert_non_null(strstr(error.message, "no evidence"));
  assert_null(c);
  tempera_summary_free(a);
  tempera_summary_free(b);
}

static tempera_summary *on_data(const char *text) {
  tempera_summary *s = example(-10);
  tempera_data *data = NULL;
  assert_int_equal(tempera_data_parse(text, strlen(text), &data, NULL),
                   TEMPERA_OK);
  assert_int_equal(tm_data_marks(data, &s->data, &s->data_count, NULL),
                   TEMPERA_OK);
  s->data_hash = tempera_data_hash(data);
  tempera_data_free(data);
  return s;
}

/* Observations are arrays; single numbers choose a model of them. */
static void comparison_tells_data_apart_by_variable(void **state) {
  (void)state;
  static const struct {
    const char *a, *b;
    const char *refused, *warning, *numbers; /* words, or NULL */
  } cases[] = {
      {"{\"n\":2,\"y\":[1,2],\"K\":3}", "{\"K\":4,\"y\":[1.0,2],\"n\":2}", NULL,
       NULL, "K: 3 in one, 4 in two"},
      {"{\"y\":[1,2],\"x\":[1,1]}", "{\"y\":[1,2]}", NULL,
       "x: in one, not in two"},
      {"{\"y\":[1,2]}", "{\"y\":[1,2.5]}", "variable y differs", NULL},
      {"{\"y\":[1,2],\"x\":[3,4]}", "{\"y\":[1,2],\"x\":[3,5]}",
       "variable x differs", NULL},
      {"{\"y\":[[1,2]]}", "{\"y\":[[1],[2]]}", "variable y differs", NULL},
      {"{\"y\":[1,2],\"n\":2}", "{\"z\":[1,3],\"n\":2}", "no variable in",
       NULL},
      {"{\"y\":[1,2]}", "{\"times\":[1,2]}", NULL, NULL},
      {"{\"y\":[1,2]}", "{}", "no variable in", NULL},
      {"{\"y\":3,\"n\":9}", "{\"y\":4,\"n\":9}", "variable y differs", NULL},
      {"{\"y\":3,\"n\":9}", "{\"y\":3,\"n\":9,\"a\":2}", NULL, NULL},
      {"{}", "{}", NULL, "cannot be checked"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    tempera_summary *a = on_data(cases[i].a), *b = on_data(cases[i].b);
    const tempera_summary *both[] = {a, b};
    const char *names[] = {"one", "two"};
    tempera_comparison *c = NULL;
    tempera_error error = {0};
    bool fine = tempera_compare(both, names, 2, NULL, &c, &error) == TEMPERA_OK;
    if (fine != !cases[i].refused)
      fail_msg("case %zu: %s", i, fine ? "not refused" : error.message);
    if (!fine)
      assert_non_null(strstr(error.message, cases[i].refused));
    if (fine && cases[i].numbers)
      assert_string_equal(c->numbers, cases[i].numbers);
    else if (fine)
      assert_null(c->numbers);
    if (cases[i].warning)
      assert_true(warned(c, cases[i].warning));
    else if (fine)
      assert_false(warned(c, "data"));
    tempera_comparison_free(c);
    tempera_summary_free(a);
    tempera_summary_free(b);
  }
}

static void a_failed_allocation_in_a_comparison_leaks_nothing(void **state) {
  (void)state;
  tempera_summary *a = on_data("{\"y\":[1],\"K\":1}");
  tempera_summary *b = on_data("{\"y\":[1],\"K\":2}");
  const tempera_summary *both[] = {a, b};
  const char *names[] = {"one", "two"};
  b->reliable = false;
  tempera_status status = TEMPERA_ERROR_MEMORY;
  for (long k = 1; status != TEMPERA_OK; k++) {
    tempera_comparison *c = NULL;
    heap_fail_at(k);
    status = tempera_compare(both, names, 2, NULL, &c, NULL);
    heap_fail_at(0);
    assert_true(status == TEMPERA_OK || status == TEMPERA_ERROR_MEMORY);
    tempera_comparison_free(c);
    assert_true(k < 1000);
  }
  tempera_summary_free(a);
  tempera_summary_free(b);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(comparison_gives_bayes_factors_and_probabilities),
      cmocka_unit_test(prior_odds_multiply_bayes_factors),
      cmocka_unit_test(probability_errors_are_those_of_noisy_evidences),
      cmocka_unit_test(evidence_has_words),
      cmocka_unit_test(comparison_warns_of_overlap_and_of_unreliable_runs),
      cmocka_unit_test(comparison_refuses_missing_evidence),
      cmocka_unit_test(comparison_tells_data_apart_by_variable),
      cmocka_unit_test(a_failed_allocation_in_a_comparison_leaks_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
