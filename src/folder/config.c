/* config.c - config.json: every option in force, so that a run can be
 * understood, repeated and resumed from its folder alone. */
#include "folder/config.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/memory.h"
#include "run/run.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* null where the file cannot be read: a model made in memory has none. */
static void add_file_hash(json_t *config, const char *path) {
  char *content = NULL;
  size_t length = 0;
  if (path && tm_file_read(path, &content, &length, NULL) == TEMPERA_OK)
    tm_json_hash(config, "model_hash",
                 tm_hash_bytes(TM_HASH_START, content, length));
  else
    tm_json_string(config, "model_hash", NULL);
  tm_heap_free(content);
}

static void add_words(json_t *config, const tempera_options *o) {
  const struct {
    const char *name;
    tm_choice choice;
    int value;
  } words[] = {{"method", TM_CHOICE_METHOD, (int)o->method},
               {"tau_prior", TM_CHOICE_TAU_PRIOR, (int)o->tau_prior},
               {"ridge", TM_CHOICE_RIDGE, (int)o->ridge},
               {"tau_move", TM_CHOICE_TAU_MOVE, (int)o->tau_move},
               {"kernel", TM_CHOICE_KERNEL, (int)o->kernel},
               {"weights", TM_CHOICE_WEIGHTS, (int)o->weights},
               {"swaps", TM_CHOICE_SWAPS, (int)o->swaps},
               {"schedule", TM_CHOICE_SCHEDULE, (int)o->schedule}};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    tm_json_string(config, words[i].name,
                   tm_choice_word(words[i].choice, words[i].value));
}

static void add_options(json_t *config, const tempera_options *o) {
  add_words(config, o);
  tm_json_real(config, "tau_scale", o->tau_scale);
  tm_json_real(config, "tau_min", o->tau_min);
  tm_json_integer(config, "chains", o->chains);
  tm_json_integer(config, "iterations", o->iterations);
  tm_json_integer(config, "warmup", o->warmup);
  tm_json_integer(config, "thin", o->thin);
  tm_json_integer(config, "observations", o->observations);
  json_t *taus = json_array();
  for (size_t i = 0; i < o->at_tau_count; i++)
    json_array_append_new(taus, json_real(o->at_tau[i]));
  json_object_set_new(config, "at_tau", taus);
  tm_json_integer(config, "levels", o->levels);
  tm_json_integer(config, "walkers", o->walkers);
  tm_json_real(config, "exchange", o->exchange);
  tm_json_integer(config, "seed", o->seed);
  tm_json_integer(config, "threads", (uint64_t)o->threads);
  tm_json_real(config, "time_limit", o->time_limit);
  tm_json_real(config, "until_se", o->until_se);
  json_object_set_new(config, "paper", json_boolean(o->paper));
  json_object_set_new(config, "jumps", json_boolean(o->jumps));
  json_object_set_new(config, "bridge", json_boolean(o->bridge));
  json_object_set_new(config, "reference", json_boolean(o->reference));
  json_object_set_new(config, "save_warmup", json_boolean(o->save_warmup));
  json_object_set_new(config, "tempered_quantities",
                      json_boolean(o->tempered_quantities));
}

tempera_status tm_config_json(const tempera_run_request *request,
                              const tempera_sampler *sampler, char **text,
                              tempera_error *error) {
  (void)tm_json_watch();
  json_t *config = json_object();
  tm_json_string(config, "version", TEMPERA_VERSION);
  tm_json_string(config, "model",
                 tempera_model_name(tempera_sampler_model(sampler)));
  tm_json_string(config, "model_path", request->model_path);
  add_file_hash(config, request->model_path);
  tm_json_string(config, "data_path", request->data_path);
  if (request->data)
    tm_json_hash(config, "data_hash", tempera_data_hash(request->data));
  tm_json_string(config, "init_path", request->init_path);
  if (request->command) {
    tm_json_string(config, "command", request->command);
    tm_json_string(config, "parameters_path", request->parameters_path);
    json_object_set_new(config, "batch", json_boolean(request->batch));
    json_object_set_new(config, "prior_normalised",
                        json_boolean(request->prior_normalised));
    json_object_set_new(config, "prior_improper",
                        json_boolean(request->prior_improper));
  }
  add_options(config, tempera_sampler_options(sampler));
  return tm_json_dump(config, text, error);
}

/* ---- reading ------------------------------------------------------------ */

static tempera_status read_config(const char *folder, json_t **config,
                                  tempera_error *error) {
  char *path = tm_path_join(folder, "config.json"), *content = NULL;
  size_t length = 0;
  if (!path)
    return tm_fail_memory(error);
  tempera_status status = tm_folder_plain(folder, error);
  if (status == TEMPERA_OK && !tm_file_exists(path))
    status = tm_fail(error, TEMPERA_ERROR_INPUT,
                     "%s holds no run: there is no config.json", folder);
  if (status == TEMPERA_OK)
    status = tm_file_read(path, &content, &length, error);
  tm_heap_free(path);
  TM_TRY(status);
  json_error_t problem;
  bool outer = tm_json_watch();
  *config = tm_json_decode(content, length, 0, &problem);
  tm_heap_free(content);
  if (tm_memory_was_short(outer)) {
    json_decref(*config);
    return tm_fail_memory(error);
  }
  if (*config && json_is_object(*config))
    return TEMPERA_OK;
  json_decref(*config);
  return tm_fail(error, TEMPERA_ERROR_INPUT,
                 "%s/config.json cannot be read: %s", folder, problem.text);
}

