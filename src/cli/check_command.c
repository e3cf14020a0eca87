/* check_command.c - `tempera check`: load a model, show its parameters and what
 * it offers, and look at it at a few points. */
#include "cli/cli.h"

#include <getopt.h>
#include <stdio.h>

enum { INCLUDE = 1000, GRADIENT, COST };

static const char help[] =
    "usage: tempera check MODEL [-d DATA.json]\n"
    "\n"
    "Load a model, show its parameters and which callbacks it has, and\n"
    "evaluate it at a few points. Of a Stan program, first show each\n"
    "statement's part, prior or likelihood; without data, only that\n"
    "(--gradient goes on: a program may need none).\n"
    "\n"
    "  -d, --data FILE          data, CmdStan JSON\n"
    "      --include-path P     folders for #include, separated by ':'\n"
    "      --gradient           compare gradients with differences\n"
    "      --cost               what an evaluation of a program costs, and "
    "why\n"
    "  -h, --help\n";

static const struct option long_options[] = {
    {"data", required_argument, NULL, 'd'},
    {"include-path", required_argument, NULL, INCLUDE},
    {"gradient", no_argument, NULL, GRADIENT},
    {"cost", no_argument, NULL, COST},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0}};

/* Print a text of the library's; was it all that it should be? */
static int show(tempera_status status, char *text, bool sound, const char *path,
                const tempera_error *error) {
  if (status != TEMPERA_OK)
    return cli_fail(path, error);
  int code = cli_print(text);
  return code != EXIT_DONE || sound ? code : EXIT_BAD_INPUT;
}

static int print_model(const cli_input *input) {
  tempera_error error = {0};
  char *text = NULL;
  tempera_status status = tempera_model_describe(
      input->model, cli_is_program(input->model_path), &text, &error);
  return show(status, text, true, input->model_path, &error);
}

/* Of processor time. Millions of points are looked at where each is quick;
 * data that nothing fits would keep a check for minutes where each is slow. */
static const double LOOKING = 10;

/* A run looks further than a hundred points, and explores a prior that it
 * cannot draw from: what it finds, or says. */
static int try_start(const cli_input *input) {
  tempera_error error = {0};
  tempera_options options = tempera_options_default();
  tempera_sampler *sampler = NULL;
  options.chains = 1;
  fflush(stdout);
  cli_watch_search(LOOKING,
                   "has no start among all points that 10 s sufficed for, and "
                   "a run would look further; check the model and the data, or "
                   "give starts with --init");
  tempera_status status =
      tempera_sampler_create(input->model, &options, &sampler, &error);
  cli_watch_search_end();
  tempera_sampler_free(sampler);
  if (status != TEMPERA_OK)
    return cli_fail(input->model_path, &error);
  printf("and finds one\n");
  return EXIT_DONE;
}

static int print_points(const cli_input *input) {
  tempera_error error = {0};
  char *text = NULL;
  bool found = false;
  tempera_status status =
      tempera_model_check_points(input->model, &text, &found, &error);
  int code = show(status, text, true, input->model_path, &error);
  return code != EXIT_DONE || found ? code : try_start(input);
}

static int print_gradient(const cli_input *input) {
  tempera_error error = {0};
  char *text = NULL;
  bool agree = false;
  tempera_status status =
      tempera_model_check_gradient(input->model, &text, &agree, &error);
  return show(status, text, agree, input->model_path, &error);
}

/* A program is described before any data: what is declared, and each
 * statement's part, prior or likelihood, with the reason. */
static int describe(const cli_input *input) {
  const char *path = input->model_path;
  tempera_error error = {0};
  tempera_program *program = NULL;
  char *text = NULL;
  tempera_status status = tempera_program_read_including(
      path, input->include_path, &program, &error);
  const char *warning;
  if (status == TEMPERA_OK) {
    for (size_t i = 0; (warning = tempera_program_warning(program, i)); i++)
      fprintf(stderr, "%s:%s\n", path, warning);
    status = tempera_program_describe(program, &text, &error);
  }
  tempera_program_free(program);
  return status == TEMPERA_OK ? cli_print(text) : cli_fail(path, &error);
}

/* What its statements cost with these data. */
static int print_cost(const cli_input *input) {
  const char *path = input->model_path;
  tempera_error error = {0};
  tempera_program *program = NULL;
  tempera_data *data = NULL;
  char *text = NULL;
  tempera_status status = tempera_program_read_including(
      path, input->include_path, &program, &error);
  if (status == TEMPERA_OK)
    status = tempera_data_read(input->data_path, &data, &error);
  if (status == TEMPERA_OK)
    status = tempera_program_cost(program, data, &text, &error);
  tempera_program_free(program);
  tempera_data_free(data);
  if (status != TEMPERA_OK)
    return cli_fail(path, &error);
  printf("\n");
  return cli_print(text);
}

static int check(cli_input *input, bool gradient, bool cost) {
  if (cli_is_program(input->model_path)) {
    input->quiet = true; /* warnings are said once */
    int described = describe(input);
    if (described != EXIT_DONE || (!input->data_path && !gradient))
      return described;
    printf("\n");
  }
  cli_watch_model(input->model_path, 0);
  int code = cli_load(input);
  if (code == EXIT_DONE) {
    code = print_model(input);
    if (code == EXIT_DONE)
      code = print_points(input);
    if (code == EXIT_DONE && gradient)
      code = print_gradient(input);
    if (code == EXIT_DONE && cost)
      code = print_cost(input);
  }
  cli_unload(input);
  cli_watch_end();
  return code;
}

int cli_check(int argc, char **argv) {
  int code;
  bool gradient = false, cost = false;
  cli_input input = {0};
  opterr = 0;
  while ((code = getopt_long(argc, argv, ":d:h", long_options, NULL)) != -1) {
    if (code == 'h')
      return fputs(help, stdout), EXIT_DONE;
    if (code == GRADIENT || code == COST) {
      *(code == COST ? &cost : &gradient) = true;
      continue;
    }
    if (code != 'd' && code != INCLUDE)
      return cli_bad_option("check", code, argv, long_options);
    *(code == 'd' ? &input.data_path : &input.include_path) = optarg;
  }
  if (optind + 1 != argc)
    return cli_usage("check", "give one model");
  input.model_path = argv[optind];
  if (cost && (!cli_is_program(input.model_path) || !input.data_path))
    return cli_usage("check",
                     "--cost is for a Stan program with its data (-d)");
  return check(&input, gradient, cost);
}
