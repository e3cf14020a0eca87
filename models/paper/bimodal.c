/* bimodal.c - the paper's first model, one parameter:
 *
 *   y_i ~ N(|mu|, 1),  mu ~ N(0, 1)
 *
 * |mu| makes the posterior symmetric with two modes far apart. Everything
 * about it is known in closed form, the evidence up to one error function. */
#include "paper_data.h"

#include <stdlib.h>

static int log_likelihood(const double *theta, double *value, void *user) {
  const normal_sample *sample = user;
  *value = -0.5 * (sample->n * LOG_2_PI + squares_about(sample, fabs(*theta)));
  return 0;
}

static int log_prior(const double *theta, double *value, void *user) {
  (void)user;
  *value = -0.5 * (LOG_2_PI + *theta * *theta);
  return 0;
}

static int log_likelihood_gradient(const double *theta, double *value,
                                   double *gradient, void *user) {
  const normal_sample *sample = user;
  double slope = sample->n * (sample->mean - fabs(*theta));
  *gradient = copysign(1, *theta) * slope;
  return log_likelihood(theta, value, user);
}

static int log_prior_gradient(const double *theta, double *value,
                              double *gradient, void *user) {
  *gradient = -*theta;
  return log_prior(theta, value, user);
}

static int prior_draw(tempera_random *random, double *theta, void *user) {
  (void)user;
  *theta = tempera_random_normal(random);
  return 0;
}

/* The ridge has two equal branches; stay on the start's. */
static int optimum(double tau, double *theta, void *user) {
  const normal_sample *sample = user;
  double precision = sample->n * tau;
  double centre = precision * sample->mean / (precision + 1);
  *theta = copysign(fmax(0, centre), *theta);
  return 0;
}

static int propose_mu(double tau, double scale, const double *theta,
                      double *proposed, double *log_ratio,
                      tempera_random *random, void *user) {
  *proposed = propose_mean(user, tau, scale, *theta, 1, random);
  *log_ratio = 0;
  return 0;
}

TEMPERA_DECLARE_MODEL;

tempera_status tempera_model_open(const tempera_data *data,
                                  tempera_model **model, tempera_error *error) {
  normal_sample *sample;
  TRY(take_sample(data, &sample, error));
  static const tempera_proposal proposals[] = {
      {.name = "mu", .propose = propose_mu, .scale = 2.4}};
  static const double start[] = {-0.8};
  const tempera_recipe recipe = {.proposals = proposals,
                                 .proposal_count = 1,
                                 .start = start,
                                 .start_tau = 0.5,
                                 .tau_move = TEMPERA_TAU_UNIFORM};
  const tempera_parameter parameters[] = {
      {.name = "mu", .lower = -INFINITY, .upper = INFINITY}};
  const tempera_model_spec spec = {
      .name = "bimodal",
      .parameters = parameters,
      .parameter_count = 1,
      .log_likelihood = log_likelihood,
      .log_prior = log_prior,
      .log_likelihood_gradient = log_likelihood_gradient,
      .log_prior_gradient = log_prior_gradient,
      .prior_draw = prior_draw,
      .optimum = optimum,
      .recipe = &recipe,
      .prior_normalised = true,
      .user = sample,
      .release = free,
  };
  tempera_status status = tempera_model_create(&spec, model, error);
  if (status != TEMPERA_OK)
    free(sample);
  return status;
}
