/* trust_step.c - the step of a climb where Newton's is too long or the density
 * bends upwards: max g.s - s'Bs/2 within a radius, in coordinates scaled by the
 * spread along each axis (Moré & Sorensen 1983).
 *
 * The maximum is (B + mu)^-1 g, mu such that it is as long as the radius. In
 * few dimensions by eigenvectors; in many, where they would take thirty times
 * as long, by Cholesky factors of B + mu for a few mu. */
#include "numeric/dense.h"
#include "tempering/climb.h"

#include <math.h>
#include <string.h>

enum { FEW = 60, TRIALS = 40 };

/* Lengths within a tenth of the radius, gains within a fifth of the best: the
 * quadratic model is not worth more. */
static const double LENGTH = 0.1, GAIN = 0.19;

/* ---- by eigenvectors */

/* Squared length of the step with multiplier mu, in eigencoordinates. */
static double square_at(const tm_climber *c, double mu) {
  double sum = 0;
  for (size_t i = 0; i < c->frame->reals; i++) {
    double x = c->lane[i] / (c->values[i] + mu);
    sum += x * x;
  }
  return sum;
}

/* The multiplier for which the step reaches the radius. */
static double multiplier(const tm_climber *c, double least) {
  double low = fmax(0, -least) + 1e-10 * (1 + fabs(least));
  if (square_at(c, low) <= c->radius * c->radius)
    return low;
  double high = 2 * low + 1;
  while (square_at(c, high) > c->radius * c->radius)
    high = low + 2 * (high - low);
  for (int i = 0; i < 60 && high - low > 1e-6 * high; i++) {
    double middle = 0.5 * (low + high);
    if (square_at(c, middle) > c->radius * c->radius)
      low = middle;
    else
      high = middle;
  }
  return high;
}

/* Where B bends upwards and the gradient does not say which way to go (a
 * saddle, as where labels are all alike), along the lowest eigenvector. */
static void by_eigenvectors(tm_climber *c) {
  size_t d = c->frame->reals, low = 0;
  tm_symmetric_eigen(c->work, d, c->values, c->vectors);
  for (size_t i = 0; i < d; i++) {
    c->lane[i] = 0;
    for (size_t k = 0; k < d; k++)
      c->lane[i] += c->vectors[i * d + k] * c->scale[k] * c->gradient[k];
    if (c->values[i] < c->values[low])
      low = i;
  }
  double mu = multiplier(c, c->values[low]), left;
  left = c->radius * c->radius - square_at(c, mu);
  memset(c->step, 0, d * sizeof(double));
  for (size_t i = 0; i < d; i++) {
    double x = c->lane[i] / (c->values[i] + mu);
    if (i == low && c->values[low] < 0 && left > 0)
      x += copysign(sqrt(left), c->lane[i]);
    for (size_t k = 0; k < d; k++)
      c->step[k] += x * c->vectors[i * d + k] * c->scale[k];
  }
}

/* ---- by factors */

/* The search for mu: what it lies between, and the solution x of the last mu
 * for which B + mu was positive, L L' = B + mu, y = L^-1 g. */
typedef struct seeker {
  tm_climber *c;
  size_t d;
  double mu, low, high;
  double *x, *y, *z;
} seeker;

/* No eigenvalue of B is beyond the sum of a row; none is above an entry of the
 * diagonal and so none of -B below one of -B's. */
static void bound(seeker *s) {
  const double *b = s->c->work;
  double largest = 0, gg = tm_dot(s->c->lane, s->c->lane, s->d);
  for (size_t i = 0; i < s->d; i++) {
    double sum = 0;
    for (size_t k = 0; k < s->d; k++)
      sum += fabs(b[i * s->d + k]);
    largest = fmax(largest, sum);
    s->low = fmax(s->low, -b[i * s->d + i]);
  }
  double reach = sqrt(gg) / s->c->radius;
  s->low = fmax(s->low, reach - largest);
  s->high = reach + largest;
}

static void between(seeker *s) {
  if (!(s->mu > s->low && s->mu < s->high))
    s->mu = fmax(sqrt(s->low * s->high), s->low + 0.01 * (s->high - s->low));
}

static bool factor(seeker *s) {
  tm_climber *c = s->c;
  memcpy(c->vectors, c->work, s->d * s->d * sizeof(double));
  for (size_t i = 0; i < s->d; i++)
    c->vectors[i * s->d + i] += s->mu;
  return tm_cholesky_until(c->vectors, s->d, &c->evaluator->stop);
}

