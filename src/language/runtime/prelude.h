/* prelude.h - what every generated program begins with, and the library
 * includes: scalars, tensors and the tape. Behind it come prelude_scalar.h
 * (elementwise functions and densities with derivatives) and prelude_tensor.h.
 *
 * Reverse mode. A real that may depend on parameters is a tm_var: its value
 * and a pointer to its adjoint (NULL when it does not). Operations push nodes
 * on a tape in a bump arena; the backward sweep walks them in reverse. A
 * tensor is contiguous and row-major, with an array of adjoints or NULL.
 * Storage is mutable: assigning to an element pushes a node that, going
 * backwards, moves the adjoint from the element to what was assigned and
 * clears it, so that earlier readers of the old value find their own. */
#ifndef TM_LANGUAGE_PRELUDE_H
#define TM_LANGUAGE_PRELUDE_H

#include <math.h>
#include <stddef.h>
#include <string.h>

typedef struct tm_var {
  double v;
  double *d;
} tm_var;

enum { TM_RANK = 11 }; /* eight of arrays, two of matrices, complex */

typedef struct tm_tensor {
  double *v, *d;
  int rank;
  int dim[TM_RANK];
} tm_tensor;

typedef enum tm_tag {
  TM_TAG_INT,
  TM_TAG_REAL,
  TM_TAG_TENSOR,
  TM_TAG_TEXT,
  TM_TAG_PAIRS /* complex numbers, in messages */
} tm_tag;

/* A value of any kind, for calls into the library. */
typedef struct tm_any {
  tm_tag tag;
  int steady; /* its storage is never assigned again */
  union {
    long i;
    tm_var r;
    tm_tensor t;
    const char *s;
  } u;
} tm_any;

typedef struct tm_node {
  void (*back)(struct tm_node *node); /* NULL: a tm_linear */
  struct tm_node *before;
} tm_node;

/* A scalar with known partials: a whole expression is one node. What is
 * assigned to an element of a variable has its adjoint there. */
typedef struct tm_slope {
  double *to, d;
} tm_slope;
typedef struct tm_linear {
  tm_node node;
  union {
    double own;
    double *element;
  } adjoint;
  int count, assigned;
  tm_slope slopes[];
} tm_linear;

typedef struct tm_tape {
  char *at, *end; /* free space of the current chunk */
  tm_node *last;
  double sink; /* adjoint of nobody */
  double log_density;
  double shortfall;  /* measuring: how far guards are from holding */
  double cut;        /* of a prior draw: log mass between declared bounds */
  const char *place; /* of the statement, while explaining */
  int showing;       /* print statements print */
  int scored;        /* likelihood statements, explaining */
  /* terms of the likelihood one by one: those from point_first on go to
   * points, while there is room; all are counted and added up */
  double *points, pointed;
  long point_first, point_room, point_count;
  int replicating; /* outcomes are drawn (1), or get their terms' numbers (2) */
  void *chunks, *random, *inside; /* the library's own */
  const struct tm_runtime *runtime;
  size_t given_back; /* bytes that solvers have used and left again */
  void *rows;        /* plans of statements over rows, the last first */
  void *desks;       /* where pieces of reduce_sum are done */
} tm_tape;

/* count may carry TM_DIRECT: the value goes straight into the target, so
 * partials may be added to steady arguments' adjoints at once. Densities of
 * containers may be asked for the part that depends on some arguments only
 * (TM_ONLY, with bits of the arguments from TM_CHOSEN on), or without it. */
typedef tm_any (*tm_fn)(tm_tape *tape, const tm_any *arguments, int count);
enum { TM_DIRECT = 1 << 16, TM_ONLY = 1 << 17, TM_REST = 1 << 18 };
enum { TM_CHOSEN = 20 };

/* A univariate log density: value, and partials when d is not 0. */
typedef double (*tm_kernel)(const double *x, double *d);

/* One index of a slice. */
typedef enum tm_slice_kind {
  TM_SLICE_ONE,
  TM_SLICE_ALL,
  TM_SLICE_RANGE,
  TM_SLICE_MANY
} tm_slice_kind;
typedef struct tm_slice {
  tm_slice_kind kind;
  long from, to; /* 0: open */
  tm_tensor many;
} tm_slice;

