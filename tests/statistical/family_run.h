/* family_run.h - a method run on the toy, and what its draws and estimates must
 * be. */
#ifndef FAMILY_RUN_H
#define FAMILY_RUN_H

#include "estimate_support.h"
#include "family_toy.h"
#include "family_wise.h"
#include "whole_run.h"

#include <gsl/gsl_cdf.h>
#include <string.h>

enum { CHAINS = 4, ITERATIONS = 18000, WARMUP = 4500 };
static const double BATCH_DF = 58; /* of errors by batch means (influence.c) */

typedef struct toy_run {
  tempera_model *model;
  tempera_sampler *sampler;
  tempera_summary *summary;
} toy_run;

/* Options are "name value" pairs, ended by NULL; they come last. */
static inline toy_run run_toy_after(const char *method, bool impossible,
                                    uint64_t seed, const char *const *options,
                                    size_t warmup) {
  toy_run run = {.model = toy_model(impossible)};
  tempera_options o = tempera_options_default();
  assert_non_null(run.model);
  set_options(&o, (const char *const[]){"method", method, NULL});
  o.chains = CHAINS;
  o.iterations = ITERATIONS;
  o.warmup_given = true;
  o.warmup = warmup;
  o.seed = seed;
  set_options(&o, options);
  run.sampler = make_sampler(run.model, &o);
  run.summary = run_sampler(run.sampler);
  return run;
}

static inline toy_run run_toy(const char *method, bool impossible,
                              uint64_t seed, const char *const *options) {
  return run_toy_after(method, impossible, seed, options, WARMUP);
}

static inline void free_run(toy_run *run) {
  tempera_summary_free(run->summary);
  tempera_sampler_free(run->sampler);
  tempera_model_free(run->model);
}

/* A feature of a draw; `which` is its parameter. */
typedef double (*feature)(double k, double x, double which);
static inline double is_value(double k, double x, double which) {
  (void)x;
  return k == which;
}
static inline double is_positive(double k, double x, double which) {
  (void)k, (void)which;
  return x > 0;
}
static inline double size_of(double k, double x, double which) {
  (void)k, (void)which;
  return fabs(x);
}
static inline double square_of(double k, double x, double which) {
  (void)k, (void)which;
  return x * x;
}

static inline void check_evidence(const tempera_summary *s, const char *name,
                                  double exact, double most) {
  const tempera_estimate *e = estimate(s, name);
  if (!(fabs(e->log_z - exact) <= family_t(BATCH_DF) * e->se) ||
      !(e->se < most))
    fail_msg("%s: %.4f +- %.4f, exactly %.4f", name, e->log_z, e->se, exact);
}

/* Of 40 short runs at least 34 intervals of each estimator cover. */
static inline void check_coverage(const char *method,
                                  const char *const *options, size_t warmup,
                                  const char *const *names, int count) {
  int covered[8] = {0};
  double exact = toy_exact(1, false).log_z;
  for (uint64_t seed = 100; seed < 140; seed++) {
    toy_run run = run_toy_after(method, false, seed, options, warmup);
    for (int e = 0; e < count; e++) {
      const tempera_estimate *it = estimate(run.summary, names[e]);
      covered[e] += it->lower <= exact && exact <= it->upper;
    }
    free_run(&run);
  }
  for (int e = 0; e < count; e++)
    if (covered[e] < 34)
      fail_msg("%s covers %d times of 40", names[e], covered[e]);
}

/* 1 for the rows at this tau, 0 for the others. */
static inline void pick_level(const tempera_draws *draws, double tau,
                              double *weight) {
  size_t rows = tempera_draws_rows(draws, TEMPERA_TEMPERED);
  for (size_t c = 0; c < tempera_draws_chains(draws); c++) {
    const double *at = tempera_draws_tau(draws, TEMPERA_TEMPERED, c);
    for (size_t i = 0; i < rows; i++)
      weight[c * rows + i] = at[i] == tau;
  }
}

/* The share of tempered rows that `picked` (1 or 0, chain after chain) picks.
 */
static inline void check_share(const tempera_draws *draws, const double *picked,
                               double exact) {
  size_t rows = tempera_draws_rows(draws, TEMPERA_TEMPERED);
  size_t chains = tempera_draws_chains(draws), n = chains * rows;
  double mean = 0;
  for (size_t i = 0; i < n; i++)
    mean += picked[i] / (double)n;
  double se = tm_influence_error(picked, chains, rows).se;
  if (!(fabs(mean - exact) <= family_t(BATCH_DF) * se))
    fail_msg("share of draws: %.5f +- %.5f, exactly %.5f", mean, se, exact);
}

