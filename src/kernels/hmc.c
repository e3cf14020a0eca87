/* hmc.c - Hamiltonian moves of all real coordinates (method 4.6): trajectories
 * as long as it takes for them to turn (trajectory.h), in coordinates in which
 * draws and gradients are about round (metric.h), by steps tuned to a mean
 * acceptance of 0.8 (stepsize.h). All that is tuned is a function of tau,
 * learned in warmup and then fixed: metrics by stretch of tau, steps by tau.
 *
 * Now and then a move makes steps up to a hundred times shorter, and few of
 * them: where the target narrows (a funnel's neck) the tuned step is too long
 * for every trajectory, and a chain would stay for good. How often depends on
 * the divergences of warmup.
 *
 * A metric is put to use after 15, 40, 90, 190, ... visits of its stretch, not
 * at the end of rounds: half of a short warmup of 1 000 sweeps would be spent
 * before the first. A new one needs a step of its own; until that has been
 * tuned for a while, the old pair is kept to freeze in its place. */
#include "kernels/hmc.h"

#include "kernels/metric.h"
#include "kernels/stepsize.h"
#include "kernels/trajectory.h"

#include <math.h>
#include <string.h>

static const double TARGET = 0.8;
/* Where more than this share of trajectories diverges, steps are made shorter:
 * tuned to the second acceptance. */
static const double OFTEN = 0.005, CAREFUL = 0.95;
/* Short steps: how short at the shortest; the share of moves that make them
 * without divergences, at most, and for each divergent share. */
static const double SHORTEST = 0.01;
static const double SHORT_LEAST = 0.02, SHORT_MOST = 0.2, SHORT_SLOPE = 5;
/* Updates that make a step its metric's own. */
static const double TUNED = 20;
/* Doublings while nothing is known: deep trees by a poor metric are dear. */
enum { FIRST_DOUBLINGS = 6, SHORT_DOUBLINGS = 5, GUESSES = 50, SLOTS = 2 };

/* What is learned for one stretch of tau. */
typedef struct regime {
  tm_metric metric;
  tm_stepsize step;
  double trajectories, steps; /* so far: how long they are ... */
  double diverged;            /* ... and how many end in nothing */
  double share;               /* of short steps, once frozen */
  double target;              /* acceptance to tune the step to */
} regime;

/* The gradient where a chain was left: two chains take turns. */
typedef struct slot {
  bool filled;
  double tau, *u, *gradient;
} slot;

typedef struct hmc {
  tm_shared *shared;
  regime regimes[TM_REGIMES], kept[TM_REGIMES]; /* kept: see above */
  tm_trajectory trajectory;
  slot slots[SLOTS]; /* by tau below 1 and tau = 1 */
  double *work, *x;
  uint64_t divergences;
} hmc;

static bool applies(const tempera_model *model) {
  return model->real_dimension > 0 && tm_has_gradients(model);
}

static tempera_status create(tm_shared *shared, tm_arena *arena, void **state,
                             tempera_error *error) {
  size_t d = shared->real_count, all = shared->model->dimension;
  hmc *made = TM_NEW(arena, hmc, 1);
  if (!made)
    return tm_fail_memory(error);
  made->shared = shared;
  TM_TRY(tm_trajectory_create(shared, arena, &made->trajectory, error));
  made->work = TM_NEW(arena, double, tm_metric_work(d) + 4 * d);
  made->x = TM_NEW(arena, double, 2 * d);
  if (!made->work || !made->x)
    return tm_fail_memory(error);
  for (size_t i = 0; i < SLOTS; i++) {
    made->slots[i].u = TM_NEW(arena, double, 2 * all);
    if (!made->slots[i].u)
      return tm_fail_memory(error);
    made->slots[i].gradient = made->slots[i].u + all;
  }
  for (size_t i = 0; i < TM_REGIMES; i++) {
    TM_TRY(tm_metric_create(d, arena, &made->regimes[i].metric, error));
    TM_TRY(tm_metric_create(d, arena, &made->kept[i].metric, error));
  }
  *state = made;
  return TEMPERA_OK;
}

/* The regime itself, or the nearest of which something is known. */
static size_t source_of(const hmc *state, size_t index) {
  for (size_t k = 0; k < TM_REGIMES; k++) {
    if (index + k < TM_REGIMES && state->regimes[index + k].metric.level)
      return index + k;
    if (index >= k && state->regimes[index - k].metric.level)
      return index - k;
  }
  return index;
}

/* ---- where gradients are known ---- */

static slot *slot_of(hmc *state, double tau) { return &state->slots[tau == 1]; }

