/* starts_file.c - where chains begin, from the user's JSON file (--init). */
#include "base/file.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/text.h"
#include "model/model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct reading {
  const tempera_model *model;
  const tm_json_text *text;
  tempera_error *error;
} reading;

static tempera_status fail_value(const reading *r, const char *name,
                                 const char *what) {
  int line, column;
  tm_json_place(r->text, name, &line, &column);
  return tm_fail_at(r->error, TEMPERA_ERROR_INPUT, line, column,
                    "start of %s: %s", name, what);
}

/* name[2,1] is root name and indices: the number below the root's value that
 * the indices lead to, or NULL. */
static const json_t *value_at(const json_t *root, const char *indices) {
  while (root && *indices && *indices != ']') {
    const char *end = NULL;
    unsigned long index = tm_index_read(indices + 1, &end);
    root = index ? json_array_get(root, index - 1) : NULL;
    indices = end;
  }
  return root;
}

static size_t count_leaves(const json_t *json) {
  if (!json_is_array(json))
    return 1;
  size_t count = 0;
  for (size_t i = 0; i < json_array_size(json); i++)
    count += count_leaves(json_array_get(json, i));
  return count;
}

/* How many values from the i-th on share its root name. */
static size_t count_namesakes(const tempera_model *model, size_t i,
                              size_t length) {
  size_t end = i;
  while (end < model->size &&
         !strncmp(model->names[end], model->names[i], length) &&
         (model->names[end][length] == '[' || !model->names[end][length]))
    end++;
  return end - i;
}

/* All values of the variable whose first is the i-th; *next is behind them. */
static tempera_status read_variable(const reading *r, const json_t *object,
                                    size_t i, double *theta, size_t *next) {
  char name[256];
  size_t length = strcspn(r->model->names[i], "[");
  snprintf(name, sizeof name, "%.*s", (int)length, r->model->names[i]);
  size_t count = count_namesakes(r->model, i, length);
  const json_t *root = json_object_get(object, name);
  if (!root)
    return fail_value(r, name, "missing; every parameter needs one");
  if (count_leaves(root) != count)
    return fail_value(r, name,
                      r->model->names[i][length] ? "wanted an array of its size"
                                                 : "wanted one number");
  for (size_t k = i; k < i + count; k++) {
    const json_t *item = value_at(root, r->model->names[k] + length);
    if (!json_is_number(item))
      return fail_value(r, name, "wanted numbers, nested as it is declared");
    theta[k] = json_number_value(item);
  }
  *next = i + count;
  return TEMPERA_OK;
}

static tempera_status read_object(const reading *r, const json_t *json,
                                  double *theta) {
  const tempera_model *model = r->model;
  if (!json_is_object(json))
    return tm_fail_at(r->error, TEMPERA_ERROR_INPUT, 1, 1,
                      "starts are an object {name: value} or an array of "
                      "such objects, one per chain");
  for (size_t i = 0; i < model->size;)
    TM_TRY(read_variable(r, json, i, theta, &i));
  if (!tm_inside(model, theta))
    return tm_fail(r->error, TEMPERA_ERROR_INPUT,
                   "a start lies outside the parameters' bounds (or an "
                   "integer is not whole)");
  return TEMPERA_OK;
}

static tempera_status read_all(const reading *r, const json_t *root,
                               size_t chains, double *starts) {
  bool several = json_is_array(root);
  if (several && json_array_size(root) != chains)
    return tm_fail_at(r->error, TEMPERA_ERROR_INPUT, 1, 1,
                      "%zu starts for %zu chains", json_array_size(root),
                      chains);
  for (size_t c = 0; c < chains; c++)
    TM_TRY(read_object(r, several ? json_array_get(root, c) : root,
                       starts + c * r->model->size));
  return TEMPERA_OK;
}

tempera_status tempera_starts_parse(const char *content, size_t length,
                                    const tempera_model *model, size_t chains,
                                    double *starts, tempera_error *error) {
  tm_json_text text = {0};
  json_t *root = NULL;
  tempera_status status = TEMPERA_OK;
  double *made = tm_heap_alloc(chains * model->size, sizeof(double));
  if (!made)
    return tm_fail_memory(error);
  TM_TRY_DONE(tm_json_parse(content, length, &text, &root, error));
  TM_TRY_DONE(read_all(&(reading){model, &text, error}, root, chains, made));
  memcpy(starts, made, chains * model->size * sizeof(double));
done:
  json_decref(root);
  tm_json_text_clear(&text);
  tm_heap_free(made);
  return status;
}

tempera_status tempera_starts_read(const char *path, const tempera_model *model,
                                   size_t chains, double *starts,
                                   tempera_error *error) {
  char *content = NULL;
  size_t length = 0;
  TM_TRY(tm_file_read(path, &content, &length, error));
  tempera_status status =
      tempera_starts_parse(content, length, model, chains, starts, error);
  tm_heap_free(content);
  return status;
}
