/* patch.c - outcomes with missing values.
 *
 *     vector[N] Yl = Y;
 *     Yl[Jmi] = Ymi;
 *     Yl ~ normal(mu, sigma);
 *
 * scores the observed elements, which is likelihood, and the missing ones,
 * which are parameters: that is their prior. A mask beside Yl, assigned
 * wherever Yl is, says which are which, and the statement becomes a loop over
 * elements. The mask's name begins with a digit: no program can have it. */
#include "language/check/split.h"
#include "language/check/term.h"

#include <stdio.h>
#include <string.h>

typedef struct patcher {
  tm_split *split;
  tm_arena *arena;
  bool failed; /* out of memory */
} patcher;

/* ---- is it one? --------------------------------------------------------- */

static bool is_copy(const tm_expression *e) {
  e = tm_root(e);
  return e->kind == TM_E_NAME && e->variable->block == TM_BLOCK_PARAMETERS;
}

/* Every value of v is data alone or a copy of parameters. */
static bool is_pieced(const tm_split *split, tm_statement *const *body,
                      size_t count, const tm_variable *v, bool *copies) {
  for (size_t i = 0; i < count; i++) {
    const tm_statement *s = body[i];
    const tm_expression *value = NULL;
    if (s->kind == TM_S_DECLARE && s->variable == v)
      value = v->initial;
    if (s->kind == TM_S_ASSIGN && tm_root(s->left)->variable == v)
      value = s->value;
    if (value && is_copy(value))
      *copies = true;
    else if (value && tm_depends(split, value).parameters)
      return false;
    if (!is_pieced(split, s->body, s->body_count, v, copies) ||
        (s->otherwise && !is_pieced(split, &s->otherwise, 1, v, copies)))
      return false;
  }
  return true;
}

static bool has_mask_type(const tm_variable *v) {
  bool vector = v->type.depth == 0 &&
                (v->type.base == TM_VECTOR || v->type.base == TM_ROW_VECTOR);
  return vector || (v->type.depth == 1 && v->type.base == TM_REAL);
}

static const tm_expression *density_of(const tm_statement *s) {
  const tm_expression *e = s->kind == TM_S_TILDE ? s->density : s->value;
  bool plain = e && e->kind == TM_E_CALL && e->builtin &&
               e->builtin->kind == TM_B_DENSITY && tm_is_density(e);
  return plain && !s->truncated && s->mark == TM_MARK_NONE ? e : NULL;
}

static const tm_variable *patched(const tm_split *split,
                                  const tm_expression *density) {
  const tm_expression *root = tm_root(density->parts[0]);
  const tm_variable *v = root->kind == TM_E_NAME ? root->variable : NULL;
  bool copies = false;
  if (!v || !has_mask_type(v) ||
      (v->block != TM_BLOCK_MODEL &&
       v->block != TM_BLOCK_TRANSFORMED_PARAMETERS) ||
      split->variables[v->index].data != TM_DATA_VALUE ||
      !split->variables[v->index].parameters)
    return NULL;
  static const tm_block_kind blocks[] = {TM_BLOCK_TRANSFORMED_PARAMETERS,
                                         TM_BLOCK_MODEL};
  for (size_t i = 0; i < 2; i++) {
    const tm_block_node *b = &split->program->blocks[blocks[i]];
    if (!is_pieced(split, b->statements, b->count, v, &copies))
      return NULL;
  }
  return copies ? v : NULL;
}

/* ---- making expressions and statements ---------------------------------- */

static tm_expression *make(patcher *p, tm_expression e, size_t parts) {
  tm_expression *made = TM_NEW(p->arena, tm_expression, 1);
  e.parts = TM_NEW(p->arena, tm_expression *, parts + 1);
  e.part_count = parts;
  p->failed = p->failed || !made || !e.parts;
  if (p->failed)
    return NULL;
  *made = e;
  return made;
}

static tm_expression *make_int(patcher *p, const tm_token *token,
                               int64_t value) {
  return make(p,
              (tm_expression){.kind = TM_E_INT,
                              .token = token,
                              .text = token->text,
                              .whole = value,
                              .type = tm_type_of(TM_INT, 0)},
              0);
}

static tm_expression *make_name(patcher *p, const tm_token *token,
                                tm_variable *v) {
  return make(p,
              (tm_expression){.kind = TM_E_NAME,
                              .token = token,
                              .text = v->name,
                              .variable = v,
                              .type = v->type,
                              .level = TM_LEVEL_PARAMETER},
              0);
}

