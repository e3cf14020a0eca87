/* truth.c - every model of the paper at default settings, five seeds each,
 * against the exact answers.
 *
 *   bench-truth [--seeds N] [--only NAME] [-o FILE]
 *
 * A run passes when |error| <= 4 sqrt(se^2 + the answer's own se^2), and where
 * more is asked: galaxy K = 3 with se <= 0.1 and every label the smallest in
 * 0.25 to 0.42 of the draws; K = 5 with se <= 0.2; SIR with |error| <= 0.1
 * and every P(I0 = k) within 0.02. */
#include "experiment.h"

/* Where the issue states no bound for the figures they are printed only. */
static bool figures_asked(const problem *p) {
  return p->kind == FIGURE_I0 ||
         (p->kind == FIGURE_LABELS && p->figure_count == 3 && p->se_most > 0);
}

/* Empty when all is well, else what was missed. */
static void judge(const problem *p, const result *r, char *what, size_t size) {
  double error = r->headline.log_z - p->log_z, se = r->headline.se;
  bool right = fabs(error) <= 4 * sqrt(se * se + p->se * p->se);
  bool precise = p->se_most == 0 || se <= p->se_most;
  bool close = p->error_most == 0 || fabs(error) <= p->error_most;
  bool shares = !figures_asked(p) || figures_met(p, r->figures);
  snprintf(what, size, "%s%s%s%s%s", r->ok ? "" : " failed",
           right ? "" : " error>4se", precise ? "" : " se",
           close ? "" : " error",
           shares                 ? ""
           : p->kind == FIGURE_I0 ? " P(I0)"
                                  : " labels");
}

static void print_figures(const problem *p, const result *r) {
  for (size_t k = 0; k < p->figure_count; k++)
    printf("%s%.3f", k ? "/" : " ", r->figures[k]);
}

static void report(experiment *e, const problem *p, size_t seed,
                   const result *r) {
  char what[64];
  judge(p, r, what, sizeof what);
  double error = r->headline.log_z - p->log_z;
  printf("%-15s %4zu %10.3f %7.4f %8.4f %8.2f %8zu %9.0f %9.0f %6.2f  %s%s",
         p->name, seed, r->headline.log_z, r->headline.se, error,
         error / r->headline.se, r->round_trips, r->likelihoods, r->gradients,
         r->seconds, experiment_verdict(e, !*what), what);
  print_figures(p, r);
  printf("\n");
  json_t *row =
      json_pack("{s:s,s:I,s:s,s:s,s:b,s:b,s:I}", "problem", p->name, "seed",
                (json_int_t)seed, "estimator", r->headline.name, "missed", what,
                "met", !*what, "reliable", r->reliable, "round_trips",
                (json_int_t)r->round_trips);
  experiment_number(row, "log_z", r->headline.log_z);
  experiment_number(row, "se", r->headline.se);
  experiment_number(row, "error", error);
  experiment_number(row, "truth", p->log_z);
  experiment_number(row, "likelihood_evaluations", r->likelihoods);
  experiment_number(row, "gradient_evaluations", r->gradients);
  experiment_number(row, "cpu_seconds", r->seconds);
  json_object_set_new(row, "figures", figures_to_json(p, r->figures));
  json_array_append_new(e->rows, row);
}

int main(int argc, char **argv) {
  experiment e = experiment_begin(argc, argv, 5);
  tempera_options options = tempera_options_default();
  printf("%-15s %4s %10s %7s %8s %8s %8s %9s %9s %6s\n", "problem", "seed",
         "log Z", "se", "error", "error/se", "trips", "likelih.", "gradients",
         "CPU s");
  for (size_t i = 0; i < PAPER_PROBLEMS; i++) {
    const problem *p = &paper_problems[i];
    if (!experiment_wants(&e, p->name))
      continue;
    tempera_model *model = bench_load(p->library, p->data);
    result *results = replicate(p, model, &options, e.seeds);
    for (size_t s = 0; s < e.seeds; s++)
      report(&e, p, s + 1, &results[s]);
    free(results);
    tempera_model_free(model);
  }
  return experiment_end(&e);
}
