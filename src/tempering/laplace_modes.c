/* laplace_modes.c - optima made into modes with Laplace weights
 *   log w = s + (d/2) log 2 pi - log |H| / 2        (method 4.2),
 * duplicates recognised, also under relabelling, and log z put together.
 *
 * Two modes a few spreads apart share mass that their weights count twice (a
 * mixture's labels near tau = 0, |mu| near 0). Two equal normals at distance
 * r share erfc(r / sqrt 8) of theirs, and each weight is divided by one plus
 * what it shares. */
#include "numeric/dense.h"
#include "tempering/laplace.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double LOG_2PI = 1.8378770664093454836;
static const double SAME = 0.25; /* squared distance of duplicates */
static const double BROADER = 2; /* nats of volume: a hill, and no bad step */
static const double NO_PEAK = 1; /* nats: so little is none */
static const double FLAT = 1e-8; /* a curvature, in steps: so little is none */
/* Proposals: weights to this power, and a floor shared by all. */
static const double FLATTEN = 0.8, FLOOR = 0.02;
static const uint64_t LAST_TRACK = (uint64_t)1 << 63;

/* ---- distances */

static double square_between(tm_laplace *laplace, const tm_mode *mode,
                             const double *u, double most) {
  return tm_frame_square(&laplace->store->frame, mode->spot.factor, u,
                         mode->spot.u, most, laplace->delta);
}

/* The p-th relabelling of u, into scratch; 0 is u itself. */
static const double *relabelled(tm_laplace *laplace, const double *u,
                                size_t p) {
  const tm_labels *labels = &laplace->store->labels;
  return p ? tm_laplace_relabel(laplace,
                                labels->permutation + p * labels->count, u)
           : u;
}

static size_t relabellings(const tm_laplace *laplace) {
  return laplace->store->labels.permutations
             ? laplace->store->labels.permutations
             : 1;
}

bool tm_laplace_same_value(tm_laplace *laplace, const double *a,
                           const double *b) {
  for (size_t p = 0; p < relabellings(laplace); p++)
    if (tm_same_value(laplace->model, a, relabelled(laplace, b, p)))
      return true;
  return false;
}

/* The nearest copy of u, in the mode's metric; infinite for other integers. */
static double nearest_square(tm_laplace *laplace, const tm_mode *mode,
                             const double *u, double most) {
  double least = INFINITY;
  for (size_t p = 0; p < relabellings(laplace) && least > 0; p++) {
    const double *copy = relabelled(laplace, u, p);
    if (tm_same_value(laplace->model, mode->spot.u, copy))
      least = fmin(least, square_between(laplace, mode, copy, most));
  }
  return least;
}

bool tm_mode_covers(tm_laplace *laplace, const tm_mode *mode, const double *u) {
  double d = (double)laplace->store->frame.reals;
  double bulk = d + 5 * sqrt(2 * d) + 5;
  return nearest_square(laplace, mode, u, bulk) < bulk;
}

bool tm_stage_covers(tm_laplace *laplace, const tm_stage *stage,
                     const double *u) {
  for (size_t m = 0; m < stage->count; m++)
    if (tm_mode_covers(laplace, &stage->modes[m], u))
      return true;
  return false;
}

/* ---- from an optimum to a mode */

/* Eigenvalues are made positive, and not so small that the spread would be
 * ten times that of the starts. */
