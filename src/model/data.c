/* data.c - CmdStan JSON data, read by name.
 *
 * One object; arrays are rectangular and row-major; NaN and infinities come
 * as strings or bare; 3.0 is not an integer; duplicate keys are an error and
 * extra keys are not, so that values are judged when a model asks for them. */
#include "model/data.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/locale.h"
#include "base/memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_RANK = 16 };

typedef struct variable {
  const char *name;
  int line, column; /* of its name in the text */
  size_t rank, dims[MAX_RANK], count;
  double *reals;
  int64_t *integers;   /* NULL unless every value is an integer */
  const char *problem; /* why it is neither; or NULL */
} variable;

struct tempera_data {
  tm_arena *arena;
  variable *variables;
  size_t count;
  uint64_t hash;
};

/* ---- one value ---------------------------------------------------------- */

static const char *kind_of(const json_t *json) {
  switch (json_typeof(json)) {
  case JSON_OBJECT:
    return "an object";
  case JSON_ARRAY:
    return "an array";
  case JSON_STRING:
    return "a string";
  case JSON_INTEGER:
    return "an integer";
  case JSON_REAL:
    return "a real number";
  case JSON_TRUE:
  case JSON_FALSE:
    return "true or false";
  default:
    return "null";
  }
}

static bool special_number(const json_t *json, double *value) {
  return json_is_string(json) &&
         tm_json_special(json_string_value(json), value) ==
             json_string_length(json);
}

/* Give a variable its problem once, in words that follow "variable x". */
static void note(tempera_data *data, variable *v, const char *format,
                 const char *what) {
  char text[160];
  if (v->problem)
    return;
  snprintf(text, sizeof text, format, what);
  v->problem = tm_arena_text(data->arena, text);
  if (!v->problem)
    v->problem = "could not be read: out of memory";
}

static void store_leaf(tempera_data *data, variable *v, const json_t *json,
                       size_t *at) {
  double special = 0;
  if (json_is_integer(json)) {
    v->reals[*at] = (double)json_integer_value(json);
    if (v->integers)
      v->integers[*at] = json_integer_value(json);
  } else if (json_is_real(json) || special_number(json, &special)) {
    v->reals[*at] = json_is_real(json) ? json_real_value(json) : special;
    v->integers = NULL;
  } else {
    note(data, v, "holds %s where a number was wanted", kind_of(json));
  }
  ++*at;
}

/* Sizes are read off the first elements; `check_shape` compares the others. */
static void measure(tempera_data *data, variable *v, const json_t *json) {
  for (; json_is_array(json); json = json_array_get(json, 0)) {
    if (v->rank == MAX_RANK) {
      note(data, v, "has more than %s dimensions", "16");
      return;
    }
    v->dims[v->rank++] = json_array_size(json);
  }
}

/* Before anything is allocated: a ragged array's sizes may multiply to far
 * more than it holds. Counts the numbers. */
static void check_shape(tempera_data *data, variable *v, const json_t *json,
                        size_t depth) {
  bool array = json_is_array(json);
  if (depth == v->rank) {
    if (array)
      note(data, v, "is not rectangular: %s", "it nests deeper in places");
    v->count++;
    return;
  }
  if (!array || json_array_size(json) != v->dims[depth]) {
    note(data, v, "is not rectangular: %s",
         array ? "its rows differ in length" : "it mixes numbers and arrays");
    return;
  }
  for (size_t i = 0; i < v->dims[depth] && !v->problem; i++)
    check_shape(data, v, json_array_get(json, i), depth + 1);
}

static void store(tempera_data *data, variable *v, const json_t *json,
                  size_t depth, size_t *at) {
  if (depth == v->rank)
    store_leaf(data, v, json, at);
  else
    for (size_t i = 0; i < v->dims[depth]; i++)
      store(data, v, json_array_get(json, i), depth + 1, at);
}

