/* predicting.c - see estimate/predictions.h: who draws, and when. */
#include "run/predicting.h"

#include "parallel/threads.h"
#include "run/outcomes.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Draws used, and numbers held at once: terms that do not fit are evaluated
 * once more for each further block. Of more than MOST_TERMS terms a random
 * choice is left out one by one, whose numbers fit into one block. */
enum {
  MOST_DRAWS = 2000,
  FEWEST_DRAWS = 500,
  MOST_NUMBERS = 1 << 24,
  MOST_TERMS = 50000,
  CHOSEN_TERMS = 16000,
  MOST_ELEMENTS = 50000, /* kept of the data */
  MOST_CHAINS = 64,
  KEPT_ROWS = 400,
  KEPT_NUMBERS = 500000,
  PRIOR_ROWS = 1000
};

static size_t draw_count(const tm_maker *m) { return m->chains * m->rows; }

static size_t used_terms(const tm_maker *m) {
  return m->choose ? m->choice.used : m->terms;
}

/* The i-th of those used in the block at hand. */
static size_t term_of(const tm_maker *m, size_t i) {
  return m->choose ? m->choice.term[m->use_first + i] : m->first + i;
}

/* The numbers that are kept of a whole data set. */
static void keep(const tm_maker *m, const double *whole, double *to) {
  for (size_t e = 0; e < m->out->size; e++)
    to[e] = whole[m->kept ? m->kept[e] : e];
}

/* ---- at the draws ---------------------------------------------------------
 */

static const double *theta_at(tm_maker *m, size_t chain, size_t row) {
  tm_quantities *q = &m->each[chain];
  for (size_t i = 0; i < m->sampler->model->size; i++)
    q->theta[i] =
        tm_draws_column(m->draws, TEMPERA_TARGET, chain, i)[row * m->stride];
  return q->theta;
}

static bool own_terms(tm_maker *m, size_t chain, size_t row, double *to) {
  tm_draw_place place = {.draws = m->draws,
                         .role = TEMPERA_TARGET,
                         .chain = chain,
                         .row = row * m->stride};
  const double *values = tm_quantities_row(&m->each[chain], &place);
  memcpy(to, values + m->own_first + m->first, m->count * sizeof *to);
  return true;
}

static bool terms_at(tm_maker *m, size_t chain, size_t row, double *to) {
  if (m->own_count)
    return own_terms(m, chain, row, to);
  tm_points_wanted w = {.first = m->first, .room = m->count, .values = to};
  return tm_points_at(&m->each[chain].evaluator, theta_at(m, chain, row), &w) &&
         w.count == m->terms;
}

/* The program's own replicated data take the place of those drawn. */
static void put_own(const tm_maker *m, const double *quantities,
                    double *whole) {
  for (size_t e = 0; m->own_data && e < m->model.replicas.size; e++)
    if (m->own_data[e] != SIZE_MAX)
      whole[e] = quantities[m->own_data[e]];
}

static bool data_at(tm_maker *m, size_t chain, size_t row) {
  double ignored;
  tm_replicas r = {.drawn = m->whole[chain], .room = m->model.replicas.size};
  tempera_random random =
      tm_random_part(tm_seed_of(&m->sampler->options), (uint32_t)chain,
                     TM_PURPOSE_REPLICATE, (uint32_t)(row * m->stride));
  if (!tm_replicate_at(&m->each[chain].evaluator, theta_at(m, chain, row),
                       &random, &r, &ignored))
    return false;
  tm_draw_place place = {.draws = m->draws,
                         .role = TEMPERA_TARGET,
                         .chain = chain,
                         .row = row * m->stride};
  if (m->own_data)
    put_own(m, tm_quantities_row(&m->each[chain], &place), m->whole[chain]);
  return true;
}

/* What the first block keeps of a draw's data. */
static void note_data(tm_maker *m, size_t chain, size_t row) {
  tempera_predictions *out = m->out;
  size_t draw = chain * m->rows + row, v = out->replicas.count;
  for (size_t i = 0; i < v; i++) {
    const tm_replica *r = &m->model.replicas.each[i];
    tm_statistics(m->whole[chain] + r->first, m->model.term + r->first,
                  r->count, m->statistics + (draw * v + i) * TM_STATISTICS);
  }
  if (row % m->every == 0 && row / m->every < out->rows_each)
    keep(m, m->whole[chain],
         out->values + (chain * out->rows_each + row / m->every) * out->size);
}

