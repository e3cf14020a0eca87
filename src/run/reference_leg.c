/* reference_leg.c - see reference_leg.h. */
#include "run/reference_leg.h"

#include "estimate/estimate.h"
#include "groups/pair.h"
#include "model/batch.h"
#include "numeric/sums.h"
#include "parallel/ranks.h"
#include "run/sampler.h"

#include <math.h>
#include <string.h>

enum {
  MOST_ROWS = 16000, /* target draws remembered in warmup, over all chains */
  MOST_FITTED = 6000,
  EARLY_FITTED = 2000,
  LOOKS = 100,      /* draws of q per chain, for the first curve */
  MOST_ENDS = 4000, /* target draws for it */
  POINTS = 65,      /* of the first curve */
  STEPS = 60,       /* of the bridge's iteration */
  WALKED = 100,     /* round trips of a round in which the leg works */
  DRAWS_PER_COORDINATE = 20,
  QUICK = 10
};
static const double ATOM = 0.2; /* mass at tau = 0 */
/* Draws that came before this share of the sweeps done are forgotten. */
static const double FORGOTTEN = 1. / 3;
static const double NEGLIGIBLE =
    3; /* nats by which a mode's mass is below all */

static tm_pair *pair_of(const tempera_sampler *s, size_t chain) {
  return (tm_pair *)s->groups[chain];
}

/* ------------------------------------------------------------------------
 * Target draws of the warmup
 */

static tempera_status make_leg(tempera_sampler *s, size_t stride, size_t rows,
                               tempera_error *error) {
  tm_reference_leg *leg = s->leg = tm_heap_alloc(1, sizeof *leg);
  if (!leg)
    return tm_fail_memory(error);
  leg->stride = stride;
  leg->rows = rows;
  size_t all = s->options.chains * rows;
  leg->u = tm_heap_large(all * s->model->dimension, sizeof(double));
  leg->log_density = tm_heap_alloc(all, sizeof(double));
  if (!leg->u || !leg->log_density)
    return tm_fail_memory(error);
  TM_TRY(tm_round_create(s, &leg->round_draws, error));
  leg->round_draws->tau_min = 0;
  return tm_reference_create(s->model, &leg->reference, error);
}

tempera_status tm_leg_begin(tempera_sampler *sampler, tempera_error *error) {
  tempera_sampler *s = sampler;
  const tempera_options *o = &s->options;
  if (!o->reference || o->warmup == 0)
    return TEMPERA_OK;
  size_t stride = (o->warmup * o->chains + MOST_ROWS - 1) / MOST_ROWS;
  return make_leg(s, stride, (o->warmup + stride - 1) / stride, error);
}

void tm_leg_free(tm_reference_leg *leg) {
  if (!leg)
    return;
  tm_reference_free(leg->reference);
  tm_learner_free(leg->learner);
  tm_tau_prior_free(&leg->prior);
  tm_draws_free(leg->round_draws);
  tm_heap_free(leg->u);
  tm_heap_free(leg->log_density);
  tm_heap_free(leg->fitted);
  tm_heap_free(leg);
}

void tm_leg_keep(tempera_sampler *sampler, const tm_group *group) {
  const tempera_sampler *s = sampler;
  tm_reference_leg *leg = s->leg;
  size_t index = group->done - 1, n = s->model->dimension;
  for (size_t role = 0; group->leg_rows && role < 2; role++)
    tm_draws_put(leg->round_draws, (tempera_role)role, group->chain,
                 index - s->round_start, NULL, group->leg_rows[role].extra);
  if (index % leg->stride != 0 || index / leg->stride >= leg->rows)
    return; /* the latter in rounds by which warmup was extended */
  const tm_point *target = group->rows[TEMPERA_TARGET]->point;
  size_t row = group->chain * leg->rows + index / leg->stride;
  memcpy(leg->u + row * n, target->u, n * sizeof(double));
  leg->log_density[row] = tm_log_density(target, 1);
}

