/* jump.c - jumps along the ridge (method 4.6): an independence proposal from
 * a mixture that is fixed while draws are kept,
 *
 *   q(u) = (1-e) sum_j w_j t(u; u_j, H_j) + e pi(u),
 *
 * over the modes j of the Laplace ridge at the knot nearest to tau, t
 * multivariate Student, integers drawn with their mode. The share e of the
 * prior is there where pi is normalised and can be drawn from; without it
 * e = 0. Accepted with min(1, p(u*) q(u) / (p(u) q(u*))).
 *
 * Where labels are exchangeable one copy of each mode stands for all: what is
 * drawn is relabelled at random, and q sums over the labellings of its
 * argument (relabelling has Jacobian one, see labels.c). With more labels
 * than can be written out the law lives on sorted points instead: q takes its
 * argument sorted, and what is drawn unsorted is rejected unseen. */
#include "kernels/chance.h"
#include "kernels/move.h"
#include "numeric/dense.h"

#include <math.h>
#include <string.h>

static const tm_chance_rule RULE = {
    .good = 0.1, .poor = 0.01, .most = 0.4, .seldom = 0.05, .curious = 0.15};
static const double PRIOR_SHARE = 0.1;

typedef struct jump {
  tm_shared *shared;
  tm_chance chance;
  double freedom, spread; /* of the t's: degrees, and factor on the sds */
  double log_constant;    /* of their densities */
  double share;           /* of the prior */
  double *delta;
} jump;

static bool applies(const tempera_model *model) {
  (void)model;
  return true;
}

static tempera_status create(tm_shared *shared, tm_arena *arena, void **state,
                             tempera_error *error) {
  const tempera_model *model = shared->model;
  double d = (double)shared->real_count;
  jump *made = TM_NEW(arena, jump, 1);
  double *delta = TM_NEW(arena, double, shared->real_count + 1);
  if (!made || !delta)
    return tm_fail_memory(error);
  made->shared = shared;
  made->delta = delta;
  tm_chance_start(&made->chance);
  made->freedom = fmax(4, d);
  made->spread = 1 + 0.2 / fmax(1, d);
  made->log_constant =
      lgamma((made->freedom + d) / 2) - lgamma(made->freedom / 2) -
      d / 2 * log(made->freedom * M_PI) - d * log(made->spread);
  if (model->spec.prior_draw && model->spec.prior_normalised)
    made->share = PRIOR_SHARE;
  *state = made;
  return TEMPERA_OK;
}

/* ---- the density q */

/* A sum of exponentials, held by its largest term. */
typedef struct log_sum {
  double top, sum;
} log_sum;

static void add_log(log_sum *total, double term) {
  if (term == -INFINITY)
    return;
  if (term > total->top) {
    total->sum = total->sum * exp(total->top - term) + 1;
    total->top = term;
  } else {
    total->sum += exp(term - total->top);
  }
}

static bool same_integers(const tempera_model *model, const double *a,
                          const double *b) {
  for (size_t j = 0; j < model->dimension; j++)
    if (model->integer[j] && a[j] != b[j])
      return false;
  return true;
}

/* Add the density of every t at u. Terms below e^-40 of what is there already
 * may be cut short. */
static void add_modes(jump *state, const tm_laplace_knot *knot, const double *u,
                      log_sum *total) {
  const tm_shared *shared = state->shared;
  size_t d = shared->real_count;
  double power = (state->freedom + (double)d) / 2;
  double width = state->freedom * state->spread * state->spread;
  bool whole = d < shared->model->dimension;
  for (size_t m = 0; m < knot->mode_count; m++) {
    const tm_laplace_mode *mode = &knot->modes[m];
    if (whole && !same_integers(shared->model, mode->u, u))
      continue;
    double level = mode->log_share + state->log_constant + mode->half_log_det;
    double most = width * expm1(fmin(700, (level - total->top + 40) / power));
    if (!(most > 0))
      continue;
    for (size_t k = 0; k < d; k++)
      state->delta[k] = u[shared->reals[k]] - mode->u[shared->reals[k]];
    double square = tm_factor_square(mode->factor, d, state->delta, most);
    add_log(total, level - power * log1p(square / width));
  }
}

/* The sum over labellings of theta; `spare` is used. */
static void add_labellings(jump *state, const tm_laplace_view *view,
                           const tm_laplace_knot *knot, const double *theta,
                           log_sum *total) {
  const tempera_model *model = state->shared->model;
  const tm_labels *labels = &view->labels;
  tm_point *spare = &state->shared->spare;
  unsigned char sorted[TM_LABELS_MOST];
  size_t count = labels->permutations ? labels->permutations : 1;
  const unsigned char *list = labels->permutation;
  if (!labels->permutations) {
    tm_labels_sort(labels, theta, sorted);
    list = sorted;
  }
  for (size_t p = 0; p < count; p++) {
    tm_labels_apply(model, labels, list + p * labels->count, theta,
                    spare->theta);
    tm_unconstrain(model, spare->theta, spare->u);
    add_modes(state, knot, spare->u, total);
  }
}