/* Mean and sum of squares so far (Welford), after `rows` rows of the chain. */
static void add_near(tm_maker *m, size_t chain, const double *line,
                     size_t rows) {
  tm_loo_near *near = m->near + chain * m->count;
  for (size_t i = 0; i < m->count; i++) {
    double off = line[i] - near[i].mean;
    near[i].mean += off / (double)rows;
    near[i].variance += off * (line[i] - near[i].mean);
  }
}

/* Of the whole data: the i-th of those with a term. */
static size_t element_of(const tm_maker *m, size_t i) {
  return m->kept ? m->kept[m->elements[i]] : m->elements[i];
}

static void visit_chain(size_t chain, void *context) {
  tm_maker *m = context;
  double *terms = m->work[chain].values;
  size_t n = draw_count(m);
  bool data = m->out->size > 0 && (m->begin || m->block_count);
  double *line = m->count > 3 * n ? NULL : terms;
  double *own = line ? NULL : tm_heap_alloc(m->count, sizeof *own);
  line = line ? line : own;
  for (size_t row = 0; row < m->rows && !m->failed[chain]; row++) {
    size_t draw = chain * m->rows + row;
    m->failed[chain] = !line || (m->count && !terms_at(m, chain, row, line)) ||
                       (data && !data_at(m, chain, row));
    if (m->failed[chain])
      break;
    for (size_t i = 0; i < m->use_count; i++)
      m->log_lik[i * n + draw] = line[term_of(m, i) - m->first];
    if (m->choose)
      add_near(m, chain, line, row + 1);
    if (data && m->begin)
      note_data(m, chain, row);
    for (size_t i = 0; i < m->block_count; i++)
      m->replicated[i * n + draw] = m->whole[chain][element_of(m, m->at + i)];
  }
  tm_heap_free(own);
}

/* ---- term by term ---------------------------------------------------------
 */

/* P(y_rep < y | the others), equal values counting half. */
static double pit_of(const tm_maker *m, size_t k, const double *weights) {
  double y = m->out->replicas.observed[m->elements[m->at + k]], sum = 0;
  const double *drawn = m->replicated + k * draw_count(m);
  for (size_t s = 0; s < draw_count(m); s++)
    sum += exp(weights[s]) * (drawn[s] < y ? 1 : drawn[s] == y ? 0.5 : 0);
  return sum;
}

static void finish_terms(size_t piece, void *context) {
  tm_maker *m = context;
  size_t from = m->use_count * piece / m->chains;
  size_t to = m->use_count * (piece + 1) / m->chains, k = 0;
  for (size_t i = from; i < to; i++) {
    const double *column = m->log_lik + i * draw_count(m);
    size_t term = term_of(m, i);
    m->results[m->use_first + i] =
        tm_loo_term_of(column, m->chains, m->rows, &m->work[piece]);
    while (k < m->block_count &&
           (size_t)m->out->term[m->elements[m->at + k]] < term)
      k++;
    for (; k < m->block_count &&
           (size_t)m->out->term[m->elements[m->at + k]] == term;
         k++)
      m->out->pit[m->elements[m->at + k]] =
          pit_of(m, k, m->work[piece].weights);
  }
}

static void take_elements(tm_maker *m) {
  m->at += m->block_count;
  m->block_count = 0;
  while (m->out->pit && m->at + m->block_count < m->element_count &&
         (size_t)m->out->term[m->elements[m->at + m->block_count]] <
             m->first + m->count)
    m->block_count++;
}

static void take_uses(tm_maker *m) {
  m->use_first += m->use_count;
  m->use_count = m->choose ? 0 : m->count;
  while (m->choose && m->use_first + m->use_count < m->choice.used &&
         m->choice.term[m->use_first + m->use_count] < m->first + m->count)
    m->use_count++;
}

