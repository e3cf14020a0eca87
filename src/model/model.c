/* model.c - from the caller's spec to a laid-out, self-contained model. */
#include "model/batch.h"
#include "model/calls.h"

#include "base/sized.h"

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Names are columns of files and words on terminals. */
static bool is_printable(const char *name) {
  for (; *name; name++)
    if ((unsigned char)*name < ' ' || *name == 0x7f)
      return false;
  return true;
}

static tempera_status check_parameter(const tempera_parameter *p, size_t i,
                                      tempera_error *error) {
  if (!p->name || !p->name[0])
    return tm_fail(error, TEMPERA_ERROR_ARGUMENT, "parameter %zu has no name",
                   i + 1);
  if (!is_printable(p->name))
    return tm_fail(error, TEMPERA_ERROR_ARGUMENT,
                   "the name of parameter %zu has control characters", i + 1);
  if (p->transform == TEMPERA_SIMPLEX &&
      (p->kind != TEMPERA_REAL || p->size < 2))
    return tm_fail(error, TEMPERA_ERROR_ARGUMENT,
                   "parameter %s: a simplex is real and has at least 2 values",
                   p->name);
  if (p->transform == TEMPERA_MAPPED)
    return p->map ? TEMPERA_OK
                  : tm_fail(error, TEMPERA_ERROR_ARGUMENT,
                            "parameter %s: its map is missing", p->name);
  if (p->transform != TEMPERA_SIMPLEX && !(p->lower < p->upper) &&
      !(p->kind == TEMPERA_INTEGER && p->lower == p->upper))
    return tm_fail(error, TEMPERA_ERROR_ARGUMENT,
                   "parameter %s: lower bound %g is not below upper bound %g",
                   p->name, p->lower, p->upper);
  return TEMPERA_OK;
}

static tempera_status check_spec(const tempera_model_spec *spec,
                                 tempera_error *error) {
  if (!spec->name || !(spec->log_likelihood || spec->log_likelihood_batch) ||
      !(spec->log_prior ||
        (spec->log_likelihood_batch && spec->log_prior_batch)))
    return tm_fail(error, TEMPERA_ERROR_ARGUMENT,
                   "a model needs a name, log_likelihood and log_prior");
  const char *refused =
      spec->log_likelihood_batch ? tm_batch_refuse(spec) : NULL;
  if (refused)
    return tm_fail(error, TEMPERA_ERROR_ARGUMENT, "model %s: %s", spec->name,
                   refused);
  if (!spec->parameters || spec->parameter_count == 0)
    return tm_fail(error, TEMPERA_ERROR_ARGUMENT, "model %s has no parameters",
                   spec->name);
  if (spec->quantity_count && (!spec->quantities || !spec->quantity_names))
    return tm_fail(error, TEMPERA_ERROR_ARGUMENT,
                   "model %s: its quantities need names and a function",
                   spec->name);
  for (size_t i = 0; i < spec->quantity_count; i++)
    if (!is_printable(spec->quantity_names[i]))
      return tm_fail(error, TEMPERA_ERROR_ARGUMENT,
                     "the name of quantity %zu has control characters", i + 1);
  for (size_t i = 0; i < spec->parameter_count; i++)
    TM_TRY(check_parameter(&spec->parameters[i], i, error));
  return TEMPERA_OK;
}

/* A copy of n items in the arena; NULL stays NULL. */
static const void *copied(tm_arena *arena, const void *items, size_t count,
                          size_t size, bool *failed) {
  if (!items || count == 0)
    return NULL;
  void *copy = tm_arena_alloc(arena, count, size);
  if (!copy) {
    *failed = true;
    return NULL;
  }
  return memcpy(copy, items, count * size);
}

/* A block's map and value names. */
static bool copy_details(tm_arena *arena, tempera_parameter *p) {
  bool failed = false;
  p->map = copied(arena, p->map, 1, sizeof *p->map, &failed);
  const char *const *from = p->value_names;
  if (!from || failed)
    return !failed;
  const char **names = TM_NEW(arena, const char *, p->size);
  for (size_t i = 0; names && i < p->size; i++) {
    names[i] = tm_arena_text(arena, from[i]);
    failed = failed || !names[i];
  }
  p->value_names = names;
  return names && !failed;
}

static bool copy_parameters(tempera_model *model,
                            const tempera_model_spec *spec) {
  tempera_parameter *copy =
      TM_NEW(model->arena, tempera_parameter, spec->parameter_count);
  if (!copy)
    return false;
  for (size_t i = 0; i < spec->parameter_count; i++) {
    copy[i] = spec->parameters[i];
    copy[i].name = tm_arena_text(model->arena, spec->parameters[i].name);
    if (!copy[i].name || !copy_details(model->arena, &copy[i]))
      return false;
  }
  model->spec.parameters = copy;
  return true;
}

