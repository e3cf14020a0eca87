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

/* ---- factors where they lie --------------------------------------------- */

/* col(x, j) or sub_col(x, i, j, n)? */
static bool is_column_call(const tm_expression *e) {
  return e->kind == TM_E_CALL && e->builtin && !e->function && !e->system &&
         e->parts[0]->type.base == TM_MATRIX &&
         (!strcmp(e->builtin->name, "col") ||
          !strcmp(e->builtin->name, "sub_col"));
}

/* x[, j] or x[from:to, j] of a matrix? */
static bool is_column_index(const tm_expression *e) {
  return e->kind == TM_E_INDEX && e->index_count == 2 &&
         e->parts[0]->type.base == TM_MATRIX && e->parts[0]->type.depth == 0 &&
         (e->indices[0].kind == TM_INDEX_RANGE ||
          e->indices[0].kind == TM_INDEX_ALL) &&
         e->indices[1].kind == TM_INDEX_ONE &&
         e->indices[1].from->type.depth == 0;
}

static bool is_column(const tm_expression *e) {
  return !e->kept && (is_column_call(e) || is_column_index(e));
}

static bool is_steady(const tm_expression *e) {
  return tm_is_steady(is_column(e) ? e->parts[0] : e);
}

/* The rows of x_ that it has elements of. */
static void emit_rows(tm_emitter *g, const tm_expression *e) {
  bool range = e->kind == TM_E_INDEX && e->indices[0].kind == TM_INDEX_RANGE;
  if (e->kind == TM_E_CALL && e->part_count == 4) {
    tm_emit(g, "tm_cut(t, x_, x_.dim[1], -1 + ");
    tm_emit_expression(g, e->parts[1]);
    tm_emit(g, ", ");
    tm_emit_expression(g, e->parts[3]);
    tm_emit(g, ")");
  } else if (range) {
    tm_emit_range(g, e, &e->indices[0], "x_", "x_.dim[1]");
  } else {
    tm_emit(g, "x_");
  }
}

static void emit_column(tm_emitter *g, const tm_expression *e) {
  const tm_expression *j = e->kind == TM_E_INDEX ? e->indices[1].from
                           : e->part_count == 2  ? e->parts[1]
                                                 : e->parts[2];
  tm_emit(g, "({ tm_tensor x_ = ");
  tm_emit_expression(g, e->parts[0]);
  tm_emit(g, "; tm_column_of(t, ");
  emit_rows(g, e);
  tm_emit(g, ", ");
  tm_emit_expression(g, j);
  tm_emit(g, ", ");
  tm_emit_place(g, e->token);
  tm_emit(g, "); })");
}

/* A factor as a tm_line. */
static void emit_line(tm_emitter *g, const tm_expression *e) {
  if (is_column(e)) {
    bool gradient = g->gradient;
    g->gradient = gradient && e->level == TM_LEVEL_PARAMETER;
    emit_column(g, e);
    g->gradient = gradient;
    return;
  }
  tm_emit(g, "tm_line_of(");
  tm_emit_lent(g, e);
  tm_emit(g, ")");
}

void tm_emit_dot(tm_emitter *g, const tm_expression *e) {
  const tm_expression *a = untransposed(e->parts[0]);
  const tm_expression *b = untransposed(e->parts[1]);
  bool active = tm_held_of(g, e) == TM_VAR;
  tm_emit(g, active ? "tm_dot(t, " : "tm_dot_value(t, ");
  emit_line(g, a);
  tm_emit(g, ", ");
  emit_line(g, b);
  if (active)
    tm_emit(g, ", %d", is_steady(a) + 2 * is_steady(b));
  tm_emit(g, ")");
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
