/* ridge_on_models.h - the paper's models, loaded, and ridges on them. */
#ifndef TM_TESTS_RIDGE_ON_MODELS_H
#define TM_TESTS_RIDGE_ON_MODELS_H

#include "alone.h"
#include "cmocka_all.h"

#include <math.h>
#include <stdio.h>

enum { STARTS = 12 };

static tempera_model *ridge_model(const char *name, const char *file) {
  char path[512];
  tempera_data *data = NULL;
  tempera_model *model = NULL;
  tempera_error error = {0};
  snprintf(path, sizeof path, "%s/models/paper/%s.json", SOURCE_DIR, file);
  assert_int_equal(tempera_data_read(path, &data, &error), TEMPERA_OK);
  snprintf(path, sizeof path, "%s/models/%s.so", BUILD_DIR, name);
  assert_int_equal(tempera_model_load(path, data, &model, &error), TEMPERA_OK);
  tempera_data_free(data);
  return model;
}

/* Prior draws of positive density. */
static tm_ridge *ridge_on(const tempera_model *model, tempera_ridge kind,
                          uint64_t seed, int threads) {
  tm_arena *arena = tm_arena_create();
  tm_evaluator evaluator = {0};
  tm_point point = {0};
  assert_int_equal(tm_evaluator_create(model, arena, &evaluator, NULL), 0);
  assert_int_equal(tm_point_create(model, arena, &point, NULL), 0);
  double *starts = TM_NEW(arena, double, STARTS * model->size);
  tempera_random random = tm_random(seed, 0, TM_PURPOSE_START);
  for (size_t k = 0; k < STARTS;) {
    tm_prior_draw(&evaluator, &random, &point);
    if (isfinite(point.log_likelihood))
      memcpy(starts + k++ * model->size, point.theta,
             model->size * sizeof(double));
  }
  tm_store_settings store = {.seed = seed, .threads = threads};
  tm_ridge *ridge = NULL;
  assert_int_equal(ridge_alone(model, &store, &ALL_OF_IT, kind, starts, STARTS,
                               &ridge, NULL),
                   0);
  tm_evaluator_release(&evaluator);
  tm_arena_free(arena);
  return ridge;
}

#endif