/* The chains together, term by term. */
static void finish_near(tm_maker *m) {
  double rows = (double)m->rows, n = (double)draw_count(m);
  for (size_t i = 0, use = 0; i < m->count; i++) {
    tm_loo_near all = {0};
    for (size_t c = 0; c < m->chains; c++)
      all.mean += m->near[c * m->count + i].mean / (double)m->chains;
    for (size_t c = 0; c < m->chains; c++) {
      const tm_loo_near *one = &m->near[c * m->count + i];
      double off = one->mean - all.mean;
      all.variance += (one->variance + rows * off * off) / (n - 1);
    }
    bool used = use < m->use_count && term_of(m, use) == m->first + i;
    tm_loo_add_near(&m->choice, all, used ? m->use_first + use : SIZE_MAX);
    use += used;
  }
}

static bool any_failed(const tm_maker *m) {
  for (size_t c = 0; c < m->chains; c++)
    if (m->failed[c])
      return true;
  return false;
}

static tempera_status run_blocks(tm_maker *m, tempera_error *error) {
  size_t n = draw_count(m);
  size_t width = MOST_NUMBERS / (m->choose     ? 3 * m->chains
                                 : m->out->pit ? 2 * n
                                               : n);
  width = width < m->terms ? width : m->terms;
  size_t columns = m->choose ? m->choice.used : width;
  m->log_lik = TM_NEW(m->arena, double, columns *n + 1);
  m->near = m->choose ? TM_NEW(m->arena, tm_loo_near, m->chains * width) : NULL;
  if (!m->log_lik || (m->choose && !m->near))
    return tm_fail_memory(error);
  m->begin = true;
  for (m->first = 0; m->begin || m->first < m->terms; m->first += m->count) {
    m->count = m->terms - m->first < width ? m->terms - m->first : width;
    take_elements(m);
    take_uses(m);
    if (m->near)
      memset(m->near, 0, m->chains * m->count * sizeof *m->near);
    m->replicated = tm_heap_alloc(m->block_count * n + 1, sizeof(double));
    if (!m->replicated)
      return tm_fail_memory(error);
    tm_parallel_for(m->chains, tm_threads(m->sampler->options.threads),
                    visit_chain, m);
    if (!any_failed(m))
      tm_parallel_for(m->chains, tm_threads(m->sampler->options.threads),
                      finish_terms, m);
    if (!any_failed(m) && m->choose)
      finish_near(m);
    tm_heap_free(m->replicated);
    m->begin = false;
    if (any_failed(m) || m->count == 0)
      break;
  }
  return TEMPERA_OK;
}

/* ---- the prior ------------------------------------------------------------
 */

/* Tempered draws at tau = 0, which a model has that cannot be drawn from. */
typedef struct atoms {
  size_t count, chain, row, seen;
} atoms;

static bool at_zero(const tm_maker *m, size_t chain, size_t row) {
  return tempera_draws_tau(m->draws, TEMPERA_TEMPERED, chain)[row] == 0;
}

static atoms count_atoms(const tm_maker *m) {
  atoms found = {0};
  bool drawn = m->sampler->model->spec.prior_draw && !m->sampler->model->law;
  if (drawn || !m->draws->has_role[TEMPERA_TEMPERED] ||
      m->draws->bare[TEMPERA_TEMPERED] || m->draws->tau_min > 0)
    return found;
  for (size_t c = 0; c < m->chains; c++)
    for (size_t i = 0; i < tm_draws_rows(m->draws, TEMPERA_TEMPERED); i++)
      found.count += at_zero(m, c, i);
  return found;
}

/* The next that is the `wanted`-th or later of them. */
static bool next_atom(const tm_maker *m, atoms *a, size_t wanted,
                      double *theta) {
  for (; a->chain < m->chains; a->chain++, a->row = 0)
    for (; a->row < tm_draws_rows(m->draws, TEMPERA_TEMPERED); a->row++) {
      if (!at_zero(m, a->chain, a->row) || a->seen++ < wanted)
        continue;
      tm_draws_take(m->draws, TEMPERA_TEMPERED, a->chain, a->row++,
                    m->sampler->model->size, theta);
      return true;
    }
  return false;
}

