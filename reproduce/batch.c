/* batch.c - replicates side by side, and what they say together. */
#include "reproduce/paper.h"

#include "base/memory.h"
#include "estimate/evidence/evidence.h"
#include "parallel/threads.h"

#include <math.h>
#include <pthread.h>
#include <string.h>
#include <time.h>

typedef struct work {
  pthread_mutex_t lock; /* of done, status and error */
  tm_paper *paper;
  const tm_batch *batch;
  tempera_summary **summaries;
  size_t done;
  tempera_status status; /* the first failure */
  tempera_error error;
} work;

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void show(work *w) {
  tm_paper *paper = w->paper;
  if (paper->started == 0)
    paper->started = now();
  if (paper->progress)
    paper->progress(w->batch->what, w->done, w->batch->count,
                    now() - paper->started, paper->progress_user);
}

static tempera_status run_one(const work *w, size_t replicate,
                              tempera_error *error) {
  const tm_batch *batch = w->batch;
  tempera_options options = batch->options;
  tempera_sampler *sampler = NULL;
  options.seed = w->paper->request->seed + replicate;
  options.threads = 1;
  tempera_status status =
      tempera_sampler_create(batch->model, &options, &sampler, error);
  if (status == TEMPERA_OK)
    status = tempera_sampler_run(sampler, NULL, NULL, error);
  if (status == TEMPERA_OK)
    status =
        tempera_sampler_summarise(sampler, &w->summaries[replicate], error);
  if (status == TEMPERA_OK && batch->inspect)
    status = batch->inspect(sampler, replicate, batch->context, error);
  tempera_sampler_free(sampler);
  return status;
}

static void run_piece(size_t replicate, void *context) {
  work *w = context;
  tempera_error error = {0};
  tempera_status status = run_one(w, replicate, &error);
  pthread_mutex_lock(&w->lock);
  w->done++;
  if (status != TEMPERA_OK && w->status == TEMPERA_OK) {
    w->status = status;
    w->error = error;
  }
  show(w);
  pthread_mutex_unlock(&w->lock);
}

tempera_status tm_batch_run(tm_paper *paper, const tm_batch *batch,
                            tempera_summary **summaries, tempera_error *error) {
  work w = {.lock = PTHREAD_MUTEX_INITIALIZER,
            .paper = paper,
            .batch = batch,
            .summaries = summaries};
  memset(summaries, 0, batch->count * sizeof *summaries);
  show(&w);
  tm_parallel_for(batch->count, paper->threads, run_piece, &w);
  if (w.status == TEMPERA_OK)
    return TEMPERA_OK;
  tm_batch_free(summaries, batch->count);
  return tm_fail(error, w.status, "%s: %s", batch->what, w.error.message);
}

void tm_batch_free(tempera_summary **summaries, size_t count) {
  for (size_t i = 0; i < count; i++) {
    tempera_summary_free(summaries[i]);
    summaries[i] = NULL;
  }
}

const char *const tm_as_printed[] = {"paper", "true", NULL};
const char *const tm_by_default[] = {NULL};

tempera_status tm_batch_options(const tm_paper *paper, tm_length length,
                                const char *const *words, tm_batch *batch,
                                tempera_error *error) {
  const tm_paper_lengths *l = &paper->lengths;
  tempera_options *options = &batch->options;
  *options = tempera_options_default();
  for (; *words; words += 2)
    TM_TRY(tempera_options_set(options, words[0], words[1], error));
  if (length == TM_LENGTH_AUTOMATIC)
    return TEMPERA_OK;
  options->warmup_given = true;
  options->warmup = length == TM_LENGTH_LONG ? l->long_warmup : l->short_warmup;
  options->iterations = length == TM_LENGTH_LONG ? l->long_kept : l->short_kept;
  return TEMPERA_OK;
}

tm_replicated tm_replicated_of(const double *values, const double *se,
                               size_t count) {
  tm_replicated spread = {.sd = NAN};
  double sum = 0, squares = 0, errors = 0;
  for (size_t i = 0; i < count; i++) {
    if (!isfinite(values[i]))
      continue;
    spread.count++;
    sum += values[i];
    errors += se ? se[i] : NAN;
  }
  spread.mean = sum / (double)spread.count;
  spread.se = errors / (double)spread.count;
  for (size_t i = 0; i < count; i++)
    if (isfinite(values[i]))
      squares += (values[i] - spread.mean) * (values[i] - spread.mean);
  if (spread.count > 1)
    spread.sd = sqrt(squares / (double)(spread.count - 1));
  return spread;
}

tm_replicated tm_replicated_estimate(tempera_summary *const *summaries,
                                     size_t count, const char *estimator) {
  enum { MOST = 64 };
  double values[MOST], se[MOST];
  size_t reliable = 0;
  for (size_t i = 0; i < count && i < MOST; i++) {
    const tempera_summary *s = summaries[i];
    reliable += s->reliable;
    const tempera_estimate *e =
        estimator ? tm_estimate_find(s, estimator) : NULL;
    values[i] = e ? e->log_z : estimator ? NAN : s->log_z;
    se[i] = e ? e->se : estimator ? NAN : s->se;
  }
  tm_replicated spread =
      tm_replicated_of(values, se, count < MOST ? count : MOST);
  spread.runs = count;
  spread.reliable = reliable;
  return spread;
}

double tm_replicated_error(const tm_replicated *spread) {
  return spread->count > 1 ? spread->sd / sqrt((double)spread->count)
                           : spread->se;
}