/* The right-hand side of a differential equation: time, state, arguments. */
typedef tm_tensor (*tm_rhs)(tm_tape *tape, double time, tm_tensor y,
                            const tm_any *arguments);
typedef enum tm_ode_method {
  TM_ODE_RK45,
  TM_ODE_BDF,
  TM_ODE_ADAMS
} tm_ode_method;
typedef struct tm_ode {
  tm_ode_method method;
  tm_rhs value, gradient;
  tm_any start;
  int moving; /* times may depend on parameters */
  double relative, absolute, most_steps;
  tm_tensor times;
  const tm_any *arguments;
  int argument_count;
} tm_ode;

/* A function given to a function, with all its arguments, and the rest of the
 * call: see check/higher.h. */
typedef tm_any (*tm_callback)(tm_tape *tape, const tm_any *arguments);
typedef struct tm_system {
  tm_callback value, gradient;
  const tm_any *controls, *arguments;
  int argument_count;
  double tolerances[3];
} tm_system;

/* A call of reduce_sum: a function of a slice of the first argument, its first
 * and its last number and the other arguments. Pieces have `least` slices at
 * least, or `grain` where that is more than one; `active`: bits of arguments
 * that may depend on parameters. */
typedef struct tm_slices {
  tm_callback f;
  const tm_any *arguments;
  int count;
  long grain, least;
  unsigned active;
} tm_slices;

/* The bounds (or offset and multiplier) of a parameter, from the values of
 * those before it; adjoints in `gradient` when it is not 0. */
typedef void (*tm_limits_fn)(tm_tape *tape, const void *instance,
                             const double *theta, double *gradient,
                             tm_any *limits);
typedef struct tm_limits {
  tm_limits_fn value, gradient;
} tm_limits;

/* A statement over rows as a list of operations, the operands of each before
 * it; see runtime/rows.h. */
typedef enum tm_row_kind {
  TM_ROW_NUMBER,  /* a number known when the data are read */
  TM_ROW_COLUMN,  /* one for each row */
  TM_ROW_SCALAR,  /* argument `leaf`, the same for all rows */
  TM_ROW_PICK,    /* an element of argument `leaf` for each row */
  TM_ROW_DOT,     /* a row of data times the vector that is argument `leaf` */
  TM_ROW_CALL,    /* a function `name` of scalars */
  TM_ROW_DENSITY, /* a univariate density `name` */
  TM_ROW_ADD,     /* target += operand */
  TM_ROW_POWERS   /* target += log_sum_exp(operand) over rows of a group */
} tm_row_kind;
enum { TM_ROW_MOST = 200 }; /* operations of a statement */
typedef struct tm_row_op {
  tm_row_kind kind;
  int leaf;
  const char *name;
  short parts[4];
  short part_count;
} tm_row_op;
/* While the data are read: places for them by operation. */
typedef struct tm_rows {
  long n;
  long group; /* rows that make one term, side by side; 0: one */
  double *numbers, **columns;
  int **picks;
  long *sizes; /* PICK: elements of the argument */
  int bad;     /* an index out of range, lengths that differ */
} tm_rows;

/* Of parameters and outputs: whole numbers, generated quantities, complex
 * numbers (the last dimension is their parts). */
enum { TM_WHOLE = 1, TM_GENERATED = 1, TM_PAIRS = 2 };

