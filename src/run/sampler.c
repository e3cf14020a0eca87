/* sampler.c - tempera_sampler: starts, ridge, warmup rounds, draws.
 *
 * Every decision is taken at fixed numbers of sweeps and in chain order, so
 * draws depend on the seed and the number of chains only (method 4.7); a time
 * limit or a cancel just cuts the sequence short. */
#include "run/sampler.h"

#include "base/sized.h"
#include "numeric/blas.h"
#include "parallel/ranks.h"

#include <math.h>
#include <string.h>

enum {
  LOOKS = 1000,   /* prior draws behind P(L > 0) ... */
  FEW_LOOKS = 100 /* ... unless tempered draws at tau = 0 measure it */
};

static tempera_status create_draws(tempera_sampler *s, bool tempered,
                                   size_t sweeps, tempera_draws **draws,
                                   tempera_error *error) {
  TM_TRY(tm_draws_create(s->options.chains, s->model->size,
                         (const char *const *)s->model->names, s->integer,
                         s->method->target, tempered, draws, error));
  (*draws)->fixed = s->fixed;
  return tm_draws_reserve(*draws, sweeps, error);
}

static size_t rows_for(size_t sweeps, size_t thin) {
  return (sweeps + thin - 1) / thin;
}

/* Values with bounds on both sides, or of a simplex or a map. */
static size_t confined_values(const tempera_model *model) {
  size_t count = 0;
  for (size_t b = 0; b < model->block_count; b++)
    if (model->blocks[b].form >= TM_FORM_BETWEEN)
      count += model->blocks[b].theta_count;
  return count;
}

static tempera_status make_draws(tempera_sampler *s, tempera_error *error) {
  const tempera_options *o = &s->options;
  TM_TRY(create_draws(s, s->method->tempered, 0, &s->draws, error));
  s->draws->tau_min = o->tau_min;
  s->draws->evidence = o->tau_min == 0 && !s->model->spec.no_likelihood;
  s->draws->likelihood = !s->model->spec.no_likelihood;
  s->draws->prior_draws = s->starts.prior_draws;
  s->draws->prior_zero = s->starts.prior_zero;
  s->draws->prior_log_likelihood =
      s->starts.prior_draws ? s->starts.looks : NULL;
  s->draws->log_kept = s->model->log_kept;
  s->draws->log_support = s->support.log_p + s->model->log_kept;
  s->draws->support_se = hypot(s->support.se, s->rounded.se);
  s->draws->confined = confined_values(s->model);
  if (o->reference) {
    TM_TRY(create_draws(s, true, 0, &s->reference, error));
    s->reference->bare[TEMPERA_TARGET] = true; /* they are in `draws` */
  }
  if (!o->save_warmup)
    return TEMPERA_OK;
  return create_draws(s, s->method->tempered && s->method->steady_width,
                      rows_for(o->warmup, o->thin), &s->warmup_draws, error);
}

/* The start that the model's authors printed, or NULL. */
static const double *printed_start(const tempera_sampler *s) {
  const tempera_recipe *recipe = s->model->spec.recipe;
  return s->options.paper && recipe && !s->options.init ? recipe->start : NULL;
}

/* It is the optimiser's too: prior draws alone may miss its basin (SIR). */
static void offer_printed_start(tempera_sampler *s) {
  const double *start = printed_start(s);
  if (start && s->starts.optimiser_count)
    memcpy(s->starts.optimiser, start, s->model->size * sizeof(double));
}

static tempera_status make_group(tempera_sampler *s, size_t chain,
                                 tempera_error *error) {
  const tempera_options *o = &s->options;
  const double *printed = printed_start(s);
  const double *start =
      printed ? printed : s->starts.chains + chain * s->model->size;
  double tau =
      printed ? s->model->spec.recipe->start_tau : fmax(0.5, o->tau_min);
  /* Streams are named by the number of the chain among all processes', rows
   * by that among ours. */
  TM_TRY(s->method->make_group(s, (uint32_t)(chain + o->chain_offset), start,
                               tau, &s->groups[chain], error));
  s->groups[chain]->chain = (uint32_t)chain;
  s->groups[chain]->evaluator.call->chain = chain + 1;
  return TEMPERA_OK;
}

