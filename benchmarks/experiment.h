/* experiment.h - what every experiment needs: arguments, replicates over seeds
 * 1, 2, ... (one thread each, so that the figures do not depend on the number
 * of cores), the paper's problems with their exact answers, sums of errors
 * over seeds, and JSON. */
#ifndef TM_BENCHMARKS_EXPERIMENT_H
#define TM_BENCHMARKS_EXPERIMENT_H

#include "bench.h"

#include <jansson.h>
#include <stdbool.h>
#include <string.h>

/* ------------------------------------------------------------------------
 * Arguments: --seeds N, --only NAME (a part of a row's name), -o FILE,
 * --svg FILE (a plot), --document FILE (tables between its markers), --set
 * OPTION=VALUE (of the runs, again and again)
 */

enum { SETS = 8 };

typedef struct experiment {
  size_t seeds;
  const char *only, *output, *svg, *document;
  const char *sets[SETS];
  size_t set_count;
  json_t *rows; /* what is written to `output` */
  size_t missed;
} experiment;

static inline experiment experiment_begin(int argc, char **argv, size_t seeds) {
  experiment e = {.seeds = seeds, .rows = json_array()};
  for (int i = 1; i < argc; i++) {
    const char *value = i + 1 < argc ? argv[i + 1] : NULL;
    char *end = NULL;
    if (value && strcmp(argv[i], "--seeds") == 0)
      e.seeds = strtoul(value, &end, 10);
    else if (value && strcmp(argv[i], "--only") == 0)
      e.only = value;
    else if (value && strcmp(argv[i], "-o") == 0)
      e.output = value;
    else if (value && strcmp(argv[i], "--svg") == 0)
      e.svg = value;
    else if (value && strcmp(argv[i], "--document") == 0)
      e.document = value;
    else if (value && strcmp(argv[i], "--set") == 0 && e.set_count < SETS)
      e.sets[e.set_count++] = value;
    else
      value = NULL;
    if (!value || (end && (*end || e.seeds == 0))) {
      fprintf(stderr, "usage: %s [--seeds N] [--only NAME] [-o FILE]\n",
              argv[0]);
      exit(2);
    }
    i++;
  }
  return e;
}

/* What --set asked for. */
static inline void experiment_options(const experiment *e,
                                      tempera_options *options) {
  for (size_t i = 0; i < e->set_count; i++) {
    char name[64];
    const char *value = strchr(e->sets[i], '=');
    snprintf(name, sizeof name, "%.*s", (int)(value ? value - e->sets[i] : 63),
             e->sets[i]);
    bench_check(tempera_options_set(options, name, value ? value + 1 : NULL,
                                    &bench_error));
  }
}

static inline bool experiment_wants(const experiment *e, const char *name) {
  return !e->only || strstr(name, e->only);
}

/* The word for the table; misses are counted. */
static inline const char *experiment_verdict(experiment *e, bool met) {
  e->missed += !met;
  return met ? "PASS" : "MISS";
}

/* NaN and infinities are null in JSON. */
static inline void experiment_number(json_t *row, const char *name, double x) {
  json_object_set_new(row, name, isfinite(x) ? json_real(x) : json_null());
}

static inline int experiment_end(experiment *e) {
  if (e->output && json_dump_file(e->rows, e->output,
                                  JSON_INDENT(1) | JSON_REAL_PRECISION(8)))
    fprintf(stderr, "cannot write %s\n", e->output);
  json_decref(e->rows);
  printf("%zu missed\n", e->missed);
  return 0;
}

/* ------------------------------------------------------------------------
 * Problems
 */

/* What besides the evidence has a known answer. */
typedef enum figure_kind {
  FIGURE_NONE = 0,
  FIGURE_SIGNS,  /* shares of mu below and above 0: 1/2 each */
  FIGURE_LABELS, /* share of draws in which mu[k] is the smallest: 1/K each */
  FIGURE_I0      /* P(I0 = 1), P(I0 = 2), ... */
} figure_kind;

enum { FIGURES = 8, ESTIMATES = 12 };

typedef struct problem {
  const char *name, *library, *data;
  double log_z, se; /* the exact answer and its own error */
  figure_kind kind;
  size_t figure_count;
  double se_most, error_most; /* what a default run is asked for; 0: nothing */
} problem;

