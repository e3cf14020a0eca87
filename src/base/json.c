/* json.c - see json.h. */
#include "base/json.h"

#include "base/file.h"
#include "base/locale.h"
#include "base/memory.h"

#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- memory ---------------------------------------------------------------
 */

/* jansson 2.14 ignores that the buffer of a token cannot grow, and aborts when
 * it reads the token again. While it decodes there is a block that is large
 * enough for any token, for the first allocation that fails. */
static _Thread_local struct {
  void *block;
  size_t size;
} reserve;

static void *allocate(size_t size) {
  void *memory = malloc(size);
  if (memory)
    return memory;
  tm_memory_note_short();
  if (size > reserve.size)
    return NULL;
  memory = reserve.block;
  reserve.block = NULL;
  reserve.size = 0;
  return memory;
}

/* Unless the program has an allocator of its own for jansson. */
static void install(void) {
  json_malloc_t by;
  json_free_t freed_by;
  json_get_alloc_funcs(&by, &freed_by);
  if (by == malloc)
    json_set_alloc_funcs(allocate, free);
}

bool tm_json_watch(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, install);
  return tm_memory_watch();
}

json_t *tm_json_decode(const char *text, size_t length, size_t flags,
                       json_error_t *problem) {
  size_t size = 2 * length + 64; /* it grows by doubling */
  void *block = malloc(size);
  if (!block) {
    tm_memory_note_short();
    return NULL;
  }
  reserve.block = block;
  reserve.size = size;
  json_t *made = json_loadb(text, length, flags, problem);
  bool taken = reserve.size == 0;
  free(reserve.block);
  reserve.block = NULL;
  reserve.size = 0;
  if (!taken)
    return made;
  json_decref(made);
  return NULL;
}

tempera_status tm_json_load(const char *folder, const char *name, json_t **root,
                            tempera_error *error) {
  char *path = tm_path_join(folder, name), *content = NULL;
  size_t length = 0;
  tempera_status status = path ? TEMPERA_OK : tm_fail_memory(error);
  *root = NULL;
  if (path && tm_file_exists(path))
    status = tm_file_read(path, &content, &length, error);
  tm_heap_free(path);
  bool outer = tm_json_watch();
  if (content)
    *root = tm_json_decode(content, length, 0, NULL);
  tm_heap_free(content);
  return tm_memory_was_short(outer) && status == TEMPERA_OK
             ? tm_fail_memory(error)
             : status;
}

/* ---- reading --------------------------------------------------------------
 */

void tm_json_text_clear(tm_json_text *text) {
  tm_text_clear(&text->prepared);
  tm_text_clear(&text->quoted);
  tm_text_clear(&text->keys);
}

size_t tm_json_special(const char *text, double *value) {
  size_t sign = text[0] == '-' || text[0] == '+';
  double magnitude = INFINITY;
  size_t length = 0;
  if (strncmp(text + sign, "Infinity", 8) == 0) {
    length = 8;
  } else if (strncmp(text + sign, "Inf", 3) == 0) {
    length = 3;
  } else if (strncmp(text + sign, "NaN", 3) == 0) {
    length = 3;
    magnitude = NAN;
  } else {
    return 0;
  }
  *value = text[0] == '-' ? -magnitude : magnitude;
  return sign + length;
}

static void add_offset(tm_text *list, size_t offset) {
  tm_text_add_bytes(list, (const char *)&offset, sizeof offset);
}

static size_t offset_at(const tm_text *list, size_t i) {
  size_t offset;
  memcpy(&offset, list->data + i * sizeof offset, sizeof offset);
  return offset;
}

static size_t offset_count(const tm_text *list) {
  return list->length / sizeof(size_t);
}

/* The length of the string that begins at `at`, quotes included; what is left
 * of the text when it never ends. */
static size_t string_length(const char *text, size_t length, size_t at) {
  size_t i = at + 1;
  while (i < length && text[i] != '"')
    i += text[i] == '\\' ? 2 : 1;
  return (i < length ? i + 1 : length) - at;
}

/* A special number that is a whole token, not the start of a longer word. */
static size_t bare_special(const char *text, size_t length, size_t at) {
  char head[12] = {0};
  double value;
  if (!strchr("+-IN", text[at]) || text[at] == '\0')
    return 0;
  memcpy(head, text + at, length - at < 11 ? length - at : 11);
  size_t found = tm_json_special(head, &value);
  unsigned char next = (unsigned char)head[found];
  return found && !tm_is_alphanumeric(next) && next != '_' ? found : 0;
}

/* Copy the text, quoting bare special numbers. */
static void prepare(const char *text, size_t length, tm_json_text *out) {
  int depth = 0;
  bool name_next = false;
  for (size_t i = 0, step, special; i < length; i += step) {
    char c = text[i];
    step = 1;
    depth += (c == '{' || c == '[') - (c == '}' || c == ']');
    if (c == '{' || c == ',')
      name_next = depth == 1;
    if (c == '"') {
      step = string_length(text, length, i);
      if (name_next)
        add_offset(&out->keys, i);
      name_next = false;
    } else if ((special = bare_special(text, length, i)) > 0) {
      step = special;
      add_offset(&out->quoted, out->prepared.length);
      tm_text_add(&out->prepared, "\"");
      tm_text_add_bytes(&out->prepared, text + i, step);
      add_offset(&out->quoted, out->prepared.length);
      tm_text_add(&out->prepared, "\"");
      continue;
    }
    tm_text_add_bytes(&out->prepared, text + i, step);
  }
}

/* Columns count characters: UTF-8 continuation bytes are skipped. */
static void place_of(const char *text, size_t offset, int *line, int *column) {
  *line = *column = 1;
  for (size_t i = 0; i < offset; i++) {
    if (text[i] == '\n') {
      ++*line;
      *column = 1;
    } else if (((unsigned char)text[i] & 0xc0) != 0x80) {
      ++*column;
    }
  }
}

