/* hmc.c - Hamiltonian moves of all real coordinates (method 4.6).
 *
 * Momenta p ~ N(0, I), n leapfrog steps of length epsilon in the coordinates
 * of leapfrog.h, accepted with min(1, exp(H - H*)). All that is tuned is a
 * function of tau, learned in warmup and then fixed:
 *   - epsilon, by Robbins-Monro towards an acceptance of 0.8 (scale.h);
 *   - the metric L L', the covariance of the draws at nearby tau (spread.h),
 *     dense in moderate dimensions;
 *   - the mean number of steps, by the expected squared jump per gradient.
 * A trajectory of n steps passes through all shorter ones, so each teaches
 * what every length up to its own would have gained. n itself is random, from
 * half of the mean to one and a half of it, so that no period of the target
 * can lock the trajectory.
 *
 * A trajectory along which the energy rises by more than 1000 diverges: it
 * stops, is rejected and counted. The rule is applied from both ends, so that
 * the reverse trajectory is rejected exactly when this one is. */
#include "kernels/hmc.h"

#include "kernels/leapfrog.h"

#include <math.h>

enum {
  DENSE_MOST = 64, /* a dense metric costs 2 d^2 operations per step */
  STEPS_MOST = 64,
  LENGTHS = 11,
  FIRST_LENGTH = 8,
  REVIEW = 32 /* visits of a regime between choices of its length */
};

static const double TARGET = 0.8;
static const double DIVERGENT = 1000;
static const double CURIOUS = 0.25; /* share of longer trajectories in warmup */
static const double FORGET = 0.8;   /* at each review: steps change as well */
static const double REVIVE = 30;    /* see tm_scale_revive */
static const double SEEN = 2;       /* measurements that make a length known */
static const unsigned FEW = 10;     /* visits below which a regime borrows */

/* Mean numbers of steps to choose from; the longest reaches STEPS_MOST. */
static const unsigned LENGTH[LENGTHS] = {1, 2, 3, 4, 6, 8, 11, 16, 22, 32, 42};

/* What is learned for one stretch of tau. */
typedef struct regime {
  tm_scale step;
  unsigned length; /* mean number of steps */
  unsigned visits;
  size_t source; /* the regime whose spread is the metric */
  tm_spread_level level;
  /* By number of steps: squared jump in v times acceptance, summed; count. */
  double jump[STEPS_MOST + 1], count[STEPS_MOST + 1];
} regime;

typedef struct hmc {
  tm_shared *shared;
  tm_spread_level finest;
  regime regimes[TM_REGIMES];
  tm_leapfrog leapfrog;
  uint64_t divergences;
} hmc;

static bool applies(const tempera_model *model) {
  return model->real_dimension > 0 && tm_has_gradients(model);
}

/* In units of the spread the step shrinks like d^-1/4; without one, begin
 * small, since a first step too far costs more than a few short ones. */
static void start_step(const hmc *state, regime *r) {
  double d = (double)state->shared->real_count;
  tm_scale_start(&r->step, (r->level ? 1 : 0.1) * pow(d, -0.25), TARGET);
}

static tempera_status create(tm_shared *shared, tm_arena *arena, void **state,
                             tempera_error *error) {
  hmc *made = TM_NEW(arena, hmc, 1);
  if (!made)
    return tm_fail_memory(error);
  TM_TRY(tm_shared_need_spread(shared, arena, error));
  TM_TRY(tm_leapfrog_create(shared, arena, &made->leapfrog, error));
  made->shared = shared;
  made->finest =
      shared->real_count <= DENSE_MOST ? TM_SPREAD_DENSE : TM_SPREAD_DIAGONAL;
  for (size_t i = 0; i < TM_REGIMES; i++) {
    made->regimes[i].source = TM_REGIMES;
    made->regimes[i].length = FIRST_LENGTH;
    start_step(made, &made->regimes[i]);
  }
  *state = made;
  return TEMPERA_OK;
}

/* A regime that has hardly been visited takes what its nearest neighbour with
 * the same metric has learned. */
static void borrow(hmc *state, size_t regime_index) {
  regime *r = &state->regimes[regime_index];
  for (size_t k = 1; k < TM_REGIMES && r->visits < FEW; k++) {
    size_t near[2] = {regime_index + k, regime_index - k};
    for (size_t side = 0; side < 2; side++) {
      if (near[side] >= TM_REGIMES) /* also below 0, which wraps */
        continue;
      const regime *other = &state->regimes[near[side]];
      if (other->visits < FEW || other->source != r->source ||
          other->level != r->level)
        continue;
      r->step = other->step;
      r->length = other->length;
      return;
    }
  }
}

/* ---- the number of steps ---- */

static unsigned shortest(unsigned length) { return (length + 1) / 2; }

static unsigned longest(unsigned length) { return length + length / 2; }

static unsigned draw_steps(const regime *r, tm_step *step) {
  unsigned low = shortest(r->length), high = longest(r->length);
  if (step->adapt && tm_random_uniform(step->random) < CURIOUS) {
    high = 2 * high + 2; /* from any length, all of the next is seen */
    high = high < STEPS_MOST ? high : STEPS_MOST;
  }
  return low + (unsigned)tempera_random_below(step->random, high - low + 1);
}

/* Expected squared jump per gradient of trajectories of this mean length;
 * negative while not all of its lengths have been seen. */
