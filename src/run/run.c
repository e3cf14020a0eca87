/* run.c - one run into its folder, from config.json to summary.json, such that
 * whatever happens everything drawn is on disk. */
#include "base/file.h"
#include "base/memory.h"
#include "model/data.h"
#include "run/folder.h"

#include <string.h>

/* What the progress callback carries: it writes rows, then tells the caller's
 * own callback. */
typedef struct watch {
  tempera_sampler *sampler;
  tm_folder *folder;
  tempera_progress_fn progress; /* the caller's; may be NULL */
  void *user;
  double warmup_seconds; /* when the first kept sweep began */
  tempera_status status; /* of writing */
  tempera_error error;
} watch;

static void append_rows(watch *w) {
  if (w->status == TEMPERA_OK)
    w->status = tm_folder_append(w->folder, w->sampler, &w->error);
}

static void on_progress(const tempera_progress *progress, void *user) {
  watch *w = user;
  if (progress->phase < TEMPERA_PHASE_SAMPLING)
    w->warmup_seconds = progress->seconds;
  append_rows(w);
  if (w->status != TEMPERA_OK)
    tempera_sampler_cancel(w->sampler); /* what cannot be kept is wasted */
  if (w->progress)
    w->progress(progress, w->user);
}

/* A failed write cancels the sampler; the write is then the news, together
 * with how much is safe. */
static tempera_status verdict_of(watch *w, tempera_status sampling,
                                 tempera_error *error) {
  if (w->status == TEMPERA_OK)
    return sampling;
  return tm_fail(error, w->status,
                 "%.400s; the first %zu draws of each chain are on disk",
                 w->error.message, w->folder->rows);
}

static tempera_status write_summary(const tempera_run_request *request,
                                    const tempera_summary *summary,
                                    tempera_error *error) {
  char *text = NULL;
  char *path = tm_path_join(request->folder, "summary.json");
  if (!path)
    return tm_fail_memory(error);
  tempera_status status = tempera_summary_json(summary, &text, error);
  if (status == TEMPERA_OK)
    status = tm_file_replace(path, text, strlen(text), error);
  tempera_text_free(text);
  tm_heap_free(path);
  return status;
}

static tempera_status note_data(const tempera_data *data,
                                tempera_summary *summary,
                                tempera_error *error) {
  if (!data)
    return TEMPERA_OK;
  summary->data_hash = tempera_data_hash(data);
  return tm_data_marks(data, &summary->data, &summary->data_count, error);
}

static tempera_status summarise(const tempera_run_request *request,
                                const tempera_sampler *sampler,
                                tempera_summary **summary,
                                tempera_error *error) {
  tempera_summary *made = NULL;
  TM_TRY(tempera_sampler_summarise(sampler, &made, error));
  tempera_status status = note_data(request->data, made, error);
  if (status == TEMPERA_OK)
    status = write_summary(request, made, error);
  if (summary)
    *summary = made;
  else
    tempera_summary_free(made);
  return status;
}

/* The first failure is what the caller hears of. */
static void keep_first(tempera_status *status, tempera_error *error,
                       tempera_status later, const tempera_error *problem) {
  if (*status != TEMPERA_OK || later == TEMPERA_OK)
    return;
  *status = later;
  if (error)
    *error = *problem;
}

static tempera_status conduct(const tempera_run_request *request, watch *w,
                              tempera_summary **summary, tempera_error *error) {
  tempera_error problem = {0};
  tempera_status status =
      tempera_sampler_run(w->sampler, on_progress, w, error);
  append_rows(w);
  status = verdict_of(w, status, error);
  double seconds = tempera_sampler_progress(w->sampler).seconds;
  tempera_status later = tm_folder_end(w->folder, w->sampler, w->warmup_seconds,
                                       seconds - w->warmup_seconds, &problem);
  keep_first(&status, error, later, &problem);
  /* A model that failed before the first draw has nothing to summarise. */
  if (status != TEMPERA_OK &&
      tempera_draws_count(tempera_sampler_draws(w->sampler)) == 0)
    return status;
  later = summarise(request, w->sampler, summary, &problem);
  keep_first(&status, error, later, &problem);
  return status;
}

tempera_status tempera_run_sample(const tempera_run_request *request,
                                  tempera_sampler *sampler,
                                  tempera_progress_fn progress, void *user,
                                  tempera_summary **summary,
                                  tempera_error *error) {
  tm_folder folder = {0};
  watch w = {.sampler = sampler,
             .folder = &folder,
             .progress = progress,
             .user = user};
  TM_TRY(tm_folder_open(request, sampler, &folder, error));
  tempera_status status = tm_folder_begin(&folder, request, sampler, error);
  if (status == TEMPERA_OK)
    status = conduct(request, &w, summary, error);
  tm_folder_close(&folder);
  return status;
}
