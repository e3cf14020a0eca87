/* emit_statement.c - statements to C. */
#include "language/emit/find_rows.h"

#include <stdio.h>
#include <string.h>

static void emit_statement(tm_emitter *g, const tm_statement *s);
static void emit_loud(tm_emitter *g, const tm_statement *s);

/* Does s declare or assign another variable, without v? */
static bool passes_by(const tm_statement *s, const tm_variable *v) {
  if (s->shadow || s->instead || s->raises)
    return false;
  if (s->kind == TM_S_DECLARE) {
    bool found = tm_mentions(s->variable->initial, v);
    for (size_t i = 0; i < s->variable->size_count; i++)
      found = found || tm_mentions(s->variable->sizes[i], v);
    return !found;
  }
  return s->kind == TM_S_ASSIGN && !tm_mentions(s->left, v) &&
         !tm_mentions(s->value, v);
}

/* Is the variable that body[0] declares next met where it is assigned whole?
 * Then it needs no storage until then. */
static bool is_assigned_next(tm_statement *const *body, size_t count) {
  const tm_variable *v = body[0]->variable;
  size_t i = 1;
  while (i < count && passes_by(body[i], v))
    i++;
  const tm_statement *s = i < count ? body[i] : NULL;
  return s && s->kind == TM_S_ASSIGN && !s->shadow && !s->instead &&
         !s->raises && s->left->kind == TM_E_NAME && s->left->variable == v &&
         !tm_mentions(s->value, v);
}

void tm_emit_statements(tm_emitter *g, tm_statement *const *body,
                        size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (body[i]->kind == TM_S_DECLARE)
      g->bare = g->remembers && is_assigned_next(body + i, count - i);
    if (tm_emit_keeps(g, body[i]) && !(body[i]->summed && g->remembers))
      emit_statement(g, body[i]);
    g->bare = false;
    if (body[i]->shadow)
      tm_emit_statements(g, &body[i]->shadow, 1);
  }
}

static void begin(tm_emitter *g) { tm_emit(g, "%*s", 2 * g->indent, ""); }
static void end(tm_emitter *g) { tm_emit(g, ";\n"); }

static void emit_body(tm_emitter *g, tm_statement *const *body, size_t count) {
  tm_emit(g, "{\n");
  g->indent++;
  tm_emit_statements(g, body, count);
  g->indent--;
  tm_emit_line(g, "}");
}

/* ---- declarations ------------------------------------------------------- */

/* rank, (int[]){sizes}; the parts of complex numbers are the last dimension. */
void tm_emit_sizes(tm_emitter *g, const tm_variable *v) {
  bool complex = tm_is_complex(v->type);
  tm_emit(g, "%zu, (int[]){", v->size_count + complex);
  for (size_t i = 0; i < v->size_count; i++) {
    tm_emit(g, "%stm_size(t, ", i ? ", " : "");
    tm_emit_expression(g, v->sizes[i]);
    tm_emit(g, ", ");
    tm_emit_place(g, v->token);
    tm_emit(g, ")");
  }
  tm_emit(g, "%s}", !complex ? "" : v->size_count ? ", 2" : "2");
}

static bool is_active(const tm_emitter *g, const tm_variable *v) {
  return g->gradient && v->type.base != TM_INT;
}

/* An element of an argument keeps its value while its function runs. Adjoints
 * that the target goes straight to are another matter. */
static bool lasts(const tm_emitter *g, const tm_expression *e) {
  return e->kind == TM_E_INDEX && e->parts[0]->kind == TM_E_NAME &&
         e->parts[0]->variable->argument && g->function &&
         !g->function->uses_target;
}

void tm_emit_kept(tm_emitter *g, const tm_expression *e, tm_held held) {
  bool copy = held == TM_VAR && tm_held_of(g, e) == TM_VAR && tm_aliases(e) &&
              !lasts(g, e);
  tm_emit(g, copy ? "tm_copy(t, " : "");
  tm_emit_as(g, e, held);
  tm_emit(g, copy ? ")" : "");
}

