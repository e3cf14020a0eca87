/* joint.c - the joint random walk: all real coordinates at once, by
 *   u* = u + s(tau) L z,  L L' = the covariance of the draws at nearby tau
 * (spread.h). Until a regime of tau has seen enough draws its steps are
 * diagonal, in proportion to the componentwise scales. */
#include "kernels/move.h"

#include <math.h>
#include <string.h>

typedef struct joint {
  tm_shared *shared;
  size_t dimension;
  tm_scale scales[TM_REGIMES]; /* of L z */
  tm_scale diagonal;           /* of the diagonal steps */
  double *z, *moved;
} joint;

static bool applies(const tempera_model *model) {
  return model->real_dimension > 1;
}

/* From the optimum of one dimension to that of many. */
static double target_acceptance(size_t dimension) {
  return 0.234 + (0.44 - 0.234) / (double)dimension;
}

static tempera_status create(tm_shared *shared, tm_arena *arena, void **state,
                             tempera_error *error) {
  size_t d = shared->real_count;
  joint *made = TM_NEW(arena, joint, 1);
  if (!made)
    return tm_fail_memory(error);
  TM_TRY(tm_shared_need_spread(shared, arena, error));
  made->shared = shared;
  made->dimension = d;
  made->z = TM_NEW(arena, double, d);
  made->moved = TM_NEW(arena, double, d);
  if (!made->z || !made->moved)
    return tm_fail_memory(error);
  for (size_t r = 0; r < TM_REGIMES; r++)
    tm_scale_start(&made->scales[r], 2.38 / sqrt((double)d),
                   target_acceptance(d));
  tm_scale_start(&made->diagonal, 1 / sqrt((double)d), target_acceptance(d));
  *state = made;
  return TEMPERA_OK;
}

/* Is the regime known as finely as it ever will be? */
static bool settled(const tm_spread *spread, size_t regime) {
  return spread->regimes[regime].level ==
         (spread->dense ? TM_SPREAD_DENSE : TM_SPREAD_DIAGONAL);
}

static void diagonal_step(const joint *state, tm_step *step, double *out) {
  tm_shared *shared = state->shared;
  for (size_t i = 0; i < state->dimension; i++) {
    double sd = shared->componentwise ? tm_scale_at(&shared->componentwise[i],
                                                    step->place, step->adapt)
                                      : 1;
    out[i] = sd * state->z[i];
  }
}

static void step(void *opaque, tm_step *step) {
  joint *state = opaque;
  tm_shared *shared = state->shared;
  tm_point *proposal = &shared->proposal;
  size_t regime = tm_regime_of(step->place);
  bool known = settled(shared->spread, regime);
  tm_scale *scale = known ? &state->scales[regime] : &state->diagonal;
  double s = tm_scale_at(scale, step->place, step->adapt);
  tm_random_normals(step->random, state->dimension, state->z);
  tm_factor factor = tm_spread_factor(shared->spread, regime, TM_SPREAD_DENSE);
  if (known)
    tm_factor_times(&factor, state->z, state->moved);
  else
    diagonal_step(state, step, state->moved);
  memcpy(proposal->u, step->point->u,
         shared->model->dimension * sizeof(double));
  tm_reals_add(shared, s, state->moved, proposal->u);
  tm_evaluate(step->evaluator, proposal);
  double acceptance = tm_metropolis(step, proposal,
                                    tm_log_density(proposal, step->tau) -
                                        tm_log_density(step->point, step->tau));
  if (step->adapt)
    tm_scale_update(scale, step->place, acceptance);
}

static void freeze(void *opaque) {
  joint *state = opaque;
  tm_scale_freeze(state->scales, TM_REGIMES);
  tm_scale_freeze(&state->diagonal, 1);
}

static void archive(void *opaque, tm_archive *archive) {
  joint *state = opaque;
  tm_scale_archive(state->scales, TM_REGIMES, archive);
  tm_scale_archive(&state->diagonal, 1, archive);
}

const tm_move_type tm_move_joint = {
    .name = "joint",
    .applies = applies,
    .create = create,
    .step = step,
    .freeze = freeze,
    .archive = archive,
};
