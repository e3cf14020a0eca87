/* runtime.h - the library's side of generated programs: the tape's memory,
 * failures, and helpers for functions that programs call.
 *
 * A failure deep inside an expression (an index out of range, a rejected
 * point) leaves by longjmp to tm_guard's caller: everything a program holds
 * lies in its tape, so nothing is lost, and generated code stays free of
 * checks after every call. */
#ifndef TM_LANGUAGE_RUNTIME_H
#define TM_LANGUAGE_RUNTIME_H

#include "base/memory.h"
#include "base/random.h"
#include "base/text.h"
#include "language/runtime/prelude.h"
#include "language/runtime/prelude_scalar.h"
#include "language/runtime/prelude_tensor.h"

#include <setjmp.h>

typedef enum tm_outcome { TM_FINE, TM_REJECTED, TM_FAILED } tm_outcome;

/* Where `print` goes; nowhere without a function. */
typedef struct tm_printer {
  void (*print)(void *context, const char *text, size_t size);
  void *context;
} tm_printer;

/* What tape->inside points at. */
typedef struct tm_guard {
  jmp_buf place;
  tm_outcome outcome;
  char message[400];
  tm_printer printer;
} tm_guard;

extern const tm_runtime tm_the_runtime;

void tm_tape_start(tm_tape *tape, tm_guard *guard);
void tm_tape_reset(tm_tape *tape); /* keeps the memory */
/* Bytes taken since the last reset, those left again included: what an
 * evaluation has written, a measure of its work that no clock disturbs. */
size_t tm_tape_used(const tm_tape *tape);
void tm_tape_free(tm_tape *tape);
/* Bytes that were taken since the last reset, whatever chunks they lie in. */
size_t tm_tape_taken(const tm_tape *tape);
/* Leave as another tape was left. */
_Noreturn void tm_runtime_leave(tm_tape *tape, tm_outcome outcome,
                                const char *message);
_Noreturn void tm_runtime_fail(tm_tape *tape, const char *place,
                               const char *format, ...)
    __attribute__((format(printf, 3, 4)));
