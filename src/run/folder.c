/* folder.c - see folder.h.
 *
 * Rows go to the kernel by write(2) as soon as a block is drawn, without a
 * buffer of ours, so that a killed process loses nothing already drawn. A
 * block that does not fit (full disk) is taken back from every file. */
#include "run/folder.h"

#include "base/file.h"
#include "base/memory.h"
#include "parallel/threads.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static tempera_status fail_file(const char *path, tempera_error *error) {
  return tm_fail(error, TEMPERA_ERROR_IO, "cannot write %s: %s", path,
                 strerror(errno));
}

/* ---- making it ---------------------------------------------------------- */

static tempera_status make_folders(const char *path, tempera_error *error) {
  char *above = tm_heap_text(path);
  if (!above)
    return tm_fail_memory(error);
  tempera_status status = TEMPERA_OK;
  for (char *c = above + 1; *c && status == TEMPERA_OK; c++)
    if (*c == '/') {
      *c = '\0';
      status = tm_folder_make(above, error);
      *c = '/';
    }
  tm_heap_free(above);
  return status == TEMPERA_OK ? tm_folder_make(path, error) : status;
}

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

tempera_status tm_folder_open(const tempera_run_request *request,
                              const tempera_sampler *sampler, tm_folder *folder,
                              tempera_error *error) {
  TM_TRY(make_folders(request->folder, error));
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
  if (status == TEMPERA_OK)
    *folder = (tm_folder){.path = request->folder};
  return status;
}

/* ---- writing ------------------------------------------------------------ */

static tempera_status append(const tm_csv_file *file, tempera_error *error) {
  const tm_text *text = &file->block;
  if (text->failed)
    return tm_fail_memory(error);
  for (size_t done = 0; done < text->length;) {
    ssize_t n = pwrite(file->descriptor, text->data + done, text->length - done,
                       file->size + (off_t)done);
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      return fail_file(file->path, error);
    done += (size_t)n;
  }
  return TEMPERA_OK;
}

/* Now that a block is in every file, it stays. */
static void settle(tm_folder *folder) {
  for (size_t i = 0; i < folder->file_count; i++)
    folder->files[i].size = lseek(folder->files[i].descriptor, 0, SEEK_END);
}

/* After a failed write all chains go back to the last block they share: whole
 * rows, and as many in each. */
static void cut_back(const tm_folder *folder) {
  for (size_t i = 0; i < folder->file_count; i++) {
    const tm_csv_file *file = &folder->files[i];
    if (ftruncate(file->descriptor, file->size) != 0)
      return; /* a reader may meet half a row: nothing more can be done */
  }
}

