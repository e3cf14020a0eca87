/* laplace_knots.c - which taus, integers and starts are climbed from.
 *
 * Both ends of tau are climbed to from the starts. Between them knots are put
 * where neighbouring laws differ most: by the symmetrised Kullback-Leibler
 * divergence (b - a)(E_b[l] - E_a[l]) of a basin followed from a to b, until
 * it is below a nat or two. A new knot is climbed to from its neighbours'
 * modes; integers are explored outwards from what is found. */
#include "tempering/laplace.h"

#include "base/locale.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { OFFSETS = 4, LOW_STARTS = 3 };

static const double NEAR = 2;        /* divergence that needs no knot between */
static const double UNMATCHED = 100; /* stands for it where no basin goes on */
static const double RELEVANT = 6;    /* nats below the best */
static const double ROUGH = 4;       /* nats below: care is not worth it */
static const double OUTWARD = 8;     /* integers are explored from there up */
static const double SMALLEST = 1e-10;

/* More than 64 share bits, which costs a climb or two. */
uint64_t tm_laplace_new_track(tm_laplace *laplace) {
  return (uint64_t)1 << (laplace->tracks++ % 64);
}

/* ---- integers */

/* A mode, dead or alive, of this basin with these integers; NULL if none. */
static const tm_mode *find_mode(tm_laplace *laplace, const tm_stage *stage,
                                const double *u, uint64_t tracks) {
  for (size_t m = 0; m < stage->count; m++)
    if ((stage->modes[m].tracks & tracks) &&
        tm_laplace_same_value(laplace, stage->modes[m].spot.u, u))
      return &stage->modes[m];
  return NULL;
}

static bool planned(tm_laplace *laplace, const double *u, uint64_t tracks) {
  const tm_store *store = laplace->store;
  for (size_t i = 0; i < store->climb_count; i++)
    if ((store->climbs[i].tracks & tracks) &&
        tm_laplace_same_value(laplace, store->climbs[i].u, u))
      return true;
  return false;
}

/* The next integer on this side that has not been tried; values of zero
 * density are stepped over, a few of them. */
static tempera_status plan_side(tm_laplace *laplace, const tm_stage *stage,
                                const tm_mode *mode, size_t j, double side,
                                tempera_error *error) {
  double *u = laplace->store->climbers[0].trial.u;
  uint64_t tracks = mode->tracks;
  memcpy(u, mode->spot.u, laplace->model->dimension * sizeof(double));
  for (int offset = 1; offset <= OFFSETS; offset++) {
    u[j] = mode->spot.u[j] + side * offset;
    const tm_mode *there = find_mode(laplace, stage, u, tracks);
    if (there && there->dead)
      continue;
    if (there || planned(laplace, u, tracks))
      return TEMPERA_OK;
    tm_climb climb = {
        .tau = stage->tau, .u = u, .warm = &mode->spot, .tracks = tracks};
    return tm_store_plan(laplace->store, &climb, error);
  }
  return TEMPERA_OK;
}

static tempera_status plan_neighbours(tm_laplace *laplace,
                                      const tm_stage *stage,
                                      tempera_error *error) {
  const tempera_model *model = laplace->model;
  double best = -INFINITY;
  for (size_t m = 0; m < stage->count; m++)
    best = fmax(best, stage->modes[m].seen.log_weight);
  for (size_t m = 0; m < stage->count; m++) {
    const tm_mode *mode = &stage->modes[m];
    if (mode->dead || mode->seen.log_weight < best - OUTWARD)
      continue;
    for (size_t j = 0; j < model->dimension; j++)
      for (int side = -1; side <= 1 && model->integer[j]; side += 2)
        TM_TRY(plan_side(laplace, stage, mode, j, side, error));
  }
  return TEMPERA_OK;
}

tempera_status tm_laplace_explore(tm_laplace *laplace, tm_stage *stage,
                                  size_t *fresh, tempera_error *error) {
  size_t found = 0;
  bool integers = laplace->model->real_dimension < laplace->model->dimension;
  while (laplace->store->climb_count > 0) {
    for (size_t m = 0; m < stage->count; m++) {
      const tm_mode *mode = &stage->modes[m];
      laplace->landmarks[m] =
          (tm_landmark){mode->spot.u, mode->dead ? NULL : mode->spot.factor,
                        mode->seen.height};
    }
    TM_TRY(
        tm_store_run(laplace->store, laplace->landmarks, stage->count, error));
    TM_TRY(tm_laplace_file(laplace, stage, &found, error));
    if (integers && stage->count < TM_LAPLACE_MODES)
      TM_TRY(plan_neighbours(laplace, stage, error));
  }
  if (fresh)
    *fresh += found;
  return TEMPERA_OK;
}

/* ---- the ends */

