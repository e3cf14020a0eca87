/* emit_points.c - the likelihood's terms one by one.
 *
 * A density of a container of outcomes has a term for each; any other statement
 * is one term each time it is reached. What a scalar gathers
 * (`lp += normal_lpdf(y[n] | ...)`) is taken where it is gathered, unless the
 * scalar is declared inside the loop that adds it to the target: then it is the
 * term. Elements of a container that is added up are terms. Nothing here need
 * be proved: whoever uses the terms compares their sum with the likelihood. */
#include "language/emit/emit.h"

#include "language/check/term.h"

#include <string.h>

bool tm_is_vectorised(const tm_expression *e) {
  if (e->kind != TM_E_CALL || !e->builtin || !tm_is_density(e))
    return false;
  tm_type outcome = e->parts[0]->type;
  switch (e->builtin->signature[0]) {
  case 'I':
  case 'R':
  case 'P':
    return tm_rank(outcome) > 0;
  case 'V':
    return outcome.depth > 0;
  default:
    return false;
  }
}

/* Is what it holds taken where it is gathered? */
static bool taken_before(const tm_emitter *g, const tm_variable *v) {
  return v && tm_is_scalar(v->type) && tm_gathers(&g->program->split, v) &&
         !g->gathered[v->index];
}

static void emit_vectorised(tm_emitter *g, const tm_expression *e) {
  const tm_builtin *b = e->builtin;
  size_t stem = tm_stem_length(b->name);
  tm_emit(g, "%*st->runtime->points(t, \"%.*s\", \"%s\", ", 2 * g->indent, "",
          (int)stem, b->name, b->signature);
  if (b->kind == TM_B_DENSITY)
    tm_emit(g, "0");
  else
    tm_emit(g, "F[%zu]", tm_emit_call_number(g, b->name, b->signature));
  tm_emit(g, ", (tm_any[]){");
  for (size_t i = 0; i < e->part_count; i++) {
    tm_emit(g, i ? ", " : "");
    tm_emit_any(g, e->parts[i]);
  }
  tm_emit(g, "}, %zu);\n", e->part_count);
}

/* A container whose elements are terms: e, or what e is the sum of. */
static const tm_expression *elements_in(const tm_expression *e) {
  if (e->kind == TM_E_CALL && !strcmp(e->text, "sum") && e->part_count == 1)
    e = e->parts[0];
  return tm_rank(e->type) > 0 && !tm_is_complex(e->type) &&
                 e->type.base != TM_INT
             ? e
             : NULL;
}

typedef enum kind { NOTHING, MANY, ONE } kind;

static kind kind_of(const tm_emitter *g, const tm_expression *e,
                    const tm_variable *into) {
  const tm_variable *v = tm_summand(e);
  if (tm_emit_leaves_out(g, e) || e->level == TM_LEVEL_CONSTANT ||
      (v && v == into) || taken_before(g, v))
    return NOTHING;
  return tm_is_vectorised(e) || elements_in(e) ? MANY : ONE;
}

static bool is_plus(const tm_expression *e) {
  return e->kind == TM_E_BINARY && !strcmp(e->text, "+") &&
         tm_is_scalar(e->type);
}

/* The summands of this kind; how many there were. */
static size_t emit_summands(tm_emitter *g, const tm_expression *e, kind which,
                            const tm_variable *into) {
  if (tm_emit_leaves_out(g, e))
    return 0;
  if (is_plus(e))
    return emit_summands(g, e->parts[0], which, into) +
           emit_summands(g, e->parts[1], which, into);
  if (kind_of(g, e, into) != which)
    return 0;
  if (which == ONE) {
    tm_emit_term(g, e);
  } else if (tm_is_vectorised(e)) {
    emit_vectorised(g, e);
  } else {
    tm_emit(g, "%*st->runtime->point_each(t, ", 2 * g->indent, "");
    tm_emit_expression(g, elements_in(e));
    tm_emit(g, ");\n");
  }
  return 1;
}

