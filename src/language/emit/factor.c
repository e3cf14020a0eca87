/* factor.c - see factor.h. What is recognised here need not be right for sure:
 * the loader compares the log density of draws with the log prior, which must
 * differ by a constant, before it offers them. */
#include "language/emit/factor.h"

#include "language/check/term.h"

#include <string.h>

/* ---- recognising -------------------------------------------------------- */

const tm_expression *tm_part_term(const tm_statement *s, tm_part part,
                                  size_t i) {
  if (!(s->part & part))
    return NULL;
  if (s->kind == TM_S_TILDE)
    return i ? NULL : s->density;
  if (s->kind == TM_S_TARGET && !s->term_count) /* marked */
    return i ? NULL : s->value;
  for (size_t k = 0; k < s->term_count; k++)
    if ((s->terms[k].part & part) && !s->terms[k].minus && i-- == 0)
      return s->terms[k].value;
  return NULL;
}

static const char *renamed(tm_emitter *g, const char *name,
                           const char *suffix) {
  size_t n = tm_stem_length(name), m = strlen(suffix);
  char *text = TM_NEW(g->arena, char, n + m + 1);
  if (text) {
    memcpy(text, name, n);
    memcpy(text + n, suffix, m);
  } else {
    g->body.failed = true;
  }
  return text;
}

static const tm_builtin *builtin_named(const char *name) {
  for (size_t i = 0; name && i < tm_builtin_count(); i++)
    if (!strcmp(tm_builtin_at(i)->name, name))
      return tm_builtin_at(i);
  return NULL;
}

/* x[i][j], every index a single one. */
static bool is_single(const tm_expression *e) {
  for (; e->kind == TM_E_INDEX; e = e->parts[0])
    if (!tm_index_single(e))
      return false;
  return true;
}

static bool is_drawable(const tm_emitter *g, const tm_variable *v) {
  if (!g->replicating)
    return v->block == TM_BLOCK_PARAMETERS || tm_is_copy(g, v);
  return v->global && !v->items && !tm_is_complex(v->type) &&
         (v->block == TM_BLOCK_DATA || v->block == TM_BLOCK_TRANSFORMED_DATA);
}

/* The variable whose elements a term scores, if they can be drawn. */
static const tm_variable *drawn_by(const tm_emitter *g,
                                   const tm_expression *left) {
  if (left->kind == TM_E_CALL && !strcmp(left->text, "to_vector"))
    left = left->parts[0];
  else if (left->kind == TM_E_INDEX && left->parts[0]->kind == TM_E_INDEX)
    left = is_single(left) ? tm_root(left) : left;
  else if (left->kind == TM_E_INDEX)
    left = left->parts[0];
  return left->kind == TM_E_NAME && is_drawable(g, left->variable)
             ? left->variable
             : NULL;
}

/* A transformed parameter that is declared as a copy: what it copies. */
static const tm_expression *copied_by(const tm_emitter *g,
                                      const tm_expression *left) {
  const tm_variable *v = left->kind == TM_E_NAME ? left->variable : NULL;
  bool copy = v && v->block == TM_BLOCK_TRANSFORMED_PARAMETERS && v->initial &&
              tm_is_scalar(v->type) && v->type.base == TM_REAL &&
              is_single(v->initial) && drawn_by(g, v->initial);
  return copy ? v->initial : NULL;
}

/* What of a variable a density scores. */
static const tm_expression *outcome_of(const tm_emitter *g,
                                       const tm_expression *density) {
  const tm_expression *left = density->parts[0], *copied = copied_by(g, left);
  return copied ? copied : g->replicating ? left : tm_affine_inner(left);
}

static bool is_named(const tm_expression *e, const char *stem) {
  size_t n = tm_stem_length(e->text);
  return strlen(stem) == n && !strncmp(e->text, stem, n);
}

static bool is_type(const tm_expression *e, tm_base base) {
  return e->type.base == base && e->type.depth == 0;
}

