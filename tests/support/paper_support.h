/* paper_support.h - what the tests of the paper's models share. */
#ifndef TM_TESTS_PAPER_SUPPORT_H
#define TM_TESTS_PAPER_SUPPORT_H

#include "base/random.h"
#include "cmocka_all.h"
#include "tempera.h"

#include <math.h>
#include <stdio.h>

/* A model of build/models on a data file of models/paper. */
static inline tempera_model *paper_model(const char *name, const char *file) {
  char library[1024], path[1024];
  snprintf(library, sizeof library, BUILD_DIR "/models/%s.so", name);
  snprintf(path, sizeof path, SOURCE_DIR "/models/paper/%s", file);
  tempera_data *data = NULL;
  tempera_model *model = NULL;
  tempera_error error = {0};
  if (tempera_data_read(path, &data, &error) != TEMPERA_OK ||
      tempera_model_load(library, data, &model, &error) != TEMPERA_OK)
    fail_msg("%s", error.message);
  tempera_data_free(data);
  return model;
}

/* The message of a model that refuses these data. */
static inline tempera_error paper_refusal(const char *name, const char *json) {
  char library[1024];
  snprintf(library, sizeof library, BUILD_DIR "/models/%s.so", name);
  tempera_data *data = NULL;
  tempera_model *model = NULL;
  tempera_error error = {0};
  tempera_status status = tempera_data_parse(json, strlen(json), &data, &error);
  assert_int_equal(status, TEMPERA_OK);
  status = tempera_model_load(library, data, &model, &error);
  assert_int_equal(status, TEMPERA_ERROR_INPUT);
  assert_null(model);
  tempera_data_free(data);
  return error;
}

static inline double likelihood_at(const tempera_model *model,
                                   const double *theta) {
  const tempera_model_spec *spec = tempera_model_spec_of(model);
  double value = NAN;
  int code = spec->log_likelihood(theta, &value, spec->user);
  assert_true(code >= 0);
  return code > 0 ? -INFINITY : value; /* "reject this point" */
}

static inline double prior_at(const tempera_model *model, const double *theta) {
  const tempera_model_spec *spec = tempera_model_spec_of(model);
  double value = NAN;
  assert_int_equal(spec->log_prior(theta, &value, spec->user), 0);
  return value;
}

static inline double height_at(const tempera_model *model, double tau,
                               const double *theta) {
  return tau * likelihood_at(model, theta) + prior_at(model, theta);
}

static inline void draw_prior(const tempera_model *model,
                              tempera_random *random, double *theta) {
  const tempera_model_spec *spec = tempera_model_spec_of(model);
  assert_int_equal(spec->prior_draw(random, theta, spec->user), 0);
}

static inline void assert_near(double value, double expected,
                               double tolerance) {
  if (!(fabs(value - expected) <= tolerance))
    fail_msg("%.15g is not %.15g within %g", value, expected, tolerance);
}

/* One pass of the model's own proposals, by Metropolis-Hastings on the prior;
 * their widths are those at this tau. */
static inline void walk_on_prior(const tempera_model *model, double tau,
                                 tempera_random *random, double *theta) {
  const tempera_model_spec *spec = tempera_model_spec_of(model);
  size_t size = tempera_model_size(model);
  double proposed[64], log_ratio;
  for (size_t p = 0; p < spec->recipe->proposal_count; p++) {
    const tempera_proposal *proposal = &spec->recipe->proposals[p];
    memcpy(proposed, theta, size * sizeof *theta);
    if (proposal->propose(tau, proposal->scale, theta, proposed, &log_ratio,
                          random, spec->user) != 0)
      continue;
    double gain = prior_at(model, proposed) - prior_at(model, theta);
    if (log(tempera_random_uniform(random)) < gain + log_ratio)
      memcpy(theta, proposed, size * sizeof *theta);
  }
}

/* Draws from the prior, moved by proposals with right Hastings ratios, are
 * still draws from the prior: the mean of f must be `expected`, within four
 * standard errors over independent draws. */
static inline void assert_walk_keeps_prior(const tempera_model *model,
                                           double tau, int passes,
                                           double (*f)(const double *),
                                           double expected) {
  enum { DRAWS = 20000 };
  tempera_random random = tm_random(11, 0, TM_PURPOSE_TEST);
  double theta[64], sum = 0, squares = 0;
  for (int draw = 0; draw < DRAWS; draw++) {
    draw_prior(model, &random, theta);
    for (int pass = 0; pass < passes; pass++)
      walk_on_prior(model, tau, &random, theta);
    double value = f(theta);
    sum += value / DRAWS;
    squares += value * value / DRAWS;
  }
  assert_near(sum, expected, 4 * sqrt((squares - sum * sum) / DRAWS));
}

#endif