/* Target draws that were noted up to a sweep. */
static size_t noted(const tm_reference_leg *leg, size_t sweeps) {
  size_t rows = (sweeps + leg->stride - 1) / leg->stride;
  return rows < leg->rows ? rows : leg->rows;
}

void tm_leg_pass(tempera_sampler *sampler, size_t chain, size_t from, size_t to,
                 tm_archive *archive) {
  const tempera_sampler *s = sampler;
  tm_reference_leg *leg = s->leg;
  size_t n = s->model->dimension, start = s->round_start;
  size_t first = noted(leg, from), count = noted(leg, to) - first;
  if (s->groups[chain]->leg_rows)
    tm_draws_archive_chain(leg->round_draws, chain, from - start, to - start,
                           archive);
  first += chain * leg->rows;
  tm_archive_doubles(archive, leg->u + first * n, count * n);
  tm_archive_doubles(archive, leg->log_density + first, count);
}

/* Which of them are in use: rows first, first + step, ... of each chain. */
typedef struct pick {
  size_t first, step, count; /* count: per chain */
} pick;

static pick pick_rows(const tempera_sampler *s, size_t most) {
  const tm_reference_leg *leg = s->leg;
  size_t last = (s->round_end - 1) / leg->stride + 1;
  last = last < leg->rows ? last : leg->rows;
  pick p = {.first = (size_t)(FORGOTTEN * (double)last)};
  size_t rows = last - p.first;
  p.step = (rows * s->options.chains + most - 1) / most;
  p.count = (rows + p.step - 1) / p.step;
  return p;
}

static size_t picked(const tempera_sampler *s, const pick *p, size_t i) {
  return i / p->count * s->leg->rows + p->first + i % p->count * p->step;
}

/* ------------------------------------------------------------------------
 * q
 */

/* Fewer draws than this say nothing of a covariance. */
static size_t fewest_draws(const tempera_model *model) {
  return 2 * model->dimension + 20;
}

/* Gradients of log f at some of the rows, evenly over them: in `made`, with
 * room for both arrays. Rows without a finite one are left out. */
static tempera_status find_slopes(const tempera_model *model,
                                  const tm_points *u, double *made,
                                  size_t wanted, tm_slopes_at *slopes,
                                  tempera_error *error) {
  size_t n = u->dimension;
  double *at = made, *gradient = made + wanted * n,
         *prior = gradient + wanted * n;
  tm_arena *arena = tm_arena_create();
  tm_evaluator evaluator = {0};
  tm_point point;
  tempera_status status = arena ? TEMPERA_OK : tm_fail_memory(error);
  if (status == TEMPERA_OK)
    status = tm_point_create(model, arena, &point, error);
  if (status == TEMPERA_OK)
    status = tm_evaluator_create(model, arena, &evaluator, error);
  bool made_evaluator = status == TEMPERA_OK;
  *slopes = (tm_slopes_at){0, at, gradient};
  for (size_t k = 0; k < wanted && status == TEMPERA_OK; k++) {
    double *g = gradient + slopes->count * n, sum = 0;
    memcpy(point.u, u->values + k * u->count / wanted * n, n * sizeof(double));
    tm_evaluate_gradient(&evaluator, &point, g, prior);
    status = evaluator.status;
    for (size_t j = 0; j < n; j++)
      sum += g[j] += prior[j];
    if (isfinite(sum))
      memcpy(at + slopes->count++ * n, point.u, n * sizeof(double));
  }
  if (made_evaluator && status != TEMPERA_OK && error)
    *error = evaluator.error;
  if (made_evaluator)
    tm_evaluator_release(&evaluator);
  tm_arena_free(arena);
  return status;
}

/* How many: where there are gradients, and no integers. */
static size_t slopes_wanted(const tempera_model *model, size_t rows) {
  size_t wanted = 4 * model->dimension + 20;
  if (!tm_has_gradients(model) || model->real_dimension < model->dimension)
    return 0;
  return wanted < rows ? wanted : rows;
}

