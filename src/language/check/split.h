/* split.h - which statements are prior and which are likelihood, and which
 * parameters have no proper prior.
 *
 * The rule (docs of the model language), for each term of a sum: a density is
 * likelihood when its outcome depends on the data's values, or on no
 * parameter; a term made of densities (log_mix, a user's function) goes by
 * theirs; a term without parameters goes with the density beside it; for any
 * other term all its values decide. Sizes, indices and loop bounds do not
 * count; a raw `target +=` under an `if` on data is likelihood. Variables that
 * gather terms (`lprior += ...; target += lprior;`) pass them on one by one. */
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

/* What a variable does with terms of the target. */
typedef struct tm_gathering {
  bool feeds;        /* it reaches the target, by whatever way */
  bool bent;         /* it is used other than by adding it up */
  unsigned parts;    /* of the terms it gathers, when it only adds up */
  unsigned scores;   /* parts of the densities in its values */
  tm_variable *mask; /* which elements are parameters (patch.c); or NULL */
} tm_gathering;

/* How much of a parameter the prior statements cover. */
typedef enum tm_cover { TM_COVER_NONE, TM_COVER_SOME, TM_COVER_ALL } tm_cover;

typedef struct tm_parameter_info {
  const tm_variable *variable;
  bool flat_is_proper; /* bounded on both sides, a simplex, ... */
  tm_cover cover;
  int64_t covered_to; /* SOME: proper if its first size is at most this */
  bool conditional;   /* covered only where conditions on data allow it */
} tm_parameter_info;

typedef struct tm_split {
  tm_program *program;
  tm_dependence *variables; /* by tm_variable.index */
  tm_gathering *gathering;  /* by tm_variable.index */
  int variable_count;       /* that the program declares */
  tm_parameter_info *parameters;
  size_t parameter_count;
  tm_statement **statements; /* every TILDE, TARGET and _lp CALL, in order */
  size_t statement_count;
  bool proper;          /* no parameter is improper whatever the data's sizes */
  bool likelihood;      /* some statement is */
  bool likelihood_sure; /* one that no condition or loop leaves out */
} tm_split;

TEMPERA_CHECKED tempera_status tm_split_program(tm_program *program,
                                                tm_split *split);
/* Which elements of the parameters the prior statements name (cover.c). */
TEMPERA_CHECKED tempera_status tm_cover_parameters(tm_split *split);
/* Some element has no proper prior, whatever the sizes. */
bool tm_surely_improper(const tm_parameter_info *info);
tm_dependence tm_depends(const tm_split *split, const tm_expression *e);
/* One round of following dependence through statements; did any change? */
bool tm_follow(tm_split *split, tm_statement *const *body, size_t count);
/* Which variables gather terms of the target, and what densities each value
 * holds (gather.c); after dependence is known. */
void tm_gather_terms(tm_split *split);
/* Does it pass its terms on to the target one by one? */
bool tm_gathers(const tm_split *split, const tm_variable *v);
/* Does s only add what variables have gathered before? */
bool tm_passes_on(const tm_split *split, const tm_statement *s);
/* The parts of the densities that e is made of: a set of tm_part. */
unsigned tm_scores(tm_split *split, const tm_expression *e);
/* Find the scores of the variables that these statements assign. */
void tm_score_body(tm_split *split, tm_statement *const *body, size_t count);
/* The same of all that a call of a user's function returns and adds to the
 * target (split_function.c). */
unsigned tm_function_scores(tm_split *split, const tm_expression *call);
/* The part of a density with this outcome, and why. */
tm_part tm_outcome_part(const tm_split *split, const tm_expression *outcome,
                        const char **reason);
/* Take a statement apart whose outcome has observed and missing elements: sets
 * `instead` (patch.c). */
TEMPERA_CHECKED tempera_status tm_patch(tm_split *split, tm_statement *st);
/* Decide on one statement that raises the target, or adds to what does; its
 * part, reason and terms are set (split_rule.c). */
TEMPERA_CHECKED tempera_status tm_rule(tm_split *split, tm_statement *st,
                                       bool under_data);
/* Are v's bounds those of the density itself, or cut it in half? */
bool tm_bounds_are_own(const tm_variable *v, const tm_expression *density);
/* Do v's bounds cut this density of it by a factor that depends on other
 * parameters? */
bool tm_cut_varies(const tm_split *split, const tm_variable *v,
                   const tm_expression *density);
/* Does e choose, by data, an element of a simplex? */
bool tm_chooses_by_data(const tm_split *split, const tm_expression *e);
#define TM_BY_VALUES "its values depend on data"
/* Names of the data that were observed (observed.c), in the arena; NULL without
 * memory. None: the outcomes cannot be told. */
const char **tm_observed(const tm_split *split, tm_arena *arena, size_t *count);
/* Are there outcomes, and are none of the data in this value among them? It may
 * be a penalty with given weights, then, or a likelihood of its own. */
bool tm_is_of_given_data(const tm_split *split, tm_arena *arena,
                         const tm_expression *value);
/* Is an outcome made of parameters times data, where data are outcomes, too? */
bool tm_scales_by_data(const tm_split *split, tm_arena *arena,
                       const tm_expression *outcome);
/* What `tempera check` prints, in the caller's text. */
void tm_describe(const tm_split *split, tm_text *text);

#endif
