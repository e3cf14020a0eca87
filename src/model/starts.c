/* starts.c - where chains begin, from the user's JSON file (--init). */
#include "base/file.h"
#include "base/json.h"
#include "base/memory.h"
#include "model/model.h"

#include <math.h>
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

static tempera_status read_block(const reading *r, size_t b, const json_t *json,
                                 double *theta) {
  const tempera_parameter *p = &r->model->spec.parameters[b];
  const tm_block *block = &r->model->blocks[b];
  if (!json)
    return fail_value(r, p->name, "missing; every parameter needs one");
  if (p->size == 0 ? !json_is_number(json)
                   : json_array_size(json) != block->theta_count)
    return fail_value(r, p->name,
                      p->size ? "wanted an array of its size"
                              : "wanted one number");
  for (size_t i = 0; i < block->theta_count; i++) {
    const json_t *item = p->size ? json_array_get(json, i) : json;
    if (!json_is_number(item))
      return fail_value(r, p->name, "wanted numbers");
    theta[block->theta + i] = json_number_value(item);
  }
  return TEMPERA_OK;
}

static tempera_status read_object(const reading *r, const json_t *json,
                                  double *theta) {
  const tempera_model *model = r->model;
  if (!json_is_object(json))
    return tm_fail_at(r->error, TEMPERA_ERROR_INPUT, 1, 1,
                      "starts are an object {name: value} or an array of "
                      "such objects, one per chain");
  for (size_t b = 0; b < model->block_count; b++) {
    const char *name = model->spec.parameters[b].name;
    TM_TRY(read_block(r, b, json_object_get(json, name), theta));
  }
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

tempera_status tempera_starts_read(const char *path, const tempera_model *model,
                                   size_t chains, double *starts,
                                   tempera_error *error) {
  char *content = NULL;
  size_t length = 0;
  tm_json_text text = {0};
  json_t *root = NULL;
  tempera_status status = TEMPERA_OK;
  double *made = tm_heap_alloc(chains * model->size, sizeof(double));
  if (!made)
    return tm_fail_memory(error);
  TM_TRY_DONE(tm_file_read(path, &content, &length, error));
  TM_TRY_DONE(tm_json_parse(content, length, &text, &root, error));
  TM_TRY_DONE(read_all(&(reading){model, &text, error}, root, chains, made));
  memcpy(starts, made, chains * model->size * sizeof(double));
done:
  json_decref(root);
  tm_json_text_clear(&text);
  tm_heap_free(content);
  tm_heap_free(made);
  return status;
}
