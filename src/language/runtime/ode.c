/* ode.c - a call of a solver of differential equations: its arguments, the
 * right-hand side with derivatives, and the node of the result, which
 * multiplies adjoints by the sensitivities kept at each time. */
#include "language/runtime/ode.h"

double *tm_ode_room(tm_tape *tape, long n) {
  return tm_take(tape, (size_t)n * sizeof(double) + 1);
}

/* ---- the right-hand side ------------------------------------------------ */

static tm_tensor call(const tm_solver *s, tm_rhs rhs, double time,
                      const double *y, double *adjoints,
                      const tm_any *arguments) {
  tm_tensor state = {(double *)(uintptr_t)y, adjoints, 1, {s->n}};
  tm_tensor out = rhs(s->tape, time, state, arguments);
  if (out.dim[0] != s->n)
    tm_runtime_fail(s->tape, s->place,
                    "the system has %d equations for %d states", out.dim[0],
                    s->n);
  return out;
}

void tm_ode_slope(const tm_solver *s, double time, const double *y,
                  double *out) {
  tm_tape_mark mark = tm_tape_here(s->tape);
  tm_tensor f = call(s, s->system->value, time, y, NULL, s->system->arguments);
  memcpy(out, f.v, (size_t)s->n * sizeof(double));
  tm_tape_back_to(s->tape, mark);
}

static void clear_scratch(const tm_solver *s) {
  memset(s->state_scratch, 0, (size_t)s->n * sizeof(double));
  for (int k = 0; k < s->active_count; k++)
    if (s->actives[k].scratch)
      memset(s->actives[k].scratch, 0,
             (size_t)s->actives[k].n * sizeof(double));
}

/* Are all nodes since `stop` of scalars, with adjoints of their own? */
static bool all_linear(const tm_tape *tape, const tm_node *stop) {
  for (const tm_node *node = tape->last; node != stop; node = node->before)
    if (node->back)
      return false;
  return true;
}

/* A sweep over such nodes that leaves their adjoints zero, as it found them.
 * Elements that it leaves are of storage that nothing was assigned to: nobody
 * reads their adjoints. */
static void sweep_clean(const tm_tape *tape, const tm_node *stop) {
  for (tm_node *node = tape->last; node != stop; node = node->before) {
    tm_linear *p = (tm_linear *)node;
    double *adjoint = p->assigned ? p->adjoint.element : &p->adjoint.own;
    double g = *adjoint;
    *adjoint = 0;
    for (int i = 0; i < p->count; i++)
      *p->slopes[i].to += g * p->slopes[i].d;
  }
}

/* Row i, by a sweep over what was recorded since `stop`. */
static void sweep_row(tm_solver *s, const tm_tensor *out, const tm_node *stop,
                      int i, bool clean, double *row, double *columns) {
  clear_scratch(s);
  if (out->d) {
    out->d[i] += 1;
    if (clean)
      sweep_clean(s->tape, stop);
    else
      tm_sweep(s->tape, stop);
  }
  memcpy(row, s->state_scratch, (size_t)s->n * sizeof(double));
  memset(columns, 0, (size_t)s->m * sizeof(double));
  for (int k = 0; k < s->active_count; k++)
    if (s->actives[k].scratch)
      memcpy(columns + s->actives[k].column, s->actives[k].scratch,
             (size_t)s->actives[k].n * sizeof(double));
}

/* Recorded once and swept for every row. A sweep over nodes that are not all of
 * scalars leaves adjoints behind, so that what was recorded is put back before
 * the next. */
void tm_ode_slopes(tm_solver *s, double time, const double *y, double *out,
                   double *jacobian, double *columns) {
  tm_tape_mark mark = tm_tape_here(s->tape);
  tm_tensor f =
      call(s, s->system->gradient, time, y, s->state_scratch, s->arguments);
  memcpy(out, f.v, (size_t)s->n * sizeof(double));
  bool clean = all_linear(s->tape, mark.last);
  bool whole = !clean && s->tape->chunks == mark.chunks; /* in one piece */
  size_t size = whole ? (size_t)(s->tape->at - mark.at) : 0;
  void *kept = whole && s->n > 1 ? tm_take_blank(s->tape, size) : NULL;
  if (kept)
    memcpy(kept, mark.at, size);
  for (int i = 0; i < s->n; i++) {
    if (i && kept) {
      memcpy(mark.at, kept, size);
    } else if (i && !clean) {
      tm_tape_back_to(s->tape, mark);
      f = call(s, s->system->gradient, time, y, s->state_scratch, s->arguments);
    }
    sweep_row(s, &f, mark.last, i, clean, jacobian + i * s->n,
              columns + i * s->m);
  }
  tm_tape_back_to(s->tape, mark);
}

/* ---- arguments ---------------------------------------------------------- */

static void add_active(tm_solver *s, double *adjoint, double *scratch, long n) {
  if (s->active_count == TM_ODE_ACTIVE)
    tm_runtime_fail(s->tape, s->place, "too many arguments");
  s->actives[s->active_count++] = (tm_ode_active){adjoint, scratch, n, s->m};
  s->m += n;
}

