/* tau_move.c - see tau_move.h. */
#include "samplers/tau_move.h"

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

static double gibbs(tm_tau_mover *mover, double log_likelihood, double *tau,
                    tempera_random *random) {
  double interval = tempera_random_uniform(random);
  double within = tempera_random_uniform(random);
  *tau = tm_loglinear_draw(&mover->prior->log_prior, log_likelihood, interval,
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
    return low + (1 - low) * tempera_random_uniform(random);
  do
    proposed = tau + mover->scale * tempera_random_normal(random);
  while (proposed < low || proposed > 1);
  *log_ratio =
      log(truncated_mass(mover, tau)) - log(truncated_mass(mover, proposed));
  return proposed;
}

static double metropolis(tm_tau_mover *mover, tm_evaluator *evaluator,
                         double log_likelihood, double *tau,
                         tempera_random *random) {
  double log_ratio;
  double proposed = propose(mover, *tau, &log_ratio, random);
  double there = log_prior_at(mover, evaluator, proposed);
  double here = mover->memory ? mover->log_prior_here
                              : log_prior_at(mover, evaluator, *tau);
  log_ratio += (proposed - *tau) * log_likelihood + there - here;
  if (!(log(tempera_random_uniform(random)) < log_ratio))
    return exp(fmin(0, log_ratio));
  *tau = proposed;
  mover->log_prior_here = there;
  return exp(fmin(0, log_ratio));
}

double tm_tau_move(tm_tau_mover *mover, tm_evaluator *evaluator,
                   double log_likelihood, double *tau, tempera_random *random) {
  if (mover->kind == TEMPERA_TAU_GIBBS)
    return gibbs(mover, log_likelihood, tau, random);
  return metropolis(mover, evaluator, log_likelihood, tau, random);
}
