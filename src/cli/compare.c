/* compare.c - `tempera compare`: log Bayes factors and model probabilities of
 * runs on the same data. */
#include "cli/cli.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

static const char help[] =
    "usage: tempera compare RUN RUN... [--json]\n"
    "\n"
    "Log Bayes factors and model probabilities (equal prior odds) of runs on\n"
    "the same data, with standard errors.\n"
    "\n"
    "      --json   as JSON\n"
    "  -h, --help\n";

static const struct option long_options[] = {{"json", no_argument, NULL, 'j'},
                                             {"help", no_argument, NULL, 'h'},
                                             {NULL, 0, NULL, 0}};

static int read_runs(char **folders, size_t count,
                     tempera_summary **summaries) {
  for (size_t i = 0; i < count; i++) {
    tempera_error error = {0};
    char file[4096];
    snprintf(file, sizeof file, "%s/summary.json", folders[i]);
    if (tempera_summary_read(folders[i], &summaries[i], &error) != TEMPERA_OK)
      return cli_fail(file, &error);
  }
  return EXIT_DONE;
}

static int compare(char **folders, size_t count, tempera_summary **summaries,
                   bool json) {
  tempera_error error = {0};
  tempera_comparison *comparison = NULL;
  char *text = NULL;
  int code = read_runs(folders, count, summaries);
  if (code != EXIT_DONE)
    return code;
  if (tempera_compare((const tempera_summary *const *)summaries, count,
                      &comparison, &error) != TEMPERA_OK)
    return cli_fail(NULL, &error);
  const char *const *names = (const char *const *)folders;
  tempera_status status =
      json ? tempera_comparison_json(comparison, names, &text, &error)
           : tempera_comparison_text(comparison, names, cli_colour(), &text,
                                     &error);
  tempera_comparison_free(comparison);
  return status == TEMPERA_OK ? cli_print(text) : cli_fail(NULL, &error);
}

int cli_compare(int argc, char **argv) {
  int code;
  bool json = false;
  opterr = 0;
  while ((code = getopt_long(argc, argv, ":h", long_options, NULL)) != -1) {
    if (code == 'h')
      return fputs(help, stdout), EXIT_DONE;
    if (code != 'j')
      return cli_bad_option("compare", code, argv, long_options);
    json = true;
  }
  if (optind + 2 > argc)
    return cli_usage("compare", "give the folders of at least two runs");
  size_t count = (size_t)(argc - optind);
  tempera_summary **summaries = calloc(count, sizeof *summaries);
  if (!summaries)
    return fputs("tempera: out of memory\n", stderr), EXIT_BAD_INPUT;
  code = compare(argv + optind, count, summaries, json);
  for (size_t i = 0; i < count; i++)
    tempera_summary_free(summaries[i]);
  free(summaries);
  return code;
}
