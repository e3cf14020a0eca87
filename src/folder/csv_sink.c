/* csv_sink.c - see csv_sink.h.
 *
 * Rows go to the kernel by write(2) as soon as a block is drawn, without a
 * buffer of ours, so that a killed process loses nothing already drawn. A
 * block that does not fit (full disk) is taken back from every file. */
#include "folder/csv_sink.h"

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
static void settle(tm_csv_sink *sink) {
  for (size_t i = 0; i < sink->file_count; i++)
    sink->files[i].size = lseek(sink->files[i].descriptor, 0, SEEK_END);
}

/* After a failed write all chains go back to the last block they share: whole
 * rows, and as many in each. */
static void cut_back(const tm_csv_sink *sink) {
  for (size_t i = 0; i < sink->file_count; i++) {
    const tm_csv_file *file = &sink->files[i];
    if (ftruncate(file->descriptor, file->size) != 0)
      return; /* a reader may meet half a row: nothing more can be done */
  }
}

/* To the length it had; what is missing is missing for good. */
static tempera_status cut(tm_csv_file *file, double length,
                          tempera_error *error) {
  off_t end = lseek(file->descriptor, 0, SEEK_END);
  if (end < 0 || !(length >= 0 && length <= (double)end))
    return tm_fail(error, TEMPERA_ERROR_INPUT, "%s is shorter than it was",
                   file->path);
  return ftruncate(file->descriptor, (off_t)length) == 0
             ? TEMPERA_OK
             : fail_file(file->path, error);
}

static tempera_status open_file(tm_csv_sink *sink, tm_csv_file *file,
                                tempera_error *error) {
  char name[64];
  snprintf(name, sizeof name, "%s-%zu.csv",
           file->reference                ? "reference"
           : file->role == TEMPERA_TARGET ? "target"
                                          : "tempered",
           file->chain + 1);
  file->path = tm_path_join(sink->folder, name);
  if (!file->path)
    return tm_fail_memory(error);
  int fresh = sink->sizes ? 0 : O_CREAT | O_TRUNC;
  file->descriptor = open(file->path, O_WRONLY | fresh | O_CLOEXEC, 0666);
  return file->descriptor < 0 ? fail_file(file->path, error) : TEMPERA_OK;
}

tm_csv_about tm_csv_about_run(const char *data_path,
                              const tempera_sampler *sampler) {
  const tempera_options *o = tempera_sampler_options(sampler);
  const tempera_model *model = tempera_sampler_model(sampler);
  const tempera_model_spec *spec = tempera_model_spec_of(model);
  return (tm_csv_about){
      .model = tempera_model_name(model),
      .method = tm_choice_word(TM_CHOICE_METHOD, (int)o->method),
      .kernel = tm_choice_word(TM_CHOICE_KERNEL, (int)o->kernel),
      .data_path = data_path,
      .iterations = o->iterations,
      .warmup = o->warmup,
      .thin = o->thin,
      .seed = o->seed,
      .save_warmup = o->save_warmup,
      .quantity_names = spec->quantity_names,
      .quantity_count = spec->quantity_count};
}

/* Of draws at tau = 1; of others when they are all there is, or asked for. */
static bool has_quantities(const tempera_sampler *sampler, tempera_role role) {
  return role == TEMPERA_TARGET ||
         !tempera_sampler_draws(sampler)->has_role[TEMPERA_TARGET] ||
         tempera_sampler_options(sampler)->tempered_quantities;
}

static tempera_status start_file(tm_csv_sink *sink, tm_csv_file *file,
                                 tm_csv_about *about, tempera_error *error) {
  const tempera_sampler *sampler = sink->sampler;
  TM_TRY(open_file(sink, file, error));
  const tempera_model *model = tempera_sampler_model(sampler);
  TM_TRY(tm_quantities_create(model,
                              tm_seed_of(tempera_sampler_options(sampler)),
                              &file->quantities, error));
  file->quantity_count = has_quantities(sampler, file->role)
                             ? tempera_model_spec_of(model)->quantity_count
                             : 0;
  about->quantity_count = file->quantity_count;
  about->id = file->chain + 1;
  about->reference = file->reference;
  if (file->reference)
    about->quantity_count = 0;
  tm_csv_header(&file->block, about, tempera_sampler_draws(sampler), file->role,
                &file->samples_at, &file->warmup_at);
  size_t number = (size_t)(file - sink->files);
  return sink->sizes ? cut(file, sink->sizes[number], error)
                     : append(file, error);
}

