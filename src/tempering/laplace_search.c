/* laplace_search.c - looking for basins that nobody has met, with a given
 * number of evaluations, and which of those known the draws have visited.
 *
 * Half goes into points that are only looked at, drawn in turns from the prior,
 * around the known modes at all scales from the prior's down to a fiftieth of
 * their own, and on lines through them: along one coordinate, along all of a
 * vector by the same amount, and away from the top of the prior. Where the
 * density is far above what all known modes together explain there, something
 * unknown is near, and the highest such points are climbed from; over the
 * prior, where it does not rise on the way to any known mode. A narrow basin in
 * few dimensions, or beside the top of a broad one, is found by that, at one to
 * three evaluations a look. The other half goes into climbs from draws as they
 * come, of the prior and of the chains at all taus: they find wide basins in
 * many dimensions. A quarter of these starts are images of known modes, signs
 * turned and coordinates exchanged about the top of the prior: a model that
 * cannot tell them apart, or nearly so, has its other modes there. In turns
 * they climb the posterior, the likelihood alone and the posterior at tau > 1,
 * which have other slopes around the same optima; all end with a climb of the
 * posterior.
 */
#include "numeric/dense.h"
#include "parallel/ranks.h"
#include "tempering/laplace.h"

#include <math.h>
#include <string.h>

enum {
  LOOKS = 64,     /* of a worker at a time */
  MOST_ASKED = 8, /* modes that a look is asked to belong to */
  MOST_COLD = 20, /* reals whose curvature is worth a climb's beginning */
  PER_START = 2   /* looks that find as much as a climb (docs/methods.md) */
};
static const double UNEXPLAINED = 3; /* nats above the known modes */
static const double EXCURSION = 4;   /* a tau above one */
static const double CLOSEST = 0.02;  /* of a mode's spread: the nearest looks */
static const double CLOSER = 0.95, MIDWAY = 0.7; /* of the way to a mode */
static const double FARTHEST = 6; /* of the prior's spread: on lines */

/* ---- what the known modes explain */

typedef enum place { OVER_THE_PRIOR, BETWEEN, NEAR, ON_A_LINE } place;

typedef struct scout {
  tm_laplace *laplace;
  const tm_laplace_knot *first, *top;
  uint64_t stream;
  place where;
  double *u[TM_STORE_WORKERS];       /* the look of each that is nearest to
                                        something unknown, ... */
  double near[TM_STORE_WORKERS];     /* ... how near: -infinity if it is not */
  size_t judged[TM_STORE_WORKERS];   /* looks in basins known after it */
  double *look[TM_STORE_WORKERS];    /* scratch */
  tm_point turned[TM_STORE_WORKERS]; /* scratch */
  const double *points; /* to climb from, on the natural scale, ... */
  size_t count, used;   /* ... and how many starts have been, of any kind */
  size_t fresh;         /* basins found */
} scout;

/* The log density at u that the modes stand for, as normals: where a narrower
 * mode is unknown, the boundary of its basin is where it rises above them. The
 * mode that explains most of it is `by`, NULL where none has u's integers. */
static double explained(const tm_laplace *laplace, const tm_laplace_knot *knot,
                        const double *u, double *delta,
                        const tm_laplace_mode **by) {
  const tm_frame *frame = &laplace->store->frame;
  double top = -INFINITY, sum = 0;
  *by = NULL;
  for (size_t m = 0; m < knot->mode_count; m++) {
    const tm_laplace_mode *mode = &knot->modes[m];
    if (!tm_same_value(laplace->model, mode->u, u))
      continue;
    double square =
        tm_frame_square(frame, mode->factor, u, mode->u, INFINITY, delta);
    double term = mode->height - square / 2;
    double high = fmax(top, term);
    if (term == high)
      *by = mode;
    sum = sum * exp(top - high) + exp(term - high);
    top = high;
  }
  return sum > 0 ? top + log(sum) : -INFINITY;
}

/* Some mode, at which the climber's trial now is. */
static const tm_laplace_mode *go_to_mode(const scout *s, tm_climber *c,
                                         tempera_random *random) {
  const tm_laplace_mode *mode =
      &s->top->modes[tempera_random_below(random, s->top->mode_count)];
  tm_climber_go(c, mode->u);
  return mode;
}

/* L'^-1 z */
static void draw_step(tm_climber *c, const tm_laplace_mode *mode,
                      tempera_random *random) {
  size_t d = c->frame->reals;
  for (size_t k = 0; k < d; k++)
    c->lane[k] = tempera_random_normal(random);
  tm_lower_transposed(mode->inverse, d, c->lane, c->step);
}

