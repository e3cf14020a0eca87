/* hoist.c - finds expressions that depend on data alone, and those terms of
 * densities that do (a sum of log y!, the logs of known scales). They are
 * computed when the data are read, and kept in the program's instance.
 *
 * Only what is evaluated at every call is taken: nothing from loops or behind
 * conditions, which may be there because it would fail. */
#include "language/emit/hoist.h"

#include "language/check/types.h"
#include "language/runtime/runtime.h"

#include <string.h>

typedef struct hoister {
  tm_program *program;
  tm_list list;
  bool failed; /* out of memory */
} hoister;

static void visit(hoister *h, tm_expression *e);

static bool needs_only_data(const tm_expression *e) {
  if (e->level == TM_LEVEL_PARAMETER || e->system || e->kind == TM_E_STRING)
    return false;
  if (e->kind == TM_E_NAME)
    return e->variable->global &&
           (e->variable->block == TM_BLOCK_DATA ||
            e->variable->block == TM_BLOCK_TRANSFORMED_DATA);
  if (e->kind == TM_E_CALL && (!e->builtin || e->builtin->kind == TM_B_RNG) &&
      (!e->function || e->function->uses_target))
    return false;
  for (size_t i = 0; i < e->part_count; i++)
    if (!needs_only_data(e->parts[i]))
      return false;
  for (size_t i = 0; i < e->index_count; i++)
    if ((e->indices[i].from && !needs_only_data(e->indices[i].from)) ||
        (e->indices[i].to && !needs_only_data(e->indices[i].to)))
      return false;
  return true;
}

static bool calls(const tm_expression *e) {
  bool found = e->kind == TM_E_CALL;
  for (size_t i = 0; i < e->part_count && !found; i++)
    found = calls(e->parts[i]);
  return found;
}

static bool is_one_index(const tm_expression *e) {
  for (size_t i = 0; i < e->index_count; i++)
    if (e->indices[i].kind != TM_INDEX_ONE || e->indices[i].from->type.depth)
      return false;
  return true;
}

/* Names and elements are there already; integers and arithmetic are cheap. */
static bool is_worth_it(const tm_expression *e) {
  if (e->type.base == TM_TUPLE || e->kind == TM_E_NAME ||
      (e->kind == TM_E_INDEX && is_one_index(e)))
    return false;
  return tm_rank(e->type) > 0 || (e->type.base == TM_REAL && calls(e));
}

static void keep(hoister *h, tm_expression *e) {
  if (e->kept)
    return;
  if (!tm_list_add(h->program->source.arena, &h->list, e))
    h->failed = true;
  e->kept = (int)h->list.count;
}

/* Conditions are evaluated, what they choose may not be. */
static size_t always_evaluated(const tm_expression *e) {
  bool chooses = e->kind == TM_E_CONDITIONAL ||
                 (e->kind == TM_E_BINARY &&
                  (!strcmp(e->text, "&&") || !strcmp(e->text, "||")));
  return chooses ? 1 : e->part_count;
}

static void visit_parts(hoister *h, tm_expression *e) {
  for (size_t i = 0; i < always_evaluated(e); i++)
    visit(h, e->parts[i]);
  for (size_t i = 0; i < e->index_count; i++) {
    visit(h, e->indices[i].from);
    visit(h, e->indices[i].to);
  }
}

static void visit(hoister *h, tm_expression *e) {
  if (!e)
    return;
  if (needs_only_data(e) && is_worth_it(e))
    keep(h, e);
  else
    visit_parts(h, e);
}

/* The terms of a density that need only data; how many outcomes there are
 * must be known from the data too. */
static void keep_terms(hoister *h, tm_expression *e) {
  unsigned data = 0;
  bool counted = false;
  for (size_t i = 0; i < e->part_count; i++)
    if (needs_only_data(e->parts[i])) {
      data |= 1u << i;
      counted = counted || tm_rank(e->parts[i]->type) > 0;
    }
  char name[64] = "";
  size_t length = strlen(e->builtin->name);
  if (!counted || length < 6 || length - 5 >= sizeof name)
    return;
  memcpy(name, e->builtin->name, length - 5); /* without _lpdf */
  if (!tm_density_has_terms(name, data))
    return;
  e->kept_terms = data;
  keep(h, e);
}

/* What is added to the target, sums term by term. */
static void visit_term(hoister *h, tm_expression *e) {
  bool sum = e->kind == TM_E_BINARY && !strcmp(e->text, "+");
  if (needs_only_data(e)) {
    visit(h, e);
  } else if (sum && tm_is_scalar(e->type)) {
    visit_term(h, e->parts[0]);
    visit_term(h, e->parts[1]);
  } else {
    if (e->kind == TM_E_CALL && e->builtin && e->builtin->kind == TM_B_DENSITY)
      keep_terms(h, e);
    visit_parts(h, e);
  }
}

static void visit_statements(hoister *h, tm_statement **body, size_t count) {
  for (size_t i = 0; i < count; i++) {
    tm_statement *s = body[i];
    if (s->kind == TM_S_TILDE)
      visit_term(h, s->density);
    else if (s->kind == TM_S_TARGET)
      visit_term(h, s->value);
    else if (s->kind == TM_S_DECLARE)
      visit(h, s->variable->initial);
    else if (s->kind == TM_S_ASSIGN || s->kind == TM_S_IF)
      visit(h, s->value);
    else if (s->kind == TM_S_BLOCK)
      visit_statements(h, s->body, s->body_count);
  }
}

tempera_status tm_hoist(tm_program *program) {
  hoister h = {.program = program};
  static const tm_block_kind blocks[] = {TM_BLOCK_TRANSFORMED_PARAMETERS,
                                         TM_BLOCK_MODEL};
  for (size_t i = 0; i < 2; i++)
    visit_statements(&h, program->blocks[blocks[i]].statements,
                     program->blocks[blocks[i]].count);
  program->kept = (tm_expression **)h.list.items;
  program->kept_count = h.list.count;
  return h.failed ? tm_fail_memory(program->source.error) : TEMPERA_OK;
}