/* Are there interchangeable labels whose copies lie apart at tau = 1? (Those of
 * coordinates that are merely alike do not: one mode holds them all.) */
static bool has_copies(const tempera_sampler *s) {
  if (!tm_laplace_present(s->laplace) || !s->store->labels.count)
    return false;
  const tm_laplace_knot *knot = tm_laplace_nearest(s->laplace, 1);
  bool apart = knot->mode_count > 0;
  for (size_t m = 0; m < knot->mode_count; m++) {
    const tm_laplace_mode *mode = &knot->modes[m];
    if (mode->log_weight + mode->log_copies > knot->log_z - NEGLIGIBLE)
      apart = apart && mode->log_copies > s->store->labels.log_factorial / 2;
  }
  return apart;
}

static const tm_labels *labels_of(const tempera_sampler *s) {
  return s->leg->ordered && s->store ? &s->store->labels : NULL;
}

/* Rows of u, their labels put in order. */
static tempera_status order_rows(const tempera_sampler *s, double *rows,
                                 size_t count, tempera_error *error) {
  const tm_labels *labels = labels_of(s);
  size_t bytes = s->model->dimension * sizeof(double);
  tm_arena *arena = labels ? tm_arena_create() : NULL;
  tm_point point, spare;
  if (!labels)
    return TEMPERA_OK;
  tempera_status status = arena ? TEMPERA_OK : tm_fail_memory(error);
  if (status == TEMPERA_OK)
    status = tm_point_create(s->model, arena, &point, error);
  if (status == TEMPERA_OK)
    status = tm_point_create(s->model, arena, &spare, error);
  for (size_t i = 0; i < count && status == TEMPERA_OK; i++) {
    double *row = rows + i * s->model->dimension;
    memcpy(point.u, row, bytes);
    tm_constrain_point(s->model, &point);
    memcpy(row, tm_labels_in_order(s->model, labels, &point, &spare), bytes);
  }
  tm_arena_free(arena);
  return status;
}

/* q from `fitted`, for every group. */
static tempera_status fit_again(tempera_sampler *s, tempera_error *error) {
  tm_reference_leg *leg = s->leg;
  tm_reference_use_labels(leg->reference, labels_of(s));
  size_t n = s->model->dimension;
  tempera_random random = tm_random(s->options.seed, (uint32_t)leg->fitted_at,
                                    TM_PURPOSE_REFERENCE_FIT);
  tm_points u = {leg->fitted_values / n, n, leg->fitted, NULL};
  size_t wanted = slopes_wanted(s->model, u.count);
  double *made = tm_heap_alloc((2 * wanted + 1) * n, sizeof(double));
  if (!made)
    return tm_fail_memory(error);
  tm_slopes_at slopes = {0};
  tempera_status status =
      wanted ? find_slopes(s->model, &u, made, wanted, &slopes, error)
             : TEMPERA_OK;
  if (status == TEMPERA_OK)
    status = tm_reference_fit(leg->reference, &u, &slopes, &random, error);
  tm_heap_free(made);
  for (size_t c = 0; c < s->options.chains && status == TEMPERA_OK; c++)
    status = tm_pair_set_reference(pair_of(s, c), leg->reference,
                                   s->options.seed, error);
  return status;
}

static tempera_status fit(tempera_sampler *s, tempera_error *error) {
  tm_reference_leg *leg = s->leg;
  bool early = 2 * s->round_end < s->options.warmup; /* it will be replaced */
  pick p = pick_rows(s, early ? EARLY_FITTED : MOST_FITTED);
  size_t n = s->model->dimension, count = p.count * s->options.chains;
  double *rows = tm_heap_alloc(count * n, sizeof(double));
  if (!rows)
    return tm_fail_memory(error);
  for (size_t i = 0; i < count; i++)
    memcpy(rows + i * n, leg->u + picked(s, &p, i) * n, n * sizeof(double));
  tm_heap_free(leg->fitted);
  leg->fitted = rows;
  leg->ordered = has_copies(s);
  TM_TRY(order_rows(s, rows, count, error));
  leg->fitted_values = count * n;
  leg->fitted_at = s->round_end;
  for (size_t c = 0; c < s->options.chains; c++)
    tm_pair_save_reference(pair_of(s, c));
  s->groups[0]->evaluator.gradient_evaluations +=
      slopes_wanted(s->model, count); /* on resuming they are counted already */
  return fit_again(s, error);
}