static bool make_definite(tm_laplace *laplace, double *h) {
  size_t d = laplace->store->frame.reals;
  const double *scale = laplace->store->frame.step;
  tm_climber *c = &laplace->store->climbers[0];
  for (size_t i = 0; i < d; i++)
    for (size_t k = 0; k < d; k++)
      c->work[i * d + k] = h[i * d + k] * scale[i] * scale[k];
  const tm_stop *stop = &laplace->store->settings.stop;
  if (!tm_symmetric_eigen_until(c->work, d, c->values, c->vectors, stop))
    return false;
  memset(h, 0, d * d * sizeof(double));
  for (size_t e = 0; e < d && !tm_stop_due(stop); e++) {
    const double *v = c->vectors + e * d;
    for (size_t i = 0; i < d; i++) {
      double part = fmax(fabs(c->values[e]), 1e-2) * v[i];
      for (size_t k = 0; k < d; k++)
        h[i * d + k] += part * v[k];
    }
  }
  for (size_t i = 0; i < d; i++)
    for (size_t k = 0; k < d; k++)
      h[i * d + k] /= scale[i] * scale[k];
  return tm_cholesky_until(h, d, stop);
}

double tm_laplace_flattest(const tm_laplace *laplace, const tm_spot *spot,
                           double tau, size_t *coordinate) {
  const tm_frame *frame = &laplace->store->frame;
  double least = INFINITY;
  for (size_t k = 0; k < frame->reals; k++) {
    size_t i = k * frame->reals + k;
    double bend =
        (tau * spot->hl[i] + spot->hp[i]) * frame->step[k] * frame->step[k];
    if (!(bend < least))
      continue;
    least = bend;
    *coordinate = frame->real[k];
  }
  return least;
}

/* tr(H^-1 hl): how much the curvature of l flattens E[l] below l(u). */
static double share_of_curvature(tm_laplace *laplace, const tm_spot *spot) {
  size_t d = laplace->store->frame.reals;
  double trace = 0;
  const tm_stop *stop = &laplace->store->settings.stop;
  for (size_t k = 0; k < d && !tm_stop_due(stop); k++) {
    memcpy(laplace->delta, spot->hl + k * d, d * sizeof(double));
    tm_solve_lower(spot->factor, d, laplace->delta);
    tm_solve_upper(spot->factor, d, laplace->delta);
    trace += laplace->delta[k];
  }
  return trace;
}

static tempera_status make_mode(tm_laplace *laplace, double tau,
                                tm_climb *climb, bool shoulder, tm_mode *mode,
                                tempera_error *error) {
  size_t d = laplace->store->frame.reals;
  const tm_stop *stop = &laplace->store->settings.stop;
  tm_spot *spot = shoulder ? &climb->broad : &climb->spot;
  if (!spot->factor)
    spot->factor = TM_NEW(laplace->store->arena, double, 2 * d * d + 1);
  double *factor = spot->factor, *inverse = factor + d * d;
  size_t along;
  if (!factor)
    return tm_fail_memory(error);
  *mode = (tm_mode){.spot = *spot, .tracks = climb->tracks};
  tm_laplace_mode *seen = &mode->seen;
  tm_spot_curvature(spot, tau, d, factor);
  *seen = (tm_laplace_mode){.u = spot->u,
                            .factor = factor,
                            .inverse = inverse,
                            .height = tm_spot_height(spot, tau),
                            .log_likelihood = spot->l,
                            .shoulder = shoulder,
                            .edge = climb->edge};
  /* Is some direction so flat that nothing bounds it? */
  seen->indefinite = tm_laplace_flattest(laplace, spot, tau, &along) < FLAT;
  if (seen->indefinite || !tm_cholesky_until(factor, d, stop)) {
    if (tm_stop_due(stop))
      return tm_fail(error, TEMPERA_CANCELLED, "cancelled");
    seen->indefinite = true;
    tm_spot_curvature(spot, tau, d, factor);
    mode->dead = !make_definite(laplace, factor);
  }
  for (size_t k = 0; k < d; k++)
    seen->half_log_det += log(factor[k * d + k]);
  seen->log_weight =
      seen->height + 0.5 * (double)d * LOG_2PI - seen->half_log_det;
  seen->slope = spot->l - 0.5 * share_of_curvature(laplace, spot);
  return tm_triangular_inverse_until(factor, d, inverse, stop)
             ? TEMPERA_OK
             : tm_fail(error, TEMPERA_CANCELLED, "cancelled");
}

