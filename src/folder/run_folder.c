/* run_folder.c - one run into its folder, from config.json to summary.json,
 * such that whatever happens everything drawn is on disk. */
#include "base/file.h"
#include "base/lock.h"
#include "base/memory.h"
#include "base/sized.h"
#include "folder/checkpoint.h"
#include "folder/config.h"
#include "folder/power_files.h"
#include "folder/predictions_files.h"
#include "model/data.h"
#include "parallel/ranks.h"
#include "run/sampler.h"
#include "tempera_mpi.h"

#include <math.h>
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

static tempera_status put_config(const tempera_run_request *request,
                                 const tempera_sampler *sampler,
                                 tempera_error *error) {
  char *config = tm_path_join(request->folder, "config.json");
  if (!config)
    return tm_fail_memory(error);
  tempera_status status = write_config(config, request, sampler, error);
  tm_heap_free(config);
  return status;
}

static tempera_status holds_run(const char *folder, bool *run,
                                tempera_error *error) {
  char *config = tm_path_join(folder, "config.json");
  if (!config)
    return tm_fail_memory(error);
  *run = tm_file_exists(config);
  tm_heap_free(config);
  return TEMPERA_OK;
}

static tempera_status refuse(const char *folder, tempera_error *error) {
  return tm_fail(error, TEMPERA_ERROR_INPUT,
                 "%s already holds a run; name another folder or remove "
                 "this one, or go on with it: tempera resume",
                 folder);
}

/* Makes the folder (and those above it), claims it, and refuses one that holds
 * a run. */
static tempera_status claim(const char *folder, int *lock,
                            tempera_error *error) {
  bool run = false;
  TM_TRY(tm_folders_make(folder, 0777, error));
  TM_TRY(tm_folder_lock(folder, lock, error));
  TM_TRY(holds_run(folder, &run, error));
  return run ? refuse(folder, error) : TEMPERA_OK;
}

