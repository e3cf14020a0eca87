/* parse_statement.c - statements.
 *
 *   statement = block | declaration | if | while | for | "break" ";"
 *             | "continue" ";" | return | print | reject | target
 *             | assignment | tilde | call ";" | ";"
 */
#include "language/read/parser.h"

#include <string.h>

tm_statement *tm_statement_new(tm_parser *p, tm_statement_kind kind,
                               const tm_token *token) {
  tm_statement *s = tm_parser_alloc(p, sizeof *s);
  if (s) {
    s->kind = kind;
    s->token = s->last = token;
  }
  return s;
}

static void set_body(tm_statement *s, const tm_list *list) {
  s->body = (tm_statement **)list->items;
  s->body_count = list->count;
}

/* A body that is one statement or a block; always a list. */
static bool body(tm_parser *p, tm_statement *s) {
  tm_list list = {0};
  if (!tm_parse_statement(p, &list))
    return false;
  set_body(s, &list);
  return true;
}

static tm_statement *block(tm_parser *p, const tm_token *token) {
  tm_statement *s = tm_statement_new(p, TM_S_BLOCK, token);
  tm_list list = {0};
  while (s && !tm_is(p, "}")) {
    if (tm_peek(p)->kind == TM_TOKEN_END) {
      tm_unexpected(p, "a statement or '}'");
      return NULL;
    }
    if (!tm_parse_statement(p, &list))
      return NULL;
  }
  if (s)
    set_body(s, &list);
  return s && tm_expect(p, "}", "to close the block") ? s : NULL;
}

static tm_statement *if_statement(tm_parser *p, const tm_token *token) {
  tm_statement *s = tm_statement_new(p, TM_S_IF, token);
  if (!s || !tm_expect(p, "(", "after if"))
    return NULL;
  s->value = tm_parse_expression(p);
  if (!s->value || !tm_expect(p, ")", "after the condition") || !body(p, s))
    return NULL;
  const tm_token *other = tm_peek(p);
  if (tm_accept(p, "else")) {
    s->otherwise = tm_statement_new(p, TM_S_BLOCK, other);
    if (!s->otherwise || !body(p, s->otherwise))
      return NULL;
  }
  return s;
}

static tm_statement *while_statement(tm_parser *p, const tm_token *token) {
  tm_statement *s = tm_statement_new(p, TM_S_WHILE, token);
  if (!s || !tm_expect(p, "(", "after while"))
    return NULL;
  s->value = tm_parse_expression(p);
  return s->value && tm_expect(p, ")", "after the condition") && body(p, s)
             ? s
             : NULL;
}

static tm_statement *for_statement(tm_parser *p, const tm_token *token) {
  tm_statement *s = tm_statement_new(p, TM_S_FOR, token);
  const tm_token *name;
  if (!s || !tm_expect(p, "(", "after for") ||
      !tm_parse_name(p, &name, "the loop variable's name") ||
      !tm_expect(p, "in", "after the loop variable"))
    return NULL;
  tm_variable *v = tm_parser_alloc(p, sizeof *v);
  if (!v)
    return NULL;
  v->name = name->text;
  v->token = name;
  v->type = (tm_type){.base = TM_INT};
  v->loop = true;
  v->block = p->block;
  v->index = p->program->variable_count++;
  s->variable = v;
  s->lower = tm_parse_expression(p);
  if (!s->lower)
    return NULL;
  if (tm_accept(p, ":")) {
    s->upper = tm_parse_expression(p);
    if (!s->upper)
      return NULL;
  } else {
    s->kind = TM_S_FOREACH;
  }
  return tm_expect(p, ")", "after the loop's range") && body(p, s) ? s : NULL;
}

static tm_statement *message(tm_parser *p, const tm_token *token,
                             tm_statement_kind kind) {
  tm_statement *s = tm_statement_new(p, kind, token);
  bool bar;
  if (!s || !tm_expect(p, "(", "and what to write") ||
      !tm_parse_arguments(p, &s->arguments, &s->argument_count, &bar) ||
      !tm_expect(p, ";", "after the statement"))
    return NULL;
  return s;
}

static tm_statement *return_statement(tm_parser *p, const tm_token *token) {
  tm_statement *s = tm_statement_new(p, TM_S_RETURN, token);
  if (!s)
    return NULL;
  if (!tm_is(p, ";")) {
    s->value = tm_parse_expression(p);
    if (!s->value)
      return NULL;
  }
  return tm_expect(p, ";", "after return") ? s : NULL;
}