/* u = u_j + r L'^-1 z, log r even: the climber's trial. */
static void draw_near(const scout *s, tm_climber *c, tempera_random *random) {
  const tm_frame *frame = c->frame;
  const tm_laplace_mode *mode = go_to_mode(s, c, random);
  double r = exp(log(CLOSEST) * tempera_random_uniform(random));
  draw_step(c, mode, random);
  for (size_t k = 0; k < frame->reals; k++)
    c->trial.u[frame->real[k]] += r * c->step[k];
}

/* A direction over the reals: one coordinate, all of one block or of the model,
 * or away from the top of the prior. */
static void draw_direction(const scout *s, const tm_climber *c,
                           const tm_laplace_mode *mode, tempera_random *random,
                           double *direction) {
  const tm_frame *frame = c->frame;
  const size_t *block = c->model->block_of_u;
  uint64_t kind = tempera_random_below(random, 4);
  size_t one = tempera_random_below(random, frame->reals);
  const double *centre = s->first->modes[0].u;
  for (size_t k = 0; k < frame->reals; k++) {
    size_t j = frame->real[k];
    bool here = kind == 0   ? k == one
                : kind == 1 ? block[j] == block[frame->real[one]]
                            : true;
    direction[k] = kind == 3 ? mode->u[j] - centre[j] : here;
  }
}

/* The spread of a mode along a direction. */
static double spread_along(const tm_laplace_mode *mode, size_t d,
                           const double *direction) {
  return 1 / sqrt(tm_factor_square(mode->factor, d, direction, INFINITY));
}

static void draw_on_line(const scout *s, tm_climber *c,
                         tempera_random *random) {
  const tm_frame *frame = c->frame;
  const tm_laplace_mode *mode = go_to_mode(s, c, random);
  draw_direction(s, c, mode, random, c->lane);
  double low = log(CLOSEST * spread_along(mode, frame->reals, c->lane));
  double high =
      log(FARTHEST * spread_along(&s->first->modes[0], frame->reals, c->lane));
  double t = exp(low + fmax(0, high - low) * tempera_random_uniform(random));
  if (tempera_random_uniform(random) < 0.5)
    t = -t;
  for (size_t k = 0; k < frame->reals && isfinite(t); k++)
    c->trial.u[frame->real[k]] += t * c->lane[k];
}

/* The same with the shape of the prior, from its size down to the mode's, about
 * points between the mode and the top of the prior. */
static void draw_between(const scout *s, tm_climber *c,
                         tempera_random *random) {
  const tm_frame *frame = c->frame;
  const tm_laplace_mode *mode = go_to_mode(s, c, random);
  const tm_laplace_mode *wide = &s->first->modes[0];
  double least = 0, d = (double)frame->reals;
  for (size_t k = 0; k < frame->reals; k++) {
    size_t i = k * frame->reals + k;
    least += log(mode->inverse[i] / wide->inverse[i]) / d;
  }
  double r = exp(fmin(0, least) * tempera_random_uniform(random));
  double way = tempera_random_uniform(random);
  draw_step(c, wide, random);
  for (size_t k = 0; k < frame->reals && isfinite(r); k++) {
    size_t j = frame->real[k];
    c->trial.u[j] += way * (wide->u[j] - mode->u[j]) + r * c->step[k];
  }
}

static void draw_look(const scout *s, tm_climber *c, tempera_random *random) {
  if (s->where == NEAR)
    draw_near(s, c, random);
  else if (s->where == BETWEEN)
    draw_between(s, c, random);
  else if (s->where == ON_A_LINE)
    draw_on_line(s, c, random);
  if (s->where == OVER_THE_PRIOR)
    tm_prior_draw(c->evaluator, random, &c->trial);
  else
    tm_evaluate(c->evaluator, &c->trial);
}

/* The height at what is left of the way from the mode to u. */
static double height_towards(tm_climber *c, const tm_laplace_mode *mode,
                             const double *u, double left) {
  tm_optimum there;
  memcpy(c->trial.u, u, c->model->dimension * sizeof(double));
  for (size_t k = 0; k < c->frame->reals; k++) {
    size_t j = c->frame->real[k];
    c->trial.u[j] = mode->u[j] + left * (u[j] - mode->u[j]);
  }
  tm_evaluate(c->evaluator, &c->trial);
  if (!tm_climber_forgive(c) || !tm_store_point(c, &there))
    return -INFINITY;
  return tm_optimum_height(&there, 1) + there.log_jacobian;
}

