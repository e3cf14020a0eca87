/* search.c - how much of a run goes into looking for basins, and what came of
 * it: what was searched, and which basins that matter no draw has visited. */
#include "run/sampler.h"

#include "base/locale.h"
#include "estimate/estimate.h"
#include "estimate/findings.h"
#include "numeric/dense.h"

#include <math.h>
#include <string.h>

/* Of the evaluations that sweeps take, counted: the search grows with the run,
 * and with it the cheapness of the model. */
static const double SHARE = 0.08;
enum { AHEAD = 6000 }; /* sweeps that most runs of automatic length have */
static const double MOST_AHEAD = 5;

double tm_sampler_swept(const tempera_sampler *sampler) {
  double sum = 0;
  for (size_t c = 0; c < sampler->options.chains; c++) {
    tm_group_cost cost = tm_group_cost_of(sampler->groups[c]);
    sum += (double)(cost.likelihood_evaluations + cost.gradient_evaluations);
  }
  return sum;
}

/* In warmup, where a basin can still be put to use, what the sweeps to come
 * will allow is spent beforehand: half of it at once. */
static uint64_t allowance(const tempera_sampler *s) {
  double done = (double)tm_sweeps_done(s), warmup = (double)s->options.warmup;
  double ahead = fmin(2 * warmup, AHEAD); /* by default, they are the number
                                             of iterations */
  double sweeps = done;
  if (done < warmup)
    sweeps = (warmup + ahead) * (0.5 + 0.5 * done / warmup);
  double swept = tm_sampler_swept(s);
  double whole = swept * fmax(sweeps, done) / fmax(done, 1);
  /* A run that takes many evaluations may end early (stopping.c). */
  double due = SHARE * fmin(whole, fmax(swept, MOST_AHEAD * TM_DEAR));
  double spent = (double)s->store->searched;
  return due > spent ? (uint64_t)(due - spent) : 0;
}

/* Where the work of an evaluation is known, the first search looks at as many
 * points more as take some 35 milliseconds: about 0.6 ns for each number
 * that is read or written, and what BESIDE numbers take for the look itself. By
 * that count, not by a clock: runs can be repeated. */
static const double WORK = 6e7, BESIDE = 800, FEWEST_LOOKS = 1000;

static uint64_t cheap_looks(const tempera_sampler *s, double *theta) {
  const tempera_model *model = s->model;
  void *user = s->store->climbers[0].evaluator->user;
  if (!model->work || !tm_laplace_basins(s->laplace) || s->store->looked > 0)
    return 0;
  tm_constrain(model, tm_laplace_basin(s->laplace, 0)->u, theta, NULL);
  double looks = WORK / (BESIDE + model->work(theta, user));
  return looks >= FEWEST_LOOKS ? (uint64_t)looks : 0;
}

/* Calls in a sweep of a chain: a thousand walkers with a hundred each. */
static const double MOST_EACH = 1e5;

bool tm_search_possible(const tempera_sampler *s, const tm_deed *deed) {
  double swept = MOST_EACH * (double)s->saved_at * (double)s->options.chains;
  return (double)deed->looks <= WORK / BESIDE &&
         (double)deed->evaluations <= SHARE * fmax(swept, MOST_AHEAD * TM_DEAR);
}

tempera_status tm_landscape_search(tempera_sampler *s, const double *points,
                                   size_t count, tempera_error *error) {
  if (!tm_laplace_present(s->laplace))
    return TEMPERA_OK;
  double *theta = tm_heap_alloc(s->model->size + 1, sizeof(double));
  if (!theta)
    return tm_fail_memory(error);
  tm_deed search = {TM_DO_SEARCH, cheap_looks(s, theta), allowance(s), count,
                    points};
  tm_heap_free(theta);
  return tm_landscape_do(s, &search, error);
}

/* ---- what came of it */

/* A basin's Laplace mass may be off by some, and one that holds less than this
 * of the posterior moves log Z by less than its error. With the 400 effective
 * draws that a reliable run has, a basin that holds it is missed by chance once
 * in exp(400 x .02) = 3000 runs. */
static const double MATTERS = 0.02;
enum { MOST_ROWS = 4000 }; /* of a chain that are looked at */

