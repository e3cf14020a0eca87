/* emit.h - what the code generator's files share.
 *
 * A program becomes C functions: data, parameters, value and gradient of the
 * prior and of the likelihood, quantities, prior draws. Scalars are long,
 * double or (in gradient mode, when they may depend on parameters) tm_var;
 * tuples are structs of long, tm_var, tm_tensor and such structs; all else is
 * tm_tensor. Names from the program are prefixed, numbers are
 * printed by us and strings escaped, so nothing in it can be C of its own. */
#ifndef TM_LANGUAGE_EMIT_H
#define TM_LANGUAGE_EMIT_H

#include "language/program.h"

/* How a value is held in C. */
typedef enum tm_held {
  TM_LONG,
  TM_DOUBLE,
  TM_VAR,
  TM_TENSOR,
  TM_STRUCT /* a tuple */
} tm_held;

/* How statements over rows (find_rows.h) are done. */
typedef enum tm_way {
  TM_BY_ROWS,    /* by the library; data that do not allow it are refused */
  TM_ONE_BY_ONE, /* as they are written */
  TM_EITHER      /* as the data allow: for libraries that stand alone */
} tm_way;

typedef struct tm_emitter {
  const tempera_program *program;
  tm_way way;
  tm_arena *arena;
  tm_text body;                  /* functions */
  tm_text declarations, systems; /* what stands before them */
  size_t system_count;
  bool gradient;      /* of which mode */
  tm_part part;       /* densities: which statements count; NONE: none */
  bool *needed;       /* by variable index: computed in this function */
  const char **calls; /* library functions, as "name\", \"signature" */
  size_t call_count, call_capacity;
  tm_list tuples;       /* tm_type: those that have a struct */
  const char **kernels; /* univariate densities of scalars */
  size_t kernel_count, kernel_capacity;
  int indent;
  const tm_function *function;
  bool drawing;          /* prior draws: ~ assigns */
  bool *copies;          /* by variable index, drawing: see copies.c */
  bool silent;           /* the target is not raised: values only */
  bool outputs;          /* quantities: reject stops, output at the end */
  bool explaining;       /* every statement says where it is, and what it did */
  bool placing;          /* where it is only */
  bool measuring;        /* guards say how far they are from holding */
  bool reading;          /* the data: kept expressions are computed here */
  bool pointing;         /* the likelihood's terms one by one */
  bool replicating;      /* outcomes are drawn */
  bool *drawn;           /* by variable index, then: data with drawn outcomes */
  bool *gathered;        /* by variable index, pointing: one term when added */
  bool rows;             /* statements over rows are left to the library */
  bool bare;             /* a variable is declared that is assigned next */
  bool remembers;        /* what loops need not compute again is remembered */
  struct tm_memo *memos; /* of the loops around, the outermost first */
  size_t memo_count, memo_capacity;
  int memo_number;                 /* the last that was given */
  const tm_expression *remembered; /* it is being computed */
  int shadow;   /* names of a function's variables end with this; 0: not */
  bool *direct; /* by variable index: parameters whose elements are taken from
                   theta as it is; or NULL */
} tm_emitter;

/* Before functions that are called once when a model is loaded or somebody asks
 * why, and before those that are called for a draw: what the compiler would
 * spend on them is never earned back. Densities and slopes have all of it. */
#define TM_ONCE "__attribute__((cold, optimize(\"O0\")))"
#define TM_SELDOM "__attribute__((optimize(\"O1\")))"

