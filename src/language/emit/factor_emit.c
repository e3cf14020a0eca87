/* factor_emit.c - C text that draws from a law (factor.h). */
#include "language/emit/factor_parts.h"

/* Scalars are read from v_name: bring them up to date. */
static void emit_refresh(tm_emitter *g, const tm_variable *v) {
  tm_held held = tm_held_variable(g, v);
  if (held != TM_TENSOR)
    tm_emit_line(g, "%sv_%s = (%s)p_%s.v[0];",
                 g->replicating ? "if (t->replicating == 1) " : "", v->name,
                 tm_held_name(held), v->name);
}

/* Into x_[i, j], innermost brackets last. */
static void emit_step(tm_emitter *g, const tm_expression *e) {
  if (e->parts[0]->kind == TM_E_INDEX)
    emit_step(g, e->parts[0]);
  tm_emit(g, "%*s{", 2 * g->indent, "");
  tm_emit_offset(g, e);
  tm_emit(g, " x_ = tm_sub(x_, k_, %zu); }\n", e->index_count);
}

static char storage_of(const tm_emitter *g, const tm_variable *v) {
  return tm_is_copy(g, v) ? 'v' : 'p';
}

/* The place to fill, as x_: the variable's storage, or a copy of a slice. */
static void emit_place(tm_emitter *g, const tm_factor *f) {
  const tm_expression *left = f->left;
  tm_emit(g, "%*stm_tensor x_ = ", 2 * g->indent, "");
  if (tm_is_slice(left))
    tm_emit_expression(g, left);
  else
    tm_emit(g, "%c_%s", storage_of(g, f->variable), f->variable->name);
  tm_emit(g, ";\n");
  if (left->kind != TM_E_INDEX || tm_is_slice(left))
    return;
  emit_step(g, left);
}

static void emit_put_back(tm_emitter *g, const tm_factor *f) {
  if (tm_is_slice(f->left)) {
    tm_emit(g, "%*st->runtime->scatter(t, %c_%s, ", 2 * g->indent, "",
            storage_of(g, f->variable), f->variable->name);
    tm_emit_slices(g, f->left);
    tm_emit(g, ", tm_any_tensor(x_, 1), ");
    tm_emit_place(g, f->left->token);
    tm_emit(g, ");\n");
  }
  emit_refresh(g, f->variable);
}

static void emit_affine_bound(tm_emitter *g, const tm_expression *own,
                              const char *without) {
  tm_emit(g, "slope_ * ");
  if (own)
    tm_emit_as(g, own, TM_DOUBLE);
  else
    tm_emit(g, "%s", without);
}

/* That of a multiple, shifted: a negative one swaps them. */
static void emit_affine_bounds(tm_emitter *g, const tm_factor *f, bool upper) {
  const tm_variable *v = f->variable;
  bool bounded = v->constraint == TM_BOUNDED;
  tm_emit(g, "tm_any_real(shift_ + %s(", upper ? "fmax" : "fmin");
  emit_affine_bound(g, bounded ? v->lower : NULL, "-INFINITY");
  tm_emit(g, ", ");
  emit_affine_bound(g, bounded ? v->upper : NULL, "INFINITY");
  tm_emit(g, "))");
}

/* The narrower of the parameter's own bound and the statement's T[,]. */
static void emit_one_bound(tm_emitter *g, const tm_factor *f, bool upper) {
  const tm_variable *v = f->variable;
  if (f->affine) {
    emit_affine_bounds(g, f, upper);
    return;
  }
  bool bounded = v->constraint == TM_BOUNDED && !g->replicating;
  const tm_expression *own = bounded ? upper ? v->upper : v->lower : NULL;
  const tm_expression *cut = NULL;
  const char *without =
      upper                                                     ? "INFINITY"
      : v->constraint == TM_POSITIVE_ORDERED && !g->replicating ? "0"
                                                                : "-INFINITY";
  if (f->statement->truncated)
    cut = upper ? f->statement->upper : f->statement->lower;
  if (!own || !cut) {
    tm_emit_bound(g, own ? own : cut, without);
    return;
  }
  tm_emit(g, upper ? "tm_any_real(fmin(" : "tm_any_real(fmax(");
  tm_emit_as(g, own, TM_DOUBLE);
  tm_emit(g, ", ");
  tm_emit_as(g, cut, TM_DOUBLE);
  tm_emit(g, "))");
}

/* F[stem_suffix](t, {x_, arguments, bounds}) */
static void emit_law_arguments(tm_emitter *g, const tm_factor *f,
                               const tm_expression *e) {
  tm_emit(g, "(tm_any[]){tm_any_tensor(x_, 1)");
  for (size_t i = 1; i < e->part_count; i++) {
    tm_emit(g, ", ");
    tm_emit_any(g, e->parts[i]);
  }
  for (int upper = 0; upper < 2; upper++) {
    tm_emit(g, ", ");
    emit_one_bound(g, f, upper);
  }
  tm_emit(g, "}");
}

