/* term_elements.c - a density of containers as a loop over its elements, for
 * terms.c. */
#include "language/emit/terms.h"

#include <string.h>

static tm_expression *copy_of(tm_emitter *g, const tm_expression *e) {
  tm_expression *made = TM_NEW(g->arena, tm_expression, 1);
  tm_expression **parts = TM_NEW(g->arena, tm_expression *, e->part_count + 1);
  tm_index *indices = TM_NEW(g->arena, tm_index, e->index_count + 1);
  if (!made || !parts || !indices) {
    g->body.failed = true;
    return NULL;
  }
  *made = *e;
  if (e->part_count)
    memcpy(parts, e->parts, e->part_count * sizeof(tm_expression *));
  if (e->index_count)
    memcpy(indices, e->indices, e->index_count * sizeof *indices);
  made->parts = parts;
  made->indices = indices;
  made->kept = 0;
  made->kept_terms = 0;
  return made;
}

static bool is_row(const tm_expression *e) { return tm_rank(e->type) == 1; }

static bool is_many(const tm_expression *e) {
  return e->kind == TM_E_INDEX && e->index_count == 1 &&
         e->indices[0].kind == TM_INDEX_ONE &&
         e->indices[0].from->type.depth == 1 && is_row(e->parts[0]);
}

static bool is_elementwise(const tm_expression *e) {
  if (e->kind != TM_E_BINARY || e->part_count != 2)
    return false;
  bool both = is_row(e->parts[0]) && is_row(e->parts[1]);
  return !strcmp(e->text, "+") || !strcmp(e->text, "-") ||
         !strcmp(e->text, ".*") || !strcmp(e->text, "./") ||
         (!both && !strcmp(e->text, "*")) || (!both && !strcmp(e->text, "/"));
}

/* e's element n; e itself where it is a scalar; NULL where it has no elements
 * that could be had one by one. */
static tm_expression *element(tm_emitter *g, tm_expression *e,
                              tm_expression *n) {
  if (tm_is_scalar(e->type))
    return e;
  if (!is_row(e))
    return NULL;
  bool plain = e->kind == TM_E_NAME ||
               (e->kind == TM_E_INDEX && !is_many(e) && tm_index_single(e));
  if (!plain && !is_many(e) && !is_elementwise(e))
    return NULL;
  tm_expression *made = copy_of(g, e);
  if (!made)
    return NULL;
  made->type = tm_element(e->type);
  made->level = TM_LEVEL_PARAMETER;
  if (plain) { /* x[n], or x[i][n] */
    made->kind = TM_E_INDEX;
    made->parts[0] = e;
    made->part_count = 1;
    made->index_count = 1;
    made->indices = TM_NEW(g->arena, tm_index, 1);
    if (!made->indices)
      return NULL;
    made->indices[0] = (tm_index){.kind = TM_INDEX_ONE, .from = n};
  } else if (is_many(e)) { /* x[k[n]] */
    made->indices[0].from = element(g, e->indices[0].from, n);
    return made->indices[0].from ? made : NULL;
  } else {
    made->text = e->text[0] == '.' ? e->text + 1 : e->text;
    made->parts[0] = element(g, e->parts[0], n);
    made->parts[1] = element(g, e->parts[1], n);
    return made->parts[0] && made->parts[1] ? made : NULL;
  }
  return made;
}

/* The counter has a place of its own among the variables: one for all, as no
 * two are in use at once. */
static tm_variable *counter_of(tm_emitter *g, const tm_token *token) {
  tm_variable *v = TM_NEW(g->arena, tm_variable, 1);
  if (v)
    *v = (tm_variable){.name = "element__",
                       .token = token,
                       .type = {.base = TM_INT},
                       .loop = true,
                       .block = TM_BLOCK_MODEL,
                       .index = g->program->tree.variable_count};
  return v;
}

/* Labels have their probabilities in common. */
static bool is_categorical(const tm_expression *d) {
  return !strcmp(d->builtin->name, "categorical_lpmf") ||
         !strcmp(d->builtin->name, "categorical_logit_lpmf");
}

tm_statement *tm_each_of(tm_emitter *g, const tm_statement *s) {
  const tm_expression *d = s->kind == TM_S_TILDE    ? s->density
                           : s->kind == TM_S_TARGET ? s->value
                                                    : NULL;
  if (!d || s->instead || s->cdf[0] || s->cdf[1] || d->kind != TM_E_CALL ||
      !d->builtin || !is_row(d->parts[0]))
    return NULL;
  if (d->builtin->kind != TM_B_DENSITY && !is_categorical(d))
    return NULL;
  tm_variable *v = counter_of(g, s->token);
  tm_statement *loop = TM_NEW(g->arena, tm_statement, 1);
  tm_statement *each = TM_NEW(g->arena, tm_statement, 1);
  tm_statement **body = TM_NEW(g->arena, tm_statement *, 1);
  tm_expression *n = TM_NEW(g->arena, tm_expression, 1);
  tm_expression *e = copy_of(g, d);
  if (!v || !loop || !each || !body || !n || !e)
    return NULL;
  *n = (tm_expression){.kind = TM_E_NAME,
                       .token = s->token,
                       .text = v->name,
                       .type = v->type,
                       .level = TM_LEVEL_DATA,
                       .variable = v};
  e->level = TM_LEVEL_PARAMETER;
  for (size_t i = 0; i < d->part_count; i++) {
    e->parts[i] =
        i && is_categorical(d) ? d->parts[i] : element(g, d->parts[i], n);
    if (!e->parts[i])
      return NULL;
  }
  *each = (tm_statement){.kind = TM_S_TARGET,
                         .token = s->token,
                         .last = s->last,
                         .value = e,
                         .part = s->part,
                         .reason = s->reason};
  body[0] = each;
  *loop = (tm_statement){.kind = TM_S_FOR,
                         .token = s->token,
                         .last = s->last,
                         .variable = v,
                         .value = d->parts[0],
                         .body = body,
                         .body_count = 1};
  return loop;
}
