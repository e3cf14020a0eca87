/* split_rule.c - one statement, term by term, to prior and likelihood. */
#include "language/check/split.h"
#include "language/check/term.h"

#include <string.h>

typedef enum verdict { NEUTRAL, PRIOR, LIKELIHOOD, BOTH, UNCLEAR } verdict;

/* What is found about a term. */
typedef struct ruling {
  verdict verdict;
  bool raw; /* no density says so, only its values */
  const char *reason;
} ruling;

typedef struct ruler {
  tm_split *split;
  tm_source *source;
  tm_statement *statement;
  const tm_variable *into; /* gathers the terms; NULL: the target */
  bool under_data;
  tm_list terms; /* of tm_term */
  ruling *rulings;
} ruler;

static const tm_part PARTS[] = {[NEUTRAL] = TM_PART_NONE,
                                [PRIOR] = TM_PART_PRIOR,
                                [LIKELIHOOD] = TM_PART_LIKELIHOOD,
                                [BOTH] = TM_PART_BOTH,
                                [UNCLEAR] = TM_PART_NONE};

static verdict verdict_of(unsigned parts) {
  return parts == TM_PART_BOTH         ? BOTH
         : parts == TM_PART_LIKELIHOOD ? LIKELIHOOD
         : parts == TM_PART_PRIOR      ? PRIOR
                                       : NEUTRAL;
}

tm_part tm_outcome_part(const tm_split *split, const tm_expression *outcome,
                        const char **reason) {
  tm_dependence d = tm_depends(split, outcome);
  const char *ignored;
  reason = reason ? reason : &ignored;
  *reason = d.data == TM_DATA_VALUE ? "its outcome depends on data"
            : d.parameters          ? "its outcome does not depend on data"
            : d.data                ? "its outcome has no parameter"
                                    : "its outcome is a constant";
  return d.data == TM_DATA_VALUE || !d.parameters ? TM_PART_LIKELIHOOD
                                                  : TM_PART_PRIOR;
}

/* ---- terms that normalise others ---------------------------------------- */

/* The cdf in k * cdf, -cdf, log_diff_exp(cdf, cdf); or NULL. */
static const tm_expression *cdf_in(const tm_split *split,
                                   const tm_expression *e) {
  if (tm_is_cdf(e))
    return e;
  bool passes = e->kind == TM_E_UNARY ||
                (e->kind == TM_E_BINARY && !strcmp(e->text, "*")) ||
                (e->kind == TM_E_CALL && !strcmp(e->text, "log_diff_exp"));
  const tm_expression *found = NULL;
  for (size_t i = 0; passes && i < e->part_count; i++) {
    const tm_expression *cdf = cdf_in(split, e->parts[i]);
    if (!cdf && tm_depends(split, e->parts[i]).parameters)
      return NULL;
    found = found ? found : cdf;
  }
  return found;
}

/* Has this density the distribution and the arguments of this cdf? */
static bool is_normalised_by(const tm_expression *density,
                             const tm_expression *cdf) {
  size_t n = tm_stem_length(density->text);
  if (!tm_is_density(density) || n != tm_stem_length(cdf->text) ||
      strncmp(density->text, cdf->text, n) ||
      density->part_count != cdf->part_count)
    return false;
  for (size_t i = 1; i < cdf->part_count; i++)
    if (!tm_same_text(density->parts[i], cdf->parts[i]))
      return false;
  return true;
}

static const tm_expression *density_in(const tm_expression *e,
                                       const tm_expression *cdf) {
  if (!e || is_normalised_by(e, cdf))
    return e;
  const tm_expression *found = NULL;
  for (size_t i = 0; tm_is_sum(e) && i < 2 && !found; i++)
    found = density_in(e->parts[i], cdf);
  return found;
}

/* The density, anywhere in the model, that a cdf normalises; or NULL. */
static const tm_expression *normalised(tm_statement *const *body, size_t count,
                                       const tm_expression *cdf) {
  const tm_expression *found = NULL;
  for (size_t i = 0; i < count && !found; i++) {
    const tm_statement *s = body[i];
    const tm_expression *value = s->kind == TM_S_TILDE ? s->density
                                 : s->kind == TM_S_DECLARE
                                     ? s->variable->initial
                                     : s->value;
    found = density_in(value, cdf);
    if (!found)
      found = normalised(s->body, s->body_count, cdf);
    if (!found && s->otherwise)
      found = normalised(&s->otherwise, 1, cdf);
  }
  return found;
}

