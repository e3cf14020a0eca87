/* ridge_walk.c - preconditioned Crank-Nicolson about the Laplace ridge
 * (method 5.5): x' = m + cos(angle) (x - m) + sin(angle) L'^-1 z, which leaves
 * N(m, H^-1), H = L L', invariant, accepted with min(1, (p/N)(x') / (p/N)(x)).
 * No gradient is needed, and where the target is about Gaussian the angle goes
 * to pi/2: an independent draw for one evaluation, in any dimension.
 *
 * m and H are those of this very tau, since in many dimensions the nearest
 * knot's are far too wide or too narrow. Between knots a and b of the ridge
 *   H = (1 - s) H_a + s H_b,  H m = (1 - s) H_a m_a + s H_b m_b,
 * s the share of the way in tau: exact where prior and likelihood are Gaussian,
 * for precisions add up and the likelihood's is in proportion to tau.
 *
 * Which mode is drawn whatever the reals are, among those with the state's
 * integers. The angle is a function of tau, tuned in warmup. */
#include "kernels/move.h"

#include "numeric/dense.h"

#include <math.h>
#include <string.h>

enum { DIMENSION_MOST = 256, KEPT = 6 };
static const double TARGET = 0.4;
static const double RIGHT_ANGLE = 1.57079632679489661923;
static const double AT_KNOT =
    1e-9; /* shares of the way below which it is one */

/* H of a mode met lately, and H m. */
typedef struct kept_mode {
  const tm_laplace_mode *mode; /* or NULL */
  double *precision, *pull;
} kept_mode;

typedef struct ridge_walk {
  tm_shared *shared;
  tm_scale angle;
  kept_mode kept[KEPT];
  size_t oldest;
  double *factor, *mean; /* L and m at this tau */
  double *x, *z, *y;
} ridge_walk;

static bool applies(const tempera_model *model) {
  return model->real_dimension > 1 && model->real_dimension <= DIMENSION_MOST;
}

static tempera_status create(tm_shared *shared, tm_arena *arena, void **state,
                             tempera_error *error) {
  size_t d = shared->real_count, each = (d + 1) * d;
  ridge_walk *made = TM_NEW(arena, ridge_walk, 1);
  double *room = TM_NEW(arena, double, (KEPT + 1) * each + 3 * d);
  if (!made || !room)
    return tm_fail_memory(error);
  *made = (ridge_walk){.shared = shared,
                       .factor = room,
                       .mean = room + d * d,
                       .x = room + (KEPT + 1) * each};
  made->z = made->x + d;
  made->y = made->z + d;
  for (size_t k = 0; k < KEPT; k++) {
    made->kept[k].precision = room + (k + 1) * each;
    made->kept[k].pull = made->kept[k].precision + d * d;
  }
  tm_scale_start(&made->angle, 1, TARGET);
  made->angle.highest = log(RIGHT_ANGLE);
  *state = made;
  return TEMPERA_OK;
}

/* ---- the Gaussian at tau ---- */

/* One of the modes with these integers, by their shares; NULL if none has. */
static const tm_laplace_mode *draw_mode(const ridge_walk *state,
                                        const tm_laplace_knot *knot,
                                        const tm_step *step) {
  const tm_laplace_mode *chosen = NULL;
  double total = 0;
  for (size_t i = 0; i < knot->mode_count; i++) {
    const tm_laplace_mode *mode = &knot->modes[i];
    if (!tm_same_value(state->shared->model, mode->u, step->point->u))
      continue;
    total += mode->share;
    if (!chosen || tm_random_uniform(step->random) * total < mode->share)
      chosen = mode;
  }
  return chosen;
}

/* The same basin at another knot; NULL if it is not known there. */
static const tm_laplace_mode *follow(const tm_laplace_knot *knot,
                                     const tm_laplace_mode *mode) {
  for (size_t i = 0; i < knot->mode_count; i++)
    if (knot->modes[i].track == mode->track)
      return &knot->modes[i];
  return NULL;
}

static const kept_mode *keep(ridge_walk *state, const tm_laplace_mode *mode) {
  size_t d = state->shared->real_count;
  for (size_t k = 0; k < KEPT; k++)
    if (state->kept[k].mode == mode)
      return &state->kept[k];
  kept_mode *k = &state->kept[state->oldest];
  state->oldest = (state->oldest + 1) % KEPT;
  k->mode = mode;
  for (size_t i = 0; i < d; i++)
    for (size_t j = 0; j <= i; j++)
      k->precision[i * d + j] = k->precision[j * d + i] =
          tm_dot(mode->factor + i * d, mode->factor + j * d, j + 1);
  tm_reals_of(state->shared, mode->u, state->x);
  for (size_t i = 0; i < d; i++)
    k->pull[i] = tm_dot(k->precision + i * d, state->x, d);
  return k;
}

