/* climb.c - see climb.h: the local optimum of tau*l + p from one start,
 * integers fixed, with the Hessian there.
 *
 * Newton's method in a trust region. Both parts of the density keep their own
 * gradient and Hessian, so what is known at one tau starts the climb at the
 * next without an evaluation. Hessians come from differences of gradients, or
 * of values where there are none, and are carried along by symmetric rank-one
 * updates in between. */
#include "tempering/climb.h"
#include "numeric/dense.h"

#include <math.h>
#include <string.h>

enum {
  ITERATIONS = 80,
  /* In so many dimensions a climb that needs as many Hessians is given up: each
   * takes 2 d gradients. */
  MANY = 40,
  HESSIANS = 12,
  FULL = 3 /* without gradients, up to this many reals: Hessians always */
};

static const double DONE = 1e-4; /* Newton decrement, in nats x 2 ... */
static const double DONE_BY_VALUES = 2e-3; /* ... where Hessians cost most */
static const double DONE_EXACTLY = 1e-9;   /* ... where heights are all */
static const double DRIFT = 0.05; /* a Hessian is as good as new so near */
static const double BOX = 60;
static const double SURPRISE = 3; /* nats above what was foreseen: a peak */

/* ---- workspace */

tempera_status tm_spot_create(const tempera_model *model, tm_arena *arena,
                              tm_spot *spot, tempera_error *error) {
  size_t d = model->real_dimension;
  double *room =
      TM_NEW(arena, double, model->dimension + 2 * d + 2 * d * d + 1);
  if (!room)
    return tm_fail_memory(error);
  spot->u = room;
  spot->gl = room + model->dimension;
  spot->gp = spot->gl + d;
  spot->hl = spot->gp + d;
  spot->hp = spot->hl + d * d;
  spot->factor = NULL;
  return TEMPERA_OK;
}

void tm_spot_copy(const tempera_model *model, const tm_spot *from,
                  tm_spot *to) {
  size_t d = model->real_dimension;
  to->l = from->l;
  to->p = from->p;
  memcpy(to->u, from->u,
         (model->dimension + 2 * d + 2 * d * d) * sizeof(double));
}

tempera_status tm_climber_create(const tempera_model *model,
                                 const tm_frame *frame, bool own_evaluator,
                                 tm_arena *arena, tm_climber *climber,
                                 tempera_error *error) {
  size_t d = model->real_dimension;
  double *room =
      TM_NEW(arena, double, 3 * d * d + 12 * d + 3 * model->dimension + 1);
  if (!room)
    return tm_fail_memory(error);
  *climber = (tm_climber){.model = model, .frame = frame};
  climber->b = room;
  climber->work = room + d * d;
  climber->vectors = room + 2 * d * d;
  double *rows = room + 3 * d * d;
  double **lists[] = {&climber->values, &climber->step, &climber->gradient,
                      &climber->scale,  &climber->used, &climber->lane,
                      &climber->tl,     &climber->tp};
  for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
    *lists[i] = rows + i * d;
  climber->plus = rows + 8 * d;
  climber->minus = rows + 10 * d;
  climber->lg = rows + 12 * d;
  climber->pg = climber->lg + model->dimension;
  climber->jg = climber->pg + model->dimension;
  climber->evaluator = &climber->own;
  TM_TRY(tm_point_create(model, arena, &climber->trial, error));
  return own_evaluator ? tm_evaluator_create(model, arena, &climber->own, error)
                       : TEMPERA_OK;
}

/* H <- H + r r' / (r.s), r = y - H s: the symmetric rank-one update. */
static void update(double *h, size_t d, const double *s, const double *before,
                   const double *after, double *r) {
  double rs = 0, rr = 0, ss = 0;
  for (size_t i = 0; i < d; i++) {
    r[i] = before[i] - after[i];
    for (size_t k = 0; k < d; k++)
      r[i] -= h[i * d + k] * s[k];
    rs += r[i] * s[i];
    rr += r[i] * r[i];
    ss += s[i] * s[i];
  }
  if (!(fabs(rs) > 1e-8 * sqrt(rr * ss)))
    return;
  for (size_t i = 0; i < d; i++)
    for (size_t k = 0; k < d; k++)
      h[i * d + k] += r[i] * r[k] / rs;
}