static tempera_status climb_from_starts(tm_laplace *laplace, tm_stage *stage,
                                        size_t count, tempera_error *error) {
  /* Integers are explored from one start before the next, which may then be
   * found to bring nothing new. */
  bool integers = laplace->model->real_dimension < laplace->model->dimension;
  size_t wave_size = integers ? 1 : 2;
  for (size_t i = 0; i < count && i < laplace->store->start_count; i++) {
    tm_climb climb = {.tau = stage->tau,
                      .u = laplace->store->starts[i].u,
                      .tracks = tm_laplace_new_track(laplace)};
    TM_TRY(tm_store_plan(laplace->store, &climb, error));
    if (laplace->store->climb_count >= wave_size)
      TM_TRY(tm_laplace_explore(laplace, stage, NULL, error));
    if (tm_store_spent(laplace->store) + laplace->budget / 2 >
            laplace->enough &&
        stage->count > 0)
      break;
  }
  return tm_laplace_explore(laplace, stage, NULL, error);
}

/* From a mode at another tau: its derivatives are known there. */
static tempera_status plan_from(tm_laplace *laplace, const tm_stage *stage,
                                tm_mode *mode, bool rough,
                                tempera_error *error) {
  tm_climb climb = {.tau = stage->tau,
                    .rough = rough,
                    .hill = mode->seen.shoulder,
                    .u = mode->spot.u,
                    .warm = &mode->spot,
                    .exact = true,
                    .tracks = mode->tracks,
                    .source = mode};
  return tm_store_plan(laplace->store, &climb, error);
}

static void say_absent(tm_laplace *laplace, const char *format_what, double tau,
                       size_t j) {
  laplace->view.absent = true;
  tm_snprintf(laplace->view.reason, sizeof laplace->view.reason,
              "the density over the unconstrained parameters %s at tau = %.3g, "
              "along %.60s",
              format_what, tau, tm_store_name(laplace->store, j));
}

/* A climb that ran away above everything found proves the density unbounded;
 * an optimum that is not definite has no Laplace weight. */
static void check_existence(tm_laplace *laplace, const tm_stage *stage) {
  double highest = -INFINITY;
  size_t along = 0;
  for (size_t m = 0; m < stage->count; m++)
    highest = fmax(highest, stage->modes[m].seen.height);
  if (laplace->runaway > highest)
    say_absent(laplace, "is unbounded", stage->tau, laplace->culprit);
  else if (stage->count == 0) {
    laplace->view.absent = true;
    tm_snprintf(laplace->view.reason, sizeof laplace->view.reason,
                "no optimum of the density was found at tau = %.3g",
                stage->tau);
  } else if (stage->modes[0].seen.indefinite) {
    (void)tm_laplace_flattest(laplace, &stage->modes[0].spot, stage->tau,
                              &along);
    say_absent(laplace, "is flat or bends upwards at its optimum", stage->tau,
               along);
  }
}

static tempera_status finish_stage(tm_laplace *laplace, tm_stage *stage,
                                   tempera_error *error) {
  TM_TRY(tm_laplace_explore(laplace, stage, NULL, error));
  tm_stage_settle(laplace, stage);
  check_existence(laplace, stage);
  return TEMPERA_OK;
}

tempera_status tm_laplace_anchor(tm_laplace *laplace, tempera_error *error) {
  tm_stage *low = &laplace->stages[0], *high = &laplace->stages[1];
  low->tau = laplace->tau_min;
  high->tau = 1;
  laplace->stage_count = 2;
  laplace->runaway = -INFINITY;
  TM_TRY(climb_from_starts(laplace, high, laplace->store->start_count, error));
  TM_TRY(finish_stage(laplace, high, error));
  if (laplace->view.absent)
    return TEMPERA_OK;
  laplace->runaway = -INFINITY;
  TM_TRY(climb_from_starts(laplace, low, LOW_STARTS, error));
  return finish_stage(laplace, low, error);
}

/* ---- between them */

static bool relevant(const tm_stage *stage, const tm_mode *mode) {
  return mode->seen.log_weight + mode->seen.log_copies > stage->best - RELEVANT;
}

/* The divergence of one basin's laws at a and b. Where the local slope at a
 * contradicts convexity, a is too broad for it, and what lies above the chord
 * at b is taken twice. */
static double basin_divergence(const tm_stage *a, const tm_stage *b,
                               const tm_laplace_mode *from,
                               const tm_laplace_mode *to) {
  double width = b->tau - a->tau;
  double rise =
      to->log_weight + to->log_copies - from->log_weight - from->log_copies;
  double before = rise - width * from->slope, after = width * to->slope - rise;
  if (before < 0)
    before = fmax(after, 0);
  return before + fmax(after, 0);
}

static bool continues(const tm_laplace *laplace, const tm_mode *from,
                      const tm_mode *to) {
  return (from->tracks & to->tracks) &&
         tm_same_value(laplace->model, from->spot.u, to->spot.u);
}

/* The divergence across an interval: the largest of any basin that matters
 * at one of its ends and is known at both. */
