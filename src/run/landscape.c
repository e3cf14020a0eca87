/* landscape.c - where the basins are: the Laplace ridge, for jumps and for
 * log z, and the natural-scale ridge. Built before the first sweep, improved
 * between warmup rounds; any method may use them. */
#include "run/sampler.h"

#include "parallel/threads.h"

#include <math.h>
#include <string.h>

static tempera_status need_store(tempera_sampler *s, tempera_error *error) {
  const tempera_options *o = &s->options;
  tm_store_settings settings = {.seed = o->seed,
                                .threads = tm_threads(o->threads),
                                .stop = {tm_sampler_stop_due, s}};
  return s->store
             ? TEMPERA_OK
             : tm_store_create(s->model, &settings, s->starts.optimiser,
                               s->starts.optimiser_count, &s->store, error);
}

tempera_status tm_landscape_ridge(tempera_sampler *sampler, bool needed,
                                  tempera_error *error) {
  tempera_sampler *s = sampler;
  tm_ridge_settings settings = {.kind = s->options.ridge,
                                .tau_min = s->options.tau_min,
                                .store = s->store};
  TM_TRY(tm_ridge_create(s->model, &settings, NULL, 0, &s->ridge, error));
  const tm_ridge_view *view = tm_ridge_look(s->ridge);
  if (!view->absent || !needed)
    return TEMPERA_OK;
  return tm_fail(error, TEMPERA_ERROR_MODEL,
                 "model %s has no ridge, which the profile tau prior needs: "
                 "%s; use --tau-prior learned",
                 s->model->spec.name, view->reason);
}

tempera_status tm_landscape_laplace(tempera_sampler *sampler, bool needed,
                                    tempera_error *error) {
  tempera_sampler *s = sampler;
  const tempera_options *o = &s->options;
  TM_TRY(need_store(s, error));
  tm_laplace_settings settings = {.tau_min = o->tau_min, .store = s->store};
  TM_TRY(tm_laplace_create(s->model, &settings, NULL, 0, &s->laplace, error));
  const tm_laplace_view *view = tm_laplace_look(s->laplace);
  if (view->absent && needed)
    return tm_fail(error, TEMPERA_ERROR_MODEL,
                   "model %s has no Laplace ridge, which the laplace tau prior "
                   "needs: %s; use --tau-prior learned",
                   s->model->spec.name, view->reason);
  for (size_t c = 0; c < o->chains && o->jumps; c++)
    tm_kernel_set_laplace(s->groups[c]->kernel, s->laplace);
  return TEMPERA_OK;
}

/* Without jumps a method other than the pair is as plain as its name. */
tempera_status tm_landscape_begin(tempera_sampler *sampler,
                                  tempera_error *error) {
  const tempera_options *o = &sampler->options;
  if (!o->jumps || o->kernel != TEMPERA_KERNEL_AUTO)
    return TEMPERA_OK;
  TM_TRY(tm_landscape_laplace(sampler, false, error));
  return tm_landscape_ridge(sampler, false, error);
}

/* A few points of every group. */
enum { MOST_ROWS = 4 };

static size_t collect(const tempera_sampler *s, double *points) {
  size_t size = s->model->size, count = 0;
  for (size_t c = 0; c < s->options.chains; c++)
    for (size_t role = 2; role-- > 0;) {
      const tm_group *group = s->groups[c];
      size_t stride = (group->width[role] + MOST_ROWS - 1) / MOST_ROWS;
      for (size_t i = 0; i < group->width[role]; i += stride) {
        const tm_point *point = group->rows[role][i].point;
        if (!isfinite(point->log_likelihood))
          continue;
        memcpy(points + count++ * size, point->theta, size * sizeof(double));
      }
    }
  return count;
}

tempera_status tm_landscape_end_round(tempera_sampler *sampler, bool last,
                                      tempera_error *error) {
  const tempera_sampler *s = sampler;
  if (last || !s->laplace || tm_laplace_look(s->laplace)->absent)
    return TEMPERA_OK;
  size_t most = 2 * MOST_ROWS * s->options.chains;
  double *points = tm_heap_alloc(most * s->model->size, sizeof(double));
  if (!points)
    return tm_fail_memory(error);
  tempera_status status =
      tm_laplace_improve(s->laplace, points, collect(s, points), NULL, error);
  tm_heap_free(points);
  return status;
}

tempera_status tm_landscape_record(const tempera_sampler *sampler,
                                   tempera_error *error) {
  if (!sampler->ridge)
    return TEMPERA_OK;
  const tm_ridge_view *view = tm_ridge_look(sampler->ridge);
  tm_draws_ridge ridge = {view->absent ? 0 : view->knots, view->tau,
                          view->height};
  return tm_draws_set_ridge(sampler->draws, &ridge, error);
}