_Noreturn void tm_runtime_reject(tm_tape *tape, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* An argument seen as n numbers: scalars have n = 1 and stride 0. */
typedef struct tm_view {
  const double *v;
  double *d;
  long n, stride;
  int scalar, steady;
  double own; /* an int's value */
} tm_view;

void tm_view_of(const tm_any *argument, tm_view *view);
/* The common length; fails when containers differ. -1: all scalars. */
long tm_common_length(tm_tape *tape, const tm_view *views, int count,
                      const char *name);

/* A scalar with stored partials. */
typedef struct tm_partial {
  double *to, *partial;
  long n;
} tm_partial;
tm_any tm_scalar_result(tm_tape *tape, double value, int count,
                        const tm_partial *partials);

/* Elements of v as a grid: start + i rise + j run, for i < rows, j < columns.
 * Copied into `out` from element `at` on. */
typedef struct tm_grid {
  long start, rows, columns, rise, run;
} tm_grid;
void tm_put_grid(tm_tape *tape, tm_tensor out, long at, const tm_view *v,
                 tm_grid grid);

/* A tensor whose elements are copies: from[k] is element k's source adjoint
 * or NULL. */
typedef struct tm_builder {
  tm_tensor out;
  double **from;
} tm_builder;
tm_builder tm_build(tm_tape *tape, int rank, const int *dim, int active);
void tm_put(tm_builder *b, long k, double value, double *adjoint);
tm_any tm_built(tm_tape *tape, tm_builder *b);

tm_any tm_int_result(long i);

/* Special functions with no error handlers behind them. */
double tm_lgamma(double x);
double tm_digamma(double x);
/* Rejects what does not sum to one. */
void tm_check_simplex(tm_tape *tape, const double *p, long n, const char *name);
tm_var tm_slices_sum(tm_tape *tape, const tm_slices *call);
void tm_desks_free(void *desks);
double tm_powers_value(double *terms, long n, double common);
tm_var tm_powers_sum(tm_tape *tape, tm_linear *node, double *terms, long n,
                     int each, int rest, double common);
/* lgamma(f + k) - lgamma(f) and digamma(f + k) - digamma(f), k >= 0, which keep
 * their digits where f is large. */
double tm_log_rise(double f, double k);
double tm_digamma_rise(double f, double k);
double tm_trigamma(double x);
double tm_inv_phi(double p);
double tm_owens_t(double h, double a); /* both >= 0 */
/* A function of scalars with slopes. */
tm_any tm_kernel_call(tm_tape *tape, tm_kernel f, const tm_any *a, int count);
/* The same element by element, of up to three arguments. */
tm_any tm_map_kernel(tm_tape *tape, tm_kernel f, const tm_any *a, int arity,
                     const char *name);

/* log P(lower <= X <= upper) of the distribution of this name; NaN when we have
 * no cdf of it. */
double tm_log_interval(const char *name, const double *arguments, int arity,
                       double lower, double upper, bool whole);

/* Outside the support, and for arguments that are not allowed, -infinity. */
tm_kernel tm_density_kernel(const char *name);
/* What was made of the statement over rows at this place, in words; false:
 * nothing. `plans`: a tape's `rows`. */
bool tm_rows_describe(const void *plans, const char *place, tm_text *out);
/* Has it terms that use these arguments alone (bit i; 0 is the outcome)? */
bool tm_density_has_terms(const char *name, unsigned chosen);
/* Can statements over rows (rows.h) call it? */
bool tm_row_has_call(const char *name);

/* members of tm_the_runtime (prelude.h says what they do) */
tm_tensor tm_gather(tm_tape *tape, tm_tensor from, int count,
                    const tm_slice *slices, const char *place);
void tm_scatter(tm_tape *tape, tm_tensor to, int count, const tm_slice *slices,
                tm_any value, const char *place);
void tm_fill(tm_tape *tape, const tm_tensor *to, int count, const long *indices,
             tm_tensor value, const char *place);
tm_tensor tm_assign(tm_tape *tape, tm_tensor to, tm_tensor value, int own,
                    int active, const char *name, const char *place);
tm_tensor tm_stack(tm_tape *tape, const tm_any *parts, int count);
void tm_check_value(tm_tape *tape, tm_any value, int constraint, tm_any lower,
                    tm_any upper, const char *name, int reject);
tm_tensor tm_binding_read(tm_tape *tape, void *binding, const char *name,
                          int integer, int rank, const int *dim);
long tm_binding_parameter(tm_tape *tape, void *binding, const char *name,
                          int constraint, int kind, int depth, int rank,
                          const int *dim, tm_any lower, tm_any upper);
long tm_binding_dependent(tm_tape *tape, void *binding, const char *name,
                          int shifted, int depth, int rank, const int *dim,
                          const void *instance, tm_limits limits);
void tm_binding_improper(void *binding);
void tm_binding_refuse_rows(void *binding);
/* Of sites.c. */
void tm_sites_piece(void *binding, int part, long weight, const long *numbers);
void tm_sites_reads(void *binding, long offset, int rank, const int *dim,
                    int count, const long *indices);
void tm_binding_conditional(void *binding, long offset);
void tm_binding_announce(tm_tape *tape, void *binding, const char *name,
                         int kind, int rank, const int *dim);
void tm_binding_output(tm_tape *tape, void *binding, tm_any value);
int tm_binding_enough(const void *binding);
void tm_binding_replica(tm_tape *tape, void *binding, const char *name,
                        int whole, tm_any observed, tm_tensor drawn);
/* Of points.c. */
void tm_points(tm_tape *tape, const char *name, const char *signature, tm_fn f,
               const tm_any *arguments, int count);
void tm_point_each(tm_tape *tape, tm_tensor values);
void tm_draw_each(tm_tape *tape, tm_fn rng, const char *signature,
                  const tm_any *arguments, int count);

tm_any tm_apply(tm_tape *tape, const char *name, const tm_system *system,
                const char *place);
tm_tensor tm_solve_ode(tm_tape *tape, const tm_ode *system, tm_any y0,
                       const char *place);

/* Give back everything taken since a mark. */
typedef struct tm_tape_mark {
  char *at;
  tm_node *last;
  void *chunks;
} tm_tape_mark;
tm_tape_mark tm_tape_here(const tm_tape *tape);
void tm_tape_back_to(tm_tape *tape, tm_tape_mark mark);
/* The backward sweep down to a node. */
void tm_sweep(tm_tape *tape, const tm_node *stop);

/* a + b and its like, of which one is a container */
#define TM_DECLARE_OPERATION(name, value, a, b)                                \
  tm_any tm_tensor_##name(tm_tape *tape, const tm_any *arguments, int count);
TM_ARITHMETIC(TM_DECLARE_OPERATION)

/* tables of functions, each ended by a NULL name */
typedef struct tm_function_entry {
  const char *name, *signature;
  tm_fn function;
} tm_function_entry;
extern const tm_function_entry tm_elementwise_functions[];
extern const tm_function_entry tm_map_functions[];
extern const tm_function_entry tm_fixed_functions[];
extern const tm_function_entry tm_density_functions[];
extern const tm_function_entry tm_cdf_functions[];
extern const tm_function_entry tm_rng_functions[];
extern const tm_function_entry tm_complex_functions[];
extern const tm_function_entry tm_complex_shapes[];

#endif
