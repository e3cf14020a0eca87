/* split.h - which statements are prior and which are likelihood, and which
 * parameters have no proper prior.
 *
 * The rule (docs of the model language): a density statement or term is
 * likelihood when its outcome depends on the data's values, or is a constant;
 * for any other term all its values decide; sizes, indices and loop bounds do
 * not count; a raw `target +=` under an `if` on data is likelihood. */
#ifndef TM_LANGUAGE_SPLIT_H
#define TM_LANGUAGE_SPLIT_H

#include "base/text.h"
#include "language/check/types.h"

enum { TM_MASK_WORDS = 4, TM_MOST_PARAMETERS = 64 * TM_MASK_WORDS };

/* How the data enter a value. */
typedef enum tm_trace { TM_NO_DATA, TM_DATA_INDEX, TM_DATA_VALUE } tm_trace;

/* What a value depends on. */
typedef struct tm_dependence {
  tm_trace data;
  bool parameters;
  bool mixed;                   /* of parameters, by more than copying them */
  uint64_t mask[TM_MASK_WORDS]; /* which parameters */
} tm_dependence;

/* How much of a parameter the prior statements cover. */
typedef enum tm_cover { TM_COVER_NONE, TM_COVER_SOME, TM_COVER_ALL } tm_cover;

typedef struct tm_parameter_info {
  const tm_variable *variable;
  bool flat_is_proper; /* bounded on both sides, a simplex, ... */
  tm_cover cover;
  int64_t covered_to; /* SOME: proper if its first size is at most this */
} tm_parameter_info;

typedef struct tm_split {
  tm_program *program;
  tm_dependence *variables; /* by tm_variable.index */
  tm_parameter_info *parameters;
  size_t parameter_count;
  tm_statement **statements; /* every TILDE, TARGET and _lp CALL, in order */
  size_t statement_count;
  bool proper; /* no parameter is improper whatever the data's sizes */
} tm_split;

TEMPERA_CHECKED tempera_status tm_split_program(tm_program *program,
                                                tm_split *split);
/* Which elements of the parameters the prior statements name (cover.c). */
TEMPERA_CHECKED tempera_status tm_cover_parameters(tm_split *split);
/* Some element has no proper prior, whatever the sizes. */
bool tm_surely_improper(const tm_parameter_info *info);
tm_dependence tm_depends(const tm_split *split, const tm_expression *e);
/* Do v's bounds cut this density of it by a factor that depends on other
 * parameters? */
bool tm_cut_varies(const tm_split *split, const tm_variable *v,
                   const tm_expression *density);
/* What `tempera check` prints, in the caller's text. */
void tm_describe(const tm_split *split, tm_text *text);

#endif
