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

bool tm_is_complex(tm_type type) { return type.base >= TM_COMPLEX; }

tm_type tm_real_type(tm_type type) {
  if (tm_is_complex(type))
    type.base = type.base - TM_COMPLEX + TM_REAL;
  return type;
}

tm_type tm_complex_type(tm_type type) {
  if (type.base == TM_INT)
    type.base = TM_COMPLEX;
  else if (type.base >= TM_REAL && type.base <= TM_MATRIX)
    type.base = type.base - TM_REAL + TM_COMPLEX;
  return type;
}

static int tuple_promotion(const tm_tuple *from, const tm_tuple *to) {
  int all = 0;
  if (!from || !to || from->count != to->count)
    return from == to ? 0 : -1;
  for (size_t i = 0; i < from->count && all >= 0; i++) {
    int one = tm_promotion(from->items[i], to->items[i]);
    all = one < 0 ? -1 : all + one;
  }
  return all;
}

int tm_promotion(tm_type from, tm_type to) {
  enum { WHOLE = 1, IMAGINARY = 16 }; /* real before complex */
  if (from.depth != to.depth)
    return -1;
  if (from.base == TM_TUPLE && to.base == TM_TUPLE)
    return tuple_promotion(from.tuple, to.tuple);
  if (from.base == to.base)
    return 0;
  int whole = from.base == TM_INT ? WHOLE : 0;
  if (whole && to.base == TM_REAL)
    return WHOLE;
  bool widens = tm_is_complex(to) && tm_complex_type(from).base == to.base;
  return widens ? whole + IMAGINARY : -1;
}

bool tm_type_promotes(tm_type from, tm_type to) {
  return tm_promotion(from, to) >= 0;
}

const char *tm_type_name(tm_type type, char *buffer, size_t size) {
  static const char *const names[] = {
      "void",          "int",     "real",           "vector",
      "row_vector",    "matrix",  "string",         "function",
      "tuple",         "complex", "complex_vector", "complex_row_vector",
      "complex_matrix"};
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

int tm_index_rank(tm_type type) {
  tm_base base = tm_real_type(type).base;
  return type.depth + (base == TM_MATRIX) +
         (base == TM_MATRIX || base == TM_VECTOR || base == TM_ROW_VECTOR);
}

int tm_rank(tm_type type) { return tm_index_rank(type) + tm_is_complex(type); }

tm_type tm_element(tm_type type) {
  if (type.depth > 0)
    return tm_type_at(type, type.depth - 1);
  tm_base base = tm_real_type(type).base == TM_MATRIX ? TM_ROW_VECTOR : TM_REAL;
  tm_type element = tm_type_of(base, 0);
  return tm_is_complex(type) ? tm_complex_type(element) : element;
}

bool tm_has_dependent_limits(const tm_variable *v) {
  return v->block == TM_BLOCK_PARAMETERS && v->global &&
         ((v->lower && v->lower->level == TM_LEVEL_PARAMETER) ||
          (v->upper && v->upper->level == TM_LEVEL_PARAMETER));
}
