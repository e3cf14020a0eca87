/* dae.c - differential-algebraic equations F(t, y, y', arguments) = 0 by
 * SUNDIALS IDAS, with staggered forward sensitivities of the arguments and of
 * the initial values. Failures of the user's function are caught, IDAS returns,
 * and then they are raised again (as in ode_cvodes.c). */
#include "language/runtime/callable.h"

#include <idas/idas.h>
#include <nvector/nvector_serial.h>
#include <sunlinsol/sunlinsol_dense.h>
#include <sunmatrix/sunmatrix_dense.h>

typedef struct dae {
  tm_callable *c;
  int n;
  long columns; /* of arguments, then of y and of y' at the start */
  double *y_slope, *p_slope;
  double *dy, *dp, *da; /* F_y, F_y' (n x n), F_argument (n x columns) */
  SUNContext context;
  void *memory;
  N_Vector y, p, *s, *sp;
  SUNMatrix matrix;
  SUNLinearSolver linear;
  tm_outcome failed;
} dae;

static void end(dae *d) {
  if (d->memory)
    IDAFree(&d->memory);
  if (d->linear)
    SUNLinSolFree(d->linear);
  if (d->matrix)
    SUNMatDestroy(d->matrix);
  if (d->s)
    N_VDestroyVectorArray(d->s, (int)d->columns);
  if (d->sp)
    N_VDestroyVectorArray(d->sp, (int)d->columns);
  if (d->y)
    N_VDestroy(d->y);
  if (d->p)
    N_VDestroy(d->p);
  if (d->context)
    SUNContext_Free(&d->context);
}

/* ---- callbacks ---------------------------------------------------------- */

static int guarded(dae *d, void (*body)(dae *, const void *),
                   const void *arguments) {
  tm_guard *guard = d->c->tape->inside;
  jmp_buf outer;
  memcpy(&outer, &guard->place, sizeof outer);
  volatile int answer = 0;
  if (setjmp(guard->place)) {
    d->failed = guard->outcome;
    answer = guard->outcome == TM_REJECTED ? 1 : -1;
  } else {
    d->failed = TM_FINE;
    body(d, arguments);
  }
  memcpy(&guard->place, &outer, sizeof outer);
  return answer;
}

typedef struct point {
  double time, scale;
  double *y, *p, *out;
  SUNMatrix j;
  N_Vector *s, *sp, *sensitivities;
} point;

static void set_point(dae *d, const point *at, bool slopes) {
  tm_callable_real(d->c, 0, at->time, NULL);
  tm_callable_vector(d->c, 1, at->y, d->n, slopes ? d->y_slope : NULL);
  tm_callable_vector(d->c, 2, at->p, d->n, slopes ? d->p_slope : NULL);
}

static void residual_of(dae *d, const void *arguments) {
  const point *at = arguments;
  set_point(d, at, false);
  tm_callable_value(d->c, d->n, at->out);
}

static void differentiate(dae *d, const point *at) {
  set_point(d, at, true);
  for (int i = 0; i < d->n; i++) {
    tm_callable_slope(d->c, i, d->da + i * d->c->columns);
    memcpy(d->dy + (long)i * d->n, d->y_slope, (size_t)d->n * sizeof(double));
    memcpy(d->dp + (long)i * d->n, d->p_slope, (size_t)d->n * sizeof(double));
  }
}

static void jacobian_of(dae *d, const void *arguments) {
  const point *at = arguments;
  differentiate(d, at);
  for (int i = 0; i < d->n; i++)
    for (int k = 0; k < d->n; k++)
      SM_ELEMENT_D(at->j, i, k) =
          d->dy[(long)i * d->n + k] + at->scale * d->dp[(long)i * d->n + k];
}

/* F_y s + F_y' s' + F_argument */
static void sensitivities_of(dae *d, const void *arguments) {
  const point *at = arguments;
  differentiate(d, at);
  for (long k = 0; k < d->columns; k++)
    for (int i = 0; i < d->n; i++) {
      double sum = k < d->c->columns ? d->da[i * d->c->columns + k] : 0;
      for (int j = 0; j < d->n; j++)
        sum += d->dy[(long)i * d->n + j] * N_VGetArrayPointer(at->s[k])[j] +
               d->dp[(long)i * d->n + j] * N_VGetArrayPointer(at->sp[k])[j];
      N_VGetArrayPointer(at->sensitivities[k])[i] = sum;
    }
}

