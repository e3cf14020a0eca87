/* sampler.c - tempera_sampler: starts, ridge, warmup rounds, draws.
 *
 * Every decision is taken at fixed numbers of sweeps and in chain order, so
 * draws depend on the seed and the number of chains only (method 4.7); a time
 * limit or a cancel just cuts the sequence short. */
#include "run/sampler.h"

#include "estimate/estimate.h"
#include "parallel/threads.h"
#include "run/quantities.h"

#include <math.h>
#include <string.h>

enum {
  MEMORY = 20000, /* optima kept per chain by the exact ridge */
  LOOKS = 1000,   /* prior draws behind P(L > 0) ... */
  FEW_LOOKS = 100 /* ... unless the prior's atom measures it */
};

static tempera_status create_draws(tempera_sampler *s, size_t rows,
                                   tempera_draws **draws,
                                   tempera_error *error) {
  TM_TRY(tm_draws_create(
      s->options.chains, s->model->size, (const char *const *)s->model->names,
      s->integer, s->options.method == TEMPERA_PT_STWNC, true, draws, error));
  return tm_draws_reserve(*draws, rows, error);
}

static size_t rows_for(size_t sweeps, size_t thin) {
  return (sweeps + thin - 1) / thin;
}

static tempera_status make_draws(tempera_sampler *s, tempera_error *error) {
  const tempera_options *o = &s->options;
  TM_TRY(create_draws(s, 0, &s->draws, error));
  s->draws->tau_min = o->tau_min;
  s->draws->evidence = o->tau_min == 0;
  s->draws->prior_draws = s->starts.prior_draws;
  s->draws->prior_zero = s->starts.prior_zero;
  if (o->save_warmup)
    TM_TRY(
        create_draws(s, rows_for(o->warmup, o->thin), &s->warmup_draws, error));
  return TEMPERA_OK;
}

static tempera_status make_pair(tempera_sampler *s, size_t chain,
                                tempera_error *error) {
  const tempera_options *o = &s->options;
  const tempera_recipe *recipe = s->model->spec.recipe;
  tm_pair_settings settings = {
      .method = o->method,
      .exchange_replaces = o->paper,
      .exchange = o->exchange,
      .tau_move = o->tau_move,
      .tau_scale = o->tau_scale,
      .kernel = o->kernel,
      .memory = o->ridge == TEMPERA_RIDGE_EXACT ? MEMORY : 0};
  bool printed = o->paper && recipe && recipe->start && !o->init;
  const double *start =
      printed ? recipe->start : s->starts.chains + chain * s->model->size;
  double tau = printed ? recipe->start_tau : fmax(0.5, o->tau_min);
  return tm_pair_create(s->model, &settings, o->seed, (uint32_t)chain, start,
                        tau, &s->pairs[chain], error);
}

static tempera_status refuse_improper(const tempera_sampler *s,
                                      tempera_error *error) {
  if (!s->starts.improper || s->options.tau_min > 0)
    return TEMPERA_OK;
  return tm_fail(error, TEMPERA_ERROR_MODEL,
                 "model %s: the prior of %s cannot be normalised, so there is "
                 "no evidence and no law at tau = 0; give %s a proper prior, "
                 "or sample without evidence using --tau-min 0.01",
                 s->model->spec.name, s->starts.culprit, s->starts.culprit);
}

static tempera_status set_up(tempera_sampler *s, tempera_error *error) {
  size_t chains = s->options.chains;
  s->integer = tm_heap_alloc(s->model->size, sizeof(bool));
  s->pairs = tm_heap_alloc(chains, sizeof(tm_pair));
  if (!s->integer || !s->pairs)
    return tm_fail_memory(error);
  for (size_t b = 0; b < s->model->block_count; b++)
    for (size_t i = 0; i < s->model->blocks[b].theta_count; i++)
      s->integer[s->model->blocks[b].theta + i] =
          s->model->blocks[b].kind == TEMPERA_INTEGER;
  size_t looks =
      s->options.tau_prior == TEMPERA_PRIOR_PROFILE ? LOOKS : FEW_LOOKS;
  TM_TRY(tm_starts_find(s->model, s->options.seed, chains, looks,
                        s->options.init, &s->starts, error));
  TM_TRY(refuse_improper(s, error));
  TM_TRY(make_draws(s, error));
  for (size_t c = 0; c < chains; c++)
    TM_TRY(make_pair(s, c, error));
  return TEMPERA_OK;
}

