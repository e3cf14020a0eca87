/* test_command.c - `tempera test`: hypotheses on the parameters of one run. */
#include "cli/cli.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

static const char help[] =
    "usage: tempera test RUN --null \"NAME = VALUE\" [options]\n"
    "\n"
    "A hypothesis on parameters of a run against its being false: by the\n"
    "Savage-Dickey density ratio where reals are fixed, by odds where it has\n"
    "prior probability (intervals, values of integers).\n"
    "\n"
    "      --null TEXT        NAME = X, NAME < X, NAME > X, A < NAME < B or\n"
    "                         |NAME| < X; several separated by commas must all\n"
    "                         hold. Give --null again for another hypothesis.\n"
    "  -d, --data FILE        the data [those of the run]\n"
    "      --seed S           of the draws from the prior [1]\n"
    "      --json             as JSON\n"
    "  -h, --help\n";

static const struct option long_options[] = {
    {"null", required_argument, NULL, 'n'},
    {"data", required_argument, NULL, 'd'},
    {"seed", required_argument, NULL, 's'},
    {"json", no_argument, NULL, 'j'},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0}};

enum { MOST_NULLS = 64 };

typedef struct request {
  const char *folder, *nulls[MOST_NULLS], *data_path;
  size_t count;
  uint64_t seed;
  bool json;
} request;

static int take_option(void *request_given, int code, char **argv) {
  request *r = request_given;
  switch (code) {
  case 'n':
    if (r->count == MOST_NULLS)
      return cli_usage("test", "more than %d hypotheses at once", MOST_NULLS);
    r->nulls[r->count++] = optarg;
    return EXIT_DONE;
  case 'd':
    r->data_path = optarg;
    return EXIT_DONE;
  case 's':
    return cli_take_seed("test", &r->seed);
  case 'j':
    r->json = true;
    return EXIT_DONE;
  default:
    return cli_bad_option("test", code, argv, long_options);
  }
}

static int take_arguments(request *r, int argc, char **argv) {
  const cli_arguments how = {help, long_options, take_option};
  int code = cli_take_arguments(&how, argc, argv, r);
  if (code != EXIT_DONE)
    return code;
  if (optind + 1 != argc)
    return cli_usage("test", "give the folder of one run");
  if (r->count == 0)
    return cli_usage("test", "which hypothesis? (--null \"NAME = VALUE\")");
  r->folder = argv[optind];
  return EXIT_DONE;
}

static int test_one(const request *r, const tempera_model *model,
                    const tempera_draws *draws, const char *null, bool more) {
  tempera_error error = {0};
  tempera_hypothesis *made = NULL;
  char *text = NULL;
  tempera_status status =
      tempera_hypothesis_test(model, draws, null, r->seed, &made, &error);
  if (status == TEMPERA_ERROR_ARGUMENT)
    return cli_usage("test", "%s", error.message);
  if (status == TEMPERA_OK)
    status = r->json ? tempera_hypothesis_json(made, &text, &error)
                     : tempera_hypothesis_text(made, &text, &error);
  tempera_hypothesis_free(made);
  if (status != TEMPERA_OK)
    return cli_fail(NULL, &error);
  int code = cli_print(text);
  if (r->json && more)
    fputs(",\n", stdout);
  return code;
}

static int test(const request *r, const tempera_model *model,
                const tempera_draws *draws) {
  int code = EXIT_DONE;
  bool list = r->json && r->count > 1;
  if (list)
    fputs("[\n", stdout);
  for (size_t i = 0; i < r->count && code == EXIT_DONE; i++)
    code = test_one(r, model, draws, r->nulls[i], i + 1 < r->count);
  if (list)
    fputs("]\n", stdout);
  return code;
}

static int with_run(request *r) {
  tempera_error error = {0};
  tempera_draws *draws = NULL;
  char *model_path = NULL, *data_path = NULL;
  cli_input input = {.quiet = true};
  if (tempera_run_paths(r->folder, &model_path, &data_path, &error) !=
      TEMPERA_OK)
    return cli_fail(r->folder, &error);
  input.model_path = model_path;
  input.data_path = r->data_path ? r->data_path : data_path;
  int code = EXIT_DONE;
  if (!model_path) {
    snprintf(error.message, sizeof error.message,
             "%s: its model was a command, which gives no draws from the prior",
             r->folder);
    code = cli_fail(NULL, &error);
  } else {
    cli_watch_model(model_path, 0);
    code = cli_load(&input);
  }
  if (code == EXIT_DONE &&
      tempera_draws_read(r->folder, &draws, &error) != TEMPERA_OK)
    code = cli_fail(r->folder, &error);
  if (code == EXIT_DONE)
    code = test(r, input.model, draws);
  tempera_draws_free(draws);
  cli_unload(&input);
  cli_watch_end();
  tempera_text_free(model_path);
  tempera_text_free(data_path);
  return code;
}

int cli_test(int argc, char **argv) {
  request r = {.seed = 1};
  int code = take_arguments(&r, argc, argv);
  if (code != EXIT_DONE)
    return code == CLI_HELP_SHOWN ? EXIT_DONE : code;
  return with_run(&r);
}
