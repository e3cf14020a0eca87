/* point_density.c - see point_density.h. The mixture is over (psi, x) in this
 * order, so that the leading blocks of its factors are those of psi alone, and
 * log w(x | psi) is the difference of two log densities. */
#include "estimate/answers/point_density.h"

#include "estimate/evidence/evidence.h"
#include "numeric/mixture.h"
#include "numeric/pareto.h"

#include <math.h>
#include <string.h>

enum { MOST_COMPONENTS = 6, FEWEST_COUNTED = 40 };
static const double CUT = 2;

typedef struct work {
  const tm_point_question *question;
  const tm_point_draws *draws;
  tm_arena *arena;
  size_t dimension, *order; /* psi's coordinates, then x's */
  tm_mixture joint, rest;   /* fitted; rest is psi's */
  double *row;
  tm_point point;
  double *term; /* log, one for each draw */
} work;

static tempera_status begin(work *w, tempera_error *error) {
  const tm_point_question *q = w->question;
  const tempera_model *model = q->evaluator->model;
  size_t d = w->dimension = model->dimension, n = 0;
  w->order = TM_NEW(w->arena, size_t, d);
  w->row = TM_NEW(w->arena, double, d);
  w->term = TM_NEW(w->arena, double, w->draws->chains * w->draws->rows);
  if (!w->order || !w->row || !w->term)
    return tm_fail_memory(error);
  for (size_t j = 0; j < d; j++) {
    bool fixed = false;
    for (size_t k = 0; k < q->count; k++)
      fixed = fixed || q->coordinate[k] == j;
    if (!fixed)
      w->order[n++] = j;
  }
  for (size_t k = 0; k < q->count; k++)
    w->order[n++] = q->coordinate[k];
  return tm_point_create(model, w->arena, &w->point, error);
}

static const double *row_of(const work *w, size_t i) {
  return w->draws->u + i * w->dimension;
}

static bool in_half(const work *w, size_t i, size_t half) {
  return (i % w->draws->rows >= w->draws->rows / 2) == (half == 1);
}

/* psi's mixture: the leading blocks. */
static tempera_status leave_rest(work *w, tempera_error *error) {
  size_t d = w->dimension, r = d - w->question->count;
  const tm_mixture *joint = &w->joint;
  if (r == 0)
    return TEMPERA_OK;
  TM_TRY(tm_mixture_create(w->arena, r, joint->components, &w->rest, error));
  w->rest.components = joint->components;
  w->rest.df = joint->df;
  for (size_t k = 0; k < joint->components; k++) {
    w->rest.log_weight[k] = joint->log_weight[k];
    memcpy(w->rest.mean + k * r, joint->mean + k * d, r * sizeof(double));
    for (size_t i = 0; i < r; i++)
      memcpy(w->rest.factor + (k * r + i) * r, joint->factor + (k * d + i) * d,
             r * sizeof(double));
  }
  tm_mixture_complete(&w->rest);
  return TEMPERA_OK;
}

/* To the draws that count, where there are enough of them: w matters at these
 * alone. */
static tempera_status fit_half(work *w, size_t half, tempera_error *error) {
  size_t d = w->dimension, count = w->draws->chains * w->draws->rows, n = 0;
  size_t counted = 0;
  double *values = TM_NEW(w->arena, double, count *d);
  if (!values)
    return tm_fail_memory(error);
  for (size_t i = 0; i < count; i++)
    counted += in_half(w, i, half) && w->draws->counts[i];
  for (size_t i = 0; i < count; i++)
    if (in_half(w, i, half) &&
        (w->draws->counts[i] || counted < FEWEST_COUNTED)) {
      for (size_t j = 0; j < d; j++)
        values[n * d + j] = row_of(w, i)[w->order[j]];
      n++;
    }
  const tm_points points = {.count = n, .dimension = d, .values = values};
  const tm_mixture_settings settings = {.most_components = MOST_COMPONENTS,
                                        .df = INFINITY};
  tempera_random random =
      tm_random(w->question->seed, (uint32_t)half, TM_PURPOSE_BRIDGE);
  TM_TRY(
      tm_mixture_fit(&points, &settings, &random, w->arena, &w->joint, error));
  return leave_rest(w, error);
}

/* log f(x0, psi). */
static double moved_density(work *w, size_t i) {
  const tm_point_question *q = w->question;
  memcpy(w->point.u, row_of(w, i), w->dimension * sizeof(double));
  for (size_t k = 0; k < q->count; k++)
    w->point.u[q->coordinate[k]] = q->at[k];
  q->evaluate(q->evaluator, &w->point);
  return (q->likelihood ? w->point.log_likelihood : 0) + w->point.log_prior +
         w->point.log_jacobian;
}