tempera_status tempera_sampler_create(const tempera_model *model,
                                      const tempera_options *options,
                                      tempera_sampler **sampler,
                                      tempera_error *error) {
  tempera_options resolved;
  TM_TRY(tm_options_resolve(options, model, &resolved, error));
  tempera_sampler *s = tm_heap_alloc(1, sizeof *s);
  if (!s)
    return tm_fail_memory(error);
  s->model = model;
  s->options = resolved;
  s->automatic =
      options->iterations == 0 && !options->paper && !(options->until_se > 0);
  s->log_z = s->se = NAN;
  clock_gettime(CLOCK_MONOTONIC, &s->started);
  tempera_status status = set_up(s, error);
  if (status != TEMPERA_OK) {
    tempera_sampler_free(s);
    return status;
  }
  s->options.init = NULL; /* the caller's array may go */
  *sampler = s;
  return TEMPERA_OK;
}

void tempera_sampler_free(tempera_sampler *sampler) {
  if (!sampler)
    return;
  for (size_t c = 0; sampler->pairs && c < sampler->options.chains; c++)
    tm_pair_free(&sampler->pairs[c]);
  tm_heap_free(sampler->pairs);
  tm_tau_prior_free(&sampler->prior);
  tm_ridge_free(sampler->ridge);
  tm_laplace_free(sampler->laplace);
  tm_draws_free(sampler->draws);
  tm_draws_free(sampler->warmup_draws);
  tm_draws_free(sampler->round_draws);
  tm_learner_free(sampler->learner);
  tm_starts_free(&sampler->starts);
  tm_heap_free(sampler->integer);
  tm_heap_free(sampler);
}

/* ------------------------------------------------------------------------
 * Sweeps
 */

typedef struct stretch {
  tempera_sampler *sampler;
  size_t end; /* sweep count every pair is to reach */
} stretch;

static void keep_row(tempera_sampler *s, const tm_pair *pair) {
  size_t warmup = s->options.warmup, thin = s->options.thin;
  bool warming = pair->done <= warmup;
  if (warming)
    tm_warmup_keep(s, pair);
  tempera_draws *draws = warming ? s->warmup_draws : s->draws;
  size_t index = pair->done - 1 - (warming ? 0 : warmup);
  if (!draws || index % thin != 0)
    return;
  tm_draws_put(draws, TEMPERA_TEMPERED, pair->chain, index / thin,
               pair->tempered.theta, pair->row[TEMPERA_TEMPERED]);
  if (draws->has_role[TEMPERA_TARGET])
    tm_draws_put(draws, TEMPERA_TARGET, pair->chain, index / thin,
                 pair->target.theta, pair->row[TEMPERA_TARGET]);
}

static void run_pair(size_t chain, void *context) {
  stretch *part = context;
  tempera_sampler *s = part->sampler;
  tm_pair *pair = &s->pairs[chain];
  while (pair->done < part->end && pair->evaluator.status == TEMPERA_OK &&
         !atomic_load_explicit(&s->cancelled, memory_order_relaxed)) {
    tm_pair_sweep(pair);
    /* A sweep during which the model failed is not a draw. */
    if (pair->evaluator.status == TEMPERA_OK)
      keep_row(s, pair);
    else
      pair->done--;
  }
}

static size_t sweeps_done(const tempera_sampler *s) {
  size_t done = SIZE_MAX;
  for (size_t c = 0; c < s->options.chains; c++)
    done = s->pairs[c].done < done ? s->pairs[c].done : done;
  return done;
}

static void update_counts(tempera_sampler *s) {
  size_t done = sweeps_done(s), warmup = s->options.warmup;
  if (s->warmup_draws)
    s->warmup_draws->count =
        rows_for(done < warmup ? done : warmup, s->options.thin);
  if (done > warmup)
    s->draws->count = rows_for(done - warmup, s->options.thin);
}