/* Without f: the arguments are there as a_. */
static void emit_law(tm_emitter *g, const tm_factor *f, const tm_expression *e,
                     const char *suffix) {
  const char *name = tm_law_relative(g, e->builtin->name, suffix);
  if (!name)
    return;
  tm_emit(g, "F[%zu](t, ",
          tm_emit_call_number(g, name, e->builtin->signature + 1));
  if (f)
    emit_law_arguments(g, f, e);
  else
    tm_emit(g, "a_");
  tm_emit(g, ", 0)");
}

static void emit_weight(tm_emitter *g, const tm_component *c) {
  static const char *const before[] = {" + (", " - (", " + log(", " + log1p(-"};
  for (size_t i = 0; i < c->weight_count; i++) {
    tm_emit(g, "%s", before[c->kinds[i]]);
    tm_emit_as(g, c->weights[i], TM_DOUBLE);
    tm_emit(g, ")");
  }
}

static void emit_mixture(tm_emitter *g, const tm_factor *f) {
  tm_emit_line(g, "tm_tensor w_ = tm_declare(t, 1, (int[]){%zu}, 0);",
               f->count);
  for (size_t i = 0; i < f->count; i++) {
    tm_emit(g, "%*sw_.v[%zu] = ", 2 * g->indent, "", i);
    emit_law(g, f, f->components[i].density, "_between");
    tm_emit(g, ".u.r.v");
    emit_weight(g, &f->components[i]);
    tm_emit(g, ";\n");
  }
  tm_emit_line(g,
               "int which_ = (int)F[%zu](t, (tm_any[]){tm_any_tensor(w_, 1)}, "
               "1).u.r.v;",
               tm_emit_call_number(g, "component_fill", "v"));
  for (size_t i = 0; i < f->count; i++) {
    tm_emit(g, "%*sif (which_ == %zu) ", 2 * g->indent, "", i + 1);
    emit_law(g, f, f->components[i].density, "_fill");
    tm_emit(g, ";\n");
  }
}

/* a_, of which only the element r_ is drawn where they are drawn in turn. */
static void emit_fill(tm_emitter *g, const tm_factor *f, bool in_turn) {
  const tm_expression *e = f->components[0].density;
  tm_emit(g, "%*stm_any *a_ = ", 2 * g->indent, "");
  emit_law_arguments(g, f, e);
  tm_emit(g, ";\n");
  if (in_turn)
    tm_emit_line(g, "tm_take_element(a_, %zu, r_);", e->part_count + 2);
  tm_emit(g, "%*sdouble mass_ = ", 2 * g->indent, "");
  emit_law(g, NULL, e, "_between");
  tm_emit(g, ".u.r.v;\n");
  tm_emit_line(g, "t->log_density -= mass_;");
  if (!f->statement->truncated) /* T[,] is part of the density */
    tm_emit_line(g, "t->cut += mass_;");
  tm_emit(g, "%*s", 2 * g->indent, "");
  emit_law(g, NULL, e, "_fill");
  tm_emit(g, ";\n");
}

static void emit_elements(tm_emitter *g, const tm_factor *f) {
  const tm_expression *e = f->components[0].density;
  bool ordered =
      !g->replicating && (f->variable->constraint == TM_ORDERED ||
                          f->variable->constraint == TM_POSITIVE_ORDERED);
  if (tm_is_slice(f->left) && tm_needs_itself(e, f->variable)) {
    tm_emit_line(g, "for (long r_ = 0; r_ < tm_count(&x_); r_++) {");
    g->indent++;
    emit_fill(g, f, true);
    emit_put_back(g, f);
    g->indent--;
    tm_emit_line(g, "}");
    return;
  }
  emit_fill(g, f, false);
  if (ordered && f->left->kind == TM_E_NAME)
    tm_emit_line(g, "F[%zu](t, (tm_any[]){tm_any_tensor(x_, 1)}, 1);",
                 tm_emit_call_number(g, "ordered_fill", "v"));
}

static void emit_whole(tm_emitter *g, const tm_factor *f) {
  const tm_expression *e = f->components[0].density;
  const tm_builtin *rng = tm_whole_rng(g, e);
  bool sized = tm_is_law(e, "lkj_corr") || tm_is_law(e, "lkj_corr_cholesky");
  tm_emit(g,
          "%*sF[%zu](t, (tm_any[]){tm_any_tensor(x_, 1), F[%zu](t, "
          "(tm_any[]){%s",
          2 * g->indent, "", tm_emit_call_number(g, "whole_fill", "v"),
          tm_emit_call_number(g, rng->name, rng->signature),
          sized ? "tm_any_int(x_.dim[0])" : "");
  for (size_t i = 1; i < e->part_count; i++) {
    tm_emit(g, sized || i > 1 ? ", " : "");
    tm_emit_any(g, e->parts[i]);
  }
  tm_emit(g, "}, %zu)}, 2);\n", e->part_count - 1 + sized);
}

