/* leg_bridge.h - what the bridge needs of the reference leg: log f/q at draws
 * of its q, and at the target draws. In many dimensions q, which was fitted
 * with gradients to the draws of the warmup, is far better than what half of
 * the target draws can tell, and it is there already. */
#ifndef TM_RUN_LEG_BRIDGE_H
#define TM_RUN_LEG_BRIDGE_H

#include "estimate/bridge/bridge_ratio.h"
#include "run/sampler.h"

/* Is it to be used? Where it is not, the bridge fits halves of the draws. */
bool tm_leg_bridges(const tempera_sampler *sampler);
/* Terms from the arena; the model's calls are counted. */
TEMPERA_CHECKED tempera_status tm_leg_bridge_terms(
    const tempera_sampler *sampler, tm_arena *arena, tm_bridge_terms *terms,
    uint64_t *likelihood_evaluations, tempera_error *error);

#endif
