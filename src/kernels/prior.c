/* prior.c - the prior as an independence proposal: ratio exp(tau (l* - l)).
 *
 * At tau = 0 it always succeeds and renews theta; at tau = 1 it is mostly a
 * wasted evaluation. So it is attempted with a probability that is a function
 * of tau, through the acceptance measured in warmup, and fixed afterwards. */
#include "kernels/move.h"

#include <math.h>

/* Attempt always above GOOD, with probability SELDOM below POOR. */
static const double GOOD = 0.1, POOR = 0.01, SELDOM = 0.01;
/* In warmup, attempt at least this often, to learn; and forget all but the
 * last MEMORY proposals, since the chain is still on its way. */
static const double CURIOUS = 0.1, MEMORY = 200;

typedef struct prior {
  tm_shared *shared;
  double mean[TM_TAU_NODES], count[TM_TAU_NODES];
} prior;

static bool applies(const tempera_model *model) {
  return model->spec.prior_draw != NULL;
}

static tempera_status create(tm_shared *shared, tm_arena *arena, void **state,
                             tempera_error *error) {
  prior *made = TM_NEW(arena, prior, 1);
  if (!made)
    return tm_fail_memory(error);
  made->shared = shared;
  for (size_t i = 0; i < TM_TAU_NODES; i++)
    made->mean[i] = 1; /* try, until measured */
  *state = made;
  return TEMPERA_OK;
}

static double attempt_probability(const prior *state, const tm_step *step) {
  if (step->tau <= 0)
    return 1;
  const double *mean = state->mean + step->place.node;
  double acceptance = mean[0] + step->place.weight * (mean[1] - mean[0]);
  double share = (acceptance - POOR) / (GOOD - POOR);
  return fmin(1, fmax(share, step->adapt ? CURIOUS : SELDOM));
}

static void learn_node(prior *state, size_t node, double weight,
                       double acceptance) {
  if (weight <= 0)
    return;
  double count = fmin(state->count[node] + weight, MEMORY);
  state->count[node] = count;
  state->mean[node] +=
      fmin(1, weight / count) * (acceptance - state->mean[node]);
}

static void step(void *opaque, tm_step *step) {
  prior *state = opaque;
  tm_point *proposal = &state->shared->proposal;
  double probability = attempt_probability(state, step);
  if (probability < 1 && tempera_random_uniform(step->random) >= probability)
    return;
  tm_prior_draw(step->evaluator, step->random, proposal);
  double log_ratio = -INFINITY;
  if (proposal->log_prior > -INFINITY)
    log_ratio = step->tau > 0 ? step->tau * (proposal->log_likelihood -
                                             step->point->log_likelihood)
                              : 0;
  double acceptance = tm_metropolis(step, proposal, log_ratio);
  step->renewed = step->renewed || step->accepted;
  if (!step->adapt)
    return;
  learn_node(state, step->place.node, 1 - step->place.weight, acceptance);
  learn_node(state, step->place.node + 1, step->place.weight, acceptance);
}

/* Nodes never visited take the acceptance of the nearest one that was. */
static void freeze(void *opaque) {
  prior *state = opaque;
  for (size_t i = 0; i < TM_TAU_NODES; i++)
    for (size_t k = 1; k < TM_TAU_NODES && state->count[i] <= 0; k++) {
      if (i >= k && state->count[i - k] > 0)
        state->mean[i] = state->mean[i - k];
      else if (i + k < TM_TAU_NODES && state->count[i + k] > 0)
        state->mean[i] = state->mean[i + k];
      else
        continue;
      break;
    }
}

const tm_move_type tm_move_prior = {
    .name = "prior",
    .applies = applies,
    .create = create,
    .step = step,
    .freeze = freeze,
};
