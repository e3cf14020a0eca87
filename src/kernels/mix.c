/* mix.c - a measured choice between the moves of real coordinates: the
 * componentwise random walk, the joint one and, where there are gradients,
 * the Hamiltonian (method 4.6); on the reference leg Crank-Nicolson too.
 *
 * A sweep uses one of them, drawn with probabilities that depend on tau only
 * and are fixed after warmup, so the mixture leaves invariant what each of
 * them does. In warmup they take turns at random, and for each stretch of tau
 * the squared jumps are summed in coordinates in which the draws are about
 * round (spread.h). With J = E jump^2 / 2 per coordinate, 1 for independent
 * draws and 1 - rho for a chain of autocorrelation rho, the draws are worth
 * J / (2 - J) independent ones; the harmonic mean over coordinates, since
 * their errors add, divided by the cost in likelihood evaluations, is a
 * move's efficiency. Each move gets a share of the evaluations in proportion
 * to it, above a floor that keeps every move in use; being drawn is that
 * share divided by the move's cost, so an expensive move that is seldom of
 * use does not make the mean sweep much dearer than the best move's.
 *
 * A sweep is a short one: some of the coordinates, one after another, or as
 * many joint steps, so that it means about as much whichever move makes it.
 * Between sweeps tau moves and states are exchanged, at no evaluation. */
#include "kernels/mix.h"

#include <math.h>
#include <string.h>

static const double FLOOR = 0.05;   /* least share of the evaluations */
static const double CURIOUS = 0.25; /* in warmup, drawn evenly this often: */
static const double CHEAP = 32;     /* dearer moves in proportion less often */
static const double MEASURED = 20;  /* uses that make a measurement */

/* What one move did in one stretch of tau. */
typedef struct tally {
  double count, cost;
  double *jump; /* by coordinate: sums of squares */
} tally;

typedef struct option {
  const tm_move_type *type;
  const char *name;
  unsigned doublings;
  bool borrowed; /* the state is another option's */
  void *state;
  size_t repeats;
  tally tallies[TM_REGIMES];
} option;

typedef struct mix {
  tm_shared *shared;
  size_t count;
  option options[TM_MIX_MOST];
  double shares[TM_REGIMES][TM_MIX_MOST];
  tm_spread_level level[TM_REGIMES]; /* of the coordinates jumped in */
  double *before, *moved, *jump;
} mix;

/* Hamiltonian trajectories of up to 3 steps, between which tau moves, and up to
 * 127, where short ones only diffuse: one state, two options. */
static const struct {
  const tm_move_type *type;
  const char *name;
  unsigned doublings;
} CHOICES[TM_MIX_MOST] = {{&tm_move_walk_part, "random-walk", 0},
                          {&tm_move_joint, "joint", 0},
                          {&tm_move_hmc, "hmc", 2},
                          {&tm_move_hmc, "hmc-long", 7},
                          {&tm_move_ridge_walk, "ridge-walk", 0},
                          {&tm_move_crank_nicolson, "crank-nicolson", 0}};

static bool applies(const tempera_model *model) {
  return model->real_dimension > 0;
}

/* In one dimension a single componentwise step remains. */
static bool of_use(const tm_move_type *type, const tempera_model *model) {
  return type->applies(model) &&
         (type == &tm_move_walk_part || type == &tm_move_crank_nicolson ||
          model->real_dimension > 1);
}

static tempera_status add_option(mix *made, size_t choice, tm_arena *arena,
                                 tempera_error *error) {
  const tm_move_type *type = CHOICES[choice].type;
  option *next = &made->options[made->count++];
  size_t d = made->shared->real_count;
  next->type = type;
  next->name = CHOICES[choice].name;
  next->doublings = CHOICES[choice].doublings;
  next->repeats = type == &tm_move_joint ? tm_part_of_sweep(d) : 1;
  for (size_t r = 0; r < TM_REGIMES; r++) {
    next->tallies[r].jump = TM_NEW(arena, double, d);
    if (!next->tallies[r].jump)
      return tm_fail_memory(error);
  }
  next->borrowed = made->count > 1 && next[-1].type == type;
  if (next->borrowed)
    next->state = next[-1].state;
  return next->borrowed
             ? TEMPERA_OK
             : type->create(made->shared, arena, &next->state, error);
}

/* Nothing measured: all alike, but for walks through many coordinates and
 * trajectories that may become as long. */
static void start_shares(mix *state) {
  double many =
      fmin(1, CHEAP / (double)tm_part_of_sweep(state->shared->real_count));
  double interest[TM_MIX_MOST], sum = 0;
  for (size_t i = 0; i < state->count; i++) {
    const option *o = &state->options[i];
    bool dear = o->type == &tm_move_walk_part || o->type == &tm_move_joint ||
                o->doublings > 2;
    sum += interest[i] = dear ? many : 1;
  }
  for (size_t r = 0; r < TM_REGIMES; r++)
    for (size_t i = 0; i < state->count; i++)
      state->shares[r][i] = interest[i] / sum;
}