static ruling rule_cdf(const ruler *r, const tm_expression *cdf, bool minus) {
  tm_dependence d = tm_depends(r->split, cdf->parts[0]);
  const tm_expression *density = NULL;
  static const tm_block_kind blocks[] = {TM_BLOCK_TRANSFORMED_PARAMETERS,
                                         TM_BLOCK_MODEL};
  for (size_t i = 0; i < 2 && minus && !density; i++) {
    const tm_block_node *b = &r->split->program->blocks[blocks[i]];
    density = normalised(b->statements, b->count, cdf);
  }
  if (density &&
      tm_outcome_part(r->split, density->parts[0], NULL) == TM_PART_PRIOR)
    return (ruling){PRIOR, false, "it normalises a density of parameters"};
  if (density)
    return (ruling){LIKELIHOOD, false, "it normalises a density of data"};
  if (d.data == TM_DATA_VALUE)
    return (ruling){LIKELIHOOD, false, "its outcome depends on data"};
  if (!minus && !d.parameters && tm_depends(r->split, cdf).parameters)
    return (ruling){LIKELIHOOD, false, "its outcome is a constant"};
  return (ruling){NEUTRAL, false, "it normalises other terms"};
}

/* ---- one term ----------------------------------------------------------- */

static ruling rule_raw(const ruler *r, const tm_expression *e) {
  tm_dependence d = tm_depends(r->split, e);
  if (!d.parameters)
    return (ruling){NEUTRAL, true, "it has no parameter"};
  if (r->under_data)
    return (ruling){LIKELIHOOD, true, "it stands under a condition on data"};
  if (d.data == TM_DATA_VALUE)
    return (ruling){LIKELIHOOD, true, TM_BY_VALUES};
  if (d.data == TM_DATA_INDEX)
    return (ruling){UNCLEAR, true, "data enter it only through an index"};
  return (ruling){PRIOR, true, "its values do not depend on data"};
}

static ruling rule_scored(unsigned scores) {
  static const char *const reasons[] = {
      [TM_PART_PRIOR] = "its densities have outcomes that do not depend on "
                        "data",
      [TM_PART_LIKELIHOOD] = "its densities have outcomes that depend on data",
      [TM_PART_BOTH] = "it holds densities of data, which cannot be taken "
                       "apart from the others in it"};
  return (ruling){scores == TM_PART_PRIOR ? PRIOR : LIKELIHOOD,
                  scores == TM_PART_BOTH, reasons[scores]};
}

static ruling rule_term(const ruler *r, const tm_term *term) {
  const tm_expression *e = term->value;
  const tm_variable *v = tm_summand(e);
  ruling found = {0};
  if (v && tm_gathers(r->split, v))
    return (ruling){verdict_of(r->split->gathering[v->index].parts), false,
                    "it adds what was gathered"};
  if (tm_is_density(e)) {
    found.verdict =
        verdict_of(tm_outcome_part(r->split, e->parts[0], &found.reason));
    return found;
  }
  const tm_expression *cdf = cdf_in(r->split, e);
  if (cdf)
    return rule_cdf(r, cdf, term->minus);
  unsigned scores = tm_scores(r->split, e);
  return scores ? rule_scored(scores) : rule_raw(r, e);
}

/* ---- a statement's terms ------------------------------------------------ */

/* a - b as a + (-b), so that either may be left out. */
static bool make_plus(tm_arena *arena, tm_expression *e) {
  tm_expression *minus = TM_NEW(arena, tm_expression, 1);
  tm_expression **parts = TM_NEW(arena, tm_expression *, 1);
  if (!minus || !parts)
    return false;
  *minus = (tm_expression){.kind = TM_E_UNARY,
                           .token = e->parts[1]->token,
                           .text = "-",
                           .parts = parts,
                           .part_count = 1,
                           .type = e->parts[1]->type,
                           .level = e->parts[1]->level};
  parts[0] = e->parts[1];
  e->parts[1] = minus;
  e->text = "+";
  return true;
}

static bool is_self(const ruler *r, const tm_expression *e) {
  return r->into && tm_summand(e) == r->into;
}

/* The terms of a sum of scalars, each with its sign. */
static bool collect(ruler *r, tm_expression *e, bool minus) {
  tm_arena *arena = r->source->arena;
  if (tm_is_sum(e) && tm_is_scalar(e->type)) {
    bool subtract = !strcmp(e->text, "-");
    return collect(r, e->parts[0], minus) &&
           collect(r, e->parts[1], minus != subtract) &&
           (!subtract || make_plus(arena, e));
  }
  if (e->kind == TM_E_UNARY && tm_is_scalar(e->type) &&
      (e->text[0] == '-' || e->text[0] == '+'))
    return collect(r, e->parts[0], minus != (e->text[0] == '-'));
  if (is_self(r, e))
    return true;
  tm_term *term = TM_NEW(arena, tm_term, 1);
  if (term)
    *term = (tm_term){.value = e, .minus = minus};
  return term && tm_list_add(arena, &r->terms, term);
}

static tm_term *term_at(const ruler *r, size_t i) { return r->terms.items[i]; }