static void emit_assigned(tm_emitter *g, const tm_variable *v,
                          const tm_expression *value, const tm_token *token) {
  tm_emit(g, ", ");
  tm_emit_expression(g, value);
  tm_emit(g, ", %d, %d, \"%s\", ", !tm_aliases(value), is_active(g, v),
          v->name);
  tm_emit_place(g, token);
  tm_emit(g, ")");
}

static bool in_instance(const tm_variable *v) {
  return v->global &&
         (v->block == TM_BLOCK_DATA || v->block == TM_BLOCK_TRANSFORMED_DATA);
}

static void emit_declaration(tm_emitter *g, const tm_variable *v) {
  tm_held held = tm_held_variable(g, v);
  if (v->items)
    return; /* a name for others */
  begin(g);
  if (!in_instance(v))
    tm_emit(g, "%s ", tm_c_type(g, v->type, held));
  tm_emit_variable(g, v);
  tm_emit(g, " = ");
  if (held == TM_STRUCT) {
    tm_emit_given(g, v->initial, v->type, held);
  } else if (held == TM_TENSOR && v->held) { /* as it comes */
    tm_emit_expression(g, v->initial);
  } else if (held == TM_TENSOR) {
    if (v->initial)
      tm_emit(g, "t->runtime->assign(t, tm_shape(");
    else
      tm_emit(g, g->bare ? "tm_shape(" : "tm_declare(t, ");
    tm_emit_sizes(g, v);
    if (v->initial) {
      tm_emit(g, ")");
      emit_assigned(g, v, v->initial, v->token);
    } else if (g->bare) {
      tm_emit(g, ")");
    } else {
      tm_emit(g, ", %d)", is_active(g, v));
    }
  } else if (v->initial) {
    tm_emit_kept(g, v->initial, held);
  } else {
    tm_emit(g, held == TM_LONG     ? "-2147483647L"
               : held == TM_DOUBLE ? "NAN"
                                   : "tm_constant(NAN)");
  }
  end(g);
  if (held == TM_TENSOR)
    tm_emit_line(g, "(void)%sv_%s;", in_instance(v) ? "I->" : "", v->name);
}

/* ---- assignments -------------------------------------------------------- */

/* Is it a node of its own? */
static bool is_fresh(const tm_emitter *g, const tm_expression *e) {
  if (tm_is_dot(e))
    return !tm_emit_remembers(g, e);
  return e->kind == TM_E_CALL && e->builtin && e->part_count == 1 &&
         !strcmp(e->builtin->name, "log_sum_exp") &&
         tm_rank(e->parts[0]->type) > 0 && !tm_emit_remembers(g, e);
}

/* x[i] = scalar with single indices only. */
static void emit_element(tm_emitter *g, const tm_statement *s) {
  tm_flat_index flat;
  const tm_expression *e = tm_flat_of(s->left, &flat);
  const tm_variable *v = tm_root(e)->variable;
  bool active = is_active(g, v);
  tm_emit(g, "{ tm_tensor y_ = ");
  tm_emit_expression(g, e->parts[0]);
  tm_emit(g, "; long i_ = 0;");
  for (size_t i = 0; i < e->index_count; i++) {
    tm_emit(g, " i_ = i_ * y_.dim[%zu] + tm_at(t, ", i);
    tm_emit_expression(g, e->indices[i].from);
    tm_emit(g, ", y_.dim[%zu], ", i);
    tm_emit_place(g, e->token);
    tm_emit(g, ");");
  }
  if (active && tm_is_fused(g, s->value)) {
    tm_emit(g, " ");
    tm_emit_fused_into(g, s->value);
    tm_emit(g, "}\n");
    return;
  }
  bool fresh = is_fresh(g, s->value);
  tm_emit(g, !active ? " y_.v[i_] = (double)("
             : fresh ? " tm_set_fresh(t, y_, i_, "
                     : " tm_set(t, y_, i_, ");
  tm_emit_as(g, s->value,
             active                   ? TM_VAR
             : v->type.base == TM_INT ? TM_LONG
                                      : TM_DOUBLE);
  tm_emit(g, "); }\n");
}

