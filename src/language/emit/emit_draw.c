/* emit_draw.c - draws from the prior by ancestral sampling.
 *
 * Possible when every prior statement is `parameter ~ distribution(...)` (in
 * loops too) with arguments made of data and other parameters, and these can
 * be put in an order; what no statement names must be flat and bounded. The
 * generated function checks that each element is drawn exactly once, and the
 * loader tries one draw before it offers them. */
#include "language/emit/emit.h"

#include <string.h>

enum { MOST_UNITS = 256 };

/* A statement at the top of the model block that draws something. */
typedef struct unit {
  const tm_statement *statement;
  tm_dependence draws, needs;
  bool done;
} unit;

typedef struct plan {
  tm_emitter *g;
  const tm_split *split;
  unit units[MOST_UNITS];
  size_t count;
} plan;

/* ---- what can be drawn -------------------------------------------------- */

/* The density call of a prior statement; NULL when it is not a plain one. */
static const tm_expression *density_of(const tm_statement *s) {
  const tm_expression *e = s->kind == TM_S_TILDE ? s->density : s->value;
  if (s->truncated || e->kind != TM_E_CALL || !e->builtin)
    return NULL;
  bool plain = e->builtin->kind == TM_B_DENSITY ||
               !strcmp(e->builtin->name, "dirichlet_lpdf");
  return plain ? e : NULL;
}

/* name without _lpdf or _lpmf, plus a suffix */
static const char *renamed(tm_emitter *g, const char *name,
                           const char *suffix) {
  size_t n = strlen(name) - 5, m = strlen(suffix);
  char *text = TM_NEW(g->arena, char, n + m + 1);
  if (text) {
    memcpy(text, name, n);
    memcpy(text + n, suffix, m);
  }
  return text;
}

static bool has_rng(tm_emitter *g, const tm_builtin *b) {
  const char *name = renamed(g, b->name, "_rng");
  for (size_t i = 0; name && i < tm_builtin_count(); i++)
    if (!strcmp(tm_builtin_at(i)->name, name))
      return true;
  return false;
}

static const tm_variable *parameter_of(const tm_expression *left) {
  if (left->kind == TM_E_CALL && !strcmp(left->text, "to_vector"))
    left = left->parts[0];
  else if (left->kind == TM_E_INDEX && tm_index_single(left))
    left = left->parts[0];
  return left->kind == TM_E_NAME && left->variable->block == TM_BLOCK_PARAMETERS
             ? left->variable
             : NULL;
}

/* Are all names in e data, parameters or loop variables? */
static bool only_globals(const tm_expression *e) {
  if (!e)
    return true;
  if (e->kind == TM_E_NAME && !e->variable->loop &&
      (!e->variable->global ||
       e->variable->block == TM_BLOCK_TRANSFORMED_PARAMETERS))
    return false;
  for (size_t i = 0; i < e->part_count; i++)
    if (!only_globals(e->parts[i]))
      return false;
  for (size_t i = 0; i < e->index_count; i++)
    if (!only_globals(e->indices[i].from) || !only_globals(e->indices[i].to))
      return false;
  return true;
}

static bool is_simple(const tm_variable *v, const tm_expression *left) {
  bool whole = left->kind != TM_E_INDEX;
  bool scalar_bounds = (!v->lower || tm_is_scalar(v->lower->type)) &&
                       (!v->upper || tm_is_scalar(v->upper->type));
  return v->constraint == TM_FREE || v->constraint == TM_SIMPLEX ||
         v->constraint == TM_OFFSET ||
         (v->constraint == TM_BOUNDED && (whole || scalar_bounds));
}

static bool statement_fits(plan *p, const tm_statement *s, unit *u) {
  const tm_expression *e = density_of(s);
  const tm_expression *left = e ? e->parts[0] : NULL;
  const tm_variable *v = left ? parameter_of(left) : NULL;
  if (!v || !is_simple(v, left) || !has_rng(p->g, e->builtin) ||
      !only_globals(e) || tm_has_dependent_limits(v) ||
      tm_cut_varies(p->split, v, e) ||
      (v->constraint == TM_SIMPLEX) !=
          !strcmp(e->builtin->name, "dirichlet_lpdf"))
    return false;
  for (size_t i = 1; i < e->part_count; i++) {
    tm_dependence d = tm_depends(p->split, e->parts[i]);
    const tm_dependence *own = &p->split->variables[v->index];
    for (int w = 0; w < TM_MASK_WORDS; w++) {
      bool self = (d.mask[w] & own->mask[w]) != 0;
      if (self && !tm_is_scalar(left->type))
        return false;
      u->needs.mask[w] |= d.mask[w];
    }
    if (left->kind == TM_E_CALL && !tm_is_scalar(e->parts[i]->type))
      return false; /* to_vector is column-major, storage is not */
  }
  for (int w = 0; w < TM_MASK_WORDS; w++)
    u->draws.mask[w] |= p->split->variables[v->index].mask[w];
  return true;
}