/* Parameters of the i-th of `rows`. */
static bool prior_theta(tm_maker *m, atoms *a, size_t i, size_t rows,
                        tempera_random *random, double *theta) {
  const tempera_model *model = m->sampler->model;
  if (a->count)
    return next_atom(m, a, i * a->count / rows, theta);
  return model->spec.prior_draw(random, theta, m->each[0].evaluator.user) == 0;
}

/* With data, where they can be drawn there. */
static void prior_data(tm_maker *m, const double *theta,
                       tempera_random *random) {
  tempera_predictions *out = m->out;
  tm_evaluator *e = &m->each[0].evaluator;
  double ignored;
  tm_replicas r = {.drawn = m->whole[0], .room = m->model.replicas.size};
  bool drawn = out->size && tm_replicate_at(e, theta, random, &r, &ignored);
  if (drawn && m->own_data &&
      tm_quantities_at(e, random, theta, m->each[0].values))
    put_own(m, m->each[0].values, m->whole[0]);
  if (drawn)
    keep(m, m->whole[0], out->prior_values + out->prior_rows * out->size);
  out->prior_drawn[out->prior_rows] = drawn;
}

static tempera_status draw_prior(tm_maker *m, tempera_error *error) {
  tempera_predictions *out = m->out;
  const tempera_model *model = m->sampler->model;
  size_t width = model->size + out->size;
  size_t fit = KEPT_NUMBERS / (width ? width : 1);
  size_t rows = fit < PRIOR_ROWS ? fit : PRIOR_ROWS;
  atoms at = count_atoms(m);
  if (model->spec.prior_improper || (!model->spec.prior_draw && !at.count) ||
      (model->law && !at.count))
    return TEMPERA_OK;
  rows = at.count && at.count < rows ? at.count : rows;
  out->prior_theta = TM_NEW(out->arena, double, rows * model->size + 1);
  out->prior_values = TM_NEW(out->arena, double, rows * out->size + 1);
  out->prior_drawn = TM_NEW(out->arena, bool, rows + 1);
  if (!out->prior_theta || !out->prior_values || !out->prior_drawn)
    return tm_fail_memory(error);
  for (size_t i = 0; i < rows; i++) {
    double *theta = out->prior_theta + out->prior_rows * model->size;
    tempera_random random =
        tm_random_part(tm_seed_of(&m->sampler->options), 0,
                       TM_PURPOSE_PRIOR_PREDICTIVE, (uint32_t)i);
    if (!prior_theta(m, &at, i, rows, &random, theta))
      continue;
    prior_data(m, theta, &random);
    out->prior_rows++;
  }
  return TEMPERA_OK;
}

/* ---- setting up -----------------------------------------------------------
 */

/* Elements with a term, in the order of terms: mostly as they come. */
static bool order_elements(tm_maker *m) {
  const long *term = m->out->term;
  m->elements = TM_NEW(m->arena, size_t, m->out->size + 1);
  size_t *start = TM_NEW(m->arena, size_t, m->terms + 2);
  if (!m->elements || !start)
    return false;
  for (size_t e = 0; e < m->out->size; e++)
    if (term[e] >= 0)
      start[term[e] + 1]++;
  for (size_t i = 0; i < m->terms; i++)
    start[i + 1] += start[i];
  m->element_count = start[m->terms];
  for (size_t e = 0; e < m->out->size; e++)
    if (term[e] >= 0)
      m->elements[start[term[e]]++] = e;
  return true;
}