/* x[i] = container with single indices only. */
static void emit_place_assignment(tm_emitter *g, const tm_statement *s) {
  tm_flat_index flat;
  const tm_expression *e = tm_flat_of(s->left, &flat);
  tm_emit(g, "{ tm_tensor x_ = ");
  tm_emit_expression(g, e->parts[0]);
  tm_emit(g, "; t->runtime->fill(t, &x_, %zu, (long[]){", e->index_count);
  for (size_t i = 0; i < e->index_count; i++) {
    tm_emit(g, i ? ", " : "");
    tm_emit_expression(g, e->indices[i].from);
  }
  tm_emit(g, "}, ");
  tm_emit_expression(g, s->value);
  tm_emit(g, ", ");
  tm_emit_place(g, s->left->token);
  tm_emit(g, "); }\n");
}

static void emit_slice_assignment(tm_emitter *g, const tm_statement *s) {
  if (tm_index_single(s->left) && tm_held_of(g, s->value) == TM_TENSOR) {
    emit_place_assignment(g, s);
    return;
  }
  tm_emit(g, "t->runtime->scatter(t, ");
  tm_emit_expression(g, s->left->parts[0]);
  tm_emit(g, ", ");
  tm_emit_slices(g, s->left);
  tm_emit(g, ", ");
  tm_emit_any(g, s->value);
  tm_emit(g, ", ");
  tm_emit_place(g, s->left->token);
  tm_emit(g, ")");
  end(g);
}

static void emit_assignment(tm_emitter *g, const tm_statement *s) {
  const tm_expression *left = s->left;
  const tm_variable *v = tm_root(left)->variable;
  begin(g);
  if (left->kind == TM_E_INDEX) {
    if (tm_index_single(left) && tm_rank(left->type) == 0)
      emit_element(g, s);
    else
      emit_slice_assignment(g, s);
    return;
  }
  tm_emit_variable(g, v);
  tm_emit(g, " = ");
  if (tm_rank(v->type) > 0) {
    tm_emit(g, "t->runtime->assign(t, ");
    tm_emit_variable(g, v);
    emit_assigned(g, v, s->value, s->token);
  } else {
    tm_emit_kept(g, s->value, tm_held_variable(g, v));
  }
  end(g);
}

/* The other way round: the parameter from what copies it. */
static void emit_copy_back(tm_emitter *g, const tm_statement *s) {
  tm_statement turned = *s;
  const tm_variable *v = tm_root(s->value)->variable;
  turned.left = s->value;
  turned.value = s->left;
  emit_assignment(g, &turned);
  tm_emit_line(g,
               tm_held_variable(g, v) == TM_TENSOR ? "p_%s = v_%s;"
                                                   : "p_%s.v[0] = v_%s;",
               v->name, v->name);
}

/* ---- the target --------------------------------------------------------- */

