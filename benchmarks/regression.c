/* regression.c - conjugate regression (regression.h) at default settings, with
 * the aims of each dimension: every run reliable, the largest error, calls of
 * the model per round trip on the reference leg (warmup's of it included); and
 * how often short runs cover the exact answer, 20 of them for each seed asked
 * for; and the prior leg alone.
 *
 *   bench-regression [--seeds N] [--only reliable|cover|prior] [-o FILE] */
#include "experiment.h"
#include "regression.h"
#include "run/sampler.h"

typedef struct aim {
  size_t d;
  double se, per_trip;
} aim;
static const aim AIMS[] = {
    {20, .01, 50}, {50, .02, 80}, {100, .04, 150}, {200, .08, 400}};
enum { AIM_COUNT = sizeof AIMS / sizeof *AIMS, PER_SEED = 20 };

typedef struct outcome {
  bool reliable, covered;
  double z, se, evaluations, leg_evaluations, leg_trips, trips;
} outcome;

static outcome run_at(const tempera_model *model, const tempera_options *o,
                      double truth) {
  tempera_sampler *sampler = NULL;
  tempera_summary *s = NULL;
  bench_check(tempera_sampler_create(model, o, &sampler, &bench_error));
  bench_check(tempera_sampler_run(sampler, NULL, NULL, &bench_error));
  bench_check(tempera_sampler_summarise(sampler, &s, &bench_error));
  tm_leg_cost leg = tm_leg_cost_of(sampler);
  outcome x = {
      .reliable = s->reliable,
      .z = (s->log_z - truth) / s->se,
      .se = s->se,
      .evaluations =
          (double)(s->likelihood_evaluations + s->gradient_evaluations),
      .leg_evaluations =
          (double)(leg.likelihood_evaluations + leg.gradient_evaluations),
      .leg_trips = s->reference ? (double)s->reference->round_trips : 0,
      .trips = (double)s->round_trips};
  x.covered = fabs(x.z) < 1.96;
  tempera_summary_free(s);
  tempera_sampler_free(sampler);
  return x;
}

/* Sums over seeds, and the largest error, in `se`. */
typedef struct totals {
  size_t runs, reliable, covered;
  double squares, se, evaluations, leg_evaluations, leg_trips, trips;
} totals;

static totals run_seeds(regression *r, tempera_options o, size_t seeds) {
  tempera_model *model = regression_model(r);
  double truth = exact_log_z(r);
  totals t = {0};
  for (size_t seed = 1; seed <= seeds; seed++) {
    o.seed = seed;
    o.threads = 1;
    outcome x = run_at(model, &o, truth);
    t.runs++;
    t.reliable += x.reliable;
    t.covered += x.covered;
    t.squares += x.z * x.z;
    t.se = fmax(t.se, x.se);
    t.evaluations += x.evaluations;
    t.leg_evaluations += x.leg_evaluations;
    t.leg_trips += x.leg_trips;
    t.trips += x.trips;
  }
  tempera_model_free(model);
  return t;
}

static void keep(experiment *e, const char *what, size_t d, const totals *t,
                 const char *verdict) {
  double n = (double)t->runs;
  double per_leg = t->leg_evaluations / t->leg_trips;
  double per_trip = t->evaluations / t->trips;
  printf("%-9s %4zu %5zu/%zu %7zu %8.2f %9.4f %11.0f %9.1f %9.0f  %s\n", what, d,
         t->reliable, t->runs, t->covered, sqrt(t->squares / n), t->se,
         t->evaluations / n, per_leg, per_trip, verdict);
  fflush(stdout);
  json_t *row = json_pack("{s:s,s:I,s:I,s:I,s:I}", "part", what, "d",
                          (json_int_t)d, "runs", (json_int_t)t->runs,
                          "reliable", (json_int_t)t->reliable, "covered",
                          (json_int_t)t->covered);
  experiment_number(row, "rms_z", sqrt(t->squares / n));
  experiment_number(row, "largest_se", t->se);
  experiment_number(row, "evaluations", t->evaluations / n);
  experiment_number(row, "evaluations_per_leg_trip", per_leg);
  experiment_number(row, "evaluations_per_trip", per_trip);
  json_array_append_new(e->rows, row);
}

static void measure_default(experiment *e, const aim *a) {
  static regression r;
  make_data(a->d, &r);
  tempera_options o = tempera_options_default();
  experiment_options(e, &o);
  totals t = run_seeds(&r, o, e->seeds);
  bool met = t.reliable == t.runs && t.se <= a->se &&
             t.leg_evaluations / t.leg_trips <= a->per_trip &&
             t.squares < 4 * (double)t.runs;
  keep(e, "reliable", a->d, &t, experiment_verdict(e, met));
}

/* Of 200 intervals of 95 %, 180 cover but for a chance of 1 in 1 000. */
static void measure_cover(experiment *e, size_t d) {
  static regression r;
  make_data(d, &r);
  tempera_options o = fixed_length(4, 900, 600);
  experiment_options(e, &o);
  totals t = run_seeds(&r, o, PER_SEED * e->seeds);
  bool met = (double)t.covered >= .9 * (double)t.runs;
  keep(e, "cover", d, &t, experiment_verdict(e, met));
}

static void measure_prior(experiment *e, size_t d, double most) {
  static regression r;
  make_data(d, &r);
  tempera_options o = fixed_length(4, 2000, 6000);
  o.reference = false;
  experiment_options(e, &o);
  totals t = run_seeds(&r, o, 1);
  keep(e, "prior", d, &t, experiment_verdict(e, t.evaluations <= most * t.trips));
}

int main(int argc, char **argv) {
  experiment e = experiment_begin(argc, argv, 10);
  printf("%-9s %4s %8s %7s %8s %9s %11s %9s %9s\n", "part", "d", "reliable",
         "covered", "rms z", "most se", "evaluations", "per q-trip",
         "per trip");
  for (size_t i = 0; i < AIM_COUNT && experiment_wants(&e, "reliable"); i++)
    measure_default(&e, &AIMS[i]);
  for (size_t i = 0; i < 2 && experiment_wants(&e, "cover"); i++)
    measure_cover(&e, AIMS[i].d);
  if (experiment_wants(&e, "prior"))
    measure_prior(&e, 100, 50000);
  return experiment_end(&e);
}