/* Far from its mode a known basin is no normal, and what is explained there may
 * be off by any amount, either way. But the density rises on the way to the
 * mode, all the more the deeper the look, and were it log-concave, at least as
 * the chord does. Its rise, half of the chord's being one. */
static double rise_towards(tm_climber *c, const tm_laplace_mode *mode,
                           const double *u, double height) {
  double chord = 0.5 * (mode->height - height);
  if (!(chord > 0))
    return -INFINITY;
  double near = height_towards(c, mode, u, CLOSER);
  double rise = (near - height) / ((1 - CLOSER) * chord);
  if (rise < 0)
    return rise;
  double middle = height_towards(c, mode, u, MIDWAY);
  return fmin(rise, middle < near ? (middle - near) / chord
                                  : (middle - height) / ((1 - MIDWAY) * chord));
}

/* The rise towards the mode to which it is one, or the greatest. */
static double greatest_rise(const scout *s, tm_climber *c, const double *u,
                            double height, const tm_laplace_mode *by) {
  double most = by ? rise_towards(c, by, u, height) : -INFINITY;
  for (size_t m = 0; m < s->top->mode_count && m < MOST_ASKED && most < 1;
       m++) {
    const tm_laplace_mode *mode = &s->top->modes[m];
    if (mode != by && tm_same_value(c->model, mode->u, u))
      most = fmax(most, rise_towards(c, mode, u, height));
  }
  return most;
}

/* How near something unknown is to the climber's trial, which is s->look, too,
 * and may be moved; -infinity if it is not. Looks over the prior, most of which
 * are far from all modes, go by the rise, the others by what is explained. */
static double unknown_near(scout *s, size_t worker, const tm_optimum *point) {
  tm_store *store = s->laplace->store;
  tm_climber *c = &store->climbers[worker];
  const tm_laplace_mode *by;
  double height = tm_optimum_height(point, 1) + point->log_jacobian;
  const double *u = s->look[worker];
  if (s->top->relabel && !tm_labels_sorted(&store->labels, c->trial.theta))
    u = tm_labels_in_order(c->model, &store->labels, &c->trial,
                           &s->turned[worker]); /* as the modes have theirs */
  double more = height - explained(s->laplace, s->top, u, c->lane, &by);
  if (s->where != OVER_THE_PRIOR)
    return more > UNEXPLAINED ? point->log_likelihood : -INFINITY;
  if (fabs(more) <= UNEXPLAINED)
    return -INFINITY;
  double rise = greatest_rise(s, c, u, height, by);
  return rise < 1 ? fmin(-rise, 1e6) : -INFINITY;
}

static void look_around(size_t worker, void *context) {
  scout *s = context;
  tm_climber *c = &s->laplace->store->climbers[worker];
  tempera_random random = tm_random(
      s->laplace->store->settings.seed,
      (uint32_t)(s->stream * TM_STORE_WORKERS + worker), TM_PURPOSE_SEARCH);
  size_t size = s->laplace->model->dimension * sizeof(double);
  s->near[worker] = -INFINITY;
  s->judged[worker] = 0;
  for (int i = 0; i < LOOKS && c->evaluator->status == TEMPERA_OK; i++) {
    tm_optimum point;
    draw_look(s, c, &random);
    bool there = tm_climber_forgive(c) && tm_store_point(c, &point);
    if (there)
      memcpy(s->look[worker], point.u, size);
    double near = there ? unknown_near(s, worker, &point) : -INFINITY;
    s->judged[worker] += near == -INFINITY;
    if (!(near > s->near[worker]))
      continue;
    s->near[worker] = near;
    memcpy(s->u[worker], s->look[worker], size);
  }
  s->judged[worker] += s->near[worker] > -INFINITY; /* it is climbed from */
}

/* ---- climbs */

static tm_stage *top_stage(tm_laplace *laplace) {
  return &laplace->stages[laplace->stage_count - 1];
}

/* Begun with the curvature of a known mode, or `cold`, with its own. */
static tempera_status plan(tm_laplace *laplace, const double *u, double tau,
                           tm_measure measure, bool cold,
                           tempera_error *error) {
  const tm_stage *top = top_stage(laplace);
  tm_climb climb = {.tau = tau,
                    .measure = measure,
                    .u = u,
                    .warm = top->count && !cold ? &top->modes[0].spot : NULL,
                    .tracks = tm_laplace_new_track(laplace)};
  return tm_store_plan(laplace->store, &climb, error);
}

/* The queue holds climbs to tau = 1: what they find is followed to the others,
 * unless all is frozen. */