/* Sums go in term by term, densities straight into the adjoints. */
void tm_emit_term(tm_emitter *g, const tm_expression *e) {
  if (tm_emit_leaves_out(g, e))
    return;
  if (e->kept && tm_is_scalar(e->type) && !g->replicating) {
    tm_emit_line(g, "t->log_density += I->kept_%d;", e->kept);
    if (!e->kept_terms)
      return;
  }
  if (e->kind == TM_E_BINARY && !strcmp(e->text, "+") &&
      tm_is_scalar(e->type)) {
    tm_emit_term(g, e->parts[0]);
    tm_emit_term(g, e->parts[1]);
    return;
  }
  begin(g);
  if (tm_is_fused(g, e)) {
    tm_emit_fused_target(g, e);
    tm_emit(g, "\n");
    return;
  }
  bool remembered = tm_emit_remembers(g, e);
  if (tm_is_scalar_density(e) && !remembered) {
    tm_emit(g, "t->log_density += ");
    tm_emit_number(g, e);
    end(g);
    return;
  }
  bool direct =
      e->kind == TM_E_CALL && e->builtin && !remembered &&
      (strstr(e->builtin->name, "_lpdf") || strstr(e->builtin->name, "_lpmf"));
  tm_emit(g, "tm_add(t, ");
  if (direct) {
    char flags[80] = " | TM_DIRECT";
    if (e->kept_terms && !g->replicating)
      snprintf(flags, sizeof flags, " | TM_DIRECT | TM_REST | %u << TM_CHOSEN",
               e->kept_terms);
    tm_emit_library(g, e->builtin->name, e->builtin->signature, e->parts,
                    e->part_count, flags);
    tm_emit(g, ".u.r");
  } else if (tm_rank(e->type) > 0) {
    tm_expression *part = (tm_expression *)(uintptr_t)e;
    tm_emit_library(g, "sum", "v:r", &part, 1, "");
    tm_emit(g, ".u.r");
  } else {
    tm_emit_kept(g, e, TM_VAR);
  }
  tm_emit(g, ")");
  end(g);
}

/* log(exp(more) - exp(less)) */
static void emit_between(tm_emitter *g, const tm_expression *more,
                         const tm_expression *less) {
  tm_emit(g, "tm_v_log_diff_exp(t, ");
  tm_emit_as(g, more, TM_VAR);
  tm_emit(g, ", ");
  tm_emit_as(g, less, TM_VAR);
  tm_emit(g, ")");
}

void tm_emit_truncation(tm_emitter *g, const tm_statement *s) {
  for (int i = 0; i < 2; i++) {
    const tm_expression *bound = i ? s->upper : s->lower;
    if (!bound)
      continue;
    begin(g);
    tm_emit(g, "if (");
    tm_emit_number(g, s->left);
    tm_emit(g, i ? " > " : " < ");
    tm_emit_number(g, bound);
    tm_emit(g, ") t->log_density = -INFINITY");
    end(g);
  }
  begin(g);
  tm_emit(g, "tm_add(t, tm_v_negative(t, ");
  if (s->cdf[2] && s->cdf[3]) {
    tm_emit(g, "(");
    tm_emit_number(g, s->cdf[1]);
    tm_emit(g,
            " > -0.69 ? "); /* log 1/2: the lower bound is in the upper half */
    emit_between(g, s->cdf[3], s->cdf[2]);
    tm_emit(g, " : ");
    emit_between(g, s->cdf[0], s->cdf[1]);
    tm_emit(g, ")");
  } else if (s->cdf[0] && s->cdf[1]) {
    emit_between(g, s->cdf[0], s->cdf[1]);
  } else {
    tm_emit_as(g, s->cdf[0] ? s->cdf[0] : s->cdf[1], TM_VAR);
  }
  tm_emit(g, "))");
  end(g);
}

/* ---- control ------------------------------------------------------------ */

static void emit_condition(tm_emitter *g, const tm_statement *s) {
  begin(g);
  tm_emit(g, s->kind == TM_S_IF ? "if (" : "while (");
  tm_emit_number(g, s->value);
  tm_emit(g, " != 0) ");
  emit_body(g, s->body, s->body_count);
  if (s->otherwise && tm_emit_keeps(g, s->otherwise)) {
    begin(g);
    tm_emit(g, "else ");
    emit_body(g, s->otherwise->body, s->otherwise->body_count);
  }
}

static void emit_for(tm_emitter *g, const tm_statement *s) {
  size_t around = g->memo_count;
  if (g->remembers)
    tm_emit_memos(g, s);
  begin(g);
  tm_emit(g, "for (long v_%s = ", s->variable->name);
  tm_emit_expression(g, s->lower);
  tm_emit(g, ", end_ = ");
  tm_emit_expression(g, s->upper);
  tm_emit(g, "; v_%s <= end_; v_%s++) ", s->variable->name, s->variable->name);
  emit_body(g, s->body, s->body_count);
  g->memo_count = around;
}