static bool copy_recipe(tempera_model *model, const tempera_recipe *recipe) {
  bool failed = false;
  tempera_recipe *copy = TM_NEW(model->arena, tempera_recipe, 1);
  if (!copy)
    return false;
  *copy = *recipe;
  copy->proposals =
      copied(model->arena, recipe->proposals, recipe->proposal_count,
             sizeof *recipe->proposals, &failed);
  copy->start =
      copied(model->arena, recipe->start, model->size, sizeof(double), &failed);
  model->spec.recipe = copy;
  return !failed;
}

static void lay_out_block(const tempera_parameter *p, tm_block *block,
                          size_t *theta, size_t *u) {
  size_t count = p->size ? p->size : 1;
  bool simplex = p->transform == TEMPERA_SIMPLEX;
  *block = (tm_block){.theta = *theta,
                      .theta_count = count,
                      .u = *u,
                      .u_count = simplex ? count - 1 : count,
                      .kind = p->kind,
                      .transform = p->transform,
                      .lower = simplex ? 0 : p->lower,
                      .upper = simplex ? 1 : p->upper,
                      .map = p->map};
  if (p->transform == TEMPERA_MAPPED) {
    block->u_count = p->map->unconstrained_size;
    block->lower = (double)-INFINITY;
    block->upper = (double)INFINITY;
  }
  block->form = tm_form_of(block);
  *theta += count;
  *u += block->u_count;
}

static bool name_values(tempera_model *model) {
  model->names = TM_NEW(model->arena, char *, model->size);
  if (!model->names)
    return false;
  for (size_t b = 0; b < model->block_count; b++) {
    const tempera_parameter *p = &model->spec.parameters[b];
    for (size_t i = 0; i < model->blocks[b].theta_count; i++) {
      size_t room = strlen(p->name) + 24;
      char *name = p->value_names
                       ? tm_arena_text(model->arena, p->value_names[i])
                       : TM_NEW(model->arena, char, room);
      if (!name)
        return false;
      if (p->size && !p->value_names)
        snprintf(name, room, "%s[%zu]", p->name, i + 1);
      else if (!p->value_names)
        snprintf(name, room, "%s", p->name);
      model->names[model->blocks[b].theta + i] = name;
    }
  }
  return true;
}

static bool lay_out(tempera_model *model) {
  size_t count = model->spec.parameter_count;
  model->block_count = count;
  model->blocks = TM_NEW(model->arena, tm_block, count);
  if (!model->blocks)
    return false;
  for (size_t b = 0; b < count; b++)
    lay_out_block(&model->spec.parameters[b], &model->blocks[b], &model->size,
                  &model->dimension);
  model->plain = true;
  for (size_t b = 0; b < count; b++) {
    const tm_block *block = &model->blocks[b];
    model->plain &= !block->map && block->kind == TEMPERA_REAL;
    model->dependent |= block->map && block->map->pull_earlier;
  }
  model->block_of_u = TM_NEW(model->arena, size_t, model->dimension);
  model->integer = TM_NEW(model->arena, bool, model->dimension);
  if (!model->block_of_u || !model->integer)
    return false;
  for (size_t b = 0; b < count; b++)
    for (size_t i = 0; i < model->blocks[b].u_count; i++) {
      size_t j = model->blocks[b].u + i;
      model->block_of_u[j] = b;
      model->integer[j] = model->blocks[b].kind == TEMPERA_INTEGER;
      model->real_dimension += !model->integer[j];
    }
  return name_values(model);
}

static bool copy_quantities(tempera_model *model,
                            const tempera_model_spec *spec) {
  if (!spec->quantity_count)
    return true;
  const char **names = TM_NEW(model->arena, const char *, spec->quantity_count);
  for (size_t i = 0; names && i < spec->quantity_count; i++) {
    names[i] = tm_arena_text(model->arena, spec->quantity_names[i]);
    if (!names[i])
      return false;
  }
  model->spec.quantity_names = names;
  return names != NULL;
}

static bool build(tempera_model *model, const tempera_model_spec *spec) {
  bool failed = false;
  model->spec = *spec;
  model->spec.name = tm_arena_text(model->arena, spec->name);
  model->spec.gibbs = copied(model->arena, spec->gibbs, spec->gibbs_count,
                             sizeof *spec->gibbs, &failed);
  return model->spec.name && !failed && copy_parameters(model, spec) &&
         lay_out(model) && copy_quantities(model, spec) &&
         (!spec->recipe || copy_recipe(model, spec->recipe)) &&
         (!spec->log_likelihood_batch || tm_batch_install(model));
}