/* ------------------------------------------------------------------------
 * The first curve of log z, from both ends
 */

/* D at draws of q, and at target draws. */
typedef struct ends {
  size_t bottoms, tops;
  double *bottom, *top;
} ends;

typedef struct bottom_looks {
  tempera_sampler *sampler;
  double *values; /* LOOKS of every chain */
} bottom_looks;

static void look_below(size_t chain, void *context) {
  const bottom_looks *l = context;
  tm_reference_walker *w = pair_of(l->sampler, chain)->reference;
  for (size_t i = 0; i < LOOKS; i++) {
    tm_prior_draw(&w->chain.evaluator, &w->stream, &w->spare);
    l->values[chain * LOOKS + i] = w->spare.log_likelihood;
  }
}

static tempera_status look(tempera_sampler *s, ends *e, tempera_error *error) {
  tm_reference_leg *leg = s->leg;
  pick p = pick_rows(s, MOST_ENDS);
  size_t chains = s->options.chains, n = s->model->dimension;
  e->bottoms = chains * LOOKS;
  e->bottom = tm_heap_alloc(e->bottoms, sizeof(double));
  e->top = tm_heap_alloc(chains * p.count, sizeof(double));
  if (!e->bottom || !e->top)
    return tm_fail_memory(error);
  tm_shared_for(chains, tm_model_threads(s->model, s->options.threads),
                look_below, &(bottom_looks){s, e->bottom});
  for (size_t c = 0; c < chains; c++)
    TM_TRY(
        tm_evaluator_check(&pair_of(s, c)->reference->chain.evaluator, error));
  tm_reference_walker *w = pair_of(s, 0)->reference;
  for (size_t i = 0; i < chains * p.count; i++) {
    size_t row = picked(s, &p, i);
    memcpy(w->natural.u, leg->u + row * n, n * sizeof(double));
    tm_constrain_point(s->model, &w->natural);
    w->natural.log_likelihood = leg->log_density[row];
    w->natural.log_prior = w->natural.log_jacobian = 0; /* all in the former */
    tm_reference_enter(&w->chain, &w->natural, &w->spare);
    e->top[e->tops++] = w->spare.log_likelihood;
  }
  return TEMPERA_OK;
}

/* log of the mean of e^{slope x}. */
static double log_mean(const double *x, size_t count, double slope) {
  double most = -INFINITY, sum = 0;
  if (slope == 0)
    return 0;
  for (size_t i = 0; i < count; i++)
    most = fmax(most, slope * x[i]);
  if (!isfinite(most))
    return most;
  for (size_t i = 0; i < count; i++)
    sum += exp(slope * x[i] - most);
  return most + log(sum / (double)count);
}

/* Meng & Wong's iteration for log z(1), from the tops' end. */
static double bridge(const ends *e) {
  double n = (double)e->bottoms, m = (double)e->tops;
  double r = -log_mean(e->top, e->tops, -1);
  for (int k = 0; k < STEPS; k++) {
    double above = -INFINITY, below = -INFINITY;
    for (size_t i = 0; i < e->bottoms; i++)
      above = tm_log_add(
          above, e->bottom[i] - tm_log_add(log(m) + e->bottom[i], log(n) + r));
    for (size_t i = 0; i < e->tops; i++)
      below = tm_log_add(below, -tm_log_add(log(m) + e->top[i], log(n) + r));
    double next = above - log(n) - below + log(m);
    if (!isfinite(next) || fabs(next - r) < 1e-4)
      break;
    r = next;
  }
  return r;
}

