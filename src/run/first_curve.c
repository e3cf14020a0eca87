/* first_curve.c - log z(tau) before anything was drawn: from the Laplace ridge,
 * by annealing, or from the points looked at for starts. Warmup refines it. */
#include "run/annealing.h"
#include "run/learner.h"

#include <math.h>

/* Taus of a curve: tau_min, then even in log tau from 1e-10 to 1. */
enum { POINTS = 400 };
static double curve_tau(size_t k, double low) {
  double share = (double)k / (POINTS - 1);
  return k ? low + (1 - low) * pow(1e-10, 1 - share) : low;
}

/* Without a Laplace ridge: log z(tau) as the points looked at for starts tell
 * it, log mean exp(tau l); crude at large tau, but the rounds refine it. */
static double looks_log_z(const tm_starts *starts, double tau) {
  double most = -INFINITY, sum = 0;
  for (size_t i = 0; i < starts->look_count; i++)
    most = fmax(most, starts->looks[i]);
  for (size_t i = 0; i < starts->look_count; i++)
    sum += tau == 0 ? 1 : exp(tau * (starts->looks[i] - most));
  return tau * most + log(sum / (double)starts->look_count);
}

/* A mean of e^{tau l} over draws from the prior, and annealing, estimate z
 * without bias: by Markov's inequality they are above z(tau) e^a once in e^a
 * times at most. A curve that lies lower by more than this has a bad knot
 * (where an optimum of the ridge forks its curvature vanishes): it may be
 * hundreds of nats, more than rounds could mend. */
static const double SLACK = 3;

static double raised(double log_z, double estimate) {
  return fmax(log_z, estimate - SLACK);
}

/* Fewer Laplace knots than this (a large model without gradients: a Hessian
 * is dear) are too far apart to be joined by a cubic. */
enum { ENOUGH_KNOTS = 8 };

/* By how much log z changes over an interval beyond the ridge, at a share of
 * it: for a near-Gaussian posterior -(d/2) log(1 + kappa tau), with the kappa
 * that fits the change over the whole interval. */
static double spread_between(double a, double b, double change, double d,
                             double tau) {
  double low = 1e-12, high = 1e12;
  if (!(change < 0) || !(d > 0))
    return change * (tau - a) / (b - a);
  for (int i = 0; i < 100; i++) {
    double kappa = sqrt(low * high);
    double at = -d / 2 * log((1 + kappa * b) / (1 + kappa * a));
    *(at < change ? &high : &low) = kappa;
  }
  return -d / 2 * log((1 + low * tau) / (1 + low * a));
}

/* log z from few Laplace knots: the ridge, which is known everywhere, plus
 * what Laplace adds to it at the knots. */
static double ridge_log_z(const tempera_sampler *s, double tau) {
  const tm_laplace_knot *a = tm_laplace_below(s->laplace, tau), *b = a + 1;
  double from = a->log_z - tm_ridge_height(s->ridge, a->tau);
  double to = b->log_z - tm_ridge_height(s->ridge, b->tau);
  return tm_ridge_height(s->ridge, tau) + from +
         spread_between(a->tau, b->tau, to - from,
                        (double)s->model->real_dimension, tau);
}

double tm_landscape_log_z(const tempera_sampler *sampler, double tau) {
  const tempera_sampler *s = sampler;
  const tm_laplace_view *view = tm_laplace_present(s->laplace);
  if (!view)
    return looks_log_z(&s->starts, tau);
  if (view->knot_count >= ENOUGH_KNOTS || view->knot_count < 2 ||
      s->ridge->view.absent)
    return tm_laplace_log_z(s->laplace, tau);
  return ridge_log_z(s, tau);
}

/* How much an annealed step counts beside one from the ridge, which counts
 * as `known` (learner.h): in batches of draws. */
static const double ANNEALED = 8;

/* Replace the curve by the annealed one where no draws have been. */
static void blend(const tm_learner *learner, const double *tau,
                  const double *annealed, double *log_z) {
  tm_loglinear old = {learner->count, learner->tau, learner->log_z, -INFINITY};
  size_t step = 0;
  log_z[0] = 0;
  for (size_t k = 0; k + 1 < POINTS; k++) {
    while (step + 2 < learner->count && learner->tau[step + 1] <= tau[k])
      step++;
    double share = learner->supported[step]
                       ? 0
                       : ANNEALED / (ANNEALED + learner->known[step]);
    double before =
        tm_loglinear_at(&old, tau[k + 1]) - tm_loglinear_at(&old, tau[k]);
    log_z[k + 1] = log_z[k] + (1 - share) * before +
                   share * (annealed[k + 1] - annealed[k]);
  }
}