static const char *word_of(const json_t *config, const char *name) {
  const char *text = json_string_value(json_object_get(config, name));
  return text ? text : "";
}

static bool same_hash(const json_t *config, const char *name, uint64_t hash) {
  char text[24];
  const char *recorded = word_of(config, name);
  snprintf(text, sizeof text, "%016" PRIx64, hash);
  return !recorded[0] || strcmp(recorded, text) == 0;
}

static bool same_file(const json_t *config, const char *path) {
  char *content = NULL;
  size_t length = 0;
  if (!path || tm_file_read(path, &content, &length, NULL) != TEMPERA_OK)
    return true; /* a model made in memory: nothing to compare */
  uint64_t hash = tm_hash_bytes(TM_HASH_START, content, length);
  tm_heap_free(content);
  return same_hash(config, "model_hash", hash);
}

static tempera_status check_config(const json_t *config,
                                   const tempera_run_request *r,
                                   tempera_error *error) {
  const char *version = word_of(config, "version");
  bool data = json_is_string(json_object_get(config, "data_hash"));
  if (strcmp(version, TEMPERA_VERSION) != 0)
    return tm_fail(error, TEMPERA_ERROR_INPUT,
                   "the run in %s was made by version %.20s, and this is "
                   "%s: draws would not go on as they began",
                   r->folder, version, TEMPERA_VERSION);
  if (!same_file(config, r->model_path))
    return tm_fail(error, TEMPERA_ERROR_INPUT,
                   "%s is not the model of the run in %s: the file has changed",
                   r->model_path, r->folder);
  if (data != (r->data != NULL) ||
      (data && !same_hash(config, "data_hash", tempera_data_hash(r->data))))
    return tm_fail(error, TEMPERA_ERROR_INPUT,
                   "the data of the run in %s were others", r->folder);
  return TEMPERA_OK;
}

tempera_status tm_config_check(const tempera_run_request *request,
                               tempera_error *error) {
  json_t *config = NULL;
  TM_TRY(read_config(request->folder, &config, error));
  bool outer = tm_memory_watch(); /* a file that cannot be read is no other */
  tempera_status status = check_config(config, request, error);
  json_decref(config);
  return tm_memory_was_short(outer) ? tm_fail_memory(error) : status;
}

tempera_status tm_config_renew(const char *folder,
                               const tempera_sampler *sampler,
                               tempera_error *error) {
  json_t *config = NULL;
  char *text = NULL, *path = tm_path_join(folder, "config.json");
  tempera_status status =
      path ? read_config(folder, &config, error) : tm_fail_memory(error);
  if (status == TEMPERA_OK) {
    (void)tm_json_watch();
    add_options(config, tempera_sampler_options(sampler));
    status = tm_json_dump(config, &text, error);
  }
  if (status == TEMPERA_OK)
    status = tm_file_replace(path, text, strlen(text), error);
  tm_heap_free(text);
  tm_heap_free(path);
  return status;
}

/* A copy, or NULL where it is null. */
static tempera_status copy_word(const json_t *config, const char *name,
                                char **text, tempera_error *error) {
  const char *word = json_string_value(json_object_get(config, name));
  *text = word ? tm_heap_text(word) : NULL;
  return word && !*text ? tm_fail_memory(error) : TEMPERA_OK;
}

tempera_status tempera_run_paths(const char *folder, char **model_path,
                                 char **data_path, tempera_error *error) {
  json_t *config = NULL;
  *model_path = *data_path = NULL;
  TM_TRY(read_config(folder, &config, error));
  tempera_status status = copy_word(config, "model_path", model_path, error);
  if (status == TEMPERA_OK)
    status = copy_word(config, "data_path", data_path, error);
  json_decref(config);
  return status;
}

tempera_status tempera_run_program(const char *folder, char **command,
                                   char **parameters_path, bool *batch,
                                   bool *prior_normalised, bool *prior_improper,
                                   tempera_error *error) {
  json_t *config = NULL;
  *command = *parameters_path = NULL;
  TM_TRY(read_config(folder, &config, error));
  *batch = json_is_true(json_object_get(config, "batch"));
  *prior_normalised = json_is_true(json_object_get(config, "prior_normalised"));
  *prior_improper = json_is_true(json_object_get(config, "prior_improper"));
  tempera_status status = copy_word(config, "command", command, error);
  if (status == TEMPERA_OK)
    status = copy_word(config, "parameters_path", parameters_path, error);
  json_decref(config);
  return status;
}
