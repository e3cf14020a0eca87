/* ode.c - differential equations with forward sensitivities.
 *
 * Dormand and Prince's explicit Runge-Kutta pair of orders 5 and 4 with
 * adaptive steps. Beside the state y goes S = dy/d(active arguments),
 *   S' = J S + df/dargument,
 * with J from reverse sweeps over the right-hand side. Steps are chosen by
 * the error of y alone, so that values are the same with and without
 * derivatives. The result's node multiplies adjoints by the S kept at each
 * time. */
#include "language/runtime/runtime.h"

/* One active argument: its adjoints, and where its columns of S begin. */
typedef struct active {
  double *adjoint;
  double *scratch; /* adjoints during sweeps */
  long n, column;
} active;

enum { MOST_ACTIVE = 32, STAGES = 7 };

typedef struct solver {
  tm_tape *tape;
  const tm_ode *system;
  const char *place;
  int n;                       /* states */
  long m;                      /* columns of S; 0 when nothing is active */
  long size;                   /* n + n m */
  active actives[MOST_ACTIVE]; /* the state first, when it is active */
  int active_count;
  tm_any arguments[MOST_ACTIVE]; /* with adjoints in scratch */
  bool state_active;
  double *state_scratch;
  double *jacobian; /* n x n, then n x m by argument */
  double *stages, *trial, *fifth;
} solver;

static double *room(tm_tape *tape, long n) {
  return tm_take(tape, (size_t)n * sizeof(double) + 1);
}

/* ---- the right-hand side ------------------------------------------------ */

static tm_tensor call(const solver *s, tm_rhs rhs, double time, const double *y,
                      double *adjoints, const tm_any *arguments) {
  tm_tensor state = {(double *)(uintptr_t)y, adjoints, 1, {s->n}};
  tm_tensor out = rhs(s->tape, time, state, arguments);
  if (out.dim[0] != s->n)
    tm_runtime_fail(s->tape, s->place,
                    "the system has %d equations for %d states", out.dim[0],
                    s->n);
  return out;
}

static void sweep(tm_tape *tape, const tm_node *stop) {
  for (tm_node *node = tape->last; node != stop; node = node->before) {
    if (node->back) {
      node->back(node);
      continue;
    }
    tm_linear *linear = (tm_linear *)node;
    *linear->a += linear->adjoint * linear->da;
    *linear->b += linear->adjoint * linear->db;
  }
}

/* Row i of df/dy and df/dargument. */
static void jacobian_row(solver *s, double time, const double *y, int i,
                         double *row, double *columns) {
  tm_tape_mark mark = tm_tape_here(s->tape);
  memset(s->state_scratch, 0, (size_t)s->n * sizeof(double));
  for (int k = 0; k < s->active_count; k++)
    if (s->actives[k].scratch)
      memset(s->actives[k].scratch, 0,
             (size_t)s->actives[k].n * sizeof(double));
  tm_tensor out =
      call(s, s->system->gradient, time, y, s->state_scratch, s->arguments);
  if (out.d) {
    out.d[i] += 1;
    sweep(s->tape, mark.last);
  }
  memcpy(row, s->state_scratch, (size_t)s->n * sizeof(double));
  memset(columns, 0, (size_t)s->m * sizeof(double));
  for (int k = 0; k < s->active_count; k++)
    if (s->actives[k].scratch)
      memcpy(columns + s->actives[k].column, s->actives[k].scratch,
             (size_t)s->actives[k].n * sizeof(double));
  tm_tape_back_to(s->tape, mark);
}

/* z' for z = (y, S row by row). */
static void slope(solver *s, double time, const double *z, double *out) {
  tm_tape_mark mark = tm_tape_here(s->tape);
  tm_tensor f = call(s, s->system->value, time, z, NULL, s->system->arguments);
  memcpy(out, f.v, (size_t)s->n * sizeof(double));
  tm_tape_back_to(s->tape, mark);
  for (int i = 0; s->m && i < s->n; i++) {
    double *row = s->jacobian, *to = out + s->n + i * s->m;
    jacobian_row(s, time, z, i, row, to);
    for (int j = 0; j < s->n; j++)
      for (long c = 0; row[j] != 0 && c < s->m; c++)
        to[c] += row[j] * z[s->n + j * s->m + c];
  }
}