/* Does this draw lie in the basin? */
static bool is_in(const tempera_sampler *s, size_t chain, size_t row,
                  size_t basin, double *theta) {
  tm_draws_take(s->draws, TEMPERA_TARGET, chain, row, s->model->size, theta);
  return tm_laplace_visited(s->laplace, basin, theta);
}

static bool visited(const tempera_sampler *s, size_t basin, double *theta) {
  size_t rows = tempera_draws_rows(s->draws, TEMPERA_TARGET);
  size_t stride = (rows + MOST_ROWS - 1) / MOST_ROWS;
  for (size_t i = 0; i < rows; i += stride)
    for (size_t c = 0; c < s->options.chains; c++)
      if (is_in(s, c, i, basin, theta))
        return true;
  return false;
}

/* A finding about a basin, which says where it is: its first values, by name.
 */
static tempera_status find_at(const tempera_sampler *s, size_t basin,
                              tempera_summary *summary, tm_finding_code code,
                              double value, double limit, double *theta,
                              tempera_error *error) {
  char text[200];
  size_t used = 0, room = sizeof text;
  tm_constrain(s->model, tm_laplace_basin(s->laplace, basin)->u, theta, NULL);
  for (size_t j = 0; j < s->model->size && j < 3 && used < room; j++)
    used += (size_t)tm_snprintf(text + used, room - used, "%s%.40s = %.3g",
                                j ? ", " : "", s->model->names[j], theta[j]);
  if (s->model->size > 3 && used < room)
    tm_snprintf(text + used, room - used, ", ...");
  return tm_find_about(summary, code, 100 * value, 100 * limit, error, "%s",
                       text);
}

static double mass_of(const tm_laplace_mode *mode) {
  return mode->log_weight + mode->log_copies;
}

/* Against the run's own evidence, times the prior's integral, which masses hold
 * too, where that is known; else against the basins visited. A funnel's neck,
 * where the density is highest, holds next to nothing and is no alarm. */
static double visited_mass(const tempera_sampler *s,
                           const tempera_summary *summary, const bool *seen) {
  double top = -INFINITY, sum = 0;
  if (isfinite(summary->log_z) && s->model->spec.prior_normalised)
    return summary->log_z + s->model->spec.prior_log_integral;
  for (size_t m = 0; m < tm_laplace_basins(s->laplace); m++)
    if (seen[m])
      top = fmax(top, mass_of(tm_laplace_basin(s->laplace, m)));
  for (size_t m = 0; m < tm_laplace_basins(s->laplace); m++)
    if (seen[m])
      sum += exp(mass_of(tm_laplace_basin(s->laplace, m)) - top);
  return sum > 0 ? top + log(sum) : NAN;
}

/* ---- is a basin's Laplace mass there?
 *
 * A climb that ended on a slope, or a curvature that changes within the basin
 * (the neck of a funnel), makes it wrong by orders of magnitude. Draws x of the
 * Gaussian g behind it give the mass about the optimum, the mean of f(x)/g(x).
 * What lies between n draws without being hit fills less than LOST/n of g
 * (with 95 %), and holds no more than that of the mass of g, as nothing
 * there is higher than the optimum.
 *
 * Where a neck is narrower than the steps that curvatures are taken by, g is
 * too wide by orders of magnitude, and so is that. An axis of g along which the
 * density falls by more than STEEP on both sides at one sd, where it should by
 * a half, is halved until it does not. */
enum { LOOKS = 1000, MOST_HALVINGS = 60 };
static const double LOST = 3, STEEP = 2;

/* A mode, the axes of g, and where the density was asked last. */
typedef struct around {
  const tempera_sampler *sampler;
  const tm_laplace_mode *mode;
  tm_evaluator evaluator;
  tm_point point;
  double *z, *scale;
  double log_scales; /* the sum of logs */
} around;

/* log of the density at z, in units of the Hessian's axes, over that at the
 * mode. */
static double fall_at(around *a) {
  const tempera_model *model = a->sampler->model;
  size_t k = 0;
  tm_solve_upper(a->mode->factor, model->real_dimension, a->z);
  for (size_t j = 0; j < model->dimension; j++)
    a->point.u[j] = a->mode->u[j] + (model->integer[j] ? 0 : a->z[k++]);
  tm_evaluate(&a->evaluator, &a->point);
  return tm_log_density(&a->point, 1) - a->mode->height;
}