static bool prepare_data(tm_maker *m) {
  tempera_predictions *out = m->out;
  size_t n = draw_count(m), v = m->model.replicas.count;
  out->replicas = m->model.replicas;
  out->size = v ? m->model.replicas.size : 0;
  snprintf(out->no_replicas, sizeof out->no_replicas, "%s",
           m->model.no_replicas);
  if (out->size && !tm_find_own_data(m))
    return false;
  if (out->size > MOST_ELEMENTS && !tm_keep_elements(m))
    return false;
  if (!out->size)
    return true;
  out->draws = n;
  out->chains = m->chains;
  size_t fit = KEPT_NUMBERS / out->size / m->chains;
  size_t each = KEPT_ROWS / m->chains;
  each = each < fit ? each : fit;
  each = each < 1 ? 1 : each;
  m->every = m->rows > each ? m->rows / each : 1;
  out->rows_each = m->rows / m->every < each ? m->rows / m->every : each;
  out->rows = out->rows_each * m->chains;
  out->values = TM_NEW(out->arena, double, out->rows * out->size + 1);
  out->term = TM_NEW(out->arena, long, out->size);
  double *observed = TM_NEW(out->arena, double, out->size);
  m->statistics = TM_NEW(m->arena, double, n *v *TM_STATISTICS);
  if (!out->values || !out->term || !observed || !m->statistics)
    return false;
  for (size_t e = 0; e < out->size; e++)
    out->term[e] = m->model.term[m->kept ? m->kept[e] : e];
  keep(m, m->model.replicas.observed, observed);
  out->replicas.observed = observed;
  if (!m->model.matched || m->own_count || m->terms < 2)
    return true;
  out->pit = TM_NEW(out->arena, double, out->size);
  for (size_t e = 0; out->pit && e < out->size; e++)
    out->pit[e] = NAN;
  return out->pit && order_elements(m);
}

static bool prepare(tm_maker *m) {
  size_t n = draw_count(m);
  m->results = TM_NEW(m->arena, tm_loo_term, used_terms(m) + 1);
  m->failed = TM_NEW(m->arena, bool, m->chains);
  m->work = TM_NEW(m->arena, tm_loo_work, m->chains);
  m->whole = TM_NEW(m->arena, double *, m->chains);
  if (!m->results || !m->failed || !m->work || !m->whole || !prepare_data(m))
    return false;
  size_t whole = m->out->size ? m->model.replicas.size : 0;
  for (size_t c = 0; c < m->chains; c++) {
    m->whole[c] = TM_NEW(m->arena, double, whole + 1);
    if (!m->whole[c] || !tm_loo_work_create(m->arena, n, &m->work[c]))
      return false;
  }
  return true;
}

/* Shares of replicated data whose statistics are greater. */
static tempera_status fill_tails(tm_maker *m, tempera_error *error) {
  tempera_predictions *out = m->out;
  size_t v = out->replicas.count, width = v * TM_STATISTICS;
  out->statistic = TM_NEW(out->arena, double, width);
  out->tail = TM_NEW(out->arena, double, width);
  if (!out->statistic || !out->tail)
    return tm_fail_memory(error);
  for (size_t i = 0; i < v; i++) {
    const tm_replica *r = &m->model.replicas.each[i];
    tm_statistics(m->model.replicas.observed + r->first,
                  m->model.term + r->first, r->count,
                  out->statistic + i * TM_STATISTICS);
  }
  for (size_t j = 0; j < width; j++) {
    double observed = out->statistic[j], above = 0;
    for (size_t s = 0; s < out->draws; s++) {
      double x = m->statistics[s * width + j];
      above += x > observed ? 1 : x == observed ? 0.5 : 0;
    }
    out->tail[j] = isnan(observed) ? NAN : above / (double)out->draws;
  }
  return TEMPERA_OK;
}

static tempera_status make(tm_maker *m, tempera_summary *summary,
                           tempera_error *error) {
  if (!prepare(m))
    return tm_fail_memory(error);
  TM_TRY(run_blocks(m, error));
  bool failed = any_failed(m);
  if (!failed && m->choose)
    TM_TRY(tm_loo_sum_chosen(m->results, &m->choice, draw_count(m),
                             &summary->loo, error));
  else if (!failed && m->terms > 1)
    TM_TRY(
        tm_loo_sum(m->results, m->terms, draw_count(m), &summary->loo, error));
  if (summary->loo && !isfinite(summary->loo->elpd)) {
    tm_loo_free(summary->loo);
    summary->loo = NULL;
    snprintf(summary->loo_why, sizeof summary->loo_why,
             "%s is not a number, or zero density, at some draws: there is no "
             "leave-one-out.",
             m->own_count ? "log_lik" : "A term of the likelihood");
  }
  if (failed || m->out->size == 0) {
    m->out->size = m->out->rows = m->out->replicas.count = 0;
    m->out->pit = NULL;
  } else {
    TM_TRY(fill_tails(m, error));
  }
  return draw_prior(m, error);
}

