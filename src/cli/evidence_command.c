/* evidence_command.c - `tempera evidence`: the evidence of a fit that another
 * program made, from its draws. */
#include "cli/cli.h"

#include <getopt.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>

static const char help[] =
    "usage: tempera evidence MODEL [-d DATA.json] --draws CSV... [options]\n"
    "\n"
    "The evidence of a fit made elsewhere, by bridge sampling: half of the "
    "draws\n"
    "are fitted, the other half bridged, and the other way round; and by a "
    "path from\n"
    "the fitted density. Modes that the fit has not seen are not in it.\n"
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

static int take_option(void *request_given, int code, char **argv) {
  request *r = request_given;
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
    return cli_take_seed("evidence", &r->seed);
  case 'j':
    r->json = true;
    return EXIT_DONE;
  default:
    return cli_bad_option("evidence", code, argv, long_options);
  }
}

/* The first word is the model; the others are files of draws. */
static int take_arguments(request *r, int argc, char **argv) {
  const cli_arguments how = {help, long_options, take_option};
  int code = cli_take_arguments(&how, argc, argv, r);
  if (code != EXIT_DONE)
    return code;
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

/* Another run, by tempering, that starts from the prior. */
static tempera_status search(const request *r, tempera_summary **summary,
                             tempera_error *error) {
  tempera_sampler *sampler = NULL;
  tempera_options o = tempera_options_default();
  o.seed = r->seed;
  tempera_status status =
      tempera_sampler_create(r->input.model, &o, &sampler, error);
  if (status == TEMPERA_OK)
    status = tempera_sampler_run(sampler, NULL, NULL, error);
  if (status == TEMPERA_OK)
    status = tempera_sampler_summarise(sampler, summary, error);
  tempera_sampler_free(sampler);
  return status;
}

/* One object; with a search, the fit's and the search's in one. */
static int print_json(const tempera_summary *fit, const tempera_summary *found,
                      tempera_error *error) {
  char *text = NULL, *other = NULL;
  tempera_status status = tempera_summary_json(fit, &text, error);
  if (status == TEMPERA_OK && found)
    status = tempera_summary_json(found, &other, error);
  if (status != TEMPERA_OK) {
    tempera_text_free(text);
    return cli_fail(NULL, error);
  }
  if (!found)
    return cli_print(text);
  fputs("{\"fit\": ", stdout);
  int code = cli_print(text);
  fputs(", \"search\": ", stdout);
  if (code == EXIT_DONE)
    code = cli_print(other);
  else
    tempera_text_free(other);
  fputs("}\n", stdout);
  return code;
}

static int estimate(const request *r) {
  tempera_error error = {0};
  tempera_summary *fit = NULL, *found = NULL;
  char *text = NULL;
  tempera_status status = tempera_fit_evidence(
      r->input.model, (const char *const *)r->files.gl_pathv,
      r->files.gl_pathc, r->seed, &fit, &error);
  if (status == TEMPERA_OK && r->search)
    status = search(r, &found, &error);
  if (status == TEMPERA_OK && !r->json)
    status = tempera_fit_text(fit, found, &text, &error);
  int code = status != TEMPERA_OK ? cli_fail(NULL, &error)
             : r->json            ? print_json(fit, found, &error)
                                  : cli_print(text);
  tempera_summary_free(fit);
  tempera_summary_free(found);
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
  return code == CLI_HELP_SHOWN ? EXIT_DONE : code;
}