static tempera_status arrive(scout *s, tempera_error *error) {
  tm_laplace *laplace = s->laplace;
  size_t before = s->fresh;
  TM_TRY(tm_laplace_explore(laplace, top_stage(laplace), &s->fresh, error));
  tm_stage_settle(laplace, top_stage(laplace));
  if (s->fresh == before || laplace->frozen)
    return TEMPERA_OK;
  return tm_laplace_follow(laplace, laplace->stage_count - 1, -1, error);
}

static place choose_place(const scout *s) {
  static const place TURNS[] = {OVER_THE_PRIOR, BETWEEN, NEAR, ON_A_LINE,
                                OVER_THE_PRIOR, BETWEEN, NEAR, OVER_THE_PRIOR};
  if (!s->top->mode_count || !s->first->mode_count ||
      !s->laplace->store->frame.reals)
    return OVER_THE_PRIOR;
  return TURNS[s->stream % (sizeof TURNS / sizeof *TURNS)];
}

static tempera_status screen(scout *s, tempera_error *error) {
  tm_store *store = s->laplace->store;
  s->stream = s->laplace->searches++;
  s->where = choose_place(s);
  /* Of a narrow mode's part, a step by a broad one's curvature leads away. */
  bool cold = s->where == OVER_THE_PRIOR && store->frame.reals <= MOST_COLD;
  tm_shared_for(TM_STORE_WORKERS, store->settings.threads, look_around, s);
  TM_TRY(tm_store_check(store, error));
  for (size_t w = 0; w < TM_STORE_WORKERS; w++) {
    if (s->where == OVER_THE_PRIOR) /* the others are no sample of anything */
      store->tried += s->judged[w] / PER_START;
    if (s->near[w] > -INFINITY)
      TM_TRY(plan(s->laplace, s->u[w], 1, TM_UNCONSTRAINED, cold, error));
  }
  return arrive(s, error);
}

/* An image of a known mode about the top of the prior: all its real coordinates
 * turned, or one, or two of a kind exchanged. */
static void draw_image(tm_laplace *laplace, tm_climber *c,
                       tempera_random *random) {
  const tm_frame *frame = &laplace->store->frame;
  const tm_stage *top = top_stage(laplace);
  const double *centre = laplace->stages[0].modes[0].spot.u;
  double *u = c->trial.u;
  uint64_t kind = tempera_random_below(random, 3);
  size_t a = frame->real[tempera_random_below(random, frame->reals)];
  size_t b = frame->real[tempera_random_below(random, frame->reals)];
  memcpy(u, top->modes[tempera_random_below(random, top->count)].spot.u,
         laplace->model->dimension * sizeof(double));
  for (size_t k = 0; k < frame->reals && kind == 0; k++)
    u[frame->real[k]] = 2 * centre[frame->real[k]] - u[frame->real[k]];
  if (kind == 1)
    u[a] = 2 * centre[a] - u[a];
  if (kind == 2 &&
      laplace->model->block_of_u[a] == laplace->model->block_of_u[b]) {
    double held = u[a];
    u[a] = u[b];
    u[b] = held;
  }
  tm_evaluate(c->evaluator, &c->trial);
}

/* A start: the next of the points, an image, or a draw from the prior. */
static bool next_start(scout *s, tempera_random *random) {
  tm_laplace *laplace = s->laplace;
  tm_climber *c = &laplace->store->climbers[0];
  bool draws = laplace->model->spec.prior_draw != NULL;
  size_t next = draws ? s->used / 2 : s->used;
  tm_optimum point;
  if (s->used % 4 == 3 && laplace->stages[0].count &&
      top_stage(laplace)->count && laplace->store->frame.reals) {
    draw_image(laplace, c, random);
  } else if (next < s->count && (s->used % 2 == 0 || !draws)) {
    memcpy(c->trial.theta, s->points + next * laplace->model->size,
           laplace->model->size * sizeof(double));
    tm_evaluate_natural(c->evaluator, &c->trial);
  } else if (draws) {
    tm_prior_draw(c->evaluator, random, &c->trial);
  } else {
    return false;
  }
  s->used++;
  return tm_climber_forgive(c) && tm_store_point(c, &point);
}

