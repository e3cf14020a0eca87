/* json.h - JSON read with jansson, plus what CmdStan's data need beyond JSON:
 * bare NaN and infinities, and the place of every name and error in the
 * caller's own text. */
#ifndef TM_BASE_JSON_H
#define TM_BASE_JSON_H

#include "base/text.h"

#include <jansson.h>

/* The text handed to jansson: the caller's, with bare special numbers put
 * into quotes. Start with {0}; free with tm_json_text_clear. */
typedef struct tm_json_text {
  const char *original; /* the caller's; not owned */
  size_t length;
  tm_text prepared;
  tm_text quoted; /* size_t offsets in `prepared` of the added quotes */
  tm_text keys;   /* size_t offsets in `original` of names of the object */
} tm_json_text;

void tm_json_text_clear(tm_json_text *text);
/* Parse; on success *root is a new reference. Duplicate names are errors. */
TEMPERA_CHECKED tempera_status tm_json_parse(const char *text, size_t length,
                                             tm_json_text *prepared,
                                             json_t **root,
                                             tempera_error *error);
/* Where the outermost object names `key`; 0, 0 when that is not known. */
void tm_json_place(const tm_json_text *text, const char *key, int *line,
                   int *column);
/* The length of a special number (NaN, Inf, -Infinity, ...) that `text`
 * begins with, and its value; 0 when there is none. */
size_t tm_json_special(const char *text, double *value);

/* As tm_memory_watch, jansson's memory included from now on. */
bool tm_json_watch(void);
/* json_loadb, which must be watched: NULL also when memory is short. */
json_t *tm_json_decode(const char *text, size_t length, size_t flags,
                       json_error_t *problem);
/* All of a file, or NULL when it is no JSON; a status when memory is short. */
TEMPERA_CHECKED tempera_status tm_json_load(const char *folder,
                                            const char *name, json_t **root,
                                            tempera_error *error);

/* Set a field; NaN and infinities become null, as does a NULL string. */
void tm_json_real(json_t *object, const char *name, double value);
void tm_json_integer(json_t *object, const char *name, uint64_t value);
void tm_json_string(json_t *object, const char *name, const char *value);
/* A string; in a text that is not UTF-8 (a file's name may be anything), "?"
 * for every byte beyond ASCII. */
json_t *tm_json_words(const char *text);
/* 16 hexadecimal digits: JSON's integers are too small for a hash. */
void tm_json_hash(json_t *object, const char *name, uint64_t hash);
/* Indented text with a final newline; takes `root` over. Free the text with
 * tm_heap_free. */
TEMPERA_CHECKED tempera_status tm_json_dump(json_t *root, char **text,
                                            tempera_error *error);
/* Without blanks, in ASCII, reals with 15 digits: much faster than jansson,
 * where there are many. False: memory is short. */
bool tm_json_compact(const json_t *root, tm_text *out);

#endif