bool tm_same_value(const tempera_model *model, const double *a,
                   const double *b) {
  if (model->real_dimension == model->dimension)
    return true;
  for (size_t j = 0; j < model->dimension; j++)
    if (model->integer[j] && a[j] != b[j])
      return false;
  return true;
}

double tm_frame_square(const tm_frame *frame, const double *factor,
                       const double *to, const double *from, double most,
                       double *delta) {
  for (size_t k = 0; k < frame->reals; k++)
    delta[k] = to[frame->real[k]] - from[frame->real[k]];
  return tm_factor_square(factor, frame->reals, delta, most);
}

/* ---- steps */

/* The Newton step and its decrement g' H^-1 g; false when not definite. */
static bool newton(tm_climber *c, const tm_spot *at, double tau,
                   double *decrement) {
  size_t d = c->frame->reals;
  tm_spot_curvature(at, tau, d, c->b);
  for (size_t k = 0; k < d; k++)
    c->gradient[k] = c->step[k] = tau * at->gl[k] + at->gp[k];
  memcpy(c->work, c->b, d * d * sizeof(double));
  if (!tm_cholesky_until(c->work, d, &c->evaluator->stop))
    return false;
  tm_solve_lower(c->work, d, c->step);
  *decrement = 0;
  for (size_t k = 0; k < d; k++)
    *decrement += c->step[k] * c->step[k];
  tm_solve_upper(c->work, d, c->step);
  return true;
}

/* The next point to be looked at: a step on. */
static void go_on(tm_climber *c, const tm_spot *at) {
  tm_climber_go(c, at->u);
  for (size_t k = 0; k < c->frame->reals; k++)
    c->trial.u[c->frame->real[k]] += c->step[k];
}

static double length(const tm_climber *c) {
  double sum = 0;
  for (size_t k = 0; k < c->frame->reals; k++)
    sum += c->step[k] * c->step[k] / (c->scale[k] * c->scale[k]);
  return sqrt(sum);
}

static double predicted_gain(const tm_climber *c) {
  size_t d = c->frame->reals;
  double gain = 0;
  for (size_t i = 0; i < d; i++) {
    double bs = 0;
    for (size_t k = 0; k < d; k++)
      bs += c->b[i * d + k] * c->step[k];
    gain += c->step[i] * (c->gradient[i] - 0.5 * bs);
  }
  return gain;
}

/* ---- ends */

/* Far out, far from every start, and the density still grows. */
static bool runs_away(const tm_climber *c, const tm_spot *at, double tau,
                      double far, size_t *culprit) {
  const tm_frame *frame = c->frame;
  for (size_t k = 0; k < frame->reals; k++) {
    size_t j = frame->real[k];
    double x = at->u[j], low = frame->start_low[k], high = frame->start_high[k];
    double outward = (x < low ? -1 : 1) * (tau * at->gl[k] + at->gp[k]);
    bool bounded = tm_is_bounded(c->model, j);
    bool out = bounded ? fmax(low - x, x - high) > far && fabs(x) > far
                       : fabs(x) > 1e7 * (1 + fmax(fabs(low), fabs(high)));
    if (!out || !(outward > (bounded ? 1e-2 : 0)))
      continue;
    *culprit = j;
    return true;
  }
  return false;
}

/* Squared distance in a mode's metric; infinite with other integers. */
static double square_to(tm_climber *c, const tm_landmark *mode, const double *u,
                        double most) {
  return mode->factor && tm_same_value(c->model, mode->u, u)
             ? tm_frame_square(c->frame, mode->factor, u, mode->u, most,
                               c->lane)
             : INFINITY;
}

/* In the middle of a mode that is known, and as high as it should be there? */
static bool recognised(tm_climber *c, const tm_spot *at, tm_climb *climb) {
  for (size_t m = 0; m < climb->known_count; m++) {
    const tm_landmark *mode = &climb->known[m];
    double square = square_to(c, mode, at->u, 0.3);
    double drop = mode->height - tm_spot_height(at, climb->tau);
    if (square >= 0.3 || fabs(drop - square / 2) > 0.01 + 0.2 * square)
      continue;
    climb->same = m;
    return true;
  }
  return false;
}

/* From a mode at another tau: does Newton's step, by derivatives at hand, end
 * in the middle of a mode that is known? Costs no evaluation. */