static const double *known_gradient(hmc *state, const tm_step *step) {
  const slot *s = slot_of(state, step->tau);
  size_t bytes = state->shared->model->dimension * sizeof(double);
  bool same = s->filled && s->tau == step->tau &&
              memcmp(s->u, step->point->u, bytes) == 0;
  return same ? s->gradient : NULL;
}

static void remember(hmc *state, const tm_step *step, const double *gradient) {
  slot *s = slot_of(state, step->tau);
  size_t bytes = state->shared->model->dimension * sizeof(double);
  s->filled = true;
  s->tau = step->tau;
  memcpy(s->u, step->point->u, bytes);
  memcpy(s->gradient, gradient, bytes);
}

/* ---- the step ---- */

/* How much the energy rises over one step from the start. */
static double rise_of(hmc *state, tm_step *step, tm_factor factor,
                      const double *gradient, double epsilon) {
  tm_leapfrog *leapfrog = &state->trajectory.leapfrog;
  tm_random_normals(step->random, factor.dimension, leapfrog->p);
  tm_leapfrog_start(leapfrog, step, factor, step->point,
                    &state->shared->proposal, gradient);
  double start = tm_leapfrog_energy(leapfrog);
  tm_leapfrog_step(leapfrog, epsilon);
  double rise = tm_leapfrog_energy(leapfrog) - start;
  return isnan(rise) ? INFINITY : rise;
}

/* A first guess: doubled or halved until the acceptance of one step crosses
 * the target (Hoffman & Gelman 2014, algorithm 4). */
static double guess_step(hmc *state, tm_step *step, tm_factor factor,
                         const double *gradient) {
  double epsilon = pow((double)factor.dimension, -0.25);
  double limit = -log(TARGET);
  bool longer = rise_of(state, step, factor, gradient, epsilon) < limit;
  for (int k = 0; k < GUESSES; k++) {
    double next = longer ? 2 * epsilon : epsilon / 2;
    bool good = rise_of(state, step, factor, gradient, next) < limit;
    if (longer && !good)
      break;
    epsilon = next;
    if (!longer && good)
      break;
  }
  return epsilon;
}

/* ---- learning ---- */

static void copy_metric(const tm_metric *from, tm_metric *to) {
  size_t d = from->dimension;
  to->level = from->level;
  memcpy(to->sd, from->sd, d * sizeof(double));
  if (from->dense && from->level == TM_SPREAD_DENSE) {
    memcpy(to->factor, from->factor, d * d * sizeof(double));
    memcpy(to->turned, from->turned, d * d * sizeof(double));
  }
}

static bool tuned(const regime *r) {
  double most = 0;
  for (size_t i = 0; i < TM_TAU_NODES; i++)
    most = fmax(most, r->step.count[i]);
  return r->step.started && most >= TUNED;
}

/* The draw and its gradient, of the regime the chain is in. */
static void learn(hmc *state, size_t index, const tm_step *step,
                  const double *gradient) {
  tm_shared *shared = state->shared;
  regime *r = &state->regimes[index];
  double *g = state->x + shared->real_count;
  tm_reals_of(shared, step->point->u, state->x);
  tm_reals_of(shared, gradient, g);
  if (!tm_metric_learn(&r->metric, state->x, g, state->work))
    return;
  if (tuned(r)) {
    copy_metric(&r->metric, &state->kept[index].metric);
    state->kept[index].step = r->step;
  }
  bool often = r->diverged > OFTEN * r->trajectories;
  r->target = r->metric.level && often ? CAREFUL : TARGET;
  if (tm_metric_use(&r->metric, state->work))
    r->step.started = false;
  r->trajectories = r->steps = r->diverged = 0;
}

static double short_share(const regime *r) {
  double rate = r->trajectories > 0 ? r->diverged / r->trajectories : 0;
  return fmin(SHORT_MOST, SHORT_LEAST + SHORT_SLOPE * rate);
}

static unsigned doublings(const hmc *state, size_t source, bool adapt) {
  bool known = state->regimes[source].metric.level != TM_SPREAD_NOTHING;
  unsigned most = adapt && !known ? FIRST_DOUBLINGS : TM_DOUBLINGS;
  unsigned bound = state->shared->doublings;
  return bound && bound < most ? bound : most;
}

/* ---- the move ---- */

/* Start the leapfrog, from which the gradient at the start is known. */
static void start(hmc *state, tm_step *step, tm_factor factor) {
  const double *gradient = known_gradient(state, step);
  tm_leapfrog *leapfrog = &state->trajectory.leapfrog;
  tm_leapfrog_start(leapfrog, step, factor, step->point,
                    &state->shared->proposal, gradient);
  if (!gradient)
    remember(state, step, leapfrog->gradient);
}

