/* run_files.c - see run_files.h. */
#include "report/run_files.h"

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "parallel/threads.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- one CSV file ---------------------------------------------------------
 */

/* The end of the line at `text`, and where the next begins. */
static char *line_end(char *text, char **next) {
  char *end = text + strcspn(text, "\n");
  *next = *end ? end + 1 : end;
  return end > text && end[-1] == '\r' ? end - 1 : end;
}

static size_t count_fields(const char *line) {
  size_t count = 1;
  for (; *line; line++)
    count += *line == ',';
  return count;
}

/* mu[1,2] is mu.1.2 in Stan CSV. */
static bool same_name(const char *csv, const char *name) {
  for (; *name; name++) {
    if (*name == ']')
      continue;
    if (*csv++ != (*name == '[' || *name == ',' ? '.' : *name))
      return false;
  }
  return *csv == '\0';
}

/* The value after the last one that was found has the next column, as a rule:
 * `next` is where to look first. */
static bool is_summarised(const tempera_summary *s, const char *csv,
                          size_t *next) {
  size_t count = s->value_count + s->quantity_count;
  for (size_t k = 0; k < count; k++) {
    size_t i = (*next + k) % count;
    const char *name = i < s->value_count
                           ? s->values[i].name
                           : s->quantities[i - s->value_count].name;
    if (name && same_name(csv, name)) {
      *next = i + 1;
      return true;
    }
  }
  return false;
}

static bool take_names(const tm_run_files *files, char *line,
                       tm_run_draws *draws) {
  const tempera_summary *s = files->summary;
  size_t next = 0;
  draws->width = count_fields(line);
  draws->names = TM_NEW(files->arena, char *, draws->width);
  draws->wanted = TM_NEW(files->arena, bool, draws->width);
  draws->values = TM_NEW(files->arena, double *, s->chains * draws->width);
  if (!draws->names || !draws->wanted || !draws->values)
    return false;
  for (size_t i = 0; i < draws->width; i++) {
    size_t length = strcspn(line, ",");
    line[length] = '\0';
    draws->names[i] = tm_arena_text(files->arena, line);
    if (!draws->names[i])
      return false;
    bool leg = draws == &files->reference;
    draws->wanted[i] = !files->only_checked &&
                       (!strcmp(line, "tau__") ||
                        (leg ? !strcmp(line, "log_ratio__")
                             : files->all || is_summarised(s, line, &next)));
    line += length + 1;
  }
  return true;
}

/* A field that is not asked for: a number all the same? */
static char *skip_number(const char *field) {
  static const bool part[256] = {
      ['0'] = true, ['1'] = true, ['2'] = true, ['3'] = true, ['4'] = true,
      ['5'] = true, ['6'] = true, ['7'] = true, ['8'] = true, ['9'] = true,
      ['+'] = true, ['-'] = true, ['.'] = true, ['e'] = true, ['E'] = true,
      ['i'] = true, ['n'] = true, ['f'] = true, ['a'] = true, ['I'] = true,
      ['N'] = true, ['F'] = true, ['A'] = true};
  while (part[(unsigned char)*field])
    field++;
  return (char *)(uintptr_t)field;
}

/* A line of numbers into row `row`; false when it is not that. */
static bool take_row(const char *line, double *const *columns, size_t width,
                     size_t row) {
  for (size_t i = 0; i < width; i++) {
    char *end;
    if (columns[i])
      columns[i][row] = tm_number_read(line, &end);
    else
      end = skip_number(line);
    if (end == line || *end != (i + 1 < width ? ',' : '\0'))
      return false;
    line = end + 1;
  }
  return true;
}

static size_t count_lines(const char *text) {
  size_t count = 1;
  for (; (text = strchr(text, '\n')); text++)
    count++;
  return count;
}

/* A chain's file. Files are read by several threads, each into numbers of its
 * own. */
typedef struct source {
  char *path;
  tm_run_draws *draws;
  size_t chain, rows;
  bool may_be_empty;
  bool ended;         /* the run was: a row that is cut short is a fault */
  bool warmup_before; /* rows count from "Adaptation terminated" on */
  double *numbers;
  tempera_status status;
  tempera_error error;
} source;

