/* prior.c - the prior as an independence proposal: ratio exp(tau (l* - l)).
 *
 * At tau = 0 it always succeeds and renews theta; at tau = 1 it is mostly a
 * wasted evaluation. So it is attempted with a probability that is a function
 * of tau, through the acceptance measured in warmup, and fixed afterwards. */
#include "kernels/chance.h"
#include "kernels/move.h"

#include <math.h>

static const tm_chance_rule RULE = {
    .good = 0.1, .poor = 0.01, .most = 0.3, .seldom = 0.01, .curious = 0.1};

typedef struct prior {
  tm_shared *shared;
  tm_chance chance;
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
  tm_chance_start(&made->chance, &RULE);
  *state = made;
  return TEMPERA_OK;
}

static void step(void *opaque, tm_step *step) {
  prior *state = opaque;
  tm_point *proposal = &state->shared->proposal;
  double probability =
      step->tau > 0 ? tm_chance_at(&state->chance, step->place, step->adapt)
                    : 1;
  if (probability < 1 && tm_random_uniform(step->random) >= probability)
    return;
  step->enough = true;
  tm_prior_draw(step->evaluator, step->random, proposal);
  double log_ratio = -INFINITY;
  if (proposal->log_prior > -INFINITY)
    log_ratio = step->tau > 0 ? step->tau * (proposal->log_likelihood -
                                             step->point->log_likelihood)
                              : 0;
  double acceptance = tm_metropolis(step, proposal, log_ratio);
  step->renewed = step->renewed || step->accepted;
  if (step->adapt)
    tm_chance_learn(&state->chance, step->place, acceptance);
}

static void freeze(void *opaque) {
  prior *state = opaque;
  tm_chance_freeze(&state->chance);
}

static void archive(void *opaque, tm_archive *archive) {
  prior *state = opaque;
  tm_chance_archive(&state->chance, archive);
}

const tm_move_type tm_move_prior = {
    .name = "prior",
    .applies = applies,
    .create = create,
    .step = step,
    .freeze = freeze,
    .archive = archive,
};
