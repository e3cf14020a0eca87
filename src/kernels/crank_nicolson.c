/* crank_nicolson.c - see crank_nicolson.h; and the move by it for models
 * whose prior is a mixture of Gaussians, as q of the reference leg is. Given
 * the Gaussian that x is from, drawn afresh each time, what is left of the
 * acceptance ratio is e^{tau (l' - l)}, whatever the angle. */
#include "kernels/crank_nicolson.h"

#include "kernels/move.h"
#include "numeric/triangular.h"

#include <math.h>
#include <string.h>

/* Where even independent draws are accepted more often, they are made. */
static const double TARGET = 0.35;
static const double RIGHT_ANGLE = 1.57079632679489661923;

void tm_crank_nicolson(const tm_normal *about, size_t dimension, double angle,
                       const double *x, tempera_random *random, double *work,
                       double *out) {
  double keep = angle < RIGHT_ANGLE ? cos(angle) : 0;
  double step = about->stretch * sin(angle);
  tm_random_normals(random, dimension, work);
  tm_triangular_times(about->factor, dimension, work, work);
  for (size_t i = 0; i < dimension; i++)
    out[i] = about->mean[i] + keep * (x[i] - about->mean[i]) + step * work[i];
}

typedef struct crank_nicolson {
  tm_shared *shared;
  tm_scale angle;
  double *x, *work;
} crank_nicolson;

static bool applies(const tempera_model *model) {
  return model->prior_normal && model->real_dimension > 0;
}

static tempera_status create(tm_shared *shared, tm_arena *arena, void **state,
                             tempera_error *error) {
  crank_nicolson *made = TM_NEW(arena, crank_nicolson, 1);
  if (!made)
    return tm_fail_memory(error);
  made->shared = shared;
  made->x = TM_NEW(arena, double, shared->real_count);
  made->work = TM_NEW(arena, double, shared->real_count);
  if (!made->x || !made->work)
    return tm_fail_memory(error);
  tm_scale_start(&made->angle, 1, TARGET);
  made->angle.highest = log(RIGHT_ANGLE);
  *state = made;
  return TEMPERA_OK;
}

static void step(void *opaque, tm_step *step) {
  crank_nicolson *state = opaque;
  const tm_shared *shared = state->shared;
  tm_point *proposal = &state->shared->proposal;
  tm_normal about = shared->model->prior_normal(step->evaluator->user,
                                                step->point->u, step->random);
  if (!about.factor)
    return;
  double angle = tm_scale_at(&state->angle, step->place, step->adapt);
  tm_reals_of(shared, step->point->u, state->x);
  tm_crank_nicolson(&about, shared->real_count, fmin(angle, RIGHT_ANGLE),
                    state->x, step->random, state->work, state->x);
  memcpy(proposal->u, step->point->u,
         shared->model->dimension * sizeof(double));
  for (size_t k = 0; k < shared->real_count; k++)
    proposal->u[shared->reals[k]] = state->x[k];
  tm_evaluate(step->evaluator, proposal);
  double log_ratio =
      step->tau > 0
          ? step->tau * (proposal->log_likelihood - step->point->log_likelihood)
          : 0;
  double acceptance = tm_metropolis(step, proposal, log_ratio);
  if (step->adapt)
    tm_scale_update(&state->angle, step->place, acceptance);
}

static void freeze(void *opaque) {
  crank_nicolson *state = opaque;
  tm_scale_freeze(&state->angle, 1);
}

static void archive(void *opaque, tm_archive *archive) {
  crank_nicolson *state = opaque;
  tm_scale_archive(&state->angle, 1, archive);
}

const tm_move_type tm_move_crank_nicolson = {
    .name = "crank-nicolson",
    .applies = applies,
    .create = create,
    .step = step,
    .freeze = freeze,
    .archive = archive,
};
