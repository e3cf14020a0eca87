/* split.c - statements to prior and likelihood; parameters to proper and
 * improper. */
#include "language/check/split.h"

#include <stdio.h>
#include <string.h>

typedef struct splitter {
  tm_split *split;
  tm_source *source;
  tm_arena *arena;
  bool changed;  /* in this round of following dependence */
  bool deciding; /* dependence is settled: decide statements */
  tm_list statements;
} splitter;

static tempera_status visit(splitter *s, tm_statement *st, bool under_data);

static tempera_status visit_all(splitter *s, tm_statement **body, size_t count,
                                bool under_data) {
  for (size_t i = 0; i < count; i++)
    TM_TRY(visit(s, body[i], under_data));
  return TEMPERA_OK;
}

/* ---- dependence of variables -------------------------------------------- */

static void raise_variable(splitter *s, const tm_variable *v,
                           tm_dependence more, bool under_data) {
  tm_dependence *d = &s->split->variables[v->index], before = *d;
  if (under_data)
    more.data = TM_DATA_VALUE;
  if (more.data > d->data)
    d->data = more.data;
  d->parameters = d->parameters || more.parameters;
  d->mixed = d->mixed || more.mixed;
  for (int i = 0; i < TM_MASK_WORDS; i++)
    d->mask[i] |= more.mask[i];
  s->changed = s->changed || memcmp(&before, d, sizeof before) != 0;
}

static const tm_expression *root_of(const tm_expression *e) {
  while (e->kind == TM_E_INDEX)
    e = e->parts[0];
  return e;
}

/* ---- deciding one statement --------------------------------------------- */

typedef enum verdict { NEUTRAL, PRIOR, LIKELIHOOD, UNCLEAR } verdict;

typedef struct ruling {
  verdict verdict;
  const char *reason;
  const tm_expression *where;
} ruling;

static bool has_suffix(const char *text, const char *suffix) {
  size_t n = strlen(text), m = strlen(suffix);
  return n >= m && !strcmp(text + n - m, suffix);
}

static bool is_density(const tm_expression *e) {
  if (e->kind != TM_E_CALL || e->part_count == 0)
    return false;
  return has_suffix(e->text, "_lpdf") || has_suffix(e->text, "_lpmf") ||
         has_suffix(e->text, "_lupdf") || has_suffix(e->text, "_lupmf") ||
         (has_suffix(e->text, "_log") && (e->builtin || e->function));
}

static bool is_cdf(const tm_expression *e) {
  return e->kind == TM_E_CALL && e->part_count > 0 &&
         (has_suffix(e->text, "_lcdf") || has_suffix(e->text, "_lccdf") ||
          has_suffix(e->text, "_cdf_log") || has_suffix(e->text, "_ccdf_log"));
}

static ruling rule_outcome(const splitter *s, const tm_expression *outcome) {
  tm_dependence d = tm_depends(s->split, outcome);
  ruling r = {PRIOR, "its outcome does not depend on data", outcome};
  if (d.data == TM_DATA_VALUE)
    r = (ruling){LIKELIHOOD, "its outcome depends on data", outcome};
  else if (!d.parameters && d.data == TM_NO_DATA)
    r = (ruling){LIKELIHOOD, "its outcome is a constant", outcome};
  return r;
}

static ruling rule_raw(const splitter *s, const tm_expression *e,
                       bool under_data) {
  tm_dependence d = tm_depends(s->split, e);
  if (d.data == TM_DATA_VALUE)
    return (ruling){LIKELIHOOD, "its values depend on data", e};
  if (under_data)
    return (ruling){LIKELIHOOD, "it stands under a condition on data", e};
  if (!d.parameters)
    return (ruling){NEUTRAL, "it is a constant", e};
  if (d.data == TM_DATA_INDEX)
    return (ruling){UNCLEAR, "data enter it only through an index", e};
  return (ruling){PRIOR, "its values do not depend on data", e};
}

/* Sums are ruled term by term. */
static tempera_status rule_terms(const splitter *s, const tm_expression *e,
                                 bool under_data, ruling *all) {
  bool sum = e->kind == TM_E_BINARY &&
             (!strcmp(e->text, "+") || !strcmp(e->text, "-"));
  if (sum) {
    TM_TRY(rule_terms(s, e->parts[0], under_data, all));
    return rule_terms(s, e->parts[1], under_data, all);
  }
  ruling r;
  if (is_density(e)) {
    r = rule_outcome(s, e->parts[0]);
  } else if (is_cdf(e)) {
    r = rule_outcome(s, e->parts[0]);
    if (r.verdict != LIKELIHOOD ||
        tm_depends(s->split, e->parts[0]).data != TM_DATA_VALUE)
      r = (ruling){NEUTRAL, "it normalises other terms", e};
  } else {
    r = rule_raw(s, e, under_data);
  }
  if (all->verdict == NEUTRAL || all->verdict == r.verdict) {
    if (r.verdict != NEUTRAL || !all->reason)
      *all = r;
    return TEMPERA_OK;
  }
  if (r.verdict == NEUTRAL)
    return TEMPERA_OK;
  return tm_complain(s->source, r.where->token,
                     "this statement mixes prior and likelihood: this term is "
                     "%s (%s), one before it is not; write two target += "
                     "statements, or mark it // @prior or // @likelihood",
                     r.verdict == LIKELIHOOD ? "likelihood"
                     : r.verdict == PRIOR    ? "prior"
                                             : "unclear",
                     r.reason);
}

