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
 * Where labels are exchangeable one copy of each mode stands for all, that with
 * its labels in order: its t is confined to such points, q takes its argument
 * so, and what is drawn is relabelled at random (relabelling has Jacobian one,
 * see labels.c). */
#include "kernels/chance.h"
#include "kernels/move.h"
#include "numeric/dense.h"

#include <math.h>
#include <string.h>

static const tm_chance_rule RULE = {
    .good = 0.1, .poor = 0.01, .most = 0.4, .seldom = 0.05, .curious = 0.15};
static const double PRIOR_SHARE = 0.1;
static const double LEAST_SUM = 1e-200;
enum { MOST_HALVES = 32, TRIES = 8 };

typedef struct jump {
  tm_shared *shared;
  tm_chance chance;
  unsigned freedom;        /* of the t's: degrees, and ... */
  double spread;           /* ... factor on the sds */
  double log_constant;     /* of their densities, constant x ... */
  double power, narrow;    /* ... (1 + narrow x square)^-power */
  unsigned halves;         /* 2 x power, an integer */
  double share, log_share; /* of the prior */
  double *normal, *delta;
  tm_point ordered; /* what was drawn, its labels in order, ... */
  bool relabelled;  /* ... if the proposal is that, permuted so: */
  unsigned char permutation[TM_LABELS_MOST];
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
  double *normal = TM_NEW(arena, double, shared->real_count + 1);
  double *delta = TM_NEW(arena, double, shared->real_count + 1);
  if (!made || !normal || !delta)
    return tm_fail_memory(error);
  TM_TRY(tm_point_create(model, arena, &made->ordered, error));
  made->shared = shared;
  made->normal = normal;
  made->delta = delta;
  tm_chance_start(&made->chance, &RULE);
  made->freedom = (unsigned)fmax(4, d);
  made->spread = 1 + 0.2 / fmax(1, d);
  made->halves = made->freedom + (unsigned)d;
  made->power = made->halves / 2.;
  made->log_constant = lgamma(made->power) - lgamma(made->freedom / 2.) -
                       d / 2 * log(made->freedom * M_PI) -
                       d * log(made->spread);
  made->narrow = 1 / (made->freedom * made->spread * made->spread);
  /* A law of the prior where L > 0 has another density than the prior. */
  if (model->spec.prior_draw && model->spec.prior_normalised &&
      !model->from_support)
    made->share = PRIOR_SHARE;
  made->log_share =
      log(made->share) - model->spec.prior_log_integral - model->log_kept;
  *state = made;
  return TEMPERA_OK;
}

/* ---- the density q */