tempera_status tempera_model_create_sized(const tempera_model_spec *given,
                                          size_t size, tempera_model **model,
                                          tempera_error *error) {
  tempera_model_spec known = {0};
  const tempera_model_spec *spec = &known;
  TM_TRY(tm_sized_take(&known, sizeof known, given, size, error));
  TM_TRY(check_spec(spec, error));
  tm_arena *arena;
  tempera_model *made = TM_BEGIN(&arena, tempera_model);
  if (made)
    made->arena = arena;
  if (!made || !build(made, spec)) {
    tm_arena_free(arena);
    return tm_fail_memory(error);
  }
  *model = made;
  return TEMPERA_OK;
}

void tempera_model_free(tempera_model *model) {
  if (!model)
    return;
  if (model->spec.release)
    model->spec.release(model->spec.user);
  void *library = model->library;
  tm_arena_free(model->arena);
  tm_library_close(library);
}

/* C models need not be linked with this library: the command has its functions
 * for all. One that an interpreter has loaded shows them to nobody until it is
 * told to. */
static void show_own_functions(void) {
  Dl_info own;
  if (dladdr((void *)(uintptr_t)tm_library_open, &own) && own.dli_fname)
    (void)dlopen(own.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_GLOBAL);
}

/* What a library does by itself when it comes and goes is the model's doing. */
static const double nowhere;

void *tm_library_open(const char *path) {
  char local[4096];
  snprintf(local, sizeof local, "./%s", path);
  const char *place = strchr(path, '/') ? path : local;
  tm_call coming = {0};
  tm_call *outer = tm_call_begin(&coming, "dlopen", &nowhere);
  void *library = dlopen(place, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    show_own_functions();
    library = dlopen(place, RTLD_NOW | RTLD_LOCAL);
  }
  tm_call_end(&coming, outer);
  return library;
}

void tm_library_close(void *library) {
  tm_call going = {0};
  if (!library)
    return;
  tm_call *outer = tm_call_begin(&going, "dlclose", &nowhere);
  dlclose(library);
  tm_call_end(&going, outer);
}

/* What the library exports, if it was built for this interface. */
static tempera_status find_open(void *library, const char *path,
                                tempera_model_open_fn *open,
                                tempera_error *error) {
  *(void **)open = dlsym(library, "tempera_model_open");
  const unsigned *abi = dlsym(library, "tempera_model_abi");
  if (!*open)
    return tm_fail(error, TEMPERA_ERROR_INPUT,
                   "%s does not export tempera_model_open; build it against "
                   "tempera.h as docs/guide.md shows",
                   path);
  if (!abi)
    return tm_fail(error, TEMPERA_ERROR_INPUT,
                   "%s does not say which interface it was built for; put "
                   "TEMPERA_DECLARE_MODEL; before tempera_model_open and build "
                   "it again",
                   path);
  if (*abi != TEMPERA_MODEL_ABI)
    return tm_fail(error, TEMPERA_ERROR_INPUT,
                   "%s was built for interface %u of models, and Tempera %s "
                   "has %u; build it again with this tempera.h",
                   path, *abi, TEMPERA_VERSION, TEMPERA_MODEL_ABI);
  return TEMPERA_OK;
}

static tempera_status load_library(const char *path, const tempera_data *data,
                                   tempera_model **model,
                                   tempera_error *error) {
  void *library = tm_library_open(path);
  if (!library)
    return tm_fail(error, TEMPERA_ERROR_INPUT, "cannot load the model: %s",
                   dlerror());
  tempera_model_open_fn open = NULL;
  tempera_error inner = {0};
  tempera_status found = find_open(library, path, &open, error);
  if (found != TEMPERA_OK) {
    tm_library_close(library);
    return found;
  }
  tempera_model *made = NULL;
  tempera_status status = open(data, &made, &inner);
  if (status != TEMPERA_OK || !made) {
    tm_library_close(library);
    if (error)
      *error = inner;
    return status != TEMPERA_OK
               ? status
               : tm_fail(error, TEMPERA_ERROR_MODEL,
                         "%s: tempera_model_open gave no model", path);
  }
  made->library = library;
  *model = made;
  return TEMPERA_OK;
}

/* A crash while it is opened is the model's, too. */
tempera_status tm_model_load_library(const char *path, const tempera_data *data,
                                     tempera_model **model,
                                     tempera_error *error) {
  tm_call opening = {0};
  tm_call *outer = tm_call_begin(&opening, "tempera_model_open", &nowhere);
  tempera_status status = load_library(path, data, model, error);
  tm_call_end(&opening, outer);
  return status;
}

const char *tempera_model_name(const tempera_model *model) {
  return model->spec.name;
}

size_t tempera_model_size(const tempera_model *model) { return model->size; }

size_t tempera_model_unconstrained_size(const tempera_model *model) {
  return model->dimension;
}

const char *tempera_model_value_name(const tempera_model *model, size_t i) {
  return i < model->size ? model->names[i] : NULL;
}

const tempera_model_spec *tempera_model_spec_of(const tempera_model *model) {
  return &model->spec;
}
