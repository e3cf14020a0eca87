/* family.c - every method and every estimator that this build has, on the
 * bimodal model, galaxy K = 3 and SIR, against the exact answers: log Z, its
 * error, the distance from the truth in errors, round trips, and effective
 * draws per 1000 evaluations. Those that fail are shown failing.
 *
 *   bench-family [--seeds N] [--only NAME] [-o FILE] [--document FILE]
 *
 * One run of each (--seeds N: that many, each with its rows). With --document,
 * the tables replace what is between the document's two markers. */
#include "experiment.h"

enum { MOST_OPTIONS = 12 };

/* Lengths are such that no method does more than a few times the work of
 * another; a sweep of pt moves a chain at every level. */
#define PAIR "warmup", "3100", "iterations", "8000"
#define LADDER "warmup", "1500", "iterations", "2000"

typedef struct way {
  const char *name;
  const char *options[MOST_OPTIONS]; /* names and values, ended by NULL */
} way;

static const way ways[] = {
    {"pt-stwnc", {"method", "pt-stwnc", PAIR}},
    {"pt-stwnc, profile", {"method", "pt-stwnc", "tau-prior", "profile", PAIR}},
    {"stwnc", {"method", "stwnc", PAIR}},
    {"pt", {"method", "pt", LADDER}},
    {"pt, reversible", {"method", "pt", "swaps", "reversible", LADDER}},
    {"pt, T = 30", {"method", "pt", "schedule", "power", LADDER}},
    {"pt, T = 5", {"method", "pt", "schedule", "power", "levels", "5", LADDER}},
    {"st", {"method", "st", PAIR}},
    {"st, Wang-Landau", {"method", "st", "weights", "wang-landau", PAIR}},
    {"pawl", {"method", "pawl", LADDER}},
    {"ee", {"method", "ee", LADDER}},
    {"mh", {"method", "mh", PAIR}},
    {"mh, plain", {"method", "mh", "kernel", "random-walk", PAIR}}};
enum { WAYS = sizeof ways / sizeof *ways };

static const char *const problem_names[] = {"bimodal-2555", "galaxy-3", "sir"};

/* One run, and whatever it says of itself. */
typedef struct outcome {
  const way *way;
  size_t seed;
  bool there; /* does this build have it? */
  tempera_summary *summary;
  char message[256]; /* when there is no summary */
} outcome;

static bool take_options(const way *w, tempera_options *o) {
  for (const char *const *p = w->options; *p; p += 2)
    if (!option_set(o, p[0], p[1]))
      return false;
  return true;
}

static void run_way(const tempera_model *model, outcome *x) {
  tempera_options o = tempera_options_default();
  tempera_sampler *sampler = NULL;
  tempera_error error = {0};
  x->there = take_options(x->way, &o);
  if (!x->there)
    return;
  o.seed = x->seed;
  o.threads = 1;
  if (tempera_sampler_create(model, &o, &sampler, &error) != TEMPERA_OK ||
      tempera_sampler_run(sampler, NULL, NULL, &error) != TEMPERA_OK ||
      tempera_sampler_summarise(sampler, &x->summary, &error) != TEMPERA_OK)
    snprintf(x->message, sizeof x->message, "%.255s", error.message);
  tempera_sampler_free(sampler);
}

/* The fewest effective draws of any value; of components in order where
 * labels are permuted. */
static double effective_draws(const tempera_summary *s) {
  double least = s->label_count ? s->relabelled_ess : INFINITY;
  for (size_t i = 0; i < s->value_count; i++)
    if (!s->values[i].permuted)
      least = fmin(least, fmin(s->values[i].ess_bulk, s->values[i].ess_tail));
  return least;
}

static double per_thousand(const tempera_summary *s) {
  return 1000 * effective_draws(s) /
         (double)(s->likelihood_evaluations + s->gradient_evaluations);
}

static double distance(const problem *p, const tempera_estimate *e) {
  return (e->log_z - p->log_z) / hypot(e->se, p->se);
}

/* ---- rows ---------------------------------------------------------------- */

static void add_json(experiment *e, const problem *p, const outcome *x,
                     const tempera_estimate *estimate) {
  const tempera_summary *s = x->summary;
  bool headline = s->estimator && !strcmp(s->estimator, estimate->name);
  json_t *row = json_pack(
      "{s:s,s:s,s:I,s:s,s:b,s:b,s:s,s:s?,s:I}", "problem", p->name, "method",
      x->way->name, "seed", (json_int_t)x->seed, "estimator", estimate->name,
      "headline", headline, "reliable", s->reliable, "verdict", s->verdict,
      "warning", estimate->warning, "round_trips", (json_int_t)s->round_trips);
  experiment_number(row, "log_z", estimate->log_z);
  experiment_number(row, "se", estimate->se);
  experiment_number(row, "truth", p->log_z);
  experiment_number(row, "distance", distance(p, estimate));
  experiment_number(row, "ess_per_1000", per_thousand(s));
  experiment_number(row, "likelihood_evaluations",
                    (double)s->likelihood_evaluations);
  experiment_number(row, "gradient_evaluations",
                    (double)s->gradient_evaluations);
  json_array_append_new(e->rows, row);
}

