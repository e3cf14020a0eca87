/* ridge_search.c - the local optimum of tau*l + log pi at one tau from one
 * start, integers fixed (method 2 and 4.1).
 *
 * The density is the natural-scale one, without Jacobian, but the search
 * moves over the unconstrained coordinates: the maximum is the same, the
 * scaling far better, and an optimum on a bound lies at the far end of a box
 * with a converging value. A density that still grows there is unbounded. */
#include "tempering/ridge_parts.h"

#include "base/locale.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* exp(-60) is a bound for all purposes; 1 - exp(-60) is one exactly. */
static const double BOX = 60, WIDE_BOX = 1e10;
static const double CONVERGED = 1e-7; /* gain of a restart, in nats */
enum { RESTARTS = 60, RUN_EVALUATIONS = 20000, DENSE = 100 };

static bool is_transformed(const tempera_model *model, size_t j) {
  const tm_block *block = &model->blocks[model->block_of_u[j]];
  return isfinite(block->lower) || isfinite(block->upper);
}

/* A quarter of the spread of the starts, where there are enough of them. */
static double first_step(const tm_search_frame *frame, size_t k,
                         bool transformed, size_t start_count) {
  double low = frame->start_low[k], high = frame->start_high[k];
  double usual = transformed ? 0.5 : 0.1 * fmax(1, fabs(high));
  if (start_count < 4 || !(high > low))
    return usual;
  double spread = (high - low) / 8;
  return transformed ? fmax(0.05, fmin(1, spread)) : spread;
}

static void frame_coordinate(const tempera_model *model,
                             const tm_optimum *starts, size_t start_count,
                             tm_search_frame *frame, size_t k) {
  size_t j = frame->real[k];
  bool transformed = is_transformed(model, j);
  double box = transformed ? BOX : WIDE_BOX;
  frame->lower[k] = -box;
  frame->upper[k] = box;
  frame->start_low[k] = INFINITY;
  frame->start_high[k] = -INFINITY;
  for (size_t i = 0; i < start_count; i++) {
    frame->start_low[k] = fmin(frame->start_low[k], starts[i].u[j]);
    frame->start_high[k] = fmax(frame->start_high[k], starts[i].u[j]);
  }
  frame->step[k] = first_step(frame, k, transformed, start_count);
  frame->apart[k] = transformed ? 1 : 2 * frame->step[k];
}

tempera_status tm_search_frame_create(const tempera_model *model,
                                      const tm_optimum *starts,
                                      size_t start_count, tm_arena *arena,
                                      tm_search_frame *frame,
                                      tempera_error *error) {
  size_t n = model->real_dimension;
  double *room = TM_NEW(arena, double, 6 * n + 1);
  frame->real = TM_NEW(arena, size_t, n + 1);
  if (!room || !frame->real)
    return tm_fail_memory(error);
  frame->reals = n;
  frame->lower = room;
  frame->upper = room + n;
  frame->start_low = room + 2 * n;
  frame->start_high = room + 3 * n;
  frame->step = room + 4 * n;
  frame->apart = room + 5 * n;
  for (size_t j = 0, k = 0; j < model->dimension; j++)
    if (!model->integer[j])
      frame->real[k++] = j;
  for (size_t k = 0; k < n; k++)
    frame_coordinate(model, starts, start_count, frame, k);
  return TEMPERA_OK;
}

static tempera_status create_optimisers(tm_search *search,
                                        tempera_error *error) {
  const tm_search_frame *frame = search->frame;
  tm_optimiser_settings settings = {.dimension = frame->reals,
                                    .lower = frame->lower,
                                    .upper = frame->upper,
                                    .tolerance = CONVERGED / 10,
                                    .evaluations = RUN_EVALUATIONS};
  TM_TRY(tm_optimiser_create(&settings, &search->simplex, error));
  if (!tm_has_gradients(search->model))
    return TEMPERA_OK;
  settings.method = TM_OPTIMISER_LBFGS;
  TM_TRY(tm_optimiser_create(&settings, &search->lbfgs, error));
  /* SLSQP keeps a dense matrix; in many dimensions L-BFGS checks itself. */
  if (frame->reals <= DENSE)
    settings.method = TM_OPTIMISER_SLSQP;
  return tm_optimiser_create(&settings, &search->slsqp, error);
}

