/* run_files.c - see run_files.h. */
#include "report/run_files.h"

#include "base/file.h"
#include "base/json.h"

#include <math.h>
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

static bool take_names(tm_arena *arena, char *line, size_t chains,
                       tm_run_draws *draws) {
  draws->width = count_fields(line);
  draws->names = TM_NEW(arena, char *, draws->width);
  draws->values = TM_NEW(arena, double *, chains * draws->width);
  if (!draws->names || !draws->values)
    return false;
  for (size_t i = 0; i < draws->width; i++) {
    size_t length = strcspn(line, ",");
    line[length] = '\0';
    draws->names[i] = tm_arena_text(arena, line);
    line += length + 1;
    if (!draws->names[i])
      return false;
  }
  return true;
}

/* A line of numbers into row `row`; false when it is cut short. */
static bool take_row(const char *line, double *const *columns, size_t width,
                     size_t row) {
  for (size_t i = 0; i < width; i++) {
    char *end;
    columns[i][row] = strtod(line, &end);
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

/* Draws before "Adaptation terminated" are warmup's and left out. */
static size_t take_rows(char *text, double *const *columns, size_t width) {
  size_t rows = 0;
  for (char *next; *text; text = next) {
    *line_end(text, &next) = '\0';
    if (strncmp(text, "# Adaptation", 12) == 0)
      rows = 0;
    else if (*text != '#' && take_row(text, columns, width, rows))
      rows++;
  }
  return rows;
}

/* The next chain's file; the first one names the columns. */
static tempera_status take_file(tm_run_files *files, char *text,
                                const char *path, tm_run_draws *draws,
                                tempera_error *error) {
  char *next = text;
  while (*text == '#') {
    line_end(text, &next);
    text = next;
  }
  *line_end(text, &next) = '\0';
  if (!draws->names &&
      !take_names(files->arena, text, files->summary->chains, draws))
    return tm_fail_memory(error);
  size_t lines = count_lines(next);
  double **columns = draws->values + draws->chains * draws->width;
  for (size_t i = 0; i < draws->width; i++) {
    columns[i] = TM_NEW(files->arena, double, lines);
    if (!columns[i])
      return tm_fail_memory(error);
  }
  size_t rows = take_rows(next, columns, draws->width);
  if (rows == 0)
    return tm_fail(error, TEMPERA_ERROR_INPUT, "%s holds no draws", path);
  draws->rows = draws->chains == 0 || rows < draws->rows ? rows : draws->rows;
  draws->chains++;
  return TEMPERA_OK;
}

/* ---- the files of a role --------------------------------------------------
 */

static char *file_path(const char *folder, tempera_role role, size_t chain) {
  char name[64];
  snprintf(name, sizeof name, "%s-%zu.csv",
           role == TEMPERA_TARGET ? "target" : "tempered", chain + 1);
  return tm_path_join(folder, name);
}

static tempera_status read_chain(tm_run_files *files, const char *path,
                                 tm_run_draws *draws, tempera_error *error) {
  char *text = NULL;
  size_t length = 0;
  TM_TRY(tm_file_read(path, &text, &length, error));
  tempera_status status = take_file(files, text, path, draws, error);
  tm_heap_free(text);
  return status;
}

/* Not every method has both roles. */
static tempera_status read_role(const char *folder, tempera_role role,
                                tm_run_files *files, tempera_error *error) {
  for (size_t chain = 0; chain < files->summary->chains; chain++) {
    char *path = file_path(folder, role, chain);
    if (!path)
      return tm_fail_memory(error);
    bool there = tm_file_exists(path);
    tempera_status status =
        there ? read_chain(files, path, &files->draws[role], error)
              : TEMPERA_OK;
    tm_heap_free(path);
    TM_TRY(status);
    if (!there)
      break;
  }
  return TEMPERA_OK;
}

static json_t *read_config(const char *folder) {
  char *path = tm_path_join(folder, "config.json");
  json_t *config = path ? json_load_file(path, 0, NULL) : NULL;
  tm_heap_free(path);
  return config;
}

tempera_status tm_run_files_read(const char *folder, tm_run_files *files,
                                 tempera_error *error) {
  *files = (tm_run_files){.arena = tm_arena_create()};
  tempera_status status = TEMPERA_OK;
  if (!files->arena)
    return tm_fail_memory(error);
  TM_TRY_DONE(tempera_summary_read(folder, &files->summary, error));
  files->config = read_config(folder);
  TM_TRY_DONE(read_role(folder, TEMPERA_TARGET, files, error));
  TM_TRY_DONE(read_role(folder, TEMPERA_TEMPERED, files, error));
done:
  if (status != TEMPERA_OK)
    tm_run_files_clear(files);
  return status;
}

void tm_run_files_clear(tm_run_files *files) {
  json_decref(files->config);
  tempera_summary_free(files->summary);
  tm_arena_free(files->arena);
  *files = (tm_run_files){0};
}

/* ---- names ----------------------------------------------------------------
 */

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

long tm_run_column(const tm_run_draws *draws, const char *name) {
  for (size_t i = 0; i < draws->width; i++)
    if (same_name(draws->names[i], name))
      return (long)i;
  return -1;
}
