/* laplace.c - the life of the Laplace ridge, its improvement in warmup, and
 * what it shows (method 4.1, 4.2). */
#include "tempering/laplace_parts.h"

#include <math.h>
#include <string.h>

enum {
  ENOUGH_STARTS = 8,     /* topped up with draws from the prior */
  MOST_IMPROVEMENTS = 8, /* climbs in one improvement */
  BUDGET_GRADIENTS = 12000,
  BUDGET_VALUES = 8000, /* and for Hessians, each about d^2 of them: */
  BUDGET_HESSIANS = 10
};

/* ---- the view */

/* log z is convex: no slope is outside the chords beside it. */
static void make_convex(tm_laplace_knot *knots, size_t count) {
  for (size_t k = 0; k < count; k++) {
    double low = -INFINITY, high = INFINITY;
    if (k > 0)
      low = (knots[k].log_z - knots[k - 1].log_z) /
            (knots[k].tau - knots[k - 1].tau);
    if (k + 1 < count)
      high = (knots[k + 1].log_z - knots[k].log_z) /
             (knots[k + 1].tau - knots[k].tau);
    knots[k].slope = fmax(fmin(knots[k].slope, high), fmin(low, high));
  }
}

static bool relabels(const tm_laplace *laplace, const tm_stage *stage) {
  const tm_labels *labels = &laplace->labels;
  double least = INFINITY, most = -INFINITY;
  for (size_t m = 0; m < stage->count; m++) {
    least = fmin(least, stage->modes[m].seen.log_copies);
    most = fmax(most, stage->modes[m].seen.log_copies);
  }
  return labels->count > TM_LABELS_ALL ? least > 0.9 * labels->log_factorial
                                       : most > 0.05;
}

static void count_work(tm_laplace *laplace) {
  tm_laplace_view *view = &laplace->view;
  view->optimisations = laplace->optimisations;
  view->likelihood_evaluations = view->gradient_evaluations = 0;
  view->seconds_in_model = 0;
  for (size_t w = 0; w < TM_LAPLACE_WORKERS; w++) {
    const tm_evaluator *own = &laplace->climbers[w].evaluator;
    view->likelihood_evaluations += own->likelihood_evaluations;
    view->gradient_evaluations += own->gradient_evaluations;
    view->seconds_in_model += own->seconds;
  }
}

/* How tall the modes' shares of a proposal density are. */
static void fill_peaks(tm_laplace_knot *knot, tm_laplace_mode *modes) {
  knot->log_peak = -INFINITY;
  for (size_t m = 0; m < knot->mode_count; m++)
    knot->log_peak =
        fmax(knot->log_peak, log(modes[m].share) + modes[m].half_log_det);
  for (size_t m = 0; m < knot->mode_count; m++)
    modes[m].peak =
        modes[m].share * exp(modes[m].half_log_det - knot->log_peak);
}

/* Jumps draw modes with their labels in order only, and relabel the draw. */
static tempera_status show_modes(tm_laplace *laplace, const tm_stage *stage,
                                 bool relabel, tm_laplace_mode *modes,
                                 tempera_error *error) {
  for (size_t m = 0; m < stage->count; m++) {
    modes[m] = stage->modes[m].seen;
    if (relabel)
      TM_TRY(tm_laplace_sort_labels(laplace, &modes[m], error));
  }
  return TEMPERA_OK;
}

static tempera_status publish(tm_laplace *laplace, tempera_error *error) {
  tm_laplace_view *view = &laplace->view;
  count_work(laplace);
  view->labels = laplace->labels;
  view->knot_count = view->absent ? 0 : laplace->stage_count;
  tm_laplace_knot *knots =
      TM_NEW(laplace->arena, tm_laplace_knot, laplace->stage_count);
  if (!knots)
    return tm_fail_memory(error);
  view->knots = knots;
  for (size_t s = 0; s < view->knot_count; s++) {
    const tm_stage *stage = &laplace->stages[s];
    tm_laplace_mode *modes =
        TM_NEW(laplace->arena, tm_laplace_mode, stage->count);
    bool relabel = laplace->labels.count > 0 && relabels(laplace, stage);
    if (!modes)
      return tm_fail_memory(error);
    TM_TRY(show_modes(laplace, stage, relabel, modes, error));
    knots[s] = (tm_laplace_knot){.tau = stage->tau,
                                 .log_z = stage->log_z,
                                 .slope = stage->slope,
                                 .relabel = relabel,
                                 .mode_count = stage->count,
                                 .modes = modes};
    fill_peaks(&knots[s], modes);
    if (stage->count > view->most_modes)
      view->most_modes = stage->count;
  }
  make_convex(knots, view->knot_count);
  return TEMPERA_OK;
}

/* ---- create and free */

