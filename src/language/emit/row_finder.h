/* row_finder.h - what the two files that find statements over rows share: the
 * statements (find_rows.c) and their expressions (row_expressions.c). */
#ifndef TM_LANGUAGE_EMIT_ROW_FINDER_H
#define TM_LANGUAGE_EMIT_ROW_FINDER_H

#include "language/emit/find_rows.h"

/* A vector made row by row: by an expression of vectors, or by one of the
 * counter of a loop. */
typedef struct tm_row_definition {
  tm_expression *value;
  tm_variable *counter; /* or NULL */
} tm_row_definition;

/* A variable's value in the row, so far. */
typedef struct tm_row_local {
  const tm_variable *variable;
  int node;
  bool element; /* of a vector, at the row's number */
} tm_row_local;

enum { TM_ROW_LOCALS = 32, TM_ROW_DEPTH = 24 };

typedef struct tm_row_finder {
  tm_program *program;
  int *assigned;              /* by variable: how many statements assign it */
  tm_row_definition *defined; /* by variable */
  tm_row_statement *row;      /* being built */
  bool loop;                  /* a loop; else a term over containers */
  const tm_statement *around; /* the loop */
  tm_row_local locals[TM_ROW_LOCALS];
  int local_count, depth;
  tm_row_condition conditions[TM_ROW_CONDITIONS]; /* around */
  int condition_count;
  bool strict;              /* no vector that is computed elsewhere */
  const tm_variable *owner; /* inside the definition of this vector */
  const char *why;          /* the statement is not taken; or NULL */
  const tm_token *at;       /* because of this, or NULL */
  bool failed;              /* out of memory */
} tm_row_finder;

typedef bool (*tm_row_test)(tm_row_finder *f, const tm_expression *e);

/* Does the test hold for e and all below it? */
bool tm_row_everywhere(tm_row_finder *f, const tm_expression *e,
                       tm_row_test holds);
/* Calls that may be made once, or when the data are read. */
bool tm_row_plain_call(const tm_expression *e, bool of_users);
/* Known when the data are read, with the row's number. */
bool tm_row_is_data(tm_row_finder *f, const tm_expression *e);
/* The same for all rows. */
bool tm_row_is_shared(tm_row_finder *f, const tm_expression *e);
/* Are the sizes of a variable known from data? */
bool tm_row_fixed_sizes(tm_row_finder *f, const tm_variable *v);
bool tm_row_vector(tm_type type);
/* Is e the row's number? */
bool tm_row_identity(tm_row_finder *f, const tm_expression *e);
/* Does it belong to another part of the target? */
bool tm_row_another(const tm_row_finder *f, const tm_expression *e);

/* Operations, by number; -1: not understood, or no room. The value of e in
 * every row, rows of data times a vector, a density. */
int tm_row_push(tm_row_finder *f, tm_row_node node);
int tm_row_of(tm_row_finder *f, tm_expression *e);
int tm_row_dot(tm_row_finder *f, tm_expression *data, tm_expression *vector);
int tm_row_density(tm_row_finder *f, const tm_expression *e);

#endif
