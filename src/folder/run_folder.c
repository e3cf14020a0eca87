/* run_folder.c - one run into its folder, from config.json to summary.json,
 * such that whatever happens everything drawn is on disk. */
#include "base/file.h"
#include "base/memory.h"
#include "base/sized.h"
#include "folder/config.h"
#include "folder/csv_sink.h"
#include "model/data.h"

#include <string.h>

static tempera_status write_config(const char *path,
                                   const tempera_run_request *request,
                                   const tempera_sampler *sampler,
                                   tempera_error *error) {
  char *text = NULL;
  TM_TRY(tm_config_json(request, sampler, &text, error));
  tempera_status status = tm_file_replace(path, text, strlen(text), error);
  tm_heap_free(text);
  return status;
}

/* Makes the folder (and those above it), refuses one that holds a run, and
 * writes config.json. */
static tempera_status open_folder(const tempera_run_request *request,
                                  const tempera_sampler *sampler,
                                  tempera_error *error) {
  TM_TRY(tm_folders_make(request->folder, 0777, error));
  char *config = tm_path_join(request->folder, "config.json");
  if (!config)
    return tm_fail_memory(error);
  tempera_status status =
      tm_file_exists(config)
          ? tm_fail(error, TEMPERA_ERROR_INPUT,
                    "%s already holds a run; name another folder or remove "
                    "this one",
                    request->folder)
          : write_config(config, request, sampler, error);
  tm_heap_free(config);
  return status;
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

/* Who hears of progress. */
typedef struct listener {
  tempera_progress_fn progress; /* or NULL */
  void *user;
} listener;

static tempera_status conduct(const tempera_run_request *request,
                              tempera_sampler *sampler, tm_csv_sink *files,
                              const listener *who, tempera_summary **summary,
                              tempera_error *error) {
  tempera_error problem = {0};
  const tempera_sink sink = {tm_csv_sink_append, files};
  TM_TRY(tempera_sampler_add_sink(sampler, &sink, error));
  tempera_status status =
      tempera_sampler_run(sampler, who->progress, who->user, error);
  keep_first(&status, error, tm_csv_sink_end(files, &problem), &problem);
  /* A model that failed before the first draw has nothing to summarise. */
  if (status != TEMPERA_OK &&
      tempera_draws_count(tempera_sampler_draws(sampler)) == 0)
    return status;
  keep_first(&status, error, summarise(request, sampler, summary, &problem),
             &problem);
  return status;
}

tempera_status tempera_run_sample_sized(const tempera_run_request *given,
                                        size_t size, tempera_sampler *sampler,
                                        tempera_progress_fn progress,
                                        void *user, tempera_summary **summary,
                                        tempera_error *error) {
  tm_csv_sink files = {0};
  tempera_run_request known = {0};
  const tempera_run_request *request = &known;
  TM_TRY(tm_sized_take(&known, sizeof known, given, size, error));
  TM_TRY(open_folder(request, sampler, error));
  tempera_status status = tm_csv_sink_open(request->folder, request->data_path,
                                           sampler, &files, error);
  if (status == TEMPERA_OK)
    status = conduct(request, sampler, &files, &(listener){progress, user},
                     summary, error);
  tm_csv_sink_close(&files);
  return status;
}