tempera_status tm_search_create(const tempera_model *model,
                                const tm_search_frame *frame,
                                bool own_evaluator, tm_arena *arena,
                                tm_search *search, tempera_error *error) {
  *search = (tm_search){.model = model, .frame = frame};
  size_t n = frame->reals;
  double *room = TM_NEW(arena, double, 3 * n + 4 * model->dimension + 1);
  if (!room)
    return tm_fail_memory(error);
  search->x = room;
  search->before = room + n;
  search->step = room + 2 * n;
  search->best.u = room + 3 * n;
  search->gradient = search->best.u + model->dimension;
  TM_TRY(tm_point_create(model, arena, &search->trial, error));
  if (own_evaluator) {
    TM_TRY(tm_evaluator_create(model, arena, &search->own, error));
    search->evaluator = &search->own;
  }
  return create_optimisers(search, error);
}

void tm_search_release(tm_search *search) {
  tm_optimiser_free(search->slsqp);
  tm_optimiser_free(search->lbfgs);
  tm_optimiser_free(search->simplex);
  tm_evaluator_release(&search->own);
  *search = (tm_search){0};
}

/* A search goes where no chain goes: NaN out there is density zero, +infinity
 * is noted (it means an unbounded density), and only "stop" ends it. */
static void forgive(tm_search *search) {
  tm_evaluator *evaluator = search->evaluator;
  if (evaluator->status == TEMPERA_OK)
    return;
  if (evaluator->failure == TM_FAILURE_STOP) {
    if (search->running)
      tm_optimiser_stop(search->running);
    return;
  }
  if (evaluator->failure == TM_FAILURE_INFINITE && !search->infinite) {
    search->infinite = true;
    snprintf(search->trouble, sizeof search->trouble, "%.250s",
             evaluator->error.message);
  }
  evaluator->status = TEMPERA_OK;
  evaluator->failure = TM_FAILURE_NONE;
  evaluator->error = (tempera_error){0};
}

/* Without the Jacobian: the library's prior gradient has it, so take it off. */
static bool evaluate_slope(tm_search *search, double *gradient) {
  const tempera_model *model = search->model;
  const tm_search_frame *frame = search->frame;
  double *likelihood = search->gradient;
  double *prior = likelihood + model->dimension;
  double *jacobian = prior + model->dimension;
  double *zero = search->evaluator->gradient + model->size;
  tm_evaluate_gradient(search->evaluator, &search->trial, likelihood, prior);
  if (!(search->trial.log_likelihood > -INFINITY))
    return true;
  memset(zero, 0, model->size * sizeof(double));
  tm_pull_back(model, search->trial.u, search->trial.theta, zero, true,
               jacobian);
  bool finite = true;
  for (size_t k = 0; k < frame->reals; k++) {
    size_t j = frame->real[k];
    gradient[k] = search->tau * likelihood[j] + prior[j] - jacobian[j];
    finite = finite && isfinite(gradient[k]);
  }
  return finite;
}

/* The height of the trial point; -infinity where pi*L = 0, at tau = 0 too. */
static double trial_height(const tm_search *search) {
  const tm_point *trial = &search->trial;
  if (!(trial->log_prior > -INFINITY && trial->log_likelihood > -INFINITY))
    return -INFINITY;
  return search->tau * trial->log_likelihood + trial->log_prior;
}

static void keep_trial(tm_search *search) {
  memcpy(search->best.u, search->trial.u,
         search->model->dimension * sizeof(double));
  search->best.log_likelihood = search->trial.log_likelihood;
  search->best.log_prior = search->trial.log_prior;
}