/* Room for so many rows of every column that is wanted. */
static bool make_room(source *f, size_t lines) {
  const tm_run_draws *draws = f->draws;
  double **columns = draws->values + f->chain * draws->width;
  size_t count = 0;
  for (size_t i = 0; i < draws->width; i++)
    count += draws->wanted[i];
  f->numbers = tm_heap_large(count * lines, sizeof(double));
  double *next = f->numbers;
  for (size_t i = 0; i < draws->width && next; i++)
    if (draws->wanted[i]) {
      columns[i] = next;
      next += lines;
    }
  return next;
}

static tempera_status bad_row(const source *f, size_t line, size_t width,
                              tempera_error *error) {
  return tm_fail(error, TEMPERA_ERROR_INPUT,
                 "%s, line %zu, is no row of %zu numbers: the file was cut or "
                 "changed; `tempera resume` restores it from the checkpoint "
                 "where that is still there",
                 f->path, line, width);
}

/* Draws before "Adaptation terminated" are warmup's and left out. The last row
 * of a run that was killed may be half of one. */
static tempera_status take_rows(source *f, char *text, size_t line,
                                tempera_error *error) {
  size_t width = f->draws->width;
  double *const *columns = f->draws->values + f->chain * width;
  bool adapted = !f->warmup_before;
  for (char *next; *text; text = next, line++) {
    bool whole = *line_end(text, &next) != '\0';
    *line_end(text, &next) = '\0';
    if (strncmp(text, "# Adaptation", 12) == 0) {
      f->rows = 0;
      adapted = true;
    } else if (*text != '#' && *text && (whole || f->ended)) {
      if (!whole || !take_row(text, columns, width, f->rows))
        return bad_row(f, line, width, error);
      f->rows++;
    }
  }
  if (!adapted)
    f->rows = 0;
  return TEMPERA_OK;
}

/* The same columns as the first chain's? */
static bool same_columns(const tm_run_draws *draws, const char *header) {
  for (size_t i = 0; i < draws->width; i++) {
    size_t length = strlen(draws->names[i]);
    if (strncmp(header, draws->names[i], length) != 0)
      return false;
    header += length;
    if (i + 1 < draws->width && *header++ != ',')
      return false;
  }
  return *header == '\0';
}

static tempera_status take_file(source *f, char *text, size_t length,
                                tempera_error *error) {
  char *next = text;
  size_t line = 0;
  if (memchr(text, '\0', length))
    return tm_fail(error, TEMPERA_ERROR_INPUT,
                   "%s is damaged: it holds a byte that is no text", f->path);
  do {
    text = next;
    *line_end(text, &next) = '\0';
    line++;
  } while (*text == '#');
  if (!same_columns(f->draws, text))
    return tm_fail(error, TEMPERA_ERROR_INPUT,
                   "%s, line %zu: other columns than in the first chain's file",
                   f->path, line);
  if (!make_room(f, count_lines(next)))
    return tm_fail_memory(error);
  TM_TRY(take_rows(f, next, line + 1, error));
  if (f->rows == 0 && !f->may_be_empty)
    return tm_fail(error, TEMPERA_ERROR_INPUT, "%s holds no draws", f->path);
  return TEMPERA_OK;
}

static void read_source(size_t i, void *context) {
  source *f = (source *)context + i;
  char *text = NULL;
  size_t length = 0;
  f->status = tm_file_read(f->path, &text, &length, &f->error);
  if (f->status == TEMPERA_OK)
    f->status = take_file(f, text, length, &f->error);
  tm_heap_free(text);
}

/* ---- the files of a role --------------------------------------------------
 */

