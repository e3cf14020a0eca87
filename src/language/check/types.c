/* types.c - types: names, promotion, ranks. */
#include "language/check/types.h"

#include <stdio.h>

tm_type tm_type_of(tm_base base, int depth) { return (tm_type){base, depth}; }

bool tm_type_equal(tm_type a, tm_type b) {
  return a.base == b.base && a.depth == b.depth;
}

bool tm_type_promotes(tm_type from, tm_type to) {
  return from.depth == to.depth &&
         (from.base == to.base || (from.base == TM_INT && to.base == TM_REAL));
}

const char *tm_type_name(tm_type type, char *buffer, size_t size) {
  static const char *const names[] = {"void",   "int",        "real",
                                      "vector", "row_vector", "matrix",
                                      "string", "function"};
  if (type.depth == 0)
    return names[type.base];
  snprintf(buffer, size, "array[%.*s] %s", type.depth - 1, ",,,,,,,,",
           names[type.base]);
  return buffer;
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
    return tm_type_of(type.base, type.depth - 1);
  return type.base == TM_MATRIX ? tm_type_of(TM_ROW_VECTOR, 0)
                                : tm_type_of(TM_REAL, 0);
}

bool tm_has_dependent_limits(const tm_variable *v) {
  return v->block == TM_BLOCK_PARAMETERS && v->global &&
         ((v->lower && v->lower->level == TM_LEVEL_PARAMETER) ||
          (v->upper && v->upper->level == TM_LEVEL_PARAMETER));
}
