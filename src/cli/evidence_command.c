/* evidence_command.c - `tempera evidence`: the evidence of a fit that another
 * program made, from its draws. */
#include "cli/cli.h"

#include <getopt.h>
#include <glob.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "usage: tempera evidence MODEL [-d DATA.json] --draws CSV... [options]\n"
    "\n"
    "The evidence of a fit made elsewhere, by bridge sampling: half of the "
    "draws\n"
    "are fitted, the other half bridged, and the other way round. Modes that "
    "the\n"
    "fit has not seen are not in it.\n"
    "\n"
    "      --draws CSV        of CmdStan, rstan or tempera, one file per chain; "
    "more\n"
    "                         files may follow, patterns as 'fit-*.csv' too\n"
    "  -d, --data FILE        the data\n"
    "      --include-path DIRS  where #include looks\n"
    "      --search           also look for modes that the fit has not seen, by "
    "a\n"
    "                         tempered run of its own\n"
    "      --seed S           [1]\n"
    "      --json             the summary as JSON\n"
    "  -h, --help\n";

static const struct option long_options[] = {
    {"draws", required_argument, NULL, 'c'},
    {"data", required_argument, NULL, 'd'},
    {"include-path", required_argument, NULL, 'i'},
    {"search", no_argument, NULL, 'x'},
    {"seed", required_argument, NULL, 's'},
    {"json", no_argument, NULL, 'j'},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0}};

enum { HELP_SHOWN = -1 };

typedef struct request {
  cli_input input;
  glob_t files;
  uint64_t seed;
  bool search, json;
} request;

static int add_draws(request *r, const char *pattern) {
  int flags = r->files.gl_pathc ? GLOB_APPEND : 0;
  return glob(pattern, flags | GLOB_NOCHECK, NULL, &r->files) == 0
             ? EXIT_DONE
             : cli_usage("evidence", "--draws %s: no such files", pattern);
}

static int take_option(request *r, int code, char **argv) {
  char *end;
  switch (code) {
  case 'c':
    return add_draws(r, optarg);
  case 'd':
    r->input.data_path = optarg;
    return EXIT_DONE;
  case 'i':
    r->input.include_path = optarg;
    return EXIT_DONE;
  case 'x':
    r->search = true;
    return EXIT_DONE;
  case 's':
    r->seed = strtoull(optarg, &end, 10);
    return *optarg && !*end
               ? EXIT_DONE
               : cli_usage("evidence", "--seed %s is no number", optarg);
  case 'j':
    r->json = true;
    return EXIT_DONE;
  default:
    return cli_bad_option("evidence", code, argv, long_options);
  }
}

/* The first word is the model; the others are files of draws. */
static int take_arguments(request *r, int argc, char **argv) {
  int code;
  opterr = 0;
  while ((code = getopt_long(argc, argv, ":d:h", long_options, NULL)) != -1) {
    if (code == 'h')
      return fputs(help, stdout), HELP_SHOWN;
    int taken = take_option(r, code, argv);
    if (taken != EXIT_DONE)
      return taken;
  }
  if (optind == argc)
    return cli_usage("evidence", "which model? (MODEL is missing)");
  r->input.model_path = argv[optind];
  for (int i = optind + 1; i < argc; i++) {
    int taken = add_draws(r, argv[i]);
    if (taken != EXIT_DONE)
      return taken;
  }
  if (r->files.gl_pathc == 0)
    return cli_usage("evidence", "which draws? (--draws CSV...)");
  return EXIT_DONE;
}

static void show_modes(const tempera_summary *s) {
  printf("  modes seen %zu", s->mode_count);
  for (size_t i = 0; i < s->mode_count && i < 8; i++)
    printf("%s%.3g", i ? ", " : ": weights ", s->modes[i].weight);
  fputs("\n", stdout);
}