static tempera_status settle(splitter *s, tm_statement *st, ruling r) {
  if (st->mark != TM_MARK_NONE) {
    st->part = st->mark == TM_MARK_PRIOR ? TM_PART_PRIOR : TM_PART_LIKELIHOOD;
    st->reason = "it is marked so";
  } else if (r.verdict == UNCLEAR && st->raises) {
    return tm_complain(s->source, st->token,
                       "is this prior or likelihood? Data enter only through "
                       "an index, and an assignment cannot be marked: raise "
                       "the target in a statement of its own");
  } else if (r.verdict == UNCLEAR) {
    return tm_complain(s->source, st->token,
                       "is this prior or likelihood? Data enter only through "
                       "an index; add // @prior or // @likelihood at its end");
  } else {
    st->part = r.verdict == LIKELIHOOD ? TM_PART_LIKELIHOOD : TM_PART_PRIOR;
    st->reason = r.reason;
  }
  return tm_list_add(s->arena, &s->statements, st)
             ? TEMPERA_OK
             : tm_fail_memory(s->source->error);
}

/* jacobian += or a call of a function that only adds Jacobians. */
static bool is_jacobian(const tm_statement *st) {
  const tm_expression *e =
      st->kind == TM_S_DECLARE ? st->variable->initial : st->value;
  return st->jacobian || (e && e->kind == TM_E_CALL &&
                          has_suffix(e->text, "_jacobian"));
}

static tempera_status decide(splitter *s, tm_statement *st, bool under_data) {
  ruling r = {NEUTRAL, NULL, NULL};
  if (is_jacobian(st))
    r = (ruling){PRIOR, "a Jacobian belongs to the prior", NULL};
  else if (st->kind == TM_S_TILDE)
    r = rule_outcome(s, st->left);
  else if (st->kind == TM_S_DECLARE)
    r = rule_raw(s, st->variable->initial, under_data);
  else if (st->kind == TM_S_CALL || st->kind == TM_S_ASSIGN)
    r = rule_raw(s, st->value, under_data);
  else if (st->mark == TM_MARK_NONE)
    TM_TRY(rule_terms(s, st->value, under_data, &r));
  return settle(s, st, r);
}

/* ---- visiting statements ------------------------------------------------ */

static tempera_status visit_assignment(splitter *s, const tm_variable *v,
                                       const tm_expression *value,
                                       bool under_data) {
  if (value)
    raise_variable(s, v, tm_depends(s->split, value), under_data);
  return TEMPERA_OK;
}

static tempera_status visit_condition(splitter *s, tm_statement *st,
                                      bool under_data) {
  tm_dependence d = tm_depends(s->split, st->value);
  bool under = under_data || d.data == TM_DATA_VALUE;
  TM_TRY(visit_all(s, st->body, st->body_count, under));
  return st->otherwise ? visit(s, st->otherwise, under) : TEMPERA_OK;
}

static tempera_status visit(splitter *s, tm_statement *st, bool under_data) {
  switch (st->kind) {
  case TM_S_BLOCK:
  case TM_S_FOR:
    return visit_all(s, st->body, st->body_count, under_data);
  case TM_S_FOREACH:
    raise_variable(s, st->variable, tm_depends(s->split, st->lower), false);
    return visit_all(s, st->body, st->body_count, under_data);
  case TM_S_DECLARE:
    if (st->raises && s->deciding)
      return decide(s, st, under_data);
    return visit_assignment(s, st->variable, st->variable->initial, under_data);
  case TM_S_ASSIGN:
    if (st->raises && s->deciding)
      return decide(s, st, under_data);
    return visit_assignment(s, root_of(st->left)->variable, st->value,
                            under_data);
  case TM_S_IF:
  case TM_S_WHILE:
    return visit_condition(s, st, under_data);
  case TM_S_TILDE:
  case TM_S_TARGET:
    return s->deciding ? decide(s, st, under_data) : TEMPERA_OK;
  case TM_S_CALL:
    return s->deciding && st->value->function &&
                   st->value->function->uses_target
               ? decide(s, st, under_data)
               : TEMPERA_OK;
  default:
    return TEMPERA_OK;
  }
}

static tempera_status visit_blocks(splitter *s, bool raising_only) {
  static const tm_block_kind blocks[] = {TM_BLOCK_TRANSFORMED_DATA,
                                         TM_BLOCK_TRANSFORMED_PARAMETERS,
                                         TM_BLOCK_MODEL};
  for (size_t i = raising_only ? 1 : 0; i < 3; i++) {
    tm_block_node *b = &s->split->program->blocks[blocks[i]];
    TM_TRY(visit_all(s, b->statements, b->count, false));
  }
  return TEMPERA_OK;
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

static bool flat_is_proper(const tm_variable *v) {
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
  split->parameters = TM_NEW(s->arena, tm_parameter_info, p->global_count + 1);
  if (!split->variables || !split->parameters)
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

tempera_status tm_split_program(tm_program *program, tm_split *split) {
  *split = (tm_split){.program = program};
  splitter s = {.split = split,
                .source = &program->source,
                .arena = program->source.arena};
  TM_TRY(set_up(&s));
  do {
    s.changed = false;
    TM_TRY(visit_blocks(&s, false));
  } while (s.changed);
  s.deciding = true;
  TM_TRY(visit_blocks(&s, true));
  split->statements = (tm_statement **)s.statements.items;
  split->statement_count = s.statements.count;
  return tm_cover_parameters(split);
}
