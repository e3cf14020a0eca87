/* check.c - statements, declarations, functions and blocks. */
#include "language/check/check.h"

#include <stdio.h>
#include <string.h>

static tempera_status check_statement(tm_checker *c, tm_statement *s);

static tempera_status declare(tm_checker *c, tm_variable *v) {
  tm_variable *other = tm_scope_find(c, v->name);
  if (tm_rank(v->type) > TM_MAX_RANK + 3)
    return tm_complain(c->source, v->token, "'%s' has too many dimensions",
                       tm_shown_name(v));
  if (other)
    return tm_complain(c->source, v->token,
                       "'%s' is already declared in line %d", tm_shown_name(v),
                       other->token->line);
  /* what a function declares hides functions inside of it, as in Stan */
  for (size_t i = 0; !c->function && i < c->program->function_count; i++)
    if (!strcmp(c->program->functions[i]->name, v->name))
      return tm_complain(c->source, v->token,
                         "'%s' is the name of a function (line %d)", v->name,
                         c->program->functions[i]->token->line);
  if (c->scope_count == c->scope_capacity) {
    size_t more = c->scope_capacity ? 2 * c->scope_capacity : 64;
    tm_variable **scope = TM_NEW(c->arena, tm_variable *, more);
    if (!scope)
      return tm_fail_memory(c->source->error);
    if (c->scope_count)
      memcpy(scope, c->scope, c->scope_count * sizeof *scope);
    c->scope = scope;
    c->scope_capacity = more;
  }
  c->scope[c->scope_count++] = v;
  return TEMPERA_OK;
}

static tempera_status check_number(tm_checker *c, tm_expression *e,
                                   tm_base base, bool no_parameters,
                                   const char *what) {
  TM_TRY(tm_check_expression(c, e));
  char name[TM_TYPE_NAME];
  if (!tm_type_promotes(e->type, tm_type_of(base, 0)))
    return tm_complain(c->source, e->token, "%s must be %s, not %s", what,
                       base == TM_INT ? "an int" : "a real",
                       tm_type_name(e->type, name, sizeof name));
  if (no_parameters && e->level == TM_LEVEL_PARAMETER)
    return tm_complain(c->source, e->token, "%s cannot depend on parameters",
                       what);
  return TEMPERA_OK;
}

tempera_status tm_check_scalar(tm_checker *c, tm_expression *e, tm_base base,
                               bool no_parameters, const char *what) {
  TM_TRY(check_number(c, e, base, no_parameters, what));
  return c->raised ? tm_complain(c->source, e->token,
                                 "%s cannot raise the target; assign the value "
                                 "first",
                                 what)
                   : TEMPERA_OK;
}

static tempera_status check_bound(tm_checker *c, const tm_variable *v,
                                  tm_expression *e) {
  if (!e)
    return TEMPERA_OK;
  TM_TRY(tm_check_expression(c, e));
  tm_type wanted = v->type;
  if (tm_type_promotes(e->type, tm_type_of(TM_REAL, 0)) ||
      tm_type_promotes(e->type, wanted))
    return TEMPERA_OK;
  char name[TM_TYPE_NAME];
  return tm_complain(c->source, e->token,
                     "a bound of '%s' must be a real or as large as the "
                     "variable, not %s",
                     v->name, tm_type_name(e->type, name, sizeof name));
}

static tempera_status check_value(tm_checker *c, const tm_token *token,
                                  const char *name, tm_type to,
                                  const tm_expression *value) {
  if (tm_type_promotes(value->type, to))
    return TEMPERA_OK;
  char from[TM_TYPE_NAME], wanted[TM_TYPE_NAME];
  return tm_complain(c->source, token, "cannot assign %s to %s, which is %s",
                     tm_type_name(value->type, from, sizeof from), name,
                     tm_type_name(to, wanted, sizeof wanted));
}

/* Integer parameters are ours; constraints need the types they describe. */
static tempera_status check_constraint(tm_checker *c, const tm_variable *v) {
  if (v->type.base == TM_INT && v->constraint == TM_OFFSET)
    return tm_complain(c->source, v->token,
                       "an int has no offset or multiplier");
  if (v->constraint == TM_FREE || v->constraint == TM_BOUNDED || v->global)
    return TEMPERA_OK;
  return tm_complain(c->source, v->token,
                     "a local variable cannot have this type; use a plain "
                     "vector or matrix");
}