/* ---- one step ----------------------------------------------------------- */

static const double NODES[STAGES] = {0, 0.2, 0.3, 0.8, 8.0 / 9, 1, 1};
static const double WEIGHTS[STAGES][STAGES - 1] = {
    {0},
    {0.2},
    {3.0 / 40, 9.0 / 40},
    {44.0 / 45, -56.0 / 15, 32.0 / 9},
    {19372.0 / 6561, -25360.0 / 2187, 64448.0 / 6561, -212.0 / 729},
    {9017.0 / 3168, -355.0 / 33, 46732.0 / 5247, 49.0 / 176, -5103.0 / 18656},
    {35.0 / 384, 0, 500.0 / 1113, 125.0 / 192, -2187.0 / 6784, 11.0 / 84}};
static const double ERRORS[STAGES] = {
    71.0 / 57600,      0,          -71.0 / 16695, 71.0 / 1920,
    -17253.0 / 339200, 22.0 / 525, -1.0 / 40};

/* Fill stages 2 to 7 (the first is there); gives the scaled error of y. */
static double step(solver *s, double time, double h, const double *z) {
  for (int k = 1; k < STAGES; k++) {
    for (long i = 0; i < s->size; i++) {
      double sum = 0;
      for (int j = 0; j < k; j++)
        sum += WEIGHTS[k][j] * s->stages[j * s->size + i];
      s->trial[i] = z[i] + h * sum;
    }
    if (k == STAGES - 1)
      memcpy(s->fifth, s->trial, (size_t)s->size * sizeof(double));
    slope(s, time + NODES[k] * h, s->trial, s->stages + k * s->size);
  }
  double worst = 0;
  for (int i = 0; i < s->n; i++) {
    double error = 0;
    for (int k = 0; k < STAGES; k++)
      error += ERRORS[k] * s->stages[k * s->size + i];
    double scale = s->system->absolute +
                   s->system->relative * fmax(fabs(z[i]), fabs(s->fifth[i]));
    double scaled = fabs(h * error) / scale;
    worst = scaled <= worst ? worst : scaled; /* NaN wins */
  }
  return worst;
}

static double first_step(const solver *s, const double *z) {
  double size = 0, speed = 0;
  for (int i = 0; i < s->n; i++) {
    double scale = s->system->absolute + s->system->relative * fabs(z[i]);
    size = fmax(size, fabs(z[i]) / scale);
    speed = fmax(speed, fabs(s->stages[i]) / scale);
  }
  return size > 1e-5 && speed > 1e-5 ? 0.01 * size / speed : 1e-6;
}

/* From one time to the next; *h is carried along. */
static void advance(solver *s, double from, double to, double *z, double *h,
                    double *steps) {
  double time = from;
  slope(s, time, z, s->stages);
  if (!(*h > 0))
    *h = first_step(s, z);
  while (time < to) {
    bool last = time + *h >= to;
    double length = last ? to - time : *h;
    if (++*steps > s->system->most_steps || !(length > 1e-15 * fabs(time)))
      tm_runtime_reject(s->tape, "the solver needs too many steps");
    double error = step(s, time, length, z);
    if (!(error <= 1)) {
      *h = length * (isfinite(error) ? fmax(0.2, 0.9 * pow(error, -0.2)) : 0.1);
      continue;
    }
    time = last ? to : time + length;
    memcpy(z, s->fifth, (size_t)s->size * sizeof(double));
    memcpy(s->stages, s->stages + (STAGES - 1) * s->size,
           (size_t)s->size * sizeof(double)); /* first same as last */
    double growth = fmin(5, 0.9 * pow(fmax(error, 1e-10), -0.2));
    if (!last || growth < 1)
      *h = length * fmax(0.2, growth);
  }
}

/* ---- the call ----------------------------------------------------------- */

static void add_active(solver *s, double *adjoint, double *scratch, long n) {
  if (s->active_count == MOST_ACTIVE)
    tm_runtime_fail(s->tape, s->place, "too many arguments");
  s->actives[s->active_count++] = (active){adjoint, scratch, n, s->m};
  s->m += n;
}

