/* copies.c - transformed parameters that are put together from elements of
 * parameters, and from nothing else: uv[i, 1] = u[i]; uv[i, 2] = v[i]. A
 * density of them is one of the parameters: prior draws fill the copy, and its
 * assignments run backwards. */
#include "language/emit/factor.h"

#include "language/check/term.h"

/* By the first assignment that is another, a variable is none. */
typedef struct finder {
  tm_emitter *g;
  bool *spoilt; /* by variable index */
} finder;

static bool same_bound(const tm_expression *a, const tm_expression *b) {
  return a && b ? tm_same_text(a, b) : a == b;
}

/* Draws of the copy then lie where those of the parameter may. */
static bool same_support(const tm_variable *copy, const tm_variable *v) {
  bool free = v->constraint == TM_FREE || v->constraint == TM_OFFSET;
  return free || (v->constraint == copy->constraint &&
                  same_bound(v->lower, copy->lower) &&
                  same_bound(v->upper, copy->upper));
}

static bool copies(const tm_emitter *g, const tm_statement *s) {
  const tm_expression *from = tm_root(s->value);
  const tm_variable *to = tm_root(s->left)->variable;
  bool place = s->value->kind == TM_E_NAME || s->value->kind == TM_E_INDEX;
  return place && from->kind == TM_E_NAME &&
         from->variable->block == TM_BLOCK_PARAMETERS &&
         from->variable->type.base != TM_INT &&
         tm_held_variable(g, to) == TM_TENSOR &&
         same_support(to, from->variable);
}

static void look(finder *f, tm_statement *const *body, size_t count) {
  for (size_t i = 0; i < count; i++) {
    const tm_statement *s = body[i];
    if (s->kind == TM_S_DECLARE && s->variable->initial)
      f->spoilt[s->variable->index] = true;
    if (s->kind == TM_S_ASSIGN) {
      const tm_variable *v = tm_root(s->left)->variable;
      f->spoilt[v->index] |= !copies(f->g, s);
      f->g->copies[v->index] = v->block == TM_BLOCK_TRANSFORMED_PARAMETERS &&
                               v->global && !f->spoilt[v->index];
    }
    look(f, s->body, s->body_count);
    if (s->otherwise)
      look(f, &s->otherwise, 1);
  }
}

/* Those that no prior term scores are computed as usual. */
static void mark_scored(tm_emitter *g, tm_statement *const *body, size_t count,
                        bool *scored) {
  for (size_t i = 0; i < count; i++) {
    const tm_statement *s = body[i];
    const tm_expression *term;
    tm_factor f;
    for (size_t k = 0; (term = tm_part_term(s, TM_PART_PRIOR, k)); k++)
      if (tm_factor_of(g, s, term, &f))
        scored[f.variable->index] = true;
    mark_scored(g, s->body, s->body_count, scored);
    if (s->otherwise)
      mark_scored(g, &s->otherwise, 1, scored);
  }
}

bool tm_find_copies(tm_emitter *g) {
  size_t variables = (size_t)g->program->tree.variable_count + 1;
  const tm_block_node *blocks = g->program->tree.blocks;
  const tm_block_node *made = &blocks[TM_BLOCK_TRANSFORMED_PARAMETERS];
  const tm_block_node *model = &blocks[TM_BLOCK_MODEL];
  finder f = {g, TM_NEW(g->arena, bool, variables)};
  bool *scored = TM_NEW(g->arena, bool, variables);
  g->copies = TM_NEW(g->arena, bool, variables);
  if (!f.spoilt || !scored || !g->copies)
    return false;
  look(&f, made->statements, made->count);
  mark_scored(g, made->statements, made->count, scored);
  mark_scored(g, model->statements, model->count, scored);
  for (size_t v = 0; v < variables; v++)
    g->copies[v] = g->copies[v] && scored[v];
  return true;
}

bool tm_is_copy(const tm_emitter *g, const tm_variable *v) {
  return g->copies && g->copies[v->index];
}

bool tm_copies_back(const tm_emitter *g, const tm_statement *s) {
  return s->kind == TM_S_ASSIGN && tm_is_copy(g, tm_root(s->left)->variable);
}
