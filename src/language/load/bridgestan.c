/* bridgestan.c - see runtime/bridgestan.h: a compiled program behind
 * BridgeStan's C interface. Making one, its names, and its workers;
 * bridgestan_evaluate.c has the numbers.
 *
 * Clients may call from several threads with one model, but evaluating needs
 * scratch space: each call takes a worker from a pool and gives it back. */
#include "language/load/bridgestan_parts.h"

#include "base/text.h"
#include "language/load/load.h"
#include "language/load/maps.h"

#include <stdio.h>
#include <string.h>

/* ---- errors ------------------------------------------------------------- */

int tm_bs_fail(char **error, const char *function, const char *what) {
  tm_text text = {0};
  tm_text_printf(&text, "%s: %s", function, what);
  if (error)
    *error = tm_heap_text(text.failed ? "out of memory" : text.data);
  tm_text_clear(&text);
  return -1;
}

int tm_bs_fail_error(char **error, const char *function,
                     const tempera_error *problem) {
  char what[600];
  if (problem->line)
    snprintf(what, sizeof what, "line %d, column %d: %s", problem->line,
             problem->column, problem->message);
  else
    snprintf(what, sizeof what, "%s", problem->message);
  return tm_bs_fail(error, function, what);
}

void tempera_bs_free_text(char *text) { tm_heap_free(text); }

/* ---- workers ------------------------------------------------------------ */

static void worker_free(tm_bs_worker *w) {
  tm_evaluator_release(&w->evaluator);
  tm_arena_free(w->arena);
}

static tm_bs_worker *worker_new(const tempera_bs *bs) {
  const tempera_model *model = bs->model;
  size_t stan = bs->scale.size, ours = model->dimension;
  tm_arena *arena = tm_arena_create();
  tm_bs_worker *w = arena ? TM_NEW(arena, tm_bs_worker, 1) : NULL;
  if (w) {
    w->arena = arena;
    w->theta = TM_NEW(arena, double, model->size);
    w->natural = TM_NEW(arena, double, model->size);
    w->quantities = TM_NEW(arena, double, model->spec.quantity_count);
    w->u = TM_NEW(arena, double, 3 * stan + 2 * ours + model->size);
  }
  if (!w || !w->theta || !w->natural || !w->quantities || !w->u ||
      tm_evaluator_create(model, arena, &w->evaluator, NULL) != TEMPERA_OK) {
    tm_arena_free(arena);
    return NULL;
  }
  w->direction = w->u + stan;
  w->gradient = w->direction + stan;
  w->ours = w->gradient + stan;
  w->slope = w->ours + ours;
  w->room = w->slope + ours;
  return w;
}

tm_bs_worker *tm_bs_take(const tempera_bs *bs, const char *function,
                         char **error) {
  tempera_bs *b = (tempera_bs *)(uintptr_t)bs; /* the pool may change */
  pthread_mutex_lock(&b->lock);
  tm_bs_worker *w = b->idle;
  if (w)
    b->idle = w->next;
  pthread_mutex_unlock(&b->lock);
  w = w ? w : worker_new(b);
  if (!w)
    tm_bs_fail(error, function, "out of memory");
  return w;
}

void tm_bs_give_back(const tempera_bs *bs, tm_bs_worker *w) {
  tempera_bs *b = (tempera_bs *)(uintptr_t)bs;
  pthread_mutex_lock(&b->lock);
  w->next = b->idle;
  b->idle = w;
  pthread_mutex_unlock(&b->lock);
}

/* ---- names -------------------------------------------------------------- */

/* p[2] is p.2 and x[1,3] is x.1.3. */
static void add_name(tm_text *text, const char *name) {
  tm_text_add(text, text->length ? "," : "");
  for (const char *c = name; *c; c++)
    if (*c != ']')
      tm_text_add_bytes(text, *c == '[' || *c == ',' ? "." : c, 1);
}

static char *finished(tm_text *text) {
  tm_text_add(text, "");
  char *copy = text->failed ? NULL : tm_heap_text(text->data);
  tm_text_clear(text);
  return copy;
}