static tempera_status create(tm_shared *shared, tm_arena *arena, void **state,
                             tempera_error *error) {
  mix *made = TM_NEW(arena, mix, 1);
  if (!made)
    return tm_fail_memory(error);
  made->shared = shared;
  made->before = TM_NEW(arena, double, shared->real_count);
  made->moved = TM_NEW(arena, double, shared->real_count);
  made->jump = TM_NEW(arena, double, shared->real_count);
  if (!made->before || !made->moved || !made->jump)
    return tm_fail_memory(error);
  for (size_t i = 0; i < TM_MIX_MOST; i++)
    if (of_use(CHOICES[i].type, shared->model))
      TM_TRY(add_option(made, i, arena, error));
  if (made->count > 1)
    TM_TRY(tm_shared_need_spread(shared, arena, error));
  start_shares(made);
  *state = made;
  return TEMPERA_OK;
}

/* ---- measuring ---- */

static void note_jump(mix *state, tally *t, const tm_step *step, double cost) {
  const tm_shared *shared = state->shared;
  tm_factor factor = tm_spread_factor(shared->spread, tm_regime_of(step->place),
                                      TM_SPREAD_DENSE);
  for (size_t i = 0; i < shared->real_count; i++)
    state->moved[i] = step->point->u[shared->reals[i]] - state->before[i];
  tm_factor_solve(&factor, state->moved, state->jump);
  for (size_t i = 0; i < shared->real_count; i++)
    t->jump[i] += state->jump[i] * state->jump[i];
  t->count += 1;
  t->cost += cost;
}

/* Independent draws per likelihood evaluation; 0 when not measured. */
static double efficiency(const tally *t, size_t dimension) {
  if (t->count < MEASURED || !(t->cost > 0))
    return 0;
  double slowness = 0;
  for (size_t i = 0; i < dimension; i++) {
    double j = fmin(1, t->jump[i] / (2 * t->count));
    slowness += (2 - j) / j;
  }
  return (double)dimension / slowness * t->count / t->cost;
}

/* Without a ridge, or a mode with the integers met here, a walk about it is
 * none. */
static bool idle(const mix *state, size_t i, size_t regime) {
  const tally *t = &state->options[i].tallies[regime];
  return state->options[i].type == &tm_move_ridge_walk &&
         (!state->shared->laplace || (t->count >= MEASURED && !(t->cost > 0)));
}

/* The mean squared jump does not see where an independent draw, otherwise a
 * good one, stays rejected (tails wider than the ridge's): the walk about it is
 * half of the sweeps at most. Measured: without the bound a regression with
 * unknown scale in 21 dimensions makes two to five times fewer round trips. */
static void bound_ridge_walk(const mix *state, double *value, double *total) {
  for (size_t i = 0; i < state->count; i++) {
    if (state->options[i].type != &tm_move_ridge_walk)
      continue;
    double others = *total - value[i];
    value[i] = fmin(value[i], others);
    *total = others + value[i];
  }
}

/* What curiosity draws a move with: in many dimensions a walk through a third
 * of the coordinates or a long trajectory, drawn as often as the others, would
 * be most of the warmup. */
static double interest(const tally *t) {
  return fmin(1, CHEAP * t->count / t->cost);
}

/* Probabilities from the measurements, mixed with `even` of curiosity's. False
 * when the moves have not all been measured here. */
static bool set_shares(mix *state, size_t regime, double even) {
  double value[TM_MIX_MOST], curious[TM_MIX_MOST];
  double sum = 0, total = 0, interests = 0;
  for (size_t i = 0; i < state->count; i++) {
    const tally *t = &state->options[i].tallies[regime];
    value[i] = 0;
    curious[i] = 1;
    if (idle(state, i, regime)) {
      interests += curious[i];
      continue;
    }
    if (t->count < MEASURED || !(t->cost > 0))
      return false;
    value[i] = efficiency(t, state->shared->real_count);
    sum += value[i];
    interests += curious[i] = interest(t);
  }
  if (!(sum > 0))
    return false;
  double count = (double)state->count;
  for (size_t i = 0; i < state->count; i++) {
    const tally *t = &state->options[i].tallies[regime];
    if (idle(state, i, regime))
      continue;
    value[i] = FLOOR + (1 - count * FLOOR) * value[i] / sum;
    value[i] *= t->count / t->cost;
    total += value[i];
  }
  bound_ridge_walk(state, value, &total);
  for (size_t i = 0; i < state->count; i++)
    state->shares[regime][i] =
        even * curious[i] / interests + (1 - even) * value[i] / total;
  return true;
}

/* ---- the move ---- */