static bool is_term(const tm_statement *s) {
  return s->kind == TM_S_TILDE || s->kind == TM_S_TARGET ||
         s->kind == TM_S_CALL;
}

/* Does s hold prior statements, and can all of them be drawn? */
static bool fits(plan *p, const tm_statement *s, unit *u, bool *any) {
  if (is_term(s)) {
    if (!(s->part & TM_PART_PRIOR))
      return true;
    *any = true;
    return s->kind != TM_S_CALL && statement_fits(p, s, u);
  }
  bool before = *any;
  *any = false;
  for (size_t i = 0; i < s->body_count; i++)
    if (!fits(p, s->body[i], u, any))
      return false;
  if (s->otherwise && !fits(p, s->otherwise, u, any))
    return false;
  bool inside = *any;
  *any = before || inside;
  return !inside || s->kind == TM_S_FOR || s->kind == TM_S_BLOCK;
}

static bool collect(plan *p) {
  const tm_block_node *model = &p->split->program->blocks[TM_BLOCK_MODEL];
  for (size_t i = 0; i < model->count; i++) {
    unit u = {.statement = model->statements[i]};
    bool any = false;
    if (!fits(p, u.statement, &u, &any))
      return false;
    if (any && p->count == MOST_UNITS)
      return false;
    if (any)
      p->units[p->count++] = u;
  }
  return true;
}

/* Parameters that no unit draws must be flat between bounds. */
static bool rest_is_flat(const plan *p) {
  for (size_t k = 0; k < p->split->parameter_count; k++) {
    const tm_parameter_info *info = &p->split->parameters[k];
    const tm_variable *v = info->variable;
    bool drawn = false;
    for (size_t i = 0; i < p->count; i++)
      drawn = drawn || (p->units[i].draws.mask[k / 64] >> (k % 64) & 1);
    bool flat = (v->constraint == TM_BOUNDED && v->lower && v->upper) ||
                (v->constraint == TM_SIMPLEX && v->type.depth == 0);
    if (!drawn && (!flat || tm_has_dependent_limits(v)))
      return false;
  }
  return true;
}

/* The next unit whose needs nobody else has still to draw. */
static unit *next_unit(plan *p) {
  for (size_t i = 0; i < p->count; i++) {
    unit *u = &p->units[i];
    bool ready = !u->done;
    for (size_t k = 0; ready && k < p->count; k++)
      for (int w = 0; w < TM_MASK_WORDS; w++)
        if (k != i && !p->units[k].done &&
            (p->units[k].draws.mask[w] & u->needs.mask[w]))
          ready = false;
    if (ready)
      return u;
  }
  return NULL;
}

static bool order(plan *p, const unit **sorted) {
  for (size_t n = 0; n < p->count; n++) {
    unit *u = next_unit(p);
    if (!u)
      return false;
    u->done = true;
    sorted[n] = u;
  }
  return true;
}

/* ---- emitting ----------------------------------------------------------- */

/* Scalars are read from v_name: bring them up to date. */
static void emit_refresh(tm_emitter *g, const tm_variable *v) {
  tm_held held = tm_held_variable(g, v);
  if (held != TM_TENSOR)
    tm_emit_line(g, "v_%s = (%s)p_%s.v[0];", v->name, tm_held_name(held),
                 v->name);
}

static void emit_target(tm_emitter *g, const tm_variable *v,
                        const tm_expression *left) {
  if (left->kind != TM_E_INDEX) {
    tm_emit(g, "p_%s", v->name);
    return;
  }
  tm_emit(g, "({ tm_tensor x_ = p_%s; long k_ = 0;", v->name);
  for (size_t i = 0; i < left->index_count; i++) {
    tm_emit(g, " k_ = k_ * x_.dim[%zu] + tm_at(t, ", i);
    tm_emit_expression(g, left->indices[i].from);
    tm_emit(g, ", x_.dim[%zu], ", i);
    tm_emit_place(g, left->token);
    tm_emit(g, ");");
  }
  tm_emit(g, " tm_sub(x_, k_, %zu); })", left->index_count);
}