/* What the library gives a program. Failures do not return. */
typedef struct tm_runtime {
  tm_fn (*find)(const char *name, const char *signature);
  tm_kernel (*kernel)(const char *name);
  void *(*more)(tm_tape *tape, size_t size); /* memory of a new chunk */
  void (*fail)(tm_tape *tape, const char *place, const char *format, ...)
      __attribute__((noreturn));
  /* print (0), reject (1) or fail (2) with what the arguments say */
  void (*message)(tm_tape *tape, const char *place, int reject,
                  const tm_any *arguments, int count);
  tm_tensor (*gather)(tm_tape *tape, tm_tensor from, int count,
                      const tm_slice *slices, const char *place);
  void (*scatter)(tm_tape *tape, tm_tensor to, int count,
                  const tm_slice *slices, tm_any value, const char *place);
  /* the same of what is under leading single indices */
  void (*fill)(tm_tape *tape, const tm_tensor *to, int count,
               const long *indices, tm_tensor value, const char *place);
  /* the value of a whole variable; `own`: nobody else holds its storage */
  tm_tensor (*assign)(tm_tape *tape, tm_tensor to, tm_tensor value, int own,
                      int active, const char *name, const char *place);
  tm_tensor (*stack)(tm_tape *tape, const tm_any *parts, int count);
  /* stop (data) or reject (parameters) when a value breaks its type */
  void (*check)(tm_tape *tape, tm_any value, int constraint, tm_any lower,
                tm_any upper, const char *name, int reject);
  /* data, parameters and output by name; `binding` is the library's own */
  tm_tensor (*read)(tm_tape *tape, void *binding, const char *name, int integer,
                    int rank, const int *dim);
  long (*parameter)(tm_tape *tape, void *binding, const char *name,
                    int constraint, int kind, int depth, int rank,
                    const int *dim, tm_any lower, tm_any upper);
  /* one whose limits depend on parameters before it */
  long (*dependent)(tm_tape *tape, void *binding, const char *name, int shifted,
                    int depth, int rank, const int *dim, const void *instance,
                    tm_limits limits);
  /* storage (prelude_tensor.h): a copy, NaN, a parameter of two indices or
   * more, and from a parameter's storage to theta */
  tm_tensor (*duplicate)(tm_tape *tape, tm_tensor from);
  tm_tensor (*declare)(tm_tape *tape, int rank, const int *dim, int active);
  tm_tensor (*unpack)(tm_tape *tape, const double *theta, double *gradient,
                      int rank, const int *dim);
  void (*pack)(tm_tape *tape, tm_tensor from, double *theta, const char *name);
  void (*improper)(void *binding);    /* the last parameter is, if it has any */
  void (*refuse_rows)(void *binding); /* the data do not allow them */
  /* the last parameter, at `offset`, has one if conditions on data hold */
  void (*conditional)(void *binding, long offset);
  /* a piece of the target begins, of this part and weight, with the numbers
   * that name it (0: what stands between pieces); and it reads elements of a
   * parameter at `offset`: those with these first indices */
  void (*piece)(void *binding, int part, long weight, const long *numbers);
  void (*reads)(void *binding, long offset, int rank, const int *dim, int count,
                const long *indices);
  /* an output's name and sizes, once; then its value, for every point */
  void (*announce)(tm_tape *tape, void *binding, const char *name, int kind,
                   int rank, const int *dim);
  void (*output)(tm_tape *tape, void *binding, tm_any value);
  int (*enough)(const void *binding); /* no more outputs are wanted */
  /* the solution at all times, one row each */
  tm_tensor (*ode)(tm_tape *tape, const tm_ode *system, tm_any y0,
                   const char *place);
  tm_any (*apply)(tm_tape *tape, const char *name, const tm_system *system,
                  const char *place);
  /* a density of a container of outcomes, one by one (f 0: the kernel of this
   * name); the elements of a tensor, one by one */
  void (*points)(tm_tape *tape, const char *name, const char *signature,
                 tm_fn f, const tm_any *arguments, int count);
  void (*point_each)(tm_tape *tape, tm_tensor values);
  /* outcomes drawn one by one by a random function: arguments as the density's,
   * the place to fill first */
  void (*draw_each)(tm_tape *tape, tm_fn rng, const char *signature,
                    const tm_any *arguments, int count);
  /* a variable with drawn outcomes: what was observed, and what was drawn */
  void (*replica)(tm_tape *tape, void *binding, const char *name, int whole,
                  tm_any observed, tm_tensor drawn);
  /* statements over rows: storage for their data; those data in vectors of
   * `length` elements, from one of them on, or, of a product, in a matrix or
   * row by row; whether it can be used (NULL: no); and the sum, for every
   * point */
  tm_rows *(*rows_plan)(tm_tape *tape, const tm_row_op *ops, int count, long n,
                        const char *place);
  void (*rows_vector)(tm_rows *rows, int op, tm_tensor values, long from,
                      long length);
  void (*rows_matrix)(tm_tape *tape, tm_rows *rows, int op, tm_tensor values,
                      long from, long length);
  void (*rows_row)(tm_tape *tape, tm_rows *rows, int op, tm_tensor values,
                   long row);
  tm_rows *(*rows_ready)(tm_tape *tape, tm_rows *rows);
  tm_var (*rows_sum)(tm_tape *tape, const tm_rows *rows,
                     const tm_any *arguments);
  tm_var (*slices)(tm_tape *tape, const tm_slices *call);
  /* log_sum_exp of n terms, and what they have in common: the node has `each`
   * slopes of every term and then `rest` of that */
  tm_var (*powers)(tm_tape *tape, struct tm_linear *node, double *terms, long n,
                   int each, int rest, double common);
  double (*powers_value)(double *terms, long n, double common);
  /* x becomes exp(x), of a vector; and why these probabilities are none */
  void (*exps)(double *x, size_t n);
  void (*not_simplex)(tm_tape *tape, const double *p, long n, const char *name);
  double (*log_rise)(double f, double k), (*digamma_rise)(double f, double k);
  double (*lgamma)(double);
  double (*digamma)(double);
  double (*trigamma)(double);
  double (*inv_phi)(double);
} tm_runtime;

