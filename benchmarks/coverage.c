/* coverage.c - are the error bars honest? Seeds 1 to 200 of short runs of fixed
 * length on three problems with exact evidence, and of runs that decide their
 * length themselves (NAME-auto; a run that stops when its error looks small
 * enough might stop where the error is underestimated); how often log_z +- 1.96
 * se holds the truth. 95 % of 200 is 190; 180 to 197 passes.
 *
 *   bench-coverage [--seeds N] [--only NAME] [-o FILE]
 *
 * (a) the paper's bimodal model, one parameter;
 * (b) a Gaussian in 10 dimensions: theta ~ N(0, 1), y_i ~ N(theta_i, s_i^2),
 *     so Z = prod N(y_i; 0, 1 + s_i^2);
 * (c) two modes in 5 dimensions: theta ~ N(0, I), L(theta) =
 *     0.8 N(theta; m, s^2 I) + 0.2 N(theta; -m, s^2 I). Both parts have the
 *     same evidence N(m; 0, (1 + s^2) I), so that is Z, and 0.8 and 0.2 are
 *     the posterior weights of the modes. */
#include "experiment.h"

static const double LOG_2_PI = 1.8378770664093454836;

/* log N(x; mean, variance) */
static double log_normal(double x, double mean, double variance) {
  double z = x - mean;
  return -0.5 * (LOG_2_PI + log(variance) + z * z / variance);
}

/* ------------------------------------------------------------------------
 * The standard normal prior of (b) and (c); `user` is the dimension
 */

static int log_prior(const double *theta, double *value, void *user) {
  *value = 0;
  for (size_t i = 0; i < *(const size_t *)user; i++)
    *value += log_normal(theta[i], 0, 1);
  return 0;
}

static int log_prior_gradient(const double *theta, double *value,
                              double *gradient, void *user) {
  for (size_t i = 0; i < *(const size_t *)user; i++)
    gradient[i] = -theta[i];
  return log_prior(theta, value, user);
}

static int prior_draw(tempera_random *random, double *theta, void *user) {
  for (size_t i = 0; i < *(const size_t *)user; i++)
    theta[i] = tempera_random_normal(random);
  return 0;
}

/* ------------------------------------------------------------------------
 * (b)
 */

enum { GAUSSIAN_SIZE = 10 };
static size_t gaussian_size = GAUSSIAN_SIZE;

/* Scales from 0.1 to 0.55, observations within the prior. */
static double gaussian_sd(size_t i) { return 0.1 + 0.05 * (double)i; }
static double gaussian_y(size_t i) { return i & 1 ? -1.2 : 0.3 * (double)i; }

static int gaussian(const double *theta, double *value, void *user) {
  (void)user;
  *value = 0;
  for (size_t i = 0; i < GAUSSIAN_SIZE; i++)
    *value +=
        log_normal(gaussian_y(i), theta[i], gaussian_sd(i) * gaussian_sd(i));
  return 0;
}

static int gaussian_gradient(const double *theta, double *value,
                             double *gradient, void *user) {
  for (size_t i = 0; i < GAUSSIAN_SIZE; i++)
    gradient[i] =
        (gaussian_y(i) - theta[i]) / (gaussian_sd(i) * gaussian_sd(i));
  return gaussian(theta, value, user);
}

static double gaussian_log_z(void) {
  double log_z = 0;
  for (size_t i = 0; i < GAUSSIAN_SIZE; i++)
    log_z += log_normal(gaussian_y(i), 0, 1 + gaussian_sd(i) * gaussian_sd(i));
  return log_z;
}

/* ------------------------------------------------------------------------
 * (c)
 */

enum { MIXTURE_SIZE = 5 };
static size_t mixture_size = MIXTURE_SIZE;
static const double MIXTURE_MEAN = 1, MIXTURE_SD = 0.2, MIXTURE_WEIGHT = 0.8;

/* log of weight times N(theta; mean 1, s^2 I) */
static double mixture_part(const double *theta, double mean, double weight) {
  double value = log(weight);
  for (size_t i = 0; i < MIXTURE_SIZE; i++)
    value += log_normal(theta[i], mean, MIXTURE_SD * MIXTURE_SD);
  return value;
}