static tempera_status start_learner(tempera_sampler *s, tempera_error *error) {
  tm_reference_leg *leg = s->leg;
  ends e = {0};
  tempera_status status = look(s, &e, error);
  if (status == TEMPERA_OK) {
    double r = bridge(&e), tau[POINTS], log_z[POINTS];
    for (size_t k = 0; k < POINTS; k++) {
      double t = tau[k] = (double)k / (POINTS - 1);
      double up = t < 1 ? log_mean(e.bottom, e.bottoms, t) : 0;
      double down = t > 0 ? r + log_mean(e.top, e.tops, t - 1) : 0;
      log_z[k] = isfinite(up) ? (1 - t) * up + t * down : down;
    }
    tm_learner_free(leg->learner);
    leg->learner = NULL;
    status = tm_learner_create(tau, log_z, POINTS, true, &leg->learner, error);
  }
  tm_heap_free(e.bottom);
  tm_heap_free(e.top);
  return status;
}

/* ------------------------------------------------------------------------
 * Rounds
 */

static tempera_status record(const tm_reference_leg *leg, tempera_draws *draws,
                             tempera_error *error) {
  const tm_loglinear *log_prior = &leg->prior.log_prior;
  tm_draws_prior prior = {.knots = log_prior->count,
                          .tau = log_prior->x,
                          .log_prior = log_prior->y,
                          .log_atom = log_prior->log_atom};
  return tm_draws_set_prior(draws, &prior, error);
}

static tempera_status update_prior(tempera_sampler *s, tempera_error *error) {
  tm_reference_leg *leg = s->leg;
  TM_TRY(tm_learner_prior(leg->learner, &leg->prior, error));
  leg->prior.log_prior.log_atom +=
      log(ATOM / (1 - ATOM)) - log(TM_ATOM / (1 - TM_ATOM));
  for (size_t c = 0; c < s->options.chains; c++)
    TM_TRY(tm_pair_set_reference_prior(pair_of(s, c), &leg->prior, error));
  return TEMPERA_OK;
}

tempera_status tm_leg_count_trips(tempera_sampler *sampler,
                                  tempera_error *error) {
  const tempera_sampler *s = sampler;
  tm_reference_leg *leg = s->leg;
  size_t restarts;
  if (!leg)
    return TEMPERA_OK;
  leg->trips = 0;
  if (!leg->walking)
    return TEMPERA_OK;
  TM_TRY(record(leg, leg->round_draws, error));
  leg->round_draws->count = s->round_end - s->round_start;
  return tm_estimate_round_trips(leg->round_draws, &leg->trips, &restarts,
                                 error);
}

/* A q with draws enough behind it, or one that needs no more: a round trip in
 * ten sweeps. */
bool tm_leg_settled(const tempera_sampler *sampler) {
  const tempera_sampler *s = sampler;
  size_t trips = s->leg->trips, chains = s->options.chains;
  pick p = pick_rows(s, SIZE_MAX / chains);
  bool many = p.count * chains >= DRAWS_PER_COORDINATE * s->model->dimension;
  bool quick = QUICK * trips >= chains * (s->round_end - s->round_start);
  return trips >= WALKED && trips >= 5 * chains && (many || quick);
}

/* The last round learns P(tau) for the q before it; those before it, q. */
tempera_status tm_leg_end_round(tempera_sampler *sampler, bool last,
                                tempera_error *error) {
  tempera_sampler *s = sampler;
  tm_reference_leg *leg = s->leg;
  if (!leg)
    return TEMPERA_OK;
  for (size_t c = 0; c < s->options.chains && leg->walking; c++)
    tm_kernel_end_round(pair_of(s, c)->reference->kernel);
  tm_warmup_consider_end(s, last);
  pick p = pick_rows(s, MOST_FITTED);
  bool fitting = !last || !leg->walking;
  if (fitting && p.count * s->options.chains < fewest_draws(s->model))
    return TEMPERA_OK;
  if (fitting) {
    TM_TRY(fit(s, error));
    TM_TRY(start_learner(s, error));
  } else {
    TM_TRY(tm_learner_update(leg->learner, leg->round_draws, error));
  }
  leg->walking = true;
  return update_prior(s, error);
}