static tempera_status first_failure(const tempera_sampler *s,
                                    tempera_error *error) {
  for (size_t c = 0; c < s->options.chains; c++) {
    const tm_evaluator *evaluator = &s->pairs[c].evaluator;
    if (evaluator->status == TEMPERA_OK)
      continue;
    if (error)
      *error = evaluator->error;
    return evaluator->status;
  }
  return TEMPERA_OK;
}

static size_t total_sweeps(const tempera_sampler *s) {
  return s->options.warmup + s->options.iterations;
}

/* Room for the rows up to a sweep, in doubling steps: sweeps allocate
 * nothing. */
static tempera_status make_room(tempera_sampler *s, size_t end,
                                tempera_error *error) {
  const tempera_options *o = &s->options;
  if (end <= o->warmup)
    return TEMPERA_OK;
  size_t rows = rows_for(end - o->warmup, o->thin);
  size_t all = rows_for(o->iterations, o->thin);
  if (rows <= s->draws->capacity)
    return TEMPERA_OK;
  size_t doubled = 2 * s->draws->capacity;
  rows = rows > doubled ? rows : doubled;
  return tm_draws_reserve(s->draws, rows < all ? rows : all, error);
}

tempera_status tempera_sampler_advance(tempera_sampler *sampler, size_t sweeps,
                                       tempera_error *error) {
  tempera_sampler *s = sampler;
  TM_TRY(tm_warmup_begin(s, error));
  size_t done = sweeps_done(s), end = total_sweeps(s);
  if (sweeps < end - done)
    end = done + sweeps;
  TM_TRY(make_room(s, end, error));
  while (done < end) {
    bool warming = done < s->options.warmup;
    stretch part = {s, warming && s->round_end < end ? s->round_end : end};
    tm_parallel_for(s->options.chains, tm_threads(s->options.threads), run_pair,
                    &part);
    done = sweeps_done(s);
    update_counts(s);
    TM_TRY(first_failure(s, error));
    if (atomic_load(&s->cancelled))
      return tm_fail(error, TEMPERA_CANCELLED, "cancelled");
    if (warming && done == s->round_end)
      TM_TRY(tm_warmup_end_round(s, error));
  }
  return TEMPERA_OK;
}

void tempera_sampler_cancel(tempera_sampler *sampler) {
  atomic_store(&sampler->cancelled, true);
}

const tempera_draws *tempera_sampler_draws(const tempera_sampler *sampler) {
  return sampler->draws;
}

const tempera_draws *
tempera_sampler_warmup_draws(const tempera_sampler *sampler) {
  return sampler->warmup_draws;
}

const tempera_options *tempera_sampler_options(const tempera_sampler *sampler) {
  return &sampler->options;
}

const tempera_model *tempera_sampler_model(const tempera_sampler *sampler) {
  return sampler->model;
}

/* ------------------------------------------------------------------------
 * Progress and summary
 */

static double seconds_of(const tempera_sampler *s) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)(now.tv_sec - s->started.tv_sec) +
         1e-9 * (double)(now.tv_nsec - s->started.tv_nsec);
}

static uint64_t evaluations_of(const tempera_sampler *s) {
  uint64_t total = s->starts.likelihood_evaluations + s->estimate_evaluations;
  if (s->ridge)
    total += tm_ridge_look(s->ridge)->likelihood_evaluations;
  if (s->laplace)
    total += tm_laplace_look(s->laplace)->likelihood_evaluations;
  for (size_t c = 0; c < s->options.chains; c++)
    total += s->pairs[c].evaluator.likelihood_evaluations;
  return total;
}

tempera_progress tempera_sampler_progress(const tempera_sampler *sampler) {
  const tempera_sampler *s = sampler;
  size_t done = sweeps_done(s);
  size_t total = s->satisfied ? done : total_sweeps(s);
  tempera_phase phase = TEMPERA_PHASE_SAMPLING;
  if (done == total)
    phase = TEMPERA_PHASE_DONE;
  else if (!s->begun)
    phase = TEMPERA_PHASE_RIDGE;
  else if (done < s->options.warmup)
    phase = TEMPERA_PHASE_WARMUP;
  return (tempera_progress){.phase = phase,
                            .done = done,
                            .total = total,
                            .seconds = seconds_of(s),
                            .log_z = s->log_z,
                            .se = s->se,
                            .round_trips = s->round_trips,
                            .likelihood_evaluations = evaluations_of(s)};
}