static void write_number(FILE *out, double x, int decimals) {
  if (isfinite(x))
    fprintf(out, " %.*f |", decimals, x);
  else
    fprintf(out, " - |");
}

/* Its first sentence: what is wrong, without what to try. */
static void write_verdict(FILE *out, const tempera_summary *s) {
  fprintf(out, " %.*s |\n", (int)strcspn(s->verdict, s->reliable ? ":" : "."),
          s->verdict);
}

static void write_estimate(FILE *out, const problem *p, const outcome *x,
                           size_t i) {
  const tempera_summary *s = x->summary;
  const tempera_estimate *e = &s->estimates[i];
  bool headline = s->estimator && !strcmp(s->estimator, e->name);
  fprintf(out, "| %s | %s%s%s |", i ? "" : x->way->name, headline ? "**" : "",
          e->name, headline ? "**" : "");
  write_number(out, e->log_z, 3);
  write_number(out, e->se, e->se < 0.01 ? 4 : 3);
  write_number(out, distance(p, e), 1);
  if (i) {
    fprintf(out, " | | |\n");
    return;
  }
  bool travels = s->tau_bin_count > 0;
  fprintf(out, travels ? " %zu |" : " - |", s->round_trips);
  write_number(out, per_thousand(s), 1);
  write_verdict(out, s);
}

static void write_outcome(FILE *out, const problem *p, const outcome *x) {
  if (!x->summary) {
    fprintf(out, "| %s | | | | | | | %s |\n", x->way->name, x->message);
    return;
  }
  if (x->summary->estimate_count == 0) {
    fprintf(out, "| %s | none | | | | %zu | |", x->way->name,
            x->summary->round_trips);
    write_verdict(out, x->summary);
  }
  for (size_t i = 0; i < x->summary->estimate_count; i++)
    write_estimate(out, p, x, i);
}

static void write_table(FILE *out, const problem *p, const outcome *outcomes,
                        size_t count) {
  fprintf(out,
          "\n**%s**, log Z = %.3f\n\n"
          "| method | estimator | log Z | se | off, in se | round trips | "
          "ESS per 1000 | verdict |\n|---|---|---|---|---|---|---|---|\n",
          p->name, p->log_z);
  for (size_t i = 0; i < count; i++)
    if (outcomes[i].there)
      write_outcome(out, p, &outcomes[i]);
}

/* ---- the document -------------------------------------------------------- */

static const char *const begin_marker = "<!-- family: begin (make family) -->";
static const char *const end_marker = "<!-- family: end -->";

static char *read_all(const char *path) {
  FILE *file = fopen(path, "r");
  char *text = NULL;
  size_t size = 0;
  FILE *memory = open_memstream(&text, &size);
  for (int c; file && memory && (c = getc(file)) != EOF;)
    putc(c, memory);
  if (memory)
    fclose(memory);
  if (file)
    fclose(file);
  return file && memory ? text : NULL;
}

/* Everything outside of the markers stays. */
static bool replace_tables(const char *path, const char *tables) {
  char *text = read_all(path);
  char *begin = text ? strstr(text, begin_marker) : NULL;
  char *end = begin ? strstr(begin, end_marker) : NULL;
  FILE *out = end ? fopen(path, "w") : NULL;
  if (out)
    fprintf(out, "%.*s%s\n%s\n%s", (int)(begin - text), text, begin_marker,
            tables, end);
  bool written = out && fclose(out) == 0;
  free(text);
  return written;
}

static void run_problem(experiment *e, const problem *p, FILE *out) {
  size_t count = WAYS * e->seeds;
  outcome *outcomes = calloc(count, sizeof *outcomes);
  tempera_model *model = bench_load(p->library, p->data);
  if (!outcomes)
    exit(1);
#pragma omp parallel for schedule(dynamic, 1)
  for (size_t i = 0; i < count; i++) {
    outcomes[i].way = &ways[i / e->seeds];
    outcomes[i].seed = 1 + i % e->seeds;
    run_way(model, &outcomes[i]);
  }
  write_table(out, p, outcomes, count);
  for (size_t i = 0; i < count; i++) {
    const tempera_summary *s = outcomes[i].summary;
    for (size_t k = 0; s && k < s->estimate_count; k++)
      add_json(e, p, &outcomes[i], &s->estimates[k]);
    tempera_summary_free(outcomes[i].summary);
  }
  tempera_model_free(model);
  free(outcomes);
}

int main(int argc, char **argv) {
  experiment e = experiment_begin(argc, argv, 1);
  char *tables = NULL;
  size_t size = 0;
  FILE *out = open_memstream(&tables, &size);
  if (!out)
    return 1;
  for (size_t i = 0; i < sizeof problem_names / sizeof *problem_names; i++)
    if (experiment_wants(&e, problem_names[i]))
      run_problem(&e, paper_problem(problem_names[i]), out);
  fclose(out);
  printf("%s\n", tables);
  bool written = !e.document || replace_tables(e.document, tables);
  if (!written)
    fprintf(stderr, "%s: no markers, or it cannot be written\n", e.document);
  free(tables);
  return experiment_end(&e) || !written;
}