static tm_statement *target_statement(tm_parser *p, const tm_token *token) {
  tm_statement *s = tm_statement_new(p, TM_S_TARGET, token);
  if (!s)
    return NULL;
  s->value = tm_parse_expression(p);
  return s->value && tm_expect(p, ";", "after the statement") ? s : NULL;
}

static tm_statement *increment(tm_parser *p, const tm_token *token) {
  tm_statement *s = tm_statement_new(p, TM_S_TARGET, token);
  if (!s || !tm_expect(p, "(", "after increment_log_prob"))
    return NULL;
  s->value = tm_parse_expression(p);
  return s->value && tm_expect(p, ")", "after the expression") &&
                 tm_expect(p, ";", "after the statement")
             ? s
             : NULL;
}

static tm_statement *profile(tm_parser *p, const tm_token *token) {
  if (!tm_expect(p, "(", "after profile"))
    return NULL;
  if (tm_peek(p)->kind != TM_TOKEN_STRING) {
    tm_unexpected(p, "a string: the profile's name");
    return NULL;
  }
  p->at++;
  if (!tm_expect(p, ")", "after the name") ||
      !tm_expect(p, "{", "to begin the profiled block"))
    return NULL;
  return block(p, token);
}

/* T[a, b], T[a, ], T[, b], T[,] */
static bool truncation(tm_parser *p, tm_statement *s) {
  s->truncated = true;
  if (!tm_expect(p, "[", "after T"))
    return false;
  if (!tm_is(p, ",") && !(s->lower = tm_parse_expression(p)))
    return false;
  if (!tm_expect(p, ",", "between the truncation's bounds"))
    return false;
  if (!tm_is(p, "]") && !(s->upper = tm_parse_expression(p)))
    return false;
  return tm_expect(p, "]", "after the truncation");
}

static tm_statement *tilde(tm_parser *p, const tm_token *token,
                           tm_expression *left) {
  tm_statement *s = tm_statement_new(p, TM_S_TILDE, token);
  const tm_token *name = tm_peek(p);
  bool bar;
  if (!s)
    return NULL;
  if (name->kind != TM_TOKEN_NAME) {
    tm_unexpected(p, "a distribution's name after ~");
    return NULL;
  }
  p->at++;
  s->left = left;
  s->distribution = name->text;
  s->density = tm_expression_new(p, TM_E_CALL, name);
  if (!s->density || !tm_expect(p, "(", "after the distribution's name") ||
      !tm_parse_arguments(p, &s->arguments, &s->argument_count, &bar))
    return NULL;
  if (tm_accept(p, "T") && !truncation(p, s))
    return NULL;
  return tm_expect(p, ";", "after the statement") ? s : NULL;
}

static bool is_lvalue(const tm_expression *e) {
  while (e->kind == TM_E_INDEX || e->kind == TM_E_PROJECT)
    e = e->parts[0];
  for (size_t i = 0; e->kind == TM_E_TUPLE && i < e->part_count; i++)
    if (!is_lvalue(e->parts[i]))
      return false;
  return e->kind == TM_E_NAME || e->kind == TM_E_TUPLE;
}

/* Assignment, ~ or a call, after the expression that begins them all. */
static tm_statement *assignment_or_tilde(tm_parser *p, const tm_token *token) {
  static const struct {
    const char *token, *op;
  } assignments[] = {{"=", "="},  {"<-", "="}, {"+=", "+"},   {"-=", "-"},
                     {"*=", "*"}, {"/=", "/"}, {".*=", ".*"}, {"./=", "./"}};
  tm_expression *left = tm_parse_expression(p);
  if (!left)
    return NULL;
  if (tm_accept(p, "~"))
    return tilde(p, token, left);
  const tm_token *op = tm_peek(p);
  for (size_t i = 0; i < sizeof assignments / sizeof *assignments; i++) {
    if (!tm_accept(p, assignments[i].token))
      continue;
    if (!is_lvalue(left)) {
      (void)tm_complain(p->source, op, "the left side of %s must be a variable",
                        assignments[i].token);
      return NULL;
    }
    tm_statement *s = tm_statement_new(p, TM_S_ASSIGN, token);
    if (!s)
      return NULL;
    s->left = left;
    s->op = assignments[i].op;
    s->value = tm_parse_expression(p);
    return s->value && tm_expect(p, ";", "after the assignment") ? s : NULL;
  }
  if (left->kind != TM_E_CALL) {
    tm_unexpected(p, "'=', '~' or another operator of a statement");
    return NULL;
  }
  tm_statement *s = tm_statement_new(p, TM_S_CALL, token);
  if (s)
    s->value = left;
  return s && tm_expect(p, ";", "after the call") ? s : NULL;
}

