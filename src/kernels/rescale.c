/* rescale.c - a scale moves together with the deviations that it scales, and a
 * mean together with what lies about it (model/hierarchy.h): random walks along
 * these orbits, each with a step that is a function of tau. For a scaling of k
 * members the ratio gains (scale' / scale)^k, see hierarchy.c. Beside moves
 * that hold x while the scale moves, this is interweaving (Yu and Meng, To
 * center or not to center, 2011): of the two, one gets about wherever the other
 * does not.
 *
 * Of a sweep's cost, as warmup saw it, the walks take a fixed share: where
 * independent draws do well by themselves they cost little, and beside long
 * trajectories there is room for many. */
#include "kernels/move.h"
#include "model/hierarchy.h"

#include <math.h>

static const double TARGET = 0.44;   /* acceptance, in one dimension */
static const double SHARE = 0.05;    /* of the evaluations */
static const double SCALINGS = 0.75; /* of the walks, where means move too */
static const double PASSES = 2;      /* of all orbits in a sweep, at most */
static const double MEASURED = 20;   /* sweeps that make a measurement */

typedef struct orbit {
  const tm_family *family;
  size_t centre; /* which is shifted; `centres` of them: it is scaled */
  tm_scale step;
} orbit;

/* What other moves' sweeps cost in one stretch of tau. */
typedef struct spending {
  double sweeps, cost;
} spending;

typedef struct rescale {
  tm_shared *shared;
  size_t count, scalings;
  orbit *orbits; /* scalings first */
  spending spent[TM_REGIMES];
} rescale;

static bool applies(const tempera_model *model) {
  return model->hierarchy && model->hierarchy->count > 0;
}

static void add_orbits(rescale *state, const tm_hierarchy *hierarchy,
                       bool scalings) {
  for (size_t i = 0; i < hierarchy->count; i++) {
    const tm_family *family = &hierarchy->families[i];
    size_t first = scalings ? family->centres : 0;
    size_t last = family->centres + scalings;
    for (size_t k = first; k < last; k++) {
      if (!scalings && family->mover[k] == state->shared->model->dimension)
        continue;
      orbit *next = &state->orbits[state->count++];
      *next = (orbit){.family = family, .centre = k};
      tm_scale_start(&next->step, 0.3, TARGET);
    }
  }
}

static tempera_status create(tm_shared *shared, tm_arena *arena, void **state,
                             tempera_error *error) {
  const tm_hierarchy *hierarchy = shared->model->hierarchy;
  rescale *made = TM_NEW(arena, rescale, 1);
  size_t most = 0;
  for (size_t i = 0; i < hierarchy->count; i++)
    most += hierarchy->families[i].centres + 1;
  if (!made || !(made->orbits = TM_NEW(arena, orbit, most)))
    return tm_fail_memory(error);
  made->shared = shared;
  add_orbits(made, hierarchy, true);
  made->scalings = made->count;
  add_orbits(made, hierarchy, false);
  *state = made;
  return TEMPERA_OK;
}

/* How many walks, in the mean. */
static double rate(const rescale *state, size_t regime) {
  spending spent = state->spent[regime];
  for (size_t r = 0; spent.sweeps < MEASURED && r < TM_REGIMES; r++) {
    spent.sweeps += state->spent[r].sweeps;
    spent.cost += state->spent[r].cost;
  }
  double mean = spent.sweeps < MEASURED ? 1 / SHARE : spent.cost / spent.sweeps;
  return fmin(SHARE * fmax(1, mean), PASSES * (double)state->count);
}

static orbit *choose(rescale *state, tempera_random *random) {
  size_t others = state->count - state->scalings;
  bool scales = others == 0 || tm_random_uniform(random) < SCALINGS;
  size_t k = tempera_random_below(random, scales ? state->scalings : others);
  return &state->orbits[scales ? k : state->scalings + k];
}

static void walk(rescale *state, tm_step *step) {
  orbit *o = choose(state, step->random);
  tm_point *proposal = &state->shared->proposal;
  const tempera_model *model = state->shared->model;
  double far = tm_scale_at(&o->step, step->place, step->adapt) *
               tm_random_normal(step->random);
  double gain = 0;
  if (o->centre == o->family->centres)
    gain = tm_family_rescale(o->family, model, step->point, far, proposal->u);
  else
    tm_family_shift(o->family, model, o->centre, step->point, far, proposal->u);
  tm_evaluate(step->evaluator, proposal);
  double log_ratio = tm_log_density(proposal, step->tau) -
                     tm_log_density(step->point, step->tau) + gain;
  double acceptance = tm_metropolis(step, proposal, log_ratio);
  if (step->adapt)
    tm_scale_update(&o->step, step->place, acceptance);
}

static void step(void *opaque, tm_step *step) {
  rescale *state = opaque;
  size_t regime = tm_regime_of(step->place);
  if (step->adapt) {
    state->spent[regime].sweeps += 1;
    state->spent[regime].cost += tm_cost_of(step->evaluator) - step->cost;
  }
  double left = rate(state, regime);
  for (; left >= 1; left--)
    walk(state, step);
  if (tm_random_uniform(step->random) < left)
    walk(state, step);
}

/* Sweeps count half of those of the next round. */
static void end_round(void *opaque) {
  rescale *state = opaque;
  for (size_t r = 0; r < TM_REGIMES; r++) {
    state->spent[r].sweeps *= 0.5;
    state->spent[r].cost *= 0.5;
  }
}

static void freeze(void *opaque) {
  rescale *state = opaque;
  for (size_t i = 0; i < state->count; i++)
    tm_scale_freeze(&state->orbits[i].step, 1);
}

static void archive(void *opaque, tm_archive *archive) {
  rescale *state = opaque;
  for (size_t i = 0; i < state->count; i++)
    tm_scale_archive(&state->orbits[i].step, 1, archive);
  for (size_t r = 0; r < TM_REGIMES; r++) {
    tm_archive_double(archive, &state->spent[r].sweeps);
    tm_archive_double(archive, &state->spent[r].cost);
  }
}

const tm_move_type tm_move_rescale = {
    .name = "rescale",
    .applies = applies,
    .create = create,
    .step = step,
    .end_round = end_round,
    .freeze = freeze,
    .archive = archive,
};
