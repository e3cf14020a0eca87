/* emit_tuple.c - tuples as values: a struct for every type of tuple, the same
 * with and without derivatives. */
#include "language/emit/emit.h"

#include <stdio.h>

static tm_type item_type(tm_type type, size_t i) {
  tm_type item = type.tuple->items[i];
  return tm_type_at(item, item.depth + type.depth);
}

static tm_held held_in_struct(tm_type type) {
  if (type.base == TM_TUPLE)
    return TM_STRUCT;
  if (tm_rank(type) > 0)
    return TM_TENSOR;
  return type.base == TM_INT ? TM_LONG : TM_VAR;
}

/* The number of a type's struct; what it holds comes before it. */
static size_t struct_number(tm_emitter *g, tm_type type) {
  for (size_t i = 0; i < g->tuples.count; i++)
    if (tm_type_equal(*(tm_type *)g->tuples.items[i], type))
      return i;
  for (size_t i = 0; i < type.tuple->count; i++)
    if (item_type(type, i).base == TM_TUPLE)
      (void)struct_number(g, item_type(type, i));
  tm_type *copy = TM_NEW(g->arena, tm_type, 1);
  if (!copy || !tm_list_add(g->arena, &g->tuples, copy)) {
    g->body.failed = true;
    return 0;
  }
  *copy = type;
  return g->tuples.count - 1;
}

const char *tm_c_type(tm_emitter *g, tm_type type, tm_held held) {
  if (held != TM_STRUCT)
    return tm_held_name(held);
  char name[32];
  snprintf(name, sizeof name, "tuple_%zu", struct_number(g, type));
  const char *copy = tm_arena_text(g->arena, name);
  g->body.failed = g->body.failed || !copy;
  return copy ? copy : "";
}

static size_t number_of(const tm_emitter *g, tm_type type) {
  size_t i = 0;
  while (!tm_type_equal(*(tm_type *)g->tuples.items[i], type))
    i++;
  return i;
}

void tm_emit_tuple_types(const tm_emitter *g, tm_text *text) {
  for (size_t i = 0; i < g->tuples.count; i++) {
    tm_type type = *(tm_type *)g->tuples.items[i];
    tm_text_add(text, "typedef struct {");
    for (size_t k = 0; k < type.tuple->count; k++) {
      tm_type item = item_type(type, k);
      if (item.base == TM_TUPLE)
        tm_text_printf(text, " tuple_%zu m%zu;", number_of(g, item), k + 1);
      else
        tm_text_printf(text, " %s m%zu;", tm_held_name(held_in_struct(item)),
                       k + 1);
    }
    tm_text_printf(text, " } tuple_%zu;\n", i);
  }
}

void tm_emit_tuple(tm_emitter *g, const tm_expression *e, tm_type type) {
  tm_emit(g, "((%s){", tm_c_type(g, type, TM_STRUCT));
  for (size_t i = 0; i < e->part_count; i++) {
    tm_type item = item_type(type, i);
    tm_held held = held_in_struct(item);
    tm_emit(g, i ? ", " : "");
    if (held == TM_VAR)
      tm_emit_kept(g, e->parts[i], held);
    else
      tm_emit_given(g, e->parts[i], item, held);
  }
  tm_emit(g, "})");
}

void tm_emit_taken(tm_emitter *g, tm_held held, size_t *at) {
  static const char *const forms[][2] = {
      [TM_LONG] = {"a[", "].u.i"},
      [TM_DOUBLE] = {"tm_as_var(&a[", "]).v"},
      [TM_VAR] = {"tm_as_var(&a[", "])"},
      [TM_TENSOR] = {"a[", "].u.t"}};
  tm_emit(g, "%s%zu%s", forms[held][0], (*at)++, forms[held][1]);
}

void tm_emit_gathered(tm_emitter *g, tm_type type, size_t *at) {
  tm_emit(g, "((%s){", tm_c_type(g, type, TM_STRUCT));
  for (size_t i = 0; i < type.tuple->count; i++) {
    tm_type item = item_type(type, i);
    tm_emit(g, i ? ", " : "");
    if (item.base == TM_TUPLE)
      tm_emit_gathered(g, item, at);
    else
      tm_emit_taken(g, held_in_struct(item), at);
  }
  tm_emit(g, "})");
}

void tm_emit_project(tm_emitter *g, const tm_expression *e) {
  tm_emit(g, "(");
  tm_emit_expression(g, e->parts[0]);
  tm_emit(g, ").m%lld%s", (long long)e->whole,
          tm_held_of(g, e) == TM_DOUBLE ? ".v" : "");
}

static void emit_widened(tm_emitter *g, const char *item, tm_held held) {
  tm_emit(g, "F[%zu](t, (tm_any[]){%s(%s%s)}, 1).u.t",
          tm_emit_call_number(g, "operator=", "R"),
          held == TM_TENSOR ? "tm_any_tensor"
          : held == TM_LONG ? "tm_any_int"
                            : "tm_any_var",
          item, held == TM_TENSOR ? ", 0" : "");
}

/* The struct at `path` as one of another type: ints for reals, and either for
 * complex numbers. */
static void emit_converted(tm_emitter *g, const char *path, tm_type from,
                           tm_type to) {
  tm_emit(g, "((%s){", tm_c_type(g, to, TM_STRUCT));
  for (size_t i = 0; i < to.tuple->count; i++) {
    tm_type a = item_type(from, i), b = item_type(to, i);
    char item[256];
    snprintf(item, sizeof item, "%s.m%zu", path, i + 1);
    tm_emit(g, i ? ", " : "");
    if (a.base == TM_TUPLE && !tm_type_equal(a, b))
      emit_converted(g, item, a, b);
    else if (tm_is_complex(b) && !tm_is_complex(a))
      emit_widened(g, item, held_in_struct(a));
    else if (held_in_struct(a) == TM_LONG && held_in_struct(b) == TM_VAR)
      tm_emit(g, "tm_constant((double)%s)", item);
    else
      tm_emit(g, "%s", item);
  }
  tm_emit(g, "})");
}

void tm_emit_given(tm_emitter *g, const tm_expression *e, tm_type type,
                   tm_held held) {
  if (held != TM_STRUCT) {
    tm_emit_as(g, e, held);
  } else if (e->kind == TM_E_TUPLE) {
    bool gradient = g->gradient;
    g->gradient = gradient && e->level == TM_LEVEL_PARAMETER;
    tm_emit_tuple(g, e, type);
    g->gradient = gradient;
  } else if (tm_type_equal(e->type, type)) {
    tm_emit_expression(g, e);
  } else {
    tm_emit(g, "({ %s s_ = ", tm_c_type(g, e->type, TM_STRUCT));
    tm_emit_expression(g, e);
    tm_emit(g, "; ");
    emit_converted(g, "s_", e->type, type);
    tm_emit(g, "; })");
  }
}
