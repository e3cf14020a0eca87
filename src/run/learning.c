/* learning.c - where the learned tau prior begins: knots from a first curve of
 * log z, weights from the barrier that the curve implies. See learning.h;
 * refining.c changes it by the draws of warmup rounds. */
#include "run/learner.h"

#include <math.h>

enum { FEWEST_KNOTS = 16, LANES = 8, FINE = 1024 };
/* Knots for each unit of the barrier: log z is straight enough between them,
 * and each costs time at every draw of tau. Whole vectors of them: so many cost
 * no more. */
static const double KNOTS_PER_LAMBDA = 4;
/* What the starting curve counts as, in batches of draws. */
static const double CAUTION = 4;
/* Shares of w that are even in Lambda, in log tau and in tau: the first does
 * the work, the others keep every tau within reach of a wrong start. */
static const double EVEN_LAMBDA = 0.9, EVEN_LOG = 0.05, EVEN_TAU = 0.05;
static const double SMALLEST = 1e-10; /* log tau is even down to here */

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

void tm_learner_weigh(tm_learner *learner) {
  double position[TM_KNOTS], total = 0, lambda = 0;
  for (size_t k = 0; k + 1 < learner->count; k++)
    total += learner->lambda[k];
  for (size_t k = 0; k < learner->count; k++) {
    position[k] = coordinate(total > 0 ? lambda / total : learner->tau[k],
                             learner->tau[k], learner->tau_min);
    lambda += learner->lambda[k];
  }
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
  tm_arena *arena;
  tm_learner *made = TM_BEGIN(&arena, tm_learner);
  double *fine = made ? TM_NEW(arena, double, 4 * FINE) : NULL;
  if (!fine) {
    tm_arena_free(arena);
    return tm_fail_memory(error);
  }
  made->arena = arena;
  made->tau_min = tau[0];
  double *curve = fine + FINE, *share = fine + 2 * FINE;
  double *position = fine + 3 * FINE;
  for (size_t i = 0; i < FINE; i++) {
    fine[i] = fine_tau(i, tau[0]);
    curve[i] = interpolate(tau, log_z, count, fine[i]);
  }
  double barrier = lambda_of_curve(fine, curve, share);
  made->count =
      (size_t)fmax(FEWEST_KNOTS, fmin(TM_KNOTS, KNOTS_PER_LAMBDA * barrier));
  made->count = (made->count + LANES - 1) / LANES * LANES;
  for (size_t i = 0; i < FINE; i++)
    position[i] = coordinate(share[i], fine[i], tau[0]);
  place_knots(made, fine, position);
  for (size_t k = 0; k < made->count; k++) {
    made->log_z[k] = interpolate(tau, log_z, count, made->tau[k]) - log_z[0];
    made->known[k] = CAUTION;
  }
  for (size_t k = 0; k + 1 < made->count; k++)
    made->lambda[k] =
        barrier * (interpolate(fine, share, FINE, made->tau[k + 1]) -
                   interpolate(fine, share, FINE, made->tau[k]));
  if (by_barrier)
    tm_learner_weigh(made);
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
  double mass[TM_KNOTS] = {0}; /* of w up to each knot */
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

static tm_learner *empty(void) {
  tm_arena *arena;
  tm_learner *made = TM_BEGIN(&arena, tm_learner);
  if (made)
    made->arena = arena;
  return made;
}

static void archive_knots(tm_learner *l, tm_archive *archive) {
  tm_archive_unit(archive, &l->tau_min);
  tm_archive_count(archive, &l->count, TM_KNOTS);
  double *by_knot[] = {l->tau, l->log_z, l->log_w, l->known, l->lambda};
  for (size_t i = 0; i < sizeof by_knot / sizeof *by_knot; i++)
    tm_archive_doubles(archive, by_knot[i], l->count);
  tm_archive_bools(archive, l->supported, l->count);
  tm_archive_double(archive, &l->laplace_rise);
  if (tm_archive_fine(archive) && l->count < 2)
    tm_archive_fail(archive, "a curve of log z has no knots");
  for (size_t k = 1; k < l->count && tm_archive_fine(archive); k++)
    if (!(l->tau[k - 1] >= 0 && l->tau[k - 1] < l->tau[k] && l->tau[k] <= 1))
      tm_archive_fail(archive, "the knots of log z are not in order");
}

void tm_learner_archive(tm_learner **learner, tm_archive *archive) {
  bool there = *learner != NULL;
  tm_archive_tag(archive, "log z");
  tm_archive_bool(archive, &there);
  if (archive->reading && tm_archive_fine(archive)) {
    tm_learner_free(*learner);
    *learner = there ? empty() : NULL;
    if (there && !*learner)
      archive->status = TEMPERA_ERROR_MEMORY;
  }
  if (*learner)
    archive_knots(*learner, archive);
}