static tempera_status keep_start(tm_laplace *laplace, tempera_error *error) {
  const tm_climber *c = &laplace->climbers[0];
  const tm_point *point = &c->trial;
  if (!isfinite(point->log_likelihood) || !isfinite(point->log_prior))
    return TEMPERA_OK;
  tm_optimum start = {.log_likelihood = point->log_likelihood,
                      .log_prior = point->log_prior + point->log_jacobian};
  start.u = TM_NEW(laplace->arena, double, laplace->model->dimension);
  if (!start.u)
    return tm_fail_memory(error);
  memcpy(start.u, point->u, laplace->model->dimension * sizeof(double));
  size_t k = laplace->start_count++;
  for (; k > 0 && tm_optimum_height(&laplace->starts[k - 1], 1) <
                      tm_optimum_height(&start, 1);
       k--)
    laplace->starts[k] = laplace->starts[k - 1];
  laplace->starts[k] = start;
  return TEMPERA_OK;
}

static tempera_status failure(const tm_laplace *laplace, tempera_error *error) {
  const tm_evaluator *evaluator = &laplace->climbers[0].evaluator;
  if (evaluator->status != TEMPERA_OK && error)
    *error = evaluator->error;
  return evaluator->status;
}

/* Those of positive density, best first at tau = 1; a few draws from the
 * prior where there are not enough. */
static tempera_status take_starts(tm_laplace *laplace, const double *starts,
                                  size_t count, tempera_error *error) {
  const tempera_model *model = laplace->model;
  tm_climber *c = &laplace->climbers[0];
  laplace->starts = TM_NEW(laplace->arena, tm_optimum, count + ENOUGH_STARTS);
  if (!laplace->starts)
    return tm_fail_memory(error);
  for (size_t i = 0; i < count; i++) {
    memcpy(c->trial.theta, starts + i * model->size,
           model->size * sizeof(double));
    tm_evaluate_natural(&c->evaluator, &c->trial);
    TM_TRY(failure(laplace, error));
    TM_TRY(keep_start(laplace, error));
  }
  tempera_random random =
      tm_random(laplace->settings.seed, 1, TM_PURPOSE_RIDGE);
  for (size_t i = count; i < ENOUGH_STARTS && model->spec.prior_draw; i++) {
    tm_prior_draw(&c->evaluator, &random, &c->trial);
    TM_TRY(failure(laplace, error));
    TM_TRY(keep_start(laplace, error));
  }
  if (laplace->start_count == 0)
    return tm_fail(error, TEMPERA_ERROR_ARGUMENT,
                   "the Laplace ridge needs a start of positive density");
  return tm_labels_find(&c->evaluator, &c->trial, starts, count, laplace->arena,
                        &laplace->labels, error);
}

static tempera_status prepare(tm_laplace *laplace, const double *starts,
                              size_t count, tempera_error *error) {
  const tempera_model *model = laplace->model;
  double *room =
      TM_NEW(laplace->arena, double, 2 * (model->size + model->dimension) + 1);
  if (!room)
    return tm_fail_memory(error);
  laplace->theta = room;
  laplace->other = room + model->size;
  laplace->turned = room + 2 * model->size;
  laplace->delta = laplace->turned + model->dimension;
  for (size_t w = 0; w < TM_LAPLACE_WORKERS; w++) {
    TM_TRY(tm_climber_create(model, &laplace->frame, laplace->arena,
                             &laplace->climbers[w], error));
    laplace->climbers[w].evaluator.stop = laplace->settings.stop;
  }
  TM_TRY(take_starts(laplace, starts, count, error));
  return tm_search_frame_create(model, laplace->starts, laplace->start_count,
                                laplace->arena, &laplace->frame, error);
}

static tempera_status build(tm_laplace *laplace, const double *starts,
                            size_t count, tempera_error *error) {
  TM_TRY(prepare(laplace, starts, count, error));
  TM_TRY(tm_laplace_anchor(laplace, error));
  TM_TRY(tm_laplace_refine(laplace, error));
  return publish(laplace, error);
}

static uint64_t budget_of(const tempera_model *model) {
  uint64_t d = model->real_dimension;
  return tm_has_gradients(model) ? BUDGET_GRADIENTS
                                 : BUDGET_VALUES + BUDGET_HESSIANS * d * d;
}

tempera_status tm_laplace_create(const tempera_model *model,
                                 const tm_laplace_settings *settings,
                                 const double *starts, size_t start_count,
                                 tm_laplace **laplace, tempera_error *error) {
  tm_arena *arena = tm_arena_create();
  tm_laplace *made = arena ? TM_NEW(arena, tm_laplace, 1) : NULL;
  if (!made) {
    tm_arena_free(arena);
    return tm_fail_memory(error);
  }
  made->arena = arena;
  made->model = model;
  made->settings = *settings;
  if (settings->budget == 0)
    made->settings.budget = budget_of(model);
  made->settings.threads = tm_threads(settings->threads);
  tempera_status status = build(made, starts, start_count, error);
  if (status != TEMPERA_OK) {
    tm_laplace_free(made);
    return status;
  }
  *laplace = made;
  return TEMPERA_OK;
}

