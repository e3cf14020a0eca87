/* budget.c - how good is an answer within a given number of evaluations? The
 * peers' problems at 20 seeds, each with lengths chosen so that every
 * evaluation of the run, the search for starts and the ridge included, stays
 * within what the best peer needed:
 *
 *   A    bimodal, data of seed 1555    2 000    rms <= 0.05, 0.04 s, both signs
 *   B3   galaxy K = 3                190 000    rms <= 0.1, 2 s, claimed se
 * about the rms, labels 0.25 to 0.42 B5   galaxy K = 5                750 000
 * rms <= 0.2 C    SIR                          60 000    rms <= 0.1, 3 s, P(I0)
 * within 0.02, no seed loses a mode
 *
 *   bench-budget [--seeds N] [--only NAME] [-o FILE] [--set OPTION=VALUE]...
 *
 * --set replaces an option of every run (kernel=slice), to look for better
 * ones. The numbers of sweeps are scaled until runs at four seeds that are not
 * measured fill the budget; with --set warmup or iterations they are as given.
 *
 * Likelihoods count with gradients added: a gradient is an evaluation too. The
 * seconds are CPU seconds, the labels and P(I0) means over seeds. */
#include "experiment.h"

typedef struct budget {
  const char *name, *problem;
  double evaluations, rms, seconds; /* the bar; seconds 0: none stated */
  size_t chains, warmup, iterations;
} budget;

static const budget budgets[] = {
    {"A", "bimodal-1555", 2000, 0.05, 0.04, 1, 100, 300},
    {"B3", "galaxy-3", 190000, 0.1, 2, 2, 1500, 3000},
    {"B5", "galaxy-5", 750000, 0.2, 0, 4, 1500, 3000},
    {"C", "sir", 60000, 0.1, 3, 4, 250, 1250}};
enum { BUDGETS = sizeof budgets / sizeof *budgets };

static void criterion(experiment *e, json_t *row, const char *name,
                      double value, double limit, bool met) {
  printf("  %-34s %10.4g  (bar %g)  %s\n", name, value, limit,
         met ? "met" : "missed");
  e->missed += !met;
  json_object_set_new(row, name, json_pack("{s:b}", "met", met));
  experiment_number(json_object_get(row, name), "value", value);
  experiment_number(json_object_get(row, name), "bar", limit);
}

/* Runs in which every figure is right; the means over seeds go to `mean`. */
static size_t good_figures(const problem *p, const result *results,
                           size_t count, double *mean) {
  size_t good = 0;
  for (size_t i = 0; i < count; i++) {
    good += results[i].ok && figures_met(p, results[i].figures);
    for (size_t k = 0; k < p->figure_count; k++)
      mean[k] += results[i].figures[k] / (double)count;
  }
  return good;
}

/* A mode is lost when a likely label or value is not drawn at all, or the
 * evidence is far too small. */
static size_t lost_modes(const problem *p, const result *results,
                         size_t count) {
  size_t lost = 0;
  for (size_t i = 0; i < count; i++) {
    bool missing = !(fabs(results[i].headline.log_z - p->log_z) < 2);
    for (size_t k = 0; k < p->figure_count; k++)
      if (p->kind != FIGURE_I0 || I0_truth[k] > 0.1)
        missing = missing || !(results[i].figures[k] > 0);
    lost += missing;
  }
  return lost;
}

static void judge_figures(experiment *e, json_t *row, const problem *p,
                          const result *results) {
  static const char *const names[] = {
      [FIGURE_SIGNS] = "runs with both signs",
      [FIGURE_LABELS] = "runs with labels as asked",
      [FIGURE_I0] = "runs with P(I0) within 0.02"};
  double mean[FIGURES] = {0}, all = (double)e->seeds;
  double good = (double)good_figures(p, results, e->seeds, mean);
  double lost = (double)lost_modes(p, results, e->seeds);
  criterion(e, row, names[p->kind], good, all, good == all);
  criterion(e, row, "runs that lost a mode", lost, 0, lost == 0);
  printf("  mean shares");
  for (size_t k = 0; k < p->figure_count; k++)
    printf(" %.3f", mean[k]);
  printf("\n");
  json_object_set_new(row, "mean_shares", figures_to_json(p, mean));
}

