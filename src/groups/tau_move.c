/* tau_move.c - see tau_move.h. */
#include "groups/tau_move.h"

#include <gsl/gsl_cdf.h>
#include <math.h>

/* log P(tau), with log P at the proposal kept aside for the exact ridge. */
static double log_prior_at(const tm_tau_mover *mover, tm_evaluator *evaluator,
                           double tau) {
  if (mover->memory)
    return -tm_ridge_exact(mover->memory, evaluator, tau);
  return tm_loglinear_at(&mover->prior->log_prior, tau);
}

void tm_tau_settle(tm_tau_mover *mover, tm_evaluator *evaluator, double tau) {
  if (mover->memory)
    mover->log_prior_here = log_prior_at(mover, evaluator, tau);
}

/* Half of all moves find theta where the last one left it. */
static double gibbs(tm_tau_mover *mover, double log_likelihood, double *tau,
                    tempera_random *random) {
  const tm_loglinear *prior = &mover->prior->log_prior;
  double interval = tm_random_uniform(random);
  double within = tm_random_uniform(random);
  if (!mover->fixed || log_likelihood != mover->slope) {
    mover->slope = log_likelihood;
    mover->total = tm_loglinear_tilt(prior, log_likelihood, mover->work);
  }
  *tau = tm_loglinear_pick(prior, log_likelihood, mover->total, interval,
                           within, mover->work);
  return 1;
}

/* Mass of N(centre, scale^2) on [tau_min, 1]. */
static double truncated_mass(const tm_tau_mover *mover, double centre) {
  return gsl_cdf_ugaussian_P((1 - centre) / mover->scale) -
         gsl_cdf_ugaussian_P((mover->prior->tau_min - centre) / mover->scale);
}

/* tau* and the log Hastings ratio of proposing it from tau. */
static double propose(const tm_tau_mover *mover, double tau, double *log_ratio,
                      tempera_random *random) {
  double low = mover->prior->tau_min, proposed;
  *log_ratio = 0;
  if (mover->kind == TEMPERA_TAU_UNIFORM)
    return low + (1 - low) * tm_random_uniform(random);
  do
    proposed = tau + mover->scale * tm_random_normal(random);
  while (proposed < low || proposed > 1);
  *log_ratio =
      log(truncated_mass(mover, tau)) - log(truncated_mass(mover, proposed));
  return proposed;
}

/* Accept with probability min(1, exp(log_ratio)), which is given back. */
static double decide(double log_ratio, double proposed, double *tau,
                     tempera_random *random) {
  if (log(tm_random_uniform(random)) < log_ratio)
    *tau = proposed;
  return exp(fmin(0, log_ratio));
}

static double metropolis(tm_tau_mover *mover, tm_evaluator *evaluator,
                         double log_likelihood, double *tau,
                         tempera_random *random) {
  double log_ratio, from = *tau;
  double proposed = propose(mover, from, &log_ratio, random);
  double there = log_prior_at(mover, evaluator, proposed);
  double here = mover->memory ? mover->log_prior_here
                              : log_prior_at(mover, evaluator, from);
  log_ratio += (proposed - from) * log_likelihood + there - here;
  double acceptance = decide(log_ratio, proposed, tau, random);
  if (*tau != from)
    mover->log_prior_here = there;
  return acceptance;
}

/* From the atom to a uniform tau, or from anywhere to the atom: both ways are
 * proposed with density one over [0, 1]. */
static double toggle_atom(tm_tau_mover *mover, double log_likelihood,
                          double *tau, tempera_random *random) {
  const tm_loglinear *prior = &mover->prior->log_prior;
  bool leaving = *tau == 0;
  double other = leaving ? tm_random_uniform(random) : *tau;
  double log_density = tm_loglinear_at(prior, other) + other * log_likelihood;
  double log_ratio = log_density - prior->log_atom;
  return decide(leaving ? log_ratio : -log_ratio, leaving ? other : 0, tau,
                random);
}

/* On the lifted move's scale every interval between knots has length one, and
 * the atom is the cell [-1, 0). */
static double position_of(const tm_loglinear *prior, double tau,
                          tempera_random *random) {
  if (tau == 0 && prior->log_atom > -INFINITY)
    return -tm_random_uniform(random);
  size_t k = tm_loglinear_interval(prior, tau);
  return (double)k + (tau - prior->x[k]) / (prior->x[k + 1] - prior->x[k]);
}

/* tau at a position, and the log density of the position there. */
static double tau_at(const tm_loglinear *prior, double position,
                     double log_likelihood, double *log_density) {
  *log_density = -INFINITY;
  if (position < 0 && position >= -1) {
    *log_density = prior->log_atom;
    return 0;
  }
  if (position < 0 || position >= (double)(prior->count - 1))
    return 0;
  size_t k = (size_t)position;
  double width = prior->x[k + 1] - prior->x[k];
  double tau = prior->x[k] + (position - (double)k) * width;
  *log_density =
      tm_loglinear_at(prior, tau) + tau * log_likelihood + log(width);
  return tau;
}

/* Steps of the lifted move, as a share of all knots. */
static const double LIFTED_STEP = 0.15;

static double lifted(tm_tau_mover *mover, double log_likelihood, double *tau,
                     tempera_random *random) {
  const tm_loglinear *prior = &mover->prior->log_prior;
  double here, there;
  double position = position_of(prior, *tau, random);
  tau_at(prior, position, log_likelihood, &here);
  double step =
      LIFTED_STEP * (double)prior->count * fabs(tm_random_normal(random));
  double proposed = tau_at(prior, position + (mover->downward ? -step : step),
                           log_likelihood, &there);
  double log_ratio = there - here;
  bool accepted = log(tm_random_uniform(random)) < log_ratio;
  if (accepted)
    *tau = proposed;
  else
    mover->downward = !mover->downward;
  return exp(fmin(0, log_ratio));
}

double tm_tau_move(tm_tau_mover *mover, tm_evaluator *evaluator,
                   double log_likelihood, double *tau, tempera_random *random) {
  bool atom = mover->prior->log_prior.log_atom > -INFINITY;
  if (atom && log_likelihood == -INFINITY)
    return 1; /* zero likelihood lives at the atom only */
  if (mover->kind == TEMPERA_TAU_GIBBS)
    return gibbs(mover, log_likelihood, tau, random);
  if (mover->kind == TEMPERA_TAU_LIFTED)
    return lifted(mover, log_likelihood, tau, random);
  if (atom && tm_random_uniform(random) < 0.5)
    return toggle_atom(mover, log_likelihood, tau, random);
  if (atom && *tau == 0)
    return 1; /* the other half of the time the atom keeps its tau */
  return metropolis(mover, evaluator, log_likelihood, tau, random);
}

void tm_tau_mover_archive(tm_tau_mover *mover, tm_archive *archive) {
  tm_archive_bool(archive, &mover->downward);
  tm_archive_double(archive, &mover->log_prior_here);
  if (mover->memory)
    tm_ridge_memory_archive(mover->memory, archive);
  if (archive->reading)
    mover->slope = NAN; /* what is kept for it is another's */
}