static const char *name_of(verdict v) {
  static const char *const names[] = {"neutral", "prior", "likelihood", "both",
                                      "unclear"};
  return names[v];
}

/* Densities may stand on both sides of a sum: each says which. Other terms
 * cannot be told apart from what they belong to. */
static tempera_status refuse_mixture(const ruler *r) {
  const ruling *first = NULL;
  bool raw = false;
  for (size_t i = 0; i < r->terms.count; i++) {
    const ruling *one = &r->rulings[i];
    if (one->verdict == NEUTRAL)
      continue;
    raw = raw || one->raw || one->verdict == UNCLEAR;
    if (first && raw && first->verdict != one->verdict)
      return tm_complain(
          r->source, term_at(r, i)->value->token,
          "this statement mixes prior and likelihood: this term is %s (%s), "
          "one before it is not; write two target += statements, or mark it "
          "// @prior or // @likelihood",
          name_of(one->verdict), one->reason);
    first = first ? first : one;
  }
  return TEMPERA_OK;
}

/* Terms without a side go with the one before, or else with the next. */
static void settle_neutral(ruler *r) {
  static const char *const beside = "it has no side of its own and goes with "
                                    "the term beside it";
  for (int back = 0; back < 2; back++) {
    const ruling *last = NULL;
    for (size_t k = 0; k < r->terms.count; k++) {
      ruling *one = &r->rulings[back ? r->terms.count - 1 - k : k];
      if (one->verdict != NEUTRAL)
        last = one;
      else if (last && last->verdict != BOTH && last->verdict != UNCLEAR)
        *one = (ruling){last->verdict, false, beside};
    }
  }
}

/* Terms that nothing stands beside. */
static void settle_lonely(ruler *r) {
  for (size_t i = 0; i < r->terms.count; i++) {
    ruling *one = &r->rulings[i];
    tm_dependence d = tm_depends(r->split, term_at(r, i)->value);
    unsigned gathered =
        r->into ? r->split->gathering[r->into->index].parts : TM_PART_NONE;
    if (one->verdict != NEUTRAL)
      continue;
    if (r->into && (gathered || !d.data))
      *one = gathered == TM_PART_PRIOR || gathered == TM_PART_LIKELIHOOD
                 ? (ruling){verdict_of(gathered), false,
                            "it goes with the terms gathered with it"}
                 : *one;
    else if (d.data == TM_DATA_VALUE || r->under_data)
      *one = (ruling){LIKELIHOOD, true, "its values depend on data"};
    else if (!r->into)
      *one = (ruling){PRIOR, true,
                      d.parameters ? one->reason : "it is a constant"};
  }
}

static tempera_status ask(const ruler *r) {
  if (r->statement->kind == TM_S_DECLARE)
    return tm_complain(r->source, r->statement->token,
                       "is this prior or likelihood? Data enter only through "
                       "an index, and a declaration cannot be marked: assign "
                       "in a statement of its own");
  return tm_complain(r->source, r->statement->token,
                     "is this prior or likelihood? Data enter only through "
                     "an index; add // @prior or // @likelihood at its end");
}

/* Sums are whole where all of their terms are. */
static tm_part label_sums(tm_expression *e) {
  bool inner = tm_is_scalar(e->type) &&
               (tm_is_sum(e) || (e->kind == TM_E_UNARY && e->text[0] != '!'));
  if (!inner)
    return e->part;
  unsigned all = 0;
  bool whole = true;
  for (size_t i = 0; i < e->part_count; i++) {
    tm_part part = label_sums(e->parts[i]);
    whole = whole && part;
    all |= part;
  }
  e->part = whole ? (tm_part)all : TM_PART_NONE;
  return e->part;
}

/* Write the findings into the tree. */
static tempera_status publish(ruler *r) {
  tm_statement *st = r->statement;
  size_t count = r->terms.count;
  unsigned parts = 0;
  st->terms = TM_NEW(r->source->arena, tm_term, count + 1);
  if (!st->terms)
    return tm_fail_memory(r->source->error);
  for (size_t i = 0; i < count; i++) {
    tm_term *term = term_at(r, i);
    if (r->rulings[i].verdict == UNCLEAR)
      return ask(r);
    term->part = PARTS[r->rulings[i].verdict];
    term->reason = r->rulings[i].reason;
    term->value->part = term->part;
    parts |= term->part;
    st->terms[st->term_count++] = *term;
  }
  st->part = (tm_part)parts;
  st->reason = parts == TM_PART_BOTH && count > 1
                   ? "its terms are on both sides"
               : count ? st->terms[0].reason
                       : "it adds nothing";
  return TEMPERA_OK;
}

