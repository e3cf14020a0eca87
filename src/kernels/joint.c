/* joint.c - the joint random walk: all real coordinates at once, by
 *   u* = u + s(tau) L z,  L L' = the covariance of the draws at nearby tau.
 *
 * The covariance is learned in warmup, apart for each of a few stretches of
 * tau (regimes), and put to use at the end of each round. Until a regime has
 * seen enough draws its steps are diagonal, in proportion to the
 * componentwise scales. Older rounds count half of newer ones, so that the
 * way in from a bad start is forgotten.
 *
 * The Cholesky factor is our own: a threaded BLAS may sum in another order
 * and results must not depend on the number of threads. */
#include "kernels/move.h"

#include <math.h>
#include <string.h>

enum { REGIMES = 7 };

/* The lower ends of the regimes, as nodes of the tau grid: 0, 4^-10, 4^-6,
 * 4^-4, 4^-3, 4^-2, 4^-1. */
static const size_t REGIME_STARTS[REGIMES] = {0, 11, 15, 17, 18, 19, 20};

typedef struct regime {
  double count;
  double *mean;
  double *scatter; /* lower triangle, row-major: sum of squared deviations */
  double *factor;  /* L, the same layout */
  bool learnt;     /* is there an L? */
  tm_scale scale;  /* of L z */
} regime;

typedef struct joint {
  tm_shared *shared;
  size_t dimension;
  regime regimes[REGIMES];
  tm_scale diagonal; /* of the diagonal steps */
  double *z, *candidate;
} joint;

static bool applies(const tempera_model *model) {
  return model->real_dimension > 1;
}

/* From the optimum of one dimension to that of many. */
static double target_acceptance(size_t dimension) {
  return 0.234 + (0.44 - 0.234) / (double)dimension;
}

static bool create_regime(regime *r, size_t d, tm_arena *arena) {
  r->mean = TM_NEW(arena, double, d);
  r->scatter = TM_NEW(arena, double, d *d);
  r->factor = TM_NEW(arena, double, d *d);
  tm_scale_start(&r->scale, 2.38 / sqrt((double)d), target_acceptance(d));
  return r->mean && r->scatter && r->factor;
}

static tempera_status create(tm_shared *shared, tm_arena *arena, void **state,
                             tempera_error *error) {
  size_t d = shared->real_count;
  joint *made = TM_NEW(arena, joint, 1);
  if (!made)
    return tm_fail_memory(error);
  made->shared = shared;
  made->dimension = d;
  made->z = TM_NEW(arena, double, d);
  made->candidate = TM_NEW(arena, double, d *d);
  if (!made->z || !made->candidate)
    return tm_fail_memory(error);
  for (size_t r = 0; r < REGIMES; r++)
    if (!create_regime(&made->regimes[r], d, arena))
      return tm_fail_memory(error);
  tm_scale_start(&made->diagonal, 1 / sqrt((double)d), target_acceptance(d));
  *state = made;
  return TEMPERA_OK;
}

static regime *regime_of(joint *state, tm_tau_place place) {
  size_t r = REGIMES - 1;
  while (place.node < REGIME_STARTS[r])
    r--;
  return &state->regimes[r];
}

/* Welford's update of mean and scatter. */
static void learn(joint *state, regime *r, const double *u) {
  size_t d = state->dimension;
  double *deviation = state->z;
  r->count += 1;
  for (size_t i = 0; i < d; i++)
    deviation[i] = u[state->shared->reals[i]] - r->mean[i];
  double shrink = (r->count - 1) / r->count;
  for (size_t i = 0; i < d; i++) {
    r->mean[i] += deviation[i] / r->count;
    for (size_t j = 0; j <= i; j++)
      r->scatter[i * d + j] += shrink * deviation[i] * deviation[j];
  }
}

static void add_factor_step(const joint *state, const regime *r, double scale,
                            double *u) {
  size_t d = state->dimension;
  for (size_t i = 0; i < d; i++) {
    double sum = 0;
    for (size_t j = 0; j <= i; j++)
      sum += r->factor[i * d + j] * state->z[j];
    u[state->shared->reals[i]] += scale * sum;
  }
}

static void add_diagonal_step(const joint *state, tm_step *step, double scale,
                              double *u) {
  tm_shared *shared = state->shared;
  for (size_t i = 0; i < state->dimension; i++) {
    double own = shared->componentwise ? tm_scale_at(&shared->componentwise[i],
                                                     step->place, step->adapt)
                                       : 1;
    u[shared->reals[i]] += scale * own * state->z[i];
  }
}

static void step(void *opaque, tm_step *step) {
  joint *state = opaque;
  const tempera_model *model = state->shared->model;
  tm_point *proposal = &state->shared->proposal;
  regime *r = regime_of(state, step->place);
  if (step->adapt)
    learn(state, r, step->point->u);
  tm_scale *scale = r->learnt ? &r->scale : &state->diagonal;
  double s = tm_scale_at(scale, step->place, step->adapt);
  memcpy(proposal->u, step->point->u, model->dimension * sizeof(double));
  for (size_t i = 0; i < state->dimension; i++)
    state->z[i] = tempera_random_normal(step->random);
  if (r->learnt)
    add_factor_step(state, r, s, proposal->u);
  else
    add_diagonal_step(state, step, s, proposal->u);
  tm_evaluate(step->evaluator, proposal);
  double acceptance = tm_metropolis(step, proposal,
                                    tm_log_density(proposal, step->tau) -
                                        tm_log_density(step->point, step->tau));
  if (step->adapt)
    tm_scale_update(scale, step->place, acceptance);
}

/* The covariance shrunk towards its diagonal, as if `d + 10` further draws
 * had shown no correlation. */
static void shrunk_covariance(const regime *r, size_t d, double *out) {
  double keep = r->count / (r->count + (double)d + 10);
  for (size_t i = 0; i < d; i++)
    for (size_t j = 0; j <= i; j++)
      out[i * d + j] = r->scatter[i * d + j] / r->count * (i == j ? 1 : keep);
}

/* In place, lower triangle; false when not positive definite. */
static bool cholesky(double *a, size_t d) {
  for (size_t i = 0; i < d; i++)
    for (size_t j = 0; j <= i; j++) {
      double sum = a[i * d + j];
      for (size_t k = 0; k < j; k++)
        sum -= a[i * d + k] * a[j * d + k];
      if (i == j && !(sum > 1e-12 * a[i * d + i] && isfinite(sum)))
        return false;
      a[i * d + j] = i == j ? sqrt(sum) : sum / a[j * d + j];
    }
  return true;
}

static void end_round(void *opaque) {
  joint *state = opaque;
  size_t d = state->dimension;
  for (size_t i = 0; i < REGIMES; i++) {
    regime *r = &state->regimes[i];
    if (r->count < 40 + 4 * (double)d)
      continue;
    shrunk_covariance(r, d, state->candidate);
    if (cholesky(state->candidate, d)) {
      memcpy(r->factor, state->candidate, d * d * sizeof(double));
      r->learnt = true;
    }
    r->count /= 2;
    for (size_t k = 0; k < d * d; k++)
      r->scatter[k] /= 2;
  }
}

static void freeze(void *opaque) {
  joint *state = opaque;
  for (size_t i = 0; i < REGIMES; i++)
    tm_scale_freeze(&state->regimes[i].scale);
  tm_scale_freeze(&state->diagonal);
}

const tm_move_type tm_move_joint = {
    .name = "joint",
    .applies = applies,
    .create = create,
    .step = step,
    .end_round = end_round,
    .freeze = freeze,
};
