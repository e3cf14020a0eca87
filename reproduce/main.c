/* main.c - the program tempera-reproduce, which `tempera reproduce` starts: the
 * paper's tables and figures. */
#include "cli/cli.h"
#include "reproduce/paper.h"

#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char help[] =
    "usage: tempera reproduce [bimodal|galaxy|sir|all] [options]\n"
    "\n"
    "Run the paper again: every table and figure, with the published and the\n"
    "exact values beside it. Writes index.html, results.json, a CSV file per\n"
    "table and an SVG file per figure.\n"
    "\n"
    "  -o, --output DIR   where to [reproduce-STUDY]\n"
    "      --quick        short runs: two minutes instead of half an hour\n"
    "      --seed S       of the first replicate [1]\n"
    "      --threads N    replicates at a time [all cores]\n"
    "      --quiet        no progress\n"
    "  -h, --help\n";

static const struct option long_options[] = {
    {"output", required_argument, NULL, 'o'},
    {"quick", no_argument, NULL, 'k'},
    {"seed", required_argument, NULL, 's'},
    {"threads", required_argument, NULL, 't'},
    {"quiet", no_argument, NULL, 'q'},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0}};

static void show(const char *what, size_t done, size_t total, double seconds,
                 void *user) {
  bool terminal = *(const bool *)user;
  if (terminal)
    fprintf(stderr, "\r%s  %zu of %zu", what, done, total);
  else if (done > 0 && done < total)
    return;
  else
    fprintf(stderr, "%s  %zu of %zu", what, done, total);
  if (!isnan(seconds))
    fprintf(stderr, "  %.0f s", seconds);
  fputs(terminal ? "\033[K" : "\n", stderr);
}

static bool read_integer(const char *text, uint64_t *value) {
  char *end;
  *value = strtoull(text, &end, 10);
  return *text >= '0' && *text <= '9' && *end == '\0';
}

static int reproduce(tm_reproduce_request *request, bool quiet) {
  tempera_error error = {0};
  char *text = NULL, folder[64];
  bool terminal = isatty(STDERR_FILENO);
  if (!request->folder) {
    snprintf(folder, sizeof folder, "reproduce-%.40s", request->study);
    request->folder = folder;
  }
  request->colour = cli_colour();
  tempera_status status =
      tm_reproduce(request, quiet ? NULL : show, &terminal, &text, &error);
  if (terminal && !quiet)
    fputs("\r\033[K", stderr);
  if (status == TEMPERA_ERROR_ARGUMENT)
    return cli_usage("reproduce", "%s", error.message);
  if (status != TEMPERA_OK)
    return cli_fail(NULL, &error);
  int code = cli_print(text);
  if (code == EXIT_DONE && !quiet)
    fprintf(stderr, "%s/index.html has the tables and figures\n",
            request->folder);
  return code;
}

static int run_command(int argc, char **argv) {
  tm_reproduce_request request = {.study = "all", .seed = 1};
  bool quiet = false;
  uint64_t number;
  int code;
  opterr = 0;
  while ((code = getopt_long(argc, argv, ":o:h", long_options, NULL)) != -1) {
    switch (code) {
    case 'o':
      request.folder = optarg;
      break;
    case 'k':
      request.quick = true;
      break;
    case 's':
    case 't':
      if (!read_integer(optarg, &number))
        return cli_usage("reproduce", "%s is not a nonnegative integer",
                         optarg);
      if (code == 's')
        request.seed = number;
      else
        request.threads = (int)(number < 1024 ? number : 1024);
      break;
    case 'q':
      quiet = true;
      break;
    case 'h':
      return fputs(help, stdout), EXIT_DONE;
    default:
      return cli_bad_option("reproduce", code, argv, long_options);
    }
  }
  if (optind < argc)
    request.study = argv[optind++];
  if (optind < argc)
    return cli_usage("reproduce", "one study, or all");
  return reproduce(&request, quiet);
}

int main(int argc, char **argv) {
  cli_start(argv);
  return cli_end(run_command(argc, argv));
}