static size_t count_ones(const tm_emitter *g, const tm_expression *e,
                         const tm_variable *into) {
  if (tm_emit_leaves_out(g, e))
    return 0;
  if (is_plus(e))
    return count_ones(g, e->parts[0], into) + count_ones(g, e->parts[1], into);
  return kind_of(g, e, into) == ONE;
}

static void emit_terms(tm_emitter *g, const tm_expression *e,
                       const tm_variable *into, const tm_statement *cut) {
  emit_summands(g, e, MANY, into);
  bool truncated = cut && (cut->cdf[0] || cut->cdf[1]);
  if (!truncated && !count_ones(g, e, into))
    return;
  tm_emit_line(g, "{ double all_ = t->log_density; t->log_density = 0;");
  emit_summands(g, e, ONE, into);
  if (truncated)
    tm_emit_truncation(g, cut);
  tm_emit_line(g, "tm_add_point(t, t->log_density); t->log_density = all_; }");
}

bool tm_emit_pointed(tm_emitter *g, const tm_statement *s) {
  if (s->kind == TM_S_TILDE) {
    emit_terms(g, s->density, NULL, s);
    return true;
  }
  if (s->kind == TM_S_TARGET) {
    emit_terms(g, s->value, NULL, NULL);
    return true;
  }
  const tm_variable *v = NULL;
  if (s->kind == TM_S_ASSIGN && s->left->kind == TM_E_NAME)
    v = s->left->variable;
  if (s->kind == TM_S_DECLARE && s->variable->initial)
    v = s->variable;
  if (taken_before(g, v))
    emit_terms(g, s->kind == TM_S_ASSIGN ? s->value : v->initial, v, NULL);
  return false;
}

/* ---- scalars that are a term each time they are added -------------------- */

static bool declares(tm_statement *const *body, size_t count,
                     const tm_variable *v) {
  for (size_t i = 0; i < count; i++)
    if (body[i]->kind == TM_S_DECLARE && body[i]->variable == v)
      return true;
  return false;
}

static void find_gathered(tm_emitter *g, tm_statement *const *body,
                          size_t count, bool loop) {
  for (size_t i = 0; i < count; i++) {
    const tm_statement *s = body[i];
    for (size_t k = 0; loop && s->kind == TM_S_TARGET && k < s->term_count;
         k++) {
      const tm_variable *v = tm_summand(s->terms[k].value);
      if (v && declares(body, count, v))
        g->gathered[v->index] = true;
    }
    bool inside = loop || s->kind == TM_S_FOR || s->kind == TM_S_FOREACH ||
                  s->kind == TM_S_WHILE;
    find_gathered(g, s->body, s->body_count, inside);
    if (s->otherwise)
      find_gathered(g, &s->otherwise, 1, inside);
  }
}

void tm_emit_points(tm_emitter *g) {
  const tm_program *tree = &g->program->tree;
  static const tm_block_kind blocks[] = {TM_BLOCK_TRANSFORMED_PARAMETERS,
                                         TM_BLOCK_MODEL};
  g->part = TM_PART_LIKELIHOOD;
  tm_emit_need(g);
  g->gathered = TM_NEW(g->arena, bool, (size_t)tree->variable_count + 1);
  if (!g->gathered) {
    g->body.failed = true;
    return;
  }
  for (size_t b = 0; b < 2; b++)
    find_gathered(g, tree->blocks[blocks[b]].statements,
                  tree->blocks[blocks[b]].count, false);
  g->pointing = true;
  tm_emit_line(g, TM_SELDOM);
  tm_emit_line(g, "static void points(tm_tape *t, const void *i_, "
                  "const double *theta) {");
  g->indent = 1;
  tm_emit_line(g, "const instance *I = i_;");
  tm_emit_line(g, "(void)t, (void)I, (void)theta;");
  tm_emit_thetas(g);
  tm_emit_statements(g, tree->blocks[blocks[0]].statements,
                     tree->blocks[blocks[0]].count);
  tm_emit_transformed_checks(g);
  tm_emit_statements(g, tree->blocks[blocks[1]].statements,
                     tree->blocks[blocks[1]].count);
  g->indent = 0;
  tm_emit_line(g, "}");
  g->pointing = false;
  g->needed = NULL;
}
