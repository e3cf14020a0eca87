/* ode.h - differential equations with forward sensitivities.
 *
 * Beside the state y goes S = dy/d(active arguments),
 *   S' = J S + df/dargument,
 * with J and df/dargument from reverse sweeps over the right-hand side. The
 * initial state's columns of S start at the identity, the initial time's at
 * -f, all others at zero. Steps are chosen by the error of y alone, so that
 * values are the same with and without derivatives. */
#ifndef TM_LANGUAGE_ODE_H
#define TM_LANGUAGE_ODE_H

#include "language/runtime/runtime.h"

/* One active argument: its adjoints, and where its columns of S begin. */
typedef struct tm_ode_active {
  double *adjoint;
  double *scratch; /* adjoints during sweeps; NULL: state or initial time */
  long n, column;
} tm_ode_active;

enum { TM_ODE_ACTIVE = 32 };

typedef struct tm_solver {
  tm_tape *tape;
  const tm_ode *system;
  const char *place;
  int n;  /* states */
  long m; /* columns of S; 0 when nothing is active */
  tm_ode_active actives[TM_ODE_ACTIVE];
  int active_count;
  tm_any arguments[TM_ODE_ACTIVE]; /* with adjoints in scratch */
  double *state_scratch;
} tm_solver;

/* z is y and then S, row by row: n + n m numbers. */
double *tm_ode_room(tm_tape *tape, long n);
void tm_ode_slope(const tm_solver *s, double time, const double *y,
                  double *out);
/* The same with J (n rows of n) and df/dargument (n rows of m). */
void tm_ode_slopes(tm_solver *s, double time, const double *y, double *out,
                   double *jacobian, double *columns);

/* A way to go from one time to the next. advance moves z; a failure leaves by
 * tm_runtime_reject or tm_runtime_fail and frees what start has taken. */
typedef struct tm_integrator {
  void *(*start)(tm_solver *s, double time, const double *z);
  void (*advance)(tm_solver *s, void *self, double from, double to, double *z);
  void (*end)(void *self);
} tm_integrator;
extern const tm_integrator tm_integrator_rk45, tm_integrator_bdf,
    tm_integrator_adams;

#endif
