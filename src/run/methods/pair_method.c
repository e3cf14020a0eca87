/* pair_method.c - pt-stwnc and stwnc at run level: the tau prior, from the
 * ridge or from a curve of log z that is refined in warmup rounds (method
 * 4.2). After the last round P(tau) is fixed. */
#include "run/sampler.h"

#include "groups/pair.h"

#include <math.h>
#include <string.h>

enum { MEMORY = 20000 }; /* optima kept per chain by the exact ridge */

typedef struct method_state {
  tm_learner *learner; /* of priors by a curve of log z, else NULL */
  tm_tau_prior prior;
  tempera_draws *round_draws; /* of this warmup round, for the learner */
} method_state;

static method_state *state_of(const tempera_sampler *s) {
  return s->method_state;
}

static tm_pair *pair_of(const tempera_sampler *s, size_t chain) {
  return (tm_pair *)s->groups[chain];
}

/* Priors that are not the ridge upside down go by a curve of log z. */
static bool by_curve(const tempera_sampler *s) {
  return s->options.tau_prior != TEMPERA_PRIOR_PROFILE;
}

static bool learning(const tempera_sampler *s) {
  return s->options.tau_prior == TEMPERA_PRIOR_LEARNED;
}

/* Tabulate P(tau) and hand it to every pair. */
static tempera_status update_prior(tempera_sampler *s, tempera_error *error) {
  const tempera_options *o = &s->options;
  method_state *w = state_of(s);
  if (w->learner)
    TM_TRY(tm_learner_prior(w->learner, &w->prior, error));
  else
    TM_TRY(tm_tau_prior_profile(s->ridge, o->tau_min, &w->prior, error));
  for (size_t c = 0; c < o->chains; c++)
    TM_TRY(tm_pair_set_prior(pair_of(s, c), s->ridge, &w->prior, error));
  return TEMPERA_OK;
}

static tempera_status record_prior(const tempera_sampler *s,
                                   tempera_draws *draws, tempera_error *error) {
  const tm_loglinear *log_prior = &state_of(s)->prior.log_prior;
  tm_draws_prior prior = {.knots = log_prior->count,
                          .tau = log_prior->x,
                          .log_prior = log_prior->y,
                          .log_atom = log_prior->log_atom};
  return tm_draws_set_prior(draws, &prior, error);
}

static tempera_status make_group(tempera_sampler *s, uint32_t chain,
                                 const double *start, double start_tau,
                                 tm_group **group, tempera_error *error) {
  const tempera_options *o = &s->options;
  tm_pair_settings settings = {
      .method = o->method,
      .exchange_replaces = o->paper,
      .exchange = o->exchange,
      .tau_move = o->tau_move,
      .tau_scale = o->tau_scale,
      .kernel = o->kernel,
      .memory = o->ridge == TEMPERA_RIDGE_EXACT ? MEMORY : 0};
  tm_pair *pair = NULL;
  TM_TRY(tm_pair_create(s->model, &settings, o->seed, chain, start, start_tau,
                        &pair, error));
  *group = &pair->group;
  return TEMPERA_OK;
}

/* Where annealing ended is a better start than a draw from the prior. */
static void place(tempera_sampler *s, bool target) {
  for (size_t c = 0; c < s->options.chains; c++)
    tm_pair_place(pair_of(s, c), s->annealed + c * s->model->size, target);
}

/* Less likely than all ends of annealing by more than any posterior varies: a
 * draw of a prior so diffuse that no move leads from there. */
static const double LOST = 100, LOST_EACH = 5;

static bool is_lost(const tempera_sampler *s, const tm_point *target) {
  double least = INFINITY;
  for (size_t c = 0; c < s->options.chains; c++)
    least = fmin(least, pair_of(s, c)->tempered.log_likelihood);
  return target->log_likelihood <
         least - LOST - LOST_EACH * (double)s->model->dimension;
}

static void place_lost(tempera_sampler *s) {
  for (size_t c = 0; c < s->options.chains; c++)
    if (is_lost(s, &pair_of(s, c)->target))
      tm_pair_place(pair_of(s, c), s->annealed + c * s->model->size, true);
}

/* ------------------------------------------------------------------------
 * The beginning
 */

static tempera_status begin(tempera_sampler *s, tempera_error *error) {
  s->method_state = tm_heap_alloc(1, sizeof(method_state));
  if (!s->method_state)
    return tm_fail_memory(error);
  TM_TRY(tm_landscape_laplace(s, by_curve(s) && !learning(s), error));
  TM_TRY(tm_landscape_ridge(s, !by_curve(s), error));
  if (by_curve(s))
    TM_TRY(tm_landscape_learner(s, learning(s), &state_of(s)->learner, error));
  if (s->annealed && !s->init_given)
    place(s, true);
  if (learning(s))
    TM_TRY(tm_round_create(s, &state_of(s)->round_draws, error));
  TM_TRY(tm_leg_begin(s, error));
  return update_prior(s, error);
}

/* ------------------------------------------------------------------------
 * Rounds
 */

static void keep(tempera_sampler *s, const tm_group *group) {
  if (learning(s))
    tm_round_keep(s, state_of(s)->round_draws, group);
  if (s->leg)
    tm_leg_keep(s, group);
}

