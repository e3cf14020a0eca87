/* ode_rk45.c - Dormand and Prince's explicit Runge-Kutta pair of orders 5 and
 * 4 with adaptive steps. */
#include "language/runtime/ode.h"

enum { STAGES = 7 };

typedef struct rk {
  tm_solver *solver;
  long size; /* of z */
  double *stages[STAGES], *trial, *fifth, *jacobian;
  double h;
  bool begun; /* the first stage is that of the last step's end */
} rk;

/* z' for z = (y, S row by row). */
static void slope(rk *r, double time, const double *z, double *out) {
  tm_solver *s = r->solver;
  if (s->m == 0) {
    tm_ode_slope(s, time, z, out);
    return;
  }
  tm_ode_slopes(s, time, z, out, r->jacobian, out + s->n);
  for (int i = 0; i < s->n; i++) {
    double *to = out + s->n + i * s->m;
    for (int j = 0; j < s->n; j++) {
      double entry = r->jacobian[i * s->n + j];
      const double *from = z + s->n + j * s->m;
      if (entry == 0)
        continue;
#pragma GCC ivdep
      for (long c = 0; c < s->m; c++)
        to[c] += entry * from[c];
    }
  }
}

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

#define SUM_1 w[0] * s[0][i]
#define SUM_2 SUM_1 + w[1] * s[1][i]
#define SUM_3 SUM_2 + w[2] * s[2][i]
#define SUM_4 SUM_3 + w[3] * s[3][i]
#define SUM_5 SUM_4 + w[4] * s[4][i]
#define SUM_6 SUM_5 + w[5] * s[5][i]
#define COMBINE(k)                                                             \
  case k:                                                                      \
    _Pragma("GCC ivdep") for (long i = 0; i < n; i++) to[i] =                  \
        z[i] + h * (SUM_##k);                                                  \
    break;

/* z + h times the first k stages, weighted, in one pass. */
static void combine(const rk *r, int k, double h, const double *z, double *to) {
  const double *const *s = (const double *const *)r->stages, *w = WEIGHTS[k];
  long n = r->size;
  switch (k) {
    COMBINE(1)
    COMBINE(2)
    COMBINE(3)
    COMBINE(4)
    COMBINE(5)
    COMBINE(6)
  }
}

/* Fill stages 2 to 7 (the first is there); gives the scaled error of y. */
static double step(rk *r, double time, double h, const double *z) {
  for (int k = 1; k < STAGES; k++) {
    double *to = k == STAGES - 1 ? r->fifth : r->trial;
    combine(r, k, h, z, to);
    slope(r, time + NODES[k] * h, to, r->stages[k]);
  }
  double worst = 0;
  for (int i = 0; i < r->solver->n; i++) {
    double error = 0;
    for (int k = 0; k < STAGES; k++)
      error += ERRORS[k] * r->stages[k][i];
    double scale =
        r->solver->system->absolute +
        r->solver->system->relative * fmax(fabs(z[i]), fabs(r->fifth[i]));
    double scaled = fabs(h * error) / scale;
    worst = scaled <= worst ? worst : scaled; /* NaN wins */
  }
  return worst;
}

static double first_step(const rk *r, const double *z) {
  double size = 0, speed = 0;
  for (int i = 0; i < r->solver->n; i++) {
    double scale =
        r->solver->system->absolute + r->solver->system->relative * fabs(z[i]);
    size = fmax(size, fabs(z[i]) / scale);
    speed = fmax(speed, fabs(r->stages[0][i]) / scale);
  }
  return size > 1e-5 && speed > 1e-5 ? 0.01 * size / speed : 1e-6;
}

static void *rk_start(tm_solver *s, double time, const double *z) {
  rk *r = tm_take(s->tape, sizeof *r);
  (void)time, (void)z;
  r->solver = s;
  r->size = s->n + s->n * s->m;
  r->jacobian = tm_ode_room(s->tape, (long)s->n * s->n);
  for (int k = 0; k < STAGES; k++)
    r->stages[k] = tm_ode_room(s->tape, r->size);
  r->trial = tm_ode_room(s->tape, r->size);
  r->fifth = tm_ode_room(s->tape, r->size);
  return r;
}

static void rk_advance(tm_solver *s, void *self, double from, double to,
                       double *z) {
  rk *r = self;
  double time = from, steps = 0;
  size_t bytes = (size_t)r->size * sizeof(double);
  if (!r->begun) {
    slope(r, time, z, r->stages[0]);
    r->h = first_step(r, z);
    r->begun = true;
  }
  while (time < to) {
    bool last = time + r->h >= to;
    double length = last ? to - time : r->h;
    if (++steps > s->system->most_steps || !(length > 1e-15 * fabs(time)))
      tm_runtime_reject(s->tape, "the solver needs too many steps");
    double error = step(r, time, length, z);
    if (!(error <= 1)) {
      r->h =
          length * (isfinite(error) ? fmax(0.2, 0.9 * pow(error, -0.2)) : 0.1);
      continue;
    }
    time = last ? to : time + length;
    memcpy(z, r->fifth, bytes);
    double *first = r->stages[0]; /* same as last */
    r->stages[0] = r->stages[STAGES - 1];
    r->stages[STAGES - 1] = first;
    double growth = fmin(5, 0.9 * pow(fmax(error, 1e-10), -0.2));
    if (!last || growth < 1)
      r->h = length * fmax(0.2, growth);
  }
}

static void rk_end(void *self) { (void)self; }

const tm_integrator tm_integrator_rk45 = {rk_start, rk_advance, rk_end};