static void emit_foreach(tm_emitter *g, const tm_statement *s) {
  const tm_variable *v = s->variable;
  tm_held held = tm_held_variable(g, v);
  begin(g);
  tm_emit(g, "{ tm_tensor each_ = ");
  tm_emit_expression(g, s->lower);
  end(g);
  tm_type type = s->lower->type;
  bool matrix = tm_real_type(type).base == TM_MATRIX && type.depth == 0;
  tm_emit_line(g, "for (long n_ = 0; n_ < %s; n_++) {",
               matrix ? "each_.dim[0] * each_.dim[1]" : "each_.dim[0]");
  const char *at = matrix ? "n_ % each_.dim[0] * each_.dim[1] + "
                            "n_ / each_.dim[0]"
                          : "n_";
  begin(g);
  tm_emit(g, "%s v_%s = ", tm_held_name(held), v->name);
  if (held == TM_TENSOR)
    tm_emit(g, "tm_sub(each_, %s, %d)", at, 1 + matrix);
  else if (held == TM_VAR)
    tm_emit(g, "tm_copy(t, tm_element_of(each_, %s))", at);
  else
    tm_emit(g, "(%s)each_.v[%s]", tm_held_name(held), at);
  end(g);
  begin(g);
  emit_body(g, s->body, s->body_count);
  tm_emit_line(g, "} }");
}

/* Bytes as octal where C could see more than a character. */
static void emit_string(tm_emitter *g, const tm_expression *e) {
  tm_emit(g, "tm_any_text(\"");
  for (size_t i = 1; i + 1 < e->token->length; i++) {
    unsigned char c = (unsigned char)e->token->text[i];
    bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == ' ' ||
                 c == '_' || c == ',' || c == '.' || c == '=' || c == ':';
    tm_emit(g, plain ? "%c" : "\\%03o", c);
  }
  tm_emit(g, "\")");
}

static void emit_message(tm_emitter *g, const tm_statement *s) {
  begin(g);
  tm_emit(g, "t->runtime->message(t, ");
  tm_emit_place(g, s->token);
  tm_emit(g, ", %d, (tm_any[]){",
          s->kind != TM_S_REJECT ? 0
          : s->fatal             ? 2
                                 : 1);
  for (size_t i = 0; i < s->argument_count; i++) {
    tm_emit(g, i ? ", " : "");
    if (s->arguments[i]->kind == TM_E_STRING) {
      emit_string(g, s->arguments[i]);
    } else if (tm_is_complex(s->arguments[i]->type)) {
      tm_emit(g, "tm_any_pairs(");
      tm_emit_expression(g, s->arguments[i]);
      tm_emit(g, ")");
    } else
      tm_emit_any(g, s->arguments[i]);
  }
  tm_emit(g, "%s}, %zu)", s->argument_count ? "" : "{0}", s->argument_count);
  end(g);
}

static void emit_return(tm_emitter *g, const tm_statement *s) {
  begin(g);
  tm_emit(g, "return ");
  if (s->value)
    tm_emit_given(g, s->value, g->function->result,
                  tm_held_type(g, g->function->result, TM_LEVEL_PARAMETER));
  end(g);
}

static void emit_simple(tm_emitter *g, const tm_statement *s) {
  begin(g);
  if (s->kind == TM_S_CALL)
    tm_emit_expression(g, s->value);
  else
    tm_emit(g, s->kind == TM_S_BREAK ? "break" : "continue");
  end(g);
}

/* While explaining, a statement that makes the density zero says so. */
static void emit_explanation(tm_emitter *g, const tm_statement *s) {
  size_t count = s->kind == TM_S_TILDE ? s->argument_count : 0;
  tm_emit_line(g, "if (!(t->log_density > -INFINITY))");
  begin(g);
  tm_emit(g, "  t->runtime->message(t, ");
  tm_emit_place(g, s->token);
  tm_emit(g,
          ", 1, (tm_any[]){tm_any_text(\"the density is zero or not a "
          "number%s%s\")",
          count ? "; arguments of " : "", count ? s->distribution : "");
  for (size_t i = 0; i < count; i++) {
    tm_emit(g, ", tm_any_text(\"%s\"), ", i ? ", " : ": ");
    if (s->arguments[i]->type.base == TM_TUPLE)
      tm_emit(g, "tm_any_text(\"a tuple\")");
    else
      tm_emit_any(g, s->arguments[i]);
  }
  tm_emit(g, "}, %zu)", 1 + 2 * count);
  end(g);
}