static double divergence(const tm_laplace *laplace, size_t s) {
  const tm_stage *a = &laplace->stages[s], *b = a + 1;
  double most = 0;
  bool left = false, right = false;
  for (size_t m = 0; m < a->count; m++) {
    double least = INFINITY;
    bool far = false;
    for (size_t n = 0; n < b->count; n++) {
      if (!continues(laplace, &a->modes[m], &b->modes[n]))
        continue;
      least = fmin(
          least, basin_divergence(a, b, &a->modes[m].seen, &b->modes[n].seen));
      far = far || relevant(b, &b->modes[n]);
    }
    bool near = relevant(a, &a->modes[m]);
    left = left || (near && least < INFINITY);
    right = right || far;
    if (least < INFINITY && (near || far))
      most = fmax(most, least);
  }
  /* Basins that appear or vanish between a and b are not to be resolved. */
  bool wide = a->tau > 0 ? b->tau > 1.15 * a->tau : b->tau > 100 * SMALLEST;
  if (!wide)
    return 0;
  return left && right ? most : fmax(most, UNMATCHED);
}

static double between(const tm_laplace *laplace, size_t s, double divergent) {
  double a = laplace->stages[s].tau, b = laplace->stages[s + 1].tau;
  if (a > 0)
    return b > 2 * a ? sqrt(a * b) : 0.5 * (a + b);
  /* log z is quadratic near 0: the divergence goes with the square. */
  return b * fmax(0.01, fmin(0.5, sqrt(NEAR / divergent)));
}

/* The mode's weight at another tau, by its tangent. */
static double weight_ahead(const tm_stage *from, const tm_mode *mode,
                           double tau) {
  return mode->seen.log_weight + (tau - from->tau) * mode->seen.slope;
}

static tempera_status climb_from_side(tm_laplace *laplace, tm_stage *stage,
                                      tm_stage *side, tempera_error *error) {
  double best = -INFINITY;
  for (size_t m = 0; m < side->count; m++)
    best = fmax(best, weight_ahead(side, &side->modes[m], stage->tau));
  for (size_t m = 0; m < side->count; m++) {
    bool rough = weight_ahead(side, &side->modes[m], stage->tau) < best - ROUGH;
    TM_TRY(plan_from(laplace, stage, &side->modes[m], rough, error));
  }
  return tm_laplace_explore(laplace, stage, NULL, error);
}

/* Would this mode be within the window at the other tau, where its basin is
 * not known? Its line there is a lower bound. */
static bool missing(tm_laplace *laplace, const tm_stage *stage,
                    const tm_stage *from, const tm_mode *mode) {
  double line = mode->seen.log_weight +
                (stage->tau - from->tau) * mode->seen.log_likelihood;
  if (line < stage->modes[0].seen.log_weight - 0.5 * TM_LAPLACE_WINDOW)
    return false;
  return !find_mode(laplace, stage, mode->spot.u, mode->tracks);
}

tempera_status tm_laplace_follow(tm_laplace *laplace, size_t s, int way,
                                 tempera_error *error) {
  while (way < 0 ? s > 0 : s + 1 < laplace->stage_count) {
    tm_stage *from = &laplace->stages[s];
    s = way < 0 ? s - 1 : s + 1;
    tm_stage *stage = &laplace->stages[s];
    size_t fresh = 0;
    for (size_t m = 0; m < from->count; m++)
      if (missing(laplace, stage, from, &from->modes[m]))
        TM_TRY(plan_from(laplace, stage, &from->modes[m], false, error));
    if (laplace->store->climb_count == 0)
      break;
    laplace->split_from = 0;
    TM_TRY(tm_laplace_explore(laplace, stage, &fresh, error));
    tm_stage_settle(laplace, stage);
    if (fresh == 0)
      break;
  }
  return TEMPERA_OK;
}

/* A new stage after s. What it knows and its neighbours do not is followed
 * to them, and on. */
static tempera_status insert(tm_laplace *laplace, size_t s, double tau,
                             tempera_error *error) {
  tm_stage *stages = laplace->stages;
  memmove(stages + s + 2, stages + s + 1,
          (laplace->stage_count - s - 1) * sizeof *stages);
  laplace->stage_count++;
  tm_stage *stage = &stages[s + 1];
  *stage = (tm_stage){.tau = tau};
  laplace->runaway = -INFINITY;
  laplace->split_from = 0;
  TM_TRY(climb_from_side(laplace, stage, stage + 1, error));
  TM_TRY(climb_from_side(laplace, stage, stage - 1, error));
  TM_TRY(finish_stage(laplace, stage, error));
  if (laplace->view.absent)
    return TEMPERA_OK;
  TM_TRY(tm_laplace_follow(laplace, s + 1, 1, error));
  return tm_laplace_follow(laplace, s + 1, -1, error);
}

tempera_status tm_laplace_refine(tm_laplace *laplace, tempera_error *error) {
  while (laplace->stage_count < TM_LAPLACE_KNOTS && !laplace->view.absent &&
         tm_store_spent(laplace->store) < laplace->enough) {
    size_t worst = 0;
    double most = 0;
    for (size_t s = 0; s + 1 < laplace->stage_count; s++) {
      double here = divergence(laplace, s);
      if (here > most) {
        most = here;
        worst = s;
      }
    }
    if (most < NEAR)
      break;
    TM_TRY(insert(laplace, worst, between(laplace, worst, most), error));
  }
  return TEMPERA_OK;
}
