/* report_command.c - `tempera report`: a run as one page with charts. */
#include "cli/cli.h"

#include <getopt.h>
#include <stdio.h>

static const char help[] =
    "usage: tempera report RUN [-o FILE.html]\n"
    "\n"
    "Write a run as one self-contained page: tables, charts, options. RUN is\n"
    "the folder of `tempera sample`, which writes the same page at its end.\n"
    "\n"
    "  -o, --output FILE   [RUN/report.html]\n"
    "  -h, --help\n";

static const struct option long_options[] = {
    {"output", required_argument, NULL, 'o'},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0}};

static int write_report(const char *folder, const char *output) {
  tempera_error error = {0};
  char file[4096];
  snprintf(file, sizeof file, "%s/summary.json", folder);
  if (tempera_run_report(folder, output, &error) != TEMPERA_OK)
    return cli_fail(error.line ? file : NULL, &error);
  printf("The report is %s%s\n", output ? output : folder,
         output ? "" : "/report.html");
  return EXIT_DONE;
}

int cli_report(int argc, char **argv) {
  int code;
  const char *output = NULL;
  opterr = 0;
  while ((code = getopt_long(argc, argv, ":o:h", long_options, NULL)) != -1) {
    if (code == 'h')
      return fputs(help, stdout), EXIT_DONE;
    if (code != 'o')
      return cli_bad_option("report", code, argv, long_options);
    output = optarg;
  }
  if (optind + 1 != argc)
    return cli_usage("report", "give the folder of one run");
  return write_report(argv[optind], output);
}
