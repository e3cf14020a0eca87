/* checkpoint.c - see checkpoint.h. */
#include "folder/checkpoint.h"

#include "base/context.h"
#include "base/file.h"
#include "base/locale.h"
#include "base/memory.h"
#include "parallel/ranks.h"
#include "run/sampler.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Seconds between checkpoints: at least so many, and so many times what the
 * last one took, so that they are at most two hundredths of a run. */
static const double EVERY = 3, RARELY = 50;
/* A run this young is not yet worth the wait for the disk. */
static const double YOUNG = 2;

/* TEMPERA_CHECKPOINT: so many seconds, whatever they cost; for tests, and for
 * machines that are taken away at short notice. */
static bool interval_given(double *seconds) {
  const char *text = getenv("TEMPERA_CHECKPOINT");
  char *end = NULL;
  *seconds = text ? tm_strtod(text, &end) : -1;
  return text && end != text && *end == '\0' && *seconds >= 0;
}

static double next_due(double began, double took) {
  double every;
  return began + took +
         (interval_given(&every) ? every : fmax(EVERY, RARELY * took));
}

static double seconds_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static tempera_status fail_file(const char *doing, const char *folder,
                                const char *name, tempera_error *error) {
  return tm_fail(error, TEMPERA_ERROR_IO, "cannot %s %s/%s: %s", doing, folder,
                 name, strerror(errno));
}

/* ---- rows --------------------------------------------------------------- */

static tempera_status open_rows(tm_checkpoint *c, int flags,
                                tempera_error *error) {
  char *path = tm_path_join(c->folder, "checkpoint.draws");
  if (!path)
    return tm_fail_memory(error);
  c->rows = open(path, O_RDWR | O_CLOEXEC | flags, 0666);
  tm_heap_free(path);
  return c->rows < 0 ? fail_file("open", c->folder, "checkpoint.draws", error)
                     : TEMPERA_OK;
}

static tempera_status write_rows(tm_checkpoint *c, const tm_archive *archive,
                                 tempera_error *error) {
  for (size_t done = 0; done < archive->length;) {
    ssize_t n = pwrite(c->rows, archive->data + done, archive->length - done,
                       c->rows_size + (off_t)done);
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      return fail_file("write", c->folder, "checkpoint.draws", error);
    done += (size_t)n;
  }
  c->rows_size += (int64_t)archive->length;
  return TEMPERA_OK;
}

/* A disk without room for checkpoints may have some for draws: the run goes on,
 * and can be resumed from the last one that is whole. */
static tempera_status give_up(tm_checkpoint *c, tempera_status status) {
  static const char words[] = "tempera: there is no room for checkpoints any "
                              "more; the run goes on, but "
                              "could only be resumed from the last one\n";
  c->given_up = status == TEMPERA_ERROR_IO;
  if (c->given_up)
    tm_message(tm_context(), words, sizeof words - 1);
  return c->given_up ? TEMPERA_OK : status;
}

static tempera_status append_rows(const tempera_block *block, void *user,
                                  tempera_error *error) {
  tm_checkpoint *c = user;
  if (block->warmup || c->given_up)
    return TEMPERA_OK;
  size_t first = block->first, last = block->last;
  tm_archive archive = tm_archive_writer();
  tm_sampler_archive_rows(c->sampler, &first, &last, &archive);
  tempera_status status = tm_archive_seal(&archive, error);
  if (status == TEMPERA_OK)
    status = write_rows(c, &archive, error);
  tm_archive_clear(&archive);
  return give_up(c, status);
}

/* ---- reading: rank 0 reads for all (parallel/ranks.h) -------------------- */

/* Is it said of this rank alone, and no other's file is asked? */
static bool reads_files(void) { return !tm_ranks() || tm_ranks()->rank == 0; }

/* Rank 0's bytes, in pieces that a message holds. */
static void agree_on_bytes(void *bytes, size_t length) {
  enum { PIECE = 1 << 16 };
  for (size_t done = 0; done < length; done += PIECE)
    tm_answers_agree((char *)bytes + done,
                     length - done < PIECE ? length - done : PIECE);
}

static bool read_here(int file, void *into, size_t length, int64_t from) {
  for (size_t done = 0; done < length;) {
    ssize_t n = pread(file, (char *)into + done, length - done,
                      (off_t)from + (off_t)done);
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      return false;
    done += (size_t)n;
  }
  return true;
}

static bool read_exactly(int file, void *into, size_t length, int64_t from) {
  bool there = tm_answers_agree_on(!reads_files() ||
                                   read_here(file, into, length, from));
  if (there)
    agree_on_bytes(into, length);
  return there;
}

