/* command_model.c - `sample --command`: any program as the model. */
#include "cli/cli.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What remains of --command is checked here; 0, or an exit status. */
int cli_check_command(const cli_input *input, const char *model) {
  const bool given = input->command.command != NULL;
  if (given && model)
    return cli_usage("sample", "either MODEL or --command, but both are given");
  if (given && !input->parameters_path)
    return cli_usage(
        "sample", "--command needs --parameters FILE.json, which names them");
  if (!given && input->parameters_path)
    return cli_usage("sample", "--parameters belongs to --command");
  return EXIT_DONE;
}

int cli_take_workers(cli_input *input, const char *text) {
  char *end = NULL;
  errno = 0;
  unsigned long number = strtoul(text, &end, 10);
  if (end == text || *end || errno || number < 1 || number > 256 ||
      text[0] == '-')
    return cli_usage("sample", "--workers %s: wanted a number from 1 to 256",
                     text);
  input->command.workers = number;
  return EXIT_DONE;
}

/* The file as a whole, or NULL after a message. */
static char *read_text(const char *path, size_t *length) {
  tempera_error error = {0};
  FILE *file = fopen(path, "r");
  size_t used = 0, room = 0, got = 0;
  char *text = NULL;
  do {
    room = 2 * room + 4096;
    char *larger = realloc(text, room);
    text = larger ? larger : text;
    got = file && larger ? fread(text + used, 1, room - used, file) : 0;
    used += got;
  } while (got > 0 && used == room);
  if (file && text && !ferror(file)) {
    fclose(file);
    *length = used;
    return text;
  }
  snprintf(error.message, sizeof error.message,
           "cannot read the parameters: %s", strerror(errno));
  cli_fail(path, &error);
  if (file)
    fclose(file);
  free(text);
  return NULL;
}

int cli_load_command(cli_input *input) {
  tempera_error error = {0};
  tempera_parameters *parameters = NULL;
  size_t length = 0;
  char *text = read_text(input->parameters_path, &length);
  if (!text)
    return EXIT_BAD_INPUT;
  tempera_status status =
      tempera_parameters_parse(text, length, &parameters, &error);
  free(text);
  if (status != TEMPERA_OK)
    return cli_fail(input->parameters_path, &error);
  input->command.parameters = parameters;
  status = tempera_command_model(&input->command, &input->model, &error);
  input->command.parameters = NULL;
  tempera_parameters_free(parameters);
  return status == TEMPERA_OK ? EXIT_DONE : cli_fail(NULL, &error);
}