static int residual(double time, N_Vector y, N_Vector p, N_Vector out,
                    void *user) {
  point at = {time, 0, N_VGetArrayPointer(y), N_VGetArrayPointer(p),
              N_VGetArrayPointer(out)};
  return guarded(user, residual_of, &at);
}
static int jacobian(double time, double scale, N_Vector y, N_Vector p,
                    N_Vector f, SUNMatrix j, void *user, N_Vector a, N_Vector b,
                    N_Vector c) {
  (void)f, (void)a, (void)b, (void)c;
  point at = {time, scale, N_VGetArrayPointer(y), N_VGetArrayPointer(p),
              NULL, j};
  return guarded(user, jacobian_of, &at);
}
static int sensitivity(int count, double time, N_Vector y, N_Vector p,
                       N_Vector f, N_Vector *s, N_Vector *sp, N_Vector *out,
                       void *user, N_Vector a, N_Vector b, N_Vector c) {
  (void)count, (void)f, (void)a, (void)b, (void)c;
  point at = {
      time, 0,  N_VGetArrayPointer(y), N_VGetArrayPointer(p), NULL, NULL, s,
      sp,   out};
  return guarded(user, sensitivities_of, &at);
}

static void silent(int code, const char *module, const char *function,
                   char *message, void *user) {
  (void)code, (void)module, (void)function, (void)message, (void)user;
}

/* ---- start -------------------------------------------------------------- */

static bool set_up_state(dae *d, double time) {
  const tm_system *s = d->c->system;
  const double *t = s->tolerances;
  if (SUNContext_Create(NULL, &d->context))
    return false;
  d->y = N_VNew_Serial(d->n, d->context);
  d->p = N_VNew_Serial(d->n, d->context);
  d->memory = IDACreate(d->context);
  d->matrix = SUNDenseMatrix(d->n, d->n, d->context);
  if (!d->y || !d->p || !d->memory || !d->matrix)
    return false;
  size_t bytes = (size_t)d->n * sizeof(double);
  memcpy(N_VGetArrayPointer(d->y), s->controls[0].u.t.v, bytes);
  memcpy(N_VGetArrayPointer(d->p), s->controls[1].u.t.v, bytes);
  d->linear = SUNLinSol_Dense(d->y, d->matrix, d->context);
  long steps = t[2] < 1e9 ? (long)t[2] : 1000000000L;
  return d->linear && !IDAInit(d->memory, residual, time, d->y, d->p) &&
         !IDASetErrHandlerFn(d->memory, silent, NULL) &&
         !IDASetUserData(d->memory, d) &&
         !IDASStolerances(d->memory, t[0], t[1]) &&
         !IDASetMaxNumSteps(d->memory, steps) &&
         !IDASetLinearSolver(d->memory, d->linear, d->matrix) &&
         !IDASetJacFn(d->memory, jacobian);
}

/* Columns of arguments start at zero, those of initial values at one. */
static bool set_up_columns(dae *d, long of_y, long of_p) {
  if (d->columns == 0)
    return true;
  d->s = N_VCloneVectorArray((int)d->columns, d->y);
  d->sp = N_VCloneVectorArray((int)d->columns, d->y);
  if (!d->s || !d->sp)
    return false;
  for (long k = 0; k < d->columns; k++) {
    N_VConst(0, d->s[k]);
    N_VConst(0, d->sp[k]);
    if (of_y >= 0 && k >= of_y && k < of_y + d->n)
      N_VGetArrayPointer(d->s[k])[k - of_y] = 1;
    if (of_p >= 0 && k >= of_p && k < of_p + d->n)
      N_VGetArrayPointer(d->sp[k])[k - of_p] = 1;
  }
  return !IDASensInit(d->memory, (int)d->columns, IDA_STAGGERED, sensitivity,
                      d->s, d->sp) &&
         !IDASensEEtolerances(d->memory) &&
         !IDASetSensErrCon(d->memory, SUNFALSE);
}