/* The block at `at`; *last is how many rows there are with it. */
static tempera_status read_block(const tm_checkpoint *c, int64_t at,
                                 size_t *last, size_t *length,
                                 tempera_error *error) {
  unsigned char head[TM_ARCHIVE_HEAD];
  if (!read_exactly(c->rows, head, sizeof head, at))
    return tm_fail(error, TEMPERA_ERROR_INPUT, "draws are missing");
  *length = tm_archive_length(head);
  if (*length == 0 || *length > (uint64_t)(c->rows_size - at))
    return tm_fail(error, TEMPERA_ERROR_INPUT, "draws are damaged");
  unsigned char *bytes = tm_heap_alloc(*length, 1);
  if (!bytes)
    return tm_fail_memory(error);
  tm_archive archive = {0};
  size_t first = 0, have = *last;
  tempera_status status =
      read_exactly(c->rows, bytes, *length, at)
          ? tm_archive_open(bytes, *length, &archive, error)
          : tm_fail(error, TEMPERA_ERROR_INPUT, "draws are missing");
  if (status == TEMPERA_OK) {
    tm_sampler_archive_rows(c->sampler, &first, last, &archive);
    status = tm_archive_end(&archive, error);
  }
  if (status == TEMPERA_OK && (first != have || *last <= have))
    status = tm_fail(error, TEMPERA_ERROR_INPUT, "draws are out of order");
  tm_heap_free(bytes);
  return status;
}

static tempera_status read_rows(tm_checkpoint *c, tempera_error *error) {
  size_t have = 0, length = 0;
  int64_t at = 0;
  while (at < c->rows_size) {
    TM_TRY(read_block(c, at, &have, &length, error));
    at += (int64_t)length;
  }
  return have == c->sampler->draws->count
             ? TEMPERA_OK
             : tm_fail(error, TEMPERA_ERROR_INPUT, "draws are missing");
}

/* ---- writing ------------------------------------------------------------ */

static void archive_files(tm_checkpoint *c, tm_archive *archive) {
  uint64_t size = (uint64_t)c->rows_size;
  tm_archive_tag(archive, "folder");
  tm_archive_u64(archive, &size);
  if (size > INT64_MAX)
    tm_archive_fail(archive, "a file is longer than files can be");
  else
    c->rows_size = (int64_t)size;
  tm_csv_sink_archive(c->files, archive);
}

static tempera_status sync_files(const tm_checkpoint *c, tempera_error *error) {
  if (c->rows >= 0 && fdatasync(c->rows) != 0 && errno != EINVAL)
    return fail_file("write", c->folder, "checkpoint.draws", error);
  return tm_csv_sink_sync(c->files, error);
}

/* The one before stays, under its own name, until the new one is safe. */
static tempera_status replace(const tm_checkpoint *c, const tm_archive *archive,
                              bool safely, tempera_error *error) {
  char *now = tm_path_join(c->folder, "checkpoint");
  char *old = tm_path_join(c->folder, "checkpoint.old");
  char *next = tm_path_join(c->folder, "checkpoint.next");
  tempera_status status = tm_fail_memory(error);
  if (now && old && next)
    status = tm_file_write(next, (const char *)archive->data, archive->length,
                           safely, error);
  if (status == TEMPERA_OK && rename(now, old) != 0 && errno != ENOENT)
    status = fail_file("replace", c->folder, "checkpoint.old", error);
  if (status == TEMPERA_OK && rename(next, now) != 0)
    status = fail_file("replace", c->folder, "checkpoint", error);
  if (status == TEMPERA_OK && safely)
    tm_folder_sync(c->folder);
  tm_heap_free(now);
  tm_heap_free(old);
  tm_heap_free(next);
  return status;
}

static tempera_status write_checkpoint(tm_checkpoint *c, tempera_error *error) {
  bool safely = tm_sampler_seconds(c->sampler) > YOUNG;
  tm_archive archive = tm_archive_writer();
  archive_files(c, &archive);
  tempera_status status = tm_sampler_write(c->sampler, &archive, error);
  if (status == TEMPERA_OK)
    status = tm_archive_seal(&archive, error);
  if (status == TEMPERA_OK && safely)
    status = sync_files(c, error);
  if (status == TEMPERA_OK)
    status = replace(c, &archive, safely, error);
  tm_archive_clear(&archive);
  c->kept = status == TEMPERA_OK;
  c->kept_at = tm_sweeps_done(c->sampler);
  return status;
}

tempera_status tm_checkpoint_keep(tm_checkpoint *checkpoint, bool must,
                                  tempera_error *error) {
  tm_checkpoint *c = checkpoint;
  double now = seconds_now();
  bool same = c->kept && c->kept_at == tm_sweeps_done(c->sampler);
  if (same || c->given_up || (!must && now < c->due))
    return TEMPERA_OK;
  TM_TRY(give_up(c, write_checkpoint(c, error)));
  c->due = next_due(now, seconds_now() - now);
  return TEMPERA_OK;
}

/* ---- the life of it ----------------------------------------------------- */