/* A value for a variable: what locals of the model keep may be the target's,
 * and then they are read like it. */
static tempera_status check_readable(tm_checker *c, tm_variable *v,
                                     tm_expression *value) {
  c->reading = !v->global && !c->function &&
               (c->loops == 0 || v->reads_target) &&
               (c->block == TM_BLOCK_MODEL ||
                c->block == TM_BLOCK_TRANSFORMED_PARAMETERS);
  c->read = false;
  TM_TRY(tm_check_expression(c, value));
  v->reads_target = v->reads_target || (c->reading && c->read);
  c->reading = false;
  return TEMPERA_OK;
}

static tempera_status check_declaration(tm_checker *c, tm_variable *v) {
  if (v->items)
    return declare(c, v);
  bool known = v->global && v->block != TM_BLOCK_MODEL;
  for (size_t i = 0; i < v->size_count; i++)
    TM_TRY(tm_check_scalar(c, v->sizes[i], TM_INT, known, "a size"));
  TM_TRY(check_constraint(c, v));
  TM_TRY(check_bound(c, v, v->lower));
  TM_TRY(check_bound(c, v, v->upper));
  TM_TRY(tm_check_integer_bounds(c, v));
  if (v->initial) {
    TM_TRY(check_readable(c, v, v->initial));
    TM_TRY(check_value(c, v->token, v->name, v->type, v->initial));
    TM_TRY(tm_widen(c, &v->initial, v->type));
  }
  return declare(c, v);
}

/* ---- assignments -------------------------------------------------------- */

static tempera_status check_assignable(tm_checker *c, const tm_expression *e) {
  const tm_expression *root = tm_root(e);
  const tm_variable *v = root->variable;
  const tm_variable *written = tm_scope_find(c, root->token->text);
  if (written && written->of)
    v = written;
  if (v->loop)
    return tm_complain(c->source, root->token,
                       "'%s' is a loop's variable and cannot be assigned",
                       tm_shown_name(v));
  if (v->argument)
    return tm_complain(c->source, root->token,
                       "'%s' is an argument and cannot be assigned; copy it "
                       "to a local variable",
                       tm_shown_name(v));
  if (v->block == TM_BLOCK_DATA || v->block == TM_BLOCK_PARAMETERS ||
      (v->global && v->block != c->block))
    return tm_complain(c->source, root->token,
                       "'%s' belongs to the %s block and cannot be assigned "
                       "%s",
                       tm_shown_name(v), tm_block_names[v->block],
                       v->block == c->block ? "at all" : "here");
  return TEMPERA_OK;
}

/* x op= y is x = x op y: type it as such. */
static tempera_status check_assignment(tm_checker *c, tm_statement *s) {
  c->reading = true; /* it is written */
  TM_TRY(tm_check_expression(c, s->left));
  c->reading = false;
  tm_variable *v = tm_root(s->left)->variable;
  TM_TRY(v ? check_readable(c, v, s->value) : tm_check_expression(c, s->value));
  if (s->left->type.base == TM_TUPLE) {
    TM_TRY(tm_assign_items(c, s));
    return check_statement(c, s);
  }
  TM_TRY(check_assignable(c, s->left));
  if (strcmp(s->op, "=")) {
    tm_expression *e = TM_NEW(c->arena, tm_expression, 1);
    tm_expression **parts = TM_NEW(c->arena, tm_expression *, 2);
    if (!e || !parts)
      return tm_fail_memory(c->source->error);
    parts[0] = s->left;
    parts[1] = s->value;
    *e = (tm_expression){.kind = TM_E_BINARY,
                         .token = s->token,
                         .text = s->op,
                         .parts = parts,
                         .part_count = 2};
    TM_TRY(check_readable(c, v, e));
    s->value = e;
    s->op = "=";
  }
  TM_TRY(check_value(c, s->token, tm_shown_name(tm_root(s->left)->variable),
                     s->left->type, s->value));
  return tm_widen(c, &s->value, s->left->type);
}

