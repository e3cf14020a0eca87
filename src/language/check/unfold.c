/* unfold.c - calls that raise the target inside of other statements:
 *   y ~ normal(f_lp(x), 1);   becomes   { real r = f_lp(x); y ~ normal(r, 1); }
 * so that what the function adds is judged by itself: it need not be on the
 * side of the statement that it stands in. Likewise conditions (a loop's turn
 * begins with them) and what loops run over. */
#include "language/check/check.h"

#include <stdio.h>
#include <string.h>

/* What a statement becomes: declarations, then itself. */
typedef struct unfolder {
  tm_checker *c;
  tm_list statements;
} unfolder;

static bool raises(const tm_expression *e) {
  return e->kind == TM_E_CALL && e->function && e->function->uses_target &&
         e->function->result.base != TM_VOID;
}

static bool raises_within(const tm_expression *e) {
  if (!e)
    return false;
  bool found = raises(e);
  for (size_t i = 0; !found && i < e->part_count; i++)
    found = raises_within(e->parts[i]);
  for (size_t i = 0; !found && i < e->index_count; i++)
    found =
        raises_within(e->indices[i].from) || raises_within(e->indices[i].to);
  return found;
}

bool tm_raises_alone(const tm_expression *e) {
  bool within = false;
  for (size_t i = 0; !within && i < e->part_count; i++)
    within = raises_within(e->parts[i]);
  return raises(e) && !within;
}

/* Parts of these need not be evaluated. */
static bool is_lazy(const tm_expression *e) {
  return e->kind == TM_E_CONDITIONAL ||
         (e->kind == TM_E_BINARY &&
          (!strcmp(e->text, "&&") || !strcmp(e->text, "||")));
}

static tempera_status add(unfolder *u, tm_statement_kind kind,
                          const tm_token *token, tm_statement **made) {
  *made = TM_NEW(u->c->arena, tm_statement, 1);
  if (!*made || !tm_list_add(u->c->arena, &u->statements, *made))
    return tm_fail_memory(u->c->source->error);
  **made = (tm_statement){.kind = kind, .token = token, .last = token};
  return TEMPERA_OK;
}

/* Wherever the tree has e it has the variable's name from now on. */
static tempera_status hold(unfolder *u, tm_expression *e) {
  tm_variable *v = TM_NEW(u->c->arena, tm_variable, 1);
  tm_expression *value = TM_NEW(u->c->arena, tm_expression, 1);
  char *name = TM_NEW(u->c->arena, char, 24);
  tm_statement *made;
  if (!v || !value || !name)
    return tm_fail_memory(u->c->source->error);
  int index = u->c->program->variable_count++;
  snprintf(name, 24, "raised%d__", index);
  *value = *e;
  *v = (tm_variable){.name = name,
                     .token = e->token,
                     .type = e->type,
                     .initial = value,
                     .held = true,
                     .block = u->c->block,
                     .index = index};
  *e = (tm_expression){.kind = TM_E_NAME,
                       .token = e->token,
                       .text = name,
                       .type = e->type,
                       .level = TM_LEVEL_PARAMETER,
                       .variable = v};
  TM_TRY(add(u, TM_S_DECLARE, e->token, &made));
  made->variable = v;
  made->raises = true;
  return TEMPERA_OK;
}

/* In the order in which they are evaluated. */
static tempera_status unfold(unfolder *u, tm_expression *e) {
  if (!raises_within(e))
    return TEMPERA_OK;
  if (is_lazy(e))
    return hold(u, e);
  for (size_t i = 0; i < e->part_count; i++)
    TM_TRY(unfold(u, e->parts[i]));
  for (size_t i = 0; i < e->index_count; i++) {
    TM_TRY(unfold(u, e->indices[i].from));
    TM_TRY(unfold(u, e->indices[i].to));
  }
  return raises(e) ? hold(u, e) : TEMPERA_OK;
}

/* while (c) body: while (1) { if (c) { body } else break; } */
static tempera_status turn_loop(unfolder *u, const tm_statement *s,
                                tm_expression *always, tm_statement **loop) {
  tm_statement *otherwise = TM_NEW(u->c->arena, tm_statement, 2), *test;
  tm_statement **leave = TM_NEW(u->c->arena, tm_statement *, 1);
  *loop = TM_NEW(u->c->arena, tm_statement, 1);
  if (!otherwise || !leave || !*loop)
    return tm_fail_memory(u->c->source->error);
  *leave = &otherwise[1];
  otherwise[0] = (tm_statement){.kind = TM_S_BLOCK,
                                .token = s->token,
                                .last = s->token,
                                .body = leave,
                                .body_count = 1};
  otherwise[1] =
      (tm_statement){.kind = TM_S_BREAK, .token = s->token, .last = s->token};
  TM_TRY(add(u, TM_S_IF, s->token, &test));
  *test = *s;
  test->kind = TM_S_IF;
  test->otherwise = otherwise;
  **loop = *s;
  (*loop)->value = always;
  (*loop)->body = (tm_statement **)u->statements.items;
  (*loop)->body_count = u->statements.count;
  return TEMPERA_OK;
}

static tempera_status unfold_loop(unfolder *u, tm_statement *s) {
  tm_expression *always = TM_NEW(u->c->arena, tm_expression, 1);
  tm_statement *loop;
  if (!always)
    return tm_fail_memory(u->c->source->error);
  *always = (tm_expression){.kind = TM_E_REAL,
                            .token = s->token,
                            .text = "1.0",
                            .number = 1,
                            .type = tm_type_of(TM_REAL, 0),
                            .level = TM_LEVEL_CONSTANT};
  TM_TRY(unfold(u, s->value));
  TM_TRY(turn_loop(u, s, always, &loop));
  *s = *loop;
  return TEMPERA_OK;
}

tempera_status tm_unfold(tm_checker *c, tm_statement *s) {
  unfolder u = {.c = c};
  tm_statement *itself;
  c->raised = false;
  if (s->kind == TM_S_WHILE)
    return unfold_loop(&u, s);
  tm_expression *const parts[] = {s->left, s->value, s->lower, s->upper};
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
    if (parts[i])
      TM_TRY(unfold(&u, parts[i]));
    for (size_t k = 0; i == 0 && k < s->argument_count; k++)
      TM_TRY(unfold(&u, s->arguments[k]));
  }
  TM_TRY(add(&u, s->kind, s->token, &itself));
  *itself = *s;
  *s = (tm_statement){.kind = TM_S_BLOCK,
                      .token = s->token,
                      .last = s->last,
                      .body = (tm_statement **)u.statements.items,
                      .body_count = u.statements.count};
  return TEMPERA_OK;
}
