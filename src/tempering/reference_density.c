/* reference_density.c - see reference_density.h. */
#include "tempering/reference_density.h"

#include "numeric/sums.h"

#include <math.h>
#include <string.h>

/* The wide part: its share, and how much wider than the draws it is. A share
 * so small costs the leg nothing, as it lengthens the barrier by about as
 * much. */
static const double WIDE_SHARE = 0.02, WIDE_SCALE = 2, WIDE_DF = 4;
enum { EVEN_RANGE = 10000 }; /* integer ranges up to this are covered evenly */

static bool make_workspaces(tm_reference_density *q, tm_arena *arena) {
  size_t d = q->fitted.reals;
  q->mean = TM_NEW(arena, double, d);
  q->work = TM_NEW(arena, double, 2 * d + 4); /* one component */
  q->gradient = TM_NEW(arena, double, d);
  return q->mean && q->work && q->gradient;
}

static tempera_status make_wide(tm_reference_density *q, tm_arena *arena,
                                tempera_error *error) {
  size_t d = q->fitted.reals;
  TM_TRY(tm_mixture_create(arena, d, 1, &q->wide, error));
  q->wide.components = 1;
  q->wide.df = WIDE_DF;
  q->wide.log_weight[0] = 0;
  for (size_t i = 0; i < d; i++) /* means are zero already */
    q->wide.factor[i * d + i] = WIDE_SCALE;
  tm_mixture_complete(&q->wide);
  return TEMPERA_OK;
}

/* The sum of fall^k over k = 1 .. steps, which may be infinite. */
static double fall_total(double fall, double steps) {
  if (fall == 1)
    return steps;
  return fall * (1 - pow(fall, steps)) / (1 - fall);
}

static tm_wide_integer spread_integer(const tempera_model *model, size_t j,
                                      const tm_points *u) {
  const tm_block *block = &model->blocks[model->block_of_u[j]];
  tm_wide_integer w = {.lower = block->lower, .upper = block->upper};
  double least = INFINITY, most = -INFINITY;
  for (size_t i = 0; i < u->count; i++) {
    double x = u->values[i * u->dimension + j];
    least = fmin(least, x);
    most = fmax(most, x);
  }
  w.centre = floor((least + most) / 2);
  bool even = w.upper - w.lower < EVEN_RANGE;
  w.fall = even ? 1 : 1 - 1 / (2 + 2 * (most - least));
  w.log_total = log(1 + fall_total(w.fall, w.centre - w.lower) +
                    fall_total(w.fall, w.upper - w.centre));
  return w;
}

tempera_status tm_reference_density_fit(const tempera_model *model,
                                        const tm_points *u,
                                        size_t most_components,
                                        tempera_random *random, tm_arena *arena,
                                        tm_reference_density *density,
                                        tempera_error *error) {
  tm_reference_density made = {0};
  const tm_fitted_settings settings = {.most = most_components, .round = true};
  TM_TRY(
      tm_fitted_fit(model, u, &settings, random, arena, &made.fitted, error));
  TM_TRY(make_wide(&made, arena, error));
  made.integers = TM_NEW(arena, tm_wide_integer, made.fitted.integers);
  if (!made.integers || !make_workspaces(&made, arena))
    return tm_fail_memory(error);
  for (size_t i = 0; i < made.fitted.integers; i++)
    made.integers[i] = spread_integer(model, made.fitted.integer[i], u);
  *density = made;
  return TEMPERA_OK;
}

tempera_status tm_reference_density_make_room(const tempera_model *model,
                                              tm_arena *arena,
                                              tm_reference_density *room,
                                              tempera_error *error) {
  *room = (tm_reference_density){0};
  TM_TRY(tm_fitted_make_room(model, arena, &room->fitted, error));
  return make_workspaces(room, arena) ? TEMPERA_OK : tm_fail_memory(error);
}

void tm_reference_density_share(const tm_reference_density *from,
                                tm_reference_density *room) {
  tm_fitted_share(&from->fitted, &room->fitted);
  room->wide = from->wide;
  room->integers = from->integers;
}

/* ---- The wide part ---- */

