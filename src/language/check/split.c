/* split.c - statements to prior and likelihood; parameters to proper and
 * improper. */
#include "language/check/split.h"

#include "language/check/term.h"

#include <string.h>

typedef struct splitter {
  tm_split *split;
  tm_source *source;
  tm_arena *arena;
  bool listing; /* what variables gather is settled: list statements */
  tm_list statements;
} splitter;

static const tm_block_kind BLOCKS[] = {
    TM_BLOCK_TRANSFORMED_DATA, TM_BLOCK_TRANSFORMED_PARAMETERS, TM_BLOCK_MODEL};

/* ---- statements --------------------------------------------------------- */

static tempera_status visit(splitter *s, tm_statement *st, bool under_data);

static tempera_status visit_all(splitter *s, tm_statement **body, size_t count,
                                bool under_data) {
  for (size_t i = 0; i < count; i++)
    TM_TRY(visit(s, body[i], under_data));
  return TEMPERA_OK;
}

static bool adds(const splitter *s, const tm_statement *st) {
  switch (st->kind) {
  case TM_S_TILDE:
  case TM_S_TARGET:
    return true;
  case TM_S_DECLARE:
    return st->raises ||
           (st->variable->initial && tm_gathers(s->split, st->variable));
  case TM_S_ASSIGN:
    return st->raises || tm_gathers(s->split, tm_root(st->left)->variable);
  case TM_S_CALL:
    return st->value->function && st->value->function->uses_target;
  default:
    return false;
  }
}

/* `real lprior = 0;` */
static bool is_start(const tm_statement *st) {
  const tm_expression *value =
      st->kind == TM_S_DECLARE ? st->variable->initial : st->value;
  return (st->kind == TM_S_DECLARE || st->kind == TM_S_ASSIGN) &&
         value->level == TM_LEVEL_CONSTANT;
}

static tempera_status decide(splitter *s, tm_statement *st, bool under_data) {
  TM_TRY(tm_rule(s->split, st, under_data));
  if (!s->listing || st->part == TM_PART_NONE || is_start(st))
    return TEMPERA_OK;
  return tm_list_add(s->arena, &s->statements, st)
             ? TEMPERA_OK
             : tm_fail_memory(s->source->error);
}

static tempera_status visit(splitter *s, tm_statement *st, bool under_data) {
  bool condition = st->kind == TM_S_IF || st->kind == TM_S_WHILE;
  bool under =
      under_data ||
      (condition && tm_depends(s->split, st->value).data == TM_DATA_VALUE);
  if (st->kind == TM_S_REJECT) /* what data reject is not the prior's */
    st->part = under_data ? TM_PART_LIKELIHOOD : TM_PART_BOTH;
  if (adds(s, st))
    TM_TRY(decide(s, st, under_data));
  else if (st->mark != TM_MARK_NONE)
    return tm_complain(s->source, st->token,
                       "this statement is marked, but adds nothing to the "
                       "target");
  TM_TRY(visit_all(s, st->body, st->body_count, under));
  return st->otherwise ? visit(s, st->otherwise, under) : TEMPERA_OK;
}

/* Variables gather from one another: until nothing changes. */
static tempera_status visit_blocks(splitter *s) {
  tm_split *split = s->split;
  for (bool changed = true; changed || !s->listing;) {
    unsigned before = 0, after = 0;
    for (int i = 0; i < split->variable_count; i++)
      before += split->gathering[i].parts;
    s->listing = !changed;
    for (size_t i = 1; i < 3; i++) {
      tm_block_node *b = &split->program->blocks[BLOCKS[i]];
      TM_TRY(visit_all(s, b->statements, b->count, false));
    }
    for (int i = 0; i < split->variable_count; i++)
      after += split->gathering[i].parts;
    changed = after != before;
  }
  return TEMPERA_OK;
}

static void follow_blocks(tm_split *split) {
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t i = 0; i < 3; i++) {
      tm_block_node *b = &split->program->blocks[BLOCKS[i]];
      changed = tm_follow(split, b->statements, b->count) || changed;
    }
  }
}

/* ---- parameters --------------------------------------------------------- */

/* Are all parameters that e names bounded on both sides? */
static bool stays_bounded(const tm_expression *e) {
  if (e->kind == TM_E_NAME && e->variable->block == TM_BLOCK_PARAMETERS)
    return e->variable->constraint == TM_BOUNDED && e->variable->lower &&
           e->variable->upper;
  for (size_t i = 0; i < e->part_count; i++)
    if (!stays_bounded(e->parts[i]))
      return false;
  return true;
}

/* A size that is written as a number, which leaves no coordinate free. */
static bool has_no_freedom(const tm_variable *v) {
  bool zero_sum =
      v->constraint == TM_SUM_TO_ZERO || v->constraint == TM_SUM_TO_ZERO_MATRIX;
  for (size_t i = 0; i < v->size_count; i++)
    if (v->sizes[i]->kind == TM_E_INT &&
        v->sizes[i]->whole <= (zero_sum && i >= (size_t)v->type.depth))
      return true;
  return false;
}

