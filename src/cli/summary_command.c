/* summary_command.c - `tempera summary`: the tables of a finished run again. */
#include "cli/cli.h"

#include <getopt.h>
#include <stdio.h>

static const char help[] =
    "usage: tempera summary RUN [--all|--json|--csv]\n"
    "\n"
    "Show the tables of a run again. RUN is the folder of `tempera sample`.\n"
    "\n"
    "      --all    every row of every list; long ones are folded else\n"
    "      --json   the summary as JSON\n"
    "      --csv    a row for each parameter and quantity, every number in "
    "full\n"
    "  -h, --help\n";

static const struct option long_options[] = {{"all", no_argument, NULL, 'a'},
                                             {"json", no_argument, NULL, 'j'},
                                             {"csv", no_argument, NULL, 'c'},
                                             {"help", no_argument, NULL, 'h'},
                                             {NULL, 0, NULL, 0}};

/* format: 'j', 'c', 'a' (all for people) or 0. */
static int show(const char *folder, int format) {
  tempera_error error = {0};
  tempera_summary *summary = NULL;
  char *text = NULL, file[4096];
  snprintf(file, sizeof file, "%s/summary.json", folder);
  if (tempera_summary_read(folder, &summary, &error) != TEMPERA_OK)
    return cli_fail(file, &error);
  tempera_status status =
      format == 'j'   ? tempera_summary_json(summary, &text, &error)
      : format == 'c' ? tempera_summary_csv(summary, &text, &error)
      : format == 'a'
          ? tempera_summary_text_all(summary, cli_colour(), &text, &error)
          : tempera_summary_text(summary, cli_colour(), &text, &error);
  tempera_summary_free(summary);
  return status == TEMPERA_OK ? cli_print(text) : cli_fail(NULL, &error);
}

int cli_summary(int argc, char **argv) {
  int code, format = 0;
  opterr = 0;
  while ((code = getopt_long(argc, argv, ":h", long_options, NULL)) != -1) {
    if (code == 'h')
      return fputs(help, stdout), EXIT_DONE;
    if (code != 'j' && code != 'c' && code != 'a')
      return cli_bad_option("summary", code, argv, long_options);
    if (format && format != code)
      return cli_usage("summary", "one of --all, --json and --csv");
    format = code;
  }
  if (optind + 1 != argc)
    return cli_usage("summary", "give the folder of one run");
  return show(argv[optind], format);
}
