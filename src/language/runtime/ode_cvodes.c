/* ode_cvodes.c - the stiff (BDF) and the Adams method of SUNDIALS CVODES, with
 * Newton's iteration on a dense Jacobian and staggered forward sensitivities.
 *
 * The right-hand side may leave by longjmp; it must not do so across CVODES,
 * which holds memory of its own. Its failure is caught, CVODES returns, and
 * then it is raised again. */
#include "language/runtime/ode.h"

#include <cvodes/cvodes.h>
#include <nvector/nvector_serial.h>
#include <sunlinsol/sunlinsol_dense.h>
#include <sunmatrix/sunmatrix_dense.h>

typedef struct cv {
  tm_solver *solver;
  SUNContext context;
  void *memory;
  N_Vector y, *s; /* the state, and the columns of S */
  SUNMatrix matrix;
  SUNLinearSolver linear;
  double *slope, *jacobian, *columns; /* of the right-hand side */
  tm_outcome failed;                  /* of the right-hand side */
} cv;

static void cv_end(void *self) {
  cv *c = self;
  if (c->memory)
    CVodeFree(&c->memory);
  if (c->linear)
    SUNLinSolFree(c->linear);
  if (c->matrix)
    SUNMatDestroy(c->matrix);
  if (c->s)
    N_VDestroyVectorArray(c->s, (int)c->solver->m);
  if (c->y)
    N_VDestroy(c->y);
  if (c->context)
    SUNContext_Free(&c->context);
}

/* ---- callbacks ---------------------------------------------------------- */

/* Run `body` with failures caught: 0, or 1 for a point to avoid (a shorter
 * step may), or -1. The message stays in the guard. */
#define GUARDED(c, body)                                                       \
  tm_guard *guard = (c)->solver->tape->inside;                                 \
  jmp_buf outer;                                                               \
  memcpy(&outer, &guard->place, sizeof outer);                                 \
  int answer = 0;                                                              \
  if (setjmp(guard->place)) {                                                  \
    (c)->failed = guard->outcome;                                              \
    answer = guard->outcome == TM_REJECTED ? 1 : -1;                           \
  } else {                                                                     \
    (c)->failed = TM_FINE;                                                     \
    body;                                                                      \
  }                                                                            \
  memcpy(&guard->place, &outer, sizeof outer);                                 \
  return answer

static int rate(double time, N_Vector y, N_Vector out, void *user) {
  cv *c = user;
  GUARDED(c, tm_ode_slope(c->solver, time, N_VGetArrayPointer(y),
                          N_VGetArrayPointer(out)));
}

static void fill_jacobian(cv *c, double time, const double *y, SUNMatrix j) {
  int n = c->solver->n;
  tm_ode_slopes(c->solver, time, y, c->slope, c->jacobian, c->columns);
  for (int i = 0; i < n; i++)
    for (int k = 0; k < n; k++)
      SM_ELEMENT_D(j, i, k) = c->jacobian[i * n + k];
}

static int jacobian(double time, N_Vector y, N_Vector f, SUNMatrix j,
                    void *user, N_Vector a, N_Vector b, N_Vector d) {
  cv *c = user;
  (void)f, (void)a, (void)b, (void)d;
  GUARDED(c, fill_jacobian(c, time, N_VGetArrayPointer(y), j));
}

static void fill_sensitivities(cv *c, double time, const double *y, N_Vector *s,
                               N_Vector *out) {
  long n = c->solver->n, m = c->solver->m;
  tm_ode_slopes(c->solver, time, y, c->slope, c->jacobian, c->columns);
  for (long k = 0; k < m; k++) {
    const double *column = N_VGetArrayPointer(s[k]);
    double *to = N_VGetArrayPointer(out[k]);
    for (long i = 0; i < n; i++) {
      double sum = c->columns[i * m + k];
      for (long j = 0; j < n; j++)
        sum += c->jacobian[i * n + j] * column[j];
      to[i] = sum;
    }
  }
}

static int sensitivity(int count, double time, N_Vector y, N_Vector f,
                       N_Vector *s, N_Vector *out, void *user, N_Vector a,
                       N_Vector b) {
  cv *c = user;
  (void)count, (void)f, (void)a, (void)b;
  GUARDED(c, fill_sensitivities(c, time, N_VGetArrayPointer(y), s, out));
}

