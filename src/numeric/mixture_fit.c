/* mixture_fit.c - EM for mixtures of t's (Peel & McLachlan 2000; with the
 * faster scale update of Kent, Tyler & Vardi 1994), on whitened points.
 *
 * Points are whitened by their overall covariance first, so that shrinkage and
 * distances mean the same in every direction, however correlated or badly
 * scaled a posterior is. They are stored by coordinate, so that the loops over
 * points vectorise. Consecutive repeats (rejected proposals) become one point
 * with a weight: no component can then live on copies of one point. */
#include "numeric/mixture.h"

#include "numeric/triangular.h"
#include "numeric/vector_exp.h"

#include <math.h>
#include <string.h>

enum {
  BLOCK = 128, /* points whose distances are computed together */
  STARTS = 2,  /* k-means++ starts per number of components */
  LLOYD_STEPS = 5,
  EM_STEPS = 60,
  FEW_POINTS = 20,  /* below this, one component and no held-out points */
  PER_COMPONENT = 8 /* training points that each component must have */
};

static const double EM_TOLERANCE = 1e-4; /* nats per point */
static const double FEWEST = 5; /* effective points to keep a component */

typedef struct fitter {
  size_t count, train, dimension; /* points [0, train) train, rest held out */
  double *z;                      /* dimension x count, whitened */
  double *weight;                 /* count; sums to the number of points */
  double *centre, *whitener;      /* x = centre + whitener z */
  double *floor; /* least variance of a whitened coordinate: 1 if constant */
  size_t capacity;
  double *share;   /* capacity x count: log terms, then responsibilities */
  double *square;  /* capacity x count: squared distances */
  double *points;  /* dimension x max(count, BLOCK): centred coordinates */
  double *scaled;  /* max(count, BLOCK) */
  double *size;    /* capacity: effective points of a component */
  double *pooled;  /* d x d */
  double *scratch; /* d x d */
  size_t *nearest; /* count: k-means labels */
  tempera_random *random;
} fitter;

/* ---- Preparing the points ---- */

/* Which distinct points are held out: every fourth run of consecutive ones. */
static bool is_held_out(size_t p, size_t count) {
  size_t run = count / 40 > 1 ? count / 40 : 1;
  return count >= FEW_POINTS && p / run % 4 == 3;
}

static bool repeats(const double *points, size_t p, size_t d) {
  return p > 0 &&
         memcmp(points + p * d, points + (p - 1) * d, d * sizeof(double)) == 0;
}

static size_t distinct_points(const double *points, size_t count, size_t d) {
  size_t distinct = 0;
  for (size_t p = 0; p < count; p++)
    distinct += !repeats(points, p, d);
  return distinct;
}

/* Copy distinct points into z: training ones in front, held-out ones behind. */
static void load_points(fitter *f, const double *points, const double *weights,
                        size_t count) {
  size_t d = f->dimension, n = f->count, at = 0, distinct = 0;
  size_t train = 0, held = n;
  double total = 0;
  for (size_t p = 0; p < count; p++) {
    double weight = weights ? weights[p] : 1;
    total += weight;
    if (!repeats(points, p, d)) {
      at = is_held_out(distinct, n) ? --held : train++;
      distinct++;
      for (size_t j = 0; j < d; j++)
        f->z[j * n + at] = points[p * d + j];
    }
    f->weight[at] += weight;
  }
  f->train = train;
  for (size_t p = 0; p < n; p++)
    f->weight[p] *= (double)count / total;
}

/* A coordinate that never changes still needs a scale. */
static double nominal_variance(double centre) {
  double sd = 1e-4 * fmax(1, fabs(centre));
  return sd * sd;
}

/* How much off-diagonal entries of a covariance of n points shrink: nothing
 * much while n >> d, everything when n <= d. */
static double shrinkage(double n, size_t d) {
  double ratio = (double)d / n;
  return fmin(1, ratio * ratio);
}

static void overall_covariance(fitter *f) {
  size_t n = f->count, d = f->dimension;
  double total = 0;
  for (size_t p = 0; p < n; p++)
    total += f->weight[p];
  for (size_t j = 0; j < d; j++) {
    f->centre[j] = tm_dot(f->weight, f->z + j * n, n) / total;
    for (size_t p = 0; p < n; p++)
      f->z[j * n + p] -= f->centre[j];
  }
  double keep = 1 - shrinkage((double)n, d);
  for (size_t i = 0; i < d; i++) {
    for (size_t p = 0; p < n; p++)
      f->scaled[p] = f->weight[p] * f->z[i * n + p];
    for (size_t j = 0; j <= i; j++)
      f->whitener[i * d + j] =
          (i == j ? 1 : keep) * tm_dot(f->scaled, f->z + j * n, n) / total;
    double nominal = nominal_variance(f->centre[i]);
    bool constant = f->whitener[i * d + i] <= 1e-20 * nominal;
    f->floor[i] = constant ? 1 : 1e-12;
    if (constant)
      f->whitener[i * d + i] = nominal;
  }
}

