/* ablation.c - what each part contributes: galaxy K = 3 and SIR with one part
 * left out or replaced at a time, everything else at its default. Five seeds
 * of fixed length, so that the rows differ in the part alone.
 *
 *   bench-ablation [--seeds N] [--only NAME] [-o FILE]
 *
 * A part that this build cannot leave out is a row `not available`; `covered`
 * counts the runs that gave a number at all. */
#include "experiment.h"

/* An option by its command-line name, and whose estimate is read. */
typedef struct change {
  const char *name, *option, *value, *estimator;
} change;

static const change changes[] = {
    {"all parts", NULL, NULL, "headline"},
    {"no jumps", "jumps", "false", "headline"},
    {"no bridge (rb alone)", NULL, NULL, "rb"},
    {"bridge alone", NULL, NULL, "bridge"},
    {"no learning (profile)", "tau-prior", "profile", "headline"},
    {"no learning (laplace)", "tau-prior", "laplace", "headline"},
    {"tau moves uniform", "tau-move", "uniform", "headline"},
    {"tau moves gibbs", "tau-move", "gibbs", "headline"},
    {"tau moves lifted", "tau-move", "lifted", "headline"},
    {"random walk alone", "kernel", "random-walk", "headline"},
    {"slices alone", "kernel", "slice", "headline"}};

static void print_row(const problem *p, const change *c, const errors *x,
                      const costs *k) {
  double per = 1e5 * k->round_trips / (k->likelihoods + k->gradients);
  printf("%-9s %-22s %4zu of %-4zu %9.3f %9.3f %9.3f %8.1f %9.0f %8.1f %6.2f\n",
         p->name, c->name, x->covered, x->runs, x->mean, x->rms, x->se,
         x->worst, k->likelihoods + k->gradients, per, k->seconds);
}

static void compare(experiment *e, const problem *p, const change *c,
                    const result *results) {
  json_t *row = json_pack("{s:s,s:s,s:b}", "problem", p->name, "change",
                          c->name, "available", results != NULL);
  errors x = results ? errors_of(results, e->seeds, c->estimator, p->log_z)
                     : (errors){0};
  if (results && find_estimate(&results[0], c->estimator)) {
    costs k = costs_of(results, e->seeds);
    print_row(p, c, &x, &k);
    errors_to_json(row, &x);
    costs_to_json(row, &k);
  } else {
    printf("%-9s %-22s not available\n", p->name, c->name);
  }
  json_array_append_new(e->rows, row);
}

/* Changes of the estimator alone read the runs with all parts. */
static void ablate(experiment *e, const problem *p) {
  const tempera_options all = fixed_length(4, 5000, 10000);
  tempera_model *model = bench_load(p->library, p->data);
  result *whole = replicate(p, model, &all, e->seeds);
  for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
    const change *c = &changes[i];
    tempera_options o = all;
    if (!c->option) {
      compare(e, p, c, whole);
      continue;
    }
    result *results = option_set(&o, c->option, c->value)
                          ? replicate(p, model, &o, e->seeds)
                          : NULL;
    compare(e, p, c, results);
    free(results);
  }
  free(whole);
  tempera_model_free(model);
}

int main(int argc, char **argv) {
  experiment e = experiment_begin(argc, argv, 5);
  static const char *const names[] = {"galaxy-3", "sir"};
  printf("%-9s %-22s %-12s %9s %9s %9s %8s %9s %8s %6s\n", "problem", "change",
         "covered", "mean err", "rms err", "mean se", "max e/se", "evaluat.",
         "trips/1e5", "CPU s");
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    if (experiment_wants(&e, names[i]))
      ablate(&e, paper_problem(names[i]));
  }
  return experiment_end(&e);
}