static bool expected(tm_climber *c, tm_climb *climb) {
  const tm_spot *at = &climb->spot;
  double decrement;
  if (!climb->warm || !climb->exact || climb->known_count == 0 ||
      !newton(c, at, climb->tau, &decrement))
    return false;
  double height = tm_spot_height(at, climb->tau) + 0.5 * decrement;
  go_on(c, at);
  for (size_t m = 0; m < climb->known_count; m++) {
    const tm_landmark *mode = &climb->known[m];
    if (fabs(mode->height - height) > 0.5 ||
        square_to(c, mode, c->trial.u, 1) >= 1)
      continue;
    climb->same = m;
    return true;
  }
  return false;
}

/* The last step by the quadratic model alone: its error is of third order in
 * something small. */
static void polish(tm_climber *c, tm_spot *at) {
  size_t d = c->frame->reals;
  double dl = 0, dp = 0;
  for (size_t i = 0; i < d; i++) {
    double bl = 0, bp = 0;
    for (size_t k = 0; k < d; k++) {
      bl += at->hl[i * d + k] * c->step[k];
      bp += at->hp[i * d + k] * c->step[k];
    }
    dl += c->step[i] * (at->gl[i] - 0.5 * bl);
    dp += c->step[i] * (at->gp[i] - 0.5 * bp);
    at->gl[i] -= bl;
    at->gp[i] -= bp;
    at->u[c->frame->real[i]] += c->step[i];
  }
  at->l += dl;
  at->p += dp;
}

/* ---- the climb */

static void swap(double *a, double *b, size_t count) {
  for (size_t i = 0; i < count; i++) {
    double held = a[i];
    a[i] = b[i];
    b[i] = held;
  }
}

static bool has_slopes(const tm_climber *c) {
  return tm_has_gradients(c->model) && c->frame->reals > 0;
}

/* Both parts at the trial, with slopes if the model has them; false where the
 * density is zero. */
static bool measure(tm_climber *c, double *l, double *p, double *gl,
                    double *gp) {
  return has_slopes(c) ? tm_climber_slopes(c, l, p, gl, gp)
                       : tm_climber_look(c, l, p);
}

/* Everything at the point where the climb stands; false if that is zero. */
static bool survey(tm_climber *c, tm_climb *climb, bool hessian) {
  tm_spot *at = &climb->spot;
  tm_climber_go(c, at->u);
  if (!measure(c, &at->l, &at->p, at->gl, at->gp))
    return false;
  if (hessian && c->frame->reals > 0)
    tm_climber_renew(c, at, climb->tau);
  return true;
}

static bool begin(tm_climber *c, tm_climb *climb, bool *fresh) {
  tm_spot *at = &climb->spot;
  size_t d = c->frame->reals;
  bool slopes = has_slopes(c);
  c->radius = (climb->warm ? 10 : 2) * sqrt((double)d);
  memcpy(c->scale, c->frame->step, d * sizeof(double));
  c->edge = c->fine = *fresh = false;
  if (climb->warm) {
    tm_spot_copy(c->model, climb->warm, at);
    tm_climber_rescale(c, at, climb->tau);
    *fresh = climb->exact;
  }
  memcpy(at->u, climb->u, c->model->dimension * sizeof(double));
  if (climb->warm && climb->exact)
    return true;
  for (size_t k = 0; k < d; k++) {
    double *u = &at->u[c->frame->real[k]];
    if (tm_is_bounded(c->model, c->frame->real[k]))
      *u = fmax(-BOX, fmin(BOX, *u));
  }
  *fresh = !climb->warm || (!slopes && d <= FULL);
  if (!survey(c, climb, *fresh))
    return false;
  if (!*fresh && !slopes)
    tm_climber_differences(c, at, climb->tau, false);
  return true;
}

/* Try the step; on success `at` is the new point with its derivatives. */
static bool advance(tm_climber *c, tm_climb *climb, double *gain,
                    bool *renewed) {
  tm_spot *at = &climb->spot;
  size_t d = c->frame->reals;
  bool slopes = has_slopes(c);
  double l, p;
  go_on(c, at);
  *renewed = false;
  *gain = -INFINITY;
  if (!measure(c, &l, &p, c->tl, c->tp))
    return false;
  *gain = climb->tau * l + p - tm_spot_height(at, climb->tau);
  if (!(*gain > 0))
    return false;
  memcpy(at->u, c->trial.u, c->model->dimension * sizeof(double));
  at->l = l;
  at->p = p;
  *renewed = !slopes && d <= FULL && !c->fine;
  if (*renewed) {
    tm_climber_renew(c, at, climb->tau);
    return true;
  }
  swap(at->gl, c->tl, d); /* those before the step */
  swap(at->gp, c->tp, d);
  if (!slopes)
    tm_climber_differences(c, at, climb->tau, false);
  update(at->hl, d, c->step, c->tl, at->gl, c->lane);
  update(at->hp, d, c->step, c->tp, at->gp, c->lane);
  return true;
}