#define TM_UNUSED __attribute__((unused))
#define TM_INLINE static inline TM_UNUSED
/* Called often and not worth their copies in compile time. */
#define TM_OUTLINE static TM_UNUSED __attribute__((noinline))

/* Memory that is written before it is read. */
TM_INLINE void *tm_take_blank(tm_tape *tape, size_t size) {
  size = (size + 31) & ~(size_t)31;
  if ((size_t)(tape->end - tape->at) < size)
    return tape->runtime->more(tape, size);
  void *memory = tape->at;
  tape->at += size;
  return memory;
}

/* Zeroed memory. */
TM_INLINE void *tm_take(tm_tape *tape, size_t size) {
  return memset(tm_take_blank(tape, size), 0, size);
}

TM_INLINE tm_node *tm_push(tm_tape *tape, size_t size,
                           void (*back)(tm_node *)) {
  tm_node *node = (tm_node *)tm_take(tape, size);
  node->back = back;
  node->before = tape->last;
  tape->last = node;
  return node;
}

TM_INLINE void tm_linear_back(tm_linear *p) {
  double g = p->adjoint.own;
  if (p->assigned) {
    g = *p->adjoint.element;
    *p->adjoint.element = 0;
  }
  for (int i = 0; i < p->count; i++)
    *p->slopes[i].to += g * p->slopes[i].d;
}

TM_INLINE void tm_backward(tm_tape *tape) {
  for (tm_node *node = tape->last; node; node = node->before) {
    if (node->back)
      node->back(node);
    else
      tm_linear_back((tm_linear *)node);
  }
}

TM_INLINE tm_var tm_constant(double x) {
  tm_var r = {x, 0};
  return r;
}

/* A node with so many slopes, to be set. */
TM_INLINE tm_linear *tm_linear_new(tm_tape *tape, int count) {
  tm_linear *p = (tm_linear *)tm_take_blank(
      tape, sizeof *p + (size_t)count * sizeof(tm_slope));
  p->node.back = 0;
  p->node.before = tape->last;
  p->adjoint.own = 0;
  p->count = count;
  p->assigned = 0;
  tape->last = &p->node;
  return p;
}

/* The same before it is known when the node comes. */
TM_INLINE tm_linear *tm_powers_new(tm_tape *tape, long count) {
  return (tm_linear *)tm_take_blank(tape, sizeof(tm_linear) +
                                              (size_t)count * sizeof(tm_slope));
}

TM_INLINE void tm_linear_set(tm_tape *tape, tm_linear *p, int i, double *to,
                             double d) {
  tm_slope slope = {to ? to : &tape->sink, d};
  p->slopes[i] = slope;
}

TM_OUTLINE tm_var tm_linear1(tm_tape *tape, double value, tm_var a, double da) {
  if (!a.d)
    return tm_constant(value);
  tm_linear *p = tm_linear_new(tape, 1);
  tm_linear_set(tape, p, 0, a.d, da);
  tm_var r = {value, &p->adjoint.own};
  return r;
}