static void solve(seeker *s) {
  memcpy(s->y, s->c->lane, s->d * sizeof(double));
  tm_solve_lower(s->c->vectors, s->d, s->y);
  memcpy(s->x, s->y, s->d * sizeof(double));
  tm_solve_upper(s->c->vectors, s->d, s->x);
}

/* A unit vector z along which B + mu bends little: L^-1 of signs chosen to make
 * it large, and on by L'^-1. Returns z'(B + mu) z. */
static double flattest(seeker *s) {
  const double *l = s->c->vectors;
  size_t d = s->d;
  for (size_t i = 0; i < d; i++) {
    double sum = tm_dot(l + i * d, s->z, i);
    s->z[i] = (copysign(1, -sum) - sum) / l[i * d + i];
  }
  double before = tm_dot(s->z, s->z, d);
  tm_solve_upper(l, d, s->z);
  double after = tm_dot(s->z, s->z, d), share = 1 / sqrt(after);
  for (size_t i = 0; i < d; i++)
    s->z[i] *= share;
  return before / after;
}

/* Too short, and mu cannot fall much: is the rest of the way along z good
 * enough? The gain lost is at most rest^2 z'(B + mu)z / 2. */
static bool goes_on(seeker *s, double square) {
  double radius = s->c->radius, bend = flattest(s);
  double left = radius * radius - square, xz = tm_dot(s->x, s->z, s->d);
  double rest = left / (xz + copysign(sqrt(xz * xz + left), xz));
  double gain = tm_dot(s->y, s->y, s->d) + s->mu * radius * radius;
  s->low = fmax(s->low, s->mu - bend);
  if (rest * rest * bend > GAIN * gain)
    return false;
  for (size_t i = 0; i < s->d; i++)
    s->x[i] += rest * s->z[i];
  return true;
}

/* One trial of mu; true when x is good enough. The next mu is Newton's for
 * 1/length, which is nearly linear in it. */
static bool try_multiplier(seeker *s, bool *any) {
  double radius = s->c->radius;
  if (!factor(s)) {
    s->low = s->mu;
    between(s);
    return false;
  }
  solve(s);
  *any = true;
  double square = tm_dot(s->x, s->x, s->d), length = sqrt(square);
  if (fabs(length - radius) <= LENGTH * radius ||
      (length < radius && s->mu == 0))
    return true;
  if (length > radius)
    s->low = s->mu;
  else
    s->high = s->mu;
  if (length < radius && goes_on(s, square))
    return true;
  memcpy(s->y, s->x, s->d * sizeof(double));
  tm_solve_lower(s->c->vectors, s->d, s->y);
  double bend = tm_dot(s->y, s->y, s->d);
  s->mu += square / bend * (length - radius) / radius;
  between(s);
  return false;
}

/* Straight up the scaled gradient, to the radius. */
static void uphill(const tm_climber *c, double *x) {
  size_t d = c->frame->reals;
  double square = tm_dot(c->lane, c->lane, d);
  for (size_t i = 0; i < d; i++)
    x[i] = square > 0 ? c->radius / sqrt(square) * c->lane[i] : 0;
}

static void by_factors(tm_climber *c, bool definite) {
  size_t d = c->frame->reals;
  seeker s = {.c = c, .d = d, .x = c->values, .y = c->tl, .z = c->tp};
  bool any = false, good = false;
  for (size_t k = 0; k < d; k++)
    c->lane[k] = c->scale[k] * c->gradient[k];
  bound(&s);
  s.mu = definite ? 0 : fmax(1.01 * s.low, 1e-3 * s.high);
  for (int i = 0; i < TRIALS && !good && !tm_evaluator_stopped(c->evaluator);
       i++)
    good = try_multiplier(&s, &any);
  double length = any ? sqrt(tm_dot(s.x, s.x, d)) : INFINITY;
  if (!any || !isfinite(length))
    uphill(c, s.x);
  double share = isfinite(length) ? fmin(1, c->radius / length) : 1;
  for (size_t k = 0; k < d; k++)
    c->step[k] = (good ? 1 : share) * c->scale[k] * s.x[k];
}

void tm_climber_trust_step(tm_climber *climber, bool definite) {
  tm_climber *c = climber;
  size_t d = c->frame->reals;
  memset(c->step, 0, d * sizeof(double));
  if (d > FEW && tm_evaluator_stopped(c->evaluator))
    return;
  for (size_t i = 0; i < d; i++)
    for (size_t k = 0; k < d; k++)
      c->work[i * d + k] = c->b[i * d + k] * c->scale[i] * c->scale[k];
  if (d <= FEW)
    by_eigenvectors(c);
  else
    by_factors(c, definite);
}
