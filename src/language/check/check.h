/* check.h - names, types and the rules of blocks. The checker annotates the
 * tree in place; after it, every expression has a type and a level and every
 * name its variable or function. */
#ifndef TM_LANGUAGE_CHECK_H
#define TM_LANGUAGE_CHECK_H

#include "language/check/types.h"

typedef struct tm_checker {
  tm_program *program;
  tm_source *source;
  tm_arena *arena;
  tm_variable **scope; /* visible variables, innermost last */
  size_t scope_count, scope_capacity;
  tm_block_kind block;
  tm_function *function; /* being checked, or NULL */
  int loops;             /* how many we are in */
  int depth;
  bool raised;    /* this statement calls a function with a value that raises
                     the target */
  bool printing;  /* what a print statement shows */
  bool reading;   /* the target's value may be read here ... */
  bool read;      /* ... and was */
  tm_list guards; /* of integer parameters, statements */
} tm_checker;

TEMPERA_CHECKED tempera_status tm_check(tm_program *program);
TEMPERA_CHECKED tempera_status tm_check_expression(tm_checker *c,
                                                   tm_expression *e);
/* Resolve e (a CALL whose parts are checked) to a function. */
TEMPERA_CHECKED tempera_status tm_check_call(tm_checker *c, tm_expression *e);
/* Where functions with effects (_rng, _lp) may be called. */
TEMPERA_CHECKED tempera_status tm_check_place(tm_checker *c,
                                              const tm_expression *e,
                                              const char *name);
/* e has the target's value: may it be here? */
TEMPERA_CHECKED tempera_status tm_check_reading(tm_checker *c,
                                                const tm_expression *e);
/* Turn reduce_sum(f, x, grain, ...) into f(x, 1, size(x), ...), which is what
 * it means; before its parts are checked. */
TEMPERA_CHECKED tempera_status tm_check_reduce_sum(tm_checker *c,
                                                   tm_expression *e);
/* Is this the name of a solver of differential equations? */
bool tm_is_solver(const char *name);
/* Resolve a call of one; its first argument names a function. */
TEMPERA_CHECKED tempera_status tm_check_solver(tm_checker *c, tm_expression *e);
/* What a system is given after its function, checked; e's level is then the
 * highest of them. */
TEMPERA_CHECKED tempera_status tm_check_system_arguments(tm_checker *c,
                                                         tm_expression *e);
/* Calls in s (~, target +=, conditions, loops), which is checked, that raise
 * the target: before it, each by itself (unfold.c). */
TEMPERA_CHECKED tempera_status tm_unfold(tm_checker *c, tm_statement *s);
/* Is e such a call, with none in its arguments? */
bool tm_raises_alone(const tm_expression *e);
/* A scalar of at least this base, known without parameters where asked. */
TEMPERA_CHECKED tempera_status tm_check_scalar(tm_checker *c, tm_expression *e,
                                               tm_base base, bool no_parameters,
                                               const char *what);
/* name(first | rest...), not yet checked. */
tm_expression *tm_call_of(tm_checker *c, const tm_token *token,
                          const char *name, tm_expression *first,
                          tm_expression **rest, size_t count);
/* ---- check_integer_bounds.c: bounds of integer parameters that depend on
 * others ----
 */

TEMPERA_CHECKED tempera_status tm_check_integer_bounds(tm_checker *c,
                                                       tm_variable *v);
TEMPERA_CHECKED tempera_status tm_place_guards(tm_checker *c,
                                               tm_block_node *block);
/* T[,] of a checked ~ statement with a scalar on its left. */
TEMPERA_CHECKED tempera_status tm_check_truncation(tm_checker *c,
                                                   tm_statement *s);
/* ---- check_cut.c: parameters between bounds that data give ----------------
 */

/* c ~ ...: asks for a mark, or gets the truncation by c's bounds, if it is such
 * a statement. */
TEMPERA_CHECKED tempera_status tm_cut_by_data(tm_checker *c, tm_statement *s,
                                              bool *found);
void tm_read_as_tilde(tm_checker *c, tm_statement *s);
/* The mass between the bounds, behind a checked statement that has it. */
TEMPERA_CHECKED tempera_status tm_observe_bounds(tm_checker *c,
                                                 tm_statement *s);
