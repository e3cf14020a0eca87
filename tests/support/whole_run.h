/* whole_run.h - models, samplers and whole runs, which must not fail. */
#ifndef TM_TESTS_WHOLE_RUN_H
#define TM_TESTS_WHOLE_RUN_H

#include "cmocka_all.h"
#include "tempera.h"

static inline tempera_model *make_model(const tempera_model_spec *spec) {
  tempera_model *model = NULL;
  tempera_error error = {0};
  if (tempera_model_create(spec, &model, &error) != TEMPERA_OK)
    fail_msg("%s", error.message);
  return model;
}

static inline tempera_sampler *make_sampler(const tempera_model *model,
                                            const tempera_options *options) {
  tempera_sampler *sampler = NULL;
  tempera_error error = {0};
  if (tempera_sampler_create(model, options, &sampler, &error) != TEMPERA_OK)
    fail_msg("%s", error.message);
  return sampler;
}

/* Options as "name", "value" pairs, ended by NULL; none if it is NULL. */
static inline void set_options(tempera_options *options,
                               const char *const *pairs) {
  tempera_error error = {0};
  for (; pairs && pairs[0]; pairs += 2)
    if (tempera_options_set(options, pairs[0], pairs[1], &error) != TEMPERA_OK)
      fail_msg("%s", error.message);
}

static inline tempera_summary *run_sampler(tempera_sampler *sampler) {
  tempera_summary *summary = NULL;
  tempera_error error = {0};
  if (tempera_sampler_run(sampler, NULL, NULL, &error) != TEMPERA_OK ||
      tempera_sampler_summarise(sampler, &summary, &error) != TEMPERA_OK)
    fail_msg("%s", error.message);
  return summary;
}

static inline tempera_summary *run_model(const tempera_model *model,
                                         const tempera_options *options) {
  tempera_sampler *sampler = make_sampler(model, options);
  tempera_summary *summary = run_sampler(sampler);
  tempera_sampler_free(sampler);
  return summary;
}

#endif
