/* mixture_em.c - EM for mixtures of t's (Peel & McLachlan 2000; with the
 * faster scale update of Kent, Tyler & Vardi 1994); see mixture_em.h. */
#include "numeric/mixture_em.h"

#include "numeric/triangular.h"
#include "numeric/vector_exp.h"

#include <math.h>
#include <string.h>

enum { LLOYD_STEPS = 5 };

/* Nats per point; more where there are more than so many coordinates. */
static const double EM_TOLERANCE = 1e-4, COORDINATES = 20;
static const double FEWEST = 5; /* effective points to keep a component */

double tm_em_shrinkage(double n, size_t d) {
  double ratio = (double)d / n;
  return fmin(1, ratio * ratio);
}

/* ---- Expectation ---- */

/* y = the sum of row[j] times points j, in this order; a few at a time, for
 * what is in registers need not be stored. */
static void combine(const double *row, const double *points, size_t count,
                    size_t size, double *restrict y) {
  size_t j = 0;
  memset(y, 0, size * sizeof(double));
  for (; j + 4 <= count; j += 4) {
    const double *restrict c0 = points + j * TM_EM_BLOCK,
                           *restrict c1 = c0 + TM_EM_BLOCK,
                           *restrict c2 = c1 + TM_EM_BLOCK,
                           *restrict c3 = c2 + TM_EM_BLOCK;
    double a0 = row[j], a1 = row[j + 1], a2 = row[j + 2], a3 = row[j + 3];
    for (size_t p = 0; p < size; p++) {
      double sum = y[p];
      sum += a0 * c0[p];
      sum += a1 * c1[p];
      sum += a2 * c2[p];
      sum += a3 * c3[p];
      y[p] = sum;
    }
  }
  for (; j < count; j++) {
    const double *restrict c = points + j * TM_EM_BLOCK;
    for (size_t p = 0; p < size; p++)
      y[p] += row[j] * c[p];
  }
}

static void block_distances(tm_em *f, const tm_mixture *m, size_t k,
                            size_t start, size_t size) {
  size_t n = f->count, d = f->dimension;
  double *sum = f->square + k * n + start;
  memset(sum, 0, size * sizeof(double));
  for (size_t i = 0; i < d; i++) {
    const double *inverse = m->inverse + (k * d + i) * d;
    double *centred = f->points + i * TM_EM_BLOCK, *y = f->scaled;
    for (size_t p = 0; p < size; p++)
      centred[p] = f->z[i * n + start + p] - m->mean[k * d + i];
    combine(inverse, f->points, i + 1, size, y);
    for (size_t p = 0; p < size; p++)
      sum[p] += y[p] * y[p];
  }
}

static void component_terms(tm_em *f, const tm_mixture *m, size_t k,
                            size_t from, size_t to) {
  size_t n = f->count;
  double d = (double)f->dimension, df = m->df;
  for (size_t start = from; start < to; start += TM_EM_BLOCK)
    block_distances(f, m, k, start,
                    to - start < TM_EM_BLOCK ? to - start : TM_EM_BLOCK);
  double constant = m->log_weight[k] + m->log_norm[k];
  for (size_t p = from; p < to; p++) {
    double square = f->square[k * n + p];
    f->share[k * n + p] =
        constant -
        (isinf(df) ? 0.5 * square : 0.5 * (df + d) * log(1 + square / df));
  }
}

/* Terms of points [from, to) become responsibilities, and f->scaled their log
 * densities. */
static void normalise_points(tm_em *f, size_t components, size_t from,
                             size_t to) {
  size_t n = f->count;
  double *most = f->points, *sum = f->scaled;
  for (size_t p = from; p < to; p++) {
    most[p] = -INFINITY;
    sum[p] = 0;
  }
  for (size_t k = 0; k < components; k++)
    for (size_t p = from; p < to; p++)
      most[p] = most[p] > f->share[k * n + p] ? most[p] : f->share[k * n + p];
  for (size_t k = 0; k < components; k++) {
    double *share = f->share + k * n;
    for (size_t p = from; p < to; p++)
      share[p] -= most[p];
    tm_vector_exp(share + from, to - from);
    for (size_t p = from; p < to; p++)
      sum[p] += share[p];
  }
  for (size_t k = 0; k < components; k++)
    for (size_t p = from; p < to; p++)
      f->share[k * n + p] /= sum[p];
  for (size_t p = from; p < to; p++)
    sum[p] = most[p] + log(sum[p]);
}

/* Responsibilities of points [from, to); their mean log density. */
double tm_em_expectation(tm_em *f, const tm_mixture *m, size_t from,
                         size_t to) {
  for (size_t k = 0; k < m->components; k++)
    component_terms(f, m, k, from, to);
  normalise_points(f, m->components, from, to);
  double sum = 0, total = 0;
  for (size_t p = from; p < to; p++) {
    sum += f->weight[p] * f->scaled[p];
    total += f->weight[p];
  }
  return sum / total;
}