/* Newton's step where it stays within the radius, else the best there. */
static double choose_step(tm_climber *c, bool definite) {
  if (!definite || length(c) > c->radius)
    tm_climber_trust_step(c, definite);
  return predicted_gain(c);
}

static void resize(tm_climber *c, double reached, double gain,
                   double predicted) {
  if (gain < 0.25 * predicted)
    c->radius = 0.3 * reached;
  else if (gain > 0.6 * predicted && reached > 0.8 * c->radius)
    c->radius *= 3;
}

/* Where Hessians cost most: a short step that gains what it should ends the
 * climb, with the derivatives that the quadratic model predicts. */
static bool ends_early(tm_climber *c, tm_climb *climb, double decrement) {
  tm_spot *at = &climb->spot;
  double l, p, predicted = decrement / 2;
  double allowed = climb->rough ? 0.3 : 1e-4 + 0.2 * predicted;
  if (predicted > (climb->rough ? 2 : 0.02))
    return false;
  go_on(c, at);
  if (!tm_climber_look(c, &l, &p))
    return false;
  double gain = climb->tau * l + p - tm_spot_height(at, climb->tau);
  if (fabs(gain - predicted) > allowed)
    return false;
  polish(c, at);
  at->l = l;
  at->p = p;
  return true;
}

/* Nothing near is higher: an edge, a kink or a flat place. */
static bool exhausted(const tm_climber *c, double predicted) {
  return c->radius < 1e-6 || predicted < 1e-9;
}

/* Heights of the natural measure are wanted to 1e-6, and differences over a
 * twentieth of the spread are not that good, least of all across a kink. */
static bool becomes_fine(tm_climber *c, tm_climb *climb) {
  if (climb->measure != TM_NATURAL || c->fine || tm_has_gradients(c->model))
    return false;
  c->fine = true;
  c->radius = fmax(c->radius, 0.1);
  tm_climber_differences(c, &climb->spot, climb->tau, false);
  return true;
}

/* What a step would reach if the quadratic model held, kept for the case that
 * it meets a peak that the model knows nothing of. */
static bool foresee(tm_climber *c, tm_climb *climb, bool definite) {
  if (!climb->broad.u || climb->measure != TM_UNCONSTRAINED || !definite ||
      length(c) > c->radius)
    return false;
  tm_spot_copy(c->model, &climb->spot, &climb->broad);
  polish(c, &climb->broad);
  return true;
}

/* Far higher than foreseen: a narrow peak on a broad hill. The hill is no
 * optimum, for its top is the peak's, but may hold much of the mass. The climb
 * goes on, by the curvature of the peak. */
static bool surprised(tm_climber *c, tm_climb *climb) {
  double foreseen = tm_spot_height(&climb->broad, climb->tau);
  if (!(tm_spot_height(&climb->spot, climb->tau) > foreseen + SURPRISE))
    return false;
  climb->shouldered = true;
  tm_climber_renew(c, &climb->spot, climb->tau);
  c->radius = sqrt((double)c->frame->reals);
  return true;
}

/* The end of a climb is looked at once: a peak may stand there. */
static bool surprised_at_end(tm_climber *c, tm_climb *climb) {
  tm_spot *at = &climb->spot;
  double l, p;
  if (climb->shouldered || !climb->broad.u ||
      climb->measure != TM_UNCONSTRAINED)
    return false;
  tm_climber_go(c, at->u);
  if (!tm_climber_look(c, &l, &p) ||
      climb->tau * l + p < tm_spot_height(at, climb->tau) + SURPRISE)
    return false;
  tm_spot_copy(c->model, at, &climb->broad);
  climb->shouldered = true;
  if (!survey(c, climb, true))
    return false;
  c->radius = sqrt((double)c->frame->reals);
  return true;
}

/* How a climb stands. */
typedef struct course {
  bool natural, costly;
  double done;      /* a decrement so small ends it */
  bool fresh;       /* the Hessian is of this very point, ... */
  double drift;     /* ... or of one so far back */
  bool definite;    /* Newton's step exists, ... */
  double decrement; /* ... and promises half of this */
  int renewals;
} course;

