/* source.h - a program's text, its tokens, and complaints that point at them.
 *
 * A complaint fills tempera_error with line, column and a message of three
 * lines: what is wrong, the source line, a caret under the place. */
#ifndef TM_LANGUAGE_SOURCE_H
#define TM_LANGUAGE_SOURCE_H

#include "base/memory.h"

typedef enum tm_token_kind {
  TM_TOKEN_END,
  TM_TOKEN_NAME,
  TM_TOKEN_INT,
  TM_TOKEN_REAL,
  TM_TOKEN_IMAGINARY, /* 2i: read so that it can be refused by name */
  TM_TOKEN_STRING,
  TM_TOKEN_PUNCTUATION
} tm_token_kind;

/* A file of the program: the one that was named, or one that it includes. */
typedef struct tm_file {
  const char *path;
  const char *name; /* as it is written in the #include */
  const char *text;
  size_t length;
  const struct tm_file *from; /* NULL: the program itself */
  int line, column;           /* of the #include in `from` */
} tm_file;

typedef struct tm_token {
  tm_token_kind kind;
  const tm_file *file;
  int line, column; /* from 1, in the file */
  size_t offset, length;
  const char *text; /* a NUL-terminated copy */
} tm_token;

/* A comment such as "// @prior" that marks the statement ending on its line. */
typedef enum tm_mark {
  TM_MARK_NONE,
  TM_MARK_PRIOR,
  TM_MARK_LIKELIHOOD
} tm_mark;

typedef struct tm_annotation {
  const tm_file *file;
  int line, column;
  tm_mark mark;
  bool used;
} tm_annotation;

typedef struct tm_source {
  tm_arena *arena;
  const char *name;         /* the file's name, for messages */
  const char *include_path; /* folders, separated by ':'; or NULL */
  tm_token *tokens;         /* the last one is TM_TOKEN_END */
  size_t token_count, token_capacity;
  tm_annotation *annotations;
  size_t annotation_count, annotation_capacity;
  tempera_error *error;
} tm_source;

/* Split the text (copied into the arena) into tokens. */
TEMPERA_CHECKED tempera_status tm_source_read(tm_source *source,
                                              const char *text, size_t length);

/* Complain about a token; gives TEMPERA_ERROR_INPUT. */
tempera_status tm_complain(const tm_source *source, const tm_token *token,
                           const char *format, ...)
    __attribute__((format(printf, 3, 4)));
tempera_status tm_complain_at(const tm_source *source, const tm_file *file,
                              int line, int column, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* The file that `name` in an #include of `from` means: beside `from`, else in
 * a folder of the include path. */
TEMPERA_CHECKED tempera_status tm_include(tm_source *source,
                                          const tm_file *from, int line,
                                          int column, const char *name,
                                          tm_file **file);
/* "3:5", or "3:5 of NAME" in an included file; for messages at run time. */
enum { TM_PLACE = 96 };
const char *tm_place_text(const tm_token *token, char *buffer);

/* Smallest number of edits (insert, delete, replace, swap) between names. */
size_t tm_edit_distance(const char *a, const char *b);

/* The nearest of the names offered one by one, for "did you mean". */
typedef struct tm_suggestion {
  const char *wanted, *best;
  size_t distance;
} tm_suggestion;
void tm_suggestion_offer(tm_suggestion *suggestion, const char *name);
/* "; did you mean 'x'?" or "" - in a static-size buffer of the caller's. */
const char *tm_suggestion_text(const tm_suggestion *suggestion, char *buffer,
                               size_t size);

#endif