static bool read_variable(tempera_data *data, variable *v, const json_t *json) {
  measure(data, v, json);
  if (!v->problem)
    check_shape(data, v, json, 0);
  if (v->problem)
    return true;
  v->reals = TM_NEW(data->arena, double, v->count);
  v->integers = TM_NEW(data->arena, int64_t, v->count);
  if (!v->reals || !v->integers)
    return false;
  size_t at = 0;
  store(data, v, json, 0, &at);
  return true;
}

/* ---- the hash ----------------------------------------------------------- */

static int by_name(const void *a, const void *b) {
  return strcmp(((const variable *)a)->name, ((const variable *)b)->name);
}

/* Sizes and values: -0 is 0, and one NaN is as good as another. */
static uint64_t hash_content(uint64_t hash, const variable *v) {
  hash = tm_hash_bytes(hash, v->dims, v->rank * sizeof *v->dims);
  for (size_t i = 0; i < v->count && !v->problem; i++) {
    double value = v->reals[i] == 0 ? 0 : v->reals[i];
    value = isnan(value) ? (double)NAN : value;
    hash = tm_hash_bytes(hash, &value, sizeof value);
  }
  return hash;
}

static uint64_t hash_variable(uint64_t hash, const variable *v) {
  return hash_content(tm_hash_bytes(hash, v->name, strlen(v->name) + 1), v);
}

/* Observations are arrays; single numbers (sizes, a number of components, a
 * hyperparameter) choose the model, and models on the same observations are
 * there to be compared. Without any array the single numbers count. */
static uint64_t hash_data(const tempera_data *data) {
  uint64_t hash = TM_HASH_START;
  bool arrays = false;
  for (size_t i = 0; i < data->count; i++)
    arrays = arrays || data->variables[i].rank > 0;
  for (size_t i = 0; i < data->count; i++)
    if (!arrays || data->variables[i].rank > 0)
      hash = hash_variable(hash, &data->variables[i]);
  return hash;
}

/* ---- reading ------------------------------------------------------------ */

/* ---- tuples -------------------------------------------------------------- */

/* Item `key` of an object, or of every object in nested arrays. */
static json_t *project(const json_t *json, const char *key) {
  if (json_is_object(json))
    return json_incref(json_object_get(json, key));
  json_t *list = json_is_array(json) ? json_array() : NULL;
  for (size_t i = 0; list && i < json_array_size(json); i++) {
    json_t *item = project(json_array_get(json, i), key);
    if (!item || json_array_append_new(list, item)) {
      json_decref(list);
      return NULL;
    }
  }
  return list;
}

/* A tuple is an object with keys "1", "2", ...; its items become variables of
 * their own, t:1, t:2. False when out of memory. */
static bool flatten(json_t *flat, const char *name, json_t *json) {
  const json_t *first = json;
  while (json_is_array(first))
    first = json_array_get(first, 0);
  if (!json_is_object(first) || !json_object_get(first, "1"))
    return json_object_set(flat, name, json) == 0;
  for (size_t k = 1; k <= json_object_size(first); k++) {
    char key[32];
    snprintf(key, sizeof key, "%zu", k);
    json_t *item = project(json, key);
    if (!item)
      continue; /* not a tuple after all: missed when it is asked for */
    size_t size = strlen(name) + sizeof key + 1;
    char *full = tm_heap_alloc(size, 1);
    if (full)
      snprintf(full, size, "%s:%s", name, key);
    bool fine = full && flatten(flat, full, item);
    tm_heap_free(full);
    json_decref(item);
    if (!fine)
      return false;
  }
  return true;
}

static json_t *flattened(json_t *root) {
  if (!json_is_object(root))
    return json_incref(root); /* refused later */
  json_t *flat = json_object(), *json;
  const char *name;
  json_object_foreach(root, name, json) {
    if (flat && !flatten(flat, name, json)) {
      json_decref(flat);
      flat = NULL;
    }
  }
  return flat;
}

