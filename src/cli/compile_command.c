/* compile_command.c - `tempera compile`: a Stan program to a shared library. */
#include "cli/cli.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "usage: tempera compile MODEL.stan [-o MODEL.so]\n"
    "\n"
    "Translate a Stan program to C and build a shared library, for `sample` "
    "and\n"
    "for the clients of BridgeStan.\n"
    "\n"
    "  -o, --output FILE      [the program's name with .so]\n"
    "      --include-path P   folders for #include, separated by ':'\n"
    "  -h, --help\n";

enum { INCLUDE = 1000 };

static const struct option long_options[] = {
    {"output", required_argument, NULL, 'o'},
    {"include-path", required_argument, NULL, INCLUDE},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0}};

static int compile(const char *path, const char *include_path,
                   const char *output) {
  tempera_error error = {0};
  tempera_program *program = NULL;
  char *built = NULL;
  tempera_status status =
      tempera_program_read_including(path, include_path, &program, &error);
  if (status == TEMPERA_OK)
    status = tempera_program_compile(program, output, &built, &error);
  tempera_program_free(program);
  if (status != TEMPERA_OK)
    return cli_fail(path, &error);
  printf("%s\n", built);
  tempera_text_free(built);
  return EXIT_DONE;
}

int cli_compile(int argc, char **argv) {
  int code;
  const char *output = NULL, *include_path = NULL;
  char beside[4096];
  opterr = 0;
  while ((code = getopt_long(argc, argv, ":o:h", long_options, NULL)) != -1) {
    if (code == 'h')
      return fputs(help, stdout), EXIT_DONE;
    if (code != 'o' && code != INCLUDE)
      return cli_bad_option("compile", code, argv, long_options);
    *(code == 'o' ? &output : &include_path) = optarg;
  }
  if (optind + 1 != argc || !cli_is_program(argv[optind]))
    return cli_usage("compile", "give one program, MODEL.stan");
  const char *path = argv[optind];
  if (!output) {
    int stem = (int)(strlen(path) - strlen(".stan"));
    snprintf(beside, sizeof beside, "%.*s.so", stem, path);
    output = beside;
  }
  return compile(path, include_path, output);
}