static bool is_steep(around *a, size_t axis, double step) {
  size_t d = a->sampler->model->real_dimension;
  for (int side = 0; side < 2; side++) {
    memset(a->z, 0, d * sizeof(double));
    a->z[axis] = side ? -step : step;
    if (!(fall_at(a) < -STEEP))
      return false;
  }
  return true;
}

static void narrow_axes(around *a) {
  a->log_scales = 0;
  for (size_t i = 0; i < a->sampler->model->real_dimension; i++) {
    a->scale[i] = 1;
    for (int k = 0; k < MOST_HALVINGS && is_steep(a, i, a->scale[i]); k++)
      a->scale[i] /= 2;
    a->log_scales += log(a->scale[i]);
  }
}

/* f/g at a draw of g, as a share of the Laplace mass. */
static double weigh_draw(around *a, tempera_random *random) {
  double square = 0;
  for (size_t i = 0; i < a->sampler->model->real_dimension; i++) {
    a->z[i] = tm_random_normal(random);
    square += a->z[i] * a->z[i];
    a->z[i] *= a->scale[i];
  }
  return exp(fall_at(a) + square / 2 + a->log_scales);
}

/* The mean of f/g, as a share of the Laplace mass, and its error; NaN where it
 * cannot be had. What draws may have missed, likewise. */
typedef struct ratio {
  double mean, se, lost;
} ratio;

static ratio measure(const tempera_sampler *s, size_t basin) {
  tm_arena *arena = tm_arena_create();
  around a = {.sampler = s, .mode = tm_laplace_basin(s->laplace, basin)};
  size_t d = s->model->real_dimension;
  double mean = 0, squares = 0;
  tempera_random random =
      tm_random(s->options.seed, (uint32_t)basin, TM_PURPOSE_EXCURSION);
  a.z = arena ? TM_NEW(arena, double, d + 1) : NULL;
  a.scale = arena ? TM_NEW(arena, double, d + 1) : NULL;
  bool ready =
      a.z && a.scale &&
      tm_evaluator_create(s->model, arena, &a.evaluator, NULL) == TEMPERA_OK &&
      tm_point_create(s->model, arena, &a.point, NULL) == TEMPERA_OK;
  if (ready)
    narrow_axes(&a);
  for (int i = 0; ready && i < LOOKS; i++) {
    double w = weigh_draw(&a, &random);
    mean += w / LOOKS;
    squares += w * w / LOOKS;
  }
  tm_evaluator_release(&a.evaluator);
  tm_arena_free(arena);
  if (!ready || !isfinite(squares))
    return (ratio){NAN, NAN, NAN};
  return (ratio){mean, sqrt(fmax(0, squares - mean * mean) / LOOKS),
                 LOST / LOOKS * exp(a.log_scales)};
}

double tm_landscape_log_confirmed(const tempera_sampler *sampler,
                                  size_t basin) {
  ratio found = measure(sampler, basin);
  return isnan(found.mean) ? 0 : log(fmin(1, fmax(found.mean, found.lost)));
}

static double share_of(double mass, double known) {
  return 1 / (1 + exp(known - mass));
}

static tempera_status report_unvisited(const tempera_sampler *s,
                                       tempera_summary *summary,
                                       const bool *seen, double *theta,
                                       tempera_error *error) {
  double known = visited_mass(s, summary, seen), most = 0;
  size_t count = tm_laplace_basins(s->laplace), worst = count;
  for (size_t m = 0; m < count; m++) {
    const tm_laplace_mode *mode = tm_laplace_basin(s->laplace, m);
    double share = share_of(mass_of(mode), known);
    if (seen[m] || mode->indefinite || mode->edge || !(share > most))
      continue;
    if (share > MATTERS)
      share = share_of(mass_of(mode) + tm_landscape_log_confirmed(s, m), known);
    if (!(share > most))
      continue;
    most = share;
    worst = m;
  }
  if (worst == count || !(most > MATTERS))
    return TEMPERA_OK;
  double reach = log1p(most / (1 - most));
  if (!isfinite(reach)) /* it outweighs all that was seen by far */
    reach = mass_of(tm_laplace_basin(s->laplace, worst)) - known;
  TM_TRY(tm_estimates_reach(summary, reach,
                            "a basin that was found and not visited may hold "
                            "more than all that was",
                            error));
  return find_at(s, worst, summary, TM_FIND_UNVISITED_BASIN, most, MATTERS,
                 theta, error);
}