/* ---- ~ and target ------------------------------------------------------- */

static tempera_status check_jacobian_place(tm_checker *c,
                                           const tm_statement *s) {
  if (c->function ? c->function->jacobian
                  : c->block == TM_BLOCK_TRANSFORMED_PARAMETERS)
    return TEMPERA_OK;
  return tm_complain(c->source, s->token,
                     "jacobian += may only stand in transformed parameters "
                     "and in functions whose names end in _jacobian");
}

static tempera_status check_target_place(tm_checker *c, const tm_statement *s) {
  if (s->jacobian)
    return check_jacobian_place(c, s);
  if (c->function ? c->function->uses_target && !c->function->jacobian
                  : c->block == TM_BLOCK_MODEL)
    return TEMPERA_OK;
  return tm_complain(c->source, s->token,
                     "the target may only be raised in the model block and "
                     "in functions whose names end in _lp");
}

static tempera_status check_tilde(tm_checker *c, tm_statement *s) {
  TM_TRY(check_target_place(c, s));
  if (s->truncated) {
    TM_TRY(tm_check_expression(c, s->left));
    if (tm_rank(s->left->type) > 0) {
      TM_TRY(tm_truncate_each(c, s));
      return check_statement(c, s);
    }
  }
  const char *name = NULL;
  TM_TRY(tm_find_density(c, s, &name));
  const tm_token *token = s->density->token;
  s->density =
      tm_call_of(c, token, name, s->left, s->arguments, s->argument_count);
  if (!s->density)
    return tm_fail_memory(c->source->error);
  s->density->bar = !tm_ends_with(name, "_log");
  TM_TRY(tm_check_expression(c, s->density));
  s->arguments = s->density->parts + 1; /* functions among them are calls now */
  s->argument_count = s->density->part_count - 1;
  if (!s->truncated) {
    bool cut;
    TM_TRY(tm_cut_by_data(c, s, &cut));
    return cut ? check_tilde(c, s) : TEMPERA_OK;
  }
  TM_TRY(tm_check_truncation(c, s));
  return s->cut ? tm_observe_bounds(c, s) : TEMPERA_OK;
}

static tempera_status check_target(tm_checker *c, tm_statement *s) {
  TM_TRY(check_target_place(c, s));
  TM_TRY(tm_check_expression(c, s->value));
  if (s->value->type.base >= TM_INT && s->value->type.base <= TM_MATRIX)
    return TEMPERA_OK;
  char name[TM_TYPE_NAME];
  return tm_complain(c->source, s->token, "target += needs a number, not %s",
                     tm_type_name(s->value->type, name, sizeof name));
}

/* ---- control ------------------------------------------------------------ */

static tempera_status check_body(tm_checker *c, tm_statement **body,
                                 size_t count) {
  size_t outer = c->scope_count;
  for (size_t i = 0; i < count; i++)
    TM_TRY(check_statement(c, body[i]));
  c->scope_count = outer;
  return TEMPERA_OK;
}

/* What a target that is not finite may lead to: messages. Such a point has no
 * density anyway, so that rejecting it is only that. */
static tempera_status check_messages(tm_checker *c, tm_statement *const *body,
                                     size_t count, bool not_finite) {
  for (size_t i = 0; i < count; i++) {
    tm_statement *s = body[i];
    if (s->kind == TM_S_BLOCK) {
      TM_TRY(check_messages(c, s->body, s->body_count, not_finite));
      continue;
    }
    if (s->kind != TM_S_PRINT && !(s->kind == TM_S_REJECT && not_finite))
      return tm_complain(c->source, s->token,
                         "under a condition on the target's value there may "
                         "only be print, and reject where it is is_nan or "
                         "is_inf: prior and likelihood are kept apart");
    s->kind = TM_S_PRINT;
  }
  return TEMPERA_OK;
}