/* What a variable gathers, from the terms that have sides of their own. */
static void note_gathered(const ruler *r) {
  for (size_t i = 0; r->into && i < r->terms.count; i++)
    r->split->gathering[r->into->index].parts |= PARTS[r->rulings[i].verdict];
}

static tempera_status gather_terms(ruler *r, tm_expression *value) {
  r->statement->term_count = 0;
  if (!collect(r, value, false))
    return tm_fail_memory(r->source->error);
  r->rulings = TM_NEW(r->source->arena, ruling, r->terms.count + 1);
  return r->rulings ? TEMPERA_OK : tm_fail_memory(r->source->error);
}

static tempera_status rule_terms(ruler *r, tm_expression *value) {
  TM_TRY(gather_terms(r, value));
  for (size_t i = 0; i < r->terms.count; i++)
    r->rulings[i] = rule_term(r, term_at(r, i));
  TM_TRY(refuse_mixture(r));
  note_gathered(r);
  settle_neutral(r);
  settle_lonely(r);
  TM_TRY(publish(r));
  label_sums(value);
  return TEMPERA_OK;
}

/* Of the calls in e that raise the target, also in a density's arguments. */
static unsigned raised_by(tm_split *split, const tm_expression *e) {
  bool raises = e->kind == TM_E_CALL && e->function && e->function->uses_target;
  unsigned parts = raises ? tm_function_scores(split, e) : TM_PART_NONE;
  for (size_t i = 0; i < e->part_count; i++)
    parts |= raised_by(split, e->parts[i]);
  return parts;
}

/* A call that raises the target itself: all of it is on one side. */
static tempera_status rule_raising(ruler *r, const tm_expression *value) {
  unsigned scores = tm_scores(r->split, value) | raised_by(r->split, value);
  ruling found = scores ? rule_scored(scores) : rule_raw(r, value);
  if (scores == TM_PART_BOTH)
    return tm_complain(
        r->source, r->statement->token,
        "this function raises the target by prior and by likelihood; write "
        "two functions, or mark the call // @prior or // @likelihood");
  if (found.verdict == UNCLEAR)
    return ask(r);
  r->statement->part =
      found.verdict == LIKELIHOOD ? TM_PART_LIKELIHOOD : TM_PART_PRIOR;
  r->statement->reason = found.reason;
  return TEMPERA_OK;
}

/* The user's word; what a variable gathers is marked term by term. */
static tempera_status rule_marked(ruler *r) {
  tm_statement *st = r->statement;
  bool prior = st->mark == TM_MARK_PRIOR;
  ruling all = {prior ? PRIOR : LIKELIHOOD, false, "it is marked so"};
  st->part = PARTS[all.verdict];
  st->reason = all.reason;
  if (st->kind != TM_S_ASSIGN || st->raises)
    return TEMPERA_OK;
  r->into = tm_root(st->left)->variable;
  TM_TRY(gather_terms(r, st->value));
  for (size_t i = 0; i < r->terms.count; i++)
    r->rulings[i] = all;
  note_gathered(r);
  return publish(r);
}

/* jacobian +=, or a call of a function that only adds Jacobians. */
static bool is_jacobian(const tm_statement *st) {
  const tm_expression *e =
      st->kind == TM_S_DECLARE ? st->variable->initial : st->value;
  size_t n = e && e->kind == TM_E_CALL ? strlen(e->text) : 0;
  return st->jacobian || (n > 9 && !strcmp(e->text + n - 9, "_jacobian"));
}

tempera_status tm_rule(tm_split *split, tm_statement *st, bool under_data) {
  ruler r = {.split = split,
             .source = &split->program->source,
             .statement = st,
             .under_data = under_data};
  if (is_jacobian(st)) {
    st->part = TM_PART_PRIOR;
    st->reason = "a Jacobian belongs to the prior";
    return TEMPERA_OK;
  }
  if (st->mark != TM_MARK_NONE)
    return rule_marked(&r);
  TM_TRY(tm_patch(split, st));
  if (st->instead) {
    st->part = TM_PART_BOTH;
    st->reason = "its observed elements are likelihood, its missing ones, "
                 "which are parameters, prior";
    return TEMPERA_OK;
  }
  switch (st->kind) {
  case TM_S_TILDE:
    st->part = tm_outcome_part(split, st->left, &st->reason);
    return TEMPERA_OK;
  case TM_S_TARGET:
    return rule_terms(&r, st->value);
  case TM_S_DECLARE:
    if (st->raises)
      return rule_raising(&r, st->variable->initial);
    r.into = st->variable;
    return rule_terms(&r, st->variable->initial);
  case TM_S_ASSIGN:
    if (st->raises)
      return rule_raising(&r, st->value);
    r.into = tm_root(st->left)->variable;
    return rule_terms(&r, st->value);
  default:
    return rule_raising(&r, st->value);
  }
}
