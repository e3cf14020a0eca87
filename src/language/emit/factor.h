/* factor.h - a term of the target as a law to draw from: a density of a
 * parameter (or, while replicating, of data), between bounds, or a mixture of
 * such. */
#ifndef TM_LANGUAGE_FACTOR_H
#define TM_LANGUAGE_FACTOR_H

#include "language/emit/emit.h"

enum { TM_MOST_COMPONENTS = 16, TM_MOST_WEIGHTS = 8 };

/* How an expression enters a log weight. */
typedef enum tm_weight_kind {
  TM_WEIGHT_PLUS,
  TM_WEIGHT_MINUS,
  TM_WEIGHT_LOG,  /* log(e) */
  TM_WEIGHT_LOG1M /* log(1 - e) */
} tm_weight_kind;

typedef struct tm_component {
  const tm_expression *density;
  const tm_expression *weights[TM_MOST_WEIGHTS];
  tm_weight_kind kinds[TM_MOST_WEIGHTS];
  size_t weight_count;
} tm_component;

typedef struct tm_factor {
  const tm_statement *statement;
  const tm_expression *value;  /* the term */
  const tm_expression *left;   /* what is drawn, ... */
  bool affine;                 /* (by way of a multiple of it, shifted) */
  const tm_variable *variable; /* ... of this variable */
  tm_component components[TM_MOST_COMPONENTS];
  size_t count;
} tm_factor;

/* The i-th term of s that may be one, of this part; NULL after the last. */
const tm_expression *tm_part_term(const tm_statement *s, tm_part part,
                                  size_t i);
/* Can we draw from this term? Fills the factor. */
bool tm_factor_of(tm_emitter *g, const tm_statement *s,
                  const tm_expression *term, tm_factor *factor);
/* Draw: values to p_NAME and v_NAME, their log density to the tape. */
void tm_factor_emit(tm_emitter *g, const tm_factor *factor);
/* Laws of integers, labels and linear models, while replicating: is there a
 * way to draw from e; draw, into x_ (replicate.c). */
bool tm_replica_law(tm_emitter *g, const tm_expression *e);
void tm_emit_replica_law(tm_emitter *g, const tm_expression *e);
/* The parameter's elements of which e is a multiple, shifted; or e (affine.c).
 * Between these two, x_ is e. */
const tm_expression *tm_affine_inner(const tm_expression *e);
void tm_emit_affine_begin(tm_emitter *g, const tm_factor *f);
void tm_emit_affine_end(tm_emitter *g);
/* A parameter that no term names, flat between bounds or on a simplex. */
bool tm_factor_is_flat(const tm_variable *v);
void tm_factor_emit_flat(tm_emitter *g, const tm_variable *v);

#endif
