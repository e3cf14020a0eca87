/* model_answer.h - a model asked at a point: values and slopes. */
#ifndef TM_TESTS_MODEL_ANSWER_H
#define TM_TESTS_MODEL_ANSWER_H

#include "cmocka_all.h"
#include "model/model.h"

typedef struct answer {
  tm_arena *arena;
  tm_evaluator evaluator;
  tm_point point;
  double *slopes; /* the likelihood's, then the prior's */
} answer;

static inline void open_answer(answer *a, tempera_model *model) {
  tempera_error error;
  a->arena = tm_arena_create();
  assert_int_equal(tm_evaluator_create(model, a->arena, &a->evaluator, &error),
                   0);
  assert_int_equal(tm_point_create(model, a->arena, &a->point, &error), 0);
  a->slopes = TM_NEW(a->arena, double, 2 * model->dimension);
}

static inline void evaluate(answer *a, size_t n) {
  tm_evaluate_gradient(&a->evaluator, &a->point, a->slopes, a->slopes + n);
}

static inline void close_answer(answer *a) {
  tm_evaluator_release(&a->evaluator);
  tm_arena_free(a->arena);
}

#endif
