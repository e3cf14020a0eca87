/* config.c - config.json: every option in force, so that a run can be
 * understood, repeated and (later) resumed from its folder alone. */
#include "base/file.h"
#include "base/hash.h"
#include "base/memory.h"
#include "run/folder.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static json_t *hex(uint64_t hash) {
  char text[20];
  snprintf(text, sizeof text, "%016" PRIx64, hash);
  return json_string(text);
}

/* 0 where the file cannot be read: a model made in memory has none. */
static json_t *file_hash(const char *path) {
  char *content = NULL;
  size_t length = 0;
  if (!path || tm_file_read(path, &content, &length, NULL) != TEMPERA_OK)
    return json_null();
  json_t *hash = hex(tm_hash_bytes(TM_HASH_START, content, length));
  tm_heap_free(content);
  return hash;
}

static json_t *whole(uint64_t value) { return json_integer((json_int_t)value); }

static json_t *real(double value) {
  return isfinite(value) ? json_real(value) : json_null();
}

static json_t *text_or_null(const char *text) {
  return text ? json_string(text) : json_null();
}

static void add_options(json_t *config, const tempera_options *o) {
  json_object_set_new(
      config, "method",
      json_string(tm_choice_word(TM_CHOICE_METHOD, (int)o->method)));
  json_object_set_new(
      config, "tau_prior",
      json_string(tm_choice_word(TM_CHOICE_TAU_PRIOR, (int)o->tau_prior)));
  json_object_set_new(
      config, "ridge",
      json_string(tm_choice_word(TM_CHOICE_RIDGE, (int)o->ridge)));
  json_object_set_new(
      config, "tau_move",
      json_string(tm_choice_word(TM_CHOICE_TAU_MOVE, (int)o->tau_move)));
  json_object_set_new(
      config, "kernel",
      json_string(tm_choice_word(TM_CHOICE_KERNEL, (int)o->kernel)));
  json_object_set_new(config, "tau_scale", real(o->tau_scale));
  json_object_set_new(config, "tau_min", real(o->tau_min));
  json_object_set_new(config, "chains", whole(o->chains));
  json_object_set_new(config, "iterations", whole(o->iterations));
  json_object_set_new(config, "warmup", whole(o->warmup));
  json_object_set_new(config, "thin", whole(o->thin));
  json_object_set_new(config, "exchange", real(o->exchange));
  json_object_set_new(config, "seed", whole(o->seed));
  json_object_set_new(config, "threads", json_integer(o->threads));
  json_object_set_new(config, "time_limit", real(o->time_limit));
  json_object_set_new(config, "until_se", real(o->until_se));
  json_object_set_new(config, "paper", json_boolean(o->paper));
  json_object_set_new(config, "save_warmup", json_boolean(o->save_warmup));
}

tempera_status tm_config_json(const tempera_run_request *request,
                              const tempera_sampler *sampler, char **text,
                              tempera_error *error) {
  const tempera_options *options = tempera_sampler_options(sampler);
  const tempera_model *model = tempera_sampler_model(sampler);
  json_t *config = json_object();
  json_object_set_new(config, "version", json_string(TEMPERA_VERSION));
  json_object_set_new(config, "model", json_string(tempera_model_name(model)));
  json_object_set_new(config, "model_path", text_or_null(request->model_path));
  json_object_set_new(config, "model_hash", file_hash(request->model_path));
  json_object_set_new(config, "data_path", text_or_null(request->data_path));
  json_object_set_new(config, "data_hash", hex(request->data_hash));
  add_options(config, options);
  json_object_set_new(config, "init_path", text_or_null(request->init_path));
  char *dumped = json_dumps(config, JSON_INDENT(2));
  json_decref(config);
  char *made = dumped ? tm_heap_text(dumped) : NULL;
  free(dumped);
  if (!made)
    return tm_fail_memory(error);
  *text = made;
  return TEMPERA_OK;
}