/* The draws with this value of k among those that `weight` (one per row, chain
 * after chain; NULL: all) picks; all of them when the value is negative. */
static inline double count_value(const tempera_draws *draws, tempera_role role,
                                 const double *weight, double value) {
  size_t rows = tempera_draws_rows(draws, role);
  double count = 0;
  for (size_t c = 0; c < tempera_draws_chains(draws); c++) {
    const double *k = tempera_draws_values(draws, role, c, 0);
    for (size_t i = 0; i < rows; i++)
      if (value < 0 || k[i] == value)
        count += weight ? weight[c * rows + i] : 1;
  }
  return count;
}

/* The mean of a feature over the picked draws beside the exact one, within the
 * suite's bound. Returns the standard error. */
static inline double check_weighted(const tempera_draws *draws,
                                    tempera_role role, const double *weight,
                                    feature f, double which, double exact,
                                    const char *what) {
  size_t rows = tempera_draws_rows(draws, role);
  size_t chains = tempera_draws_chains(draws), n = chains * rows;
  double *series = malloc(n * sizeof *series), mean = 0;
  double total = count_value(draws, role, weight, -1);
  for (int pass = 0; pass < 2; pass++)
    for (size_t c = 0; c < chains; c++) {
      const double *k = tempera_draws_values(draws, role, c, 0);
      const double *x = tempera_draws_values(draws, role, c, 1);
      for (size_t i = 0; i < rows; i++) {
        double w = (weight ? weight[c * rows + i] : 1) / total;
        double value = f(k[i], x[i], which);
        if (pass == 0)
          mean += w * value;
        else
          series[c * rows + i] = (double)n * w * (value - mean);
      }
    }
  tm_monte_carlo error = tm_influence_error(series, chains, rows);
  free(series);
  /* The error within chains says whether there was enough to see; chains may
   * lie apart and widen it as far as chance lets them. */
  double most = fmax(family_spread(chains, BATCH_DF), family_t(BATCH_DF));
  if (!(fabs(mean - exact) <= family_t(BATCH_DF) * error.se) ||
      !(error.within < 0.1) || !(error.se <= most * error.within))
    fail_msg("%s: %.5f +- %.5f, exactly %.5f", what, mean, error.se, exact);
  return error.se;
}

/* A handful of draws has no normal error: that many events, or as few, must not
 * be rarer in a Poisson law than the suite allows of any comparison.
 * Counts need not be whole: P(N >= count) = P(Gamma(count) <= mean). */
static inline void check_few(double count, double mean, const char *what) {
  const double least = family_rate() / 2;
  if ((count > 0 && gsl_cdf_gamma_P(mean, count, 1) < least) ||
      gsl_cdf_gamma_Q(mean, count + 1, 1) < least)
    fail_msg("%s: %.2f draws of the rare values, %.2f expected", what, count,
             mean);
}

/* Rare values are one class, counted in independent draws: `g` correlated ones
 * are worth one, as they are for the common value that mixes worst. */
static inline void check_values(const tempera_draws *draws, tempera_role role,
                                const double *weight, const toy_law *law,
                                const char *what) {
  double total = count_value(draws, role, weight, -1);
  double g = 1, rare = 0, mean = 0;
  for (int k = 0; k < TOY_VALUES; k++) {
    double p = law->pmf[k], count = count_value(draws, role, weight, k);
    if (p > 0.005) {
      double se = check_weighted(draws, role, weight, is_value, k, p, what);
      g = fmax(g, se * se * total / (p * (1 - p)));
    } else if (p > 0) {
      rare += count;
      mean += p * total;
    } else if (count > 0) {
      fail_msg("%s: %g draws of the impossible %d", what, count, k);
    }
  }
  check_few(rare / g, mean / g, what);
}

static inline void check_weighted_law(const tempera_draws *draws,
                                      tempera_role role, const double *weight,
                                      toy_law law, const char *what) {
  check_values(draws, role, weight, &law, what);
  check_weighted(draws, role, weight, is_positive, 0, 0.5, what);
  check_weighted(draws, role, weight, size_of, 0, law.mean_size, what);
  check_weighted(draws, role, weight, square_of, 0, law.mean_square, what);
}

#endif