/* A prior that cannot be normalised has no law at tau = 0 and no evidence, but
 * draws can be had: the path then ends where the weight of twice as many
 * observations is left as there are improper coordinates. So many of them is
 * the least that can make these proper (O'Hagan's minimal training sample), but
 * without moments: mean and log sd with two of 20 observations are a Cauchy
 * law, and of 8 short runs 5 did not mix there and one was off by 3.3 errors;
 * with four all 8 were right. Where that is not known or more, the path ends at
 * half of the weight. */
static const double IMPROPER_TAU = 0.5, TRAINING_SAMPLES = 2;

size_t tm_sampler_observations(const tempera_sampler *s) {
  if (s->options.observations)
    return s->options.observations;
  return s->given->spec.observations ? s->given->spec.observations
                                     : tempera_model_terms(s->given);
}

static double lowest_proper(const tempera_sampler *s) {
  double n = (double)tm_sampler_observations(s);
  double least = TRAINING_SAMPLES * (double)s->starts.improper_count;
  return n > 0 && least > 0 ? fmin(IMPROPER_TAU, least / n) : IMPROPER_TAU;
}

static tempera_status meet_improper(tempera_sampler *s, tempera_error *error) {
  if (!s->starts.improper || s->options.tau_min > 0)
    return TEMPERA_OK;
  if (s->options.paper)
    return tm_fail(error, TEMPERA_ERROR_MODEL,
                   "model %s: the prior of %s is improper, and the paper's "
                   "path begins at the prior; leave --paper out, or give %s a "
                   "proper prior",
                   s->model->spec.name, s->starts.culprit, s->starts.culprit);
  s->options.tau_min = lowest_proper(s);
  return TEMPERA_OK;
}

static tempera_status find_starts(tempera_sampler *s, tempera_error *error) {
  bool profile = s->options.tau_prior == TEMPERA_PRIOR_PROFILE;
  bool many = (profile && tm_is_pair(&s->options)) || !s->method->tempered ||
              s->options.schedule == TEMPERA_SCHEDULE_POWER;
  tm_pool pool = {s->prior.pool_count, s->prior.pool};
  if (s->support.arena)
    pool = (tm_pool){s->support.point_count, s->support.points};
  return tm_starts_find(s->model, tm_seed_of(&s->options), s->options.chains,
                        many ? LOOKS : FEW_LOOKS, s->options.init, pool,
                        &s->starts, error);
}

/* The run is of the prior without what rounds to a bound. */
static tempera_status leave_out_rounded(tempera_sampler *s,
                                        tempera_error *error) {
  if (s->options.paper || s->options.tau_min > 0)
    return TEMPERA_OK;
  TM_TRY(tm_rounded_measure(s->model, tm_seed_of(&s->options), &s->rounded,
                            error));
  if (s->rounded.arena)
    s->model = &s->rounded.model;
  return TEMPERA_OK;
}

/* A prior without draws is explored, unless it is known to be improper; then
 * starts come from what was found, also where none was found blindly. */
static tempera_status explore_prior(tempera_sampler *s, tempera_error *error) {
  if (!tm_prior_run_needed(s->model, &s->options) || s->starts.improper)
    return TEMPERA_OK;
  TM_TRY(tm_prior_run_explore(s->model, &s->options, &s->prior, error));
  s->model = &s->prior.model;
  tm_starts_free(&s->starts);
  return find_starts(s, error);
}

/* Where L > 0 on hardly any of the prior, the path begins at what there is. */
static tempera_status explore_support(tempera_sampler *s,
                                      tempera_error *error) {
  TM_TRY(
      tm_support_find(s->model, tm_seed_of(&s->options), &s->support, error));
  s->model = &s->support.model;
  tm_starts_free(&s->starts);
  return find_starts(s, error);
}

/* Do parameters lie about others, with a scale that is one too? */
static tempera_status find_hierarchy(tempera_sampler *s, tempera_error *error) {
  if (s->options.kernel != TEMPERA_KERNEL_AUTO || s->options.paper)
    return TEMPERA_OK;
  s->hierarchy_arena = tm_arena_create();
  if (!s->hierarchy_arena)
    return tm_fail_memory(error);
  TM_TRY(tm_hierarchy_find(s->model, s->starts.chains, s->hierarchy_arena,
                           &s->hierarchy, error));
  if (s->hierarchy.count == 0)
    return TEMPERA_OK;
  s->hierarchical = *s->model;
  s->hierarchical.hierarchy = &s->hierarchy;
  s->model = &s->hierarchical;
  return TEMPERA_OK;
}