void tm_emit(tm_emitter *g, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void tm_emit_line(tm_emitter *g, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
tm_held tm_held_type(const tm_emitter *g, tm_type type, tm_level level);
tm_held tm_held_of(const tm_emitter *g, const tm_expression *e);
const char *tm_held_name(tm_held held);
/* The C type of a value: tm_held_name's, or a struct's. */
const char *tm_c_type(tm_emitter *g, tm_type type, tm_held held);
/* The structs that were asked for. */
void tm_emit_tuple_types(const tm_emitter *g, tm_text *text);
/* (a, b) and t.1; and any value as an argument or result of this type. */
void tm_emit_tuple(tm_emitter *g, const tm_expression *e, tm_type type);
/* An element of a[], where a system finds its arguments, and a tuple of those
 * from it on; *at moves on. */
void tm_emit_taken(tm_emitter *g, tm_held held, size_t *at);
void tm_emit_gathered(tm_emitter *g, tm_type type, size_t *at);
void tm_emit_project(tm_emitter *g, const tm_expression *e);
void tm_emit_given(tm_emitter *g, const tm_expression *e, tm_type type,
                   tm_held held);
/* A scalar as it is to be kept: a copy when its adjoint is another's. */
void tm_emit_kept(tm_emitter *g, const tm_expression *e, tm_held held);
/* How a declared variable is held. */
tm_held tm_held_variable(const tm_emitter *g, const tm_variable *v);
/* The number of a library function in the table F. */
size_t tm_emit_call_number(tm_emitter *g, const char *name,
                           const char *signature);
/* Of the kernel of a univariate density. */
size_t tm_emit_kernel_number(tm_emitter *g, const char *name);
/* Is e a univariate density of scalars? */
bool tm_is_scalar_density(const tm_expression *e);
void tm_emit_place(tm_emitter *g, const tm_token *token);

/* Does e name this variable? */
bool tm_mentions(const tm_expression *e, const tm_variable *v);

/* ---- emit_shortfall.c */

/* `if (c) reject(...)` and its like; is there one among these? */
bool tm_is_guard(const tm_statement *s);
bool tm_has_guards(tm_statement *const *body, size_t count);
/* While measuring, in place of the guard; without the semicolon. */
void tm_emit_guard(tm_emitter *g, const tm_statement *s);

/* Write e as it is held; or converted. */
void tm_emit_expression(tm_emitter *g, const tm_expression *e);
void tm_emit_as(tm_emitter *g, const tm_expression *e, tm_held held);
void tm_emit_number(tm_emitter *g, const tm_expression *e); /* as double */
void tm_emit_any(tm_emitter *g, const tm_expression *e);
/* A bound as tm_any: e, or the number `without` where there is none. */
void tm_emit_bound(tm_emitter *g, const tm_expression *e, const char *without);
void tm_emit_variable(tm_emitter *g, const tm_variable *v);
void tm_emit_slices(tm_emitter *g, const tm_expression *e);
/* A call into the library, as tm_any; flags: "" or " | TM_DIRECT" ... */
void tm_emit_library(tm_emitter *g, const char *name, const char *signature,
                     tm_expression *const *parts, size_t count,
                     const char *flags);
/* May the value's adjoint lie in a variable's storage? */
bool tm_aliases(const tm_expression *e);
/* All indices single, down to a scalar? Leading ones only? */
bool tm_index_single(const tm_expression *e);
/* x[i, j] for x[i][j], without a tensor in between; other indices as they are.
 * What it returns lives as long as `flat`. */
typedef struct tm_flat_index {
  tm_expression e;
  tm_index indices[TM_MAX_RANK + 2];
} tm_flat_index;
const tm_expression *tm_flat_of(const tm_expression *e, tm_flat_index *flat);
/* k_: where x_[i, j, ..] begins, by e's single indices. */
void tm_emit_offset(tm_emitter *g, const tm_expression *e);

/* May this scalar's adjoint lie in storage that is assigned later? */
bool tm_is_loose(const tm_expression *e);
/* Is the storage of this value never assigned again? */
bool tm_is_steady(const tm_expression *e);

/* ---- lent.c: what need not be copied to be read */

/* Is e some elements of a container that lie side by side? */
bool tm_is_cut(const tm_expression *e);
/* Write a tensor for somebody who reads it and keeps no hold of it, as it lies
 * where it can be. */
void tm_emit_lent(tm_emitter *g, const tm_expression *e);
/* A range of e's indices, of what C calls x, whose rows have `inner`
 * elements. */
void tm_emit_range(tm_emitter *g, const tm_expression *e, const tm_index *index,
                   const char *x, const char *inner);
/* Write rows(x) and its like as a field of x; false: it is something else. */
bool tm_emit_length(tm_emitter *g, const tm_expression *e);

/* ---- local.c */

/* Is e a call of a function that is one node of the tape? */
bool tm_is_one_node(const tm_expression *e);

/* ---- emit_dot.c */

/* Is e the product of two vectors? Write it. */
bool tm_is_dot(const tm_expression *e);
void tm_emit_dot(tm_emitter *g, const tm_expression *e);

/* ---- emit_fused.c */

/* Is e an operation on scalars that may depend on parameters? Write it as one
 * node; as the value of element i_ of y_; and as a term of the target. */
bool tm_is_fused(const tm_emitter *g, const tm_expression *e);
void tm_emit_fused(tm_emitter *g, const tm_expression *e);
void tm_emit_fused_into(tm_emitter *g, const tm_expression *e);
void tm_emit_fused_target(tm_emitter *g, const tm_expression *e);
/* x<i>_ = a density of the numbers x<parts>_, with its slopes d<i>_ where
 * they are asked for. */
void tm_emit_density_slopes(tm_emitter *g, const tm_expression *e, int i,
                            const int *parts, bool slopes);
/* log_sum_exp with the loop that makes its terms (powers.h). */
void tm_emit_powers(tm_emitter *g, const tm_expression *e);

/* ---- emit_memo.c */

/* Before a loop: places for what it need compute once only. */
void tm_emit_memos(tm_emitter *g, const tm_statement *loop);
/* Is e one of those of the loops around? Write it. */
bool tm_emit_remembers(const tm_emitter *g, const tm_expression *e);
void tm_emit_remembered(tm_emitter *g, const tm_expression *e);
/* A density that the prelude has: its name without _lpdf, or NULL; which of its
 * arguments it takes the logarithm of; and that logarithm, of the value `x`,
 * remembered where it can be. */
const char *tm_inline_density(const tm_expression *e, size_t *logged);
void tm_emit_log(tm_emitter *g, const tm_expression *e, const char *x);

void tm_emit_statements(tm_emitter *g, tm_statement *const *body, size_t count);
void tm_emit_sizes(tm_emitter *g, const tm_variable *v);
/* The parameters' values; and the bounds of transformed ones. */
void tm_emit_thetas(tm_emitter *g);
void tm_emit_transformed_checks(tm_emitter *g);
/* Which variables `part` needs; part NONE: all of them. */
void tm_emit_need(tm_emitter *g);
/* Is e a term of the target that belongs to the other part? */
bool tm_emit_leaves_out(const tm_emitter *g, const tm_expression *e);
bool tm_emit_keeps(tm_emitter *g, const tm_statement *s);
/* The end of the C name of f as it is called here. */
const char *tm_emit_variant(const tm_emitter *g, const tm_function *f);

/* The user's functions; and those that raise the target once more, term by
 * term. */
void tm_emit_functions(tm_emitter *g, bool gradient);
void tm_emit_pointing_functions(tm_emitter *g);

/* Can this call of reduce_sum be cut into pieces? Write it so. */
bool tm_is_sliced(const tm_emitter *g, const tm_expression *e);
void tm_emit_sliced(tm_emitter *g, const tm_expression *e);

/* A call of a solver of differential equations. */
void tm_emit_solver(tm_emitter *g, const tm_expression *e);

/* The whole C text of a program, without the prelude. */
TEMPERA_CHECKED tempera_status tm_emit_program(const tempera_program *program,
                                               tm_way way, tm_text *text,
                                               tempera_error *error);
/* Prior draws: can they be made by ancestral sampling, and if so emit them.*/
bool tm_emit_prior_draw(tm_emitter *g);
/* While drawing: does s draw something; draw it. */
bool tm_emit_draws(tm_emitter *g, const tm_statement *s);
void tm_emit_draw(tm_emitter *g, const tm_statement *s);

/* ---- copies.c: while drawing */

/* Fills g->copies; false: no memory. */
bool tm_find_copies(tm_emitter *g);
/* Is v drawn, and parameters taken from it? By s? */
bool tm_is_copy(const tm_emitter *g, const tm_variable *v);
bool tm_copies_back(const tm_emitter *g, const tm_statement *s);

/* ---- emit_points.c */

/* The likelihood's terms one by one, as `points`. */
void tm_emit_points(tm_emitter *g);
/* While pointing: write the terms of s; true: nothing else is to be written
 * for it. */
bool tm_emit_pointed(tm_emitter *g, const tm_statement *s);
/* Is e a density of a container of outcomes? */
bool tm_is_vectorised(const tm_expression *e);

/* ---- replicate.c */

/* Outcomes drawn given the parameters, as `replicate`; false: they cannot be,
 * and `why` says at which line and why not. */
bool tm_emit_replicate(tm_emitter *g, char *why, size_t size);
/* While replicating: write the draws of s; true as above. */
bool tm_emit_replicated(tm_emitter *g, const tm_statement *s);
/* What `tempera check` says of both. */
void tm_describe_predictive(const tempera_program *program, tm_text *text);

/* Raise the target by e, sums term by term. */
void tm_emit_term(tm_emitter *g, const tm_expression *e);
/* - log of the mass between the bounds; zero outside of them. */
void tm_emit_truncation(tm_emitter *g, const tm_statement *s);

#endif
