/* st_method.c - st at run level: the ladder and its weights.
 *
 * Both begin from a first curve of log z(tau). By Geyer & Thompson's iteration
 * every warmup round ends with the weights divided by how much the levels were
 * occupied (Rao-Blackwell masses, gently: the learner of the continuous tau
 * prior does it) and the ladder spaced anew, evenly in the barrier. By Wang &
 * Landau's rule the ladder stays, each chain's weights follow its visits, and
 * rounds end with the mean over chains. After the last round all is frozen. */
#include "run/sampler.h"

#include "groups/st.h"

#include <math.h>

enum { DEFAULT_LEVELS = 20 };

typedef struct method_state {
  tm_learner *learner;
  size_t levels;
  double *tau, *log_weight;
  tempera_draws *round_draws; /* of this warmup round */
} method_state;

static method_state *state_of(const tempera_sampler *s) {
  return s->method_state;
}

static tm_st *st_of(const tempera_sampler *s, size_t chain) {
  return (tm_st *)s->groups[chain];
}

static bool by_visits(const tempera_sampler *s) {
  return s->options.weights == TEMPERA_WEIGHTS_WANG_LANDAU;
}

static size_t level_count(const tempera_sampler *s) {
  return s->options.levels ? s->options.levels : DEFAULT_LEVELS;
}

static tempera_status make_group(tempera_sampler *s, uint32_t chain,
                                 const double *start, double start_tau,
                                 tm_group **group, tempera_error *error) {
  (void)start_tau;
  tm_st_settings settings = {.kernel = s->options.kernel,
                             .move = s->options.tau_move,
                             .levels = level_count(s)};
  tm_st *st = NULL;
  TM_TRY(tm_st_create(s->model, &settings, s->options.seed, chain, start, &st,
                      error));
  st->learning = by_visits(s);
  *group = &st->group;
  return TEMPERA_OK;
}

static void hand_out(tempera_sampler *s) {
  for (size_t c = 0; c < s->options.chains; c++)
    tm_st_set_ladder(st_of(s, c), state_of(s)->tau, state_of(s)->log_weight);
}

static tempera_status record_levels(const tempera_sampler *s,
                                    tempera_draws *draws,
                                    tempera_error *error) {
  method_state *w = state_of(s);
  return tm_draws_set_levels(
      draws, &(tm_draws_levels){w->levels, w->tau, w->log_weight}, error);
}

/* The learner's curve: levels even in the barrier, weights 1/z. */
static void lay_out(tempera_sampler *s) {
  method_state *w = state_of(s);
  tm_learner_levels(w->learner, w->levels, w->tau, w->log_weight);
  for (size_t t = 0; t < w->levels; t++)
    w->log_weight[t] = -w->log_weight[t];
  hand_out(s);
}

static tempera_status make_state(tempera_sampler *s, tempera_error *error) {
  method_state *w = s->method_state = tm_heap_alloc(1, sizeof(method_state));
  if (!w)
    return tm_fail_memory(error);
  w->levels = level_count(s);
  w->tau = tm_heap_alloc(w->levels, sizeof(double));
  w->log_weight = tm_heap_alloc(w->levels, sizeof(double));
  if (!w->tau || !w->log_weight)
    return tm_fail_memory(error);
  return tm_round_create(s, &w->round_draws, error);
}

static tempera_status begin(tempera_sampler *s, tempera_error *error) {
  TM_TRY(make_state(s, error));
  TM_TRY(tm_landscape_begin(s, error));
  TM_TRY(tm_landscape_learner(s, true, &state_of(s)->learner, error));
  lay_out(s);
  return TEMPERA_OK;
}

static void keep(tempera_sampler *s, const tm_group *group) {
  tm_round_keep(s, state_of(s)->round_draws, group);
}

static void pass(tempera_sampler *s, size_t chain, size_t from, size_t to,
                 tm_archive *archive) {
  tm_round_pass(s, state_of(s)->round_draws, chain, from, to, archive);
}

/* Weights of the chains, each up to a constant. */
static void average(tempera_sampler *s) {
  method_state *w = state_of(s);
  double n = (double)s->options.chains;
  for (size_t t = 0; t < w->levels; t++) {
    w->log_weight[t] = 0;
    for (size_t c = 0; c < s->options.chains; c++) {
      const double *own_weight = st_of(s, c)->log_weight;
      w->log_weight[t] += (own_weight[t] - own_weight[0]) / n;
    }
  }
  hand_out(s);
}

static tempera_status end_round(tempera_sampler *s, bool last,
                                tempera_error *error) {
  method_state *w = state_of(s);
  TM_TRY(tm_landscape_end_round(s, last, error));
  if (by_visits(s)) {
    average(s);
    return TEMPERA_OK;
  }
  TM_TRY(record_levels(s, w->round_draws, error));
  TM_TRY(tm_round_learn(s, w->round_draws, &w->learner, error));
  lay_out(s);
  return TEMPERA_OK;
}

static tempera_status freeze(tempera_sampler *s, tempera_error *error) {
  for (size_t c = 0; c < s->options.chains; c++)
    st_of(s, c)->learning = false;
  return record_levels(s, s->draws, error);
}

static tempera_status archive(tempera_sampler *s, tm_archive *archive,
                              tempera_error *error) {
  if (archive->reading)
    TM_TRY(make_state(s, error));
  method_state *w = state_of(s);
  tm_learner_archive(&w->learner, archive);
  if (tm_archive_fine(archive) && !w->learner)
    tm_archive_fail(archive, "the ladder has nothing to stand on");
  for (size_t t = 0; t < w->levels; t++)
    tm_archive_unit(archive, &w->tau[t]);
  tm_archive_doubles(archive, w->log_weight, w->levels);
  tm_round_archive(s, w->round_draws, archive);
  return TEMPERA_OK;
}

static void release(tempera_sampler *s) {
  method_state *w = state_of(s);
  tm_learner_free(w->learner);
  tm_draws_free(w->round_draws);
  tm_heap_free(w->tau);
  tm_heap_free(w->log_weight);
}

const tm_method tm_method_st = {.tempered = true,
                                .levels = true,
                                .steady_width = true,
                                .make_group = make_group,
                                .begin = begin,
                                .keep = keep,
                                .pass = pass,
                                .end_round = end_round,
                                .freeze = freeze,
                                .release = release,
                                .archive = archive};
