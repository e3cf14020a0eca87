/* paper_models.c - finding models, data and references by name. */
#include "reproduce/paper_models.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Each is a models/paper/NAME.c, whose tempera_model_open has this name. */
tempera_status tm_paper_open_bimodal(const tempera_data *data,
                                     tempera_model **model,
                                     tempera_error *error);
tempera_status tm_paper_open_bimodal2(const tempera_data *data,
                                      tempera_model **model,
                                      tempera_error *error);
tempera_status tm_paper_open_galaxy(const tempera_data *data,
                                    tempera_model **model,
                                    tempera_error *error);
tempera_status tm_paper_open_sir(const tempera_data *data,
                                 tempera_model **model, tempera_error *error);

static const struct {
  const char *name;
  tempera_model_open_fn open;
} models[] = {{"bimodal", tm_paper_open_bimodal},
              {"bimodal2", tm_paper_open_bimodal2},
              {"galaxy", tm_paper_open_galaxy},
              {"sir", tm_paper_open_sir}};

static tempera_status find_file(const char *name, const char **text,
                                tempera_error *error) {
  for (const tm_paper_file *file = tm_paper_files; file->name; file++)
    if (strcmp(file->name, name) == 0)
      return *text = file->text, TEMPERA_OK;
  return tm_fail(error, TEMPERA_ERROR_ARGUMENT, "the paper has no file %s",
                 name);
}

tempera_status tm_paper_model(const char *name, const char *data_name,
                              tempera_model **model, tempera_error *error) {
  const char *text = NULL;
  tempera_data *data = NULL;
  TM_TRY(find_file(data_name, &text, error));
  TM_TRY(tempera_data_parse(text, strlen(text), &data, error));
  tempera_status status = TEMPERA_ERROR_ARGUMENT;
  for (size_t i = 0; i < sizeof models / sizeof *models; i++)
    if (strcmp(models[i].name, name) == 0)
      status = models[i].open(data, model, error);
  tempera_data_free(data);
  return status;
}

tempera_status tm_paper_json(const char *name, json_t **root,
                             tempera_error *error) {
  const char *text = NULL;
  json_error_t problem;
  TM_TRY(find_file(name, &text, error));
  *root = json_loads(text, 0, &problem);
  return *root ? TEMPERA_OK : tm_fail_memory(error);
}

double tm_paper_number(const json_t *root, const char *path) {
  char step[64];
  while (root && *path) {
    size_t length = strcspn(path, "/");
    snprintf(step, sizeof step, "%.*s", (int)length, path);
    root = json_is_array(root) ? json_array_get(root, strtoul(step, NULL, 10))
                               : json_object_get(root, step);
    path += length + (path[length] == '/');
  }
  return json_is_number(root) ? json_number_value(root) : NAN;
}