static double gain(const regime *r, unsigned length) {
  unsigned low = shortest(length), high = longest(length);
  double sum = 0;
  for (unsigned n = low; n <= high; n++) {
    if (r->count[n] < SEEN)
      return -1;
    sum += r->jump[n] / r->count[n];
  }
  return sum / (high - low + 1) / (length + 1);
}

static void review_length(regime *r) {
  double best = 0;
  for (size_t k = 0; k < LENGTHS; k++) {
    double value = gain(r, LENGTH[k]);
    if (value > best) {
      best = value;
      r->length = LENGTH[k];
    }
  }
  for (unsigned n = 1; n <= STEPS_MOST; n++) {
    r->jump[n] *= FORGET;
    r->count[n] *= FORGET;
  }
}

/* ---- one trajectory ---- */

typedef struct trajectory {
  double epsilon, start_energy;
  unsigned steps;
  bool diverged;
} trajectory;

static double acceptance_of(double rise) {
  return rise <= 0 ? 1 : rise < INFINITY ? exp(-rise) : 0;
}

static void measure(regime *r, const tm_leapfrog *leapfrog, unsigned n,
                    double acceptance) {
  double jump = 0;
  for (size_t i = 0; i < leapfrog->shared->real_count; i++)
    jump += leapfrog->v[i] * leapfrog->v[i];
  r->count[n] += 1;
  if (acceptance > 0)
    r->jump[n] += acceptance * jump;
}

/* The rise of energy over the whole trajectory. */
static double follow(hmc *state, regime *r, trajectory *path, bool adapt) {
  tm_leapfrog *leapfrog = &state->leapfrog;
  double rise = 0, highest = 0;
  unsigned n = 0;
  while (n < path->steps && !path->diverged) {
    tm_leapfrog_step(leapfrog, path->epsilon);
    n++;
    rise = tm_leapfrog_energy(leapfrog) - path->start_energy;
    highest = rise > highest ? rise : highest;
    path->diverged = !(rise <= DIVERGENT);
    if (adapt)
      measure(r, leapfrog, n, path->diverged ? 0 : acceptance_of(rise));
  }
  if (adapt) /* had it been longer, it would have been rejected as well */
    while (n < path->steps)
      r->count[++n] += 1;
  /* Seen from the other end. */
  path->diverged = path->diverged || highest - rise > DIVERGENT;
  return rise;
}

static void tune(regime *r, const tm_step *step, double acceptance) {
  tm_scale_update(&r->step, step->place, acceptance);
  if (++r->visits % REVIEW == 0)
    review_length(r);
}

static void step(void *opaque, tm_step *step) {
  hmc *state = opaque;
  tm_leapfrog *leapfrog = &state->leapfrog;
  tm_point *proposal = &state->shared->proposal;
  size_t index = tm_regime_of(step->place);
  regime *r = &state->regimes[index];
  if (step->adapt && r->visits == 0)
    borrow(state, index);
  tm_factor factor =
      tm_spread_factor(state->shared->spread, r->source, state->finest);
  tm_random_normals(step->random, factor.dimension, leapfrog->p);
  trajectory path = {.epsilon = tm_scale_at(&r->step, step->place, step->adapt),
                     .steps = draw_steps(r, step)};
  tm_leapfrog_start(leapfrog, step, factor, step->point, proposal);
  path.start_energy = tm_leapfrog_energy(leapfrog);
  double rise = follow(state, r, &path, step->adapt);
  state->divergences += path.diverged;
  double acceptance =
      tm_metropolis(step, proposal, path.diverged ? -INFINITY : -rise);
  if (step->adapt)
    tune(r, step, acceptance);
}

/* ---- rounds ---- */

/* A metric of another kind asks for another step; a refined one, for a
 * correction. */
static void end_round(void *opaque) {
  hmc *state = opaque;
  const tm_spread *spread = state->shared->spread;
  for (size_t i = 0; i < TM_REGIMES; i++) {
    regime *r = &state->regimes[i];
    size_t source = tm_spread_source(spread, i);
    tm_spread_level level =
        source < TM_REGIMES ? spread->regimes[source].level : TM_SPREAD_NOTHING;
    level = level < state->finest ? level : state->finest;
    if (source == r->source && level == r->level) {
      tm_scale_revive(&r->step, REVIVE);
      continue;
    }
    r->source = source;
    r->level = level;
    r->visits = 0;
    for (unsigned n = 0; n <= STEPS_MOST; n++)
      r->jump[n] = r->count[n] = 0;
    start_step(state, r);
  }
}

static void freeze(void *opaque) {
  hmc *state = opaque;
  for (size_t i = 0; i < TM_REGIMES; i++)
    borrow(state, i);
  for (size_t i = 0; i < TM_REGIMES; i++)
    tm_scale_freeze(&state->regimes[i].step);
}

tm_hmc_view tm_hmc_inspect(void *opaque, double tau) {
  hmc *state = opaque;
  tm_tau_place place = tm_tau_locate(tau);
  regime *r = &state->regimes[tm_regime_of(place)];
  return (tm_hmc_view){.step = tm_scale_at(&r->step, place, false),
                       .length = r->length,
                       .divergences = state->divergences};
}

const tm_move_type tm_move_hmc = {
    .name = "hmc",
    .applies = applies,
    .create = create,
    .step = step,
    .end_round = end_round,
    .freeze = freeze,
};