static tempera_status set_up(tempera_sampler *s, tempera_error *error) {
  size_t chains = s->options.chains;
  s->integer = tm_heap_alloc(s->model->size, sizeof(bool));
  s->fixed = tm_heap_alloc(s->model->size, sizeof(bool));
  s->groups = tm_heap_alloc(chains, sizeof(tm_group *));
  if (!s->integer || !s->fixed || !s->groups)
    return tm_fail_memory(error);
  TM_TRY(tm_fixed_values(s->model, s->fixed, error));
  for (size_t b = 0; b < s->model->block_count; b++)
    for (size_t i = 0; i < s->model->blocks[b].theta_count; i++)
      s->integer[s->model->blocks[b].theta + i] =
          s->model->blocks[b].kind == TEMPERA_INTEGER;
  TM_TRY(leave_out_rounded(s, error));
  TM_TRY(find_starts(s, error));
  TM_TRY(explore_prior(s, error));
  if (tm_support_needed(s->model, &s->options, &s->starts))
    TM_TRY(explore_support(s, error));
  if (s->starts.nowhere)
    return tm_fail(error, TEMPERA_ERROR_MODEL, "%s", s->starts.refusal);
  offer_printed_start(s);
  TM_TRY(meet_improper(s, error));
  TM_TRY(make_draws(s, error));
  TM_TRY(find_hierarchy(s, error));
  for (size_t c = 0; c < chains; c++)
    TM_TRY(make_group(s, c, error));
  return TEMPERA_OK;
}

/* The caller's array may go. */
static tempera_status keep_init(tempera_sampler *s, tempera_error *error) {
  size_t values = s->options.chains * s->model->size;
  if (!s->options.init)
    return TEMPERA_OK;
  s->init = tm_heap_alloc(values + 1, sizeof(double));
  if (!s->init)
    return tm_fail_memory(error);
  memcpy(s->init, s->options.init, values * sizeof(double));
  s->init_values = values;
  s->options.init = s->init;
  s->asked.init = NULL;
  s->asked.chains = s->options.chains;
  return TEMPERA_OK;
}

tempera_status tempera_sampler_create_sized(const tempera_model *model,
                                            const tempera_options *given,
                                            size_t size,
                                            tempera_sampler **sampler,
                                            tempera_error *error) {
  tempera_options known = tempera_options_default(), resolved;
  const tempera_options *options = &known;
  TM_TRY(tm_sized_take(&known, sizeof known, given, size, error));
  TM_TRY(tm_options_resolve(options, model, &resolved, error));
  TM_TRY(tm_blas_reserve(tm_threads(resolved.threads), error));
  tempera_sampler *s = tm_heap_alloc(1, sizeof *s);
  if (!s)
    return tm_fail_memory(error);
  s->model = s->given = model;
  s->asked = *options;
  s->options = resolved;
  s->init_given = options->init != NULL;
  s->unused = tm_options_unused(options, &resolved);
  s->method = tm_method_of(resolved.method);
  s->automatic =
      options->iterations == 0 && !options->paper && !(options->until_se > 0);
  s->log_z = s->se = NAN;
  clock_gettime(CLOCK_MONOTONIC, &s->started);
  tempera_status status = keep_init(s, error);
  if (status == TEMPERA_OK)
    status = set_up(s, error);
  if (status != TEMPERA_OK) {
    tempera_sampler_free(s);
    return status;
  }
  s->options.init = NULL; /* it has served */
  *sampler = s;
  return TEMPERA_OK;
}

void tempera_sampler_free(tempera_sampler *sampler) {
  if (!sampler)
    return;
  if (sampler->method_state && sampler->method->release)
    sampler->method->release(sampler);
  tm_heap_free(sampler->method_state);
  for (size_t c = 0; sampler->groups && c < sampler->options.chains; c++)
    tm_group_free(sampler->groups[c]);
  tm_heap_free(sampler->groups);
  tempera_summary_free(atomic_load(&sampler->checked));
  tm_ridge_free(sampler->ridge);
  tm_laplace_free(sampler->laplace);
  tm_leg_free(sampler->leg);
  tm_draws_free(sampler->reference);
  tm_store_free(sampler->store);
  tm_draws_free(sampler->draws);
  tm_draws_free(sampler->warmup_draws);
  tm_starts_free(&sampler->starts);
  tm_support_free(&sampler->support);
  tm_rounded_free(&sampler->rounded);
  tm_prior_run_free(&sampler->prior);
  tm_arena_free(sampler->hierarchy_arena);
  tm_history_free(&sampler->history);
  tm_heap_free(sampler->init);
  tm_heap_free(sampler->annealed);
  tm_heap_free(sampler->integer);
  tm_heap_free(sampler->fixed);
  tm_heap_free(sampler);
}