/* ---- basins that are visited too seldom
 *
 * A needle that a chain meets by chance now and then, and stays in, has draws,
 * but not its share of them. The mass about its optimum is known by itself
 * (above), so that the share that it should have is. Alarm where that is more
 * than the share of the draws about the optimum by what MATTERS, four errors of
 * it and four of the draws', of which a reliable run has 400 in effect. */
static const double EFFECTIVE = 400;
enum { MOST_COUNTED = 1000 }; /* of a chain's draws */

static double share_of_draws(const tempera_sampler *s, size_t basin,
                             double *theta) {
  size_t rows = tempera_draws_rows(s->draws, TEMPERA_TARGET);
  size_t stride = (rows + MOST_COUNTED - 1) / MOST_COUNTED, all = 0, in = 0;
  for (size_t i = 0; i < rows; i += stride)
    for (size_t c = 0; c < s->options.chains; c++, all++)
      in += is_in(s, c, i, basin, theta);
  return (double)in / (double)all;
}

/* How much larger its share should be, beyond what chance allows; and both. */
static double lacking(const tempera_sampler *s, size_t basin,
                      const tempera_summary *summary, double *theta,
                      double *due, double *got) {
  double known = summary->log_z + s->model->spec.prior_log_integral;
  const tm_laplace_mode *mode = tm_laplace_basin(s->laplace, basin);
  double laplace = exp(mass_of(mode) - known);
  if (mode->indefinite || mode->edge || !(laplace > MATTERS))
    return 0;
  *got = share_of_draws(s, basin, theta);
  double chance = *got * (1 - *got) / EFFECTIVE;
  if (!(laplace - *got > MATTERS + 4 * sqrt(chance)))
    return 0;
  ratio found = measure(s, basin);
  *due = fmin(1, laplace * found.mean); /* log Z may be too low by chance */
  return *due - *got - MATTERS - 4 * hypot(sqrt(chance), laplace * found.se);
}

static tempera_status report_seldom(const tempera_sampler *s,
                                    tempera_summary *summary, const bool *seen,
                                    double *theta, tempera_error *error) {
  if (!isfinite(summary->log_z) || !s->model->spec.prior_normalised)
    return TEMPERA_OK;
  for (size_t m = 0; m < tm_laplace_basins(s->laplace); m++) {
    double due = 0, got = 0;
    if (!seen[m] || !(lacking(s, m, summary, theta, &due, &got) > 0))
      continue;
    TM_TRY(tm_estimates_reach(summary, log1p(due),
                              "a basin has too few of the draws", error));
    return find_at(s, m, summary, TM_FIND_SELDOM_BASIN, got, due, theta, error);
  }
  return TEMPERA_OK;
}

tempera_status tm_landscape_describe(const tempera_sampler *s,
                                     tempera_summary *summary,
                                     tempera_error *error) {
  if (!tm_laplace_present(s->laplace))
    return TEMPERA_OK;
  size_t count = tm_laplace_basins(s->laplace);
  summary->search_starts = (size_t)s->store->tried;
  summary->search_basins = count;
  if (!s->draws->has_role[TEMPERA_TARGET] || s->draws->count == 0)
    return TEMPERA_OK;
  double *theta = tm_heap_alloc(s->model->size, sizeof(double));
  bool *seen = tm_heap_alloc(count + 1, sizeof(bool));
  tempera_status status = TEMPERA_OK;
  for (size_t m = 0; m < count && theta && seen; m++)
    seen[m] = visited(s, m, theta);
  if (theta && seen)
    status = report_unvisited(s, summary, seen, theta, error);
  else
    status = tm_fail_memory(error);
  if (status == TEMPERA_OK)
    status = report_seldom(s, summary, seen, theta, error);
  tm_heap_free(theta);
  tm_heap_free(seen);
  return status;
}