static void use_mode(ridge_walk *state, const tm_laplace_mode *mode) {
  size_t d = state->shared->real_count;
  memcpy(state->factor, mode->factor, d * d * sizeof(double));
  tm_reals_of(state->shared, mode->u, state->mean);
}

static bool use_between(ridge_walk *state, const tm_laplace_mode *a,
                        const tm_laplace_mode *b, double share) {
  size_t d = state->shared->real_count;
  const kept_mode *low = keep(state, a), *high = keep(state, b);
  if (low->mode != a) /* it was the oldest, and had to go for the other */
    low = keep(state, a);
  for (size_t k = 0; k < d * d; k++)
    state->factor[k] =
        (1 - share) * low->precision[k] + share * high->precision[k];
  for (size_t i = 0; i < d; i++)
    state->mean[i] = (1 - share) * low->pull[i] + share * high->pull[i];
  if (!tm_cholesky(state->factor, d))
    return false;
  tm_cholesky_solve(state->factor, d, state->mean, state->mean);
  return true;
}

static bool place(ridge_walk *state, const tm_step *step) {
  const tm_laplace *laplace = state->shared->laplace;
  const tm_laplace_view *view = &laplace->view;
  size_t b = 1;
  if (view->knot_count < 2)
    return false;
  while (b + 1 < view->knot_count && view->knots[b].tau < step->tau)
    b++;
  const tm_laplace_knot *low = &view->knots[b - 1], *high = &view->knots[b];
  const tm_laplace_mode *mode = draw_mode(state, high, step);
  if (!mode)
    return false;
  double share = (step->tau - low->tau) / (high->tau - low->tau);
  const tm_laplace_mode *other = follow(low, mode);
  if (!other || share > 1 - AT_KNOT ||
      !tm_same_value(state->shared->model, other->u, mode->u)) {
    use_mode(state, mode);
    return true;
  }
  return use_between(state, other, mode, fmax(0, share));
}

/* ---- the move ---- */

/* |L' (u - m)|^2 / 2 */
static double half_square(ridge_walk *state, const double *u) {
  size_t d = state->shared->real_count;
  tm_reals_of(state->shared, u, state->x);
  for (size_t i = 0; i < d; i++)
    state->x[i] -= state->mean[i];
  tm_lower_transposed(state->factor, d, state->x, state->y);
  return 0.5 * tm_dot(state->y, state->y, d);
}

static void propose(ridge_walk *state, const tm_step *step, double angle) {
  const tm_shared *shared = state->shared;
  tm_point *proposal = &state->shared->proposal;
  size_t d = shared->real_count;
  double keep_share = angle < RIGHT_ANGLE ? cos(angle) : 0;
  tm_random_normals(step->random, d, state->z);
  tm_solve_upper(state->factor, d, state->z);
  memcpy(proposal->u, step->point->u,
         shared->model->dimension * sizeof(double));
  for (size_t i = 0; i < d; i++) {
    double *u = &proposal->u[shared->reals[i]];
    *u = state->mean[i] + keep_share * (*u - state->mean[i]) +
         sin(angle) * state->z[i];
  }
}

static void step(void *opaque, tm_step *step) {
  ridge_walk *state = opaque;
  tm_point *proposal = &state->shared->proposal;
  if (!state->shared->laplace || !place(state, step))
    return;
  double angle =
      fmin(RIGHT_ANGLE, tm_scale_at(&state->angle, step->place, step->adapt));
  double before = half_square(state, step->point->u);
  propose(state, step, angle);
  double after = half_square(state, proposal->u);
  tm_evaluate(step->evaluator, proposal);
  double log_ratio = tm_log_density(proposal, step->tau) -
                     tm_log_density(step->point, step->tau) + after - before;
  double acceptance = tm_metropolis(step, proposal, log_ratio);
  if (step->adapt)
    tm_scale_update(&state->angle, step->place, acceptance);
}

/* The ridge may have been improved: the modes are others. */
static void end_round(void *opaque) {
  ridge_walk *state = opaque;
  for (size_t k = 0; k < KEPT; k++)
    state->kept[k].mode = NULL;
}

static void freeze(void *opaque) {
  ridge_walk *state = opaque;
  end_round(state);
  tm_scale_freeze(&state->angle, 1);
}

static void archive(void *opaque, tm_archive *archive) {
  ridge_walk *state = opaque;
  tm_scale_archive(&state->angle, 1, archive);
  if (archive->reading) /* the modes are others */
    end_round(state);
}

const tm_move_type tm_move_ridge_walk = {
    .name = "ridge-walk",
    .applies = applies,
    .create = create,
    .step = step,
    .end_round = end_round,
    .freeze = freeze,
    .archive = archive,
};
