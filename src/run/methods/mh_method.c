/* mh_method.c - mh at run level: nothing is learned but the kernels' scales
 * and, for jumps, where the basins are. */
#include "run/sampler.h"

#include "groups/mh.h"

#include <math.h>
#include <string.h>

/* Nothing carries a lone chain from a start far out in a heavy-tailed prior
 * (likelihoods of e^-1e12 have been met): the likeliest of a few prior draws,
 * chosen for each chain apart. */
enum { CANDIDATES = 20 };

static tempera_status choose(tempera_sampler *s, uint32_t chain,
                             tm_arena *arena, double *start,
                             tempera_error *error) {
  tempera_random random =
      tm_random_part(s->options.seed, chain, TM_PURPOSE_START, 1);
  tm_evaluator evaluator;
  tm_point point;
  TM_TRY(tm_point_create(s->model, arena, &point, error));
  TM_TRY(tm_evaluator_create(s->model, arena, &evaluator, error));
  memcpy(point.theta, start, s->model->size * sizeof(double));
  tm_evaluate_natural(&evaluator, &point);
  double best = point.log_likelihood;
  for (int k = 0; k < CANDIDATES && evaluator.status == TEMPERA_OK; k++) {
    tm_prior_draw(&evaluator, &random, &point);
    if (!isfinite(point.log_likelihood) || !isfinite(point.log_prior) ||
        !isfinite(point.log_jacobian) || point.log_likelihood <= best)
      continue;
    best = point.log_likelihood;
    memcpy(start, point.theta, s->model->size * sizeof(double));
  }
  s->starts.likelihood_evaluations += evaluator.likelihood_evaluations;
  s->starts.seconds_in_model += evaluator.seconds;
  tm_evaluator_release(&evaluator);
  return TEMPERA_OK;
}

static tempera_status make_group(tempera_sampler *s, uint32_t chain,
                                 const double *start, double start_tau,
                                 tm_group **group, tempera_error *error) {
  (void)start_tau;
  tm_arena *arena = tm_arena_create();
  double *from = arena ? TM_NEW(arena, double, s->model->size) : NULL;
  tempera_status status = from ? TEMPERA_OK : tm_fail_memory(error);
  if (from)
    memcpy(from, start, s->model->size * sizeof(double));
  if (from && s->model->spec.prior_draw && !s->init_given)
    status = choose(s, chain, arena, from, error);
  if (status == TEMPERA_OK)
    status = tm_mh_create(s->model, s->options.kernel, s->options.seed, chain,
                          from, group, error);
  tm_arena_free(arena);
  return status;
}

const tm_method tm_method_mh = {.target = true,
                                .steady_width = true,
                                .make_group = make_group,
                                .begin = tm_landscape_begin,
                                .end_round = tm_landscape_end_round};