/* T[,] of a container: turn s into a loop over its elements. */
TEMPERA_CHECKED tempera_status tm_truncate_each(tm_checker *c, tm_statement *s);
/* (a, b); t where t is declared; t.1; t[i] of an array of tuples; qr(x). */
TEMPERA_CHECKED tempera_status tm_check_tuple(tm_checker *c, tm_expression *e);
TEMPERA_CHECKED tempera_status tm_check_items(tm_checker *c, tm_expression *e,
                                              const tm_variable *v);
TEMPERA_CHECKED tempera_status tm_check_project(tm_checker *c,
                                                tm_expression *e);
TEMPERA_CHECKED tempera_status tm_check_tuple_index(tm_checker *c,
                                                    tm_expression *e);
/* Item k of a checked tuple, to be checked; NULL when out of memory. */
tm_expression *tm_item_of(tm_checker *c, tm_expression *tuple, size_t k);
/* An array literal whose elements have this type. */
TEMPERA_CHECKED tempera_status tm_check_tuple_array(tm_checker *c,
                                                    tm_expression *e,
                                                    tm_type each);
TEMPERA_CHECKED tempera_status tm_check_returning(tm_checker *c,
                                                  tm_expression *e,
                                                  bool *found);
TEMPERA_CHECKED tempera_status tm_check_tuple_sizes(tm_checker *c,
                                                    tm_expression *e);
/* An assignment to a tuple, and a print of one, item by item. */
TEMPERA_CHECKED tempera_status tm_assign_items(tm_checker *c, tm_statement *s);
/* A name or an item of one (a.1.2), before it is checked, once more and at
 * another place; NULL when it is neither. */
tm_expression *tm_copy_path(tm_checker *c, const tm_expression *e,
                            const tm_token *token);
/* for (t in ts), of tuples, becomes for (t__at in 1:size(ts)), with ts[t__at]
 * for t; `path` is ts. Of any other value it becomes { tuple = value; for (t
 * in tuple) ... }. */
TEMPERA_CHECKED tempera_status tm_loop_over_tuples(tm_checker *c,
                                                   tm_statement *s,
                                                   const tm_expression *path);
TEMPERA_CHECKED tempera_status tm_hold_tuples(tm_checker *c, tm_statement *s);
TEMPERA_CHECKED tempera_status tm_print_items(tm_checker *c, tm_statement *s);
/* A checked value as it is wanted: reals become complex numbers where `to`
 * has them. The same for all parts from `first` on, and for the arguments, of
 * these types, of a built-in function. */
TEMPERA_CHECKED tempera_status tm_widen(tm_checker *c, tm_expression **e,
                                        tm_type to);
TEMPERA_CHECKED tempera_status tm_widen_parts(tm_checker *c, tm_expression *e,
                                              size_t first, tm_type to);
TEMPERA_CHECKED tempera_status tm_widen_arguments(tm_checker *c,
                                                  tm_expression *e,
                                                  const tm_type *types);
/* e, an operator, as a call of this built-in function. */
TEMPERA_CHECKED tempera_status tm_call_instead(tm_checker *c, tm_expression *e,
                                               const char *name);
/* Has this operator complex operands? It becomes a call. */
bool tm_is_complex_operation(const tm_expression *e);
TEMPERA_CHECKED tempera_status tm_check_complex_unary(tm_checker *c,
                                                      tm_expression *e);
TEMPERA_CHECKED tempera_status tm_check_complex_transpose(tm_checker *c,
                                                          tm_expression *e);
/* size(z), dims(z) and their like are those of its real part. */
TEMPERA_CHECKED tempera_status tm_check_complex_sizes(tm_checker *c,
                                                      tm_expression *e);
TEMPERA_CHECKED tempera_status tm_check_complex_binary(tm_checker *c,
                                                       tm_expression *e);
tm_variable *tm_scope_find(const tm_checker *c, const char *name);
tm_function *tm_function_find(const tm_checker *c, const char *name,
                              const tm_type *types, size_t count, bool *exists);
/* Ints, or tuples of nothing else. */
bool tm_is_whole(tm_type type);
/* The name of the density that a ~ statement means. */
TEMPERA_CHECKED tempera_status tm_find_density(tm_checker *c, tm_statement *s,
                                               const char **name);
/* Is there a density (user's or ours) of this name, e.g. "normal_lpdf"? */
bool tm_density_known(const tm_checker *c, const char *name);
bool tm_ends_with(const char *text, const char *suffix);
/* stem + suffix in the arena; NULL when out of memory. */
const char *tm_joined(tm_checker *c, const char *stem, size_t stem_length,
                      const char *suffix);

#endif
