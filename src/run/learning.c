/* learning.c - see learning.h.
 *
 * One update compares the Rao-Blackwell estimate of log z on the knots with
 * the one in force and goes a part of the way, the share m / (m + known): m
 * says how much this round knows of a knot (the number of restarts between
 * prior and posterior, as many batches as its weights come from at most),
 * `known` what went into the curve before. Replacing the old curve outright
 * would let one round that missed a basin destroy good weights (method 4.2).
 * log z is convex in tau; the result is made so again. */
#include "run/learning.h"

#include "estimate/estimate.h"
#include "estimate/summary.h"

#include <math.h>

enum {
  FEWEST_KNOTS = 16,
  KNOTS = 64,
  LANES = 8,
  FINE = 1024,
  MOST_DRAWS = 20000
};
/* Knots for each unit of the barrier: log z is straight enough between them,
 * and each costs time at every draw of tau. Whole vectors of them: so many cost
 * no more. */
static const double KNOTS_PER_LAMBDA = 4;
/* What the starting curve counts as, in restarts. */
static const double CAUTION = 4;
/* Shares of w that are even in Lambda, in log tau and in tau: the first does
 * the work, the others keep every tau within reach of a wrong start. */
static const double EVEN_LAMBDA = 0.9, EVEN_LOG = 0.05, EVEN_TAU = 0.05;
static const double SMALLEST = 1e-10; /* log tau is even down to here */

struct tm_learner {
  tm_arena *arena;
  double tau_min;
  size_t count;
  double tau[KNOTS], log_z[KNOTS], log_w[KNOTS];
  double known[KNOTS]; /* restarts that log_z rests on */
};

static double interpolate(const double *x, const double *y, size_t n,
                          double at) {
  tm_loglinear f = {n, x, y, -INFINITY};
  return tm_loglinear_at(&f, at);
}

/* Position of tau on the even-in-log scale, in [0, 1]. */
static double log_share(double tau, double tau_min) {
  double low = fmax(SMALLEST, tau_min);
  return tau <= low ? 0 : log(tau / low) / log(1 / low);
}

/* A strictly increasing coordinate on [0, 1] made of the three shares. */
static double coordinate(double lambda, double tau, double tau_min) {
  return EVEN_LAMBDA * lambda + EVEN_LOG * log_share(tau, tau_min) +
         EVEN_TAU * (tau - tau_min) / (1 - tau_min);
}

/* w at the knots: the density of the coordinate, over the neighbours. */
static void weigh(tm_learner *learner, const double *position) {
  for (size_t k = 0; k < learner->count; k++) {
    size_t a = k ? k - 1 : 0, b = k + 1 < learner->count ? k + 1 : k;
    double density =
        (position[b] - position[a]) / (learner->tau[b] - learner->tau[a]);
    learner->log_w[k] = log(fmax(density, 1e-300));
  }
}

/* A fine grid: tau_min, then even in log tau up to 0.1, then even. */
static double fine_tau(size_t i, double tau_min) {
  double low = fmax(SMALLEST, tau_min), turn = fmax(0.1, 2 * low);
  size_t half = FINE / 2;
  if (i == 0)
    return tau_min;
  if (i < half && low < turn)
    return low * pow(turn / low, (double)i / (double)half);
  double from = low < turn ? turn : low;
  return from + (1 - from) * (double)(i - half) / (double)(FINE - 1 - half);
}

/* Lambda from the curve alone: half E|l - l'| is sd / sqrt(pi) for a normal
 * l, and Var_tau[l] is the slope's slope, so that a step adds
 * sqrt(slope change * step / pi). Given as a share of its total, which is
 * returned. */
static double lambda_of_curve(const double *tau, const double *log_z,
                              double *lambda) {
  lambda[0] = 0;
  double before = (log_z[1] - log_z[0]) / (tau[1] - tau[0]);
  for (size_t i = 1; i < FINE; i++) {
    size_t j = i + 1 < FINE ? i + 1 : i;
    double slope = (log_z[j] - log_z[j - 1]) / (tau[j] - tau[j - 1]);
    double step = tau[i] - tau[i - 1];
    lambda[i] = lambda[i - 1] +
                sqrt(fmax(0, slope - before) * step / 3.14159265358979323846);
    before = slope;
  }
  double total = fmax(lambda[FINE - 1], 1e-300);
  for (size_t i = 0; i < FINE; i++)
    lambda[i] /= total;
  return total;
}

