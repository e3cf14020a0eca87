/* saving.c - see saving.h. */
#include "run/saving.h"

#include "base/file.h"
#include "run/run.h"
#include "run/sampler.h"

#include <stdio.h>
#include <string.h>

/* ------------------------------------------------------------------------
 * Options, as they were asked for
 */

/* Whoever adds an option adds it below, and its bytes here. */
#if UINTPTR_MAX == UINT64_MAX
_Static_assert(sizeof(tempera_options) == 320,
               "archive the new option in run/saving.c");
#endif

enum { MOST_CHAINS = 100000, MOST_WALKERS = 1000, MOST_THREADS = 4096 };
static const size_t MOST_SWEEPS = (size_t)1 << 40;

/* One word out of a list. */
#define ARCHIVE_WORD(field, choice)                                            \
  do {                                                                         \
    uint64_t value = (uint64_t)o->field;                                       \
    tm_archive_u64(archive, &value);                                           \
    if (value > INT8_MAX || tm_choice_word(choice, (int)value)[0] == '?')      \
      tm_archive_fail(archive, "an option has a value that is not known");     \
    else                                                                       \
      o->field = (tempera_##field)value;                                       \
  } while (0)

static void archive_words(tempera_options *o, tm_archive *archive) {
  ARCHIVE_WORD(method, TM_CHOICE_METHOD);
  ARCHIVE_WORD(tau_prior, TM_CHOICE_TAU_PRIOR);
  ARCHIVE_WORD(ridge, TM_CHOICE_RIDGE);
  ARCHIVE_WORD(tau_move, TM_CHOICE_TAU_MOVE);
  ARCHIVE_WORD(kernel, TM_CHOICE_KERNEL);
  ARCHIVE_WORD(weights, TM_CHOICE_WEIGHTS);
  ARCHIVE_WORD(swaps, TM_CHOICE_SWAPS);
  ARCHIVE_WORD(schedule, TM_CHOICE_SCHEDULE);
}

static void archive_options(tempera_options *o, tm_archive *archive) {
  size_t threads = (size_t)o->threads;
  archive_words(o, archive);
  double *reals[] = {&o->tau_scale, &o->tau_min, &o->exchange, &o->time_limit,
                     &o->until_se};
  for (size_t i = 0; i < sizeof reals / sizeof *reals; i++)
    tm_archive_double(archive, reals[i]);
  bool *flags[] = {&o->warmup_given,
                   &o->paper,
                   &o->jumps,
                   &o->bridge,
                   &o->reference,
                   &o->save_warmup,
                   &o->tempered_quantities};
  for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
    tm_archive_bool(archive, flags[i]);
  tm_archive_count(archive, &o->chains, MOST_CHAINS);
  tm_archive_count(archive, &o->iterations, MOST_SWEEPS);
  tm_archive_count(archive, &o->warmup, MOST_SWEEPS);
  tm_archive_count(archive, &o->thin, MOST_SWEEPS);
  tm_archive_count(archive, &o->levels, TM_MOST_LEVELS);
  tm_archive_count(archive, &o->walkers, MOST_WALKERS);
  tm_archive_count(archive, &o->observations, MOST_SWEEPS);
  tm_archive_u64(archive, &o->seed);
  tm_archive_count(archive, &threads, MOST_THREADS);
  tm_archive_size(archive, &o->chain_offset);
  tm_archive_count(archive, &o->at_tau_count, TEMPERA_MOST_TAUS);
  for (size_t i = 0; i < o->at_tau_count && i < TEMPERA_MOST_TAUS; i++)
    tm_archive_double(archive, &o->at_tau[i]);
  o->threads = (int)threads;
}

/* ------------------------------------------------------------------------
 * The run
 */

/* A run of another model is refused before anything is made of it. */
static void archive_model(const tempera_model *model, tm_archive *archive) {
  char name[160];
  size_t size = model->size, dimension = model->dimension;
  snprintf(name, sizeof name, "%s", model->spec.name);
  tm_archive_tag(archive, "run");
  tm_archive_text(archive, name, sizeof name);
  tm_archive_size(archive, &size);
  tm_archive_size(archive, &dimension);
  if (strncmp(name, model->spec.name, sizeof name - 1) != 0 ||
      size != model->size || dimension != model->dimension)
    tm_archive_fail(archive, "it is of another model");
}

static void archive_stage(tempera_sampler *s, tm_archive *archive) {
  tempera_options *o = &s->options;
  double seconds = tm_sampler_seconds(s);
  tm_archive_tag(archive, "stage");
  tm_archive_bool(archive, &s->begun);
  tm_archive_double(archive, &seconds);
  tm_archive_count(archive, &o->iterations, MOST_SWEEPS);
  tm_archive_count(archive, &o->warmup, MOST_SWEEPS);
  tm_archive_count(archive, &o->levels, TM_MOST_LEVELS);
  tm_archive_count(archive, &s->saved_at, tm_sweeps_total(s));
  tm_archive_size(archive, &s->round_start);
  tm_archive_size(archive, &s->round_end);
  tm_archive_size(archive, &s->search_due);
  tm_archive_size(archive, &s->extensions);
  tm_archive_bool(archive, &s->shortened);
  tm_archive_bool(archive, &s->barren);
  tm_archive_bool(archive, &s->anew);
  tm_archive_size(archive, &s->trips);
  tm_archive_bool(archive, &s->automatic);
  tm_archive_bool(archive, &s->satisfied);
  tm_archive_text(archive, s->decision, sizeof s->decision);
  tm_archive_size(archive, &s->absorption.starts);
  tm_archive_size(archive, &s->absorption.absorbed);
  tm_archive_double(archive, &s->absorption.lost_mass);
  tm_archive_u64(archive, &s->absorption.lost);
  tm_archive_size(archive, &s->absorption.tried);
  tm_archive_size(archive, &s->absorption.far);
  tm_archive_size(archive, &s->absorption.far_absorbed);
  tm_archive_double(archive, &s->absorption.far_mass);
  tm_archive_size(archive, &s->absorption.rows);
  tm_archive_double(archive, &s->warmup_seconds);
  if (archive->reading)
    s->earlier = seconds;
}

/* Where rounds and searches stand, as sweeps go on from there. */
static void check_stage(const tempera_sampler *s, tm_archive *archive) {
  size_t done = s->saved_at, warmup = s->options.warmup;
  bool warming = done < warmup;
  bool round =
      s->round_start <= done && done < s->round_end && s->round_end <= warmup;
  if (s->begun && (warming ? !round : s->search_due <= done))
    tm_archive_fail(archive, "the stage of the run is not possible");
}

/* Calls that a summary of the same draws will make again do not count twice. */
static void archive_calls(tempera_sampler *s, tm_archive *archive) {
  uint64_t calls = s->estimate_evaluations;
  if (!archive->reading && atomic_load(&s->checked) &&
      s->checked_count == s->draws->count)
    calls -= s->checked_calls;
  tm_archive_u64(archive, &calls);
  if (archive->reading)
    s->estimate_evaluations = calls;
}

static void archive_annealed(tempera_sampler *s, tm_archive *archive) {
  size_t all = s->options.chains * s->model->size, count = all;
  bool there = s->annealed != NULL;
  tm_archive_bool(archive, &there);
  if (!there)
    return;
  tm_archive_grown(archive, &s->annealed, &count, all);
  if (count != all)
    tm_archive_fail(archive, "there are too few annealed points");
}

static tempera_status make_room(tempera_sampler *s, tm_archive *archive,
                                tempera_error *error) {
  size_t width = s->groups[0]->width[TEMPERA_TEMPERED];
  if (s->draws->width != (s->draws->count && width ? width : s->draws->width))
    tm_archive_fail(archive, "draws have another width than sweeps");
  if (s->draws->count > tm_sweeps_total(s))
    tm_archive_fail(archive, "there are more draws than sweeps");
  if (!tm_archive_fine(archive))
    return TEMPERA_OK;
  TM_TRY(tm_draws_reserve(s->draws, s->draws->count, error));
  if (s->leg && s->leg->walking)
    TM_TRY(tm_draws_reserve(s->reference, s->draws->count, error));
  return TEMPERA_OK;
}

static tempera_status archive_draws(tempera_sampler *s, tm_archive *archive,
                                    tempera_error *error) {
  tm_draws_archive_law(s->draws, archive);
  if (s->reference)
    tm_draws_archive_law(s->reference, archive);
  if (s->warmup_draws)
    tm_archive_count(archive, &s->warmup_draws->count,
                     s->warmup_draws->capacity);
  return archive->reading ? make_room(s, archive, error) : TEMPERA_OK;
}

static tempera_status archive_groups(tempera_sampler *s, tm_archive *archive,
                                     tempera_error *error) {
  if (s->begun) {
    TM_TRY(tm_history_archive(s, archive, error));
    if (s->method->archive && tm_archive_fine(archive))
      TM_TRY(s->method->archive(s, archive, error));
    if (tm_archive_fine(archive))
      TM_TRY(tm_leg_archive(s, archive, error));
    archive_annealed(s, archive);
  }
  for (size_t c = 0; c < s->options.chains && tm_archive_fine(archive); c++) {
    tm_group_archive(s->groups[c], archive);
    if (s->groups[c]->done != s->saved_at)
      tm_archive_fail(archive, "chains are not at the same sweep");
  }
  return TEMPERA_OK;
}

static tempera_status archive_rest(tempera_sampler *s, tm_archive *archive,
                                   tempera_error *error) {
  archive_stage(s, archive);
  check_stage(s, archive);
  TM_TRY(archive_groups(s, archive, error));
  archive_calls(s, archive);
  return archive_draws(s, archive, error);
}

tempera_status tm_sampler_write(tempera_sampler *sampler, tm_archive *archive,
                                tempera_error *error) {
  tempera_sampler *s = sampler;
  tempera_options asked = s->asked;
  size_t values = s->init_values;
  s->saved_at = tm_sweeps_done(s);
  archive_model(s->given, archive);
  archive_options(&asked, archive);
  tm_archive_grown(archive, &s->init, &values, SIZE_MAX);
  return archive_rest(s, archive, error);
}

/* The options and starts that were given, in *init, which is to be freed. */
static tempera_status read_options(const tempera_model *model,
                                   tm_archive *archive, tempera_options *asked,
                                   double **init, tempera_error *error) {
  size_t values = 0;
  *asked = tempera_options_default();
  archive_model(model, archive);
  archive_options(asked, archive);
  tm_archive_grown(archive, init, &values, SIZE_MAX / sizeof(double) - 1);
  size_t chains = asked->chains ? asked->chains : 1;
  /* whoever gave starts said for how many chains */
  if (values && (!asked->chains || values / chains < model->size))
    tm_archive_fail(archive, "starts are missing");
  /* Before memory is taken for them: each has a stream at least. */
  if (chains > (archive->length - archive->at) / sizeof(tempera_random))
    tm_archive_fail(archive, "there are more chains than states");
  asked->init = values ? *init : NULL;
  if (tm_archive_fine(archive))
    return TEMPERA_OK;
  tm_heap_free(*init);
  *init = NULL;
  return tm_archive_end(archive, error);
}

tempera_status tm_sampler_read(const tempera_model *model, tm_archive *archive,
                               int threads, tempera_sampler **sampler,
                               tempera_error *error) {
  tempera_options asked;
  tempera_sampler *made = NULL;
  double *init = NULL;
  TM_TRY(read_options(model, archive, &asked, &init, error));
  if (threads)
    asked.threads = threads;
  tempera_status status = tempera_sampler_create(model, &asked, &made, error);
  tm_heap_free(init);
  TM_TRY(status);
  status = archive_rest(made, archive, error);
  if (status == TEMPERA_OK && !tm_archive_fine(archive))
    status = tm_archive_end(archive, error);
  if (status != TEMPERA_OK) {
    tempera_sampler_free(made);
    return status;
  }
  made->loaded = made->begun;
  *sampler = made;
  return TEMPERA_OK;
}

void tm_sampler_archive_rows(tempera_sampler *sampler, size_t *first,
                             size_t *last, tm_archive *archive) {
  tempera_sampler *s = sampler;
  bool leg = s->leg && s->leg->walking;
  tm_archive_tag(archive, "rows");
  tm_archive_size(archive, first);
  tm_archive_size(archive, last);
  if (!tm_archive_fine(archive))
    return;
  tm_draws_archive_rows(s->draws, *first, *last, archive);
  if (leg)
    tm_draws_archive_rows(s->reference, *first, *last, archive);
}

void tm_sampler_set_keeper(tempera_sampler *sampler, const tm_keeper *keeper) {
  sampler->keeper = *keeper;
}

/* ------------------------------------------------------------------------
 * In one file
 */

static void archive_all_rows(tempera_sampler *s, tm_archive *archive) {
  size_t first = 0, last = s->draws->count;
  tm_sampler_archive_rows(s, &first, &last, archive);
  if (first != 0 || last != s->draws->count)
    tm_archive_fail(archive, "draws are missing");
  if (s->warmup_draws && tm_archive_fine(archive))
    tm_draws_archive_rows(s->warmup_draws, 0, s->warmup_draws->count, archive);
}

tempera_status tempera_sampler_save(tempera_sampler *sampler, const char *path,
                                    tempera_error *error) {
  tm_archive archive = tm_archive_writer();
  tempera_status status = tm_sampler_write(sampler, &archive, error);
  archive_all_rows(sampler, &archive);
  if (status == TEMPERA_OK)
    status = tm_archive_seal(&archive, error);
  if (status == TEMPERA_OK)
    status = tm_file_replace(path, (const char *)archive.data, archive.length,
                             error);
  tm_archive_clear(&archive);
  return status;
}

static tempera_status load(const tempera_model *model, const char *content,
                           size_t length, int threads,
                           tempera_sampler **sampler, tempera_error *error) {
  tm_archive archive;
  tempera_sampler *made = NULL;
  TM_TRY(tm_archive_open(content, length, &archive, error));
  TM_TRY(tm_sampler_read(model, &archive, threads, &made, error));
  archive_all_rows(made, &archive);
  tempera_status status = tm_archive_end(&archive, error);
  if (status == TEMPERA_OK)
    *sampler = made;
  else
    tempera_sampler_free(made);
  return status;
}

tempera_status tempera_sampler_load(const tempera_model *model,
                                    const char *path, int threads,
                                    tempera_sampler **sampler,
                                    tempera_error *error) {
  char *content = NULL;
  size_t length = 0;
  tempera_error problem = {0};
  TM_TRY(tm_file_read(path, &content, &length, error));
  tempera_status status =
      load(model, content, length, threads, sampler, &problem);
  tm_heap_free(content);
  return status == TEMPERA_OK
             ? TEMPERA_OK
             : tm_fail(error, status, "%.200s cannot be used: %.280s", path,
                       problem.message);
}

tempera_status tempera_sampler_lengthen(tempera_sampler *sampler,
                                        size_t iterations,
                                        tempera_error *error) {
  tempera_sampler *s = sampler;
  size_t done = tm_sweeps_done(s), warmup = s->options.warmup;
  size_t kept = done > warmup ? done - warmup : 0;
  if (iterations < kept || iterations == 0 || iterations > MOST_SWEEPS)
    return tm_fail(error, TEMPERA_ERROR_ARGUMENT,
                   "%zu iterations: there are %zu per chain already",
                   iterations, kept);
  s->options.iterations = s->asked.iterations = iterations;
  s->asked.warmup_given = true; /* as it was, not half of the iterations */
  s->asked.warmup = warmup;
  s->asked.thin = s->options.thin;
  s->automatic = s->satisfied = false;
  s->decision[0] = '\0';
  return TEMPERA_OK;
}
