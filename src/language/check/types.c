/* types.c - types: names, promotion, ranks. */
#include "language/check/types.h"

#include <stdio.h>

tm_type tm_type_of(tm_base base, int depth) {
  return (tm_type){.base = base, .depth = depth};
}

tm_type tm_type_at(tm_type type, int depth) {
  type.depth = depth;
  return type;
}

static bool tuples_match(const tm_tuple *a, const tm_tuple *b,
                         bool (*match)(tm_type, tm_type)) {
  for (size_t i = 0; a != b && i < a->count; i++)
    if (a->count != b->count || !match(a->items[i], b->items[i]))
      return false;
  return true;
}

bool tm_type_equal(tm_type a, tm_type b) {
  return a.base == b.base && a.depth == b.depth &&
         (a.base != TM_TUPLE || tuples_match(a.tuple, b.tuple, tm_type_equal));
}

bool tm_type_promotes(tm_type from, tm_type to) {
  if (from.base == TM_TUPLE && to.base == TM_TUPLE)
    return from.depth == to.depth &&
           tuples_match(from.tuple, to.tuple, tm_type_promotes);
  return from.depth == to.depth &&
         (from.base == to.base || (from.base == TM_INT && to.base == TM_REAL));
}

const char *tm_type_name(tm_type type, char *buffer, size_t size) {
  static const char *const names[] = {"void",   "int",        "real",
                                      "vector", "row_vector", "matrix",
                                      "string", "function",   "tuple"};
  if (type.depth == 0)
    return names[type.base];
  snprintf(buffer, size, "array[%.*s] %s", type.depth - 1, ",,,,,,,,",
           names[type.base]);
  return buffer;
}

const tm_expression *tm_root(const tm_expression *e) {
  while (e->kind == TM_E_INDEX || e->kind == TM_E_PROJECT)
    e = e->parts[0];
  return e;
}

const char *tm_shown_name(const tm_variable *v) {
  return v->shown ? v->shown : v->name;
}

bool tm_is_scalar(tm_type type) {
  return type.depth == 0 && (type.base == TM_INT || type.base == TM_REAL);
}

int tm_rank(tm_type type) {
  return type.depth + (type.base == TM_MATRIX) +
         (type.base == TM_MATRIX || type.base == TM_VECTOR ||
          type.base == TM_ROW_VECTOR);
}

tm_type tm_element(tm_type type) {
  if (type.depth > 0)
    return tm_type_at(type, type.depth - 1);
  return type.base == TM_MATRIX ? tm_type_of(TM_ROW_VECTOR, 0)
                                : tm_type_of(TM_REAL, 0);
}

bool tm_has_dependent_limits(const tm_variable *v) {
  return v->block == TM_BLOCK_PARAMETERS && v->global &&
         ((v->lower && v->lower->level == TM_LEVEL_PARAMETER) ||
          (v->upper && v->upper->level == TM_LEVEL_PARAMETER));
}