tempera_status tm_checkpoint_begin(const char *folder, tempera_sampler *sampler,
                                   tm_csv_sink *files,
                                   tm_checkpoint *checkpoint,
                                   tempera_error *error) {
  *checkpoint = (tm_checkpoint){
      .folder = folder, .sampler = sampler, .files = files, .rows = -1};
  TM_TRY(open_rows(checkpoint, O_CREAT | O_TRUNC, error));
  return write_checkpoint(checkpoint, error);
}

tempera_status tm_checkpoint_attach(tm_checkpoint *checkpoint,
                                    tempera_error *error) {
  const tempera_sink sink = {append_rows, checkpoint};
  checkpoint->due = next_due(seconds_now(), 0);
  return tempera_sampler_add_sink(checkpoint->sampler, &sink, error);
}

void tm_checkpoint_close(tm_checkpoint *checkpoint) {
  if (checkpoint->rows >= 0)
    close(checkpoint->rows);
  checkpoint->rows = -1;
}

/* The files, cut to what they were: rank 0's to do, and to tell of. */
static tempera_status cut_files(tm_checkpoint *c, const char *data_path,
                                tempera_error *error) {
  tempera_status status = TEMPERA_OK;
  if (reads_files())
    status =
        tm_csv_sink_reopen(c->folder, data_path, c->sampler, c->files, error);
  if (status == TEMPERA_OK && reads_files() &&
      ftruncate(c->rows, (off_t)c->rows_size) != 0)
    status = fail_file("cut", c->folder, "checkpoint.draws", error);
  tm_answers_agree(&status, sizeof status);
  return status;
}

/* Everything of one checkpoint file, or nothing. The files are only touched
 * once all else has been read. */
static tempera_status take_up(tm_checkpoint *c, const char *data_path,
                              const tempera_model *model, int threads,
                              tm_archive *archive, tempera_error *error) {
  archive_files(c, archive);
  if (!tm_archive_fine(archive))
    return tm_archive_end(archive, error);
  TM_TRY(tm_sampler_read(model, archive, threads, &c->sampler, error));
  TM_TRY(tm_archive_end(archive, error));
  TM_TRY(read_rows(c, error));
  return cut_files(c, data_path, error);
}

/* All of a file of the folder; free it with tm_heap_free. */
static tempera_status read_file(const char *folder, const char *name,
                                char **content, size_t *length,
                                tempera_error *error) {
  tempera_status status = TEMPERA_OK;
  char *path = tm_path_join(folder, name);
  if (!path)
    status = tm_fail_memory(error);
  else if (reads_files())
    status = tm_file_read(path, content, length, error);
  tm_heap_free(path);
  tm_answers_agree(&status, sizeof status);
  tm_answers_agree(length, sizeof *length);
  if (status == TEMPERA_OK && !reads_files())
    *content = tm_heap_alloc(*length + 1, 1);
  if (status == TEMPERA_OK && !*content)
    return tm_fail_memory(error);
  if (status == TEMPERA_OK)
    agree_on_bytes(*content, *length);
  return status;
}

static tempera_status load_from(tm_checkpoint *c, const char *name,
                                const char *data_path,
                                const tempera_model *model, int threads,
                                tempera_error *error) {
  char *content = NULL;
  size_t length = 0;
  tm_archive archive;
  tempera_status status = read_file(c->folder, name, &content, &length, error);
  if (status == TEMPERA_OK)
    status = tm_archive_open(content, length, &archive, error);
  if (status == TEMPERA_OK)
    status = take_up(c, data_path, model, threads, &archive, error);
  tm_heap_free(content);
  if (status == TEMPERA_OK)
    return TEMPERA_OK;
  tm_csv_sink_close(c->files);
  tempera_sampler_free(c->sampler);
  c->sampler = NULL;
  return status;
}

tempera_status tm_checkpoint_load(const char *folder, const char *data_path,
                                  const tempera_model *model, int threads,
                                  tm_csv_sink *files, tm_checkpoint *checkpoint,
                                  tempera_error *error) {
  static const char *const NAMES[] = {"checkpoint", "checkpoint.old"};
  tempera_error problem[2] = {{0}};
  tempera_status status = TEMPERA_OK;
  *checkpoint = (tm_checkpoint){.folder = folder, .files = files, .rows = -1};
  if (reads_files())
    TM_TRY(open_rows(checkpoint, 0, error));
  for (size_t i = 0; i < 2; i++) {
    status =
        load_from(checkpoint, NAMES[i], data_path, model, threads, &problem[i]);
    if (status == TEMPERA_OK)
      return TEMPERA_OK;
    if (status == TEMPERA_CANCELLED || status == TEMPERA_ERROR_MEMORY)
      break;
  }
  return tm_fail(error, status,
                 "%.100s/checkpoint cannot be used: %.170s; nor can "
                 "checkpoint.old: %.170s",
                 folder, problem[0].message, problem[1].message);
}
