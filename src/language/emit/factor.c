/* factor.c - which terms of the target are laws to draw from (factor.h). What is
 * recognised here need not be right for sure: the loader compares the log
 * density of draws with the log prior, which must differ by a constant, before
 * it offers them. */
#include "language/emit/factor_parts.h"

#include "language/check/term.h"

#include <string.h>

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

const char *tm_law_relative(tm_emitter *g, const char *name,
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
const tm_expression *tm_copied_by(const tm_emitter *g,
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
  const tm_expression *left = density->parts[0],
                      *copied = tm_copied_by(g, left);
  return copied ? copied : g->replicating ? left : tm_affine_inner(left);
}

bool tm_is_law(const tm_expression *e, const char *stem) {
  size_t n = tm_stem_length(e->text);
  return strlen(stem) == n && !strncmp(e->text, stem, n);
}

static bool is_type(const tm_expression *e, tm_base base) {
  return e->type.base == base && e->type.depth == 0;
}

/* Labels: each element is drawn by itself, with the same probabilities. */
bool tm_is_categorical(const tm_expression *e) {
  return tm_is_law(e, "categorical") || tm_is_law(e, "categorical_logit");
}

/* Laws of vectors, each drawn by itself if there are several. */
bool tm_is_law_of_vectors(const tm_expression *e) {
  static const char *const names[] = {"multi_normal", "multi_normal_cholesky",
                                      "multi_student_t",
                                      "multi_student_t_cholesky", "dirichlet"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (tm_is_law(e, names[i]))
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
      is_place(e->parts[0]) && tm_is_law_of_vectors(e) && tm_replica_law(g, e);
  switch (v->constraint) {
  case TM_BOUNDED:
    return tm_is_categorical(e) && v->lower && v->upper;
  case TM_SIMPLEX:
    return vectors && tm_is_law(e, "dirichlet");
  case TM_CHOLESKY_CORR:
    return matrix && tm_is_law(e, "lkj_corr_cholesky");
  case TM_CORRELATION:
    return matrix && tm_is_law(e, "lkj_corr");
  case TM_COVARIANCE:
    return matrix && (tm_is_law(e, "wishart") || tm_is_law(e, "inv_wishart"));
  case TM_FREE:
  case TM_OFFSET:
    return vectors && !tm_is_law(e, "dirichlet");
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
  return !tm_copied_by(g, left) && outcome_of(g, density) != left;
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
bool tm_needs_itself(const tm_expression *density, const tm_variable *v) {
  bool found = false;
  for (size_t i = 1; i < density->part_count && !found; i++)
    found = names(density->parts[i], v);
  return found;
}

bool tm_is_slice(const tm_expression *left) {
  return left->kind == TM_E_INDEX && !tm_index_single(left);
}

/* x[t], or x[2:T] ~ normal(x[1:(T - 1)], s), whose elements are drawn in turn.
 */
static bool is_in_turn(const tm_emitter *g, const tm_expression *density) {
  const tm_expression *left = density->parts[0];
  return tm_is_scalar(left->type) ||
         (left->kind == TM_E_INDEX && is_single(left)) ||
         (!g->replicating && density->builtin->kind == TM_B_DENSITY &&
          tm_is_slice(left) && left->index_count == 1 &&
          is_type(left, TM_VECTOR));
}

/* The random function of a whole value; those of correlations ask for the
 * size first. */
const tm_builtin *tm_whole_rng(tm_emitter *g, const tm_expression *e) {
  const char *name = tm_law_relative(g, e->builtin->name, "_rng");
  bool sized = tm_is_law(e, "lkj_corr") || tm_is_law(e, "lkj_corr_cholesky");
  tm_type types[4] = {tm_type_of(TM_INT, 0)}, result;
  bool exists;
  size_t count = sized;
  for (size_t i = 1; i < e->part_count && count < 4; i++)
    types[count++] = e->parts[i]->type;
  return name ? tm_builtin_find(name, types, count, &result, &exists) : NULL;
}

static bool density_fits(tm_emitter *g, const tm_expression *e) {
  if (e->kind != TM_E_CALL || !e->builtin || !tm_is_density(e))
    return false;
  const tm_variable *v = drawn_by(g, outcome_of(g, e));
  if (!v)
    return false;
  if (tm_needs_itself(e, v) && !is_in_turn(g, e))
    return false;
  if (e->builtin->kind != TM_B_DENSITY && is_affine(g, e))
    return false;
  if (e->builtin->kind != TM_B_DENSITY)
    return g->replicating ? tm_replica_law(g, e)
                          : fits_whole(g, v, e) &&
                                (tm_is_law_of_vectors(e) || tm_whole_rng(g, e));
  const tm_builtin *rng =
      builtin_named(tm_law_relative(g, e->builtin->name, "_rng"));
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
                       tm_is_categorical(f->components[0].density)))
    return false;
  return f->count == 1 ||
         (!ordered && f->components[0].density->builtin->kind == TM_B_DENSITY);
}
