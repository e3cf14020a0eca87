/* types.h - types and their names, and the table of built-in functions. */
#ifndef TM_LANGUAGE_TYPES_H
#define TM_LANGUAGE_TYPES_H

#include "language/read/ast.h"

/* How a built-in is typed and called. */
typedef enum tm_builtin_kind {
  TM_B_FIXED,    /* exactly this signature */
  TM_B_UNARY,    /* elementwise over any shape */
  TM_B_BINARY,   /* elementwise, scalars broadcast */
  TM_B_MAP1,     /* as UNARY, but called in the library for scalars too */
  TM_B_MAP2,     /* as BINARY, in the library */
  TM_B_COMPLEX,  /* elementwise over any shape of complex numbers */
  TM_B_MODULUS,  /* the same with real values */
  TM_B_COMPLEX2, /* as BINARY, of complex numbers */
  TM_B_PAIR,     /* complex numbers of real ones */
  TM_B_DENSITY,  /* vectorised log density or log mass */
  TM_B_CDF,      /* vectorised cdf, lcdf or lccdf */
  TM_B_RNG       /* vectorised random numbers */
} tm_builtin_kind;

/* signature, FIXED: arguments and result, "v,i:r"; i int, r real, v vector,
 * w row_vector, m matrix, c complex, p complex_vector, q complex_row_vector,
 * o complex_matrix, x any type (the same everywhere), n numbers of any shape
 * (the largest argument's), k those or one real, j ints of any shape or one, *
 * any number of array dimensions (the same everywhere), [ array of;
 * capitals stand for one of several types (CLASSES in builtins.c).
 * DENSITY, CDF, RNG: one letter per argument, R reals or I integers, either
 * scalars or containers. */
typedef struct tm_builtin {
  const char *name;
  const char *signature;
  tm_builtin_kind kind;
} tm_builtin;

tm_type tm_type_of(tm_base base, int depth);
/* The same with another number of array dimensions. */
tm_type tm_type_at(tm_type type, int depth);
bool tm_type_equal(tm_type a, tm_type b);
/* May a value of this type stand where `to` is wanted (int for real, and
 * either for complex)? */
bool tm_type_promotes(tm_type from, tm_type to);
/* How far `to` is from it; -1: it may not. */
int tm_promotion(tm_type from, tm_type to);
bool tm_is_complex(tm_type type);
/* The same of real numbers, and of complex ones. */
tm_type tm_real_type(tm_type type);
tm_type tm_complex_type(tm_type type);
/* "array[,] vector" */
const char *tm_type_name(tm_type type, char *buffer, size_t size);
enum { TM_TYPE_NAME = 64 };
bool tm_is_scalar(tm_type type);
/* Dimensions in all: array dimensions, then those of vector or matrix, then
 * one of two for complex numbers. */
int tm_rank(tm_type type);
/* How many indices it takes. */
int tm_index_rank(tm_type type);
/* The type after one single index. */
tm_type tm_element(tm_type type);

/* A parameter whose bounds, offset or multiplier depend on others? */
bool tm_has_dependent_limits(const tm_variable *v);

/* The best overload for these arguments, and its result; NULL when none.
 * *exists says whether the name is known at all. */
const tm_builtin *tm_builtin_find(const char *name, const tm_type *arguments,
                                  size_t count, tm_type *result, bool *exists);
/* Does it take argument i, a real, as a complex number? */
bool tm_builtin_widens(const tm_builtin *b, const tm_type *arguments,
                       size_t count, size_t i);
/* All of them, in no order; for suggestions and documents. */
size_t tm_builtin_count(void);
const tm_builtin *tm_builtin_at(size_t i);
/* A function of Stan that we know of and do not have? */
bool tm_builtin_unsupported(const char *name);
/* "f(vector, int)" lines of every overload, for messages. */
void tm_builtin_signatures(const char *name, char *buffer, size_t size);

#endif
