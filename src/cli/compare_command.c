/* compare_command.c - `tempera compare`: log Bayes factors and model
 * probabilities of runs on the same data. */
#include "cli/cli.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "usage: tempera compare RUN RUN... [options]\n"
    "\n"
    "Log Bayes factors and model probabilities of runs on the same data, with\n"
    "standard errors; and how well each predicts observations left out, where\n"
    "the runs have that (elpd by leave-one-out).\n"
    "\n"
    "      --prior-odds A:B:...  prior odds of the models, in the order of "
    "the\n"
    "                            runs (also A,B,...) [equal]\n"
    "      --by KIND             evidence, fractional or wbic [evidence]\n"
    "                            evidence: Bayes factors\n"
    "                            fractional: of log z(1) - log z(b), which "
    "improper\n"
    "                            priors have too\n"
    "                            wbic: differences of WBIC\n"
    "      --fraction B          b of the fractional ones [the largest that a "
    "run\n"
    "                            has by itself]\n"
    "      --html FILE           also a page with charts, marginals of shared\n"
    "                            parameters over each other among them\n"
    "      --json                as JSON\n"
    "  -h, --help\n";

static const struct option long_options[] = {
    {"prior-odds", required_argument, NULL, 'p'},
    {"by", required_argument, NULL, 'b'},
    {"fraction", required_argument, NULL, 'f'},
    {"html", required_argument, NULL, 'w'},
    {"json", no_argument, NULL, 'j'},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0}};

typedef struct request {
  char **folders;
  size_t count;
  const char *odds_text; /* or NULL */
  double *odds;          /* count of them, or NULL */
  tempera_summary **summaries;
  const char *page; /* or NULL */
  bool json;
  bool chosen; /* the kind was given */
  tempera_factor kind;
  double fraction; /* 0: not given */
} request;

/* "2:1:1" or "2,1,1": as many positive numbers as there are runs. */
static int read_odds(request *r) {
  const char *at = r->odds_text;
  size_t n = 0;
  while (at && n < r->count) {
    char *end;
    double value = strtod(at, &end);
    if (end == at || !(value > 0) || value > 1e300)
      break;
    r->odds[n++] = value;
    if (*end == '\0' && n == r->count)
      return EXIT_DONE;
    if (*end != ':' && *end != ',')
      break;
    at = end + 1;
  }
  return cli_usage("compare",
                   "--prior-odds %s: wanted %zu positive numbers, one for each "
                   "run, as in 2:1",
                   r->odds_text, r->count);
}

static int read_runs(request *r) {
  for (size_t i = 0; i < r->count; i++) {
    tempera_error error = {0};
    char file[4096];
    snprintf(file, sizeof file, "%s/summary.json", r->folders[i]);
    if (tempera_summary_read(r->folders[i], &r->summaries[i], &error) !=
        TEMPERA_OK)
      return cli_fail(file, &error);
    if (tempera_run_check(r->folders[i], &error) != TEMPERA_OK)
      return cli_fail(NULL, &error);
  }
  return EXIT_DONE;
}

static int take_kind(request *r, const char *word) {
  static const char *const words[] = {"evidence", "fractional", "wbic"};
  for (int i = 0; i < 3; i++)
    if (strcmp(words[i], word) == 0) {
      r->kind = (tempera_factor)i;
      r->chosen = true;
      return EXIT_DONE;
    }
  return cli_usage("compare",
                   "--by %s: choose one of evidence, fractional, wbic", word);
}

static int take_fraction(request *r, const char *text) {
  char *end;
  r->fraction = strtod(text, &end);
  if (*end || !(r->fraction > 0 && r->fraction < 1))
    return cli_usage("compare", "--fraction %s: wanted a number between 0 and 1",
                     text);
  return EXIT_DONE;
}

/* All at one b. */
static int find_fractions(request *r) {
  tempera_error error = {0};
  tempera_status status = tempera_runs_fractional(
      (const char *const *)r->folders, r->summaries, r->count, r->fraction,
      &error);
  if (status == TEMPERA_ERROR_ARGUMENT)
    return cli_usage("compare", "%s (--fraction)", error.message);
  return status == TEMPERA_OK ? EXIT_DONE : cli_fail(NULL, &error);
}

static int compare(request *r) {
  tempera_error error = {0};
  tempera_comparison *comparison = NULL;
  char *text = NULL;
  int code = r->odds_text ? read_odds(r) : EXIT_DONE;
  if (code == EXIT_DONE)
    code = read_runs(r);
  if (code != EXIT_DONE)
    return code;
  if (!r->chosen && r->fraction > 0)
    r->kind = TEMPERA_FACTOR_FRACTIONAL;
  if (r->kind == TEMPERA_FACTOR_FRACTIONAL)
    code = find_fractions(r);
  if (code != EXIT_DONE)
    return code;
  if (tempera_compare_by(r->kind, (const tempera_summary *const *)r->summaries,
                      (const char *const *)r->folders, r->count,
                      r->odds_text ? r->odds : NULL, &comparison,
                      &error) != TEMPERA_OK)
    return cli_fail(NULL, &error);
  tempera_status status =
      r->page ? tempera_comparison_page(
                    comparison, (const tempera_summary *const *)r->summaries,
                    (const char *const *)r->folders, r->page, &error)
              : TEMPERA_OK;
  if (status == TEMPERA_OK)
    status = r->json ? tempera_comparison_json(comparison, &text, &error)
                     : tempera_comparison_text(comparison, cli_colour(), &text,
                                               &error);
  tempera_comparison_free(comparison);
  return status == TEMPERA_OK ? cli_print(text) : cli_fail(NULL, &error);
}

int cli_compare(int argc, char **argv) {
  int code;
  request r = {0};
  opterr = 0;
  while ((code = getopt_long(argc, argv, ":h", long_options, NULL)) != -1) {
    if (code == 'h')
      return fputs(help, stdout), EXIT_DONE;
    if (code == 'p')
      r.odds_text = optarg;
    else if (code == 'w')
      r.page = optarg;
    else if (code == 'j')
      r.json = true;
    else if (code != 'b' && code != 'f')
      return cli_bad_option("compare", code, argv, long_options);
    int taken = code == 'b'   ? take_kind(&r, optarg)
                : code == 'f' ? take_fraction(&r, optarg)
                              : EXIT_DONE;
    if (taken != EXIT_DONE)
      return taken;
  }
  if (optind + 2 > argc)
    return cli_usage("compare", "give the folders of at least two runs");
  r.folders = argv + optind;
  r.count = (size_t)(argc - optind);
  r.summaries = calloc(r.count, sizeof *r.summaries);
  r.odds = calloc(r.count, sizeof *r.odds);
  if (r.summaries && r.odds) {
    code = compare(&r);
  } else {
    fputs("tempera: out of memory\n", stderr);
    code = EXIT_BAD_INPUT;
  }
  for (size_t i = 0; r.summaries && i < r.count; i++)
    tempera_summary_free(r.summaries[i]);
  free(r.summaries);
  free(r.odds);
  return code;
}
