/* emit_dot.c - what many programs do in loops with small vectors: products of
 * two, without a copy of what is transposed and with one node for few elements;
 * and elements of elements. */
#include "language/emit/emit.h"

#include <string.h>

static bool is_vector(const tm_expression *e) {
  return (e->type.base == TM_VECTOR || e->type.base == TM_ROW_VECTOR) &&
         e->type.depth == 0;
}

bool tm_is_dot(const tm_expression *e) {
  if (e->part_count != 2 || e->type.base != TM_REAL || tm_rank(e->type) > 0 ||
      !is_vector(e->parts[0]) || !is_vector(e->parts[1]))
    return false;
  return e->kind == TM_E_BINARY
             ? !strcmp(e->text, "*")
             : e->kind == TM_E_CALL && e->builtin && !e->function &&
                   !strcmp(e->builtin->name, "dot_product");
}

static const tm_expression *untransposed(const tm_expression *e) {
  return e->kind == TM_E_TRANSPOSE && !e->kept ? e->parts[0] : e;
}

void tm_emit_dot(tm_emitter *g, const tm_expression *e) {
  const tm_expression *a = untransposed(e->parts[0]);
  const tm_expression *b = untransposed(e->parts[1]);
  tm_emit(g, "({ tm_tensor u_ = ");
  tm_emit_expression(g, a);
  tm_emit(g, ", w_ = ");
  tm_emit_expression(g, b);
  tm_emit(g, "; t->runtime->%s(t, &u_, &w_, %d); })",
          tm_held_of(g, e) == TM_VAR ? "dot" : "dot_value",
          tm_is_steady(a) + 2 * tm_is_steady(b));
}

/* ---- elements ----------------------------------------------------------- */

const tm_expression *tm_flat_of(const tm_expression *e, tm_flat_index *flat) {
  flat->e = *e;
  flat->e.indices = flat->indices;
  if (e->index_count > TM_MAX_RANK + 2 || tm_is_complex(e->type))
    return e;
  memcpy(flat->indices, e->indices, e->index_count * sizeof *e->indices);
  const tm_expression *base = e->parts[0];
  while (base->kind == TM_E_INDEX && !base->kept && tm_index_single(base) &&
         base->index_count + flat->e.index_count <= TM_MAX_RANK + 2) {
    memmove(flat->indices + base->index_count, flat->indices,
            flat->e.index_count * sizeof *flat->indices);
    memcpy(flat->indices, base->indices,
           base->index_count * sizeof *flat->indices);
    flat->e.index_count += base->index_count;
    flat->e.parts = base->parts;
    base = base->parts[0];
  }
  return flat->e.parts == e->parts ? e : &flat->e;
}
