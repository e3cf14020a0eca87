/* probe.c - a few points of a model, for `tempera check`: does it give finite
 * numbers where it should? */
#include "model/model.h"

#include <math.h>
#include <string.h>

/* An integer within its bounds, and within 10 of the one nearest to zero. */
static double random_integer(const tm_block *block, tempera_random *random) {
  double low = fmax(block->lower, fmin(0, block->upper - 10));
  low = isinf(low) ? 0 : low;
  double high = fmin(block->upper, low + 10);
  return low + (double)tempera_random_below(random, (uint64_t)(high - low) + 1);
}

static void random_point(const tempera_model *model, tempera_random *random,
                         double *u) {
  for (size_t j = 0; j < model->dimension; j++)
    u[j] = model->integer[j]
               ? random_integer(&model->blocks[model->block_of_u[j]], random)
               : 4 * tempera_random_uniform(random) - 2;
}

static void visit(tm_evaluator *evaluator, tempera_random *random,
                  tm_point *point) {
  if (evaluator->model->spec.prior_draw) {
    tm_prior_draw(evaluator, random, point);
  } else {
    random_point(evaluator->model, random, point->u);
    tm_evaluate(evaluator, point);
  }
}

tempera_status tempera_model_probe(const tempera_model *model, uint64_t seed,
                                   size_t count, double *theta,
                                   double *log_likelihood, double *log_prior,
                                   tempera_error *error) {
  tm_arena *arena = tm_arena_create();
  if (!arena)
    return tm_fail_memory(error);
  tm_point point = {0};
  tm_evaluator evaluator = {0};
  tempera_random random = tm_random(seed, 0, TM_PURPOSE_START);
  tempera_status status = tm_point_create(model, arena, &point, error);
  if (status == TEMPERA_OK)
    status = tm_evaluator_create(model, arena, &evaluator, error);
  for (size_t i = 0; i < count && status == TEMPERA_OK; i++) {
    uint64_t rejected = evaluator.rejected;
    /* where nothing else is seen, the first is the failure */
    evaluator.strict = rejected == i && i + 1 == count;
    visit(&evaluator, &random, &point);
    memcpy(theta + i * model->size, point.theta, model->size * sizeof(double));
    log_likelihood[i] =
        evaluator.rejected > rejected ? (double)NAN : point.log_likelihood;
    log_prior[i] = point.log_prior;
    status = tm_evaluator_check(&evaluator, error);
  }
  tm_evaluator_release(&evaluator);
  tm_arena_free(arena);
  return status;
}
