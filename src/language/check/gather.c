/* gather.c - variables that gather terms of the target.
 *
 * `lprior += normal_lpdf(b | 0, 1); ... target += lprior;` adds a prior term,
 * wherever it is written. A variable gathers when all that the target sees of
 * it is added up, and there are densities in it: then each of its terms is
 * judged by itself. A variable used in another way (log_sum_exp(lp)) is one
 * value; it is judged by the densities in it. */
#include "language/check/split.h"
#include "language/check/term.h"

#include <string.h>

typedef struct gatherer {
  tm_split *split;
  bool changed;
} gatherer;

static void set(gatherer *g, bool *flag) {
  g->changed = g->changed || !*flag;
  *flag = true;
}

static bool can_gather(const tm_variable *v) {
  bool here =
      v->block == TM_BLOCK_TRANSFORMED_PARAMETERS || v->block == TM_BLOCK_MODEL;
  return here && !v->loop && !v->argument && v->type.base != TM_INT &&
         v->type.base != TM_MATRIX;
}

bool tm_gathers(const tm_split *split, const tm_variable *v) {
  const tm_gathering *g = &split->gathering[v->index];
  return can_gather(v) && g->feeds && !g->bent && g->scores;
}

bool tm_passes_on(const tm_split *split, const tm_statement *s) {
  for (size_t i = 0; i < s->term_count; i++) {
    const tm_variable *v = tm_summand(s->terms[i].value);
    if (!v || !tm_gathers(split, v))
      return false;
  }
  return s->kind == TM_S_TARGET && s->term_count > 0;
}

/* ---- who adds up -------------------------------------------------------- */

static bool reaches(const gatherer *g, const tm_variable *into) {
  return !into || g->split->gathering[into->index].feeds;
}

/* e is used for a value of `into` (NULL: the target), not by adding it. */
static void use(gatherer *g, const tm_expression *e, const tm_variable *into) {
  if (!e)
    return;
  if (e->kind == TM_E_NAME) {
    tm_gathering *v = &g->split->gathering[e->variable->index];
    set(g, &v->bent);
    if (reaches(g, into))
      set(g, &v->feeds);
  }
  for (size_t i = 0; i < e->part_count; i++)
    use(g, e->parts[i], into);
  for (size_t i = 0; i < e->index_count; i++) {
    use(g, e->indices[i].from, into);
    use(g, e->indices[i].to, into);
  }
}

static void add_up(gatherer *g, const tm_expression *e,
                   const tm_variable *into) {
  const tm_variable *v = tm_summand(e);
  if (tm_is_sum(e)) {
    add_up(g, e->parts[0], into);
    add_up(g, e->parts[1], into);
  } else if (e->kind == TM_E_UNARY) {
    add_up(g, e->parts[0], into);
  } else if (v && v == into) {
    return;
  } else if (v && can_gather(v)) {
    tm_gathering *one = &g->split->gathering[v->index];
    if (into && g->split->gathering[into->index].bent)
      set(g, &one->bent);
    if (reaches(g, into))
      set(g, &one->feeds);
  } else {
    use(g, e, into);
  }
}

static void assign(gatherer *g, const tm_variable *v, tm_type type,
                   const tm_expression *value, bool raises) {
  bool whole = !tm_is_scalar(type) && value->level == TM_LEVEL_PARAMETER;
  if (whole || raises)
    set(g, &g->split->gathering[v->index].bent);
  add_up(g, value, v);
}

static void walk(gatherer *g, tm_statement *const *body, size_t count) {
  for (size_t i = 0; i < count; i++) {
    const tm_statement *s = body[i];
    if (s->kind == TM_S_TARGET && s->mark == TM_MARK_NONE) {
      add_up(g, s->value, NULL);
    } else if (s->kind == TM_S_DECLARE && s->variable->initial) {
      assign(g, s->variable, s->variable->type, s->variable->initial,
             s->raises);
    } else if (s->kind == TM_S_ASSIGN) {
      const tm_variable *v = tm_root(s->left)->variable;
      assign(g, v, s->left->type, s->value, s->raises);
    } else if (s->kind != TM_S_PRINT && s->kind != TM_S_REJECT) {
      use(g, s->left, NULL);
      use(g, s->value, NULL);
      use(g, s->lower, NULL);
      use(g, s->upper, NULL);
      for (size_t k = 0; k < s->argument_count; k++)
        use(g, s->arguments[k], NULL);
    }
    walk(g, s->body, s->body_count);
    if (s->otherwise)
      walk(g, &s->otherwise, 1);
  }
}

/* ---- which densities a value holds -------------------------------------- */

unsigned tm_scores(tm_split *split, const tm_expression *e) {
  unsigned scores = 0;
  if (tm_is_density(e))
    return tm_outcome_part(split, e->parts[0], NULL);
  if (tm_is_cdf(e))
    return tm_depends(split, e->parts[0]).data == TM_DATA_VALUE
               ? TM_PART_LIKELIHOOD
               : TM_PART_NONE;
  if (e->kind == TM_E_NAME)
    return split->gathering[e->variable->index].scores;
  if (e->kind == TM_E_CALL && e->function)
    return tm_function_scores(split, e);
  for (size_t i = e->kind == TM_E_CONDITIONAL; i < e->part_count; i++)
    scores |= tm_scores(split, e->parts[i]);
  return scores;
}

static void score(gatherer *g, tm_statement *const *body, size_t count) {
  for (size_t i = 0; i < count; i++) {
    const tm_statement *s = body[i];
    const tm_variable *v = NULL;
    const tm_expression *value = s->value;
    if (s->kind == TM_S_DECLARE) {
      v = s->variable;
      value = v->initial;
    } else if (s->kind == TM_S_ASSIGN) {
      v = tm_root(s->left)->variable;
    }
    if (v && value && v->type.base != TM_INT) {
      unsigned *all = &g->split->gathering[v->index].scores, before = *all;
      *all |= tm_scores(g->split, value);
      g->changed = g->changed || *all != before;
    }
    score(g, s->body, s->body_count);
    if (s->otherwise)
      score(g, &s->otherwise, 1);
  }
}

void tm_score_body(tm_split *split, tm_statement *const *body, size_t count) {
  gatherer g = {split, true};
  while (g.changed) {
    g.changed = false;
    score(&g, body, count);
  }
}

void tm_gather_terms(tm_split *split) {
  typedef void (*step)(gatherer *, tm_statement *const *, size_t);
  static const step steps[] = {walk, score};
  static const tm_block_kind blocks[] = {TM_BLOCK_TRANSFORMED_PARAMETERS,
                                         TM_BLOCK_MODEL};
  for (size_t k = 0; k < 2; k++) {
    gatherer g = {split, true};
    while (g.changed) {
      g.changed = false;
      for (size_t i = 0; i < 2; i++) {
        const tm_block_node *b = &split->program->blocks[blocks[i]];
        steps[k](&g, b->statements, b->count);
      }
    }
  }
}