static bool fill(tempera_data *data, json_t *root, const tm_json_text *text) {
  const char *name;
  json_t *json;
  data->variables = TM_NEW(data->arena, variable, json_object_size(root));
  if (!data->variables)
    return false;
  json_object_foreach(root, name, json) {
    variable *v = &data->variables[data->count++];
    v->name = tm_arena_text(data->arena, name);
    if (!v->name || !read_variable(data, v, json))
      return false;
    tm_json_place(text, name, &v->line, &v->column);
  }
  qsort(data->variables, data->count, sizeof *data->variables, by_name);
  data->hash = hash_data(data);
  return true;
}

static tempera_status build(json_t *root, const tm_json_text *text,
                            tempera_data **data, tempera_error *error) {
  if (!json_is_object(root))
    return tm_fail_at(error, TEMPERA_ERROR_INPUT, 1, 1,
                      "the data are %s; wanted one JSON object such as "
                      "{\"n\": 2, \"y\": [1.5, 2]}",
                      kind_of(root));
  tm_arena *arena;
  tempera_data *made = TM_BEGIN(&arena, tempera_data);
  if (made)
    made->arena = arena;
  if (!made || !fill(made, root, text)) {
    tm_arena_free(arena);
    return tm_fail_memory(error);
  }
  *data = made;
  return TEMPERA_OK;
}

/* Data of the R language, as older programs wrote them: `name <- ...` or
 * `name = ...` where JSON would begin. */
static bool is_r_dump(const char *text, size_t length) {
  size_t i = 0;
  for (bool comment = false; i < length; i++) {
    comment = text[i] == '#' || (comment && text[i] != '\n');
    if (!comment && !tm_is_space(text[i]))
      break;
  }
  i += i < length && strchr("\"`'", text[i]);
  size_t start = i;
  while (i < length &&
         (tm_is_alphanumeric(text[i]) || text[i] == '_' || text[i] == '.'))
    i++;
  if (i == start)
    return false;
  while (i < length && strchr(" \t\n\"`'", text[i]) && text[i])
    i++;
  return i + 1 < length &&
         (text[i] == '=' || (text[i] == '<' && text[i + 1] == '-'));
}

tempera_status tempera_data_parse(const char *text, size_t length,
                                  tempera_data **data, tempera_error *error) {
  tm_json_text prepared = {0};
  json_t *root = NULL;
  if (is_r_dump(text, length))
    return tm_fail_at(
        error, TEMPERA_ERROR_INPUT, 1, 1,
        "this is an R dump, and data are read from JSON; in R, convert it by "
        "source(\"FILE\"); jsonlite::write_json(mget(ls()), \"data.json\", "
        "auto_unbox = TRUE, digits = NA)");
  tempera_status status = tm_json_parse(text, length, &prepared, &root, error);
  json_t *flat = status == TEMPERA_OK ? flattened(root) : NULL;
  if (status == TEMPERA_OK)
    status = flat ? build(flat, &prepared, data, error) : tm_fail_memory(error);
  json_decref(flat);
  json_decref(root);
  tm_json_text_clear(&prepared);
  return status;
}

tempera_status tempera_data_read(const char *path, tempera_data **data,
                                 tempera_error *error) {
  char *text = NULL;
  size_t length = 0;
  TM_TRY(tm_file_read(path, &text, &length, error));
  tempera_status status = tempera_data_parse(text, length, data, error);
  tm_heap_free(text);
  return status;
}

void tempera_data_free(tempera_data *data) {
  if (data)
    tm_arena_free(data->arena);
}

uint64_t tempera_data_hash(const tempera_data *data) { return data->hash; }

