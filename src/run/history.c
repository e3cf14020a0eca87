/* history.c - see history.h. */
#include "run/sampler.h"

#include "paper/paper_ridge.h"
#include "parallel/threads.h"

#include <string.h>

/* More than a run can have: searches come after twice as many sweeps. */
enum { MOST_DEEDS = 1000 };
enum { MANY = 16 }; /* dimensions in which a ridge becomes dear */

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

static tempera_status make_laplace(tempera_sampler *s, tempera_error *error) {
  const tempera_options *o = &s->options;
  TM_TRY(need_store(s, error));
  TM_TRY(tm_laplace_create(s->store, o->tau_min, &s->laplace, error));
  for (size_t c = 0; c < o->chains && o->jumps; c++)
    tm_group_set_laplace(s->groups[c], s->laplace);
  return TEMPERA_OK;
}

/* Where the ridge is not the tau prior but a picture beside the draws, it need
 * not be finer than they are: l varies by sqrt(d/2), and in many dimensions a
 * knot costs Hessians (83 knots of a regression with 90 parameters took 39 000
 * gradients, a tenth of the run). */
static double gap_of(const tempera_sampler *s) {
  double many = (double)s->model->real_dimension / MANY;
  bool needed = s->options.tau_prior == TEMPERA_PRIOR_PROFILE;
  return needed || many <= 1 ? 0 : TM_RIDGE_GAP * many * many;
}

static tempera_status make_ridge(tempera_sampler *s, tempera_error *error) {
  tm_ridge_settings settings = {s->options.tau_min, gap_of(s)};
  TM_TRY(tm_ridge_create(s->store, &settings, &s->ridge, error));
  return tm_paper_ridge(s->ridge, s->options.ridge, error);
}

static tempera_status act(tempera_sampler *s, const tm_deed *deed,
                          tempera_error *error) {
  switch (deed->kind) {
  case TM_DO_LAPLACE:
    return make_laplace(s, error);
  case TM_DO_RIDGE:
    return make_ridge(s, error);
  case TM_DO_IMPROVE:
    return tm_laplace_improve(s->laplace, deed->points, deed->count, NULL,
                              error);
  case TM_DO_SEARCH:
    return tm_laplace_search(s->laplace, deed->looks, deed->evaluations,
                             deed->points, deed->count, error);
  case TM_DO_IMPROVE_RIDGE:
    TM_TRY(tm_ridge_improve(s->ridge, deed->points, deed->count, error));
    return tm_paper_ridge(s->ridge, s->options.ridge, error);
  default:
    tm_laplace_freeze(s->laplace);
    return TEMPERA_OK;
  }
}

static tempera_status remember(tm_history *history, size_t size,
                               const tm_deed *deed, tempera_error *error) {
  if (!tm_list_room(&history->deeds, history->count, &history->capacity,
                    sizeof *deed))
    return tm_fail_memory(error);
  double *points = tm_heap_alloc(deed->count * size + 1, sizeof *points);
  if (!points)
    return tm_fail_memory(error);
  if (deed->count)
    memcpy(points, deed->points, deed->count * size * sizeof *points);
  tm_deed *slot = &history->deeds[history->count++];
  *slot = *deed;
  slot->points = points;
  return TEMPERA_OK;
}

tempera_status tm_landscape_do(tempera_sampler *sampler, const tm_deed *deed,
                               tempera_error *error) {
  TM_TRY(act(sampler, deed, error));
  return remember(&sampler->history, sampler->model->size, deed, error);
}

/* A deed as written, and that it can be done: a ridge is made once, and before
 * anything is done to it, the natural one on the store that the other has
 * filled. */
static void archive_deed(const tempera_sampler *s, tm_deed *deed,
                         double **points, tm_archive *archive) {
  size_t kind = deed->kind, values = deed->count * s->model->size;
  tm_archive_index(archive, &kind, TM_DO_KINDS);
  tm_archive_u64(archive, &deed->looks);
  tm_archive_u64(archive, &deed->evaluations);
  tm_archive_grown(archive, points, &values, SIZE_MAX / sizeof(double) - 1);
  if (!archive->reading || !tm_archive_fine(archive))
    return;
  deed->kind = (tm_deed_kind)kind;
  deed->count = s->model->size ? values / s->model->size : 0;
  deed->points = *points;
  bool making = kind == TM_DO_LAPLACE || kind == TM_DO_RIDGE;
  bool natural = kind == TM_DO_RIDGE || kind == TM_DO_IMPROVE_RIDGE;
  bool there = natural ? s->ridge != NULL : s->laplace != NULL;
  if (making == there || (natural && !s->store) || !tm_search_possible(s, deed))
    tm_archive_fail(archive, "the ridge has an impossible history");
}

static tempera_status redo(tempera_sampler *s, size_t count,
                           tm_archive *archive, tempera_error *error) {
  for (size_t i = 0; i < count; i++) {
    tm_deed deed = {0};
    double *points = NULL;
    tempera_status status = TEMPERA_OK;
    archive_deed(s, &deed, &points, archive);
    if (tm_archive_fine(archive))
      status = tm_landscape_do(s, &deed, error);
    tm_heap_free(points);
    TM_TRY(status);
    if (!tm_archive_fine(archive))
      break; /* the caller hears of it */
  }
  return TEMPERA_OK;
}

tempera_status tm_history_archive(tempera_sampler *sampler, tm_archive *archive,
                                  tempera_error *error) {
  tm_history *history = &sampler->history;
  size_t count = history->count;
  tm_archive_tag(archive, "landscape");
  tm_archive_count(archive, &count, MOST_DEEDS);
  if (archive->reading)
    return tm_archive_fine(archive) ? redo(sampler, count, archive, error)
                                    : TEMPERA_OK;
  for (size_t i = 0; i < count; i++) {
    tm_deed deed = history->deeds[i];
    double *points = (double *)(uintptr_t)deed.points;
    archive_deed(sampler, &deed, &points, archive);
  }
  return TEMPERA_OK;
}

void tm_history_free(tm_history *history) {
  for (size_t i = 0; i < history->count; i++)
    tm_heap_free((void *)(uintptr_t)history->deeds[i].points);
  tm_heap_free(history->deeds);
  *history = (tm_history){0};
}
