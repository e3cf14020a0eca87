/* laplace.c - the life of the Laplace ridge, its improvement in warmup, and
 * what it shows (method 4.1, 4.2). */
#include "tempering/laplace.h"
#include "numeric/dense.h"

#include <math.h>
#include <string.h>

enum {
  MOST_IMPROVEMENTS = 8, /* climbs in one improvement */
  BUDGET_GRADIENTS = 12000,
  BUDGET_VALUES = 8000, /* and for Hessians, each about d^2 of them: */
  BUDGET_HESSIANS = 10
};

static const double STEP = 1e-4; /* of the differences that give B, below */

/* ---- a mode seen under another labelling
 *
 * With u = S(v) the change of coordinates that undoes it, the density of v is
 * that of u (relabelling has Jacobian one), and at a mode, where the gradient
 * is zero, its curvature is B'HB, B = dS/dv. In a simplex S is not linear. */

const double *tm_laplace_relabel(tm_laplace *laplace,
                                 const unsigned char *permutation,
                                 const double *u) {
  tm_constrain(laplace->model, u, laplace->theta, NULL);
  tm_labels_apply(laplace->model, &laplace->store->labels, permutation,
                  laplace->theta, laplace->other);
  tm_unconstrain(laplace->model, laplace->other, laplace->turned);
  return laplace->turned;
}

/* A column of B, over the reals: how u moves with v's coordinate j. */
static void column(tm_laplace *laplace, const unsigned char *back, double *v,
                   size_t j, double *b) {
  const tm_frame *frame = &laplace->store->frame;
  double at = v[j];
  v[j] = at + STEP;
  const double *u = tm_laplace_relabel(laplace, back, v);
  for (size_t k = 0; k < frame->reals; k++)
    b[k] = u[frame->real[k]];
  v[j] = at - STEP;
  u = tm_laplace_relabel(laplace, back, v);
  for (size_t k = 0; k < frame->reals; k++)
    b[k] = (b[k] - u[frame->real[k]]) / (2 * STEP);
  v[j] = at;
}

/* With H = LL', B'HB = W'W, W = L'B; `rows` is made of W's columns. */
static void turned_curvature(tm_laplace *laplace, const unsigned char *back,
                             const double *factor, double *v, double *rows,
                             double *h) {
  const tm_frame *frame = &laplace->store->frame;
  size_t d = frame->reals;
  for (size_t k = 0; k < d; k++) {
    column(laplace, back, v, frame->real[k], laplace->delta);
    tm_lower_transposed(factor, d, laplace->delta, rows + k * d);
  }
  for (size_t i = 0; i < d; i++)
    for (size_t j = 0; j <= i; j++)
      h[i * d + j] = tm_dot(rows + i * d, rows + j * d, d);
}

/* The same mode with its labels in order, upwards. */
static tempera_status sort_labels(tm_laplace *laplace, tm_laplace_mode *mode,
                                  tempera_error *error) {
  const tm_labels *labels = &laplace->store->labels;
  unsigned char sort[TM_LABELS_MOST], back[TM_LABELS_MOST];
  tm_constrain(laplace->model, mode->u, laplace->theta, NULL);
  if (tm_labels_sorted(labels, laplace->theta))
    return TEMPERA_OK;
  tm_labels_sort(labels, laplace->theta, sort);
  for (size_t k = 0; k < labels->count; k++)
    back[sort[k]] = (unsigned char)k;
  size_t d = laplace->store->frame.reals;
  double *u = TM_NEW(laplace->arena, double, laplace->model->dimension);
  double *factor = TM_NEW(laplace->arena, double, d *d + 1);
  double *inverse = TM_NEW(laplace->arena, double, d *d + 1);
  if (!u || !factor || !inverse)
    return tm_fail_memory(error);
  memcpy(u, tm_laplace_relabel(laplace, sort, mode->u),
         laplace->model->dimension * sizeof(double));
  turned_curvature(laplace, back, mode->factor, u, inverse, factor);
  tm_cholesky_forced(factor, d, 1e-300, inverse);
  tm_triangular_inverse(factor, d, inverse);
  mode->half_log_det = 0;
  for (size_t k = 0; k < d; k++)
    mode->half_log_det += log(factor[k * d + k]);
  mode->u = u;
  mode->factor = factor;
  mode->inverse = inverse;
  return TEMPERA_OK;
}

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
  const tm_labels *labels = &laplace->store->labels;
  double least = INFINITY, most = -INFINITY;
  for (size_t m = 0; m < stage->count; m++) {
    least = fmin(least, stage->modes[m].seen.log_copies);
    most = fmax(most, stage->modes[m].seen.log_copies);
  }
  return labels->count > TM_LABELS_ALL ? least > 0.9 * labels->log_factorial
                                       : most > 0.05;
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
static tempera_status show_modes(tm_laplace *laplace, tm_stage *stage,
                                 bool relabel, tm_laplace_mode *modes,
                                 tempera_error *error) {
  for (size_t m = 0; m < stage->count; m++) {
    modes[m] = stage->modes[m].seen;
    stage->modes[m].lent = true;
    if (relabel)
      TM_TRY(sort_labels(laplace, &modes[m], error));
  }
  return TEMPERA_OK;
}

