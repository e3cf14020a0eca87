/* main.c - the `tempera` command: finds the subcommand and steps aside. */
#include "cli/cli.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

static const char help[] =
    "usage: tempera COMMAND [arguments]\n"
    "\n"
    "Bayesian sampling and evidence by continuous tempering.\n"
    "\n"
    "  sample MODEL [-d DATA.json] [options]   draws, evidence and report\n"
    "  check MODEL [-d DATA.json]              show a model and test it\n"
    "  compile MODEL.stan [-o MODEL.so]        build the model's shared "
    "library\n"
    "  resume RUN [options]                    go on after an interruption, "
    "or\n"
    "                                          with more iterations\n"
    "  summary RUN                             a run's tables again\n"
    "  compare RUN RUN...                      log Bayes factors\n"
    "  evidence MODEL --draws CSV...           of a fit made elsewhere\n"
    "  test RUN --null \"NAME = VALUE\"          a hypothesis on parameters\n"
    "  report RUN [-o FILE.html]               a run as one page with charts\n"
    "  calibrate MODEL.stan -d DATA.json       simulation-based calibration\n"
    "  reproduce [bimodal|galaxy|sir|all]      the paper's tables and "
    "figures\n"
    "\n"
    "tempera COMMAND --help says more; tempera --version, tempera --help,\n"
    "tempera --cite.\n";

/* The method's authors first; the same as CITATION.cff. */
static const char citation[] =
    "Please cite the method and the program:\n"
    "\n"
    "  Biljana Jonoska Stojkova and David A. Campbell. Parallel Tempering via\n"
    "  Simulated Tempering Without Normalizing Constants.\n"
    "\n"
    "  Tempera %s: Bayesian sampling and evidence by continuous tempering.\n"
    "  Computer program, GPL-3.0-or-later.\n";

typedef struct command {
  const char *name;
  int (*run)(int argc, char **argv);
} command;

static const command commands[] = {
    {"sample", cli_sample},   {"check", cli_check},
    {"summary", cli_summary}, {"compare", cli_compare},
    {"compile", cli_compile}, {"report", cli_report},
    {"resume", cli_resume},   {"reproduce", cli_reproduce},
    {"calibrate", cli_calibrate}, {"test", cli_test},
    {"evidence", cli_evidence}};

enum { COMMANDS = sizeof commands / sizeof *commands };

static int unknown(const char *name) {
  const char *names[COMMANDS + 1] = {0};
  for (size_t i = 0; i < COMMANDS; i++)
    names[i] = commands[i].name;
  const char *near = cli_nearest(name, names);
  return near
             ? cli_usage("", "unknown command %s; did you mean %s?", name, near)
             : cli_usage("", "unknown command %s", name);
}

static bool is(const char *word, const char *name, const char *letter) {
  return strcmp(word, name) == 0 || strcmp(word, letter) == 0;
}

static int run_command(int argc, char **argv) {
  if (argc < 2)
    return cli_usage("", "which command?");
  if (is(argv[1], "--help", "-h") || strcmp(argv[1], "help") == 0)
    return fputs(help, stdout), EXIT_DONE;
  if (is(argv[1], "--version", "-V"))
    return printf("tempera %s\n", tempera_version()), EXIT_DONE;
  if (strcmp(argv[1], "--cite") == 0)
    return printf(citation, tempera_version()), EXIT_DONE;
  for (size_t i = 0; i < COMMANDS; i++) {
    if (strcmp(argv[1], commands[i].name) != 0)
      continue;
    return commands[i].run(argc - 1, argv + 1);
  }
  if (argv[1][0] == '-')
    return cli_usage("", "unknown option %s", argv[1]);
  return unknown(argv[1]);
}

int main(int argc, char **argv) {
#ifdef SIGXFSZ
  signal(SIGXFSZ, SIG_IGN); /* a file-size limit is a write error for us */
#endif
  cli_start(argv);
  return cli_end(run_command(argc, argv));
}