static tm_expression *make_binary(patcher *p, const char *op, tm_type type,
                                  tm_expression *a, tm_expression *b) {
  tm_expression *e = p->failed
                         ? NULL
                         : make(p,
                                (tm_expression){.kind = TM_E_BINARY,
                                                .token = a->token,
                                                .text = op,
                                                .type = type,
                                                .level = TM_LEVEL_PARAMETER},
                                2);
  if (e) {
    e->parts[0] = a;
    e->parts[1] = b;
  }
  return e;
}

/* name(e) */
static tm_expression *make_call(patcher *p, const char *name,
                                tm_expression *argument) {
  bool exists;
  tm_type result;
  if (p->failed)
    return NULL;
  const tm_builtin *builtin =
      tm_builtin_find(name, &argument->type, 1, &result, &exists);
  tm_expression *e = make(p,
                          (tm_expression){.kind = TM_E_CALL,
                                          .token = argument->token,
                                          .text = name,
                                          .builtin = builtin,
                                          .type = result,
                                          .level = argument->level},
                          1);
  if (e)
    e->parts[0] = argument;
  return e;
}

static tm_statement *make_statement(patcher *p, tm_statement_kind kind,
                                    const tm_token *token, size_t body) {
  tm_statement *s = TM_NEW(p->arena, tm_statement, 1);
  tm_statement **statements = TM_NEW(p->arena, tm_statement *, body + 1);
  p->failed = p->failed || !s || !statements;
  if (p->failed)
    return NULL;
  *s = (tm_statement){.kind = kind,
                      .token = token,
                      .last = token,
                      .op = "=",
                      .body = statements,
                      .body_count = body};
  return s;
}

static tm_variable *make_variable(patcher *p, const tm_variable *like,
                                  const char *prefix) {
  tm_variable *v = TM_NEW(p->arena, tm_variable, 1);
  size_t length = strlen(prefix) + strlen(like->name) + 16;
  char *name = TM_NEW(p->arena, char, length);
  p->failed = p->failed || !v || !name;
  if (p->failed)
    return NULL;
  *v = *like;
  snprintf(name, length, "%s%d_%s", prefix, p->split->program->variable_count,
           like->name);
  v->name = name;
  v->constraint = TM_FREE;
  v->lower = v->upper = v->initial = NULL;
  v->global = false;
  v->block = TM_BLOCK_MODEL;
  v->index = p->split->program->variable_count++;
  return v;
}

/* ---- the mask ----------------------------------------------------------- */

/* Zeros for data, ones for parameters, as many as `value` has. */
static tm_expression *flags_for(patcher *p, tm_expression *value) {
  const tm_token *t = value->token;
  bool ones = is_copy(value), scalar = tm_is_scalar(value->type);
  bool array = value->type.depth > 0;
  if (scalar)
    return make_int(p, t, ones);
  tm_expression *x = array ? make_call(p, "to_vector", value) : value;
  tm_expression *e =
      x ? make_binary(p, "*", x->type, make_int(p, t, 0), x) : NULL;
  if (e && ones)
    e = make_binary(p, "+", x->type, e, make_int(p, t, 1));
  return e && array ? make_call(p, "to_array_1d", e) : e;
}

/* left with the mask in place of the variable. */
static tm_expression *aimed_at(patcher *p, const tm_expression *left,
                               tm_variable *mask) {
  if (left->kind != TM_E_INDEX)
    return make_name(p, left->token, mask);
  tm_expression *inner = aimed_at(p, left->parts[0], mask);
  tm_expression *e = p->failed ? NULL : make(p, *left, 1);
  if (e) {
    e->parts[0] = inner;
    e->kept = 0;
  }
  return e;
}

static void shadow(patcher *p, tm_statement *s, const tm_variable *v,
                   tm_variable *mask) {
  bool declares = s->kind == TM_S_DECLARE && s->variable == v;
  bool assigns = s->kind == TM_S_ASSIGN && tm_root(s->left)->variable == v;
  if (!declares && !assigns)
    return;
  s->shadow = make_statement(p, s->kind, s->token, 0);
  if (p->failed)
    return;
  if (declares) {
    s->shadow->variable = mask;
    mask->initial = v->initial ? flags_for(p, v->initial) : NULL;
  } else {
    s->shadow->left = aimed_at(p, s->left, mask);
    s->shadow->value = flags_for(p, s->value);
  }
}

static void shadow_all(patcher *p, tm_statement *const *body, size_t count,
                       const tm_variable *v, tm_variable *mask) {
  for (size_t i = 0; i < count && !p->failed; i++) {
    shadow(p, body[i], v, mask);
    shadow_all(p, body[i]->body, body[i]->body_count, v, mask);
    if (body[i]->otherwise)
      shadow_all(p, &body[i]->otherwise, 1, v, mask);
  }
}

