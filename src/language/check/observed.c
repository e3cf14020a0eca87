/* observed.c - which data were observed, and which are constants of the model:
 * those are observed that the outcome of a likelihood's density is made of,
 * also by way of transformed data and locals. Everything else (covariates,
 * groups, sizes, hyperparameters) is given. */
#include "language/check/split.h"
#include "language/check/term.h"

#include <string.h>

typedef struct search {
  const tm_split *split;
  bool *reached;            /* by tm_variable.index */
  bool outcomes;            /* of densities are where it begins ... */
  const tm_expression *but; /* ... but of this */
  bool changed;
  bool chooses; /* by data, from a simplex: those are outcomes */
} search;

static void reach(search *s, const tm_expression *e) {
  if (e->kind == TM_E_NAME && e->variable && !s->reached[e->variable->index])
    s->changed = s->reached[e->variable->index] = true;
  for (size_t i = 0; i < e->part_count; i++) { /* not the indices */
    s->chooses = s->chooses || tm_chooses_by_data(s->split, e->parts[i]);
    if (tm_depends(s->split, e->parts[i]).data == TM_DATA_VALUE)
      reach(s, e->parts[i]);
  }
}

/* The outcomes of the densities that e is made of. */
static void reach_outcomes(search *s, const tm_expression *e) {
  if (!e || !s->outcomes)
    return;
  if (tm_is_density(e) && e->parts[0] != s->but &&
      tm_depends(s->split, e->parts[0]).data == TM_DATA_VALUE)
    reach(s, e->parts[0]);
  for (size_t i = 0; i < e->part_count; i++)
    reach_outcomes(s, e->parts[i]);
}

/* What a reached variable is assigned from is reached. */
static void reach_sources(search *s, const tm_statement *st) {
  const tm_variable *into = NULL;
  const tm_expression *value = NULL;
  if (st->kind == TM_S_ASSIGN) {
    into = tm_root(st->left)->variable;
    value = st->value;
  } else if (st->kind == TM_S_DECLARE) {
    into = st->variable;
    value = into->initial;
  } else if (st->kind == TM_S_FOREACH) {
    into = st->variable;
    value = st->value;
  }
  if (into && value && s->reached[into->index])
    reach(s, value);
}

static void visit(search *s, tm_statement *const *body, size_t count) {
  for (size_t i = 0; i < count; i++) {
    const tm_statement *st = body[i];
    reach_sources(s, st);
    reach_outcomes(s, st->density);
    reach_outcomes(s, st->value);
    if (st->kind == TM_S_DECLARE)
      reach_outcomes(s, st->variable->initial);
    visit(s, st->body, st->body_count);
    if (st->otherwise)
      visit(s, &st->otherwise, 1);
  }
}

static void follow(search *s) {
  static const tm_block_kind blocks[] = {TM_BLOCK_TRANSFORMED_DATA,
                                         TM_BLOCK_TRANSFORMED_PARAMETERS,
                                         TM_BLOCK_MODEL};
  const tm_program *p = s->split->program;
  for (s->changed = true; s->reached && s->changed;) {
    s->changed = false;
    for (size_t i = 0; i < 3; i++)
      visit(s, p->blocks[blocks[i]].statements, p->blocks[blocks[i]].count);
  }
}

static search begin(const tm_split *split, tm_arena *arena, bool outcomes) {
  size_t count = (size_t)split->program->variable_count + 1;
  return (search){.split = split,
                  .reached = TM_NEW(arena, bool, count),
                  .outcomes = outcomes};
}

/* Is a variable of the data block among those reached by `s`, and by `other`?
 */
static bool meet(const search *s, const search *other) {
  const tm_program *p = s->split->program;
  for (size_t i = 0; i < p->global_count; i++) {
    const tm_variable *v = p->globals[i];
    if (v->block == TM_BLOCK_DATA && s->reached[v->index] &&
        other->reached[v->index])
      return true;
  }
  return false;
}

static bool scales(const tm_split *split, const tm_expression *e);

/* No data in it, or data as factors alone. */
static bool is_scaled(const tm_split *split, const tm_expression *e) {
  tm_dependence d = tm_depends(split, e);
  return d.parameters && (d.data != TM_DATA_VALUE || scales(split, e));
}

/* Is e, which has parameters and data, D * b or a sum of such? y - mu has a
 * term without parameters, and (y - mu) / s a factor with one. */
static bool scales(const tm_split *split, const tm_expression *e) {
  static const char *const products[] = {"*", ".*", "/", "./", "\\"};
  if (e->kind == TM_E_NAME)
    return e->variable->initial && scales(split, e->variable->initial);
  if (e->kind == TM_E_TRANSPOSE)
    return scales(split, e->parts[0]);
  bool sum = tm_is_sum(e) || e->kind == TM_E_UNARY, product = false;
  for (size_t i = 0; i < sizeof products / sizeof *products; i++)
    product =
        product || (e->kind == TM_E_BINARY && !strcmp(e->text, products[i]));
  size_t scaled = 0, other = 0;
  for (size_t i = 0; i < e->part_count; i++) {
    scaled += is_scaled(split, e->parts[i]);
    other += tm_depends(split, e->parts[i]).parameters &&
             !is_scaled(split, e->parts[i]);
  }
  return other == 0 && (sum ? scaled == e->part_count : product && scaled > 0);
}

bool tm_is_of_given_data(const tm_split *split, tm_arena *arena,
                         const tm_expression *value) {
  search observed = begin(split, arena, true);
  search own = begin(split, arena, false);
  bool named = value->kind == TM_E_CALL && strstr(value->text, "_marginal");
  if (!observed.reached || !own.reached || named)
    return false;
  follow(&observed);
  reach(&own, value);
  follow(&own);
  return meet(&observed, &observed) && !meet(&own, &observed) && !own.chooses;
}

bool tm_scales_by_data(const tm_split *split, tm_arena *arena,
                       const tm_expression *outcome) {
  search observed = begin(split, arena, true);
  observed.but = outcome;
  if (!observed.reached || !tm_depends(split, outcome).parameters ||
      !scales(split, outcome))
    return false;
  follow(&observed);
  return meet(&observed, &observed);
}

const char **tm_observed(const tm_split *split, tm_arena *arena,
                         size_t *count) {
  const tm_program *p = split->program;
  search s = begin(split, arena, true);
  const char **names = TM_NEW(arena, const char *, p->global_count + 1);
  *count = 0;
  follow(&s);
  for (size_t i = 0; names && s.reached && i < p->global_count; i++) {
    const tm_variable *v = p->globals[i];
    if (v->block == TM_BLOCK_DATA && s.reached[v->index])
      names[(*count)++] = v->name;
  }
  return names;
}