static tempera_status check_condition(tm_checker *c, tm_statement *s) {
  c->reading = s->kind == TM_S_IF && !c->function;
  c->read = false;
  TM_TRY(check_number(c, s->value, TM_REAL, false, "a condition"));
  bool raised = c->raised;
  c->reading = false;
  if (c->read) {
    bool not_finite =
        s->value->kind == TM_E_CALL && (!strcmp(s->value->text, "is_nan") ||
                                        !strcmp(s->value->text, "is_inf"));
    TM_TRY(check_messages(c, s->body, s->body_count, not_finite));
    if (s->otherwise)
      TM_TRY(check_messages(c, &s->otherwise, 1, false));
  }
  c->loops += s->kind == TM_S_WHILE;
  TM_TRY(check_body(c, s->body, s->body_count));
  c->loops -= s->kind == TM_S_WHILE;
  if (s->otherwise)
    TM_TRY(check_statement(c, s->otherwise));
  return raised ? tm_unfold(c, s) : TEMPERA_OK;
}

static tempera_status check_for(tm_checker *c, tm_statement *s);

static tempera_status check_tuples(tm_checker *c, tm_statement *s,
                                   const tm_expression *path) {
  size_t outer = c->scope_count;
  tm_variable *each = s->variable;
  if (!path) { /* a value is kept first */
    TM_TRY(tm_hold_tuples(c, s));
    return check_statement(c, s);
  }
  TM_TRY(tm_loop_over_tuples(c, s, path));
  TM_TRY(declare(c, each));
  TM_TRY(check_for(c, s));
  c->scope_count = outer;
  return TEMPERA_OK;
}

static tempera_status check_for(tm_checker *c, tm_statement *s) {
  size_t outer = c->scope_count;
  if (s->kind == TM_S_FOR) {
    TM_TRY(check_number(c, s->lower, TM_INT, false, "a loop's bound"));
    TM_TRY(check_number(c, s->upper, TM_INT, false, "a loop's bound"));
    s->variable->data_only = s->lower->level != TM_LEVEL_PARAMETER &&
                             s->upper->level != TM_LEVEL_PARAMETER;
  } else {
    const tm_expression *path = tm_copy_path(c, s->lower, s->lower->token);
    TM_TRY(tm_check_expression(c, s->lower));
    tm_type type = s->lower->type;
    if (type.base == TM_TUPLE ? type.depth == 0 : tm_index_rank(type) == 0)
      return tm_complain(c->source, s->lower->token,
                         "a loop runs over from:to or over a container");
    if (type.base == TM_TUPLE)
      return check_tuples(c, s, path);
    bool matrix = tm_real_type(type).base == TM_MATRIX && type.depth == 0;
    s->variable->type = tm_element(matrix ? tm_element(type) : type);
    s->variable->data_only = s->lower->level != TM_LEVEL_PARAMETER;
  }
  bool raised = c->raised;
  TM_TRY(declare(c, s->variable));
  c->loops++;
  TM_TRY(check_body(c, s->body, s->body_count));
  c->loops--;
  c->scope_count = outer;
  return raised ? tm_unfold(c, s) : TEMPERA_OK;
}

static tempera_status check_return(tm_checker *c, tm_statement *s) {
  if (!c->function)
    return tm_complain(c->source, s->token,
                       "return may only stand in a function");
  tm_type wanted = c->function->result;
  if (!s->value)
    return wanted.base == TM_VOID
               ? TEMPERA_OK
               : tm_complain(c->source, s->token,
                             "this function must return a value");
  TM_TRY(tm_check_expression(c, s->value));
  char from[TM_TYPE_NAME], to[TM_TYPE_NAME];
  if (wanted.base == TM_VOID || !tm_type_promotes(s->value->type, wanted))
    return tm_complain(c->source, s->value->token,
                       "cannot return %s from a function of type %s",
                       tm_type_name(s->value->type, from, sizeof from),
                       tm_type_name(wanted, to, sizeof to));
  return tm_widen(c, &s->value, wanted);
}

static tempera_status check_message(tm_checker *c, tm_statement *s) {
  c->printing = s->kind == TM_S_PRINT;
  for (size_t i = 0; i < s->argument_count; i++) {
    TM_TRY(tm_check_expression(c, s->arguments[i]));
    if (s->arguments[i]->type.base == TM_VOID)
      return tm_complain(c->source, s->arguments[i]->token,
                         "this function returns nothing");
  }
  c->printing = false;
  TM_TRY(tm_print_items(c, s));
  return c->raised ? tm_complain(c->source, s->token,
                                 "a message cannot raise the target")
                   : TEMPERA_OK;
}