/* What raises the target and nothing else. */
static bool only_raises(const tm_statement *s) {
  return s->kind == TM_S_TILDE || s->kind == TM_S_TARGET ||
         (s->kind == TM_S_CALL && s->value->function &&
          s->value->function->uses_target);
}

static void emit_kind(tm_emitter *g, const tm_statement *s) {
  if (s->instead && !g->drawing) {
    tm_emit_statements(g, &s->instead, 1);
    return;
  }
  if (g->rows && s->rows) {
    tm_emit_rows(g, s->rows);
    return;
  }
  if (g->drawing && tm_emit_draws(g, s)) {
    tm_emit_draw(g, s);
    return;
  }
  if (tm_copies_back(g, s)) {
    emit_copy_back(g, s);
    return;
  }
  if (g->pointing && tm_emit_pointed(g, s))
    return;
  if (g->replicating && tm_emit_replicated(g, s))
    return;
  if (g->silent && only_raises(s))
    return;
  if (s->raises && !only_raises(s) && g->needed && !(s->part & g->part)) {
    g->silent = true;
    emit_loud(g, s);
    g->silent = false;
    return;
  }
  emit_loud(g, s);
}

static void emit_statement(tm_emitter *g, const tm_statement *s) {
  if ((g->explaining || g->measuring) && s->kind == TM_S_PRINT)
    return;
  if (g->measuring && tm_is_guard(s)) {
    begin(g);
    tm_emit_guard(g, s);
    end(g);
    return;
  }
  char place[TM_PLACE];
  if (g->explaining || g->placing)
    tm_emit_line(g, "t->place = \"%s\";", tm_place_text(s->token, place));
  emit_kind(g, s);
  if (g->measuring && only_raises(s))
    tm_emit_line(g, "if (!(t->log_density > -INFINITY)) t->shortfall += 1, "
                    "t->log_density = 0;");
  if (!g->explaining)
    return;
  if (s->part & TM_PART_LIKELIHOOD && !tm_passes_on(&g->program->split, s))
    tm_emit_line(g, "t->scored++;");
  if (s->kind == TM_S_TILDE || s->kind == TM_S_TARGET || s->kind == TM_S_CALL)
    emit_explanation(g, s);
}

static void emit_loud(tm_emitter *g, const tm_statement *s) {
  if (s->kind != TM_S_BLOCK && s->kind != TM_S_EMPTY)
    tm_emit_line(g, "/* line %d */", s->token->line);
  switch (s->kind) {
  case TM_S_EMPTY:
    break;
  case TM_S_BLOCK:
    begin(g);
    emit_body(g, s->body, s->body_count);
    break;
  case TM_S_DECLARE:
    emit_declaration(g, s->variable);
    break;
  case TM_S_ASSIGN:
    emit_assignment(g, s);
    break;
  case TM_S_TILDE:
    tm_emit_term(g, s->density);
    if (s->cdf[0] || s->cdf[1])
      tm_emit_truncation(g, s);
    break;
  case TM_S_TARGET:
    tm_emit_term(g, s->value);
    break;
  case TM_S_IF:
  case TM_S_WHILE:
    emit_condition(g, s);
    break;
  case TM_S_FOR:
    emit_for(g, s);
    break;
  case TM_S_FOREACH:
    emit_foreach(g, s);
    break;
  case TM_S_RETURN:
    emit_return(g, s);
    break;
  case TM_S_PRINT:
  case TM_S_REJECT:
    emit_message(g, s);
    break;
  default:
    emit_simple(g, s);
  }
}
