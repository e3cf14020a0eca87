/* move.h - one kind of move, as a table of functions; kernels are lists of
 * them. Private to src/kernels and its tests.
 *
 * Every move leaves exp(tau*l) pi invariant for the parameters it has been
 * tuned to. Moves are tuned only while `adapt` is set in the step. */
#ifndef TM_KERNELS_MOVE_H
#define TM_KERNELS_MOVE_H

#include "kernels/kernel.h"
#include "kernels/scale.h"
#include "kernels/spread.h"

/* What the moves of one kernel share. The points are scratch: a move may
 * leave anything in them. */
typedef struct tm_shared {
  const tempera_model *model;
  tm_point proposal, spare;
  size_t real_count;
  size_t *reals;           /* the real coordinates of u */
  tm_scale *componentwise; /* one per real: set by the random walk, or NULL */
  tm_spread *spread;       /* of the reals, when a move needs it, or NULL; the
                              kernel keeps it up to date in warmup */
  unsigned
      doublings; /* of Hamiltonian trajectories at most; 0: no such bound */
  const tm_laplace *laplace; /* where the basins are, or NULL; not absent */
} tm_shared;

/* Called by a move's create. */
TEMPERA_CHECKED tempera_status tm_shared_need_spread(tm_shared *shared,
                                                     tm_arena *arena,
                                                     tempera_error *error);

/* One sweep in progress. */
typedef struct tm_step {
  tm_evaluator *evaluator;
  tm_point *point; /* the chain's state: evaluated, of positive density */
  tempera_random *random;
  double tau;
  tm_tau_place place; /* of tau */
  bool adapt;
  bool accepted;     /* by the last tm_metropolis */
  bool renewed;      /* see tm_sweep */
  bool enough;       /* set by a move after which the others may rest */
  double cost;       /* so far, when the sweep began */
  double acceptance; /* summed over proposals */
  unsigned proposals;
} tm_step;

typedef struct tm_move_type {
  const char *name;
  /* Has this model anything for the move to do? */
  bool (*applies)(const tempera_model *model);
  tempera_status (*create)(tm_shared *shared, tm_arena *arena, void **state,
                           tempera_error *error);
  void (*step)(void *state, tm_step *step);
  /* Or NULL. Called before the first warmup sweep of the next round, after
   * the spread was put to use. */
  void (*end_round)(void *state);
  void (*freeze)(void *state); /* or NULL */
  /* What was learned, see base/archive.h; NULL: nothing is. */
  void (*archive)(void *state, tm_archive *archive);
} tm_move_type;

extern const tm_move_type tm_move_random_walk;
extern const tm_move_type tm_move_walk_part; /* of the coordinates, in turn */
extern const tm_move_type tm_move_joint;
extern const tm_move_type tm_move_hmc;
/* About the Gaussians that the prior is a mixture of. */
extern const tm_move_type tm_move_crank_nicolson;
extern const tm_move_type tm_move_rescale; /* scales with what they scale */
extern const tm_move_type tm_move_mix;     /* of those of reals: measured */
extern const tm_move_type tm_move_slice; /* doubles until widths are learned */
extern const tm_move_type tm_move_slice_doubling;
extern const tm_move_type tm_move_integer;
extern const tm_move_type tm_move_integer_part; /* of many, in turn */
extern const tm_move_type tm_move_gibbs;
extern const tm_move_type tm_move_prior;
extern const tm_move_type tm_move_recipe;
extern const tm_move_type tm_move_ridge_walk; /* likewise idle */
extern const tm_move_type tm_move_jump;       /* idle without a Laplace ridge */

/* In likelihood evaluations, of which a gradient costs about two. */
static inline double tm_cost_of(const tm_evaluator *evaluator) {
  return (double)evaluator->likelihood_evaluations +
         2 * (double)evaluator->gradient_evaluations;
}

/* How many of d coordinates (or joint steps) are a sweep's share of work when
 * it is one of many short ones: between them tau moves and states are
 * exchanged, which costs no evaluation. One of up to 8, where that mixes best
 * in the same time; a third from 22 on, where fewer gain nothing. */
static inline size_t tm_part_of_sweep(size_t d) {
  size_t third = (d + 2) / 3, few = (d * d + 63) / 64;
  return few < third ? few : third;
}

/* The reals of u, ... */
static inline void tm_reals_of(const tm_shared *shared, const double *u,
                               double *out) {
  if (shared->real_count == shared->model->dimension)
    for (size_t k = 0; k < shared->real_count; k++)
      out[k] = u[k];
  else
    for (size_t k = 0; k < shared->real_count; k++)
      out[k] = u[shared->reals[k]];
}

/* ... of `to` less those of `from`, ... */
static inline void tm_reals_between(const tm_shared *shared, const double *from,
                                    const double *to, double *out) {
  if (shared->real_count == shared->model->dimension)
    for (size_t k = 0; k < shared->real_count; k++)
      out[k] = to[k] - from[k];
  else
    for (size_t k = 0; k < shared->real_count; k++)
      out[k] = to[shared->reals[k]] - from[shared->reals[k]];
}

/* ... and so much of a step added to them. */
static inline void tm_reals_add(const tm_shared *shared, double scale,
                                const double *step, double *u) {
  if (shared->real_count == shared->model->dimension)
    for (size_t k = 0; k < shared->real_count; k++)
      u[k] += scale * step[k];
  else
    for (size_t k = 0; k < shared->real_count; k++)
      u[shared->reals[k]] += scale * step[k];
}

/* A kernel of these moves, in this order, without those that do not apply. */
TEMPERA_CHECKED tempera_status tm_kernel_compose(
    const tempera_model *model, const tm_move_type *const *types, size_t count,
    tm_arena *arena, tm_kernel **kernel, tempera_error *error);

/* Metropolis-Hastings: the proposal (evaluated) becomes the point with
 * probability min(1, exp(log_ratio)), which is given back and counted. A
 * ratio of NaN (two points of zero density) rejects. */
double tm_metropolis(tm_step *step, const tm_point *proposal, double log_ratio);
/* The same where the caller moves the point: it says so in `accepted`. */
double tm_decide(tm_step *step, double log_ratio);

/* Note a callback's wish to stop the run. */
void tm_note_stop(tm_evaluator *evaluator, const char *function);

#endif