/* ------------------------------------------------------------------------
 * Sweeps
 */

size_t tm_sweeps_done(const tempera_sampler *sampler) {
  size_t done = SIZE_MAX;
  for (size_t c = 0; c < sampler->options.chains; c++)
    done = sampler->groups[c]->done < done ? sampler->groups[c]->done : done;
  return done;
}

static void update_counts(tempera_sampler *s) {
  size_t done = tm_sweeps_done(s), warmup = s->options.warmup;
  if (s->warmup_draws)
    s->warmup_draws->count =
        rows_for(done < warmup ? done : warmup, s->options.thin);
  if (done > warmup)
    s->draws->count = rows_for(done - warmup, s->options.thin);
  else
    s->warmup_seconds = tm_sampler_seconds(s);
  if (s->leg && s->leg->walking)
    s->reference->count = s->draws->count;
}

tempera_status tempera_sampler_add_sink(tempera_sampler *sampler,
                                        const tempera_sink *sink,
                                        tempera_error *error) {
  bool swept = sampler->begun && !sampler->loaded;
  if (swept || sampler->outlet_count == TM_MOST_SINKS)
    return tm_fail(error, TEMPERA_ERROR_ARGUMENT,
                   "sinks are added before the first sweep, %d at most",
                   TM_MOST_SINKS);
  /* What a loaded sampler has drawn, its sinks have. */
  const tempera_draws *warmup = sampler->warmup_draws;
  sampler->outlets[sampler->outlet_count++] =
      (tm_outlet){.sink = *sink,
                  .taken = {sampler->draws->count, warmup ? warmup->count : 0}};
  return TEMPERA_OK;
}

/* What is new since the last time, to every sink. */
static tempera_status flow(tempera_sampler *s, const tempera_draws *draws,
                           bool warmup, tempera_error *error) {
  for (size_t i = 0; draws && i < s->outlet_count; i++) {
    tm_outlet *outlet = &s->outlets[i];
    tempera_block block = {draws, warmup, outlet->taken[warmup], draws->count};
    if (block.first == block.last)
      continue;
    tempera_status status =
        outlet->sink.append(&block, outlet->sink.user, error);
    if (status != TEMPERA_OK) {
      tm_ranks_part(); /* the others know nothing of it */
      return status;
    }
    outlet->taken[warmup] = block.last;
  }
  return TEMPERA_OK;
}

static tempera_status first_failure(const tempera_sampler *s,
                                    tempera_error *error) {
  for (size_t c = 0; c < s->options.chains; c++) {
    const tm_evaluator *failed = tm_group_failure(s->groups[c]);
    if (failed)
      return tm_evaluator_check(failed, error);
  }
  return TEMPERA_OK;
}

enum {
  RESERVED_AT_ONCE = 1 << 28, /* bytes */
  FIRST_ROOM = 6000 /* sweeps; the first check of automatic length is there */
};

size_t tm_sweeps_total(const tempera_sampler *sampler) {
  return sampler->options.warmup + sampler->options.iterations;
}

/* Room for the draws up to a sweep: sweeps allocate nothing. All at once where
 * that is little and known, else in doubling steps: memory is the machine's to
 * give when it is written to, but it comes in pages so large that columns far
 * longer than needed would all be cleared. */
static tempera_status make_room(tempera_sampler *s, size_t end,
                                tempera_error *error) {
  const tempera_options *o = &s->options;
  if (end <= o->warmup)
    return TEMPERA_OK;
  size_t rows = rows_for(end - o->warmup, o->thin);
  size_t all = rows_for(o->iterations, o->thin);
  if (rows <= s->draws->capacity)
    return TEMPERA_OK;
  size_t step = s->draws->capacity ? 2 * s->draws->capacity
                                   : rows_for(FIRST_ROOM, o->thin);
  if (!s->automatic && all <= RESERVED_AT_ONCE / tm_draws_row_bytes(s->draws))
    rows = all;
  else if (rows < step)
    rows = step < all ? step : all;
  TM_TRY(tm_draws_reserve(s->draws, rows, error));
  return s->leg && s->leg->walking ? tm_draws_reserve(s->reference, rows, error)
                                   : TEMPERA_OK;
}

