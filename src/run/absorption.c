/* absorption.c - see absorption.h. */
#include "run/absorption.h"

#include "groups/pair.h"
#include "model/batch.h"
#include "parallel/ranks.h"

#include <math.h>

enum {
  STARTS = 60,
  TRIES = 1000,   /* prior draws until one has positive likelihood */
  LEAST = 80,     /* sweeps on the way up, at least two at each knot of tau, */
  LAST = 20,      /* and at tau = 1 */
  PATIENCE = 500, /* sweeps of the leg to come down in, */
  LONGER = 400    /* and at tau = 1 before a second try */
};

/* One chain's share of the starts. */
typedef struct climber {
  tempera_sampler *sampler;
  tm_pair *pair;
  tm_arena *arena;
  tm_point point;
  tm_reference_walker walker; /* of the chain's leg, with its own points */
  size_t starts, absorbed;
  tempera_status status;
  tempera_error error;
} climber;

static tempera_status prepare(climber *c, tempera_error *error) {
  const tempera_model *model = c->sampler->model;
  const tempera_model *leg = tm_reference_model(c->sampler->leg->reference);
  c->arena = tm_arena_create();
  if (!c->arena)
    return tm_fail_memory(error);
  c->walker = *c->pair->reference;
  TM_TRY(tm_point_create(model, c->arena, &c->point, error));
  TM_TRY(tm_point_create(leg, c->arena, &c->walker.point, error));
  TM_TRY(tm_point_create(leg, c->arena, &c->walker.spare, error));
  return tm_reference_walker_set_prior(&c->walker, c->arena,
                                       &c->sampler->leg->prior, error);
}

static bool usable(const tm_point *point) {
  return isfinite(point->log_likelihood) && isfinite(point->log_prior);
}

/* Sweeps at each knot of tau on the way up. */
static size_t stay(const tm_draws_prior *prior) {
  return 2 > LEAST / prior->knots ? 2 : LEAST / prior->knots;
}

/* Up the prior leg, by the knots of its tau prior: they are even in its
 * barrier. */
static bool anneal(climber *c, tempera_random *random) {
  tm_group *group = &c->pair->group;
  const tm_draws_prior *knots = &c->sampler->draws->prior;
  size_t each = stay(knots);
  size_t tries = 0;
  do
    tm_prior_draw(&group->evaluator, random, &c->point);
  while (!usable(&c->point) && ++tries < TRIES);
  if (!usable(&c->point))
    return false;
  for (size_t k = 0; k < knots->knots * each + LAST; k++) {
    size_t knot = k / each < knots->knots ? k / each : knots->knots - 1;
    tm_kernel_sweep(group->kernel, &group->evaluator, &c->point,
                    knots->tau[knot], random);
  }
  return usable(&c->point);
}

/* Down the reference leg. */
static bool descend(climber *c) {
  tm_reference_walker *w = &c->walker;
  tm_row row = {0};
  w->tau = 1;
  tm_reference_walker_settle(w, &c->point);
  for (size_t k = 0; k < PATIENCE && w->tau > 0; k++)
    tm_reference_walker_mutate(w, &row);
  return w->tau == 0;
}

/* A state that has not come down may only be slow: it gets more sweeps at the
 * posterior. (No optimiser carries it: a posterior with a funnel has no top.)
 */
static void linger(climber *c, tempera_random *random) {
  tm_group *group = &c->pair->group;
  for (size_t k = 0; k < LONGER; k++)
    tm_kernel_sweep(group->kernel, &group->evaluator, &c->point, 1, random);
}

static tempera_status try_start(climber *c, uint32_t number,
                                tempera_error *error) {
  tempera_random random =
      tm_random(c->sampler->options.seed, number, TM_PURPOSE_ABSORPTION);
  c->walker.stream = tm_random(c->sampler->options.seed, STARTS + number,
                               TM_PURPOSE_ABSORPTION);
  c->walker.tau_stream = tm_random(c->sampler->options.seed,
                                   2 * STARTS + number, TM_PURPOSE_ABSORPTION);
  c->starts++;
  if (!anneal(c, &random))
    return TEMPERA_OK;
  bool absorbed = descend(c);
  if (!absorbed) {
    linger(c, &random);
    absorbed = descend(c);
  }
  c->absorbed += absorbed;
  const tm_evaluator *evaluators[] = {&c->pair->group.evaluator,
                                      &c->walker.chain.evaluator};
  for (size_t k = 0; k < 2; k++)
    if (evaluators[k]->status != TEMPERA_OK) {
      if (error)
        *error = evaluators[k]->error;
      return evaluators[k]->status;
    }
  return TEMPERA_OK;
}

static void run_chain(size_t chain, void *context) {
  climber *c = (climber *)context + chain;
  size_t chains = c->sampler->options.chains;
  c->status = prepare(c, &c->error);
  for (size_t i = chain; i < STARTS && c->status == TEMPERA_OK; i += chains)
    c->status = try_start(c, (uint32_t)i, &c->error);
  tm_arena_free(c->arena);
}

static tempera_status measure(tempera_sampler *s, climber *climbers,
                              tempera_error *error) {
  for (size_t c = 0; c < s->options.chains; c++)
    climbers[c] = (climber){.sampler = s, .pair = (tm_pair *)s->groups[c]};
  tm_shared_for(s->options.chains,
                tm_model_threads(s->model, s->options.threads), run_chain,
                climbers);
  for (size_t c = 0; c < s->options.chains; c++) {
    s->absorption.starts += climbers[c].starts;
    s->absorption.absorbed += climbers[c].absorbed;
    if (climbers[c].status == TEMPERA_OK)
      continue;
    if (error)
      *error = climbers[c].error;
    return climbers[c].status;
  }
  return TEMPERA_OK;
}

/* A run that was asked to be short stays so: no more sweeps on the way up than
 * it has made itself. */
static bool affordable(const tempera_sampler *s) {
  const tm_draws_prior *knots = &s->draws->prior;
  size_t sweeps = STARTS * (knots->knots * stay(knots) + LAST);
  return sweeps <= tm_sweeps_done(s) * s->options.chains;
}

tempera_status tm_absorption_measure(tempera_sampler *sampler,
                                     tempera_error *error) {
  tempera_sampler *s = sampler;
  if (s->absorption.starts || !s->leg || !s->leg->walking ||
      !s->model->spec.prior_draw || !s->draws->prior.knots ||
      s->options.tau_min > 0 || !affordable(s))
    return TEMPERA_OK;
  climber *climbers = tm_heap_alloc(s->options.chains, sizeof *climbers);
  if (!climbers)
    return tm_fail_memory(error);
  tempera_status status = measure(s, climbers, error);
  tm_heap_free(climbers);
  return status;
}
