/* load_file.c - a program's text or compiled library and data become a
 * tempera_model. */
#include "language/load/load.h"

#include "language/load/compile.h"
#include "model/model.h"

#include <dlfcn.h>
#include <gsl/gsl_errno.h>
#include <string.h>

/* A library made by tempera_program_compile; *found says whether it is one,
 * *refused (or NULL) whether it cannot be used with these data. */
static tempera_status load_compiled(const char *path, const tempera_data *data,
                                    bool *found, bool *refused,
                                    tempera_model **model,
                                    tempera_error *error) {
  /* GSL's own handler ends the process; programs may call its functions
   * anywhere, and look at what they return. */
  gsl_set_error_handler_off();
  void *library = tm_library_open(path);
  const tm_entry *entry =
      library ? dlsym(library, "tempera_program_entry") : NULL;
  *found = entry != NULL;
  if (entry)
    return tm_load_program(&(tm_load){.entry = entry,
                                      .library = library,
                                      .data = data,
                                      .refused = refused},
                           model, error);
  tempera_status status =
      tm_fail(error, TEMPERA_ERROR_IO, "cannot load %s: %s", path, dlerror());
  tm_library_close(library);
  return status;
}

/* The program's names are its own; the model outlives it. */
static void note_observed(const tempera_program *program,
                          tempera_model *model) {
  size_t count;
  model->observed = tm_observed(&program->split, model->arena, &count);
  for (size_t i = 0; model->observed && i < count; i++) {
    model->observed[i] = tm_arena_text(model->arena, model->observed[i]);
    if (!model->observed[i])
      return;
    model->observed_count = i + 1;
  }
}

tempera_status tm_load_way(const tempera_program *program, tm_way way,
                           const tempera_data *data, bool *refused,
                           tempera_model **model, tempera_error *error) {
  char *path = NULL;
  bool found;
  *refused = false;
  TM_TRY(tm_compile(program, way, &path, error));
  tempera_status status =
      load_compiled(path, data, &found, refused, model, error);
  if (status == TEMPERA_OK && !*refused)
    note_observed(program, *model);
  tm_heap_free(path);
  return status;
}

tempera_status tempera_program_load(const tempera_program *program,
                                    const tempera_data *data,
                                    tempera_model **model,
                                    tempera_error *error) {
  bool refused;
  TM_TRY(tm_load_way(program, TM_BY_ROWS, data, &refused, model, error));
  return refused
             ? tm_load_way(program, TM_ONE_BY_ONE, data, &refused, model, error)
             : TEMPERA_OK;
}

static bool is_program(const char *path) {
  size_t n = strlen(path);
  return n > 5 && !strcmp(path + n - 5, ".stan");
}

static tempera_status load_text(const char *path, const tempera_data *data,
                                tempera_model **model, tempera_error *error) {
  tempera_program *program = NULL;
  TM_TRY(tempera_program_read(path, &program, error));
  tempera_status status = tempera_program_load(program, data, model, error);
  tempera_program_free(program);
  return status;
}

tempera_status tempera_model_load(const char *path, const tempera_data *data,
                                  tempera_model **model, tempera_error *error) {
  if (is_program(path))
    return load_text(path, data, model, error);
  bool found;
  tempera_status status = load_compiled(path, data, &found, NULL, model, error);
  return found ? status : tm_model_load_library(path, data, model, error);
}