/* A wave of climbs, one for each worker. */
static tempera_status climb_wave(scout *s, tempera_error *error) {
  tm_laplace *laplace = s->laplace;
  tm_store *store = laplace->store;
  tempera_random random =
      tm_random(store->settings.seed, (uint32_t)laplace->searches++,
                TM_PURPOSE_EXCURSION);
  static const tm_measure MEASURES[] = {TM_UNCONSTRAINED, TM_LIKELIHOOD,
                                        TM_UNCONSTRAINED};
  for (size_t i = 0; i < TM_STORE_WORKERS; i++) {
    size_t kind = s->used % 3;
    if (next_start(s, &random))
      TM_TRY(plan(laplace, store->climbers[0].trial.u,
                  kind == 2 ? EXCURSION : 1, MEASURES[kind], false, error));
    TM_TRY(tm_store_check(store, error));
  }
  size_t planned = store->climb_count;
  store->tried += planned;
  TM_TRY(tm_store_run(store, NULL, 0, error));
  for (size_t i = 0; i < planned; i++)
    if (store->climbs[i].outcome != TM_ASCENT_DEAD)
      TM_TRY(plan(laplace, store->climbs[i].spot.u, 1, TM_UNCONSTRAINED, false,
                  error));
  tm_store_pop(store, planned);
  return arrive(s, error);
}

static tempera_status make_room(scout *s, tm_arena *arena,
                                tempera_error *error) {
  const tempera_model *model = s->laplace->model;
  for (size_t w = 0; w < TM_STORE_WORKERS; w++) {
    s->u[w] = TM_NEW(arena, double, model->dimension + 1);
    s->look[w] = TM_NEW(arena, double, model->dimension + 1);
    if (!s->u[w] || !s->look[w])
      return tm_fail_memory(error);
    TM_TRY(tm_point_create(model, arena, &s->turned[w], error));
  }
  return TEMPERA_OK;
}

static tempera_status search(scout *s, uint64_t looks, uint64_t evaluations,
                             tempera_error *error) {
  const tm_store *store = s->laplace->store;
  uint64_t start = tm_store_spent(store);
  bool draws = s->laplace->model->spec.prior_draw != NULL;
  while (draws && tm_store_spent(store) < start + looks)
    TM_TRY(screen(s, error));
  start = tm_store_spent(store);
  while (draws && tm_store_spent(store) + LOOKS * TM_STORE_WORKERS / 2 <
                      start + evaluations / 2)
    TM_TRY(screen(s, error));
  while (tm_store_spent(store) < start + evaluations &&
         (draws || s->used < s->count))
    TM_TRY(climb_wave(s, error));
  return TEMPERA_OK;
}

tempera_status tm_laplace_search(tm_laplace *laplace, uint64_t looks,
                                 uint64_t evaluations, const double *points,
                                 size_t count, tempera_error *error) {
  if (laplace->view.absent)
    return TEMPERA_OK;
  uint64_t before = tm_store_spent(laplace->store);
  tm_arena *arena = tm_arena_create();
  scout s = {.laplace = laplace,
             .first = &laplace->view.knots[0],
             .top = &laplace->view.knots[laplace->view.knot_count - 1],
             .points = points,
             .count = count};
  if (!arena)
    return tm_fail_memory(error);
  tempera_status status = make_room(&s, arena, error);
  if (status == TEMPERA_OK)
    status = search(&s, looks, evaluations, error);
  tm_arena_free(arena);
  TM_TRY(status);
  uint64_t spent = tm_store_spent(laplace->store) - before;
  laplace->store->searched += spent > looks ? spent - looks : 0;
  laplace->store->looked += looks;
  if (s.fresh == 0 || laplace->frozen)
    return TEMPERA_OK;
  TM_TRY(tm_laplace_refine(laplace, error));
  return tm_laplace_publish(laplace, error);
}

void tm_laplace_freeze(tm_laplace *laplace) { laplace->frozen = true; }

/* ---- visits */

size_t tm_laplace_basins(const tm_laplace *laplace) {
  return laplace->view.absent ? 0
                              : laplace->stages[laplace->stage_count - 1].count;
}

const tm_laplace_mode *tm_laplace_basin(const tm_laplace *laplace, size_t m) {
  return &laplace->stages[laplace->stage_count - 1].modes[m].seen;
}

bool tm_laplace_visited(tm_laplace *laplace, size_t m, const double *theta) {
  const tm_labels *labels = &laplace->store->labels;
  unsigned char order[TM_LABELS_MOST];
  double *u = laplace->store->climbers[0].trial.u;
  if (labels->count > TM_LABELS_ALL) {
    tm_labels_sort(labels, theta, order);
    tm_labels_apply(laplace->model, labels, order, theta, laplace->other);
    theta = laplace->other;
  }
  tm_unconstrain(laplace->model, theta, u);
  return tm_mode_covers(laplace, &top_stage(laplace)->modes[m], u);
}
