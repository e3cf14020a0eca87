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
 * (d) What else a run answers: WBIC and Savage-Dickey of (b), the fractional
 * evidence of a mean with a flat prior, 20 observations of sd 1, at b = 0.25
 */

static const double FLAT_N = 20, FLAT_MEAN = 0.7, FLAT_SQUARES = 17.5;
static const double FLAT_B = 0.25;

static int flat_likelihood(const double *theta, double *value, void *user) {
  (void)user;
  double off = FLAT_MEAN - theta[0];
  *value = -0.5 * (FLAT_N * (LOG_2_PI + off * off) + FLAT_SQUARES);
  return 0;
}

static int flat_prior(const double *theta, double *value, void *user) {
  (void)theta;
  (void)user;
  *value = 0;
  return 0;
}

static double flat_log_z(double tau) {
  return -0.5 * tau * (FLAT_N * LOG_2_PI + FLAT_SQUARES) +
         0.5 * (LOG_2_PI - log(tau * FLAT_N));
}

static tempera_model *make_flat(void) {
  tempera_parameter theta = {
      .name = "theta", .lower = -INFINITY, .upper = INFINITY};
  tempera_model_spec spec = {.name = "flat",
                             .parameters = &theta,
                             .parameter_count = 1,
                             .log_likelihood = flat_likelihood,
                             .log_prior = flat_prior,
                             .prior_improper = true};
  tempera_model *model = NULL;
  bench_check(tempera_model_create(&spec, &model, &bench_error));
  return model;
}

/* WBIC of (b) at tau = 1/log n, n the number of its terms. */
static double gaussian_wbic(void) {
  double tau = 1 / log(GAUSSIAN_SIZE), sum = 0;
  for (size_t i = 0; i < GAUSSIAN_SIZE; i++) {
    double s2 = gaussian_sd(i) * gaussian_sd(i), p = 1 + tau / s2;
    double off = gaussian_y(i) * (1 - tau / s2 / p);
    sum += 0.5 * (LOG_2_PI + log(s2) + (off * off + 1 / p) / s2);
  }
  return sum;
}

/* log BF of theta[4] = -1. */
static double gaussian_savage_dickey(void) {
  double s2 = gaussian_sd(3) * gaussian_sd(3), v = s2 / (1 + s2);
  return log_normal(-1, gaussian_y(3) / (1 + s2), v) - log_normal(-1, 0, 1);
}

/* log BF of theta[4] > -1.1. */
static double gaussian_odds(void) {
  double s2 = gaussian_sd(3) * gaussian_sd(3), sd = sqrt(s2 / (1 + s2));
  double p = 0.5 * erfc((-1.1 - gaussian_y(3) / (1 + s2)) / sd / sqrt(2));
  double q = 0.5 * erfc(-1.1 / sqrt(2));
  return log(p / (1 - p)) - log(q / (1 - q));
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

/* One kind of answer over all seeds. */
typedef struct tally {
  const char *name;
  double truth, error, square, se;
  size_t covered, made;
} tally;

static void tally_add(tally *t, double value, double se) {
  if (!isfinite(value) || !(se > 0))
    return;
  double off = value - t->truth;
  t->made++;
  t->covered += fabs(off) <= 1.96 * se;
  t->error += off;
  t->square += off * off;
  t->se += se;
}

static void tally_show(experiment *e, const tally *t) {
  double n = (double)t->made;
  bool met = t->covered >= LEAST && t->covered <= MOST;
  printf("%-25s %4zu of %-4zu %8.4f %8.4f %8.4f  %s\n", t->name, t->covered,
         t->made, t->error / n, sqrt(t->square / n), t->se / n,
         e->seeds == SEEDS ? experiment_verdict(e, met) : "not judged");
  json_array_append_new(
      e->rows,
      json_pack("{s:s,s:s,s:I,s:I,s:b,s:f,s:f,s:f}", "problem", "answers",
                "estimator", t->name, "seeds", (json_int_t)t->made, "covered",
                (json_int_t)t->covered, "met", met, "mean_error",
                t->error / n, "rms_error", sqrt(t->square / n), "mean_se",
                t->se / n));
}

static tempera_summary *run_for_answers(const tempera_model *model,
                                 const tempera_options *options,
                                 tempera_sampler **sampler) {
  tempera_summary *summary = NULL;
  bench_check(tempera_sampler_create(model, options, sampler, &bench_error));
  bench_check(tempera_sampler_run(*sampler, NULL, NULL, &bench_error));
  bench_check(tempera_sampler_summarise(*sampler, &summary, &bench_error));
  return summary;
}

static void tally_hypothesis(tally *t, const tempera_sampler *sampler,
                             const char *null, uint64_t seed) {
  tempera_hypothesis *h = NULL;
  bench_check(tempera_hypothesis_test(tempera_sampler_model(sampler),
                                      tempera_sampler_draws(sampler), null,
                                      seed, &h, &bench_error));
  tally_add(t, h->log_bf, h->se);
  tempera_hypothesis_free(h);
}

static void cover_answers(experiment *e) {
  enum { WBIC, FRACTIONAL, POINT, ODDS, KINDS };
  tally t[KINDS] = {{.name = "WBIC", .truth = gaussian_wbic()},
                    {.name = "fractional evidence",
                     .truth = flat_log_z(1) - flat_log_z(FLAT_B)},
                    {.name = "Savage-Dickey",
                     .truth = gaussian_savage_dickey()},
                    {.name = "odds of an interval", .truth = gaussian_odds()}};
  tempera_model *gauss =
      make_model("gaussian10", &gaussian_size, gaussian, gaussian_gradient);
  tempera_model *flat = make_flat();
  for (uint64_t seed = 1; experiment_wants(e, "answers") && seed <= e->seeds;
       seed++) {
    tempera_sampler *sampler = NULL;
    tempera_options o = fixed_length(4, 500, 1000);
    o.seed = seed;
    o.threads = 1;
    o.observations = GAUSSIAN_SIZE;
    tempera_summary *s = run_for_answers(gauss, &o, &sampler);
    tally_add(&t[WBIC], s->wbic.value, s->wbic.se);
    tally_hypothesis(&t[POINT], sampler, "theta[4] = -1", seed);
    tally_hypothesis(&t[ODDS], sampler, "theta[4] > -1.1", seed);
    tempera_summary_free(s);
    tempera_sampler_free(sampler);
    o.tau_min = FLAT_B;
    s = run_for_answers(flat, &o, &sampler);
    tally_add(&t[FRACTIONAL], s->fractional.value, s->fractional.se);
    tempera_summary_free(s);
    tempera_sampler_free(sampler);
  }
  for (size_t k = 0; experiment_wants(e, "answers") && k < KINDS; k++)
    tally_show(e, &t[k]);
  tempera_model_free(gauss);
  tempera_model_free(flat);
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
  cover_answers(&e);
  return experiment_end(&e);
}
