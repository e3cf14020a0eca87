/* lent.c - parts of containers that are read where they lie: arguments of
 * functions and factors of products need no copies, and their slopes go
 * straight to the container. */
#include "language/emit/emit.h"

#include "language/check/types.h"

#include <string.h>

static bool is_real_container(const tm_expression *e) {
  return tm_rank(e->type) > 0 && !tm_is_complex(e->type) &&
         e->type.base != TM_TUPLE;
}

static bool is_named(const tm_expression *e, const char *name) {
  return !strcmp(e->builtin->name, name);
}

/* x[i, j, from:to] */
static bool is_range(const tm_expression *e) {
  if (e->kind != TM_E_INDEX || e->index_count == 0)
    return false;
  size_t last = e->index_count - 1;
  for (size_t i = 0; i < last; i++)
    if (e->indices[i].kind != TM_INDEX_ONE ||
        e->indices[i].from->type.depth > 0)
      return false;
  return e->indices[last].kind == TM_INDEX_RANGE;
}

bool tm_is_cut(const tm_expression *e) {
  if (e->kept || e->part_count == 0 || !is_real_container(e) ||
      !is_real_container(e->parts[0]))
    return false;
  if (e->kind == TM_E_CALL)
    return e->builtin && !e->function && !e->system &&
           (is_named(e, "head") || is_named(e, "tail") ||
            is_named(e, "segment"));
  return is_range(e);
}

void tm_emit_range(tm_emitter *g, const tm_expression *e, const tm_index *index,
                   const char *x, const char *inner) {
  tm_emit(g, "tm_range(t, %s, %s, ", x, inner);
  if (index->from)
    tm_emit_expression(g, index->from);
  else
    tm_emit(g, "1");
  tm_emit(g, ", ");
  if (index->to)
    tm_emit_expression(g, index->to);
  else
    tm_emit(g, "-1");
  tm_emit(g, ", ");
  tm_emit_place(g, e->token);
  tm_emit(g, ")");
}

static void emit_range(tm_emitter *g, const tm_expression *e) {
  const tm_index *last = &e->indices[e->index_count - 1];
  tm_expression before = *e;
  before.index_count--;
  tm_emit(g, "({ tm_tensor x_ = ");
  tm_emit_lent(g, e->parts[0]);
  tm_emit(g, ";");
  tm_emit_offset(g, &before);
  tm_emit(g, " x_ = tm_sub(x_, k_, %zu); ", before.index_count);
  tm_emit_range(g, e, last, "x_",
                tm_rank(e->type) == 1 ? "1" : "tm_inner(&x_)");
  tm_emit(g, "; })");
}

/* head(x, n), tail(x, n), segment(x, from, n) */
static void emit_cut(tm_emitter *g, const tm_expression *e) {
  tm_emit(g, "({ tm_tensor x_ = ");
  tm_emit_lent(g, e->parts[0]);
  tm_emit(g, "; long n_ = ");
  tm_emit_expression(g, e->parts[e->part_count - 1]);
  tm_emit(g, "; tm_cut(t, x_, %s, ",
          tm_rank(e->type) == 1 ? "1" : "tm_inner(&x_)");
  if (is_named(e, "segment")) {
    tm_emit(g, "-1 + ");
    tm_emit_expression(g, e->parts[1]);
  } else {
    tm_emit(g, is_named(e, "head") ? "0" : "x_.dim[0] - n_");
  }
  tm_emit(g, ", n_); })");
}

void tm_emit_lent(tm_emitter *g, const tm_expression *e) {
  if (!tm_is_cut(e)) {
    tm_emit_expression(g, e);
    return;
  }
  bool gradient = g->gradient;
  g->gradient = gradient && e->level == TM_LEVEL_PARAMETER;
  if (e->kind == TM_E_CALL)
    emit_cut(g, e);
  else
    emit_range(g, e);
  g->gradient = gradient;
}

bool tm_emit_length(tm_emitter *g, const tm_expression *e) {
  const tm_expression *x = e->part_count == 1 ? e->parts[0] : NULL;
  if (!x || x->kind != TM_E_NAME || !is_real_container(x))
    return false;
  bool column = x->type.depth == 0 && x->type.base == TM_VECTOR;
  bool row = x->type.depth == 0 && x->type.base == TM_ROW_VECTOR;
  bool any = is_named(e, "size") || is_named(e, "num_elements");
  if (!(column && is_named(e, "rows")) && !(row && is_named(e, "cols")) &&
      !(any && tm_rank(x->type) == 1))
    return false;
  tm_emit(g, "((long)");
  tm_emit_variable(g, x->variable);
  tm_emit(g, ".dim[0])");
  return true;
}