/* Labels: each element is drawn by itself, with the same probabilities. */
static bool is_categorical(const tm_expression *e) {
  return is_named(e, "categorical") || is_named(e, "categorical_logit");
}

/* Laws of vectors, each drawn by itself if there are several. */
static bool is_of_vectors(const tm_expression *e) {
  static const char *const names[] = {"multi_normal", "multi_normal_cholesky",
                                      "multi_student_t",
                                      "multi_student_t_cholesky", "dirichlet"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (is_named(e, names[i]))
      return true;
  return false;
}

/* x, or x[i, j]: what is drawn lies there in one piece. */
static bool is_place(const tm_expression *e) {
  return e->kind == TM_E_NAME || (e->kind == TM_E_INDEX && is_single(e));
}

/* Laws of a whole vector or matrix, with a random function of their own. */
static bool fits_whole(tm_emitter *g, const tm_variable *v,
                       const tm_expression *e) {
  bool matrix = is_place(e->parts[0]) && is_type(e->parts[0], TM_MATRIX);
  bool vectors =
      is_place(e->parts[0]) && is_of_vectors(e) && tm_replica_law(g, e);
  switch (v->constraint) {
  case TM_BOUNDED:
    return is_categorical(e) && v->lower && v->upper;
  case TM_SIMPLEX:
    return vectors && is_named(e, "dirichlet");
  case TM_CHOLESKY_CORR:
    return matrix && is_named(e, "lkj_corr_cholesky");
  case TM_CORRELATION:
    return matrix && is_named(e, "lkj_corr");
  case TM_COVARIANCE:
    return matrix && (is_named(e, "wishart") || is_named(e, "inv_wishart"));
  case TM_FREE:
  case TM_OFFSET:
    return vectors && !is_named(e, "dirichlet");
  default:
    return false;
  }
}

static bool scalar_arguments(const tm_expression *e) {
  for (size_t i = 1; i < e->part_count; i++)
    if (!tm_is_scalar(e->parts[i]->type))
      return false;
  return true;
}

static bool scalar_bounds(const tm_variable *v) {
  return (!v->lower || tm_is_scalar(v->lower->type)) &&
         (!v->upper || tm_is_scalar(v->upper->type));
}

static bool is_affine(const tm_emitter *g, const tm_expression *density) {
  const tm_expression *left = density->parts[0];
  return !copied_by(g, left) && outcome_of(g, density) != left;
}

/* Elements that are independent, given the arguments. */
static bool fits_elements(const tm_emitter *g, const tm_variable *v,
                          const tm_expression *e) {
  const tm_expression *left = outcome_of(g, e);
  bool whole = left->kind == TM_E_NAME;
  if (is_affine(g, e))
    return is_place(left) &&
           (v->constraint == TM_FREE || v->constraint == TM_OFFSET ||
            (v->constraint == TM_BOUNDED && scalar_bounds(v)));
  if (left->kind == TM_E_CALL && !scalar_arguments(e))
    return false;     /* to_vector is column-major, storage is not */
  if (g->replicating) /* declared bounds of data do not cut their law */
    return true;
  switch (v->constraint) {
  case TM_FREE:
  case TM_OFFSET:
    return true;
  case TM_BOUNDED:
    return whole || scalar_bounds(v);
  case TM_ORDERED:
  case TM_POSITIVE_ORDERED: /* together if alike, else kept if in order */
    return whole ? scalar_arguments(e) : tm_is_scalar(left->type);
  default:
    return false;
  }
}

static bool names(const tm_expression *e, const tm_variable *v) {
  if (!e)
    return false;
  bool found = e->kind == TM_E_NAME && e->variable == v;
  for (size_t i = 0; i < e->part_count && !found; i++)
    found = names(e->parts[i], v);
  return found;
}

/* An outcome among its own arguments can only be drawn one by one. */
static bool needs_itself(const tm_expression *density, const tm_variable *v) {
  bool found = false;
  for (size_t i = 1; i < density->part_count && !found; i++)
    found = names(density->parts[i], v);
  return found;
}

static bool is_slice(const tm_expression *left) {
  return left->kind == TM_E_INDEX && !tm_index_single(left);
}

/* x[t], or x[2:T] ~ normal(x[1:(T - 1)], s), whose elements are drawn in turn.
 */
static bool is_in_turn(const tm_emitter *g, const tm_expression *density) {
  const tm_expression *left = density->parts[0];
  return tm_is_scalar(left->type) ||
         (left->kind == TM_E_INDEX && is_single(left)) ||
         (!g->replicating && density->builtin->kind == TM_B_DENSITY &&
          is_slice(left) && left->index_count == 1 && is_type(left, TM_VECTOR));
}

static const tm_builtin *whole_rng(tm_emitter *g, const tm_expression *e);

static bool density_fits(tm_emitter *g, const tm_expression *e) {
  if (e->kind != TM_E_CALL || !e->builtin || !tm_is_density(e))
    return false;
  const tm_variable *v = drawn_by(g, outcome_of(g, e));
  if (!v)
    return false;
  if (needs_itself(e, v) && !is_in_turn(g, e))
    return false;
  if (e->builtin->kind != TM_B_DENSITY && is_affine(g, e))
    return false;
  if (e->builtin->kind != TM_B_DENSITY)
    return g->replicating
               ? tm_replica_law(g, e)
               : fits_whole(g, v, e) && (is_of_vectors(e) || whole_rng(g, e));
  const tm_builtin *rng = builtin_named(renamed(g, e->builtin->name, "_rng"));
  return rng && rng->kind == TM_B_RNG && fits_elements(g, v, e);
}

/* ---- mixtures ----------------------------------------------------------- */

static bool weigh(tm_component *c, const tm_expression *e,
                  tm_weight_kind kind) {
  if (c->weight_count == TM_MOST_WEIGHTS)
    return false;
  c->weights[c->weight_count] = e;
  c->kinds[c->weight_count++] = kind;
  return true;
}

static bool is_mixture(const tm_expression *e) {
  return e->kind == TM_E_CALL &&
         (!strcmp(e->text, "log_mix") || !strcmp(e->text, "log_sum_exp"));
}

/* The one term of a sum that is a law; the others are weights. */
static const tm_expression *law_in(tm_emitter *g, const tm_expression *e,
                                   bool minus, tm_component *c, bool *fine) {
  if (tm_is_sum(e)) {
    bool subtract = !strcmp(e->text, "-");
    const tm_expression *a = law_in(g, e->parts[0], minus, c, fine);
    const tm_expression *b = law_in(g, e->parts[1], minus != subtract, c, fine);
    *fine = *fine && !(a && b);
    return a ? a : b;
  }
  if (e->kind == TM_E_UNARY && e->text[0] == '-')
    return law_in(g, e->parts[0], !minus, c, fine);
  if (!minus && (is_mixture(e) || density_fits(g, e)))
    return e;
  *fine = *fine && weigh(c, e, minus ? TM_WEIGHT_MINUS : TM_WEIGHT_PLUS);
  return NULL;
}

static bool components_of(tm_emitter *g, const tm_expression *e,
                          tm_component so_far, tm_factor *f);

static bool components_in(tm_emitter *g, const tm_expression *list,
                          const tm_component *so_far, tm_factor *f) {
  if (list->kind == TM_E_TRANSPOSE)
    list = list->parts[0];
  if (list->kind != TM_E_ARRAY && list->kind != TM_E_ROW_VECTOR)
    return false;
  for (size_t i = 0; i < list->part_count; i++)
    if (!components_of(g, list->parts[i], *so_far, f))
      return false;
  return list->part_count > 0;
}

static bool mixture_of(tm_emitter *g, const tm_expression *e,
                       const tm_component *so_far, tm_factor *f) {
  bool mix = !strcmp(e->text, "log_mix");
  if (!mix && e->part_count == 1)
    return components_in(g, e->parts[0], so_far, f);
  if (e->part_count != (mix ? 3 : 2) || !tm_is_scalar(e->parts[0]->type))
    return false;
  for (size_t i = 0; i < 2; i++) {
    tm_component c = *so_far;
    if (mix && !weigh(&c, e->parts[0], i ? TM_WEIGHT_LOG1M : TM_WEIGHT_LOG))
      return false;
    if (!components_of(g, e->parts[i + mix], c, f))
      return false;
  }
  return true;
}

static bool components_of(tm_emitter *g, const tm_expression *e,
                          tm_component so_far, tm_factor *f) {
  bool fine = true;
  const tm_expression *law = law_in(g, e, false, &so_far, &fine);
  if (!law || !fine)
    return false;
  if (is_mixture(law))
    return mixture_of(g, law, &so_far, f);
  if (f->count == TM_MOST_COMPONENTS)
    return false;
  so_far.density = law;
  f->components[f->count++] = so_far;
  return true;
}

bool tm_factor_of(tm_emitter *g, const tm_statement *s,
                  const tm_expression *term, tm_factor *f) {
  *f = (tm_factor){.statement = s, .value = term};
  if (!components_of(g, term, (tm_component){0}, f))
    return false;
  f->left = outcome_of(g, f->components[0].density);
  f->affine = is_affine(g, f->components[0].density);
  f->variable = drawn_by(g, f->left);
  if (f->affine && (f->count > 1 || s->truncated))
    return false;
  if (g->replicating && f->count == 1 && f->components[0].weight_count)
    return false; /* the density is not all of the term */
  for (size_t i = 1; i < f->count; i++)
    if (!tm_same_text(f->left, outcome_of(g, f->components[i].density)) ||
        f->components[i].density->builtin->kind != TM_B_DENSITY)
      return false;
  bool ordered =
      !g->replicating && (f->variable->constraint == TM_ORDERED ||
                          f->variable->constraint == TM_POSITIVE_ORDERED);
  if (s->truncated && (!tm_is_scalar(f->left->type) ||
                       is_categorical(f->components[0].density)))
    return false;
  return f->count == 1 ||
         (!ordered && f->components[0].density->builtin->kind == TM_B_DENSITY);
}

/* ---- emitting ----------------------------------------------------------- */

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
  if (is_slice(left))
    tm_emit_expression(g, left);
  else
    tm_emit(g, "%c_%s", storage_of(g, f->variable), f->variable->name);
  tm_emit(g, ";\n");
  if (left->kind != TM_E_INDEX || is_slice(left))
    return;
  emit_step(g, left);
}