/* A search goes on as long as the run, and what it finds is hardly ever new: so
 * memory of modes that were not kept is used again. */
static void drop_mode(tm_laplace *laplace, const tm_mode *mode) {
  if (!mode->lent)
    tm_store_spare(laplace->store, &mode->spot);
}

/* ---- filing */

static size_t find_duplicate(tm_laplace *laplace, const tm_stage *stage,
                             const tm_mode *mode) {
  for (size_t m = 0; m < stage->count; m++) {
    const tm_mode *old = &stage->modes[m];
    if (!old->dead && old->seen.shoulder == mode->seen.shoulder &&
        nearest_square(laplace, old, mode->spot.u, 1) < SAME &&
        nearest_square(laplace, mode, old->spot.u, 1) < SAME)
      return m;
  }
  return stage->count;
}

/* A basin that comes to a stage and finds its name taken, by the end of
 * another path, gets a second name, here and where it comes from. */
static void name_apart(tm_laplace *laplace, const tm_stage *stage,
                       const tm_climb *climb, tm_mode *mode) {
  bool taken = false;
  for (size_t m = 0; m < stage->count && !taken; m++)
    taken = !stage->modes[m].dead && (stage->modes[m].tracks & mode->tracks) &&
            tm_same_value(laplace->model, stage->modes[m].spot.u, mode->spot.u);
  if (!taken)
    return;
  if (laplace->split_from != climb->tracks) {
    laplace->split_from = climb->tracks;
    laplace->split_to = tm_laplace_new_track(laplace);
  }
  mode->tracks = laplace->split_to;
  tm_mode *source = climb->source;
  if (source)
    source->tracks |= laplace->split_to;
}

static tempera_status add_mode(tm_laplace *laplace, tm_stage *stage,
                               const tm_mode *mode, tempera_error *error) {
  if (stage->count == TM_LAPLACE_MODES) {
    drop_mode(laplace, mode);
    return TEMPERA_OK; /* the window is full; the best came first */
  }
  if (!stage->modes) {
    stage->modes = TM_NEW(laplace->arena, tm_mode, TM_LAPLACE_MODES);
    if (!stage->modes)
      return tm_fail_memory(error);
  }
  stage->modes[stage->count++] = *mode;
  return TEMPERA_OK;
}

/* Beyond TM_LABELS_ALL labels one copy stands for all: the sorted one. Not
 * where integers are explored, which would come back to what was sorted away.
 */
static bool must_sort(tm_laplace *laplace, const tm_climb *climb) {
  if (laplace->store->labels.count <= TM_LABELS_ALL || climb->resorted ||
      laplace->model->real_dimension < laplace->model->dimension)
    return false;
  tm_constrain(laplace->model, climb->spot.u, laplace->theta, NULL);
  return !tm_labels_sorted(&laplace->store->labels, laplace->theta);
}

static tempera_status plan_sorted(tm_laplace *laplace, const tm_climb *climb,
                                  tempera_error *error) {
  unsigned char permutation[TM_LABELS_MOST];
  tm_labels_sort(&laplace->store->labels, laplace->theta, permutation);
  tm_climb next = {.tau = climb->tau,
                   .u = tm_laplace_relabel(laplace, permutation, climb->spot.u),
                   .tracks = climb->tracks,
                   .resorted = true};
  return tm_store_plan(laplace->store, &next, error);
}

/* The natural ridge may begin from it, until it is fixed, too. */
static tempera_status show_store(tm_laplace *laplace, double tau, tm_mode *mode,
                                 tempera_error *error) {
  double log_jacobian;
  if (mode->dead || laplace->frozen)
    return TEMPERA_OK;
  mode->lent = true;
  tm_constrain(laplace->model, mode->spot.u, laplace->theta, &log_jacobian);
  tm_optimum found = {.tau = tau,
                      .measure = TM_UNCONSTRAINED,
                      .finder = TM_BY_LAPLACE,
                      .log_likelihood = mode->spot.l,
                      .log_prior = mode->spot.p - log_jacobian,
                      .log_jacobian = log_jacobian,
                      .u = mode->spot.u,
                      .spot = mode->spot};
  return tm_store_add(laplace->store, &found, error);
}