static tempera_status check_call_statement(tm_checker *c, tm_statement *s) {
  TM_TRY(tm_check_expression(c, s->value));
  if (s->value->type.base == TM_VOID)
    return TEMPERA_OK;
  return tm_complain(c->source, s->token,
                     "the value of %s is not used; assign it to something",
                     s->value->text);
}

static tempera_status check_kind(tm_checker *c, tm_statement *s) {
  switch (s->kind) {
  case TM_S_EMPTY:
    return TEMPERA_OK;
  case TM_S_BLOCK:
    return check_body(c, s->body, s->body_count);
  case TM_S_DECLARE:
    return check_declaration(c, s->variable);
  case TM_S_ASSIGN:
    TM_TRY(check_assignment(c, s));
    return c->raised && !s->mark && !tm_raises_alone(s->value) ? tm_unfold(c, s)
                                                               : TEMPERA_OK;
  case TM_S_TILDE:
    TM_TRY(check_tilde(c, s));
    return c->raised ? tm_unfold(c, s) : TEMPERA_OK;
  case TM_S_TARGET:
    TM_TRY(check_target(c, s));
    tm_read_as_tilde(c, s);
    if (s->kind == TM_S_TILDE)
      return check_tilde(c, s);
    return c->raised && !tm_raises_alone(s->value) ? tm_unfold(c, s)
                                                   : TEMPERA_OK;
  case TM_S_IF:
  case TM_S_WHILE:
    return check_condition(c, s);
  case TM_S_FOR:
  case TM_S_FOREACH:
    return check_for(c, s);
  case TM_S_BREAK:
  case TM_S_CONTINUE:
    return c->loops ? TEMPERA_OK
                    : tm_complain(c->source, s->token,
                                  "this may only stand in a loop");
  case TM_S_RETURN:
    return check_return(c, s);
  case TM_S_PRINT:
  case TM_S_REJECT:
    return check_message(c, s);
  case TM_S_CALL:
    return check_call_statement(c, s);
  }
  return TEMPERA_OK;
}

static tempera_status check_statement(tm_checker *c, tm_statement *s) {
  c->raised = false;
  TM_TRY(check_kind(c, s));
  s->raises = c->raised;
  c->raised = false;
  return TEMPERA_OK;
}

/* ---- functions and blocks ----------------------------------------------- */

static bool always_returns(tm_statement *const *body, size_t count) {
  for (size_t i = 0; i < count; i++) {
    const tm_statement *s = body[i];
    if (s->kind == TM_S_RETURN || s->kind == TM_S_REJECT)
      return true;
    bool inside =
        s->kind == TM_S_BLOCK || s->kind == TM_S_FOR || s->kind == TM_S_FOREACH;
    if (inside && always_returns(s->body, s->body_count))
      return true;
    if (s->kind == TM_S_WHILE && s->value->kind == TM_E_INT && s->value->whole)
      return true;
    if (s->kind == TM_S_IF && s->otherwise &&
        always_returns(s->body, s->body_count) &&
        always_returns(s->otherwise->body, s->otherwise->body_count))
      return true;
  }
  return false;
}

static tempera_status check_function(tm_checker *c, tm_function *f) {
  c->function = f;
  c->scope_count = 0;
  c->block = TM_BLOCK_FUNCTIONS;
  if ((tm_ends_with(f->name, "_lpdf") || tm_ends_with(f->name, "_lpmf")) &&
      (f->argument_count == 0 ||
       !tm_type_equal(f->result, tm_type_of(TM_REAL, 0))))
    return tm_complain(c->source, f->token,
                       "%s must return real and have an outcome as its "
                       "first argument",
                       f->name);
  if (tm_ends_with(f->name, "_lpmf") && f->argument_count &&
      !tm_is_whole(f->arguments[0]->type))
    return tm_complain(c->source, f->token,
                       "the outcome of a mass function is an int; name %s "
                       "..._lpdf if it is real",
                       f->name);
  for (size_t i = 0; i < f->argument_count; i++)
    TM_TRY(declare(c, f->arguments[i]));
  TM_TRY(check_statement(c, f->body));
  c->function = NULL;
  if (f->result.base != TM_VOID &&
      !always_returns(f->body->body, f->body->body_count))
    return tm_complain(c->source, f->token,
                       "%s may end without returning a value", f->name);
  return TEMPERA_OK;
}