tempera_status tm_laplace_publish(tm_laplace *laplace, tempera_error *error) {
  tm_laplace_view *view = &laplace->view;
  view->labels = laplace->store->labels;
  view->knot_count = view->absent ? 0 : laplace->stage_count;
  tm_laplace_knot *knots =
      TM_NEW(laplace->arena, tm_laplace_knot, laplace->stage_count);
  if (!knots)
    return tm_fail_memory(error);
  view->knots = knots;
  for (size_t s = 0; s < view->knot_count; s++) {
    tm_stage *stage = &laplace->stages[s];
    tm_laplace_mode *modes =
        TM_NEW(laplace->arena, tm_laplace_mode, stage->count);
    bool relabel = laplace->store->labels.count > 0 && relabels(laplace, stage);
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
  }
  make_convex(knots, view->knot_count);
  return TEMPERA_OK;
}

/* ---- create and free */

static tempera_status prepare(tm_laplace *laplace, tempera_error *error) {
  const tempera_model *model = laplace->model;
  double *room =
      TM_NEW(laplace->arena, double, 2 * (model->size + model->dimension) + 1);
  if (!room)
    return tm_fail_memory(error);
  laplace->theta = room;
  laplace->other = room + model->size;
  laplace->turned = room + 2 * model->size;
  laplace->delta = laplace->turned + model->dimension;
  return TEMPERA_OK;
}

static uint64_t budget_of(const tempera_model *model) {
  uint64_t d = model->real_dimension;
  return tm_has_gradients(model) ? BUDGET_GRADIENTS
                                 : BUDGET_VALUES + BUDGET_HESSIANS * d * d;
}

static tempera_status build(tm_laplace *laplace, tempera_error *error) {
  TM_TRY(prepare(laplace, error));
  laplace->view.absent = tm_too_many_integers(
      laplace->model, laplace->view.reason, sizeof laplace->view.reason);
  if (laplace->view.absent)
    return TEMPERA_OK;
  laplace->budget = budget_of(laplace->model);
  laplace->enough = tm_store_spent(laplace->store) + laplace->budget;
  TM_TRY(tm_laplace_anchor(laplace, error));
  TM_TRY(tm_laplace_refine(laplace, error));
  laplace->taken = laplace->store->count;
  return tm_laplace_publish(laplace, error);
}

tempera_status tm_laplace_create(tm_store *store, double tau_min,
                                 tm_laplace **laplace, tempera_error *error) {
  tm_arena *arena;
  tm_laplace *made = TM_BEGIN(&arena, tm_laplace);
  if (!made)
    return tm_fail_memory(error);
  made->arena = arena;
  made->model = store->model;
  made->store = store;
  made->tau_min = tau_min;
  tempera_status status = build(made, error);
  if (status != TEMPERA_OK)
    tm_laplace_free(made);
  else
    *laplace = made;
  return status;
}

