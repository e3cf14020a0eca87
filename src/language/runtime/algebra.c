/* algebra.c - roots of systems f(y, arguments) = 0: Newton's method with
 * shortened steps, and Powell's dogleg within a trust region. The slopes of the
 * root follow from the implicit function theorem: J dy = -df/dargument. */
#include "language/runtime/callable.h"

#include <cblas.h>
#include <lapacke.h>

typedef struct root {
  tm_callable *c;
  int n;
  double *y, *f, *scratch, *jacobian, *columns; /* f', df/dargument */
  double *factor, *step, *trial, *at_trial, *work;
  lapack_int *pivots;
  double steps, most_steps;
} root;

static double *room(const root *r, long n) {
  return tm_take(r->c->tape, (size_t)n * sizeof(double) + 1);
}

static root set_up(tm_callable *c) {
  const tm_tensor *guess = &c->system->controls[0].u.t;
  root r = {.c = c, .n = guess->dim[0], .most_steps = c->system->tolerances[2]};
  long n = r.n;
  r.y = room(&r, n);
  memcpy(r.y, guess->v, (size_t)n * sizeof(double));
  r.f = room(&r, n);
  r.scratch = room(&r, n);
  r.jacobian = room(&r, n * n);
  r.columns = room(&r, n * c->columns);
  r.factor = room(&r, n * n);
  r.step = room(&r, n);
  r.trial = room(&r, n);
  r.at_trial = room(&r, n);
  r.work = room(&r, n);
  r.pivots = tm_take(c->tape, (size_t)n * sizeof(lapack_int) + 1);
  return r;
}

static double length(const double *x, int n) {
  double sum = 0;
  for (int i = 0; i < n; i++)
    sum += x[i] * x[i];
  return sqrt(sum);
}

static void evaluate(root *r, double *y, double *f) {
  tm_callable_vector(r->c, 0, y, r->n, NULL);
  tm_callable_value(r->c, r->n, f);
}

static void differentiate(root *r) {
  tm_callable_vector(r->c, 0, r->y, r->n, r->scratch);
  for (int i = 0; i < r->n; i++) {
    tm_callable_slope(r->c, i, r->columns + i * r->c->columns);
    memcpy(r->jacobian + (long)i * r->n, r->scratch,
           (size_t)r->n * sizeof(double));
  }
}

static bool factorise(root *r) {
  long size = (long)r->n * r->n;
  memcpy(r->factor, r->jacobian, (size_t)size * sizeof(double));
  for (long i = 0; i < size; i++)
    if (!isfinite(r->factor[i]))
      return false;
  return LAPACKE_dgetrf(LAPACK_ROW_MAJOR, r->n, r->n, r->factor, r->n,
                        r->pivots) == 0;
}

static void count_step(root *r) {
  if (++r->steps > r->most_steps)
    tm_runtime_reject(r->c->tape,
                      "the algebraic solver needs more than %g "
                      "steps",
                      r->most_steps);
}

/* step = -J^-1 f */
static void newton_step(root *r) {
  for (int i = 0; i < r->n; i++)
    r->step[i] = -r->f[i];
  LAPACKE_dgetrs(LAPACK_ROW_MAJOR, 'N', r->n, 1, r->factor, r->n, r->pivots,
                 r->step, 1);
}

static void accept(root *r) {
  memcpy(r->y, r->trial, (size_t)r->n * sizeof(double));
  memcpy(r->f, r->at_trial, (size_t)r->n * sizeof(double));
}

/* Halve the step until f shrinks. */
static void shortened(root *r) {
  double before = length(r->f, r->n);
  for (double share = 1; share > 1e-10; share *= 0.5) {
    for (int i = 0; i < r->n; i++)
      r->trial[i] = r->y[i] + share * r->step[i];
    evaluate(r, r->trial, r->at_trial);
    if (length(r->at_trial, r->n) < (1 - 1e-4 * share) * before)
      break;
  }
  accept(r);
}

/* The root's slopes, and the result. A few steps beyond the tolerance cost
 * little and make values as smooth as the slopes say. */
