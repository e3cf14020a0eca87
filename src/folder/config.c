/* config.c - config.json: every option in force, so that a run can be
 * understood, repeated and (later) resumed from its folder alone. */
#include "folder/config.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/memory.h"
#include "run/run.h"

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
  }
  add_options(config, tempera_sampler_options(sampler));
  return tm_json_dump(config, text, error);
}