static void whiten(fitter *f) {
  size_t n = f->count, d = f->dimension;
  overall_covariance(f);
  tm_cholesky_forced(f->whitener, d, 1e-300, f->scratch);
  for (size_t i = 0; i < d; i++) { /* forward substitution, all points */
    double *row = f->z + i * n;
    for (size_t j = 0; j < i; j++) {
      double a = f->whitener[i * d + j];
      for (size_t p = 0; p < n; p++)
        row[p] -= a * f->z[j * n + p];
    }
    for (size_t p = 0; p < n; p++)
      row[p] /= f->whitener[i * d + i];
  }
}

/* ---- Expectation ---- */

static void block_distances(fitter *f, const tm_mixture *m, size_t k,
                            size_t start, size_t size) {
  size_t n = f->count, d = f->dimension;
  double *sum = f->square + k * n + start;
  memset(sum, 0, size * sizeof(double));
  for (size_t i = 0; i < d; i++) {
    const double *inverse = m->inverse + (k * d + i) * d;
    double *centred = f->points + i * BLOCK, *y = f->scaled;
    for (size_t p = 0; p < size; p++)
      centred[p] = f->z[i * n + start + p] - m->mean[k * d + i];
    memset(y, 0, size * sizeof(double));
    for (size_t j = 0; j <= i; j++) {
      const double *c = f->points + j * BLOCK;
      double a = inverse[j];
      for (size_t p = 0; p < size; p++)
        y[p] += a * c[p];
    }
    for (size_t p = 0; p < size; p++)
      sum[p] += y[p] * y[p];
  }
}

