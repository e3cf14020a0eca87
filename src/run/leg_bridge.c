/* leg_bridge.c - see leg_bridge.h. */
#include "run/leg_bridge.h"

#include <string.h>

enum {
  PROPOSALS = 2000,
  MOST_BRIDGED = 40000, /* target draws */
  STREAM = 6            /* of TM_PURPOSE_BRIDGE; bridge.c has those below */
};

bool tm_leg_bridges(const tempera_sampler *sampler) {
  const tempera_sampler *s = sampler;
  return s->leg && s->leg->walking && s->reference &&
         s->reference->count == s->draws->count &&
         s->model->real_dimension >= TM_REFERENCE_MANY;
}

/* The leg's rows say what D was at the target's. */
static tempera_status take_target(const tempera_sampler *s, tm_arena *arena,
                                  tm_bridge_terms *terms,
                                  tempera_error *error) {
  const tempera_draws *draws = s->reference;
  size_t all = draws->chains * draws->count;
  size_t stride =
      all > MOST_BRIDGED ? (all + MOST_BRIDGED - 1) / MOST_BRIDGED : 1;
  terms->chains = draws->chains;
  terms->length = (draws->count + stride - 1) / stride;
  terms->target = TM_NEW(arena, double, terms->chains * terms->length);
  if (!terms->target)
    return tm_fail_memory(error);
  for (size_t c = 0; c < terms->chains; c++) {
    const double *ratio =
        tempera_draws_log_likelihood(draws, TEMPERA_TARGET, c);
    for (size_t i = 0; i < terms->length; i++)
      terms->target[c * terms->length + i] = ratio[i * stride];
  }
  return TEMPERA_OK;
}

static tempera_status draw_proposals(tm_reference_chain *chain, uint64_t seed,
                                     tm_arena *arena, tm_bridge_terms *terms,
                                     tempera_error *error) {
  const tempera_model *leg = tm_reference_model(chain->reference);
  tempera_random random = tm_random(seed, STREAM, TM_PURPOSE_BRIDGE);
  tm_point point;
  terms->proposal = TM_NEW(arena, double, PROPOSALS);
  if (!terms->proposal)
    return tm_fail_memory(error);
  TM_TRY(tm_point_create(leg, arena, &point, error));
  for (; terms->proposals < PROPOSALS; terms->proposals++) {
    tm_prior_draw(&chain->evaluator, &random, &point);
    TM_TRY(tm_evaluator_check(&chain->evaluator, error));
    terms->proposal[terms->proposals] = point.log_likelihood;
  }
  return TEMPERA_OK;
}

tempera_status tm_leg_bridge_terms(const tempera_sampler *sampler,
                                   tm_arena *arena, tm_bridge_terms *terms,
                                   uint64_t *likelihood_evaluations,
                                   tempera_error *error) {
  const tempera_sampler *s = sampler;
  tm_reference_chain chain;
  *terms = (tm_bridge_terms){0};
  TM_TRY(take_target(s, arena, terms, error));
  TM_TRY(tm_reference_chain_create(s->leg->reference, arena, &chain, error));
  tempera_status status =
      draw_proposals(&chain, s->options.seed, arena, terms, error);
  *likelihood_evaluations = chain.inner->likelihood_evaluations;
  tm_reference_chain_release(&chain);
  return status;
}