tempera_status tm_leg_freeze(tempera_sampler *sampler, tempera_error *error) {
  tempera_sampler *s = sampler;
  if (!s->leg || !s->leg->walking)
    return TEMPERA_OK;
  for (size_t c = 0; c < s->options.chains; c++)
    tm_kernel_freeze(pair_of(s, c)->reference->kernel);
  return record(s->leg, s->reference, error);
}

tm_leg_cost tm_leg_cost_of(const tempera_sampler *sampler) {
  const tempera_sampler *s = sampler;
  tm_leg_cost cost = {0};
  for (size_t c = 0; c < s->options.chains && s->leg && s->leg->walking; c++) {
    const tm_evaluator *e = pair_of(s, c)->reference->chain.inner;
    cost.likelihood_evaluations += e->likelihood_evaluations;
    cost.gradient_evaluations += e->gradient_evaluations;
    cost.seconds += e->seconds;
  }
  return cost;
}

/* ------------------------------------------------------------------------
 * Its state
 */

/* What the warmup still needs: its target draws, and those of this round. */
static void archive_rows(tempera_sampler *s, tm_archive *archive) {
  tm_reference_leg *leg = s->leg;
  size_t done = s->saved_at, n = s->model->dimension;
  size_t rows = done ? (done - 1) / leg->stride + 1 : 0;
  if (done >= s->options.warmup)
    return;
  rows = rows < leg->rows ? rows : leg->rows;
  for (size_t c = 0; c < s->options.chains; c++) {
    tm_archive_doubles(archive, leg->u + c * leg->rows * n, rows * n);
    tm_archive_doubles(archive, leg->log_density + c * leg->rows, rows);
  }
  if (leg->walking)
    tm_draws_archive_rows(leg->round_draws, 0, done - s->round_start, archive);
}

static tempera_status take_up(tempera_sampler *s, tm_archive *archive,
                              tempera_error *error) {
  tm_reference_leg *leg = s->leg;
  bool enough = leg->learner && leg->fitted_values >= s->model->dimension;
  if (!tm_archive_fine(archive) || !leg->walking)
    return TEMPERA_OK;
  if (!enough || s->options.method != TEMPERA_PT_STWNC) {
    tm_archive_fail(archive, "the reference leg has nothing to start from");
    return TEMPERA_OK;
  }
  TM_TRY(fit_again(s, error));
  return update_prior(s, error);
}

tempera_status tm_leg_archive(tempera_sampler *sampler, tm_archive *archive,
                              tempera_error *error) {
  tempera_sampler *s = sampler;
  bool there = s->leg != NULL;
  size_t stride = there ? s->leg->stride : 1, rows = there ? s->leg->rows : 0;
  tm_archive_tag(archive, "reference leg");
  tm_archive_bool(archive, &there);
  tm_archive_count(archive, &stride, SIZE_MAX / 2);
  tm_archive_count(archive, &rows, MOST_ROWS);
  if (!there || !tm_archive_fine(archive))
    return TEMPERA_OK;
  if (archive->reading)
    TM_TRY(make_leg(s, stride ? stride : 1, rows, error));
  tm_reference_leg *leg = s->leg;
  tm_archive_bool(archive, &leg->walking);
  tm_archive_bool(archive, &leg->ordered);
  tm_archive_grown(archive, &leg->fitted, &leg->fitted_values,
                   SIZE_MAX / sizeof(double) - 1);
  tm_archive_size(archive, &leg->fitted_at);
  tm_archive_size(archive, &leg->trips);
  tm_learner_archive(&leg->learner, archive);
  archive_rows(s, archive);
  return archive->reading ? take_up(s, archive, error) : TEMPERA_OK;
}