/* The first chain's file names the columns. */
static tempera_status read_names(const tm_run_files *files, const char *path,
                                 tm_run_draws *draws, tempera_error *error) {
  char *line = NULL, *next;
  size_t room = 0;
  FILE *file = fopen(path, "rb");
  if (!file)
    return tm_fail(error, TEMPERA_ERROR_IO, "cannot open %s: %s", path,
                   strerror(errno));
  bool some, starved;
  errno = 0;
  do
    some = getline(&line, &room, file) >= 0;
  while (some && *line == '#');
  starved = !some && errno == ENOMEM;
  fclose(file);
  if (starved) {
    free(line);
    return tm_fail_memory(error);
  }
  char none[] = "";
  if (some)
    *line_end(line, &next) = '\0';
  bool taken = take_names(files, some ? line : none, draws);
  free(line);
  return taken ? TEMPERA_OK : tm_fail_memory(error);
}

static char *file_path(const char *folder, const char *kind, size_t chain) {
  char name[64];
  snprintf(name, sizeof name, "%s-%zu.csv", kind, chain + 1);
  return tm_path_join(folder, name);
}

static bool there_is(const char *folder, const char *kind, size_t chain) {
  char *path = file_path(folder, kind, chain);
  bool there = path && tm_file_exists(path);
  tm_heap_free(path);
  return there;
}

/* The files of a kind: of all chains, or of none, as not every method has all
 * kinds. */
static tempera_status list_kind(const char *folder, const char *kind,
                                tm_run_draws *draws, const tm_run_files *files,
                                source *list, size_t *count,
                                tempera_error *error) {
  size_t chains = files->summary->chains, found = 0;
  for (size_t chain = 0; chain < chains; chain++)
    found += there_is(folder, kind, chain);
  for (size_t chain = 0; found && chain < chains; chain++) {
    char *path = file_path(folder, kind, chain);
    if (!path)
      return tm_fail_memory(error);
    list[(*count)++] = (source){
        .path = path,
        .draws = draws,
        .chain = chain,
        .may_be_empty = draws == &files->reference || files->only_checked,
        .ended = !files->unfinished,
        .warmup_before =
            json_is_true(json_object_get(files->config, "save_warmup"))};
    if (!tm_file_exists(path))
      return tm_fail(error, TEMPERA_ERROR_INPUT,
                     "%s is missing: the run has %zu chains, and the draws of "
                     "%zu are there",
                     path, chains, found);
    if (chain == 0)
      TM_TRY(read_names(files, path, draws, error));
  }
  return TEMPERA_OK;
}

/* As many rows as the summary speaks of, and in all chains of a run that has
 * ended the same number. */
static tempera_status check_rows(const tm_run_files *files, const source *f,
                                 tempera_error *error) {
  const tempera_summary *s = files->summary;
  size_t thin = s->thin ? s->thin : 1;
  size_t least = (s->iterations + thin - 1) / thin;
  const tm_run_draws *draws = f->draws;
  if (draws != &files->reference && f->rows < least)
    return tm_fail(error, TEMPERA_ERROR_INPUT,
                   "%s holds %zu draws, and the summary speaks of %zu: the "
                   "file was cut",
                   f->path, f->rows, least);
  if (draws->chains && f->rows != draws->rows && f->ended)
    return tm_fail(error, TEMPERA_ERROR_INPUT,
                   "%s holds %zu draws, and the files of other chains %zu: one "
                   "of them was cut",
                   f->path, f->rows, draws->rows);
  return TEMPERA_OK;
}

/* Into the files' hands, also of those that failed: the first to do so is told
 * of. */
static tempera_status settle(tm_run_files *files, source *list, size_t count,
                             tempera_error *error) {
  tempera_status status = TEMPERA_OK;
  for (size_t i = 0; i < count; i++) {
    source *f = &list[i];
    tm_run_draws *draws = f->draws;
    if (f->numbers)
      files->numbers[files->count++] = f->numbers;
    if (f->status == TEMPERA_OK)
      f->status = check_rows(files, f, &f->error);
    draws->rows =
        draws->chains == 0 || f->rows < draws->rows ? f->rows : draws->rows;
    draws->chains++;
    if (status == TEMPERA_OK && f->status != TEMPERA_OK) {
      status = f->status;
      if (error)
        *error = f->error;
    }
  }
  return status;
}