/* jansson's position is behind the token it names in "... near 'token'". */
static size_t token_start(const tm_json_text *text, const char *message,
                          size_t position) {
  const char *near = strstr(message, " near '");
  size_t length = near ? strlen(near + 7) - 1 : 0;
  const char *data = text->prepared.data;
  if (length && length <= position &&
      memcmp(data + position - length, near + 7, length) == 0)
    return position - length;
  return position ? position - 1 : 0;
}

static tempera_status fail_malformed(const tm_json_text *text,
                                     const json_error_t *problem,
                                     tempera_error *error) {
  size_t position = problem->position > 0 ? (size_t)problem->position : 0;
  if (position > text->prepared.length)
    position = text->prepared.length;
  size_t start = token_start(text, problem->text, position);
  size_t added = 0;
  for (size_t i = 0; i < offset_count(&text->quoted); i++)
    added += offset_at(&text->quoted, i) < start;
  int line, column;
  place_of(text->original, start - added, &line, &column);
  return tm_fail_at(error, TEMPERA_ERROR_INPUT, line, column,
                    "malformed JSON: %s", problem->text);
}

static bool failed(const tm_json_text *text) {
  return text->prepared.failed || text->quoted.failed || text->keys.failed;
}

tempera_status tm_json_parse(const char *text, size_t length,
                             tm_json_text *prepared, json_t **root,
                             tempera_error *error) {
  *prepared = (tm_json_text){.original = text, .length = length};
  prepare(text, length, prepared);
  tm_text_add(&prepared->prepared, "");
  if (failed(prepared))
    return tm_fail_memory(error);
  json_error_t problem;
  bool outer = tm_json_watch();
  json_t *made =
      tm_json_decode(prepared->prepared.data, prepared->prepared.length,
                     JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &problem);
  if (tm_memory_was_short(outer)) {
    json_decref(made);
    return tm_fail_memory(error);
  }
  if (!made)
    return fail_malformed(prepared, &problem, error);
  *root = made;
  return TEMPERA_OK;
}

void tm_json_place(const tm_json_text *text, const char *key, int *line,
                   int *column) {
  size_t length = strlen(key);
  *line = *column = 0;
  for (size_t i = 0; i < offset_count(&text->keys); i++) {
    size_t at = offset_at(&text->keys, i) + 1;
    if (at + length < text->length && text->original[at + length] == '"' &&
        memcmp(text->original + at, key, length) == 0) {
      place_of(text->original, at - 1, line, column);
      return;
    }
  }
}

/* ---- writing ------------------------------------------------------------ */

void tm_json_real(json_t *object, const char *name, double value) {
  json_object_set_new(object, name,
                      isfinite(value) ? json_real(value) : json_null());
}

void tm_json_integer(json_t *object, const char *name, uint64_t value) {
  json_object_set_new(object, name, json_integer((json_int_t)value));
}

json_t *tm_json_words(const char *text) {
  json_t *made = json_string(text);
  char *copy = made ? NULL : tm_heap_text(text);
  if (!copy)
    return made;
  for (char *c = copy; *c; c++)
    *c = (unsigned char)*c < 0x80 ? *c : '?';
  made = json_string(copy);
  tm_heap_free(copy);
  return made;
}

void tm_json_string(json_t *object, const char *name, const char *value) {
  json_object_set_new(object, name, value ? tm_json_words(value) : json_null());
}

void tm_json_hash(json_t *object, const char *name, uint64_t hash) {
  char text[20];
  snprintf(text, sizeof text, "%016" PRIx64, hash);
  tm_json_string(object, name, text);
}

tempera_status tm_json_dump(json_t *root, char **text, tempera_error *error) {
  tm_text out = {0};
  char *dumped = json_dumps(root, JSON_INDENT(2));
  json_decref(root);
  bool less = tm_memory_was_short(false);
  if (!dumped)
    return tm_fail_memory(error);
  tm_text_add(&out, dumped);
  tm_text_add(&out, "\n");
  free(dumped);
  if (out.failed || less) {
    tm_text_clear(&out);
    return tm_fail_memory(error);
  }
  *text = out.data;
  return TEMPERA_OK;
}

/* Whole numbers have no point, which is the same to who reads them. */
static bool add_leaf(const json_t *value, tm_text *out) {
  if (json_is_real(value)) {
    tm_text_number_15(out, json_real_value(value));
    return true;
  }
  char *dumped = json_dumps(value, JSON_ENCODE_ANY | JSON_ENSURE_ASCII);
  if (dumped)
    tm_text_add(out, dumped);
  free(dumped);
  return dumped;
}

static bool add_name(const char *name, tm_text *out) {
  json_t *word = json_string(name);
  bool added = word && add_leaf(word, out);
  json_decref(word);
  tm_text_add(out, ":");
  return added;
}

bool tm_json_compact(const json_t *root, tm_text *out) {
  bool list = json_is_array(root), fine = true;
  if (!list && !json_is_object(root))
    return add_leaf(root, out);
  size_t count = json_array_size(root);
  tm_text_add(out, list ? "[" : "{");
  for (size_t i = 0; i < count && fine; i++) {
    if (i > 0)
      tm_text_add(out, ",");
    fine = tm_json_compact(json_array_get(root, i), out);
  }
  const char *name, *between = "";
  json_t *value;
  json_object_foreach((json_t *)(uintptr_t)root, name, value) {
    if (!fine)
      break;
    tm_text_add(out, between);
    between = ",";
    fine = add_name(name, out) && tm_json_compact(value, out);
  }
  tm_text_add(out, list ? "]" : "}");
  return fine && !out->failed;
}