/* Bounds that leave a label out would cut the law: then it is not drawn. */
static void emit_labels(tm_emitter *g, const tm_factor *f) {
  const tm_expression *e = f->components[0].density;
  const tm_builtin *rng = tm_whole_rng(g, e);
  char place[TM_PLACE];
  tm_emit(g, "%*stm_any p_ = ", 2 * g->indent, "");
  tm_emit_any(g, e->parts[1]);
  tm_emit(g, ";\n%*sif (", 2 * g->indent, "");
  tm_emit_number(g, f->variable->lower);
  tm_emit(g, " > 1 || ");
  tm_emit_number(g, f->variable->upper);
  tm_emit(g, " < p_.u.t.dim[0])\n");
  tm_emit_line(g, "  t->runtime->fail(t, \"%s\", \"labels are left out\");",
               tm_place_text(e->token, place));
  tm_emit_line(g, "for (long i_ = 0; i_ < tm_count(&x_); i_++)");
  tm_emit_line(g, "  x_.v[i_] = (double)F[%zu](t, &p_, 1).u.i;",
               tm_emit_call_number(g, rng->name, rng->signature));
}

/* A copy that the term scores, from what was drawn. */
static void emit_copy(tm_emitter *g, const tm_factor *f) {
  const tm_expression *left = f->components[0].density->parts[0];
  const tm_expression *copied = tm_copied_by(g, left);
  if (!copied)
    return;
  tm_emit(g, "%*sdouble v_%s = ", 2 * g->indent, "", left->variable->name);
  tm_emit_as(g, copied, TM_DOUBLE);
  tm_emit(g, ";\n");
}

void tm_factor_emit(tm_emitter *g, const tm_factor *f) {
  tm_emit_line(g, "{");
  g->indent++;
  emit_place(g, f);
  if (f->affine)
    tm_emit_affine_begin(g, f);
  const tm_builtin *law = f->components[0].density->builtin;
  if (law->kind != TM_B_DENSITY &&
      (g->replicating || tm_is_law_of_vectors(f->components[0].density)))
    tm_emit_replica_law(g, f->components[0].density);
  else if (tm_is_categorical(f->components[0].density))
    emit_labels(g, f);
  else if (law->kind != TM_B_DENSITY)
    emit_whole(g, f);
  else if (f->count == 1)
    emit_elements(g, f);
  else
    emit_mixture(g, f);
  if (f->affine)
    tm_emit_affine_end(g);
  emit_put_back(g, f);
  emit_copy(g, f);
  tm_emit_term(g, f->value);
  g->indent--;
  tm_emit_line(g, "}");
}

/* ---- flat parameters ---------------------------------------------------- */

bool tm_factor_is_flat(const tm_variable *v) {
  bool flat = (v->constraint == TM_BOUNDED && v->lower && v->upper) ||
              (v->constraint == TM_SIMPLEX && v->type.depth == 0);
  return flat && !tm_has_dependent_limits(v);
}

static void emit_flat_simplex(tm_emitter *g, const tm_variable *v) {
  tm_emit_line(g,
               "F[%zu](t, (tm_any[]){tm_any_tensor(p_%s, 1), F[%zu](t, "
               "(tm_any[]){tm_any_int(I->d_%s[0])}, 1)}, 0);",
               tm_emit_call_number(g, "dirichlet_fill", "v"), v->name,
               tm_emit_call_number(g, "ones_vector", "i:v"), v->name);
  tm_emit_line(g, "t->log_density += lgamma((double)I->d_%s[0]);", v->name);
}

void tm_factor_emit_flat(tm_emitter *g, const tm_variable *v) {
  if (v->constraint == TM_SIMPLEX) {
    emit_flat_simplex(g, v);
    return;
  }
  bool whole = v->type.base == TM_INT;
  static const char *const kinds[][2] = {{"uniform_fill", "RR"},
                                         {"discrete_range_fill", "II"}};
  tm_emit(g, "  { tm_any low_ = ");
  tm_emit_any(g, v->lower);
  tm_emit(g, ", high_ = ");
  tm_emit_any(g, v->upper);
  tm_emit(g, ";\n");
  tm_emit_line(g,
               "tm_any flat_[] = {tm_any_tensor(p_%s, 1), low_, high_, "
               "low_, high_};",
               v->name);
  tm_emit_line(g, "F[%zu](t, flat_, 0);",
               tm_emit_call_number(g, kinds[whole][0], kinds[whole][1]));
  tm_emit_line(
      g, "t->log_density += F[%zu](t, flat_, 3).u.r.v; }",
      tm_emit_call_number(g, whole ? "discrete_range_lpdf" : "uniform_lpdf",
                          whole ? "III" : "RRR"));
  emit_refresh(g, v);
}