tempera_status tempera_sampler_advance(tempera_sampler *sampler, size_t sweeps,
                                       tempera_error *error) {
  tempera_sampler *s = sampler;
  TM_TRY(tm_warmup_begin(s, error));
  s->loaded = false;
  size_t done = tm_sweeps_done(s), end = tm_sweeps_total(s);
  if (sweeps < end - done)
    end = done + sweeps;
  while (done < end) {
    bool warming = done < s->options.warmup;
    size_t pause = warming ? s->round_end : s->search_due;
    size_t until = pause < end ? pause : end;
    /* Not before the freeze: only then the width of a sweep is known. */
    TM_TRY(make_room(s, until, error));
    tm_sweep_until(s, until);
    done = tm_sweeps_done(s);
    update_counts(s);
    /* Asked before rows are written: other ranks go on in the meantime. */
    bool cancelled = tm_answers_agree_on(atomic_load(&s->cancelled));
    TM_TRY(flow(s, s->warmup_draws, true, error));
    TM_TRY(flow(s, s->draws, false, error));
    TM_TRY(first_failure(s, error));
    if (cancelled)
      return tm_fail(error, TEMPERA_CANCELLED, "cancelled");
    if (warming && done == s->round_end)
      TM_TRY(tm_warmup_end_round(s, error));
    if (!warming && done == s->search_due) {
      TM_TRY(tm_landscape_search_on(s, false, error));
      s->search_due += done - s->options.warmup;
    }
  }
  return TEMPERA_OK;
}

bool tm_sampler_time_is_up(const tempera_sampler *sampler) {
  double limit = sampler->options.time_limit;
  return limit > 0 && tm_sampler_seconds(sampler) - sampler->earlier >= limit;
}

bool tm_sampler_stop_due(const void *sampler) {
  const tempera_sampler *s = sampler;
  bool cancelled = atomic_load_explicit(&s->cancelled, memory_order_relaxed);
  return tm_answers_agree_on(cancelled || tm_sampler_time_is_up(s));
}

void tempera_sampler_cancel(tempera_sampler *sampler) {
  atomic_store(&sampler->cancelled, true);
}

const tempera_draws *tempera_sampler_draws(const tempera_sampler *sampler) {
  return sampler->draws;
}

const tempera_draws *tempera_sampler_reference(const tempera_sampler *sampler) {
  return sampler->leg && sampler->leg->walking ? sampler->reference : NULL;
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
 * Progress
 */

double tm_sampler_seconds(const tempera_sampler *sampler) {
  const struct timespec *from = &sampler->started;
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return sampler->earlier + (double)(now.tv_sec - from->tv_sec) +
         1e-9 * (double)(now.tv_nsec - from->tv_nsec);
}

uint64_t tm_sampler_evaluations(const tempera_sampler *sampler) {
  const tempera_sampler *s = sampler;
  uint64_t total = s->starts.likelihood_evaluations + s->estimate_evaluations +
                   s->support.likelihood_evaluations;
  if (s->store)
    total += tm_store_work(s->store).likelihood_evaluations;
  for (size_t c = 0; c < s->options.chains; c++)
    total += tm_group_cost_of(s->groups[c]).likelihood_evaluations;
  total += tm_leg_cost_of(s).likelihood_evaluations;
  return total;
}

void tempera_sampler_progress_sized(const tempera_sampler *sampler,
                                    tempera_progress *progress, size_t size) {
  const tempera_sampler *s = sampler;
  size_t done = tm_sweeps_done(s);
  size_t total = s->satisfied ? done : tm_sweeps_total(s);
  tempera_phase phase = TEMPERA_PHASE_SAMPLING;
  if (done == total)
    phase = TEMPERA_PHASE_DONE;
  else if (!s->begun)
    phase = TEMPERA_PHASE_RIDGE;
  else if (done < s->options.warmup)
    phase = TEMPERA_PHASE_WARMUP;
  const tempera_progress ours = {.phase = phase,
                                 .done = done,
                                 .total = total,
                                 .seconds = tm_sampler_seconds(s),
                                 .log_z = s->log_z,
                                 .se = s->se,
                                 .round_trips = s->round_trips,
                                 .likelihood_evaluations =
                                     tm_sampler_evaluations(s),
                                 .next = tm_next_end(s, done)};
  tm_sized_give(progress, size, &ours, sizeof ours);
}

uint64_t tm_seed_of(const tempera_options *options) {
  return options->seed ^ UINT64_C(0x9e3779b97f4a7c15) * options->chain_offset;
}
