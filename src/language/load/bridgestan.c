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

static tm_bs_worker *worker_new(const tempera_model *model) {
  tm_arena *arena = tm_arena_create();
  tm_bs_worker *w = arena ? TM_NEW(arena, tm_bs_worker, 1) : NULL;
  if (w) {
    w->arena = arena;
    w->theta = TM_NEW(arena, double, model->size);
    w->natural = TM_NEW(arena, double, model->size);
    w->quantities = TM_NEW(arena, double, model->spec.quantity_count);
    w->u = TM_NEW(arena, double, model->dimension);
    w->direction = TM_NEW(arena, double, model->dimension);
    w->gradient = TM_NEW(arena, double, model->dimension);
  }
  if (!w || !w->theta || !w->natural || !w->quantities || !w->u ||
      !w->direction || !w->gradient ||
      tm_evaluator_create(model, arena, &w->evaluator, NULL) != TEMPERA_OK) {
    tm_arena_free(arena);
    return NULL;
  }
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
  w = w ? w : worker_new(b->model);
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

/* `count` numbered coordinates behind the first `root` bytes of a name. */
static void add_numbered(tm_text *text, const char *name, size_t root,
                         size_t count) {
  for (size_t i = 0; i < count; i++) {
    char numbered[300];
    snprintf(numbered, sizeof numbered, "%.*s%c%zu", (int)root, name,
             name[root] ? name[root] : '[', i + 1);
    add_name(text, numbered);
  }
}

/* Where the indices behind the first `depth` begin. */
static size_t root_of(const char *name, int depth) {
  size_t root = strcspn(name, "[");
  for (; depth > 0 && name[root]; depth--)
    root += 1 + strcspn(name + root + 1, ",]");
  return root;
}

/* The block's names where it has as many coordinates as values, else numbers
 * behind its root and, for elements of arrays, their indices. */
static void add_block_names(tm_text *text, const tempera_model *model,
                            const tm_block *block) {
  char *const *names = model->names + block->theta;
  const tm_array_map *array = tm_map_array(block->map);
  if (array)
    for (size_t e = 0; e < array->count; e++) {
      const char *name = names[array->element[e]];
      add_numbered(text, name, root_of(name, array->depth),
                   array->each.unconstrained_size);
    }
  else if (block->u_count == block->theta_count)
    for (size_t i = 0; i < block->u_count; i++)
      add_name(text, names[i]);
  else
    add_numbered(text, names[0], root_of(names[0], 0), block->u_count);
}

static char *join_unconstrained_names(const tempera_model *model) {
  tm_text text = {0};
  for (size_t i = 0; i < model->block_count; i++)
    add_block_names(&text, model, &model->blocks[i]);
  return finished(&text);
}

static bool fill_names(tempera_bs *b) {
  tm_text info = {0};
  tm_text_printf(&info,
                 "Tempera " TEMPERA_VERSION "\nmodel %s\nSTAN_THREADS=true\n"
                 "constants are kept, also with propto\n",
                 b->model->spec.name);
  b->info = finished(&info);
  b->unconstrained_names = join_unconstrained_names(b->model);
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
  return (int)bs->model->dimension;
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
    status = fill_names(b) ? TEMPERA_OK : tm_fail_memory(&problem);
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