static void judge(experiment *e, const budget *b, const problem *p,
                  const result *results) {
  errors x = errors_of(results, e->seeds, "headline", p->log_z);
  costs c = costs_of(results, e->seeds);
  json_t *row = json_pack("{s:s}", "budget", b->name);
  printf("  error %.4f +- %.4f rms, claimed se %.4f, max |error|/se %.1f, "
         "covered %zu of %zu\n",
         x.mean, x.rms, x.se, x.worst, x.covered, x.runs);
  printf("  per run: %.0f likelihoods + %.0f gradients = %.0f evaluations, "
         "%.1f round trips\n",
         c.likelihoods, c.gradients, c.likelihoods + c.gradients,
         c.round_trips);
  bool all = x.runs == e->seeds;
  criterion(e, row, "most evaluations", c.most_evaluations, b->evaluations,
            c.most_evaluations <= b->evaluations);
  criterion(e, row, "of them likelihoods alone", c.most_likelihoods,
            b->evaluations, c.most_likelihoods <= b->evaluations);
  criterion(e, row, "rms error", x.rms, b->rms, all && x.rms <= b->rms);
  double ratio = hypot(x.se, p->se) / x.rms; /* the exact answer's error too */
  criterion(e, row, "claimed se over rms (0.67 to 1.5)", ratio, 1,
            all && ratio >= 0.67 && ratio <= 1.5);
  if (b->seconds > 0)
    criterion(e, row, "CPU seconds per run", c.seconds, b->seconds,
              c.seconds <= b->seconds);
  judge_figures(e, row, p, results);
  errors_to_json(row, &x);
  costs_to_json(row, &c);
  json_array_append_new(e->rows, row);
}

/* ------------------------------------------------------------------------
 * Lengths that fill the budget
 */

enum { PROBES = 4, PROBE_SEED = 1001, LEAST_WARMUP = 20, LEAST_SWEEPS = 50 };
static const double FILL = 0.97;

static void scale_lengths(const budget *b, double scale, tempera_options *o) {
  o->warmup = (size_t)fmax(LEAST_WARMUP, scale * (double)b->warmup);
  o->iterations = (size_t)fmax(LEAST_SWEEPS, scale * (double)b->iterations);
}

/* The dearest of the probes, in evaluations. */
static double probe(const problem *p, const tempera_model *model,
                    const tempera_options *o) {
  result *results = replicate_from(PROBE_SEED, p, model, o, PROBES);
  double cost = costs_of(results, PROBES).most_evaluations;
  free(results);
  return cost;
}

/* Cost is about fixed + scale * slope; twice, for what the kernels choose
 * changes with the length. */
static void fit_lengths(const budget *b, const problem *p,
                        const tempera_model *model, tempera_options *o) {
  double scale = 1;
  o->warmup = 0;
  o->iterations = 1;
  double fixed = probe(p, model, o);
  printf("%s: until the first sweep %.0f evaluations of %.0f\n", b->name, fixed,
         b->evaluations);
  double room = fmax(0, FILL * b->evaluations - fixed);
  scale_lengths(b, scale, o);
  for (int i = 0; i < 2 && room > 0; i++) {
    scale *= room / (probe(p, model, o) - fixed);
    scale_lengths(b, scale, o);
  }
  if (room == 0)
    scale_lengths(b, 0, o);
}

static void spend(experiment *e, const budget *b) {
  const problem *p = paper_problem(b->problem);
  tempera_options o = fixed_length(b->chains, b->warmup, b->iterations);
  experiment_options(e, &o);
  tempera_model *model = bench_load(p->library, p->data);
  if (o.warmup == b->warmup && o.iterations == b->iterations)
    fit_lengths(b, p, model, &o);
  printf("%s: %s, %zu chains of %zu + %zu sweeps, %zu seeds\n", b->name,
         b->problem, o.chains, o.warmup, o.iterations, e->seeds);
  result *results = replicate(p, model, &o, e->seeds);
  judge(e, b, p, results);
  free(results);
  tempera_model_free(model);
}

int main(int argc, char **argv) {
  experiment e = experiment_begin(argc, argv, 20);
  for (size_t i = 0; i < BUDGETS; i++)
    if (experiment_wants(&e, budgets[i].name))
      spend(&e, &budgets[i]);
  return experiment_end(&e);
}