/* A mode that is new, or better than what is known of it; `spot` is then the
 * mode's. */
static tempera_status file_mode(tm_laplace *laplace, tm_stage *stage,
                                const tm_climb *climb, tm_mode *mode,
                                tm_spot *spot, size_t *fresh,
                                tempera_error *error) {
  size_t twin =
      mode->dead ? stage->count : find_duplicate(laplace, stage, mode);
  if (twin == stage->count) {
    spot->u = NULL;
    *fresh += !mode->dead;
    if (!mode->seen.shoulder)
      TM_TRY(show_store(laplace, stage->tau, mode, error));
    name_apart(laplace, stage, climb, mode);
    return add_mode(laplace, stage, mode, error);
  }
  tm_mode *old = &stage->modes[twin];
  old->tracks |= climb->tracks;
  if (mode->seen.height > old->seen.height + 1e-9 ||
      (old->seen.indefinite && !mode->seen.indefinite)) {
    mode->tracks = old->tracks;
    spot->u = NULL;
    drop_mode(laplace, old);
    *old = *mode;
  }
  return TEMPERA_OK;
}

/* The hill beneath a peak, if it is much the broader of the two: the step that
 * met the peak may just have been a bad one. */
static tempera_status file_hill(tm_laplace *laplace, tm_stage *stage,
                                tm_climb *climb, double peak, size_t *fresh,
                                tempera_error *error) {
  tm_mode hill;
  TM_TRY(make_mode(laplace, stage->tau, climb, true, &hill, error));
  if (hill.dead || hill.seen.indefinite ||
      hill.seen.half_log_det > peak - BROADER)
    return TEMPERA_OK;
  return file_mode(laplace, stage, climb, &hill, &climb->broad, fresh, error);
}

/* Labels that do not change places at an optimum do not at all. Once chains go
 * by them it is too late to say so. */
static void check_labels(tm_laplace *laplace, const tm_climb *climb) {
  tm_labels *labels = &laplace->store->labels;
  tm_climber *c = &laplace->store->climbers[0];
  if (labels->count == 0 || laplace->frozen)
    return;
  tm_constrain(laplace->model, climb->spot.u, laplace->theta, NULL);
  if (!tm_labels_hold(c->evaluator, &c->trial, labels, laplace->theta))
    labels->count = 0;
}

static tempera_status file_found(tm_laplace *laplace, tm_stage *stage,
                                 tm_climb *climb, size_t *fresh,
                                 tempera_error *error) {
  tm_mode mode;
  check_labels(laplace, climb);
  tm_climb sorted = *climb; /* the queue may move */
  TM_TRY(make_mode(laplace, stage->tau, climb, false, &mode, error));
  mode.seen.shoulder = climb->hill && !climb->shouldered;
  double peak = mode.seen.indefinite ? INFINITY : mode.seen.half_log_det;
  if (climb->shouldered)
    TM_TRY(file_hill(laplace, stage, climb, peak, fresh, error));
  if (!mode.seen.shoulder && must_sort(laplace, climb))
    return plan_sorted(laplace, &sorted, error);
  return file_mode(laplace, stage, climb, &mode, &climb->spot, fresh, error);
}

/* It ended at a mode that is known, or nowhere, but may have met a hill on its
 * way. */