/* ---- Maximisation ---- */

/* Mean and covariance of component k from points [0, to), left in m->mean and
 * m->factor; its weight (0: too few points to be one). */
static double component_moments(tm_em *f, tm_mixture *m, size_t k, size_t to) {
  size_t n = f->count, d = f->dimension;
  double own = 0, squares = 0, total = 0;
  double *pull = f->share + k * n; /* responsibility -> weight in the M-step */
  for (size_t p = 0; p < to; p++) {
    double a = f->weight[p] * pull[p];
    own += a;
    squares += pull[p] * pull[p];
    total += pull[p];
    pull[p] = a;
  }
  double df = m->df;
  for (size_t p = 0; p < to && !isinf(df); p++)
    pull[p] *= (df + (double)d) / (df + f->square[k * n + p]);
  f->size[k] = squares > 0 ? total * total / squares : 0;
  double sum = 0;
  for (size_t p = 0; p < to; p++)
    sum += pull[p];
  if (!(sum > 0) || (m->components > 1 && f->size[k] < FEWEST))
    return 0;
  tm_dots(pull, f->z, n, d, to, m->mean + k * d);
  for (size_t j = 0; j < d; j++)
    m->mean[k * d + j] /= sum;
  for (size_t i = 0; i < d; i++) {
    double *centred = f->points + i * n;
    for (size_t p = 0; p < to; p++) {
      centred[p] = f->z[i * n + p] - m->mean[k * d + i];
      f->scaled[p] = pull[p] * centred[p];
    }
    double *row = m->factor + (k * d + i) * d;
    tm_dots(f->scaled, f->points, n, i + 1, to, row);
    for (size_t j = 0; j <= i; j++)
      row[j] /= sum;
  }
  return own;
}

static void move_component(tm_em *f, tm_mixture *m, size_t from, size_t to) {
  size_t d = m->dimension, square = d * d;
  if (from == to)
    return;
  m->log_weight[to] = m->log_weight[from];
  f->size[to] = f->size[from];
  memcpy(m->mean + to * d, m->mean + from * d, d * sizeof(double));
  memcpy(m->factor + to * square, m->factor + from * square,
         square * sizeof(double));
}

/* Correlations pooled over components, shrunk towards none. */
static void pool_correlations(tm_em *f, const tm_mixture *m, size_t to) {
  size_t d = f->dimension;
  memset(f->pooled, 0, d * d * sizeof(double));
  for (size_t k = 0; k < m->components; k++)
    for (size_t e = 0; e < d * d; e++)
      f->pooled[e] += exp(m->log_weight[k]) * m->factor[k * d * d + e];
  double keep = 1 - tm_em_shrinkage((double)to, d);
  for (size_t i = 0; i < d; i++)
    for (size_t j = 0; j < i; j++) {
      double scale = sqrt(f->pooled[i * d + i] * f->pooled[j * d + j]);
      f->pooled[i * d + j] =
          scale > 0 ? keep * f->pooled[i * d + j] / scale : 0;
    }
}

static void add_unit_points(const tm_em *f, double *covariance, double keep) {
  size_t d = f->dimension;
  for (size_t i = 0; i < d; i++)
    for (size_t j = 0; j <= i; j++)
      covariance[i * d + j] =
          keep * covariance[i * d + j] + (i == j ? 1 - keep : 0);
}

/* Shrink off-diagonal entries towards the pooled correlations, as if d+1
 * further points had them; variances stay the component's own, since modes
 * may differ in scale by orders of magnitude. */
static void shrink_component(tm_em *f, tm_mixture *m, size_t k) {
  size_t d = f->dimension;
  double *covariance = m->factor + k * d * d;
  double prior = m->components > 1 ? (double)(d + 1) : 0;
  double keep = f->size[k] / (f->size[k] + prior);
  if (m->components == 1)
    keep = 0; /* the pooled correlations are its own, shrunk */
  for (size_t i = 0; i < d; i++)
    covariance[i * d + i] = fmax(covariance[i * d + i], f->floor[i]);
  for (size_t i = 0; i < d; i++)
    for (size_t j = 0; j < i; j++)
      covariance[i * d + j] =
          keep * covariance[i * d + j] +
          (1 - keep) * f->pooled[i * d + j] *
              sqrt(covariance[i * d + i] * covariance[j * d + j]);
  if (m->components == 1 && f->strength > 0)
    add_unit_points(f, covariance, f->size[k] / (f->size[k] + f->strength));
  tm_cholesky_forced(covariance, d, 1e-12, f->scratch);
}

