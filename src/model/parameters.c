/* parameters.c - parameters described in JSON, for models whose densities live
 * outside of C: a program that answers on its standard output, a function of
 * Python or R. */
#include "base/json.h"
#include "base/memory.h"
#include "model/model.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

struct tempera_parameters {
  tm_arena *arena;
  tempera_parameter *blocks;
  size_t count;
};

enum { MOST_RANK = 8, MOST_VALUES = 1 << 24 };

typedef struct reading {
  tm_arena *arena;
  const tm_json_text *text;
  const char *name;
  tempera_error *error;
} reading;

static tempera_status refuse(const reading *r, const char *what) {
  int line, column;
  tm_json_place(r->text, r->name, &line, &column);
  return tm_fail_at(r->error, TEMPERA_ERROR_INPUT, line, column,
                    "parameter %s: %s", r->name, what);
}

static bool is_name(const char *name) {
  if (!isalpha((unsigned char)*name))
    return false;
  size_t length = strlen(name);
  for (size_t i = 0; i < length; i++)
    if (!isalnum((unsigned char)name[i]) && name[i] != '_')
      return false;
  return length < 2 || strcmp(name + length - 2, "__") != 0;
}

/* ---- names of the values --------------------------------------------------
 */

/* b[1,2] for the second of b's values, when its sizes are these; the last
 * index runs fastest. */
static const char *name_value(const reading *r, const size_t *dims, size_t rank,
                              size_t value) {
  size_t index[MOST_RANK];
  for (size_t d = rank; d-- > 0; value /= dims[d])
    index[d] = value % dims[d] + 1;
  tm_text text = {0};
  tm_text_add(&text, r->name);
  for (size_t d = 0; d < rank; d++)
    tm_text_printf(&text, "%c%zu", d ? ',' : '[', index[d]);
  tm_text_add(&text, "]");
  char *name = text.failed ? NULL : tm_arena_text(r->arena, text.data);
  tm_text_clear(&text);
  return name;
}

static tempera_status name_values(const reading *r, const size_t *dims,
                                  size_t rank, tempera_parameter *p) {
  if (rank < 2)
    return TEMPERA_OK; /* the model names them */
  const char **names = TM_NEW(r->arena, const char *, p->size);
  for (size_t i = 0; names && i < p->size; i++)
    if (!(names[i] = name_value(r, dims, rank, i)))
      names = NULL;
  p->value_names = names;
  return names ? TEMPERA_OK : tm_fail_memory(r->error);
}

/* ---- one block ------------------------------------------------------------
 */

static bool read_dimension(const json_t *json, size_t *size) {
  json_int_t number = json_integer_value(json);
  if (!json_is_integer(json) || number < 1 || number > MOST_VALUES)
    return false;
  *size = (size_t)number;
  return true;
}

/* A number of values, or an array of sizes. */
static tempera_status read_size(const reading *r, const json_t *json,
                                tempera_parameter *p) {
  size_t dims[MOST_RANK],
      rank = json_is_array(json) ? json_array_size(json) : 1;
  if (!json || json_is_null(json))
    return TEMPERA_OK;
  if (rank < 1 || rank > MOST_RANK)
    return refuse(r, "1 to 8 sizes are possible");
  p->size = 1;
  for (size_t d = 0; d < rank; d++) {
    const json_t *one = json_is_array(json) ? json_array_get(json, d) : json;
    if (!read_dimension(one, &dims[d]) || p->size > MOST_VALUES / dims[d])
      return refuse(r, "its size must be a whole number from 1, or an array "
                       "of such numbers");
    p->size *= dims[d];
  }
  return name_values(r, dims, rank, p);
}

static tempera_status read_bound(const reading *r, const json_t *json,
                                 double absent, double *bound) {
  *bound = absent;
  if (!json || json_is_null(json))
    return TEMPERA_OK;
  const char *word = json_string_value(json);
  if (word && tm_json_special(word, bound) == strlen(word) && *word &&
      !isnan(*bound))
    return TEMPERA_OK;
  if (!json_is_number(json))
    return refuse(r, "a bound must be a number, or null for none");
  *bound = json_number_value(json);
  return TEMPERA_OK;
}