static tm_any finish(root *r) {
  tm_callable *c = r->c;
  tm_tensor out = tm_tensor_new(c->tape, 1, &r->n, c->columns > 0);
  for (int i = 0; i < 3; i++) {
    double before = length(r->f, r->n);
    differentiate(r);
    if (!factorise(r))
      tm_runtime_reject(c->tape,
                        "the algebraic system is singular at its root");
    newton_step(r);
    for (int k = 0; k < r->n; k++)
      r->trial[k] = r->y[k] + r->step[k];
    evaluate(r, r->trial, r->at_trial);
    if (!(length(r->at_trial, r->n) < before))
      break;
    accept(r);
  }
  memcpy(out.v, r->y, (size_t)r->n * sizeof(double));
  double *slopes = r->columns;
  for (long i = 0; i < r->n * c->columns; i++)
    slopes[i] = -slopes[i];
  if (c->columns && r->n)
    LAPACKE_dgetrs(LAPACK_ROW_MAJOR, 'N', r->n, (int)c->columns, r->factor,
                   r->n, r->pivots, slopes, (int)c->columns);
  return tm_callable_result(c, out, slopes);
}

tm_any tm_solve_newton(tm_callable *c) {
  root r = set_up(c);
  evaluate(&r, r.y, r.f);
  while (!(length(r.f, r.n) <= c->system->tolerances[1])) {
    count_step(&r);
    differentiate(&r);
    if (!factorise(&r))
      tm_runtime_reject(c->tape, "the algebraic system is singular");
    newton_step(&r);
    shortened(&r);
  }
  return finish(&r);
}

/* ---- Powell's dogleg ---------------------------------------------------- */

/* The steepest descent of |f|^2 / 2 up to its least: -g |g|^2 / |J g|^2. */
static void descent(root *r, double *out) {
  int n = r->n;
  double *g = r->work, square = 0, steep = 0;
  cblas_dgemv(CblasRowMajor, CblasTrans, n, n, 1, r->jacobian, n, r->f, 1, 0, g,
              1);
  cblas_dgemv(CblasRowMajor, CblasNoTrans, n, n, 1, r->jacobian, n, g, 1, 0,
              out, 1);
  for (int i = 0; i < n; i++) {
    square += g[i] * g[i];
    steep += out[i] * out[i];
  }
  for (int i = 0; i < n; i++)
    out[i] = steep > 0 ? -g[i] * square / steep : 0;
}

/* From the descent towards Newton's step as far as `radius` allows. */
static void dogleg(root *r, const double *down, bool newton, double radius) {
  int n = r->n;
  double short_length = length(down, n);
  if (newton && length(r->step, n) <= radius)
    return;
  if (!newton || short_length >= radius) {
    double share = short_length > radius ? radius / short_length : 1;
    for (int i = 0; i < n; i++)
      r->step[i] = share * down[i];
    return;
  }
  double a = 0, b = 0, c = short_length * short_length - radius * radius;
  for (int i = 0; i < n; i++) {
    double gap = r->step[i] - down[i];
    a += gap * gap;
    b += 2 * gap * down[i];
  }
  double share = (-b + sqrt(b * b - 4 * a * c)) / (2 * a);
  for (int i = 0; i < n; i++)
    r->step[i] = down[i] + share * (r->step[i] - down[i]);
}

/* How much of the promised decrease of |f|^2 came true. */
static double gain(root *r) {
  int n = r->n;
  for (int i = 0; i < n; i++)
    r->trial[i] = r->y[i] + r->step[i];
  evaluate(r, r->trial, r->at_trial);
  double now = length(r->f, n), then = length(r->at_trial, n);
  memcpy(r->work, r->f, (size_t)n * sizeof(double));
  cblas_dgemv(CblasRowMajor, CblasNoTrans, n, n, 1, r->jacobian, n, r->step, 1,
              1, r->work, 1);
  double promised = length(r->work, n);
  return (now * now - then * then) / (now * now - promised * promised);
}

tm_any tm_solve_powell(tm_callable *c) {
  root r = set_up(c);
  double *down = room(&r, r.n);
  evaluate(&r, r.y, r.f);
  double radius = 100 * fmax(1, length(r.y, r.n));
  while (!(length(r.f, r.n) <= c->system->tolerances[1])) {
    count_step(&r);
    differentiate(&r);
    bool newton = factorise(&r);
    if (newton)
      newton_step(&r);
    descent(&r, down);
    dogleg(&r, down, newton, radius);
    double share = gain(&r), taken = length(r.step, r.n);
    if (share > 1e-4)
      accept(&r);
    radius = share > 0.75   ? fmax(radius, 2 * taken)
             : share > 0.25 ? radius
                            : 0.25 * fmin(radius, taken);
    if (!(radius > 1e-14 * fmax(1, length(r.y, r.n))))
      tm_runtime_reject(c->tape, "the algebraic solver is stuck");
  }
  return finish(&r);
}
