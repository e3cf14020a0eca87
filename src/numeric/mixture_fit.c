/* mixture_fit.c - from points to a mixture: whitening, the number of
 * components, the degrees of freedom; see mixture.h.
 *
 * Points are whitened by their overall covariance first, so that shrinkage and
 * distances mean the same in every direction, however correlated or badly
 * scaled a posterior is. Consecutive repeats (rejected proposals) become one
 * point with a weight: no component can then live on copies of one point. */
#include "numeric/mixture_em.h"
#include "numeric/triangular.h"

#include <math.h>
#include <string.h>

enum {
  STARTS = 2, /* k-means++ starts per number of components */
  EM_STEPS = 60,
  FEW_POINTS = 20,  /* below this, one component and no held-out points */
  CHOOSING = 1500,  /* points to choose the number of components on */
  PER_COMPONENT = 8 /* training points that each component must have */
};

/* What more components must earn on all held-out points, in nats: less than
 * this comes by chance. */
static const double WORTH = 2;

/* ---- Preparing the points ---- */

typedef enum part { TRAIN, HELD_OUT, LATER, PARTS } part;

/* What the p-th distinct point is for. Whole runs of consecutive points are
 * held out, so that autocorrelation does not make them look like new ones. */
static part part_of(size_t p, size_t count) {
  size_t run = count / 40 > 1 ? count / 40 : 1;
  if (count > CHOOSING && p % ((count + CHOOSING - 1) / CHOOSING) != 0)
    return LATER;
  return count >= FEW_POINTS && p / run % 4 == 3 ? HELD_OUT : TRAIN;
}

static bool repeats(const double *points, size_t p, size_t d) {
  return p > 0 &&
         memcmp(points + p * d, points + (p - 1) * d, d * sizeof(double)) == 0;
}

static size_t distinct_points(const tm_points *points) {
  size_t distinct = 0;
  for (size_t p = 0; p < points->count; p++)
    distinct += !repeats(points->values, p, points->dimension);
  return distinct;
}

/* Copy distinct points into z, by their parts. */
static void load_points(tm_em *f, const tm_points *points) {
  size_t d = f->dimension, n = f->count, next[PARTS + 1] = {0}, at = 0;
  double total = 0;
  for (size_t p = 0; p < n; p++)
    for (part i = part_of(p, n); i < PARTS; i++)
      next[i + 1]++; /* counts, summed: next[i] is where part i begins */
  f->train = next[HELD_OUT];
  f->chosen = next[LATER];
  for (size_t p = 0, distinct = 0; p < points->count; p++) {
    double weight = points->weights ? points->weights[p] : 1;
    total += weight;
    if (!repeats(points->values, p, d)) {
      at = next[part_of(distinct++, n)]++;
      for (size_t j = 0; j < d; j++)
        f->z[j * n + at] = points->values[p * d + j];
    }
    f->weight[at] += weight;
  }
  for (size_t p = 0; p < n; p++)
    f->weight[p] *= (double)points->count / total;
}

/* A coordinate that never changes still needs a scale. */
static double nominal_variance(double centre) {
  double sd = 1e-4 * fmax(1, fabs(centre));
  return sd * sd;
}