static void silent(int code, const char *module, const char *function,
                   char *message, void *user) {
  (void)code, (void)module, (void)function, (void)message, (void)user;
}

/* ---- start -------------------------------------------------------------- */

static bool set_up_state(cv *c, int method, double time, const double *z) {
  const tm_solver *s = c->solver;
  if (SUNContext_Create(NULL, &c->context))
    return false;
  c->y = N_VNew_Serial(s->n, c->context);
  c->memory = CVodeCreate(method, c->context);
  c->matrix = SUNDenseMatrix(s->n, s->n, c->context);
  if (!c->y || !c->memory || !c->matrix)
    return false;
  c->linear = SUNLinSol_Dense(c->y, c->matrix, c->context);
  memcpy(N_VGetArrayPointer(c->y), z, (size_t)s->n * sizeof(double));
  long steps =
      s->system->most_steps < 1e9 ? (long)s->system->most_steps : 1000000000L;
  return c->linear && !CVodeInit(c->memory, rate, time, c->y) &&
         !CVodeSetErrHandlerFn(c->memory, silent, NULL) &&
         !CVodeSetUserData(c->memory, c) &&
         !CVodeSStolerances(c->memory, s->system->relative,
                            s->system->absolute) &&
         !CVodeSetMaxNumSteps(c->memory, steps) &&
         !CVodeSetLinearSolver(c->memory, c->linear, c->matrix) &&
         !CVodeSetJacFn(c->memory, jacobian);
}

static bool set_up_columns(cv *c, const double *z) {
  const tm_solver *s = c->solver;
  if (s->m == 0)
    return true;
  c->s = N_VCloneVectorArray((int)s->m, c->y);
  if (!c->s)
    return false;
  for (long k = 0; k < s->m; k++)
    for (int i = 0; i < s->n; i++)
      N_VGetArrayPointer(c->s[k])[i] = z[s->n + i * s->m + k];
  return !CVodeSensInit(c->memory, (int)s->m, CV_STAGGERED, sensitivity,
                        c->s) &&
         !CVodeSensEEtolerances(c->memory) &&
         !CVodeSetSensErrCon(c->memory, SUNFALSE);
}

static void *cv_start(tm_solver *s, int method, double time, const double *z) {
  cv *c = tm_take(s->tape, sizeof *c);
  c->solver = s;
  c->slope = tm_ode_room(s->tape, s->n);
  c->jacobian = tm_ode_room(s->tape, (long)s->n * s->n);
  c->columns = tm_ode_room(s->tape, s->n * s->m);
  if (!set_up_state(c, method, time, z) || !set_up_columns(c, z)) {
    cv_end(c);
    tm_runtime_fail(s->tape, s->place, "the solver could not be set up");
  }
  return c;
}

static void *bdf_start(tm_solver *s, double time, const double *z) {
  return cv_start(s, CV_BDF, time, z);
}
static void *adams_start(tm_solver *s, double time, const double *z) {
  return cv_start(s, CV_ADAMS, time, z);
}

/* ---- advance ------------------------------------------------------------ */

_Noreturn static void give_up(cv *c, int flag) {
  tm_tape *tape = c->solver->tape;
  tm_guard *guard = tape->inside;
  tm_outcome failed = c->failed;
  cv_end(c);
  if (failed == TM_FAILED) {
    guard->outcome = TM_FAILED;
    longjmp(guard->place, 1); /* with the message it left */
  }
  tm_runtime_reject(tape, flag == CV_TOO_MUCH_WORK
                              ? "the solver needs too many steps"
                              : "the solver failed");
}

static void cv_advance(tm_solver *s, void *self, double from, double to,
                       double *z) {
  cv *c = self;
  double reached;
  (void)from;
  int flag = CVode(c->memory, to, c->y, &reached, CV_NORMAL);
  if (flag >= 0 && s->m)
    flag = CVodeGetSens(c->memory, &reached, c->s);
  if (flag < 0)
    give_up(c, flag);
  memcpy(z, N_VGetArrayPointer(c->y), (size_t)s->n * sizeof(double));
  for (long k = 0; k < s->m; k++)
    for (int i = 0; i < s->n; i++)
      z[s->n + i * s->m + k] = N_VGetArrayPointer(c->s[k])[i];
}

const tm_integrator tm_integrator_bdf = {bdf_start, cv_advance, cv_end};
const tm_integrator tm_integrator_adams = {adams_start, cv_advance, cv_end};