/* Knots at even steps of the coordinate. */
static void place_knots(tm_learner *learner, const double *tau,
                        const double *position) {
  double total = position[FINE - 1];
  learner->tau[0] = tau[0];
  learner->tau[learner->count - 1] = 1;
  size_t i = 0;
  for (size_t k = 1; k + 1 < learner->count; k++) {
    double aim = total * (double)k / (double)(learner->count - 1);
    while (i + 2 < FINE && position[i + 1] < aim)
      i++;
    double share = (aim - position[i]) / (position[i + 1] - position[i]);
    learner->tau[k] = tau[i] + share * (tau[i + 1] - tau[i]);
  }
}

tempera_status tm_learner_create(const double *tau, const double *log_z,
                                 size_t count, bool by_barrier,
                                 tm_learner **learner, tempera_error *error) {
  tm_arena *arena = tm_arena_create();
  tm_learner *made = arena ? TM_NEW(arena, tm_learner, 1) : NULL;
  double *fine = arena ? TM_NEW(arena, double, 3 * FINE) : NULL;
  if (!made || !fine) {
    tm_arena_free(arena);
    return tm_fail_memory(error);
  }
  made->arena = arena;
  made->tau_min = tau[0];
  double *curve = fine + FINE, *position = fine + 2 * FINE;
  for (size_t i = 0; i < FINE; i++) {
    fine[i] = fine_tau(i, tau[0]);
    curve[i] = interpolate(tau, log_z, count, fine[i]);
  }
  double barrier = lambda_of_curve(fine, curve, position);
  made->count =
      (size_t)fmax(FEWEST_KNOTS, fmin(KNOTS, KNOTS_PER_LAMBDA * barrier));
  made->count = (made->count + LANES - 1) / LANES * LANES;
  for (size_t i = 0; i < FINE; i++)
    position[i] = coordinate(position[i], fine[i], tau[0]);
  place_knots(made, fine, position);
  double at_knots[KNOTS];
  for (size_t k = 0; k < made->count; k++) {
    made->log_z[k] = interpolate(tau, log_z, count, made->tau[k]) - log_z[0];
    at_knots[k] = interpolate(fine, position, FINE, made->tau[k]);
    made->known[k] = CAUTION;
  }
  if (by_barrier)
    weigh(made, at_knots);
  *learner = made;
  return TEMPERA_OK;
}

void tm_learner_free(tm_learner *learner) {
  if (learner)
    tm_arena_free(learner->arena);
}

tempera_status tm_learner_prior(const tm_learner *learner, tm_tau_prior *prior,
                                tempera_error *error) {
  double *values = tm_heap_alloc(learner->count, sizeof(double));
  if (!values)
    return tm_fail_memory(error);
  for (size_t k = 0; k < learner->count; k++)
    values[k] = learner->log_w[k] - learner->log_z[k];
  /* Scale so that, were log z right, the atom would have its mass. */
  tm_loglinear even = {learner->count, learner->tau, learner->log_w, -INFINITY};
  double mass = tm_loglinear_log_mass(&even, 0);
  bool atom = learner->tau_min == 0;
  tm_tau_prior_free(prior);
  *prior = (tm_tau_prior){
      .log_prior = {learner->count, learner->tau, values,
                    atom ? mass + log(TM_ATOM / (1 - TM_ATOM)) : -INFINITY},
      .values = values,
      .tau_min = learner->tau_min};
  return TEMPERA_OK;
}

void tm_learner_levels(const tm_learner *learner, size_t count, double *tau,
                       double *log_z) {
  double mass[KNOTS] = {0}; /* of w up to each knot */
  for (size_t k = 1; k < learner->count; k++)
    mass[k] = mass[k - 1] +
              (learner->tau[k] - learner->tau[k - 1]) *
                  (exp(learner->log_w[k]) + exp(learner->log_w[k - 1])) / 2;
  for (size_t t = 0; t < count; t++) {
    double aim = mass[learner->count - 1] * (double)t / (double)(count - 1);
    tau[t] = interpolate(mass, learner->tau, learner->count, aim);
  }
  tau[0] = learner->tau_min;
  tau[count - 1] = 1;
  for (size_t t = 0; t < count; t++)
    log_z[t] =
        interpolate(learner->tau, learner->log_z, learner->count, tau[t]);
}