static const problem paper_problems[] = {
    {"bimodal-2555", "bimodal", "bimodal.json", -38.25321251549197, 0,
     FIGURE_SIGNS, 2, 0, 0},
    {"bimodal-1555", "bimodal", "bimodal-1555.json", -39.20117593068108, 0,
     FIGURE_SIGNS, 2, 0, 0},
    {"bimodal2-2555", "bimodal2", "bimodal.json", -39.54462832902814, 0,
     FIGURE_SIGNS, 2, 0, 0},
    {"bimodal2-1555", "bimodal2", "bimodal-1555.json", -40.370366734013075, 0,
     FIGURE_SIGNS, 2, 0, 0},
    {"galaxy-2-equal", "galaxy", "galaxy-2-equal.json", -239.751, 0.005,
     FIGURE_LABELS, 2, 0, 0},
    {"galaxy-3-equal", "galaxy", "galaxy-3-equal.json", -226.822, 0.01085,
     FIGURE_LABELS, 3, 0, 0},
    {"galaxy-3", "galaxy", "galaxy-3.json", -226.780, 0.014, FIGURE_LABELS, 3,
     0.1, 0},
    {"galaxy-4", "galaxy", "galaxy-4.json", -226.620, 0.005, FIGURE_LABELS, 4,
     0, 0},
    {"galaxy-5", "galaxy", "galaxy-5.json", -226.863, 0.0061, FIGURE_LABELS, 5,
     0.2, 0},
    {"sir", "sir", "eyam.json", -343.9890570084098, 2e-6, FIGURE_I0, 8, 0,
     0.1}};
enum { PAPER_PROBLEMS = sizeof paper_problems / sizeof *paper_problems };

/* P(I0 = 1 .. 8 | y) of SIR. */
static const double I0_truth[FIGURES] = {0,
                                         4.4573e-11,
                                         0.0019444192531373795,
                                         0.4515346158992196,
                                         0.5077557479593168,
                                         0.03811605826454456,
                                         0.0006445220775940599,
                                         4.616485682765214e-06};

static inline const problem *paper_problem(const char *name) {
  for (size_t i = 0; i < PAPER_PROBLEMS; i++)
    if (strcmp(paper_problems[i].name, name) == 0)
      return &paper_problems[i];
  fprintf(stderr, "no problem %s\n", name);
  exit(1);
}

/* The criteria of issue and bar: both signs, labels 0.25 .. 0.42 with K = 3,
 * P(I0) within 0.02. For other K none is stated: every label in at least half
 * of its due share. */
static inline bool figures_met(const problem *p, const double *figures) {
  bool met = true;
  for (size_t k = 0; k < p->figure_count; k++) {
    double due = 1 / (double)p->figure_count;
    if (p->kind == FIGURE_I0)
      met = met && fabs(figures[k] - I0_truth[k]) <= 0.02;
    else if (p->kind == FIGURE_LABELS && p->figure_count == 3)
      met = met && figures[k] >= 0.25 && figures[k] <= 0.42;
    else if (p->kind == FIGURE_LABELS)
      met = met && figures[k] >= due / 2;
    else
      met = met && figures[k] > 0;
  }
  return met;
}

/* ------------------------------------------------------------------------
 * One run
 */

typedef struct named_estimate {
  char name[16];
  double log_z, se;
} named_estimate;

typedef struct result {
  bool ok;
  char message[256];
  named_estimate headline, estimates[ESTIMATES];
  size_t estimate_count, round_trips, leg_trips;
  double likelihoods, gradients, seconds, figures[FIGURES];
  bool reliable;
  char finding[24]; /* that forbids it; "" when nothing does */
} result;

static inline double thread_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static inline size_t smallest_label(const double *const *mu, size_t count,
                                    size_t draw) {
  size_t least = 0;
  for (size_t k = 1; k < count; k++)
    if (mu[k][draw] < mu[least][draw])
      least = k;
  return least;
}

/* Where the target draw falls; FIGURES means in none. mu comes first among
 * the values of the mixtures and the bimodal models, I0 third in SIR. */
static inline size_t figure_of(const problem *p, const double *const *values,
                               size_t draw) {
  switch (p->kind) {
  case FIGURE_SIGNS:
    return values[0][draw] < 0 ? 0u : 1u;
  case FIGURE_LABELS:
    return smallest_label(values, p->figure_count, draw);
  case FIGURE_I0: {
    double I0 = values[2][draw];
    return I0 >= 1 && I0 <= FIGURES ? (size_t)I0 - 1 : FIGURES;
  }
  default:
    return FIGURES;
  }
}