/* Arguments with adjoints of their own, to sweep into. */
static void set_up_arguments(solver *s, const tm_view *y0) {
  if (s->system->argument_count > MOST_ACTIVE - 1)
    tm_runtime_fail(s->tape, s->place, "too many arguments");
  if (s->system->gradient && y0->d)
    add_active(s, y0->d, NULL, y0->n);
  for (int i = 0; i < s->system->argument_count; i++) {
    tm_any *a = &s->arguments[i];
    tm_view v;
    *a = s->system->arguments[i];
    tm_view_of(a, &v);
    if (!s->system->gradient || !v.d)
      continue;
    double *scratch = room(s->tape, v.n);
    add_active(s, v.d, scratch, v.n);
    if (a->tag == TM_TAG_REAL)
      a->u.r.d = scratch;
    else
      a->u.t.d = scratch;
  }
  s->size = s->n + s->n * s->m;
}

typedef struct ode_node {
  tm_node node;
  double *adjoint, *sensitivity; /* rows of all times and states */
  active *actives;
  int active_count;
  long rows, m;
} ode_node;

static void ode_back(tm_node *node) {
  ode_node *o = (ode_node *)node;
  for (long r = 0; r < o->rows; r++)
    for (int k = 0; k < o->active_count; k++) {
      const active *a = &o->actives[k];
      const double *s = o->sensitivity + r * o->m + a->column;
      for (long c = 0; c < a->n; c++)
        a->adjoint[c] += o->adjoint[r] * s[c];
    }
}

static void push_node(solver *s, const tm_tensor *out, double *kept) {
  active *actives = tm_take(s->tape, (size_t)s->active_count * sizeof *actives);
  memcpy(actives, s->actives, (size_t)s->active_count * sizeof *actives);
  ode_node *o = (ode_node *)tm_push(s->tape, sizeof *o, ode_back);
  *o = (ode_node){o->node,         out->d,        kept, actives,
                  s->active_count, tm_count(out), s->m};
}

static void start_state(solver *s, const tm_view *y0, double *z) {
  memcpy(z, y0->v, (size_t)s->n * sizeof(double));
  for (int i = 0; s->active_count && !s->actives[0].scratch && i < s->n; i++)
    z[s->n + i * s->m + i] = 1;
}

static double start_time(const solver *s) {
  tm_view t0;
  tm_view_of(&s->system->start, &t0);
  if (t0.d || s->system->times.d)
    tm_runtime_fail(s->tape, s->place,
                    "times that depend on parameters are not supported");
  return *t0.v;
}

tm_tensor tm_solve_ode(tm_tape *tape, const tm_ode *system, tm_any y0,
                       const char *place) {
  tm_view y;
  tm_view_of(&y0, &y);
  solver s = {.tape = tape, .system = system, .place = place, .n = (int)y.n};
  set_up_arguments(&s, &y);
  int rows = system->times.dim[0];
  s.state_scratch = room(tape, s.n);
  s.jacobian = room(tape, s.n);
  s.stages = room(tape, STAGES * s.size);
  s.trial = room(tape, s.size);
  s.fifth = room(tape, s.size);
  double *z = room(tape, s.size), *kept = room(tape, rows * s.n * s.m);
  tm_tensor out = tm_tensor_new(tape, 2, (int[]){rows, s.n}, s.m > 0);
  start_state(&s, &y, z);
  double time = start_time(&s), h = 0, steps = 0;
  for (int k = 0; k < rows; k++) {
    double next = system->times.v[k];
    if (!(next >= time) || (k == 0 && next == time))
      tm_runtime_fail(tape, place,
                      "times must increase and be after the initial time");
    if (next > time)
      advance(&s, time, next, z, &h, &steps);
    time = next;
    memcpy(out.v + (long)k * s.n, z, (size_t)s.n * sizeof(double));
    memcpy(kept + k * s.n * s.m, z + s.n, (size_t)(s.n * s.m) * sizeof(double));
  }
  if (out.d)
    push_node(&s, &out, kept);
  return out;
}