void tm_laplace_free(tm_laplace *laplace) {
  if (!laplace)
    return;
  for (size_t w = 0; w < TM_LAPLACE_WORKERS; w++)
    tm_evaluator_release(&laplace->climbers[w].evaluator);
  tm_heap_free(laplace->climbs);
  tm_arena_free(laplace->arena);
}

const tm_laplace_view *tm_laplace_look(const tm_laplace *laplace) {
  return &laplace->view;
}

/* ---- improvement */

/* The stage whose best mode the point's line comes closest to. */
static size_t best_stage(const tm_laplace *laplace, const tm_point *point) {
  size_t best = 0;
  double most = -INFINITY;
  for (size_t s = 0; s < laplace->stage_count; s++) {
    const tm_stage *stage = &laplace->stages[s];
    double excess =
        tm_log_density(point, stage->tau) - stage->modes[0].seen.height;
    if (excess > most) {
      most = excess;
      best = s;
    }
  }
  return best;
}

static tempera_status improve_from(tm_laplace *laplace, const double *theta,
                                   size_t *fresh, tempera_error *error) {
  tm_climber *c = &laplace->climbers[0];
  memcpy(c->trial.theta, theta, laplace->model->size * sizeof(double));
  tm_evaluate_natural(&c->evaluator, &c->trial);
  TM_TRY(failure(laplace, error));
  if (!isfinite(c->trial.log_likelihood) || !isfinite(c->trial.log_prior))
    return TEMPERA_OK;
  size_t s = best_stage(laplace, &c->trial), before = *fresh;
  if (tm_stage_covers(laplace, &laplace->stages[s], c->trial.u))
    return TEMPERA_OK;
  tm_climb climb = {.tau = laplace->stages[s].tau,
                    .u = c->trial.u,
                    .tracks = tm_laplace_new_track(laplace)};
  TM_TRY(tm_laplace_plan(laplace, &climb, error));
  TM_TRY(tm_laplace_explore(laplace, &laplace->stages[s], fresh, error));
  tm_stage_settle(laplace, &laplace->stages[s]);
  if (*fresh == before)
    return TEMPERA_OK;
  TM_TRY(tm_laplace_follow(laplace, s, 1, error));
  return tm_laplace_follow(laplace, s, -1, error);
}

tempera_status tm_laplace_improve(tm_laplace *laplace, const double *points,
                                  size_t count, size_t *found,
                                  tempera_error *error) {
  size_t fresh = 0, climbs = laplace->optimisations;
  for (size_t i = 0; i < count && !laplace->view.absent; i++) {
    if (laplace->optimisations - climbs > MOST_IMPROVEMENTS && fresh == 0)
      break;
    TM_TRY(improve_from(laplace, points + i * laplace->model->size, &fresh,
                        error));
  }
  if (fresh > 0)
    TM_TRY(tm_laplace_refine(laplace, error));
  if (found)
    *found = fresh;
  return publish(laplace, error);
}

/* ---- use */

/* The interval of tau: knots s and s + 1. */
static size_t interval_of(const tm_laplace_view *view, double tau) {
  size_t s = 0;
  while (s + 2 < view->knot_count && view->knots[s + 1].tau <= tau)
    s++;
  return s;
}

double tm_laplace_log_z(const tm_laplace *laplace, double tau) {
  const tm_laplace_view *view = &laplace->view;
  const tm_laplace_knot *a = &view->knots[interval_of(view, tau)], *b = a + 1;
  double width = b->tau - a->tau, x = (tau - a->tau) / width, y = 1 - x;
  double chord = y * a->log_z + x * b->log_z;
  double rise = b->log_z - a->log_z;
  double cubic =
      chord +
      x * y * (y * (width * a->slope - rise) - x * (width * b->slope - rise));
  double below = fmax(a->log_z + a->slope * (tau - a->tau),
                      b->log_z - b->slope * (b->tau - tau));
  return fmin(chord, fmax(cubic, fmin(below, chord)));
}

size_t tm_laplace_nearest(const tm_laplace *laplace, double tau) {
  const tm_laplace_view *view = &laplace->view;
  size_t s = interval_of(view, tau);
  double a = view->knots[s].tau, b = view->knots[s + 1].tau;
  bool low = a > 0 ? tau * tau < a * b : tau < 0.5 * b;
  return low ? s : s + 1;
}