static void emit_fill(tm_emitter *g, const tm_statement *s) {
  const tm_expression *e = density_of(s), *left = e->parts[0];
  const tm_variable *v = parameter_of(left);
  bool simplex = v->constraint == TM_SIMPLEX;
  const char *name = renamed(g, e->builtin->name, "_fill");
  if (!name) {
    g->body.failed = true;
    return;
  }
  tm_emit(
      g, "%*sF[%zu](t, (tm_any[]){tm_any_tensor(", 2 * g->indent, "",
      tm_emit_call_number(g, name, simplex ? "v" : e->builtin->signature + 1));
  emit_target(g, v, left);
  tm_emit(g, ", 1)");
  for (size_t i = 1; i < e->part_count; i++) {
    tm_emit(g, ", ");
    tm_emit_any(g, e->parts[i]);
  }
  if (!simplex) {
    bool bounded = v->constraint == TM_BOUNDED;
    tm_emit(g, ", ");
    tm_emit_bound(g, bounded ? v->lower : NULL, "-INFINITY");
    tm_emit(g, ", ");
    tm_emit_bound(g, bounded ? v->upper : NULL, "INFINITY");
  }
  tm_emit(g, "}, 0);\n");
  emit_refresh(g, v);
}

static void emit_draws(tm_emitter *g, const tm_statement *s) {
  if (is_term(s)) {
    if (s->part & TM_PART_PRIOR)
      emit_fill(g, s);
    return;
  }
  if (s->kind == TM_S_FOR) {
    tm_emit(g, "%*sfor (long v_%s = ", 2 * g->indent, "", s->variable->name);
    tm_emit_expression(g, s->lower);
    tm_emit(g, ", end_ = ");
    tm_emit_expression(g, s->upper);
    tm_emit(g, "; v_%s <= end_; v_%s++) {\n", s->variable->name,
            s->variable->name);
  } else {
    tm_emit_line(g, "{");
  }
  g->indent++;
  for (size_t i = 0; i < s->body_count; i++)
    emit_draws(g, s->body[i]);
  g->indent--;
  tm_emit_line(g, "}");
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

/* Flat parameters: uniform between bounds, or Dirichlet of ones. */
static void emit_flat(tm_emitter *g, const tm_variable *v) {
  if (v->constraint == TM_SIMPLEX) {
    tm_emit_line(g,
                 "F[%zu](t, (tm_any[]){tm_any_tensor(p_%s, 1), F[%zu](t, "
                 "(tm_any[]){tm_any_int(I->d_%s[0])}, 1)}, 0);",
                 tm_emit_call_number(g, "dirichlet_fill", "v"), v->name,
                 tm_emit_call_number(g, "ones_vector", "i:v"), v->name);
    return;
  }
  bool whole = v->type.base == TM_INT;
  tm_emit(g, "  F[%zu](t, (tm_any[]){tm_any_tensor(p_%s, 1), ",
          tm_emit_call_number(g, whole ? "discrete_range_fill" : "uniform_fill",
                              whole ? "II" : "RR"),
          v->name);
  for (int k = 0; k < 2; k++) {
    tm_emit_any(g, v->lower);
    tm_emit(g, ", ");
    tm_emit_any(g, v->upper);
    tm_emit(g, k ? "" : ", ");
  }
  tm_emit(g, "}, 0);\n");
  emit_refresh(g, v);
}

static void emit_pack(tm_emitter *g, const tm_variable *v) {
  tm_emit_line(g, "for (long k_ = 0, n_ = tm_count(&p_%s); k_ < n_; k_++) {",
               v->name);
  tm_emit_line(g, "  double x_ = p_%s.v[tm_columnwise(&p_%s, k_)];", v->name,
               v->name);
  tm_emit_line(g,
               "  if (isnan(x_)) t->runtime->fail(t, \"\", \"part of %s "
               "has no prior statement\");",
               v->name);
  tm_emit_line(g, "  theta[I->o_%s + k_] = x_;\n  }", v->name);
}

bool tm_emit_prior_draw(tm_emitter *g) {
  plan p = {.g = g, .split = &g->program->split};
  const unit *sorted[MOST_UNITS];
  if (!p.split->proper || p.split->parameter_count == 0 || !collect(&p) ||
      !rest_is_flat(&p) || !order(&p, sorted))
    return false;
  tm_emit_line(g, "static void draw_prior(tm_tape *t, const void *i_, "
                  "double *theta) {");
  g->indent = 1;
  tm_emit_line(g, "const instance *I = i_;");
  for (size_t k = 0; k < p.split->parameter_count; k++)
    emit_storage(g, p.split->parameters[k].variable);
  for (size_t k = 0; k < p.split->parameter_count; k++) {
    bool drawn = false;
    for (size_t i = 0; i < p.count; i++)
      drawn = drawn || (p.units[i].draws.mask[k / 64] >> (k % 64) & 1);
    if (!drawn)
      emit_flat(g, p.split->parameters[k].variable);
  }
  for (size_t n = 0; n < p.count; n++)
    emit_draws(g, sorted[n]->statement);
  for (size_t k = 0; k < p.split->parameter_count; k++)
    emit_pack(g, p.split->parameters[k].variable);
  g->indent = 0;
  tm_emit_line(g, "}");
  return true;
}