/* Pool adjacent slopes that fall (the curve is convex), weighted by width. */
static void make_convex(tm_learner *learner) {
  double slope[KNOTS], width[KNOTS];
  size_t members[KNOTS], blocks = 0;
  for (size_t k = 0; k + 1 < learner->count; k++) {
    double step = learner->tau[k + 1] - learner->tau[k];
    slope[blocks] = (learner->log_z[k + 1] - learner->log_z[k]) / step;
    width[blocks] = step;
    members[blocks++] = 1;
    while (blocks > 1 && slope[blocks - 2] > slope[blocks - 1]) {
      double whole = width[blocks - 2] + width[blocks - 1];
      slope[blocks - 2] = (slope[blocks - 2] * width[blocks - 2] +
                           slope[blocks - 1] * width[blocks - 1]) /
                          whole;
      width[blocks - 2] = whole;
      members[blocks - 2] += members[blocks - 1];
      blocks--;
    }
  }
  size_t k = 0;
  for (size_t b = 0; b < blocks; b++)
    for (size_t m = 0; m < members[b]; m++, k++)
      learner->log_z[k + 1] =
          learner->log_z[k] +
          slope[b] * (learner->tau[k + 1] - learner->tau[k]);
}

/* How far log z would move at each knot, up to a constant, and how well that
 * is known. */
static void compare(tm_learner *learner, tm_tempered *view, double *change,
                    double *batches) {
  double sum = 0, weight = 0;
  for (size_t k = 0; k < learner->count; k++) {
    change[k] = tm_tempered_log_mean(view, learner->tau[k]) - learner->log_z[k];
    batches[k] = isfinite(change[k]) ? tm_tempered_batches(view) : 0;
    if (!isfinite(change[k]))
      change[k] = 0;
    sum += batches[k] * change[k];
    weight += batches[k];
  }
  double level = weight > 0 ? sum / weight : 0;
  for (size_t k = 0; k < learner->count; k++)
    change[k] -= level;
}

static tempera_status reweigh(tm_learner *learner, tm_tempered *view,
                              tempera_error *error) {
  tm_barrier barrier;
  TM_TRY(tm_barrier_find(view, &barrier, error));
  if (!(barrier.total > 0))
    return TEMPERA_OK;
  double position[KNOTS];
  for (size_t k = 0; k < learner->count; k++)
    position[k] = coordinate(tm_barrier_share(&barrier, learner->tau[k]),
                             learner->tau[k], learner->tau_min);
  weigh(learner, position);
  return TEMPERA_OK;
}

/* Go a part of the way that the round's draws ask for. */
static tempera_status refine(tm_learner *learner, const tempera_draws *draws,
                             tm_tempered *view, tempera_error *error) {
  double change[KNOTS], batches[KNOTS];
  size_t round_trips, restarts;
  TM_TRY(tm_estimate_round_trips(draws, &round_trips, &restarts, error));
  compare(learner, view, change, batches);
  for (size_t k = 0; k < learner->count; k++) {
    double m = fmin(batches[k], fmax(1, (double)restarts));
    learner->known[k] += m;
    learner->log_z[k] += change[k] * m / learner->known[k];
  }
  for (size_t k = learner->count; k-- > 0;)
    learner->log_z[k] -= learner->log_z[0];
  make_convex(learner);
  return view->weight_top >= 1 ? reweigh(learner, view, error) : TEMPERA_OK;
}

tempera_status tm_learner_update(tm_learner *learner,
                                 const tempera_draws *draws,
                                 tempera_error *error) {
  tm_tempered view;
  TM_TRY(tm_tempered_create(draws, MOST_DRAWS, &view, error));
  tempera_status status = TEMPERA_OK;
  if (view.count && view.log_mass)
    status = refine(learner, draws, &view, error);
  tm_tempered_free(&view);
  return status;
}
