/* first_curve.c - log z(tau) before anything was drawn: from the Laplace ridge,
 * or from the points looked at for starts. Warmup refines it. */
#include "run/sampler.h"

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
  const tm_laplace_view *view = tm_laplace_look(s->laplace);
  const tm_laplace_knot *knot = view->knots;
  size_t k = 0;
  while (k + 2 < view->knot_count && knot[k + 1].tau <= tau)
    k++;
  double from = knot[k].log_z - tm_ridge_height(s->ridge, knot[k].tau);
  double to = knot[k + 1].log_z - tm_ridge_height(s->ridge, knot[k + 1].tau);
  return tm_ridge_height(s->ridge, tau) + from +
         spread_between(knot[k].tau, knot[k + 1].tau, to - from,
                        (double)s->model->real_dimension, tau);
}

double tm_landscape_log_z(const tempera_sampler *sampler, double tau) {
  const tempera_sampler *s = sampler;
  const tm_laplace_view *view = s->laplace ? tm_laplace_look(s->laplace) : NULL;
  if (!view || view->absent)
    return looks_log_z(&s->starts, tau);
  if (view->knot_count >= ENOUGH_KNOTS || view->knot_count < 2 ||
      tm_ridge_look(s->ridge)->absent)
    return tm_laplace_log_z(s->laplace, tau);
  return ridge_log_z(s, tau);
}

tempera_status tm_landscape_learner(const tempera_sampler *sampler,
                                    bool by_barrier, tm_learner **learner,
                                    tempera_error *error) {
  double tau[POINTS], log_z[POINTS];
  for (size_t k = 0; k < POINTS; k++) {
    tau[k] = curve_tau(k, sampler->options.tau_min);
    log_z[k] = tm_landscape_log_z(sampler, tau[k]);
  }
  return tm_learner_create(tau, log_z, POINTS, by_barrier, learner, error);
}