typedef enum pace { ONWARD, AGAIN, OVER } pace;

/* Newton's decrement may say that the top is here. */
static pace arrive(tm_climber *c, tm_climb *climb, course *way) {
  bool sure = way->definite && (way->natural || way->drift < DRIFT);
  bool there = way->decrement < way->done;
  if (sure && there && becomes_fine(c, climb))
    return AGAIN;
  if (sure && there)
    polish(c, &climb->spot);
  if (!sure ||
      !(there || (way->costly && ends_early(c, climb, way->decrement))))
    return ONWARD;
  climb->outcome = TM_ASCENT_FOUND;
  if (!surprised_at_end(c, climb))
    return OVER;
  climb->outcome = TM_ASCENT_STUCK;
  way->fresh = true;
  return AGAIN;
}

/* A step that gained nothing: it is tried again with better derivatives; where
 * there are none, shorter, until nothing is left to be gained. */
static pace fall_back(tm_climber *c, tm_climb *climb, course *way,
                      double predicted) {
  bool best = way->fresh || c->fine;
  if (best && (!exhausted(c, predicted) || becomes_fine(c, climb)))
    return AGAIN;
  if (best) {
    climb->outcome = TM_ASCENT_FOUND;
    climb->edge = way->definite;
    return OVER;
  }
  if (++way->renewals == HESSIANS && c->frame->reals >= MANY)
    return OVER;
  tm_climber_renew(c, &climb->spot, climb->tau);
  way->fresh = true;
  return AGAIN;
}

static pace step_up(tm_climber *c, tm_climb *climb, course *way) {
  bool aware = !climb->shouldered && foresee(c, climb, way->definite);
  double predicted = choose_step(c, way->definite), reached = length(c);
  bool renewed = false, up = false;
  if (way->fresh || c->fine || predicted > way->done / 2) {
    double gain;
    up = advance(c, climb, &gain, &renewed);
    resize(c, reached, gain, predicted);
  }
  if (!up)
    return fall_back(c, climb, way, predicted);
  way->drift += sqrt(fmax(0, 2 * predicted));
  way->fresh = (aware && surprised(c, climb)) || renewed;
  if (recognised(c, &climb->spot, climb))
    climb->outcome = TM_ASCENT_KNOWN;
  else if (runs_away(c, &climb->spot, climb->tau, 18, &climb->culprit))
    climb->outcome = TM_ASCENT_RUNAWAY;
  return climb->outcome == TM_ASCENT_STUCK ? AGAIN : OVER;
}

static void climb_reals(tm_climber *c, tm_climb *climb, bool fresh) {
  course way = {.natural = climb->measure == TM_NATURAL, .fresh = fresh};
  way.costly =
      !way.natural && !tm_has_gradients(c->model) && c->frame->reals > 1;
  way.done = way.natural ? DONE_EXACTLY : way.costly ? DONE_BY_VALUES : DONE;
  way.drift = INFINITY;
  climb->outcome = TM_ASCENT_STUCK;
  pace now = AGAIN;
  for (int i = 0;
       i < ITERATIONS && c->evaluator->status == TEMPERA_OK && now != OVER;
       i++) {
    way.drift = way.fresh ? 0 : way.drift;
    way.definite = newton(c, &climb->spot, climb->tau, &way.decrement);
    now = arrive(c, climb, &way);
    if (now == ONWARD)
      now = step_up(c, climb, &way);
  }
}

void tm_climb_run(tm_climber *climber, tm_climb *climb) {
  bool fresh;
  climber->measure = climb->measure;
  climb->edge = climb->shouldered = false;
  climb->outcome = TM_ASCENT_DEAD;
  if (!begin(climber, climb, &fresh))
    return;
  climb->outcome = TM_ASCENT_FOUND;
  if (climber->frame->reals == 0)
    return;
  if (expected(climber, climb)) {
    climb->outcome = TM_ASCENT_KNOWN;
    return;
  }
  climb_reals(climber, climb, fresh);
  climb->edge = climb->edge || climber->edge;
  if (climb->outcome == TM_ASCENT_STUCK &&
      runs_away(climber, &climb->spot, climb->tau, 8, &climb->culprit))
    climb->outcome = TM_ASCENT_RUNAWAY;
}