tempera_status tempera_run_folder_vacant(const char *folder,
                                         tempera_error *error) {
  bool run = false;
  int lock = -1;
  TM_TRY(holds_run(folder, &run, error));
  if (!run)
    return TEMPERA_OK;
  TM_TRY(tm_folder_lock(folder, &lock, error));
  tm_folder_unlock(lock);
  return refuse(folder, error);
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

static tempera_status write_answers(const tempera_run_request *request,
                                    const tempera_sampler *sampler,
                                    const tempera_summary *summary,
                                    tempera_error *error) {
  TM_TRY(write_summary(request, summary, error));
  TM_TRY(tm_predictions_write(request->folder, sampler->model, summary, error));
  return tm_power_files_write(request->folder, request->data_path, sampler,
                              error);
}

/* `write`: into the folder too. */
static tempera_status summarise(const tempera_run_request *request,
                                const tempera_sampler *sampler, bool write,
                                tempera_summary **summary,
                                tempera_error *error) {
  tempera_summary *made = NULL;
  TM_TRY(tempera_sampler_summarise(sampler, &made, error));
  tempera_status status = note_data(request->data, made, error);
  if (status == TEMPERA_OK && write)
    status = write_answers(request, sampler, made, error);
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

/* ---- while it runs ------------------------------------------------------- */

/* A page to look at, this often in seconds at most, for a small share of the
 * time: so many times what it took is the wait for the next. */
static const double PAGE_EVERY = 10, PAGE_RARELY = 50;
enum { PAGE_DRAWS = 100 };

typedef struct keeping {
  const tempera_run_request *request;
  tm_checkpoint *checkpoint;
  double due; /* seconds into the run */
} keeping;

/* A run is no worse for having no page: failures are not its own. */
static void show_state(const keeping *w, tempera_sampler *sampler) {
  tempera_summary *made = NULL;
  if (tempera_sampler_summarise(sampler, &made, NULL) != TEMPERA_OK)
    return;
  made->running = tempera_sampler_options(sampler)->iterations;
  if (note_data(w->request->data, made, NULL) == TEMPERA_OK &&
      write_summary(w->request, made, NULL) == TEMPERA_OK &&
      tempera_run_report(w->request->folder, NULL, NULL) != TEMPERA_OK)
    w->checkpoint->pageless = true; /* once is enough */
  tempera_summary_free(made);
}

/* Rank 0's affair, while the others wait: so without the bridge, whose calls
 * nobody shares. */
static void show_alone(const keeping *w, tempera_sampler *sampler) {
  bool bridge = sampler->options.bridge;
  tm_ranks_step_aside();
  sampler->options.bridge = bridge && !tm_ranks();
  show_state(w, sampler);
  sampler->options.bridge = bridge;
  tm_ranks_step_back();
}

static tempera_status keep(tempera_sampler *sampler, bool must, void *user,
                           tempera_error *error) {
  keeping *w = user;
  TM_TRY(tm_checkpoint_keep(w->checkpoint, must, error));
  double now = tm_sampler_seconds(sampler);
  if (now < w->due || w->checkpoint->pageless ||
      tempera_draws_count(tempera_sampler_draws(sampler)) < PAGE_DRAWS)
    return TEMPERA_OK;
  show_alone(w, sampler);
  double took = tm_sampler_seconds(sampler) - now;
  w->due = now + took + fmax(PAGE_EVERY, PAGE_RARELY * took);
  return TEMPERA_OK;
}

static tempera_status conduct(const tempera_run_request *request,
                              tm_checkpoint *checkpoint, const listener *who,
                              tempera_summary **summary, tempera_error *error) {
  tempera_error problem = {0};
  tempera_sampler *sampler = checkpoint->sampler;
  const tempera_sink sink = {tm_csv_sink_append, checkpoint->files};
  TM_TRY(tempera_sampler_add_sink(sampler, &sink, error));
  TM_TRY(tm_checkpoint_attach(checkpoint, error));
  keeping w = {request, checkpoint, tm_sampler_seconds(sampler) + PAGE_EVERY};
  tm_sampler_set_keeper(sampler, &(tm_keeper){keep, &w});
  tempera_status status =
      tempera_sampler_run(sampler, who->progress, who->user, error);
  tm_sampler_set_keeper(sampler, &(tm_keeper){0});
  keep_first(&status, error, tm_csv_sink_end(checkpoint->files, &problem),
             &problem);
  /* A model that failed before the first draw has nothing to summarise. */
  if (status != TEMPERA_OK &&
      tempera_draws_count(tempera_sampler_draws(sampler)) == 0)
    return status;
  /* Of a disk that is full the files hold fewer draws than there are in memory:
   * a summary of these would belie them. Whoever reads the run makes its own.
   */
  bool write = status != TEMPERA_ERROR_IO;
  keep_first(&status, error,
             summarise(request, sampler, write, summary, &problem), &problem);
  return status;
}

/* The first checkpoint comes before config.json, which makes the folder a
 * run's: so that whatever is one can be resumed. */
static tempera_status begin(const tempera_run_request *request,
                            tempera_sampler *sampler, tm_csv_sink *files,
                            tm_checkpoint *checkpoint, tempera_error *error) {
  TM_TRY(
      tm_checkpoint_begin(request->folder, sampler, files, checkpoint, error));
  TM_TRY(put_config(request, sampler, error));
  return tm_csv_sink_open(request->folder, request->data_path, sampler, files,
                          error);
}

tempera_status tempera_run_sample_sized(const tempera_run_request *given,
                                        size_t size, tempera_sampler *sampler,
                                        tempera_progress_fn progress,
                                        void *user, tempera_summary **summary,
                                        tempera_error *error) {
  int lock = -1;
  tm_csv_sink files = {0};
  tm_checkpoint checkpoint = {.rows = -1};
  tempera_run_request known = {0};
  const tempera_run_request *request = &known;
  TM_TRY(tm_sized_take(&known, sizeof known, given, size, error));
  tempera_status status = claim(request->folder, &lock, error);
  if (status == TEMPERA_OK)
    status = begin(request, sampler, &files, &checkpoint, error);
  if (status == TEMPERA_OK)
    status = conduct(request, &checkpoint, &(listener){progress, user}, summary,
                     error);
  tm_checkpoint_close(&checkpoint);
  tm_csv_sink_close(&files);
  tm_folder_unlock(lock);
  return status;
}

/* ---- going on ----------------------------------------------------------- */

struct tempera_run {
  char *folder, *data_path;
  tempera_run_request request; /* texts are the caller's but for these */
  int lock;
  tm_csv_sink files;
  tm_checkpoint checkpoint;
};

static tempera_status open_run(tempera_run *run, const tempera_model *model,
                               int threads, tempera_error *error) {
  tempera_run_request *r = &run->request;
  run->folder = tm_heap_text(r->folder);
  run->data_path = r->data_path ? tm_heap_text(r->data_path) : NULL;
  if (!run->folder || (r->data_path && !run->data_path))
    return tm_fail_memory(error);
  r->folder = run->folder;
  r->data_path = run->data_path;
  if (tempera_mpi_rank() == 0) { /* the others have it from rank 0 */
    TM_TRY(tm_config_check(r, error));
    TM_TRY(tm_folder_lock(r->folder, &run->lock, error));
  }
  return tm_checkpoint_load(r->folder, r->data_path, model, threads,
                            &run->files, &run->checkpoint, error);
}

tempera_status tempera_run_open_sized(const tempera_run_request *given,
                                      size_t size, const tempera_model *model,
                                      int threads, tempera_run **run,
                                      tempera_error *error) {
  tempera_run *made = tm_heap_alloc(1, sizeof *made);
  if (!made)
    return tm_fail_memory(error);
  made->lock = made->checkpoint.rows = -1;
  tempera_status status =
      tm_sized_take(&made->request, sizeof made->request, given, size, error);
  if (status == TEMPERA_OK)
    status = open_run(made, model, threads, error);
  if (status == TEMPERA_OK)
    *run = made;
  else
    tempera_run_close(made);
  return status;
}

void tempera_run_close(tempera_run *run) {
  if (!run)
    return;
  tm_checkpoint_close(&run->checkpoint);
  tm_csv_sink_close(&run->files);
  tempera_sampler_free(run->checkpoint.sampler);
  tm_folder_unlock(run->lock);
  tm_heap_free(run->folder);
  tm_heap_free(run->data_path);
  tm_heap_free(run);
}

tempera_sampler *tempera_run_sampler(tempera_run *run) {
  return run->checkpoint.sampler;
}

tempera_status tempera_run_resume(tempera_run *run,
                                  tempera_progress_fn progress, void *user,
                                  tempera_summary **summary,
                                  tempera_error *error) {
  if (tempera_mpi_rank() > 0)
    return tm_fail(error, TEMPERA_ERROR_ARGUMENT,
                   "rank 0 writes: run the sampler of the run on the others");
  TM_TRY(tm_config_renew(run->folder, run->checkpoint.sampler, error));
  return conduct(&run->request, &run->checkpoint, &(listener){progress, user},
                 summary, error);
}
