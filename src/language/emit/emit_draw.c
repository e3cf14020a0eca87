/* emit_draw.c - draws from the prior by ancestral sampling.
 *
 * The statements of transformed parameters and model are put in an order in
 * which everything is drawn or computed before it is used; those that neither
 * draw nor are needed for a draw are left out. What no statement draws must be
 * flat and bounded. The generated function leaves the log density of what it
 * drew in tape->log_density: where the program's log prior differs from it by
 * anything but a constant, the loader does not offer the draws, so nothing here
 * need be proved. Elements drawn twice or never make a draw fail. */
#include "language/emit/factor.h"

#include "language/check/term.h"

#include <string.h>

enum { MOST_UNITS = 512 };

/* A statement at the top of its block. */
typedef struct unit {
  tm_statement *statement;
  bool *reads, *writes; /* by variable index */
  bool draws, done;
} unit;

typedef struct plan {
  tm_emitter *g;
  const tm_split *split;
  size_t variables;
  unit units[MOST_UNITS];
  size_t count;
  bool failed;
} plan;

/* ---- what statements read and write ------------------------------------- */

static void read_names(const tm_expression *e, bool *set) {
  if (!e)
    return;
  if (e->kind == TM_E_NAME)
    set[e->variable->index] = true;
  for (size_t i = 0; i < e->part_count; i++)
    read_names(e->parts[i], set);
  for (size_t i = 0; i < e->index_count; i++) {
    read_names(e->indices[i].from, set);
    read_names(e->indices[i].to, set);
  }
}

static void read_indices(const tm_expression *e, bool *set) {
  for (; e->kind == TM_E_INDEX; e = e->parts[0])
    for (size_t i = 0; i < e->index_count; i++) {
      read_names(e->indices[i].from, set);
      read_names(e->indices[i].to, set);
    }
}

static void read_factor(const tm_factor *f, unit *u) {
  for (size_t i = 0; i < f->count; i++) {
    const tm_component *c = &f->components[i];
    for (size_t k = 1; k < c->density->part_count; k++)
      read_names(c->density->parts[k], u->reads);
    for (size_t k = 0; k < c->weight_count; k++)
      read_names(c->weights[k], u->reads);
  }
  read_indices(f->left, u->reads);
  read_names(f->variable->lower, u->reads);
  read_names(f->variable->upper, u->reads);
  if (f->statement->truncated) {
    read_names(f->statement->lower, u->reads);
    read_names(f->statement->upper, u->reads);
  }
  u->writes[f->variable->index] = true;
  u->draws = true;
}

static bool draws(tm_emitter *g, const tm_statement *s) {
  tm_factor f;
  const tm_expression *term;
  for (size_t i = 0; (term = tm_part_term(s, TM_PART_PRIOR, i)); i++)
    if (tm_factor_of(g, s, term, &f))
      return true;
  return false;
}

bool tm_emit_draws(tm_emitter *g, const tm_statement *s) {
  return tm_part_term(s, TM_PART_PRIOR, 0) && draws(g, s);
}

static void look_at(plan *p, const tm_statement *s, unit *u) {
  tm_factor f;
  const tm_expression *term;
  for (size_t i = 0; (term = tm_part_term(s, TM_PART_PRIOR, i)); i++)
    if (tm_factor_of(p->g, s, term, &f))
      read_factor(&f, u);
  if (tm_emit_draws(p->g, s)) {
    ; /* what it gathers is not computed */
  } else if (tm_copies_back(p->g, s)) {
    u->writes[tm_root(s->value)->variable->index] = u->draws = true;
    u->reads[tm_root(s->left)->variable->index] = true;
    read_indices(s->left, u->reads);
    read_indices(s->value, u->reads);
  } else if (s->kind == TM_S_DECLARE) {
    u->writes[s->variable->index] = true;
    read_names(s->variable->initial, u->reads);
    for (size_t i = 0; i < s->variable->size_count; i++)
      read_names(s->variable->sizes[i], u->reads);
  } else if (s->kind == TM_S_ASSIGN) {
    u->writes[tm_root(s->left)->variable->index] = true;
    read_indices(s->left, u->reads);
    read_names(s->value, u->reads);
  } else if (s->kind == TM_S_IF || s->kind == TM_S_WHILE) {
    read_names(s->value, u->reads);
  } else if (s->kind == TM_S_FOR || s->kind == TM_S_FOREACH) {
    read_names(s->lower, u->reads);
    read_names(s->upper, u->reads);
  }
  for (size_t i = 0; i < s->body_count; i++)
    look_at(p, s->body[i], u);
  if (s->otherwise)
    look_at(p, s->otherwise, u);
}

static void collect(plan *p) {
  static const tm_block_kind blocks[] = {TM_BLOCK_TRANSFORMED_PARAMETERS,
                                         TM_BLOCK_MODEL};
  for (size_t b = 0; b < 2; b++) {
    const tm_block_node *block = &p->split->program->blocks[blocks[b]];
    for (size_t i = 0; i < block->count && !p->failed; i++) {
      unit *u = &p->units[p->count];
      p->failed = p->count == MOST_UNITS;
      if (p->failed)
        return;
      *u = (unit){.statement = block->statements[i],
                  .reads = TM_NEW(p->g->arena, bool, p->variables),
                  .writes = TM_NEW(p->g->arena, bool, p->variables)};
      p->failed = !u->reads || !u->writes;
      if (p->failed)
        return;
      look_at(p, u->statement, u);
      p->count++;
    }
  }
}

/* ---- what is needed, and in which order --------------------------------- */

static bool is_drawn(const plan *p, const tm_variable *v) {
  for (size_t i = 0; i < p->count; i++)
    if (p->units[i].draws && p->units[i].writes[v->index])
      return true;
  return false;
}