static void emit_put_back(tm_emitter *g, const tm_factor *f) {
  if (is_slice(f->left)) {
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
  const char *name = renamed(g, e->builtin->name, suffix);
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
  if (is_slice(f->left) && needs_itself(e, f->variable)) {
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

/* The random function of a whole value; those of correlations ask for the
 * size first. */
static const tm_builtin *whole_rng(tm_emitter *g, const tm_expression *e) {
  const char *name = renamed(g, e->builtin->name, "_rng");
  bool sized = is_named(e, "lkj_corr") || is_named(e, "lkj_corr_cholesky");
  tm_type types[4] = {tm_type_of(TM_INT, 0)}, result;
  bool exists;
  size_t count = sized;
  for (size_t i = 1; i < e->part_count && count < 4; i++)
    types[count++] = e->parts[i]->type;
  return name ? tm_builtin_find(name, types, count, &result, &exists) : NULL;
}

static void emit_whole(tm_emitter *g, const tm_factor *f) {
  const tm_expression *e = f->components[0].density;
  const tm_builtin *rng = whole_rng(g, e);
  bool sized = is_named(e, "lkj_corr") || is_named(e, "lkj_corr_cholesky");
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
  const tm_builtin *rng = whole_rng(g, e);
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
  const tm_expression *copied = copied_by(g, left);
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
      (g->replicating || is_of_vectors(f->components[0].density)))
    tm_emit_replica_law(g, f->components[0].density);
  else if (is_categorical(f->components[0].density))
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