static void pass(tempera_sampler *s, size_t chain, size_t from, size_t to,
                 tm_archive *archive) {
  if (learning(s))
    tm_round_pass(s, state_of(s)->round_draws, chain, from, to, archive);
  if (s->leg)
    tm_leg_pass(s, chain, from, to, archive);
}

/* Points that rose above the ridge since the last round, in chain order. */
static tempera_status improve_ridge(tempera_sampler *s, bool *improved,
                                    tempera_error *error) {
  size_t size = s->model->size, count = 0;
  double *points = tm_heap_alloc(s->options.chains * size, sizeof(double));
  if (!points)
    return tm_fail_memory(error);
  for (size_t c = 0; c < s->options.chains; c++) {
    tm_pair *pair = pair_of(s, c);
    if (pair->worst_excess > TM_RIDGE_GAP)
      memcpy(points + count++ * size, pair->worst_theta, size * sizeof(double));
    pair->worst_excess = 0;
  }
  tempera_status status = TEMPERA_OK;
  tm_deed improve = {
      .kind = TM_DO_IMPROVE_RIDGE, .count = count, .points = points};
  if (count)
    status = tm_landscape_do(s, &improve, error);
  *improved = count > 0;
  tm_heap_free(points);
  return status;
}

static tempera_status learn(tempera_sampler *s, bool last,
                            tempera_error *error) {
  method_state *w = state_of(s);
  TM_TRY(tm_landscape_end_round(s, last, error));
  TM_TRY(record_prior(s, w->round_draws, error));
  bool annealed = s->annealed != NULL;
  TM_TRY(tm_round_learn(s, w->round_draws, &w->learner, error));
  if (s->annealed && !annealed) {
    place(s, false);
    place_lost(s);
  }
  return TEMPERA_OK;
}

static tempera_status end_round(tempera_sampler *s, bool last,
                                tempera_error *error) {
  bool improved = false;
  if (s->options.ridge != TEMPERA_RIDGE_EXACT && !s->ridge->view.absent)
    TM_TRY(improve_ridge(s, &improved, error));
  TM_TRY(tm_leg_count_trips(s, error));
  if (learning(s))
    TM_TRY(learn(s, last, error));
  TM_TRY(tm_leg_end_round(s, last, error));
  return learning(s) || improved ? update_prior(s, error) : TEMPERA_OK;
}

static tempera_status freeze(tempera_sampler *s, tempera_error *error) {
  for (size_t c = 0; c < s->options.chains; c++)
    pair_of(s, c)->frozen = true;
  TM_TRY(tm_leg_freeze(s, error));
  return record_prior(s, s->draws, error);
}

/* Draws of a chain above the ridge, once while they are repeated: visits. */
static size_t count_beaten(const tempera_sampler *s, tempera_role role,
                           size_t chain) {
  const double *l = tempera_draws_log_likelihood(s->draws, role, chain);
  const double *prior = tempera_draws_log_prior(s->draws, role, chain);
  size_t rows = tempera_draws_rows(s->draws, role), beaten = 0;
  for (size_t i = 0; i < rows; i++)
    beaten += (i == 0 || l[i] != l[i - 1]) &&
              tm_ridge_excess(s->ridge, l[i], prior[i]) > TM_RIDGE_GAP;
  return beaten;
}

static tempera_status describe(const tempera_sampler *s,
                               tempera_summary *summary) {
  if (s->options.ridge == TEMPERA_RIDGE_EXACT || s->ridge->view.absent)
    return TEMPERA_OK;
  for (size_t c = 0; c < s->options.chains; c++)
    summary->ridge_beaten += count_beaten(s, TEMPERA_TARGET, c) +
                             count_beaten(s, TEMPERA_TEMPERED, c);
  return TEMPERA_OK;
}

static tempera_status archive(tempera_sampler *s, tm_archive *archive,
                              tempera_error *error) {
  if (archive->reading)
    s->method_state = tm_heap_alloc(1, sizeof(method_state));
  method_state *w = state_of(s);
  if (!w)
    return tm_fail_memory(error);
  if (archive->reading && learning(s))
    TM_TRY(tm_round_create(s, &w->round_draws, error));
  tm_learner_archive(&w->learner, archive);
  if (learning(s))
    tm_round_archive(s, w->round_draws, archive);
  if (archive->reading && (!s->ridge || by_curve(s) != (w->learner != NULL)))
    tm_archive_fail(archive, "the tau prior has nothing to stand on");
  if (archive->reading && tm_archive_fine(archive))
    TM_TRY(update_prior(s, error));
  return TEMPERA_OK;
}

static void release(tempera_sampler *s) {
  method_state *w = state_of(s);
  tm_tau_prior_free(&w->prior);
  tm_draws_free(w->round_draws);
  tm_learner_free(w->learner);
}

/* They differ by the target chain alone. */
#define PAIR(has_target)                                                       \
  {                                                                            \
    .target = has_target, .tempered = true, .steady_width = true,              \
    .make_group = make_group, .begin = begin, .keep = keep, .pass = pass,      \
    .end_round = end_round, .freeze = freeze, .describe = describe,            \
    .release = release, .archive = archive                                     \
  }

const tm_method tm_method_pt_stwnc = PAIR(true);
const tm_method tm_method_stwnc = PAIR(false);