static int mixture_gradient(const double *theta, double *value,
                            double *gradient, void *user) {
  (void)user;
  double a = mixture_part(theta, MIXTURE_MEAN, MIXTURE_WEIGHT);
  double b = mixture_part(theta, -MIXTURE_MEAN, 1 - MIXTURE_WEIGHT);
  double most = fmax(a, b);
  *value = most + log(exp(a - most) + exp(b - most));
  double mean = (2 * exp(a - *value) - 1) * MIXTURE_MEAN;
  for (size_t i = 0; i < MIXTURE_SIZE; i++)
    gradient[i] = (mean - theta[i]) / (MIXTURE_SD * MIXTURE_SD);
  return 0;
}

static int mixture(const double *theta, double *value, void *user) {
  double gradient[MIXTURE_SIZE];
  return mixture_gradient(theta, value, gradient, user);
}

static double mixture_log_z(void) {
  return MIXTURE_SIZE *
         log_normal(MIXTURE_MEAN, 0, 1 + MIXTURE_SD * MIXTURE_SD);
}

static tempera_model *make_model(const char *name, size_t *size,
                                 tempera_density_fn density,
                                 tempera_gradient_fn gradient) {
  tempera_parameter theta = {
      .name = "theta", .size = *size, .lower = -INFINITY, .upper = INFINITY};
  tempera_model_spec spec = {.name = name,
                             .parameters = &theta,
                             .parameter_count = 1,
                             .log_likelihood = density,
                             .log_prior = log_prior,
                             .log_likelihood_gradient = gradient,
                             .log_prior_gradient = log_prior_gradient,
                             .prior_draw = prior_draw,
                             .prior_normalised = true,
                             .user = size};
  tempera_model *model = NULL;
  bench_check(tempera_model_create(&spec, &model, &bench_error));
  return model;
}

/* ------------------------------------------------------------------------
 * Counting
 */

enum { SEEDS = 200, LEAST = 180, MOST = 197 }; /* other counts: not judged */

static void count_one(experiment *e, const problem *p, const char *estimator,
                      const result *results) {
  errors x = errors_of(results, e->seeds, estimator, p->log_z);
  if (x.runs == 0) {
    printf("%-15s %-9s not available\n", p->name, estimator);
    return;
  }
  bool met = x.covered >= LEAST && x.covered <= MOST;
  printf("%-15s %-9s %4zu of %-4zu %8.4f %8.4f %8.4f  %s\n", p->name, estimator,
         x.covered, e->seeds, x.mean, x.rms, x.se,
         e->seeds == SEEDS ? experiment_verdict(e, met) : "not judged");
  json_t *row = json_pack("{s:s,s:s,s:I,s:b}", "problem", p->name, "estimator",
                          estimator, "seeds", (json_int_t)e->seeds, "met", met);
  errors_to_json(row, &x);
  json_array_append_new(e->rows, row);
}

static void cover(experiment *e, const problem *p, tempera_model *model,
                  const tempera_options *options) {
  if (experiment_wants(e, p->name)) {
    result *results = replicate(p, model, options, e->seeds);
    static const char *const names[] = {"headline", "rb", "bridge"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
      count_one(e, p, names[i], results);
    costs c = costs_of(results, e->seeds);
    printf("%-15s per run: %.0f likelihoods, %.0f gradients, %.0f round trips, "
           "%.2f CPU s\n",
           p->name, c.likelihoods, c.gradients, c.round_trips, c.seconds);
    free(results);
  }
  tempera_model_free(model);
}

int main(int argc, char **argv) {
  experiment e = experiment_begin(argc, argv, SEEDS);
  printf("%-15s %-9s %-11s %9s %8s %8s\n", "problem", "estimator", "covered",
         "mean err", "rms err", "mean se");
  for (int automatic = 0; automatic < 2; automatic++) {
    problem bimodal = *paper_problem("bimodal-2555");
    bimodal.name = automatic ? "bimodal-auto" : "bimodal";
    problem gauss = {.name = automatic ? "gaussian10-auto" : "gaussian10",
                     .log_z = gaussian_log_z()};
    problem mixed = {.name = automatic ? "mixture5-auto" : "mixture5",
                     .log_z = mixture_log_z()};
    tempera_options o = fixed_length(4, 500, 1000);
    if (automatic)
      o = tempera_options_default();
    cover(&e, &bimodal, bench_load(bimodal.library, bimodal.data), &o);
    cover(&e, &gauss,
          make_model(gauss.name, &gaussian_size, gaussian, gaussian_gradient),
          &o);
    cover(&e, &mixed,
          make_model(mixed.name, &mixture_size, mixture, mixture_gradient), &o);
  }
  return experiment_end(&e);
}