static tempera_status open_file(tm_folder *folder, tm_csv_file *file,
                                tempera_error *error) {
  char name[64];
  snprintf(name, sizeof name, "%s-%zu.csv",
           file->role == TEMPERA_TARGET ? "target" : "tempered",
           file->chain + 1);
  file->path = tm_path_join(folder->path, name);
  if (!file->path)
    return tm_fail_memory(error);
  file->descriptor =
      open(file->path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  return file->descriptor < 0 ? fail_file(file->path, error) : TEMPERA_OK;
}

static tm_csv_about about_run(const tempera_run_request *request,
                              const tempera_sampler *sampler) {
  const tempera_options *o = tempera_sampler_options(sampler);
  const tempera_model *model = tempera_sampler_model(sampler);
  const tempera_model_spec *spec = tempera_model_spec_of(model);
  return (tm_csv_about){
      .model = tempera_model_name(model),
      .method = tm_choice_word(TM_CHOICE_METHOD, (int)o->method),
      .kernel = tm_choice_word(TM_CHOICE_KERNEL, (int)o->kernel),
      .data_path = request->data_path,
      .iterations = o->iterations,
      .warmup = o->warmup,
      .thin = o->thin,
      .seed = o->seed,
      .save_warmup = o->save_warmup,
      .quantity_names = spec->quantity_names,
      .quantity_count = spec->quantity_count};
}

tempera_status tm_folder_begin(tm_folder *folder,
                               const tempera_run_request *request,
                               const tempera_sampler *sampler,
                               tempera_error *error) {
  const tempera_draws *draws = tempera_sampler_draws(sampler);
  tm_csv_about about = about_run(request, sampler);
  folder->dimension =
      tempera_model_unconstrained_size(tempera_sampler_model(sampler));
  folder->files = tm_heap_alloc(2 * draws->chains, sizeof *folder->files);
  if (!folder->files)
    return tm_fail_memory(error);
  for (size_t i = 0; i < 2 * draws->chains; i++) {
    tempera_role role = i < draws->chains ? TEMPERA_TARGET : TEMPERA_TEMPERED;
    if (!draws->has_role[role])
      continue;
    tm_csv_file *file = &folder->files[folder->file_count++];
    *file = (tm_csv_file){
        .descriptor = -1, .role = role, .chain = i % draws->chains};
    TM_TRY(open_file(folder, file, error));
    TM_TRY(tm_quantities_create(tempera_sampler_model(sampler), about.seed,
                                &file->quantities, error));
    about.id = file->chain + 1;
    tm_csv_header(&file->block, &about, draws, role, &file->samples_at,
                  &file->warmup_at);
    TM_TRY(append(file, error));
  }
  settle(folder);
  return TEMPERA_OK;
}

/* Rows to be formatted, by several threads. */
typedef struct news {
  tm_folder *folder;
  const tempera_draws *warmup, *draws;
  size_t warmed;
} news;

/* The rows of sweeps first .. last-1. */
static void add_rows(tm_csv_file *file, const tempera_draws *draws, bool warmup,
                     size_t first, size_t last) {
  size_t width = tm_draws_width(draws, file->role);
  size_t count = file->quantities.evaluator.model->spec.quantity_count;
  tm_draw_place place = {draws, warmup, file->role, file->chain, first * width};
  for (; place.row < last * width; place.row++) {
    const double *quantities =
        count ? tm_quantities_row(&file->quantities, &place) : NULL;
    tm_csv_row(&file->block, draws, file->role, file->chain, place.row,
               quantities, count);
  }
}

static void format_file(size_t i, void *context) {
  const news *n = context;
  const tm_folder *folder = n->folder;
  tm_csv_file *file = &folder->files[i];
  file->block.length = 0;
  if (n->warmed > folder->warmup_rows && n->warmup->has_role[file->role])
    add_rows(file, n->warmup, true, folder->warmup_rows, n->warmed);
  if (n->draws->count > 0 && !folder->adapted)
    tm_csv_adaptation(&file->block, folder->dimension);
  add_rows(file, n->draws, false, folder->rows, n->draws->count);
}

static tempera_status append_rows(const news *n, int threads,
                                  tempera_error *error) {
  tm_folder *folder = n->folder;
  tm_parallel_for(folder->file_count, tm_threads(threads), format_file,
                  (void *)(uintptr_t)n);
  for (size_t i = 0; i < folder->file_count; i++)
    TM_TRY(append(&folder->files[i], error));
  settle(folder);
  return TEMPERA_OK;
}

tempera_status tm_folder_append(tm_folder *folder,
                                const tempera_sampler *sampler,
                                tempera_error *error) {
  const tempera_draws *draws = tempera_sampler_draws(sampler);
  const tempera_draws *warmup = tempera_sampler_warmup_draws(sampler);
  size_t warmed = warmup ? warmup->count : 0;
  if (draws->count == folder->rows && warmed == folder->warmup_rows)
    return TEMPERA_OK;
  const news n = {folder, warmup, draws, warmed};
  tempera_status status =
      append_rows(&n, tempera_sampler_options(sampler)->threads, error);
  if (status != TEMPERA_OK) {
    cut_back(folder);
    return status;
  }
  folder->adapted = folder->adapted || draws->count > 0;
  folder->rows = draws->count;
  folder->warmup_rows = warmed;
  return TEMPERA_OK;
}

static tempera_status correct_count(const tm_csv_file *file, size_t at,
                                    size_t count, tempera_error *error) {
  char field[TM_CSV_FIELD + 1];
  snprintf(field, sizeof field, "%-*zu", TM_CSV_FIELD, count);
  ssize_t n = pwrite(file->descriptor, field, TM_CSV_FIELD, (off_t)at);
  return n == TM_CSV_FIELD ? TEMPERA_OK : fail_file(file->path, error);
}

static size_t rows_for(size_t sweeps, size_t thin) {
  return (sweeps + thin - 1) / thin;
}

/* Readers take the header's counts at their word: a run cut short says what
 * it has, and so does a file with several rows per sweep, and one whose warmup
 * was made longer. */
static tempera_status correct_header(const tm_folder *folder,
                                     const tm_csv_file *file,
                                     const tempera_sampler *sampler,
                                     tempera_error *error) {
  const tempera_options *o = tempera_sampler_options(sampler);
  const tempera_draws *warmup = tempera_sampler_warmup_draws(sampler);
  size_t width = tm_draws_width(tempera_sampler_draws(sampler), file->role);
  if (folder->rows * width != rows_for(o->iterations, o->thin))
    TM_TRY(correct_count(file, file->samples_at, folder->rows * width * o->thin,
                         error));
  size_t rows =
      warmup && warmup->has_role[file->role] ? folder->warmup_rows : 0;
  bool all = !warmup || rows == rows_for(o->warmup, o->thin);
  return correct_count(file, file->warmup_at, all ? o->warmup : rows * o->thin,
                       error);
}

tempera_status tm_folder_end(tm_folder *folder, const tempera_sampler *sampler,
                             double warmup_seconds, double sampling_seconds,
                             tempera_error *error) {
  for (size_t i = 0; i < folder->file_count; i++) {
    tm_csv_file *file = &folder->files[i];
    file->block.length = 0;
    if (!folder->adapted)
      tm_csv_adaptation(&file->block, folder->dimension);
    tm_csv_end(&file->block, warmup_seconds, sampling_seconds);
    TM_TRY(correct_header(folder, file, sampler, error));
    TM_TRY(append(file, error));
  }
  return TEMPERA_OK;
}

void tm_folder_close(tm_folder *folder) {
  for (size_t i = 0; i < folder->file_count; i++) {
    tm_csv_file *file = &folder->files[i];
    if (file->descriptor >= 0)
      close(file->descriptor);
    tm_quantities_free(&file->quantities);
    tm_text_clear(&file->block);
    tm_heap_free(file->path);
  }
  tm_heap_free(folder->files);
  *folder = (tm_folder){0};
}