tempera_status tm_data_marks(const tempera_data *data,
                             tempera_data_mark **marks, size_t *count,
                             tempera_error *error) {
  size_t made = 0;
  if (data->count == 0)
    return TEMPERA_OK;
  tempera_data_mark *list = tm_heap_alloc(data->count, sizeof *list);
  if (!list)
    return tm_fail_memory(error);
  for (size_t i = 0; i < data->count; i++) {
    const variable *v = &data->variables[i];
    if (v->problem)
      continue; /* no model could read it */
    list[made] = (tempera_data_mark){.name = tm_heap_text(v->name),
                                     .array = v->rank > 0,
                                     .hash = hash_content(TM_HASH_START, v),
                                     .value = v->rank ? NAN : v->reals[0]};
    if (!list[made++].name) {
      tm_data_marks_free(list, made);
      return tm_fail_memory(error);
    }
  }
  *marks = list;
  *count = made;
  return TEMPERA_OK;
}

void tm_data_marks_free(tempera_data_mark *marks, size_t count) {
  for (size_t i = 0; i < count; i++)
    tm_heap_free(marks[i].name);
  tm_heap_free(marks);
}

/* ---- asking ------------------------------------------------------------- */

static const variable *find(const tempera_data *data, const char *name) {
  variable key = {.name = name};
  return data->count
             ? bsearch(&key, data->variables, data->count, sizeof key, by_name)
             : NULL;
}

void tm_data_place(const tempera_data *data, const char *name, int *line,
                   int *column) {
  const variable *v = find(data, name);
  *line = v ? v->line : 0;
  *column = v ? v->column : 0;
}

bool tempera_data_has(const tempera_data *data, const char *name) {
  return find(data, name) != NULL;
}

/* "an array [3, 2] of integers", "a real number". */
static void describe(const variable *v, char *out, size_t size) {
  if (v->rank == 0) {
    snprintf(out, size, "%s",
             v->integers ? "an integer" : "a number that is not an integer");
    return;
  }
  size_t used = (size_t)snprintf(out, size, "an array [");
  for (size_t i = 0; i < v->rank && used < size; i++)
    used += (size_t)snprintf(out + used, size - used, "%s%zu", i ? ", " : "",
                             v->dims[i]);
  if (used < size)
    snprintf(out + used, size - used, "] of %s",
             v->integers ? "integers" : "reals");
}

static tempera_status mismatch(const variable *v, const char *wanted,
                               tempera_error *error) {
  char found[200];
  describe(v, found, sizeof found);
  return tm_fail_at(error, TEMPERA_ERROR_INPUT, v->line, v->column,
                    "variable %s: wanted %s, found %s", v->name, wanted, found);
}

/* A variable of this shape (array or single), integers only when asked. An
 * empty array is an array of any type and rank. */
static tempera_status look_up(const tempera_data *data, const char *name,
                              bool array, bool integer, const variable **out,
                              tempera_error *error) {
  static const char *const wanted[2][2] = {
      {"one real number", "one integer (3.0 is not an integer)"},
      {"an array of reals", "an array of integers (3.0 is not an integer)"}};
  const variable *v = find(data, name);
  if (!v)
    return tm_fail(error, TEMPERA_ERROR_INPUT,
                   "the data lack variable %s: wanted %s", name,
                   wanted[array][integer]);
  if (v->problem)
    return tm_fail_at(error, TEMPERA_ERROR_INPUT, v->line, v->column,
                      "variable %s %s (wanted %s)", name, v->problem,
                      wanted[array][integer]);
  if ((v->rank > 0) != array || (integer && !v->integers))
    return mismatch(v, wanted[array][integer], error);
  *out = v;
  return TEMPERA_OK;
}

tempera_status tempera_data_real(const tempera_data *data, const char *name,
                                 double *value, tempera_error *error) {
  const variable *v = NULL;
  TM_TRY(look_up(data, name, false, false, &v, error));
  *value = v->reals[0];
  return TEMPERA_OK;
}

tempera_status tempera_data_integer(const tempera_data *data, const char *name,
                                    int64_t *value, tempera_error *error) {
  const variable *v = NULL;
  TM_TRY(look_up(data, name, false, true, &v, error));
  *value = v->integers[0];
  return TEMPERA_OK;
}