static inline void measure_figures(const problem *p, const tempera_draws *draws,
                                   double *figures) {
  size_t chains = tempera_draws_chains(draws);
  size_t count = tempera_draws_count(draws);
  size_t used = p->kind == FIGURE_I0 ? 3 : p->figure_count;
  if (p->kind == FIGURE_SIGNS)
    used = 1;
  for (size_t c = 0; c < chains && p->kind != FIGURE_NONE; c++) {
    const double *values[FIGURES] = {0};
    for (size_t i = 0; i < used; i++)
      values[i] = tempera_draws_values(draws, TEMPERA_TARGET, c, i);
    for (size_t t = 0; values[0] && t < count; t++) {
      size_t at = figure_of(p, values, t);
      if (at < FIGURES)
        figures[at] += 1 / (double)(chains * count);
    }
  }
}

static inline named_estimate estimate_named(const char *name, double log_z,
                                            double se) {
  named_estimate e = {.log_z = log_z, .se = se};
  snprintf(e.name, sizeof e.name, "%s", name ? name : "");
  return e;
}

static inline void read_summary(const tempera_summary *s, result *r) {
  r->headline = estimate_named(s->estimator, s->log_z, s->se);
  for (size_t i = 0; i < s->estimate_count && i < ESTIMATES; i++)
    r->estimates[r->estimate_count++] = estimate_named(
        s->estimates[i].name, s->estimates[i].log_z, s->estimates[i].se);
  r->round_trips = s->round_trips;
  r->leg_trips = s->reference ? s->reference->round_trips : 0;
  r->likelihoods = (double)s->likelihood_evaluations;
  r->gradients = (double)s->gradient_evaluations;
  r->reliable = s->reliable;
  if (!s->reliable && s->finding_count)
    snprintf(r->finding, sizeof r->finding, "%s", s->findings[0].code);
}

static inline tempera_status run_sampler(const problem *p,
                                         tempera_sampler *sampler, result *r,
                                         tempera_error *error) {
  tempera_status status = tempera_sampler_run(sampler, NULL, NULL, error);
  tempera_summary *summary = NULL;
  if (status == TEMPERA_OK)
    status = tempera_sampler_summarise(sampler, &summary, error);
  if (status != TEMPERA_OK)
    return status;
  read_summary(summary, r);
  measure_figures(p, tempera_sampler_draws(sampler), r->figures);
  tempera_summary_free(summary);
  return TEMPERA_OK;
}

/* CPU seconds, as the peers were timed. */
static inline void run_once(const problem *p, const tempera_model *model,
                            const tempera_options *options, uint64_t seed,
                            result *r) {
  double start = thread_seconds();
  tempera_options o = *options;
  tempera_error error = {0};
  tempera_sampler *sampler = NULL;
  o.seed = seed;
  o.threads = 1;
  *r = (result){0};
  tempera_status status = tempera_sampler_create(model, &o, &sampler, &error);
  if (status == TEMPERA_OK)
    status = run_sampler(p, sampler, r, &error);
  r->ok = status == TEMPERA_OK;
  snprintf(r->message, sizeof r->message, "%.255s", error.message);
  tempera_sampler_free(sampler);
  r->seconds = thread_seconds() - start;
}

/* Seeds first, first + 1, ..., as many at once as there are cores. Free the
 * results. */
static inline result *replicate_from(size_t first, const problem *p,
                                     const tempera_model *model,
                                     const tempera_options *options,
                                     size_t count) {
  result *results = calloc(count, sizeof *results);
  if (!results)
    exit(1);
#pragma omp parallel for schedule(dynamic, 1)
  for (size_t i = 0; i < count; i++)
    run_once(p, model, options, first + i, &results[i]);
  for (size_t i = 0; i < count; i++)
    if (!results[i].ok)
      fprintf(stderr, "%s, seed %zu: %s\n", p->name, first + i,
              results[i].message);
  return results;
}

static inline result *replicate(const problem *p, const tempera_model *model,
                                const tempera_options *options, size_t count) {
  return replicate_from(1, p, model, options, count);
}

/* ------------------------------------------------------------------------
 * Errors over seeds
 */

typedef struct errors {
  size_t runs, covered; /* covered: truth within log_z +- 1.96 se */
  double mean, rms, se; /* se: the mean claimed */
  double worst;         /* max |error| / se */
} errors;

