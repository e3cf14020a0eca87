/* point_density.c - see point_density.h. The mixture is over (n, x, psi) in
 * this order, n the integers, which stay what they are: so z, the whitened
 * values of a row, has those of x given n in the middle, and a shift along the
 * regression leaves the last ones as they are. */
#include "estimate/answers/point_density.h"

#include "estimate/evidence/evidence.h"
#include "numeric/mixture.h"
#include "numeric/pareto.h"

#include <math.h>
#include <string.h>

enum { MOST_COMPONENTS = 6, FEWEST_COUNTED = 40 };
/* Where f falls faster than any Gaussian (a rate on the log scale) the ratio
 * w/f would have no variance: w is cut off at CUT of its standard deviations,
 * and is a density still. Parts below LEAST are left out: at most so much of
 * the density is lost with them. */
static const double CUT = 2, LEAST = 1e-6;

typedef struct work {
  const tm_point_question *question;
  const tm_point_draws *draws;
  tm_arena *arena;
  size_t dimension, integers, *order; /* n's coordinates, x's, psi's */
  tm_mixture mixture;                 /* fitted */
  double *row, *moved, *z, *room;
  tm_point point;
  double *term; /* log, one for each draw */
} work;

static bool is_integer(const tempera_model *model, size_t coordinate) {
  for (size_t b = 0; b < model->block_count; b++) {
    const tm_block *block = &model->blocks[b];
    if (block->kind == TEMPERA_INTEGER && coordinate >= block->u &&
        coordinate < block->u + block->theta_count)
      return true;
  }
  return false;
}

static bool is_fixed(const tm_point_question *q, size_t coordinate) {
  for (size_t k = 0; k < q->count; k++)
    if (q->coordinate[k] == coordinate)
      return true;
  return false;
}

static tempera_status begin(work *w, tempera_error *error) {
  const tm_point_question *q = w->question;
  const tempera_model *model = q->evaluator->model;
  size_t d = w->dimension = model->dimension, n = 0;
  w->order = TM_NEW(w->arena, size_t, d);
  w->row = TM_NEW(w->arena, double, d);
  w->moved = TM_NEW(w->arena, double, d);
  w->z = TM_NEW(w->arena, double, d);
  w->room = TM_NEW(w->arena, double, d + MOST_COMPONENTS);
  w->term = TM_NEW(w->arena, double, w->draws->chains * w->draws->rows);
  if (!w->order || !w->row || !w->moved || !w->z || !w->room || !w->term)
    return tm_fail_memory(error);
  for (size_t j = 0; j < d; j++)
    if (is_integer(model, j))
      w->order[n++] = j;
  w->integers = n;
  for (size_t k = 0; k < q->count; k++)
    w->order[n++] = q->coordinate[k];
  for (size_t j = 0; j < d; j++)
    if (!is_integer(model, j) && !is_fixed(q, j))
      w->order[n++] = j;
  return tm_point_create(model, w->arena, &w->point, error);
}

static const double *row_of(const work *w, size_t i) {
  return w->draws->u + i * w->dimension;
}

static bool in_half(const work *w, size_t i, size_t half) {
  return (i % w->draws->rows >= w->draws->rows / 2) == (half == 1);
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
  return tm_mixture_fit(&points, &settings, &random, w->arena, &w->mixture,
                        error);
}

/* log f(x0, psi'), psi' in w->moved; -infinity where the conditions fail. */
static double moved_density(work *w) {
  const tm_point_question *q = w->question;
  for (size_t j = 0; j < w->dimension; j++)
    w->point.u[w->order[j]] = w->moved[j];
  q->evaluate(q->evaluator, &w->point);
  double f = (q->likelihood ? w->point.log_likelihood : 0) +
             w->point.log_prior + w->point.log_jacobian;
  return isnan(f) || !q->counts(&w->point, q->context) ? -INFINITY : f;
}

/* By component k: log w of the row's x given n, -infinity where it is cut off;
 * and the row moved to x0. */
