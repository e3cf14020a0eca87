/* emitter.c - the emitter itself: its text, how values are held in C, and the
 * library's functions by number. */
#include "language/emit/emit.h"

#include "base/locale.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void tm_emit(tm_emitter *g, const char *format, ...) {
  char buffer[1024];
  va_list arguments;
  va_start(arguments, format);
  tm_vsnprintf(buffer, sizeof buffer, format, arguments);
  va_end(arguments);
  tm_text_add(&g->body, buffer);
}

void tm_emit_line(tm_emitter *g, const char *format, ...) {
  char buffer[1024];
  va_list arguments;
  va_start(arguments, format);
  tm_vsnprintf(buffer, sizeof buffer, format, arguments);
  va_end(arguments);
  tm_emit(g, "%*s", 2 * g->indent, "");
  tm_text_add(&g->body, buffer);
  tm_text_add(&g->body, "\n");
}

tm_held tm_held_type(const tm_emitter *g, tm_type type, tm_level level) {
  if (type.base == TM_TUPLE)
    return TM_STRUCT;
  if (tm_rank(type) > 0)
    return TM_TENSOR;
  if (type.base == TM_INT)
    return TM_LONG;
  return g->gradient && level == TM_LEVEL_PARAMETER ? TM_VAR : TM_DOUBLE;
}

tm_held tm_held_of(const tm_emitter *g, const tm_expression *e) {
  return tm_held_type(g, e->type, e->level);
}

const char *tm_held_name(tm_held held) {
  static const char *const names[] = {"long", "double", "tm_var", "tm_tensor",
                                      "?"};
  return names[held];
}

tm_held tm_held_variable(const tm_emitter *g, const tm_variable *v) {
  bool data = v->block == TM_BLOCK_DATA ||
              v->block == TM_BLOCK_TRANSFORMED_DATA || v->data_only;
  return tm_held_type(g, v->type, data ? TM_LEVEL_DATA : TM_LEVEL_PARAMETER);
}

/* The place of `key` in a growing list. */
static size_t number_of(tm_emitter *g, const char ***list, size_t *count,
                        size_t *capacity, const char *key) {
  for (size_t i = 0; i < *count; i++)
    if (!strcmp((*list)[i], key))
      return i;
  if (*count == *capacity) {
    size_t more = *capacity ? 2 * *capacity : 64;
    const char **bigger = TM_NEW(g->arena, const char *, more);
    if (!bigger) {
      g->body.failed = true;
      return 0;
    }
    if (*count)
      memcpy(bigger, *list, *count * sizeof *bigger);
    *list = bigger;
    *capacity = more;
  }
  const char *copy = tm_arena_text(g->arena, key);
  if (!copy) {
    g->body.failed = true;
    return 0;
  }
  (*list)[*count] = copy;
  return (*count)++;
}

size_t tm_emit_call_number(tm_emitter *g, const char *name,
                           const char *signature) {
  char key[256];
  snprintf(key, sizeof key, "%s\", \"%s", name, signature);
  return number_of(g, &g->calls, &g->call_count, &g->call_capacity, key);
}

/* The same for the table K of univariate densities. */
size_t tm_emit_kernel_number(tm_emitter *g, const char *name) {
  char key[128];
  snprintf(key, sizeof key, "%.*s", (int)strlen(name) - 5, name);
  return number_of(g, &g->kernels, &g->kernel_count, &g->kernel_capacity, key);
}

void tm_emit_place(tm_emitter *g, const tm_token *token) {
  char place[TM_PLACE];
  tm_emit(g, "\"%s\"", tm_place_text(token, place));
}