void tm_laplace_free(tm_laplace *laplace) {
  if (laplace)
    tm_arena_free(laplace->arena);
}

const tm_laplace_view *tm_laplace_present(const tm_laplace *laplace) {
  return laplace && !laplace->view.absent ? &laplace->view : NULL;
}

/* ---- improvement */

/* The stage whose best mode the point's line comes closest to. */
static size_t best_stage(const tm_laplace *laplace, const tm_optimum *point) {
  size_t best = 0;
  double most = -INFINITY;
  for (size_t s = 0; s < laplace->stage_count; s++) {
    const tm_stage *stage = &laplace->stages[s];
    double excess = tm_optimum_height(point, stage->tau) + point->log_jacobian -
                    stage->modes[0].seen.height;
    if (excess > most) {
      most = excess;
      best = s;
    }
  }
  return best;
}

/* From a point that lies in no basin known where it does best. */
static tempera_status improve_from(tm_laplace *laplace, const tm_optimum *point,
                                   size_t *fresh, tempera_error *error) {
  size_t s = best_stage(laplace, point), before = *fresh;
  if (tm_stage_covers(laplace, &laplace->stages[s], point->u))
    return TEMPERA_OK;
  tm_climb climb = {.tau = laplace->stages[s].tau,
                    .u = point->u,
                    .tracks = tm_laplace_new_track(laplace)};
  TM_TRY(tm_store_plan(laplace->store, &climb, error));
  TM_TRY(tm_laplace_explore(laplace, &laplace->stages[s], fresh, error));
  tm_stage_settle(laplace, &laplace->stages[s]);
  if (*fresh == before)
    return TEMPERA_OK;
  TM_TRY(tm_laplace_follow(laplace, s, 1, error));
  return tm_laplace_follow(laplace, s, -1, error);
}

/* What others have put into the store since. */
static tempera_status take_up(tm_laplace *laplace, size_t *fresh,
                              tempera_error *error) {
  tm_store *store = laplace->store;
  size_t climbs = store->optimisations, end = store->count;
  for (; laplace->taken < end; laplace->taken++) {
    tm_optimum point = store->optima[laplace->taken];
    if (point.finder == TM_BY_LAPLACE)
      continue;
    if (store->optimisations - climbs > MOST_IMPROVEMENTS && *fresh == 0)
      continue;
    TM_TRY(improve_from(laplace, &point, fresh, error));
  }
  return TEMPERA_OK;
}

tempera_status tm_laplace_improve(tm_laplace *laplace, const double *points,
                                  size_t count, size_t *found,
                                  tempera_error *error) {
  size_t fresh = 0;
  tm_store *store = laplace->store;
  for (size_t i = 0; i < count; i++)
    TM_TRY(tm_store_offer(store, points + i * laplace->model->size, TM_BY_DRAW,
                          error));
  if (!laplace->view.absent)
    TM_TRY(take_up(laplace, &fresh, error));
  if (fresh > 0)
    TM_TRY(tm_laplace_refine(laplace, error));
  if (found)
    *found = fresh;
  return tm_laplace_publish(laplace, error);
}

/* ---- use */

const tm_laplace_knot *tm_laplace_below(const tm_laplace *laplace, double tau) {
  const tm_laplace_knot *knot = laplace->view.knots;
  const tm_laplace_knot *last = knot + laplace->view.knot_count - 1;
  while (knot + 1 < last && knot[1].tau <= tau)
    knot++;
  return knot;
}

double tm_laplace_log_z(const tm_laplace *laplace, double tau) {
  const tm_laplace_knot *a = tm_laplace_below(laplace, tau), *b = a + 1;
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

const tm_laplace_knot *tm_laplace_nearest(const tm_laplace *laplace,
                                          double tau) {
  const tm_laplace_knot *knot = tm_laplace_below(laplace, tau);
  double a = knot[0].tau, b = knot[1].tau;
  bool low = a > 0 ? tau * tau < a * b : tau < 0.5 * b;
  return low ? knot : knot + 1;
}