static double objective(const double *x, double *gradient, void *context) {
  tm_search *search = context;
  for (size_t k = 0; k < search->frame->reals; k++)
    search->trial.u[search->frame->real[k]] = x[k];
  bool good = search->evaluator->status == TEMPERA_OK;
  if (good && gradient)
    good = evaluate_slope(search, gradient);
  else if (good)
    tm_evaluate(search->evaluator, &search->trial);
  forgive(search);
  double height = trial_height(search);
  if (!good || search->evaluator->status != TEMPERA_OK)
    return -INFINITY;
  if (height > tm_optimum_height(&search->best, search->tau))
    keep_trial(search);
  return height;
}

bool tm_search_look(tm_search *search, const double *u) {
  if (search->evaluator->status != TEMPERA_OK)
    return false;
  memcpy(search->trial.u, u, search->model->dimension * sizeof(double));
  search->running = NULL;
  tm_evaluate(search->evaluator, &search->trial);
  forgive(search);
  keep_trial(search);
  return search->evaluator->status == TEMPERA_OK &&
         trial_height(search) > -INFINITY;
}

static void load_best(const tm_search *search, double *x) {
  for (size_t k = 0; k < search->frame->reals; k++)
    x[k] = search->best.u[search->frame->real[k]];
}

/* One run from the best point so far; its gain in nats. */
static double run_once(tm_search *search, tm_optimiser *optimiser) {
  double before = tm_optimum_height(&search->best, search->tau);
  load_best(search, search->before);
  memcpy(search->x, search->before, search->frame->reals * sizeof(double));
  search->running = optimiser;
  search->sound |=
      tm_optimiser_run(optimiser, objective, search, search->step, search->x);
  return tm_optimum_height(&search->best, search->tau) - before;
}

/* The next simplex: as large as the last run's way, but not much smaller
 * than before, lest a false convergence confirm itself. */
static void resize_step(tm_search *search) {
  load_best(search, search->x);
  for (size_t k = 0; k < search->frame->reals; k++) {
    double moved = fabs(search->x[k] - search->before[k]) / 2;
    search->step[k] = fmax(moved, 0.1 * search->step[k]);
    search->step[k] = fmax(search->step[k], 1e-4 * search->frame->step[k]);
  }
}

static bool stopped(const tm_search *search) {
  return search->evaluator->status != TEMPERA_OK;
}

/* The height when coordinate j is moved to x, the rest left alone. */
static double height_at(tm_search *search, const tm_optimum *optimum, size_t j,
                        double x) {
  memcpy(search->trial.u, optimum->u,
         search->model->dimension * sizeof(double));
  search->trial.u[j] = x;
  search->tau = optimum->tau;
  search->running = NULL;
  tm_evaluate(search->evaluator, &search->trial);
  forgive(search);
  return trial_height(search);
}

/* A transformed coordinate far out, and far from every start, where each
 * further unit still pays; or an identity coordinate beyond all measure. */
static bool runs_away(tm_search *search, const tm_optimum *optimum, size_t k) {
  const tm_search_frame *frame = search->frame;
  size_t j = frame->real[k];
  double x = optimum->u[j], low = frame->start_low[k];
  double high = frame->start_high[k];
  double height = tm_optimum_height(optimum, optimum->tau);
  if (!is_transformed(search->model, j)) {
    double measure = 1e6 * (1 + fmax(fabs(low), fabs(high)));
    return fabs(x) > measure &&
           height - height_at(search, optimum, j, x / 2) > 1e-3;
  }
  if (fabs(x) < 20 || fmax(low - x, x - high) < 10)
    return false;
  double inward = x < 0 ? 1 : -1;
  double one = height - height_at(search, optimum, j, x + inward);
  double five = height - height_at(search, optimum, j, x + 5 * inward);
  return one > 1e-3 && five > 3 * one;
}

static bool any_runs_away(tm_search *search) {
  for (size_t k = 0; k < search->frame->reals; k++)
    if (runs_away(search, &search->best, k))
      return true;
  return false;
}

/* Nelder-Mead and Sbplx stop early now and then; restart until a fresh
 * simplex gains nothing. */