static tm_variable *mask_of(patcher *p, const tm_variable *v) {
  tm_gathering *g = &p->split->gathering[v->index];
  static const tm_block_kind blocks[] = {TM_BLOCK_TRANSFORMED_PARAMETERS,
                                         TM_BLOCK_MODEL};
  if (g->mask)
    return g->mask;
  g->mask = make_variable(p, v, "0mask");
  for (size_t i = 0; i < 2 && g->mask; i++) {
    const tm_block_node *b = &p->split->program->blocks[blocks[i]];
    shadow_all(p, b->statements, b->count, v, g->mask);
  }
  return g->mask;
}

/* ---- the loop ----------------------------------------------------------- */

/* e[i], or e when it is a scalar. */
static tm_expression *element(patcher *p, tm_expression *e,
                              tm_expression *index) {
  if (!e || tm_is_scalar(e->type))
    return e;
  tm_expression *made = make(p,
                             (tm_expression){.kind = TM_E_INDEX,
                                             .token = e->token,
                                             .text = "[",
                                             .type = tm_element(e->type),
                                             .level = TM_LEVEL_PARAMETER},
                             1);
  tm_index *indices = TM_NEW(p->arena, tm_index, 1);
  p->failed = p->failed || !indices;
  if (p->failed)
    return NULL;
  made->parts[0] = e;
  made->indices = indices;
  made->index_count = 1;
  indices[0] = (tm_index){.kind = TM_INDEX_ONE, .from = index};
  return made;
}

/* target += density of the i-th elements, on this side. */
static tm_statement *score(patcher *p, const tm_expression *density,
                           tm_expression *index, tm_part part) {
  tm_statement *s = make_statement(p, TM_S_TARGET, density->token, 0);
  tm_expression *e = p->failed ? NULL : make(p, *density, density->part_count);
  if (!e)
    return NULL;
  e->kept = 0;
  e->kept_terms = 0;
  e->part = part;
  e->level = TM_LEVEL_PARAMETER;
  for (size_t i = 0; i < density->part_count; i++)
    e->parts[i] = element(p, density->parts[i], index);
  s->value = e;
  s->part = part;
  return s;
}

/* if (mask[i] == 1) prior; else likelihood; */
static tm_statement *choose(patcher *p, const tm_expression *density,
                            tm_variable *mask, tm_expression *index) {
  const tm_token *t = density->token;
  tm_statement *s = make_statement(p, TM_S_IF, t, 1);
  tm_statement *other = make_statement(p, TM_S_BLOCK, t, 1);
  tm_expression *flag =
      p->failed ? NULL
                : element(p, aimed_at(p, density->parts[0], mask), index);
  if (!flag)
    return NULL;
  s->value =
      make_binary(p, "==", tm_type_of(TM_INT, 0), flag, make_int(p, t, 1));
  s->body[0] = score(p, density, index, TM_PART_PRIOR);
  other->body[0] = score(p, density, index, TM_PART_LIKELIHOOD);
  s->otherwise = other;
  return s;
}

static tm_statement *loop_over(patcher *p, const tm_expression *density,
                               tm_variable *mask) {
  const tm_token *t = density->token;
  if (tm_is_scalar(density->parts[0]->type))
    return choose(p, density, mask, NULL);
  tm_variable *i = make_variable(p, mask, "0i");
  tm_statement *s = make_statement(p, TM_S_FOR, t, 1);
  if (p->failed)
    return NULL;
  i->type = tm_type_of(TM_INT, 0);
  i->size_count = 0;
  i->loop = true;
  s->variable = i;
  s->lower = make_int(p, t, 1);
  s->upper = make_call(p, "num_elements", density->parts[0]);
  tm_expression *index = make_name(p, t, i);
  s->body[0] = index ? choose(p, density, mask, index) : NULL;
  return s;
}

tempera_status tm_patch(tm_split *split, tm_statement *st) {
  patcher p = {.split = split, .arena = split->program->source.arena};
  const tm_expression *density =
      st->kind == TM_S_TILDE || st->kind == TM_S_TARGET ? density_of(st) : NULL;
  const tm_variable *v = density ? patched(split, density) : NULL;
  if (!v || st->instead)
    return TEMPERA_OK;
  tm_variable *mask = mask_of(&p, v);
  if (mask)
    st->instead = loop_over(&p, density, mask);
  return p.failed ? tm_fail_memory(split->program->source.error) : TEMPERA_OK;
}