static tempera_status open_files(tm_csv_sink *sink, const char *data_path,
                                 tempera_error *error) {
  const tempera_sampler *sampler = sink->sampler;
  const tempera_draws *draws = tempera_sampler_draws(sampler);
  tm_csv_about about = tm_csv_about_run(data_path, sampler);
  size_t kinds = tempera_sampler_options(sampler)->reference ? 3 : 2;
  sink->files = tm_heap_alloc(kinds * draws->chains, sizeof *sink->files);
  if (!sink->files)
    return tm_fail_memory(error);
  for (size_t i = 0; i < kinds * draws->chains; i++) {
    tempera_role role = i < draws->chains ? TEMPERA_TARGET : TEMPERA_TEMPERED;
    if (!draws->has_role[role])
      continue;
    tm_csv_file *file = &sink->files[sink->file_count++];
    *file = (tm_csv_file){.descriptor = -1,
                          .role = role,
                          .chain = i % draws->chains,
                          .reference = i >= 2 * draws->chains};
    if (sink->sizes && sink->size_count < sink->file_count)
      return tm_fail(error, TEMPERA_ERROR_INPUT, "there were fewer files");
    TM_TRY(start_file(sink, file, &about, error));
  }
  settle(sink);
  return TEMPERA_OK;
}

tempera_status tm_csv_sink_open(const char *folder, const char *data_path,
                                const tempera_sampler *sampler,
                                tm_csv_sink *sink, tempera_error *error) {
  *sink = (tm_csv_sink){.folder = folder,
                        .sampler = sampler,
                        .dimension = tempera_model_unconstrained_size(
                            tempera_sampler_model(sampler))};
  return open_files(sink, data_path, error);
}

/* A checkpoint from before there were files has no sizes: then they begin. */
tempera_status tm_csv_sink_reopen(const char *folder, const char *data_path,
                                  const tempera_sampler *sampler,
                                  tm_csv_sink *sink, tempera_error *error) {
  if (sink->size_count == 0) {
    tm_heap_free(sink->sizes);
    return tm_csv_sink_open(folder, data_path, sampler, sink, error);
  }
  sink->folder = folder;
  sink->sampler = sampler;
  sink->dimension =
      tempera_model_unconstrained_size(tempera_sampler_model(sampler));
  return open_files(sink, data_path, error);
}

/* Sizes as doubles are exact up to nine petabytes. */
void tm_csv_sink_archive(tm_csv_sink *sink, tm_archive *archive) {
  double *sizes = tm_heap_alloc(sink->file_count + 1, sizeof *sizes);
  size_t count = sink->file_count;
  if (!sizes) {
    archive->status = TEMPERA_ERROR_MEMORY;
    return;
  }
  for (size_t i = 0; i < count; i++)
    sizes[i] = (double)sink->files[i].size;
  tm_archive_grown(archive, &sizes, &count, SIZE_MAX / sizeof *sizes - 1);
  tm_archive_size(archive, &sink->warmup_rows);
  tm_archive_size(archive, &sink->rows);
  tm_archive_bool(archive, &sink->adapted);
  if (archive->reading) {
    sink->sizes = sizes;
    sink->size_count = count;
  } else {
    tm_heap_free(sizes);
  }
}

tempera_status tm_csv_sink_sync(const tm_csv_sink *sink, tempera_error *error) {
  for (size_t i = 0; i < sink->file_count; i++)
    if (fdatasync(sink->files[i].descriptor) != 0 && errno != EINVAL)
      return fail_file(sink->files[i].path, error);
  return TEMPERA_OK;
}

/* A block to be formatted, by several threads. */
typedef struct pending {
  tm_csv_sink *sink;
  const tempera_block *block;
} pending;

static void add_rows(tm_csv_file *file, const tempera_block *block) {
  size_t width = tm_draws_width(block->draws, file->role);
  size_t count = file->quantity_count;
  tm_draw_place place = {block->draws, block->warmup, file->role, file->chain,
                         block->first * width};
  for (; place.row < block->last * width; place.row++) {
    const double *quantities =
        count ? tm_quantities_row(&file->quantities, &place) : NULL;
    tm_csv_row(&file->block, block->draws, file->role, file->chain, place.row,
               quantities, count);
  }
}