static tempera_status read_simplex(const reading *r, const json_t *list,
                                   tempera_parameter *p) {
  p->transform = TEMPERA_SIMPLEX;
  if (json_array_size(list) != 2 ||
      !read_dimension(json_array_get(list, 1), &p->size) || p->size < 2)
    return refuse(r,
                  "a simplex is written [\"simplex\", N], N being 2 or more");
  return TEMPERA_OK;
}

static tempera_status read_block(const reading *r, const json_t *json,
                                 tempera_parameter *p) {
  const char *kind =
      json_string_value(json_is_array(json) ? json_array_get(json, 0) : json);
  *p = (tempera_parameter){.name = tm_arena_text(r->arena, r->name)};
  if (!p->name)
    return tm_fail_memory(r->error);
  if (!is_name(r->name))
    return refuse(r, "a name has letters, digits and underscores, begins with "
                     "a letter and does not end in __");
  if (kind && strcmp(kind, "simplex") == 0)
    return read_simplex(r, json, p);
  if (!kind || (strcmp(kind, "real") != 0 && strcmp(kind, "int") != 0) ||
      json_array_size(json) > 4)
    return refuse(r, "wanted \"real\", \"int\", [\"real\", LOWER, UPPER, SIZE] "
                     "(the same for int), or [\"simplex\", SIZE]");
  p->kind = kind[0] == 'i' ? TEMPERA_INTEGER : TEMPERA_REAL;
  TM_TRY(read_bound(r, json_array_get(json, 1), (double)-INFINITY, &p->lower));
  TM_TRY(read_bound(r, json_array_get(json, 2), (double)INFINITY, &p->upper));
  if (!(p->lower < p->upper))
    return refuse(r, "its lower bound must be below the upper one");
  return read_size(r, json_array_get(json, 3), p);
}

/* ---- all of them ----------------------------------------------------------
 */

static tempera_status read_blocks(const tm_json_text *text, json_t *root,
                                  tempera_parameters *made,
                                  tempera_error *error) {
  const char *name;
  json_t *json;
  if (!json_is_object(root) || json_object_size(root) == 0)
    return tm_fail_at(error, TEMPERA_ERROR_INPUT, 1, 1,
                      "parameters are an object such as {\"x\": \"real\", "
                      "\"k\": [\"int\", 0, 20]}");
  made->blocks = TM_NEW(made->arena, tempera_parameter, json_object_size(root));
  if (!made->blocks)
    return tm_fail_memory(error);
  json_object_foreach(root, name, json) {
    const reading r = {made->arena, text, name, error};
    TM_TRY(read_block(&r, json, &made->blocks[made->count]));
    made->count++;
  }
  return TEMPERA_OK;
}

tempera_status tempera_parameters_parse(const char *content, size_t length,
                                        tempera_parameters **parameters,
                                        tempera_error *error) {
  tm_json_text text = {0};
  json_t *root = NULL;
  tm_arena *arena;
  tempera_parameters *made = TM_BEGIN(&arena, tempera_parameters);
  tempera_status status = made ? TEMPERA_OK : tm_fail_memory(error);
  TM_TRY_DONE(status);
  made->arena = arena;
  TM_TRY_DONE(tm_json_parse(content, length, &text, &root, error));
  TM_TRY_DONE(read_blocks(&text, root, made, error));
  *parameters = made;
done:
  json_decref(root);
  tm_json_text_clear(&text);
  if (status != TEMPERA_OK)
    tm_arena_free(arena);
  return status;
}

const tempera_parameter *
tempera_parameters_blocks(const tempera_parameters *parameters, size_t *count) {
  *count = parameters->count;
  return parameters->blocks;
}

void tempera_parameters_free(tempera_parameters *parameters) {
  if (parameters)
    tm_arena_free(parameters->arena);
}
