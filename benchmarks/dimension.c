/* dimension.c - which tau prior, and which leg, works in many dimensions?
 * Gaussian linear regression of exact evidence (regression.h), d = 1 to 500.
 * "reference" is the default: learned, with the reference leg beside the prior
 * leg, and its own round trips; the rows above it have the prior leg alone.
 *
 *   bench-dimension [--seeds N] [--only PRIOR] [-o FILE] [--svg FILE] */
#include "chart.h"
#include "experiment.h"
#include "regression.h"

enum { SIZES = 7 };
static const double sizes[SIZES] = {1, 5, 20, 50, 100, 200, 500};

/* ------------------------------------------------------------------------
 * The table and the plot
 */

static const char *const priors[] = {"profile", "laplace", "learned",
                                     "reference"};
enum { PRIORS = sizeof priors / sizeof *priors, REFERENCE = PRIORS - 1 };
/* The others collapse before that. */
enum { LEARNED = 2, MOST_FOR_OTHERS = 100 };

typedef struct plots {
  chart charts[2]; /* evaluations per round trip; rms error */
} plots;

static void note(experiment *e, plots *plot, size_t prior, const regression *r,
                 const result *results, double truth) {
  errors x = errors_of(results, e->seeds, "headline", truth);
  costs c = costs_of(results, e->seeds);
  double evaluations = c.likelihoods + c.gradients;
  double trips = prior == REFERENCE ? c.leg_trips : c.round_trips;
  double per = evaluations / trips;
  printf("%-9s %4zu %11.3f %8.1f %10.4f %9.4f %9.4f %9.0f %9.0f %12.0f %6.2f\n",
         priors[prior], r->d, truth, trips, x.mean, x.rms, x.se, c.likelihoods,
         c.gradients, per, c.seconds);
  json_t *row =
      json_pack("{s:s,s:I}", "tau_prior", priors[prior], "d", (json_int_t)r->d);
  experiment_number(row, "truth", truth);
  errors_to_json(row, &x);
  costs_to_json(row, &c);
  experiment_number(row, "evaluations_per_round_trip", per);
  json_array_append_new(e->rows, row);
  /* No round trip at all: one takes more than all runs together. */
  chart_add(&plot->charts[0].lines[prior], (double)r->d,
            trips > 0 ? per : evaluations * (double)c.runs, trips == 0);
  chart_add(&plot->charts[1].lines[prior], (double)r->d, x.rms, false);
}

static void measure(experiment *e, plots *plot, size_t prior, size_t size) {
  static regression r;
  tempera_options o = fixed_length(4, 2000, 4000);
  bool both = prior == REFERENCE;
  if (!experiment_wants(e, priors[prior]) ||
      (prior < LEARNED && size > MOST_FOR_OTHERS))
    return;
  o.reference = both;
  if (!option_set(&o, "tau-prior", priors[both ? LEARNED : prior])) {
    printf("%-9s %4zu not available\n", priors[prior], size);
    return;
  }
  make_data(size, &r);
  problem p = {.name = priors[prior], .log_z = exact_log_z(&r)};
  tempera_model *model = regression_model(&r);
  result *results = replicate(&p, model, &o, e->seeds);
  note(e, plot, prior, &r, results, p.log_z);
  free(results);
  tempera_model_free(model);
}

int main(int argc, char **argv) {
  experiment e = experiment_begin(argc, argv, 5);
  plots plot = {{{.title = "Cost of crossing from prior to posterior and back",
                  .y_name = "evaluations per round trip"},
                 {.title = "Error of the evidence",
                  .y_name = "rms error of log Z (nats)"}}};
  for (size_t i = 0; i < 2; i++) {
    plot.charts[i].x_name = "dimension d";
    plot.charts[i].x_low = sizes[0];
    plot.charts[i].x_high = sizes[SIZES - 1];
    plot.charts[i].line_count = PRIORS;
    for (size_t p = 0; p < PRIORS; p++)
      plot.charts[i].lines[p].name = priors[p];
  }
  printf("%-9s %4s %11s %8s %10s %9s %9s %9s %9s %12s %6s\n", "prior", "d",
         "truth", "trips", "mean err", "rms err", "mean se", "likelih.",
         "gradients", "eval./trip", "CPU s");
  for (size_t p = 0; p < PRIORS; p++)
    for (size_t s = 0; s < SIZES; s++)
      measure(&e, &plot, p, (size_t)sizes[s]);
  if (e.svg && !charts_write(e.svg, plot.charts, 2, sizes, SIZES))
    fprintf(stderr, "cannot write %s\n", e.svg);
  return experiment_end(&e);
}