static void prepare(hmc *state, size_t *source, tm_step *step) {
  size_t index = tm_regime_of(step->place);
  start(state, step, tm_metric_factor(&state->regimes[*source].metric));
  const double *gradient = slot_of(state, step->tau)->gradient;
  if (!step->adapt)
    return;
  learn(state, index, step, gradient);
  *source = source_of(state, index);
  regime *r = &state->regimes[*source];
  tm_factor factor = tm_metric_factor(&r->metric);
  if (!r->step.started)
    tm_stepsize_start(&r->step, guess_step(state, step, factor, gradient),
                      r->target > 0 ? r->target : TARGET);
  start(state, step, factor);
}

static void step(void *opaque, tm_step *step) {
  hmc *state = opaque;
  tm_trajectory *t = &state->trajectory;
  size_t source = source_of(state, tm_regime_of(step->place));
  prepare(state, &source, step);
  regime *r = &state->regimes[source];
  double epsilon = tm_stepsize_at(&r->step, step->place, step->adapt);
  unsigned most = doublings(state, source, step->adapt);
  bool shorter = tm_random_uniform(step->random) <
                 (step->adapt ? short_share(r) : r->share);
  if (shorter) {
    epsilon *= pow(SHORTEST, tm_random_uniform(step->random));
    most = most < SHORT_DOUBLINGS ? most : SHORT_DOUBLINGS;
  }
  bool moved = tm_trajectory_run(t, step->random, epsilon, most);
  double acceptance = t->acceptance / t->steps;
  state->divergences += t->diverged;
  step->accepted = moved;
  step->acceptance += acceptance;
  step->proposals++;
  r->trajectories += 1;
  r->steps += t->steps;
  r->diverged += t->diverged;
  if (moved) {
    tm_point_copy(state->shared->model, &t->whole.point, step->point);
    remember(state, step, t->whole.gradient);
  }
  if (step->adapt && !shorter)
    tm_stepsize_update(&r->step, step->place, acceptance);
}

/* A metric whose step has not been tuned gives way to the one before. */
static void freeze(void *opaque) {
  hmc *state = opaque;
  for (size_t i = 0; i < TM_REGIMES; i++) {
    regime *r = &state->regimes[i];
    r->share = short_share(r);
    if (tuned(r))
      continue;
    if (tuned(&state->kept[i])) {
      copy_metric(&state->kept[i].metric, &r->metric);
      r->step = state->kept[i].step;
    } else if (!r->step.started) {
      r->metric.level = TM_SPREAD_NOTHING;
    }
  }
  for (size_t i = 0; i < TM_REGIMES; i++) {
    regime *r = &state->regimes[i];
    if (!r->step.started)
      tm_stepsize_start(&r->step,
                        0.1 * pow((double)state->shared->real_count, -0.25),
                        TARGET);
  }
}

tm_hmc_view tm_hmc_inspect(void *opaque, double tau) {
  hmc *state = opaque;
  tm_tau_place place = tm_tau_locate(tau);
  regime *r = &state->regimes[source_of(state, tm_regime_of(place))];
  double length = r->trajectories > 0 ? r->steps / r->trajectories : 0;
  return (tm_hmc_view){.step = tm_stepsize_at(&r->step, place, false),
                       .length = (unsigned)(length + 0.5),
                       .divergences = state->divergences};
}

static void archive_regime(regime *r, tm_archive *archive) {
  tm_metric_archive(&r->metric, archive);
  tm_stepsize_archive(&r->step, archive);
  double *numbers[] = {&r->trajectories, &r->steps, &r->diverged, &r->share,
                       &r->target};
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
    tm_archive_double(archive, numbers[i]);
}

/* The gradients known save evaluations, which are counted and which the choice
 * between moves goes by. */
static void archive(void *opaque, tm_archive *archive) {
  hmc *state = opaque;
  for (size_t i = 0; i < TM_REGIMES; i++) {
    archive_regime(&state->regimes[i], archive);
    archive_regime(&state->kept[i], archive);
  }
  for (size_t i = 0; i < SLOTS; i++) {
    slot *s = &state->slots[i];
    tm_archive_bool(archive, &s->filled);
    tm_archive_double(archive, &s->tau);
    tm_archive_doubles(archive, s->u, 2 * state->shared->model->dimension);
  }
  tm_archive_u64(archive, &state->divergences);
}

const tm_move_type tm_move_hmc = {
    .name = "hmc",
    .applies = applies,
    .create = create,
    .step = step,
    .freeze = freeze,
    .archive = archive,
};