static void overall_covariance(tm_em *f) {
  size_t n = f->count, d = f->dimension;
  double total = 0;
  for (size_t p = 0; p < n; p++)
    total += f->weight[p];
  for (size_t j = 0; j < d; j++) {
    f->centre[j] = tm_dot(f->weight, f->z + j * n, n) / total;
    for (size_t p = 0; p < n; p++)
      f->z[j * n + p] -= f->centre[j];
  }
  double keep = 1 - tm_em_shrinkage((double)n, d);
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

static void whiten(tm_em *f) {
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

/* Points that are to be left as they are. */
static void leave(tm_em *f) {
  size_t n = f->count, d = f->dimension;
  for (size_t i = 0; i < d; i++) {
    const double *x = f->z + i * n;
    double low = x[0], high = x[0];
    for (size_t p = 1; p < n; p++) {
      low = fmin(low, x[p]);
      high = fmax(high, x[p]);
    }
    f->whitener[i * d + i] = 1;
    f->floor[i] = high - low < 1e-10 ? 1 : 1e-12;
  }
}

/* ---- Choosing ---- */

static void copy_mixture(const tm_mixture *from, tm_mixture *to) {
  size_t d = from->dimension, k = from->components;
  to->components = k;
  to->df = from->df;
  memcpy(to->log_weight, from->log_weight, k * sizeof(double));
  memcpy(to->log_norm, from->log_norm, k * sizeof(double));
  memcpy(to->diagonal, from->diagonal, k * sizeof(bool));
  memcpy(to->mean, from->mean, k * d * sizeof(double));
  memcpy(to->factor, from->factor, k * d * d * sizeof(double));
  memcpy(to->inverse, from->inverse, k * d * d * sizeof(double));
}

static double held_out_score(tm_em *f, const tm_mixture *m) {
  return tm_em_expectation(f, m, f->train, f->chosen);
}

/* The best of a few starts with this many components, after EM. */
static void fit_components(tm_em *f, size_t components, double df,
                           tm_mixture *trial, tm_mixture *best) {
  double best_fit = -INFINITY;
  int starts = components == 1 ? 1 : STARTS;
  for (int s = 0; s < starts; s++) {
    tm_em_start(f, trial, components, df);
    double fit = tm_em_improve(f, trial, f->train, EM_STEPS / 6);
    if (fit > best_fit || s == 0) {
      best_fit = fit;
      copy_mixture(trial, best);
    }
  }
  tm_em_improve(f, best, f->train, EM_STEPS / 2);
}

static void choose_components(tm_em *f, size_t most, double df,
                              tm_mixture work[2], tm_mixture *best) {
  static const size_t sizes[] = {1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 24, 32};
  double best_score = -INFINITY;
  int worse = 0;
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes && worse < 2; i++) {
    if (i > 0 && (sizes[i] > most || f->train < PER_COMPONENT * sizes[i]))
      break;
    fit_components(f, sizes[i], df, &work[0], &work[1]);
    double score =
        f->train < f->chosen ? held_out_score(f, &work[1]) : -(double)i;
    double held = (double)(f->chosen - f->train);
    if (i == 0 || (score - best_score) * held > WORTH) {
      best_score = score;
      worse = 0;
      copy_mixture(&work[1], best);
    } else {
      worse++;
    }
  }
}

static void choose_df(tm_em *f, tm_mixture work[2], tm_mixture *best) {
  static const double choices[] = {4, 30, INFINITY};
  if (f->train == f->chosen)
    return;
  double best_score = held_out_score(f, best);
  copy_mixture(best, &work[1]);
  for (size_t i = 0; i < sizeof choices / sizeof *choices; i++) {
    copy_mixture(&work[1], &work[0]);
    work[0].df = choices[i];
    tm_mixture_complete(&work[0]);
    tm_em_improve(f, &work[0], f->train, EM_STEPS / 3);
    double score = held_out_score(f, &work[0]);
    if (score > best_score) {
      best_score = score;
      copy_mixture(&work[0], best);
    }
  }
}

/* Components were counted at one df; at the chosen one fewer may do. */
static void drop_components(tm_em *f, tm_mixture work[2], tm_mixture *best) {
  double held = (double)(f->chosen - f->train);
  double best_score = held > 0 ? held_out_score(f, best) : 0;
  while (held > 0 && best->components > 1) {
    fit_components(f, best->components - 1, best->df, &work[0], &work[1]);
    double score = held_out_score(f, &work[1]);
    if ((best_score - score) * held > WORTH)
      return;
    best_score = fmax(score, best_score);
    copy_mixture(&work[1], best);
  }
}

/* One component, shrunk towards the unit Gaussian: in many dimensions a
 * covariance learned from draws is noise where that Gaussian is right, and a
 * dozen draws per coordinate do not make up for it. */
static void choose_strength(tm_em *f, tm_mixture work[2], tm_mixture *best) {
  static const double strengths[] = {0.3, 1, 3, 10, 100};
  if (f->train == f->chosen)
    return;
  double chosen = 0, best_score = held_out_score(f, best);
  double df = best->components == 1 ? best->df : INFINITY;
  for (size_t i = 0; i < sizeof strengths / sizeof *strengths; i++) {
    f->strength = strengths[i] * (double)f->train;
    fit_components(f, 1, df, &work[0], &work[1]);
    double score = held_out_score(f, &work[1]);
    if (!(score > best_score))
      continue;
    best_score = score;
    chosen = f->strength;
    copy_mixture(&work[1], best);
  }
  f->strength = chosen;
}

/* From whitened coordinates back: m -> centre + W m, L -> W L. */
static void unwhiten(tm_em *f, tm_mixture *m) {
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

static bool allocate(tm_em *f, tm_arena *arena) {
  size_t n = f->count, d = f->dimension, k = f->capacity;
  size_t wide = n > TM_EM_BLOCK ? n : TM_EM_BLOCK;
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

static void choose_shape(tm_em *f, const tm_mixture_settings *settings,
                         tm_mixture work[2], tm_mixture *mixture) {
  double df = settings->df > 0 ? settings->df : 8;
  choose_components(f, f->capacity, df, work, mixture);
  if (settings->df > 0)
    return;
  choose_df(f, work, mixture);
  drop_components(f, work, mixture);
}

static void fit(tm_em *f, const tm_mixture_settings *settings,
                tm_mixture work[2], tm_mixture *mixture) {
  const tm_mixture_shape *shape = &settings->shape;
  if (settings->round)
    leave(f);
  else
    whiten(f);
  if (shape->components)
    fit_components(f, shape->components, shape->df, &work[0], mixture);
  else
    choose_shape(f, settings, work, mixture);
  if (settings->round)
    choose_strength(f, work, mixture);
  tm_em_improve(f, mixture, f->count, EM_STEPS);
  unwhiten(f, mixture);
}

tempera_status tm_mixture_fit(const tm_points *points,
                              const tm_mixture_settings *settings,
                              tempera_random *random, tm_arena *arena,
                              tm_mixture *mixture, tempera_error *error) {
  size_t dimension = points->dimension;
  size_t capacity = settings->most_components ? settings->most_components : 1;
  if (capacity < settings->shape.components)
    capacity = settings->shape.components;
  tm_em f = {.count = distinct_points(points),
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
  load_points(&f, points);
  fit(&f, settings, work, &made);
  *mixture = made;
done:
  tm_arena_free(own);
  return status;
}