static char *join_names(const tempera_bs *b, bool tp, bool gq) {
  tm_text text = {0};
  const char *const *quantities = b->model->spec.quantity_names;
  for (size_t i = 0; i < b->model->size; i++)
    add_name(&text, b->model->names[i]);
  for (size_t i = 0; tp && i < b->transformed; i++)
    add_name(&text, quantities[i]);
  for (size_t i = 0; gq && i < b->generated; i++)
    add_name(&text, quantities[b->transformed + i]);
  return finished(&text);
}

/* Names by Stan's coordinate, growing. */
typedef struct name_list {
  const tempera_bs *bs;
  tm_arena *arena;
  char **names;
  bool failed;
} name_list;

static void put_name(name_list *list, long place, const char *name) {
  list->names[place] = tm_arena_text(list->arena, name);
  list->failed = list->failed || !list->names[place];
}

/* Coordinate i (from 0) of something, behind the first `root` bytes of a
 * name: x[3] or, for elements of arrays, x[2,3]. */
static void put_numbered(name_list *list, long place, const char *name,
                         size_t root, size_t i) {
  char numbered[300];
  snprintf(numbered, sizeof numbered, "%.*s%c%zu", (int)root, name,
           name[root] ? name[root] : '[', i + 1);
  put_name(list, place, numbered);
}

/* Where the indices behind the first `depth` begin. */
static size_t root_of(const char *name, int depth) {
  size_t root = strcspn(name, "[");
  for (; depth > 0 && name[root]; depth--)
    root += 1 + strcspn(name + root + 1, ",]");
  return root;
}

static void put_block_names(name_list *list, const tm_block *block) {
  char *const *names = list->bs->model->names + block->theta;
  const long *place = list->bs->scale.place + block->u;
  const tm_array_map *array = tm_map_array(block->map);
  bool equal = !array && block->u_count == block->theta_count;
  for (size_t i = 0; i < block->u_count; i++) {
    if (place[i] < 0)
      continue; /* of a unit vector */
    size_t each = array ? array->each.unconstrained_size : block->u_count;
    const char *name = equal   ? names[i]
                       : array ? names[array->element[i / each]]
                               : names[0];
    if (equal)
      put_name(list, place[i], name);
    else
      put_numbered(list, place[i], name,
                   root_of(name, array ? array->depth : 0), i % each);
  }
}

static char *join_unconstrained_names(const tempera_bs *b) {
  const tm_bs_scale *scale = &b->scale;
  tm_text text = {0};
  name_list list = {.bs = b, .arena = tm_arena_create()};
  list.names = list.arena ? TM_NEW(list.arena, char *, scale->size + 1) : NULL;
  list.failed = !list.names;
  for (size_t i = 0; !list.failed && i < b->model->block_count; i++)
    put_block_names(&list, &b->model->blocks[i]);
  for (size_t k = 0; !list.failed && k < scale->sphere_count; k++)
    for (size_t i = 0; i < scale->spheres[k].map->size; i++)
      put_name(&list, (long)(scale->spheres[k].stan + i),
               b->model->names[scale->spheres[k].theta +
                               i * scale->spheres[k].step]);
  for (size_t i = 0; !list.failed && i < scale->size; i++)
    add_name(&text, list.names[i]);
  text.failed = text.failed || list.failed;
  tm_arena_free(list.arena);
  return finished(&text);
}

static bool fill_names(tempera_bs *b) {
  tm_text info = {0};
  tm_text_printf(&info,
                 "Tempera " TEMPERA_VERSION "\nmodel %s\nSTAN_THREADS=true\n"
                 "constants are kept, also with propto\n",
                 b->model->spec.name);
  b->info = finished(&info);
  b->unconstrained_names = join_unconstrained_names(b);
  bool whole = b->info && b->unconstrained_names;
  for (int k = 0; k < 4; k++) {
    b->names[k / 2][k % 2] = join_names(b, k / 2, k % 2);
    whole = whole && b->names[k / 2][k % 2];
  }
  return whole;
}

const char *tempera_bs_name(const tempera_bs *bs) {
  return bs->model->spec.name;
}

const char *tempera_bs_info(const tempera_bs *bs) { return bs->info; }

const char *tempera_bs_names(const tempera_bs *bs, bool tp, bool gq) {
  return bs->names[tp][gq];
}