/* The reference leg's rows are as many, and kept only after warmup. */
static void add_reference_rows(const tm_csv_sink *sink, tm_csv_file *file,
                               const tempera_block *block) {
  const tempera_draws *draws = tempera_sampler_reference(sink->sampler);
  if (block->warmup || !draws)
    return;
  for (size_t row = block->first; row < block->last; row++)
    tm_csv_row(&file->block, draws, file->role, file->chain, row, NULL, 0);
}

static void format_file(size_t i, void *context) {
  const pending *p = context;
  tm_csv_file *file = &p->sink->files[i];
  file->block.length = 0;
  if (!p->block->warmup && !p->sink->adapted)
    tm_csv_adaptation(&file->block, p->sink->dimension);
  if (file->reference)
    add_reference_rows(p->sink, file, p->block);
  else if (p->block->draws->has_role[file->role])
    add_rows(file, p->block);
}

static tempera_status write_block(const pending *p, tempera_error *error) {
  tm_csv_sink *sink = p->sink;
  int threads = tempera_sampler_options(sink->sampler)->threads;
  tm_parallel_for(sink->file_count, tm_threads(threads), format_file,
                  (void *)(uintptr_t)p);
  for (size_t i = 0; i < sink->file_count; i++)
    TM_TRY(append(&sink->files[i], error));
  settle(sink);
  return TEMPERA_OK;
}

tempera_status tm_csv_sink_append(const tempera_block *block, void *user,
                                  tempera_error *error) {
  tm_csv_sink *sink = user;
  tempera_error problem = {0};
  tempera_status status = write_block(&(pending){sink, block}, &problem);
  if (status != TEMPERA_OK) {
    cut_back(sink);
    return tm_fail(error, status,
                   "%.400s; the first %zu draws of each chain are on disk",
                   problem.message, sink->rows);
  }
  if (block->warmup) {
    sink->warmup_rows = block->last;
  } else {
    sink->adapted = true;
    sink->rows = block->last;
  }
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
static tempera_status correct_header(const tm_csv_sink *sink,
                                     const tm_csv_file *file,
                                     const tempera_sampler *sampler,
                                     tempera_error *error) {
  const tempera_options *o = tempera_sampler_options(sampler);
  const tempera_draws *warmup = tempera_sampler_warmup_draws(sampler);
  size_t width = tm_draws_width(tempera_sampler_draws(sampler), file->role);
  size_t kept = sink->rows * width;
  if (file->reference && !tempera_sampler_reference(sampler))
    kept = 0;
  bool whole = kept == rows_for(o->iterations, o->thin);
  TM_TRY(correct_count(file, file->samples_at,
                       whole ? o->iterations : kept * o->thin, error));
  bool warmed = warmup && warmup->has_role[file->role] && !file->reference;
  size_t rows = warmed ? sink->warmup_rows : 0;
  bool all = !warmup || rows == rows_for(o->warmup, o->thin);
  return correct_count(file, file->warmup_at, all ? o->warmup : rows * o->thin,
                       error);
}

tempera_status tm_csv_sink_end(tm_csv_sink *sink, tempera_error *error) {
  const tempera_sampler *sampler = sink->sampler;
  double seconds = tm_sampler_seconds(sampler);
  for (size_t i = 0; i < sink->file_count; i++) {
    tm_csv_file *file = &sink->files[i];
    file->block.length = 0;
    if (!sink->adapted)
      tm_csv_adaptation(&file->block, sink->dimension);
    tm_csv_end(&file->block, sampler->warmup_seconds,
               seconds - sampler->warmup_seconds);
    TM_TRY(correct_header(sink, file, sampler, error));
    TM_TRY(append(file, error));
  }
  return TEMPERA_OK;
}

void tm_csv_sink_close(tm_csv_sink *sink) {
  for (size_t i = 0; i < sink->file_count; i++) {
    tm_csv_file *file = &sink->files[i];
    if (file->descriptor >= 0)
      close(file->descriptor);
    tm_quantities_free(&file->quantities);
    tm_text_clear(&file->block);
    tm_heap_free(file->path);
  }
  tm_heap_free(sink->files);
  tm_heap_free(sink->sizes);
  *sink = (tm_csv_sink){0};
}
