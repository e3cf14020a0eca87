/* emit_need.c - which variables and statements a density needs. The prior
 * should not pay for what only the likelihood uses, and conversely. */
#include "language/emit/find_rows.h"

#include <string.h>

static const tm_variable *assigned(const tm_statement *s) {
  if (s->kind == TM_S_DECLARE)
    return s->variable;
  return tm_root(s->left)->variable;
}

static bool keeps_any(tm_emitter *g, tm_statement *const *body, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (tm_emit_keeps(g, body[i]))
      return true;
  return false;
}

static bool keeps_to_draw(tm_emitter *g, const tm_statement *s) {
  switch (s->kind) {
  case TM_S_DECLARE:
  case TM_S_ASSIGN:
    return tm_emit_draws(g, s) || tm_copies_back(g, s) ||
           g->needed[assigned(s)->index];
  case TM_S_TILDE:
  case TM_S_TARGET:
    return tm_emit_draws(g, s);
  case TM_S_BREAK:
  case TM_S_CONTINUE:
    return true;
  case TM_S_BLOCK:
  case TM_S_FOR:
  case TM_S_FOREACH:
  case TM_S_IF:
  case TM_S_WHILE:
    return keeps_any(g, s->body, s->body_count) ||
           (s->otherwise && tm_emit_keeps(g, s->otherwise));
  default:
    return false;
  }
}

bool tm_emit_keeps(tm_emitter *g, const tm_statement *s) {
  if (!g->needed)
    return true;
  if (g->drawing)
    return keeps_to_draw(g, s);
  switch (s->kind) {
  case TM_S_DECLARE:
  case TM_S_ASSIGN:
    return g->needed[assigned(s)->index] || (s->raises && (s->part & g->part));
  case TM_S_TILDE:
  case TM_S_TARGET:
    return (s->part & g->part) != 0;
  case TM_S_CALL:
    return s->value->function && s->value->function->uses_target &&
           (s->part & g->part) != 0;
  case TM_S_EMPTY:
  case TM_S_PRINT:
    return false;
  case TM_S_REJECT:
    return !s->part || (s->part & g->part);
  case TM_S_BREAK:
  case TM_S_CONTINUE:
  case TM_S_RETURN:
    return true;
  default:
    return keeps_any(g, s->body, s->body_count) ||
           (s->otherwise && tm_emit_keeps(g, s->otherwise));
  }
}

typedef struct marker {
  tm_emitter *g;
  bool changed;
} marker;

bool tm_emit_leaves_out(const tm_emitter *g, const tm_expression *e) {
  return g->needed && e->part && !(e->part & g->part);
}

static void mark(marker *m, const tm_expression *e) {
  if (!e || tm_emit_leaves_out(m->g, e))
    return;
  if (e->kind == TM_E_NAME && !m->g->needed[e->variable->index]) {
    m->g->needed[e->variable->index] = true;
    m->changed = true;
  }
  for (size_t i = 0; i < e->part_count; i++)
    mark(m, e->parts[i]);
  for (size_t i = 0; i < e->index_count; i++) {
    mark(m, e->indices[i].from);
    mark(m, e->indices[i].to);
  }
}

static void mark_variable(marker *m, const tm_variable *v) {
  for (size_t i = 0; i < v->size_count; i++)
    mark(m, v->sizes[i]);
  mark(m, v->lower);
  mark(m, v->upper);
  mark(m, v->initial);
}

static void mark_all(marker *m, tm_statement *const *body, size_t count) {
  for (size_t i = 0; i < count; i++) {
    const tm_statement *s = body[i];
    if (s->shadow)
      mark_all(m, &s->shadow, 1);
    if (!tm_emit_keeps(m->g, s))
      continue;
    if (s->instead) {
      mark_all(m, &s->instead, 1);
      continue;
    }
    if (m->g->rows && s->rows) {
      for (int k = 0; k < s->rows->count; k++)
        if (s->rows->nodes[k].leaf >= 0)
          mark(m, s->rows->nodes[k].value);
      continue;
    }
    mark(m, s->left);
    mark(m, s->value);
    mark(m, s->density);
    for (int k = 0; k < 4; k++)
      mark(m, s->cdf[k]);
    mark(m, s->lower);
    mark(m, s->upper);
    for (size_t k = 0; k < s->argument_count; k++)
      mark(m, s->arguments[k]);
    if (s->kind == TM_S_DECLARE)
      mark_variable(m, s->variable);
    if (s->raises && s->kind == TM_S_ASSIGN)
      mark(m, s->left);
    mark_all(m, s->body, s->body_count);
    if (s->otherwise)
      mark_all(m, &s->otherwise, 1);
  }
}

/* Constraints of transformed parameters cut the support, whoever uses their
 * values: those that the data enter by the likelihood, the others by the
 * prior. */
static void mark_constrained(marker *m) {
  const tempera_program *program = m->g->program;
  for (size_t i = 0; i < program->tree.global_count; i++) {
    const tm_variable *v = program->tree.globals[i];
    bool data = program->split.variables[v->index].data == TM_DATA_VALUE;
    if (v->block == TM_BLOCK_TRANSFORMED_PARAMETERS &&
        v->constraint != TM_FREE && v->constraint != TM_OFFSET &&
        m->g->part == (data ? TM_PART_LIKELIHOOD : TM_PART_PRIOR))
      m->g->needed[v->index] = true;
  }
}

void tm_emit_need(tm_emitter *g) {
  const tm_program *tree = &g->program->tree;
  size_t count = (size_t)tree->variable_count + 1;
  g->needed = TM_NEW(g->arena, bool, count);
  if (!g->needed) {
    g->body.failed = true;
    return;
  }
  marker m = {g, true};
  mark_constrained(&m);
  while (m.changed) {
    m.changed = false;
    static const tm_block_kind blocks[] = {TM_BLOCK_TRANSFORMED_PARAMETERS,
                                           TM_BLOCK_MODEL};
    for (size_t i = 0; i < 2; i++)
      mark_all(&m, tree->blocks[blocks[i]].statements,
               tree->blocks[blocks[i]].count);
    for (size_t i = 0; i < tree->global_count; i++)
      if (tree->globals[i]->block == TM_BLOCK_PARAMETERS &&
          g->needed[tree->globals[i]->index])
        for (size_t k = 0; k < tree->globals[i]->size_count; k++)
          mark(&m, tree->globals[i]->sizes[k]);
  }
}