static bool flat_is_proper(const tm_variable *v) {
  if (has_no_freedom(v))
    return true;
  switch (v->constraint) {
  case TM_BOUNDED:
    return v->lower && v->upper && stays_bounded(v->lower) &&
           stays_bounded(v->upper);
  case TM_SIMPLEX:
  case TM_UNIT_VECTOR:
  case TM_CHOLESKY_CORR:
  case TM_CORRELATION:
  case TM_ROW_STOCHASTIC:
  case TM_COLUMN_STOCHASTIC:
    return true;
  default:
    return false;
  }
}

static tempera_status set_up(splitter *s) {
  tm_split *split = s->split;
  tm_program *p = split->program;
  split->variables =
      TM_NEW(s->arena, tm_dependence, (size_t)p->variable_count + 1);
  split->variable_count = p->variable_count;
  split->gathering =
      TM_NEW(s->arena, tm_gathering, (size_t)p->variable_count + 1);
  split->parameters = TM_NEW(s->arena, tm_parameter_info, p->global_count + 1);
  if (!split->variables || !split->gathering || !split->parameters)
    return tm_fail_memory(s->source->error);
  for (size_t i = 0; i < p->global_count; i++) {
    tm_variable *v = p->globals[i];
    tm_dependence *d = &split->variables[v->index];
    if (v->block == TM_BLOCK_DATA)
      d->data = TM_DATA_VALUE;
    if (v->block != TM_BLOCK_PARAMETERS)
      continue;
    size_t k = split->parameter_count++;
    if (k >= TM_MOST_PARAMETERS)
      return tm_complain(s->source, v->token,
                         "more than %d parameter declarations",
                         TM_MOST_PARAMETERS);
    d->parameters = true;
    d->mask[k / 64] |= 1ull << (k % 64);
    split->parameters[k] =
        (tm_parameter_info){.variable = v, .flat_is_proper = flat_is_proper(v)};
  }
  return TEMPERA_OK;
}

/* Likelihood under a condition on parameters: whether it is reached depends on
 * the point, so that no data leave it out. */
static bool hangs_on_parameters(const tm_split *split, const tm_statement *st,
                                bool hangs) {
  if (!st)
    return false;
  if (hangs && st->part & TM_PART_LIKELIHOOD)
    return true;
  bool inside =
      hangs || (st->kind == TM_S_IF && tm_depends(split, st->value).parameters);
  for (size_t i = 0; i < st->body_count; i++)
    if (hangs_on_parameters(split, st->body[i], inside))
      return true;
  return hangs_on_parameters(split, st->otherwise, inside);
}

/* target += -lambda * sum(abs(b)); or D * b ~ normal(0, tau); with data that
 * are nobody's outcome. */
static tempera_status ask_about(const splitter *s, const tm_statement *st) {
  if (st->mark == TM_MARK_NONE && st->kind == TM_S_TILDE &&
      st->part == TM_PART_LIKELIHOOD &&
      tm_scales_by_data(s->split, s->arena, st->left))
    return tm_complain(
        s->source, st->token,
        "is this prior or likelihood? The outcome is made of parameters times "
        "data, as in a prior of their differences; add // @prior or // "
        "@likelihood at its end");
  for (size_t i = 0; st->mark == TM_MARK_NONE && i < st->term_count; i++) {
    const tm_term *term = &st->terms[i];
    if (strcmp(term->reason, TM_BY_VALUES) == 0 &&
        tm_is_of_given_data(s->split, s->arena, term->value))
      return tm_complain(
          s->source, st->token,
          "is this prior or likelihood? The data in it are no outcome of any "
          "density, as those of a penalty would be; add // @prior or "
          "// @likelihood at its end");
  }
  return TEMPERA_OK;
}

tempera_status tm_split_program(tm_program *program, tm_split *split) {
  *split = (tm_split){.program = program};
  splitter s = {.split = split,
                .source = &program->source,
                .arena = program->source.arena};
  TM_TRY(set_up(&s));
  follow_blocks(split);
  tm_gather_terms(split);
  TM_TRY(visit_blocks(&s));
  split->statements = (tm_statement **)s.statements.items;
  split->statement_count = s.statements.count;
  for (size_t i = 0; i < split->statement_count; i++)
    TM_TRY(ask_about(&s, split->statements[i]));
  for (size_t i = 0; i < split->statement_count; i++)
    split->likelihood =
        split->likelihood || split->statements[i]->part & TM_PART_LIKELIHOOD;
  for (size_t b = 1; b < 3; b++) {
    const tm_block_node *block = &program->blocks[BLOCKS[b]];
    for (size_t i = 0; i < block->count; i++)
      split->likelihood_sure =
          split->likelihood_sure ||
          (block->statements[i]->part & TM_PART_LIKELIHOOD &&
           !tm_passes_on(split, block->statements[i])) ||
          hangs_on_parameters(split, block->statements[i], false);
  }
  return tm_cover_parameters(split);
}
