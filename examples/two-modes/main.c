/* main.c - a model with two isolated modes, sampled through tempera.h.
 *
 * An object lies at an unknown place x on a line, a priori x ~ N(0, 5^2). A
 * detector reports that it is near -4 or near 6, but cannot tell which:
 *
 *   L(x) = 0.7 N(x; -4, 0.3^2) + 0.3 N(x; 6, 0.3^2)
 *
 * The modes are 33 standard deviations apart; an ordinary random walk sees
 * one of them for ever. Everything is known in closed form: integrating each
 * normal over the prior gives the evidence, and with it the weight of each
 * mode. The program prints estimates beside those values and fails (status 1)
 * when one is off by more than four standard errors.
 *
 *   cc main.c $(pkg-config --cflags --libs tempera) -lm && ./a.out
 *
 * See README.md for what it prints. */
#include "tempera.h"

#include <math.h>
#include <stdio.h>

/* What the callbacks need; the caller's own struct, passed as `user`. */
typedef struct detector {
  double place[2], weight[2], error;
  double prior_sd;
} detector;

static double log_normal(double x, double mean, double sd) {
  double z = (x - mean) / sd;
  return -0.5 * z * z - log(sd) - 0.918938533204672741780;
}

/* log(e^a + e^b), safe far from both modes, where e^a and e^b underflow. */
static double log_add(double a, double b) {
  return fmax(a, b) + log1p(exp(-fabs(a - b)));
}

static int log_likelihood(const double *theta, double *value, void *user) {
  const detector *d = user;
  double term[2];
  for (int k = 0; k < 2; k++)
    term[k] = log(d->weight[k]) + log_normal(*theta, d->place[k], d->error);
  *value = log_add(term[0], term[1]);
  return 0;
}

static int log_prior(const double *theta, double *value, void *user) {
  const detector *d = user;
  *value = log_normal(*theta, 0, d->prior_sd);
  return 0;
}

/* Optional: lets the sampler start from, and check, the prior itself. */
static int prior_draw(tempera_random *random, double *theta, void *user) {
  const detector *d = user;
  *theta = d->prior_sd * tempera_random_normal(random);
  return 0;
}

/* The exact answers: x and the detector's error add up to one normal. */
typedef struct answers {
  double log_z, first_weight, mean;
} answers;

static answers exact(const detector *d) {
  double variance = d->prior_sd * d->prior_sd, error = d->error * d->error;
  double term[2];
  for (int k = 0; k < 2; k++)
    term[k] =
        log(d->weight[k]) + log_normal(d->place[k], 0, sqrt(variance + error));
  answers a = {.log_z = log_add(term[0], term[1])};
  a.first_weight = exp(term[0] - a.log_z);
  a.mean = (a.first_weight * d->place[0] + (1 - a.first_weight) * d->place[1]) *
           variance / (variance + error);
  return a;
}

/* The share of draws at tau = 1 in the left mode: a loop over the draws. */
static double left_share(const tempera_draws *draws) {
  size_t chains = tempera_draws_chains(draws);
  size_t count = tempera_draws_count(draws), left = 0;
  for (size_t chain = 0; chain < chains; chain++) {
    const double *x = tempera_draws_values(draws, TEMPERA_TARGET, chain, 0);
    for (size_t i = 0; i < count; i++)
      left += x[i] < 1;
  }
  return (double)left / (double)(chains * count);
}

static bool agrees(const char *what, double value, double se, double truth) {
  bool good = fabs(value - truth) <= 4 * se; /* false for NaN */
  printf("%-14s %9.4f +- %.4f   exact %9.4f   %s\n", what, value, se, truth,
         good ? "ok" : "OFF");
  return good;
}

static bool report(const detector *d, const tempera_sampler *sampler,
                   const tempera_summary *summary) {
  answers truth = exact(d);
  bool good = agrees("log evidence", summary->log_z, summary->se, truth.log_z);
  good &= agrees("mean of x", summary->values[0].mean, summary->values[0].mcse,
                 truth.mean);
  printf("%-14s %9.4f             exact %9.4f\n", "left mode",
         left_share(tempera_sampler_draws(sampler)), truth.first_weight);
  printf("%zu round trips, %llu likelihood evaluations\n%s\n",
         summary->round_trips,
         (unsigned long long)summary->likelihood_evaluations, summary->verdict);
  return good;
}

static tempera_status sample(detector *d, bool *good, tempera_error *error) {
  const tempera_parameter x = {
      .name = "x", .lower = -INFINITY, .upper = INFINITY};
  const tempera_model_spec spec = {.name = "two-modes",
                                   .parameters = &x,
                                   .parameter_count = 1,
                                   .log_likelihood = log_likelihood,
                                   .log_prior = log_prior,
                                   .prior_draw = prior_draw,
                                   .prior_normalised = true,
                                   .user = d};
  tempera_options options = tempera_options_default();
  options.seed = 1; /* the same draws every time */
  options.iterations = 20000;
  tempera_model *model = NULL;
  tempera_sampler *sampler = NULL;
  tempera_summary *summary = NULL;
  tempera_status status = tempera_model_create(&spec, &model, error);
  if (status == TEMPERA_OK)
    status = tempera_sampler_create(model, &options, &sampler, error);
  if (status == TEMPERA_OK)
    status = tempera_sampler_run(sampler, NULL, NULL, error);
  if (status == TEMPERA_OK)
    status = tempera_sampler_summarise(sampler, &summary, error);
  if (status == TEMPERA_OK)
    *good = report(d, sampler, summary);
  tempera_summary_free(summary);
  tempera_sampler_free(sampler);
  tempera_model_free(model);
  return status;
}

int main(void) {
  detector d = {
      .place = {-4, 6}, .weight = {0.7, 0.3}, .error = 0.3, .prior_sd = 5};
  bool good = false;
  tempera_error error = {0};
  if (sample(&d, &good, &error) != TEMPERA_OK) {
    fprintf(stderr, "two-modes: %s\n", error.message);
    return 1;
  }
  return good ? 0 : 1;
}