const char *tempera_bs_unconstrained_names(const tempera_bs *bs) {
  return bs->unconstrained_names;
}

int tempera_bs_size(const tempera_bs *bs, bool tp, bool gq) {
  return (int)(bs->model->size + (tp ? bs->transformed : 0) +
               (gq ? bs->generated : 0));
}

int tempera_bs_unconstrained_size(const tempera_bs *bs) {
  return (int)bs->scale.size;
}

/* ---- making one --------------------------------------------------------- */

static void print(void *context, const char *text, size_t size) {
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  const tempera_bs_print *callback = context;
  pthread_mutex_lock(&lock);
  if (*callback)
    (*callback)(text, size);
  else
    fwrite(text, 1, size, stdout);
  pthread_mutex_unlock(&lock);
}

static tempera_status read_data(const char *data, tempera_data **out,
                                tempera_error *error) {
  size_t length = data ? strlen(data) : 0;
  if (length > 5 && !strcmp(data + length - 5, ".json"))
    return tempera_data_read(data, out, error);
  return tempera_data_parse(length ? data : "{}", length ? length : 2, out,
                            error);
}

static tempera_status refuse_integers(const tempera_model *model,
                                      tempera_error *error) {
  for (size_t i = 0; i < model->block_count; i++)
    if (model->blocks[i].kind == TEMPERA_INTEGER)
      return tm_fail(error, TEMPERA_ERROR_MODEL,
                     "parameter %s is an integer, which BridgeStan's interface "
                     "has no place for",
                     model->names[model->blocks[i].theta]);
  return TEMPERA_OK;
}

static tempera_status load(const tm_entry *entry, const tempera_bs_print *where,
                           const char *text, unsigned seed,
                           tempera_model **model, tempera_error *error) {
  tempera_data *data = NULL;
  TM_TRY(read_data(text, &data, error));
  tm_load wanted = {.entry = entry,
                    .data = data,
                    .seed = seed,
                    .printer = {print, (void *)(uintptr_t)where}};
  tempera_status status = tm_load_program(&wanted, model, error);
  tempera_data_free(data);
  return status == TEMPERA_OK ? refuse_integers(*model, error) : status;
}

tempera_bs *tempera_bs_create(const tm_entry *entry,
                              const tempera_bs_print *where, const char *data,
                              unsigned seed, char **error) {
  tempera_error problem = {0};
  tempera_bs *b = tm_heap_alloc(1, sizeof *b);
  tempera_status status =
      !b || pthread_mutex_init(&b->lock, NULL) != 0
          ? tm_fail_memory(&problem)
          : load(entry, where, data, seed, &b->model, &problem);
  if (status == TEMPERA_OK) {
    b->transformed = tm_load_transformed(b->model);
    b->generated = b->model->spec.quantity_count - b->transformed;
    status = tm_bs_scale_build(b->model, &b->scale) && fill_names(b)
                 ? TEMPERA_OK
                 : tm_fail_memory(&problem);
  }
  if (status == TEMPERA_OK)
    return b;
  tm_bs_fail_error(error, "construct", &problem);
  tempera_bs_free(b);
  return NULL;
}

void tempera_bs_free(tempera_bs *bs) {
  if (!bs)
    return;
  for (tm_bs_worker *w = bs->idle, *next; w; w = next) {
    next = w->next;
    worker_free(w);
  }
  for (int k = 0; k < 4; k++)
    tm_heap_free(bs->names[k / 2][k % 2]);
  tm_heap_free(bs->unconstrained_names);
  tm_heap_free(bs->info);
  tm_bs_scale_clear(&bs->scale);
  tempera_model_free(bs->model);
  pthread_mutex_destroy(&bs->lock);
  tm_heap_free(bs);
}

tempera_bs_rng *tempera_bs_rng_create(unsigned seed, char **error) {
  tempera_bs_rng *rng = tm_heap_alloc(1, sizeof *rng);
  if (rng)
    rng->stream = tm_random(seed, 0, TM_PURPOSE_QUANTITIES);
  else
    tm_bs_fail(error, "construct_rng", "out of memory");
  return rng;
}

void tempera_bs_rng_free(tempera_bs_rng *rng) { tm_heap_free(rng); }