static void show(const tempera_summary *s, bool search) {
  double rhat = NAN, ess = NAN, k = s->reference ? s->reference->pareto_k : NAN;
  for (size_t i = 0; i < s->value_count; i++) {
    rhat = fmax(rhat, s->values[i].rhat);
    ess = fmin(ess, fmin(s->values[i].ess_bulk, s->values[i].ess_tail));
  }
  printf("%s: %zu chain%s of %zu draws made elsewhere\n", s->model, s->chains,
         s->chains == 1 ? "" : "s", s->iterations);
  if (isfinite(s->log_z))
    printf("  log Z      %.4f, se %.4f (%s)\n", s->log_z, s->se, s->estimator);
  else
    fputs("  log Z      none\n", stdout);
  printf("  Pareto k   %.2f%s\n", k,
         k > 0.7 ? " (beyond 0.7: the fitted density misses tails)" : "");
  printf("  worst R-hat %.3f, least ESS %.0f\n", rhat, ess);
  show_modes(s);
  for (size_t i = 0; i < s->warning_count; i++)
    printf("  - %s\n", s->warnings[i]);
  fputs("  Modes that the fit has not seen are not in this number, and nothing "
        "in its draws\n  can tell whether there are any",
        stdout);
  fputs(search ? ".\n" : "; --search looks for them.\n", stdout);
}

/* Another run, by tempering, that starts from the prior. */
static int search(const request *r, const tempera_summary *fit) {
  tempera_error error = {0};
  tempera_sampler *sampler = NULL;
  tempera_summary *s = NULL;
  tempera_options o = tempera_options_default();
  o.seed = r->seed;
  tempera_status status =
      tempera_sampler_create(r->input.model, &o, &sampler, &error);
  if (status == TEMPERA_OK)
    status = tempera_sampler_run(sampler, NULL, NULL, &error);
  if (status == TEMPERA_OK)
    status = tempera_sampler_summarise(sampler, &s, &error);
  if (status == TEMPERA_OK) {
    double gap = s->log_z - fit->log_z;
    printf("\nSearch by a tempered run:\n  log Z      %.4f, se %.4f (%s)\n",
           s->log_z, s->se, s->reliable ? "reliable" : "not reliable");
    show_modes(s);
    printf("  %s\n",
           gap > 3 * hypot(s->se, fit->se) + 0.02
               ? "The fit has missed part of the posterior: use this log Z."
           : gap < -3 * hypot(s->se, fit->se) - 0.02
               ? "The search found less than the fit has: trust neither."
               : "Nothing beyond what the fit has seen was found.");
  }
  tempera_summary_free(s);
  tempera_sampler_free(sampler);
  return status == TEMPERA_OK ? EXIT_DONE
                              : cli_fail(r->input.model_path, &error);
}

static int estimate(const request *r) {
  tempera_error error = {0};
  tempera_summary *s = NULL;
  char *text = NULL;
  int code = EXIT_DONE;
  if (tempera_fit_evidence(r->input.model,
                           (const char *const *)r->files.gl_pathv,
                           r->files.gl_pathc, r->seed, &s,
                           &error) != TEMPERA_OK)
    return cli_fail(NULL, &error);
  if (!r->json)
    show(s, r->search);
  else if (tempera_summary_json(s, &text, &error) == TEMPERA_OK)
    code = cli_print(text);
  else
    code = cli_fail(NULL, &error);
  if (code == EXIT_DONE && r->search && !r->json)
    code = search(r, s);
  tempera_summary_free(s);
  return code;
}

int cli_evidence(int argc, char **argv) {
  request r = {.seed = 1};
  int code = take_arguments(&r, argc, argv);
  if (code == EXIT_DONE) {
    cli_watch_model(r.input.model_path, 0);
    code = cli_load(&r.input);
    if (code == EXIT_DONE)
      code = estimate(&r);
    cli_unload(&r.input);
    cli_watch_end();
  }
  globfree(&r.files);
  return code == HELP_SHOWN ? EXIT_DONE : code;
}