static void climb_by_values(tm_search *search) {
  for (int run = 0; run < RESTARTS && !stopped(search); run++) {
    double gain = run_once(search, search->simplex);
    if ((run > 0 && gain < CONVERGED) || any_runs_away(search))
      return;
    resize_step(search);
  }
}

/* A bounded coordinate far from every start, short of the box, that is still
 * pulled on. Where scales collapse, as in hierarchical models, gradients are
 * too badly conditioned to follow. */
static bool still_pulled(tm_search *search) {
  const tm_search_frame *frame = search->frame;
  load_best(search, search->x);
  if (!(objective(search->x, search->before, search) > -INFINITY))
    return false;
  for (size_t k = 0; k < frame->reals; k++) {
    double x = search->x[k];
    bool far = x < frame->start_low[k] - 8 || x > frame->start_high[k] + 8;
    bool inside = x > frame->lower[k] + 1 && x < frame->upper[k] - 1;
    if (is_transformed(search->model, frame->real[k]) && far && inside &&
        fabs(search->before[k]) > 1e-2)
      return true;
  }
  return false;
}

/* L-BFGS and SLSQP in turn, each the other's check. Where both break down at
 * the very start the gradient is not to be trusted, and where they give up on
 * a slope not to be followed: go by values. */
static void climb_by_gradients(tm_search *search) {
  double total = 0;
  search->sound = false;
  for (int run = 0; run < RESTARTS && !stopped(search); run++) {
    double gain =
        run_once(search, run % 2 == 0 ? search->lbfgs : search->slsqp);
    total += gain;
    if (run > 0 && gain < CONVERGED)
      break;
  }
  if ((total < CONVERGED && !search->sound) || still_pulled(search))
    climb_by_values(search);
}

bool tm_search_run(tm_search *search, double tau, const double *u,
                   const double *step) {
  const tm_search_frame *frame = search->frame;
  memcpy(search->best.u, u, search->model->dimension * sizeof(double));
  for (size_t k = 0; k < frame->reals; k++) {
    double *at = &search->best.u[frame->real[k]];
    *at = fmax(frame->lower[k], fmin(frame->upper[k], *at));
    search->step[k] = step ? step[k] : frame->step[k];
  }
  search->tau = search->best.tau = tau;
  if (!tm_search_look(search, search->best.u))
    return false;
  if (frame->reals == 0)
    return true;
  if (search->lbfgs)
    climb_by_gradients(search);
  else
    climb_by_values(search);
  return !stopped(search);
}

/* Which natural-scale value coordinate j of u moves. */
static size_t value_of(const tempera_model *model, size_t j) {
  const tm_block *block = &model->blocks[model->block_of_u[j]];
  return block->theta + (j - block->u);
}

/* What that value then tends to. */
static double limit_of(const tempera_model *model, size_t j, double u) {
  const tm_block *block = &model->blocks[model->block_of_u[j]];
  if (isfinite(block->lower) == isfinite(block->upper))
    return u < 0 ? block->lower : block->upper;
  if (isfinite(block->lower))
    return u < 0 ? block->lower : INFINITY;
  return u < 0 ? block->upper : -INFINITY;
}

bool tm_search_runaway(tm_search *search, const tm_optimum *optimum,
                       char reason[256]) {
  const tempera_model *model = search->model;
  if (search->infinite) {
    snprintf(reason, 256, "%.250s", search->trouble);
    return true;
  }
  for (size_t k = 0; k < search->frame->reals; k++) {
    if (!runs_away(search, optimum, k))
      continue;
    size_t j = search->frame->real[k];
    tm_snprintf(reason, 256,
                "the density is unbounded: at tau = %.3g it still grows as "
                "%.60s tends to %g (log density %.4g on the way)",
                optimum->tau, model->names[value_of(model, j)],
                limit_of(model, j, optimum->u[j]),
                tm_optimum_height(optimum, optimum->tau));
    return true;
  }
  return false;
}
