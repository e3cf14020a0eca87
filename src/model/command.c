/* command.c - any program as a model: its workers get the points that chains
 * wait for, several at a time. */
#include "base/memory.h"
#include "base/sized.h"
#include "model/model.h"
#include "model/worker.h"
#include "parallel/threads.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Priors and likelihoods come back together, but are asked for one after the
 * other, first the prior: so many likelihoods are remembered meanwhile. */
enum { REMEMBERED = 1024, MOST_WORKERS = 256 };

typedef struct command_model {
  tm_arena *arena;
  tm_workplace place;
  tm_worker *workers;
  size_t worker_count;
  double *theta, *likelihood; /* remembered */
  size_t next, remembered;
  char why[TM_WHY];
} command_model;

/* ---- points to workers -----------------------------------------------------
 */

/* The next points for a worker that is free: one, or its share of a batch. */
static size_t share_of(const command_model *m, size_t left, size_t free_ones) {
  return m->place.batch ? (left + free_ones - 1) / free_ones : 1;
}

/* Give out points while somebody is free; workers are started as needed. */
static bool give_out(command_model *m, const double *theta, size_t count,
                     size_t *given) {
  for (size_t i = 0; i < m->worker_count && *given < count; i++) {
    tm_worker *w = &m->workers[i];
    if (w->expected)
      continue;
    if (!w->child && !tm_worker_start(w, i + 1, &m->place, m->why))
      return false;
    size_t some = share_of(m, count - *given, m->worker_count - i);
    if (!tm_worker_ask(w, &m->place, theta, *given, some, m->why))
      return false;
    *given += some;
  }
  return true;
}

static bool busy(const command_model *m) {
  for (size_t i = 0; i < m->worker_count; i++)
    if (m->workers[i].expected)
      return true;
  return false;
}

static bool exchange(command_model *m, const double *theta, size_t count,
                     double *likelihood, double *prior) {
  size_t given = 0;
  if (m->why[0])
    return false; /* who failed once is not asked again */
  while (given < count || busy(m))
    if (!give_out(m, theta, count, &given) ||
        !tm_workers_hear(m->workers, m->worker_count, &m->place, likelihood,
                         prior, m->why))
      return false;
  return true;
}

/* ---- callbacks -------------------------------------------------------------
 */

static void remember(command_model *m, const double *theta, double value) {
  size_t size = m->place.size;
  memcpy(m->theta + m->next * size, theta, size * sizeof(double));
  m->likelihood[m->next] = value;
  m->next = (m->next + 1) % REMEMBERED;
  m->remembered += m->remembered < REMEMBERED;
}

/* The latest first. */
static bool recall(const command_model *m, const double *theta, double *value) {
  size_t size = m->place.size;
  for (size_t k = 1; k <= m->remembered; k++) {
    size_t i = (m->next + REMEMBERED - k) % REMEMBERED;
    if (memcmp(m->theta + i * size, theta, size * sizeof(double)) == 0) {
      *value = m->likelihood[i];
      return true;
    }
  }
  return false;
}

static int ask_priors(const double *theta, size_t count, double *values,
                      double *gradients, void *user) {
  (void)gradients;
  command_model *m = user;
  double *likelihood = tm_heap_alloc(count, sizeof(double));
  bool fine = likelihood && exchange(m, theta, count, likelihood, values);
  for (size_t i = 0; fine && i < count; i++)
    remember(m, theta + i * m->place.size, likelihood[i]);
  tm_heap_free(likelihood);
  return fine ? 0 : -1;
}

static int ask_likelihoods(const double *theta, size_t count, double *values,
                           double *gradients, void *user) {
  (void)gradients;
  command_model *m = user;
  double again;
  for (size_t i = 0; i < count; i++) {
    const double *point = theta + i * m->place.size;
    if (!recall(m, point, &values[i]) &&
        !exchange(m, point, 1, &values[i], &again))
      return -1;
  }
  return 0;
}

static const char *reason(const void *user) {
  const command_model *m = user;
  return m->why[0] ? m->why : NULL;
}

static void release(void *user) {
  command_model *m = user;
  for (size_t i = 0; i < m->worker_count; i++)
    tm_worker_dismiss(&m->workers[i]); /* all, before any is waited for */
  for (size_t i = 0; i < m->worker_count; i++)
    tm_worker_end(&m->workers[i]);
  tm_arena_free(m->arena);
}