/* Arguments with adjoints of their own, to sweep into. */
static void set_up_arguments(tm_solver *s) {
  if (s->system->argument_count > TM_ODE_ACTIVE - 2)
    tm_runtime_fail(s->tape, s->place, "too many arguments");
  for (int i = 0; i < s->system->argument_count; i++) {
    tm_any *a = &s->arguments[i];
    tm_view v;
    *a = s->system->arguments[i];
    tm_view_of(a, &v);
    if (!v.d)
      continue;
    double *scratch = tm_ode_room(s->tape, v.n);
    add_active(s, v.d, scratch, v.n);
    if (a->tag == TM_TAG_REAL)
      a->u.r.d = scratch;
    else
      a->u.t.d = scratch;
  }
}

/* z at the initial time: S is the identity for the state, -f for the time. */
static double *start_state(tm_solver *s, const tm_view *y0, const tm_view *t0) {
  long state = s->m, start = s->m + (y0->d ? y0->n : 0);
  if (y0->d)
    add_active(s, y0->d, NULL, y0->n);
  if (t0->d)
    add_active(s, t0->d, NULL, 1);
  double *z = tm_ode_room(s->tape, s->n + s->n * s->m);
  double *f = tm_ode_room(s->tape, s->n);
  memcpy(z, y0->v, (size_t)s->n * sizeof(double));
  if (t0->d)
    tm_ode_slope(s, *t0->v, z, f);
  for (int i = 0; i < s->n; i++) {
    double *row = z + s->n + i * s->m;
    if (y0->d)
      row[state + i] = 1;
    if (t0->d)
      row[start] = -f[i];
  }
  return z;
}

/* ---- the result --------------------------------------------------------- */

typedef struct ode_node {
  tm_node node;
  double *adjoint, *sensitivity; /* rows of all times and states */
  tm_ode_active *actives;
  int active_count;
  long rows, m;
  double *time_adjoint, *speed; /* of times that vary, and y' there */
  int states;
} ode_node;

static void ode_back(tm_node *node) {
  ode_node *o = (ode_node *)node;
  for (long r = 0; r < o->rows; r++) {
    for (int k = 0; k < o->active_count; k++) {
      const tm_ode_active *a = &o->actives[k];
      const double *s = o->sensitivity + r * o->m + a->column;
      for (long c = 0; c < a->n; c++)
        a->adjoint[c] += o->adjoint[r] * s[c];
    }
    if (o->time_adjoint)
      o->time_adjoint[r / o->states] += o->adjoint[r] * o->speed[r];
  }
}

static void push_node(tm_solver *s, const tm_tensor *out, double *kept,
                      double *speed) {
  tm_ode_active *actives =
      tm_take(s->tape, (size_t)s->active_count * sizeof *actives + 1);
  memcpy(actives, s->actives, (size_t)s->active_count * sizeof *actives);
  ode_node *o = (ode_node *)tm_push(s->tape, sizeof *o, ode_back);
  *o = (ode_node){o->node,         out->d,        kept, actives,
                  s->active_count, tm_count(out), s->m, s->system->times.d,
                  speed,           s->n};
}

/* Times in the wrong order: a mistake, or a point to avoid. */
static void check_time(const tm_solver *s, double before, double next,
                       bool first) {
  if (next > before || (next == before && !first))
    return;
  static const char text[] =
      "times must increase and be after the initial time";
  if (s->system->moving)
    tm_runtime_reject(s->tape, text);
  tm_runtime_fail(s->tape, s->place, text);
}

tm_tensor tm_solve_ode(tm_tape *tape, const tm_ode *system, tm_any y0,
                       const char *place) {
  static const tm_integrator *const integrators[] = {
      &tm_integrator_rk45, &tm_integrator_bdf, &tm_integrator_adams};
  const tm_integrator *integrator = integrators[system->method];
  tm_view y, t0;
  tm_view_of(&y0, &y);
  tm_view_of(&system->start, &t0);
  tm_solver s = {.tape = tape, .system = system, .place = place, .n = (int)y.n};
  int rows = system->times.dim[0];
  s.state_scratch = tm_ode_room(tape, s.n);
  set_up_arguments(&s);
  double *z = start_state(&s, &y, &t0), time = *t0.v;
  double *kept = tm_ode_room(tape, rows * s.n * s.m), *speed = NULL;
  tm_tensor out =
      tm_tensor_new(tape, 2, (int[]){rows, s.n}, s.m > 0 || system->times.d);
  if (system->times.d)
    speed = tm_ode_room(tape, (long)rows * s.n);
  for (int k = 0; k < rows; k++)
    check_time(&s, k ? system->times.v[k - 1] : time, system->times.v[k],
               k == 0);
  void *self = rows && s.n ? integrator->start(&s, time, z) : NULL;
  for (int k = 0; self && k < rows; k++) {
    double next = system->times.v[k];
    if (next > time)
      integrator->advance(&s, self, time, next, z);
    time = next;
    memcpy(out.v + (long)k * s.n, z, (size_t)s.n * sizeof(double));
    memcpy(kept + k * s.n * s.m, z + s.n, (size_t)(s.n * s.m) * sizeof(double));
    if (speed)
      tm_ode_slope(&s, time, z, speed + (long)k * s.n);
  }
  if (self)
    integrator->end(self);
  if (out.d)
    push_node(&s, &out, kept, speed);
  return out;
}