TM_OUTLINE tm_var tm_linear2(tm_tape *tape, double value, tm_var a, double da,
                             tm_var b, double db) {
  if (!a.d || !b.d)
    return tm_linear1(tape, value, a.d ? a : b, a.d ? da : db);
  tm_linear *p = tm_linear_new(tape, 2);
  tm_linear_set(tape, p, 0, a.d, da);
  tm_linear_set(tape, p, 1, b.d, db);
  tm_var r = {value, &p->adjoint.own};
  return r;
}

/* What a loop computes once: for every turn of the loops inside, of which there
 * are this many less one; NULL when it is too many to remember. */
typedef struct tm_memo_var {
  tm_var value;
  long known;
} tm_memo_var;
typedef struct tm_memo_number {
  double value;
  long known;
} tm_memo_number;
enum { TM_MEMOS = 20000 };
TM_OUTLINE void *tm_memos(tm_tape *tape, size_t size, int count,
                          const long *turns) {
  double n = 1;
  for (int i = 0; i < count; i++)
    n *= turns[i] < 0 ? 0 : (double)turns[i] + 1;
  return n < 1 || n > TM_MEMOS ? 0 : tm_take(tape, (size_t)n * size);
}

/* Straight to an adjoint: of what the target is raised by. */
TM_INLINE void tm_raise(double *to, double d) {
  if (to)
    *to += d;
}

TM_INLINE tm_var tm_copy(tm_tape *tape, tm_var a) {
  return tm_linear1(tape, a.v, a, 1);
}

/* One term of the likelihood. */
TM_INLINE void tm_add_point(tm_tape *tape, double value) {
  long k = tape->point_count++ - tape->point_first;
  if (k >= 0 && k < tape->point_room)
    tape->points[k] = value;
  tape->pointed += value;
}

/* ---- what a program gives the library ---------------------------------- */

/* Every generated program exports one of these as tempera_program_entry. */
typedef struct tm_entry {
  unsigned version; /* of this header */
  const char *name;
  int likelihood; /* is any statement? 1: if it is reached, 2: yes */
  int rejects;    /* may points of the prior be rejected? */
  size_t instance_size;
  void (*start)(const tm_runtime *runtime);
  /* read the data, compute transformed data; memory is the tape's */
  void (*data)(tm_tape *tape, void *instance, void *binding);
  /* lay out the parameters, then name the quantities */
  void (*parameters)(tm_tape *tape, void *instance, void *binding);
  /* [prior, likelihood]; values are left in tape->log_density */
  void (*value[2])(tm_tape *tape, const void *instance, const double *theta);
  void (*gradient[2])(tm_tape *tape, const void *instance, const double *theta,
                      double *gradient);
  /* both at once, rejecting the point by the statement that makes it zero */
  void (*explain)(tm_tape *tape, const void *instance, const double *theta);
  /* transformed parameters and generated quantities */
  void (*quantities)(tm_tape *tape, const void *instance, const double *theta,
                     void *binding);
  /* a draw from the prior, or NULL */
  void (*prior)(tm_tape *tape, const void *instance, double *theta);
  /* transformed parameters and model with their prints, or NULL */
  void (*show)(tm_tape *tape, const void *instance, const double *theta);
  /* [prior, likelihood], or NULL: the sum of the pieces from `at` to `last`,
   * four numbers each; and what every piece reads, by the runtime's `piece` and
   * `reads` */
  void (*terms[2])(tm_tape *tape, const void *instance, const double *theta,
                   const long *at, const long *last);
  void (*reads[2])(tm_tape *tape, const void *instance, void *binding);
  /* how far the program's guards are from holding, left in tape->shortfall; or
   * NULL: it has none */
  void (*shortfall)(tm_tape *tape, const void *instance, const double *theta);
  /* the terms of the likelihood, to tape->points */
  void (*points)(tm_tape *tape, const void *instance, const double *theta);
  /* outcomes drawn given theta, to the runtime's `replica`; their log density
   * is left in tape->log_density. NULL: `unreplicated` says why not */
  void (*replicate)(tm_tape *tape, const void *instance, const double *theta,
                    void *binding);
  const char *unreplicated;
} tm_entry;

enum { TM_ENTRY_VERSION = 19 };

#endif
