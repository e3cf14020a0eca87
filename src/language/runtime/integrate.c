/* integrate.c - one-dimensional integrals by the double exponential rule
 * (Takahasi and Mori 1974), halving the step until the value stands. The
 * slope in an argument is the integral of the slope; in a limit, the
 * integrand there. */
#include "language/runtime/callable.h"

typedef struct integral {
  tm_callable *c;
  double a, b;
  double *sums, *row; /* 1 + columns: the value, then slopes */
  double before;      /* the value's sum one level up */
  long size;
} integral;

/* The place of t: x, the nearer limit minus x (NaN where one is infinite) and
 * dx/dt. */
static void place_of(const integral *q, double t, double *x, double *gap,
                     double *weight) {
  double u = 0.5 * M_PI * sinh(t), slope = 0.5 * M_PI * cosh(t);
  bool low = isinf(q->a), high = isinf(q->b);
  *gap = NAN;
  if (low && high) {
    *x = sinh(u);
    *weight = slope * cosh(u);
  } else if (low || high) {
    double e = exp(u);
    *x = high ? q->a + e : q->b - e;
    *weight = slope * e;
  } else {
    double width = q->b - q->a, e = exp(-2 * fabs(u));
    double near = width * e / (1 + e); /* from the nearer end */
    *gap = u < 0 ? -near : near;
    *x = u < 0 ? q->a + near : q->b - near;
    *weight = 2 * slope * width * e / ((1 + e) * (1 + e));
  }
}

/* Ends that cannot be computed count as nothing; elsewhere they are refused. */
static void add_point(integral *q, double t) {
  double x, gap, weight;
  place_of(q, t, &x, &gap, &weight);
  if (!(weight > 0 && isfinite(x)))
    return;
  tm_callable_real(q->c, 0, x, NULL);
  tm_callable_real(q->c, 1, gap, NULL);
  double value;
  if (q->c->columns)
    value = tm_callable_slope(q->c, 0, q->row);
  else
    tm_callable_value(q->c, 1, &value);
  if (!isfinite(value) && fabs(t) > 2.5)
    return;
  if (!isfinite(value))
    tm_runtime_reject(q->c->tape, "integrate_1d: the integrand is %g at %g",
                      value, x);
  q->sums[0] += weight * value;
  for (long k = 0; k < q->c->columns; k++)
    q->sums[1 + k] += isfinite(q->row[k]) ? weight * q->row[k] : 0;
}

/* Do two levels agree? The value alone decides, so that it is the same with and
 * without slopes; these get the level after that, which has twice the digits.
 */
static bool agrees(const integral *q, double h) {
  const double *tolerances = q->c->system->tolerances;
  double now = q->sums[0] * h, then = q->before * 2 * h;
  double allowed = fmax(tolerances[0] * fabs(now), tolerances[1]);
  return fabs(now - then) <= fmax(allowed, 1e-300);
}

static void quadrature(integral *q) {
  enum { FEWEST = 4 };
  const double end = 4;
  int levels = (int)fmin(q->c->system->tolerances[2], 15);
  double h = 1;
  bool stands = false;
  for (double t = -end; t <= end; t += h)
    add_point(q, t);
  for (int level = 1; !stands; level++) {
    stands = level > FEWEST && agrees(q, h);
    q->before = q->sums[0];
    h *= 0.5;
    for (double t = -end + h; t < end; t += 2 * h)
      add_point(q, t);
    if (!stands && level >= levels + FEWEST)
      tm_runtime_reject(q->c->tape, "integrate_1d does not converge");
  }
  for (long k = 0; k < q->size; k++)
    q->sums[k] *= h;
}

/* The integrand at a limit that varies: 0 at infinity. */
static double at_limit(integral *q, double x) {
  double value = 0;
  if (isinf(x))
    return 0;
  tm_callable_real(q->c, 0, x, NULL);
  tm_callable_real(q->c, 1, 0, NULL);
  tm_callable_value(q->c, 1, &value);
  return value;
}

static double *room(tm_tape *tape, long n) {
  return tm_take(tape, (size_t)n * sizeof(double) + 1);
}

tm_any tm_integrate(tm_callable *c) {
  tm_var a = tm_as_var(&c->system->controls[0]);
  tm_var b = tm_as_var(&c->system->controls[1]);
  integral q = {.c = c, .a = a.v, .b = b.v, .size = 1 + c->columns};
  if (!(q.a <= q.b))
    tm_runtime_reject(c->tape, "integrate_1d from %g to %g", q.a, q.b);
  q.sums = room(c->tape, q.size);
  q.row = room(c->tape, q.size);
  if (q.a < q.b)
    quadrature(&q);
  tm_partial partials[TM_CALLABLE_ARGUMENTS + 2];
  int count = 0;
  for (int i = 0; i < c->outer_count; i++)
    partials[count++] = (tm_partial){
        c->outers[i].adjoint, q.sums + 1 + c->outers[i].column, c->outers[i].n};
  for (int i = 0; i < 2; i++) {
    tm_var limit = i ? b : a;
    double *slope = tm_room(c->tape, limit.d, 1);
    if (slope)
      *slope = (i ? 1 : -1) * at_limit(&q, limit.v);
    partials[count++] = (tm_partial){limit.d, slope, 1};
  }
  return tm_scalar_result(c->tape, q.sums[0], count, partials);
}
