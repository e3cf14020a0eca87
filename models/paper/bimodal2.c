/* bimodal2.c - the paper's first model with both parameters unknown:
 *
 *   y_i ~ N(|mu|, sigma2),  mu ~ N(0, 1),  sigma2 ~ IG(1, 1)
 *
 * The inverse gamma density is sigma2^-2 exp(-1/sigma2); shape and scale 1
 * leave no constant. */
#include "paper_data.h"

#include <stdlib.h>

enum { MU, SIGMA2, SIZE };

static int log_likelihood(const double *theta, double *value, void *user) {
  const normal_sample *sample = user;
  double squares = squares_about(sample, fabs(theta[MU]));
  *value = -0.5 * (sample->n * (LOG_2_PI + log(theta[SIGMA2])) +
                   squares / theta[SIGMA2]);
  if (isnan(*value) || theta[SIGMA2] <= 0)
    *value = -INFINITY; /* sigma2 has left the range of numbers */
  return 0;
}

static int log_prior(const double *theta, double *value, void *user) {
  (void)user;
  double mu = theta[MU], sigma2 = theta[SIGMA2];
  *value = sigma2 > 0
               ? -0.5 * (LOG_2_PI + mu * mu) - 2 * log(sigma2) - 1 / sigma2
               : -INFINITY;
  return 0;
}

static int log_likelihood_gradient(const double *theta, double *value,
                                   double *gradient, void *user) {
  const normal_sample *sample = user;
  double sigma2 = theta[SIGMA2], centre = fabs(theta[MU]);
  double squares = squares_about(sample, centre);
  gradient[MU] =
      copysign(1, theta[MU]) * sample->n * (sample->mean - centre) / sigma2;
  gradient[SIGMA2] = 0.5 * (squares / sigma2 - sample->n) / sigma2;
  return log_likelihood(theta, value, user);
}

static int log_prior_gradient(const double *theta, double *value,
                              double *gradient, void *user) {
  double sigma2 = theta[SIGMA2];
  gradient[MU] = -theta[MU];
  gradient[SIGMA2] = (1 / sigma2 - 2) / sigma2;
  return log_prior(theta, value, user);
}

static int prior_draw(tempera_random *random, double *theta, void *user) {
  (void)user;
  theta[MU] = tempera_random_normal(random);
  theta[SIGMA2] = 1 / tempera_random_exponential(random);
  return 0;
}

/* The conditional optimum of sigma2 given |mu|, and of |mu| given sigma2. */
static double best_sigma2(const normal_sample *sample, double tau,
                          double centre) {
  return (1 + 0.5 * tau * squares_about(sample, centre)) /
         (2 + 0.5 * tau * sample->n);
}

static double best_centre(const normal_sample *sample, double tau,
                          double sigma2) {
  double precision = sample->n * tau;
  return fmax(0, precision * sample->mean / (precision + sigma2));
}

/* The paper's alternation, from this |mu| to a fixed point. */
static double alternate(const normal_sample *sample, double tau,
                        double centre) {
  for (int step = 0; step < 10000; step++) {
    double next = best_centre(sample, tau, best_sigma2(sample, tau, centre));
    double change = fabs(next - centre);
    centre = next;
    if (change < 1e-14)
      break;
  }
  return centre;
}

static double height(const normal_sample *sample, double tau, double centre) {
  double theta[SIZE] = {centre, best_sigma2(sample, tau, centre)};
  double likelihood, prior;
  log_likelihood(theta, &likelihood, (void *)(uintptr_t)sample);
  log_prior(theta, &prior, NULL);
  return tau * likelihood + prior;
}

/* Between 0 and the mean a larger |mu| gives a smaller sigma2, which gives a
 * larger |mu|: the alternation is monotone. Fixed points are the roots of a
 * cubic, so the outermost ones, reached from both ends, are all the maxima
 * there are, and the better of them is the global one: the start only
 * chooses the sign. */
static int optimum(double tau, double *theta, void *user) {
  const normal_sample *sample = user;
  double low = alternate(sample, tau, 0);
  double high = alternate(sample, tau, fmax(0, sample->mean));
  bool lower = height(sample, tau, low) > height(sample, tau, high);
  double centre = lower ? low : high;
  theta[MU] = copysign(centre, theta[MU]);
  theta[SIGMA2] = best_sigma2(sample, tau, centre);
  return 0;
}

static int propose_mu(double tau, double scale, const double *theta,
                      double *proposed, double *log_ratio,
                      tempera_random *random, void *user) {
  proposed[MU] =
      propose_mean(user, tau, scale, theta[MU], theta[SIGMA2], random);
  *log_ratio = 0; /* its width depends on sigma2, which stays */
  return 0;
}

static int propose_sigma2(double tau, double scale, const double *theta,
                          double *proposed, double *log_ratio,
                          tempera_random *random, void *user) {
  (void)tau;
  (void)user;
  proposed[SIGMA2] = propose_positive(theta[SIGMA2], scale, log_ratio, random);
  return 0;
}

TEMPERA_DECLARE_MODEL;

tempera_status tempera_model_open(const tempera_data *data,
                                  tempera_model **model, tempera_error *error) {
  normal_sample *sample;
  TRY(take_sample(data, &sample, error));
  static const tempera_proposal proposals[] = {
      {.name = "mu", .propose = propose_mu, .scale = 2.4},
      {.name = "sigma2",
       .propose = propose_sigma2,
       .scale = 1,
       .target_acceptance = 0.44}};
  static const double start[SIZE] = {[MU] = -0.8, [SIGMA2] = 0.2};
  const tempera_recipe recipe = {.proposals = proposals,
                                 .proposal_count = 2,
                                 .start = start,
                                 .start_tau = 0.5,
                                 .tau_move = TEMPERA_TAU_UNIFORM};
  const tempera_parameter parameters[SIZE] = {
      [MU] = {.name = "mu", .lower = -INFINITY, .upper = INFINITY},
      [SIGMA2] = {.name = "sigma2", .lower = 0, .upper = INFINITY}};
  const tempera_model_spec spec = {
      .name = "bimodal2",
      .parameters = parameters,
      .parameter_count = SIZE,
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