/* As many threads as the run had. */
static int threads_of(const tm_run_files *files) {
  const json_t *threads = json_object_get(files->config, "threads");
  return json_is_integer(threads) ? tm_threads((int)json_integer_value(threads))
                                  : 1;
}

static tempera_status read_draws(const char *folder, tm_run_files *files,
                                 tempera_error *error) {
  enum { MOST_CHAINS = 100000 };
  size_t most = 3 * files->summary->chains, count = 0;
  if (files->summary->chains > MOST_CHAINS)
    return tm_fail(error, TEMPERA_ERROR_INPUT,
                   "summary.json of %s speaks of %zu chains: it is damaged",
                   folder, files->summary->chains);
  source *list = tm_heap_alloc(most, sizeof *list);
  files->numbers = TM_NEW(files->arena, double *, most);
  tempera_status status = TEMPERA_OK;
  if (!list || !files->numbers) {
    status = tm_fail_memory(error);
    goto done;
  }
  TM_TRY_DONE(list_kind(folder, "target", &files->draws[TEMPERA_TARGET], files,
                        list, &count, error));
  TM_TRY_DONE(list_kind(folder, "tempered", &files->draws[TEMPERA_TEMPERED],
                        files, list, &count, error));
  TM_TRY_DONE(list_kind(folder, "reference", &files->reference, files, list,
                        &count, error));
  tm_parallel_for(count, threads_of(files), read_source, list);
  status = settle(files, list, count, error);
done:
  for (size_t i = 0; i < count; i++)
    tm_heap_free(list[i].path);
  tm_heap_free(list);
  return status;
}

/* Fills *files, whose flags are set. */
static tempera_status read_folder(const char *folder, tm_run_files *files,
                                  tempera_error *error) {
  tempera_status status = TEMPERA_OK;
  files->folder = folder;
  files->arena = tm_arena_create();
  if (!files->arena) {
    status = tm_fail_memory(error);
    goto done;
  }
  TM_TRY_DONE(tm_folder_plain(folder, error));
  TM_TRY_DONE(tm_json_load(folder, "config.json", &files->config, error));
  if (!files->summary)
    TM_TRY_DONE(tempera_summary_read(folder, &files->summary, error));
  files->unfinished =
      files->unfinished || !files->summary->complete || files->summary->running;
  TM_TRY_DONE(read_draws(folder, files, error));
done:
  if (status != TEMPERA_OK)
    tm_run_files_clear(files);
  return status;
}

tempera_status tm_run_files_read(const char *folder, tm_run_files *files,
                                 tempera_error *error) {
  *files = (tm_run_files){0};
  return read_folder(folder, files, error);
}

tempera_status tm_run_files_read_all(const char *folder, tm_run_files *files,
                                     tempera_error *error) {
  *files = (tm_run_files){.all = true};
  return read_folder(folder, files, error);
}

tempera_status tm_run_files_read_as(const char *folder,
                                    tempera_summary *summary,
                                    tm_run_files *files, tempera_error *error) {
  *files = (tm_run_files){.summary = summary, .all = true, .unfinished = true};
  return read_folder(folder, files, error);
}

tempera_status tempera_run_check(const char *folder, tempera_error *error) {
  tm_run_files files = {.only_checked = true};
  TM_TRY(read_folder(folder, &files, error));
  tm_run_files_clear(&files);
  return TEMPERA_OK;
}

void tm_run_files_clear(tm_run_files *files) {
  json_decref(files->config);
  tempera_summary_free(files->summary);
  for (size_t i = 0; i < files->count; i++)
    tm_heap_free(files->numbers[i]);
  tm_arena_free(files->arena);
  *files = (tm_run_files){0};
}

/* ---- names ----------------------------------------------------------------
 */

long tm_run_column(const tm_run_draws *draws, const char *name) {
  for (size_t i = 0; i < draws->width; i++)
    if (draws->wanted[i] && same_name(draws->names[i], name))
      return (long)i;
  return -1;
}