static void choose_draws(tm_maker *m) {
  size_t rows = tm_draws_rows(m->draws, TEMPERA_TARGET);
  size_t most = MOST_NUMBERS / (m->terms ? m->terms : 1);
  most = most > MOST_DRAWS     ? MOST_DRAWS
         : most < FEWEST_DRAWS ? FEWEST_DRAWS
                               : most;
  m->stride = (rows * m->chains + most - 1) / most;
  m->stride = m->stride < 1 ? 1 : m->stride;
  m->rows = rows / m->stride;
}

static tempera_status create_each(tm_maker *m, tempera_error *error) {
  m->each = TM_NEW(m->arena, tm_quantities, m->chains);
  if (!m->each)
    return tm_fail_memory(error);
  for (size_t c = 0; c < m->chains; c++)
    TM_TRY(tm_quantities_create(m->sampler->model,
                                tm_seed_of(&m->sampler->options), &m->each[c],
                                error));
  return TEMPERA_OK;
}

static tempera_status look(tm_maker *m, tempera_error *error) {
  TM_TRY(create_each(m, error));
  m->rows = m->stride = 1;
  TM_TRY(tm_predictive_create(&m->each[0].evaluator, theta_at(m, 0, 0),
                              &m->model, error));
  tm_find_own_terms(m);
  if (m->own_count == 1 && m->model.term_count > 1)
    m->own_count = 0; /* their sum */
  m->terms = m->own_count ? m->own_count : m->model.term_count;
  choose_draws(m);
  return TEMPERA_OK;
}

static tempera_status choose(tm_maker *m, tempera_summary *summary,
                             tempera_error *error) {
  if (m->terms == 1)
    snprintf(summary->loo_why, sizeof summary->loo_why,
             "The likelihood has a single term: nothing can be left out.");
  else if (!m->own_count && m->terms > 1 && !m->model.replicas.count)
    snprintf(summary->loo_why, sizeof summary->loo_why,
             "Each term of the likelihood counts as one outcome, though some "
             "may gather several; a quantity log_lik says what one is.");
  m->choose = m->terms > MOST_TERMS;
  if (!m->choose)
    return TEMPERA_OK;
  snprintf(summary->loo_why, sizeof summary->loo_why,
           "Of %zu terms of the likelihood %d, chosen at random, are left out "
           "one by one, from %zu draws; the sums are of all terms.",
           m->terms, CHOSEN_TERMS, draw_count(m));
  return tm_loo_choose(m->arena, m->terms, CHOSEN_TERMS, &m->choice)
             ? TEMPERA_OK
             : tm_fail_memory(error);
}

static void clear(tm_maker *m) {
  for (size_t c = 0; m->each && c < m->chains; c++)
    if (m->each[c].arena)
      tm_quantities_free(&m->each[c]);
  tm_predictive_free(&m->model);
  tm_arena_free(m->arena);
}

/* Target draws, enough of them to say anything. */
static bool has_draws(const tempera_sampler *s) {
  return s->draws->has_role[TEMPERA_TARGET] && s->draws->count >= 20 &&
         s->draws->chains <= MOST_CHAINS && !s->model->spec.no_likelihood;
}

tempera_status tm_predictions_add(const tempera_sampler *sampler,
                                  tempera_summary *summary,
                                  tempera_error *error) {
  tempera_status status = TEMPERA_OK;
  tm_maker m = {.sampler = sampler,
                .draws = sampler->draws,
                .chains = sampler->draws->chains};
  tm_arena *kept = NULL;
  if (!has_draws(sampler))
    return TEMPERA_OK;
  m.arena = tm_arena_create();
  kept = tm_arena_create();
  m.out = kept ? TM_NEW(kept, tempera_predictions, 1) : NULL;
  TM_TRY_DONE(m.arena && m.out ? TEMPERA_OK : tm_fail_memory(error));
  m.out->arena = kept;
  TM_TRY_DONE(look(&m, error));
  TM_TRY_DONE(choose(&m, summary, error));
  TM_TRY_DONE(make(&m, summary, error));
  summary->predictions = m.out;
  kept = NULL;
done:
  clear(&m);
  tm_arena_free(kept);
  return status;
}