static tm_statement *jump(tm_parser *p, const tm_token *token,
                          tm_statement_kind kind) {
  tm_statement *s = tm_statement_new(p, kind, token);
  return s && tm_expect(p, ";", "after the statement") ? s : NULL;
}

/* { a, b } ~ ...: an array, not a block. */
static bool begins_outcome(const tm_parser *p) {
  size_t depth = 0;
  for (size_t i = 0; p->at + i < p->source->token_count; i++) {
    if (tm_is_ahead(p, i, ";"))
      return false;
    depth += tm_is_ahead(p, i, "{");
    if (tm_is_ahead(p, i, "}") && --depth == 0)
      return tm_is_ahead(p, i + 1, "~");
  }
  return false;
}

static tm_statement *one_statement(tm_parser *p) {
  const tm_token *token = tm_peek(p);
  if (tm_is(p, "{") && !begins_outcome(p)) {
    p->at++;
    return block(p, token);
  }
  if (tm_accept(p, "if"))
    return if_statement(p, token);
  if (tm_accept(p, "while"))
    return while_statement(p, token);
  if (tm_accept(p, "for"))
    return for_statement(p, token);
  if (tm_accept(p, "break"))
    return jump(p, token, TM_S_BREAK);
  if (tm_accept(p, "continue"))
    return jump(p, token, TM_S_CONTINUE);
  if (tm_accept(p, "return"))
    return return_statement(p, token);
  if (tm_accept(p, "print"))
    return message(p, token, TM_S_PRINT);
  if (tm_accept(p, "reject") || tm_accept(p, "fatal_error")) {
    tm_statement *s = message(p, token, TM_S_REJECT);
    if (s)
      s->fatal = !strcmp(token->text, "fatal_error");
    return s;
  }
  if (tm_accept(p, "profile"))
    return profile(p, token);
  if (tm_is(p, "increment_log_prob")) {
    p->at++;
    return increment(p, token);
  }
  if (tm_is(p, "target") && tm_is_ahead(p, 1, "+=")) {
    p->at += 2;
    return target_statement(p, token);
  }
  if (tm_is(p, "jacobian") && tm_is_ahead(p, 1, "+=")) {
    p->at += 2;
    tm_statement *s = target_statement(p, token);
    if (s)
      s->jacobian = true;
    return s;
  }
  if (tm_accept(p, ";"))
    return tm_statement_new(p, TM_S_EMPTY, token);
  if (tm_is(p, "else")) {
    (void)tm_complain(p->source, token, "this else has no if");
    return NULL;
  }
  return assignment_or_tilde(p, token);
}

/* A mark in a comment that follows the statement on the line where it ends,
 * with nothing between them. */
static void take_mark(tm_parser *p, tm_statement *s) {
  s->last = &p->source->tokens[p->at - 1];
  const tm_token *next = tm_peek(p);
  if (s->kind != TM_S_TILDE && s->kind != TM_S_TARGET && s->kind != TM_S_CALL &&
      s->kind != TM_S_ASSIGN)
    return;
  for (size_t i = 0; i < p->source->annotation_count; i++) {
    tm_annotation *a = &p->source->annotations[i];
    bool between = next->file == a->file && next->line == a->line &&
                   next->column < a->column;
    if (a->file == s->last->file && a->line == s->last->line &&
        a->column > s->last->column && !between) {
      s->mark = a->mark;
      a->used = true;
    }
  }
}

bool tm_parse_statement(tm_parser *p, tm_list *statements) {
  if (tm_begins_type(p))
    return tm_parse_declaration(p, statements, false);
  tm_statement *s = tm_deeper(p) ? one_statement(p) : NULL;
  p->depth--;
  if (!s)
    return false;
  take_mark(p, s);
  return tm_list_add(p->arena, statements, s);
}