/* log q, up to a constant of the knot. */
static double log_q(jump *state, const tm_laplace_view *view,
                    const tm_laplace_knot *knot, const tm_point *point) {
  log_sum total = {-INFINITY, 0};
  double copies = knot->relabel ? view->labels.log_factorial : 0;
  if (knot->relabel)
    add_labellings(state, view, knot, point->theta, &total);
  else
    add_modes(state, knot, point->u, &total);
  if (state->share > 0) {
    total.sum *= 1 - state->share;
    add_log(&total, log(state->share) + copies + point->log_prior +
                        point->log_jacobian);
  }
  return total.sum > 0 ? total.top + log(total.sum) : -INFINITY;
}

/* ---- draws from q */

static const tm_laplace_mode *pick_mode(const tm_laplace_knot *knot,
                                        tempera_random *random) {
  double left = tempera_random_uniform(random);
  size_t m = 0;
  for (; m + 1 < knot->mode_count; m++) {
    left -= exp(knot->modes[m].log_share);
    if (left < 0)
      break;
  }
  return &knot->modes[m];
}

/* u = u_j + s sqrt(f / chi2_f) L'^-1 z */
static void draw_student(jump *state, const tm_laplace_mode *mode,
                         tempera_random *random, double *u) {
  const tm_shared *shared = state->shared;
  size_t d = shared->real_count;
  memcpy(u, mode->u, shared->model->dimension * sizeof(double));
  double chi = 2 * tempera_random_gamma(random, state->freedom / 2);
  double scale = state->spread * sqrt(state->freedom / chi);
  for (size_t k = 0; k < d; k++)
    state->delta[k] = tempera_random_normal(random);
  tm_solve_upper(mode->factor, d, state->delta);
  for (size_t k = 0; k < d; k++)
    u[shared->reals[k]] += scale * state->delta[k];
}

static void shuffle(unsigned char *permutation, size_t count,
                    tempera_random *random) {
  for (size_t k = 0; k < count; k++) {
    size_t i = (size_t)tempera_random_below(random, k + 1);
    permutation[k] = permutation[i];
    permutation[i] = (unsigned char)k;
  }
}

/* The proposal's u, relabelled at random; false where it is not sorted and
 * should be. */
static bool relabel(jump *state, const tm_labels *labels,
                    tempera_random *random) {
  tm_point *proposal = &state->shared->proposal;
  tm_point *spare = &state->shared->spare;
  const tempera_model *model = state->shared->model;
  unsigned char permutation[TM_LABELS_MOST];
  tm_constrain(model, proposal->u, spare->theta, &spare->log_jacobian);
  if (!tm_inside(model, spare->theta))
    return false;
  if (!labels->permutations && !tm_labels_sorted(labels, spare->theta))
    return false;
  shuffle(permutation, labels->count, random);
  tm_labels_apply(model, labels, permutation, spare->theta, proposal->theta);
  tm_unconstrain(model, proposal->theta, proposal->u);
  return true;
}

/* False when the proposal is known to have density zero. */
static bool propose(jump *state, const tm_laplace_view *view,
                    const tm_laplace_knot *knot, tm_step *step) {
  tm_point *proposal = &state->shared->proposal;
  if (state->share > 0 && tempera_random_uniform(step->random) < state->share) {
    tm_prior_draw(step->evaluator, step->random, proposal);
    return proposal->log_prior > -INFINITY;
  }
  draw_student(state, pick_mode(knot, step->random), step->random, proposal->u);
  if (knot->relabel && !relabel(state, &view->labels, step->random))
    return false;
  tm_evaluate(step->evaluator, proposal);
  return proposal->log_prior > -INFINITY;
}

static void step(void *opaque, tm_step *step) {
  jump *state = opaque;
  const tm_laplace *laplace = state->shared->laplace;
  if (!laplace)
    return;
  double probability =
      tm_chance_at(&state->chance, &RULE, step->place, step->adapt);
  if (tempera_random_uniform(step->random) >= probability)
    return;
  step->enough = true;
  const tm_laplace_view *view = tm_laplace_look(laplace);
  const tm_laplace_knot *knot =
      &view->knots[tm_laplace_nearest(laplace, step->tau)];
  tm_point *proposal = &state->shared->proposal;
  double log_ratio = -INFINITY;
  if (propose(state, view, knot, step))
    log_ratio = tm_log_density(proposal, step->tau) -
                tm_log_density(step->point, step->tau) +
                log_q(state, view, knot, step->point) -
                log_q(state, view, knot, proposal);
  double acceptance = tm_metropolis(step, proposal, log_ratio);
  if (step->adapt)
    tm_chance_learn(&state->chance, step->place, acceptance);
}

static void freeze(void *opaque) {
  jump *state = opaque;
  tm_chance_freeze(&state->chance);
}

const tm_move_type tm_move_jump = {
    .name = "jump",
    .applies = applies,
    .create = create,
    .step = step,
    .freeze = freeze,
};