static void maximisation(tm_em *f, tm_mixture *m, size_t to) {
  size_t kept = 0, before = m->components;
  for (size_t k = 0; k < before; k++) {
    double own = component_moments(f, m, k, to);
    m->log_weight[k] = log(own);
    if (own > 0)
      move_component(f, m, k, kept++);
  }
  m->components = kept;
  double total = 0;
  for (size_t k = 0; k < kept; k++)
    total += exp(m->log_weight[k]);
  for (size_t k = 0; k < kept; k++)
    m->log_weight[k] -= log(total);
  pool_correlations(f, m, to);
  for (size_t k = 0; k < kept; k++)
    shrink_component(f, m, k);
  tm_mixture_complete(m);
}

/* The overall fit: whitened points have about mean 0 and covariance 1. */
static void standard(tm_em *f, tm_mixture *m) {
  size_t d = f->dimension;
  m->components = 1;
  m->log_weight[0] = 0;
  memset(m->mean, 0, d * sizeof(double));
  memset(m->factor, 0, d * d * sizeof(double));
  for (size_t i = 0; i < d; i++)
    m->factor[i * d + i] = 1;
  tm_mixture_complete(m);
}

/* EM on points [0, to) until the fit stops improving; one Gaussian is at its
 * best after a single step. */
double tm_em_improve(tm_em *f, tm_mixture *m, size_t to, int steps) {
  bool gaussian = m->components == 1 && isinf(m->df);
  double enough = EM_TOLERANCE * fmax(1, (double)f->dimension / COORDINATES);
  double before = -INFINITY, now = -INFINITY;
  for (int step = 0; step < steps; step++) {
    now = tm_em_expectation(f, m, 0, to);
    if (now - before < enough && step > (gaussian ? 0 : 2))
      break;
    before = now;
    maximisation(f, m, to);
    if (m->components == 0)
      standard(f, m);
  }
  return now;
}

/* ---- Starts ---- */

static double distance_to(const tm_em *f, size_t p, const double *centre) {
  double sum = 0;
  for (size_t j = 0; j < f->dimension; j++) {
    double x = f->z[j * f->count + p] - centre[j];
    sum += x * x;
  }
  return sum;
}

static void take_centre(const tm_em *f, size_t p, double *centre) {
  for (size_t j = 0; j < f->dimension; j++)
    centre[j] = f->z[j * f->count + p];
}

/* k-means++: each centre a point, drawn by its squared distance to those
 * already taken (kept in f->scaled). */
static void seed_centres(tm_em *f, double *centres, size_t components) {
  size_t d = f->dimension;
  for (size_t k = 0; k < components; k++) {
    double total = 0;
    for (size_t p = 0; p < f->train; p++) {
      double far = k ? distance_to(f, p, centres + (k - 1) * d) : 1;
      f->scaled[p] = k > 1 ? fmin(f->scaled[p], far) : far;
      total += f->weight[p] * f->scaled[p];
    }
    double left = tm_random_uniform(f->random) * total;
    size_t p = 0;
    for (; p + 1 < f->train; p++)
      if ((left -= f->weight[p] * f->scaled[p]) < 0)
        break;
    take_centre(f, p, centres + k * d);
  }
}

static void assign_nearest(tm_em *f, const double *centres, size_t components) {
  for (size_t p = 0; p < f->train; p++) {
    double least = INFINITY;
    for (size_t k = 0; k < components; k++) {
      double far = distance_to(f, p, centres + k * f->dimension);
      if (far < least) {
        least = far;
        f->nearest[p] = k;
      }
    }
  }
}

static void move_centres(tm_em *f, double *centres, size_t components) {
  size_t d = f->dimension;
  for (size_t k = 0; k < components; k++)
    f->size[k] = 0;
  for (size_t p = 0; p < f->train; p++) {
    size_t k = f->nearest[p];
    double step = f->weight[p] / (f->size[k] += f->weight[p]);
    for (size_t j = 0; j < d; j++) /* running mean; the first one replaces */
      centres[k * d + j] +=
          step * (f->z[j * f->count + p] - centres[k * d + j]);
  }
}

/* A start by k-means: hard responsibilities, one M-step as Gaussians. */
void tm_em_start(tm_em *f, tm_mixture *m, size_t components, double df) {
  seed_centres(f, m->mean, components);
  for (int step = 0; step < LLOYD_STEPS; step++) {
    assign_nearest(f, m->mean, components);
    move_centres(f, m->mean, components);
  }
  for (size_t k = 0; k < components; k++)
    for (size_t p = 0; p < f->train; p++)
      f->share[k * f->count + p] = f->nearest[p] == k;
  m->components = components;
  m->df = INFINITY; /* f->square is not set yet */
  maximisation(f, m, f->train);
  m->df = df;
  if (m->components == 0)
    standard(f, m);
  tm_mixture_complete(m);
}