/* A sum of densities, e^top x sum; a linear one has top = 0. */
typedef struct log_sum {
  double top, sum;
  bool linear;
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

/* base^power, where 2 x power is an integer: no logarithm is needed. */
static double rising(const jump *state, double base) {
  double result = state->halves & 1 ? sqrt(base) : 1;
  for (unsigned n = state->halves / 2; n; n /= 2, base *= base)
    result *= n & 1 ? base : 1;
  return result;
}

/* Add the t's at a point, in units of the knot's peak. */
static void add_modes(jump *state, const tm_laplace_knot *knot, const double *u,
                      log_sum *total) {
  const tm_shared *shared = state->shared;
  size_t d = shared->real_count;
  bool integers = d < shared->model->dimension;
  for (size_t m = 0; m < knot->mode_count; m++) {
    const tm_laplace_mode *mode = &knot->modes[m];
    if (integers && !tm_same_value(shared->model, mode->u, u))
      continue;
    tm_reals_between(shared, mode->u, u, state->delta);
    double square = tm_factor_square(mode->factor, d, state->delta, INFINITY);
    double base = 1 + square * state->narrow;
    if (total->linear)
      total->sum += mode->peak / rising(state, base);
    else
      add_log(total, log(mode->peak) - state->power * log(base));
  }
}

/* Powers are quick, but underflow far away or in many dimensions; then
 * logarithms. */
static log_sum sum_modes(jump *state, const tm_laplace_knot *knot,
                         const double *u) {
  log_sum total = {.linear = state->halves <= MOST_HALVES};
  if (total.linear)
    add_modes(state, knot, u, &total);
  if (!(total.sum > LEAST_SUM)) {
    total = (log_sum){.top = -INFINITY};
    add_modes(state, knot, u, &total);
  }
  return total;
}

/* q, up to a constant of the knot. */
static log_sum q_at(jump *state, const tm_laplace_view *view,
                    const tm_laplace_knot *knot, const tm_point *point) {
  const double *u =
      knot->relabel ? tm_labels_in_order(state->shared->model, &view->labels,
                                         point, &state->shared->spare)
                    : point->u;
  log_sum total = sum_modes(state, knot, u);
  if (state->share > 0) {
    double copies = knot->relabel ? view->labels.log_factorial : 0;
    double prior = state->log_share + copies + point->log_prior +
                   point->log_jacobian - state->log_constant - knot->log_peak;
    total.sum *= 1 - state->share;
    add_log(&total, prior);
  }
  return total;
}

/* log q(a) - log q(b); where numbers do not reach, no move. */
static double log_q_ratio(jump *state, const tm_laplace_view *view,
                          const tm_laplace_knot *knot, const tm_point *a,
                          const tm_point *b) {
  log_sum above = q_at(state, view, knot, a),
          below = q_at(state, view, knot, b);
  if (!(above.sum > 0 && below.sum > 0))
    return -INFINITY;
  return above.top - below.top + log(above.sum / below.sum);
}

/* ---- draws from q */

static const tm_laplace_mode *pick_mode(const tm_laplace_knot *knot,
                                        tempera_random *random) {
  double left = tm_random_uniform(random);
  size_t m = 0;
  for (; m + 1 < knot->mode_count; m++) {
    left -= knot->modes[m].share;
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
  double chi = tm_random_chi_square(random, state->freedom);
  double scale = state->spread * sqrt(state->freedom / chi);
  tm_random_normals(random, d, state->normal);
  tm_lower_transposed(mode->inverse, d, state->normal, state->delta);
  tm_reals_add(shared, scale, state->delta, u);
}

static void shuffle(const tm_labels *labels, tempera_random *random,
                    unsigned char *permutation) {
  size_t count = labels->count;
  if (labels->permutations) {
    size_t i = (size_t)tempera_random_below(random, labels->permutations);
    memcpy(permutation, labels->permutation + i * count, count);
    return;
  }
  for (size_t k = 0; k < count; k++) {
    size_t i = (size_t)tempera_random_below(random, k + 1);
    permutation[k] = permutation[i];
    permutation[i] = (unsigned char)k;
  }
}

/* Are the labels of the point, of which u is set, in order? Draws may fail this
 * often: no more of theta is made than the block that sorts them. */
static bool drawn_in_order(const tempera_model *model, const tm_labels *labels,
                           tm_point *point) {
  if (model->dependent)
    tm_constrain_point(model, point);
  else
    tm_constrain_block(&model->blocks[labels->first], point->u, point->theta);
  return tm_labels_sorted(labels, point->theta);
}

/* The proposal, but for u, from `ordered`, relabelled at random; false where
 * its labels are not in order. The Jacobians are those of any labelling. */
static bool relabel(jump *state, const tm_labels *labels,
                    tempera_random *random) {
  tm_point *proposal = &state->shared->proposal, *ordered = &state->ordered;
  const tempera_model *model = state->shared->model;
  if (!drawn_in_order(model, labels, ordered))
    return false;
  tm_constrain_point(model, ordered);
  shuffle(labels, random, state->permutation);
  tm_labels_apply(model, labels, state->permutation, ordered->theta,
                  proposal->theta);
  memcpy(proposal->block_jacobian, ordered->block_jacobian,
         model->block_count * sizeof(double));
  proposal->log_jacobian = ordered->log_jacobian;
  return true;
}

/* One draw of the proposal, evaluated; false when it is out of order. */
static bool draw(jump *state, const tm_laplace_view *view,
                 const tm_laplace_knot *knot, tm_step *step) {
  tm_point *proposal = &state->shared->proposal, *ordered = &state->ordered;
  state->relabelled = false;
  if (state->share > 0 && tm_random_uniform(step->random) < state->share) {
    tm_prior_draw(step->evaluator, step->random, proposal);
    return true;
  }
  const tm_laplace_mode *mode = pick_mode(knot, step->random);
  if (!knot->relabel) {
    draw_student(state, mode, step->random, proposal->u);
    tm_evaluate(step->evaluator, proposal);
    return true;
  }
  draw_student(state, mode, step->random, ordered->u);
  if (!relabel(state, &view->labels, step->random))
    return false;
  tm_evaluate_densities(step->evaluator, proposal);
  ordered->log_prior = proposal->log_prior;
  state->relabelled = true;
  return true;
}

/* Drawn again while out of order: that changes q by a factor of the knot, and
 * so does giving up. False when the proposal has density zero. */
static bool propose(jump *state, const tm_laplace_view *view,
                    const tm_laplace_knot *knot, tm_step *step) {
  for (int i = 0; i < TRIES; i++)
    if (draw(state, view, knot, step))
      return state->shared->proposal.log_prior > -INFINITY;
  return false;
}

/* u is made only now: in a simplex it takes logarithms. */
static void accept(const jump *state, const tm_laplace_view *view,
                   tm_step *step) {
  if (step->accepted && state->relabelled)
    tm_labels_turn(state->shared->model, &view->labels, state->permutation,
                   &state->ordered, step->point);
}

static void step(void *opaque, tm_step *step) {
  jump *state = opaque;
  const tm_laplace *laplace = state->shared->laplace;
  /* It may turn out later, between warmup rounds, that there is no ridge. */
  const tm_laplace_view *view = tm_laplace_present(laplace);
  if (!view)
    return;
  double probability = tm_chance_at(&state->chance, step->place, step->adapt);
  if (tm_random_uniform(step->random) >= probability)
    return;
  step->enough = true;
  const tm_laplace_knot *knot = tm_laplace_nearest(laplace, step->tau);
  tm_point *proposal = &state->shared->proposal;
  double log_ratio = -INFINITY;
  if (propose(state, view, knot, step))
    log_ratio = tm_log_density(proposal, step->tau) -
                tm_log_density(step->point, step->tau) +
                log_q_ratio(state, view, knot, step->point,
                            state->relabelled ? &state->ordered : proposal);
  double acceptance = tm_metropolis(step, proposal, log_ratio);
  accept(state, view, step);
  if (step->adapt)
    tm_chance_learn(&state->chance, step->place, acceptance);
}

static void freeze(void *opaque) {
  jump *state = opaque;
  tm_chance_freeze(&state->chance);
}

static void archive(void *opaque, tm_archive *archive) {
  jump *state = opaque;
  tm_chance_archive(&state->chance, archive);
}

const tm_move_type tm_move_jump = {
    .name = "jump",
    .applies = applies,
    .create = create,
    .step = step,
    .freeze = freeze,
    .archive = archive,
};