static tempera_status file_way(tm_laplace *laplace, tm_stage *stage,
                               tm_climb *climb, size_t *fresh,
                               tempera_error *error) {
  double peak = INFINITY;
  if (climb->outcome == TM_ASCENT_KNOWN) {
    stage->modes[climb->same].tracks |= climb->tracks;
    peak = stage->modes[climb->same].seen.half_log_det;
  }
  return climb->shouldered
             ? file_hill(laplace, stage, climb, peak, fresh, error)
             : TEMPERA_OK;
}

/* What was tried in vain is remembered until the stage is settled. */
static tempera_status file_dead(tm_laplace *laplace, tm_stage *stage,
                                tm_climb *climb, tempera_error *error) {
  tm_mode mode = {.spot = climb->spot, .dead = true};
  memcpy(mode.spot.u, climb->u, laplace->model->dimension * sizeof(double));
  mode.tracks = climb->tracks;
  mode.seen.log_weight = mode.seen.height = -INFINITY;
  climb->spot.u = NULL;
  return add_mode(laplace, stage, &mode, error);
}

tempera_status tm_laplace_file(tm_laplace *laplace, tm_stage *stage,
                               size_t *fresh, tempera_error *error) {
  tm_store *store = laplace->store;
  size_t count = store->climb_count;
  for (size_t i = 0; i < count; i++) {
    tm_climb *climb = &store->climbs[i];
    if (climb->outcome == TM_ASCENT_FOUND)
      TM_TRY(file_found(laplace, stage, climb, fresh, error));
    else
      TM_TRY(file_way(laplace, stage, climb, fresh, error));
    climb = &store->climbs[i]; /* the queue may have moved */
    double height = tm_spot_height(&climb->spot, climb->tau);
    if (climb->outcome == TM_ASCENT_RUNAWAY && height > laplace->runaway) {
      laplace->runaway = height;
      laplace->culprit = climb->culprit;
    }
    if (climb->outcome >= TM_ASCENT_DEAD)
      TM_TRY(file_dead(laplace, stage, climb, error));
  }
  tm_store_pop(store, count); /* more may have been planned meanwhile */
  return TEMPERA_OK;
}

/* ---- copies, overlap, log z */

static double shared(double square) { return erfc(sqrt(square / 8)); }

/* How often the mass around mode j is counted, over all modes and copies. */
static double counted(tm_laplace *laplace, const tm_stage *stage, size_t j) {
  const tm_mode *mode = &stage->modes[j];
  double sum = 0;
  for (size_t i = 0; i < stage->count; i++) {
    const tm_mode *other = &stage->modes[i];
    double part =
        i == j ? 1
               : fmin(1, exp(other->seen.log_weight - mode->seen.log_weight));
    if (part < 1e-3 || other->seen.shoulder != mode->seen.shoulder)
      continue;
    for (size_t p = 0; p < relabellings(laplace); p++) {
      const double *copy = relabelled(laplace, other->spot.u, p);
      if (tm_same_value(laplace->model, mode->spot.u, copy))
        sum += part * shared(square_between(laplace, mode, copy, 60));
    }
  }
  return sum;
}

/* More than TM_LABELS_ALL labels: K! copies if no two labels are near. */
static bool all_apart(tm_laplace *laplace, const tm_mode *mode) {
  const tm_labels *labels = &laplace->store->labels;
  unsigned char swap[TM_LABELS_MOST];
  tm_constrain(laplace->model, mode->spot.u, laplace->theta, NULL);
  if (!tm_labels_sorted(labels, laplace->theta))
    return false;
  for (size_t a = 0; a < labels->count; a++)
    for (size_t b = 0; b < a; b++) {
      for (size_t k = 0; k < labels->count; k++)
        swap[k] = (unsigned char)(k == a ? b : k == b ? a : k);
      const double *u = tm_laplace_relabel(laplace, swap, mode->spot.u);
      if (tm_same_value(laplace->model, mode->spot.u, u) &&
          square_between(laplace, mode, u, 9) < 9)
        return false;
    }
  return true;
}