static bool rest_is_flat(const plan *p) {
  for (size_t k = 0; k < p->split->parameter_count; k++) {
    const tm_variable *v = p->split->parameters[k].variable;
    if (!is_drawn(p, v) && !tm_factor_is_flat(v))
      return false;
  }
  return true;
}

static bool is_active(const plan *p, const unit *u) {
  bool active = u->draws;
  for (size_t v = 0; v < p->variables && !active; v++)
    active = u->writes[v] && p->g->needed[v];
  return active;
}

/* The variables that draws need, and those that these need. */
static void find_needed(plan *p) {
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t i = 0; i < p->count; i++) {
      const unit *u = &p->units[i];
      for (size_t v = 0; is_active(p, u) && v < p->variables; v++)
        if (u->reads[v] && !p->g->needed[v])
          p->g->needed[v] = changed = true;
    }
  }
}

/* Must u wait for w, because of variable v? Writers of one variable keep their
 * order; those of a parameter's elements that need others of it come last. */
static bool waits(const plan *p, size_t u, size_t w, size_t v) {
  const unit *a = &p->units[u], *b = &p->units[w];
  if (!b->writes[v] || !(a->reads[v] || a->writes[v]))
    return false;
  if (!a->writes[v])
    return true;
  return a->reads[v] && !b->reads[v]   ? true
         : b->reads[v] && !a->reads[v] ? false
                                       : w < u;
}

static bool is_ready(const plan *p, size_t u) {
  for (size_t w = 0; w < p->count; w++)
    for (size_t v = 0; v < p->variables && w != u && !p->units[w].done; v++)
      if (waits(p, u, w, v))
        return false;
  return true;
}

static bool order(plan *p, tm_statement **sorted, size_t *count) {
  size_t left = 0;
  for (size_t i = 0; i < p->count; i++) {
    p->units[i].done = !is_active(p, &p->units[i]);
    left += !p->units[i].done;
  }
  for (*count = 0; left > 0; left--) {
    size_t next = 0;
    while (next < p->count && (p->units[next].done || !is_ready(p, next)))
      next++;
    if (next == p->count)
      return false;
    p->units[next].done = true;
    sorted[(*count)++] = p->units[next].statement;
  }
  return true;
}

/* ---- emitting ----------------------------------------------------------- */

void tm_emit_draw(tm_emitter *g, const tm_statement *s) {
  tm_factor f;
  const tm_expression *term;
  for (size_t i = 0; (term = tm_part_term(s, TM_PART_PRIOR, i)); i++)
    if (tm_factor_of(g, s, term, &f))
      tm_factor_emit(g, &f);
}

static void emit_storage(tm_emitter *g, const tm_variable *v) {
  tm_held held = tm_held_variable(g, v);
  tm_emit_line(g, "tm_tensor p_%s = tm_declare(t, %zu, I->d_%s, 0);", v->name,
               v->size_count, v->name);
  if (held == TM_TENSOR)
    tm_emit_line(g, "tm_tensor v_%s = p_%s; (void)v_%s;", v->name, v->name,
                 v->name);
  else
    tm_emit_line(g, "%s v_%s = 0; (void)v_%s;", tm_held_name(held), v->name,
                 v->name);
}

static void emit_pack(tm_emitter *g, const tm_variable *v) {
  tm_emit_line(g, "t->runtime->pack(t, p_%s, theta + I->o_%s, \"%s\");",
               v->name, v->name, v->name);
  bool drawn_in_order =
      v->constraint == TM_ORDERED || v->constraint == TM_POSITIVE_ORDERED;
  if (drawn_in_order)
    tm_emit_line(g,
                 "t->runtime->check(t, tm_any_tensor(p_%s, 1), %d, "
                 "tm_any_real(0), tm_any_real(0), \"%s\", 1);",
                 v->name, (int)v->constraint, v->name);
}

static void emit_function(plan *p, tm_statement **sorted, size_t count) {
  tm_emitter *g = p->g;
  const tm_split *split = p->split;
  tm_emit_line(g, TM_SELDOM);
  tm_emit_line(g, "static void draw_prior(tm_tape *t, const void *i_, "
                  "double *theta) {");
  g->indent = 1;
  tm_emit_line(g, "const instance *I = i_;");
  for (size_t k = 0; k < split->parameter_count; k++)
    emit_storage(g, split->parameters[k].variable);
  for (size_t k = 0; k < split->parameter_count; k++)
    if (!is_drawn(p, split->parameters[k].variable))
      tm_factor_emit_flat(g, split->parameters[k].variable);
  tm_emit_statements(g, sorted, count);
  for (size_t k = 0; k < split->parameter_count; k++)
    emit_pack(g, split->parameters[k].variable);
  g->indent = 0;
  tm_emit_line(g, "}");
}

bool tm_emit_prior_draw(tm_emitter *g) {
  plan p = {.g = g,
            .split = &g->program->split,
            .variables = (size_t)g->program->tree.variable_count + 1};
  tm_statement *sorted[MOST_UNITS];
  size_t count;
  g->drawing = true;
  g->part = TM_PART_PRIOR;
  g->needed = TM_NEW(g->arena, bool, p.variables);
  p.failed = !g->needed || !tm_find_copies(g);
  bool can = !p.failed && p.split->proper && p.split->parameter_count > 0;
  if (can) {
    collect(&p);
    find_needed(&p);
    can = !p.failed && rest_is_flat(&p) && order(&p, sorted, &count);
  }
  if (can)
    emit_function(&p, sorted, count);
  g->drawing = false;
  g->needed = g->copies = NULL;
  return can;
}