static void fill_cost(const tempera_sampler *s, tempera_summary *summary) {
  const tm_ridge_view *view = s->ridge ? tm_ridge_look(s->ridge) : NULL;
  summary->likelihood_evaluations = evaluations_of(s);
  summary->seconds = seconds_of(s);
  summary->seconds_in_model = s->starts.seconds_in_model;
  if (view) {
    summary->gradient_evaluations = view->gradient_evaluations;
    summary->seconds_in_model += view->seconds_in_model;
  }
  if (s->laplace) {
    const tm_laplace_view *laplace = tm_laplace_look(s->laplace);
    summary->gradient_evaluations += laplace->gradient_evaluations;
    summary->seconds_in_model += laplace->seconds_in_model;
  }
  for (size_t c = 0; c < s->options.chains; c++) {
    const tm_evaluator *e = &s->pairs[c].evaluator;
    summary->gradient_evaluations += e->gradient_evaluations;
    summary->seconds_in_model += e->seconds;
  }
}

static tempera_status fill_ridge(const tempera_sampler *s,
                                 tempera_summary *summary) {
  summary->ridge_gap = NAN;
  if (!s->ridge)
    return TEMPERA_OK;
  const tm_ridge_view *view = tm_ridge_look(s->ridge);
  if (view->absent)
    return tm_summary_warn(summary,
                           "There is no ridge (%s); the tau prior was "
                           "learned without it.",
                           view->reason);
  summary->ridge_gap = view->gap;
  summary->ridge_knots = view->knots;
  summary->ridge_optimisations = view->optimisations;
  for (size_t c = 0; c < s->options.chains; c++)
    summary->ridge_beaten += s->pairs[c].beaten;
  return TEMPERA_OK;
}

static tempera_status fill_labels(const tempera_sampler *s,
                                  tempera_summary *summary,
                                  tempera_error *error) {
  const tempera_options *o = &s->options;
  size_t done = sweeps_done(s);
  summary->version = tm_heap_text(TEMPERA_VERSION);
  summary->model = tm_heap_text(s->model->spec.name);
  summary->method =
      tm_heap_text(o->method == TEMPERA_STWNC ? "stwnc" : "pt-stwnc");
  if (!summary->version || !summary->model || !summary->method)
    return tm_fail_memory(error);
  summary->seed = o->seed;
  summary->chains = o->chains;
  summary->warmup = o->warmup;
  summary->thin = o->thin;
  summary->iterations = done > o->warmup ? done - o->warmup : 0;
  summary->complete = s->satisfied || done == total_sweeps(s);
  if (s->decision[0]) {
    summary->decision = tm_heap_text(s->decision);
    if (!summary->decision)
      return tm_fail_memory(error);
  }
  return TEMPERA_OK;
}

tempera_status tm_sampler_summarise(const tempera_sampler *sampler,
                                    bool quantities, tempera_summary **summary,
                                    tempera_error *error) {
  tempera_summary *made = tm_heap_alloc(1, sizeof *made);
  if (!made)
    return tm_fail_memory(error);
  uint64_t bridge = 0;
  tempera_status status = tm_estimate_summary(sampler->draws, made, error);
  if (status == TEMPERA_OK && sampler->options.bridge)
    status =
        tm_estimate_add_bridge(sampler->model, sampler->draws,
                               sampler->options.seed, made, &bridge, error);
  if (status == TEMPERA_OK)
    status = tm_estimate_doubt(sampler->draws, made, error);
  if (status == TEMPERA_OK)
    status = fill_labels(sampler, made, error);
  if (status == TEMPERA_OK)
    status = fill_ridge(sampler, made);
  if (status == TEMPERA_OK && quantities)
    status = tm_quantities_summarise(sampler, made, error);
  if (status == TEMPERA_OK) {
    fill_cost(sampler, made);
    made->likelihood_evaluations += bridge;
    status = tm_estimate_verdict(made, error);
  }
  if (status != TEMPERA_OK) {
    tempera_summary_free(made);
    return status;
  }
  *summary = made;
  return TEMPERA_OK;
}

tempera_status tempera_sampler_summarise(const tempera_sampler *sampler,
                                         tempera_summary **summary,
                                         tempera_error *error) {
  return tm_sampler_summarise(sampler, true, summary, error);
}
