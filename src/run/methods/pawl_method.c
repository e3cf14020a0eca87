/* pawl_method.c - pawl at run level: the first bins, and the mean of what the
 * groups' walkers learned at the end of each warmup round. */
#include "run/sampler.h"

#include "groups/pawl.h"

#include <math.h>

enum { FIRST_BINS = 10, DEFAULT_WALKERS = 8 };

typedef struct method_state {
  tm_arena *arena;
  tm_tau_bins bins;
  tm_tau_bins **list; /* the groups' */
} method_state;

static method_state *state_of(const tempera_sampler *s) {
  return s->method_state;
}

static tm_pawl *pawl_of(const tempera_sampler *s, size_t chain) {
  return (tm_pawl *)s->groups[chain];
}

static tempera_status make_group(tempera_sampler *s, uint32_t chain,
                                 const double *start, double start_tau,
                                 tm_group **group, tempera_error *error) {
  const tempera_options *o = &s->options;
  tm_pawl_settings settings = {.kernel = o->kernel,
                               .walkers =
                                   o->walkers ? o->walkers : DEFAULT_WALKERS};
  tm_pawl *pawl = NULL;
  TM_TRY(tm_pawl_create(s->model, &settings, o->seed, chain, start, start_tau,
                        &pawl, error));
  *group = &pawl->group;
  return TEMPERA_OK;
}

/* Bins at (b/n)^5, each (and the atom) as heavy as the others if the first
 * curve of log z were right. */
static void first_bins(tempera_sampler *s, tm_tau_bins *bins) {
  double low = s->options.tau_min;
  size_t asked = s->options.levels ? s->options.levels : FIRST_BINS;
  bins->count = asked < bins->capacity / 4 ? asked : bins->capacity / 4;
  for (size_t b = 0; b <= bins->count; b++)
    bins->edge[b] = low + (1 - low) * pow((double)b / (double)bins->count, 5);
  for (size_t b = 0; b < bins->count; b++) {
    double a = bins->edge[b], c = bins->edge[b + 1];
    double log_z = fmax(tm_landscape_log_z(s, a), tm_landscape_log_z(s, c));
    bins->log_density[b] = -log_z - log(c - a);
  }
  bins->log_atom = low > 0 ? -INFINITY : -tm_landscape_log_z(s, 0);
}

static void hand_out(tempera_sampler *s) {
  for (size_t c = 0; c < s->options.chains; c++)
    tm_pawl_set_bins(pawl_of(s, c), &state_of(s)->bins);
}

static tempera_status make_state(tempera_sampler *s, tempera_error *error) {
  method_state *w = s->method_state = tm_heap_alloc(1, sizeof(method_state));
  if (!w)
    return tm_fail_memory(error);
  w->arena = tm_arena_create();
  w->list =
      w->arena ? TM_NEW(w->arena, tm_tau_bins *, s->options.chains) : NULL;
  if (!w->list)
    return tm_fail_memory(error);
  for (size_t c = 0; c < s->options.chains; c++)
    w->list[c] = &pawl_of(s, c)->bins;
  return tm_tau_bins_create(w->arena, TM_PAWL_CAPACITY, &w->bins, error);
}

static tempera_status begin(tempera_sampler *s, tempera_error *error) {
  TM_TRY(make_state(s, error));
  TM_TRY(tm_landscape_begin(s, error));
  first_bins(s, &state_of(s)->bins);
  hand_out(s);
  return TEMPERA_OK;
}

static tempera_status end_round(tempera_sampler *s, bool last,
                                tempera_error *error) {
  tm_tau_bins_average(state_of(s)->list, s->options.chains, &state_of(s)->bins);
  hand_out(s);
  return tm_landscape_end_round(s, last, error);
}

static tempera_status freeze(tempera_sampler *s, tempera_error *error) {
  method_state *w = state_of(s);
  tm_tau_prior prior;
  for (size_t c = 0; c < s->options.chains; c++)
    pawl_of(s, c)->learning = false;
  tm_tau_bins_tabulate(&w->bins, &prior);
  s->draws->width = pawl_of(s, 0)->settings.walkers;
  tm_draws_prior record = {.knots = prior.log_prior.count,
                           .tau = prior.log_prior.x,
                           .log_prior = prior.log_prior.y,
                           .log_atom = prior.log_prior.log_atom,
                           .steps = true};
  return tm_draws_set_prior(s->draws, &record, error);
}

static tempera_status archive(tempera_sampler *s, tm_archive *archive,
                              tempera_error *error) {
  if (archive->reading)
    TM_TRY(make_state(s, error));
  tm_tau_bins_archive(&state_of(s)->bins, archive);
  if (state_of(s)->bins.count == 0)
    tm_archive_fail(archive, "there are no bins of tau");
  else if (archive->reading)
    hand_out(s);
  return TEMPERA_OK;
}

static void release(tempera_sampler *s) { tm_arena_free(state_of(s)->arena); }

const tm_method tm_method_pawl = {.tempered = true,
                                  .levels = true,
                                  .make_group = make_group,
                                  .begin = begin,
                                  .end_round = end_round,
                                  .freeze = freeze,
                                  .release = release,
                                  .archive = archive};