static bool same_arguments(const tm_function *a, const tm_function *b) {
  if (strcmp(a->name, b->name) || a->argument_count != b->argument_count)
    return false;
  for (size_t i = 0; i < a->argument_count; i++)
    if (!tm_type_equal(a->arguments[i]->type, b->arguments[i]->type))
      return false;
  return true;
}

static tempera_status check_functions(tm_checker *c) {
  tm_program *p = c->program;
  for (size_t i = 0; i < p->function_count; i++)
    for (size_t k = 0; k < p->function_count; k++) {
      tm_function *f = p->functions[i], *g = p->functions[k];
      if (i == k || !same_arguments(f, g))
        continue;
      if (!f->body && g->body)
        f->definition = g;
      else if (f->body && g->body && k > i)
        return tm_complain(c->source, g->token,
                           "%s is already defined in line %d", g->name,
                           f->token->line);
    }
  for (size_t i = 0; i < p->function_count; i++) {
    tm_function *f = p->functions[i];
    if (!f->body && !f->definition)
      return tm_complain(c->source, f->token,
                         "%s is declared but never defined", f->name);
    if (f->body)
      TM_TRY(check_function(c, f));
  }
  c->scope_count = 0;
  return TEMPERA_OK;
}

static tempera_status collect_globals(tm_program *p) {
  tm_list list = {0}, tuples = {0};
  for (int b = 0; b < TM_BLOCK_COUNT; b++)
    for (size_t i = 0; i < p->blocks[b].count; i++) {
      tm_statement *s = p->blocks[b].statements[i];
      if (s->kind == TM_S_DECLARE && s->variable->global &&
          !tm_list_add(p->source.arena, s->variable->items ? &tuples : &list,
                       s->variable))
        return tm_fail_memory(p->source.error);
    }
  p->globals = (tm_variable **)list.items;
  p->global_count = list.count;
  p->tuples = (tm_variable **)tuples.items;
  p->tuple_count = tuples.count;
  return TEMPERA_OK;
}

static tempera_status check_marks(const tm_program *p) {
  for (size_t i = 0; i < p->source.annotation_count; i++) {
    const tm_annotation *a = &p->source.annotations[i];
    if (!a->used)
      return tm_complain_at(&p->source, a->file, a->line, a->column,
                            "this mark belongs at the end of a ~ or "
                            "target += statement, on its last line");
  }
  return TEMPERA_OK;
}

tempera_status tm_check(tm_program *program) {
  tm_checker c = {.program = program,
                  .source = &program->source,
                  .arena = program->source.arena};
  TM_TRY(collect_globals(program));
  TM_TRY(check_functions(&c));
  for (int b = TM_BLOCK_DATA; b < TM_BLOCK_COUNT; b++) {
    c.block = (tm_block_kind)b;
    size_t outer = c.scope_count;
    if (b == TM_BLOCK_TRANSFORMED_PARAMETERS)
      TM_TRY(tm_place_guards(&c, &program->blocks[b]));
    TM_TRY(check_body(&c, program->blocks[b].statements,
                      program->blocks[b].count));
    /* Names declared at the top stay; those of the model block go. */
    if (b == TM_BLOCK_MODEL)
      c.scope_count = outer;
    else
      c.scope_count = outer + (size_t)0;
    for (size_t i = 0; b != TM_BLOCK_MODEL && i < program->global_count; i++)
      if (program->globals[i]->block == c.block)
        TM_TRY(declare(&c, program->globals[i]));
    for (size_t i = 0; b != TM_BLOCK_MODEL && i < program->tuple_count; i++)
      if (program->tuples[i]->block == c.block)
        TM_TRY(declare(&c, program->tuples[i]));
  }
  return check_marks(program);
}
