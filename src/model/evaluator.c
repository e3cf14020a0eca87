/* evaluator.c - a model's densities and scales, for callers from outside. */
#include "model/model.h"

#include <math.h>
#include <string.h>

struct tempera_evaluator {
  tm_arena *arena;
  tm_evaluator calls;
  tm_point point;
};

tempera_status tempera_evaluator_create(const tempera_model *model,
                                        tempera_evaluator **evaluator,
                                        tempera_error *error) {
  tm_arena *arena;
  tempera_evaluator *made = TM_BEGIN(&arena, tempera_evaluator);
  if (!made)
    return tm_fail_memory(error);
  made->arena = arena;
  tempera_status status = tm_point_create(model, arena, &made->point, error);
  if (status == TEMPERA_OK)
    status = tm_evaluator_create(model, arena, &made->calls, error);
  made->calls.strict = true;
  if (status != TEMPERA_OK)
    tempera_evaluator_free(made);
  else
    *evaluator = made;
  return status;
}

void tempera_evaluator_free(tempera_evaluator *evaluator) {
  if (!evaluator)
    return;
  tm_evaluator_release(&evaluator->calls);
  tm_arena_free(evaluator->arena);
}

/* A failure is this call's alone. */
static tempera_status outcome(tempera_evaluator *e, tempera_density *density,
                              tempera_error *error) {
  tempera_status status = tm_evaluator_check(&e->calls, error);
  e->calls.status = TEMPERA_OK;
  e->calls.failure = TM_FAILURE_NONE;
  if (status == TEMPERA_OK)
    *density = (tempera_density){e->point.log_likelihood, e->point.log_prior,
                                 e->point.log_jacobian};
  return status;
}

tempera_status tempera_evaluator_at(tempera_evaluator *evaluator, double tau,
                                    const double *u, tempera_density *density,
                                    double *gradient, tempera_error *error) {
  tempera_evaluator *e = evaluator;
  const tempera_model *model = e->calls.model;
  if (gradient && !tm_has_gradients(model))
    return tm_fail(error, TEMPERA_ERROR_ARGUMENT, "model %s has no gradients",
                   model->spec.name);
  memcpy(e->point.u, u, model->dimension * sizeof(double));
  tm_evaluate(&e->calls, &e->point);
  bool inside = isfinite(e->point.log_likelihood + e->point.log_prior);
  if (gradient)
    memset(gradient, 0, model->dimension * sizeof(double));
  if (gradient && inside && e->calls.status == TEMPERA_OK)
    tm_evaluate_slope(&e->calls, &e->point, tau, gradient);
  return outcome(e, density, error);
}

tempera_status tempera_model_evaluate(const tempera_model *model,
                                      const double *theta,
                                      double *log_likelihood, double *log_prior,
                                      tempera_error *error) {
  tempera_evaluator *e = NULL;
  tempera_density density;
  TM_TRY(tempera_evaluator_create(model, &e, error));
  memcpy(e->point.theta, theta, model->size * sizeof(double));
  tm_evaluate_natural(&e->calls, &e->point);
  tempera_status status = outcome(e, &density, error);
  if (status == TEMPERA_OK) {
    *log_likelihood = density.log_likelihood;
    *log_prior = density.log_prior;
  }
  tempera_evaluator_free(e);
  return status;
}

void tempera_model_constrain(const tempera_model *model, const double *u,
                             double *theta, double *log_jacobian) {
  tm_constrain(model, u, theta, log_jacobian);
}

tempera_status tempera_model_unconstrain(const tempera_model *model,
                                         const double *theta, double *u,
                                         tempera_error *error) {
  if (!tm_inside(model, theta))
    return tm_fail(error, TEMPERA_ERROR_INPUT,
                   "model %s: the point is outside of the bounds of its "
                   "parameters",
                   model->spec.name);
  tm_unconstrain(model, theta, u);
  return TEMPERA_OK;
}