/* Component k: log of its weight times its density of psi, and of its density
 * of x given psi within the box |z| < CUT, -infinity outside. */
static double log_part(const work *w, size_t k, double *given) {
  const tm_mixture *m = &w->joint;
  size_t d = w->dimension, r = d - w->question->count;
  const double *mean = m->mean + k * d, *inverse = m->inverse + k * d * d;
  double log_norm = r ? w->rest.log_norm[k] : 0, before = 0, after = 0;
  bool inside = true;
  for (size_t i = 0; i < d; i++) {
    double z = 0;
    for (size_t j = 0; j <= i; j++)
      z += inverse[i * d + j] * (w->row[j] - mean[j]);
    *(i < r ? &before : &after) += z * z;
    inside = inside && (i < r || fabs(z) < CUT);
  }
  *given = inside ? m->log_norm[k] - log_norm - after / 2 -
                        (double)(d - r) * log(erf(CUT / M_SQRT2))
                  : -INFINITY;
  return m->log_weight[k] + log_norm - before / 2;
}

/* Where f falls faster than any Gaussian (a rate on the log scale) the ratio
 * w/f would have no variance: w is cut off at CUT of its standard deviations,
 * component by component, and is a density still. */
static double log_conditional(work *w, size_t i) {
  double most = -INFINITY, total = 0, sum = 0;
  double part[MOST_COMPONENTS], given[MOST_COMPONENTS];
  size_t n = w->joint.components;
  for (size_t j = 0; j < w->dimension; j++)
    w->row[j] = row_of(w, i)[w->order[j]];
  for (size_t k = 0; k < n; k++) {
    part[k] = log_part(w, k, &given[k]);
    most = fmax(most, part[k]);
  }
  for (size_t k = 0; k < n; k++) {
    total += exp(part[k] - most);
    sum += exp(part[k] - most + given[k]);
  }
  return log(sum / total);
}

static void fill_terms(work *w, size_t half) {
  size_t count = w->draws->chains * w->draws->rows;
  for (size_t i = 0; i < count; i++) {
    if (!in_half(w, i, half))
      continue;
    double log_w = w->draws->counts[i] ? log_conditional(w, i) : -INFINITY;
    w->term[i] = log_w;
    if (log_w > -INFINITY)
      w->term[i] += moved_density(w, i) - w->draws->log_density[i];
    if (isnan(w->term[i]))
      w->term[i] = -INFINITY;
  }
}

static void summarise(work *w, tm_point_density *made) {
  size_t n = w->draws->chains * w->draws->rows, positive = 0;
  double most = -INFINITY, sum = 0;
  for (size_t i = 0; i < n; i++)
    most = fmax(most, w->term[i]);
  *made = (tm_point_density){-INFINITY, NAN, NAN, 0};
  if (!(most > -INFINITY))
    return;
  for (size_t i = 0; i < n; i++)
    sum += exp(w->term[i] - most);
  double mean = sum / (double)n;
  double *psi = TM_NEW(w->arena, double, n), *tail = TM_NEW(w->arena, double, n);
  for (size_t i = 0; psi && tail && i < n; i++) {
    psi[i] = exp(w->term[i] - most) / mean;
    if (w->term[i] > -INFINITY)
      tail[positive++] = w->term[i];
  }
  made->log_density = most + log(mean);
  made->largest = 1 / sum;
  if (!psi || !tail)
    return;
  made->pareto_k = tm_pareto_shape(tail, positive);
  double se = tm_influence_error(psi, w->draws->chains, w->draws->rows).se;
  made->se = fmax(se, tm_least_se(n));
}

tempera_status tm_point_density_estimate(const tm_point_question *question,
                                         const tm_point_draws *draws,
                                         tm_point_density *density,
                                         tempera_error *error) {
  work w = {.question = question, .draws = draws, .arena = tm_arena_create()};
  if (!w.arena)
    return tm_fail_memory(error);
  tempera_status status = begin(&w, error);
  for (size_t half = 0; half < 2 && status == TEMPERA_OK; half++) {
    status = fit_half(&w, 1 - half, error);
    if (status == TEMPERA_OK)
      fill_terms(&w, half);
  }
  if (status == TEMPERA_OK && question->evaluator->status != TEMPERA_OK) {
    status = question->evaluator->status;
    if (error)
      *error = question->evaluator->error;
  }
  if (status == TEMPERA_OK)
    summarise(&w, density);
  tm_arena_free(w.arena);
  return status;
}
