/* Facts about options without effect: src/run/unused.c. */
#include "gaussian_model.h"
#include "whole_run.h"

typedef struct unused {
  const char *options[7]; /* up to three, by name */
  const char *warning;    /* NULL: none */
} unused;

static const unused CASES[] = {
    {{"exchange", "0.5", "tau-prior", "laplace"}, NULL},
    {{"method", "mh"}, NULL},
    {{"method", "mh", "tau-prior", "profile"}, "method mh has no such"},
    {{"method", "st", "tau-prior", "laplace"}, "--tau-prior laplace"},
    {{"method", "stwnc", "tau-prior", "profile"}, NULL},
    {{"method", "mh", "exchange", "0.3"}, "--exchange 0.3"},
    {{"method", "stwnc", "exchange", "0.3"}, "stwnc exchanges nothing"},
    {{"method", "pt", "exchange", "0.3"}, NULL},
    {{"method", "ee", "exchange", "0.3"}, NULL},
    {{"method", "pt", "tau-move", "uniform"}, "--tau-move uniform"},
    {{"method", "st", "tau-move", "uniform"}, NULL},
    {{"tau-scale", "0.2"}, "--tau-scale 0.2"},
    {{"tau-scale", "0.2", "tau-move", "truncated-normal"}, NULL},
    {{"method", "mh", "ridge", "spline"}, NULL},
    {{"method", "mh", "ridge", "spline", "jumps", "false"}, "--ridge spline"},
    {{"ridge", "spline", "jumps", "false"}, NULL},
    {{"method", "mh", "until-se", "0.1"}, "only at the end"},
    {{"method", "pawl", "until-se", "0.1"}, NULL},
    {{"tau-min", "0.1", "until-se", "0.1"}, "there is no evidence"},
    {{"paper", "true", "ridge", "spline"}, "that of --paper is exact"},
    {{"paper", "true", "tau-prior", "laplace"}, "that of --paper is profile"},
    {{"paper", "true", "tau-prior", "profile", "kernel", "slice"}, NULL},
};

static tempera_sampler *create(const tempera_model *model, const unused *c) {
  tempera_options o = tempera_options_default();
  set_options(&o, c->options);
  return make_sampler(model, &o);
}

static void options_without_effect_are_named(void **state) {
  (void)state;
  tempera_model_spec spec = two_gaussians();
  tempera_model *model = make_model(&spec);
  for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
    tempera_sampler *sampler = create(model, &CASES[i]);
    const char *warning = tempera_sampler_warning(sampler, 0);
    if (!CASES[i].warning && warning)
      fail_msg("case %zu: %s", i, warning);
    if (CASES[i].warning && !(warning && strstr(warning, CASES[i].warning)))
      fail_msg("case %zu: %s", i, warning ? warning : "no warning");
    assert_null(warning ? tempera_sampler_warning(sampler, 1) : NULL);
    tempera_sampler_free(sampler);
  }
  tempera_model_free(model);
}

static void summaries_have_them_all(void **state) {
  (void)state;
  tempera_model_spec spec = two_gaussians();
  tempera_model *model = make_model(&spec);
  static const unused both = {
      {"method", "mh", "tau-prior", "profile", "exchange", "0.3"}, NULL};
  tempera_sampler *sampler = create(model, &both);
  tempera_summary *summary = NULL;
  tempera_error error = {0};
  assert_int_equal(tempera_sampler_advance(sampler, 10, &error), TEMPERA_OK);
  assert_int_equal(tempera_sampler_summarise(sampler, &summary, &error),
                   TEMPERA_OK);
  size_t found = 0;
  for (size_t i = 0; i < summary->finding_count; i++)
    if (!strcmp(summary->findings[i].code, "unused-option"))
      assert_string_equal(summary->warnings[i],
                          tempera_sampler_warning(sampler, found++));
  assert_int_equal(found, 2);
  assert_null(tempera_sampler_warning(sampler, 2));
  tempera_summary_free(summary);
  tempera_sampler_free(sampler);
  tempera_model_free(model);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(options_without_effect_are_named),
      cmocka_unit_test(summaries_have_them_all),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