/* By name; "headline" is the summary's own choice. NULL when absent. */
static inline const named_estimate *find_estimate(const result *r,
                                                  const char *name) {
  if (strcmp(name, "headline") == 0)
    return &r->headline;
  for (size_t i = 0; i < r->estimate_count; i++)
    if (strcmp(r->estimates[i].name, name) == 0)
      return &r->estimates[i];
  return NULL;
}

/* A run that failed or gave no number counts as not covering: it is not in
 * `runs`, nor in the means. */
static inline errors errors_of(const result *results, size_t count,
                               const char *name, double truth) {
  errors e = {0};
  for (size_t i = 0; i < count; i++) {
    const named_estimate *x =
        results[i].ok ? find_estimate(&results[i], name) : NULL;
    if (!x || !isfinite(x->log_z) || !isfinite(x->se))
      continue;
    double error = x->log_z - truth;
    e.runs++;
    e.covered += fabs(error) <= 1.96 * x->se;
    e.mean += error;
    e.rms += error * error;
    e.se += x->se;
    e.worst = fmax(e.worst, fabs(error) / x->se);
  }
  e.mean = e.runs ? e.mean / (double)e.runs : NAN;
  e.rms = e.runs ? sqrt(e.rms / (double)e.runs) : NAN;
  e.se = e.runs ? e.se / (double)e.runs : NAN;
  return e;
}

typedef struct costs {
  size_t runs, reliable;
  /* Means per run. */
  double round_trips, leg_trips, likelihoods, gradients, seconds;
  double most_evaluations; /* of any run, likelihoods and gradients */
  double most_likelihoods;
} costs;

static inline costs costs_of(const result *results, size_t count) {
  costs c = {0};
  for (size_t i = 0; i < count; i++) {
    const result *r = &results[i];
    if (!r->ok)
      continue;
    c.runs++;
    c.reliable += r->reliable;
    c.round_trips += (double)r->round_trips;
    c.leg_trips += (double)r->leg_trips;
    c.likelihoods += r->likelihoods;
    c.gradients += r->gradients;
    c.seconds += r->seconds;
    c.most_likelihoods = fmax(c.most_likelihoods, r->likelihoods);
    c.most_evaluations =
        fmax(c.most_evaluations, r->likelihoods + r->gradients);
  }
  double n = c.runs ? (double)c.runs : NAN;
  c.round_trips /= n;
  c.leg_trips /= n;
  c.likelihoods /= n;
  c.gradients /= n;
  c.seconds /= n;
  return c;
}

static inline void errors_to_json(json_t *row, const errors *e) {
  json_object_set_new(row, "runs", json_integer((json_int_t)e->runs));
  json_object_set_new(row, "covered", json_integer((json_int_t)e->covered));
  experiment_number(row, "mean_error", e->mean);
  experiment_number(row, "rms_error", e->rms);
  experiment_number(row, "mean_se", e->se);
  experiment_number(row, "max_error_over_se", e->worst);
}

static inline void costs_to_json(json_t *row, const costs *c) {
  experiment_number(row, "round_trips", c->round_trips);
  experiment_number(row, "leg_trips", c->leg_trips);
  experiment_number(row, "likelihood_evaluations", c->likelihoods);
  experiment_number(row, "gradient_evaluations", c->gradients);
  experiment_number(row, "most_evaluations", c->most_evaluations);
  experiment_number(row, "cpu_seconds", c->seconds);
}

static inline json_t *figures_to_json(const problem *p, const double *figures) {
  json_t *array = json_array();
  for (size_t k = 0; k < p->figure_count; k++)
    json_array_append_new(array, json_real(figures[k]));
  return array;
}

/* ------------------------------------------------------------------------
 * Options
 */

/* Chains, warmup and kept sweeps; everything else at its default. */
static inline tempera_options fixed_length(size_t chains, size_t warmup,
                                           size_t iterations) {
  tempera_options o = tempera_options_default();
  o.chains = chains;
  o.warmup_given = true;
  o.warmup = warmup;
  o.iterations = iterations;
  return o;
}

/* Whether this build has the option and the value. */
static inline bool option_set(tempera_options *options, const char *name,
                              const char *value) {
  tempera_error error;
  return tempera_options_set(options, name, value, &error) == TEMPERA_OK;
}

#endif