static double log_integers(const tm_reference_density *q, const double *u) {
  double sum = 0;
  for (size_t i = 0; i < q->fitted.integers; i++) {
    const tm_wide_integer *w = &q->integers[i];
    double x = u[q->fitted.integer[i]];
    if (x < w->lower || x > w->upper)
      return -INFINITY;
    sum += fabs(x - w->centre) * log(w->fall) - w->log_total;
  }
  return sum;
}

static void gather_reals(const tm_reference_density *q, const double *u) {
  for (size_t i = 0; i < q->fitted.reals; i++)
    q->mean[i] = u[q->fitted.real[i]];
}

static double log_wide(const tm_reference_density *q, const double *u) {
  double log_mass = log(WIDE_SHARE) + log_integers(q, u);
  gather_reals(q, u);
  return q->fitted.reals && log_mass > -INFINITY
             ? log_mass + tm_mixture_log_density(&q->wide, q->mean, q->work)
             : log_mass;
}

/* By inversion on each side of the centre. */
static double draw_integer(const tm_wide_integer *w, tempera_random *random) {
  double total = exp(w->log_total), left = total * tm_random_uniform(random);
  double below = fall_total(w->fall, w->centre - w->lower);
  if (left < 1)
    return w->centre;
  left -= 1;
  double sign = left < below ? -1 : 1;
  left = sign < 0 ? left : left - below;
  double steps = w->fall == 1
                     ? left
                     : log1p(-left * (1 - w->fall) / w->fall) / log(w->fall);
  double x = w->centre + sign * (1 + floor(steps));
  return fmin(fmax(x, w->lower), w->upper); /* but for rounding */
}

static void draw_wide(const tm_reference_density *q, tempera_random *random,
                      double *u) {
  for (size_t i = 0; i < q->fitted.integers; i++)
    u[q->fitted.integer[i]] = draw_integer(&q->integers[i], random);
  if (!q->fitted.reals)
    return;
  tm_mixture_draw(&q->wide, random, q->mean);
  for (size_t i = 0; i < q->fitted.reals; i++)
    u[q->fitted.real[i]] = q->mean[i];
}

/* ---- Both ---- */

static double log_fitted(const tm_reference_density *q, const double *u) {
  return log1p(-WIDE_SHARE) + tm_fitted_log_density(&q->fitted, u);
}

double tm_reference_density_log(const tm_reference_density *density,
                                const double *u) {
  return tm_log_add(log_fitted(density, u), log_wide(density, u));
}

double tm_reference_density_excess(const tm_reference_density *density,
                                   const double *u, double log_q) {
  double wide = exp(fmin(log_wide(density, u) - log_q, 0));
  return (WIDE_SHARE - wide) / (1 - WIDE_SHARE);
}

double tm_reference_density_gradient(const tm_reference_density *density,
                                     const double *u, double *gradient) {
  const tm_reference_density *q = density;
  double fitted =
      log1p(-WIDE_SHARE) + tm_fitted_gradient(&q->fitted, u, gradient);
  double wide = log_wide(q, u), total = tm_log_add(fitted, wide);
  if (total == -INFINITY || !q->fitted.reals)
    return total;
  tm_mixture_gradient(&q->wide, q->mean, q->work, q->gradient);
  double share = exp(wide - total);
  for (size_t i = 0; i < q->fitted.reals; i++) {
    double *slope = &gradient[q->fitted.real[i]];
    *slope = (1 - share) * *slope + share * q->gradient[i];
  }
  return total;
}

void tm_reference_density_draw(const tm_reference_density *density,
                               tempera_random *random, double *u) {
  if (tm_random_uniform(random) < WIDE_SHARE)
    draw_wide(density, random, u);
  else
    tm_fitted_draw(&density->fitted, random, u);
}

tm_normal tm_reference_density_condition(const tm_reference_density *density,
                                         const double *u,
                                         tempera_random *random) {
  const tm_reference_density *q = density;
  double fitted = log_fitted(q, u), wide = log_wide(q, u);
  if (tm_random_uniform(random) >= exp(wide - tm_log_add(fitted, wide)))
    return tm_fitted_condition(&q->fitted, u, random, q->mean);
  tm_normal normal = {q->mean, q->wide.factor, 1};
  tm_mixture_condition(&q->wide, q->mean, random, q->work, &normal.stretch);
  memset(q->mean, 0, q->fitted.reals * sizeof(double));
  return normal;
}