static void component_terms(fitter *f, const tm_mixture *m, size_t k,
                            size_t from, size_t to) {
  size_t n = f->count;
  double d = (double)f->dimension, df = m->df;
  for (size_t start = from; start < to; start += BLOCK)
    block_distances(f, m, k, start, to - start < BLOCK ? to - start : BLOCK);
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
static void normalise_points(fitter *f, size_t components, size_t from,
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
static double expectation(fitter *f, const tm_mixture *m, size_t from,
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
static double component_moments(fitter *f, tm_mixture *m, size_t k, size_t to) {
  size_t n = f->count, d = f->dimension;
  double own = 0, squares = 0, total = 0;
  double *pull = f->share + k * n; /* responsibility -> weight in the M-step */
  for (size_t p = 0; p < to; p++) {
    double a = f->weight[p] * pull[p];
    own += a;
    squares += pull[p] * pull[p];
    total += pull[p];
    double tail =
        isinf(m->df) ? 1 : (m->df + (double)d) / (m->df + f->square[k * n + p]);
    pull[p] = a * tail;
  }
  f->size[k] = squares > 0 ? total * total / squares : 0;
  double sum = 0;
  for (size_t p = 0; p < to; p++)
    sum += pull[p];
  if (!(sum > 0) || (m->components > 1 && f->size[k] < FEWEST))
    return 0;
  for (size_t j = 0; j < d; j++)
    m->mean[k * d + j] = tm_dot(pull, f->z + j * n, to) / sum;
  for (size_t i = 0; i < d; i++) {
    double *centred = f->points + i * n;
    for (size_t p = 0; p < to; p++) {
      centred[p] = f->z[i * n + p] - m->mean[k * d + i];
      f->scaled[p] = pull[p] * centred[p];
    }
    for (size_t j = 0; j <= i; j++)
      m->factor[(k * d + i) * d + j] =
          tm_dot(f->scaled, f->points + j * n, to) / sum;
  }
  return own;
}

static void move_component(fitter *f, tm_mixture *m, size_t from, size_t to) {
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
static void pool_correlations(fitter *f, const tm_mixture *m, size_t to) {
  size_t d = f->dimension;
  memset(f->pooled, 0, d * d * sizeof(double));
  for (size_t k = 0; k < m->components; k++)
    for (size_t e = 0; e < d * d; e++)
      f->pooled[e] += exp(m->log_weight[k]) * m->factor[k * d * d + e];
  double keep = 1 - shrinkage((double)to, d);
  for (size_t i = 0; i < d; i++)
    for (size_t j = 0; j < i; j++) {
      double scale = sqrt(f->pooled[i * d + i] * f->pooled[j * d + j]);
      f->pooled[i * d + j] =
          scale > 0 ? keep * f->pooled[i * d + j] / scale : 0;
    }
}

/* Shrink off-diagonal entries towards the pooled correlations, as if d+1
 * further points had them; variances stay the component's own, since modes
 * may differ in scale by orders of magnitude. */
static void shrink_component(fitter *f, tm_mixture *m, size_t k) {
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
  tm_cholesky_forced(covariance, d, 1e-12, f->scratch);
}

static void maximisation(fitter *f, tm_mixture *m, size_t to) {
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
static void standard(fitter *f, tm_mixture *m) {
  size_t d = f->dimension;
  m->components = 1;
  m->log_weight[0] = 0;
  memset(m->mean, 0, d * sizeof(double));
  memset(m->factor, 0, d * d * sizeof(double));
  for (size_t i = 0; i < d; i++)
    m->factor[i * d + i] = 1;
  tm_mixture_complete(m);
}

/* EM on points [0, to) until the fit stops improving. */
static double improve(fitter *f, tm_mixture *m, size_t to, int steps) {
  double before = -INFINITY, now = -INFINITY;
  for (int step = 0; step < steps; step++) {
    now = expectation(f, m, 0, to);
    if (now - before < EM_TOLERANCE && step > 2)
      break;
    before = now;
    maximisation(f, m, to);
    if (m->components == 0)
      standard(f, m);
  }
  return now;
}

/* ---- Starts ---- */

static double distance_to(const fitter *f, size_t p, const double *centre) {
  double sum = 0;
  for (size_t j = 0; j < f->dimension; j++) {
    double x = f->z[j * f->count + p] - centre[j];
    sum += x * x;
  }
  return sum;
}

static void take_centre(const fitter *f, size_t p, double *centre) {
  for (size_t j = 0; j < f->dimension; j++)
    centre[j] = f->z[j * f->count + p];
}

/* k-means++: each centre a point, drawn by its squared distance to those
 * already taken (kept in f->scaled). */
static void seed_centres(fitter *f, double *centres, size_t components) {
  size_t d = f->dimension;
  for (size_t k = 0; k < components; k++) {
    double total = 0;
    for (size_t p = 0; p < f->train; p++) {
      double far = k ? distance_to(f, p, centres + (k - 1) * d) : 1;
      f->scaled[p] = k > 1 ? fmin(f->scaled[p], far) : far;
      total += f->weight[p] * f->scaled[p];
    }
    double left = tempera_random_uniform(f->random) * total;
    size_t p = 0;
    for (; p + 1 < f->train; p++)
      if ((left -= f->weight[p] * f->scaled[p]) < 0)
        break;
    take_centre(f, p, centres + k * d);
  }
}

static void assign_nearest(fitter *f, const double *centres,
                           size_t components) {
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

static void move_centres(fitter *f, double *centres, size_t components) {
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
static void start(fitter *f, tm_mixture *m, size_t components, double df) {
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

/* ---- Choosing ---- */

static void copy_mixture(const tm_mixture *from, tm_mixture *to) {
  size_t d = from->dimension, k = from->components;
  to->components = k;
  to->df = from->df;
  memcpy(to->log_weight, from->log_weight, k * sizeof(double));
  memcpy(to->log_norm, from->log_norm, k * sizeof(double));
  memcpy(to->mean, from->mean, k * d * sizeof(double));
  memcpy(to->factor, from->factor, k * d * d * sizeof(double));
  memcpy(to->inverse, from->inverse, k * d * d * sizeof(double));
}

static double held_out_score(fitter *f, const tm_mixture *m) {
  return expectation(f, m, f->train, f->count);
}

/* The best of a few starts with this many components, after EM. */
static void fit_components(fitter *f, size_t components, double df,
                           tm_mixture *trial, tm_mixture *best) {
  double best_fit = -INFINITY;
  int starts = components == 1 ? 1 : STARTS;
  for (int s = 0; s < starts; s++) {
    start(f, trial, components, df);
    double fit = improve(f, trial, f->train, EM_STEPS / 6);
    if (fit > best_fit || s == 0) {
      best_fit = fit;
      copy_mixture(trial, best);
    }
  }
  improve(f, best, f->train, EM_STEPS / 2);
}

static void choose_components(fitter *f, size_t most, double df,
                              tm_mixture work[2], tm_mixture *best) {
  static const size_t sizes[] = {1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 24, 32};
  double best_score = -INFINITY;
  int worse = 0;
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes && worse < 2; i++) {
    if (i > 0 && (sizes[i] > most || f->train < PER_COMPONENT * sizes[i]))
      break;
    fit_components(f, sizes[i], df, &work[0], &work[1]);
    double score =
        f->train < f->count ? held_out_score(f, &work[1]) : -(double)i;
    if (score > best_score) {
      best_score = score;
      worse = 0;
      copy_mixture(&work[1], best);
    } else {
      worse++;
    }
  }
}

static void choose_df(fitter *f, tm_mixture work[2], tm_mixture *best) {
  static const double choices[] = {4, 30, INFINITY};
  if (f->train == f->count)
    return;
  double best_score = held_out_score(f, best);
  copy_mixture(best, &work[1]);
  for (size_t i = 0; i < sizeof choices / sizeof *choices; i++) {
    copy_mixture(&work[1], &work[0]);
    work[0].df = choices[i];
    tm_mixture_complete(&work[0]);
    improve(f, &work[0], f->train, EM_STEPS / 3);
    double score = held_out_score(f, &work[0]);
    if (score > best_score) {
      best_score = score;
      copy_mixture(&work[0], best);
    }
  }
}

/* From whitened coordinates back: m -> centre + W m, L -> W L. */
static void unwhiten(fitter *f, tm_mixture *m) {
  size_t d = f->dimension;
  for (size_t k = 0; k < m->components; k++) {
    double *mean = m->mean + k * d, *factor = m->factor + k * d * d;
    tm_triangular_times(f->whitener, d, mean, mean);
    for (size_t j = 0; j < d; j++)
      mean[j] += f->centre[j];
    for (size_t i = d; i-- > 0;)
      for (size_t j = 0; j < d; j++) {
        double sum = 0;
        for (size_t e = j; e <= i; e++)
          sum += f->whitener[i * d + e] * factor[e * d + j];
        factor[i * d + j] = j <= i ? sum : 0;
      }
  }
  tm_mixture_complete(m);
}

static bool allocate(fitter *f, tm_arena *arena) {
  size_t n = f->count, d = f->dimension, k = f->capacity;
  size_t wide = n > BLOCK ? n : BLOCK;
  f->z = TM_NEW(arena, double, d *n);
  f->weight = TM_NEW(arena, double, n);
  f->centre = TM_NEW(arena, double, d);
  f->whitener = TM_NEW(arena, double, d *d);
  f->floor = TM_NEW(arena, double, d);
  f->share = TM_NEW(arena, double, k *n);
  f->square = TM_NEW(arena, double, k *n);
  f->points = TM_NEW(arena, double, d *wide);
  f->scaled = TM_NEW(arena, double, wide);
  f->size = TM_NEW(arena, double, k);
  f->pooled = TM_NEW(arena, double, d *d);
  f->scratch = TM_NEW(arena, double, d *d);
  f->nearest = TM_NEW(arena, size_t, n);
  return f->z && f->weight && f->centre && f->whitener && f->floor &&
         f->share && f->square && f->points && f->scaled && f->size &&
         f->pooled && f->scratch && f->nearest;
}

static void fit(fitter *f, const tm_mixture_settings *settings,
                tm_mixture work[2], tm_mixture *mixture) {
  double df = settings->df > 0 ? settings->df : 8;
  whiten(f);
  choose_components(f, f->capacity, df, work, mixture);
  if (!(settings->df > 0))
    choose_df(f, work, mixture);
  improve(f, mixture, f->count, EM_STEPS);
  unwhiten(f, mixture);
}

tempera_status tm_mixture_fit(const double *points, const double *weights,
                              size_t count, size_t dimension,
                              const tm_mixture_settings *settings,
                              tempera_random *random, tm_arena *arena,
                              tm_mixture *mixture, tempera_error *error) {
  size_t capacity = settings->most_components ? settings->most_components : 1;
  fitter f = {.count = distinct_points(points, count, dimension),
              .dimension = dimension,
              .capacity = capacity,
              .random = random};
  tm_mixture made = {0}, work[2] = {{0}};
  tm_arena *own = tm_arena_create(); /* workspaces end with the fit */
  tempera_status status = TEMPERA_OK;
  if (!own || !allocate(&f, own)) {
    status = tm_fail_memory(error);
    goto done;
  }
  for (int i = 0; i < 2; i++)
    TM_TRY_DONE(tm_mixture_create(own, dimension, capacity, &work[i], error));
  TM_TRY_DONE(tm_mixture_create(arena, dimension, capacity, &made, error));
  load_points(&f, points, weights, count);
  fit(&f, settings, work, &made);
  *mixture = made;
done:
  tm_arena_free(own);
  return status;
}