tempera_status tempera_data_reals(const tempera_data *data, const char *name,
                                  const double **values, size_t *count,
                                  tempera_error *error) {
  const variable *v = NULL;
  TM_TRY(look_up(data, name, true, false, &v, error));
  *values = v->reals;
  *count = v->count;
  return TEMPERA_OK;
}

tempera_status tempera_data_integers(const tempera_data *data, const char *name,
                                     const int64_t **values, size_t *count,
                                     tempera_error *error) {
  const variable *v = NULL;
  TM_TRY(look_up(data, name, true, true, &v, error));
  *values = v->integers;
  *count = v->count;
  return TEMPERA_OK;
}

tempera_status tempera_data_dimensions(const tempera_data *data,
                                       const char *name, size_t *dims,
                                       size_t most, size_t *rank,
                                       tempera_error *error) {
  const variable *v = find(data, name);
  if (!v)
    return tm_fail(error, TEMPERA_ERROR_INPUT, "the data lack variable %s",
                   name);
  for (size_t i = 0; i < v->rank && i < most; i++)
    dims[i] = v->dims[i];
  *rank = v->rank;
  return TEMPERA_OK;
}

/* ---- data made of others --------------------------------------------------
 */

static bool copy_variable(tm_arena *arena, const variable *from, variable *to) {
  *to = *from;
  to->name = tm_arena_text(arena, from->name);
  if (from->reals)
    to->reals = TM_NEW(arena, double, from->count + 1);
  if (from->integers)
    to->integers = TM_NEW(arena, int64_t, from->count + 1);
  if (from->problem)
    to->problem = tm_arena_text(arena, from->problem);
  if (!to->name || (from->reals && !to->reals) ||
      (from->integers && !to->integers) || (from->problem && !to->problem))
    return false;
  if (from->reals && from->count)
    memcpy(to->reals, from->reals, from->count * sizeof *to->reals);
  if (from->integers && from->count)
    memcpy(to->integers, from->integers, from->count * sizeof *to->integers);
  return true;
}

tempera_status tm_data_copy(const tempera_data *data, tempera_data **copy,
                            tempera_error *error) {
  tm_arena *arena;
  tempera_data *made = TM_BEGIN(&arena, tempera_data);
  bool fine = made != NULL;
  if (fine) {
    *made = *data;
    made->arena = arena;
    made->variables = TM_NEW(arena, variable, data->count + 1);
    fine = made->variables != NULL;
  }
  for (size_t i = 0; fine && i < data->count; i++)
    fine = copy_variable(arena, &data->variables[i], &made->variables[i]);
  if (!fine) {
    tm_arena_free(arena);
    return tm_fail_memory(error);
  }
  *copy = made;
  return TEMPERA_OK;
}

tempera_status tm_data_replace(tempera_data *data, const char *name, bool whole,
                               const double *values, size_t count,
                               tempera_error *error) {
  for (size_t i = 0; i < data->count; i++) {
    variable *v = &data->variables[i];
    if (strcmp(v->name, name))
      continue;
    if (v->count != count || v->problem)
      return tm_fail(error, TEMPERA_ERROR_INPUT,
                     "%s has %zu values in the data, and %zu were simulated",
                     name, v->count, count);
    if (whole && !v->integers) /* an empty array */
      v->integers = TM_NEW(data->arena, int64_t, count + 1);
    if (whole && !v->integers)
      return tm_fail_memory(error);
    v->integers = whole ? v->integers : NULL;
    for (size_t k = 0; k < count; k++) {
      v->reals[k] = values[k];
      if (whole)
        v->integers[k] = (int64_t)values[k];
    }
    data->hash = hash_data(data);
    return TEMPERA_OK;
  }
  return tm_fail(error, TEMPERA_ERROR_INPUT,
                 "%s is not in the data: it is computed from them, and data "
                 "that would give what was simulated are not known",
                 name);
}
