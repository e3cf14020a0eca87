/* fit_read.c - draws of a fit made elsewhere: the CSV files of CmdStan, rstan
 * and this program, one per chain.
 *
 * Names may be a.1.2 or a[1,2]. Rows before "Adaptation terminated" are warmup.
 * What the model does not know (lp__, generated quantities) is passed over; of
 * lp__ a copy goes where the tau move's acceptance would be. */
#include "folder/fit_read.h"

#include "base/file.h"
#include "base/text.h"

#include <math.h>
#include <string.h>

typedef struct file {
  char *content;
  const char *body; /* the first row of numbers */
  size_t rows, width;
  long *column; /* of each value of the model; then that of lp__, or -1 */
} file;

/* The end of the line that begins here. */
static const char *line_end(const char *at) { return at + strcspn(at, "\n"); }

static const char *next_line(const char *at) {
  at = line_end(at);
  return *at ? at + 1 : at;
}

static bool is_row(const char *at) {
  return *at && *at != '#' && *at != '\n' && *at != '\r';
}

/* x.1.2 and "x[1,2]" as x[1,2]; gives where the name ends. Commas between
 * brackets are no separators; what does not fit is cut off. */
static const char *read_name(const char *at, char *name, size_t size) {
  size_t n = 0, dots = 0;
  bool inside = false;
  for (; *at && *at != '\r' && *at != '\n' && (inside || *at != ','); at++) {
    if (*at == '"')
      continue;
    inside = *at == '[' || (inside && *at != ']');
    bool index = !inside && *at == '.' && at[1] >= '0' && at[1] <= '9';
    char c = index ? (char)(dots++ ? ',' : '[') : *at;
    if (n + 2 < size)
      name[n++] = c;
  }
  if (dots)
    name[n++] = ']';
  name[n] = '\0';
  return at;
}

static tempera_status read_header(const char *path, const char *at,
                                  const tempera_model *model, file *f,
                                  tempera_error *error) {
  char name[256];
  for (size_t i = 0; i <= model->size; i++)
    f->column[i] = -1;
  for (;; at++) {
    at = read_name(at, name, sizeof name);
    for (size_t i = 0; i <= model->size; i++)
      if (!strcmp(name, i < model->size ? model->names[i] : "lp__"))
        f->column[i] = (long)f->width;
    f->width++;
    if (*at != ',')
      break;
  }
  for (size_t i = 0; i < model->size; i++)
    if (f->column[i] < 0)
      return tm_fail(error, TEMPERA_ERROR_INPUT,
                     "%s has no column for %s of the model", path,
                     model->names[i]);
  return TEMPERA_OK;
}

/* Find the header, and count the rows after the warmup. */
static tempera_status look(const char *path, const tempera_model *model,
                           file *f, tempera_error *error) {
  const char *at = f->content, *adapted;
  while (*at && !is_row(at))
    at = next_line(at);
  if (!*at)
    return tm_fail(error, TEMPERA_ERROR_INPUT, "%s has no row of names", path);
  TM_TRY(read_header(path, at, model, f, error));
  f->body = next_line(at);
  adapted = strstr(f->body, "# Adaptation terminated");
  if (adapted)
    f->body = next_line(adapted);
  for (at = f->body; *at; at = next_line(at))
    f->rows += is_row(at);
  return TEMPERA_OK;
}

static tempera_status fill_chain(const char *path, const tempera_model *model,
                                 const file *f, size_t chain,
                                 tempera_draws *draws, double *row,
                                 tempera_error *error) {
  const char *at = f->body;
  for (size_t i = 0; i < draws->count; at = next_line(at)) {
    if (!is_row(at))
      continue;
    char *end = (char *)(uintptr_t)at;
    for (size_t k = 0; k < f->width; k++) {
      const char *from = end + (k > 0);
      row[k] = tm_number_read(from, &end);
      bool ended = *from == '\n' || *from == '\r';
      if (ended || end == from || (k + 1 < f->width && *end != ','))
        return tm_fail(error, TEMPERA_ERROR_INPUT,
                       "%s: draw %zu has no number in column %zu", path, i + 1,
                       k + 1);
    }
    for (size_t v = 0; v < model->size; v++)
      tm_draws_column(draws, TEMPERA_TARGET, chain, v)[i] =
          row[f->column[v]];
    tm_draws_column(draws, TEMPERA_TARGET, chain,
                    draws->size + TM_TAU_ACCEPT)[i] =
        f->column[model->size] < 0 ? NAN : row[f->column[model->size]];
    i++;
  }
  return TEMPERA_OK;
}

static tempera_status make(const tempera_model *model, const char *const *paths,
                           file *files, size_t count, tempera_draws **draws,
                           tempera_error *error) {
  size_t rows = SIZE_MAX, width = 0;
  tempera_status status = TEMPERA_OK;
  for (size_t c = 0; c < count; c++) {
    rows = files[c].rows < rows ? files[c].rows : rows;
    width = files[c].width > width ? files[c].width : width;
  }
  if (rows < 20)
    return tm_fail(error, TEMPERA_ERROR_INPUT,
                   "too few draws: a file has %zu after its warmup", rows);
  double *row = tm_heap_alloc(width, sizeof(double));
  tempera_draws *made = NULL;
  TM_TRY_DONE(row ? TEMPERA_OK : tm_fail_memory(error));
  TM_TRY_DONE(tm_draws_create(count, model->size,
                              (const char *const *)model->names, NULL, true,
                              false, &made, error));
  TM_TRY_DONE(tm_draws_reserve(made, rows, error));
  made->count = rows;
  for (size_t c = 0; c < count && status == TEMPERA_OK; c++)
    status = fill_chain(paths[c], model, &files[c], c, made, row, error);
  if (status == TEMPERA_OK) {
    *draws = made;
    made = NULL;
  }
done:
  tm_heap_free(row);
  tm_draws_free(made);
  return status;
}

tempera_status tm_fit_read(const tempera_model *model, const char *const *paths,
                           size_t count, tempera_draws **draws,
                           tempera_error *error) {
  file *files = tm_heap_alloc(count, sizeof *files);
  tempera_status status = files ? TEMPERA_OK : tm_fail_memory(error);
  for (size_t c = 0; c < count && status == TEMPERA_OK; c++) {
    size_t length;
    status = tm_file_read(paths[c], &files[c].content, &length, error);
    files[c].column = tm_heap_alloc(model->size + 1, sizeof(long));
    if (status == TEMPERA_OK && !files[c].column)
      status = tm_fail_memory(error);
    if (status == TEMPERA_OK)
      status = look(paths[c], model, &files[c], error);
  }
  if (status == TEMPERA_OK)
    status = make(model, paths, files, count, draws, error);
  for (size_t c = 0; files && c < count; c++) {
    tm_heap_free(files[c].content);
    tm_heap_free(files[c].column);
  }
  tm_heap_free(files);
  return status;
}