/* ---- making it -------------------------------------------------------------
 */

/* Of all values, separated by spaces. */
static const char *list_names(tm_arena *arena, const tempera_parameter *blocks,
                              size_t count) {
  tm_text text = {0};
  for (size_t b = 0; b < count; b++)
    for (size_t i = 0; i < (blocks[b].size ? blocks[b].size : 1); i++) {
      tm_text_add(&text, b || i ? " " : "");
      if (blocks[b].value_names)
        tm_text_add(&text, blocks[b].value_names[i]);
      else if (blocks[b].size)
        tm_text_printf(&text, "%s[%zu]", blocks[b].name, i + 1);
      else
        tm_text_add(&text, blocks[b].name);
    }
  char *names =
      text.failed || !text.data ? NULL : tm_arena_text(arena, text.data);
  tm_text_clear(&text);
  return names;
}

static command_model *make_user(const tempera_command *command,
                                const tempera_parameter *blocks, size_t count) {
  tm_arena *arena;
  command_model *m = TM_BEGIN(&arena, command_model);
  if (!m)
    return NULL;
  m->arena = arena;
  for (size_t b = 0; b < count; b++)
    m->place.size += blocks[b].size ? blocks[b].size : 1;
  m->place.command = tm_arena_text(arena, command->command);
  m->place.names = list_names(arena, blocks, count);
  m->place.timeout = command->timeout;
  m->place.batch = command->batch;
  m->worker_count = command->workers ? command->workers : (size_t)tm_threads(0);
  m->workers = TM_NEW(arena, tm_worker, m->worker_count);
  m->theta = TM_NEW(arena, double, REMEMBERED * m->place.size);
  m->likelihood = TM_NEW(arena, double, REMEMBERED);
  if (!m->place.command || !m->place.names || !m->workers || !m->theta ||
      !m->likelihood) {
    tm_arena_free(arena);
    return NULL;
  }
  for (size_t i = 0; i < m->worker_count; i++)
    m->workers[i] = (tm_worker){.to = -1, .from = -1, .words = -1};
  return m;
}

/* The program's own name, without folders. */
static const char *base_name(const char *command, char *name, size_t room) {
  command += strspn(command, " \t\n");
  size_t length = strcspn(command, " \t\n");
  size_t start = length;
  while (start > 0 && command[start - 1] != '/')
    start--;
  snprintf(name, room, "%.*s", (int)(length - start), command + start);
  return *name ? name : "command";
}

static tempera_status check_command(const tempera_command *c,
                                    tempera_error *error) {
  if (!c->command || !c->command[0] || !c->parameters)
    return tm_fail(error, TEMPERA_ERROR_ARGUMENT,
                   "a command and its parameters are needed");
  if (c->workers > MOST_WORKERS)
    return tm_fail(error, TEMPERA_ERROR_ARGUMENT, "at most %d workers",
                   MOST_WORKERS);
  if (!(c->timeout >= 0))
    return tm_fail(error, TEMPERA_ERROR_ARGUMENT,
                   "the time to wait for an answer must not be negative");
  return TEMPERA_OK;
}

tempera_status tempera_command_model_sized(const tempera_command *given,
                                           size_t size, tempera_model **model,
                                           tempera_error *error) {
  tempera_command c = {0};
  char name[64];
  size_t count = 0;
  TM_TRY(tm_sized_take(&c, sizeof c, given, size, error));
  TM_TRY(check_command(&c, error));
  const tempera_parameter *blocks =
      tempera_parameters_blocks(c.parameters, &count);
  command_model *m = make_user(&c, blocks, count);
  if (!m)
    return tm_fail_memory(error);
  const tempera_model_spec spec = {.name =
                                       base_name(c.command, name, sizeof name),
                                   .parameters = blocks,
                                   .parameter_count = count,
                                   .log_likelihood_batch = ask_likelihoods,
                                   .log_prior_batch = ask_priors,
                                   .prior_normalised = c.prior_normalised,
                                   .prior_improper = c.prior_improper,
                                   .user = m,
                                   .release = release,
                                   .reason = reason};
  tempera_status status = tempera_model_create(&spec, model, error);
  if (status != TEMPERA_OK)
    release(m);
  return status;
}