/* A start that varies, as one more argument of the result. */
static long add_start(dae *d, const tm_tensor *t) {
  if (!t->d)
    return -1;
  long at = d->columns;
  d->c->outers[d->c->outer_count++] = (tm_outer){t->d, NULL, d->n, at};
  d->columns += d->n;
  return at;
}

static double *room(const dae *d, long n) {
  return tm_take(d->c->tape, (size_t)n * sizeof(double) + 1);
}

_Noreturn static void give_up(dae *d, const char *why) {
  tm_guard *guard = d->c->tape->inside;
  tm_outcome failed = d->failed;
  end(d);
  if (failed == TM_FAILED) {
    guard->outcome = TM_FAILED;
    longjmp(guard->place, 1); /* with the message it left */
  }
  tm_runtime_reject(d->c->tape, "%s", why);
}

/* controls: y, y', time, times */
static dae set_up(tm_callable *c) {
  const tm_any *a = c->system->controls;
  dae d = {.c = c, .n = a[0].u.t.dim[0], .columns = c->columns};
  if (a[1].u.t.dim[0] != d.n)
    tm_runtime_fail(c->tape, c->place, "dae: %d states, %d derivatives", d.n,
                    a[1].u.t.dim[0]);
  long n = d.n;
  d.y_slope = room(&d, n);
  d.p_slope = room(&d, n);
  d.dy = room(&d, n * n);
  d.dp = room(&d, n * n);
  d.da = room(&d, n * c->columns);
  return d;
}

/* One run over all times: values, or sensitivities too. */
static void run(dae *d, long columns, long of_y, long of_p, double *values,
                double *slopes) {
  const tm_any *a = d->c->system->controls;
  const tm_tensor *times = &a[3].u.t;
  double time = tm_as_var(&a[2]).v, reached;
  long n = d->n;
  d->columns = columns;
  if (!set_up_state(d, time) || !set_up_columns(d, of_y, of_p))
    give_up(d, "the solver could not be set up");
  for (int t = 0; t < times->dim[0]; t++) {
    int flag =
        IDASolve(d->memory, times->v[t], &reached, d->y, d->p, IDA_NORMAL);
    if (flag >= 0 && columns)
      flag = IDAGetSens(d->memory, &reached, d->s);
    if (flag < 0)
      give_up(d, "the solver of differential-algebraic equations failed");
    for (long i = 0; values && i < n; i++)
      values[t * n + i] = N_VGetArrayPointer(d->y)[i];
    for (long i = 0; slopes && i < n; i++)
      for (long k = 0; k < columns; k++)
        slopes[(t * n + i) * columns + k] = N_VGetArrayPointer(d->s[k])[i];
  }
  end(d);
}

static void check_times(const tm_callable *c) {
  const tm_tensor *times = &c->system->controls[3].u.t;
  double before = tm_as_var(&c->system->controls[2]).v;
  for (int t = 0; t < times->dim[0]; before = times->v[t++])
    if (!(times->v[t] > before))
      tm_runtime_fail(c->tape, c->place,
                      "times must increase and be after the initial time");
}

/* Sensitivities may shorten steps: they have a run of their own, so that values
 * are the same with and without. */
tm_any tm_solve_dae(tm_callable *c) {
  const tm_any *a = c->system->controls;
  check_times(c);
  dae d = set_up(c), again = d;
  int inner = c->outer_count, rows = a[3].u.t.dim[0];
  long of_y = add_start(&d, &a[0].u.t), of_p = add_start(&d, &a[1].u.t);
  long columns = d.columns;
  int outers = c->outer_count;
  c->outer_count = inner; /* the function itself does not see the starts */
  tm_tensor out = tm_tensor_new(c->tape, 2, (int[]){rows, d.n}, columns > 0);
  double *slopes = room(&d, (long)rows * d.n * columns);
  run(&d, 0, -1, -1, out.v, NULL);
  if (columns)
    run(&again, columns, of_y, of_p, NULL, slopes);
  c->outer_count = outers;
  c->columns = columns;
  return tm_callable_result(c, out, slopes);
}