static tempera_status anneal(tempera_sampler *s, const double *tau,
                             double *log_z, bool *reached,
                             tempera_error *error) {
  size_t values = s->options.chains * s->model->size;
  double *ends = tm_heap_alloc(values, sizeof(double));
  if (!ends)
    return tm_fail_memory(error);
  tempera_status status =
      tm_anneal(s, tau, POINTS, log_z, ends, reached, error);
  if (status == TEMPERA_OK && *reached)
    s->annealed = ends;
  else
    tm_heap_free(ends);
  return status;
}

static tempera_status create(const double *tau, double *log_z, bool by_barrier,
                             tm_learner **learner, tempera_error *error) {
  double work[3 * POINTS];
  tm_make_convex(tau, POINTS, NULL, log_z, work);
  return tm_learner_create(tau, log_z, POINTS, by_barrier, learner, error);
}

static double laplace_rise(const tempera_sampler *s) {
  const tm_laplace_view *view = &s->laplace->view;
  return view->knots[view->knot_count - 1].log_z - view->knots[0].log_z;
}

/* Nats by which a basin must outweigh all that the curve was made of. */
static const double OUTWEIGHS = 3;

bool tm_landscape_overtaken(const tempera_sampler *sampler,
                            const tm_learner *learner) {
  const tempera_sampler *s = sampler;
  if (!tm_laplace_present(s->laplace))
    return false;
  double known = learner->log_z[learner->count - 1] + OUTWEIGHS;
  double rise = laplace_rise(s);
  return rise > known && rise > learner->laplace_rise + OUTWEIGHS &&
         rise + tm_landscape_log_confirmed(s, 0) > known;
}

/* Most points of the prior are so unlikely that they count at no tau above the
 * least of the curve's: scales over hundreds of powers of ten. Nothing there is
 * about Gaussian, and no chain comes back from such a start. */
static bool is_diffuse(const tm_starts *starts) {
  size_t finite = 0, beyond = 0;
  for (size_t i = 0; i < starts->look_count; i++) {
    finite += starts->looks[i] > -INFINITY;
    beyond += starts->looks[i] > -INFINITY && starts->looks[i] < -1e10;
  }
  return 2 * beyond > finite;
}

tempera_status tm_landscape_learner(tempera_sampler *sampler, bool by_barrier,
                                    tm_learner **learner,
                                    tempera_error *error) {
  tempera_sampler *s = sampler;
  double tau[POINTS], log_z[POINTS];
  bool drawn = s->starts.prior_draws && s->options.tau_min == 0;
  for (size_t k = 0; k < POINTS; k++) {
    tau[k] = curve_tau(k, s->options.tau_min);
    log_z[k] = tm_landscape_log_z(s, tau[k]);
    if (drawn)
      log_z[k] = raised(log_z[k], log_z[0] + looks_log_z(&s->starts, tau[k]));
  }
  bool ridge =
      tm_laplace_present(s->laplace) && !(drawn && is_diffuse(&s->starts));
  if (ridge || !by_barrier) {
    TM_TRY(tm_learner_create(tau, log_z, POINTS, by_barrier, learner, error));
    (*learner)->laplace_rise = ridge ? laplace_rise(s) : 0;
    return TEMPERA_OK;
  }
  bool reached;
  TM_TRY(anneal(s, tau, log_z, &reached, error));
  return create(tau, log_z, true, learner, error);
}

tempera_status tm_landscape_anneal(tempera_sampler *sampler,
                                   tm_learner **learner, tempera_error *error) {
  double tau[POINTS], annealed[POINTS], log_z[POINTS];
  bool reached;
  tm_learner *made = NULL;
  for (size_t k = 0; k < POINTS; k++)
    tau[k] = curve_tau(k, sampler->options.tau_min);
  TM_TRY(anneal(sampler, tau, annealed, &reached, error));
  if (!reached)
    return TEMPERA_OK;
  blend(*learner, tau, annealed, log_z);
  for (size_t k = 0; k < POINTS; k++)
    log_z[k] = raised(log_z[k], annealed[k]);
  TM_TRY(create(tau, log_z, true, &made, error));
  made->laplace_rise = (*learner)->laplace_rise;
  tm_learner_free(*learner);
  *learner = made;
  return TEMPERA_OK;
}