static void use(const mix *state, const option *o, tm_step *step) {
  state->shared->doublings = o->doublings;
  for (size_t k = 0; k < o->repeats; k++)
    o->type->step(o->state, step);
}

static option *choose(mix *state, size_t regime, tempera_random *random) {
  double u = tm_random_uniform(random);
  size_t i = 0;
  while (i + 1 < state->count && u >= state->shares[regime][i])
    u -= state->shares[regime][i++];
  return &state->options[idle(state, i, regime) ? 0 : i];
}

static void step(void *opaque, tm_step *step) {
  mix *state = opaque;
  const tm_shared *shared = state->shared;
  size_t regime = tm_regime_of(step->place);
  if (state->count == 1) {
    use(state, &state->options[0], step);
    return;
  }
  option *chosen = choose(state, regime, step->random);
  if (!step->adapt || !shared->spread->regimes[regime].level) {
    use(state, chosen, step);
    return;
  }
  tm_reals_of(shared, step->point->u, state->before);
  double cost = tm_cost_of(step->evaluator);
  use(state, chosen, step);
  note_jump(state, &chosen->tallies[regime], step,
            tm_cost_of(step->evaluator) - cost);
}

/* ---- rounds ---- */

/* Jumps count half of those of the next round; none when their coordinates
 * have changed in kind. */
static void discount(mix *state, size_t regime) {
  tm_spread_level level = state->shared->spread->regimes[regime].level;
  double keep = level == state->level[regime] ? 0.5 : 0;
  state->level[regime] = level;
  for (size_t i = 0; i < state->count; i++) {
    tally *t = &state->options[i].tallies[regime];
    t->count *= keep;
    t->cost *= keep;
    for (size_t k = 0; k < state->shared->real_count; k++)
      t->jump[k] *= keep;
  }
}

static void end_round(void *opaque) {
  mix *state = opaque;
  for (size_t i = 0; i < state->count; i++)
    if (state->options[i].type->end_round && !state->options[i].borrowed)
      state->options[i].type->end_round(state->options[i].state);
  if (state->count == 1)
    return;
  for (size_t r = 0; r < TM_REGIMES; r++) {
    (void)set_shares(state, r, CURIOUS);
    discount(state, r);
  }
}

/* Stretches of tau that were not measured do as the nearest that were. */
static void freeze_shares(mix *state) {
  bool measured[TM_REGIMES];
  for (size_t r = 0; r < TM_REGIMES; r++)
    measured[r] = set_shares(state, r, 0);
  for (size_t r = 0; r < TM_REGIMES; r++)
    for (size_t k = 1; k < TM_REGIMES && !measured[r]; k++) {
      size_t from = r + k < TM_REGIMES && measured[r + k] ? r + k : r - k;
      if (from >= TM_REGIMES || !measured[from]) /* below 0 wraps */
        continue;
      memcpy(state->shares[r], state->shares[from], sizeof state->shares[r]);
      break;
    }
}

static void freeze(void *opaque) {
  mix *state = opaque;
  for (size_t i = 0; i < state->count; i++)
    if (state->options[i].type->freeze && !state->options[i].borrowed)
      state->options[i].type->freeze(state->options[i].state);
  if (state->count > 1)
    freeze_shares(state);
}

tm_mix_view tm_mix_inspect(const void *opaque, double tau) {
  const mix *state = opaque;
  size_t regime = tm_regime_of(tm_tau_locate(tau));
  tm_mix_view view = {.count = state->count};
  for (size_t i = 0; i < state->count; i++) {
    const option *o = &state->options[i];
    view.names[i] = o->name;
    view.shares[i] = state->shares[regime][i];
    view.efficiency[i] =
        efficiency(&o->tallies[regime], state->shared->real_count);
  }
  return view;
}

static void archive_tally(const mix *state, tally *t, tm_archive *archive) {
  tm_archive_double(archive, &t->count);
  tm_archive_double(archive, &t->cost);
  tm_archive_doubles(archive, t->jump, state->shared->real_count);
}

static void archive(void *opaque, tm_archive *archive) {
  mix *state = opaque;
  for (size_t i = 0; i < state->count; i++) {
    option *o = &state->options[i];
    tm_archive_tag(archive, o->name);
    if (o->type->archive && !o->borrowed)
      o->type->archive(o->state, archive);
    for (size_t r = 0; r < TM_REGIMES; r++)
      archive_tally(state, &o->tallies[r], archive);
  }
  for (size_t r = 0; r < TM_REGIMES; r++) {
    tm_archive_doubles(archive, state->shares[r], TM_MIX_MOST);
    tm_spread_level_archive(&state->level[r], archive);
  }
}

const tm_move_type tm_move_mix = {
    .name = "mix",
    .applies = applies,
    .create = create,
    .step = step,
    .end_round = end_round,
    .freeze = freeze,
    .archive = archive,
};
