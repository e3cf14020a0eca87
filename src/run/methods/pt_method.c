/* pt_method.c - pt at run level: the levels. With the adapted schedule they are
 * re-spaced after every warmup round to equal rejection rates, as pooled over
 * the chains, and their number follows the barrier unless it was given. */
#include "run/sampler.h"

#include "groups/pt.h"
#include "numeric/tau_ladder.h"

#include <math.h>
#include <string.h>

enum {
  FIRST_LEVELS = 12, /* before anything is known of the barrier */
  FEWEST_LEVELS = 4
};

typedef struct method_state {
  size_t count;
  double tau[TM_MOST_LEVELS], rejection[TM_MOST_LEVELS],
      barrier[TM_MOST_LEVELS];
} method_state;

static method_state *state_of(const tempera_sampler *s) {
  return s->method_state;
}

static tm_pt *pt_of(const tempera_sampler *s, size_t chain) {
  return (tm_pt *)s->groups[chain];
}

static bool adapted(const tempera_sampler *s) {
  return s->options.schedule == TEMPERA_SCHEDULE_ADAPTED;
}

static tempera_status make_group(tempera_sampler *s, uint32_t chain,
                                 const double *start, double start_tau,
                                 tm_group **group, tempera_error *error) {
  (void)start_tau;
  const tempera_options *o = &s->options;
  tm_pt_settings settings = {
      .swaps = o->swaps, .exchange = o->exchange, .kernel = o->kernel};
  tm_pt *pt = NULL;
  TM_TRY(tm_pt_create(s->model, &settings, o->seed, chain, start, &pt, error));
  *group = &pt->group;
  return TEMPERA_OK;
}

static tempera_status begin(tempera_sampler *s, tempera_error *error) {
  const tempera_options *o = &s->options;
  method_state *w = s->method_state = tm_heap_alloc(1, sizeof *w);
  if (!w)
    return tm_fail_memory(error);
  TM_TRY(tm_landscape_begin(s, error));
  w->count = o->levels ? o->levels : FIRST_LEVELS;
  tm_ladder_power(w->tau, w->count, adapted(s), o->tau_min);
  for (size_t c = 0; c < o->chains; c++)
    TM_TRY(tm_pt_set_levels(pt_of(s, c), w->tau, w->count, NULL, NULL, error));
  return TEMPERA_OK;
}

static void pool_rejections(const tempera_sampler *s) {
  method_state *w = state_of(s);
  for (size_t t = 0; t + 1 < w->count; t++) {
    double accept = 0, sweeps = 0;
    for (size_t c = 0; c < s->options.chains; c++) {
      accept += pt_of(s, c)->accept[t];
      sweeps += pt_of(s, c)->sweeps;
    }
    w->rejection[t] = sweeps > 0 ? 1 - accept / sweeps : 0;
  }
  tm_ladder_barrier(w->rejection, w->count, w->barrier);
}

/* The last round's number of levels is the run's: points that have just been
 * copied from their neighbours would not be independent yet. */
static size_t levels_wanted(const tempera_sampler *s, bool last) {
  const method_state *w = state_of(s);
  if (s->options.levels || last)
    return w->count;
  size_t wanted = tm_ladder_count(w->barrier[w->count - 1]);
  wanted = wanted < FEWEST_LEVELS ? FEWEST_LEVELS : wanted;
  return wanted > TM_MOST_LEVELS ? TM_MOST_LEVELS : wanted;
}

static tempera_status respace(tempera_sampler *s, bool last,
                              tempera_error *error) {
  method_state *w = state_of(s);
  double fresh[TM_MOST_LEVELS], place[TM_MOST_LEVELS];
  pool_rejections(s);
  size_t wanted = levels_wanted(s, last);
  tm_ladder_respace(w->tau, w->barrier, w->count, fresh, wanted, place);
  for (size_t c = 0; c < s->options.chains; c++)
    TM_TRY(
        tm_pt_set_levels(pt_of(s, c), fresh, wanted, w->barrier, place, error));
  w->count = wanted;
  memcpy(w->tau, fresh, wanted * sizeof(double));
  return TEMPERA_OK;
}

static tempera_status end_round(tempera_sampler *s, bool last,
                                tempera_error *error) {
  TM_TRY(tm_landscape_end_round(s, last, error));
  return adapted(s) ? respace(s, last, error) : TEMPERA_OK;
}

/* A sweep costs as much as its levels: as many fewer are the most. */
static void shorten(tempera_sampler *s) {
  size_t most = 2 * s->options.iterations / state_of(s)->count;
  if (s->automatic)
    s->options.iterations = most > 2000 ? most : 2000;
}

static tempera_status freeze(tempera_sampler *s, tempera_error *error) {
  const method_state *w = state_of(s);
  tm_draws_levels levels = {w->count, w->tau, NULL};
  s->draws->width = w->count;
  s->options.levels = w->count;
  shorten(s);
  return tm_draws_set_levels(s->draws, &levels, error);
}

static tempera_status archive(tempera_sampler *s, tm_archive *archive,
                              tempera_error *error) {
  if (archive->reading)
    s->method_state = tm_heap_alloc(1, sizeof(method_state));
  method_state *w = state_of(s);
  if (!w)
    return tm_fail_memory(error);
  tm_archive_count(archive, &w->count, TM_MOST_LEVELS);
  for (size_t t = 0; t < w->count; t++)
    tm_archive_unit(archive, &w->tau[t]);
  if (tm_archive_fine(archive) && w->count < 2)
    tm_archive_fail(archive, "there are no levels");
  for (size_t c = 0;
       archive->reading && tm_archive_fine(archive) && c < s->options.chains;
       c++)
    TM_TRY(tm_pt_set_levels(pt_of(s, c), w->tau, w->count, NULL, NULL, error));
  return TEMPERA_OK;
}

const tm_method tm_method_pt = {.target = true,
                                .tempered = true,
                                .levels = true,
                                .make_group = make_group,
                                .begin = begin,
                                .end_round = end_round,
                                .freeze = freeze,
                                .archive = archive};