static void count_copies(tm_laplace *laplace, tm_stage *stage) {
  const tm_labels *labels = &laplace->store->labels;
  bool many = labels->count > TM_LABELS_ALL, apart = many;
  for (size_t m = 0; m < stage->count && many && apart; m++)
    apart = all_apart(laplace, &stage->modes[m]);
  for (size_t m = 0; m < stage->count; m++) {
    double copies = (double)relabellings(laplace) / counted(laplace, stage, m);
    stage->modes[m].seen.log_copies =
        log(copies) + (many && apart ? labels->log_factorial : 0);
  }
}

/* At a tau so small that a peak is none, the hill beneath it is all there is;
 * its derivatives, not the peak's, tell what comes of it at other taus. */
static void drop_low_peaks(tm_laplace *laplace, tm_stage *stage) {
  for (size_t h = 0; h < stage->count; h++) {
    tm_mode *hill = &stage->modes[h];
    for (size_t m = 0; m < stage->count && hill->seen.shoulder; m++) {
      tm_mode *mode = &stage->modes[m];
      if (mode->dead || hill->dead || mode->seen.shoulder ||
          mode->seen.height > hill->seen.height + NO_PEAK ||
          !(nearest_square(laplace, hill, mode->spot.u, 1) < SAME))
        continue;
      mode->dead = true;
      hill->tracks |= mode->tracks;
    }
  }
}

static int by_weight(const void *a, const void *b) {
  const tm_laplace_mode *x = &((const tm_mode *)a)->seen;
  const tm_laplace_mode *y = &((const tm_mode *)b)->seen;
  return (x->log_weight < y->log_weight) - (x->log_weight > y->log_weight);
}

static void drop_poor(tm_laplace *laplace, tm_stage *stage) {
  size_t kept = 0;
  double best = -INFINITY;
  for (size_t m = 0; m < stage->count; m++)
    if (!stage->modes[m].dead)
      best = fmax(best, stage->modes[m].seen.log_weight);
  for (size_t m = 0; m < stage->count; m++)
    if (!stage->modes[m].dead &&
        stage->modes[m].seen.log_weight > best - TM_LAPLACE_WINDOW)
      stage->modes[kept++] = stage->modes[m];
    else
      drop_mode(laplace, &stage->modes[m]);
  stage->count = kept;
  if (kept)
    qsort(stage->modes, kept, sizeof *stage->modes, by_weight);
}

static void set_shares(tm_stage *stage) {
  double total = 0, best = stage->best;
  for (size_t m = 0; m < stage->count; m++) {
    tm_laplace_mode *seen = &stage->modes[m].seen;
    double mass = seen->log_weight + seen->log_copies;
    seen->share = exp(FLATTEN * (mass - best));
    total += seen->share;
  }
  for (size_t m = 0; m < stage->count; m++) {
    double *share = &stage->modes[m].seen.share;
    *share = (1 - FLOOR) * *share / total + FLOOR / (double)stage->count;
  }
}

void tm_stage_settle(tm_laplace *laplace, tm_stage *stage) {
  drop_low_peaks(laplace, stage);
  drop_poor(laplace, stage);
  count_copies(laplace, stage);
  stage->best = -INFINITY;
  double total = 0, slope = 0;
  for (size_t m = 0; m < stage->count; m++) {
    tm_laplace_mode *seen = &stage->modes[m].seen;
    seen->track = (size_t)__builtin_ctzll(stage->modes[m].tracks | LAST_TRACK);
    stage->best = fmax(stage->best, seen->log_weight + seen->log_copies);
  }
  for (size_t m = 0; m < stage->count; m++) {
    const tm_laplace_mode *seen = &stage->modes[m].seen;
    double mass = exp(seen->log_weight + seen->log_copies - stage->best);
    total += mass;
    slope += mass * seen->slope;
  }
  stage->log_z = stage->best + log(total);
  stage->slope = slope / total;
  if (stage->count)
    set_shares(stage);
}