static double move_row(work *w, size_t k) {
  const tm_mixture *m = &w->mixture;
  size_t d = w->dimension, first = w->integers;
  size_t last = first + w->question->count;
  const double *mean = m->mean + k * d, *factor = m->factor + k * d * d;
  const double *inverse = m->inverse + k * d * d;
  double log_w = 0;
  for (size_t i = 0; i < d; i++) {
    w->z[i] = 0;
    for (size_t j = 0; j <= i; j++)
      w->z[i] += inverse[i * d + j] * (w->row[j] - mean[j]);
    if (i < first || i >= last)
      continue;
    if (!(fabs(w->z[i]) < CUT))
      return -INFINITY;
    log_w -= w->z[i] * w->z[i] / 2 + log(factor[i * d + i]) +
             log(2 * M_PI) / 2 + log(erf(CUT / M_SQRT2));
  }
  memcpy(w->moved, w->row, d * sizeof *w->row);
  for (size_t i = first; i < last; i++) {
    double rest = w->moved[i] = w->question->at[i - first];
    for (size_t j = 0; j < i; j++)
      rest -= factor[i * d + j] * w->z[j];
    double z = (rest - mean[i]) / factor[i * d + i], shift = z - w->z[i];
    for (size_t j = last; j < d; j++)
      w->moved[j] += factor[j * d + i] * shift;
    w->z[i] = z;
  }
  return log_w;
}

/* The part of the density at the moved row that is component k's. */
static double log_part(work *w, size_t k) {
  const tm_mixture *m = &w->mixture;
  size_t d = w->dimension;
  double own = 0;
  for (size_t i = 0; i < d; i++) {
    double z = 0;
    for (size_t j = 0; j <= i; j++)
      z += m->inverse[(k * d + i) * d + j] * (w->moved[j] - m->mean[k * d + j]);
    own += z * z;
  }
  double all = tm_mixture_log_density(m, w->moved, w->room);
  return m->log_weight[k] + m->log_norm[k] - own / 2 - all;
}

/* The log of the sum over components. */
static double log_term(work *w, size_t i) {
  double part[MOST_COMPONENTS], most = -INFINITY, sum = 0;
  for (size_t j = 0; j < w->dimension; j++)
    w->row[j] = row_of(w, i)[w->order[j]];
  for (size_t k = 0; k < w->mixture.components; k++) {
    double log_w = move_row(w, k);
    double share = log_w > -INFINITY ? log_part(w, k) : -INFINITY;
    part[k] = share > log(LEAST)
                  ? log_w + share + moved_density(w) - w->draws->log_density[i]
                  : -INFINITY;
    part[k] = isnan(part[k]) ? -INFINITY : part[k];
    most = fmax(most, part[k]);
  }
  for (size_t k = 0; k < w->mixture.components && most > -INFINITY; k++)
    sum += exp(part[k] - most);
  return most + (sum > 0 ? log(sum) : 0);
}

static void fill_terms(work *w, size_t half) {
  size_t count = w->draws->chains * w->draws->rows;
  for (size_t i = 0; i < count; i++)
    if (in_half(w, i, half))
      w->term[i] = log_term(w, i);
}

static void summarise(work *w, tm_point_density *made) {
  size_t n = w->draws->chains * w->draws->rows, positive = 0;
  double most = -INFINITY, sum = 0, squares = 0;
  for (size_t i = 0; i < n; i++)
    most = fmax(most, w->term[i]);
  *made = (tm_point_density){-INFINITY, NAN, NAN, 0, 0};
  if (!(most > -INFINITY))
    return;
  for (size_t i = 0; i < n; i++) {
    sum += exp(w->term[i] - most);
    squares += exp(2 * (w->term[i] - most));
  }
  double mean = sum / (double)n;
  double *psi = TM_NEW(w->arena, double, n),
         *tail = TM_NEW(w->arena, double, n);
  for (size_t i = 0; psi && tail && i < n; i++) {
    psi[i] = exp(w->term[i] - most) / mean;
    if (w->term[i] > -INFINITY)
      tail[positive++] = w->term[i];
  }
  made->log_density = most + log(mean);
  made->largest = 1 / sum;
  made->effective = sum * sum / squares;
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
  if (status == TEMPERA_OK)
    status = tm_evaluator_check(question->evaluator, error);
  if (status == TEMPERA_OK)
    summarise(&w, density);
  tm_arena_free(w.arena);
  return status;
}
